"""A node that reported while its host was off is not freed later; one that fell silent with its host is."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NOW, a_backup, a_hold, a_host, a_machine, a_node, a_view, absent, later, present

from noderemedy.core.metal3.annotation import decide
from noderemedy.model.actions import RecordSight
from noderemedy.model.decision import Decision
from noderemedy.model.host import Hold, Power
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Condition, Node
from noderemedy.model.reasons import HostContradicted, OffUnseen
from noderemedy.model.time import Mono, Now, Wall

ON, OFF, UNKNOWN = Power.ON, Power.OFF, Power.UNKNOWN
HELD = a_hold(since=NOW.wall)  # for node-uid-1, boot-1
LONG_AGO = -3_600
LONG_KNOWN = Mono(0)
TAKEOVER = None  # between two looks: whoever looks next knows what the API says, and nothing else

Look = tuple[float, Power, Node | None]


def reports(**more: Any) -> Node:
    return a_node(ready="True", **more)


def silent(since: float, uid: str = "node-uid-1", **more: Any) -> Node:
    """Kubernetes calls it Unknown since so many seconds after the hold."""
    return replace(a_node(uid, **more), conditions=(Condition("Ready", "Unknown", later(since).wall),))


def looks(*steps: Look | None, hold: Hold | Malformed = HELD) -> list[Decision]:
    """The table's decisions, one look after the other, so many seconds after the hold; each knows what is on record."""
    is_new, known_since, decided = False, Mono(0), []
    for step in steps:
        if step is None:
            is_new = True
            continue
        seconds, power, node = step
        known_since, is_new = later(seconds).mono if is_new else known_since, False
        decided.append(one_look(later(seconds), a_host(power=power, held=True, hold=hold), node, known_since))
        hold = next((one.hold for one in decided[-1].actions if isinstance(one, RecordSight)), hold)
    return decided


def one_look(
    now: Now, host: Any, node: Node | None, known_since: Mono = LONG_KNOWN, deleted_at: Wall | None = NOW.wall
) -> Decision:
    machine = a_machine(needs=True, backup=a_backup(node.uid if node else "node-uid-1"), node_deleted_at=deleted_at)
    host_entry = replace(present(host, now=now), changed_at=known_since)
    return decide(a_view(machine, host_entry, present(node, now=now) if node else absent(now=now)), now)


def is_freed(decision: Decision) -> bool:
    return ["DeleteNode"] == [type(action).__name__ for action in decision.actions]


def is_called(decision: Decision) -> bool:
    """Whether a person is called, and nothing is done but put that on record."""
    is_idle = all(isinstance(one, RecordSight) for one in decision.actions)
    return is_idle and HostContradicted("metal/rack1-u07", "worker-0") in decision.because


FALLS_SILENT: dict[str, tuple[Look | None, ...]] = {
    "silent before the hold": ((0, ON, silent(LONG_AGO)), (60, OFF, silent(LONG_AGO))),
    "silent before the hold, found late": ((40_000, OFF, silent(LONG_AGO)),),
    "within a minute after": ((0, ON, reports()), (60, OFF, reports()), (110, OFF, silent(105))),
    "within a minute after, found by a successor": ((0, ON, reports()), TAKEOVER, (4_000, OFF, silent(150))),
    "after minutes, as its cluster is slow": ((0, ON, reports()), (60, OFF, reports()), (650, OFF, silent(649))),
    "its BMC took an hour": ((0, ON, reports()), (3_600, OFF, reports()), (3_650, OFF, silent(3_645))),
    "its BMC did not answer for an hour": (
        (0, UNKNOWN, reports()),
        (3_600, OFF, reports()),
        (3_650, OFF, silent(3_645)),
    ),
    "our clock is five minutes behind": ((0, ON, reports()), (60, OFF, reports()), (110, OFF, silent(405))),
    "a successor's clock is five minutes ahead": ((0, ON, reports()), TAKEOVER, (110, OFF, silent(405))),
    "it booted on its way off": (
        (0, ON, reports()),
        (60, OFF, reports(boot_id="boot-2")),
        (110, OFF, silent(105, boot_id="boot-2")),
    ),
    "it was on again, held as it was, and booted": (
        (60, OFF, reports()),
        (110, ON, silent(105)),
        (4_000, ON, reports(boot_id="boot-2")),
        TAKEOVER,
        (9_000, OFF, reports(boot_id="boot-2")),
        (9_050, OFF, silent(9_045, boot_id="boot-2")),
    ),
    "it was on again, and off before it booted": (
        (60, OFF, reports()),
        (110, ON, silent(105)),
        (140, OFF, silent(105)),
    ),
    "it was on again before it fell silent": (
        (60, OFF, reports()),
        (80, ON, reports()),
        (110, ON, silent(105)),
        (9_000, OFF, reports(boot_id="boot-2")),
        (9_050, OFF, silent(9_045, boot_id="boot-2")),
    ),
    "we deleted its Node, it was on again, held as it was, and booted": (
        (60, OFF, reports()),
        (130, ON, None),
        (4_000, ON, reports(uid="node-uid-2", boot_id="boot-2")),
        TAKEOVER,
        (9_000, OFF, reports(uid="node-uid-2", boot_id="boot-2")),
        (9_050, OFF, silent(9_045, "node-uid-2", boot_id="boot-2")),
    ),
    "it booted on its way off, found by a successor": (
        (0, ON, reports()),
        TAKEOVER,
        (60, OFF, reports(boot_id="boot-2")),
        (110, OFF, silent(105, boot_id="boot-2")),
    ),
}


@pytest.mark.parametrize("case", FALLS_SILENT)
def test_who_falls_silent_with_its_host_is_freed(case: str) -> None:
    """Silent before, or soon after its host was seen off, however long that took: the last look frees, none before."""
    *before, last = looks(*FALLS_SILENT[case])

    assert (False, True) == (any(map(is_freed, before)), is_freed(last))
    assert not any(map(is_called, [*before, last]))


REPORTED: dict[str, tuple[Look | None, ...]] = {
    "for minutes, then it fell silent": (
        (0, ON, reports()),
        (60, OFF, reports()),
        (661, OFF, reports()),
        (700, OFF, silent(670)),
    ),
    "an hour, while nobody looked": ((0, ON, reports()), (60, OFF, reports()), (3_700, OFF, silent(3_660))),
    "an hour, and a successor comes": ((60, OFF, reports()), TAKEOVER, (3_700, OFF, silent(3_660))),
    "its BMC did not answer meanwhile": (
        (0, ON, reports()),
        (60, OFF, reports()),
        (661, OFF, reports()),
        (700, UNKNOWN, reports()),
        (720, OFF, silent(710)),
    ),
    "its host was on once more meanwhile": (
        (0, ON, reports()),
        (60, OFF, reports()),
        (661, OFF, reports()),
        (700, ON, reports()),
        (720, OFF, silent(710)),
    ),
    "two hosts share a BMC, and it is on and off by turns": (
        (60, OFF, reports()),
        (100, ON, reports()),
        (140, OFF, reports()),
        (600, ON, reports()),
        (640, OFF, reports()),
        (1_900, ON, reports()),
        (2_000, OFF, silent(1_990)),
    ),
    "it was on again, and the same boot reports": (
        (60, OFF, reports()),
        (110, ON, silent(105)),
        (700, OFF, reports()),
        (800, OFF, silent(790)),
    ),
    "we deleted its Node, it was on again, and the same boot registers": (
        (60, OFF, reports()),
        (130, ON, None),
        (700, OFF, reports(uid="node-uid-2")),
        (720, OFF, silent(710, "node-uid-2")),
    ),
    "it was on again, and the same boot has another Node": (
        (60, OFF, reports()),
        (110, ON, silent(105)),
        (700, OFF, reports(uid="node-uid-2")),
        (720, OFF, silent(710, "node-uid-2")),
    ),
    "it was on again, booted, and reports while it is off": (
        (60, OFF, reports()),
        (110, ON, silent(105)),
        (900, OFF, reports(boot_id="boot-2")),
        (1_501, OFF, reports(boot_id="boot-2")),
        (1_600, OFF, silent(1_590, boot_id="boot-2")),
    ),
    "it booted while it was off, and is on again": (
        (60, OFF, reports()),
        (110, ON, reports(boot_id="boot-2")),
        (160, OFF, silent(150, boot_id="boot-2")),
    ),
    "it booted after that": ((0, ON, reports()), (60, OFF, reports()), (400, OFF, silent(90, boot_id="boot-2"))),
    "another boot, which a successor hears for minutes": (
        (0, ON, reports()),
        TAKEOVER,
        (60, OFF, reports(boot_id="boot-2")),
        (661, OFF, reports(boot_id="boot-2")),
        (700, OFF, silent(670, boot_id="boot-2")),
    ),
    "it boots once more under a successor": (
        (60, OFF, reports(boot_id="boot-2")),
        (110, OFF, silent(105, boot_id="boot-3")),
    ),
    "another Node takes its name": ((60, OFF, reports()), (90, OFF, silent(80, "node-uid-2", boot_id=""))),
    "for minutes, fell silent, and a successor comes": (
        (60, OFF, reports()),
        (661, OFF, reports()),
        (700, OFF, silent(670)),
        TAKEOVER,
        (40_000, OFF, silent(670)),
    ),
    "it booted, and a successor comes": (
        (60, OFF, reports()),
        (90, OFF, reports(boot_id="boot-2")),
        TAKEOVER,
        (120, OFF, reports(boot_id="boot-2")),
        (170, OFF, silent(160, boot_id="boot-2")),
    ),
    "it was put on record by a leader that is back after an hour": (
        (5, ON, reports()),
        (60, OFF, reports()),
        TAKEOVER,
        (3_700, OFF, silent(3_660)),
    ),
}
UNSEEN: dict[str, tuple[Look | None, ...]] = {
    "its BMC was slow, and nobody looked": ((0, ON, reports()), TAKEOVER, (1_000, OFF, silent(940))),
    "it registered anew on its way off": ((0, ON, reports()), (60, OFF, silent(55, "node-uid-2"))),
    "we did not look for an hour": ((5, ON, reports()), (3_700, OFF, silent(3_660))),
    "another Node has its name": ((60, OFF, silent(50, "node-uid-2", boot_id="")),),
    "it was on again, and another boot fell silent while nobody looked": (
        (60, OFF, reports()),
        (110, ON, silent(105)),
        (4_000, OFF, silent(3_900, boot_id="boot-2")),
    ),
    "another boot has its Node": ((60, OFF, silent(50, boot_id="boot-9")),),
}


@pytest.mark.parametrize("case", UNSEEN)
def test_what_nobody_saw_begins_anew(case: str) -> None:
    """The node may have run on another host, or may have gone off with its own: power comes back with nothing freed."""
    *before, last = looks(*UNSEEN[case])

    assert not any(map(is_freed, [*before, last]))
    assert (OffUnseen("metal/rack1-u07", "worker-0"),) == last.because
    assert ["RemoveRebootAnnotation"] == [type(action).__name__ for action in last.actions]


@pytest.mark.parametrize("case", REPORTED)
def test_who_reported_while_its_host_was_off_is_never_freed(case: str) -> None:
    """It runs on another host, silent or not: a person is called, and called still a day later."""
    steps = REPORTED[case]
    assert steps[-1] is not None
    _, power, node = steps[-1]
    *before, last, later_on = looks(*steps, (86_400, power, node))

    assert not any(map(is_freed, [*before, last, later_on]))
    assert (True, True) == (is_called(last), is_called(later_on))


def test_a_node_that_somebody_else_deleted_did_not_go_off_with_its_host() -> None:
    """Nobody knows whether it was silent by then: only of a Node that this very hold had deleted we do."""
    seen_off = replace(HELD, off_at=later(60).wall)
    unknown, former, ours = (
        one_look(later(130), a_host(power=ON, held=True, hold=seen_off), None, deleted_at=at)
        for at in (None, later(LONG_AGO).wall, later(70).wall)
    )

    assert ((), ()) == (unknown.actions, former.actions)
    assert [later(130).wall] == [one.hold.on_at for one in ours.actions if isinstance(one, RecordSight)]


def test_a_successor_waits_the_whole_time() -> None:
    """By its own clock, from when it saw the host off: a former leader's clock may have been behind."""
    waits, told = looks((0, ON, reports()), TAKEOVER, (600, OFF, reports()), (1_201, OFF, reports()))[1:]

    assert (False, True) == (is_called(waits), is_called(told))


def test_another_hold_is_another_matter() -> None:
    """The request was removed and given anew, as the alert says: what was seen of the former hold went with it."""
    former = replace(HELD, off_at=NOW.wall, contradicted_at=NOW.wall)
    stays = one_look(later(60), a_host(power=OFF, held=True, hold=former), silent(LONG_AGO))
    freed = one_look(later(60), a_host(power=OFF, held=True, hold=HELD), silent(LONG_AGO))

    assert (True, False, True) == (is_called(stays), is_freed(stays), is_freed(freed))


def test_what_was_seen_goes_on_record_once() -> None:
    """With the moment and the boot; the look after that writes nothing."""
    first, second = looks((60, OFF, reports(boot_id="boot-2")), (61, OFF, reports(boot_id="boot-2")))
    [write] = first.actions

    assert isinstance(write, RecordSight)
    assert (later(60).wall, "boot-2", HELD.since) == (write.hold.off_at, write.hold.boot_id, write.hold.since)
    assert () == second.actions


def test_a_hold_without_a_record_is_judged_by_what_we_saw() -> None:
    """There is no boot to compare, and no time but our own."""
    garbled = Malformed("not JSON")

    freed = looks((60, OFF, silent(50)), hold=garbled)
    kept = looks((0, ON, reports()), (60, OFF, reports()), (661, OFF, reports()), (700, OFF, silent(670)), hold=garbled)

    assert (True, False) == (is_freed(freed[-1]), is_freed(kept[-1]))
    assert is_called(kept[-1])
