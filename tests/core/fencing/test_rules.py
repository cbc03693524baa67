"""Rules of the room of NodeFences that hold in every state that somebody may have left behind."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import EVERYBODY, NODE_AT, NOW, a_node, ago
from tests.core.fencing.fences import CORDON, FENCE_AT, IPMI, UNCORDON, a_fence, a_plan, an_agent

from noderemedy.core.claim import INDEXES as CLAIMS
from noderemedy.core.claim import holder_name, lease_of
from noderemedy.core.fencing.devices import identity
from noderemedy.core.fencing.fence import ROOM, decide
from noderemedy.core.fencing.view import INDEXES, NAME, FenceView, sees, what_is_waited_for
from noderemedy.engine.cache import Cache
from noderemedy.model.actions import IRREVERSIBLE, DeleteNode, DeletePod, StartRun, TaintOutOfService
from noderemedy.model.attestation import Attestation
from noderemedy.model.budget import Granted, answer_ref, need
from noderemedy.model.fenceplan import Scope, Step, plan_ref
from noderemedy.model.ids import NODE, NODE_FENCE
from noderemedy.model.lease import Lease
from noderemedy.model.node import Condition
from noderemedy.model.nodefence import FenceEvidence, FenceJob, State
from noderemedy.model.observer import OBSERVER_AT, Observer
from noderemedy.model.outcome import Seen
from noderemedy.model.proof import Attested, Subject
from noderemedy.model.run import Deed, Power, Run, RunState, run_ref
from noderemedy.model.term import TERM_AT, Term
from noderemedy.model.time import Mono, Span
from noderemedy.model.workload import FreeBy, Pod, PodsOfNode, VolumesOfNode, pods_at, volumes_at

SWITCH = an_agent("switch", scope=Scope.STORAGE, agent="fence_brocade", covers=("storageClass/fc",))
PLANS = (
    a_plan(),
    a_plan(power_management=(IPMI, an_agent("pdu", agent="fence_eaton_snmp"))),
    a_plan(isolation=(CORDON, SWITCH), recovery=(UNCORDON, SWITCH)),
    a_plan(problems=("something",)),
)
MOMENTS = (None, ago(1), ago(100), ago(1_000))


def a_random_job(chance: Random, number: int) -> FenceJob:
    return FenceJob(
        id=f"fence-{number}",
        step=chance.choice(tuple(Step)),
        method=chance.choice(("ipmi", "pdu", "switch", "gone")),
        deed=chance.choice(tuple(Deed)),
        since=chance.choice((ago(1), ago(50), ago(500))),
        patience=Span.seconds(120),
        attempt=number,
        state=chance.choice(tuple(RunState)),
        power=chance.choice(tuple(Power)),
        said=chance.choice(("", "refused", "not begun: x", "stale: y")),
        is_lost=chance.random() < 0.2,
        token=chance.choice((6, 7)),
        device=chance.choice(("", "", identity(IPMI), "another")),
    )


def some_evidence(chance: Random) -> FenceEvidence:
    return FenceEvidence(
        was_ready=chance.random() < 0.3,
        drained_since=chance.choice(MOMENTS),
        off_at=chance.choice(MOMENTS),
        free_by=chance.choice((None, *FreeBy)),
        tainted_at=chance.choice(MOMENTS),
        freed_at=chance.choice(MOMENTS),
        freeing_since=chance.choice(MOMENTS),
        on_since=chance.choice(MOMENTS),
        heard_since=chance.choice(MOMENTS),
    )


def a_random_view(chance: Random, *, confirmed: bool = True) -> FenceView:
    """Any state of a NodeFence, its Node, its plan and its runs, with budget and claim in order."""
    jobs = tuple(a_random_job(chance, number) for number in range(chance.randrange(5)))
    state = chance.choice((None, *State))
    word = Attestation("anna", ago(5), "node-uid-1", chance.choice(("boot-1", "boot-2")))
    more: dict[str, Any] = {"jobs": jobs, "evidence": some_evidence(chance)} if state is not None else {}
    found = a_fence(
        state,
        deleting=chance.random() < 0.2,
        stopped=chance.random() < 0.2,
        even_if_ready=chance.random() < 0.3,
        attested=chance.choice((None, None, word)),
        retries=chance.randrange(3) if state is not None else 0,
        restarts=chance.randrange(4) if state is not None else 0,
        **more,
    )
    uid, boot = chance.choice(("node-uid-1",) * 3 + ("node-uid-2",)), chance.choice(("boot-1", "boot-1", "boot-2"))
    node = a_node(uid, boot_id=boot, unschedulable=chance.random() < 0.5)
    ready = chance.choice(("True", "False", "Unknown", "Unknown"))
    node = replace(
        node, conditions=(Condition("Ready", ready, ago(900)),), kubelet=chance.choice(("v1.31.0", "v1.20.0"))
    )
    pods = PodsOfNode(((pods_at(NODE_AT), Pod("pod-1")),)) if chance.random() < 0.5 else PodsOfNode()
    objects: dict[Any, Any] = {FENCE_AT: found, plan_ref(NODE_AT): chance.choice(PLANS)}
    if chance.random() < 0.9:
        objects[NODE_AT] = node
        objects |= {pods_at(NODE_AT): pods, volumes_at(NODE_AT): VolumesOfNode()}
    for job in jobs:
        if chance.random() < 0.7:
            begun = chance.choice((NOW.mono, Mono(NOW.mono.ms - 100_000), Mono(0)))
            state_now = chance.choice(tuple(RunState)) if job.is_open else job.state
            objects[run_ref(job.id)] = Run(job.id, state_now, job.power, begun)
    return seen(objects, confirmed=confirmed)


def seen(objects: dict[Any, Any], *, confirmed: bool = True) -> FenceView:
    cache = Cache((*INDEXES, *CLAIMS))
    for kind in (NODE, NODE_FENCE, *ROOM.watches):
        cache.end_list("", kind)
    lease = lease_of(NODE_AT)
    wanted = need(NODE_AT, NAME, ago(100), is_running=False, node=NODE_AT)
    objects = {
        **objects,
        TERM_AT: Term(7, Mono(0)),
        OBSERVER_AT: Observer(Mono(0)),
        answer_ref(NODE_AT): Granted(NODE_AT, ago(100), (what_is_waited_for(objects[FENCE_AT]),), EVERYBODY),
        wanted.ref: wanted.value,
        lease: Lease("lease-uid", holder_name(NAME, NODE_AT)),
    }
    for number, (at, obj) in enumerate(objects.items(), start=1):
        at_last = NOW.mono if confirmed else None
        cache.put(Seen(at, obj.uid, str(number), obj), Mono(NOW.mono.ms - 60_000), confirmed_at=at_last)
    view = sees(FENCE_AT, cache)
    assert view is not None
    return view


views = st.integers(0, 2**32).map(lambda seed: a_random_view(Random(seed)))


@settings(max_examples=100)
@given(views)
def test_every_state_is_decided_and_twice_the_same(view: FenceView) -> None:
    """No state breaks the room; it asks only for what it may, with a reason, and for one act of no return at most."""
    decision = decide(view, NOW)

    assert decision == decide(view, NOW)
    assert {type(action) for action in decision.actions} <= ROOM.may
    assert sum(isinstance(action, IRREVERSIBLE) for action in decision.actions) <= 1
    assert decision.because or not decision.actions


@settings(max_examples=100)
@given(views)
def test_what_frees_speaks_of_the_boot_that_was_fenced(view: FenceView) -> None:
    """A node that reports, or another boot, is freed in no state; nothing is switched off for another boot either."""
    for action in decide(view, NOW).actions:
        if isinstance(action, TaintOutOfService | DeletePod | DeleteNode):
            assert view.node is not None
            assert not view.node.is_heard
            assert Subject(view.node.uid, view.status.boot_id) == action.proof.subject
            assert view.is_same_node or isinstance(action.proof, Attested)
        if isinstance(action, StartRun) and action.order.deed is Deed.OFF:
            assert view.is_same_boot
            assert not view.fence.deleting
            assert not view.fence.spec.stopped


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_nothing_is_freed_or_begun_on_an_old_view(seed: int) -> None:
    """What was not read live just now is read first."""
    view = a_random_view(Random(seed), confirmed=False)

    acts = [action for action in decide(view, NOW).actions if isinstance(action, (DeletePod, *IRREVERSIBLE))]

    assert [] == acts
