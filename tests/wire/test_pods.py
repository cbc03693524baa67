"""Pods of a node: how they are asked for, what a list says of each, and what the answer to an eviction means."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.builders import NODE_AT, NOW, RESOURCES
from tests.wire.test_answers import ended

from noderemedy.model.actions import EvictPod, Guard, ListPods
from noderemedy.model.ids import ref
from noderemedy.model.outcome import Done, Failed, Seen, Unknown
from noderemedy.model.workload import POD, KeptPod, Pod, kept_at, pods_at
from noderemedy.wire.requests import render

POD_AT = ref(POD, "database-0", "default")
EVICT = EvictPod(POD_AT, Guard("pod-uid-1"))


def a_pod(name: str = "database-0", *, phase: str = "Running", controller: str = "", **metadata: Any) -> dict[str, Any]:
    owners = {"ownerReferences": [{"kind": controller, "name": "o", "controller": True}]} if controller else {}
    meta = {"name": name, "namespace": "default", "uid": "pod-uid-1", **owners, **metadata}
    return {"metadata": meta, "spec": {}, "status": {"phase": phase}}


def listed(*pods: dict[str, Any]) -> Any:
    body = json.dumps({"kind": "PodList", "metadata": {"resourceVersion": "42"}, "items": pods}).encode()
    return ended(ListPods(NODE_AT), 200, body)


@pytest.mark.parametrize(
    ("tree", "pod"),
    [
        (a_pod(), Pod("pod-uid-1")),
        (a_pod(deletionTimestamp="2030-01-01T00:00:00Z"), Pod("pod-uid-1", deleting=True)),
        (a_pod(phase="Succeeded"), Pod("pod-uid-1", is_finished=True)),
        (a_pod(phase="Failed"), Pod("pod-uid-1", is_finished=True)),
        (a_pod(controller="DaemonSet"), Pod("pod-uid-1", stays=True, owner="DaemonSet/o")),
        (a_pod(controller="StatefulSet"), Pod("pod-uid-1", owner="StatefulSet/o")),
        (a_pod(controller="ReplicaSet"), Pod("pod-uid-1", owner="ReplicaSet/o")),
        (a_pod(annotations={"kubernetes.io/config.mirror": "x"}), Pod("pod-uid-1", stays=True)),
        (
            {**a_pod(), "spec": {"volumes": [{"name": "a", "emptyDir": {}}]}},
            Pod("pod-uid-1"),
        ),
        (
            {**a_pod(), "spec": {"volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "c"}}]}},
            Pod("pod-uid-1", has_volumes=True, claims=("c",)),
        ),
        (
            {**a_pod(), "spec": {"volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}}]}},
            Pod("pod-uid-1", has_volumes=True, claims=("database-0-scratch",)),
        ),
        (
            {**a_pod(), "spec": {"volumes": [{"name": "a", "nfs": {"server": "s"}}, {"name": "b", "hostPath": {}}]}},
            Pod("pod-uid-1", has_other_storage=True),
        ),
    ],
)
def test_what_a_list_says_of_a_pod(tree: dict[str, Any], pod: Pod) -> None:
    """Each pod with what matters to whoever empties a node; the list is kept under the node's name."""
    outcome = listed(tree)

    assert isinstance(outcome, Done)
    assert outcome.seen is not None
    assert (pods_at(NODE_AT), "42") == (outcome.seen.ref, outcome.seen.resource_version)
    assert ((POD_AT, pod),) == outcome.seen.obj.pods


def test_a_list_is_in_order() -> None:
    """The same pods are the same list, in whatever order they came."""
    one, other = listed(a_pod("b"), a_pod("a")), listed(a_pod("a"), a_pod("b"))

    assert one == other
    assert ["a", "b"] == [at.name for at, _ in one.seen.obj.pods]


def test_half_a_list_is_none() -> None:
    """A list that cannot be read is a failure, and says nothing about the node."""
    outcome = ended(ListPods(NODE_AT), 200, b'{"metadata":{},"items":[{"metadata":{}}]}')

    assert isinstance(outcome, Failed)
    assert outcome.lasting


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (201, {"kind": "Status", "status": "Success"}, Done),
        (404, {"kind": "Status", "message": "pods not found"}, Done),
        (409, {"kind": "Status", "message": "Precondition failed: UID"}, Done),
        (429, {"kind": "Status", "details": {"causes": [{"reason": "DisruptionBudget"}]}}, Done),
        (429, {"kind": "Status", "message": "too many requests"}, Failed),
        (403, {"kind": "Status", "message": "forbidden"}, Failed),
        (500, {"kind": "Status", "message": "etcd"}, Unknown),
    ],
)
def test_what_became_of_an_eviction(status: int, body: dict[str, Any], expected: type) -> None:
    """A pod that is gone, or that its disruption budget keeps, is no trouble of ours: the next list shows it."""
    assert expected is type(ended(EVICT, status, json.dumps(body).encode()))


WORDS = "The disruption budget web needs 2 healthy pods and has 2 currently"
CAUSE = {"reason": "DisruptionBudget", "message": WORDS}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"message": "Cannot evict pod", "details": {"causes": [{"reason": "x", "message": "y"}, CAUSE]}}, WORDS),
        ({"message": "Cannot evict", "details": {"causes": [{"reason": "DisruptionBudget"}]}}, "Cannot evict"),
        ({"details": {"causes": [{"reason": "DisruptionBudget"}]}}, "its disruption budget does not allow it"),
    ],
)
def test_a_pod_that_is_kept_is_remembered_with_the_words_for_it(body: dict[str, Any], expected: str) -> None:
    """Whoever waits for the node to be empty can say which budget stands in the way."""
    found = ended(EVICT, 429, json.dumps({"kind": "Status", **body}).encode())

    assert Done(NOW.mono, Seen(kept_at(POD_AT), "", "", KeptPod(expected)), date=NOW.wall) == found


def test_only_the_pods_of_that_node_are_asked_for() -> None:
    """The API server selects them: a cluster has thousands."""
    request = render(ListPods(NODE_AT), 7, RESOURCES)

    assert ("GET", "/api/v1/pods") == (request.method, request.path)
    assert (("fieldSelector", "spec.nodeName=worker-0"),) == request.query


def test_a_settled_eviction_shows_nothing() -> None:
    """What became of the pod is in the next list, not in the answer."""
    assert Done(NOW.mono, date=NOW.wall) == ended(EVICT, 404)
