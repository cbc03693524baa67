"""How far the remedies of one node are: the record on the Node, what a remedy pod is told, and its Job. Seed 002.

Recorded before anything is done, so that a new manager picks up what runs. Read and written by `wire/remedies.py`,
reckoned with in `core/remedy/`.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from noderemedy.model.time import MINUTE, Span, Wall

BACKSTOP: Span = MINUTE  # for a place, for a kubelet that is slow, and for the Job controller to hear of it
RECOVERY = 0  # the number of the remedy that runs when the trouble is over; the others count from 1


class PodRemedy(Struct, frozen=True):
    """A remedy that is a pod, run by a Job."""

    template: str  # JSON of a pod template: labels, annotations, spec
    deadline: Span = MINUTE * 10
    retries: int = 1
    kept: Span = MINUTE * 60 * 24  # the Job, and with it the logs of its pods
    grace: Span = Span.seconds(30)  # between the polite signal and the other one; Kubernetes' default

    @property
    def job_deadline(self) -> Span:
        """When the Job controller ends what the kubelet should have ended: it deletes the pod, and its log with it."""
        return self.deadline + self.grace + BACKSTOP


class Phase(Enum):
    """Where the chain stands."""

    RUNNING = "running"  # a remedy was ordered
    FREEING = "freeing"  # it succeeded, and its success makes the node safe: its workload is freed
    WAITING = "waiting"  # it has ended; its period runs
    EXHAUSTED = "exhausted"  # all remedies were tried
    RECOVERING = "recovering"  # the trouble is over, and the recovery was ordered


class Outcome(Enum):
    """How a remedy ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"  # it is not defined


class RemedyRecord(Struct, frozen=True):
    """One episode of one Node: which document and threshold, which remedy, and how that stands."""

    episode: str
    document: str  # the ConfigMap
    threshold: str
    since: Wall  # the first sign
    number: int  # of the remedy: 1, 2, …; RECOVERY
    remedy: str
    phase: Phase
    at: Wall  # since when it is in this phase
    boot_id: str = ""  # of the boot that was in trouble when this remedy was ordered
    job: str = ""  # what runs it; "": nothing does
    outcome: Outcome | None = None  # of this remedy
    freed_by: str = ""  # how the workload was freed in this episode; "": it was not
    freed_boot: str = ""  # that was freed while its node was silent; "": none was
    has_booted: bool = False  # after this remedy was ordered the node was seen on another boot


class RemedyOrder(Struct, frozen=True):
    """All that a remedy pod is told about the node that it is for."""

    node: str
    node_uid: str
    boot_id: str
    addresses: tuple[str, ...]
    provider_id: str
    episode: str
    document: str
    threshold: str
    remedy: str
    number: int
    pod: PodRemedy
    not_after: Wall
    vouches_for: str = ""  # the boot of which its success frees what runs there; "": it frees nothing


class JobState(Enum):
    """How a Job stands."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Job(Struct, frozen=True):
    """A Job of our namespace."""

    uid: str
    state: JobState = JobState.RUNNING
    why: str = ""  # of a failure, as the Job says it
    ended: Wall | None = None
    created: Wall | None = None
    deleting: bool = False
    node: str = ""  # that it is for; "": it is none of ours
    episode: str = ""
    vouches_for: str = ""  # the boot that its success makes safe, by the administrator's word when it was made
