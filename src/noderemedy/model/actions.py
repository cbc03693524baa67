"""Everything that node-remedy can ask for: one closed union. Rendered once, in `wire/requests.py`.

Every write carries a Guard: the uid of the object it was decided on, and its resourceVersion where an older view
would do harm. What frees a workload cannot be built without a proof for that very node and boot: the central
rule of the seeds is a type error and a run-time error here.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.budgetstatus import BudgetStatus
from noderemedy.model.checkstatus import CheckStatus
from noderemedy.model.configuration import Document
from noderemedy.model.errors import Bug
from noderemedy.model.fenceremediation import RequestStatus
from noderemedy.model.host import Hold, MarkName
from noderemedy.model.ids import Ref
from noderemedy.model.incident import Detection, Record
from noderemedy.model.ledger import BudgetLedger
from noderemedy.model.machineconditions import Conditions
from noderemedy.model.node import Condition, NodeBackup, OutOfService, Taint
from noderemedy.model.nodefence import FenceSpec, FenceStatus
from noderemedy.model.proof import Proof, StorageFenced, Subject
from noderemedy.model.remediation import Progress
from noderemedy.model.remedy import RemedyOrder, RemedyRecord
from noderemedy.model.replacement import Replacement
from noderemedy.model.run import Order
from noderemedy.model.time import Wall


class Guard(Struct, frozen=True):
    """The write applies to this very object only, and to this version of it where one is named."""

    uid: str
    resource_version: str = ""


class Confirm(Struct, frozen=True):
    """Read the object live: the cache may be old."""

    ref: Ref


class ListPods(Struct, frozen=True):
    """Read the pods of a Node live: pods are not watched (`model/workload.py`)."""

    ref: Ref


class EvictPod(Struct, frozen=True):
    """Ask for a pod to go, within its disruption budget. One that may not go now is found by the next list."""

    ref: Ref
    guard: Guard


class ListVolumes(Struct, frozen=True):
    """Read live which volumes are attached to a Node: attachments are not watched either."""

    ref: Ref


class DescribeAgent(Struct, frozen=True):
    """Ask an installed fence agent what it is (`model/agent.py`). No request: the program asks it where it runs."""

    ref: Ref


class ListStorage(Struct, frozen=True):
    """Read live which persistent volumes there are, because of this Node: nobody watches them."""

    ref: Ref


class AddRebootAnnotation(Struct, frozen=True):
    """Hold the host off through the baremetal operator's reboot interface, and record for whom."""

    ref: Ref
    guard: Guard
    hold: Hold


class RecordSight(Struct, frozen=True):
    """Write beside our hold what was seen of its node when the host was off."""

    ref: Ref
    guard: Guard
    hold: Hold


class RemoveRebootAnnotation(Struct, frozen=True):
    """Release our hold: the baremetal operator powers the host on again if nobody else holds it."""

    ref: Ref
    guard: Guard


class HoldHost(Struct, frozen=True):
    """The same for one Metal3Remediation or NodeFence, under a key of its own: others' holds do not matter to it."""

    ref: Ref
    guard: Guard
    owner_uid: str
    hold: Hold
    is_fence: bool = False  # of a NodeFence


class ReleaseHost(Struct, frozen=True):
    """Release that hold."""

    ref: Ref
    guard: Guard
    owner_uid: str
    is_fence: bool = False


class MarkHostUnhealthy(Struct, frozen=True):
    """Keep the host of a machine that was given up from being chosen for the next one."""

    ref: Ref
    guard: Guard
    names: tuple[MarkName, ...]
    mark: str


class UnmarkHost(Struct, frozen=True):
    """Take our mark off, by the names that it has: a node runs on the host again."""

    ref: Ref
    guard: Guard
    names: tuple[MarkName, ...]


class BackUpNode(Struct, frozen=True):
    """Store the node's labels, annotations, taints and cordon on its Machine, with the time of deletion."""

    ref: Ref
    guard: Guard
    backup: NodeBackup
    deleted_at: Wall


class DeleteNode(Struct, frozen=True):
    """Tell the cluster that nothing of this node runs any more: frees its pods and volumes."""

    ref: Ref
    guard: Guard
    boot_id: str
    proof: Proof

    def __post_init__(self) -> None:
        demand_proof(self.proof, Subject(self.guard.uid, self.boot_id))
        demand_whole(self.proof)


class TaintOutOfService(Struct, frozen=True):
    """Tell the cluster the same by a taint: it removes the pods, detaches the volumes, and the Node stays."""

    ref: Ref
    guard: Guard
    boot_id: str
    taints: tuple[Taint, ...]  # the whole list, as it shall be
    by: OutOfService  # goes onto the Node in the same write: whoever comes later knows whose taint it is
    proof: Proof

    def __post_init__(self) -> None:
        demand_proof(self.proof, Subject(self.guard.uid, self.boot_id))
        demand_whole(self.proof)


class UntaintOutOfService(Struct, frozen=True):
    """Take that taint off again, and what says that it was ours."""

    ref: Ref
    guard: Guard
    taints: tuple[Taint, ...]  # the whole list, as it shall be


class DeletePod(Struct, frozen=True):
    """Remove a pod of this node at once, without waiting for a kubelet that cannot answer."""

    ref: Ref
    guard: Guard
    subject: Subject
    proof: Proof

    def __post_init__(self) -> None:
        demand_proof(self.proof, self.subject)


class DetachVolume(Struct, frozen=True):
    """Detach a volume from this node."""

    ref: Ref
    guard: Guard
    subject: Subject
    proof: Proof

    def __post_init__(self) -> None:
        demand_proof(self.proof, self.subject)


class RemoveRemediationAnnotation(Struct, frozen=True):
    """Take the request off the Machine: what it asked for was done."""

    ref: Ref
    guard: Guard


class RestoreNode(Struct, frozen=True):
    """Give a returned Node back what its predecessor carried. Keys already on the new Node are not touched."""

    ref: Ref
    guard: Guard
    labels: tuple[tuple[str, str], ...]
    annotations: tuple[tuple[str, str], ...]
    taints: tuple[Taint, ...]  # the whole list, as it shall be: a merge patch replaces lists
    unschedulable: bool


class DropBackup(Struct, frozen=True):
    """Remove backup and time of deletion from the Machine: they were restored, or never needed."""

    ref: Ref
    guard: Guard


class MarkMachine(Struct, frozen=True):
    """Ask for the repair of a machine through `host.metal3.io/external-remediation`; the mark names the check."""

    ref: Ref
    guard: Guard
    check: str
    at: Wall


class DeleteMachine(Struct, frozen=True):
    """Delete a Machine so that its owner replaces it. Frees nothing: its provider ends the instance first."""

    ref: Ref
    guard: Guard


class WriteLedger(Struct, frozen=True):
    """Reserve repairs in the budget's ledger, all at once; without a guard it is created, and must not exist."""

    ref: Ref
    guard: Guard | None
    ledger: BudgetLedger


class ClaimRepair(Struct, frozen=True):
    """Say who repairs a node; without a guard the claim is created, and must not exist."""

    ref: Ref
    guard: Guard | None
    holder: str
    at: Wall


class KeepDocument(Struct, frozen=True):
    """Keep the text of a good Configuration beside its ConfigMap; without a guard it is created."""

    ref: Ref
    guard: Guard | None
    owner: str  # the ConfigMap that it was read from
    owner_uid: str
    document: Document


class WriteRemedyRecord(Struct, frozen=True):
    """Say on a Node how far its remedies are; without a record only the time of the repair is left of them."""

    ref: Ref
    guard: Guard
    record: RemedyRecord | None
    remedied_at: Wall | None = None  # None: what the Node says of that stays


class CreateJob(Struct, frozen=True):
    """Run the pod of a remedy. The Job's name is that of its order: a second one cannot come of it."""

    ref: Ref
    order: RemedyOrder


class DropClaim(Struct, frozen=True):
    """Delete the claim of a repair whose target is gone: nobody will take it over."""

    ref: Ref
    guard: Guard


class PublishBudgetStatus(Struct, frozen=True):
    """Write the status of the RemediationBudget: counts, and all conditions."""

    ref: Ref
    guard: Guard
    status: BudgetStatus


class PublishCheckStatus(Struct, frozen=True):
    """Write the status of a MachineHealthCheck: counts, and all conditions, for a merge patch replaces lists."""

    ref: Ref
    guard: Guard
    status: CheckStatus


class RecordReplacement(Struct, frozen=True):
    """Write down how far the replacement of a Machine is, and keep the Machine until it is over."""

    ref: Ref
    guard: Guard
    record: Replacement
    finalizers: tuple[str, ...]  # the whole list, as it shall be: a merge patch replaces lists


class ForgetReplacement(Struct, frozen=True):
    """Take the record off a Machine, and let it go: its replacement is over, or was called off."""

    ref: Ref
    guard: Guard
    finalizers: tuple[str, ...]


class CordonNode(Struct, frozen=True):
    """Let nothing new be scheduled to a Node, and say on it that this was us."""

    ref: Ref
    guard: Guard


class UncordonNode(Struct, frozen=True):
    """Undo a cordon of ours."""

    ref: Ref
    guard: Guard


class PublishNodeCondition(Struct, frozen=True):
    """Tell one condition of ours on a Node; those of others are not touched."""

    ref: Ref
    guard: Guard
    condition: Condition
    message: str


class CreateMachine(Struct, frozen=True):
    """Make the successor of a Machine. Its name is the record's: a second one cannot come of it."""

    ref: Ref
    replaces: str  # the uid of the former one
    template: str


class WriteMachineConditions(Struct, frozen=True):
    """Write the conditions of a Machine: whole lists, for a merge patch replaces them; None: left as they are."""

    ref: Ref
    guard: Guard
    current: Conditions | None
    older: Conditions | None


class CreateRequest(Struct, frozen=True):
    """Make the request for a machine from its template. That there is one of this name already is an answer, too."""

    ref: Ref
    owner: Ref  # the Machine, in the version in which it is served
    owner_uid: str
    template: Ref  # what it is made from
    body: str  # JSON: all but apiVersion, kind and metadata
    cluster_name: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()


class DeleteRequest(Struct, frozen=True):
    """The machine has recovered: the external controller may stop. Its finalizer decides when the request is gone."""

    ref: Ref
    guard: Guard


class OpenIncident(Struct, frozen=True):
    """Begin the record of an episode with what has happened so far.

    Its name is the episode's: one that is there already is the same one.
    """

    ref: Ref
    found: Detection
    begun: Record = Record()


class WriteIncident(Struct, frozen=True):
    """Bring a record up to date: the steps that are there, and the new ones."""

    ref: Ref
    guard: Guard
    record: Record


class DropIncident(Struct, frozen=True):
    """Forget the oldest record of an episode that is over: there is room for so many only."""

    ref: Ref
    guard: Guard


class WriteFinalizers(Struct, frozen=True):
    """Put our finalizer on a request, or take it off: the whole list, as it shall be."""

    ref: Ref
    guard: Guard
    finalizers: tuple[str, ...]


class PublishRemediationStatus(Struct, frozen=True):
    """Record how far a Metal3Remediation has come, before and after every act."""

    ref: Ref
    guard: Guard
    progress: Progress


class CreateNodeFence(Struct, frozen=True):
    """Ask for a node to be fenced. Its name is the node's: that there is one already is an answer, too."""

    ref: Ref
    spec: FenceSpec
    requested_by: str  # kind/namespace/name of the object that asks


class DeleteNodeFence(Struct, frozen=True):
    """Release a node: its finalizer stays until isolation and power are as they were."""

    ref: Ref
    guard: Guard


class PublishFenceStatus(Struct, frozen=True):
    """Record how far a NodeFence has come, before and after every act."""

    ref: Ref
    guard: Guard
    status: FenceStatus


class StartRun(Struct, frozen=True):
    """Have one fence agent run once, as recorded in its NodeFence. Accepted is not done: its `Run` is what tells."""

    ref: Ref  # the NodeFence
    guard: Guard
    order: Order  # its token is filled in by whoever carries it out


class PublishRequestStatus(Struct, frozen=True):
    """Tell on a FenceRemediation how far its NodeFence has come."""

    ref: Ref
    guard: Guard
    status: RequestStatus


Action = (
    Confirm
    | ListPods
    | EvictPod
    | ListVolumes
    | ListStorage
    | DescribeAgent
    | AddRebootAnnotation
    | RecordSight
    | RemoveRebootAnnotation
    | HoldHost
    | ReleaseHost
    | MarkHostUnhealthy
    | UnmarkHost
    | BackUpNode
    | DeleteNode
    | TaintOutOfService
    | UntaintOutOfService
    | DeletePod
    | DetachVolume
    | WriteFinalizers
    | PublishRemediationStatus
    | CreateNodeFence
    | DeleteNodeFence
    | PublishFenceStatus
    | StartRun
    | PublishRequestStatus
    | RemoveRemediationAnnotation
    | RestoreNode
    | DropBackup
    | MarkMachine
    | DeleteMachine
    | WriteLedger
    | ClaimRepair
    | KeepDocument
    | WriteRemedyRecord
    | CreateJob
    | DropClaim
    | PublishBudgetStatus
    | PublishCheckStatus
    | RecordReplacement
    | ForgetReplacement
    | CordonNode
    | UncordonNode
    | PublishNodeCondition
    | CreateMachine
    | WriteMachineConditions
    | CreateRequest
    | DeleteRequest
    | OpenIncident
    | WriteIncident
    | DropIncident
)
# Of what is gone already there is nothing left to do.
DELETIONS: tuple[type, ...] = (DeleteNode, DeleteMachine, DeleteRequest, DropClaim, DropIncident, DeleteNodeFence)
# These change nothing, so they need no leader and no plan.
READS: tuple[type, ...] = (Confirm, ListPods, ListVolumes, ListStorage, DescribeAgent)
# Whose uid is a precondition, and whose next list shows what became of it: after no answer nothing is looked at first.
REPEATABLE: tuple[type, ...] = (ListPods, ListVolumes, ListStorage, DescribeAgent, EvictPod, DeletePod, DetachVolume)
# What takes a proof: of a decision that asked for many, those that come too late are dropped, and it proves anew.
PROVEN: tuple[type, ...] = (DeleteNode, TaintOutOfService, DeletePod, DetachVolume)
# Pods and volumes of one node go one after the other on one proof: they are one act in many requests.
IRREVERSIBLE: tuple[type, ...] = (
    *(AddRebootAnnotation, HoldHost, DeleteNode, TaintOutOfService, DeleteMachine),
    *(StartRun, CreateJob),
)
# What is no repair by itself: a plan takes it for done.
BOOKKEEPING: tuple[type, ...] = (WriteLedger, ClaimRepair, KeepDocument)


def demand_proof(proof: object, subject: Subject) -> None:
    """Refuse to build a freeing action without a proof for that very boot of that very node."""
    if not isinstance(proof, Proof):
        raise Bug(f"freeing needs a proof, got {type(proof).__name__}")
    if not subject.node_uid or proof.subject != subject:
        raise Bug(f"the proof is for {proof.subject}, not for {subject}")


def demand_whole(proof: Proof) -> None:
    """Refuse to free a whole node on a proof that covers some of its volumes only."""
    if isinstance(proof, StorageFenced):
        raise Bug("a storage fence frees pods of its own volumes, never the whole node")
