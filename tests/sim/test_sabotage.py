"""Every checker has been seen red: one line of sabotage each, under which it must complain."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
import pytest

from noderemedy.core import backup, traces
from noderemedy.core.incident import aspects, deciders, diary, ending, records, recordview
from noderemedy.core.incident.aspects import ASPECTS
from noderemedy.core.incident.observed import Decider
from noderemedy.core.metal3 import annotation, cleanup, leaving, phases
from noderemedy.core.metal3.annotation import ANSWERS, Says
from noderemedy.engine.leadership import Leadership
from noderemedy.engine.loop import Engine
from noderemedy.model.decision import Decision
from noderemedy.model.host import Power
from noderemedy.model.ids import HOST
from noderemedy.model.outcome import Seen
from noderemedy.model.time import MINUTE, Now
from noderemedy.sim import lifecycle, workload
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.crash import (
    Ending,
    Point,
    Story,
    given_up,
    hung_node,
    node_without_ref,
    play,
    recalled,
    remediated_by_taint,
)
from noderemedy.sim.extras import PLAIN
from noderemedy.sim.kinds import POD
from noderemedy.sim.remediationcheckers import RemediationCheckers
from noderemedy.sim.run import simulate
from noderemedy.wire import incidents, objects, shapes

Sabotage = Callable[[pytest.MonkeyPatch], None]


def a_held_host_passes_for_off(patch: pytest.MonkeyPatch) -> None:
    def read(shape: shapes.HostShape) -> object:
        host = objects.host(shape)
        return msgspec.structs.replace(host, power=Power.OFF) if host.held else host

    patch.setitem(objects.READERS, HOST, (shapes.HostShape, read))


def a_host_held_for_a_request_passes_for_off(patch: pytest.MonkeyPatch) -> None:
    def read(shape: shapes.HostShape) -> object:
        host = objects.host(shape)
        return msgspec.structs.replace(host, power=Power.OFF) if host.held_for else host

    patch.setitem(objects.READERS, HOST, (shapes.HostShape, read))


def attempts_never_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(phases, "is_last_attempt", lambda remediation: False)


def finalizers_stay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(leaving, "drop", lambda view, *reasons: Decision(because=reasons))


def pods_of_a_silent_node_are_forced_out(patch: pytest.MonkeyPatch) -> None:
    true_unknown = lifecycle.Lifecycle._unknown

    def force_out(self: lifecycle.Lifecycle, name: str) -> None:
        true_unknown(self, name)
        for pod in self.api.list(POD, fields=f"spec.nodeName={name}"):
            self.api.delete(POD, pod["metadata"]["name"], pod["metadata"]["namespace"], grace=0)

    patch.setattr(lifecycle.Lifecycle, "_unknown", force_out)


def the_hold_is_never_released(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(ANSWERS, Says.RELEASE, lambda view, reason, now: Decision(because=(reason,)))


def nothing_is_restored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cleanup, "restore", lambda *_: None)


def taints_are_not_backed_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(backup, "kept", lambda taints: ())


def the_backup_is_never_dropped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(annotation, "returned_node", lambda view, now: None)


def no_pod_is_made_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(workload.StatefulSets, "_pod", lambda self, event: None)


def changes_of_hosts_are_not_noticed(patch: pytest.MonkeyPatch) -> None:
    true_seen = Engine.seen

    def seen(self: Engine, item: Seen, now: Now) -> None:
        if item.ref.kind != HOST or not self.is_synced:
            true_seen(self, item, now)

    patch.setattr(Engine, "seen", seen)


def the_request_is_never_taken_off(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(ANSWERS, Says.UNMARK, lambda view, reason, now: Decision(because=(reason,)))


def everybody_leads(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Leadership, "may_act", lambda self, now: True)


def restored_again_and_again(patch: pytest.MonkeyPatch) -> None:
    """Forgets that the node is whole, so the backup stays and the node is patched for ever."""
    true_restore = backup.restore

    def restore(ref, version, node, stored):  # type: ignore[no-untyped-def]
        bare = msgspec.structs.replace(node, labels=())
        return true_restore(ref, version, bare, stored)

    patch.setattr(cleanup, "restore", restore)


def unnoted(*left_out: aspects.Aspect) -> Sabotage:
    """Steps of these aspects are missing in every record."""
    return lambda patch: patch.setattr(diary, "ASPECTS", tuple(one for one in ASPECTS if one not in left_out))


def phases_tell_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(aspects, "evidence_of", lambda progress: "")


def records_are_never_closed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ending, "ending", lambda view, found, record: None)


def a_record_holds_its_last_step_only(patch: pytest.MonkeyPatch) -> None:
    true_body = incidents.status_body
    patch.setattr(recordview, "goes_on", lambda wanted, stored: True)
    patch.setattr(
        incidents, "status_body", lambda record: true_body(msgspec.structs.replace(record, steps=record.steps[-1:]))
    )


def checks_are_a_generation_ahead(patch: pytest.MonkeyPatch) -> None:
    true_check = deciders.check

    def check(*given: Any) -> Decider | None:
        found = true_check(*given)
        return msgspec.structs.replace(found, generation=found.generation + 1) if found else None

    patch.setattr(deciders, "check", check)


def nobody_decides(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(deciders, "check", lambda *_: None)


# rule -> the sabotage under which a hung node's story, or a simulated day, breaks it
STORY_SABOTAGES: dict[str, Sabotage] = {
    "S1: Node": a_held_host_passes_for_off,
    "S1: Pod": pods_of_a_silent_node_are_forced_out,
    "S1: volume": pods_of_a_silent_node_are_forced_out,
    "P1": pods_of_a_silent_node_are_forced_out,
    "S6": the_hold_is_never_released,
    "S13": nothing_is_restored,
    "S15: no record says deletion": unnoted(aspects.deletion),
    "S15: Incident": records_are_never_closed,
    "S15: steps": a_record_holds_its_last_step_only,
    "L1": no_pod_is_made_again,
    "L2": the_backup_is_never_dropped,
    "L3": the_hold_is_never_released,
}
# rule -> story and sabotage; undisturbed, `tests/sim/test_crash.py` sees each story end well
REMEDIATION_SABOTAGES: dict[str, tuple[Story, Sabotage]] = {
    "S1: Node worker-1 was called out of service": (remediated_by_taint, a_host_held_for_a_request_passes_for_off),
    "S14": (given_up, attempts_never_end),
    "S15: no record says taint out-of-service": (remediated_by_taint, unnoted(aspects.taint)),
    "L7": (recalled, finalizers_stay),
}
DAY_SABOTAGES: dict[str, Sabotage] = {
    "S10": everybody_leads,
    "S13": taints_are_not_backed_up,
    "L2": the_request_is_never_taken_off,
    "L6": changes_of_hosts_are_not_noticed,
    "S15: no record says external request": unnoted(aspects.requests),
    "S15: step verdict unhealthy of Incident .* names generation": checks_are_a_generation_ahead,
    "S15: step verdict unhealthy of Incident .* names no check": nobody_decides,
    "L9": restored_again_and_again,
}


@cache
def undisturbed() -> Ending:
    """The story of a hung node without any sabotage: the same for all."""
    return play(hung_node)


@pytest.mark.parametrize("rule", STORY_SABOTAGES)
def test_a_story_turns_red(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its sabotage the story of a hung node breaks exactly this rule, among others perhaps."""
    assert () == undisturbed().violations
    STORY_SABOTAGES[rule](monkeypatch)

    assert any(f"ms: {rule}" in line for line in play(hung_node).violations)


@pytest.mark.parametrize("rule", REMEDIATION_SABOTAGES)
def test_a_remediation_turns_red(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its sabotage the story of a Metal3Remediation breaks this rule."""
    story, sabotage = REMEDIATION_SABOTAGES[rule]
    sabotage(monkeypatch)

    assert any(f"ms: {rule}" in line for line in play(story).violations)


@pytest.mark.parametrize("rule", DAY_SABOTAGES)
def test_a_day_turns_red(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under its sabotage a simulated hour breaks this rule."""
    DAY_SABOTAGES[rule](monkeypatch)

    assert any(re.search(f"ms: {rule}", line) for line in simulate(1, nodes=20, hours=2.0, extras=PLAIN).violations)


def test_pods_without_a_word_turn_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither a step nor a phase tells of the pods that were deleted for a node, nobody does (S15)."""
    phases_tell_nothing(monkeypatch)
    unnoted(aspects.pods)(monkeypatch)
    lines = simulate(120, nodes=20, hours=2.0, trouble_every_ms=60_000, extras=PLAIN).violations

    assert any("ms: S15: no record says pods deleted" in line for line in lines)


def test_crash_plans_turn_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """A room that forgets holds after a restart is caught by a crash plan: its end is another one."""
    calm = play(hung_node)
    held = next(i for i, point in enumerate(calm.points) if point.action == "RemoveRebootAnnotation")
    the_hold_is_never_released(monkeypatch)
    ending = play(hung_node, die_at=held - 1)

    assert calm.state != ending.state


def test_a_crash_costs_a_record_nothing_because_traces_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """If holds were released before they are told, a manager that dies then would leave a gap in history."""
    monkeypatch.setattr(records, "SETTLES", MINUTE * 10)  # whatever is told sooner is told because somebody waits
    points = play(node_without_ref).points
    released = points.index(Point("applied", "RemoveRebootAnnotation", "annotation"))
    whole = play(node_without_ref, die_at=released).violations
    monkeypatch.setattr(traces, "recorded", lambda *_: None)
    released = play(node_without_ref).points.index(Point("applied", "RemoveRebootAnnotation", "annotation"))
    torn = play(node_without_ref, die_at=released).violations

    assert () == whole
    assert any("S15: no record says hold" in line for line in torn)


def test_no_checker_is_without_sabotage() -> None:
    """Each rule that a checker can complain about has a sabotage here."""
    sources = inspect.getsource(Checkers) + inspect.getsource(RemediationCheckers)
    rules = set(re.findall(r'self.complain\("(\w+)"', sources))
    covered = {rule.split(":")[0] for rule in (*STORY_SABOTAGES, *REMEDIATION_SABOTAGES, *DAY_SABOTAGES)}

    assert rules <= covered
