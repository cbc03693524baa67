"""What begins in the middle of a Metal3Remediation (the owner's turn, a further attempt) asks the budget, as a storm or
a pause may have come since it was granted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NODE_AT, NOW, REMEDIATION_AT, RESOURCES, a_machine, later
from tests.core.fencing.story import Story, a_tree
from tests.core.metal3.remediations import OF_BEFORE, a_reader, a_remediation, a_world, actions, looked, reasons
from tests.core.metal3.test_escalation import ESCALATED, LAST, UNASKED, needs_of

from noderemedy.core.budget import health
from noderemedy.core.budget import room as budget
from noderemedy.core.budget import spec as budget_spec
from noderemedy.core.metal3 import remediation as room
from noderemedy.model.actions import WriteFinalizers, WriteLedger
from noderemedy.model.budget import Need, Refused, need
from noderemedy.model.ids import HOST, MACHINE, NODE, REMEDIATION
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger, Reservation, Start
from noderemedy.model.machineconditions import Graded, MachineConditions
from noderemedy.model.meta import Malformed
from noderemedy.model.outcome import Outcome, Seen
from noderemedy.model.reasons import BudgetPaused, CooldownAfterStorm
from noderemedy.model.remediation import Metal3Remediation, Phase
from noderemedy.model.remediationbudget import BUDGET_AT
from noderemedy.model.room import Present, Room
from noderemedy.sim.apiserver import ADMIN
from noderemedy.wire.requests import render

NEXT = a_remediation(Phase.WAITING, seconds=661)
OTHERS = 19
STORM = 12
REFUSED = Refused(MACHINE_AT, BudgetPaused(None))
PHASE = "phase"


class Failing(Story):
    """Twenty nodes; an attempt of one of them, which was granted half an hour ago, does not help."""

    rooms: tuple[Room, ...] = (room.ROOM, health.ROOM, budget.ROOM, budget_spec.ROOM)

    def _others(self) -> None:
        for number in range(OTHERS):
            self._created(a_tree(f"other-{number}", "True", "boot-1"))

    def attempted(self, attempts: int, phase: str = "waiting") -> None:
        """So many attempts are over, of two; then comes the owner's turn."""
        self.attempts = attempts
        self.bare_metal()
        self.is_dead = True
        self.hang()
        created = {"name": "worker-0", "namespace": "metal", "finalizers": ["remediation.metal3.io"]}
        spec = {"strategy": "escalate", "deleteAfterRetries": 1}
        kind = {"apiVersion": "remediation.metal3.io/v1alpha1", "kind": "Metal3Remediation"}
        self.api.create({**kind, "metadata": created, "spec": spec})
        evidence = {
            "machineUid": self.api.get(MACHINE, "worker-0", "metal")["metadata"]["uid"],
            "nodeUid": self.node()["metadata"]["uid"],
            "bootID": "boot-1",
            "hostUid": self.api.get(HOST, "rack-1", "metal")["metadata"]["uid"],
        }
        at = str(self.now.wall)
        told = {PHASE: phase, "phaseStartedAt": at, "retryCount": attempts - 1, "evidence": evidence}
        self.api.patch(REMEDIATION, "worker-0", "metal", {"status": told}, "merge", subresource="status")
        ledger = BudgetLedger((Reservation(MACHINE_AT, self.now.wall, NODE_AT),), (Start(self.now.wall),))
        self.api.handle(render(WriteLedger(LEDGER_AT, None, ledger), self.token, RESOURCES), ADMIN)

    def storm(self, ready: str = "Unknown") -> None:
        condition = {"type": "Ready", "status": ready, "lastTransitionTime": str(self.now.wall)}
        for number in range(STORM):
            body = {"status": {"conditions": [condition]}}
            self.api.patch(NODE, f"other-{number}", "", body, "merge", subresource="status")

    def calm(self) -> None:
        self.storm("True")

    def pause(self) -> None:
        notes = {"annotations": {"node-remedy.dev/paused": "true"}}
        kind = {"apiVersion": "node-remedy.dev/v1alpha1", "kind": "RemediationBudget"}
        self.api.create({**kind, "metadata": {"name": BUDGET_AT.name, **notes}})

    def go_on(self) -> None:
        self.patch(BUDGET_AT, {"metadata": {"annotations": {"node-remedy.dev/paused": None}}})

    def shut(self) -> None:
        """A window that opens days from now."""
        spec = {"windows": [{"days": ["Wed"], "from": "00:00", "to": "01:00"}]}
        kind = {"apiVersion": "node-remedy.dev/v1alpha1", "kind": "RemediationBudget"}
        self.api.create({**kind, "metadata": {"name": BUDGET_AT.name}, "spec": spec})

    def open(self) -> None:
        self.patch(BUDGET_AT, {"spec": {"windows": None}})

    @property
    def phase(self) -> str:
        return str(self.api.get(REMEDIATION, "worker-0", "metal")["status"][PHASE])

    @property
    def is_asked(self) -> bool:
        conditions = self.api.get(MACHINE, "worker-0", "metal").get("status", {}).get("conditions", [])
        return ("OwnerRemediated", "False") in [(one["type"], one["status"]) for one in conditions]

    @property
    def retries(self) -> int:
        return int(self.api.get(REMEDIATION, "worker-0", "metal")["status"]["retryCount"])

    @property
    def has_begun(self) -> bool:
        """Whether the owner was asked, a further attempt is on record, or the host is or was held."""
        return self.is_asked or self.retries >= self.attempts or "HoldHost" in self.acts

    @property
    def because(self) -> list[str]:
        found = self.engine.decisions.items()
        return [type(one).__name__ for key, told in found if key.ref.kind == REMEDIATION for one in told.because]

    @property
    def closed(self) -> list[str]:
        """The gates that `explain` shows as closed."""
        assert room.ROOM.explains is not None
        view = room.ROOM.sees(REMEDIATION_AT, self.engine.cache)
        return [type(one.reason).__name__ for one in room.ROOM.explains(view, self.now) if one.reason]

    @property
    def ledger(self) -> tuple[int, int]:
        """How many reservations are granted and alive, and how many starts there were."""
        entry = self.engine.cache.read(LEDGER_AT)
        assert isinstance(entry, Present)
        assert not isinstance(entry.obj.ledger, Malformed)
        return len(entry.obj.ledger.reservations), len(entry.obj.ledger.starts)


Act = Callable[[Failing], None]
TROUBLES: dict[str, tuple[Act, Act, str]] = {
    "a storm": (Failing.storm, Failing.calm, "TooManyNodesUnhealthy"),
    "a pause": (Failing.pause, Failing.go_on, "BudgetPaused"),
    "a window": (Failing.shut, Failing.open, "OutsideWindow"),
}
ATTEMPTS = {"a further attempt": 1, "the owner's turn": 2}
BEGINS = {"a further attempt": NEXT, "the owner's turn": LAST, "the owner's turn on record": ESCALATED}


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("name", ATTEMPTS)
def test_nothing_begins_while_the_budget_lets_nothing_begin(name: str, trouble: str) -> None:
    """Two hours with the real budget: not a single write, and `explain` names it; afterwards it goes on by itself."""
    comes, ends, reason = TROUBLES[trouble]
    story = Failing()
    story.attempted(ATTEMPTS[name])
    story.run(300)
    comes(story)
    story.run(7_200)
    held_back = (story.has_begun, story.because, story.closed[0], story.acts[:])
    ends(story)
    story.run(400)

    assert (False, [reason], reason, []) == held_back
    assert (name == "the owner's turn", 1) == (story.is_asked, story.retries)
    assert (1, 0) == (story.ledger[0], story.acts.count("WriteLedger") - (trouble == "a storm")), "its own old place"


@pytest.mark.parametrize("name", ATTEMPTS)
def test_it_goes_on_at_once_where_nothing_speaks_against_it(name: str) -> None:
    """In its place: not a second one is taken, and the owner is asked once."""
    story = Failing()
    story.attempted(ATTEMPTS[name])
    story.run(610)

    assert (True, (1, 1)) == (story.has_begun, story.ledger)
    assert [] == [one for one in ("WriteLedger", "WriteMachineConditions") if story.acts.count(one) > 1]


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_successor_begins_nothing_in_a_storm(name: str) -> None:
    """Its budget has not looked yet when it looks for the first time; the place is still there after the cooldown."""
    story = Failing()
    story.attempted(ATTEMPTS[name])
    story.run(300)
    story.storm()
    story.unattended(600)
    story.run(1_200)
    story.dies()
    story.run(1_200)
    in_the_storm = story.has_begun
    story.calm()
    story.run(290)
    in_the_cooldown = story.has_begun
    story.run(60)

    assert (False, False, True) == (in_the_storm, in_the_cooldown, story.has_begun)
    assert 1 == story.ledger[0]


class PausedAtOnce(Failing):
    """A person pauses the Machine right after the finalizer was written."""

    def _carry_out(self, effect: Any) -> Outcome:
        found = super()._carry_out(effect)
        if isinstance(effect.action, WriteFinalizers):
            self.patch(MACHINE_AT, {"metadata": {"annotations": {"node-remedy.dev/paused": "true"}}})
        return found

    def requested(self, *, is_running: bool) -> None:
        """What the health check that makes the request states: it asks for a place, or has it."""
        wanted = need(MACHINE_AT, "remediation", NOW.wall, is_running=is_running, node=NODE_AT)
        self.engine.seen(Seen(wanted.ref, "", "", wanted.value), self.now)


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_request_that_was_paused_at_once_is_none_of_before_the_storm(trouble: str) -> None:
    """Its check was granted the place and runs: an hour later the request claims the node anew, and asks meanwhile."""
    comes, ends, _ = TROUBLES[trouble]
    story = PausedAtOnce()
    story.bare_metal()
    story.hang()
    story.requested(is_running=False)
    story.run(65)
    kind = {"apiVersion": "remediation.metal3.io/v1alpha1", "kind": "Metal3Remediation"}
    story.api.create({**kind, "metadata": {"name": "worker-0", "namespace": "metal"}, "spec": {}})
    story.requested(is_running=True)
    story.run(3_600)
    comes(story)
    story.run(60)
    story.patch(MACHINE_AT, {"metadata": {"annotations": {"node-remedy.dev/paused": None}}})
    story.run(300)
    in_trouble = [one for one in ("PublishRemediationStatus", "HoldHost") if one in story.acts]
    ends(story)
    story.run(400)

    assert ([], True) == (in_trouble, "HoldHost" in story.acts)


def test_a_storm_between_the_record_and_the_act_leads_back() -> None:
    """The half hour of the owner does not run out before it was asked: one write, and after the storm its turn."""
    story = Failing()
    story.storm()
    story.attempted(2, "deleting-machine")
    story.run(7_200)
    in_the_storm = (story.phase, story.is_asked, story.acts.count("PublishRemediationStatus"))
    story.calm()
    story.run(400)

    assert ("waiting", False, 1) == in_the_storm
    assert ("deleting-machine", True) == (story.phase, story.is_asked)


@pytest.mark.parametrize("name", BEGINS)
def test_what_was_told_to_a_repair_that_runs_is_no_answer(name: str) -> None:
    """It tells of no storm: it is asked first, for this very beginning and in its old turn."""
    decision = looked(a_world(BEGINS[name], machine=UNASKED), told=OF_BEFORE)
    (need,) = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]

    assert ([], ["WaitingForBudget"]) == (actions(decision), reasons(decision))
    assert (False, BEGINS[name].created, True) == (need.is_running, need.since, bool(need.begins))


def test_every_beginning_is_asked_for_by_itself() -> None:
    """The grant of one attempt is none for the next one, nor for the owner's turn."""
    needs = [fact.value for one in BEGINS.values() for fact in looked(a_world(one, machine=UNASKED)).facts]

    assert 3 == len({one.begins for one in needs if isinstance(one, Need)})


def test_who_has_asked_the_owner_runs() -> None:
    """A storm comes too late then: it waits for the owner."""
    decision = looked(a_world(ESCALATED), told=REFUSED)

    assert (["MarkHostUnhealthy"], [("metal3-remediation-owner", True, False)]) == (
        actions(decision),
        needs_of(decision),
    )


def test_an_owner_that_tells_of_itself_was_asked() -> None:
    """In its own words, which stay: it is at work, and no storm leads back."""
    own = (Graded("OwnerRemediated", "False", "RemediationInProgress", "on it", severity="Warning"),)
    machine = replace(a_machine(), told=MachineConditions(current=own, older=own, is_current=True))
    decision = looked(a_world(ESCALATED, machine=machine), told=REFUSED)

    assert (["MarkHostUnhealthy"], [("metal3-remediation-owner", True, False)]) == (
        actions(decision),
        needs_of(decision),
    )


def test_a_cooldown_wakes_it_when_it_is_over() -> None:
    """Nothing else has to happen."""
    until = later(60)
    decision = looked(a_world(LAST), told=Refused(MACHINE_AT, CooldownAfterStorm(until.wall), until.wall))

    assert ([], until.mono) == (actions(decision), decision.wake_at)


HELD_UP: dict[str, Metal3Remediation] = {
    "a further attempt": replace(NEXT, cluster_paused=True),
    "the owner's turn": replace(LAST, problems=("garbage",)),
}


@pytest.mark.parametrize("name", HELD_UP)
def test_what_something_else_holds_back_does_not_ask(name: str) -> None:
    """It could not use the answer: it is a repair that runs, and gives its place back when its time is over."""
    decision = looked(a_world(HELD_UP[name], machine=UNASKED))

    assert ([], [("metal3-remediation", True, False)]) == (actions(decision), needs_of(decision))


def test_explain_names_the_budget() -> None:
    """For the owner's turn as for an attempt, by the budget's own reason."""
    for one in BEGINS.values():
        view = room.ROOM.sees(REMEDIATION_AT, a_reader(a_world(one, machine=UNASKED), told=REFUSED))
        assert room.ROOM.explains is not None
        assert [REFUSED.reason] == [gate.reason for gate in room.ROOM.explains(view, NOW) if gate.reason]
