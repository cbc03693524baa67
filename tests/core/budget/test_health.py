"""Node health as the budget counts it: by condition, verdict or absence; where a node is, and what wakes its key."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NODE_AT, NOW, a_backup, a_machine, a_node, ago, unreadable

from noderemedy.core.budget import facts, health
from noderemedy.core.budget.facts import TOPOLOGY_AT, NodeHealth, Topology, health_ref
from noderemedy.core.healthcheck.facts import VerdictFact, verdict_ref
from noderemedy.engine.cache import Cache
from noderemedy.model.healthcheck import Healthy, Unhealthy
from noderemedy.model.ids import HEALTH_CHECK, MACHINE, NODE, NODE_FENCE, OPENSHIFT_MACHINE, Ref, ref
from noderemedy.model.machine import Machine
from noderemedy.model.node import Condition, NodeBackup
from noderemedy.model.nodefence import FenceEvidence, FenceSpec, FenceStatus, NodeFence, State, fence_ref
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import NodeMissing
from noderemedy.model.remediationbudget import ZONE
from noderemedy.model.room import Unreadable

CHECK = ref(HEALTH_CHECK, "all", "metal")
SICK_VERDICT = VerdictFact(CHECK, Unhealthy(ago(400), ()), is_under_repair=False)
MISSING = VerdictFact(CHECK, Unhealthy(ago(5), (NodeMissing(NODE_AT.name),)), is_under_repair=False)
ROLE = "node-role.kubernetes.io/control-plane"


FENCE_AT = fence_ref(NODE_AT)
BACKUP = NodeBackup("node-uid-1", labels=((ROLE, ""), (ZONE, "rack-1")))


def fenced(backup: NodeBackup | None, state: State = State.DONE) -> NodeFence:
    evidence = FenceEvidence(backup=backup)
    return NodeFence("fence-uid-1", FenceSpec(NODE_AT.name), FenceStatus(state, started=ago(300), evidence=evidence))


def labelled(key: str, value: str) -> Machine:
    return replace(a_machine(), labels=((key, value),))


def a_told_machine() -> Machine:
    """Its controller saw the node go yesterday, its check said so later; that it exists says nothing."""
    told = (("Ready", "True", 90_000), ("NodeHealthy", "False", 86_400))
    later_told = (("NodeHealthy", "True", 95_000), ("HealthCheckSucceeded", "False", 80_000))
    kinds = [tuple(Condition(type, status, ago(at)) for type, status, at in one) for one in (told, later_told)]
    return replace(a_machine(), conditions=kinds[0], older_conditions=kinds[1])


def a_world(objects: dict[Ref, Any]) -> Cache:
    cache = Cache(health.ROOM.indexes)
    for kind in (NODE, MACHINE, NODE_FENCE, OPENSHIFT_MACHINE):
        cache.end_list("", kind)
    for at, obj in objects.items():
        if isinstance(obj, Unreadable):
            cache.set_aside(at, obj)
        else:
            cache.put(Seen(at, obj.uid, "", obj), NOW.mono)
    return cache


def found(objects: dict[Ref, Any], key: Ref = NODE_AT) -> NodeHealth | None:
    view = health.sees(key, a_world(objects))
    if view is None:
        return None
    (fact,) = health.decide(view, NOW).facts
    assert health_ref(key) == fact.ref
    assert isinstance(fact.value, NodeHealth)
    return fact.value


# What there is, whether the node counts as sick, and since when.
CASES: dict[str, tuple[dict[Ref, Any], NodeHealth | None]] = {
    "ready": ({NODE_AT: a_node()}, NodeHealth(False)),
    "not ready": ({NODE_AT: a_node(ready="False")}, NodeHealth(True, ago(3_600))),
    "silent": ({NODE_AT: a_node(ready="Unknown")}, NodeHealth(True, ago(3_600))),
    "ready, but its check says no": (
        {NODE_AT: a_node(), MACHINE_AT: a_machine(), verdict_ref(MACHINE_AT): SICK_VERDICT},
        NodeHealth(True, ago(400)),
    ),
    "not ready before its check said so": (
        {NODE_AT: a_node(ready="False"), MACHINE_AT: a_machine(), verdict_ref(MACHINE_AT): SICK_VERDICT},
        NodeHealth(True, ago(3_600)),
    ),
    "well": (
        {NODE_AT: a_node(), MACHINE_AT: a_machine(), verdict_ref(MACHINE_AT): VerdictFact(CHECK, Healthy(), False)},
        NodeHealth(False),
    ),
    "gone, and deleted by us": (
        {MACHINE_AT: a_machine(node_deleted_at=ago(90), backup=a_backup(labels={ZONE: "rack-1", ROLE: ""}))},
        NodeHealth(True, ago(90), "rack-1", is_control_plane=True),
    ),
    "deleted by its fence, which waits for it": (
        {FENCE_AT: fenced(BACKUP)},
        NodeHealth(True, ago(300), "rack-1", is_control_plane=True),
    ),
    "deleted by its fence, and back without its labels": (
        {FENCE_AT: fenced(BACKUP), NODE_AT: a_node()},
        NodeHealth(False, None, "rack-1", is_control_plane=True),
    ),
    "fenced, and gone by somebody else's hand": ({FENCE_AT: fenced(None)}, None),
    "ended with its instance, for good": ({FENCE_AT: fenced(BACKUP, State.FINAL)}, None),
    "gone, nobody knows since when": ({MACHINE_AT: a_machine()}, NodeHealth(True)),
    "gone by somebody else's hand, of the control plane by its machine": (
        {MACHINE_AT: labelled("cluster.x-k8s.io/control-plane", "")},
        NodeHealth(True, is_control_plane=True),
    ),
    "gone by somebody else's hand, a master": (
        {MACHINE_AT: labelled("machine.openshift.io/cluster-api-machine-role", "master")},
        NodeHealth(True, is_control_plane=True),
    ),
    "a worker of that other sort": (
        {MACHINE_AT: labelled("machine.openshift.io/cluster-api-machine-role", "worker")},
        NodeHealth(True),
    ),
    "gone by somebody else's hand, known before": (
        {MACHINE_AT: a_machine(), health_ref(NODE_AT): NodeHealth(False, None, "rack-1", is_control_plane=True)},
        NodeHealth(True, NOW.wall, "rack-1", is_control_plane=True),
    ),
    "sick before somebody deleted it": (
        {MACHINE_AT: a_machine(), verdict_ref(MACHINE_AT): MISSING, health_ref(NODE_AT): NodeHealth(True, ago(600))},
        NodeHealth(True, ago(600)),
    ),
    "missing when we came, and nobody has told since when": (
        {MACHINE_AT: a_machine(), verdict_ref(MACHINE_AT): MISSING},
        NodeHealth(True),
    ),
    "missing when we came, and told of by its Machine": (
        {MACHINE_AT: a_told_machine(), verdict_ref(MACHINE_AT): MISSING},
        NodeHealth(True, ago(86_400)),
    ),
    "missing when we came, and told of only later": (
        {MACHINE_AT: a_told_machine(), verdict_ref(MACHINE_AT): MISSING, health_ref(NODE_AT): NodeHealth(True)},
        NodeHealth(True),
    ),
    "missing, and its check has yet another sign": (
        {MACHINE_AT: a_machine(), verdict_ref(MACHINE_AT): SICK_VERDICT},
        NodeHealth(True, ago(400)),
    ),
    "gone before we were there": (
        {MACHINE_AT: replace(a_machine(), failure_domain="rack-2")},
        NodeHealth(True, None, "rack-2"),
    ),
    "gone, and domains are told by another label": (
        {MACHINE_AT: replace(a_machine(), failure_domain="rack-2"), TOPOLOGY_AT: Topology("rack")},
        NodeHealth(True),
    ),
    "there, and moved to another rack": (
        {NODE_AT: a_node(labels={ZONE: "b"}), health_ref(NODE_AT): NodeHealth(False, None, "a", is_control_plane=True)},
        NodeHealth(False, None, "b"),
    ),
    "back without its role, which its machine tells": (
        {NODE_AT: a_node(), MACHINE_AT: labelled("cluster.x-k8s.io/control-plane", "")},
        NodeHealth(False, is_control_plane=True),
    ),
    "nobody's name": ({MACHINE_AT: a_machine(node_name="other")}, None),
    "unreadable": ({NODE_AT: unreadable(), MACHINE_AT: a_machine()}, NodeHealth(True)),
    "unreadable, without a machine": ({NODE_AT: unreadable()}, NodeHealth(True)),
    "unreadable, and sick before": (
        {NODE_AT: unreadable(), health_ref(NODE_AT): NodeHealth(True, ago(600), "rack-1", is_control_plane=True)},
        NodeHealth(True, ago(600), "rack-1", is_control_plane=True),
    ),
    "unreadable, and well before": (
        {NODE_AT: unreadable(), health_ref(NODE_AT): NodeHealth(False, None, "rack-1")},
        NodeHealth(True, NOW.wall, "rack-1"),
    ),
    "in a rack": ({NODE_AT: a_node(labels={ZONE: "rack-1"})}, NodeHealth(False, None, "rack-1")),
    "of the control plane": ({NODE_AT: a_node(labels={ROLE: ""})}, NodeHealth(False, is_control_plane=True)),
    "by another label": (
        {NODE_AT: a_node(labels={ZONE: "a", "rack": "7"}), TOPOLOGY_AT: Topology("rack")},
        NodeHealth(False, None, "7"),
    ),
    "back, without its labels yet": (
        {NODE_AT: a_node(labels={}), MACHINE_AT: a_machine(backup=a_backup(labels={ZONE: "rack-1"}))},
        NodeHealth(False, None, "rack-1"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_node_is_counted_as_it_is(name: str) -> None:
    """Sick by condition, by verdict or by absence; in the rack and the role that it had before it was deleted."""
    objects, expected = CASES[name]

    assert expected == found(objects)


def test_a_verdict_wakes_its_node() -> None:
    """A verdict, a machine and a node concern one key; a changed topology label concerns all."""
    cache = a_world({MACHINE_AT: a_machine(), health_ref(NODE_AT): NodeHealth(False)})

    assert [NODE_AT] == list(health.wakes(verdict_ref(MACHINE_AT), SICK_VERDICT, cache))
    assert [NODE_AT] == list(health.wakes(MACHINE_AT, a_machine(), cache))
    assert [NODE_AT] == list(health.wakes(NODE_AT, a_node(), cache))
    assert [NODE_AT] == list(health.wakes(TOPOLOGY_AT, Topology("rack"), cache))
    assert [NODE_AT] == list(health.wakes(FENCE_AT, fenced(BACKUP), cache))
    assert [] == list(health.wakes(FENCE_AT, fenced(None), cache))
    assert [] == list(health.wakes(MACHINE_AT, a_machine(node_name=None), cache))


def test_nodes_are_counted_where_they_are() -> None:
    """A sick node of a rack and of the control plane is in all six counts; a healthy one in three."""
    at = health_ref(ref(NODE, "worker-0", cluster="metal/other"))
    everywhere = {
        facts.ALL,
        facts.nodes("metal/other"),
        facts.sick("metal/other"),
        facts.nodes("metal/other", "rack-1"),
        facts.sick("metal/other", "rack-1"),
        facts.control_plane("metal/other"),
        facts.sick_control_plane("metal/other"),
    }

    assert everywhere == set(facts.buckets(at, NodeHealth(True, None, "rack-1", True)))
    assert {one for one in everywhere if "sick" not in one} == set(
        facts.buckets(at, NodeHealth(False, None, "rack-1", True))
    )
