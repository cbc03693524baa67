"""Upgrade, downgrade and uninstall in the middle of a repair: faults 26 to 28, and the page of the guide on them.

A story is played up to each boundary of its ledger, then its manager is gone for good, and a person types what
`docs/guide/upgrade.md` says for the state that is there. Versions are emulated at the API: an older one neither
writes nor reads the hold record, a newer one (`sim/versions.py`) writes fields that this one does not know.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import msgspec
import pytest
from tests.guide import page as pages
from tests.guide.page import Page
from tests.guide.stopped import NODE_OF, Stopped, a_shell, applied, boundaries, boundary, notes_of, telling

from noderemedy.core.metal3.annotation import ANSWERS, Says, release
from noderemedy.core.metal3.view import MachineView
from noderemedy.engine.leadership import Leadership, Operation, Reply, Rules
from noderemedy.model.decision import Decision
from noderemedy.model.host import Hold
from noderemedy.model.ids import HOST, Kind
from noderemedy.model.reasons import TableRow
from noderemedy.model.time import Mono, Now, Span
from noderemedy.sim import candidate, objects, process
from noderemedy.sim.apiserver import ApiServer, WatchEvent
from noderemedy.sim.candidate import Candidate
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of
from noderemedy.sim.crash import STORY_MS, Ending, Story, cordoned_node, hung_node, play, sample, state_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import Process
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.versions import Newer
from noderemedy.sim.weather import Fate
from noderemedy.wire import names, shapes
from noderemedy.wire.http import Answer, Request

PAGE = pages.read("upgrade.md")
LATER_MS = 20 * MINUTE_MS
SOON_MS = 5 * MINUTE_MS
FREE = ("Free", "Call off", "Release", "Restore", "Forget", "Check")


# --- the page ----------------------------------------------------------------------------------------------------

MET: set[str] = set()  # the states that the next test came through


@pytest.mark.parametrize("away_ms", [0, LATER_MS], ids=["at once", "later"])
@pytest.mark.parametrize("story", NODE_OF, ids=lambda story: story.__name__)
def test_the_page_finishes_every_state(story: Story, away_ms: int) -> None:
    """With the manager gone at any boundary, the page's commands leave hosts on, nodes whole and nothing behind."""
    for at in applied(story) if away_ms else telling(story):
        stopped = Stopped(story, at, away_ms=away_ms)
        state = stopped.state()
        MET.add(state)

        assert [] == stopped.finish(PAGE), f"gone at {at}, {boundaries(story)[at]}, {state!r}"


def test_the_page_knows_every_state_that_occurs() -> None:
    """The states at all those boundaries are those of the page, and the page has no others."""
    met = MET or {Stopped(story, at).state() for story in NODE_OF for at in telling(story)}

    assert set(PAGE.states) == met - {""}


def test_the_workload_can_be_freed_by_hand() -> None:
    """In the state that the page names, deleting the Node by hand frees the workload safely, and all ends well."""
    stopped = Stopped(hung_node, boundary(hung_node, "begin DeleteNode"))

    assert "backup stored" == stopped.state()
    assert [] == stopped.finish(PAGE, *FREE)
    assert "worker-1" in stopped.checkers.freed_at


def sabotaged(old: str, new: str = "") -> Page:
    text = (pages.GUIDE / "upgrade.md").read_text(encoding="utf-8")
    assert old in text
    return pages.parse(text.replace(old, new))


# what is taken out of the page -> where the manager died, and the complaint that follows
PAGE_SABOTAGES: dict[str, tuple[str, str]] = {
    "reboot.metal3.io/machine-remediation- ": ("applied AddRebootAnnotation", "S6"),
    ", *Release*": ("begin DeleteNode", "typed in vain"),
    "host.metal3.io/external-remediation-": ("begin AddRebootAnnotation", "typed in vain"),
    "*Restore*, ": ("begin RestoreNode", "S13"),
    ", *Forget*": ("begin RemoveRebootAnnotation", "L2"),
    " --timeout=60m": ("begin RemoveRebootAnnotation", "typed in vain"),
    "-n ": ("begin DropBackup", "typed in vain"),
}


@pytest.mark.parametrize("lost", PAGE_SABOTAGES)
def test_a_page_with_a_gap_is_found(lost: str) -> None:
    """A page from which one word is missing leaves something behind, or cannot be typed."""
    where, complaint = PAGE_SABOTAGES[lost]

    found = Stopped(hung_node, boundary(hung_node, where)).finish(sabotaged(lost))

    assert any(complaint in line for line in found)


def test_a_page_that_frees_too_early_is_found() -> None:
    """Deleting the Node of a host that is still on, without waiting for its power, breaks S1."""
    wait = 'kubectl wait -n "$NAMESPACE" "$HOST" --for=jsonpath=\'{.status.poweredOn}\'=false --timeout=10m\n'
    stopped = Stopped(hung_node, boundary(hung_node, "applied AddRebootAnnotation"))

    assert "held, still on" == stopped.state()
    assert any("S1" in line for line in stopped.finish(sabotaged(wait), "Free"))


# --- versions ----------------------------------------------------------------------------------------------------


class Older(Process):
    """A version from before the hold record: it neither writes nor reads nor removes it."""

    def apply(self, request: Request, fate: Fate, api: ApiServer) -> Answer | None:
        answer = super().apply(msgspec.structs.replace(request, body=without_record(request.body)), fate, api)
        return msgspec.structs.replace(answer, body=without_record(answer.body)) if answer else None

    def _enter(self, kind: Kind, event: WatchEvent, now: Now) -> None:
        tree = msgspec.json.decode(without_record(msgspec.json.encode(event.tree)))
        super()._enter(kind, WatchEvent(event.type, tree), now)


def without_record(body: bytes) -> bytes:
    return changed(body, lambda notes: notes.pop(names.HOLD, None))


def changed(body: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """An object or patch with other annotations; whatever else it is passes as it is."""
    tree = msgspec.json.decode(body) if body.startswith(b"{") else {}
    notes = tree.get("metadata", {}).get("annotations") if isinstance(tree.get("metadata"), dict) else None
    if not notes:
        return body
    change(notes)
    return msgspec.json.encode(tree)


SLOW = Rules(duration=Span(60_000), deadline=Span(40_000), retry=Span(10_000))
ELSEWHERE = "another-namespace"


class LeaseElsewhere(Candidate):
    """Stands for election with a Lease in another namespace: it meets no other candidate there."""

    def carry_out(self, operation: Operation) -> Reply:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(candidate, "SYSTEM", ELSEWHERE)
            return super().carry_out(operation)


class Slower(Process):
    """Restarted with other numbers for leader election."""

    def start(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(process, "ELECTION", SLOW)
            super().start()


class Moved(Process):
    """Restarted with another namespace."""

    def start(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(process, "Candidate", LeaseElsewhere)
            super().start()


class World:
    """A cluster with one manager per version. The first one starts; the others wait for their turn."""

    def __init__(self, *versions: type[Process]) -> None:
        self.cluster = Cluster(nodes=3, seed=1, replicas=3, tracks_fields=False)
        self.cluster.api.create(objects.namespace(ELSEWHERE))
        self.checkers = Checkers(self.cluster)
        self.managers = [version(f"manager-{i}", self.cluster, seed=i) for i, version in enumerate(versions, start=1)]
        self.managers[0].start()
        self.cluster.agenda.run_until(2 * MINUTE_MS)

    def at_boundary(self, number: int, do: Callable[[], None]) -> None:
        """Let something happen at the n-th boundary of all managers together."""
        count = iter(range(1_000_000))
        for manager in self.managers:
            manager.on_boundary.append(lambda *_: do() if next(count) == number else None)

    def tell(self, story: Story, length_ms: int) -> tuple[tuple[str, ...], list[str]]:
        """Play the story for so long, remove an inert record as the page says, and judge."""
        story(self.cluster)
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + length_ms)
        host = self.cluster.api.get(HOST, host_of(NODE_OF[story]), NAMESPACE)
        if names.HOLD in notes_of(host) and names.REBOOT not in notes_of(host):
            a_shell(self.cluster, NODE_OF[story], PAGE).run(PAGE.program("Release"))
        alive = [manager for manager in self.managers if manager.is_alive]
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + MINUTE_MS)
        self.checkers.at_rest(alive[0].engine if alive and type(alive[0]) is not Older else None)
        return state_of(self.cluster, self.checkers), self.checkers.violations


def complaints(
    story: Story, *versions: type[Process], plan: Callable[[World], None], at: int, hurries: bool = True
) -> list[str]:
    """What is wrong at the end, if at the n-th boundary something happens to the managers of these versions.

    Mostly all is well soon after the undisturbed story is over; only where it is not the whole time is given.
    """
    found: list[str] = []
    for length_ms in (*((undisturbed(story).busy_ms + SOON_MS,) if hurries else ()), STORY_MS):
        world = World(*versions)
        world.at_boundary(at, partial(plan, world))
        state, violations = world.tell(story, length_ms)
        found = [*violations] + [line for line in state if line not in undisturbed(story).state]
        if not found:
            break
    return found


@cache
def undisturbed(story: Story) -> Ending:
    return play(story)


def both_lead(world: World) -> None:
    """Fault 26, at its worst: the second version starts, and both believe that they lead."""
    world.managers[1].start()
    for manager in world.managers:
        manager.always_leads = True


def hand_over(world: World) -> None:
    """The first version is gone for good, the second one takes its place."""
    world.managers[0].kill()
    world.managers[1].start()


def there_and_back(world: World) -> None:
    """Fault 27: the second version takes over for a minute and a half, then the first one again."""
    hand_over(world)
    first, second = world.managers

    def back() -> None:
        second.kill()
        first.start()

    world.cluster.agenda.after(90_000, back)


def overlapping(world: World) -> None:
    """Fault 28, rolled out: the manager with the new settings starts, the old one lives on for a minute."""
    first, second = world.managers
    second.start()
    world.cluster.agenda.after(MINUTE_MS, lambda: first.kill() if first.is_alive else None)


def test_two_versions_at_once_do_no_harm() -> None:
    """Fault 26: an older or a newer version beside this one, both leading from some point on, end as one would."""
    for at in applied(hung_node):
        for versions in ((Process, Older), (Older, Process), (Newer, Process), (Process, Newer)):
            assert [] == complaints(hung_node, *versions, plan=both_lead, at=at), f"{versions} at {at}"


@pytest.mark.parametrize("story", [hung_node, cordoned_node], ids=lambda story: story.__name__)
@pytest.mark.parametrize(
    "versions", [(Older, Process), (Newer, Process), (Process, Older)], ids=["upgrade", "rollback", "downgrade"]
)
def test_a_version_goes_on_where_another_one_stopped(story: Story, versions: tuple[type[Process], ...]) -> None:
    """Fault 26: replaced by another version after any request, a repair ends as it would have."""
    for at in applied(story):
        assert [] == complaints(story, *versions, plan=hand_over, at=at), f"at {at}"


def test_a_downgrade_and_an_upgrade_in_the_middle_change_nothing() -> None:
    """Fault 27: downgraded at any boundary and upgraded again a minute and a half later, a repair ends the same."""
    for at in telling(cordoned_node):
        assert [] == complaints(cordoned_node, Process, Older, plan=there_and_back, at=at), f"at {at}"


PLANS = pytest.mark.parametrize("plan", [hand_over, overlapping, there_and_back], ids=lambda plan: plan.__name__)
SETTINGS = pytest.mark.parametrize("version", [Slower, Moved])


@PLANS
@SETTINGS
def test_settings_may_change_in_the_middle(version: type[Process], plan: Callable[[World], None]) -> None:
    """Fault 28: with other numbers of leader election, or another namespace, from then on, all ends the same."""
    for at in sample(applied(hung_node), 8):
        assert [] == complaints(hung_node, Process, version, plan=plan, at=at), f"at {at}"


@pytest.mark.soak
@PLANS
@SETTINGS
def test_settings_may_change_anywhere(version: type[Process], plan: Callable[[World], None]) -> None:
    """The same after every request."""
    for at in applied(hung_node):
        assert [] == complaints(hung_node, Process, version, plan=plan, at=at), f"at {at}"


# --- sabotages of versions ---------------------------------------------------------------------------------------


class StrictBackup(shapes.BackupShape, rename="camel", forbid_unknown_fields=True):
    """A decoder that refuses what it does not know."""


def unknown_fields_are_refused(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shapes, "BackupShape", StrictBackup)


def only_recorded_holds_are_released(patch: pytest.MonkeyPatch) -> None:
    def careful(view: MachineView, reason: TableRow, now: Now) -> Decision:
        is_recorded = view.host is not None and isinstance(view.host.hold, Hold)
        return release(view, reason, now) if is_recorded else Decision(because=(reason,))

    patch.setitem(ANSWERS, Says.RELEASE, careful)


def only_equals_take_over(patch: pytest.MonkeyPatch) -> None:
    true_has_waited = Leadership._has_waited

    def has_waited(self: Leadership, span: Span, now: Mono) -> bool:
        is_equal = self._lease is None or self._lease.duration == self.rules.duration
        return is_equal and true_has_waited(self, span, now)

    patch.setattr(Leadership, "_has_waited", has_waited)


Sabotage = Callable[[pytest.MonkeyPatch], None]
VERSION_SABOTAGES: dict[str, tuple[Sabotage, tuple[type[Process], ...], Callable[[World], None]]] = {
    "26: a newer version before": (unknown_fields_are_refused, (Newer, Process), hand_over),
    "26: an older version before": (only_recorded_holds_are_released, (Older, Process), hand_over),
    "27: a downgrade and back": (only_recorded_holds_are_released, (Older, Process), there_and_back),
    "28: other settings": (only_equals_take_over, (Process, Slower), hand_over),
}


@pytest.mark.parametrize("fault", VERSION_SABOTAGES)
def test_versions_that_do_not_get_along_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the successor is sabotaged the fault leaves something behind; without the fault it does not."""
    sabotage, versions, plan = VERSION_SABOTAGES[fault]
    at = boundary(hung_node, "ended DeleteNode")
    undisturbed(hung_node)

    def with_sabotage(world: World) -> None:
        sabotage(monkeypatch)
        plan(world)

    assert [] == complaints(hung_node, Process, Process, plan=with_sabotage, at=at, hurries=False)
    monkeypatch.undo()
    assert [] != complaints(hung_node, *versions, plan=with_sabotage, at=at, hurries=False)
