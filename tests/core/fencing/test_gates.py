"""The gates of a NodeFence: what keeps it from beginning, in order, and how a person is told."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import HOST_AT, MACHINE_AT, NODE_AT, NOW, a_host, a_machine, a_node, ago, present, unreadable
from tests.core.fencing.fences import FENCE_AT, UID, a_fence, a_job, a_plan, done
from tests.core.fencing.test_rules import seen

from noderemedy.core.fencing.fence import ROOM, decide
from noderemedy.core.fencing.gates import BEFORE_THE_START, cluster_is_not_paused, explain
from noderemedy.core.fencing.hosts import NO_HOST, HostSeen
from noderemedy.core.fencing.needs import needs
from noderemedy.core.fencing.planless import UNUSABLE
from noderemedy.core.fencing.view import INDEXES, sees, what_is_waited_for
from noderemedy.core.gates import first
from noderemedy.engine.cache import Cache
from noderemedy.model.actions import WriteFinalizers
from noderemedy.model.budget import Granted, Need, Refused
from noderemedy.model.checkstatus import SUCCEEDED, Told
from noderemedy.model.cluster import Cluster
from noderemedy.model.configuration import SkipCondition
from noderemedy.model.fenceplan import plan_ref
from noderemedy.model.governing import PermitFact, permit_ref
from noderemedy.model.host import Power
from noderemedy.model.ids import CLUSTER, CONFIG_MAP, MACHINE, NODE, SYSTEM, Ref, ref
from noderemedy.model.keeping import Unkept
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import Taint
from noderemedy.model.nodefence import FenceEvidence, State
from noderemedy.model.observer import OBSERVER_AT, Observer
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import ClusterPaused, SkippedUnresponsive, TooManyInFlight
from noderemedy.model.remote import Remote, Sight, remote_ref
from noderemedy.model.room import Unreadable
from noderemedy.model.run import Deed, RunState
from noderemedy.model.time import Mono

SICK = a_node(ready="Unknown")
DOCUMENT_AT = ref(CONFIG_MAP, "workers", SYSTEM)


def a_view(**more: Any) -> Any:
    """A NodeFence that may begin, unless a test says otherwise."""
    fence = more.pop("fence", a_fence())
    node, plan = more.pop("node", SICK), more.pop("plan", a_plan())
    objects = {FENCE_AT: fence, NODE_AT: node, plan_ref(NODE_AT): plan}
    return replace(seen({at: obj for at, obj in objects.items() if obj is not None}), **more)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"fence": a_fence(problems=("spec.node: missing",))}, "FenceInvalid"),
        ({"is_in_sight": False}, "CannotSeeNode"),
        ({"node_entry": unreadable()}, "NodeUnreadable"),
        ({"fence": a_fence(stopped=True)}, "FenceStopped"),
        ({"fence": a_fence(paused=Paused())}, "PausedByPerson"),
        ({"fence": a_fence(paused=Malformed("?"))}, "PauseUnreadable"),
        ({"node": replace(SICK, paused=Paused(ago(-60)))}, "PausedByPerson"),
        ({"machine": a_machine(paused=Paused())}, "PausedByPerson"),
        ({"node": None}, "FencedNodeMissing"),
        ({"plan": None}, "FencePlanMissing"),
        ({"plan": a_plan(problems=("a", "b"))}, "FencePlanBroken"),
        ({"plan": a_plan(problems=("a",), is_pending=True)}, "FencePlanPending"),
        ({"plan": a_plan(isolation=())}, "FencePlanBroken"),
        ({"plan": a_plan(power_management=())}, "FencePlanBroken"),
        ({"unkept": Unkept(("status.jobs[].wasOn",))}, "RecordNotKept"),
        ({"unkept": Unkept(unread="forbidden")}, "DefinitionHidden"),
        ({"unkept": Unkept()}, "DefinitionUnread"),
        ({"machine": a_machine(deleting=True)}, "MachineDeleting"),
        ({"node": a_node(ready="Unknown", deleting=True)}, "LeftToOther"),
        ({"node": replace(SICK, taints=(Taint("karpenter.sh/disruption", "NoSchedule"),))}, "LeftToOther"),
        ({"contact_since": None}, "ObserverNew"),
        ({"contact_since": Mono(NOW.mono.ms - 59_000)}, "ObserverNew"),
        ({"answer": None}, "WaitingForBudget"),
    ],
)
def test_what_keeps_a_fence_from_beginning(more: dict[str, Any], reason: str) -> None:
    """Each gate blocks with its own reason, and nothing is done."""
    view = a_view(**more)
    blocked = first(BEFORE_THE_START, view, NOW)

    assert blocked is not None
    assert reason == type(blocked.reason).__name__
    assert () == decide(view, NOW).actions


CLUSTER_AT = ref(CLUSTER, "prod", MACHINE_AT.namespace)


@pytest.mark.parametrize("of", ["machine", "cluster"])
def test_a_fence_leaves_the_node_of_a_paused_cluster_alone(of: str) -> None:
    """Whoever paused the Machine or its Cluster may be moving it; when the pause ends, the fence is looked at again."""
    machine = replace(a_machine(cluster_paused=of == "machine"), cluster_name="prod")
    cluster = Cluster("cluster-uid", paused=of == "cluster")
    objects = {FENCE_AT: a_fence(), NODE_AT: SICK, plan_ref(NODE_AT): a_plan()}
    view = seen({**objects, MACHINE_AT: machine, CLUSTER_AT: cluster})
    blocked, decision = first(BEFORE_THE_START, view, NOW), decide(view, NOW)

    assert blocked is not None
    pause = "ClusterPaused" if of == "machine" else "ClusterObjectPaused"
    assert (pause, [pause]) == (
        type(blocked.reason).__name__,
        [type(one).__name__ for one in decision.because],
    )
    assert () == decision.actions
    cache = Cache(INDEXES)
    for at, obj in ((FENCE_AT, a_fence()), (MACHINE_AT, machine), (CLUSTER_AT, cluster)):
        cache.put(Seen(at, obj.uid, "1", obj), NOW.mono)
    assert [FENCE_AT] == list(ROOM.wakes(CLUSTER_AT, cluster, cache))


@pytest.mark.parametrize(
    ("remote", "reason"),
    [
        (Remote(Sight.UNKNOWN), "CannotSeeCluster"),
        (Remote(Sight.YOUNG), "CannotSeeCluster"),
        (Remote(Sight.HOME), "ClusterObjectPaused"),
        (Remote(Sight.LOST, "no answer"), ""),
        (None, ""),
    ],
)
def test_a_fence_waits_until_it_is_known_whose_machine_the_node_is(remote: Remote | None, reason: str) -> None:
    """For moments after a start; a Machine of another cluster, or of one that is gone, has nothing to say."""
    machine = replace(a_machine(), cluster_name="prod")
    there = remote_ref(CLUSTER_AT.namespace, CLUSTER_AT.name)
    objects: dict[Ref, Any] = {FENCE_AT: a_fence(), NODE_AT: SICK, plan_ref(NODE_AT): a_plan(), MACHINE_AT: machine}
    if remote is not None:
        objects |= {CLUSTER_AT: Cluster("cluster-uid", paused=True), there: remote}
    view = seen(objects)
    blocked = cluster_is_not_paused(view, NOW)

    assert reason == (type(blocked.reason).__name__ if blocked else "")
    if reason:
        assert () == decide(view, NOW).actions
        cache = Cache(INDEXES)
        for at, obj in objects.items():
            cache.put(Seen(at, obj.uid, "1", obj), NOW.mono)
        cache.put(Seen(there, "", "", Remote(Sight.HOME)), NOW.mono)
        assert [FENCE_AT] == list(ROOM.wakes(there, remote, cache)), "it is looked at when that is known"


def test_a_machine_that_cannot_be_read_any_more_is_still_that_of_its_node() -> None:
    """Who fences its node goes on about it, and leaves it alone as before."""
    cache = Cache(INDEXES)
    for at, obj in ((FENCE_AT, a_fence()), (NODE_AT, SICK), (MACHINE_AT, a_machine(cluster_paused=True))):
        cache.put(Seen(at, obj.uid, "1", obj), NOW.mono)
    cache.set_aside(MACHINE_AT, Unreadable(a_machine().uid, "2", "garbage"))
    view = sees(FENCE_AT, cache)

    assert view is not None
    assert (MACHINE_AT, ClusterPaused(MACHINE_AT.in_words)) == (view.target, view.left_alone)


@pytest.mark.parametrize(("provider_id", "is_paused"), [("", True), ("metal3://a", True), ("metal3://b", False)])
def test_a_node_that_two_machines_name_is_left_alone_if_one_of_them_is_paused(
    provider_id: str, is_paused: bool
) -> None:
    """Nobody knows whose it is; a Machine of another server, by its providerID, has no say."""
    cache, another = Cache(INDEXES), ref(MACHINE, "worker-0-new", "metal")
    node, paused = replace(SICK, provider_id="metal3://a"), a_machine(cluster_paused=True, provider_id=provider_id)
    for at, obj in ((FENCE_AT, a_fence()), (NODE_AT, node), (MACHINE_AT, a_machine()), (another, paused)):
        cache.put(Seen(at, f"uid of {at}", "1", obj), NOW.mono)
    view = sees(FENCE_AT, cache)

    assert view is not None
    assert (ClusterPaused(another.in_words) if is_paused else None) == view.left_alone


CLOSED = PermitFact(DOCUMENT_AT, closed=SkippedUnresponsive("workers", 40))
FORBIDDEN = PermitFact(DOCUMENT_AT, skips=(SkipCondition("Ready", "Unknown"),))
WAITS = PermitFact(DOCUMENT_AT, is_one_at_a_time=True, turn=ref(NODE, "another"))
HOLDS: list[tuple[dict[str, Any], str, bool]] = [
    ({"is_governed": True, "permit": CLOSED}, "SkippedUnresponsive", True),
    ({"is_governed": True, "permit": FORBIDDEN}, "SkippedByNodeCondition", True),
    ({"is_governed": True, "permit": WAITS}, "OneAtATime", True),
    ({"contact_since": Mono(NOW.mono.ms - 59_000)}, "ObserverNew", False),
    ({"claim": None}, "OwnNode", False),
]


def held(more: dict[str, Any], **fence: Any) -> Any:
    """A fence whose pauses are over, behind one of these gates."""
    view = a_view(**fence)
    claim = replace(view.claim, is_own=True) if "claim" in more else view.claim
    return replace(view, **{**more, "claim": claim}, entry=replace(view.entry, changed_at=Mono(0)))


@pytest.mark.parametrize(("more", "reason", "is_policy"), HOLDS)
def test_what_keeps_a_fence_from_beginning_anew(more: dict[str, Any], reason: str, is_policy: bool) -> None:
    """A storm, a condition or a bad contact is asked about at every start, and whoever is held so keeps no slot."""
    error = a_fence(State.ERROR, since=ago(900))
    decision = decide(held(more, fence=error), NOW)
    [need] = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]

    assert ([reason], ()) == ([type(one).__name__ for one in decision.because], decision.actions)
    assert (reason != "OwnNode", is_policy) == (need.is_running, need.is_stuck)


@pytest.mark.parametrize(("more", "reason", "is_policy"), HOLDS)
def test_nothing_of_that_stops_a_recovery(more: dict[str, Any], reason: str, is_policy: bool) -> None:
    """What is off comes on, what was done is undone, and what is over is called so."""
    off = done("ipmi", Deed.OFF)
    marked = a_node(boot_id="boot-2", unschedulable=True, annotations={"node-remedy.dev/cordoned": "node-remedy"})
    views = [
        held(more, fence=a_fence(State.ERROR, jobs=(off,)), node=SICK),
        held(more, fence=a_fence(State.RUNNING, jobs=(off,), evidence=FenceEvidence(on_since=ago(9))), node=SICK),
        held(more, fence=a_fence(State.RUNNING, deleting=True, jobs=(off,)), node=SICK),
        held(more, fence=a_fence(State.DONE), node=marked),
        held(more, fence=a_fence(State.DONE), node=a_node(boot_id="boot-2")),
    ]
    acts = [[type(action).__name__ for action in decide(view, NOW).actions] for view in views]

    assert [["PublishFenceStatus"]] * 3 + [["UncordonNode"], ["PublishFenceStatus"]] == acts


def test_the_managers_own_node_is_not_fenced() -> None:
    """Neither at the start nor, after a takeover, before the power-off of a flow that has begun."""
    for fence in (a_fence(), a_fence(State.RUNNING)):
        view = a_view(fence=fence)
        decision = decide(replace(view, claim=replace(view.claim, is_own=True)), NOW)

        assert (["OwnNode"], ()) == ([type(one).__name__ for one in decision.because], decision.actions)


def test_all_gates_open() -> None:
    """Then it begins, and `explain` has no reason to give."""
    view = a_view()

    assert None is first(BEFORE_THE_START, view, NOW)
    assert {None} == {passage.reason for passage in explain(view, NOW)}
    assert ["PublishFenceStatus"] == [type(action).__name__ for action in decide(view, NOW).actions]


def test_the_finalizer_comes_before_anything() -> None:
    """Or a deletion in between would leave a node cordoned and off."""
    view = a_view(fence=a_fence(finalizers=("others",)))

    [action] = decide(view, NOW).actions

    assert isinstance(action, WriteFinalizers)
    assert ("others", "node-remedy.dev/fence") == action.finalizers


def test_a_delay_before_the_isolation() -> None:
    """newDelay runs from the creation."""
    view = a_view(fence=a_fence(new_delay=NOW.wall.since(ago(900))))

    assert ["FenceDelayed"] == [type(reason).__name__ for reason in decide(view, NOW).because]


@pytest.mark.parametrize(
    ("fence", "needs"),
    [
        (a_fence(), [False]),
        (a_fence(State.RUNNING), [True]),
        (a_fence(State.ERROR, since=ago(30)), [True]),
        (a_fence(State.ERROR), [False]),
        (a_fence(State.ERROR, restarts=3), []),
        (a_fence(State.FINAL), []),
        (a_fence(stopped=True), []),
        (a_fence(deleting=True), []),
    ],
)
def test_what_it_asks_of_the_budget(fence: Any, needs: list[bool]) -> None:
    """A repair that runs counts, one that would begin asks, one that is over or cannot begin does neither."""
    stated = [fact.value for fact in decide(a_view(fence=fence), NOW).facts if isinstance(fact.value, Need)]

    assert needs == [one.is_running for one in stated]
    assert {NODE_AT} >= {one.target for one in stated}


def a_held_host(power: Power, uid: str = UID) -> HostSeen:
    return HostSeen(HOST_AT, present(replace(a_host(power=power), fenced_for=((uid, None),))), is_own=True)


@pytest.mark.parametrize(
    ("jobs", "host", "is_pending"),
    [
        ((a_job(),), NO_HOST, True),
        ((a_job(since=ago(9_999)),), NO_HOST, True),
        ((a_job(deed=Deed.ON),), NO_HOST, False),
        ((a_job(deed=Deed.STATUS),), NO_HOST, False),
        ((done(),), NO_HOST, False),
        ((a_job(state=RunState.FAILED, is_lost=True),), NO_HOST, False),
        ((), a_held_host(Power.ON), True),
        ((), a_held_host(Power.UNKNOWN), True),
        ((), a_held_host(Power.OFF), False),
        ((), a_held_host(Power.ON, "another"), False),
    ],
)
def test_an_order_that_may_still_be_carried_out_is_told(jobs: Any, host: HostSeen, is_pending: bool) -> None:
    """A run that is not over, or a host that is held and not off: the budget knows that the node may go off."""
    (fact,) = needs(a_view(fence=a_fence(State.RUNNING, jobs=jobs), host=host), NOW)

    assert isinstance(fact.value, Need)
    assert (True, is_pending) == (fact.value.is_running, fact.value.is_off_pending)


MENDED = a_fence(
    State.ERROR,
    restarts=3,
    since=ago(900),
    conditions=(Told(SUCCEEDED, "False", UNUSABLE, "error: its plan could not be used for too long"),),
)
GRANTED = Granted(NODE_AT, ago(1))
BUSY = Refused(NODE_AT, TooManyInFlight(2, 2))


def stated(view: Any) -> list[tuple[bool, bool]]:
    """Of each need whether it runs, and whether it is stuck."""
    facts = [fact.value for fact in decide(view, NOW).facts]
    return [(one.is_running, one.is_stuck) for one in facts if isinstance(one, Need)]


def test_a_fence_whose_plan_was_mended_waits_in_nobodys_way() -> None:
    """It gave its place back; without a plan it states no need at all, and while its node may boot it has none."""
    assert [[], [(True, True)]] == [stated(a_view(fence=MENDED, plan=plan)) for plan in (None, a_plan())]


@pytest.mark.parametrize("fence", [a_fence(State.ERROR, since=ago(900)), MENDED], ids=["stuck", "mended"])
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "WaitingForBudget"),
        (BUSY, "TooManyInFlight"),
        (Granted(NODE_AT, ago(1)), "WaitingForBudget"),
        (Granted(NODE_AT, ago(1), ("fence-uid-1 error long ago",)), "WaitingForBudget"),
        (GRANTED, "FenceMoves"),
    ],
)
def test_what_begins_anew_holds_a_grant_for_that(fence: Any, answer: Any, reason: str) -> None:
    """Many may be about to begin at once, and what was told to who ran tells of no storm: it asks by itself."""
    answer = replace(answer, begins=(what_is_waited_for(fence),)) if answer is GRANTED else answer
    view = a_view(fence=fence, answer=answer)
    view = replace(view, entry=replace(view.entry, changed_at=Mono(NOW.mono.ms - 900_000)))
    decision = decide(view, NOW)
    [asks] = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]

    assert [reason] == [type(one).__name__ for one in decision.because]
    assert (False, False, what_is_waited_for(fence)) == (asks.is_running, asks.is_stuck, asks.begins)
    assert (reason == "FenceMoves") == bool(decision.actions)


@pytest.mark.parametrize("state", [State.NEW, State.RUNNING, State.DONE])
def test_what_runs_goes_on_without_a_grant(state: State) -> None:
    """A host may be off: nothing that has begun is stopped halfway for the sake of a number."""
    refused, granted = (
        decide(a_view(fence=a_fence(state), answer=one), NOW) for one in (BUSY, Granted(NODE_AT, ago(1)))
    )

    assert granted == refused
    assert granted.actions or granted.because


@pytest.mark.parametrize(
    ("fence", "is_woken"),
    [(a_fence(), True), (a_fence(State.ERROR), True), (a_fence(State.RUNNING), False), (a_fence(State.FINAL), False)],
)
def test_who_waits_for_a_storm_or_for_our_contact_is_woken_by_its_end(fence: Any, is_woken: bool) -> None:
    """Nothing else may happen to a node that is silent; all others have nothing to ask."""
    cache = Cache(INDEXES)
    cache.put(Seen(FENCE_AT, fence.uid, "1", fence), NOW.mono)
    facts: tuple[tuple[Ref, Any], ...] = ((OBSERVER_AT, Observer(NOW.mono)), (permit_ref(DOCUMENT_AT), CLOSED))

    for at, obj in facts:
        assert ((FENCE_AT,) if is_woken else ()) == tuple(ROOM.wakes(at, obj, cache))
        assert at.kind in ROOM.watches


def test_nothing_is_explained_about_what_is_over() -> None:
    """A fence that is final or leaves has no gates any more."""
    assert () == explain(a_view(fence=a_fence(State.FINAL)), NOW)
    assert () == explain(a_view(fence=a_fence(deleting=True)), NOW)


def test_a_node_of_a_machine_is_repaired_as_that_machine() -> None:
    """So that a health check and a fence share one reservation."""
    from noderemedy.core.fencing.view import target_of

    cache = a_cache_with_machine()

    assert MACHINE_AT == target_of(NODE_AT, cache)[0]
    assert (FENCE_AT,) == tuple(ROOM.wakes(MACHINE_AT, None, cache))


def a_cache_with_machine() -> Any:
    cache = Cache(INDEXES)
    objects: dict[Ref, Any] = {MACHINE_AT: a_machine(), FENCE_AT: a_fence()}
    for at, obj in objects.items():
        cache.put(Seen(at, obj.uid, "1", obj), NOW.mono)
    return cache
