"""An Incident: the record of one episode of one target, from the first sign to the end.

What was found at detection never changes; what happened is only ever appended to; a person's answer stands beside
both. Written by `core/incident/`, answered by people, read by `history`, `explain` and the approval gate.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from noderemedy.model.ids import Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.time import MINUTE, Wall

STEPS_MAX = 100  # then the record is closed and another one goes on
PODS_MAX = 50
SIGNS_MAX = 8
TEXT_MAX = 500
VALUE_MAX = 120
QUIET = MINUTE  # a target that falls sick again within this time goes on with its record


class Ending(Enum):
    """How an episode ended."""

    RECOVERED = "recovered"  # after we, or whoever we asked, did something
    SELF_RECOVERED = "self-recovered"  # before anything was done
    ESCALATED = "escalated"  # repairs did not help, its owner took the machine away
    REPLACED = "replaced"  # its owner was asked to replace the machine, and it is gone
    FAILED = "failed"  # something was done, the node is not well, and nobody asks any more
    GONE = "gone"  # somebody else took the machine away
    UNWATCHED = "unwatched"  # no check selects the target any more
    CONTINUED = "continued"  # this record is full, the next one goes on


class Answer(Enum):
    """What a person may answer where a check asks for approval."""

    APPROVE = "approve"
    DENY = "deny"
    SNOOZE = "snooze"


class Approval(Struct, frozen=True):
    """`spec.approval`: the answer, until when it holds, and who gave it."""

    answer: Answer
    until: Wall | None = None
    by: str = ""


class Detection(Struct, frozen=True):
    """What was found at the first sign."""

    target: Ref
    target_uid: str
    episode: str
    detected: Wall
    node: str = ""
    node_uid: str = ""
    boot_id: str = ""
    check: str = ""  # the one that governs, as kind/namespace/name; "" if somebody else asked
    signs: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()  # types of conditions and reasons of events: repeats are counted by these


class Step(Struct, frozen=True):
    """One thing that changed: an aspect of the repair and its new value; without a value it is over.

    `by` is the object that decided it, and `generation` by which of its generations: of then, whatever became of it.
    """

    at: Wall  # whole seconds, as the API keeps them
    room: str
    what: str
    value: str = ""
    evidence: str = ""
    versions: str = ""
    by: str = ""  # kind/namespace/name; "": nobody's policy, or it was written by an older version
    generation: int = 0  # 0: it has none, or nobody saw which one it was


class PodSeen(Struct, frozen=True):
    """A pod of the node at detection."""

    namespace: str
    name: str
    uid: str = ""
    owner: str = ""


class Record(Struct, frozen=True):
    """What happened, and how it ended."""

    steps: tuple[Step, ...] = ()
    pods: tuple[PodSeen, ...] = ()
    pods_in_all: int | None = None  # None: they were not listed
    ending: Ending | None = None
    closed: Wall | None = None

    @property
    def decided(self) -> Wall | None:
        """When the target was first judged unhealthy."""
        return next((step.at for step in self.steps if (step.what, step.value) == ("verdict", "unhealthy")), None)


class Incident(Struct, frozen=True):
    """One record as the API keeps it."""

    uid: str
    found: Detection
    record: Record = Record()
    approval: Approval | Malformed | None = None
    deleting: bool = False

    @property
    def is_open(self) -> bool:
        return self.record.ending is None
