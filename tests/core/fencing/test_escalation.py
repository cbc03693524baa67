"""The owner of a machine is asked to replace it only with a grant, under the claim, and if nobody has paused it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import (
    HOST_AT,
    MACHINE_AT,
    NODE_AT,
    NOW,
    OPENSHIFT_MACHINE_AT,
    a_host,
    a_machine,
    a_node,
    absent,
    ago,
    later,
    present,
    unreadable,
)
from tests.core.fencing.fences import FENCE_AT, a_fence, a_plan
from tests.core.fencing.story import ROOMS, Story, refuses
from tests.core.fencing.test_request import BOTH_WORDS, asked, asked_without_node, owner_word, reasons, request, told

from noderemedy.core.claim import Claim, holder_name, lease_of
from noderemedy.core.fencing import request as room
from noderemedy.core.fencing.requestgates import explain
from noderemedy.core.fencing.requestview import INDEXES, NAME, RequestView, what_is_waited_for
from noderemedy.core.owner import replacing
from noderemedy.engine.cache import Cache
from noderemedy.model.actions import Confirm, PublishRequestStatus
from noderemedy.model.budget import Granted, Need, Refused, need
from noderemedy.model.decision import Decision
from noderemedy.model.fenceplan import Step
from noderemedy.model.fenceremediation import FINALIZER, FencePhase, FenceRemediation, RequestStatus
from noderemedy.model.ids import BUDGET, FENCE_REMEDIATION, LEASE, MACHINE, NODE, Ref, ref
from noderemedy.model.lease import Lease
from noderemedy.model.machine import ControllerOwner, Machine
from noderemedy.model.machineconditions import OWNER_REMEDIATED, Graded, MachineConditions
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import Condition
from noderemedy.model.nodefence import State
from noderemedy.model.outcome import Failed, Outcome, Seen
from noderemedy.model.reasons import ClusterPaused, TooManyInFlight
from noderemedy.model.room import Absent, Present, Unseen

REQUEST_AT = ref(FENCE_REMEDIATION, "worker-0", "metal")
PAUSED = Paused(later(60).wall)
REFUSED = Refused(MACHINE_AT, TooManyInFlight(2, 2))
SET = ControllerOwner("machine.openshift.io/v1beta1", "MachineSet", "workers", "set-uid-1")
NOT_ASKED = MachineConditions(current=(), older=())
FENCING, DELETING = FencePhase.FENCING, FencePhase.DELETING_MACHINE
MACHINES = (MACHINE_AT, OPENSHIFT_MACHINE_AT)


def a_claim(at: Ref, holder: str = "", **more: Any) -> Claim:
    """Of the machine's node: free, or somebody's."""
    entry = present(Lease("lease-uid-1", holder)) if holder else Absent()
    return Claim(NODE_AT, entry, holder_name(NAME, at), **more)


def a_scene(at: Ref = MACHINE_AT, phase: FencePhase = FENCING, *, seconds: float = 60, **changes: Any) -> RequestView:
    """A request whose fence was given up; budget and claim are ours."""
    given = {"controller": SET, "told": NOT_ASKED, **changes.pop("machine", {})}
    machine: Machine = replace(a_machine(uid="machine-uid-1"), **given)
    known = (FENCE_AT.name, "fence-uid-1", State.ERROR.value, Step.POWER_MANAGEMENT.value)
    status = RequestStatus(phase, ago(seconds), machine.uid, *known)
    asks = FenceRemediation("request-uid-1", status=status, finalizers=(FINALIZER,), created=ago(900))
    asks = replace(asks, **changes.pop("request", {}))
    fence = a_fence(State.ERROR, restarts=9, requested_by=f"{REQUEST_AT} {asks.uid}")
    view = RequestView(
        ref=REQUEST_AT,
        entry=present(asks),
        request=asks,
        machine_at=at,
        machine_entry=present(machine),
        node_at=NODE_AT,
        node_entry=present(a_node(ready="Unknown")),
        fence_entry=present(fence),
        answer=Granted(at, ago(1), (what_is_waited_for(asks),)),
        claim=a_claim(at, holder_name(NAME, at)),
    )
    return replace(view, **changes)


def acts(decision: Decision) -> list[str]:
    return [type(action).__name__ for action in decision.actions]


def because(decision: Decision) -> list[str]:
    return [type(reason).__name__ for reason in decision.because]


def phase_of(decision: Decision) -> FencePhase:
    """The phase that is entered."""
    (write,) = decision.actions
    assert isinstance(write, PublishRequestStatus)
    return write.status.phase


def asks_of(decision: Decision) -> list[tuple[str, bool]]:
    """What is stated for the budget: by whom, and whether it runs."""
    needs = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]
    assert {NODE_AT} >= {one.node for one in needs}
    return [(one.room, one.is_running) for one in needs]


def ready(seconds: float) -> Present:
    """A node that has been Ready for so long, in a new boot."""
    node = replace(a_node(boot_id="boot-2"), conditions=(Condition("Ready", "True", ago(seconds)),))
    return Present(node, "100", later(-3_600).mono, NOW.mono, later(-seconds).mono)


SICK = a_node(ready="Unknown")
BACK = ready(15)
RELEASED = a_fence(State.ERROR, restarts=9, requested_by=f"{REQUEST_AT} request-uid-1", deleting=True)
WAITS, RUNS = [(NAME, False)], [(NAME, True)]
CLOSED: dict[str, tuple[dict[str, Any], str, list[tuple[str, bool]]]] = {
    "paused on the request": ({"request": {"paused": PAUSED}}, "PausedByPerson", []),
    "paused on the Machine": ({"machine": {"paused": PAUSED}}, "PausedByPerson", []),
    "paused on the Node": ({"node_entry": present(replace(SICK, paused=PAUSED))}, "PausedByPerson", []),
    "its Node cannot be read": ({"node_entry": unreadable()}, "NodeUnreadable", []),
    "its Node cannot be seen": ({"node_entry": Unseen()}, "CannotSeeNode", []),
    "a garbled pause": ({"machine": {"paused": Malformed("x")}}, "PauseUnreadable", []),
    "somebody releases its fence": ({"fence_entry": present(RELEASED)}, "WaitingForFence", []),
    "another request goes first": ({"rival": "metal/older"}, "AnotherRemediation", []),
    "the budget refuses": ({"answer": REFUSED}, "TooManyInFlight", WAITS),
    "the budget has not looked": ({"answer": None}, "WaitingForBudget", WAITS),
    "it was granted to somebody who runs": ({"answer": Granted(MACHINE_AT, ago(1))}, "WaitingForBudget", WAITS),
    "its node has just come back": ({"node_entry": BACK}, "WaitingForReady", []),
    "somebody else repairs it": (
        {"claim": a_claim(MACHINE_AT, "annotation Machine metal/worker-0", is_other_about_it=True)},
        "ClaimedByOther",
        WAITS,
    ),
    "we run on it": ({"claim": a_claim(MACHINE_AT, is_own=True)}, "OwnNode", WAITS),
}


@pytest.mark.parametrize("at", MACHINES)
@pytest.mark.parametrize("name", CLOSED)
def test_a_gate_that_is_closed_keeps_a_request_where_it_is(name: str, at: Ref) -> None:
    """Nothing is written, the gate's reason is said; what waits for budget or claim only asks for its place."""
    changes, reason, stated = CLOSED[name]

    decision = room.decide(a_scene(at, **changes), NOW)

    assert ([], [reason], stated) == (acts(decision), because(decision), asks_of(decision))


@pytest.mark.parametrize("at", MACHINES)
@pytest.mark.parametrize("name", CLOSED)
def test_explain_shows_the_gate_that_is_closed(name: str, at: Ref) -> None:
    """The same gates, whether the phase was recorded or not."""
    changes, reason, _ = CLOSED[name]
    names = ("nobody goes first", "nobody paused it", "node is seen", "nobody releases it", "fencing cannot help")
    expected = [*names, "budget allows", "one repair per node"]

    for phase in (FENCING, DELETING):
        found = explain(a_scene(at, phase, **changes), NOW)
        assert expected == [one.gate for one in found][4:]
        assert [reason] == [type(one.reason).__name__ for one in found if one.reason]


def test_explain_shows_no_gates_of_what_was_asked_already() -> None:
    """What is behind it is of no interest; a fence that is at work has its own gates."""
    is_asked = a_scene(phase=DELETING, answer=None, machine={"deleting": True})
    at_work = a_scene(answer=None, fence_entry=Absent())

    assert ["request is valid", "machine is there", "cluster is not paused", "record is kept"] == names(is_asked)
    assert "budget allows" not in names(at_work)


def names(view: RequestView) -> list[str]:
    return [one.gate for one in explain(view, NOW)]


@pytest.mark.parametrize("at", MACHINES)
def test_when_all_gates_are_open_the_phase_is_recorded_first(at: Ref) -> None:
    """Then the owner is asked; until that was seen the repair has not begun."""
    recorded = room.decide(a_scene(at), NOW)
    acting = room.decide(a_scene(at, DELETING), NOW)

    assert (["PublishRequestStatus"], ["Escalating"], WAITS) == (acts(recorded), because(recorded), asks_of(recorded))
    act = "WriteMachineConditions" if at == MACHINE_AT else "DeleteMachine"
    assert ([act], ["Escalating"], WAITS) == (acts(acting), because(acting), asks_of(acting))


@pytest.mark.parametrize("at", MACHINES)
@pytest.mark.parametrize("seconds", [0, 19.9])
def test_a_node_that_has_just_come_back_is_the_fence_s(at: Ref, seconds: float) -> None:
    """In a moment the fence calls it back, or does not: until then nobody is asked, and the look after that is set."""
    decision = room.decide(a_scene(at, node_entry=ready(seconds)), NOW)
    later_on = room.decide(a_scene(at, node_entry=ready(20)), NOW)

    assert (["WaitingForReady"], later(20 - seconds).mono) == (because(decision), decision.wake_at)
    assert ["Escalating"] == because(later_on)


@pytest.mark.parametrize("at", MACHINES)
@pytest.mark.parametrize("state", [State.NEW, State.DONE, State.FINAL])
def test_a_fence_that_helps_after_all_leads_back(at: Ref, state: State) -> None:
    """The owner's turn was recorded, and nobody was asked yet."""
    lives = a_fence(state, requested_by=f"{REQUEST_AT} request-uid-1")
    decision = room.decide(a_scene(at, DELETING, fence_entry=present(lives)), NOW)

    assert (FENCING, ["WaitingForFence"]) == (phase_of(decision), because(decision))


def test_before_a_machine_is_deleted_its_node_is_read_live() -> None:
    """It may have come back, and nobody was told: Machine and Node, if it has one."""
    machine = a_scene(OPENSHIFT_MACHINE_AT, DELETING)
    unread = replace(machine, node_entry=present(SICK, confirmed=False))
    gone, nodeless = replace(machine, node_entry=absent(confirmed=False)), replace(unread, node_at=None)
    stale = replace(unread, machine_entry=replace(machine.machine_entry, confirmed_at=None))

    assert (Confirm(NODE_AT),) == room.decide(unread, NOW).actions
    assert (Confirm(NODE_AT),) == room.decide(gone, NOW).actions
    assert (Confirm(OPENSHIFT_MACHINE_AT), Confirm(NODE_AT)) == room.decide(stale, NOW).actions
    assert ["DeleteMachine"] == acts(room.decide(nodeless, NOW))


STEPS_BACK = (
    *("its node has just come back", "paused on the request", "paused on the Machine", "paused on the Node"),
    *("somebody releases its fence", "the budget refuses", "its Node cannot be read", "its Node cannot be seen"),
)


@pytest.mark.parametrize("at", MACHINES)
@pytest.mark.parametrize("name", STEPS_BACK)
def test_a_gate_that_closes_after_the_record_leads_back(name: str, at: Ref) -> None:
    """Nothing was asked: it waits as before, so that the owner's half hour does not pass meanwhile."""
    changes, reason, _ = CLOSED[name]

    decision = room.decide(a_scene(at, DELETING, **changes), NOW)

    assert (["PublishRequestStatus"], [reason]) == (acts(decision), because(decision))
    assert FENCING is phase_of(decision)


@pytest.mark.parametrize("at", MACHINES)
def test_a_machine_that_got_its_node_is_fenced_after_all(at: Ref) -> None:
    """The owner's turn was recorded for want of a node, and held back by a paused Cluster (dense seed 7282)."""
    status = RequestStatus(DELETING, ago(600), "machine-uid-1")
    view = a_scene(at, request={"status": status}, fence_entry=Absent(), node_entry=ready(60))

    decision = room.decide(view, NOW)

    assert (FencePhase.NEW, ["WaitingForFence"]) == (phase_of(decision), because(decision))


def test_a_machine_without_a_node_is_led_back_to_the_beginning() -> None:
    """There is no fence that it could wait for."""
    status = RequestStatus(DELETING, ago(60), "machine-uid-1")
    view = a_scene(request={"status": status, "paused": PAUSED}, node_at=None, node_entry=Absent())

    assert FencePhase.NEW is phase_of(room.decide(view, NOW))


@pytest.mark.parametrize("at", MACHINES)
def test_a_successor_waits_for_its_answer_in_the_phase_that_it_finds(at: Ref) -> None:
    """Who leads anew has no answer yet: that is no refusal, and a phase is not written again and again for it."""
    decision = room.decide(a_scene(at, DELETING, answer=None), NOW)

    assert ([], ["WaitingForBudget"], WAITS) == (acts(decision), because(decision), asks_of(decision))


def test_only_whom_we_delete_we_claim() -> None:
    """An owner of ours wants the claim for itself."""
    ours, owners = (room.decide(a_scene(at, claim=a_claim(at)), NOW) for at in (OPENSHIFT_MACHINE_AT, MACHINE_AT))

    assert (["ClaimRepair"], ["Claiming"]) == (acts(ours), because(ours))
    assert (["PublishRequestStatus"], ["Escalating"]) == (acts(owners), because(owners))


IN_OTHER_WORDS = Graded(OWNER_REMEDIATED, "False", "DeletionFailed", "a webhook says no")
ASKED: dict[str, dict[str, Any]] = {
    "the machine goes": {"machine": {"deleting": True}},
    "the owner tells of itself": {"machine": {"told": MachineConditions((IN_OTHER_WORDS,), (IN_OTHER_WORDS,))}},
    "and the cluster is paused": {"machine": {"deleting": True}, "left_alone": ClusterPaused()},
}


@pytest.mark.parametrize("name", ASKED)
def test_what_was_asked_runs_whatever_the_gates_say_by_now(name: str) -> None:
    """It counts as in flight, nothing is written, and nobody is asked twice."""
    decision = room.decide(a_scene(phase=DELETING, answer=None, request={"paused": PAUSED}, **ASKED[name]), NOW)

    assert ([], RUNS) == (acts(decision), asks_of(decision))


@pytest.mark.parametrize("seconds", [60, 1_801])
def test_a_machine_that_nobody_would_replace_reserves_nothing(seconds: float) -> None:
    """It is a person's business: neither budget nor claim is asked."""
    decision = room.decide(
        a_scene(OPENSHIFT_MACHINE_AT, DELETING, seconds=seconds, answer=None, machine={"controller": None}), NOW
    )

    assert (["RemediationFailed"], []) == (because(decision), asks_of(decision))


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_machine_whose_host_no_new_one_would_get_is_not_deleted(is_lost: bool) -> None:
    """Somebody else installed that host: the request fails, and asks neither budget nor claim."""
    host = present(replace(a_host(), externally_provisioned=is_lost))

    decision = room.decide(a_scene(OPENSHIFT_MACHINE_AT, DELETING, host=host), NOW)

    assert (is_lost, not is_lost) == (
        "HostExternallyProvisioned" in because(decision),
        "DeleteMachine" in acts(decision),
    )
    assert is_lost is ([] == asks_of(decision))


def test_the_host_of_a_machine_of_openshift_is_seen() -> None:
    """By the name that its provider writes on the Machine; owners of Cluster API decide by themselves."""
    machine, asks = a_machine(uid="machine-uid-1"), FenceRemediation("request-uid-1")
    hosts = {}
    for at in MACHINES:
        cache = Cache(INDEXES)
        for one, obj in ((REQUEST_AT, asks), (at, machine), (HOST_AT, a_host())):
            cache.put(Seen(one, "", "7", obj), NOW.mono)
        view = room.ROOM.sees(REQUEST_AT, cache)
        assert view is not None
        hosts[at] = isinstance(view.host, Present)

    assert {MACHINE_AT: False, OPENSHIFT_MACHINE_AT: True} == hosts


def test_a_request_that_is_over_states_no_need() -> None:
    """Its place is free for others."""
    assert [] == asks_of(room.decide(a_scene(phase=FencePhase.FAILED), NOW))
    assert [] == asks_of(room.decide(a_scene(phase=DELETING, seconds=1_801, **ASKED["the owner tells of itself"]), NOW))


# --- with budget and owner ---------------------------------------------------------------------------------------


def budget(story: Story, **spec: Any) -> None:
    story.api.create(
        {
            "apiVersion": "node-remedy.dev/v1alpha1",
            "kind": "RemediationBudget",
            "metadata": {"name": "cluster", "annotations": {"node-remedy.dev/paused": "true"}},
            "spec": spec,
        }
    )


def opens(story: Story) -> None:
    story.api.patch(BUDGET, "cluster", "", {"metadata": {"annotations": {"node-remedy.dev/paused": None}}}, "merge")


def broken() -> Story:
    """A request whose fence has no plan that it could use: one edit breaks those of all nodes."""
    story = asked(nodeReadyTimeout="2m")
    story.configure(a_plan(problems=("fence-config-worker-0: no plug",)))
    return story


@pytest.mark.parametrize("begin", [broken, asked_without_node])
def test_a_paused_budget_holds_the_owner_s_turn_until_it_opens(begin: Any) -> None:
    """Hours do not count, and nothing stands on the Machine; then the owner has its whole half hour."""
    story = begin()
    budget(story)
    story.run(2_400)
    before = (told(story).phase.value, owner_word(story), reasons(story))
    opens(story)
    story.run(10)

    assert ([], ["BudgetPaused"]) == before[1:]
    assert "deleting-machine" != before[0]
    assert ("deleting-machine", BOTH_WORDS) == (told(story).phase.value, owner_word(story))
    story.run(1_700)
    assert ["WaitingForOwner"] == reasons(story)


def test_in_a_storm_no_owner_is_asked() -> None:
    """All nodes are silent, and the configuration of all fences is broken."""
    story = broken()
    storm(story)
    story.run(300)

    assert ("fencing", [], ["TooManyNodesUnhealthy"]) == (told(story).phase.value, owner_word(story), reasons(story))


def test_a_fence_that_lives_again_meanwhile_helps_after_all() -> None:
    """The configuration was mended while the budget was paused: the node is fenced, and its Machine stays."""
    story = broken()
    budget(story)
    story.run(300)
    story.configure(a_plan())
    opens(story)
    story.run_until(lambda: told(story).phase.value == "recovered", 900)

    assert ([], []) == (owner_word(story), story.freed_early)


def test_the_node_s_pause_holds_the_owner_s_turn() -> None:
    """A person who looks at the node does not lose its Machine; the event of the Node wakes the request."""
    story = asked(stepRetries=0, maxRestarts=0)
    story.devices["fence_ipmilan"] = refuses
    story.run_until(lambda: bool(story.orders), 60)
    story.patch(NODE_AT, {"metadata": {"annotations": {"node-remedy.dev/paused": "true"}}})
    story.run(300)
    before = (told(story).phase.value, owner_word(story), reasons(story))
    story.patch(NODE_AT, {"metadata": {"annotations": {"node-remedy.dev/paused": None}}})
    story.run(5)

    assert ("fencing", [], ["PausedByPerson"]) == before
    assert BOTH_WORDS == owner_word(story)


@pytest.mark.parametrize("room_name", ["remediation", "node-fence"])
def test_a_place_that_another_room_holds_for_the_machine_is_ours(room_name: str) -> None:
    """The health check that made the request states a need, too, and the budget has one place: needs are one ask."""
    story = broken()
    budget(story, maxInFlight=1)
    opens(story)
    wanted = need(MACHINE_AT, room_name, NOW.wall, is_running=True, node=NODE_AT)
    story.engine.seen(Seen(wanted.ref, "", "", wanted.value), story.now)
    story.run(240)

    assert BOTH_WORDS == owner_word(story)


def test_the_only_place_is_not_taken_from_another_machine() -> None:
    """One place, and somebody else's repair runs: the owner is not asked until that is over."""
    story = broken()
    budget(story, maxInFlight=1)
    opens(story)
    other = need(ref(MACHINE, "other-1", "metal"), "remediation", NOW.wall, is_running=True, node=ref(NODE, "other-1"))
    story.engine.seen(Seen(other.ref, "", "", other.value), story.now)
    story.run(240)
    before = (owner_word(story), reasons(story))
    story.engine.gone(Seen(other.ref, "", "", other.value), story.now)
    story.run(90)

    assert ([], ["TooManyInFlight"]) == before
    assert BOTH_WORDS == owner_word(story)


def storm(story: Story) -> None:
    """All other nodes fall silent."""
    for name in ("other-1", "other-2", "other-3"):
        silent = {"type": "Ready", "status": "Unknown", "lastTransitionTime": str(story.now.wall)}
        story.api.patch(NODE, name, "", {"status": {"conditions": [silent]}}, "merge", subresource="status")


def checked(story: Story, *, is_running: bool = True) -> None:
    """The health check that makes the request asks for a place in the budget, or has it, and states so."""
    wanted = need(MACHINE_AT, "remediation", NOW.wall, is_running=is_running, node=NODE_AT)
    story.engine.seen(Seen(wanted.ref, "", "", wanted.value), story.now)


class PausedInBetween(Story):
    """The Machine's cluster is paused in the moment between the record and the word."""

    is_paused = False

    def _carry_out(self, effect: Any) -> Outcome:
        found = super()._carry_out(effect)
        is_recorded = isinstance(effect.action, PublishRequestStatus) and effect.action.status.phase is DELETING
        if is_recorded and not self.is_paused:
            self.is_paused = True
            self.patch(MACHINE_AT, {"metadata": {"annotations": {"cluster.x-k8s.io/paused": ""}}})
        return found

    def goes_on(self) -> None:
        self.patch(MACHINE_AT, {"metadata": {"annotations": {"cluster.x-k8s.io/paused": None}}})


@pytest.mark.parametrize("begins", [storm, budget])
def test_the_grant_of_a_check_is_of_before_the_storm(begins: Callable[[Story], None]) -> None:
    """Whom a check lets run was granted its place long ago: the owner's turn is asked for by itself."""
    story = PausedInBetween()
    story.machine()
    story.hang()
    checked(story, is_running=False)
    story.run(65)
    request(story, nodeReadyTimeout="2m")
    checked(story)
    story.configure(a_plan(problems=("fence-config-worker-0: no plug",)))
    story.run(300)
    begins(story)
    story.run(60)
    is_paused, before = story.is_paused, owner_word(story)
    story.goes_on()
    story.run(300)

    assert (True, []) == (is_paused, before)
    assert ("fencing", []) == (told(story).phase.value, owner_word(story))


class Owned(Story):
    """The same with the reference owner."""

    rooms = (*ROOMS, replacing.ROOM)


def test_an_owner_of_ours_gets_grant_and_claim_of_what_it_is_asked() -> None:
    """It waits for neither, though the budget has one place and the request is in flight."""
    story = Owned()
    story.machine()
    story.patch(MACHINE_AT, {"metadata": {"annotations": {"node-remedy.dev/owner": "node-remedy"}}})
    story.patch(MACHINE_AT, {"spec": {"infrastructureRef": None}})
    budget(story, maxInFlight=1)
    opens(story)
    story.hang()
    story.run(65)
    request(story, nodeReadyTimeout="2m")
    story.configure(a_plan(problems=("fence-config-worker-0: no plug",)))
    story.run(240)

    held = story.api.find(LEASE, lease_of(NODE_AT).name, lease_of(NODE_AT).namespace)
    assert held is not None
    assert "owner" == held["spec"]["holderIdentity"].split()[0]


def test_two_requests_for_one_machine_do_not_break_each_other() -> None:
    """The older one asks the owner, the other one waits for it."""
    story = asked_without_node()
    budget(story)
    story.run(5)
    owner = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "name": "worker-0"}
    uid = story.api.get(MACHINE, "worker-0", "metal")["metadata"]["uid"]
    story.api.create(
        {
            "apiVersion": "node-remedy.dev/v1alpha1",
            "kind": "FenceRemediation",
            "metadata": {"name": "again", "namespace": "metal", "ownerReferences": [{**owner, "uid": uid}]},
            "spec": {},
        }
    )
    story.run(60)
    opens(story)
    story.run(60)

    assert ("deleting-machine", 1) == (told(story).phase.value, story.told.count("AnotherRemediation"))
    assert "RoomBroken" not in story.told


class Unrecorded(Story):
    """A webhook refuses what is to be recorded of the owner's turn."""

    is_refused = True

    def _carry_out(self, effect: Any) -> Outcome:
        is_record = isinstance(effect.action, PublishRequestStatus) and effect.action.status.phase is DELETING
        if is_record and self.is_refused:
            return Failed("admission webhook denied the request", lasting=True)
        return super()._carry_out(effect)


def test_an_owner_s_turn_that_cannot_be_recorded_keeps_no_place() -> None:
    """It has ten minutes, then it rests, and its place is free; once it can be recorded, the owner is asked."""
    story = Unrecorded()
    asked_without_node(story)
    budget(story, maxInFlight=1)
    opens(story)
    story.run(12 * 60)
    rests = (reasons(story), [one.is_stuck for one in stated(story)])
    story.is_refused = False
    story.run(5 * 60)
    meanwhile = owner_word(story)
    story.run(20 * 60)

    assert (["RepairStuck"], [True], []) == (*rests, meanwhile)
    assert BOTH_WORDS == owner_word(story)


def stated(story: Story) -> list[Need]:
    return [fact.value for one in story.engine.decisions.values() for fact in one.facts if isinstance(fact.value, Need)]
