"""An order as a Job, and the pod of such a Job as a result. Rendered for the manager (setting `agents: job`).

The Job's pod runs `python -m noderemedy.runner`. It gets the order in its environment, without any secret, and the
Secrets that the order names as files. It never runs on the node that it fences, unless its agent lets that node in at
its disks. What uses disks is bound to a node, and is root there, with the devices of the node.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from noderemedy.model.ids import SYSTEM, Kind
from noderemedy.model.run import Order, Result, RunState
from noderemedy.model.time import Span, Wall
from noderemedy.wire import verbs
from noderemedy.wire.fenceanswer import UNTOLD, Unreadable, order_text, read_result
from noderemedy.wire.http import Request, Resource
from noderemedy.wire.scalars import UNREADABLE

JOBS = Resource(Kind("batch", "Job"), "v1", "jobs", namespaced=True)
RUN_LABEL = "node-remedy.dev/run"  # its value says what the Job is for
FENCING = "fence"
ORDER_LABEL = "node-remedy.dev/order"  # by which the pod of an order is found; Kubernetes' own differs by version
ACCOUNT = "node-remedy-runner"
PRIORITY = "system-cluster-critical"  # it must find a place when nodes are missing
CONTAINER = "runner"
ORDER_VARIABLE = "NODE_REMEDY_ORDER"
SECRETS_VARIABLE = "NODE_REMEDY_SECRETS"
LEASES_VARIABLE = "NODE_REMEDY_LEASES"  # the namespace of the leader's Lease, where it is not ours
SECRETS_AT = "/etc/node-remedy/secrets"
MESSAGE_VARIABLE = "NODE_REMEDY_MESSAGE"  # where the result is written
SCRATCH_AT = "/tmp"  # noqa: S108  inside the container; agents keep known hosts and cookies there
DEVICES_AT = "/dev"  # of the node: a container has no links to its disks, whatever it is allowed
MULTIPATH = "fence_mpath"  # it asks the daemon of the node, by a socket of its network, and reads its configuration
MULTIPATH_PATHS = {"/etc/multipath.conf": "File", "/run/udev": "Directory"}
# As the policy "restricted" of pod security asks. Disks are another matter: who uses them is root, and privileged.
UNPRIVILEGED_POD: dict[str, Any] = {
    "runAsNonRoot": True,
    "runAsUser": 65532,
    "runAsGroup": 65532,
    "fsGroup": 65532,
    "seccompProfile": {"type": "RuntimeDefault"},
}
UNPRIVILEGED: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}
MARGIN = Span.seconds(60)  # for scheduling, pulling and reading
KEPT_SECONDS, DRILL_KEPT_SECONDS = 3600, 600  # its log; drills are many, and most of them fail while a network is down
TOLERATED = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")


class JobSettings(Struct, frozen=True):
    """What all Jobs of one manager have in common."""

    image: str
    leases: str = SYSTEM  # the namespace of the leader's Lease
    environment: dict[str, str] = {}  # of agents; whoever may read pods reads it, so it holds no secret


def create_job(order: Order, settings: JobSettings, now: Wall) -> Request:
    return verbs.create(JOBS, job_body(order, settings, now), SYSTEM)


def job_body(order: Order, settings: JobSettings, now: Wall) -> dict[str, Any]:
    """The Job of an order: one pod, no second try, a deadline, and its log kept for a while.

    The deadline is the pod's: its kubelet ends it, and keeps its log. That of the Job, at which the pod is deleted, is
    for a kubelet that is dead.
    """
    ours = {"app.kubernetes.io/name": "node-remedy", "app.kubernetes.io/component": "runner"}
    labels = {RUN_LABEL: FENCING, ORDER_LABEL: order.id, **ours}
    deadline = max(order.not_after.since(now), Span(0)) + order.patience + MARGIN
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": order.id, "namespace": SYSTEM, "labels": labels, "annotations": notes(order)},
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "podReplacementPolicy": "Failed",
            "activeDeadlineSeconds": seconds(deadline + grace(order) + MARGIN),
            "ttlSecondsAfterFinished": DRILL_KEPT_SECONDS if order.is_drill else KEPT_SECONDS,
            "template": {
                "metadata": {"labels": labels, "annotations": notes(order)},
                "spec": {**pod_spec(order, settings), "activeDeadlineSeconds": seconds(deadline)},
            },
        },
    }


def notes(order: Order) -> dict[str, str]:
    """For people who look at the Job."""
    return {"node-remedy.dev/node": order.node, "node-remedy.dev/method": order.method}


def pod_spec(order: Order, settings: JobSettings) -> dict[str, Any]:
    secrets = sorted({one.secret for one in order.secrets})
    operator = "In" if order.bound_to else "NotIn"
    place = [{"key": "metadata.name", "operator": operator, "values": [order.bound_to or order.node]}]
    hosts = host_paths(order)
    return {
        **({"hostNetwork": True} if order.agent == MULTIPATH and hosts else {}),
        "restartPolicy": "Never",
        "serviceAccountName": ACCOUNT,
        # What fences takes the place of workload, if there is no other; what only asks takes nobody's.
        **({} if order.is_drill else {"priorityClassName": PRIORITY}),
        # What was sent to a device is not called back: a deleted Job still ends its run.
        "terminationGracePeriodSeconds": seconds(grace(order)),
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": place}]}
            }
        },
        "tolerations": tolerations(order),
        "securityContext": {"runAsUser": 0, "runAsGroup": 0} if order.bound_to else UNPRIVILEGED_POD,
        "containers": [container(order, settings, secrets)],
        "volumes": [
            {"name": "scratch", "emptyDir": {}},
            *(
                # Optional, or the kubelet waits for a missing one in silence: the runner tells which it is.
                {"name": f"secret-{number}", "secret": {"secretName": name, "defaultMode": 0o440, "optional": True}}
                for number, name in enumerate(secrets)
            ),
            *(
                {"name": f"host-{number}", "hostPath": {"path": path, "type": sort}}
                for number, (path, sort) in enumerate(hosts.items())
            ),
        ],
    }


def grace(order: Order) -> Span:
    return order.patience + Span.seconds(10)


def host_paths(order: Order) -> dict[str, str]:
    """What of its node a Job sees, and of which sort that must be. Where it keeps its own key is not among it: that
    is a file of whoever registered the node, if there is one, and the order says it.
    """
    if not order.bound_to:
        return {}
    return {DEVICES_AT: "Directory", **(MULTIPATH_PATHS if order.agent == MULTIPATH else {})}


def tolerations(order: Order) -> list[dict[str, str]]:
    """Control-plane nodes may run it; what is bound to a node gets there in spite of taints, ours among them."""
    if order.bound_to:
        return [{"operator": "Exists"}]
    return [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in TOLERATED]


def container(order: Order, settings: JobSettings, secrets: list[str]) -> dict[str, Any]:
    # Not among the devices of the node, where the kubelet would leave a file behind.
    message = f"{SCRATCH_AT}/termination-log" if order.bound_to else "/dev/termination-log"
    return {
        "name": CONTAINER,
        "image": settings.image,
        "command": ["python3", "-m", "noderemedy.runner"],
        "env": [
            *({"name": name, "value": value} for name, value in sorted(settings.environment.items())),
            {"name": ORDER_VARIABLE, "value": order_text(order)},
            {"name": SECRETS_VARIABLE, "value": SECRETS_AT},
            {"name": "HOME", "value": SCRATCH_AT},
            {"name": MESSAGE_VARIABLE, "value": message},
            *([{"name": LEASES_VARIABLE, "value": settings.leases}] if settings.leases != SYSTEM else []),
        ],
        "terminationMessagePath": message,
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            {"name": "scratch", "mountPath": SCRATCH_AT},
            *(
                {"name": f"secret-{number}", "mountPath": f"{SECRETS_AT}/{name}", "readOnly": True}
                for number, name in enumerate(secrets)
            ),
            *({"name": f"host-{number}", "mountPath": path} for number, path in enumerate(host_paths(order))),
        ],
        "securityContext": {"privileged": True} if order.bound_to else UNPRIVILEGED,
    }


def seconds(span: Span) -> int:
    return -(-span.ms // 1000)


# --- what its pod tells ----------------------------------------------------------------------------------------


class _Terminated(Struct, frozen=True, rename="camel"):
    exit_code: int = 1
    message: str = ""
    reason: str = ""


class _State(Struct, frozen=True):
    terminated: _Terminated | None = None


class _ContainerStatus(Struct, frozen=True):
    name: str = ""
    state: _State = _State()


class _PodStatus(Struct, frozen=True, rename="camel"):
    phase: str = ""
    reason: str = ""
    message: str = ""
    container_statuses: list[_ContainerStatus] | None = None


class _Pod(Struct, frozen=True):
    status: _PodStatus = _PodStatus()


class _Event(Struct, frozen=True):
    type: str
    object: msgspec.Raw


def result_in(line: bytes) -> Result | None:
    """How the run of this pod ended, by one line of a watch; None: it goes on. Raises Unreadable."""
    try:
        event = msgspec.json.decode(line, type=_Event)
        if event.type not in ("ADDED", "MODIFIED", "DELETED"):
            return None
        status = msgspec.json.decode(event.object, type=_Pod).status
    except UNREADABLE as problem:
        raise Unreadable(str(problem)) from None
    told = [one.state.terminated for one in status.container_statuses or () if one.name == CONTAINER]
    if told and told[0] is not None:
        return of_container(told[0])
    if event.type == "DELETED" or status.phase in ("Failed", "Succeeded"):
        why = status.message or status.reason or "its pod is gone"
        return Result(RunState.FAILED, said=f"{UNTOLD.said}: {why[:200]}")
    return None


def of_container(ended: _Terminated) -> Result:
    """The container's own word, if it ended as its word says."""
    result = read_result(ended.message)
    if result == UNTOLD:
        why = f"exit code {ended.exit_code} {ended.reason}".rstrip()
        return Result(RunState.FAILED, said=f"{UNTOLD.said}: {why}")
    if result.state is RunState.DONE and ended.exit_code != 0:
        return Result(RunState.FAILED, said=f"it says that it is done, but ended with exit code {ended.exit_code}")
    return result if result.state is not RunState.RUNNING else UNTOLD
