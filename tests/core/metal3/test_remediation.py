"""The phases of a Metal3Remediation: what is done in each situation, row by row, and why."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import (
    HOST_AT,
    MACHINE_AT,
    NODE_AT,
    NOW,
    OPENSHIFT_MACHINE_AT,
    REMEDIATION_AT,
    a_backup,
    a_host,
    a_machine,
    a_node,
    ago,
    later,
    mistaken,
    unreadable,
)
from tests.core.metal3.remediations import (
    BACK,
    EVIDENCE,
    NO_PODS,
    NO_VOLUMES,
    OUR_MARKS,
    SICK,
    UID,
    a_held_host,
    a_reader,
    a_remediation,
    a_world,
    actions,
    decided,
    looked,
    reasons,
)

from noderemedy.core.freeing import OUT_OF_SERVICE
from noderemedy.core.metal3.phases import TABLE, limit
from noderemedy.core.metal3.remediation import ROOM
from noderemedy.core.metal3.remediationview import SIGHT
from noderemedy.model.actions import (
    BackUpNode,
    DeleteNode,
    DeletePod,
    DetachVolume,
    HoldHost,
    MarkHostUnhealthy,
    PublishRemediationStatus,
    ReleaseHost,
    TaintOutOfService,
    UnmarkHost,
    WriteMachineConditions,
)
from noderemedy.model.budget import NEED, Need, Refused
from noderemedy.model.checkstatus import Told
from noderemedy.model.cluster import Cluster
from noderemedy.model.host import Consumer, Host, MarkName, Power
from noderemedy.model.ids import CLUSTER, OPENSHIFT_MACHINE, REMEDIATION, ref
from noderemedy.model.keeping import Unkept, unkept_ref
from noderemedy.model.machine import ControllerOwner
from noderemedy.model.machineconditions import MachineConditions
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import Condition, Node, OutOfService
from noderemedy.model.proof import PoweredOff
from noderemedy.model.reasons import NextAttemptAt, PausedByPerson, TooManyUnhealthy
from noderemedy.model.remediation import FINALIZER, Evidence, Metal3Remediation, Phase, Strategy
from noderemedy.model.room import Unreadable
from noderemedy.model.time import MINUTE, Span
from noderemedy.model.workload import ATTACHMENT, POD, Attachment, FreeBy, Pod, PodsOfNode, VolumesOfNode

NEW, POWER_OFF, FREEING = a_remediation(), a_remediation(Phase.POWER_OFF), a_remediation(Phase.FREEING)
POWER_ON, WAITING = a_remediation(Phase.POWER_ON), a_remediation(Phase.WAITING)
OFF_SEEN = replace(EVIDENCE, off_at=ago(60))
READY_FOR = replace(NEW, finalizers=(FINALIZER,))
READY_SINCE = replace(a_node(boot_id=""), conditions=(Condition("Ready", "True", ago(900)),))
OURS = OutOfService("metal3-remediation", "metal/worker-0", UID, "boot-1")
TAINTED = replace(a_node(ready="Unknown", taints=(OUT_OF_SERVICE,)), out_of_service=OURS)


def chosen(by: FreeBy, **changes: Any) -> Metal3Remediation:
    """In the phase of freeing, with the way already chosen and recorded."""
    evidence = replace(OFF_SEEN, free_by=by, proof="PoweredOff", tainted_at=ago(5) if by is FreeBy.TAINT else None)
    return a_remediation(Phase.FREEING, evidence=evidence, **changes)


def deleted(remediation: Metal3Remediation) -> Metal3Remediation:
    return replace(remediation, deleting=True)


PUBLISH = "PublishRemediationStatus"
# situation -> (the world, what is done, why)
CASES: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "new: the finalizer first": ({"remediation": NEW}, ["WriteFinalizers"], ["PhaseBegins"]),
    "new: then power-off is recorded": ({"remediation": READY_FOR}, [PUBLISH], ["PhaseBegins"]),
    "power-off: held": ({"remediation": POWER_OFF}, ["HoldHost"], ["HoldingHost"]),
    "power-off: held although off already": (
        {"remediation": POWER_OFF, "host": a_host(power=Power.OFF)},
        ["HoldHost"],
        ["HoldingHost"],
    ),
    "power-off: a garbled record is written anew": (
        {"remediation": POWER_OFF, "host": replace(a_host(), held_for=((UID, Malformed("x")),))},
        ["HoldHost"],
        ["HoldingHost"],
    ),
    "power-off: still on": (
        {"remediation": POWER_OFF, "host": a_held_host(Power.ON)},
        [],
        ["WaitingForPowerOff"],
    ),
    "power-off: unknown is not off": (
        {"remediation": POWER_OFF, "host": a_held_host(Power.UNKNOWN)},
        [],
        ["WaitingForPowerOff"],
    ),
    "power-off: off, with the proof": (
        {"remediation": POWER_OFF, "host": a_held_host()},
        [PUBLISH],
        ["ProvenOff", "PhaseBegins"],
    ),
    "power-off: off before it was held": (
        {"remediation": POWER_OFF, "host": a_held_host(was_on=False)},
        [PUBLISH],
        ["PhaseBegins"],
    ),
    "power-off: off, and there is no node": (
        {"remediation": POWER_OFF, "host": a_held_host(), "node": None},
        [PUBLISH],
        ["PhaseBegins"],
    ),
    "power-off: off, and the node cannot be read": (
        {"remediation": POWER_OFF, "host": a_held_host(), "node": unreadable()},
        [PUBLISH],
        ["PhaseBegins"],
    ),
    "power-off: off, and the node is somebody else's": (
        {"remediation": POWER_OFF, "host": a_held_host(), "node": a_node(provider_id="other")},
        [PUBLISH],
        ["PhaseBegins"],
    ),
    "power-off: not in time": (
        {"remediation": a_remediation(Phase.POWER_OFF, seconds=121), "host": a_held_host(Power.ON)},
        [PUBLISH],
        ["PowerOffOverdue", "PhaseBegins"],
    ),
    "freeing: how, and on which proof, is recorded first": (
        {"remediation": FREEING, "host": a_held_host()},
        [PUBLISH],
        ["ProvenOff"],
    ),
    "freeing: no node, nothing to free": (
        {"remediation": FREEING, "host": a_held_host(), "node": None},
        [PUBLISH],
        ["PhaseBegins"],
    ),
    "freeing: a machine that never had a node": (
        {"remediation": FREEING, "host": a_held_host(), "node": None, "machine": a_machine(node_name=None)},
        [PUBLISH],
        ["PhaseBegins"],
    ),
    "freeing: off before it was held": (
        {"remediation": FREEING, "host": a_held_host(was_on=False)},
        [PUBLISH],
        ["OffNotProven", "PhaseBegins"],
    ),
    "freeing: a drill found that the host is another machine": (
        {"remediation": FREEING, "host": a_held_host(), "node": mistaken(SICK)},
        [PUBLISH],
        ["OffNotProven", "PhaseBegins"],
    ),
    "freeing: on again": ({"remediation": FREEING, "host": a_held_host(Power.ON)}, [PUBLISH], ["PhaseBegins"]),
    "freeing: a paused host": (
        {"remediation": FREEING, "host": a_held_host(paused=True)},
        [],
        ["HostPaused"],
    ),
    "freeing: somebody else's node": (
        {"remediation": FREEING, "host": a_held_host(), "node": a_node(provider_id="other")},
        [],
        ["NodeNotOurs"],
    ),
    "freeing: somebody else's node, and the table's hold as well": (
        {"remediation": FREEING, "host": a_held_host(held=True), "node": a_node(provider_id="other")},
        [],
        ["NodeNotOurs"],
    ),
    "freeing: a node that cannot be read": (
        {"remediation": FREEING, "host": a_held_host(), "node": unreadable()},
        [],
        ["NodeUnreadable"],
    ),
    "freeing: not in time": (
        {"remediation": a_remediation(Phase.FREEING, seconds=601), "host": a_held_host()},
        [PUBLISH],
        ["FreeingOverdue", "PhaseBegins"],
    ),
    "freeing: another Node of the same name": (
        {"remediation": FREEING, "host": a_held_host(), "node": replace(SICK, uid="node-uid-2")},
        [PUBLISH],
        ["NodeReplaced", "PhaseBegins"],
    ),
    "freeing by taint: another Node of the same name": (
        {"remediation": chosen(FreeBy.TAINT), "host": a_held_host(), "node": replace(TAINTED, uid="node-uid-2")},
        [PUBLISH],
        ["NodeReplaced", "PhaseBegins"],
    ),
    "freeing by taint": (
        {"remediation": chosen(FreeBy.TAINT), "host": a_held_host()},
        ["TaintOutOfService"],
        ["FreeingWorkload"],
    ),
    "freeing by taint: then the lists": (
        {"remediation": chosen(FreeBy.TAINT), "host": a_held_host(), "node": TAINTED},
        ["ListPods"],
        ["ListingWorkload"],
    ),
    "freeing by pods: the lists first": (
        {"remediation": chosen(FreeBy.PODS), "host": a_held_host()},
        ["ListPods"],
        ["ListingWorkload"],
    ),
    "freeing: its node still reports": (
        {"remediation": chosen(FreeBy.TAINT), "host": a_held_host(), "node": a_node()},
        [],
        ["NodeStillHeard"],
    ),
    "freeing: its node says that it is sick": (
        {"remediation": chosen(FreeBy.TAINT), "host": a_held_host(), "node": a_node(ready="False")},
        [],
        ["NodeStillHeard"],
    ),
    "freeing: its node reports all the time": (
        {"remediation": a_remediation(Phase.FREEING, seconds=601), "host": a_held_host(), "node": a_node()},
        [PUBLISH],
        ["HostContradicted", "PhaseBegins"],
    ),
    "freeing by node: the backup first": (
        {"remediation": chosen(FreeBy.NODE), "host": a_held_host()},
        ["BackUpNode"],
        ["BackupFirst"],
    ),
    "freeing by node: somebody's finalizer": (
        {"remediation": chosen(FreeBy.NODE), "host": a_held_host(), "node": a_node(deleting=True, ready="Unknown")},
        [],
        ["NodeFinalizing"],
    ),
    "power-on: released": (
        {"remediation": POWER_ON, "host": a_held_host()},
        ["ReleaseHost"],
        ["ReleasingHost"],
    ),
    "power-on: still off": ({"remediation": POWER_ON, "host": a_host(power=Power.OFF)}, [], ["WaitingForPowerOn"]),
    "power-on: switched off on purpose": (
        {"remediation": POWER_ON, "host": a_host(power=Power.OFF, online=False)},
        [],
        ["HostOffOnPurpose"],
    ),
    "power-on: on": ({"remediation": POWER_ON}, [PUBLISH], ["PhaseBegins"]),
    "power-on: not in time": (
        {"remediation": a_remediation(Phase.POWER_ON, seconds=601), "host": a_host(power=Power.OFF)},
        [PUBLISH],
        ["PowerOnOverdue", "PhaseBegins"],
    ),
    "waiting: not ready": ({"remediation": WAITING}, [], ["WaitingForReady"]),
    "waiting: no node": ({"remediation": WAITING, "node": None}, [], ["WaitingForReady"]),
    "waiting: called ready since before it was off": (
        {"remediation": a_remediation(Phase.WAITING, evidence=OFF_SEEN), "node": a_node()},
        [],
        ["WaitingForReady"],
    ),
    "waiting: ready again": (
        {"remediation": a_remediation(Phase.WAITING, evidence=OFF_SEEN), "node": BACK},
        [PUBLISH],
        ["RemediationSucceeded"],
    ),
    "waiting: ready although it never went off": (
        {"remediation": WAITING, "node": a_node()},
        [PUBLISH],
        ["RemediationSucceeded"],
    ),
    "waiting: its Node is restored first": (
        {"remediation": WAITING, "node": BACK, "machine": a_machine(node_deleted_at=ago(60))},
        [],
        ["RestoringNode"],
    ),
    "waiting: asked for once more before its Node was restored": (
        {"remediation": WAITING, "node": BACK, "machine": a_machine(node_deleted_at=ago(60), needs=True)},
        [PUBLISH],
        ["RemediationSucceeded"],
    ),
    "waiting: a hold that is still there goes": (
        {"remediation": WAITING, "host": a_held_host()},
        ["ReleaseHost"],
        ["ReleasingHost"],
    ),
    "waiting: our taint goes when the node is back": (
        {
            "remediation": a_remediation(Phase.WAITING, evidence=replace(OFF_SEEN, tainted_at=ago(50))),
            "node": replace(BACK, taints=(OUT_OF_SERVICE,), out_of_service=OURS),
        },
        ["UntaintOutOfService"],
        ["UntaintingNode"],
    ),
    "waiting: somebody else's taint stays, whatever we meant to do": (
        {
            "remediation": a_remediation(Phase.WAITING, evidence=replace(OFF_SEEN, tainted_at=ago(50))),
            "node": replace(BACK, taints=(OUT_OF_SERVICE,)),
        },
        [PUBLISH],
        ["RemediationSucceeded"],
    ),
    "waiting: the next attempt": (
        {"remediation": a_remediation(Phase.WAITING, seconds=601)},
        [PUBLISH],
        ["PhaseBegins"],
    ),
    "waiting: the last attempt is over": (
        {"remediation": a_remediation(Phase.WAITING, seconds=601, attempt=2)},
        [PUBLISH],
        ["PhaseBegins"],
    ),
    "waiting: reboot pauses before the next attempt": (
        {"remediation": a_remediation(Phase.WAITING, seconds=601, strategy=Strategy.REBOOT)},
        [],
        ["NextAttemptAt"],
    ),
    "waiting: reboot tries again": (
        {"remediation": a_remediation(Phase.WAITING, seconds=661, strategy=Strategy.REBOOT)},
        [PUBLISH],
        ["PhaseBegins"],
    ),
    "recovered: nothing more": (
        {"remediation": a_remediation(Phase.WAITING, seconds=9_999, recovered=True)},
        [],
        ["RemediationSucceeded"],
    ),
    "deleting-machine: the owner is asked": (
        {
            "remediation": a_remediation(Phase.DELETING_MACHINE),
            "machine": replace(a_machine(), told=MachineConditions(current=(), older=(), is_current=True)),
        },
        ["WriteMachineConditions"],
        ["Escalating"],
    ),
    "deleting-machine: the host is marked": (
        {"remediation": a_remediation(Phase.DELETING_MACHINE)},
        ["MarkHostUnhealthy"],
        ["HostMarkedUnhealthy"],
    ),
    "deleting-machine: then it waits": (
        {"remediation": a_remediation(Phase.DELETING_MACHINE), "host": replace(a_host(), unhealthy=OUR_MARKS)},
        [],
        ["WaitingForOwner"],
    ),
    "deleting-machine: half of a mark is completed": (
        {
            "remediation": a_remediation(Phase.DELETING_MACHINE),
            "host": replace(a_host(), unhealthy=((MarkName.CURRENT, "node-remedy/x"),)),
        },
        ["MarkHostUnhealthy"],
        ["HostMarkedUnhealthy"],
    ),
    "deleting-machine: marks of others are enough if no provider can miss them": (
        {
            "remediation": a_remediation(Phase.DELETING_MACHINE),
            "host": replace(a_host(), unhealthy=tuple((name, "somebody") for name in MarkName)),
        },
        [],
        ["WaitingForOwner"],
    ),
    "deleting-machine: a host whose node is back is not marked": (
        {"remediation": a_remediation(Phase.DELETING_MACHINE), "node": BACK},
        [],
        ["WaitingForOwner"],
    ),
    "deleting-machine: nobody answers": (
        {"remediation": a_remediation(Phase.DELETING_MACHINE, seconds=1_801)},
        [PUBLISH],
        ["RemediationFailed", "PhaseBegins"],
    ),
    "failed: it says so": ({"remediation": a_remediation(Phase.FAILED)}, [], ["RemediationFailed"]),
}


@pytest.mark.parametrize("situation", CASES)
def test_every_situation(situation: str) -> None:
    """Each phase in each situation does this, for these reasons."""
    world, done, why = CASES[situation]

    decision = looked(a_world(**world))

    assert (done, why) == (actions(decision), reasons(decision))


def test_freeing_begins_with_its_proof_on_record() -> None:
    """How, on which proof, and the boot that it is about: one write, after which nothing is left to record."""
    (write,) = looked(a_world(POWER_OFF, host=a_held_host())).actions
    assert isinstance(write, PublishRemediationStatus)
    recorded = write.progress.evidence
    then = replace(POWER_OFF, progress=write.progress)

    assert (Phase.FREEING, FreeBy.PODS, NOW.wall) == (write.progress.phase, recorded.free_by, recorded.off_at)
    assert recorded.proof.startswith("PoweredOff host host-uid")
    assert ["ListPods"] == actions(looked(a_world(then, host=a_held_host())))


DELETED: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "new, without our finalizer": ({"remediation": deleted(NEW)}, [], []),
    "new": ({"remediation": deleted(READY_FOR)}, ["WriteFinalizers"], ["RemediationCancelled"]),
    "before the power-off": ({"remediation": deleted(POWER_OFF)}, ["WriteFinalizers"], ["RemediationCancelled"]),
    "after the power-off was asked for": (
        {"remediation": deleted(POWER_OFF), "host": a_held_host(Power.ON)},
        [PUBLISH],
        ["PhaseBegins"],
    ),
    "in the middle of freeing": (
        {"remediation": deleted(chosen(FreeBy.PODS)), "host": a_held_host()},
        [PUBLISH],
        ["PhaseBegins"],
    ),
    "held": ({"remediation": deleted(POWER_ON), "host": a_held_host()}, ["ReleaseHost"], ["ReleasingHost"]),
    "released, not on yet": (
        {"remediation": deleted(POWER_ON), "host": a_host(power=Power.OFF)},
        [],
        ["WaitingForPowerOn"],
    ),
    "on": ({"remediation": deleted(POWER_ON)}, ["WriteFinalizers"], ["RemediationLeaves"]),
    "never on": (
        {"remediation": deleted(a_remediation(Phase.POWER_ON, seconds=601)), "host": a_host(power=Power.OFF)},
        ["WriteFinalizers"],
        ["PowerOnOverdue", "RemediationLeaves"],
    ),
    "switched off on purpose meanwhile": (
        {"remediation": deleted(POWER_ON), "host": a_host(power=Power.OFF, online=False)},
        ["WriteFinalizers"],
        ["RemediationLeaves"],
    ),
    "our taint goes first, whatever the node is like": (
        {
            "remediation": deleted(a_remediation(Phase.WAITING, evidence=replace(OFF_SEEN, tainted_at=ago(9)))),
            "node": TAINTED,
        },
        ["UntaintOutOfService"],
        ["UntaintingNode"],
    ),
    "waiting": ({"remediation": deleted(WAITING)}, ["WriteFinalizers"], ["RemediationLeaves"]),
    "a Node that cannot be read, and that was never tainted": (
        {"remediation": deleted(WAITING), "node": unreadable()},
        ["WriteFinalizers"],
        ["RemediationLeaves"],
    ),
    "a Node that could not be read for long, and may be tainted": (
        {
            "remediation": deleted(a_remediation(Phase.WAITING, evidence=replace(OFF_SEEN, tainted_at=ago(9)))),
            "node": unreadable(),
        },
        ["WriteFinalizers"],
        ["TaintMayStay", "RemediationLeaves"],
    ),
    "recovered": (
        {"remediation": deleted(a_remediation(Phase.WAITING, recovered=True))},
        ["WriteFinalizers"],
        ["RemediationLeaves"],
    ),
    "failed": ({"remediation": deleted(a_remediation(Phase.FAILED))}, ["WriteFinalizers"], ["RemediationLeaves"]),
    "without its machine": (
        {"remediation": deleted(POWER_ON), "machine": None},
        ["WriteFinalizers"],
        ["RemediationLeaves"],
    ),
    "without its machine, and held": (
        {"remediation": deleted(POWER_ON), "machine": None, "host": a_held_host()},
        ["ReleaseHost"],
        ["ReleasingHost"],
    ),
}


@pytest.mark.parametrize("situation", DELETED)
def test_a_request_that_is_deleted(situation: str) -> None:
    """Called off before the power-off; afterwards released and on, nothing more is freed, and the finalizer goes."""
    world, done, why = DELETED[situation]

    decision = looked(a_world(**world))

    assert (done, why) == (actions(decision), reasons(decision))


def test_a_finalizer_waits_for_an_unreadable_node_only_so_long() -> None:
    """After the time of a power-on the request goes with an alert: the mark on the Node says whose the taint is."""
    tainted = deleted(a_remediation(Phase.WAITING, evidence=replace(OFF_SEEN, tainted_at=ago(9))))
    reader = a_reader(a_world(tainted, node=unreadable()), known=NOW.mono)

    early, late = (decided(REMEDIATION_AT, reader, later(seconds)) for seconds in (599, 600))

    assert ([], ["NodeOutOfSight"], later(600).mono) == (actions(early), reasons(early), early.wake_at)
    assert (["WriteFinalizers"], ["TaintMayStay", "RemediationLeaves"]) == (actions(late), reasons(late))


def an_owner(uid: str) -> dict[str, Any]:
    return {"owner": ControllerOwner("cluster.x-k8s.io/v1beta1", "Machine", "worker-0", uid), "owner_uid": uid}


PAUSED_CLUSTER = {ref(CLUSTER, "metal", "metal"): Cluster("cluster-uid-1", paused=True)}
OLDER = replace(READY_FOR, uid="remediation-uid-0", created=ago(7_200))
GATES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a spec that cannot be understood": (
        {"remediation": replace(NEW, problems=("spec.x: bad",))},
        ["RemediationInvalid"],
    ),
    "cluster.x-k8s.io/paused on the request": ({"remediation": replace(NEW, cluster_paused=True)}, ["ClusterPaused"]),
    "the same on its machine": ({"remediation": NEW, "machine": a_machine(cluster_paused=True)}, ["ClusterPaused"]),
    "a paused Cluster": (
        {"remediation": NEW, "machine": replace(a_machine(), cluster_name="metal"), "more": PAUSED_CLUSTER},
        ["ClusterObjectPaused"],
    ),
    "a record that the API would forget": (
        {"remediation": NEW, "more": {unkept_ref(REMEDIATION): Unkept(("status.evidence",))}},
        ["RecordNotKept"],
    ),
    "a definition that nobody may see": (
        {"remediation": NEW, "more": {unkept_ref(REMEDIATION): Unkept(unread="forbidden")}},
        ["DefinitionHidden"],
    ),
    "a definition that was not read yet": (
        {"remediation": POWER_OFF, "more": {unkept_ref(REMEDIATION): Unkept()}},
        ["DefinitionUnread"],
    ),
    "no machine": ({"remediation": NEW, "machine": None}, ["RemediatedMachineMissing"]),
    "another machine than its owner": (
        {"remediation": replace(NEW, **an_owner("other"))},
        ["RemediatedMachineMissing"],
    ),
    "another machine than it began with": (
        {"remediation": POWER_OFF, "machine": a_machine(uid="machine-uid-2")},
        ["RemediatedMachineMissing"],
    ),
    "a machine without a host": ({"remediation": NEW, "machine": a_machine(host=None)}, ["HostNotNamed"]),
    "a host of somebody else": ({"remediation": NEW, "host": a_host(consumer=None)}, ["HostNotOurs"]),
    "a paused host": ({"remediation": NEW, "host": a_host(paused=True)}, ["HostPaused"]),
    "a node that cannot be read": ({"remediation": NEW, "node": unreadable()}, ["NodeUnreadable"]),
    "somebody else's node": ({"remediation": NEW, "node": a_node(provider_id="other")}, ["NodeNotOurs"]),
    "paused by a person": ({"remediation": replace(NEW, paused=Paused())}, ["PausedByPerson"]),
    "a pause that cannot be read": ({"remediation": replace(NEW, paused=Malformed("x"))}, ["PauseUnreadable"]),
    "a node that a person paused": ({"remediation": NEW, "node": replace(SICK, paused=Paused())}, ["PausedByPerson"]),
    "a machine that a person paused": ({"remediation": NEW, "machine": a_machine(paused=Paused())}, ["PausedByPerson"]),
    "a machine on its way out": ({"remediation": NEW, "machine": a_machine(deleting=True)}, ["MachineDeleting"]),
    "a host that cannot be powered off": (
        {"remediation": NEW, "host": a_host(power_off_disabled=True)},
        ["PowerOffDisabled"],
    ),
    "a host that a drill found to be another machine": (
        {"remediation": NEW, "node": mistaken(SICK)},
        ["DeviceMistaken"],
    ),
    "power that nobody knows": ({"remediation": NEW, "host": a_host(power=Power.UNKNOWN)}, ["PowerUnknown"]),
    "a host that is off on purpose": ({"remediation": NEW, "host": a_host(online=False)}, ["HostOffOnPurpose"]),
    "an older request for the same machine": (
        {
            "remediation": replace(READY_FOR, **an_owner("")),
            "more": {ref(REMEDIATION, "other", "metal"): replace(OLDER, **an_owner(""))},
        },
        ["AnotherRemediation"],
    ),
}


@pytest.mark.parametrize("gate", GATES)
def test_every_gate(gate: str) -> None:
    """Nothing is begun, and the reason says why not."""
    world, why = GATES[gate]

    decision = looked(a_world(**world))

    assert ([], why) == (actions(decision), reasons(decision))


def test_a_pause_with_an_end_is_looked_at_then() -> None:
    """The next look is when the pause ends."""
    until = later(90)

    decision = looked(a_world(replace(NEW, paused=Paused(until.wall))))

    assert ((PausedByPerson(until.wall, REMEDIATION_AT.in_words),), until.mono) == (decision.because, decision.wake_at)


LOST: dict[str, dict[str, Any]] = {
    "a record that the API would forget": {
        "host": a_held_host(),
        "more": {unkept_ref(REMEDIATION): Unkept(("status.evidence.contradictedAt",))},
    },
    "no machine": {"machine": None, "host": a_held_host()},
    "another host": {"machine": a_machine(host=None), "host": a_held_host()},
    "another consumer": {"host": a_held_host(consumer=None)},
}


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("phase", [Phase.POWER_OFF, Phase.FREEING, Phase.WAITING, Phase.FAILED])
def test_who_lost_machine_or_host_releases_and_frees_nothing(phase: Phase, lost: str) -> None:
    """A hold whose machine is gone, or whose host serves somebody else, goes in whichever phase."""
    decision = looked(a_world(a_remediation(phase), **LOST[lost]))

    assert ["ReleaseHost"] == actions(decision)


def test_the_hold_names_its_request_and_what_the_host_said() -> None:
    """The record says for whom, for which boot, and whether "off" will be news."""
    decision = looked(a_world(POWER_OFF))
    action = decision.actions[0]

    assert isinstance(action, HoldHost)
    assert (HOST_AT, UID, "102") == (action.ref, action.owner_uid, action.guard.resource_version)
    assert ("metal/worker-0", "node-uid-1", "boot-1", True) == (
        action.hold.owner,
        action.hold.node_uid,
        action.hold.boot_id,
        action.hold.was_on,
    )
    off = looked(a_world(POWER_OFF, host=a_host(power=Power.OFF))).actions[0]
    assert isinstance(off, HoldHost)
    assert not off.hold.was_on


def test_nothing_is_held_on_an_old_view() -> None:
    """Request and machine are read live before the host is held; the host's version is in the guard."""
    decision = looked(a_world(POWER_OFF), stale=(REMEDIATION_AT, MACHINE_AT))

    assert ["Confirm", "Confirm"] == actions(decision)
    assert ["ConfirmFirst", "ConfirmFirst"] == reasons(decision)


@pytest.mark.parametrize("stale", [HOST_AT, NODE_AT])
def test_nothing_is_freed_on_an_old_view(stale: Any) -> None:
    """Host and node are read live before a workload is freed."""
    decision = looked(a_world(chosen(FreeBy.NODE), host=a_held_host()), stale=(stale,))

    assert ["Confirm"] == actions(decision)


def test_a_taint_carries_a_proof_and_keeps_the_others() -> None:
    """The whole list of taints, under the version that was read, on a proof for that boot."""
    node = a_node(ready="Unknown", taints=(TAINT := replace(OUT_OF_SERVICE, key="mine"),))

    action = looked(a_world(chosen(FreeBy.TAINT), host=a_held_host(), node=node)).actions[0]

    assert isinstance(action, TaintOutOfService)
    assert isinstance(action.proof, PoweredOff)
    assert {TAINT, OUT_OF_SERVICE} == set(action.taints)
    assert OURS == action.by
    assert ("node-uid-1", "103") == (action.guard.uid, action.guard.resource_version)


PODS = PodsOfNode(
    (
        (ref(POD, "db-0", "default"), Pod("pod-1", has_volumes=True)),
        (ref(POD, "proxy", "kube-system"), Pod("pod-2", stays=True)),
        (ref(POD, "web-0", "default"), Pod("pod-3", deleting=True)),
    )
)
GOING = PodsOfNode(((ref(POD, "db-0", "default"), Pod("pod-1", deleting=True, is_forced=True, has_volumes=True)),))
VOLUMES = VolumesOfNode(((ref(ATTACHMENT, "csi-1"), Attachment("volume-1", "worker-0")),))
DETACHING = VolumesOfNode(((ref(ATTACHMENT, "csi-1"), Attachment("volume-1", "worker-0", deleting=True)),))


def test_pods_go_by_uid_and_those_of_the_node_stay() -> None:
    """Every pod but those of DaemonSets and files is removed, then the list is read again."""
    decision = looked(a_world(chosen(FreeBy.PODS), host=a_held_host()), pods=PODS, volumes=VOLUMES)
    deletions = [action for action in decision.actions if isinstance(action, DeletePod)]

    assert ["DeletePod", "DeletePod", "ListPods"] == actions(decision)
    assert ["pod-1", "pod-3"] == [action.guard.uid for action in deletions]
    assert all(isinstance(action.proof, PoweredOff) for action in deletions)


def test_volumes_go_after_the_pods() -> None:
    """Attachments are deleted when no pod is left, and waited for when somebody's finalizer holds them."""
    world = a_world(chosen(FreeBy.PODS), host=a_held_host())

    detaching = looked(world, pods=NO_PODS, volumes=VOLUMES)
    waiting = looked(world, pods=NO_PODS, volumes=DETACHING)

    assert ["DetachVolume", "ListVolumes"] == actions(detaching)
    assert isinstance(detaching.actions[0], DetachVolume)
    assert ([], ["WaitingForWorkload"]) == (actions(waiting), reasons(waiting))


@pytest.mark.parametrize("by", [FreeBy.PODS, FreeBy.TAINT])
def test_what_does_not_go_is_looked_at_again(by: FreeBy) -> None:
    """A pod with a finalizer is waited for at a pace, within the deadline of the phase."""
    world = a_world(chosen(by), host=a_held_host(), node=TAINTED)

    decision = looked(world, pods=GOING, volumes=NO_VOLUMES)

    assert ([], ["WaitingForWorkload"]) == (actions(decision), reasons(decision))
    assert decision.wake_at == NOW.mono + Span(5_001)


@pytest.mark.parametrize("by", [FreeBy.PODS, FreeBy.TAINT])
def test_freed_is_recorded(by: FreeBy) -> None:
    """When nothing is left the time goes into the evidence, and the host is powered on."""
    decision = looked(a_world(chosen(by), host=a_held_host(), node=TAINTED), pods=NO_PODS, volumes=NO_VOLUMES)
    action = decision.actions[0]

    assert isinstance(action, PublishRemediationStatus)
    assert (Phase.POWER_ON, NOW.wall) == (action.progress.phase, action.progress.evidence.freed_at)


def test_the_node_goes_when_its_backup_is_on_the_machine() -> None:
    """Backup and time of deletion seen, the Node is deleted on proof, under its uid and version."""
    stored = looked(a_world(chosen(FreeBy.NODE), host=a_held_host())).actions[0]
    assert isinstance(stored, BackUpNode)
    assert a_backup() == stored.backup
    machine = a_machine(backup=stored.backup, node_deleted_at=ago(1))

    action = looked(a_world(chosen(FreeBy.NODE), host=a_held_host(), machine=machine)).actions[0]

    assert isinstance(action, DeleteNode)
    assert ("node-uid-1", "103", "boot-1") == (action.guard.uid, action.guard.resource_version, action.boot_id)


VERSIONS = {
    "v1.36.3": FreeBy.TAINT,
    "v1.28.0": FreeBy.TAINT,
    "v1.28+": FreeBy.TAINT,
    "v2.0.0": FreeBy.TAINT,
    "v1.27.9": FreeBy.PODS,
    "": FreeBy.PODS,
}


@pytest.mark.parametrize("version", VERSIONS)
def test_how_to_free_follows_the_version_of_the_node(version: str) -> None:
    """By taint where the node's cluster knows it; by pods where it does not, or nobody knows."""
    node = replace(SICK, kubelet=version)

    action = looked(a_world(FREEING, host=a_held_host(), node=node)).actions[0]

    assert isinstance(action, PublishRemediationStatus)
    assert VERSIONS[version] is action.progress.evidence.free_by


@pytest.mark.parametrize("by", FreeBy)
def test_how_to_free_is_as_the_spec_says(by: FreeBy) -> None:
    """`freeBy` wins over the version; a taint that was there before is not recorded as ours."""
    world = a_world(replace(FREEING, free_by=by), host=a_held_host(), node=replace(TAINTED, kubelet="v1.36.3"))

    action = looked(world).actions[0]

    assert isinstance(action, PublishRemediationStatus)
    assert (by, None) == (action.progress.evidence.free_by, action.progress.evidence.tainted_at)


@pytest.mark.parametrize("attempt", [1, 2, 3, 7, 40])
def test_the_pause_of_reboot_grows_to_an_hour(attempt: int) -> None:
    """One minute, two, four, … sixty; escalate loses no time."""
    pauses = {1: 60, 2: 120, 3: 240, 7: 3_600, 40: 3_600}
    again = a_remediation(Phase.WAITING, seconds=601, attempt=attempt, strategy=Strategy.REBOOT)

    decision = looked(a_world(again))

    due = ago(601) + Span.seconds(600 + pauses[attempt])
    assert (NextAttemptAt(attempt + 1, due),) == decision.because
    assert NOW.until(due) == decision.wake_at


def test_a_retry_counts_and_begins_anew() -> None:
    """One more retry, a new start, and evidence of this attempt only; the taint of an earlier one stays ours."""
    evidence = replace(OFF_SEEN, free_by=FreeBy.TAINT, proof="x", tainted_at=ago(700), freed_at=ago(650))

    action = looked(a_world(a_remediation(Phase.WAITING, seconds=601, evidence=evidence))).actions[0]

    assert isinstance(action, PublishRemediationStatus)
    assert (Phase.POWER_OFF, 1, NOW.wall) == (
        action.progress.phase,
        action.progress.retry_count,
        action.progress.last_remediated,
    )
    assert replace(EVIDENCE, tainted_at=ago(700)) == action.progress.evidence


def test_a_limit_that_was_lowered_is_over() -> None:
    """More retries than allowed escalate; equality is not asked for."""
    action = looked(a_world(a_remediation(Phase.WAITING, seconds=601, attempt=5, retries=0))).actions[0]

    assert isinstance(action, PublishRemediationStatus)
    assert Phase.DELETING_MACHINE is action.progress.phase


def test_owners_of_both_generations_see_the_escalation() -> None:
    """OwnerRemediated=False in both generations, and what current owners ask for besides, where nobody says it."""
    world, *_ = CASES["deleting-machine: the owner is asked"]

    action = looked(a_world(**world)).actions[0]

    assert isinstance(action, WriteMachineConditions)
    told = [one for found in (action.current, action.older) for one in found or ()]
    words = [(one.type, one.status) for one in told if isinstance(one, Told)]
    assert [("OwnerRemediated", "False"), ("HealthCheckSucceeded", "False")] * 2 == words


def on_openshift(**changes: Any) -> dict[Any, Any]:
    """A Machine of OpenShift whose remediation has come to its end."""
    machine_at = ref(OPENSHIFT_MACHINE, "worker-0", "metal")
    host = a_host(consumer=Consumer("Machine", "metal", "worker-0", OPENSHIFT_MACHINE.group))
    machine = replace(a_machine(), **changes)
    return a_world(a_remediation(Phase.DELETING_MACHINE), machine=None, host=host, more={machine_at: machine})


def test_on_openshift_the_machine_is_deleted_if_somebody_replaces_it() -> None:
    """Nobody reads conditions there: what has a controller owner is deleted, after its host was marked."""
    owner = ControllerOwner("machine.openshift.io/v1beta1", "MachineSet", "workers", "set-uid-1")
    world = on_openshift(controller=owner)
    first = looked(world)
    world[HOST_AT] = replace(world[HOST_AT], unhealthy=OUR_MARKS)

    asked, decision = looked(world, stale=(OPENSHIFT_MACHINE_AT,)), looked(world)

    assert (["MarkHostUnhealthy"], ["Confirm"]) == (actions(first), actions(asked))
    assert (["DeleteMachine"], ["Escalating"]) == (actions(decision), reasons(decision))


def test_on_openshift_a_machine_whose_host_no_new_one_would_get_is_kept() -> None:
    """Somebody else installed that host: its server would be lost, so the request fails, and the host is not marked."""
    world = on_openshift(
        controller=ControllerOwner("machine.openshift.io/v1beta1", "MachineSet", "workers", "set-uid-1")
    )
    world[HOST_AT] = replace(world[HOST_AT], externally_provisioned=True)

    decision = looked(world)

    assert ["PublishRemediationStatus"] == actions(decision)
    assert ["HostExternallyProvisioned", "PhaseBegins"] == reasons(decision)
    (write,) = decision.actions
    assert isinstance(write, PublishRemediationStatus)
    assert Phase.FAILED is write.progress.phase


def test_an_owner_of_cluster_api_is_asked_whoever_installed_the_host() -> None:
    """It decides by itself what becomes of the machine; we delete nothing there."""
    unasked = replace(a_machine(), told=MachineConditions(current=(), older=(), is_current=True))
    host = replace(a_host(), externally_provisioned=True)

    decision = looked(a_world(a_remediation(Phase.DELETING_MACHINE), machine=unasked, host=host))

    assert ["WriteMachineConditions"] == actions(decision)


def test_why_nobody_replaces_a_machine_is_told_for_as_long_as_the_request_is_there() -> None:
    """Also by a manager that has just started."""
    owner = ControllerOwner("machine.openshift.io/v1beta1", "MachineSet", "workers", "set-uid-1")
    world = on_openshift(controller=owner)
    world[REMEDIATION_AT] = a_remediation(Phase.FAILED)
    outside = {**world, HOST_AT: replace(world[HOST_AT], externally_provisioned=True)}

    assert (["RemediationFailed"], ["HostExternallyProvisioned"]) == (reasons(looked(world)), reasons(looked(outside)))


def test_on_openshift_a_machine_without_an_owner_is_kept() -> None:
    """Nobody would replace it: the request fails, and a person is told."""
    decision = looked(on_openshift())

    assert (["PublishRemediationStatus"], ["RemediationFailed", "PhaseBegins"]) == (
        actions(decision),
        reasons(decision),
    )


@pytest.mark.parametrize(
    ("remediation", "is_running"), [(READY_FOR, False), (POWER_OFF, True), (WAITING, True), (deleted(POWER_ON), True)]
)
def test_it_states_its_need(remediation: Metal3Remediation, is_running: bool) -> None:
    """What would begin, or runs, is told to the budget under the Machine's name."""
    facts = [fact for fact in looked(a_world(remediation)).facts if fact.ref.kind != SIGHT]

    assert [NEED] == [fact.ref.kind for fact in facts]
    need = facts[0].value
    assert isinstance(need, Need)
    assert (MACHINE_AT, is_running, NODE_AT) == (need.target, need.is_running, need.node)


@pytest.mark.parametrize(
    "remediation",
    [a_remediation(Phase.FAILED), a_remediation(Phase.WAITING, recovered=True), replace(NEW, paused=Paused())],
)
def test_who_does_nothing_needs_nothing(remediation: Metal3Remediation) -> None:
    """Ended, or held back by a gate: no need is stated."""
    assert () == looked(a_world(remediation)).facts


@pytest.mark.parametrize("told", [None, Refused(MACHINE_AT, TooManyUnhealthy(3, 2, "2"), later(60).wall)])
def test_nothing_begins_without_the_budget(told: Refused | None) -> None:
    """Neither finalizer nor phase is written before it is granted; the budget's own reason is shown, and its time."""
    decision = looked(a_world(NEW), told=told)

    assert () == decision.actions
    assert ["TooManyUnhealthy" if told else "WaitingForBudget"] == reasons(decision)
    assert (later(60).mono if told else None) == decision.wake_at
    assert [NEED] == [fact.ref.kind for fact in decision.facts]


def test_what_runs_asks_no_more() -> None:
    """The budget stops what is new; an attempt goes on."""
    assert [] != actions(looked(a_world(POWER_OFF), told=None))


@pytest.mark.parametrize("remediation", [NEW, POWER_OFF, a_remediation(Phase.WAITING, seconds=601)])
def test_the_repair_is_claimed_first(remediation: Metal3Remediation) -> None:
    """Before anything begins, before every attempt and before every hold the node's Lease is ours."""
    decision = looked(a_world(remediation), holder=None)

    assert (["ClaimRepair"], ["Claiming"]) == (actions(decision), reasons(decision))


RESTING = a_remediation(Phase.WAITING, seconds=640, strategy=Strategy.REBOOT)  # one minute of pause after ten
RESTED = a_remediation(Phase.WAITING, seconds=661, strategy=Strategy.REBOOT)


@pytest.mark.parametrize(
    ("remediation", "runs", "is_stuck"),
    [
        (a_remediation(Phase.WAITING, seconds=590, strategy=Strategy.REBOOT), True, False),
        (RESTING, True, True),
        (RESTED, False, False),
        (a_remediation(Phase.WAITING, seconds=590), True, False),
        (a_remediation(Phase.WAITING, seconds=640), False, False),
    ],
)
def test_between_attempts_its_place_is_given_back(remediation: Metal3Remediation, runs: bool, is_stuck: bool) -> None:
    """A strategy that tries for ever must not fill the budget for ever: it rests, then it asks anew."""
    (need,) = [fact.value for fact in looked(a_world(remediation)).facts if isinstance(fact.value, Need)]

    assert (runs, is_stuck) == (need.is_running, need.is_stuck)


@pytest.mark.parametrize(
    ("host", "is_pending"),
    [
        (a_held_host(Power.ON), True),
        (a_held_host(Power.UNKNOWN), True),
        (a_held_host(Power.OFF), False),
        (a_held_host(Power.ON, uid="another"), False),
        (a_host(), False),
    ],
)
def test_a_hold_that_was_not_seen_to_work_is_told(host: Host, is_pending: bool) -> None:
    """A host that is held for this request and not off may go off at any moment: the budget knows."""
    decision = looked(a_world(a_remediation(Phase.POWER_OFF), host=host))
    (need,) = [fact.value for fact in decision.facts if isinstance(fact.value, Need)]

    assert is_pending == need.is_off_pending


def test_the_next_attempt_waits_for_the_budget() -> None:
    """After its rest it begins like a new request; so does one that escalates, in the place that it has."""
    refused = Refused(MACHINE_AT, TooManyUnhealthy(1, 2, "x"))
    escalating = a_remediation(Phase.WAITING, seconds=661)

    assert ["TooManyUnhealthy"] == reasons(looked(a_world(RESTED), told=refused))
    assert ["PhaseBegins"] == reasons(looked(a_world(RESTED)))
    assert ["TooManyUnhealthy"] == reasons(looked(a_world(escalating), told=refused))
    assert ["PhaseBegins"] == reasons(looked(a_world(escalating)))


def test_every_phase_has_its_deadline() -> None:
    """All phases in which something is waited for end."""
    limits = {phase: limit(a_remediation(phase, seconds=0)) for phase in TABLE}
    seconds = {phase: span.ms // 1000 if span else None for phase, span in limits.items()}

    assert {
        Phase.NEW: None,
        Phase.POWER_OFF: 120,
        Phase.FREEING: 600,
        Phase.POWER_ON: 600,
        Phase.WAITING: 600,
        Phase.DELETING_MACHINE: 1_800,
        Phase.FAILED: None,
    } == seconds


def test_a_deadline_that_is_over_wakes_nobody() -> None:
    """A Node that is restored after its time is waited for until something happens, not looked at without end."""
    late = a_remediation(Phase.WAITING, seconds=5_000)
    decision = looked(a_world(late, node=BACK, machine=a_machine(node_deleted_at=ago(60))))

    assert ["RestoringNode"] == [type(reason).__name__ for reason in decision.because]
    assert decision.wake_at is None


def test_two_requests_do_not_wait_for_each_other() -> None:
    """Exactly one of two goes first, whichever is asked."""
    mine, other = replace(READY_FOR, **an_owner("")), replace(OLDER, **an_owner(""))
    world = a_world(mine, more={ref(REMEDIATION, "other", "metal"): other})

    first, second = looked(world), looked(world, ref(REMEDIATION, "other", "metal"))

    assert ([], ["PublishRemediationStatus"]) == (actions(first), actions(second))


def orphaned(**changes: Any) -> dict[str, Any]:
    return {"remediation": None, "host": a_held_host(**changes)}


def test_a_hold_without_a_request_goes() -> None:
    """Its request is read live first; then the hold is released, and nothing is freed."""
    reader = a_reader(a_world(**orphaned()))
    asked = decided(HOST_AT, reader)
    reader.drop(REMEDIATION_AT, confirmed_at=NOW.mono)

    released = decided(HOST_AT, reader)

    assert (["Confirm"], ["ConfirmFirst"]) == (actions(asked), reasons(asked))
    assert (["ReleaseHost"], ["HoldOrphaned"]) == (actions(released), reasons(released))


@pytest.mark.parametrize("relic", ["hold", "mark"])
def test_the_host_of_a_paused_machine_is_left_alone(relic: str) -> None:
    """Neither a hold without a request nor an outlived mark is taken off it, until the pause ends."""
    host = a_held_host() if relic == "hold" else replace(a_host(), unhealthy=OUR_MARKS)
    world = a_world(None, host=host, node=a_node(), machine=a_machine(cluster_paused=True))

    decision = looked(world, HOST_AT)

    assert ([], ["ClusterPaused"], NOW.mono + MINUTE) == (actions(decision), reasons(decision), decision.wake_at)


@pytest.mark.parametrize("phase", [Phase.NEW, Phase.POWER_OFF])
@pytest.mark.parametrize(
    "host",
    [a_held_host(Power.ON, uid="uid-9"), replace(a_host(), held=True), replace(a_host(), fenced_for=(("f", None),))],
)
def test_a_host_that_another_repair_holds_is_not_held_beside_it(phase: Phase, host: Host) -> None:
    """One hold at a time: one that lost its request is released first, and that of another repair comes to its end."""
    decision = looked(a_world(a_remediation(phase), host=host))

    assert ([], True) == (actions(decision), "ClaimedByOther" in reasons(decision))


def test_the_hold_of_a_request_that_cannot_be_read_stays() -> None:
    """It is there, and may be freeing just now: who released the host would let its node boot in between."""
    unread, other = Unreadable(UID, "7", "garbled"), Unreadable("uid-9", "7", "garbled")
    world = a_world(None, host=a_held_host())

    kept, released = (looked({**world, REMEDIATION_AT: entry}, HOST_AT) for entry in (unread, other))

    assert ([], ["HolderUnreadable"]) == (actions(kept), reasons(kept))
    assert kept.wake_at is not None
    assert ["ReleaseHost"] == actions(released), "what bears its name now is another object"


def test_a_hold_that_nobody_answers_for_goes_beside_one_that_stays() -> None:
    """One request cannot be read, another one is gone: only the hold of the latter goes."""
    [(_, record)] = a_held_host().held_for
    host = replace(a_held_host(), held_for=((UID, record), ("uid-9", Malformed("x"))))

    decision = looked({**a_world(None, host=host), REMEDIATION_AT: Unreadable(UID, "7", "garbled")}, HOST_AT)

    assert ["uid-9"] == [one.owner_uid for one in decision.actions if isinstance(one, ReleaseHost)]


def test_a_hold_with_a_garbled_record_goes_too() -> None:
    """Who it was for is not known; that no request has its uid is."""
    host = replace(a_host(), held_for=((UID, Malformed("x")),))

    decision = looked(a_world(None, host=host), HOST_AT)

    assert (["ReleaseHost"], ["HoldOrphaned"]) == (actions(decision), reasons(decision))
    assert isinstance(decision.actions[0], ReleaseHost)


def test_a_hold_without_our_record_is_somebody_elses() -> None:
    """The provider's own controller uses the same key: who took its hold off would switch a host on that it frees."""
    world = a_world(None, host=replace(a_host(), held_for=(("uid-8", None),)))
    beside = a_world(None, host=replace(a_host(), held_for=(("uid-8", None), (UID, Malformed("x")))))

    assert ROOM.sees(HOST_AT, a_reader(world)) is None, "there is nothing to decide about"
    assert [UID] == [one.owner_uid for one in looked(beside, HOST_AT).actions if isinstance(one, ReleaseHost)]


def test_a_paused_host_keeps_even_an_orphaned_hold() -> None:
    """Nobody acts on its annotations; the reason is told."""
    assert ["HostPaused"] == reasons(looked(a_world(**orphaned(paused=True)), HOST_AT))


@pytest.mark.parametrize(("node", "done"), [(BACK, ["UnmarkHost"]), (SICK, []), (None, [])])
def test_our_mark_goes_when_a_node_runs_there(node: Any, done: list[str]) -> None:
    """A host that we marked is unmarked when the node of its machine is ready."""
    world = a_world(None, host=replace(a_host(), unhealthy=OUR_MARKS), node=node)

    decision = looked(world, HOST_AT)

    assert done == actions(decision)
    assert (["HostUnmarked"] if done else []) == reasons(decision)


@pytest.mark.parametrize(
    ("found", "ours"),
    [
        ({MarkName.CURRENT: "node-remedy/x", MarkName.BEFORE: "node-remedy/x"}, [tuple(MarkName)]),
        ({MarkName.CURRENT: "node-remedy/x"}, [(MarkName.CURRENT,)]),
        ({MarkName.BEFORE: "node-remedy/x"}, [(MarkName.BEFORE,)]),
        ({MarkName.CURRENT: "node-remedy/x", MarkName.BEFORE: "somebody"}, [(MarkName.CURRENT,)]),
        ({MarkName.CURRENT: "", MarkName.BEFORE: "node-remedy/x"}, [(MarkName.BEFORE,)]),
    ],
)
def test_only_our_own_mark_goes(found: dict[MarkName, str], ours: list[tuple[MarkName, ...]]) -> None:
    """Under whichever name an older manager or this one wrote it; what somebody else wrote beside it stays."""
    world = a_world(None, host=replace(a_host(), unhealthy=tuple(found.items())), node=BACK)

    decision = looked(world, HOST_AT)

    assert ours == [one.names for one in decision.actions if isinstance(one, UnmarkHost)]


def test_a_host_that_only_others_have_marked_is_none_of_ours() -> None:
    """By both names or by one: whoever marked it takes that back."""
    marked = replace(a_host(), unhealthy=((MarkName.CURRENT, "somebody"), (MarkName.BEFORE, "capm3/UnhealthyNode")))

    assert ROOM.sees(HOST_AT, a_reader(a_world(None, host=marked, node=BACK))) is None


@pytest.mark.parametrize(
    ("found", "written"),
    [
        ({}, [tuple(MarkName)]),
        ({MarkName.CURRENT: "node-remedy/x"}, [(MarkName.BEFORE,)]),
        ({MarkName.BEFORE: "somebody"}, [(MarkName.CURRENT,)]),
    ],
)
def test_a_host_is_marked_by_every_name_that_is_free(
    found: dict[MarkName, str], written: list[tuple[MarkName, ...]]
) -> None:
    """A provider reads one of them, and we do not know which; what stands there already is not overwritten."""
    world = a_world(a_remediation(Phase.DELETING_MACHINE), host=replace(a_host(), unhealthy=tuple(found.items())))

    decision = looked(world)

    assert written == [one.names for one in decision.actions if isinstance(one, MarkHostUnhealthy)]


def test_a_node_that_booted_on_its_way_off_is_not_back() -> None:
    """It still says Ready, of a boot that has ended: that boot is what the attempt is about from then on."""
    off = looked(a_world(POWER_OFF, host=a_held_host(), node=BACK))
    (write,) = off.actions
    assert isinstance(write, PublishRemediationStatus)
    waiting = replace(WAITING, progress=replace(WAITING.progress, evidence=write.progress.evidence))
    later_on = looked(a_world(waiting, node=BACK))

    assert "boot-2" == write.progress.evidence.boot_id
    assert ([], ["WaitingForReady"]) == (actions(later_on), reasons(later_on))


NO_BOOT = replace(OFF_SEEN, boot_id="")
# evidence, node, power of the host -> is it back?
WITHOUT_BOOT_IDS: dict[str, tuple[Evidence, Node, Power, bool]] = {
    "still what it said when its host was off": (replace(NO_BOOT, ready_since=ago(900)), READY_SINCE, Power.ON, False),
    "ready since another moment": (replace(NO_BOOT, ready_since=ago(1_900)), READY_SINCE, Power.ON, True),
    "was not ready then": (NO_BOOT, READY_SINCE, Power.ON, True),
    "was not ready then, and its host is not on": (NO_BOOT, READY_SINCE, Power.OFF, False),
    "not ready": (NO_BOOT, replace(SICK, boot_id=""), Power.ON, False),
    "another Node": (replace(NO_BOOT, ready_since=ago(900), node_uid="x"), READY_SINCE, Power.ON, True),
    "one that tells its boot by now": (NO_BOOT, replace(READY_SINCE, boot_id="boot-2"), Power.ON, True),
}


@pytest.mark.parametrize("case", WITHOUT_BOOT_IDS)
def test_a_node_without_boot_ids_is_back(case: str) -> None:
    """Ready since another moment than when its host was off, and the host is on: a healthy node is not cycled again."""
    evidence, node, power, is_back = WITHOUT_BOOT_IDS[case]
    waiting = a_remediation(Phase.WAITING, evidence=evidence)

    decision = looked(a_world(waiting, node=node, host=a_host(power=power)))

    assert is_back == (["RemediationSucceeded"] == reasons(decision))


def test_what_the_node_said_when_its_host_was_off_is_recorded() -> None:
    """Without a boot id that is what tells a new boot from the old one."""
    (write,) = looked(a_world(POWER_OFF, host=a_held_host(), node=READY_SINCE)).actions

    assert isinstance(write, PublishRemediationStatus)
    assert ("", ago(900)) == (write.progress.evidence.boot_id, write.progress.evidence.ready_since)


def test_the_taint_stays_while_the_host_is_off() -> None:
    """A node that is still called Ready is not freed and taken back in turns."""
    tainted = replace(BACK, taints=(OUT_OF_SERVICE,), out_of_service=OURS)

    decision = looked(a_world(chosen(FreeBy.TAINT), host=a_held_host(), node=tainted), pods=NO_PODS, volumes=NO_VOLUMES)

    assert [PUBLISH] == actions(decision)
