"""One run of one fence method: what it shall do, and what came of it. Never the value of a secret.

Ordered by `core/fencing/`, recorded in a NodeFence before it begins, carried out by the manager as a process or by
a Job, and read back from either as `Run`. A run that was ordered is not a run that happened: only its result says so.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from noderemedy.model.facts import FactValue
from noderemedy.model.ids import FACTS, NODE_FENCE, Kind, Ref
from noderemedy.model.time import Mono, Span, Wall

RUN = Kind(FACTS, "Run")


class Deed(Enum):
    """What an agent is asked for. Never a cycle: whether it happened could not be verified."""

    OFF = "off"
    ON = "on"
    STATUS = "status"


class SecretParameter(Struct, frozen=True):
    """A parameter whose value is in a Secret of our namespace. Resolved where the run happens, nowhere else."""

    parameter: str
    secret: str
    key: str
    is_optional: bool = False  # a Secret without that key leaves the parameter out


class Order(Struct, frozen=True):
    """All that a run needs to know, and all by which it can tell that it comes too late."""

    id: str  # the name of this one attempt: a second one of that name is the same one
    fence: Ref  # the NodeFence (or the drill) that it belongs to
    fence_uid: str
    node: str
    node_uid: str
    boot_id: str  # the boot that is to be ended: another one is none of its business
    token: int  # of the leadership that ordered it
    method: str  # as the configuration names it
    agent: str  # fence_ipmilan
    deed: Deed
    parameters: tuple[tuple[str, str], ...]
    secrets: tuple[SecretParameter, ...]
    patience: Span  # for the whole run: what takes longer has failed
    not_after: Wall  # what has not begun by then does nothing
    bound_to: str = ""  # the node whose disks it is about to use, as a Job there; "": anywhere but on `node`
    own_key: str = ""  # under which that node is registered with the disks, where it takes another one's key away

    @property
    def is_drill(self) -> bool:
        """Whether it belongs to no NodeFence: such an order only asks."""
        return self.fence.kind != NODE_FENCE and self.deed is Deed.STATUS


class Power(Enum):
    """What the device said, when it was asked after the deed."""

    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"


class RunState(Enum):
    """How a run stands."""

    RUNNING = "running"
    DONE = "done"  # the agent succeeded, and the device, asked twice afterwards, says what it should
    FAILED = "failed"  # it surely did not end well: refused, wrong, too late, or too long


class Result(Struct, frozen=True):
    """How a run ended, as the one who carried it out tells it; a Job does so in its termination message."""

    state: RunState
    power: Power = Power.UNKNOWN
    said: str = ""
    identity: str = ""
    was_on: bool = False  # of an "off" at disks: the key was at every one of them before
    took: Span = Span(0)  # from the first question to the device to its last answer, by the clock of who asked


class Run(FactValue, frozen=True):
    """What is known of a run. `begun` is our own clock when we asked for it: what it found is not older than that."""

    id: str
    state: RunState
    power: Power = Power.UNKNOWN
    begun: Mono = Mono(0)
    said: str = ""  # for people: short, and without any secret
    identity: str = ""  # the UUID that the device told of itself; "" if it tells none. Serial numbers: no Node has one
    was_on: bool = False  # as its Result tells it
    took: Span = Span(0)  # the same, and not longer than we waited for it
    is_sure: bool = True  # False: nobody answered when it was asked for, so it may run; to ask again does no harm

    def ended(self, result: Result, at: Mono) -> Run:
        """The same run with what came of it, as we learned at this moment."""
        told = {name: getattr(result, name) for name in Result.__struct_fields__}
        took = max(Span(0), min(result.took, at.since(self.begun)))
        return replace(self, **{**told, "took": took})


def run_ref(id: str) -> Ref:
    """Under which name the program keeps what is known of a run that it carries out itself."""
    return Ref("", RUN, "", id)
