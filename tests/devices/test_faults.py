"""Faults that only some devices can be made to show: slow, deaf, lying, mute; and agents without hardware."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.core.fencing.orders import an_order
from tests.devices.device import PASSWORD, needs
from tests.devices.ipmi import Bmc, silent_port

from noderemedy.drivers.fence import agents
from noderemedy.drivers.fence.verify import Hand, carry_out
from noderemedy.model.run import Deed, Power, Result, RunState
from noderemedy.model.time import Span


@pytest.fixture
def bmc(tmp_path: Path) -> Iterator[Bmc]:
    made = Bmc(tmp_path)
    made.start()
    yield made
    made.stop()


def test_a_slow_bmc_is_waited_for(bmc: Bmc) -> None:
    """It takes a while until the power is really off: the run is done when it is, and not before."""
    bmc.fault("acts-after", "4")

    result = bmc.run(Deed.OFF)

    assert (RunState.DONE, Power.OFF, False) == (result.state, result.power, bmc.is_on()), result.said


def test_a_bmc_that_is_too_slow_has_failed(bmc: Bmc) -> None:
    """Two minutes for an answer, scaled down: what takes longer than the patience is a failure, never a success."""
    bmc.fault("answers-after", "6")
    begun = time.monotonic()

    result = bmc.run(Deed.OFF, patience_s=4)

    assert (RunState.FAILED, Power.UNKNOWN) == (result.state, result.power)
    assert "did not end in time and was ended (4s for the whole run)" in result.said
    assert "node worker-0, method power (fence_ipmilan): " in result.said
    assert "; look at parameters ip, ipport, or give it more time by timeout=" in result.said
    assert 12 > time.monotonic() - begun


def test_a_slow_bmc_is_fenced_with_more_time(bmc: Bmc) -> None:
    """What the message advises helps: the same device, the same command, and a larger timeout=."""
    bmc.fault("answers-after", "2")

    short, long = bmc.run(Deed.OFF, patience_s=1), bmc.run(Deed.OFF, patience_s=120)

    assert (RunState.FAILED, RunState.DONE, Power.OFF) == (short.state, long.state, long.power), long.said
    assert ("give it more time by timeout=" in short.said, False) == (True, bmc.is_on())


def test_a_bmc_that_does_not_obey(bmc: Bmc) -> None:
    """It accepts the command and switches nothing: the agent sees it, and so do we."""
    bmc.fault("ignores")

    result = bmc.run(Deed.OFF, power_timeout="3")

    assert (RunState.FAILED, True) == (result.state, bmc.is_on())
    assert "Timed out waiting to power OFF" in result.said


@pytest.mark.parametrize(("lies", "words"), [(1, "off succeeded, but the device says on"), (2, "on a moment later")])
def test_a_bmc_that_lies_for_a_while(bmc: Bmc, lies: int, words: str) -> None:
    """It tells the agent that it is off, whose exit code is 0, and is on all the time: we ask twice ourselves."""
    bmc.fault("ignores")
    bmc.fault("lies", str(lies))

    result = bmc.run(Deed.OFF)

    assert (RunState.FAILED, Power.ON, True) == (result.state, result.power, bmc.is_on())
    assert f"{words}; look at parameters ip, ipport" in result.said


def test_a_bmc_that_says_nothing(bmc: Bmc) -> None:
    """Packets arrive and nobody answers: the run ends with its patience."""
    with silent_port() as port:
        result = bmc.run(Deed.STATUS, patience_s=3, ipport=str(port.getsockname()[1]))

    assert (RunState.FAILED, Power.UNKNOWN) == (result.state, result.power)
    assert "; look at parameters ip, ipport" in result.said


def test_no_secret_is_an_argument_of_the_agent(bmc: Bmc) -> None:
    """Nobody who lists processes while the agent runs finds the password in the agent's arguments.

    Of the programs that an agent starts nothing is shown here: this one starts `ipmitool -P PASSWORD`, which is its own
    way. The guide tells people what to do about that.
    """
    bmc.fault("answers-after", "1")
    seen: list[str] = []

    async def story() -> Result:
        running = asyncio.create_task(asyncio.to_thread(bmc.run, Deed.STATUS))
        while not running.done():
            seen.extend(arguments_of("fence_ipmilan"))
            await asyncio.sleep(0.02)
        return await running

    assert RunState.DONE is asyncio.run(story()).state
    assert seen
    assert [] == [line for line in seen if PASSWORD in line]


def arguments_of(agent: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if agent in line.split("pytest")[0]:
            found.append(line)
    return found


def dummy(deed: Deed, folder: Path, patience_s: float = 20, **parameters: str) -> Result:
    needs("fence_dummy")
    given = {"status_file": str(folder / "status"), **parameters}
    order = an_order(
        deed, agent="fence_dummy", parameters=tuple(given.items()), secrets=(), patience=Span.seconds(patience_s)
    )
    return asyncio.run(carry_out(order, {}, Hand(agents.folders("", os.environ), between_looks=Span(200))))


def test_the_dummy_of_fence_agents(tmp_path: Path) -> None:
    """Its plug is a file: off, status, on."""
    results = [dummy(deed, tmp_path) for deed in (Deed.OFF, Deed.STATUS, Deed.ON)]

    assert [Power.OFF, Power.OFF, Power.ON] == [result.power for result in results], results
    assert {RunState.DONE} == {result.state for result in results}


def test_the_dummy_that_always_fails(tmp_path: Path) -> None:
    """It never says off: a failure when its time is over."""
    assert RunState.FAILED is dummy(Deed.OFF, tmp_path, 4, type="fail", power_timeout="1").state


def test_the_dummy_that_never_ends(tmp_path: Path) -> None:
    """It sleeps before it does anything: ended with its patience, and nothing was switched."""
    result = dummy(Deed.OFF, tmp_path, 0.9, random_sleep_range="600")

    assert RunState.FAILED is result.state
