"""A Metal3Remediation (seeds 003, 004): what it asks for, and how far it has come.

Read by `wire/remediations.py`, decided by `core/metal3/remediation.py`. All that a successor needs to go on is in
`Progress`, which is the object's status: the phase, when it began, and the evidence that was gathered on the way.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from noderemedy.model.attestation import Attestation
from noderemedy.model.checkstatus import SUCCEEDED, Foreign, Told
from noderemedy.model.machine import ControllerOwner
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.time import Span, Wall
from noderemedy.model.workload import FreeBy

FINALIZER = "remediation.metal3.io"


class Strategy(Enum):
    """What to do when power cycling does not help: try again for ever, or let the owner replace the machine."""

    REBOOT = "reboot"
    ESCALATE = "escalate"


class Phase(Enum):
    """The words of `status.phase`. NEW is an object that nobody has begun with."""

    NEW = ""
    POWER_OFF = "power-off"
    FREEING = "freeing"
    POWER_ON = "power-on"
    WAITING = "waiting"
    DELETING_MACHINE = "deleting-machine"
    FAILED = "failed"


class Evidence(Struct, frozen=True):
    """What was seen and done in this attempt, for whoever asks why, and for whoever takes over."""

    machine_uid: str = ""
    node_uid: str = ""  # of the Node when the attempt began, and its boot
    boot_id: str = ""
    host_uid: str = ""
    off_at: Wall | None = None  # the host was seen off
    ready_since: Wall | None = None  # what its Node said then: Ready since; None: not ready
    proof: str = ""  # what the freeing rested on; "" where nothing was freed
    free_by: FreeBy | None = None  # chosen when freeing began
    tainted_at: Wall | None = None  # recorded before we taint: the taint is ours to take away
    freed_at: Wall | None = None
    contradicted_at: Wall | None = None  # the node reported all the same: its host is another machine's
    boot_read_at: Wall | None = None  # a live read has shown that boot when its host was off; None: nobody could look


class Progress(Struct, frozen=True):
    """The status."""

    phase: Phase = Phase.NEW
    since: Wall | None = None  # when this phase began: all deadlines run from here
    retry_count: int = 0
    last_remediated: Wall | None = None
    evidence: Evidence = Evidence()
    generation: int = 0
    conditions: tuple[Told | Foreign, ...] = ()
    attested_ahead: Wall | None = None  # the time of a person's word that was seen before it: that one never counts

    def told(self, type: str) -> Told | None:
        """Our own condition of this type."""
        return next((one for one in self.conditions if isinstance(one, Told) and one.type == type), None)

    @property
    def is_recovered(self) -> bool:
        told = self.told(SUCCEEDED)
        return told is not None and told.status == "True"


class Metal3Remediation(Struct, frozen=True):
    """A request to power cycle the machine that owns it, or whose name it bears."""

    uid: str
    strategy: Strategy = Strategy.ESCALATE
    retries: int = 1
    off_within: Span = Span.seconds(120)
    on_within: Span = Span.seconds(600)
    free_by: FreeBy | None = None  # None: by the version of the node's cluster
    progress: Progress = Progress()
    attested: Attestation | Malformed | None = None
    finalizers: tuple[str, ...] = ()
    owner: ControllerOwner | None = None  # the Machine that an owner reference names
    owner_uid: str = ""
    cloned_from: str = ""  # the template that it was made from; "": made by hand
    created: Wall | None = None
    generation: int = 0
    cluster_paused: bool = False
    paused: Paused | Malformed | None = None
    deleting: bool = False
    problems: tuple[str, ...] = ()  # of the spec, each with its field and its remedy

    @property
    def is_ended(self) -> bool:
        """Recovered or failed: nobody works on it any more."""
        return self.progress.phase is Phase.FAILED or self.has_succeeded

    @property
    def has_succeeded(self) -> bool:
        return self.progress.is_recovered

    @property
    def is_finalized_by_us(self) -> bool:
        return FINALIZER in self.finalizers
