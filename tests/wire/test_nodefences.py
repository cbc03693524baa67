"""NodeFences and FenceRemediations over the wire: what is read, what is written, and that both are the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import HOST_AT, RESOURCES, a_host_tree, ago
from tests.core.fencing.fences import FENCE_AT, a_job, a_status

from noderemedy.model.actions import (
    Action,
    CreateNodeFence,
    DeleteNodeFence,
    Guard,
    HoldHost,
    PublishFenceStatus,
    PublishRequestStatus,
    ReleaseHost,
    StartRun,
)
from noderemedy.model.attestation import Attestation
from noderemedy.model.checkstatus import Foreign, Told
from noderemedy.model.errors import Bug
from noderemedy.model.fenceplan import Step
from noderemedy.model.fenceremediation import FencePhase, FenceStrategy, RequestStatus
from noderemedy.model.host import Hold
from noderemedy.model.ids import FENCE_REMEDIATION, HOST, NODE, NODE_FENCE, Ref, ref
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import NodeBackup
from noderemedy.model.nodefence import FenceEvidence, FenceSpec, FenceStatus, State, fence_ref
from noderemedy.model.run import Deed, Order, Power, RunState
from noderemedy.model.time import MINUTE, Span
from noderemedy.model.workload import FreeBy
from noderemedy.wire.attestations import attestation_text
from noderemedy.wire.nodefences import request_status_body, spec_body, status_body
from noderemedy.wire.objects import convert
from noderemedy.wire.requests import render

GUARD = Guard("uid-1", "42")
META = {"uid": "uid-1", "resourceVersion": "42"}
PATH = "/apis/ha.k8s.io/v1/nodefences/node-fence-worker-0"
REQUEST_AT = ref(FENCE_REMEDIATION, "worker-0", "metal")
CONDITIONS = (Told("Succeeded", "Unknown", "InProgress", "isolation", str(ago(9))), Foreign('{"type":"Other"}'))
EVIDENCE = FenceEvidence(
    was_ready=True,
    host_uid="h",
    drained_since=ago(9),
    off_at=ago(8),
    proof="FencedOff",
    free_by=FreeBy.PODS,
    tainted_at=ago(7),
    freed_at=ago(6),
    freeing_since=ago(6),
    storage_freed_at=ago(5),
    backup=NodeBackup("n", (("rack", "1"),)),
    on_since=ago(1),
    heard_since=ago(2),
)
JOB = a_job(
    said="refused",
    is_lost=True,
    is_remembered=True,
    was_on=True,
    state=RunState.FAILED,
    attempt=2,
    restart=1,
    device="0123456789",
)
STATUS = a_status(
    State.RUNNING,
    retries=1,
    restarts=2,
    jobs=(JOB,),
    evidence=EVIDENCE,
    generation=3,
    conditions=CONDITIONS,
    attested_ahead=ago(4),
)
TOLD = RequestStatus(FencePhase.FENCING, ago(9), "m", "node-fence-worker-0", "f", "running", "isolation", 2, CONDITIONS)
GOLDEN: list[tuple[Action, str, str, Any]] = [
    (
        CreateNodeFence(FENCE_AT, FenceSpec("worker-0", power_management_delay=Span(0)), "FenceRemediation/metal/w"),
        "POST",
        "/apis/ha.k8s.io/v1/nodefences",
        {
            "apiVersion": "ha.k8s.io/v1",
            "kind": "NodeFence",
            "metadata": {
                "name": "node-fence-worker-0",
                "annotations": {"node-remedy.dev/requested-by": "FenceRemediation/metal/w"},
            },
            "spec": {
                "node": "worker-0",
                "stepRetries": 2,
                "maxRestarts": 3,
                "nodeReadyTimeout": "300s",
                "newDelay": "0s",
                "powerManagementDelay": "0s",
                "ttlAfterFinal": "3600s",
            },
        },
    ),
    (
        DeleteNodeFence(FENCE_AT, GUARD),
        "DELETE",
        PATH,
        {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": META},
    ),
    (
        PublishFenceStatus(FENCE_AT, GUARD, STATUS),
        "PATCH",
        f"{PATH}/status",
        {"metadata": META, "status": status_body(STATUS, 7)},
    ),
    (
        PublishRequestStatus(REQUEST_AT, GUARD, TOLD),
        "PATCH",
        "/apis/node-remedy.dev/v1alpha1/namespaces/metal/fenceremediations/worker-0/status",
        {"metadata": META, "status": request_status_body(TOLD)},
    ),
]


HOLD = Hold("m", ago(0), "n", "b", owner="/node-fence-worker-0")
KEYS = ("reboot.metal3.io/node-fence-f", "remediation.metal3.io/fence-hold-f")


def test_a_fence_holds_a_host_under_keys_of_its_own() -> None:
    """Hold and record come and go in one patch, and neither is a Metal3Remediation's."""
    held = json.loads(render(HoldHost(HOST_AT, GUARD, "f", HOLD, is_fence=True), 7, RESOURCES).body)["metadata"]
    freed = json.loads(render(ReleaseHost(HOST_AT, GUARD, "f", is_fence=True), 7, RESOURCES).body)["metadata"]
    host = convert(HOST, a_host_tree(annotations=held["annotations"])).obj

    assert (set(KEYS), dict.fromkeys(KEYS)) == (set(held["annotations"]), freed["annotations"])
    assert ((), (("f", replace(HOLD, token=7)),)) == (host.held_for, host.fenced_for)
    assert (replace(HOLD, token=7),) == host.holds_of("f")


def a_tree(spec: Any, status: Any = None, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "node-fence-worker-0", "uid": "f", **metadata}, "spec": spec, "status": status}


def fence(spec: Any, status: Any = None, **metadata: Any) -> Any:
    return convert(NODE_FENCE, a_tree(spec, status, **metadata)).obj


def request(spec: Any, status: Any = None, **metadata: Any) -> Any:
    return convert(FENCE_REMEDIATION, a_tree(spec, status, **metadata)).obj


@pytest.mark.parametrize(("action", "method", "path", "body"), GOLDEN)
def test_each_action_has_one_request(action: Action, method: str, path: str, body: Any) -> None:
    """Method, path and body; every write repeats uid and version of its guard."""
    sent = render(action, 7, RESOURCES)

    assert (method, path, body) == (sent.method, sent.path, json.loads(sent.body))


def test_a_run_is_no_request() -> None:
    """Whoever carries out a run as a request of the API has forgotten that it is a process."""
    order = Order("x", FENCE_AT, "f", "n", "u", "b", 0, "m", "a", Deed.OFF, (), (), MINUTE, ago(0))

    with pytest.raises(Bug):
        render(StartRun(FENCE_AT, GUARD, order), 7, RESOURCES)


def test_a_status_is_read_back_as_it_was_written() -> None:
    """A successor goes on with all that was recorded; a run without a token gets that of the leadership that writes."""
    tree = json.loads(json.dumps(status_body(STATUS, 7)))
    fresh = json.loads(json.dumps(status_body(replace(STATUS, jobs=(replace(JOB, token=0),)), 9)))

    assert STATUS == fence({"node": "worker-0"}, tree).status
    assert 9 == fence({"node": "worker-0"}, fresh).status.jobs[0].token


def test_the_status_of_a_request_is_read_back_as_it_was_written() -> None:
    """So that telling it again is no write."""
    assert TOLD == request({}, request_status_body(TOLD)).status


def test_a_bare_fence_has_the_defaults_of_the_seed() -> None:
    """Two retries, three restarts, five minutes for the node and before power management."""
    found = fence({"node": "worker-0"}, generation=4)

    assert (FenceSpec("worker-0"), (), FenceStatus(), 4) == (found.spec, found.problems, found.status, found.generation)
    assert (2, 3, MINUTE * 5, Span(0), MINUTE * 5) == (
        found.spec.step_retries,
        found.spec.max_restarts,
        found.spec.node_ready_timeout,
        found.spec.new_delay,
        found.spec.power_management_delay,
    )


def test_every_field_of_a_spec_is_read() -> None:
    """What `spec_body` writes is what is read, whatever it says."""
    spec = FenceSpec(
        "worker-0", "metal/prod", 1, 2, MINUTE, Span(1500), MINUTE * 2, FreeBy.NODE, True, False, MINUTE * 3
    )

    assert spec == fence(spec_body(spec)).spec
    assert fence({"node": "worker-0", "stopped": True}).spec.stopped


def test_a_request_waits_for_nothing_before_power_management() -> None:
    """The health check has waited already; all else is as in a NodeFence."""
    found = request({"strategy": "alert", "maxRestarts": 1})

    assert (FenceStrategy.ALERT, Span(0), 1) == (
        found.strategy,
        found.spec.power_management_delay,
        found.spec.max_restarts,
    )
    assert FenceStrategy.ESCALATE is request({}).strategy


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({}, "spec.node: it is missing; write a text"),
        ({"node": 7}, 'spec.node: 7 cannot be read; write it in quotes: "7"'),
        ({"node": "n", "cluster": 3}, 'spec.cluster: 3 cannot be read; write it in quotes: "3"'),
        ({"node": "n", "stepRetries": -1}, "spec.stepRetries: -1 cannot be read; write a number from 0 to 100"),
        ({"node": "n", "maxRestarts": 101}, "spec.maxRestarts: 101 cannot be read; write a number from 0 to 100"),
        (
            {"node": "n", "newDelay": "soon"},
            "spec.newDelay: 'soon' cannot be read; write a duration like 5m, at most 24h",
        ),
        ({"node": "n", "newDelay": 5}, "spec.newDelay: 5 cannot be read; write a duration like 5m, at most 24h"),
        (
            {"node": "n", "nodeReadyTimeout": "25h"},
            "spec.nodeReadyTimeout: '25h' cannot be read; write a duration like 5m, at most 24h",
        ),
        ({"node": "n", "stopped": "yes"}, "spec.stopped: 'yes' cannot be read; write true or false"),
        (
            {"node": "n", "freeBy": "fire"},
            "spec.freeBy: 'fire' cannot be read; write taint, pods or node, or leave it out",
        ),
    ],
)
def test_what_is_wrong_in_a_spec_is_said(spec: Any, problem: str) -> None:
    """With its field and its remedy; nothing raises."""
    assert (problem,) == fence(spec).problems


def test_a_strategy_that_is_none_is_said() -> None:
    """Those of a FenceRemediation are its own."""
    assert ("spec.strategy: 'reboot' cannot be read; write escalate or alert",) == request(
        {"strategy": "reboot"}
    ).problems


@pytest.mark.parametrize("status", [{"state": "Done"}, {"step": "burning"}, {"state": ["new"]}])
def test_a_status_that_is_not_ours_is_a_problem(status: Any) -> None:
    """Nothing is begun anew over a word that we do not know."""
    [problem] = fence({"node": "n"}, status).problems

    assert problem.endswith("is not one of ours; delete this object and make it anew")


def test_a_job_that_is_none_is_left_out() -> None:
    """Somebody else's entry is no run of ours."""
    jobs = [7, {}, {"name": "x", "since": "then"}, {"name": "x", "since": str(ago(1)), "step": "?"}, "gcloud-reset"]

    assert () == fence({"node": "n"}, {"jobs": jobs}).status.jobs


WORD = Attestation("anna", ago(5), "node-uid-1", "boot-1")


def test_an_attestation_is_read_back_as_it_was_written() -> None:
    """Who, when, and which boot of which Node."""
    notes = {"node-remedy.dev/attested-off": attestation_text(WORD), "node-remedy.dev/requested-by": "Node//worker-0"}
    found = fence({"node": "n"}, annotations=notes)

    assert (WORD, "Node//worker-0") == (found.attested, found.requested_by)


@pytest.mark.parametrize(
    "text",
    [
        "true",
        "{}",
        '{"by":"anna","at":"now","nodeUid":"n","bootID":"b"}',
        '{"by":"","at":"2030-03-17T17:46:40Z","nodeUid":"n","bootID":"b"}',
        '{"by":"anna","at":"2030-03-17T17:46:40Z","nodeUid":"n","bootID":""}',
        '{"by":"mallory","at":"2030-03-17T17:46:40Z","nodeUid":"n","bootID":"b","by":"anna"}',
    ],
)
def test_half_an_attestation_is_none(text: str) -> None:
    """A word without a name, a time or a boot or with two names, of which the policy saw one, frees nothing."""
    assert isinstance(fence({"node": "n"}, annotations={"node-remedy.dev/attested-off": text}).attested, Malformed)


def test_metadata_is_read() -> None:
    """Pause, deletion, finalizers and the owner of a request."""
    owner = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "name": "worker-0", "uid": "m"}
    meta = {
        "annotations": {"node-remedy.dev/paused": "true", "cluster.x-k8s.io/paused": ""},
        "deletionTimestamp": str(ago(1)),
        "creationTimestamp": str(ago(2)),
        "finalizers": ["a"],
        "ownerReferences": [owner],
    }
    asked, fenced = request({}, **meta), fence({"node": "n"}, **meta)

    assert (Paused(), True, True, ago(2), ("a",), "m", "worker-0") == (
        asked.paused,
        asked.cluster_paused,
        asked.deleting,
        asked.created,
        asked.finalizers,
        asked.owner_uid,
        asked.owner.name,
    )
    assert (Paused(), True, ago(2), ("a",)) == (fenced.paused, fenced.deleting, fenced.created, fenced.finalizers)


def test_nodes_of_two_clusters_share_no_name() -> None:
    """A node has one fence, and a name that is too long is still one."""
    names = [fence_ref(Ref(cluster, NODE, "", "worker-0")).name for cluster in ("", "metal/a", "metal/b")]
    long = fence_ref(ref(NODE, "n" * 253)).name

    assert (3, "node-fence-worker-0") == (len(set(names)), names[0])
    assert len(long) <= 253


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda more: st.lists(more, max_size=2) | st.dictionaries(st.text(max_size=5), more, max_size=2),
    max_leaves=6,
)
words = st.sampled_from(["state", "step", "jobs", "evidence", "conditions", "since", "retries", "backup", "phase"])


@settings(max_examples=80)
@given(anything, st.dictionaries(words, anything, max_size=4))
def test_garbage_is_read_and_never_raises(spec: Any, status: Any) -> None:
    """Whatever stands in a spec or a status, the object is there and can be judged."""
    assert "f" == fence(spec, status).uid
    assert "f" == request(spec, status).uid


def test_the_words_of_the_seed_are_those_of_the_status() -> None:
    """States and steps as seed 002 prints them."""
    assert ["new", "running", "done", "final", "error"] == [one.value for one in State]
    assert ["isolation", "power-management", "recovery"] == [one.value for one in Step]
    assert ["on", "off", "unknown"] == [one.value for one in Power]
