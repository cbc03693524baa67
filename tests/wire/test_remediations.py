"""Metal3Remediations over the wire: spec and status are read, what the room asks for is written, nothing is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import (
    HOST_AT,
    NODE_AT,
    NOW,
    REMEDIATION_AT,
    RESOURCES,
    a_host_tree,
    a_node,
    a_node_tree,
    ago,
    present,
)
from tests.core.metal3.remediations import UID, a_held_host, a_remediation
from tests.wire.test_answers import ended

from noderemedy.core.freeing import OUT_OF_SERVICE
from noderemedy.core.safety import powered_off
from noderemedy.model.actions import (
    Action,
    DeletePod,
    DetachVolume,
    Guard,
    HoldHost,
    ListVolumes,
    MarkHostUnhealthy,
    PublishRemediationStatus,
    ReleaseHost,
    TaintOutOfService,
    UnmarkHost,
    UntaintOutOfService,
    WriteFinalizers,
)
from noderemedy.model.host import Hold, MarkName
from noderemedy.model.ids import HOST, NODE, REMEDIATION, ref
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import OutOfService
from noderemedy.model.outcome import Done, Failed
from noderemedy.model.proof import Subject
from noderemedy.model.remediation import FINALIZER, Evidence, Metal3Remediation, Phase, Progress, Strategy
from noderemedy.model.time import Span
from noderemedy.model.workload import ATTACHMENT, POD, Attachment, FreeBy, volumes_at
from noderemedy.wire.objects import convert
from noderemedy.wire.requests import render

GUARD = Guard("uid-1", "42")
META = {"uid": "uid-1", "resourceVersion": "42"}
HOST_PATH = "/apis/metal3.io/v1alpha1/namespaces/metal/baremetalhosts/rack1-u07"
PATH = "/apis/remediation.metal3.io/v1alpha1/namespaces/metal/metal3remediations/worker-0"
SUBJECT = Subject("node-uid-1", "boot-1")
HOLD = Hold("machine-uid-1", ago(0), "node-uid-1", "boot-1", 0, "metal/worker-0", False)
EVIDENCE = Evidence("m", "n", "b", "h", ago(9), ago(99), "PoweredOff", FreeBy.TAINT, ago(8), ago(7), ago(6), ago(5))
TOLD = a_remediation(Phase.WAITING).progress.conditions
PROGRESS = Progress(Phase.WAITING, ago(60), 2, ago(90), EVIDENCE, 3, TOLD, attested_ahead=ago(4))


def a_proof() -> Any:
    return powered_off(a_node(ready="Unknown"), present(a_held_host()), NOW, UID)


def deletion(uid: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}, **more}


def notes(**pairs: Any) -> dict[str, Any]:
    return {"metadata": {**META, "annotations": {key.replace("__", "/"): value for key, value in pairs.items()}}}


RECORD = {
    "machineUid": "machine-uid-1",
    "since": str(NOW.wall),
    "token": 7,
    "nodeUid": "node-uid-1",
    "bootID": "boot-1",
    "remediation": "metal/worker-0",
    "poweredOn": False,
}
TAINT = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
MARK = OutOfService("metal3-remediation", "metal/worker-0", "uid-7", "boot-1")
GOLDEN: list[tuple[Action, str, str, Any]] = [
    (ListVolumes(NODE_AT), "GET", "/apis/storage.k8s.io/v1/volumeattachments", None),
    (
        HoldHost(HOST_AT, GUARD, UID, HOLD),
        "PATCH",
        HOST_PATH,
        notes(
            **{
                f"reboot.metal3.io/metal3-remediation-{UID}": '{"mode":"hard"}',
                f"remediation.metal3.io/hold-{UID}": RECORD,
            }
        ),
    ),
    (
        ReleaseHost(HOST_AT, GUARD, UID),
        "PATCH",
        HOST_PATH,
        notes(
            **{
                f"reboot.metal3.io/metal3-remediation-{UID}": None,
                f"remediation.metal3.io/hold-{UID}": None,
            }
        ),
    ),
    (
        MarkHostUnhealthy(HOST_AT, GUARD, tuple(MarkName), "node-remedy/worker-0"),
        "PATCH",
        HOST_PATH,
        notes(**dict.fromkeys(("capm3.metal3.io/unhealthy", "capi.metal3.io/unhealthy"), "node-remedy/worker-0")),
    ),
    (
        MarkHostUnhealthy(HOST_AT, GUARD, (MarkName.BEFORE,), "node-remedy/worker-0"),
        "PATCH",
        HOST_PATH,
        notes(**{"capi.metal3.io/unhealthy": "node-remedy/worker-0"}),
    ),
    (
        UnmarkHost(HOST_AT, GUARD, tuple(MarkName)),
        "PATCH",
        HOST_PATH,
        notes(**{"capm3.metal3.io/unhealthy": None, "capi.metal3.io/unhealthy": None}),
    ),
    (
        UnmarkHost(HOST_AT, GUARD, (MarkName.CURRENT,)),
        "PATCH",
        HOST_PATH,
        notes(**{"capm3.metal3.io/unhealthy": None}),
    ),
    (
        TaintOutOfService(NODE_AT, Guard("node-uid-1", "42"), "boot-1", (OUT_OF_SERVICE,), MARK, a_proof()),
        "PATCH",
        "/api/v1/nodes/worker-0",
        {
            "metadata": {
                "uid": "node-uid-1",
                "resourceVersion": "42",
                "annotations": {"node-remedy.dev/out-of-service-by": "metal3-remediation metal/worker-0 uid-7 boot-1"},
            },
            "spec": {"taints": [TAINT]},
        },
    ),
    (
        UntaintOutOfService(NODE_AT, GUARD, ()),
        "PATCH",
        "/api/v1/nodes/worker-0",
        {"metadata": {**META, "annotations": {"node-remedy.dev/out-of-service-by": None}}, "spec": {"taints": []}},
    ),
    (
        DeletePod(ref(POD, "db-0", "default"), Guard("pod-1"), SUBJECT, a_proof()),
        "DELETE",
        "/api/v1/namespaces/default/pods/db-0",
        deletion("pod-1", gracePeriodSeconds=0),
    ),
    (
        DetachVolume(ref(ATTACHMENT, "csi-1"), Guard("volume-1"), SUBJECT, a_proof()),
        "DELETE",
        "/apis/storage.k8s.io/v1/volumeattachments/csi-1",
        deletion("volume-1"),
    ),
    (
        WriteFinalizers(REMEDIATION_AT, GUARD, ("others", FINALIZER)),
        "PATCH",
        PATH,
        {"metadata": {**META, "finalizers": ["others", "remediation.metal3.io"]}},
    ),
    (
        PublishRemediationStatus(REMEDIATION_AT, GUARD, Progress(Phase.POWER_OFF, ago(0))),
        "PATCH",
        f"{PATH}/status",
        {
            "metadata": META,
            "status": {
                "phase": "power-off",
                "phaseStartedAt": str(NOW.wall),
                "retryCount": 0,
                "lastRemediated": None,
                "observedGeneration": 0,
                "evidence": dict.fromkeys(
                    (
                        "machineUid",
                        "nodeUid",
                        "bootID",
                        "hostUid",
                        "hostOffAt",
                        "bootReadAt",
                        "nodeReadySince",
                        "proof",
                        "freedBy",
                        "taintedAt",
                        "freedAt",
                        "contradictedAt",
                    )
                ),
                "conditions": [],
                "attestedAhead": None,
            },
        },
    ),
]


@pytest.mark.parametrize(("action", "method", "path", "body"), GOLDEN, ids=lambda value: type(value).__name__)
def test_each_action_has_one_request(action: Action, method: str, path: str, body: Any) -> None:
    """Method, path and body; the record of a hold is JSON in an annotation, with the leader's token."""
    request = render(action, 7, RESOURCES)
    found: Any = json.loads(request.body) if request.body else None
    for key, value in (found or {}).get("metadata", {}).get("annotations", {}).items():
        if value and key.startswith("remediation.metal3.io/hold-"):
            found["metadata"]["annotations"][key] = json.loads(value)

    assert (method, path, body) == (request.method, request.path, found)


def test_a_status_is_read_back_as_it_was_written() -> None:
    """Phase, times, evidence and conditions survive the way to the API and back."""
    written = json.loads(render(PublishRemediationStatus(REMEDIATION_AT, GUARD, PROGRESS), 7, RESOURCES).body)

    assert PROGRESS == read({}, written["status"]).progress


@pytest.mark.parametrize("boot_id", ["boot-1", ""])
def test_the_mark_of_a_taint_is_read_back_and_is_no_annotation_of_the_node(boot_id: str) -> None:
    """It says whose taint it is, and no backup takes it along."""
    mark = replace(MARK, boot_id=boot_id)
    taint = TaintOutOfService(NODE_AT, Guard("node-uid-1"), "boot-1", (OUT_OF_SERVICE,), mark, a_proof())
    notes = json.loads(render(taint, 7, RESOURCES).body)["metadata"]["annotations"]

    node = convert(NODE, a_node_tree(annotations={**notes, "team": "x"})).obj

    assert (mark, (("team", "x"),)) == (node.out_of_service, node.annotations)


@pytest.mark.parametrize("text", ["", "me", "a b c d e", "room  uid boot"])
def test_a_mark_that_cannot_be_read_is_nobody_s(text: str) -> None:
    """Whoever wrote it, it is not absent, and names no owner."""
    node = convert(NODE, a_node_tree(annotations={"node-remedy.dev/out-of-service-by": text})).obj

    assert isinstance(node.out_of_service, Malformed)


def test_a_hold_is_read_back_as_it_was_written() -> None:
    """Hold and record make one entry under the uid of its request, beside the truth table's own hold."""
    patch = json.loads(render(HoldHost(HOST_AT, GUARD, UID, HOLD), 7, RESOURCES).body)

    host = convert(HOST, a_host_tree(annotations=patch["metadata"]["annotations"])).obj

    assert ((UID, replace(HOLD, token=7)),) == host.held_for
    assert not host.held


@pytest.mark.parametrize("keys", [("metal3-remediation", "hold"), ("node-fence", "fence-hold")])
def test_a_record_that_does_not_say_what_the_host_said_proves_nothing(keys: tuple[str, str]) -> None:
    """Requests also hold what is off already: without a word about it, it counts as off."""
    record = json.dumps({"machineUid": "m", "since": str(NOW.wall)})
    notes = {f"reboot.metal3.io/{keys[0]}-{UID}": "", f"remediation.metal3.io/{keys[1]}-{UID}": record}

    host = convert(HOST, a_host_tree(annotations=notes)).obj

    assert (Hold("m", NOW.wall, was_on=False),) == host.holds_of(UID)


@pytest.mark.parametrize(("record", "meaning"), [(None, type(None)), ("{", Malformed)])
def test_a_hold_without_a_readable_record_is_still_one(record: str | None, meaning: type) -> None:
    """The reboot annotation alone decides; what cannot be read is not the same as absent."""
    more = {f"remediation.metal3.io/hold-{UID}": record} if record else {}
    host = convert(HOST, a_host_tree(annotations={f"reboot.metal3.io/metal3-remediation-{UID}": "", **more})).obj

    assert [(UID, meaning)] == [(uid, type(found)) for uid, found in host.held_for]


def a_tree(spec: Any, status: Any = None, **metadata: Any) -> dict[str, Any]:
    meta = {"name": "worker-0", "namespace": "metal", "uid": UID, **metadata}
    return {"metadata": meta, "spec": spec, **({"status": status} if status is not None else {})}


def read(spec: Any, status: Any = None, **metadata: Any) -> Metal3Remediation:
    found = convert(REMEDIATION, a_tree(spec, status, **metadata)).obj
    assert isinstance(found, Metal3Remediation)
    return found


def test_what_is_left_out_has_the_seed_s_defaults() -> None:
    """escalate after one retry, 120 s to go off, 600 s to come back, freed as the version says."""
    found = read({})

    assert (Strategy.ESCALATE, 1, Span.seconds(120), Span.seconds(600), None, ()) == (
        found.strategy,
        found.retries,
        found.off_within,
        found.on_within,
        found.free_by,
        found.problems,
    )


def test_a_whole_spec_is_read() -> None:
    """Every field of the seed's shape, and of the object around it."""
    owner = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "name": "m", "uid": "machine-uid-1"}
    found = read(
        {"strategy": "reboot", "deleteAfterRetries": 0, "powerOffTimeoutSeconds": 60, "powerOnTimeoutSeconds": 90}
        | {"freeBy": "pods"},
        ownerReferences=[{"kind": "Other", "name": "o"}, owner],
        finalizers=["x"],
        deletionTimestamp="2030-01-01T00:00:00Z",
        annotations={"node-remedy.dev/paused": "true", "cluster.x-k8s.io/paused": ""},
    )

    assert (Strategy.REBOOT, 0, Span.seconds(60), Span.seconds(90), FreeBy.PODS) == (
        found.strategy,
        found.retries,
        found.off_within,
        found.on_within,
        found.free_by,
    )
    assert ("m", "machine-uid-1", ("x",), True) == (
        found.owner.name if found.owner else "",
        found.owner_uid,
        found.finalizers,
        found.deleting,
    )
    assert (Paused(), True) == (found.paused, found.cluster_paused)


@pytest.mark.parametrize(
    ("strategy", "meaning"),
    [
        ({"type": "Reboot", "retryLimit": 3, "timeout": "10m"}, (Strategy.ESCALATE, 3, Span.seconds(600))),
        ({"type": "Reboot", "timeoutSeconds": 300}, (Strategy.ESCALATE, 1, Span.seconds(300))),
        ({}, (Strategy.ESCALATE, 1, Span.seconds(600))),
    ],
)
def test_the_shape_of_capm3_is_read(strategy: Any, meaning: Any) -> None:
    """Its one strategy reboots so often and then gives the machine up: escalate, in the seed's words."""
    found = read({"strategy": strategy})

    assert ((), meaning) == (found.problems, (found.strategy, found.retries, found.on_within))


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ([], "spec"),
        ({"strategy": "hope"}, "spec.strategy"),
        ({"strategy": 5}, "spec.strategy"),
        ({"strategy": {"type": "Pray"}}, "spec.strategy.type"),
        ({"strategy": {"timeout": "soon"}}, "spec.strategy.timeout"),
        ({"strategy": {"timeout": 5}}, "spec.strategy.timeout"),
        ({"deleteAfterRetries": -1}, "spec.deleteAfterRetries"),
        ({"deleteAfterRetries": 101}, "spec.deleteAfterRetries"),
        ({"powerOffTimeoutSeconds": "2m"}, "spec.powerOffTimeoutSeconds"),
        ({"powerOnTimeoutSeconds": 10**9}, "spec.powerOnTimeoutSeconds"),
        ({"freeBy": "magic"}, "spec.freeBy"),
        ({"freeBy": []}, "spec.freeBy"),
    ],
)
def test_garbage_is_told_with_its_field(spec: Any, field: str) -> None:
    """One problem, which begins with the field; nothing is guessed in silence."""
    problems = read(spec).problems

    assert 1 == len(problems)
    assert problems[0].startswith(f"{field}:")


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"powerOffTimeoutSeconds": 0},
            ("spec.powerOffTimeoutSeconds: 0 cannot be read; write a number from 1 to 86400",),
        ),
        (
            {"powerOnTimeoutSeconds": -1},
            ("spec.powerOnTimeoutSeconds: -1 cannot be read; write a number from 1 to 86400",),
        ),
        ({"powerOffTimeoutSeconds": 1, "powerOnTimeoutSeconds": 86_400}, ()),
        ({"deleteAfterRetries": 101}, ("spec.deleteAfterRetries: 101 cannot be read; write a number from 0 to 100",)),
    ],
)
def test_numbers_are_those_that_the_api_takes(spec: Any, told: tuple[str, ...]) -> None:
    """What `check` lets pass can be applied, and the words name the very limits of the schema."""
    assert told == read(spec).problems


@pytest.mark.parametrize("status", [[], "x", {"phase": "Running"}, {"phase": 7}, {"evidence": [], "conditions": 5}])
def test_a_status_of_somebody_else_is_a_problem_or_nothing(status: Any) -> None:
    """A phase that is not ours is told, so that nothing is begun anew; other garbage counts as not there."""
    found = read({}, status)

    assert Phase.NEW is found.progress.phase
    assert bool(found.problems) == (isinstance(status, dict) and "phase" in status)


def an_attachment(name: str, node: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"{name}-uid", **metadata}, "spec": {"nodeName": node}}


def test_attachments_of_the_node_are_chosen() -> None:
    """The API cannot select them by node; one on its way out is told apart."""
    items = [
        an_attachment("b", "worker-0", deletionTimestamp="2030-01-01T00:00:00Z"),
        an_attachment("a", "worker-0"),
        an_attachment("c", "worker-1"),
    ]
    outcome = ended(
        ListVolumes(NODE_AT), 200, json.dumps({"metadata": {"resourceVersion": "42"}, "items": items}).encode()
    )

    assert isinstance(outcome, Done)
    assert outcome.seen is not None
    assert volumes_at(NODE_AT) == outcome.seen.ref
    assert (
        (ref(ATTACHMENT, "a"), Attachment("a-uid", "worker-0")),
        (ref(ATTACHMENT, "b"), Attachment("b-uid", "worker-0", deleting=True)),
    ) == outcome.seen.obj.volumes


def test_half_a_list_is_none() -> None:
    """What cannot be read fails; no volume is taken for detached."""
    assert isinstance(ended(ListVolumes(NODE_AT), 200, b"{"), Failed)


@pytest.mark.parametrize("status", [200, 404, 409])
@pytest.mark.parametrize(
    "action",
    [
        DeletePod(ref(POD, "db-0", "default"), Guard("pod-1"), SUBJECT, a_proof()),
        DetachVolume(ref(ATTACHMENT, "csi-1"), Guard("volume-1"), SUBJECT, a_proof()),
    ],
    ids=lambda action: type(action).__name__,
)
def test_what_is_gone_is_gone(action: Action, status: int) -> None:
    """Deleted, not there, or another one of that name: the next list shows whether anything is left."""
    assert isinstance(ended(action, status, b"{}"), Done)


@pytest.mark.parametrize(("left", "is_gone"), [((), True), (("others",), False)])
def test_with_its_last_finalizer_an_object_goes(left: tuple[str, ...], is_gone: bool) -> None:
    """The answer shows the object once more, and it is gone; with another finalizer it is not."""
    tree = a_tree({}, deletionTimestamp="2030-01-01T00:00:00Z", finalizers=list(left))
    outcome = ended(WriteFinalizers(REMEDIATION_AT, GUARD, left), 200, json.dumps(tree).encode())

    assert isinstance(outcome, Done)
    assert (is_gone, is_gone) == (outcome.gone, outcome.seen is None)


def test_the_version_of_a_kubelet_is_read() -> None:
    """It decides how a workload is freed where nobody says."""
    tree = {"metadata": {"name": "n"}, "status": {"nodeInfo": {"bootID": "b", "kubeletVersion": "v1.36.3"}}}

    assert "v1.36.3" == convert(NODE, tree).obj.kubelet
