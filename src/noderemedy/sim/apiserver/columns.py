"""Printer columns of the built-in kinds: what `kubectl get` shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver.clock import second_of
from noderemedy.sim.apiserver.types import Column, Tree

Cells = Callable[[Tree, int], list[Any]]

NAME = Column("Name", "string", format="name")
AGE = Column("Age", "string")
ROLE = "node-role.kubernetes.io/"


def columns(text: str) -> tuple[Column, ...]:
    """Columns by name; those after a bar are shown only when more is asked for."""
    usual, _, wide = text.partition("|")
    found = [Column(name.strip()) for name in usual.split(",")]
    found += [Column(name.strip(), priority=1) for name in wide.split(",") if name.strip()]
    return (NAME, *found)


def age(tree: Tree, now: int) -> str:
    """How old an object is, in the short form of kubectl."""
    created = tree["metadata"].get("creationTimestamp")
    return "<unknown>" if not created else duration(now - second_of(created))


def duration(seconds: int) -> str:
    """1m5s, 3h2m, 4d: two units while they matter."""
    seconds = max(seconds, 0)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    return f"{days}d" if days < 730 else f"{days // 365}y"


def condition(tree: Tree, type_: str) -> str:
    conditions = (tree.get("status") or {}).get("conditions") or []
    return next((one.get("status", "") for one in conditions if one.get("type") == type_), "")


def node_cells(tree: Tree, now: int) -> list[Any]:
    labels, spec, status = tree["metadata"].get("labels") or {}, tree.get("spec") or {}, tree.get("status") or {}
    ready = {"True": "Ready", "False": "NotReady", "Unknown": "NotReady"}.get(condition(tree, "Ready"), "Unknown")
    words = [ready, *(["SchedulingDisabled"] if spec.get("unschedulable") else [])]
    roles = sorted(key.removeprefix(ROLE) for key in labels if key.startswith(ROLE))
    info = status.get("nodeInfo") or {}
    addresses = {one.get("type"): one.get("address") for one in status.get("addresses") or []}
    return [
        ",".join(words),
        ",".join(roles) or "<none>",
        age(tree, now),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", "<none>"),
        addresses.get("ExternalIP", "<none>"),
        info.get("osImage") or "<unknown>",
        info.get("kernelVersion") or "<unknown>",
        info.get("containerRuntimeVersion") or "<unknown>",
    ]


def pod_status(tree: Tree) -> str:
    status = tree.get("status") or {}
    word = str(status.get("reason") or status.get("phase", ""))
    for one in status.get("containerStatuses") or []:
        state = one.get("state") or {}
        for name in ("waiting", "terminated"):
            if (state.get(name) or {}).get("reason"):
                word = state[name]["reason"]
    if "deletionTimestamp" in tree["metadata"]:
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    return word


def pod_cells(tree: Tree, now: int) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    states = status.get("containerStatuses") or []
    ready = sum(1 for one in states if one.get("ready"))
    gates = len(spec.get("readinessGates") or [])
    return [
        f"{ready}/{len(spec.get('containers') or [])}",
        pod_status(tree),
        str(sum(one.get("restartCount", 0) for one in states)),
        age(tree, now),
        status.get("podIP") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        f"0/{gates}" if gates else "<none>",
    ]


def _images(tree: Tree) -> list[Any]:
    containers = (((tree.get("spec") or {}).get("template") or {}).get("spec") or {}).get("containers") or []
    return [",".join(one.get("name", "") for one in containers), ",".join(one.get("image", "") for one in containers)]


def stateful_set_cells(tree: Tree, now: int) -> list[Any]:
    ready = (tree.get("status") or {}).get("readyReplicas", 0)
    return [f"{ready}/{(tree.get('spec') or {}).get('replicas', 0)}", age(tree, now), *_images(tree)]


def deployment_cells(tree: Tree, now: int) -> list[Any]:
    status, wanted = tree.get("status") or {}, (tree.get("spec") or {}).get("replicas", 0)
    numbers = [status.get("updatedReplicas", 0), status.get("availableReplicas", 0)]
    return [f"{status.get('readyReplicas', 0)}/{wanted}", *numbers, age(tree, now), *_images(tree)]


def lease_cells(tree: Tree, now: int) -> list[Any]:
    return [(tree.get("spec") or {}).get("holderIdentity", ""), age(tree, now)]


def budget_cells(tree: Tree, now: int) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    bounds = [str(spec.get("minAvailable", "N/A")), str(spec.get("maxUnavailable", "N/A"))]
    return [*bounds, status.get("disruptionsAllowed", 0), age(tree, now)]


def event_cells(tree: Tree, now: int) -> list[Any]:
    about = tree.get("regarding") or tree.get("involvedObject") or {}
    subject = f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"
    note = tree.get("note") or tree.get("message") or ""
    last = (tree.get("series") or {}).get("lastObservedTime")
    seen = duration(now - second_of(last)) if last else age(tree, now)
    return [seen, tree.get("type", ""), tree.get("reason", ""), subject, note]


def claim_cells(tree: Tree, now: int) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    phase = "Terminating" if "deletionTimestamp" in tree["metadata"] else status.get("phase", "")
    size = (status.get("capacity") or {}).get("storage", "")
    modes = ",".join(status.get("accessModes") or [])
    return [phase, spec.get("volumeName", ""), size, modes, spec.get("storageClassName", ""), age(tree, now)]


def attachment_cells(tree: Tree, now: int) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    volume = (spec.get("source") or {}).get("persistentVolumeName", "")
    return [spec.get("attacher", ""), volume, spec.get("nodeName", ""), status.get("attached", False), age(tree, now)]


def job_cells(tree: Tree, now: int) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    words = [type_ for type_ in ("Complete", "Failed", "Suspended") if condition(tree, type_) == "True"]
    done = f"{status.get('succeeded', 0)}/{spec.get('completions', 1)}"
    return [words[0] if words else "Running", done, age(tree, now)]


TABLES: dict[Kind, tuple[tuple[Column, ...], Cells]] = {
    Kind("", "Node"): (
        columns("Status,Roles,Age,Version|Internal-IP,External-IP,OS-Image,Kernel-Version,Container-Runtime"),
        node_cells,
    ),
    Kind("", "Pod"): (
        columns("Ready,Status,Restarts,Age|IP,Node,Nominated Node,Readiness Gates"),
        pod_cells,
    ),
    Kind("", "Namespace"): (
        columns("Status,Age"),
        lambda tree, now: [(tree.get("status") or {}).get("phase", ""), age(tree, now)],
    ),
    Kind("", "ConfigMap"): (
        columns("Data,Age"),
        lambda tree, now: [len(tree.get("data") or {}), age(tree, now)],
    ),
    Kind("", "Secret"): (
        columns("Type,Data,Age"),
        lambda tree, now: [tree.get("type", ""), len(tree.get("data") or {}), age(tree, now)],
    ),
    Kind("", "PersistentVolumeClaim"): (
        columns("Status,Volume,Capacity,Access Modes,StorageClass,Age"),
        claim_cells,
    ),
    Kind("", "Event"): (columns("Last Seen,Type,Reason,Object,Message"), event_cells),
    Kind("events.k8s.io", "Event"): (columns("Last Seen,Type,Reason,Object,Message"), event_cells),
    Kind("apps", "StatefulSet"): (columns("Ready,Age|Containers,Images"), stateful_set_cells),
    Kind("apps", "Deployment"): (
        columns("Ready,Up-to-date,Available,Age|Containers,Images"),
        deployment_cells,
    ),
    Kind("batch", "Job"): (columns("Status,Completions,Age"), job_cells),
    Kind("coordination.k8s.io", "Lease"): (columns("Holder,Age"), lease_cells),
    Kind("policy", "PodDisruptionBudget"): (
        columns("Min Available,Max Unavailable,Allowed Disruptions,Age"),
        budget_cells,
    ),
    Kind("storage.k8s.io", "VolumeAttachment"): (columns("Attacher,PV,Node,Attached,Age"), attachment_cells),
    Kind("apiextensions.k8s.io", "CustomResourceDefinition"): (
        columns("Created At"),
        lambda tree, now: [tree["metadata"].get("creationTimestamp")],
    ),
}
"""Columns and how their cells are filled; every other kind shows its name and age."""

OTHERS: tuple[tuple[Column, ...], Cells] = (columns("Age"), lambda tree, now: [age(tree, now)])
