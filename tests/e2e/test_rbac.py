"""The shipped identity of the manager can do what it needs and nothing else, on a real API server."""

from __future__ import annotations

import pytest
from tests.e2e.api import Api, Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import MANAGER, NAMESPACE, manager_api

LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
HOSTS = "/apis/metal3.io/v1alpha1/namespaces/default/baremetalhosts"
MACHINES = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machines"

ALL_VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "remediate")
# group, resource, namespace, name → exactly these verbs
RIGHTS: dict[tuple[str, str, str, str], set[str]] = {
    ("", "nodes", "", ""): {"get", "list", "watch", "patch", "delete"},
    ("", "nodes/status", "", ""): {"patch"},
    ("cluster.x-k8s.io", "machines", "default", ""): {"get", "list", "watch", "create", "patch", "delete", "remediate"},
    ("cluster.x-k8s.io", "machines/status", "default", ""): {"patch"},
    ("machine.openshift.io", "machines", "default", ""): {"get", "list", "watch", "patch", "delete", "remediate"},
    ("machine.openshift.io", "machines/status", "default", ""): set(),
    ("node-remedy.dev", "incidents", NAMESPACE, ""): {"get", "list", "watch", "create", "delete"},
    ("node-remedy.dev", "incidents/status", NAMESPACE, ""): {"patch"},
    ("node-remedy.dev", "incidents", "default", ""): set(),
    ("node-remedy.dev", "remediationbudgets", "", ""): {"get", "list", "watch"},
    ("node-remedy.dev", "remediationbudgets/status", "", ""): {"patch"},
    ("cluster.x-k8s.io", "machinehealthchecks", "default", ""): {"get", "list", "watch"},
    ("cluster.x-k8s.io", "machinehealthchecks/status", "default", ""): {"patch"},
    ("machine.openshift.io", "machinehealthchecks/status", "default", ""): {"patch"},
    ("metal3.io", "baremetalhosts", "default", ""): {"get", "list", "watch", "patch", "remediate"},
    ("metal3.io", "baremetalhosts/status", "default", ""): set(),
    ("infrastructure.cluster.x-k8s.io", "metal3machines", "default", ""): {"get", "list", "watch"},
    ("events.k8s.io", "events", "default", ""): {"create", "get", "patch"},
    ("", "events", "default", ""): {"list", "watch"},
    ("coordination.k8s.io", "leases", NAMESPACE, ""): {"get", "list", "watch", "create", "patch", "delete"},
    ("coordination.k8s.io", "leases", NAMESPACE, MANAGER): {*ALL_VERBS} - {"remediate", "deletecollection"},
    ("coordination.k8s.io", "leases", NAMESPACE, "repair-worker-0"): {
        "get",
        "list",
        "watch",
        "create",
        "patch",
        "delete",
    },
    ("coordination.k8s.io", "leases", "kube-node-lease", MANAGER): set(),
    ("", "secrets", "default", ""): set(),
    ("", "secrets", NAMESPACE, ""): {"get"},
    ("", "configmaps", NAMESPACE, ""): {"get", "list", "watch", "create", "patch"},
    ("", "configmaps", NAMESPACE, "budget-ledger"): {"get", "list", "watch", "create", "patch"},
    ("", "configmaps", "default", ""): set(),
    ("", "pods", "default", ""): {"list", "delete"},
    ("", "pods", NAMESPACE, ""): {"list", "watch", "delete"},
    ("batch", "jobs", NAMESPACE, ""): {"get", "list", "watch", "create"},
    ("batch", "jobs", "default", ""): set(),
    ("", "pods/exec", "default", ""): set(),
    ("", "pods/eviction", "default", ""): {"create"},
    ("storage.k8s.io", "volumeattachments", "", ""): {"list", "delete"},
    ("apps", "statefulsets", "default", ""): set(),
    ("", "serviceaccounts/token", NAMESPACE, ""): set(),
    ("rbac.authorization.k8s.io", "clusterroles", "", ""): set(),
    ("apiextensions.k8s.io", "customresourcedefinitions", "", ""): set(),
    ("apiextensions.k8s.io", "customresourcedefinitions", "", "nodefences.ha.k8s.io"): {"list", "watch"},
    ("apiextensions.k8s.io", "customresourcedefinitions", "", "machines.cluster.x-k8s.io"): set(),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies", "", ""): set(),
}


@pytest.fixture(scope="module")
def manager(installed_plane: ControlPlane) -> Api:
    return manager_api(installed_plane)


def is_allowed(api: Api, group: str, resource: str, namespace: str, name: str, verb: str) -> bool:
    """Asks the API server itself whether the caller may."""
    plain, _, subresource = resource.partition("/")
    attributes = {"group": group, "resource": plain, "subresource": subresource, "verb": verb}
    where = {"namespace": namespace, "name": name}
    review: Json = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {**attributes, **where}},
    }
    answer = api.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review).ok()
    return bool(answer["status"]["allowed"])


@pytest.mark.parametrize("target", RIGHTS, ids=lambda target: "-".join(part for part in target if part))
def test_the_manager_has_exactly_these_verbs(manager: Api, target: tuple[str, str, str, str]) -> None:
    """Every verb that is listed is allowed, every other one is not."""
    assert RIGHTS[target] == {verb for verb in ALL_VERBS if is_allowed(manager, *target, verb)}


def test_the_review_can_say_yes_to_everything(installed_plane: ControlPlane) -> None:
    """The counter-check: an administrator is allowed what the manager is refused."""
    assert is_allowed(installed_plane.api(), "", "secrets", "default", "", "delete")


def test_no_role_of_ours_has_a_wildcard(installed_plane: ControlPlane) -> None:
    """A star in a rule would grant what nobody listed."""
    roles = [*installed_plane.api().items("/apis/rbac.authorization.k8s.io/v1/clusterroles")]
    rules = [rule for role in roles if role["metadata"]["name"].startswith("node-remedy") for rule in role["rules"]]

    assert rules
    assert [] == [rule for rule in rules if "*" in rule["verbs"] + rule["resources"] + rule["apiGroups"]]


def test_secrets_cannot_be_read(manager: Api) -> None:
    """A real read of a secret is forbidden, and says who asked."""
    refused = manager.get("/api/v1/namespaces/default/secrets")

    assert 403 == refused.status
    assert f"system:serviceaccount:{NAMESPACE}:{MANAGER}" in refused.message


def test_machines_are_deleted_only_with_their_uid(installed_plane: ControlPlane, manager: Api) -> None:
    """The manager deletes the machines that it may replace, and the server honours its precondition on the uid."""
    thing = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "metadata": {"name": "kept"}, "spec": {}}
    uid = installed_plane.api().create(MACHINES, thing).ok()["metadata"]["uid"]

    assert 409 == manager.delete(f"{MACHINES}/kept", {"preconditions": {"uid": "another"}}).status
    assert 200 == manager.delete(f"{MACHINES}/kept", {"preconditions": {"uid": uid}}).status


def test_a_node_is_deleted_only_with_its_uid(installed_plane: ControlPlane, manager: Api) -> None:
    """The manager deletes Nodes, and the server honours its precondition on the uid."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "doomed"}}
    uid = installed_plane.api().create("/api/v1/nodes", node).ok()["metadata"]["uid"]

    assert 409 == manager.delete("/api/v1/nodes/doomed", {"preconditions": {"uid": "another"}}).status
    assert 200 == manager.delete("/api/v1/nodes/doomed", {"preconditions": {"uid": uid}}).status


def test_leadership_works_with_the_shipped_rights(manager: Api) -> None:
    """The Lease of the manager can be made, read and renewed; those of other namespaces cannot be read."""
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": MANAGER}, "spec": {}}
    made = manager.create(LEASES, lease).ok()
    made["spec"]["holderIdentity"] = "me"

    assert "me" == manager.replace(f"{LEASES}/{MANAGER}", made).ok()["spec"]["holderIdentity"]
    assert 403 == manager.get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/another").status


def test_events_can_be_written(manager: Api) -> None:
    """An event about a Machine is accepted in the Machine's namespace, and counted when it comes back."""
    event = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "m1.1", "namespace": "default"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "node-remedy.dev/manager",
        "reportingInstance": "manager-0",
        "action": "Repair",
        "reason": "Tested",
        "type": "Normal",
        "regarding": {
            "apiVersion": "cluster.x-k8s.io/v1beta1",
            "kind": "Machine",
            "namespace": "default",
            "name": "m1",
        },
    }

    events = "/apis/events.k8s.io/v1/namespaces/default/events"
    assert 201 == manager.create(events, event).status
    assert "m1.1" == manager.get(f"{events}/m1.1").ok()["metadata"]["name"]
    series = {"count": 2, "lastObservedTime": "2026-01-01T00:20:00.000000Z"}
    assert 2 == manager.merge(f"{events}/m1.1", {"series": series}).ok()["series"]["count"]
    assert 403 == manager.get(events).status


def test_sabotage_a_right_too_many_is_seen(installed_plane: ControlPlane, manager: Api) -> None:
    """The exact comparison fails as soon as the role grants one verb more."""
    admin, path = installed_plane.api(), f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{MANAGER}"
    rules, target = admin.get(path).ok()["rules"], ("", "secrets", "default", "")
    more = [*rules, {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]
    admin.merge(path, {"rules": more}).ok()
    try:
        eventually(lambda: is_allowed(manager, *target, "get"), "the right too many is in force")
        with pytest.raises(AssertionError):
            test_the_manager_has_exactly_these_verbs(manager, target)
    finally:
        admin.merge(path, {"rules": rules}).ok()
