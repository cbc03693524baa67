"""Who ends a pause has to know which object carries it: each gate names kind, namespace and name of that object."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import (
    HOST_AT,
    MACHINE_AT,
    NODE_AT,
    NOW,
    REMEDIATION_AT,
    a_hold,
    a_host,
    a_machine,
    a_node,
    ago,
    present,
)
from tests.core.fencing.fences import FENCE_AT, a_fence, a_plan
from tests.core.fencing.test_escalation import REQUEST_AT
from tests.core.fencing.test_hostpower import LEFT
from tests.core.healthcheck.remediations import CHECK_AT, a_view
from tests.core.healthcheck.targets import a_check
from tests.core.metal3.remediations import OUR_MARKS, a_held_host, a_remediation
from tests.core.owner.scene import WAITS

from noderemedy.core.gates import passages
from noderemedy.core.healthcheck import aside, status
from noderemedy.core.healthcheck.facts import GateFact
from noderemedy.core.healthcheck.gate import gate
from noderemedy.core.healthcheck.remediation import ROOM as OF_CHECKS
from noderemedy.core.healthcheck.remediationview import RemediationView
from noderemedy.core.remedy import gates as remedygates
from noderemedy.core.remedy.facts import DocumentFact
from noderemedy.core.remedy.remedy import halted
from noderemedy.core.remedy.view import RemedyView
from noderemedy.engine.cache import Cache
from noderemedy.model.cluster import Cluster
from noderemedy.model.configuration import Configuration, Document
from noderemedy.model.fenceplan import plan_ref
from noderemedy.model.fenceremediation import FenceRemediation
from noderemedy.model.healthcheck import Tally
from noderemedy.model.ids import CLUSTER, CONFIG_MAP, NODE, SYSTEM, Ref, ref
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import OutOfService
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import ClusterObjectPaused, Reason
from noderemedy.model.remote import Remote, Sight, remote_ref
from noderemedy.rooms import ROOMS

CLUSTER_AT = ref(CLUSTER, "site", "metal")
WORDS = {
    MACHINE_AT: "Machine metal/worker-0",
    NODE_AT: "Node worker-0",
    CLUSTER_AT: "Cluster metal/site",
    CHECK_AT: "MachineHealthCheck metal/workers",
    REMEDIATION_AT: "Metal3Remediation metal/worker-0",
    REQUEST_AT: "FenceRemediation metal/worker-0",
    FENCE_AT: "NodeFence node-fence-worker-0",
}
MACHINE = replace(a_machine(needs=True), cluster_name="site", owner="node-remedy", told=WAITS)
WORLD: dict[Ref, Any] = {
    MACHINE_AT: MACHINE,
    NODE_AT: a_node(ready="Unknown"),
    HOST_AT: a_host(),
    CLUSTER_AT: Cluster("cluster-uid"),
    remote_ref("metal", "site"): Remote(Sight.HOME),
    REMEDIATION_AT: a_remediation(),
    FENCE_AT: a_fence(),
    plan_ref(NODE_AT): a_plan(),
    REQUEST_AT: FenceRemediation("request-uid-1", created=ago(900)),
}
OF_ROOM: dict[str, tuple[Ref, tuple[Ref, ...]]] = {  # whom a room is about -> who besides may carry a person's pause
    "annotation": (MACHINE_AT, (NODE_AT,)),
    "owner": (MACHINE_AT, (NODE_AT,)),
    "metal3-remediation": (REMEDIATION_AT, (MACHINE_AT, NODE_AT)),
    "node-fence": (FENCE_AT, (MACHINE_AT, NODE_AT)),
    "fence-remediation": (REQUEST_AT, (MACHINE_AT, NODE_AT)),
}
BY_PERSON = [(room, at) for room, (key, others) in OF_ROOM.items() for at in (key, *others)]
LEFT_ALONE = [
    *((room, at) for room in OF_ROOM for at in (MACHINE_AT, CLUSTER_AT)),
    ("metal3-remediation", REMEDIATION_AT),
    ("fence-remediation", REQUEST_AT),
]


def a_cache(objects: dict[Ref, Any]) -> Cache:
    cache = Cache(tuple(dict.fromkeys(index for room in ROOMS for index in room.indexes)))
    for kind in dict.fromkeys((NODE, *(kind for room in ROOMS for kind in room.watches))):
        cache.end_list("", kind)
    for at, obj in objects.items():
        cache.put(Seen(at, getattr(obj, "uid", ""), "1", obj), NOW.mono)
    return cache


def left_alone(obj: Any) -> Any:
    return replace(obj, paused=True) if isinstance(obj, Cluster) else replace(obj, cluster_paused=True)


def closed(room_name: str, objects: dict[Ref, Any]) -> list[Reason]:
    """What `explain` and `decide` say: the pauses among the gates that are closed."""
    room = next(one for one in ROOMS if one.name == room_name)
    view = room.sees(OF_ROOM[room_name][0], a_cache(objects))
    assert room.explains is not None
    assert view is not None
    told = [one.reason for one in room.explains(view, NOW) if one.reason]
    return [reason for reason in told if "Pause" in type(reason).__name__]


@pytest.mark.parametrize(("room", "at"), BY_PERSON)
@pytest.mark.parametrize("pause", [Paused(), Malformed("'maybe'")])
def test_a_persons_pause_names_who_carries_it(room: str, at: Ref, pause: Paused | Malformed) -> None:
    """On whichever object of a repair it is, and also where it cannot be read."""
    (reason,) = closed(room, {**WORLD, at: replace(WORLD[at], paused=pause)})

    assert WORDS[at] in reason.note()


@pytest.mark.parametrize(("room", "at"), LEFT_ALONE)
def test_a_pause_of_cluster_api_names_who_carries_it(room: str, at: Ref) -> None:
    """A request, the Machine or its Cluster; of a Cluster it is told what to set there."""
    (reason,) = closed(room, {**WORLD, at: left_alone(WORLD[at])})

    assert WORDS[at] in reason.note()
    assert ("spec.paused" if at == CLUSTER_AT else "remove the annotation") in reason.note()


OF_CHECK: list[tuple[RemediationView, Ref]] = [
    (a_view(a_check(paused=Paused())), CHECK_AT),
    (a_view(a_check(paused=Malformed("x"))), CHECK_AT),
    (a_view(machine={"paused": Paused()}), MACHINE_AT),
    (a_view(machine={"paused": Malformed("x")}), MACHINE_AT),
    (a_view(node=replace(a_view().node, obj=replace(a_node(), paused=Paused()))), NODE_AT),
    (a_view(a_check(cluster_paused=True)), CHECK_AT),
    (a_view(machine={"cluster_paused": True}), MACHINE_AT),
    (a_view(machine={"cluster_name": "site"}, cluster=Cluster("u", paused=True)), CLUSTER_AT),
]


@pytest.mark.parametrize(("view", "at"), OF_CHECK)
def test_a_pause_of_what_a_check_looks_after_names_who_carries_it(view: RemediationView, at: Ref) -> None:
    """The check, the Machine, its Node or its Cluster."""
    assert OF_CHECKS.explains is not None
    notes = [one.reason.note() for one in OF_CHECKS.explains(view, NOW) if one.reason]

    assert [WORDS[at]] == [WORDS[at] for note in notes if WORDS[at] in note and "paused" in note]


def test_a_check_that_stands_aside_or_is_silent_names_who_carries_the_pause() -> None:
    """The Machine that it does not judge; itself, where it publishes nothing."""
    check = a_check(cluster_paused=True)
    silent = status.decide(
        status.StatusView(CHECK_AT, check, "7", NOW.mono, GateFact(gate(check, Tally(1, 1)), Tally(1, 1))), NOW
    )

    assert WORDS[MACHINE_AT] in aside.why(a_check(), MACHINE_AT, left_alone(MACHINE), None).note()
    assert [True] == [WORDS[CHECK_AT] in reason.note() for reason in silent.because]


MARK = OutOfService("metal3-remediation", "metal/worker-0", "remediation-uid-1", "boot-1")
# the room that would take it away, what it looks at, what is left there
RELICS: dict[str, tuple[str, Ref, dict[Ref, Any]]] = {
    "a hold of an annotation": ("annotation", HOST_AT, {HOST_AT: a_host(held=True, hold=a_hold(), consumer=None)}),
    "a hold of a Metal3Remediation": ("metal3-remediation", HOST_AT, {HOST_AT: a_held_host()}),
    "a mark of one": (
        "metal3-remediation",
        HOST_AT,
        {HOST_AT: replace(a_host(), unhealthy=OUR_MARKS), NODE_AT: a_node()},
    ),
    "a hold of a NodeFence": ("node-fence", HOST_AT, {HOST_AT: LEFT}),
    "a taint": ("out-of-service", NODE_AT, {NODE_AT: replace(a_node(ready="Unknown"), out_of_service=MARK)}),
}


@pytest.mark.parametrize("relic", RELICS)
@pytest.mark.parametrize("at", [MACHINE_AT, CLUSTER_AT])
def test_a_relic_that_is_left_alone_names_who_carries_the_pause(relic: str, at: Ref) -> None:
    """What nobody answers for stays while its Machine is paused; a person sees which Machine, or Cluster, that is."""
    name, key, things = RELICS[relic]
    world = {one: obj for one, obj in WORLD.items() if one not in (REMEDIATION_AT, FENCE_AT, REQUEST_AT)}
    room = next(one for one in ROOMS if one.name == name)
    view = room.sees(key, a_cache({**world, **things, at: left_alone(world[at])}))

    assert view is not None
    (reason,) = room.decide(view, NOW).because
    assert WORDS[at] in reason.note()


DOCUMENT_AT = ref(CONFIG_MAP, "workers", SYSTEM)


def a_view_of_remedies(**changes: Any) -> RemedyView:
    document = DocumentFact(
        DOCUMENT_AT, "document-uid", Document(Configuration(), "", paused=changes.pop("document", None))
    )
    node = changes.pop("node", a_node())
    return RemedyView(NODE_AT, present(node), MACHINE_AT, document=document, **changes)


OF_REMEDIES: list[tuple[RemedyView, str]] = [
    (a_view_of_remedies(document=Paused()), "ConfigMap node-remedy-system/workers"),
    (a_view_of_remedies(node=replace(a_node(), paused=Malformed("x"))), WORDS[NODE_AT]),
    (a_view_of_remedies(machine=replace(MACHINE, paused=Paused())), WORDS[MACHINE_AT]),
    (a_view_of_remedies(left_alone=ClusterObjectPaused("metal/site")), WORDS[CLUSTER_AT]),
]


@pytest.mark.parametrize(("view", "words"), OF_REMEDIES)
def test_a_pause_of_remedies_names_who_carries_it(view: RemedyView, words: str) -> None:
    """The document, the Node, its Machine or its Cluster; a chain that runs says the same of the last two."""
    told = [one.reason for one in passages(remedygates.GATES, view, NOW) if one.gate == "nobody paused it"]
    running = halted(view)

    assert [True] == [words in reason.note() for reason in told if reason]
    assert [view.left_alone] == ([*running.because] if running else [None])
