"""The deed, and what the device says of it afterwards: every fault of a device, with a real process."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.fencing.orders import an_order
from tests.drivers.fence.scripted import asked, hand, install, order

from noderemedy.core.fencing.credentials import SecretMissing, usable
from noderemedy.drivers.fence import process
from noderemedy.drivers.fence.standins import for_status
from noderemedy.drivers.fence.verify import carry_out
from noderemedy.model.ids import NODE, ref
from noderemedy.model.run import Deed, Order, Power, Result, RunState
from noderemedy.model.time import Span

SECRETS = {"password": "hunter2"}


def run(folder: Path, one: Order, secrets: dict[str, str] = SECRETS) -> Result:
    return asyncio.run(carry_out(one, secrets, hand(folder)))


def test_off_is_verified_twice(tmp_path: Path) -> None:
    """Deed first, then two questions."""
    install(tmp_path, "well")

    result = run(tmp_path, order())

    assert (RunState.DONE, Power.OFF) == (result.state, result.power)
    assert ["off", "status", "status"] == asked(tmp_path)


def test_a_result_says_how_long_the_device_took(tmp_path: Path) -> None:
    """From before the first process of the agent to the end of the last one; what was not begun took nothing."""
    install(tmp_path, "slow")

    assert Span(400) <= run(tmp_path, order()).took < Span(60_000)
    assert Span(0) == run(tmp_path, order(agent="fence_none")).took


def test_on_and_status(tmp_path: Path) -> None:
    """On is verified as well; a question is one question."""
    install(tmp_path, "well")
    results = [run(tmp_path, order(deed)) for deed in (Deed.OFF, Deed.STATUS, Deed.ON, Deed.STATUS)]

    assert [Power.OFF, Power.OFF, Power.ON, Power.ON] == [result.power for result in results]
    assert {RunState.DONE} == {result.state for result in results}


@pytest.mark.parametrize(
    ("fault", "power", "words"),
    [
        ("away", Power.UNKNOWN, "off failed with exit code 1: Connection timed out; look at parameter ip"),
        ("lies", Power.ON, "the agent says that off succeeded, but the device says on; look at parameter ip"),
        ("comes back", Power.ON, "the device said off after off, and on a moment later; look at parameter ip"),
        ("garbage", Power.UNKNOWN, "off failed with exit code 7"),
        ("never ends", Power.UNKNOWN, "off did not end in time and was ended (0.5s for the whole run): working; "),
    ],
)
def test_a_fault_is_a_failure(
    fault: str, power: Power, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names node and method, says what was seen, and nothing counts as off."""
    monkeypatch.setattr(process, "GRACE_S", 0.1)
    install(tmp_path, fault)

    result = run(tmp_path, order(seconds=0.5 if fault == "never ends" else 5))

    assert (RunState.FAILED, power) == (result.state, result.power)
    assert f"node worker-0, method bmc (fence_scripted): {words}" in result.said


def test_wrong_credentials_are_named_and_not_told(tmp_path: Path) -> None:
    """The message leads to the Secret; what it holds is not in it, though the agent prints it."""
    install(tmp_path, "refused")

    result = run(tmp_path, order(), {"password": "wrong horse"})

    assert "Unable to login with …" in result.said
    assert "password (secret bmc-worker-0, key password)" in result.said


def test_an_agent_that_uses_up_its_time_is_still_verified(tmp_path: Path) -> None:
    """A slow BMC that did it in the end has done it: the device is asked though time is over."""
    install(tmp_path, "slow")

    assert RunState.DONE is run(tmp_path, order(seconds=0.45)).state


def test_an_agent_that_is_not_here(tmp_path: Path) -> None:
    """What cannot be run is said with the remedy."""
    said = run(tmp_path, order()).said

    assert "there is no agent fence_scripted here; install it (with --agents job: in the remedy image)" in said
    assert said.endswith("or name its folder by --agents-path")


@pytest.mark.parametrize("name", ["../fence_scripted", "/bin/sh", "sh", "fence_", "fence_scripted x", "other", ""])
def test_only_names_of_agents_are_run(name: str, tmp_path: Path) -> None:
    """A name is never a path, and nothing else than an agent can be started."""
    install(tmp_path, "well")
    install(tmp_path, "well", "other")

    assert RunState.FAILED is run(tmp_path, order(agent=name)).state
    assert [] == asked(tmp_path)


def test_a_parameter_of_two_lines_is_refused(tmp_path: Path) -> None:
    """It would smuggle in a second parameter."""
    install(tmp_path, "well")
    one = an_order(agent="fence_scripted", parameters=(("plug", "1\naction=on"),))

    assert "parameter plug has more than one line" in run(tmp_path, one).said
    assert [] == asked(tmp_path)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "has no key k"),
        ("", "is empty"),
        ("\n", "is empty"),
        ("one?\ntwo?", "more than one line"),
        ("one?\0two?", "more than one line"),
    ],
)
def test_a_secret_that_cannot_be_used(value: str | None, words: str) -> None:
    """Parameter, Secret and key are named, with the remedy, and never the value."""
    with pytest.raises(SecretMissing, match=f"^parameter p: secret s.*{words}") as problem:
        usable("p", "s", "k", value)

    assert "?" not in str(problem.value)


def test_the_last_line_feed_of_a_secret_is_none_of_it() -> None:
    """Secrets are made from files, and files end in one."""
    assert "hunter2" == usable("p", "s", "k", "hunter2\r\n")


LISTING = ("fence_zvmip", "fence_scripted")


@pytest.mark.parametrize("plug", ["2", "24"])
@pytest.mark.parametrize("agent", LISTING)
def test_an_agent_that_calls_off_what_is_not_there_is_asked_for_its_list(agent: str, plug: str, tmp_path: Path) -> None:
    """After the looks, and by its own list the outlet must be there; other agents are not asked for any."""
    install(tmp_path, "lists two", agent)
    one = replace(order(agent=agent), parameters=(("plug", plug),))
    result = run(tmp_path, one)
    is_listing = agent == "fence_zvmip"
    is_believed = not is_listing or plug == "2"
    expected = (RunState.DONE, Power.OFF) if is_believed else (RunState.FAILED, Power.UNKNOWN)

    assert expected == (result.state, result.power)
    assert ["off", "status", "status", *(["list"] if is_listing else [])] == asked(tmp_path)


def test_a_drill_asks_for_the_list_of_what_is_on(tmp_path: Path) -> None:
    """A fence does not: what is on needs no list."""
    install(tmp_path, "lists two", "fence_zvmip")
    of_fence = replace(order(Deed.STATUS, agent="fence_zvmip"), parameters=(("plug", "24"),))
    of_drill = replace(of_fence, fence=ref(NODE, "worker-0"))

    assert [RunState.DONE, RunState.FAILED] == [run(tmp_path, one).state for one in (of_fence, of_drill)]
    assert ["status", "status", "list"] == asked(tmp_path)


@pytest.mark.parametrize("agent", ["fence_apc_snmp", "fence_scsi", "fence_scripted"])
def test_questions_go_through_programs_of_ours(agent: str, tmp_path: Path) -> None:
    """Where an agent calls off what it does not understand; what switches something is its own."""
    install(tmp_path, "asks through another", agent)
    result = run(tmp_path, order(agent=agent))

    assert (RunState.DONE, Power.OFF) == (result.state, result.power), result.said
    line = "".join(value for _, value in for_status(agent))
    assert ["", line, line] == (tmp_path / "through").read_text().splitlines()
    assert bool(line) == (agent != "fence_scripted")
