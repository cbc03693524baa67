"""A FenceRemediation (seed 004, ours): a health check's request to fence the node of its machine.

Made from a FenceRemediationTemplate by the room of health checks, read by `wire/nodefences.py`, decided by
`core/fencing/request.py`. It makes the NodeFence of the node and tells what becomes of it.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from noderemedy.model.checkstatus import Foreign, Told
from noderemedy.model.machine import ControllerOwner
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.nodefence import FenceSpec
from noderemedy.model.time import Wall

FINALIZER = "node-remedy.dev/fence-remediation"


class FenceStrategy(Enum):
    """What to do when fencing did not help: let the owner replace the machine, or wait for a person."""

    ESCALATE = "escalate"
    ALERT = "alert"


class FencePhase(Enum):
    """The words of `status.phase`. NEW is an object that nobody has begun with."""

    NEW = ""
    FENCING = "fencing"
    RECOVERED = "recovered"
    DELETING_MACHINE = "deleting-machine"
    FAILED = "failed"


class RequestStatus(Struct, frozen=True):
    """The status."""

    phase: FencePhase = FencePhase.NEW
    since: Wall | None = None
    machine_uid: str = ""
    fence: str = ""  # the name of the NodeFence, and its uid once it was seen
    fence_uid: str = ""
    state: str = ""  # of the NodeFence, for people
    step: str = ""
    generation: int = 0
    conditions: tuple[Told | Foreign, ...] = ()


class FenceRemediation(Struct, frozen=True):
    """A request to fence the node of the machine that owns it, or whose name it bears."""

    uid: str
    strategy: FenceStrategy = FenceStrategy.ESCALATE
    spec: FenceSpec = FenceSpec()  # of the NodeFence to make, without its node
    status: RequestStatus = RequestStatus()
    finalizers: tuple[str, ...] = ()
    owner: ControllerOwner | None = None  # the Machine that an owner reference names
    owner_uid: str = ""
    cloned_from: str = ""  # the template that it was made from; "": made by hand
    created: Wall | None = None
    generation: int = 0
    cluster_paused: bool = False
    paused: Paused | Malformed | None = None
    deleting: bool = False
    problems: tuple[str, ...] = ()

    @property
    def is_ended(self) -> bool:
        """Recovered or failed: nobody works on it any more."""
        return self.has_succeeded or self.status.phase is FencePhase.FAILED

    @property
    def has_succeeded(self) -> bool:
        return self.status.phase is FencePhase.RECOVERED

    @property
    def is_finalized_by_us(self) -> bool:
        return FINALIZER in self.finalizers
