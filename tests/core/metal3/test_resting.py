"""A power cycle whose first write the API refuses for good keeps no place: it rests, and asks again.

What is held already is another matter, and so is what ends by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NODE_AT, NOW, REMEDIATION_AT, RESOURCES, a_hold, a_host, a_view, ago, later
from tests.core.fencing.story import Story, a_tree
from tests.core.metal3.remediations import BACK, a_held_host, a_reader, a_remediation, a_world, actions, reasons
from tests.core.metal3.test_beginnings import NEXT, Failing
from tests.core.metal3.test_escalation import LAST, UNASKED

from noderemedy.core.budget import health
from noderemedy.core.budget import room as budget
from noderemedy.core.metal3 import annotation
from noderemedy.core.metal3 import remediation as room
from noderemedy.core.metal3.remediationview import NAME, RemediationView
from noderemedy.model.actions import (
    PublishRemediationStatus,
    ReleaseHost,
    WriteFinalizers,
    WriteLedger,
)
from noderemedy.model.budget import NEED, Need
from noderemedy.model.decision import Decision
from noderemedy.model.host import Power
from noderemedy.model.ids import HOST, MACHINE, NODE, REMEDIATION, Ref
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger, Reservation, Start
from noderemedy.model.outcome import Failed, Outcome
from noderemedy.model.remediation import FINALIZER, Metal3Remediation, Phase
from noderemedy.model.room import Present
from noderemedy.model.time import Mono, Now
from noderemedy.sim.apiserver import ADMIN
from noderemedy.wire.names import MACHINE_HOST
from noderemedy.wire.requests import render

MINUTE = 60
REFUSED = ("other-1", "other-2")
NEW = a_remediation(created=ago(60))


# --- one look ----------------------------------------------------------------------------------------------------


def tried(minutes: int, room: str, *, is_stuck: bool = False, is_running: bool = False) -> Need:
    """What was stated at the last look: it is tried since so many minutes, or rests since then."""
    since = Mono(NOW.mono.ms - minutes * 60_000)
    is_waiting = not is_running
    return Need(MACHINE_AT, room, ago(60), is_running, NODE_AT, None, is_stuck, tried=since if is_waiting else None)


def asked(room: str) -> Need:
    return Need(MACHINE_AT, room, ago(60), is_running=False, node=NODE_AT)


def marked(before: Need | None, **changes: Any) -> Decision:
    """What the truth table's room decides for a Machine that is marked, on and not held, unless said otherwise."""
    return annotation.decide(replace(a_view(**changes), need=before), NOW)


def requested(before: Need | None, remediation: Metal3Remediation = NEW, *, now: Now = NOW, **changes: Any) -> Decision:
    """What is decided for a Metal3Remediation that has its grant and its claim."""
    cache = a_reader(a_world(remediation, machine=UNASKED, **changes), now=now)
    view = room.ROOM.sees(REMEDIATION_AT, cache)
    assert isinstance(view, RemediationView)
    return room.decide(replace(view, need=before), now)


def stated(decision: Decision) -> Need:
    (need,) = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]
    return need


LOOKS: dict[str, tuple[Callable[[Need | None], Decision], str, str]] = {
    "a hold": (marked, "annotation", "AddRebootAnnotation"),
    "a finalizer": (requested, NAME, "WriteFinalizers"),
    "a further attempt": (lambda before: requested(before, NEXT), NAME, "PublishRemediationStatus"),
    "the owner's turn": (lambda before: requested(before, LAST), NAME, "PublishRemediationStatus"),
}


@pytest.mark.parametrize("name", LOOKS)
def test_what_was_granted_has_ten_minutes(name: str) -> None:
    """As long as it is tried it has its place; then it gives that back and tries nothing, and a person is told."""
    look, who, act = LOOKS[name]
    first, last, over = look(asked(who)), look(tried(9, who)), look(tried(10, who))

    assert ([act], NOW.mono, later(600).mono) == (actions(first), stated(first).tried, first.wake_at)
    assert ([act], later(MINUTE).mono) == (actions(last), last.wake_at)
    assert ([], ["RepairStuck"]) == (actions(over), reasons(over))
    assert (False, True, NOW.mono) == (stated(over).is_running, stated(over).is_stuck, stated(over).tried)


@pytest.mark.parametrize("name", LOOKS)
def test_it_asks_again_when_it_has_rested(name: str) -> None:
    """Behind those who ask for the first time, and whatever it was granted before."""
    look, who, _ = LOOKS[name]
    rests, rested = look(tried(9, who, is_stuck=True)), look(tried(60, who, is_stuck=True))

    assert (["RepairStuck"], [], True, None) == (
        reasons(rests),
        actions(rests),
        stated(rests).is_stuck,
        stated(rests).again,
    )
    assert ("WaitingForBudget", [], False, NOW.wall) == (
        reasons(rested)[0],
        actions(rested),
        stated(rested).is_stuck,
        stated(rested).again,
    )


@pytest.mark.parametrize("name", LOOKS)
def test_what_gave_its_place_back_while_it_ran_asks_as_if_it_were_new(name: str) -> None:
    """A pause between two attempts, or a host that did not go off, is nothing that was refused to begin."""
    look, who, _ = LOOKS[name]
    asks = look(tried(60, who, is_stuck=True, is_running=True))

    assert (["WaitingForBudget"], False, None) == (reasons(asks), stated(asks).is_stuck, stated(asks).again)


@pytest.mark.parametrize("name", ["annotation", NAME])
def test_who_waits_for_another_repair_is_not_stuck(name: str) -> None:
    """It tries nothing: whoever else holds the host is at work, and nobody has to look."""
    host = a_held_host(Power.ON, uid="another")
    before = tried(5, name)
    waits = marked(before, host=host) if name == "annotation" else requested(before, host=host)

    assert (["ClaimedByOther"], None, False) == (reasons(waits), stated(waits).tried, stated(waits).is_stuck)


# --- what rests forgets nothing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_stuck", [True, False])
def test_a_host_that_is_held_after_all_may_go_off(is_stuck: bool) -> None:
    """A hold whose answer was lost, or another one's: it is in flight at once, and its power-off is pending."""
    host = a_host(held=True, hold=a_hold(since=NOW.wall))
    need = stated(marked(tried(60, "annotation", is_stuck=is_stuck), host=host))

    assert (True, True, False) == (need.is_running, need.is_off_pending, need.is_stuck)


KEPT: dict[str, tuple[Metal3Remediation, dict[str, Any], str]] = {
    "a request that lost its status, and holds its host": (
        replace(NEW, finalizers=(FINALIZER,)),
        {"host": a_held_host(Power.ON)},
        "PublishRemediationStatus",
    ),
    "the phase of the owner": (a_remediation(Phase.DELETING_MACHINE), {}, "WriteMachineConditions"),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_may_go_off_or_ends_by_itself_keeps_its_place(name: str) -> None:
    """A host that is held may go off at any moment, so it counts; the owner has half an hour, in all."""
    remediation, changes, act = KEPT[name]
    first = requested(asked(NAME), remediation, **changes)
    later_on = requested(stated(first), remediation, now=later(601), **changes)

    assert ([act], [act]) == (actions(first), actions(later_on))
    assert (False, None) == (stated(later_on).is_stuck, stated(later_on).tried)


def test_a_node_that_is_back_is_told_while_its_next_attempt_rests() -> None:
    """Recovery asks nobody."""
    found = requested(tried(5, NAME, is_stuck=True), NEXT, node=BACK)

    assert (["PublishRemediationStatus"], ["RemediationSucceeded"]) == (actions(found), reasons(found))


# --- with the budget -------------------------------------------------------------------------------------------------


class Refusing(Story):
    """Twenty nodes, two places; somebody refuses one kind of write for two of them."""

    rooms = (annotation.ROOM, room.ROOM, health.ROOM, budget.ROOM)

    def __init__(self, refused: str) -> None:
        self.refused = refused
        super().__init__()

    def _others(self) -> None:
        for number in range(1, 20):
            self._created(a_tree(f"other-{number}", "True", "boot-1"))

    def _carry_out(self, effect: Any) -> Outcome:
        if type(effect.action).__name__ == self.refused and effect.action.ref.name.endswith(REFUSED):
            return Failed("admission webhook denied the request", lasting=True)
        return super()._carry_out(effect)

    def falls_sick(self, name: str) -> None:
        """A Machine with a host, which is on and stays so; its node is silent."""
        self.machine_of(name)
        consumer = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "name": name, "namespace": "metal"}
        self.api.create(
            {
                "apiVersion": "metal3.io/v1alpha1",
                "kind": "BareMetalHost",
                "metadata": {"name": f"host-{name}", "namespace": "metal"},
                "spec": {"online": True, "consumerRef": consumer},
            }
        )
        is_on = {"status": {"poweredOn": True, "provisioning": {"state": "provisioned"}}}
        self.api.patch(HOST, f"host-{name}", "metal", is_on, "merge", subresource="status")
        silent = {"type": "Ready", "status": "Unknown", "lastTransitionTime": str(self.now.wall)}
        self.api.patch(NODE, name, "", {"status": {"conditions": [silent]}}, "merge", subresource="status")

    def machine_of(self, name: str) -> None:
        self.api.create(
            {
                "apiVersion": "cluster.x-k8s.io/v1beta1",
                "kind": "Machine",
                "metadata": {
                    "name": name,
                    "namespace": "metal",
                    "annotations": {MACHINE_HOST: f"metal/host-{name}"},
                },
                "spec": {"clusterName": "prod", "bootstrap": {"dataSecretName": "x"}},
            }
        )
        body = {"status": {"nodeRef": {"name": name}}}
        self.api.patch(MACHINE, name, "metal", body, "merge", subresource="status")

    def mark(self, name: str) -> None:
        """Its Machine is marked: the truth table is asked."""
        self.falls_sick(name)
        mark = {"metadata": {"annotations": {"host.metal3.io/external-remediation": ""}}}
        self.patch(Ref("", MACHINE, "metal", name), mark)

    def request(self, name: str) -> None:
        """A Metal3Remediation is made for it."""
        self.falls_sick(name)
        self.requested(name, "reboot")

    def requested(self, name: str, strategy: str, **more: Any) -> None:
        kind = {"apiVersion": "remediation.metal3.io/v1alpha1", "kind": "Metal3Remediation"}
        spec = {"strategy": strategy, "deleteAfterRetries": 1}
        self.api.create({**kind, "metadata": {"name": name, "namespace": "metal", **more}, "spec": spec})

    def attempt(self, name: str, strategy: str, attempts: int) -> None:
        """So many attempts are over, and it has its place; the host is on, and the node does not come."""
        self.falls_sick(name)
        self.requested(name, strategy, finalizers=["remediation.metal3.io"])
        evidence = {
            "machineUid": self.api.get(MACHINE, name, "metal")["metadata"]["uid"],
            "nodeUid": self.api.get(NODE, name, "")["metadata"]["uid"],
            "bootID": "boot-1",
            "hostUid": self.api.get(HOST, f"host-{name}", "metal")["metadata"]["uid"],
        }
        at = str(self.now.wall)
        told = {"phase": "waiting", "phaseStartedAt": at, "retryCount": attempts - 1, "evidence": evidence}
        self.api.patch(REMEDIATION, name, "metal", {"status": told}, "merge", subresource="status")

    def places(self) -> None:
        """Of those two, in the ledger."""
        held = tuple(
            Reservation(Ref("", MACHINE, "metal", one), self.now.wall, Ref("", NODE, "", one)) for one in REFUSED
        )
        ledger = BudgetLedger(held, (Start(self.now.wall),))
        self.api.handle(render(WriteLedger(LEDGER_AT, None, ledger), self.token, RESOURCES), ADMIN)

    def is_held(self, name: str) -> bool:
        notes = self.api.get(HOST, f"host-{name}", "metal")["metadata"].get("annotations", {})
        return any(key.startswith("reboot.metal3.io/") for key in notes)

    def next_attempt(self, name: str) -> None:
        self.attempt(name, "escalate", 1)

    def after_a_pause(self, name: str) -> None:
        self.attempt(name, "reboot", 1)

    def owners_turn(self, name: str) -> None:
        self.attempt(name, "escalate", 2)


BEGINNINGS = {
    "annotation: claim": (Refusing.mark, "ClaimRepair"),
    "annotation: hold": (Refusing.mark, "AddRebootAnnotation"),
    "request: claim": (Refusing.request, "ClaimRepair"),
    "request: finalizer": (Refusing.request, "WriteFinalizers"),
    "request: first phase": (Refusing.request, "PublishRemediationStatus"),
    "request: hold": (Refusing.request, "HoldHost"),
    "next attempt: claim": (Refusing.next_attempt, "ClaimRepair"),
    "next attempt: phase": (Refusing.next_attempt, "PublishRemediationStatus"),
    "after a pause: claim": (Refusing.after_a_pause, "ClaimRepair"),
    "after a pause: phase": (Refusing.after_a_pause, "PublishRemediationStatus"),
    "owner's turn: phase": (Refusing.owners_turn, "PublishRemediationStatus"),
    "owner's turn: word": (Refusing.owners_turn, "WriteMachineConditions"),
}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_what_is_refused_leaves_its_place_to_others(name: str) -> None:
    """Two are refused, and there are two places: a third one that falls sick an hour later is held off all the same."""
    begins, refused = BEGINNINGS[name]
    story = Refusing(refused)
    if begins in (Refusing.next_attempt, Refusing.after_a_pause, Refusing.owners_turn):
        story.places()
    for one in REFUSED:
        begins(story, one)
    story.run(60 * MINUTE)
    story.mark("other-9")
    story.run(25 * MINUTE)

    assert (True, False, False) == tuple(map(story.is_held, ("other-9", *REFUSED)))


# --- what is refused in the middle -------------------------------------------------------------------------------


class RefusedMidway(Failing):
    """A policy engine lets nobody write this sort of thing."""

    refuses: tuple[type, ...] = ()

    def _carry_out(self, effect: Any) -> Outcome:
        if isinstance(effect.action, self.refuses):
            return Failed("admission webhook denied the request", lasting=True)
        return super()._carry_out(effect)

    @property
    def stuck(self) -> list[bool]:
        entries = map(self.engine.cache.read, self.engine.cache.refs_of(NEED))
        return [one.obj.is_stuck for one in entries if isinstance(one, Present)]


def is_back_and_not_recorded(story: RefusedMidway) -> None:
    story.refuses = (PublishRemediationStatus,)
    story.is_dead = False
    story.ready("True", "boot-2")


def leaves_and_cannot(story: RefusedMidway) -> None:
    is_back_and_not_recorded(story)
    story.refuses = (WriteFinalizers,)
    story.api.delete(REMEDIATION, "worker-0", "metal")


@pytest.mark.parametrize("trouble", [is_back_and_not_recorded, leaves_and_cannot])
def test_a_repair_whose_end_is_refused_keeps_no_place(trouble: Any) -> None:
    """The machine is well: a person is told, others begin; when the webhook is mended it ends by itself."""
    story = RefusedMidway()
    story.attempted(1)
    story.run(5)
    trouble(story)
    story.run(1_800)
    held_up = (story.stuck, "RepairStuck" in story.told)
    story.refuses = ()
    story.run(90)

    assert (([True], True), []) == (held_up, story.stuck)


class Cascade(Refusing):
    """Six nodes are sick, and there are two places. Hosts go off and on as they are held; no hold is ever released."""

    sick = tuple(f"other-{number}" for number in range(1, 7))

    def _carry_out(self, effect: Any) -> Outcome:
        is_end = isinstance(effect.action, ReleaseHost)
        return Failed("a policy said no", lasting=True) if is_end else super()._carry_out(effect)

    def run(self, seconds: int) -> None:
        for _ in range(seconds):
            for name in self.sick if self.now.mono.ms % 20_000 == 0 else ():
                status = {"status": {"poweredOn": not self.is_held(name)}}
                self.api.patch(HOST, f"host-{name}", "metal", status, "merge", subresource="status")
            super().run(1)


def test_hosts_that_nobody_may_release_are_no_more_than_may_be_in_flight() -> None:
    """While its host is held a repair keeps its place: others who took it would leave their hosts off, too."""
    story = Cascade("")
    for name in story.sick:
        story.request(name)
    story.run(20 * MINUTE)

    assert 2 == sum(map(story.is_held, story.sick))
