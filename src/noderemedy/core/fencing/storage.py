"""Behind a storage fence: pods all of whose volumes were cut off are freed, and no others (seed 002, race R37).

Part of isolation, after its methods. The node may still run, and may be heard: what it cannot reach it cannot write.
That pods are freed is recorded before the first one goes: from then on the fence is lifted for another boot only.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import freeing, pacing, safety
from noderemedy.core.fencing import attempts, devices, disks, patience, runs
from noderemedy.core.fencing.moves import confirm, noted
from noderemedy.core.fencing.view import FenceView
from noderemedy.model.actions import Action, DeletePod, DetachVolume, Guard, ListPods, ListStorage, ListVolumes
from noderemedy.model.decision import Decision
from noderemedy.model.fenceplan import AgentMethod, Scope, Step
from noderemedy.model.ids import Ref
from noderemedy.model.nodefence import digest
from noderemedy.model.proof import StorageFenced, Subject
from noderemedy.model.reasons import (
    FenceFreeingOverdue,
    FreeingWorkload,
    ListingWorkload,
    ProvenFenced,
    WaitingForWorkload,
)
from noderemedy.model.room import Absent, Present
from noderemedy.model.run import Deed, RunState
from noderemedy.model.time import MINUTE, Now, Span
from noderemedy.model.workload import Attachment, Pod, StorageOfNode

STEP = Step.ISOLATION
FREE_WITHIN = MINUTE * 5
NO_KEY = "its key was not at every disk when it was to be taken away, so that the node may write under another one"


def cutting_off(view: FenceView) -> tuple[AgentMethod, ...]:
    """The methods of isolation that keep the node from volumes, and are believed. One that names none may be the second
    way to those of another: it has to be off as well.
    """
    return tuple(one for one in storing(view) if not why_not(view, one))


def storing(view: FenceView) -> tuple[AgentMethod, ...]:
    """The methods of isolation that are about storage, whatever they are worth."""
    return tuple(one for one in devices.with_deed(view, STEP, Deed.OFF) if one.scope is Scope.STORAGE)


def covered(view: FenceView) -> tuple[str, ...]:
    """The volumes that the node cannot reach: a class on two disks is not cut off by one of them, and what is behind a
    way that is open nobody knows if it does not say so.
    """
    opened = [one for one in storing(view) if why_not(view, one)]
    if not all(one.covers for one in opened):
        return ()
    named = {name for one in cutting_off(view) for name in one.covers}
    return tuple(sorted(named - {name for one in opened for name in one.covers}))


def unswitched(view: FenceView, method: AgentMethod) -> str:
    """Why a method is left out now; "" if it is not. The power of the node proves more, and must not wait for it."""
    if devices.is_mistaken(view, method):
        return runs.MISTAKEN
    return disks.ALONE if disks.is_alone(view.peers, method) else ""


def why_not(view: FenceView, method: AgentMethod) -> str:
    """Why nothing is freed by a method; "" if it may be."""
    if why := unswitched(view, method):
        return why
    tried = runs.tries_of(view, STEP, method, Deed.OFF)
    is_done = any(job.state is RunState.DONE for job in tried)
    return NO_KEY if disks.disks_of(method) and is_done and not any(job.was_on for job in tried) else ""


def free_covered(view: FenceView, now: Now) -> Decision | None:
    """The next thing that frees what was cut off; None if that is over, or nothing was."""
    evidence, work = view.status.evidence, view.work
    is_over = evidence.storage_freed_at is not None and evidence.freeing_since is None
    if is_over or work is None:
        return None
    since = evidence.freeing_since
    if not covered(view):  # what had begun ends here: the power of the node has its own time for it
        left = [FreeingWorkload(view.name, "nothing more, as its storage can be asked no more")]
        return noted(view, structs.replace(evidence, freeing_since=None), *left) if since is not None else None
    if since is not None and patience.is_over(view, since, FREE_WITHIN, now):
        return noted(view, structs.replace(evidence, freeing_since=None), FenceFreeingOverdue(view.name, since))
    found = proof_for(view, now)
    if not isinstance(found, StorageFenced):
        return found
    if evidence.storage_freed_at is None:
        words = f"StorageFenced by {', '.join(found.methods)} at {found.seen_at}: {', '.join(found.covers)}"
        begun = structs.replace(evidence, storage_freed_at=now.wall, freeing_since=now.wall, proof=words)
        return noted(view, begun, ProvenFenced(view.name, words))
    return listed(view, work, now) or free(view, work, found, now)


def listed(view: FenceView, work: freeing.Workload, now: Now) -> Decision | None:
    """Pods, attachments and volumes are read live; each list is a few seconds old at most."""
    wanted: list[Action] = []
    for entry, action in (
        (work.pods, ListPods(view.node_at)),
        (work.volumes, ListVolumes(view.node_at)),
        (view.storage, ListStorage(view.node_at)),
    ):
        if not isinstance(entry, Present | Absent) or not safety.is_confirmed(entry, now):
            wanted.append(action)
    return Decision(tuple(wanted), (ListingWorkload(view.name),)) if wanted else None


def proof_for(view: FenceView, now: Now) -> StorageFenced | Decision | None:
    methods = cutting_off(view)
    if asking := attempts.ask(view, STEP, methods, now):
        return asking
    if asked := confirm(now, (view.node_at, view.node_entry)):
        return asked
    assert isinstance(view.node_entry, Present)
    subject = Subject(view.status.node_uid, view.status.boot_id)
    answers = runs.last_answers(view, STEP, methods)
    return safety.storage_fenced(view.node_entry, subject, answers, covered(view), now)


def free(view: FenceView, work: freeing.Workload, proof: StorageFenced, now: Now) -> Decision:
    storage = view.storage.obj if isinstance(view.storage, Present) else StorageOfNode()
    pods = [(at, pod) for at, pod in freeing.pods_of(work) if is_covered(at, pod, storage, proof.covers)]
    why = (FreeingWorkload(view.name, "pods"),)
    if going := [one for one in pods if not one[1].is_forced][: freeing.AT_ONCE]:
        found = pacing.permit(work.pace, view.node_at, batch(going), len(going), is_whole=False)
        if found.because:
            return Decision((), found.because, facts=found.facts)
        deletions = tuple(DeletePod(at, Guard(pod.uid), proof.subject, proof) for at, pod in going[: found.pods])
        return Decision((*deletions, ListPods(view.node_at)), why, facts=found.facts)
    volumes = [one for one in freeing.volumes_of(work) if is_free(one[1], work, pods, storage, proof.covers)]
    if leaving := [one for one in volumes if not one[1].deleting][: freeing.AT_ONCE]:
        detached = tuple(DetachVolume(at, Guard(one.uid), proof.subject, proof) for at, one in leaving)
        return Decision((*detached, ListVolumes(view.node_at)), why)
    if pods or volumes:
        reason = WaitingForWorkload(view.name, len(pods), len(volumes))
        return Decision((), (reason,), now.mono + freeing.PACE + Span(1))
    return noted(view, structs.replace(view.status.evidence, freeing_since=None), *why)


def batch(going: list[tuple[Ref, Pod]]) -> str:
    """Names these pods: the same ones are not counted twice."""
    return digest(" ".join(pod.uid for _, pod in going))


def is_covered(at: Ref, pod: Pod, storage: StorageOfNode, covers: tuple[str, ...]) -> bool:
    """Whether a pod has persistent volumes, all of them cut off, and no other way to shared storage."""
    if pod.stays or pod.has_other_storage or not pod.claims:
        return False
    found = [storage.volumes_of(f"{at.namespace}/{claim}") for claim in pod.claims]
    return all(volumes and all(one.names & set(covers) for one in volumes) for volumes in found)


def is_free(
    one: Attachment,
    work: freeing.Workload,
    covered: list[tuple[Ref, Pod]],
    storage: StorageOfNode,
    covers: tuple[str, ...],
) -> bool:
    """Whether an attachment is of a volume that was cut off and that no pod which stays here uses."""
    if not storage.names_of_volume(one.volume) & set(covers):
        return False
    left = [(at, pod) for at, pod in freeing.pods_of(work) if (at, pod) not in covered]
    claims = {f"{at.namespace}/{claim}" for at, pod in left for claim in pod.claims}
    return not any(one.volume == used.name for claim in claims for used in storage.volumes_of(claim))
