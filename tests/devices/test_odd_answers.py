"""Real agents that call everything off that they do not understand: an outlet that is not there proves nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.core.fencing.fences import a_job
from tests.devices.apc import OFF, ON, Apc
from tests.devices.vsphere import Vcenter

from noderemedy.core.fencing.runs import told_of_sleeper
from noderemedy.core.fencing.scopes import SLEEPERS
from noderemedy.model.run import Deed, Power, Result, Run, RunState
from noderemedy.model.time import Mono

NOBODYS = {
    "fence_apc_snmp": "24",
    "fence_tripplite_snmp": "24",
    "fence_ipdu": "24",
    "fence_emerson": "1.2.3",
    "fence_ibmblade": "24",
    "fence_intelmodular": "24",
}


@pytest.fixture
def apc(tmp_path: Path) -> Iterator[Apc]:
    made = Apc(tmp_path)
    made.start()
    yield made
    made.stop()


@pytest.mark.parametrize("deed", [Deed.OFF, Deed.STATUS])
@pytest.mark.parametrize(("agent", "plug"), NOBODYS.items())
def test_an_outlet_that_is_not_there_is_not_off(apc: Apc, agent: str, plug: str, deed: Deed) -> None:
    """The agent says "Already OFF", twice; the device itself says that it has no such outlet."""
    apc.agent = agent
    result = apc.run(deed, plug=plug)

    assert (RunState.FAILED, Power.UNKNOWN) == (result.state, result.power), result.said
    assert "answered No Such " in result.said


def test_of_two_outlets_with_one_name_one_is_switched(apc: Apc) -> None:
    """Why such agents take numbers only (`core/fencing/letters.py`): two were to go off, and one is on."""
    apc.call_all("worker-1")
    result = apc.run(Deed.OFF, plug="worker-1")

    assert (RunState.DONE, Power.OFF) == (result.state, result.power), "then names need no refusal any more"
    assert [ON, OFF] == apc.states()


@pytest.mark.parametrize("deed", [Deed.OFF, Deed.STATUS])
@pytest.mark.parametrize("state", ["4", "3", "0", "-1"])
def test_an_outlet_whose_state_nobody_knows_is_not_off(apc: Apc, state: str, deed: Deed) -> None:
    """A PDU that has lost its outlets answers 4, and the agent says "Already OFF": the answer itself is looked at."""
    apc.answer(state)
    result = apc.run(deed)

    assert (RunState.FAILED, Power.UNKNOWN) == (result.state, result.power), result.said
    assert f"answered {state}, which is neither on nor off" in result.said


def test_of_several_plugs_only_the_first_is_switched(apc: Apc) -> None:
    """Why plans with a list of plugs are refused (`core/fencing/letters.py`): two were to go off, and one is on."""
    result = apc.run(Deed.OFF, plug="1,2")

    assert (RunState.DONE, Power.OFF) == (result.state, result.power), "then lists need no refusal any more"
    assert [OFF, ON] == apc.states()


# --- what sleeps -----------------------------------------------------------------------------------------------------


@pytest.fixture
def vcenter(tmp_path: Path) -> Iterator[Vcenter]:
    made = Vcenter(tmp_path)
    made.start()
    yield made
    made.stop()


def counted(deed: Deed, result: Result, *, is_seen: bool) -> tuple[RunState, Power, bool]:
    """What a fence makes of it, by whether it saw the machine on before."""
    job = told_of_sleeper(
        a_job("vc", deed), Run("x", RunState.RUNNING).ended(result, Mono(1)), is_seen=is_seen, node="n"
    )
    return job.state, job.power, job.was_on


def test_a_suspended_machine_is_off_and_comes_on_with_its_memory(vcenter: Vcenter) -> None:
    """Why "off" of such an agent is believed only of what was seen on: nothing is sent, and it runs on afterwards."""
    assert vcenter.agent in SLEEPERS
    vcenter.is_suspended = True
    asked, off = vcenter.run(Deed.STATUS), vcenter.run(Deed.OFF)

    assert (RunState.DONE, Power.OFF) == (off.state, off.power), "then it needs no look any more"
    assert vcenter.is_suspended, "nothing was sent"
    for deed, result in ((Deed.STATUS, asked), (Deed.OFF, off)):
        assert (RunState.FAILED, Power.UNKNOWN, False) == counted(deed, result, is_seen=False)

    vcenter.run(Deed.ON)
    assert vcenter.is_resumed


def test_a_machine_that_was_seen_on_goes_off_for_good(vcenter: Vcenter) -> None:
    """The look that shows it on is no failure, and what it says counts for all that comes after it."""
    look, off, asked = vcenter.run(Deed.STATUS), vcenter.run(Deed.OFF), vcenter.run(Deed.STATUS)

    assert (RunState.DONE, Power.ON, True) == counted(Deed.STATUS, look, is_seen=False)
    assert [(RunState.DONE, Power.OFF, True)] * 2 == [
        counted(deed, one, is_seen=True) for deed, one in ((Deed.OFF, off), (Deed.STATUS, asked))
    ]
    vcenter.run(Deed.ON)
    assert not vcenter.is_resumed
