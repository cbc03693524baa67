"""What the server says it serves."""

from __future__ import annotations

from tests.conformance.client import GROUP, Client, Json
from tests.conformance.objects import widgets


def _resources(api: Client, path: str) -> dict[str, Json]:
    listing = api.get(path).ok()
    assert "APIResourceList" == listing["kind"]
    return {resource["name"]: resource for resource in listing["resources"]}


def case_version_names_major_and_minor(api: Client) -> None:
    """The version is told in strings."""
    version = api.get("/version").ok()
    assert "1" == version["major"]
    assert version["gitVersion"].startswith(f"v1.{version['minor']}.")


def case_core_group_has_one_version(api: Client) -> None:
    """The core group serves v1 and nothing else."""
    versions = api.get("/api").ok()
    assert ("APIVersions", ["v1"]) == (versions["kind"], versions["versions"])


def case_groups_name_their_preferred_version(api: Client) -> None:
    """The list of groups gives every group with its versions and the preferred one."""
    listing = api.get("/apis").ok()
    assert ("APIGroupList", "v1") == (listing["kind"], listing["apiVersion"])
    groups = {group["name"]: group for group in listing["groups"]}
    for name in ("apps", "policy", "coordination.k8s.io", "apiextensions.k8s.io"):
        assert {"groupVersion": f"{name}/v1", "version": "v1"} == groups[name]["preferredVersion"]
        assert groups[name]["preferredVersion"] in groups[name]["versions"]


def case_one_group_describes_itself(api: Client) -> None:
    """A group's own path answers with that group."""
    group = api.get("/apis/apps").ok()
    assert ("APIGroup", "apps", "apps/v1") == (
        group["kind"],
        group["name"],
        group["preferredVersion"]["groupVersion"],
    )


def case_core_resources_tell_scope_and_verbs(api: Client) -> None:
    """Nodes are cluster-scoped with a short name; pods are namespaced."""
    resources = _resources(api, "/api/v1")
    node = resources["nodes"]
    assert ("Node", False, ["no"]) == (node["kind"], node["namespaced"], node["shortNames"])
    assert ("Pod", True) == (resources["pods"]["kind"], resources["pods"]["namespaced"])
    assert {"create", "delete", "get", "list", "patch", "update", "watch"} <= set(node["verbs"])


def case_subresources_are_listed(api: Client) -> None:
    """Status and eviction appear beside their resource; eviction names its own group."""
    resources = _resources(api, "/api/v1")
    assert {"get", "patch", "update"} == set(resources["nodes/status"]["verbs"])
    eviction = resources["pods/eviction"]
    assert ("Eviction", "policy", "v1", ["create"]) == (
        eviction["kind"],
        eviction["group"],
        eviction["version"],
        eviction["verbs"],
    )


def case_group_version_lists_its_resources(api: Client) -> None:
    """The path of a group version lists what that group serves."""
    assert "StatefulSet" == _resources(api, "/apis/apps/v1")["statefulsets"]["kind"]
    assert "Lease" == _resources(api, "/apis/coordination.k8s.io/v1")["leases"]["kind"]


def case_custom_kind_appears(api: Client) -> None:
    """A custom kind is discovered under its group once it is served."""
    widgets(api)
    api.eventually(lambda: api.get(f"/apis/{GROUP}/v1").status == 200)
    widget = _resources(api, f"/apis/{GROUP}/v1")["widgets"]
    assert ("Widget", "widget", True) == (widget["kind"], widget["singularName"], widget["namespaced"])
    assert GROUP in [group["name"] for group in api.get("/apis").ok()["groups"]]


def case_unknown_group_is_not_found(api: Client) -> None:
    """A group that nobody serves is 404, at every depth."""
    assert 404 == api.get("/apis/nobody.invalid").status
    assert 404 == api.get("/apis/nobody.invalid/v1").status
    assert 404 == api.get("/apis/nobody.invalid/v1/things").status


def case_health_is_plain_text(api: Client) -> None:
    """The health paths answer a bare ok."""
    for path in ("/healthz", "/livez", "/readyz"):
        reply = api.get(path)
        assert (200, "ok") == (reply.status, reply.text)
