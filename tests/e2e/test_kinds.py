"""Our own kinds on a real API server: what a schema refuses, in whose words, and who may write which part of them.

Everything is installed by the one command of the guide, `kubectl apply -k deploy/`. A refusal must name the field and
the remedy: people read it in a terminal, without the source.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.api import Api, Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import DEPLOY, NAMESPACE, install_foreign_kinds, kubectl, manager_api

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BUDGETS = "/apis/node-remedy.dev/v1alpha1/remediationbudgets"
INCIDENTS = f"/apis/node-remedy.dev/v1alpha1/namespaces/{NAMESPACE}/incidents"
ELSEWHERE = "/apis/node-remedy.dev/v1alpha1/namespaces/default/incidents"
REMEDIATIONS = "/apis/remediation.metal3.io/v1alpha1/namespaces/default/metal3remediations"
TEMPLATES = "/apis/remediation.metal3.io/v1alpha1/namespaces/default/metal3remediationtemplates"
NIGHT = {"from": "22:00", "to": "04:00"}


def a_budget(spec: Json, name: str = "cluster") -> Json:
    meta = {"name": name}
    return {"apiVersion": "node-remedy.dev/v1alpha1", "kind": "RemediationBudget", "metadata": meta, "spec": spec}


STEP = {"time": "2026-01-01T00:00:00Z", "room": "verdict", "what": "verdict", "value": "unhealthy"}


def an_incident(name: str, **spec: object) -> Json:
    found = {
        "target": {"group": "cluster.x-k8s.io", "kind": "Machine", "namespace": "default", "name": "worker-0"},
        "node": {"name": "worker-0"},
        "episode": "0123456789",
        "detected": "2026-01-01T00:00:00Z",
        "signs": ["Ready is Unknown"],
        "begun": {"last": "verdict unhealthy", "steps": [STEP]},
    }
    version = "node-remedy.dev/v1alpha1"
    return {"apiVersion": version, "kind": "Incident", "metadata": {"name": name}, "spec": {**found, **spec}}


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    """Kinds of others where they are absent, then everything of ours by kustomize."""
    install_foreign_kinds(control_plane)
    kubectl(control_plane, "create", "namespace", NAMESPACE)
    kubectl(control_plane, "apply", "--server-side", "--force-conflicts", "-k", DEPLOY)
    names = ("incidents.node-remedy.dev", "remediationbudgets.node-remedy.dev")
    kubectl(control_plane, "wait", "--for=condition=Established", "--timeout=30s", *(f"crd/{name}" for name in names))
    unsigned = an_incident("probe", approval={"decision": "approve"})
    path = f"{INCIDENTS}?dryRun=All"
    eventually(lambda: "approval.by" in control_plane.api().create(path, unsigned).message, "the policy is in force")
    return control_plane


@pytest.fixture(scope="module")
def approver(plane: ControlPlane) -> Api:
    """Somebody who holds the shipped Role of approvers, bound as the file says."""
    role, name = "--role=node-remedy-approver", "repair-approvers"
    kubectl(plane, "-n", NAMESPACE, "create", "rolebinding", name, role, "--user=viewer")
    somebody = plane.api("viewer")
    eventually(lambda: somebody.get(INCIDENTS).status == 200, "the rights of the approver are in force")
    return somebody


@pytest.fixture
def incident(plane: ControlPlane) -> Iterator[str]:
    manager = manager_api(plane)
    manager.create(INCIDENTS, an_incident("worker-0-1")).ok()
    yield f"{INCIDENTS}/worker-0-1"
    manager.delete(f"{INCIDENTS}/worker-0-1").ok()


# --- what is accepted ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["incidents.node-remedy.dev", "remediationbudgets.node-remedy.dev"])
def test_a_kind_has_no_troubles(plane: ControlPlane, name: str) -> None:
    """The server took over names and schema of our own kinds, and complains about nothing."""
    conditions = plane.api().get(f"{CRDS}/{name}").ok()["status"]["conditions"]

    assert {"NamesAccepted": "True", "Established": "True"} == {one["type"]: one["status"] for one in conditions}


@pytest.mark.parametrize("name", ["node-remedy-incident-approvals", "node-remedy-remediation-annotations"])
def test_policies_pass_the_type_check(plane: ControlPlane, name: str) -> None:
    """Every expression of our policies is well typed for the kinds that it looks at."""
    path = f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{name}"
    found = eventually(lambda: plane.api().get(path).ok().get("status"), "the controller has looked at it", 120)

    assert [] == found.get("typeChecking", {}).get("expressionWarnings", [])


BUDGETS_THAT_PASS: tuple[Json, ...] = (
    {},
    {"maxUnhealthy": "100%", "maxInFlight": 1, "maxPerHour": 0, "cooldown": "1h30m"},
    {"maxUnhealthy": 3, "cooldown": "0", "perDomain": {"topologyKey": "example.com/rack", "maxUnhealthy": "0%"}},
    {"windows": [NIGHT, {**NIGHT, "days": ["Sat", "Sun"], "timeZone": "UTC"}]},
)


@pytest.mark.parametrize("number", range(len(BUDGETS_THAT_PASS)))
def test_a_good_budget_is_accepted(plane: ControlPlane, number: int) -> None:
    """Numbers, shares, windows and durations, and an empty one."""
    reply = plane.api().create(f"{BUDGETS}?dryRun=All", a_budget(BUDGETS_THAT_PASS[number]))

    assert (201, "") == (reply.status, reply.message)


def test_the_example_is_accepted(plane: ControlPlane) -> None:
    """What the guide shows can be applied as it is."""
    kubectl(plane, "apply", "--dry-run=server", "-f", DEPLOY.parent / "examples" / "budget" / "budget.yaml")


# --- what is refused, and in which words -----------------------------------------------------------------------

SHARE = 'from "0%" to "100%"'
REFUSED: dict[str, tuple[Json, tuple[str, ...]]] = {
    "over a hundred percent": ({"maxUnhealthy": "140%"}, ("spec.maxUnhealthy", "140%", SHARE)),
    "below zero": ({"maxInFlight": -1}, ("spec.maxInFlight", "-1", SHARE)),
    "a word": ({"maxPerHour": "many"}, ("spec.maxPerHour", "many", SHARE)),
    "a share of a domain": ({"perDomain": {"maxUnhealthy": "5"}}, ("spec.perDomain.maxUnhealthy", SHARE)),
    "a duration": ({"cooldown": "soon"}, ("spec.cooldown", "soon", 'like "5m"')),
    "a time of day": ({"windows": [{**NIGHT, "to": "24:00"}]}, ("spec.windows[0].to", "24:00", 'like "22:00"')),
    "no end": ({"windows": [{"from": "22:00"}]}, ("spec.windows[0].to", "Required")),
    "a day": ({"windows": [{**NIGHT, "days": ["Someday"]}]}, ("spec.windows[0].days[0]", "Someday", '"Mon"')),
    "a time zone": ({"windows": [{**NIGHT, "timeZone": "Mars"}]}, ("spec.windows[0].timeZone", "Mars", '"UTC"')),
    "freed pods": ({"podsPerMinute": 0}, ("spec.podsPerMinute", "0", "greater than or equal to 1")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_budget_is_refused(plane: ControlPlane, name: str) -> None:
    """The refusal names the field, and what to write instead."""
    spec, words = REFUSED[name]
    reply = plane.api().create(f"{BUDGETS}?dryRun=All", a_budget(spec))

    assert 422 == reply.status
    assert [] == [word for word in words if word not in reply.message], reply.message


def test_there_is_one_budget(plane: ControlPlane) -> None:
    """Another name is refused, whether the first one exists or not; a second one of the same name as well."""
    api = plane.api()
    assert (
        "metadata.name: there is one budget; write the name cluster" in api.create(BUDGETS, a_budget({}, "x")).message
    )
    api.create(BUDGETS, a_budget({})).ok()
    try:
        assert 422 == api.create(BUDGETS, a_budget({}, "second")).status
        assert 409 == api.create(BUDGETS, a_budget({})).status
    finally:
        api.delete(f"{BUDGETS}/cluster").ok()


INCIDENTS_REFUSED: dict[str, tuple[Json, tuple[str, ...]]] = {
    "an episode": ({"episode": "x"}, ("spec.episode",)),
    "a decision": ({"approval": {"decision": "maybe", "by": "admin"}}, ("spec.approval.decision", '"approve"')),
    "a snooze for ever": ({"approval": {"decision": "snooze", "by": "admin"}}, ("spec.approval", "needs until")),
}


@pytest.mark.parametrize("name", INCIDENTS_REFUSED)
def test_a_bad_incident_is_refused(plane: ControlPlane, name: str) -> None:
    """The refusal names the field and the remedy."""
    spec, words = INCIDENTS_REFUSED[name]
    reply = plane.api().create(f"{INCIDENTS}?dryRun=All", an_incident("bad", **spec))

    assert 422 == reply.status
    assert [] == [word for word in words if word not in reply.message], reply.message


@pytest.mark.parametrize(
    "change",
    [
        {"target": {"name": "another"}},
        {"node": {"name": "another"}},
        {"node": None},
        {"episode": "9876543210"},
        {"detected": "2025-01-01T00:00:00Z"},
        {"signs": []},
        {"begun": None},
        {"begun": {"last": "hold held", "steps": []}},
    ],
)
def test_what_was_found_never_changes(plane: ControlPlane, incident: str, change: Json) -> None:
    """Not even an administrator rewrites what was seen."""
    reply = plane.api().merge(incident, {"spec": change})

    assert 422 == reply.status
    assert "what was found at detection never changes" in reply.message


# --- who answers -----------------------------------------------------------------------------------------------


def test_an_approver_answers_in_her_own_name(plane: ControlPlane, approver: Api, incident: str) -> None:
    """Her own name passes; another one, or none, is refused with the name to write."""
    for by in ({"by": "bob"}, {}):
        reply = approver.merge(incident, {"spec": {"approval": {"decision": "approve", **by}}})
        assert 403 == reply.status
        assert "spec.approval.by is " in reply.message
        assert "write the user who answers, viewer" in reply.message

    answered = approver.merge(incident, {"spec": {"approval": {"decision": "approve", "by": "viewer"}}}).ok()
    assert {"decision": "approve", "by": "viewer"} == answered["spec"]["approval"]


def test_an_approver_does_nothing_else(plane: ControlPlane, approver: Api, incident: str) -> None:
    """No status, no deletion, no incident of her own, no mark on it, no budget, no machine."""
    assert 403 == approver.merge(f"{incident}/status", {"status": {"outcome": "recovered"}}).status
    assert 403 == approver.delete(incident).status
    assert 403 == approver.create(INCIDENTS, an_incident("mine")).status
    for mark in ({"labels": {"a": "b"}}, {"annotations": {"a": "b"}}, {"finalizers": ["example.com/keep"]}):
        assert "leave metadata as it is" in approver.merge(incident, {"metadata": mark}).message
    assert 403 == approver.merge(f"{BUDGETS}/cluster", {"spec": {}}).status
    assert 403 == approver.get("/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machines").status
    assert 422 == approver.merge(incident, {"spec": {"episode": "9876543210"}}).status


# --- what the manager may --------------------------------------------------------------------------------------


def test_the_manager_keeps_its_records(plane: ControlPlane, incident: str) -> None:
    """Its rooms open, write and drop incidents in our namespace; it answers none, and has no business elsewhere."""
    manager = manager_api(plane)
    step = {"time": "2026-01-01T00:00:01Z", "room": "annotation", "what": "hold", "value": "on"}
    written = manager.merge(f"{incident}/status", {"status": {"last": "hold on", "steps": [step]}}).ok()

    assert [step] == written["status"]["steps"]
    assert "steps are only appended" in manager.merge(f"{incident}/status", {"status": {"steps": []}}).message
    assert 403 == manager.merge(incident, {"spec": {"approval": {"decision": "approve"}}}).status
    assert (200, 403) == (manager.get(INCIDENTS).status, manager.get(ELSEWHERE).status)
    assert 403 == manager.create(ELSEWHERE, an_incident("elsewhere")).status


def test_the_manager_publishes_the_state_of_the_budget(plane: ControlPlane) -> None:
    """Its status, never its limits."""
    plane.api().create(BUDGETS, a_budget({})).ok()
    manager, path = manager_api(plane), f"{BUDGETS}/cluster"
    try:
        assert 2 == manager.merge(f"{path}/status", {"status": {"inFlight": 2}}).ok()["status"]["inFlight"]
        assert 403 == manager.merge(path, {"spec": {"maxInFlight": 99}}).status
        assert 403 == manager.delete(path).status
    finally:
        plane.api().delete(path).ok()


def a_request(**spec: object) -> Json:
    version, meta = "remediation.metal3.io/v1alpha1", {"name": "one"}
    return {"apiVersion": version, "kind": "Metal3Remediation", "metadata": meta, "spec": spec}


def test_the_manager_makes_and_carries_out_requests(plane: ControlPlane) -> None:
    """A Metal3Remediation is made from a template, which it only reads; finalizers and status are its own."""
    manager = manager_api(plane)
    probe = f"{REMEDIATIONS}?dryRun=All"
    eventually(lambda: manager.create(probe, a_request()).status == 201, "roles of requests are aggregated", 120)
    manager.create(REMEDIATIONS, a_request(strategy="reboot", powerOffTimeoutSeconds=60)).ok()
    path = f"{REMEDIATIONS}/one"

    assert "power-off" == manager.merge(f"{path}/status", {"status": {"phase": "power-off"}}).ok()["status"]["phase"]
    assert 200 == manager.merge(path, {"metadata": {"finalizers": ["node-remedy.dev/power"]}}).status
    assert 200 == manager.merge(path, {"metadata": {"finalizers": None}}).status
    assert 200 == manager.delete(path).status
    assert (404, 403) == (manager.get(f"{TEMPLATES}/one").status, manager.create(TEMPLATES, a_request()).status)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"strategy": "pray"}, ("spec.strategy", '"reboot"')),
        ({"strategy": {"type": "Reboot", "retryLimit": 1}}, ("spec.strategy", "must be of type string")),
        ({"freeBy": "hope"}, ("spec.freeBy", '"taint"')),
        ({"powerOffTimeoutSeconds": 0}, ("spec.powerOffTimeoutSeconds", "greater than or equal to 1")),
        ({"deleteAfterRetries": 101}, ("spec.deleteAfterRetries", "less than or equal to 100")),
    ],
)
def test_a_bad_request_is_refused(plane: ControlPlane, spec: Json, words: tuple[str, ...]) -> None:
    """In a request and in a template, with the field named."""
    body = a_request(**spec)
    within = {**body, "kind": "Metal3RemediationTemplate", "spec": {"template": {"spec": spec}}}
    for path, one in ((REMEDIATIONS, body), (TEMPLATES, within)):
        reply = plane.api().create(f"{path}?dryRun=All", one)
        assert 422 == reply.status
        assert [] == [word for word in words if word not in reply.message], reply.message


FENCES_REFUSED: dict[str, tuple[Json, tuple[str, ...]]] = {
    "retries below zero": ({"stepRetries": -1}, ("spec.stepRetries", "greater than or equal to 0")),
    "restarts without end": ({"maxRestarts": 101}, ("spec.maxRestarts", "less than or equal to 100")),
    "a duration without a unit": ({"nodeReadyTimeout": "300"}, ("spec.nodeReadyTimeout", "should match")),
    "a duration in words": ({"newDelay": "soon"}, ("spec.newDelay", "should match")),
    "a duration below zero": ({"powerManagementDelay": "-5m"}, ("spec.powerManagementDelay", "should match")),
    "a way to free that nobody knows": ({"freeBy": "hope"}, ("spec.freeBy", '"taint"')),
    "a number that is none": ({"stepRetries": "two"}, ("spec.stepRetries", "integer")),
}
FENCES = "/apis/ha.k8s.io/v1/nodefences"
REQUESTS = "/apis/node-remedy.dev/v1alpha1/namespaces/default/fenceremediations"


def a_fence(**spec: object) -> Json:
    meta = {"name": "node-fence-worker-0"}
    return {"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": meta, "spec": {"node": "worker-0", **spec}}


@pytest.mark.parametrize("name", FENCES_REFUSED)
def test_a_bad_fence_is_refused(plane: ControlPlane, name: str) -> None:
    """In a NodeFence, in a FenceRemediation and in its template, with the field named."""
    spec, words = FENCES_REFUSED[name]
    body = {
        "apiVersion": "node-remedy.dev/v1alpha1",
        "kind": "FenceRemediation",
        "metadata": {"name": "one"},
        "spec": spec,
    }
    template = {**body, "kind": "FenceRemediationTemplate", "spec": {"template": {"spec": spec}}}
    templates = REQUESTS.replace("remediations", "remediationtemplates")
    for path, one in ((FENCES, a_fence(**spec)), (REQUESTS, body), (templates, template)):
        reply = plane.api().create(f"{path}?dryRun=All", one)
        assert reply.status in (400, 422)
        assert [] == [word for word in words if word not in reply.message], reply.message


@pytest.mark.parametrize(
    ("spec", "words"),
    [({"strategy": "pray"}, ("spec.strategy", '"escalate"')), ({"strategy": ""}, ("spec.strategy", '"alert"'))],
)
def test_a_bad_strategy_is_refused(plane: ControlPlane, spec: Json, words: tuple[str, ...]) -> None:
    """What to do when fencing did not help is one of two."""
    body = {
        "apiVersion": "node-remedy.dev/v1alpha1",
        "kind": "FenceRemediation",
        "metadata": {"name": "one"},
        "spec": spec,
    }
    reply = plane.api().create(f"{REQUESTS}?dryRun=All", body)

    assert 422 == reply.status
    assert [] == [word for word in words if word not in reply.message], reply.message


# --- what a person sees ----------------------------------------------------------------------------------------


def test_columns_are_shown(plane: ControlPlane, incident: str) -> None:
    """`kubectl get` shows what a person looks for first."""
    plane.api().create(BUDGETS, a_budget({})).ok()
    blocked = {"type": "Blocked", "status": "True", "reason": "TooManyInFlight", "message": "two of two run"}
    status = {"inFlight": 2, "unhealthy": 3, "total": 20, "startedLastHour": 4}
    dated = {**blocked, "lastTransitionTime": "2026-01-01T00:00:00Z"}
    plane.api().merge(f"{BUDGETS}/cluster/status", {"status": {**status, "conditions": [dated]}}).ok()
    try:
        head, row = kubectl(plane, "get", "remediationbudgets").splitlines()
        assert ["NAME", "IN-FLIGHT", "UNHEALTHY", "NODES", "LAST-HOUR", "BLOCKED", "AGE"] == head.split()
        assert ["cluster", "2", "3", "20", "4", "TooManyInFlight"] == row.split()[:6]
        head, row = kubectl(plane, "-n", NAMESPACE, "get", "incidents").splitlines()
        assert ["NAME", "TARGET", "NODE", "DETECTED", "BEGUN", "LAST", "APPROVAL", "OUTCOME"] == head.split()
        assert ["worker-0-1", "worker-0", "worker-0"] == row.split()[:3]
    finally:
        plane.api().delete(f"{BUDGETS}/cluster").ok()


def test_columns_of_a_fence(plane: ControlPlane) -> None:
    """Which step it is in, how that stands and how often it was tried: the seed's own columns, and its node."""
    plane.api().create(FENCES, a_fence()).ok()
    status = {"state": "running", "step": "power-management", "retries": 2, "restarts": 1}
    plane.api().merge(f"{FENCES}/node-fence-worker-0/status", {"status": status}).ok()
    try:
        head, row = kubectl(plane, "get", "nodefences").splitlines()
        assert ["NAME", "NODE", "STEP", "STATUS", "RETRIES", "AGE"] == head.split()
        assert ["node-fence-worker-0", "worker-0", "power-management", "running", "2"] == row.split()[:5]
    finally:
        plane.api().delete(f"{FENCES}/node-fence-worker-0").ok()
