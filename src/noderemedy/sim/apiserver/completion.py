"""What a real server writes also when nobody said it, because its structures cannot leave it out.

A node has a nodeInfo of empty strings before its kubelet speaks, and conditions have times that are null. Readers
stumble over exactly this, so the simulation shows it too. `writes.py` asks on every write, also of the status.
"""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver.pods import each, filled, with_field
from noderemedy.sim.apiserver.types import Tree

Complete = Callable[[Tree, Tree], Tree]

NODE_INFO: Tree = dict.fromkeys(
    (
        "machineID",
        "systemUUID",
        "bootID",
        "kernelVersion",
        "osImage",
        "containerRuntimeVersion",
        "kubeletVersion",
        "kubeProxyVersion",
        "operatingSystem",
        "architecture",
    ),
    "",
)
ENDPOINTS: Tree = {"kubeletEndpoint": {"Port": 0}}
NODE_TIMES: Tree = {"lastHeartbeatTime": None, "lastTransitionTime": None}
POD_TIMES: Tree = {"lastProbeTime": None, "lastTransitionTime": None}


def complete_node(new: Tree, old: Tree) -> Tree:
    """A node with all of nodeInfo, the kubelet's port and the times of its conditions."""
    status = new.get("status") or {}
    if status and status is old.get("status"):
        return new
    status = filled(status, {"daemonEndpoints": ENDPOINTS, "nodeInfo": NODE_INFO})
    if status.get("capacity"):
        status = filled(status, {"allocatable": status["capacity"]})
    status = with_field(status, "nodeInfo", filled(status["nodeInfo"], NODE_INFO))
    return with_field(new, "status", _timed(status, old, NODE_TIMES))


def complete_pod(new: Tree, old: Tree) -> Tree:
    """A pod with the times of its conditions."""
    status = new.get("status") or {}
    if not status or status is old.get("status"):
        return new
    return with_field(new, "status", _timed(status, old, POD_TIMES))


def _timed(status: Tree, old: Tree, times: Tree) -> Tree:
    """Conditions that are the stored ones have been completed before."""
    conditions = status.get("conditions")
    if not conditions or conditions is (old.get("status") or {}).get("conditions"):
        return status
    return with_field(status, "conditions", each(conditions, lambda condition: filled(condition, times)))


COMPLETIONS: dict[Kind, Complete] = {
    Kind("", "Node"): complete_node,
    Kind("", "Pod"): complete_pod,
}
