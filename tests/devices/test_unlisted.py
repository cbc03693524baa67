"""Real agents that call everything off that they do not understand: an outlet that is not there proves nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.devices.apc import Apc

from noderemedy.model.run import Deed, Power, RunState

NOBODYS = {
    "fence_apc_snmp": "24",
    "fence_tripplite_snmp": "24",
    "fence_ipdu": "24",
    "fence_emerson": "1.2.3",
    "fence_ibmblade": "24",
    "fence_intelmodular": "24",
}
# The last number of the table that a device does not have: the agent shows it as an outlet.
SHOWN = {"fence_ibmblade": "4", "fence_intelmodular": "6", "fence_ipdu": "2", "fence_emerson": "20.1.95"}


@pytest.fixture
def apc(tmp_path: Path) -> Iterator[Apc]:
    made = Apc(tmp_path)
    made.start()
    yield made
    made.stop()


@pytest.mark.parametrize("deed", [Deed.OFF, Deed.STATUS])
@pytest.mark.parametrize(("agent", "plug"), [*NOBODYS.items(), *SHOWN.items()])
def test_an_outlet_that_is_not_there_is_not_off(apc: Apc, agent: str, plug: str, deed: Deed) -> None:
    """The agent says "Already OFF", twice; the device's own list has no such outlet, and that is told by its name."""
    apc.agent = agent
    result = apc.run(deed, plug=plug)

    assert (RunState.FAILED, Power.UNKNOWN) == (result.state, result.power), result.said
    assert f"its list has no outlet {plug}; " in result.said


def test_outlets_by_name_and_several_at_once(apc: Apc) -> None:
    """Whatever the agent takes for a plug is looked for in the list: a name, or more than one."""
    assert (RunState.DONE, Power.OFF) == ((off := apc.run(Deed.OFF, plug="outlet-1")).state, off.power), off.said
    assert not apc.is_on()
    both, half = apc.run(Deed.OFF, plug="1,2"), apc.run(Deed.OFF, plug="1,24")
    assert (RunState.DONE, Power.OFF) == (both.state, both.power), both.said
    assert (RunState.FAILED, Power.UNKNOWN) == (half.state, half.power), half.said
