"""A NodeFence (seed 002, `ha.k8s.io/v1`): what it asks for, and how far it has come. One per node.

Read by `wire/nodefences.py`, decided by `core/fencing/fence.py`. All that a successor needs to go on is in
`FenceStatus`, the object's status: state and step, the runs that were ordered with their results, and the evidence.
"""

from __future__ import annotations

import hashlib
from enum import Enum

from msgspec import Struct

from noderemedy.model.attestation import Attestation
from noderemedy.model.checkstatus import Foreign, Told
from noderemedy.model.fenceplan import Step
from noderemedy.model.ids import NODE, NODE_FENCE, Ref
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import NodeBackup
from noderemedy.model.run import Deed, Power, RunState
from noderemedy.model.time import MINUTE, Span, Wall
from noderemedy.model.workload import FreeBy

FINALIZER = "node-remedy.dev/fence"  # keeps the object until isolation and power are as they were
PREFIX = "node-fence-"
NAME_MAX = 253  # of the Kubernetes API


class State(Enum):
    """The words of `status.state`, as seed 002 has them."""

    NEW = "new"
    RUNNING = "running"  # isolated, ready for power management
    DONE = "done"  # ready for recovery
    FINAL = "final"
    ERROR = "error"


class FenceJob(Struct, frozen=True):
    """One run of one method: recorded before it is asked for, and what came of it."""

    id: str
    step: Step
    method: str
    deed: Deed
    since: Wall  # when it was recorded: not later than it began
    patience: Span
    restart: int = 0
    attempt: int = 0
    state: RunState = RunState.RUNNING  # ordered, or under way
    power: Power = Power.UNKNOWN
    said: str = ""  # for people: short, and without any secret
    is_lost: bool = False  # nobody knows what became of it, and its time is over
    is_remembered: bool = (
        False  # of a flow before this one: what it left a device at is known, and it is no try of ours
    )
    token: int = 0  # of the leadership that recorded it; stamped when it is written
    device: str = ""  # a digest of the agent and of what says which plug is meant; "": no agent's
    was_on: bool = False  # as its Run tells it; of a machine that may be suspended: this flow saw it on before

    @property
    def is_open(self) -> bool:
        return self.state is RunState.RUNNING


class FenceEvidence(Struct, frozen=True):
    """What was seen and done in this flow, for whoever asks why, and for whoever takes over."""

    was_ready: bool = False  # the node was Ready when the flow began: that it is so proves no recovery
    host_uid: str = ""  # of the BareMetalHost that is held off
    provider_id: str = ""  # of the node: by it a cloud is told to switch it on, also when its Node is gone
    machine: str = ""  # that stood behind the node when the flow began: its provider removes the instance
    drained_since: Wall | None = None  # pods are asked to go, as long as the node still answers
    off_at: Wall | None = None  # everything that can switch it off said that it is off
    proof: str = ""  # what the freeing rested on; "" where nothing was freed
    free_by: FreeBy | None = None  # chosen when freeing began
    tainted_at: Wall | None = None  # recorded before we taint: the taint is ours to take away
    freed_at: Wall | None = None
    freeing_since: Wall | None = None
    storage_freed_at: Wall | None = None  # what a storage fence covered was freed
    backup: NodeBackup | None = None  # of a Node that was deleted to free its workload
    on_since: Wall | None = None  # freed, or not to be freed any more: from here on power comes back
    heard_since: Wall | None = None  # switched off, and the node still reports


class FenceStatus(Struct, frozen=True):
    """The status."""

    state: State = State.NEW
    step: Step = Step.ISOLATION
    since: Wall | None = None  # when this state, or this try of its step, began: all deadlines run from here
    started: Wall | None = None  # when the flow began; None: nobody has begun with it
    retries: int = 0  # of the present step
    restarts: int = 0  # of the flow
    episode: str = ""
    node_uid: str = ""  # of the Node when the flow began, and its boot
    boot_id: str = ""
    jobs: tuple[FenceJob, ...] = ()
    evidence: FenceEvidence = FenceEvidence()
    generation: int = 0
    conditions: tuple[Told | Foreign, ...] = ()
    attested_ahead: Wall | None = None  # the time of a person's word that was seen before it: that one never counts

    def told(self, type: str) -> Told | None:
        """Our own condition of this type."""
        return next((one for one in self.conditions if isinstance(one, Told) and one.type == type), None)


class FenceSpec(Struct, frozen=True):
    """What is asked for. The defaults are those of the kind itself."""

    node: str = ""
    cluster: str = ""  # namespace/name of the workload cluster that has the node; "": this one
    step_retries: int = 2
    max_restarts: int = 3
    node_ready_timeout: Span = MINUTE * 5
    new_delay: Span = Span(0)  # from the creation to the isolation
    power_management_delay: Span = MINUTE * 5  # from the start of the flow to the first power-off
    free_by: FreeBy | None = None  # None: by the version of the node's cluster
    even_if_ready: bool = False  # who asks has another reason than Ready: a node that is Ready is power cycled, too
    stopped: bool = False
    ttl_after_final: Span = MINUTE * 60

    @property
    def node_at(self) -> Ref:
        return Ref(self.cluster, NODE, "", self.node)


class NodeFence(Struct, frozen=True):
    """A request to fence one node."""

    uid: str
    spec: FenceSpec = FenceSpec()
    status: FenceStatus = FenceStatus()
    attested: Attestation | Malformed | None = None
    requested_by: str = ""  # the object that asked for it, as kind/namespace/name; "": a person
    finalizers: tuple[str, ...] = ()
    created: Wall | None = None
    generation: int = 0
    paused: Paused | Malformed | None = None
    deleting: bool = False
    problems: tuple[str, ...] = ()  # of the spec, each with its field and its remedy

    @property
    def is_begun(self) -> bool:
        return self.status.started is not None

    @property
    def is_final(self) -> bool:
        return self.status.state is State.FINAL

    @property
    def is_given_up(self) -> bool:
        """In error, and no restart is left: it waits for a person, or for the node."""
        return self.status.state is State.ERROR and self.status.restarts >= self.spec.max_restarts

    @property
    def is_finalized_by_us(self) -> bool:
        return FINALIZER in self.finalizers


def fence_ref(node: Ref) -> Ref:
    """The only NodeFence that a node can have. Nodes of other clusters cannot share a name with those of this one."""
    name = f"{PREFIX}{digest(node.cluster)}-{node.name}" if node.cluster else f"{PREFIX}{node.name}"
    if len(name) > NAME_MAX:
        name = f"{PREFIX}{digest(f'{node.cluster} {node.name}')}"
    return Ref("", NODE_FENCE, "", name)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]
