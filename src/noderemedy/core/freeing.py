"""The shared shelf: one way to free the workload of a node, for all rooms (`freeBy`).

Called with a proof from `core/safety.py` in the very decision in which it was made. A step is either done, or says what
to do next and when to look again. Pods and volumes are read by live lists, never watched; a list is at most five
seconds old when anything is decided on it, a minute where pods are only counted. What belongs to the node (DaemonSets,
static pods) is left alone by us; the taint has Kubernetes end pods of DaemonSets, too, which get new ones there.
"""

from __future__ import annotations

import hashlib
import re

from msgspec import Struct

from noderemedy.core import pacing, safety
from noderemedy.core.pacing import Pace
from noderemedy.model.actions import (
    Action,
    DeletePod,
    DetachVolume,
    Guard,
    ListPods,
    ListVolumes,
    TaintOutOfService,
)
from noderemedy.model.decision import Fact
from noderemedy.model.ids import Ref
from noderemedy.model.node import Node, OutOfService, Taint
from noderemedy.model.proof import Proof
from noderemedy.model.reasons import FreedAtOnce, FreeingWorkload, ListingWorkload, Reason, WaitingForWorkload
from noderemedy.model.room import Absent, Entry, Present, Reader
from noderemedy.model.time import MINUTE, Mono, Now, Span
from noderemedy.model.workload import (
    Attachment,
    FreeBy,
    Pod,
    PodsOfNode,
    VolumesOfNode,
    pods_at,
    volumes_at,
)

OUT_OF_SERVICE = Taint("node.kubernetes.io/out-of-service", "NoExecute", "nodeshutdown")
TAINT_SINCE = (1, 28)  # out-of-service is always on from this version of Kubernetes
VERSION = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})", re.ASCII)
PACE, SELDOM = Span.seconds(5), Span.seconds(40)  # between two looks at what is not gone yet
AT_ONCE = 10  # pods or volumes that go on one proof
PACED_WITHIN = MINUTE * 60  # how long pods may go one by one, as podsPerMinute lets them


class Workload(Struct, frozen=True):
    """A node and what the last lists said of its pods and volumes."""

    node_at: Ref
    node: Node
    version: str
    pods: Entry
    volumes: Entry
    pace: Pace = pacing.UNLIMITED
    changed_at: Mono = Mono(0)  # of the Node: when it was tainted, if that was the last


class Step(Struct, frozen=True):
    """What to do next; nothing, if it is done."""

    actions: tuple[Action, ...] = ()
    because: tuple[Reason, ...] = ()
    wake_at: Mono | None = None
    is_done: bool = False
    facts: tuple[Fact, ...] = ()


DONE = Step(is_done=True)


def sees(node_at: Ref, entry: Present, reader: Reader, pace: Pace = pacing.UNLIMITED) -> Workload:
    """`pace` is that of the key which frees: `core/pacing.py`."""
    pods, volumes = reader.read(pods_at(node_at)), reader.read(volumes_at(node_at))
    return Workload(node_at, entry.obj, entry.resource_version, pods, volumes, pace, entry.changed_at)


def default(node: Node) -> FreeBy:
    """How to free where nobody says: by a taint if the node's cluster knows it.

    The node's own kubelet tells: a kubelet is never newer than its API server, so what it can the server can. This is
    the version of the cluster that has the node, whichever that is, and it is in a file, too.
    """
    found = VERSION.match(node.kubelet)
    is_new = found is not None and (int(found[1]), int(found[2])) >= TAINT_SINCE
    return FreeBy.TAINT if is_new else FreeBy.PODS


class Way(Struct, frozen=True):
    """How a node is freed, and what is to be said of that."""

    by: FreeBy
    because: tuple[Reason, ...] = ()


def way(work: Workload, named: FreeBy | None, now: Now) -> Way | Step:
    """As somebody named it, else as the node's version allows; a Step, if its pods have to be counted first.

    Where the pods of this node alone are more than `podsPerMinute` they go one by one, or the limit would mean nothing:
    no node can wait until all of its own fit. Who named a way that takes all at once has it so.
    """
    by = named or default(work.node)
    if by is FreeBy.PODS or not work.pace.is_limited or is_tainted(work.node):
        return Way(by)
    pods = counted(work, now)
    if isinstance(pods, Step) or pods <= work.pace.strictest:
        return pods if isinstance(pods, Step) else Way(by)
    if named is None:
        return Way(FreeBy.PODS)
    return Way(by, (FreedAtOnce(work.node_at.name, pods, by.value, work.pace.strictest, work.pace.whose),))


def counted(work: Workload, now: Now) -> int | Step:
    """How many pods would go; a Step, if a list of the last minute is needed: by one of an earlier repair there may be
    none.
    """
    read_at = work.pods.confirmed_at if isinstance(work.pods, Present) else None
    if read_at is None or now.mono.since(read_at) > MINUTE:
        return Step((ListPods(work.node_at),), (ListingWorkload(work.node_at.name),))
    return sum(not pod.stays for _, pod in pods_of(work))


def until(work: Workload | None, by: FreeBy | None, due: Mono, last: Mono, within: Span) -> Mono:
    """When freeing has lasted too long: at `due`, where no `podsPerMinute` slows it down. Else, after that, when
    nothing has gone for `within`, nor was told to wait; and at `last` in any case: new pods may be bound to the node.
    """
    if work is None or by is not FreeBy.PODS or not work.pace.is_limited:
        return due
    is_waiting = work.pace.is_told_to_wait and any(not pod.stays and not pod.is_forced for _, pod in pods_of(work))
    return max(due, last if is_waiting else min(last, last_change(work) + within))


def is_tainted(node: Node) -> bool:
    return any((one.key, one.effect) == (OUT_OF_SERVICE.key, OUT_OF_SERVICE.effect) for one in node.taints)


def without_taint(node: Node) -> tuple[Taint, ...]:
    return tuple(one for one in node.taints if one.key != OUT_OF_SERVICE.key)


def mark_of(node: Node, uid: str = "") -> OutOfService | None:
    """Our mark on a Node; with a uid that of one request only."""
    mark = node.out_of_service
    return mark if isinstance(mark, OutOfService) and uid in ("", mark.uid) else None


def held_back(work: Workload, now: Now) -> Step | None:
    """Before all pods of a node go at once, by a taint or with its Node: None if that fits into the minute."""
    if not work.pace.is_limited:
        return None
    pods = counted(work, now)
    if isinstance(pods, Step):
        return pods
    found = pacing.permit(work.pace, work.node_at, work.node.uid, pods, is_whole=True)
    return Step((), found.because, facts=found.facts) if found.because else None


def taint(work: Workload, room: str, owner: Ref, uid: str, proof: Proof, now: Now) -> Step:
    """Tell Kubernetes that the node is out of service, and write beside it for whom: the request may be gone first."""
    if waits := held_back(work, now):
        return waits
    node = work.node
    taints = tuple(sorted((*node.taints, OUT_OF_SERVICE)))
    by = OutOfService(room, f"{owner.namespace}/{owner.name}", uid, node.boot_id)
    action = TaintOutOfService(work.node_at, Guard(node.uid, work.version), node.boot_id, taints, by, proof)
    return Step((action,), (FreeingWorkload(work.node_at.name, FreeBy.TAINT.value),))


def after_taint(work: Workload, now: Now) -> Step:
    """Wait until Kubernetes has removed what holds a volume: no proof is needed to look on."""
    if asked := ask(work.pods, ListPods(work.node_at), now):
        return asked
    if any(pod.has_volumes and not pod.stays for _, pod in pods_of(work)):
        return waits(work, now)
    if asked := ask(work.volumes, ListVolumes(work.node_at), now):
        return asked
    return waits(work, now) if volumes_of(work) else DONE


def by_pods(work: Workload, proof: Proof, now: Now, at_once: int = AT_ONCE) -> Step:
    """Remove every pod, then every attachment, each by its uid. Those with a finalizer are waited for."""
    if asked := ask(work.pods, ListPods(work.node_at), now):
        return asked
    why = (FreeingWorkload(work.node_at.name, FreeBy.PODS.value),)
    pods = [(at, pod) for at, pod in pods_of(work) if not pod.stays]
    if going := [one for one in pods if not one[1].is_forced][:at_once]:
        batch = hashlib.sha256(" ".join(pod.uid for _, pod in going).encode()).hexdigest()[:10]
        found = pacing.permit(work.pace, work.node_at, batch, len(going), is_whole=False)
        if found.because:
            return Step((), found.because, facts=found.facts)
        deletions = tuple(DeletePod(at, Guard(pod.uid), proof.subject, proof) for at, pod in going[: found.pods])
        return Step((*deletions, ListPods(work.node_at)), why, facts=found.facts)
    if pods:
        return waits(work, now)
    if asked := ask(work.volumes, ListVolumes(work.node_at), now):
        return asked
    volumes = volumes_of(work)
    if leaving := [one for one in volumes if not one[1].deleting][:AT_ONCE]:
        detached = tuple(DetachVolume(at, Guard(one.uid), proof.subject, proof) for at, one in leaving)
        return Step((*detached, ListVolumes(work.node_at)), why)
    return waits(work, now) if volumes else DONE


def ask(listed: Entry, reading: ListPods | ListVolumes, now: Now) -> Step | None:
    """Read live what was not read just now. Volumes are of interest only when the pods are gone."""
    return None if _is_fresh(listed, now) else Step((reading,), (ListingWorkload(reading.ref.name),))


def waits(work: Workload, now: Now) -> Step:
    """Look again soon, and less often the longer nothing changes: after 5, 10, 20, 40 seconds, then every 40."""
    pods = sum(not pod.stays for _, pod in pods_of(work))
    reason = WaitingForWorkload(work.node_at.name, pods, len(volumes_of(work)))
    unchanged = now.mono.since(last_change(work))
    return Step((), (reason,), now.mono + min(SELDOM, max(PACE, unchanged)) + Span(1))


def last_change(work: Workload) -> Mono:
    """When node, pods or volumes last changed, as far as we know."""
    lists = [entry.changed_at for entry in (work.pods, work.volumes) if isinstance(entry, Present)]
    return max(work.changed_at, *lists) if lists else work.changed_at


def pods_of(work: Workload) -> tuple[tuple[Ref, Pod], ...]:
    found = work.pods.obj if isinstance(work.pods, Present) else PodsOfNode()
    assert isinstance(found, PodsOfNode)
    return found.pods


def volumes_of(work: Workload) -> tuple[tuple[Ref, Attachment], ...]:
    found = work.volumes.obj if isinstance(work.volumes, Present) else VolumesOfNode()
    assert isinstance(found, VolumesOfNode)
    return found.volumes


def _is_fresh(entry: Entry, now: Now) -> bool:
    return isinstance(entry, Present | Absent) and safety.is_confirmed(entry, now)
