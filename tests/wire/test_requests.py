"""Actions to requests: golden bytes for each, and what is written is read back the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import (
    DOCTOR_AT,
    HOST_AT,
    MACHINE_AT,
    NODE_AT,
    NOW,
    OPENSHIFT_MACHINE_AT,
    RESOURCES,
    TEMPLATE_AT,
    a_backup,
    a_host,
    a_host_tree,
    a_machine_tree,
    a_node,
    present,
)
from tests.wire.test_nodefences import GOLDEN as FENCE_GOLDEN
from tests.wire.test_remediations import GOLDEN as REMEDIATION_GOLDEN

from noderemedy.core.claim import lease_of
from noderemedy.core.safety import powered_off
from noderemedy.model.actions import (
    Action,
    AddRebootAnnotation,
    BackUpNode,
    ClaimRepair,
    Confirm,
    CordonNode,
    CreateJob,
    CreateMachine,
    CreateRequest,
    DeleteMachine,
    DeleteNode,
    DeleteRequest,
    DescribeAgent,
    DropBackup,
    DropClaim,
    DropIncident,
    EvictPod,
    ForgetReplacement,
    Guard,
    KeepDocument,
    ListPods,
    ListStorage,
    MarkMachine,
    OpenIncident,
    PublishBudgetStatus,
    PublishCheckStatus,
    PublishNodeCondition,
    RecordReplacement,
    RecordSight,
    RemoveRebootAnnotation,
    RemoveRemediationAnnotation,
    RestoreNode,
    StartRun,
    UncordonNode,
    WriteIncident,
    WriteLedger,
    WriteMachineConditions,
    WriteRemedyRecord,
)
from noderemedy.model.agent import agent_ref
from noderemedy.model.budgetstatus import BudgetStatus
from noderemedy.model.checkstatus import CheckStatus, Foreign, Told
from noderemedy.model.errors import Bug
from noderemedy.model.host import Hold, Power
from noderemedy.model.ids import HEALTH_CHECK, HOST, MACHINE, NODE, OPENSHIFT_HEALTH_CHECK, ref
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger, Calm, Reservation, Start
from noderemedy.model.machineconditions import Graded
from noderemedy.model.node import NodeBackup, Taint
from noderemedy.model.remediationbudget import BUDGET_AT
from noderemedy.model.replacement import Replacement, Step
from noderemedy.model.time import Wall
from noderemedy.model.workload import POD
from noderemedy.wire.backups import backup_text
from noderemedy.wire.http import Request
from noderemedy.wire.objects import convert
from noderemedy.wire.requests import hold_text, render

GUARD = Guard("uid-1", "42")
META = {"uid": "uid-1", "resourceVersion": "42"}
MACHINE_PATH = "/apis/cluster.x-k8s.io/v1beta1/namespaces/metal/machines/worker-0"
HOST_PATH = "/apis/metal3.io/v1alpha1/namespaces/metal/baremetalhosts/rack1-u07"
PROOF = powered_off(a_node(ready="Unknown"), present(a_host(power=Power.OFF, held=True)), NOW)
assert PROOF is not None

HOLD = '{"machineUid":"m","since":"2030-03-17T17:46:40Z","token":7,"nodeUid":"n","bootID":"b"}'
AT = '"2030-03-17T17:46:40Z"'
SEEN = f'{HOLD[:-1]},"offAt":{AT},"contradictedAt":{AT},"onAt":{AT}}}'
BACKUP = (
    '{"nodeUid":"n","labels":{"rack":"1"},"annotations":{"note":"x"},'
    '"taints":[{"key":"gpu","effect":"NoSchedule","value":"yes"},{"key":"old","effect":"NoExecute"}],'
    '"unschedulable":true}'
)
FULL = NodeBackup(
    "n", (("rack", "1"),), (("note", "x"),), (Taint("gpu", "NoSchedule", "yes"), Taint("old", "NoExecute")), True
)

REPLACEMENT = '{"name":"next","since":"2030-03-17T17:46:40Z","step":"delete","at":"2030-03-17T17:46:40Z","token":7}'
STATUS = CheckStatus(
    expected=5,
    healthy=3,
    generation=2,
    conditions=(
        Foreign('{"type":"Paused","status":"False","observedGeneration":1}'),
        Told("RemediationAllowed", "False", "TooManyUnhealthy", "2 of 5", "2030-03-17T17:46:40Z"),
    ),
)


def annotated(**notes: Any) -> dict[str, Any]:
    return {"metadata": {**META, "annotations": notes}}


LEDGER = BudgetLedger(
    (
        Reservation(MACHINE_AT, NOW.wall, NODE_AT, "rack-1", 3),
        Reservation(ref(NODE, "worker-1", cluster="metal/other"), NOW.wall),
    ),
    (Start(NOW.wall), Start(NOW.wall, "metal/other")),
    (Calm("cluster", NOW.wall),),
)
MOMENT = '"2030-03-17T17:46:40Z"'
LEDGER_TEXT = (
    '{"version":1,"reservations":['
    '{"target":{"group":"cluster.x-k8s.io","kind":"Machine","namespace":"metal","name":"worker-0"},'
    f'"since":{MOMENT},"node":{{"kind":"Node","name":"worker-0"}},"domain":"rack-1","token":3}},'
    f'{{"target":{{"kind":"Node","name":"worker-1","cluster":"metal/other"}},"since":{MOMENT},"token":7}}],'
    f'"starts":[{{"at":{MOMENT}}},{{"at":{MOMENT},"cluster":"metal/other"}}],'
    f'"calms":[{{"scope":"cluster","at":{MOMENT}}}]}}'
)
CLAIMED = {"holderIdentity": "annotation Machine metal/worker-0", "acquireTime": "2030-03-17T17:46:40.000000Z"}
GOLDEN: list[tuple[Action, str, str, Any]] = [
    (Confirm(NODE_AT), "GET", "/api/v1/nodes/worker-0", None),
    (Confirm(MACHINE_AT), "GET", MACHINE_PATH, None),
    (
        Confirm(OPENSHIFT_MACHINE_AT),
        "GET",
        "/apis/machine.openshift.io/v1beta1/namespaces/metal/machines/worker-0",
        None,
    ),
    (
        RecordReplacement(MACHINE_AT, GUARD, Replacement("next", NOW.wall, Step.DELETE, NOW.wall), ("a", "b")),
        "PATCH",
        MACHINE_PATH,
        {
            "metadata": {
                **META,
                "annotations": {"node-remedy.dev/replacement": REPLACEMENT},
                "finalizers": ["a", "b"],
            }
        },
    ),
    (
        ForgetReplacement(MACHINE_AT, GUARD, ("a",)),
        "PATCH",
        MACHINE_PATH,
        {"metadata": {**META, "annotations": {"node-remedy.dev/replacement": None}, "finalizers": ["a"]}},
    ),
    (
        CordonNode(NODE_AT, GUARD),
        "PATCH",
        "/api/v1/nodes/worker-0",
        {
            "metadata": {**META, "annotations": {"node-remedy.dev/cordoned": "node-remedy"}},
            "spec": {"unschedulable": True},
        },
    ),
    (
        UncordonNode(NODE_AT, GUARD),
        "PATCH",
        "/api/v1/nodes/worker-0",
        {"metadata": {**META, "annotations": {"node-remedy.dev/cordoned": None}}, "spec": {"unschedulable": None}},
    ),
    (
        CreateMachine(MACHINE_AT, "uid-0", '{"annotations":{"note":"x"},"labels":{"rack":"1"},"spec":{"a":[1]}}'),
        "POST",
        MACHINE_PATH.rpartition("/")[0],
        {
            "apiVersion": "cluster.x-k8s.io/v1beta1",
            "kind": "Machine",
            "metadata": {
                "name": "worker-0",
                "namespace": "metal",
                "labels": {"rack": "1"},
                "annotations": {"note": "x", "node-remedy.dev/replaces": "uid-0"},
            },
            "spec": {"a": [1]},
        },
    ),
    (
        EvictPod(ref(POD, "database-0", "default"), GUARD),
        "POST",
        "/api/v1/namespaces/default/pods/database-0/eviction",
        {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": "database-0", "namespace": "default"},
            "deleteOptions": {"preconditions": {"uid": GUARD.uid}},
        },
    ),
    (
        AddRebootAnnotation(HOST_AT, GUARD, Hold("m", NOW.wall, "n", "b")),
        "PATCH",
        HOST_PATH,
        annotated(**{"reboot.metal3.io/machine-remediation": '{"mode":"hard"}', "remediation.metal3.io/hold": HOLD}),
    ),
    (
        RecordSight(
            HOST_AT, GUARD, Hold("m", NOW.wall, "n", "b", off_at=NOW.wall, contradicted_at=NOW.wall, on_at=NOW.wall)
        ),
        "PATCH",
        HOST_PATH,
        annotated(**{"remediation.metal3.io/hold": SEEN}),
    ),
    (
        RemoveRebootAnnotation(HOST_AT, GUARD),
        "PATCH",
        HOST_PATH,
        annotated(**{"reboot.metal3.io/machine-remediation": None, "remediation.metal3.io/hold": None}),
    ),
    (
        BackUpNode(MACHINE_AT, GUARD, FULL, NOW.wall),
        "PATCH",
        MACHINE_PATH,
        annotated(
            **{
                "remediation.metal3.io/node-backup": BACKUP,
                "remediation.metal3.io/node-deleted-at": "2030-03-17T17:46:40Z",
            }
        ),
    ),
    (
        DropBackup(MACHINE_AT, GUARD),
        "PATCH",
        MACHINE_PATH,
        annotated(**{"remediation.metal3.io/node-backup": None, "remediation.metal3.io/node-deleted-at": None}),
    ),
    (
        RemoveRemediationAnnotation(MACHINE_AT, GUARD),
        "PATCH",
        MACHINE_PATH,
        annotated(**{"host.metal3.io/external-remediation": None}),
    ),
    (
        RestoreNode(NODE_AT, GUARD, (("rack", "1"),), (("note", "x"),), (Taint("gpu", "NoSchedule"),), True),
        "PATCH",
        "/api/v1/nodes/worker-0",
        {
            "metadata": {**META, "labels": {"rack": "1"}, "annotations": {"note": "x"}},
            "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}], "unschedulable": True},
        },
    ),
    (
        RestoreNode(NODE_AT, GUARD, (), (), (), unschedulable=False),
        "PATCH",
        "/api/v1/nodes/worker-0",
        {"metadata": META, "spec": {"taints": []}},
    ),
    (
        MarkMachine(MACHINE_AT, GUARD, "workers", Wall(1_900_000_000_000)),
        "PATCH",
        MACHINE_PATH,
        {
            "metadata": {
                **META,
                "annotations": {
                    "host.metal3.io/external-remediation": "node-remedy: MachineHealthCheck workers",
                    "remediation.metal3.io/asked-at": "2030-03-17T17:46:40Z",
                },
            }
        },
    ),
    (
        DeleteMachine(MACHINE_AT, GUARD),
        "DELETE",
        MACHINE_PATH,
        {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": META},
    ),
    (
        WriteMachineConditions(MACHINE_AT, GUARD, (Graded("OwnerRemediated", "True", "Done"),), (Foreign("{}"),)),
        "PATCH",
        MACHINE_PATH + "/status",
        {
            "metadata": META,
            "status": {
                "conditions": [{}],
                "v1beta2": {
                    "conditions": [
                        {
                            "type": "OwnerRemediated",
                            "status": "True",
                            "reason": "Done",
                            "message": "",
                            "lastTransitionTime": "",
                        }
                    ]
                },
            },
        },
    ),
    (
        PublishCheckStatus(ref(HEALTH_CHECK, "workers", "metal"), GUARD, STATUS),
        "PATCH",
        "/apis/cluster.x-k8s.io/v1beta1/namespaces/metal/machinehealthchecks/workers/status",
        {
            "metadata": META,
            "status": {
                "expectedMachines": 5,
                "currentHealthy": 3,
                "remediationsAllowed": 0,
                "observedGeneration": 2,
                "conditions": [
                    {"type": "Paused", "status": "False", "observedGeneration": 1},
                    {
                        "type": "RemediationAllowed",
                        "status": "False",
                        "severity": "Warning",
                        "reason": "TooManyUnhealthy",
                        "message": "2 of 5",
                        "lastTransitionTime": "2030-03-17T17:46:40Z",
                    },
                ],
            },
        },
    ),
    (
        PublishCheckStatus(ref(OPENSHIFT_HEALTH_CHECK, "workers", "metal"), GUARD, CheckStatus()),
        "PATCH",
        "/apis/machine.openshift.io/v1beta1/namespaces/metal/machinehealthchecks/workers/status",
        {
            "metadata": META,
            "status": {"expectedMachines": 0, "currentHealthy": 0, "remediationsAllowed": 0, "conditions": []},
        },
    ),
    (
        WriteLedger(LEDGER_AT, None, LEDGER),
        "POST",
        "/api/v1/namespaces/node-remedy-system/configmaps",
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "budget-ledger", "namespace": "node-remedy-system"},
            "data": {"ledger.json": LEDGER_TEXT},
        },
    ),
    (
        WriteLedger(LEDGER_AT, Guard("uid-1", "42"), LEDGER),
        "PATCH",
        "/api/v1/namespaces/node-remedy-system/configmaps/budget-ledger",
        {"metadata": META, "data": {"ledger.json": LEDGER_TEXT}},
    ),
    (
        ClaimRepair(lease_of(NODE_AT), None, "annotation Machine metal/worker-0", NOW.wall),
        "POST",
        "/apis/coordination.k8s.io/v1/namespaces/node-remedy-system/leases",
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "name": "repair-worker-0",
                "namespace": "node-remedy-system",
                "annotations": {"node-remedy.dev/leadership": "7"},
            },
            "spec": CLAIMED,
        },
    ),
    (
        ClaimRepair(lease_of(NODE_AT), Guard("uid-1", "42"), "annotation Machine metal/worker-0", NOW.wall),
        "PATCH",
        "/apis/coordination.k8s.io/v1/namespaces/node-remedy-system/leases/repair-worker-0",
        {"metadata": {**META, "annotations": {"node-remedy.dev/leadership": "7"}}, "spec": CLAIMED},
    ),
    (
        DropClaim(lease_of(NODE_AT), Guard("uid-1", "42")),
        "DELETE",
        "/apis/coordination.k8s.io/v1/namespaces/node-remedy-system/leases/repair-worker-0",
        {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": META},
    ),
    (
        PublishBudgetStatus(
            BUDGET_AT,
            GUARD,
            BudgetStatus(1, 2, 30, 4, 5, (Told("Valid", "True", "Valid", "", str(NOW.wall)), Foreign('{"type":"X"}'))),
        ),
        "PATCH",
        "/apis/node-remedy.dev/v1alpha1/remediationbudgets/cluster/status",
        {
            "metadata": META,
            "status": {
                "observedGeneration": 5,
                "inFlight": 1,
                "unhealthy": 2,
                "total": 30,
                "startedLastHour": 4,
                "conditions": [
                    {
                        "type": "Valid",
                        "status": "True",
                        "reason": "Valid",
                        "message": "",
                        "lastTransitionTime": MOMENT.strip('"'),
                    },
                    {"type": "X"},
                ],
            },
        },
    ),
    (
        DeleteNode(NODE_AT, Guard("node-uid-1", "42"), "boot-1", PROOF),
        "DELETE",
        "/api/v1/nodes/worker-0",
        {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": "node-uid-1", "resourceVersion": "42"},
        },
    ),
    (
        CreateRequest(
            DOCTOR_AT,
            MACHINE_AT,
            "machine-uid-1",
            TEMPLATE_AT,
            '{"spec":{"dose":3}}',
            "lab",
            (("a", "b"),),
            (("c", "d"),),
        ),
        "POST",
        "/apis/example.com/v1alpha1/namespaces/metal/doctors",
        {
            "apiVersion": "example.com/v1alpha1",
            "kind": "Doctor",
            "metadata": {
                "name": "worker-0",
                "namespace": "metal",
                "labels": {"a": "b", "cluster.x-k8s.io/cluster-name": "lab"},
                "annotations": {
                    "c": "d",
                    "cluster.x-k8s.io/cloned-from-name": "house-call",
                    "cluster.x-k8s.io/cloned-from-groupkind": "DoctorTemplate.example.com",
                },
                "ownerReferences": [
                    {
                        "apiVersion": "cluster.x-k8s.io/v1beta1",
                        "kind": "Machine",
                        "name": "worker-0",
                        "uid": "machine-uid-1",
                    }
                ],
            },
            "spec": {"dose": 3},
        },
    ),
    (
        DeleteRequest(DOCTOR_AT, Guard("doctor-uid-1")),
        "DELETE",
        "/apis/example.com/v1alpha1/namespaces/metal/doctors/worker-0",
        {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "doctor-uid-1"}},
    ),
]


@pytest.mark.parametrize(("action", "method", "path", "body"), GOLDEN)
def test_each_action_has_one_request(action: Action, method: str, path: str, body: Any) -> None:
    """Method, path and body, byte by byte as far as JSON goes; every write repeats uid and version of its guard."""
    request = render(action, 7, RESOURCES)

    assert (method, path) == (request.method, request.path)
    assert body == (json.loads(request.body) if request.body else None)
    kinds = {
        "GET": "",
        "PATCH": "application/merge-patch+json",
        "DELETE": "application/json",
        "POST": "application/json",
    }
    assert kinds[method] == request.content_type
    assert ((("fieldManager", "node-remedy"),) if method in ("PATCH", "POST") else ()) == request.query


def test_an_agent_is_not_asked_through_the_api() -> None:
    """A program that would try has forgotten to ask the agent itself."""
    with pytest.raises(Bug):
        render(DescribeAgent(agent_ref("fence_x")), 7, RESOURCES)


def test_every_action_is_rendered() -> None:
    """No action exists without golden bytes."""
    elsewhere = {ListPods, ListStorage, OpenIncident, WriteIncident, DropIncident}  # test_pods.py, test_incidents.py
    elsewhere |= {PublishNodeCondition, KeepDocument, WriteRemedyRecord, CreateJob}  # test_remedies.py
    processes = {StartRun, DescribeAgent}  # no requests: manager/runs.py, drivers/fence

    golden = [*GOLDEN, *REMEDIATION_GOLDEN, *FENCE_GOLDEN]

    assert set(Action.__args__) == {*elsewhere, *processes, *(type(action) for action, *_ in golden)}


def test_a_guard_without_a_version_names_the_uid_only() -> None:
    """Where the version does not matter the uid still does."""
    request = render(RemoveRebootAnnotation(HOST_AT, Guard("uid-1")), 7, RESOURCES)

    assert {"uid": "uid-1"} == {k: v for k, v in json.loads(request.body)["metadata"].items() if k != "annotations"}


def test_nothing_is_written_outside_our_keys() -> None:
    """Annotations that a patch names are ours, or the two that the seed names."""
    ours = {"host.metal3.io/external-remediation", "reboot.metal3.io/machine-remediation"}
    for action, _, _, body in GOLDEN:
        if isinstance(action, RestoreNode | CreateRequest | CreateMachine) or not body:
            continue
        for name in body.get("metadata", {}).get("annotations", {}):
            assert name in ours or name.startswith(("remediation.metal3.io/", "node-remedy.dev/"))


def test_a_name_from_somebodys_object_cannot_leave_its_path() -> None:
    """Names of nodes and consumers are other people's text: a slash or a question mark stays part of the name."""
    requests = [
        render(Confirm(ref(NODE, "a/../../secrets/b")), 7, RESOURCES),
        render(Confirm(ref(NODE, "a?watch=true#x")), 7, RESOURCES),
        render(Confirm(ref(MACHINE, "m", "ns/../other")), 7, RESOURCES),
        render(Confirm(ref(HOST, "größe %2f", "metal")), 7, RESOURCES),
    ]

    assert [
        "/api/v1/nodes/a%2F..%2F..%2Fsecrets%2Fb",
        "/api/v1/nodes/a%3Fwatch%3Dtrue%23x",
        "/apis/cluster.x-k8s.io/v1beta1/namespaces/ns%2F..%2Fother/machines/m",
        "/apis/metal3.io/v1alpha1/namespaces/metal/baremetalhosts/gr%C3%B6%C3%9Fe%20%252f",
    ] == [request.path for request in requests]


# --- there and back ------------------------------------------------------------------------------------------

texts = st.text(max_size=8)
maps = st.dictionaries(texts, texts, max_size=3).map(lambda found: tuple(sorted(found.items())))
taints = st.lists(st.builds(Taint, texts, texts, texts), max_size=3).map(lambda found: tuple(sorted(found)))


@given(st.builds(NodeBackup, texts, maps, maps, taints, st.booleans()))
def test_a_backup_is_read_back_as_it_was_written(backup: NodeBackup) -> None:
    """Or the room would store it again and again, and never delete the node."""
    tree = a_machine_tree(annotations={"remediation.metal3.io/node-backup": backup_text(backup)})

    assert backup == convert(MACHINE, tree).obj.backup


seconds = st.integers(-62_000_000_000, 253_000_000_000)


@given(st.builds(Hold, texts, seconds.map(lambda found: Wall(found * 1000)), texts, texts), st.integers(0, 2**31))
def test_a_hold_is_read_back_as_it_was_written(hold: Hold, token: int) -> None:
    """With the leader's token in it; the boot is recorded together with its node only."""
    tree = a_host_tree(annotations={"remediation.metal3.io/hold": hold_text(hold, token)})

    boot_id = hold.boot_id if hold.node_uid else ""
    assert Hold(hold.machine_uid, hold.since, hold.node_uid, boot_id, token) == convert(HOST, tree).obj.hold


def test_a_patch_of_the_room_is_read_back_as_its_state() -> None:
    """Held, backed up, dropped, unmarked: what the patches write is what the decoder understands."""
    hold = json.loads(render(AddRebootAnnotation(HOST_AT, GUARD, Hold("m", NOW.wall)), 7, RESOURCES).body)
    backup = json.loads(render(BackUpNode(MACHINE_AT, GUARD, a_backup(), NOW.wall), 7, RESOURCES).body)

    host = convert(HOST, a_host_tree(annotations=hold["metadata"]["annotations"])).obj
    machine = convert(MACHINE, a_machine_tree(annotations=backup["metadata"]["annotations"])).obj

    assert (True, Hold("m", NOW.wall, token=7)) == (host.held, host.hold)
    assert (a_backup(), NOW.wall) == (machine.backup, machine.node_deleted_at)


def test_a_request_is_a_value() -> None:
    """Two renderings of one action are equal: programs may compare and record them."""
    hold = next(action for action, *_ in GOLDEN if isinstance(action, AddRebootAnnotation))
    one: Request = render(hold, 7, RESOURCES)

    assert one == render(hold, 7, RESOURCES)
    assert one != render(hold, 8, RESOURCES)
