"""Reasons: why something is done, or why not. One class each, with its arguments and one sentence.

A reason becomes the Event, the log line, the console row, the metric label, a section of docs/reasons.md and the
mark of a test. Arguments never change while the state stays the same, or events would repeat: moments, not ages.
What changes by itself all the same, such as a count, is `passing`: it is told along, and is no news.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, structs

from noderemedy.model.time import Span, Wall


class Reason(Struct, frozen=True):
    """The base of all reasons."""

    alert: ClassVar[bool] = False  # a person should look: Warning event, metric, alert rule
    quiet: ClassVar[bool] = False  # daily business: in plan and trace, but no event and no log line
    logged: ClassVar[bool] = False  # a step that another one tells of: a log line, but no event
    passing: ClassVar[tuple[str, ...]] = ()  # arguments that change by themselves while all else stays as it is

    def gist(self) -> Reason:
        """This reason without what is passing: two that have the same gist are the same news."""
        return structs.replace(self, **dict.fromkeys(self.passing)) if self.passing else self

    def note(self) -> str:
        """One sentence for a person."""
        raise NotImplementedError


class TableRow(Reason, frozen=True):
    """The row of seed 001's truth table that applies."""

    logged: ClassVar[bool] = True
    node: int
    needs: int
    on: int
    held: int
    says: str

    def note(self) -> str:
        state = f"node {self.node}, needs remediation {self.needs}, powered on {self.on}, held {self.held}"
        return f"truth table ({state}): {self.says}"


class ConfirmFirst(Reason, frozen=True):
    """An act that cannot be undone waits for a live read."""

    quiet: ClassVar[bool] = True
    what: str

    def note(self) -> str:
        return f"reading {self.what} live before acting on it"


class BackupFirst(Reason, frozen=True):
    """The node goes only after its labels, annotations, taints and cordon are stored."""

    logged: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"storing labels, annotations, taints and cordon of node {self.node} before it is deleted"


class ProvenOff(Reason, frozen=True):
    """The host was seen off: nothing on the node can write."""

    host: str

    def note(self) -> str:
        return f"host {self.host} is held by us and was seen powered off: the node cannot write"


class WaitingForPowerOff(Reason, frozen=True):
    """The hold is in place, the host is still on."""

    host: str

    def note(self) -> str:
        return f"waiting for host {self.host} to be powered off"


class PowerOffOverdue(Reason, frozen=True):
    """The hold is in place for long, and the host is still not off: nothing is freed."""

    alert: ClassVar[bool] = True
    host: str
    since: Wall | None
    error: str

    def note(self) -> str:
        cause = f" ({self.error})" if self.error else ""
        when = f"at {self.since}" if self.since else "some time ago"
        return (
            f"host {self.host} was asked to power off {when} and is still not off{cause}; "
            "nothing is freed; check the BMC and the baremetal operator, or power the host off by hand"
        )


class WaitingForNode(Reason, frozen=True):
    """The node was deleted on proof; it has not registered again yet."""

    logged: ClassVar[bool] = True
    node: str
    since: Wall

    def note(self) -> str:
        return f"waiting for node {self.node}, deleted at {self.since}, to register again"


class NodeOverdue(Reason, frozen=True):
    """The node has not come back for long. Its backup is kept."""

    alert: ClassVar[bool] = True
    node: str
    since: Wall
    power: str
    error: str

    def note(self) -> str:
        cause = f", {self.error}" if self.error else ""
        return (
            f"node {self.node}, deleted at {self.since}, has not come back (host power {self.power}{cause}); "
            "its backup is kept on the Machine; look at the host's console"
        )


class StartingAnew(Reason, frozen=True):
    """Somebody marked the Machine while the node that we deleted is starting: the mark waits."""

    node: str
    since: Wall
    until: Wall

    def note(self) -> str:
        return (
            f"node {self.node}, deleted at {self.since}, is starting: what somebody asks of its Machine meanwhile "
            f"counts from {self.until} on, or is fulfilled when the node is back and ready"
        )


class MarkFulfilled(Reason, frozen=True):
    """The node is back and ready: a mark from the time of its start asks for nothing more."""

    node: str

    def note(self) -> str:
        return f"node {self.node} is back and ready: the mark that was put on its Machine meanwhile is taken off"


class RestoringNode(Reason, frozen=True):
    """The node is back: it gets what its predecessor carried."""

    logged: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"node {self.node} is back: restoring labels, annotations, taints and cordon"


class NodeWhole(Reason, frozen=True):
    """The returned node carries all of the backup: the backup can go."""

    node: str

    def note(self) -> str:
        return f"node {self.node} carries what was backed up: dropping the backup"


class BackupUnneeded(Reason, frozen=True):
    """The remediation was called off before the node was deleted."""

    node: str

    def note(self) -> str:
        return f"node {self.node} was never deleted: dropping its backup"


class BackupUnreadable(Reason, frozen=True):
    """Somebody wrote a backup that cannot be read: it is kept, a person must look."""

    alert: ClassVar[bool] = True
    problem: str

    def note(self) -> str:
        return (
            f"annotation remediation.metal3.io/node-backup cannot be read ({self.problem}); it is kept; "
            "mend it, or remove it to go without"
        )


class BackupReplaced(Reason, frozen=True):
    """Somebody wrote a backup that cannot be read, and the node fails again: a workload counts more than labels."""

    alert: ClassVar[bool] = True
    problem: str

    def note(self) -> str:
        return (
            f"annotation remediation.metal3.io/node-backup could not be read ({self.problem}) and is replaced by a "
            "backup of the node as it is now; what only the old text held is lost: look whether labels and taints are "
            "missing when the node is back"
        )


class HoldOrphaned(Reason, frozen=True):
    """The host carries our hold, and no living Machine names it back."""

    host: str

    def note(self) -> str:
        return f"host {self.host} is held by us, but no Machine names it any more: releasing it, freeing nothing"


class HolderUnreadable(Reason, frozen=True):
    """A host is held off for a request that is there and cannot be read."""

    alert: ClassVar[bool] = True
    host: str

    def note(self) -> str:
        return f"host {self.host} is held off for a request that cannot be read just now: mend or delete that request"


class ClusterPaused(Reason, frozen=True):
    """`cluster.x-k8s.io/paused` is on the Machine, or on a request for its repair."""

    at: str = ""  # the object that carries it

    def note(self) -> str:
        return f"{self.at} carries cluster.x-k8s.io/paused: nothing is done; remove the annotation to go on"


class PausedByPerson(Reason, frozen=True):
    """`node-remedy.dev/paused`: nothing new starts."""

    until: Wall | None
    at: str = ""  # the object that carries it

    def note(self) -> str:
        end = f"until {self.until}" if self.until else "until the annotation is removed"
        who = f"{self.at} is paused" if self.at else "paused"
        return f"{who} by node-remedy.dev/paused {end}: nothing new starts"


class PauseUnreadable(Reason, frozen=True):
    """A pause that cannot be read counts as a pause."""

    alert: ClassVar[bool] = True
    problem: str
    at: str = ""  # the object that carries it

    def note(self) -> str:
        where = f" of {self.at}" if self.at else ""
        remedy = 'write "true" or a time like 2030-01-31T12:00:00Z'
        return f"annotation node-remedy.dev/paused{where}: {self.problem}; {remedy}"


class HostPaused(Reason, frozen=True):
    """The host is paused or detached: its power state is not looked after by anybody."""

    host: str
    how: str

    def note(self) -> str:
        return (
            f"host {self.host} is {self.how}: the baremetal operator neither acts on it nor refreshes its power state; "
            f"nothing is done; remove baremetalhost.metal3.io/{self.how} to go on"
        )


class HostNotNamed(Reason, frozen=True):
    """The Machine needs remediation, but names no host."""

    alert: ClassVar[bool] = True

    def note(self) -> str:
        return (
            "no metal3.io/BareMetalHost annotation on the Machine or its Metal3Machine: there is no power to switch; "
            "look why its provider has not written it, or repair the machine by hand"
        )


class HostNameUnreadable(Reason, frozen=True):
    """The host annotation of the Machine, or of its Metal3Machine, is garbage."""

    alert: ClassVar[bool] = True
    problem: str

    def note(self) -> str:
        return f"annotation metal3.io/BareMetalHost: {self.problem}; write namespace/name"


class HostMissing(Reason, frozen=True):
    """The host that the Machine names does not exist."""

    alert: ClassVar[bool] = True
    host: str

    def note(self) -> str:
        return (
            f"host {self.host}, named by metal3.io/BareMetalHost, does not exist: nothing is done; "
            "create it, or correct that annotation"
        )


class HostUnreadable(Reason, frozen=True):
    """The host that the Machine names exists, but cannot be read."""

    alert: ClassVar[bool] = True
    host: str
    problem: str

    def note(self) -> str:
        return f"host {self.host} cannot be read ({self.problem}): nothing is done until it is mended"


class NodeUnreadable(Reason, frozen=True):
    """The Node that the Machine names exists, but cannot be read: that is not a node that does not exist."""

    alert: ClassVar[bool] = True
    node: str
    problem: str

    def note(self) -> str:
        return f"node {self.node} cannot be read ({self.problem}): nothing is done until it is mended"


class ConsumerUnreadable(Reason, frozen=True):
    """The host's consumerRef leads to an object that cannot be read: whose host it is cannot be told."""

    alert: ClassVar[bool] = True
    consumer: str
    problem: str

    def note(self) -> str:
        return f"{self.consumer}, which this host names, cannot be read ({self.problem}): left alone until it is mended"


class HostNotOurs(Reason, frozen=True):
    """The host that the Machine names is consumed by somebody else."""

    alert: ClassVar[bool] = True
    host: str
    consumer: str

    def note(self) -> str:
        return (
            f"host {self.host} is consumed by {self.consumer or 'nobody'}, not by this Machine: "
            "it is not touched and nothing is freed; mend metal3.io/BareMetalHost or spec.consumerRef"
        )


class NodeNotOurs(Reason, frozen=True):
    """The Node under the name that the Machine gives belongs to another machine."""

    alert: ClassVar[bool] = True
    node: str
    provider_id: str
    expected: str

    def note(self) -> str:
        return (
            f"node {self.node} has providerID {self.provider_id}, the Machine {self.expected}: "
            "it is another machine's node and is not touched; correct status.nodeRef or spec.providerID of the "
            "Machine, or delete the Machine if its node is gone for good"
        )


class HostOffOnPurpose(Reason, frozen=True):
    """`spec.online: false`: somebody wants this host off."""

    host: str

    def note(self) -> str:
        return f"host {self.host} has spec.online false: it was switched off on purpose and is never powered on by us"


class HostUnsettled(Reason, frozen=True):
    """The operator is busy with this host otherwise: it follows no hold, and what it says of the power may be old."""

    alert: ClassVar[bool] = True
    host: str
    how: str

    def note(self) -> str:
        return (
            f"host {self.host} {self.how}: it is neither held off nor believed to be off until that is over; "
            "look at the host and the baremetal operator if it does not end"
        )


class SoftShutdownAsked(Reason, frozen=True):
    """Somebody else asked for a soft shutdown of this host: it is called off while it still shuts down."""

    host: str
    annotation: str

    def note(self) -> str:
        return f"somebody asked host {self.host} to shut down softly ({self.annotation}): waiting until that is over"


class PowerOffDisabled(Reason, frozen=True):
    """`spec.disablePowerOff`: this host can never be proven off."""

    alert: ClassVar[bool] = True
    host: str

    def note(self) -> str:
        return (
            f"host {self.host} has spec.disablePowerOff: it can never be seen off, so it is not power cycled; "
            "take that off the host, or repair the machine by hand"
        )


class PowerUnknown(Reason, frozen=True):
    """The host says nothing about its power. Unknown is not off."""

    host: str
    error: str

    def note(self) -> str:
        cause = f" ({self.error})" if self.error else ""
        return f"the power state of host {self.host} is unknown{cause}: nothing is done"


class OffButNotHeld(Reason, frozen=True):
    """The host is off, but not because we hold it: that is no proof, and the table says nothing."""

    host: str

    def note(self) -> str:
        return f"host {self.host} is off, but not held by us: waiting until it is on again before holding it off"


class NodeFinalizing(Reason, frozen=True):
    """The Node was deleted on proof, and its finalizers are not done."""

    node: str

    def note(self) -> str:
        return f"node {self.node} is being deleted and waits for its finalizers"


class NodeFinalizingOverdue(Reason, frozen=True):
    """The Node was deleted on proof long ago, and somebody's finalizers keep it: its host stays off meanwhile."""

    alert: ClassVar[bool] = True
    node: str
    since: Wall

    def note(self) -> str:
        return (
            f"node {self.node}, deleted at {self.since}, is kept by its finalizers, and its host is held off until it "
            "is gone; look at metadata.finalizers of the Node"
        )


class MachineDeleting(Reason, frozen=True):
    """The Machine is being deleted: its host is not switched off for it any more."""

    def note(self) -> str:
        return "the Machine is being deleted: no new power cycle is started"


class NoOwner(Reason, frozen=True):
    """The machine waits for an owner, and has none that would act."""

    owner: str

    def note(self) -> str:
        named = f"names {self.owner!r} as its owner" if self.owner else "has no controller and names no owner"
        return (
            f"the Machine waits for its owner (OwnerRemediated=False) and {named}: nobody here replaces it; "
            "to let node-remedy do so, annotate it with node-remedy.dev/owner=node-remedy"
        )


class SpecNotReusable(Reason, frozen=True):
    """The machine's spec names objects that belong to it alone: a successor could not use them."""

    alert: ClassVar[bool] = True
    parts: str

    def note(self) -> str:
        return (
            f"the Machine cannot be replaced: {self.parts} belongs to this machine alone and goes with it; "
            "name a template there, or give the Machine a controller that makes its successors"
        )


class ReplacementBegun(Reason, frozen=True):
    """A machine that waits for its owner will be replaced: recorded on it first."""

    logged: ClassVar[bool] = True
    successor: str

    def note(self) -> str:
        return f"the machine is replaced by {self.successor}: recorded before anything is done"


class ReplacementUnreadable(Reason, frozen=True):
    """The record of a replacement is not as we wrote it, and is written again."""

    alert: ClassVar[bool] = True
    problem: str

    def note(self) -> str:
        return (
            f"the record of the replacement (node-remedy.dev/replacement) cannot be used: {self.problem}; "
            "it is begun again; find out who edits that annotation"
        )


class ReplacementCalledOff(Reason, frozen=True):
    """Nobody asks for the replacement any more, and the machine was not deleted yet."""

    def note(self) -> str:
        return "the replacement is called off: the machine is kept, and what was done for it is undone"


class DrainingNode(Reason, frozen=True):
    """The node is cordoned, and its pods are asked to go."""

    node: str

    def note(self) -> str:
        return f"draining node {self.node}: cordoned, pods are evicted within their disruption budgets"


class DrainOverdue(Reason, frozen=True):
    """Pods are still on the node long after they were asked to go. The drain goes on, and is never forced."""

    alert: ClassVar[bool] = True
    passing: ClassVar[tuple[str, ...]] = ("pods",)
    node: str
    since: Wall
    pods: str
    cause: str = ""  # what the API says against it

    def note(self) -> str:
        left = f" ({self.pods})" if self.pods else ""
        look = self.cause or "look at their disruption budgets"
        return (
            f"node {self.node} is being drained since {self.since} and is not empty{left}: {look}, or skip the drain: "
            "machine.cluster.x-k8s.io/exclude-node-draining on the Machine"
        )


class DeletingMachine(Reason, frozen=True):
    """The node is empty, or cannot be emptied: the machine goes back to its provider."""

    successor: str

    def note(self) -> str:
        return f"deleting the Machine, so that its provider ends the instance; {self.successor} follows"


class DeletionOverdue(Reason, frozen=True):
    """The machine should have been deleted long ago, and is still there."""

    alert: ClassVar[bool] = True
    since: Wall
    cause: str = ""  # what the API says against it

    def note(self) -> str:
        cause = self.cause or "the API has not refused it for good, see ActionFailed for what it says"
        return f"the Machine is to be deleted since {self.since} and is not: {cause}"


class WaitingForInstance(Reason, frozen=True):
    """The machine is deleted, and its provider is about its instance."""

    logged: ClassVar[bool] = True
    keepers: str

    def note(self) -> str:
        return f"waiting for the provider to end the instance: the Machine is kept by {self.keepers}"


class InstanceOverdue(Reason, frozen=True):
    """The provider has not ended the instance for long: nothing is freed."""

    alert: ClassVar[bool] = True
    since: Wall
    cause: str  # who is waited for, and what the provider says

    def note(self) -> str:
        return f"the Machine was deleted at {self.since} and its instance is not gone, nothing is freed: {self.cause}"


class InstanceUnproven(Reason, frozen=True):
    """The provider has let go of the machine, and nobody says that the instance is gone: the node is kept."""

    alert: ClassVar[bool] = True
    node: str
    why: str

    def note(self) -> str:
        return (
            f"node {self.node} is kept, because its instance may still run: {self.why}; "
            "make sure that the instance is gone, then delete the Node by hand"
        )


class ProvenGone(Reason, frozen=True):
    """The provider says that the instance is gone: nothing on the node can write."""

    provider_id: str

    def note(self) -> str:
        return f"the provider has deleted instance {self.provider_id}: the node cannot write"


class Replacing(Reason, frozen=True):
    """The old machine is gone: its successor is made."""

    logged: ClassVar[bool] = True
    successor: str

    def note(self) -> str:
        return f"making Machine {self.successor} in place of this one"


class SuccessorTaken(Reason, frozen=True):
    """Another machine has the name of the successor."""

    alert: ClassVar[bool] = True
    successor: str

    def note(self) -> str:
        return f"Machine {self.successor} exists and does not follow this one: delete it, and the successor is made"


class Replaced(Reason, frozen=True):
    """The successor is there: the old machine is let go."""

    successor: str

    def note(self) -> str:
        return f"Machine {self.successor} follows: this one is let go"


class NotReplaced(Reason, frozen=True):
    """A machine that is not ours any more was deleted: no successor is made."""

    def note(self) -> str:
        return "the Machine has a controller, or names us its owner no more: it is let go without a successor"


class RemediationInvalid(Reason, frozen=True):
    """A Metal3Remediation says what cannot be understood: nothing is done for it."""

    alert: ClassVar[bool] = True
    problems: str

    def note(self) -> str:
        return f"nothing is done: {self.problems}"


class RecordNotKept(Reason, frozen=True):
    """The definition of a kind lacks fields of ours: the API would forget what a repair records."""

    alert: ClassVar[bool] = True
    definition: str
    lacks: str
    renewal: str

    def note(self) -> str:
        why = f"definition {self.definition} lacks {self.lacks}, so the API would forget what is recorded there"
        return f"{why}: nothing begins and nothing is freed; run {self.renewal}"


class DefinitionHidden(Reason, frozen=True):
    """Nobody lets us see whether the API would keep what a repair records."""

    alert: ClassVar[bool] = True
    definition: str
    why: str

    def note(self) -> str:
        why = f"whether definition {self.definition} keeps what is recorded is not known ({self.why}): nothing begins"
        return f"{why}; let the manager list and watch it: kubectl apply --server-side -f deploy/rbac/10-manager.yaml"


class DefinitionUnread(Reason, frozen=True):
    """The definition of a kind was not read yet: a moment after a start."""

    quiet: ClassVar[bool] = True
    definition: str

    def note(self) -> str:
        return f"waiting for definition {self.definition} to be read: whether it keeps what is recorded is not known"


class RemediatedMachineMissing(Reason, frozen=True):
    """The machine that a remediation is for does not exist, cannot be read, or is another one of that name."""

    alert: ClassVar[bool] = True
    machine: str

    def note(self) -> str:
        return (
            f"machine {self.machine} does not exist, cannot be read, or is not the one that this was made for; "
            "name an existing Machine by owner reference or by this object's own name, or delete this object"
        )


class AnotherRemediation(Reason, frozen=True):
    """Two Metal3Remediations, or two FenceRemediations, are for one machine: one of them waits."""

    other: str

    def note(self) -> str:
        return f"{self.other} is for the same machine; this one waits until that one has ended"


class PhaseBegins(Reason, frozen=True):
    """A Metal3Remediation enters a phase: recorded before anything is done in it."""

    logged: ClassVar[bool] = True
    phase: str
    attempt: int

    def note(self) -> str:
        return f"attempt {self.attempt}: {self.phase}"


class RemediationCancelled(Reason, frozen=True):
    """A Metal3Remediation was deleted before the power-off was asked for: nothing happened, it may go."""

    def note(self) -> str:
        return "deleted before the power-off was asked for: nothing was done"


class RemediationLeaves(Reason, frozen=True):
    """A Metal3Remediation that was deleted has nothing left to undo: it may go."""

    power: str

    def note(self) -> str:
        return f"nothing of this is left on host and node; the host is {self.power}"


class OwnerAskedNoMore(Reason, frozen=True):
    """A request that was deleted takes its word to the owner back: the machine is well."""

    machine: str

    def note(self) -> str:
        return f"machine {self.machine} is well again: its owner is not asked to replace it any more"


class OwnerStillAsked(Reason, frozen=True):
    """The request goes, and its word to the owner of a machine that is well could not be taken back in time."""

    alert: ClassVar[bool] = True
    machine: str

    def note(self) -> str:
        return (
            f"machine {self.machine} is well again, and its owner is still asked to replace it: for ten minutes the "
            "API has not let that word be taken back; remove the condition OwnerRemediated from the status of the "
            "Machine, and see which webhook or missing right is in the way"
        )


class HoldingHost(Reason, frozen=True):
    """The host is held off for a Metal3Remediation."""

    logged: ClassVar[bool] = True
    host: str

    def note(self) -> str:
        return f"holding host {self.host} off"


class ReleasingHost(Reason, frozen=True):
    """The hold of a Metal3Remediation ends: the baremetal operator powers the host on."""

    host: str

    def note(self) -> str:
        return f"releasing host {self.host}: the baremetal operator powers it on, unless somebody else holds it"


class OffNotProven(Reason, frozen=True):
    """The host was off before we held it: that may be old news, so nothing is freed on it."""

    alert: ClassVar[bool] = True
    host: str

    def note(self) -> str:
        return (
            f"host {self.host} was off when we held it, which may be a minute old, so nothing is freed; it is "
            "powered on again; if it stays off, delete the workload's pods by hand once you have seen that it is off"
        )


class ListingWorkload(Reason, frozen=True):
    """The pods and volumes of a node are read live."""

    quiet: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"reading the pods and volumes of node {self.node} live"


class FreeingWorkload(Reason, frozen=True):
    """On proof, what runs on a node is given free to run elsewhere."""

    node: str
    by: str

    def note(self) -> str:
        return f"freeing the workload of node {self.node} by {self.by}"


class FreeingPaced(Reason, frozen=True):
    """The pods of this node are due to be freed, and `podsPerMinute` lets them wait."""

    passing: ClassVar[tuple[str, ...]] = ("pods",)
    node: str
    pods: int
    limit: int
    whose: str = "the budget"

    def note(self) -> str:
        return (
            f"{self.pods} pods of node {self.node} are to be freed next; podsPerMinute of {self.whose} is "
            f"{self.limit}, and others were freed within the last minute"
        )


class FreedAtOnce(Reason, frozen=True):
    """Somebody named a way of freeing that takes all pods of a node at once, whatever `podsPerMinute` says."""

    passing: ClassVar[tuple[str, ...]] = ("pods",)
    node: str
    pods: int
    by: str
    limit: int
    whose: str

    def note(self) -> str:
        return (
            f"all {self.pods} pods of node {self.node} go at once, as freeBy {self.by} (or terminate) has it; "
            f"podsPerMinute of {self.whose} is {self.limit}: write freeBy pods, or leave it out"
        )


class WaitingForWorkload(Reason, frozen=True):
    """The workload of a node is told to go, and is not gone yet."""

    quiet: ClassVar[bool] = True
    node: str
    pods: int
    volumes: int

    def note(self) -> str:
        return f"waiting until node {self.node} has no workload left: {self.pods} pods, {self.volumes} volumes"


class FreeingOverdue(Reason, frozen=True):
    """The workload of a node that is off did not go in time; its host is powered on all the same."""

    alert: ClassVar[bool] = True
    node: str
    since: Wall

    def note(self) -> str:
        return (
            f"the workload of node {self.node} is being freed since {self.since} and is not gone; its host is powered "
            "on all the same; look for pods with finalizers and volumes that cannot be detached"
        )


class WaitingForPowerOn(Reason, frozen=True):
    """The hold is released, the host is not on yet."""

    logged: ClassVar[bool] = True
    host: str

    def note(self) -> str:
        return f"waiting for host {self.host} to be powered on"


class PowerOnOverdue(Reason, frozen=True):
    """The hold is released for long, and the host is not on."""

    alert: ClassVar[bool] = True
    host: str
    since: Wall
    error: str

    def note(self) -> str:
        cause = f" ({self.error})" if self.error else ""
        return (
            f"host {self.host} was released at {self.since} and is not on{cause}; check the BMC and the baremetal "
            "operator, or power the host on by hand"
        )


class WaitingForReady(Reason, frozen=True):
    """The host is on; its node is not ready again yet."""

    logged: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"waiting for {self.node or 'a node'} to be ready again"


class NextAttemptAt(Reason, frozen=True):
    """Power cycling did not help in time; the next attempt has a pause before it."""

    alert: ClassVar[bool] = True
    attempt: int
    at: Wall

    def note(self) -> str:
        return f"attempt {self.attempt} begins at {self.at}: power cycling did not help yet; look at the host's console"


class NodeReplaced(Reason, frozen=True):
    """Another Node has the name of the one whose host was powered off, or it has booted: nothing of it is freed."""

    node: str

    def note(self) -> str:
        return (
            f"node {self.node} is another object or boot than the one whose host was powered off: freeing nothing of it"
        )


class NodeOutOfSight(Reason, frozen=True):
    """The request is deleted, and the Node that may carry our taint cannot be seen or read just now."""

    node: str

    def note(self) -> str:
        return f"waiting until node {self.node} can be read: it may carry our out-of-service taint"


class TaintMayStay(Reason, frozen=True):
    """The request goes, and nobody has seen whether its Node still carries our taint."""

    alert: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return (
            f"node {self.node} could not be read in time and may keep the out-of-service taint; it is removed when the "
            "node is seen ready after another boot; look at the node, or at the connection to its cluster"
        )


class TaintOrphaned(Reason, frozen=True):
    """The Node carries our out-of-service taint, and the request that it was for is gone."""

    node: str
    owner: str

    def note(self) -> str:
        return (
            f"node {self.node} is out of service for {self.owner}, which is gone: the taint goes when the node is back"
        )


class UntaintingNode(Reason, frozen=True):
    """The node is back, or nobody waits for it any more: our out-of-service taint goes."""

    logged: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"removing the out-of-service taint from node {self.node}"


class RemediationSucceeded(Reason, frozen=True):
    """The node is ready again, and carries nothing of ours."""

    node: str

    def note(self) -> str:
        return f"node {self.node} is ready again"


class Escalating(Reason, frozen=True):
    """Power cycling did not help: the machine's owner is asked to replace it."""

    alert: ClassVar[bool] = True
    machine: str

    def note(self) -> str:
        return (
            f"power cycling did not help machine {self.machine}: its owner is asked to replace it; "
            "look at its host before that one gets another machine"
        )


class WaitingForOwner(Reason, frozen=True):
    """The owner was asked to replace the machine, and has not deleted it yet."""

    machine: str

    def note(self) -> str:
        return f"waiting for the owner of machine {self.machine} to replace it"


class RemediationFailed(Reason, frozen=True):
    """A Metal3Remediation has done all that it could, in vain."""

    alert: ClassVar[bool] = True
    why: str

    def note(self) -> str:
        return f"{self.why}; repair or replace the machine by hand, then delete this object"


class HostExternallyProvisioned(Reason, frozen=True):
    """Deleting this machine would lose its server: no provider gives its host to a new machine."""

    alert: ClassVar[bool] = True
    machine: str

    def note(self) -> str:
        return (
            f"the host of machine {self.machine} has spec.externallyProvisioned: no new machine would get it, "
            "so this one is not deleted; repair or replace it by hand"
        )


class HostMarkedUnhealthy(Reason, frozen=True):
    """A host whose machine was given up must not be chosen for the next machine."""

    host: str

    def note(self) -> str:
        return f"marking host {self.host} as unhealthy, so that no other machine gets it"


class HostUnmarked(Reason, frozen=True):
    """A node runs on a host that we had marked as unhealthy."""

    host: str

    def note(self) -> str:
        return f"a node runs on host {self.host} again: our mark goes"


class FenceInvalid(Reason, frozen=True):
    """A NodeFence or FenceRemediation says something that cannot be read."""

    alert: ClassVar[bool] = True
    name: str
    problem: str

    def note(self) -> str:
        return f"{self.name}: {self.problem}; nothing is begun before that is mended"


class FencePlanMissing(Reason, frozen=True):
    """No configuration says how this node can be fenced."""

    alert: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return (
            f"node {self.node} has no fence configuration: write ConfigMap node-remedy-system/fence-config-{self.node}"
        )


class FencePlanBroken(Reason, frozen=True):
    """The configuration that says how this node can be fenced has mistakes."""

    alert: ClassVar[bool] = True
    node: str
    problem: str
    problems: int

    def note(self) -> str:
        return f"node {self.node} cannot be fenced: {self.problem}" + (
            f" (and {self.problems - 1} more)" if self.problems > 1 else ""
        )


class FencePlanPending(Reason, frozen=True):
    """The agents that this node's fencing needs have just been asked what they are."""

    quiet: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"how node {self.node} can be fenced is being checked against what its agents say of themselves"


class FencedNodeMissing(Reason, frozen=True):
    """There is no Node of the name that a NodeFence gives."""

    node: str

    def note(self) -> str:
        return f"there is no node {self.node}: nothing to fence"


class FencedNodeReplaced(Reason, frozen=True):
    """The Node is another one, or has booted, since the flow began: what was wanted of it is over."""

    alert: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return (
            f"node {self.node} is not the one, or not the boot, that was to be fenced: nothing of it is freed; "
            "delete the NodeFence if the new one is sick as well, and it is asked for again"
        )


class LeftToOther(Reason, frozen=True):
    """Somebody else is about to remove this node."""

    node: str
    who: str

    def note(self) -> str:
        return f"{self.who} is removing node {self.node}: it is left to them"


class FenceDelayed(Reason, frozen=True):
    """A delay of the NodeFence runs, or a pause between two tries."""

    quiet: ClassVar[bool] = True
    what: str
    until: Wall

    def note(self) -> str:
        return f"waiting until {self.until} before {self.what}"


class FenceMoves(Reason, frozen=True):
    """A NodeFence goes from one state of the automaton to the next."""

    logged: ClassVar[bool] = True
    node: str
    state: str
    why: str

    def note(self) -> str:
        return f"fencing node {self.node}: {self.state}: {self.why}"


class FenceStepFailed(Reason, frozen=True):
    """One try of a step failed."""

    node: str
    step: str
    why: str

    def note(self) -> str:
        return f"fencing node {self.node}: {self.step} failed: {self.why}"


class FenceStepEnded(Reason, frozen=True):
    """One try of a step is over, and how: for figures, since other reasons tell what it means."""

    logged: ClassVar[bool] = True
    node: str
    step: str
    outcome: str
    since: Wall | None

    def note(self) -> str:
        begun = f", begun at {self.since}" if self.since else ""
        return f"fencing node {self.node}: {self.step}{begun}: {self.outcome}"


class FenceGivenUp(Reason, frozen=True):
    """All tries and all restarts of a fence are used up."""

    alert: ClassVar[bool] = True
    node: str
    step: str
    why: str

    def note(self) -> str:
        remedy = f"mend the cause, or switch the node off and run: node-remedy attest {self.node}"
        return f"node {self.node} could not be fenced ({self.step}: {self.why}): {remedy}"


class FenceStopped(Reason, frozen=True):
    """A person stopped the fence."""

    node: str

    def note(self) -> str:
        return f"the fence of node {self.node} is stopped: no new step begins and nothing more is freed"


class FenceReleased(Reason, frozen=True):
    """A NodeFence was deleted, and what it had done is undone."""

    node: str

    def note(self) -> str:
        return f"node {self.node} is released: isolation is undone"


class FenceSucceeded(Reason, frozen=True):
    """A node was fenced and is back."""

    node: str

    def note(self) -> str:
        return f"node {self.node} is back and recovered"


class FenceExpires(Reason, frozen=True):
    """A fence that is over is forgotten."""

    logged: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"the fence of node {self.node} is over: deleting it"


class NodeTerminated(Reason, frozen=True):
    """The instance of a node was ended for good."""

    node: str

    def note(self) -> str:
        return f"the instance of node {self.node} is off for good and its Node is gone"


class RemovingInstance(Reason, frozen=True):
    """The Machine of an instance that was ended for good is deleted."""

    node: str
    machine: str

    def note(self) -> str:
        return f"deleting Machine {self.machine}: its provider removes the instance of node {self.node}"


class InstanceLeft(Reason, frozen=True):
    """An instance that was ended for good is not removed: its Machine could not be deleted, or it has none."""

    alert: ClassVar[bool] = True
    node: str
    machine: str  # "": none

    def note(self) -> str:
        if not self.machine:
            remedy = "no Machine stands behind it, so that nobody removes it: delete it and its disks in the account"
            return f"the instance of node {self.node} is off for good, and {remedy}"
        return (
            f"the instance of node {self.node} is off for good, and its Machine {self.machine} could not be deleted: "
            "delete it, or nobody removes the instance"
        )


class CordoningNode(Reason, frozen=True):
    """A node is marked as unschedulable."""

    logged: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"marking node {self.node} as unschedulable"


class UncordoningNode(Reason, frozen=True):
    """Our own cordon is taken off."""

    logged: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"marking node {self.node} as schedulable again"


class RunOrdered(Reason, frozen=True):
    """A run of a fence agent was recorded."""

    logged: ClassVar[bool] = True
    node: str
    method: str
    deed: str

    def note(self) -> str:
        return f"node {self.node}: ordering {self.deed} by {self.method}"


class RunUnderWay(Reason, frozen=True):
    """A fence agent runs."""

    quiet: ClassVar[bool] = True
    method: str
    deed: str

    def note(self) -> str:
        return f"{self.method}: {self.deed} is under way"


class RunLost(Reason, frozen=True):
    """A run was ordered by a manager that is gone; it may still be under way."""

    method: str
    deed: str
    until: Wall

    def note(self) -> str:
        return f"{self.method}: {self.deed} was ordered by another manager and may be under way until {self.until}"


class RunEnded(Reason, frozen=True):
    """A run of a fence agent ended."""

    node: str
    method: str
    deed: str
    state: str
    said: str
    since: Wall | None = None  # when it was ordered

    def note(self) -> str:
        ordered = f", ordered at {self.since}" if self.since else ""
        said = f": {self.said}" if self.said else ""
        return f"node {self.node}: {self.deed} by {self.method}{ordered}: {self.state}{said}"


class RunNoted(RunEnded, frozen=True):
    """A run ended, and another reason tells what follows: a device was asked, or a try of a step failed."""

    logged: ClassVar[bool] = True


class KdumpUnderWay(Reason, frozen=True):
    """The node says that it dumps its memory: power management waits, within its limit."""

    node: str

    def note(self) -> str:
        return f"node {self.node} dumps its memory: power management waits for that, as its configuration says"


class NodeStillHeard(Reason, frozen=True):
    """Everything that powers the node is off, and Kubernetes has not noticed yet."""

    quiet: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"node {self.node} is switched off and still seems to report: waiting until Kubernetes calls it Unknown"


class PlugContradicted(Reason, frozen=True):
    """All plugs say off, and the node still reports: it hangs on other plugs."""

    alert: ClassVar[bool] = True
    node: str
    methods: str

    def note(self) -> str:
        wrong = f"its configuration names the wrong device; correct it, and run node-remedy drill {self.node}"
        return f"{self.methods} said off, and node {self.node} still reports, so nothing is freed: {wrong}"


class ProvenFenced(Reason, frozen=True):
    """It is proven that the node cannot write: what ran on it is freed."""

    node: str
    proof: str

    def note(self) -> str:
        return f"node {self.node} cannot write any more ({self.proof}): freeing its workload"


class FenceProvesNothing(Reason, frozen=True):
    """The node was fenced as configured, and that proves nothing: nothing is freed."""

    alert: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return (
            f"nothing proves that node {self.node} is off: its workload is not freed; add a method that switches its "
            f"power off, or switch it off and run node-remedy attest {self.node}"
        )


class DeviceMistaken(Reason, frozen=True):
    """A drill found that a device of the plan is another machine's: it is neither switched nor believed."""

    alert: ClassVar[bool] = True
    node: str
    methods: str

    def note(self) -> str:
        wrong = f"a drill found that the device of {self.methods} is not node {self.node}'s"
        remedy = f"correct the mapping and drill it, or switch the node off and run node-remedy attest {self.node}"
        return f"{wrong}: it is neither switched nor believed, and nothing is freed by it; {remedy}"


class DisksProveNothing(Reason, frozen=True):
    """Whether the node can still write to its disks is not known: its power is switched without that."""

    node: str
    method: str
    why: str

    def note(self) -> str:
        return f"nothing is freed by {self.method} of node {self.node} before its power is off: {self.why}"


class FenceFreeingOverdue(Reason, frozen=True):
    """Pods or volumes of a node that is off do not go."""

    alert: ClassVar[bool] = True
    node: str
    since: Wall

    def note(self) -> str:
        return (
            f"pods or volumes of node {self.node} have not gone since {self.since}: powering it on all the same; "
            "look for pods with finalizers and volumes that cannot be detached"
        )


class PowerComesBack(Reason, frozen=True):
    """Freed, or not to be freed: the node is powered on again."""

    logged: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"powering node {self.node} on again"


class PowerLeftOff(Reason, frozen=True):
    """Something that we switched off does not come on."""

    alert: ClassVar[bool] = True
    node: str
    methods: str

    def note(self) -> str:
        return f"node {self.node}: {self.methods} does not come on again; switch it on by hand"


class LeftCutOff(Reason, frozen=True):
    """Something that cut a node off from storage or network is not let in again."""

    alert: ClassVar[bool] = True
    node: str
    methods: str

    def note(self) -> str:
        return f"node {self.node} is still cut off by {self.methods}; let it in again by hand"


class DeviceAstray(Reason, frozen=True):
    """A device that we switched off is not in the configuration any more: nobody switches it on."""

    alert: ClassVar[bool] = True
    node: str
    methods: str

    def note(self) -> str:
        remedy = f"put that device back into it, or switch it on by hand and run node-remedy release {self.node}"
        return f"node {self.node}: what {self.methods} switched off is not in its fence configuration now: {remedy}"


class BackupKept(Reason, frozen=True):
    """A fence is released whose Node was deleted to free it, and has not come back."""

    alert: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return (
            f"node {self.node} is released and has not come back: its NodeFence stays, with the labels, annotations, "
            "taints and cordon of its Node, until it has; if it never will, remove the finalizer node-remedy.dev/fence"
        )


class StorageStaysFenced(Reason, frozen=True):
    """Behind a storage fence pods were freed, and nothing shows that the boot from then is over: it stays cut off."""

    alert: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        why = "pods were freed behind that fence, and no other boot of it has reported since"
        remedy = f"reboot it; if it never comes back, switch it off and run node-remedy attest {self.node}"
        return f"node {self.node} stays cut off from its storage: {why}; {remedy}"


class HostContradicted(Reason, frozen=True):
    """A host is off, and the node that should run on it reports all the same, or did so for long."""

    alert: ClassVar[bool] = True
    host: str
    node: str

    def note(self) -> str:
        why = "its BMC switches another machine; correct the address in spec.bmc, then remove the request"
        also = "so nothing is freed, also when it falls silent"
        return f"host {self.host} was off and node {self.node} reported all the same, {also}: {why}"


class OffUnseen(Reason, frozen=True):
    """A host went off while nobody looked, and its node was heard, or booted, after it was held."""

    host: str
    node: str

    def note(self) -> str:
        seen = f"nobody saw when host {self.host} went off"
        why = f"{seen}, and node {self.node} was heard, or has booted, since it was held"
        return f"{why}: nothing is freed, power comes back, and the power cycle begins anew"


class AttestationUnreadable(Reason, frozen=True):
    """A person's word that a node is off cannot be read."""

    alert: ClassVar[bool] = True
    problem: str

    def note(self) -> str:
        return f"node-remedy.dev/attested-off cannot be read ({self.problem}): run node-remedy attest"


class AttestationOfAnotherBoot(Reason, frozen=True):
    """A person's word is about another boot, or the node has reported since it was given."""

    node: str
    by: str

    def note(self) -> str:
        why = "it is about another boot, or the node has reported since"
        again = f"if it is off now, run node-remedy attest {self.node} again"
        return f"what {self.by} attests does not hold for node {self.node}: {why}; {again}"


class FenceAsked(Reason, frozen=True):
    """A FenceRemediation has the node of its machine fenced."""

    node: str

    def note(self) -> str:
        return f"having node {self.node} fenced"


class FenceTaken(Reason, frozen=True):
    """Somebody else\'s NodeFence of this node is there."""

    node: str
    by: str

    def note(self) -> str:
        return f"node {self.node} has a NodeFence of {self.by or 'a person'} already"


class WaitingForFence(Reason, frozen=True):
    """The NodeFence is at work."""

    quiet: ClassVar[bool] = True
    node: str
    state: str

    def note(self) -> str:
        return f"the fence of node {self.node} is {self.state}"


class FenceCalledOff(Reason, frozen=True):
    """The request for a fence was deleted."""

    node: str

    def note(self) -> str:
        return f"the fence of {self.node} is called off: power comes back, isolation is undone"


class ActionFailed(Reason, frozen=True):
    """An action did not succeed and is tried again."""

    action: str
    why: str

    def note(self) -> str:
        return f"{self.action} failed: {self.why}; it is tried again"


class ActionRefused(Reason, frozen=True):
    """An action was refused, and trying again will not help by itself."""

    alert: ClassVar[bool] = True
    action: str
    why: str

    def note(self) -> str:
        return f"{self.action} was refused: {self.why}; it is tried again slowly; look at rights and webhooks"


class ObjectUnreadable(Reason, frozen=True):
    """An object does not decode: it is set aside, the others go on."""

    alert: ClassVar[bool] = True
    problem: str

    def note(self) -> str:
        return f"this object cannot be read and is ignored until it is mended: {self.problem}"


class RoomBroken(Reason, frozen=True):
    """A rule of the design was broken by our own code for this key: it is left alone."""

    alert: ClassVar[bool] = True
    problem: str

    def note(self) -> str:
        return f"a bug in node-remedy: {self.problem}; this object is left alone until it changes; please report it"


class RecordFirst(Reason, frozen=True):
    """A trace of what was done is about to go: the Incident tells of it first."""

    what: str

    quiet: ClassVar[bool] = True

    def note(self) -> str:
        return f"the Incident is brought up to date before the last trace of this goes: {self.what}"


# --- the budget and the claim -----------------------------------------------------------------------------------


class RepairStuck(Reason, frozen=True):
    """A repair that runs had its time and waits for somebody else; others may begin in its place."""

    alert: ClassVar[bool] = True
    target: str

    def note(self) -> str:
        return (
            f"the repair of {self.target} does not go on by itself; look at what else is told of it; meanwhile it "
            "keeps no other node from being repaired"
        )


class RepairOverdue(Reason, frozen=True):
    """A repair was asked for, and is not over long after."""

    alert: ClassVar[bool] = True
    way: str
    minutes: int

    def note(self) -> str:
        return (
            f"a repair by {self.way} was asked for more than {self.minutes} minutes ago, and is not over; look at "
            "whoever has to carry it out"
        )


class WaitingForBudget(Reason, frozen=True):
    """The budget has been asked and has not answered yet."""

    quiet: ClassVar[bool] = True

    def note(self) -> str:
        return "waiting for the budget's answer"


class Reserving(Reason, frozen=True):
    """Repairs are reserved in the budget's ledger before they begin."""

    quiet: ClassVar[bool] = True
    repairs: int

    def note(self) -> str:
        return f"writing the budget's ledger: {self.repairs} repairs are in flight"


class BudgetStatusBehind(Reason, frozen=True):
    """The status of the RemediationBudget does not say what was counted: it is written."""

    quiet: ClassVar[bool] = True
    in_flight: int

    def note(self) -> str:
        return f"the status is brought up to date: {self.in_flight} repairs are in flight"


class LedgerUnreadable(Reason, frozen=True):
    """The budget's ledger cannot be read, and is not overwritten: nobody knows what is in flight."""

    alert: ClassVar[bool] = True
    problem: str

    def note(self) -> str:
        return (
            f"ConfigMap node-remedy-system/budget-ledger cannot be read ({self.problem}): no new repair starts; "
            "mend it, or delete it if nothing is being repaired"
        )


class LedgerFull(Reason, frozen=True):
    """The ledger holds as many reservations as one object can."""

    alert: ClassVar[bool] = True
    passing: ClassVar[tuple[str, ...]] = ("reservations",)
    reservations: int

    def note(self) -> str:
        return (
            f"the budget's ledger holds {self.reservations} reservations and is full: no new repair starts; "
            "lower maxInFlight of the RemediationBudget"
        )


class TooManyInFlight(Reason, frozen=True):
    """As many repairs as the budget allows are running."""

    passing: ClassVar[tuple[str, ...]] = ("in_flight", "limit")
    in_flight: int
    limit: int

    def note(self) -> str:
        return f"{self.in_flight} repairs are in flight (limit {self.limit}): no new repair starts until one ends"


class PowerOffsPending(Reason, frozen=True):
    """More power-offs than may be in flight were ordered and are not carried out: they may come all at once."""

    alert: ClassVar[bool] = True
    passing: ClassVar[tuple[str, ...]] = ("pending", "limit")
    pending: int
    limit: int

    def note(self) -> str:
        return (
            f"{self.pending} repairs are stuck with a power-off that was ordered and is not carried out (limit "
            f"{self.limit}): no new repair starts, for all of these nodes may be switched off at once; look at the "
            "baremetal operator and the BMCs; where a node is well, withdraw its request and release its host"
        )


class TooManyPerHour(Reason, frozen=True):
    """As many repairs as the budget allows were started within an hour."""

    passing: ClassVar[tuple[str, ...]] = ("started", "limit", "until")
    started: int
    limit: int
    until: Wall

    def note(self) -> str:
        return (
            f"{self.started} repairs were started within an hour (limit {self.limit}): "
            f"the next may start at {self.until}"
        )


class TooManyNodesUnhealthy(Reason, frozen=True):
    """So many nodes are sick that the fault is hardly their own."""

    alert: ClassVar[bool] = True
    passing: ClassVar[tuple[str, ...]] = ("unhealthy", "total")
    unhealthy: int
    total: int
    limit: str

    def note(self) -> str:
        return (
            f"{self.unhealthy} of {self.total} nodes are unhealthy (limit {self.limit}): no new repair starts; "
            "look for a common cause"
        )


class DomainBurst(Reason, frozen=True):
    """Half of a failure domain turned sick at once: the rack is broken, not its nodes."""

    alert: ClassVar[bool] = True
    passing: ClassVar[tuple[str, ...]] = ("unhealthy", "total")
    domain: str
    unhealthy: int
    total: int

    def note(self) -> str:
        return (
            f"{self.unhealthy} of {self.total} nodes of failure domain {self.domain} are unhealthy, half of it within "
            "two minutes: it is held, the others go on; look at its power and network"
        )


class DomainUnhealthy(Reason, frozen=True):
    """So many nodes of a failure domain are sick as the budget names."""

    alert: ClassVar[bool] = True
    passing: ClassVar[tuple[str, ...]] = ("unhealthy", "total")
    domain: str
    unhealthy: int
    total: int
    limit: str

    def note(self) -> str:
        return (
            f"{self.unhealthy} of {self.total} nodes of failure domain {self.domain} are unhealthy "
            f"(limit {self.limit}): no new repair starts in it; look at its power and network, or raise "
            "perDomain.maxUnhealthy of the RemediationBudget"
        )


class CooldownAfterStorm(Reason, frozen=True):
    """Too many nodes were sick a moment ago: what is still sick may recover by itself."""

    until: Wall

    def note(self) -> str:
        return f"too many nodes were unhealthy a moment ago: no new repair starts before {self.until}"


class ControlPlaneBusy(Reason, frozen=True):
    """Another node of the control plane is being repaired: one at a time."""

    passing: ClassVar[tuple[str, ...]] = ("other",)
    other: str

    def note(self) -> str:
        return f"{self.other}, of the same control plane, is being repaired: one at a time"


class QuorumAtRisk(Reason, frozen=True):
    """Without this node the control plane would have no majority."""

    alert: ClassVar[bool] = True
    passing: ClassVar[tuple[str, ...]] = ("healthy", "needed", "members")
    healthy: int
    needed: int
    members: int

    def note(self) -> str:
        return (
            f"without this node {self.healthy} of {self.members} nodes of the control plane are healthy, and "
            f"{self.needed} are needed for a quorum: it is not repaired; bring another one back first, or repair this "
            "one by hand"
        )


class OutsideWindow(Reason, frozen=True):
    """The budget has maintenance windows, and none is open."""

    until: Wall

    def note(self) -> str:
        return f"outside the maintenance windows of the budget: the next opens at {self.until}"


class BudgetPaused(Reason, frozen=True):
    """Somebody paused all new repairs: `node-remedy.dev/paused` on the RemediationBudget."""

    until: Wall | None

    def note(self) -> str:
        when = f"until {self.until}" if self.until else "until the annotation is removed"
        return f"the RemediationBudget carries node-remedy.dev/paused: no new repair starts {when}"


class BudgetPauseUnreadable(Reason, frozen=True):
    """The pause on the RemediationBudget cannot be read: it counts as one."""

    alert: ClassVar[bool] = True
    problem: str

    def note(self) -> str:
        return (
            f"node-remedy.dev/paused on the RemediationBudget: {self.problem}; no new repair starts until it is mended"
        )


class FencePlanInvalid(Reason, frozen=True):
    """A node cannot be fenced as it is configured. Told aloud on the ConfigMap, once for all its nodes."""

    quiet: ClassVar[bool] = True
    problem: str
    count: int

    def note(self) -> str:
        more = f" (and {self.count - 1} more)" if self.count > 1 else ""
        return f"this node cannot be fenced: {self.problem}{more}"


class FenceConfigInvalid(Reason, frozen=True):
    """A document of the fence configuration is wrong, or does not fit its agents or its nodes."""

    alert: ClassVar[bool] = True
    passing: ClassVar[tuple[str, ...]] = ("nodes",)
    problem: str
    nodes: int  # that cannot be fenced because of it

    def note(self) -> str:
        count = "one node" if self.nodes == 1 else f"{self.nodes} nodes"
        harm = f"; {count} cannot be fenced" if self.nodes else ""
        return f"{self.problem}{harm}"


class FenceConfigWithoutNode(Reason, frozen=True):
    """A document names a node that does not exist: a mistyped name leaves a node without fencing."""

    node: str  # "": of a set

    def note(self) -> str:
        if not self.node:
            return "no node has the labels of its node_selector; correct it, or delete this ConfigMap"
        return f"there is no node {self.node}; correct node_name, or delete this ConfigMap"


class FenceConfigTrustsNodes(Reason, frozen=True):
    """A document fills in what a node itself can write: it could have the password of a device sent elsewhere."""

    placeholder: str

    def note(self) -> str:
        return (
            f"{{{self.placeholder}}} can be written by the node itself, which could so point at another device; "
            "use a label below node-restriction.kubernetes.io/"
        )


class KdumpUnheard(Reason, frozen=True):
    """A fence configuration lets kernel dumps delay power management, and nobody listens to crash kernels."""

    def note(self) -> str:
        return (
            "kdump=true needs managers that run with --kdump-listen (components: [kdump] in deploy/kustomization.yaml);"
            " without it power management waits for no dump"
        )


class AskingAgent(Reason, frozen=True):
    """A fence agent is asked for its metadata."""

    quiet: ClassVar[bool] = True
    agent: str

    def note(self) -> str:
        return f"asking {self.agent} what it is"


class AgentDescribed(Reason, frozen=True):
    """What is known of a fence agent; plans are checked against it."""

    quiet: ClassVar[bool] = True
    agent: str
    problem: str

    def note(self) -> str:
        return f"{self.agent}: {self.problem}" if self.problem else f"{self.agent} has described itself"


class Drilling(Reason, frozen=True):
    """A device of a node is asked for its status, to see that fencing would work."""

    quiet: ClassVar[bool] = True
    method: str

    def note(self) -> str:
        return f"drill: asking the device of method {self.method}"


class FencingWasReady(Reason, frozen=True):
    """Nothing was wrong with what fences a node in its last drill."""

    quiet: ClassVar[bool] = True
    words: str

    def note(self) -> str:
        return f"in the last drill {self.words}"


class FencingNotReady(Reason, frozen=True):
    """A drill found that a node could not be fenced, or that the wrong one would be."""

    alert: ClassVar[bool] = True
    word: str
    problem: str

    def note(self) -> str:
        return f"fencing would not work ({self.word}): {self.problem}; mend that before the node has to be fenced"


class BudgetInvalid(Reason, frozen=True):
    """The RemediationBudget cannot be understood: a limit that somebody wanted must not turn into none."""

    alert: ClassVar[bool] = True
    problem: str

    def note(self) -> str:
        return f"the RemediationBudget is invalid, no new repair starts: {self.problem}"


class ClaimedByOther(Reason, frozen=True):
    """Somebody else is about this node: one owner per repair."""

    node: str
    holder: str

    def note(self) -> str:
        return f"node {self.node} is being repaired by {self.holder}: waiting until that is over"


class OwnNode(Reason, frozen=True):
    """The manager that leads runs on the very node that is to be repaired."""

    alert: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return (
            f"node {self.node} is not repaired by a manager that runs on it: another replica has to lead; if there is "
            "none, run a second one on another node, or move this one there"
        )


class ClaimUnreadable(Reason, frozen=True):
    """The Lease that says who repairs this node cannot be read."""

    alert: ClassVar[bool] = True
    lease: str
    problem: str

    def note(self) -> str:
        return f"Lease {self.lease} cannot be read ({self.problem}): who repairs this node cannot be told; delete it"


class Claiming(Reason, frozen=True):
    """The repair is claimed before it begins, so that no other part of node-remedy begins one too."""

    quiet: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"claiming the repair of {self.node}"


class ClaimNeedless(Reason, frozen=True):
    """The Machine that a repair was claimed for is gone: its claim goes, too."""

    quiet: ClassVar[bool] = True
    target: str

    def note(self) -> str:
        return f"{self.target} is gone, and the claim of its repair goes with it"


# --- health checks (seeds 003, 004): verdicts ------------------------------------------------------------------


class ConditionTimedOut(Reason, frozen=True):
    """A node condition has had a status of the check's list for longer than its timeout."""

    node: str
    type: str
    status: str
    since: Wall | None
    timeout: Span

    def note(self) -> str:
        return f"condition {self.type} of node {self.node} is {self.status} {_for_longer(self.since, self.timeout)}"


class ConditionPending(Reason, frozen=True):
    """A node condition has a status of the check's list, and still has time to change."""

    logged: ClassVar[bool] = True
    node: str
    type: str
    status: str
    since: Wall | None
    timeout: Span

    def note(self) -> str:
        return f"condition {self.type} of node {self.node} is {self.status} {_has_time(self.since, self.timeout)}"


class MachineConditionTimedOut(Reason, frozen=True):
    """A condition of the Machine itself has had a status of the check's list for longer than its timeout."""

    type: str
    status: str
    since: Wall | None
    timeout: Span

    def note(self) -> str:
        return f"condition {self.type} of the Machine is {self.status} {_for_longer(self.since, self.timeout)}"


class MachineConditionPending(Reason, frozen=True):
    """A condition of the Machine itself has a status of the check's list, and still has time to change."""

    logged: ClassVar[bool] = True
    type: str
    status: str
    since: Wall | None
    timeout: Span

    def note(self) -> str:
        return f"condition {self.type} of the Machine is {self.status} {_has_time(self.since, self.timeout)}"


class TimestampAhead(Reason, frozen=True):
    """A condition began in the future, says the API: its age is counted from when we first saw it."""

    what: str
    since: Wall

    def note(self) -> str:
        return (
            f"{self.what} began at {self.since}, which is in the future: counted from when it was first seen here; "
            "compare the clocks of the control plane and of this manager"
        )


class NodeStarting(Reason, frozen=True):
    """The Machine has no node yet, or its node was deleted on proof and is booting: that takes time."""

    since: Wall | None
    timeout: Span

    def note(self) -> str:
        if not self.timeout.ms:
            return f"the Machine has had no node {_from(self.since)}; the startup timeout is 0: it may take for ever"
        return f"the Machine has had no node {_from(self.since)}; it has {self.timeout} for its start"


class NodeStartupTimedOut(Reason, frozen=True):
    """The Machine got no node within the startup timeout."""

    since: Wall | None
    timeout: Span

    def note(self) -> str:
        return f"the Machine has had no node {_from(self.since)}, longer than its startup timeout of {self.timeout}"


class NodeMissing(Reason, frozen=True):
    """The Machine names a node that does not exist: that was read live, and we did not delete it."""

    node: str

    def note(self) -> str:
        return f"node {self.node}, named by the Machine, does not exist"


class CannotSeeNode(Reason, frozen=True):
    """The nodes of this cluster cannot be read now: that is neither health nor sickness."""

    node: str

    def note(self) -> str:
        return f"node {self.node} cannot be seen now: the machine counts as neither healthy nor sick"


class CannotSeeCluster(Reason, frozen=True):
    """The node is in a workload cluster whose API cannot be seen: neither health nor sickness."""

    quiet: ClassVar[bool] = True  # one for each machine of the cluster; the Cluster itself says it aloud
    cluster: str
    why: str

    def note(self) -> str:
        return f"the nodes of cluster {self.cluster} cannot be seen: {self.why or 'nobody has looked yet'}"


class ClusterOutOfSight(Reason, frozen=True):
    """A workload cluster has been out of sight for a while: nothing of it is judged or repaired."""

    alert: ClassVar[bool] = True
    cluster: str
    why: str

    def note(self) -> str:
        return f"the nodes of cluster {self.cluster} cannot be seen, so none is judged or repaired: {self.why}"


class DeletionTimeUnreadable(Reason, frozen=True):
    """The node is not there, and whether we deleted it ourselves cannot be told."""

    alert: ClassVar[bool] = True
    problem: str

    def note(self) -> str:
        return (
            f"annotation remediation.metal3.io/node-deleted-at: {self.problem}; "
            "the missing node is not held against the machine; mend the time or remove it"
        )


class ClusterNotReady(Reason, frozen=True):
    """The Cluster is still being built: its machines are not judged yet."""

    what: str

    def note(self) -> str:
        return f"the Cluster's condition {self.what} is not True: its machines are not judged yet"


class RemediateAnnotated(Reason, frozen=True):
    """`cluster.x-k8s.io/remediate-machine`: somebody wants this machine repaired, whatever its state."""

    def note(self) -> str:
        return "the Machine carries cluster.x-k8s.io/remediate-machine"


class RepairNow(Reason, frozen=True):
    """`node-remedy.dev/repair`: somebody does not want to wait for the timeouts."""

    def note(self) -> str:
        return "node-remedy.dev/repair asks not to wait for the timeouts"


class MachineFailed(Reason, frozen=True):
    """OpenShift's phase Failed: the machine's provider has given up."""

    def note(self) -> str:
        return "the Machine is in phase Failed"


class TargetLeaving(Reason, frozen=True):
    """The Machine is being deleted: no new repair, and it still counts against the limit."""

    def note(self) -> str:
        return "the Machine is being deleted: no new repair is started, and it still counts as not healthy"


# --- health checks: the gate -----------------------------------------------------------------------------------


class CheckInvalid(Reason, frozen=True):
    """The check cannot be understood: it does nothing until it is mended."""

    alert: ClassVar[bool] = True
    problem: str

    def note(self) -> str:
        return f"this check is invalid and does nothing: {self.problem}"


class InvalidCheckGoverns(Reason, frozen=True):
    """The check that speaks for this machine cannot be understood: no other one takes its place meanwhile."""

    quiet: ClassVar[bool] = True  # one for each machine; the check itself says it aloud
    check: str
    problem: str

    def note(self) -> str:
        return (
            f"check {self.check} governs this machine and is invalid: no repair begins, and what runs goes on, until "
            f"it is mended: {self.problem}"
        )


class TooManyUnhealthy(Reason, frozen=True):
    """The short circuit: that many at once are no longer the machines' own fault."""

    alert: ClassVar[bool] = True
    passing: ClassVar[tuple[str, ...]] = ("unhealthy", "total")
    unhealthy: int
    total: int
    limit: str

    def note(self) -> str:
        return (
            f"{self.unhealthy} of {self.total} machines are not healthy (limit {self.limit}): no new repair starts; "
            "look for a common cause, or raise the limit of the check"
        )


class TooFewUnhealthy(Reason, frozen=True):
    """Fewer machines than the check's window begins with are not healthy."""

    passing: ClassVar[tuple[str, ...]] = ("unhealthy", "total")
    unhealthy: int
    total: int
    limit: str

    def note(self) -> str:
        return (
            f"{self.unhealthy} of {self.total} machines are not healthy, fewer than the window {self.limit} begins "
            "with: no new repair starts"
        )


class RemediationAllowedAgain(Reason, frozen=True):
    """The gate of a check has opened after it was told that it is closed."""

    passing: ClassVar[tuple[str, ...]] = ("unhealthy", "total")
    unhealthy: int
    total: int
    limit: str

    def note(self) -> str:
        limit = f" (limit {self.limit})" if self.limit else ""
        return f"{self.unhealthy} of {self.total} machines are not healthy{limit}: repairs may start again"


class TemplateKindMissing(Reason, frozen=True):
    """The kind that a check's template names, or that of its requests, is not installed."""

    alert: ClassVar[bool] = True
    kind: str

    def note(self) -> str:
        return (
            f"{self.kind} is not served, so no request can be made; install its CustomResourceDefinition, "
            "or correct the template of the MachineHealthCheck"
        )


class TemplateNotFound(Reason, frozen=True):
    """The template that a check names is not there."""

    alert: ClassVar[bool] = True
    template: str

    def note(self) -> str:
        return f"{self.template} does not exist, so no request is made; create it: it is looked for every minute"


class TemplateUnusable(Reason, frozen=True):
    """The template that a check names holds what no request can be made from."""

    alert: ClassVar[bool] = True
    template: str
    problem: str

    def note(self) -> str:
        return f"{self.template} makes no request: {self.problem}; correct it: it is read again every minute"


class RequestsUnseen(Reason, frozen=True):
    """The API does not show the requests of this kind, so none is made: there may be one already."""

    alert: ClassVar[bool] = True
    kind: str
    why: str

    def note(self) -> str:
        return f"requests of kind {self.kind} cannot be seen ({self.why}), so none is made"


class WaitingForRequests(Reason, frozen=True):
    """The requests of this kind are being listed."""

    quiet: ClassVar[bool] = True
    kind: str

    def note(self) -> str:
        return f"waiting for the list of all {self.kind}"


class RequestNotOurs(Reason, frozen=True):
    """Something of the request's name is there, and it is not for this Machine: it is left alone."""

    alert: ClassVar[bool] = True
    request: str
    problem: str

    def note(self) -> str:
        return f"{self.request} is in the way: it {self.problem}; it is left alone; delete it if nobody needs it"


class RequestNeeded(Reason, frozen=True):
    """The machine is unhealthy and may be repaired: its request is made."""

    logged: ClassVar[bool] = True
    request: str
    template: str

    def note(self) -> str:
        return f"asking for a repair by {self.request}, made from {self.template}"


class RequestStands(Reason, frozen=True):
    """The request is there: its controller repairs the machine in its own way."""

    request: str

    def note(self) -> str:
        return f"{self.request} asks for the repair; its controller is at it until the machine is healthy"


class RequestLeaving(Reason, frozen=True):
    """The request is being deleted and its controller has not finished yet."""

    request: str

    def note(self) -> str:
        return f"{self.request} is being deleted; its controller's finalizer decides when it is gone"


class RequestLeft(Reason, frozen=True):
    """A check made this request, and none speaks for its machine any more: it is left to its controller, for good."""

    kind: str
    namespace: str
    name: str

    def note(self) -> str:
        return (
            f"{self.kind} {self.namespace}/{self.name} still asks for a repair, and no health check speaks for this "
            f"machine any more, so nobody takes it back; once the machine is well: kubectl delete {self.kind.lower()} "
            f"{self.name} -n {self.namespace}; a health check that selects the machine again does that, too"
        )


class RequestSpent(Reason, frozen=True):
    """The request was carried out, and its node is not ready again: it makes room for another one."""

    logged: ClassVar[bool] = True
    request: str

    def note(self) -> str:
        return f"{self.request} has succeeded, and the node is not ready again: it is deleted, to ask anew"


class RequestUnneeded(Reason, frozen=True):
    """The machine is healthy again: its request goes."""

    logged: ClassVar[bool] = True
    request: str

    def note(self) -> str:
        return f"the machine is healthy: {self.request} is deleted"


class CheckWithoutTargets(Reason, frozen=True):
    """A check that speaks for nobody."""

    def note(self) -> str:
        return (
            "selects no machine (paused and skipped ones do not count): nothing is done by it; compare spec.selector "
            "(and spec.clusterName where there is one) with kubectl get machines --show-labels in its namespace"
        )


class ChecksOverlap(Reason, frozen=True):
    """Two checks select the same machines: the older one governs them, so that signals never contradict."""

    alert: ClassVar[bool] = True
    passing: ClassVar[tuple[str, ...]] = ("machines",)
    machines: int

    def note(self) -> str:
        return (
            f"{self.machines} machines of this check are selected by another check too; the oldest check governs "
            "each of them; change a selector"
        )


# --- health checks: the status ---------------------------------------------------------------------------------


class StatusBehind(Reason, frozen=True):
    """The status of the check does not say what was found: it is written."""

    quiet: ClassVar[bool] = True
    expected: int
    healthy: int

    def note(self) -> str:
        return f"the status is brought up to date: {self.healthy} of {self.expected} machines are healthy"


class OtherControllerGoverns(Reason, frozen=True):
    """Another controller writes the status of this check: two would contradict each other."""

    manager: str

    def note(self) -> str:
        return (
            f"the status of this check is written by {self.manager}: node-remedy gives verdicts and writes nothing; "
            'annotate the check with node-remedy.dev/govern: "true" if node-remedy shall look after it'
        )


class CheckPaused(Reason, frozen=True):
    """`cluster.x-k8s.io/paused` is on the check: it may be on its way to another cluster."""

    check: str

    def note(self) -> str:
        return (
            f"{self.check} carries cluster.x-k8s.io/paused: it has nothing repaired, and its status is not written; "
            "remove the annotation to go on"
        )


# --- health checks: remediation ----------------------------------------------------------------------------------


class TargetHealthy(Reason, frozen=True):
    """There is nothing to repair."""

    quiet: ClassVar[bool] = True

    def note(self) -> str:
        return "the machine is healthy"


class TargetOfNobody(Reason, frozen=True):
    """No check selects this machine."""

    quiet: ClassVar[bool] = True

    def note(self) -> str:
        return "no health check selects this machine"


class TargetSkipped(Reason, frozen=True):
    """`cluster.x-k8s.io/skip-remediation` is on the Machine: no check judges it."""

    quiet: ClassVar[bool] = True

    def note(self) -> str:
        return (
            "the Machine carries cluster.x-k8s.io/skip-remediation: no health check judges it; "
            "remove the annotation to have it judged"
        )


class CheckLeaving(Reason, frozen=True):
    """The check is being deleted: it judges nobody any more."""

    quiet: ClassVar[bool] = True

    def note(self) -> str:
        return "this check is being deleted and judges nobody; its metadata.finalizers say who holds it up"


class CheckYounger(Reason, frozen=True):
    """Of several checks that select a machine the oldest governs."""

    quiet: ClassVar[bool] = True
    check: str

    def note(self) -> str:
        return f"check {self.check} is older and governs; narrow spec.selector of one of them"


class ClusterObjectPaused(Reason, frozen=True):
    """`spec.paused` or the annotation is on the Cluster: none of its machines is touched."""

    cluster: str

    def note(self) -> str:
        return (
            f"Cluster {self.cluster} is paused: nothing is done for its machines; to go on set spec.paused to false, "
            "and remove cluster.x-k8s.io/paused from it"
        )


class CheckOfAnother(Reason, frozen=True):
    """The governing check is looked after by another controller, which repairs its machines as well."""

    quiet: ClassVar[bool] = True
    check: str
    manager: str

    def note(self) -> str:
        return f"check {self.check} is looked after by {self.manager}: node-remedy gives verdicts and asks for nothing"


class ObserveOnly(Reason, frozen=True):
    """`node-remedy.dev/mode: observe` on the check: verdicts, and nothing else."""

    quiet: ClassVar[bool] = True
    check: str

    def note(self) -> str:
        return f"check {self.check} only observes: remove node-remedy.dev/mode from it to repair"


class LimitOfCheck(Reason, frozen=True):
    """The governing check starts no repairs now: its own reason says why."""

    quiet: ClassVar[bool] = True
    passing: ClassVar[tuple[str, ...]] = ("unhealthy", "total")
    check: str
    unhealthy: int = 0
    total: int = 0  # 0: it has not counted yet
    limit: str = ""

    def note(self) -> str:
        if not self.total:
            return f"check {self.check} starts no repairs now: it has not counted its machines yet"
        return (
            f"check {self.check} starts no repairs now: {self.unhealthy} of {self.total} machines are not healthy "
            f"(limit {self.limit})"
        )


class ObserverNew(Reason, frozen=True):
    """Who has just come cannot tell how long a node has been silent."""

    quiet: ClassVar[bool] = True
    timeout: Span

    def note(self) -> str:
        return f"node-remedy has not watched for {self.timeout} without a gap yet: no new repair starts before that"


class AnotherRepair(Reason, frozen=True):
    """A repair of another sort is going on: a second one would get in its way."""

    how: str

    def note(self) -> str:
        return f"a repair by {self.how} is going on: no other one is started beside it"


class RemediationAsked(Reason, frozen=True):
    """The machine is sick and all gates are open: its repair is asked for."""

    check: str
    how: str

    def note(self) -> str:
        return f"check {self.check} asks for a repair by {self.how}"


class RemediationGoesOn(Reason, frozen=True):
    """What was asked for stands, and the machine is not healthy yet."""

    quiet: ClassVar[bool] = True
    how: str

    def note(self) -> str:
        return f"a repair by {self.how} was asked for and is not over"


class HoldLeft(Reason, frozen=True):
    """The host of a sick machine is still held for a power cycle that nobody asks for: nothing new begins beside it."""

    quiet: ClassVar[bool] = True

    def note(self) -> str:
        return "its host is still held for a power cycle that nobody asks for any more; it is released first"


class HealthTold(Reason, frozen=True):
    """The conditions of the Machine do not say what was found: they are written."""

    quiet: ClassVar[bool] = True
    status: str

    def note(self) -> str:
        return f"the Machine's conditions are brought up to date: HealthCheckSucceeded is {self.status}"


class RemediationWithdrawn(Reason, frozen=True):
    """What a check asked for is taken back, since nobody has begun with it."""

    check: str
    why: str

    def note(self) -> str:
        return f"what check {self.check} asked for is taken back: {self.why}"


class NoControllerOwner(Reason, frozen=True):
    """Deleting this machine would repair nothing: nobody would replace it."""

    alert: ClassVar[bool] = True

    def note(self) -> str:
        return (
            "the Machine has no controller owner that would replace it: it is not deleted; repair or replace it by hand"
        )


# --- incidents and approval ------------------------------------------------------------------------------------


class IncidentBegins(Reason, frozen=True):
    """A target left Healthy, or is being repaired: the record of it begins."""

    quiet: ClassVar[bool] = True
    incident: str
    since: Wall

    def note(self) -> str:
        return f"the record {self.incident} of what began at {self.since} is opened"


class IncidentBehind(Reason, frozen=True):
    """Something happened that the record does not say yet."""

    quiet: ClassVar[bool] = True
    incident: str
    steps: int
    last: str

    def note(self) -> str:
        return (
            f"the record {self.incident} is brought up to date: {self.steps} steps, the last one is about {self.last}"
        )


class IncidentsOverflow(Reason, frozen=True):
    """There is room for so many records: the oldest that is over goes."""

    quiet: ClassVar[bool] = True
    limit: int

    def note(self) -> str:
        return f"more than {self.limit} records of incidents: the oldest of those that are over is dropped"


class ApprovalAwaited(Reason, frozen=True):
    """The check asks for approval, and nobody has answered."""

    alert: ClassVar[bool] = True
    incident: str

    def note(self) -> str:
        where = f"incident {self.incident}" if self.incident else "its incident, which is being written"
        return (
            "the check asks for approval (node-remedy.dev/approval: required), and nothing is repaired before that; "
            f"set spec.approval.decision of {where} to approve, deny or snooze"
        )


class ApprovalDenied(Reason, frozen=True):
    """Somebody answered no."""

    incident: str
    by: str

    def note(self) -> str:
        who = f" by {self.by}" if self.by else ""
        return f"the repair was denied{who} in spec.approval of incident {self.incident}; change it there to go on"


class ApprovalSnoozed(Reason, frozen=True):
    """Somebody answered not now."""

    incident: str
    until: Wall
    by: str

    def note(self) -> str:
        who = f" by {self.by}" if self.by else ""
        return f"the repair was put off until {self.until}{who} in spec.approval of incident {self.incident}"


class ApprovalUnreadable(Reason, frozen=True):
    """What somebody answered cannot be read; that is no approval."""

    alert: ClassVar[bool] = True
    incident: str
    problem: str

    def note(self) -> str:
        return f"incident {self.incident} has an answer that cannot be read, nothing is repaired: {self.problem}"


class ApprovalUnavailable(Reason, frozen=True):
    """The check asks for approval, and there is nothing to answer in."""

    alert: ClassVar[bool] = True

    def note(self) -> str:
        return (
            "the check asks for approval, but Incidents are not installed, so nobody can answer: "
            "nothing is repaired; kubectl apply -f deploy/crds"
        )


class DocumentBroken(Reason, frozen=True):
    """A Configuration that cannot be understood."""

    alert: ClassVar[bool] = True
    problem: str
    has_good: bool

    def note(self) -> str:
        rest = "the last good version goes on" if self.has_good else "there is no good version: it does nothing"
        return f"the configuration cannot be used, {rest}: {self.problem}"


class DocumentHint(Reason, frozen=True):
    """A Configuration that is understood, and probably not meant like this."""

    hint: str

    def note(self) -> str:
        return f"probably not meant like this: {self.hint}"


class DocumentElsewhere(Reason, frozen=True):
    """A Configuration in a namespace that nobody reads."""

    namespace: str
    wanted: str

    def note(self) -> str:
        return f"a configuration in namespace {self.namespace or 'none'} is not read; put it into {self.wanted}"


class KeepingDocument(Reason, frozen=True):
    """A good Configuration is kept, for the day on which it is broken."""

    quiet: ClassVar[bool] = True
    name: str

    def note(self) -> str:
        return f"keeping this version as ConfigMap {self.name}, in case that the next one is broken"


class DocumentOverlaps(Reason, frozen=True):
    """Two Configurations select one node."""

    others: str

    def note(self) -> str:
        return (
            f"selects nodes that {self.others} selects, too: the oldest governs each of them; narrow the nodeSelector"
        )


class DocumentWithoutNodes(Reason, frozen=True):
    """A Configuration that speaks for nobody."""

    def note(self) -> str:
        return "selects no node: nothing will ever be done by it; compare its nodeSelector with kubectl get nodes -L"


class DocumentGone(Reason, frozen=True):
    """What a node was repaired by is not there any more."""

    document: str

    def note(self) -> str:
        what = f"configuration {self.document}" if self.document else "the configuration"
        return f"{what}, or the threshold in it, is gone: no further remedy is run"


class SkippedUnresponsive(Reason, frozen=True):
    """Too many nodes of a document are silent: that is no matter of nodes."""

    document: str
    percent: int

    def note(self) -> str:
        return f"{self.percent}% or more of the nodes of {self.document} are unresponsive: nothing new begins"


class SkippedByNodeCondition(Reason, frozen=True):
    """The node shows a condition at which its document wants it to be left alone."""

    condition: str
    status: str

    def note(self) -> str:
        return f"the node shows {self.condition}={self.status}, at which skipWhenNodeCondition begins no repair"


class OneAtATime(Reason, frozen=True):
    """Another node of the same document is being repaired."""

    passing: ClassVar[tuple[str, ...]] = ("node",)
    node: str

    def note(self) -> str:
        return f"one node at a time: it is the turn of {self.node or 'another one'}"


class NodeBeingRemoved(Reason, frozen=True):
    """Somebody else is removing the node."""

    node: str
    by: str

    def note(self) -> str:
        return f"node {self.node} is being removed by {self.by}: it is left to them"


class ThresholdNotReached(Reason, frozen=True):
    """What is tracked has not lasted long enough, or is over."""

    quiet: ClassVar[bool] = True

    def note(self) -> str:
        return "no threshold is reached"


class EventsRepeated(Reason, frozen=True):
    """So many events of one reason about a node."""

    node: str
    reason: str
    count: int
    within: Span

    def note(self) -> str:
        return f"{self.count} or more events {self.reason} about node {self.node} within {self.within}"


class ProblemCounted(Reason, frozen=True):
    """An alarm counts it, and no threshold tracks it."""

    passing: ClassVar[tuple[str, ...]] = ("since",)
    node: str
    problem: str
    value: str
    since: Wall

    def note(self) -> str:
        told = f"node {self.node} shows {self.problem} ({self.value}) since {self.since}"
        return f"{told}: it is counted for an alarm, and no remedy follows"


class NodeParked(Reason, frozen=True):
    """A node that was repaired again and again."""

    alert: ClassVar[bool] = True
    node: str
    count: int
    within: Span
    until: Wall

    def note(self) -> str:
        often = f"{self.count} times within {self.within}"
        return (
            f"node {self.node} was repaired {often}: it is left to a person until {self.until} (parkAfter); "
            f"find out what is wrong with it: node-remedy history {self.node}"
        )


class RepeatedProblem(Reason, frozen=True):
    """The same problem of the same node, again and again."""

    alert: ClassVar[bool] = True
    node: str
    condition: str
    count: int
    within: Span

    def note(self) -> str:
        often = f"{self.count} or more problems with {self.condition} within {self.within}"
        return f"node {self.node} had {often}; find out what they have in common: node-remedy history {self.node}"


class RemedyOrdered(Reason, frozen=True):
    """A remedy begins."""

    node: str
    number: int
    remedy: str
    threshold: str
    job: str

    def note(self) -> str:
        what = f"remedy {self.number} ({self.remedy})" if self.number else f"the recovery ({self.remedy})"
        how = f"as Job {self.job}" if self.job else "as a fence flow"
        return f"{what} of node {self.node} for {self.threshold} is ordered {how}"


class RemedyRuns(Reason, frozen=True):
    """A remedy is under way."""

    quiet: ClassVar[bool] = True
    job: str

    def note(self) -> str:
        return f"waiting for the end of {self.job or 'the fence flow'}"


class RemedyEnded(Reason, frozen=True):
    """A remedy has ended."""

    node: str
    remedy: str
    outcome: str
    why: str
    took: Span | None = None  # None: nobody knows when it ended

    def note(self) -> str:
        return f"remedy {self.remedy} of node {self.node} {self.outcome}" + (f": {self.why}" if self.why else "")


class RemedyUndefined(Reason, frozen=True):
    """A remedy that is named and defined nowhere."""

    remedy: str

    def note(self) -> str:
        return f"remedy {self.remedy} is skipped: it is not defined in remedyConfigs"


class RemedyWaits(Reason, frozen=True):
    """A remedy has ended; whether it helped is not known yet."""

    quiet: ClassVar[bool] = True
    remedy: str
    until: Wall

    def note(self) -> str:
        return f"remedy {self.remedy} has until {self.until} to help"


class RemedyOverdue(Reason, frozen=True):
    """The Job of a remedy is past its deadline, and nobody says how it ended."""

    alert: ClassVar[bool] = True
    job: str
    since: Wall

    def note(self) -> str:
        return f"Job {self.job} should have ended by {self.since}; look at it, and at the Job controller of the cluster"


class RemediesExhausted(Reason, frozen=True):
    """Everything was tried, and the node is still in trouble."""

    alert: ClassVar[bool] = True
    node: str
    threshold: str

    def note(self) -> str:
        return (
            f"no remedy is left for {self.threshold} of node {self.node}: repair it by hand; "
            f"run kubectl annotate node {self.node} node-remedy.dev/remedy- to begin anew"
        )


class RemedyCalledOff(Reason, frozen=True):
    """A chain of remedies that nobody wants any more."""

    document: str
    threshold: str

    def note(self) -> str:
        return f"{self.document} does not track {self.threshold} any more: its remedies end here"


class RemedyRecordUnreadable(Reason, frozen=True):
    """The record on a Node was edited, and cannot be read."""

    alert: ClassVar[bool] = True
    node: str
    problem: str

    def note(self) -> str:
        remedy = f"kubectl annotate node {self.node} node-remedy.dev/remedy- begins anew"
        return f"how far the remedies of node {self.node} are cannot be read, none is run: {self.problem}; {remedy}"


class NodeBooted(Reason, frozen=True):
    """Another boot came after a remedy: events of the one before do not count any more."""

    node: str
    remedy: str

    def note(self) -> str:
        return f"node {self.node} has booted since remedy {self.remedy} was ordered: only events from now on count"


class NodeRecovered(Reason, frozen=True):
    """The trouble is over."""

    node: str
    threshold: str

    def note(self) -> str:
        return f"node {self.node} has recovered from {self.threshold}"


class FreedBootIsBack(Reason, frozen=True):
    """The boot whose workload was freed while nothing was heard of it reports again: what ran there may still write."""

    alert: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        why = "reports by the very boot that was freed while it was silent, so that what ran there may still write"
        known = f"kubectl taint node {self.node} node.kubernetes.io/out-of-service-"
        remedy = f"reboot it, or drop record (node-remedy.dev/remedy-) and taint if nothing of that ran on: {known}"
        return f"node {self.node} {why}: its taint stays and its recovery waits; {remedy}"


class VouchedFor(Reason, frozen=True):
    """The administrator's word makes a node safe."""

    node: str
    by: str

    def note(self) -> str:
        return f"the workload of node {self.node} is freed on the word of {self.by}: clean-resource"


class NothingToClean(Reason, frozen=True):
    """A remedy succeeded, and its success frees nothing."""

    node: str
    why: str

    def note(self) -> str:
        return f"nothing of node {self.node} is freed: {self.why}"


class WorkloadCleaned(Reason, frozen=True):
    """The workload of a node was freed."""

    node: str
    by: str

    def note(self) -> str:
        return f"the workload of node {self.node} was freed by {self.by}"


class TaintTakenBack(Reason, frozen=True):
    """The out-of-service taint that we set goes when the node is back."""

    logged: ClassVar[bool] = True
    node: str

    def note(self) -> str:
        return f"the out-of-service taint of node {self.node} is ours and goes when the node is back"


class PodsPaced(Reason, frozen=True):
    """Freed pods are limited."""

    quiet: ClassVar[bool] = True
    limit: int

    def note(self) -> str:
        return f"no more than {self.limit} pods are freed per minute"


def _from(since: Wall | None) -> str:
    return f"since {since}" if since else "since an unknown time"


def _for_longer(since: Wall | None, timeout: Span) -> str:
    return f"{_from(since)}, longer than {timeout}"


def _has_time(since: Wall | None, timeout: Span) -> str:
    return f"{_from(since)}; it has {timeout} to change"
