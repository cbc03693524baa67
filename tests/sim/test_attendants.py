"""Pods that belong to their node, and pods without volumes, where nodes are fenced."""

from __future__ import annotations

import pytest
from tests.sim.test_fence_checkers import Ward

from noderemedy.core.fencing import storage
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.attendants import Attendants
from noderemedy.sim.kinds import POD
from noderemedy.sim.objects import WORKLOAD
from noderemedy.sim.outlets import Fault
from noderemedy.wire import pods


class Attended(Ward):
    """The same nodes with an agent each, and a front over those that take pods."""

    def __init__(self) -> None:
        super().__init__()
        self.attendants = Attendants(self.checkers, [self.process])
        self.wait(1)

    def on(self, node: str, app: str) -> list[Tree]:
        return self.cluster.api.list(POD, WORKLOAD, labels=f"app={app}", fields=f"spec.nodeName={node}")

    def uid_of_agent(self, node: str) -> str:
        return str(self.cluster.api.get(POD, f"agent-{node}", WORKLOAD)["metadata"]["uid"])


@pytest.mark.parametrize("by", ["pods", "taint"])
def test_the_front_is_freed_and_the_agent_stays(by: str) -> None:
    """A node hangs and is fenced: what could run anywhere does, and what belongs to the node waits for it."""
    ward = Attended()
    agent, front = ward.uid_of_agent("worker-1"), ward.on("worker-1", "front")
    ward.hang("worker-1")
    ward.fence("worker-1", freeBy=by)
    ward.wait(15)
    ward.attendants.at_rest()
    ward.checkers.workload_runs()
    left = {one["metadata"]["uid"] for one in ward.cluster.api.list(POD)}

    assert front
    assert set() == left & {one["metadata"]["uid"] for one in front}
    assert agent == ward.uid_of_agent("worker-1")
    assert (set(), 2) == (ward.broken, ward.cluster.servers["worker-1"].boots)


def test_an_agent_that_is_taken_from_its_node_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S1: nobody knows any more which pods belong to their node."""
    monkeypatch.setattr(pods, "OF_THE_NODE", ())
    ward = Attended()
    ward.hang("worker-1")
    ward.fence("worker-1", freeBy="pods")
    ward.wait(5)

    assert ward.told_of("pods/agent-worker-1: it belongs to its node")


def _only_cut_off() -> Attended:
    """A node is behind its storage fence, and its plugs are out of reach."""
    ward = Attended()
    assert ward.on("worker-3", "front")
    ward.hang("worker-3")
    for outlet in ward.cluster.outlets.by_node["worker-3"][:2]:
        outlet.faults.add(Fault.UNREACHABLE)
    ward.fence("worker-3", maxRestarts=0)
    ward.wait(3)
    assert ward.cluster.servers["worker-3"].is_cut_off
    return ward


def test_behind_a_storage_fence_pods_without_volumes_stay() -> None:
    """They write wherever else they reach: only what has all its volumes behind the fence is freed."""
    ward = _only_cut_off()

    assert ward.on("worker-3", "front")
    assert (set(), []) == (ward.broken, ward.on("worker-3", "database"))


def test_freeing_pods_without_volumes_behind_a_storage_fence_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S1: somebody takes a pod that has no volume for one that has none left to write to."""
    monkeypatch.setattr(storage, "is_covered", lambda at, pod, found, covers: not pod.stays)

    assert _only_cut_off().told_of("Pod front-")


def test_a_front_that_is_not_whole_is_seen() -> None:
    """L1: a pod that went is replaced by nobody."""
    ward = Attended()
    name = ward.on("worker-1", "front")[0]["metadata"]["name"]
    ward.cluster.api.delete(POD, name, WORKLOAD, grace=0)
    ward.attendants.at_rest()

    assert {"L1"} == ward.broken
