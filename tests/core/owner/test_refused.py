"""What the API refuses is told on the Machine at the next look: severity Error, the API's words; the step goes on."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_node, ago, later
from tests.core.owner.scene import (
    AT,
    CORDONED,
    GRANTED,
    OF_BEFORE,
    PROVIDER,
    SUCCESSOR_AT,
    a_list,
    a_scene,
    deleted,
    kinds,
    reasons,
    recorded,
)

from noderemedy.core.owner.replacing import decide
from noderemedy.core.owner.view import FINALIZER, View
from noderemedy.model.actions import (
    Action,
    CordonNode,
    CreateMachine,
    DeleteMachine,
    DeleteNode,
    EvictPod,
    ForgetReplacement,
    ListPods,
    WriteMachineConditions,
)
from noderemedy.model.budget import Granted, Need, Refused
from noderemedy.model.decision import Decision
from noderemedy.model.ids import Ref, ref
from noderemedy.model.machineconditions import Graded, MachineConditions
from noderemedy.model.meta import Paused
from noderemedy.model.reasons import (
    DeletingMachine,
    DeletionOverdue,
    DrainOverdue,
    InstanceOverdue,
    TooManyInFlight,
    TooManyNodesUnhealthy,
    WaitingForBudget,
)
from noderemedy.model.refusal import Refusal
from noderemedy.model.replacement import Step
from noderemedy.model.time import Mono, Span
from noderemedy.model.workload import POD, Pod

SICK = a_node(ready="False")
EMPTYING = a_node(ready="False", unschedulable=True, annotations=CORDONED)
POD_AT = ref(POD, "pod-0", "default")
WHY = 'admission webhook "guard.example" denied the request: not today'


def refused(view: View, action: type[Action], at: Ref) -> View:
    return replace(view, refusal=Refusal(action.__name__, at, WHY))


def said_by(decision: Decision) -> tuple[str, str, str, str]:
    """The condition that a decision writes, and nothing else, by status, reason, severity and message."""
    (write,) = decision.actions
    assert isinstance(write, WriteMachineConditions)
    assert write.older is not None
    (said,) = [one for one in write.older if isinstance(one, Graded)]
    assert "OwnerRemediated" == said.type
    return said.status, said.reason, said.severity, said.message


def after(view: View, decision: Decision) -> View:
    """The same scene when the words stand on the Machine."""
    (write,) = decision.actions
    assert isinstance(write, WriteMachineConditions)
    machine = replace(view.machine, told=MachineConditions(write.current, write.older))
    return replace(view, machine=machine, entry=replace(view.entry, obj=machine))


def says(reason: str) -> dict[str, Any]:
    return {"told": MachineConditions(older=(Graded("OwnerRemediated", "False", reason, "words", severity="Error"),))}


CASES: dict[str, tuple[View, type[Action], Ref, str]] = {
    "cordon": (a_scene(recorded(), SICK), CordonNode, NODE_AT, "DrainFailed"),
    "list": (a_scene(recorded(), EMPTYING), ListPods, NODE_AT, "DrainFailed"),
    "eviction": (a_scene(recorded(), EMPTYING, pods=a_list("a")), EvictPod, POD_AT, "DrainFailed"),
    "deletion": (a_scene(recorded(Step.DELETE)), DeleteMachine, AT, "DeletionFailed"),
    "node": (a_scene(deleted()), DeleteNode, NODE_AT, "NodeDeletionFailed"),
    "successor": (a_scene(deleted(), node=None), CreateMachine, SUCCESSOR_AT, "ReplacementFailed"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_words_of_the_api_stand_on_the_machine_at_once(name: str) -> None:
    """With severity Error, long before ten minutes are over; then the same is tried on, and nothing is said twice."""
    scene, action, at, reason = CASES[name]
    view = refused(scene, action, at)

    decision = decide(view, NOW)
    following = decide(after(view, decision), NOW)

    assert ("False", reason, "Error", f"{action.__name__} of {at} is refused: {WHY}") == said_by(decision)
    assert action == kinds(following)[0]


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_said_of_a_step_that_nobody_refuses(name: str) -> None:
    """The same scenes without a refusal."""
    assert WriteMachineConditions not in kinds(decide(CASES[name][0], NOW))


@pytest.mark.parametrize(
    ("machine", "node", "action", "at", "overdue"),
    [
        (recorded(seconds=601), EMPTYING, EvictPod, POD_AT, DrainOverdue),
        (recorded(Step.DELETE, seconds=601, **says("DeletionFailed")), SICK, DeleteMachine, AT, DeletionOverdue),
    ],
)
def test_what_is_overdue_names_the_cause(machine: Any, node: Any, action: Any, at: Ref, overdue: type) -> None:
    """After ten minutes people are told, and Machine and alert have the words of the API in them."""
    decision = decide(refused(a_scene(machine, node, pods=a_list("a")), action, at), NOW)

    assert overdue == reasons(decision)[0]
    _, _, severity, message = said_by(decision)
    assert ("Error", decision.because[0].note()) == (severity, message)
    assert f"{action.__name__} of {at} is refused: {WHY}" in message


PAST: dict[str, View] = {
    "the pod is gone": refused(a_scene(recorded(), EMPTYING, pods=a_list(Pod("b", stays=True))), EvictPod, POD_AT),
    "the pod is on its way": refused(
        a_scene(recorded(), EMPTYING, pods=a_list(Pod("b", deleting=True))), EvictPod, POD_AT
    ),
    "somebody has cordoned it": refused(a_scene(recorded(), EMPTYING, pods=a_list("b")), CordonNode, NODE_AT),
    "it is about nothing that we tell of": refused(a_scene(recorded(), EMPTYING), ForgetReplacement, AT),
}


@pytest.mark.parametrize("name", PAST)
def test_what_came_about_without_us_is_not_told(name: str) -> None:
    """A refusal of something that is not wanted any more is no cause."""
    assert WriteMachineConditions not in kinds(decide(PAST[name], NOW))


def test_a_refused_eviction_is_tried_without_a_pause_of_our_own() -> None:
    """The engine waits after a refusal; a pause on top, with nothing to do, would make it forget what was refused."""
    view = refused(a_scene(recorded(**says("DrainFailed")), EMPTYING, pods=a_list("a")), EvictPod, POD_AT)
    view = after(view, decide(view, NOW))

    assert [EvictPod, ListPods] == kinds(decide(view, NOW))


@pytest.mark.parametrize(
    "view",
    [
        a_scene(recorded(Step.DELETE, **says("DrainFailed"))),
        a_scene(deleted(finalizers=(PROVIDER, FINALIZER), **says("DeletionFailed"))),
    ],
)
def test_words_go_with_their_step(view: View) -> None:
    """When the next step has begun, the failure of the one before it is over: the Machine says that it goes on."""
    decision = decide(view, NOW)

    assert ("RemediationInProgress", "Warning") == said_by(decision)[1:3]
    assert WriteMachineConditions not in kinds(decide(after(view, decision), NOW))


def test_words_stay_as_long_as_their_step() -> None:
    """A manager that starts anew has not been refused anything yet, and does not take back what stands there."""
    view = a_scene(recorded(Step.DELETE, **says("DeletionFailed")))

    assert [DeleteMachine] == kinds(decide(view, NOW))


def test_words_are_taken_back_with_the_replacement() -> None:
    """Also those that say that it goes on."""
    view = a_scene(recorded(Step.DELETE, **says("RemediationInProgress"), owner=""), SICK)

    (write,) = decide(view, NOW).actions

    assert isinstance(write, WriteMachineConditions)
    assert () == write.older


def test_words_that_are_refused_hold_nothing_up() -> None:
    """Whoever may not write conditions is still to drain and delete."""
    late = refused(a_scene(recorded(Step.DELETE, seconds=601, **says("DrainFailed"))), WriteMachineConditions, AT)

    assert [DeleteMachine] == kinds(decide(late, NOW))


def test_an_instance_that_lingers_names_who_is_waited_for() -> None:
    """Whoever keeps the Machine, and what its provider says there."""
    conditions = replace(deleted().conditions[0], reason="TerminationFailed")
    machine = deleted(601, finalizers=(PROVIDER, FINALIZER), conditions=(conditions,))

    decision = decide(a_scene(machine), NOW)

    status, reason, severity, message = said_by(decision)
    assert ("False", "InstanceNotGone", "Error") == (status, reason, severity)
    waiting = f"waiting for the provider to end the instance: the Machine is kept by {PROVIDER}"
    cause = f"{waiting}; it says InfrastructureReady=False, reason TerminationFailed"
    assert (InstanceOverdue(ago(601), cause).note(), True) == (message, cause in message)


# --- its place in the budget -------------------------------------------------------------------------------------

REFUSED = Refused(AT, TooManyInFlight(2, 2))
STORM = Refused(AT, TooManyNodesUnhealthy(12, 20, "50%"))
TRIED, LATE = Mono(NOW.mono.ms - 300_000), Mono(NOW.mono.ms - 600_000)
TOLD = recorded(Step.DELETE, seconds=700, **says("DeletionFailed"))


def a_need(tried: Mono | None = None, *, is_stuck: bool = False) -> Need:
    """What was stated at the last look: it asks, is tried since then, or rests since then."""
    begins = a_scene(TOLD).begins
    return Need(AT, "owner", ago(60), False, NODE_AT, is_stuck=is_stuck, begins=begins, tried=tried)


RESTED = a_need(Mono(NOW.mono.ms - 700_000), is_stuck=True)


def a_late_scene(need: Need | None, answer: Granted | Refused | None, *, confirmed: bool = True) -> View:
    """A deletion that is refused for so long that people were told; the words stand on the Machine."""
    view = replace(refused(a_scene(TOLD, SICK, answer=answer, confirmed=confirmed), DeleteMachine, AT), need=need)
    decision = decide(view, NOW)
    return after(view, decision) if WriteMachineConditions in kinds(decision) else view


def need_of(decision: Decision) -> tuple[bool, bool]:
    """Whether it runs, and whether it is stuck."""
    (need,) = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]
    return need.is_running, need.is_stuck


NO_PLACE: dict[str, tuple[Need | None, Granted | Refused | None]] = {
    "it was given back, and the grant is not withdrawn": (RESTED, GRANTED),
    "it was given back": (RESTED, None),
    "it is asked for": (a_need(), None),
    "it is another one's": (a_need(), REFUSED),
    "it was told to a replacement that ran": (a_need(), OF_BEFORE),
    "a successor does not know of it": (None, None),
}


@pytest.mark.parametrize("is_confirmed", [True, False])
@pytest.mark.parametrize("name", NO_PLACE)
def test_a_refused_deletion_without_its_place_asks_for_one(name: str, is_confirmed: bool) -> None:
    """When the webhook that refused all of them is mended, they do not go all at once; people are still told."""
    need, answer = NO_PLACE[name]

    decision = decide(a_late_scene(need, answer, confirmed=is_confirmed), NOW)

    reason = TooManyInFlight if answer == REFUSED else WaitingForBudget
    assert ([], [DeletionOverdue, reason], (False, False)) == (kinds(decision), reasons(decision), need_of(decision))


@pytest.mark.parametrize(("need", "tried"), [(a_need(TRIED), TRIED), (a_need(), NOW.mono)])
def test_a_refused_deletion_that_has_its_place_is_tried_on(need: Need, tried: Mono) -> None:
    """For ten minutes, also with a new one: it has its time again."""
    decision = decide(a_late_scene(need, GRANTED), NOW)
    (stated,) = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]

    assert ([DeleteMachine], (False, False), tried) == (kinds(decision), need_of(decision), stated.tried)
    assert tried + Span.seconds(600) == decision.wake_at


def test_who_asks_for_a_place_keeps_the_words_on_the_machine() -> None:
    """Nothing is tried meanwhile, so the engine forgets the refusal: what the API said is not lost with it."""
    asking = replace(a_late_scene(a_need(), REFUSED), refusal=None)
    early = replace(asking, machine=recorded(Step.DELETE, seconds=60, **says("DeletionFailed")))

    assert ([], [DeletionOverdue, TooManyInFlight]) == (kinds(decide(asking, NOW)), reasons(decide(asking, NOW)))
    assert ([], [TooManyInFlight]) == (kinds(decide(early, NOW)), reasons(decide(early, NOW)))
    assert later(540).mono == decide(early, NOW).wake_at


def test_after_ten_minutes_its_place_is_given_back() -> None:
    """Others are not kept waiting for it; the very next look does not delete, either."""
    over = decide(a_late_scene(a_need(LATE), GRANTED), NOW)
    (stuck,) = [fact.value for fact in over.facts if isinstance(fact.value, Need)]
    following = decide(a_late_scene(stuck, GRANTED), NOW)

    assert ([], (False, True)) == (kinds(over), need_of(over))
    assert ([], (False, True)) == (kinds(following), need_of(following))


def test_what_was_never_tried_is_not_overdue() -> None:
    """A storm held it back for hours: neither then nor at its first try does anybody say that it fails."""
    waits = a_scene(recorded(Step.DELETE, seconds=7_200), answer=STORM)
    begins = a_scene(recorded(Step.DELETE, seconds=7_200))

    assert ([], [TooManyNodesUnhealthy]) == (kinds(decide(waits, NOW)), reasons(decide(waits, NOW)))
    assert ([DeleteMachine], [DeletingMachine]) == (kinds(decide(begins, NOW)), reasons(decide(begins, NOW)))


@pytest.mark.parametrize("machine", [replace(TOLD, paused=Paused(None)), replace(TOLD, cluster_paused=True, owner="")])
@pytest.mark.parametrize(
    ("need", "answer", "is_stuck"),
    [(a_need(), REFUSED, True), (RESTED, None, True), (a_need(), GRANTED, False), (None, None, False)],
)
def test_who_has_no_place_and_is_halted_gets_none(machine: Any, need: Any, answer: Any, is_stuck: bool) -> None:
    """It had asked for one, or rested; it is not in flight because somebody pauses it, or because it is called off."""
    decision = decide(replace(a_scene(machine, SICK, answer=answer), need=need), NOW)

    assert ([], (True, is_stuck)) == (kinds(decision), need_of(decision))
