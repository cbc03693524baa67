"""Health checks through the engine, from a sick node to what is asked for; and properties of every decision."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import (
    DOCTOR,
    EVERYBODY,
    MACHINE_AT,
    NOW,
    TEMPLATE_AT,
    a_host,
    a_machine,
    a_node,
    absent,
    ago,
    later,
    present,
)
from tests.core.external.test_lifecycle import a_request_view
from tests.core.healthcheck.remediations import CHECK_AT, SICK, TEMPLATE, WELL, a_view, decide, names, reasons
from tests.core.healthcheck.targets import UNKNOWN, a_check

from noderemedy.core.conditions import along, in_older
from noderemedy.core.external.instantiate import request_at
from noderemedy.core.external.lifecycle import ALWAYS_WATCHED, Standing
from noderemedy.core.healthcheck import checks, remediation, specs, verdicts
from noderemedy.core.healthcheck.facts import permit_ref
from noderemedy.core.healthcheck.remediationview import RemediationView
from noderemedy.core.healthcheck.words import WELL as SAID_WELL
from noderemedy.core.healthcheck.words import owner_asked
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import (
    Action,
    Confirm,
    CreateRequest,
    DeleteMachine,
    MarkMachine,
    RemoveRemediationAnnotation,
    WriteMachineConditions,
)
from noderemedy.model.budget import Granted, Need, Refused, answer_ref, need, need_ref
from noderemedy.model.checkstatus import Writer
from noderemedy.model.healthcheck import Count, Dialect, HealthCheck, Unjudged
from noderemedy.model.ids import HEALTH_CHECK, MACHINE, NODE, Kind, Ref, ref
from noderemedy.model.machineconditions import Graded, MachineConditions
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import Condition
from noderemedy.model.nodefence import fence_ref
from noderemedy.model.observer import OBSERVER_AT, Observer
from noderemedy.model.outcome import Done, Effect, Key, Seen
from noderemedy.model.reasons import CannotSeeNode, TooManyInFlight, WaitingForBudget
from noderemedy.model.refusal import Refusal
from noderemedy.model.request import ExternalRequest, Followed, Template
from noderemedy.model.room import Absent, Present, Room, Unseen
from noderemedy.model.selector import Selector
from noderemedy.model.time import Mono, Now, Span, Wall
from noderemedy.rooms import watched

ROOMS = (specs.ROOM, verdicts.ROOM, checks.ROOM, remediation.ROOM)
YOUNGER_AT = ref(HEALTH_CHECK, "younger", "metal")


def at(number: int) -> Ref:
    return ref(MACHINE, f"worker-{number}", "metal")


class Stage:
    """An engine with the rooms of health checks, some machines, and an API that does what it is asked to."""

    rooms: tuple[Room, ...] = ROOMS

    def __init__(self, check: HealthCheck, size: int = 3) -> None:
        self.engine = Engine(self.rooms)
        self.now: Now = NOW
        self.version = 100
        self.did: list[str] = []
        self.read: list[str] = []
        self.unseen: dict[Ref, Any] = {}  # how things are, which the watch has yet to tell
        self.looks: list[Ref] = []
        for kind in watched(self.rooms):
            self.engine.listing(kind, self.now)
            self.engine.listed(kind, self.now)
        self.fact(OBSERVER_AT, Observer(Mono(self.now.mono.ms - 3_600_000)))
        self.put(CHECK_AT, replace(check, created=Wall(1)))
        for number in range(size):
            machine = a_machine(uid=f"m{number}", node_name=f"node-{number}", provider_id="")
            told = MachineConditions(None, ())
            self.put(at(number), replace(machine, labels=(("role", "worker"),), told=told))
            self.node(number, "True")
        self.step()

    def put(self, where: Ref, obj: Any) -> None:
        self.version += 1
        self.engine.seen(Seen(where, obj.uid, str(self.version), obj), self.now)

    def fact(self, where: Ref, value: Any) -> None:
        self.engine.seen(Seen(where, "", "", value), self.now)

    def drop_fact(self, where: Ref) -> None:
        self.engine.gone(Seen(where, "", "", None), self.now)

    def drop(self, where: Ref) -> None:
        entry = self.engine.cache.read(where)
        assert isinstance(entry, Present)
        self.engine.gone(Seen(where, entry.obj.uid, "", entry.obj), self.now)

    def node(self, number: int, ready: str, **more: Any) -> None:
        condition = Condition("Ready", ready, self.now.wall)
        built = replace(a_node(provider_id=""), **{"uid": f"n{number}", "conditions": (condition,), **more})
        self.put(ref(NODE, f"node-{number}"), built)

    def change(self, number: int, **more: Any) -> None:
        self.put(at(number), replace(self.machine(number), **more))

    @property
    def check(self) -> HealthCheck:
        entry = self.engine.cache.read(CHECK_AT)
        assert isinstance(entry, Present)
        found: HealthCheck = entry.obj
        return found

    def edit(self, **more: Any) -> None:
        self.put(CHECK_AT, replace(self.check, **more))

    def grant(self, number: int) -> None:
        self.fact(answer_ref(at(number)), Granted(at(number), self.now.wall, asked=EVERYBODY))

    def machine(self, number: int) -> Any:
        entry = self.engine.cache.read(at(number))
        assert isinstance(entry, Present)
        return entry.obj

    def step(self, seconds: float = 0) -> None:
        """Time passes, and the API carries out what is asked of it."""
        self.now = later(seconds, self.now)
        for _ in range(10):
            effects = self.engine.step(self.now, 1).effects
            if not effects:
                return
            for effect in effects:
                self.carry_out(effect)
        raise AssertionError("the engine does not come to rest")

    def carry_out(self, effect: Effect) -> None:
        """An effect, and what follows it in the same decision."""
        more: Effect | None = effect
        while more is not None:
            book = self.read if isinstance(more.action, Confirm) else self.did
            book.append(f"{type(more.action).__name__} {more.action.ref.name}")
            more = self.engine.ended(more, self.outcome(more.action), self.now)

    def outcome(self, action: Action) -> Done:
        entry = self.engine.cache.read(action.ref)
        if not isinstance(entry, Present) or isinstance(action, DeleteMachine):
            return Done(self.now.mono, gone=True)
        self.version += 1
        obj = self.unseen.get(action.ref, entry.obj)
        return Done(self.now.mono, Seen(action.ref, obj.uid, str(self.version), applied(obj, action)))

    def why(self, number: int) -> list[str]:
        found = self.engine.decisions.get(Key("remediation", at(number)))
        return [type(reason).__name__ for reason in found.because] if found else []

    def asked(self) -> list[str]:
        return [what for what in self.did if not what.startswith("WriteMachineConditions")]


def applied(machine: Any, action: Action) -> Any:
    """A Machine after a write of ours."""
    match action:
        case MarkMachine(_, _, check, asked_at):
            return replace(machine, needs_remediation=True, marked_by=check, asked_at=asked_at)
        case RemoveRemediationAnnotation():
            return replace(machine, needs_remediation=False, marked_by="")
        case WriteMachineConditions(_, _, current, older):
            told = machine.told
            kept = replace(
                told,
                current=current if told.current is not None and current is not None else told.current,
                older=older if told.older is not None and older is not None else told.older,
            )
            return replace(machine, told=kept)
    return machine


def a_sick_stage(check: HealthCheck | None = None) -> Stage:
    """One of three machines has been silent for longer than its timeout."""
    stage = Stage(check or a_check(annotation_mode=True))
    stage.node(0, "Unknown")
    stage.step(301)
    return stage


# --- through the engine ------------------------------------------------------------------------------------------


def test_a_sick_machine_is_marked_once_the_budget_allows_it() -> None:
    """It waits for the answer, is marked when that comes, and not again while the mark is there."""
    stage = a_sick_stage()
    assert ([], ["WaitingForBudget"]) == (stage.did, stage.why(0))
    stage.grant(0)
    stage.step()
    stage.step(600)

    assert (["MarkMachine worker-0"], ["RemediationGoesOn"]) == (stage.did, stage.why(0))


def test_each_sickness_is_an_episode() -> None:
    """Named by the machine and its first sign, so that the Events of the next one within the hour are Events, too."""
    stage = a_sick_stage()
    first = stage.engine.decisions[Key("remediation", at(0))].episode
    for ready in ("True", "Unknown"):
        stage.node(0, ready)
        stage.step(301)
    second = stage.engine.decisions[Key("remediation", at(0))].episode

    assert 3 == len({"", first, second})


def test_the_node_is_read_while_the_budget_makes_up_its_mind() -> None:
    """The live read before the act is made while nobody could act anyway; whoever is refused reads nothing again."""
    stage = a_sick_stage()
    assert (["Confirm node-0"], []) == (stage.read, stage.did)
    stage.fact(answer_ref(at(0)), Refused(at(0), TooManyInFlight(1, 1)))
    stage.step(60)

    assert (["Confirm node-0"], []) == (stage.read, stage.did)


def test_a_lagging_watch_costs_no_healthy_node_its_life() -> None:
    """What the watch shows as sick has been well for a while: the live read before the act says so."""
    stage = a_sick_stage()
    stage.step(10)  # what was read while the budget made up its mind is old by now
    stage.read.clear()
    entry = stage.engine.cache.read(ref(NODE, "node-0"))
    assert isinstance(entry, Present)
    stage.unseen = {ref(NODE, "node-0"): replace(entry.obj, conditions=(Condition("Ready", "True", stage.now.wall),))}
    stage.grant(0)
    stage.step()

    assert (["Confirm node-0"], []) == (stage.read, stage.did)
    assert not stage.machine(0).needs_remediation


def test_what_is_as_sick_as_it_looks_is_read_once() -> None:
    """One live read, then the act; afterwards none."""
    stage = a_sick_stage()
    stage.grant(0)
    stage.step()
    stage.step(60)

    assert (["Confirm node-0"], ["MarkMachine worker-0"]) == (stage.read, stage.did)


def test_a_permission_wakes_the_sick_and_only_them() -> None:
    """Closed by the limit; as soon as it opens the sick one is looked at, and the healthy ones are not."""
    stage = a_sick_stage(a_check(annotation_mode=True, max_unhealthy=Count(1)))
    stage.grant(0)
    stage.step()
    assert ["LimitOfCheck"] == stage.why(0)
    woken = [*remediation.wakes(*the_permit(stage), stage.engine.cache)]
    stage.edit(max_unhealthy=Count(2))
    stage.step()

    assert [at(0)] == woken
    assert ["MarkMachine worker-0"] == stage.did


@pytest.mark.parametrize("ends", ["is over", "rests"])
@pytest.mark.parametrize("check", [a_check(), a_check(annotation_mode=True), a_check(template=TEMPLATE)])
def test_a_check_waits_for_the_repair_of_another_room(check: HealthCheck, ends: str) -> None:
    """One that has its grant, and then runs: neither budget nor owner is asked; when it is over, all goes on."""
    stage = a_sick_stage(check)
    stage.grant(0)
    theirs = need(at(0), "metal3-remediation", stage.now.wall, is_running=False, node=ref(NODE, "node-0"))
    stage.fact(theirs.ref, theirs.value)
    stage.step()
    assert (["ClaimedByOther"], Absent()) == (stage.why(0)[:1], stage.engine.cache.read(need_ref(at(0), "remediation")))
    stage.fact(theirs.ref, replace(theirs.value, is_running=True))
    stage.step(600)
    assert ([], ["ClaimedByOther"]) == (stage.asked(), stage.why(0)[:1])
    if ends == "rests":
        stage.fact(theirs.ref, replace(theirs.value, is_stuck=True))
    else:
        stage.drop_fact(theirs.ref)
    stage.step()

    assert "ClaimedByOther" not in stage.why(0)
    assert isinstance(stage.engine.cache.read(need_ref(at(0), "remediation")), Present) is (check.template is None)


@pytest.mark.parametrize("by", [*(request_at(kind, at(0)) for kind in ALWAYS_WATCHED), fence_ref(ref(NODE, "node-0"))])
@pytest.mark.parametrize("check", [a_check(), a_check(annotation_mode=True)])
def test_a_check_waits_for_what_cannot_be_read(check: HealthCheck, by: Ref) -> None:
    """Somebody may be repairing the machine by it: nothing begins before it is mended, or gone."""
    stage = a_sick_stage(check)
    stage.engine.unreadable(by, "u", "7", "spec: a list", stage.now)
    stage.grant(0)
    stage.step()
    assert ([], ["RequestNotOurs"]) == (stage.asked(), stage.why(0)[:1])
    stage.engine.gone(Seen(by, "u", "8", None), stage.now)
    stage.step()

    assert "RequestNotOurs" not in stage.why(0)


def the_permit(stage: Stage) -> tuple[Ref, Any]:
    where = permit_ref(CHECK_AT)
    entry = stage.engine.cache.read(where)
    assert isinstance(entry, Present)
    return where, entry.obj


def test_the_mark_of_a_machine_that_recovered_is_taken_off() -> None:
    """Before anybody began with the repair: the node is back in time."""
    stage = a_sick_stage()
    stage.grant(0)
    stage.step()
    stage.node(0, "True")
    stage.step()

    assert ["MarkMachine worker-0", "RemoveRemediationAnnotation worker-0"] == stage.did


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"selector": replace(a_check().selector, match_labels=(("role", "other"),))}, True),
        ({"problems": ("spec.maxUnhealthy: no",)}, False),
        ({"problems": ("spec.selector: no",), "selector": Malformed("no")}, False),
        ({"problems": ("spec.maxUnhealthy: no",), "selector": Selector((("role", "other"),))}, False),
        ({"paused": Paused()}, False),
        ({"cluster_paused": True}, False),
        ({"observes_only": True}, False),
        ({"template": TEMPLATE, "annotation_mode": False}, False),
        ({"annotation_mode": False}, False),
        ({"max_unhealthy": Count(0)}, False),
    ],
)
def test_a_check_edited_in_the_middle(change: dict[str, Any], expected: bool) -> None:
    """Only who is nobody's target any more loses the mark; an invalid check, above all, changes nothing."""
    stage = a_sick_stage()
    stage.grant(0)
    stage.step()
    stage.edit(**change)
    stage.step()
    stage.step(60)

    assert (["RemoveRemediationAnnotation worker-0"] if expected else []) == stage.asked()[1:]


def test_an_invalid_check_that_is_mended_to_mean_others() -> None:
    """While it is invalid nobody can tell whom it means; then it is known, and the mark goes."""
    stage = a_sick_stage()
    stage.grant(0)
    stage.step()
    stage.edit(problems=("spec.selector: no",), selector=Malformed("no"))
    stage.step()
    assert ["MarkMachine worker-0"] == stage.did
    stage.edit(problems=(), selector=replace(a_check().selector, match_labels=(("role", "other"),)))
    stage.step()

    assert ["MarkMachine worker-0", "RemoveRemediationAnnotation worker-0"] == stage.did


def test_the_check_is_deleted_in_the_middle() -> None:
    """What it asked for is taken back: its marks, and its word to the owner."""
    for check, undone in ((a_check(annotation_mode=True), "RemoveRemediationAnnotation"), (a_check(), "WriteMachine")):
        stage = a_sick_stage(check)
        stage.grant(0)
        stage.step()
        before = len(stage.did)
        stage.drop(CHECK_AT)
        stage.step()

        assert [True] == [what.startswith(undone) for what in stage.did[before:] if what.endswith("worker-0")]
        assert None is stage.machine(0).told.find("OwnerRemediated")
        assert not stage.machine(0).needs_remediation


def test_machines_that_somebody_skips_or_pauses_in_the_middle() -> None:
    """Skipped: nobody's target, so the mark goes. Paused with its cluster: nothing is written at all."""
    for more, undone in (({"skips_remediation": True}, True), ({"cluster_paused": True}, False)):
        stage = a_sick_stage()
        stage.grant(0)
        stage.step()
        stage.change(0, **more)
        stage.step()

        assert undone == (not stage.machine(0).needs_remediation)


def test_the_machine_is_deleted_in_the_middle() -> None:
    """Nothing is asked of a machine that goes, and its need is withdrawn when it is gone."""
    stage = a_sick_stage()
    stage.change(0, deleting=True)
    stage.grant(0)
    stage.step()
    assert [] == stage.did
    stage.drop(at(0))
    stage.step()

    assert [] == stage.why(0)
    assert not needs(stage)


def needs(stage: Stage) -> list[Need]:
    found = [stage.engine.cache.read(one) for one in stage.engine.cache.refs()]
    return [one.obj for one in found if isinstance(one, Present) and isinstance(one.obj, Need)]


def test_a_node_that_was_made_again_is_another_node() -> None:
    """The same name with a new uid: its sickness is counted anew, and no repair of the old one is asked for."""
    stage = Stage(a_check(annotation_mode=True))
    stage.grant(0)
    stage.node(0, "Unknown")
    stage.step(200)
    stage.drop(ref(NODE, "node-0"))
    stage.node(0, "Unknown", uid="another")
    stage.step(200)
    assert [] == stage.asked()
    stage.step(200)

    assert ["MarkMachine worker-0"] == stage.asked()


def test_a_machine_that_was_power_cycled_gets_time_to_start() -> None:
    """Its node was gone already, so nothing was deleted: it is not marked again before its startup timeout is over."""
    stage = Stage(a_check(annotation_mode=True))
    stage.drop(ref(NODE, "node-0"))
    stage.step()
    stage.grant(0)
    stage.step()
    assert (["Confirm node-0"], ["MarkMachine worker-0"]) == (stage.read, stage.did)
    stage.change(0, needs_remediation=False, marked_by="")  # by the room that power cycles, once the host was off
    stage.step(590)
    assert 1 == len(stage.did)
    stage.step(12)

    assert ["MarkMachine worker-0"] == stage.asked()[1:]


def test_of_overlapping_checks_only_the_older_one_speaks() -> None:
    """The younger one, which would delete or tell something else, writes nothing."""
    stage = Stage(a_check(annotation_mode=True))
    stage.put(YOUNGER_AT, a_check(uid="younger", created=Wall(2), node_criteria=()))
    stage.grant(0)
    stage.node(0, "Unknown")
    stage.step(301)

    assert ["MarkMachine worker-0"] == stage.did
    assert "workers" == stage.machine(0).marked_by


def beside_another() -> Stage:
    """A machine is sick, and another controller writes the status of its check while we look."""
    stage = Stage(a_check(annotation_mode=True))
    stage.step(60)
    stage.edit(other_writers=(Writer("capi", stage.now.wall),))
    stage.node(0, "Unknown")
    stage.step(301)
    return stage


def test_another_controller_is_left_all_machines_of_its_check() -> None:
    """Verdicts are given, nothing is written, however long it is silent then; by a person's word we take over."""
    stage = beside_another()
    for _ in range(3):
        stage.step(3_600)
        stage.grant(0)
        stage.step()
        assert ([], ["CheckOfAnother"]) == (stage.did, stage.why(0))
    stage.edit(governs=True)
    stage.step()

    assert ["MarkMachine worker-0"] == stage.did


@pytest.mark.parametrize(("restarted", "more"), [(600, 3_001), (3_601, 0)])
def test_after_a_restart_the_silence_of_another_counts(restarted: int, more: int) -> None:
    """A manager that comes after its last write waits for an hour from that: for the rest of it, or not at all."""
    before = beside_another()
    [written] = before.check.other_writers
    stage = Stage(replace(before.check, other_writers=(replace(written, at=ago(restarted)),)))
    stage.node(0, "Unknown")
    stage.step(301)
    stage.grant(0)
    stage.step()
    assert (more == 0) == (stage.did == ["MarkMachine worker-0"])
    stage.step(more)
    stage.grant(0)
    stage.step()

    assert ["MarkMachine worker-0"] == stage.did


def test_repair_now_skips_the_timeout_and_nothing_else() -> None:
    """On the node: asked for at once if the budget allows it; with the limit reached, not at all."""
    for limit, expected in ((Count(2), ["MarkMachine worker-0"]), (Count(1), [])):
        stage = Stage(a_check(annotation_mode=True, max_unhealthy=limit))
        stage.node(0, "Unknown", repair_now=True)
        stage.step()
        assert [] == stage.did, "the budget was not asked"
        stage.grant(0)
        stage.step()

        assert expected == stage.did


def test_a_paused_node_is_repaired_when_its_pause_is_over() -> None:
    """Nobody has to touch anything."""
    stage = Stage(a_check(annotation_mode=True))
    stage.grant(0)
    stage.node(0, "Unknown", paused=Paused(later(900).wall))
    stage.step(600)
    assert ([], ["PausedByPerson"]) == (stage.did, stage.why(0))
    stage.step(301)

    assert ["MarkMachine worker-0"] == stage.did


def test_who_has_just_come_asks_for_nothing_yet() -> None:
    """A manager that lost sight waits for the shortest timeout again; then it acts by itself."""
    stage = Stage(a_check(annotation_mode=True))
    stage.grant(0)
    stage.node(0, "Unknown")
    stage.step(295)
    stage.fact(OBSERVER_AT, Observer(stage.now.mono))
    stage.step(10)
    assert ([], ["ObserverNew"]) == (stage.did, stage.why(0))
    stage.step(290)

    assert ["MarkMachine worker-0"] == stage.did


def test_who_comes_into_contact_acts() -> None:
    """Out of sight nothing new is asked for; the news that all is in sight again wakes the sick."""
    stage = Stage(a_check(annotation_mode=True, node_criteria=(replace(UNKNOWN, timeout=Span(0)),)))
    stage.drop(OBSERVER_AT)
    stage.grant(0)
    stage.node(0, "Unknown")
    stage.step(2)
    assert ([], ["ObserverNew"]) == (stage.did, stage.why(0))
    stage.fact(OBSERVER_AT, Observer(stage.now.mono))
    stage.step()

    assert ["MarkMachine worker-0"] == stage.did


def test_a_restart_asks_for_nothing_twice_and_tells_nothing_twice() -> None:
    """The same world in a new process: not one write."""
    first = a_sick_stage(a_check())
    first.grant(0)
    first.step()
    again = Stage(a_check())
    for number in range(3):
        again.put(at(number), first.machine(number))
    again.node(0, "Unknown")
    again.step()
    again.did.clear()
    again.step(600)

    assert [] == again.did


def test_verdicts_are_not_woken_by_what_we_tell() -> None:
    """Every machine is told once; the rooms come to rest, and an hour brings nothing new."""
    stage = Stage(a_check())
    assert [f"WriteMachineConditions worker-{number}" for number in range(3)] == sorted(stage.did)
    stage.step(3_600)

    assert 3 == len(stage.did)


# --- requests from templates -------------------------------------------------------------------------------------

STANDING = (Standing(ref(DOCTOR, "worker-0", "metal"), "doctor-uid-1", False),)
REFUSED = Refusal("CreateRequest", ref(DOCTOR, "worker-0", "metal"), "quota")


def with_template(dialect: Dialect = Dialect.SEED, verdict: Any = SICK, **request: Any) -> RemediationView:
    view = a_view(a_check(dialect, template=TEMPLATE), verdict)
    return replace(view, requests=a_request_view(**request))


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [(Dialect.SEED, ["CreateRequest"]), (Dialect.CAPI, ["CreateRequest", "WriteMachineConditions"])],
)
def test_a_request_is_made_and_told_where_the_dialect_tells(dialect: Dialect, expected: list[str]) -> None:
    """The request first: that is what helps. OwnerRemediated is never told beside a request."""
    decision = decide(with_template(dialect))

    assert expected == names(decision.actions)
    assert ["HealthCheckSucceeded", "ExternallyRemediated"][: 2 * (dialect is Dialect.CAPI)] == [
        one.type for one in getattr(decision.actions[-1], "current", ()) or ()
    ]


def test_what_went_wrong_with_a_request_is_told_before_it_is_tried_again() -> None:
    """Or a refusal would hold up the telling of it for ever."""
    decision = decide(with_template(Dialect.CAPI, refusal=REFUSED))

    assert ["WriteMachineConditions", "CreateRequest"] == names(decision.actions)
    [told] = [one for one in getattr(decision.actions[0], "current", ()) if one.type == "ExternallyRemediated"]
    assert ("RemediationRequestCreationFailed", "quota") == (told.reason, told.message)


def test_a_template_that_is_missing_is_looked_for_again() -> None:
    """No request, a reason, and a time for the next look."""
    decision = decide(with_template(template=Absent(NOW.mono)))

    assert ["TemplateNotFound"] == reasons(decision)
    assert decision.wake_at is not None
    assert TEMPLATE_AT.name in str(decision.because[0].note())


STRANGE = present(ExternalRequest("other-uid", owner_uid="another-machine"))
LEAVING = present(ExternalRequest("doctor-uid-1", deleting=True, owner_uid="machine-uid-1"))
LATE = Absent(Mono(NOW.mono.ms - 60_000))
OLD = present(Template("t"), now=later(-3_600))


@pytest.mark.parametrize(
    ("found", "reads", "reason", "asks"),
    [
        ({"template": Unseen()}, True, "ConfirmFirst", False),
        ({"template": Absent(NOW.mono)}, False, "TemplateNotFound", False),
        ({"template": LATE}, True, "TemplateNotFound", False),
        ({"template": present(Template("t", Malformed("x")))}, False, "TemplateUnusable", False),
        ({"followed": Followed(DOCTOR, missing="no such kind")}, False, "TemplateKindMissing", False),
        ({"followed": Followed(DOCTOR, refused="forbidden")}, False, "RequestsUnseen", False),
        ({"followed": None}, False, "WaitingForRequests", False),
        ({"request": STRANGE}, False, "RequestNotOurs", False),
        ({"request": LEAVING}, False, "RequestLeaving", False),
        ({"template": OLD}, True, "WaitingForBudget", True),
        ({}, False, "WaitingForBudget", True),
    ],
)
def test_what_can_never_begin_reserves_nothing(found: dict[str, Any], reads: bool, reason: str, asks: bool) -> None:
    """Before the budget is asked it is known that a request can be made; a template that was there once will do."""
    decision = decide(replace(with_template(**found), answer=None))

    assert [reason] == reasons(decision)
    assert asks == any(isinstance(one.value, Need) for one in decision.facts)
    assert reads == (Confirm(TEMPLATE_AT) in decision.actions)


def test_a_template_that_is_missing_is_told_before_the_budget_is_asked() -> None:
    """Where the dialect tells anything; one that nobody has looked for yet is not called missing."""
    missing, unseen = (
        decide(replace(with_template(Dialect.CAPI, template=entry), answer=None)).actions
        for entry in (Absent(NOW.mono), Unseen())
    )
    told = [[one.type for one in getattr(action, "current", ())] for action in (*missing, *unseen)]

    assert [["HealthCheckSucceeded", "ExternallyRemediated"], [], ["HealthCheckSucceeded"]] == told


def test_a_request_that_stands_is_left_to_its_controller() -> None:
    """It counts as a repair that runs, and its kind is followed as long as it is there."""
    decision = decide(with_template(standing=STANDING))

    assert ([], ["RemediationGoesOn"]) == (names(decision.actions), reasons(decision))
    assert ["Need", "Wanted", "TemplateFact"] == [type(one.value).__name__ for one in decision.facts]


@pytest.mark.parametrize("has_run", [True, False], ids=["by us", "by another room"])
@pytest.mark.parametrize("way", ["mark", "request", "owner"])
def test_who_was_repaired_a_moment_ago_asks_the_budget_anew(way: str, has_run: bool) -> None:
    """A grant of a repair that runs or ran tells of no storm and no limit of now (seed 331, S3)."""
    check = {"mark": a_check(annotation_mode=True), "request": a_check(template=TEMPLATE), "owner": a_check()}[way]
    ran = Need(MACHINE_AT, "remediation", NOW.wall, is_running=True, begun=NOW.mono) if has_run else None
    view = replace(a_view(check, need=ran), requests=a_request_view() if way == "request" else None)
    theirs = view if has_run else replace(view, answer=Granted(MACHINE_AT, NOW.wall, asked=("annotation",)))
    first = decide(theirs)
    (asked,) = [fact.value for fact in first.facts if isinstance(fact.value, Need)]

    wake_at = NOW.mono if has_run else None  # an answer to us wakes us where it is another one
    assert ("WaitingForBudget" in reasons(first), False, wake_at) == (True, asked.is_running, first.wake_at)
    assert not any(isinstance(one, MarkMachine | CreateRequest) for one in first.actions)
    assert "OwnerRemediated" not in str(first.actions)
    again = decide(replace(view, need=asked))
    assert "WaitingForBudget" not in reasons(again)
    assert again.actions != first.actions


DONE = replace(STANDING[0], has_succeeded=True)
NURSE = Standing(ref(Kind("example.com", "Nurse"), "worker-0", "metal"), "nurse-uid-1", False)


@pytest.mark.parametrize(
    ("standing", "is_ready", "check", "actions", "why"),
    [
        ((DONE,), False, {}, ["DeleteRequest"], ["RequestSpent"]),
        ((DONE,), None, {}, ["DeleteRequest"], ["RequestSpent"]),
        ((DONE, replace(NURSE, has_succeeded=True)), False, {}, ["DeleteRequest"] * 2, ["RequestSpent"] * 2),
        ((DONE, NURSE), False, {}, [], ["RemediationGoesOn"]),
        ((replace(DONE, deleting=True),), False, {}, [], ["RemediationGoesOn"]),
        ((DONE,), True, {}, [], ["RemediationGoesOn"]),
        (STANDING, False, {}, [], ["RemediationGoesOn"]),
        ((DONE,), False, {"observes_only": True}, [], ["RemediationGoesOn"]),
        ((DONE,), False, {"cluster_paused": True}, [], ["RemediationGoesOn"]),
    ],
    ids=["fails again", "gone", "all done", "one is not", "leaves", "ready", "runs", "observed", "paused"],
)
def test_a_request_that_is_done_makes_room_when_its_node_fails_again(
    standing: tuple[Standing, ...], is_ready: bool | None, check: dict[str, Any], actions: list[str], why: list[str]
) -> None:
    """A node that died before its check saw it well is repaired once more; what the repair did not cure is not."""
    view = with_template(standing=standing)
    assert view.governing is not None
    governing = replace(view.governing, check=replace(view.governing.check, **check))
    node = present(a_node(ready="True" if is_ready else "False")) if is_ready is not None else absent()
    decision = decide(replace(view, governing=governing, node=node))

    assert (actions, why) == (names(decision.actions), reasons(decision))
    assert [True] == [fact.value.is_running for fact in decision.facts if isinstance(fact.value, Need)]


@pytest.mark.parametrize(
    ("minutes", "why", "is_stuck"),
    [
        (29, ["RemediationGoesOn"], False),
        (30, ["RepairOverdue", "RemediationGoesOn", "RepairStuck"], True),
    ],
)
def test_who_waits_for_others_for_ever_tells_and_gives_its_place_back(
    minutes: int, why: list[str], is_stuck: bool
) -> None:
    """A controller or an owner that never acts costs the machine its repair, but not everybody else's."""
    known = Need(at(0), "remediation", NOW.wall, is_running=True, begun=NOW.mono)
    view = replace(with_template(standing=STANDING), need=known)

    decision = decide(view, later(minutes * 60))
    (stated,) = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]

    assert (why, is_stuck) == (reasons(decision), stated.is_stuck)
    assert (later(1_800).mono if not is_stuck else None) == decision.wake_at


@pytest.mark.parametrize("verdict", [WELL, Unjudged((CannotSeeNode("n"),))], ids=["well", "unjudged"])
@pytest.mark.parametrize(
    ("minutes", "why", "is_stuck"), [(29, [], False), (30, ["RepairOverdue", "RepairStuck"], True)]
)
def test_a_repair_that_leads_to_nothing_gives_its_place_back_whatever_the_verdict(
    verdict: Any, minutes: int, why: list[str], is_stuck: bool
) -> None:
    """A host that is held and does not go off, under a node that is well again, is in nobody's way for ever."""
    known = Need(at(0), "remediation", NOW.wall, is_running=True, begun=NOW.mono)
    held, marked = present(a_host(held=True)), {"needs_remediation": True, "marked_by": "workers"}
    view = a_view(a_check(annotation_mode=True), verdict, machine=marked, host=held, need=known)

    decision = decide(view, later(minutes * 60))
    (stated,) = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]

    assert ([], why, is_stuck) == (names(decision.actions), reasons(decision), stated.is_stuck)
    assert (later(1_800).mono if not is_stuck else None) == decision.wake_at


@pytest.mark.parametrize(("minutes", "is_stuck"), [(29, False), (30, True), (600, True)])
def test_a_word_that_another_left_to_the_owner_of_a_well_machine_is_no_alert(minutes: int, is_stuck: bool) -> None:
    """Nobody has to repair it; an owner that has begun has its half hour, then it keeps no place."""
    known = Need(at(0), "remediation", NOW.wall, is_running=True, begun=NOW.mono)
    word = Graded("OwnerRemediated", "False", "WaitingForRemediation", "fencing by a FenceRemediation did not help")
    told = MachineConditions(None, (word, replace(in_older(SAID_WELL), since=str(NOW.wall))))
    view = a_view(a_check(), WELL, machine={"told": told}, need=known)

    decision = decide(view, later(minutes * 60))
    (stated,) = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]

    assert ([], [], is_stuck) == (names(decision.actions), reasons(decision), stated.is_stuck)
    assert (later(1_800).mono if not is_stuck else None) == decision.wake_at


def test_a_request_is_deleted_on_recovery_whatever_the_gates_say() -> None:
    """Limit reached, no budget, paused by a person: clean-up goes on. Paused with the cluster: nothing."""
    view = with_template(verdict=WELL, standing=STANDING)
    assert view.governing is not None
    closed = replace(view.governing, permit=None, check=replace(view.governing.check, paused=Paused()))
    paused = replace(view.governing, check=replace(view.governing.check, cluster_paused=True))

    recovered = decide(replace(view, governing=closed, answer=None))
    assert (["DeleteRequest"], ["RequestUnneeded"]) == (names(recovered.actions), reasons(recovered))
    assert [] == names(decide(replace(view, governing=paused)).actions)


@pytest.mark.parametrize(("dialect", "written"), [(Dialect.SEED, []), (Dialect.CAPI, ["True", "True"])])
def test_what_a_request_said_along_is_its_own_to_take_back(dialect: Dialect, written: list[str]) -> None:
    """A check that tells nothing on machines would call it healthy for ever; one that does has the last word."""
    word = Graded("OwnerRemediated", "False", "WaitingForRemediation", "it did not help")
    told = MachineConditions((along(word),), (along(word),))
    view = a_view(a_check(dialect, template=TEMPLATE), WELL, machine={"told": told})

    found = [action for action in decide(view).actions if isinstance(action, WriteMachineConditions)]
    told_now = [one for action in found for one in (*(action.current or ()), *(action.older or ()))]
    assert written == [one.status for one in told_now if isinstance(one, Graded) and one.type == "HealthCheckSucceeded"]


def test_a_request_of_a_machine_that_cannot_be_judged_is_left_alone() -> None:
    """Neither healthy nor sick: nothing is deleted, nothing is told, and it still counts."""
    decision = decide(with_template(Dialect.CAPI, Unjudged((CannotSeeNode("n"),)), standing=STANDING))

    assert ([], 2) == (names(decision.actions), len(decision.facts))


def test_explain_lists_the_gates_of_a_request_too() -> None:
    """Behind those of the room."""
    told = remediation.explains(with_template(template=Absent(NOW.mono)), NOW)

    assert ["template is there"] == [passage.gate for passage in told if passage.reason]


# --- properties --------------------------------------------------------------------------------------------------

gradeds = st.sampled_from(
    [
        Graded("HealthCheckSucceeded", "False", "UnhealthyNode", "x", "t1", "Warning"),
        Graded("HealthCheckSucceeded", "True", "HealthCheckSucceeded", "", "t1"),
        replace(owner_asked("workers"), since="t1"),
        Graded("OwnerRemediated", "False", "RemediationDeferred", "", "t1"),
        Graded("OwnerRemediated", "True", "Done", "", "t1"),
    ]
)
lists = st.lists(gradeds, max_size=3, unique_by=lambda one: one.type).map(tuple)
rarely = st.sampled_from([False, False, False, True])
machines = st.fixed_dictionaries(
    {
        "told": st.builds(MachineConditions, st.none() | lists, st.none() | lists, st.booleans()),
        "needs_remediation": rarely,
        "marked_by": st.sampled_from(["workers", ""]),
        "deleting": rarely,
        "phase": st.sampled_from(["", "Failed"]),
    }
)
checks_ = st.builds(
    a_check,
    st.sampled_from(Dialect),
    annotation_mode=st.booleans(),
    observes_only=rarely,
    paused=st.sampled_from([None, None, None, Paused(), Paused(later(60).wall)]),
)
GRANTED = Granted(at(0), NOW.wall, asked=EVERYBODY)
views = st.builds(
    a_view,
    checks_,
    st.sampled_from([SICK, SICK, WELL, Unjudged((CannotSeeNode("n"),))]),
    machine=machines,
    is_open=st.sampled_from([True, True, False]),
    other=st.sampled_from(["", "", "", "capi"]),
    answer=st.sampled_from([GRANTED, GRANTED, None, Refused(at(0), WaitingForBudget())]),
    host=st.sampled_from([Absent(), present(a_host()), present(a_host(held=True))]),
)


@settings(max_examples=100)
@given(views, rarely)
def test_a_few_looks_lead_to_rest(view: RemediationView, is_nobodys: bool) -> None:
    """Whatever is so: the same view gives the same decision, and after at most four writes nothing is left to write."""
    if is_nobodys:
        view = replace(view, governing=None)
    for _ in range(5):
        decision = remediation.decide(view, NOW)
        assert decision == remediation.decide(view, NOW)
        assert sum(action.ref == view.at for action in decision.actions) <= 1
        assert not decision.actions or decision.because
        if not decision.actions:
            break
        machine = view.machine
        for action in decision.actions:
            machine = replace(machine, deleting=True) if isinstance(action, DeleteMachine) else applied(machine, action)
        view = replace(view, machine=machine, entry=present(machine, version="8"))
    else:
        raise AssertionError("no rest")

    assert () == remediation.decide(view, later(1)).actions
