"""host-power in a drill: what the API shows of the node's host, row by row."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import HOST_AT, NODE_AT, a_host, a_node
from tests.core.fencing.fences import a_plan, an_agent

from noderemedy.core.fencing.hostdrill import by_the_api, judge, method_of
from noderemedy.core.fencing.hosts import NO_HOST, HostSeen
from noderemedy.model.fenceplan import Builtin, BuiltinMethod
from noderemedy.model.host import Host, Login, Power
from noderemedy.model.room import Present, Unseen
from noderemedy.model.time import Mono

METHOD = BuiltinMethod("host-power", Builtin.HOST_POWER)
WELL = replace(a_host(), status="OK", login=Login.ACCEPTED, login_secret="bmc-0")


def seen(host: Host, is_own: bool = True) -> HostSeen:
    return HostSeen(HOST_AT, Present(host, "1", Mono(1)), is_own)


CASES: list[tuple[str, HostSeen, str, str]] = [
    ("well", seen(WELL), "", ""),
    ("no host at all", NO_HOST, "HostNotReady", "names no BareMetalHost"),
    ("one that is gone, or not seen yet", HostSeen(HOST_AT, Unseen()), "HostNotReady", "names no BareMetalHost"),
    ("one that serves somebody else", seen(WELL, is_own=False), "HostNotReady", "names it back"),
    ("another server's", replace(seen(WELL, is_own=False), is_of_another=True), "WrongDevice", "another providerID"),
    ("paused", seen(replace(WELL, paused=True)), "HostNotReady", "is paused; remove its annotation"),
    ("detached", seen(replace(WELL, detached=True)), "HostNotReady", "is detached; remove its annotation"),
    ("being deleted", seen(replace(WELL, deleting=True)), "HostNotReady", "is being deleted"),
    ("never powered off", seen(replace(WELL, power_off_disabled=True)), "HostNotReady", "spec.disablePowerOff"),
    ("off on purpose", seen(replace(WELL, online=False)), "HostNotReady", "spec.online"),
    ("in trouble", seen(replace(WELL, status="error", error="no BMC")), "HostNotReady", "is error, not OK (no BMC);"),
    ("of no status", seen(replace(WELL, status="")), "HostNotReady", "is of no status, not OK; look at"),
    ("refused", seen(replace(WELL, login=Login.REFUSED)), "HostNotReady", "did not accept; look at Secret bmc-0"),
    ("untold", seen(replace(WELL, login=Login.UNTOLD, login_secret="")), "HostNotReady", "spec.bmc.credentialsName"),
    ("silent about power", seen(replace(WELL, power=Power.UNKNOWN)), "HostNotReady", "does not say whether it is on"),
    ("held off for a mark, and still heard", seen(replace(WELL, power=Power.OFF, held=True)), "", ""),
    ("held off for a request", seen(replace(WELL, power=Power.OFF, held_for=(("uid-9", None),))), "", ""),
    ("held off for a fence", seen(replace(WELL, power=Power.OFF, fenced_for=(("uid-9", None),))), "", ""),
    ("off, and the node is Ready", seen(replace(WELL, power=Power.OFF)), "WrongDevice", "this is not its host"),
]


@pytest.mark.parametrize(("host", "word", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_host_is_judged_by_what_the_api_shows(host: HostSeen, word: str, words: str) -> None:
    """Found, its own, neither paused nor detached, OK, with accepted credentials; else why not, and what to do."""
    found = judge(METHOD, NODE_AT, a_node(), host)

    assert word == found.word
    assert words in found.problem
    assert bool(word) == found.problem.startswith("node worker-0, method host-power: ")


def test_a_host_that_is_off_with_its_node_is_well() -> None:
    """Nothing contradicts the mapping."""
    assert "" == judge(METHOD, NODE_AT, a_node(ready="Unknown"), seen(replace(WELL, power=Power.OFF))).word


@pytest.mark.parametrize(("power", "is_fitting"), [(Power.ON, True), (Power.OFF, False)])
def test_a_host_that_is_held_off_takes_no_word_back(power: Power, is_fitting: bool) -> None:
    """Only one that is on while its node reports speaks against what an earlier drill has found."""
    assert is_fitting == judge(METHOD, NODE_AT, a_node(), seen(replace(WELL, power=power, held=True))).is_fitting


def test_nobody_thinks_that_the_bmc_was_asked() -> None:
    """What is well by the word of others is told as such."""
    told = f"BareMetalHost {HOST_AT.namespace}/{HOST_AT.name} is well by what the API shows; its BMC was not asked"

    assert told == by_the_api(seen(WELL))


def test_only_a_plan_with_the_method_needs_a_host() -> None:
    """Other methods without a device need nobody."""
    marks = BuiltinMethod("clean-pods", Builtin.CLEAN_PODS)

    assert METHOD == method_of(a_plan(isolation=(marks,), power_management=(an_agent(), METHOD)))
    assert method_of(a_plan(isolation=(marks,), power_management=(an_agent(),))) is None
