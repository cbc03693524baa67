"""The status subresource: spec and status are written through different doors."""

from __future__ import annotations

from tests.conformance.client import JSON_PATCH, Client
from tests.conformance.objects import a_config, a_node, make_pod, make_widget


def case_status_update_leaves_the_spec(api: Client) -> None:
    """Replacing the status ignores what the body says of the spec."""
    made = make_widget(api, "one")
    made["spec"]["size"] = 50
    made["status"] = {"phase": "Up"}
    after = api.put(api.at("widgets", "one", "status"), made).ok()
    assert ({"phase": "Up"}, 1) == (after["status"], after["spec"]["size"])
    assert after == api.read("widgets", "one")


def case_main_update_leaves_the_status(api: Client) -> None:
    """Replacing the object ignores what the body says of the status."""
    make_widget(api, "one")
    made = api.patch(api.at("widgets", "one", "status"), {"status": {"phase": "Up"}}).ok()
    made["status"] = {"phase": "Down"}
    made["spec"]["size"] = 2
    after = api.put(api.at("widgets", "one"), made).ok()
    assert ({"phase": "Up"}, 2) == (after["status"], after["spec"]["size"])


def case_main_patch_leaves_the_status(api: Client) -> None:
    """A patch of the object cannot write its status."""
    made = make_widget(api, "one")
    assert made == api.patch(api.at("widgets", "one"), {"status": {"phase": "Up"}}).ok()


def case_status_keeps_the_generation(api: Client) -> None:
    """Writing the status changes the resourceVersion and not the generation."""
    made = make_widget(api, "one")
    after = api.patch(api.at("widgets", "one", "status"), {"status": {"phase": "Up"}}).ok()
    assert made["metadata"]["generation"] == after["metadata"]["generation"]
    assert made["metadata"]["resourceVersion"] != after["metadata"]["resourceVersion"]


def case_stale_status_is_a_conflict(api: Client) -> None:
    """A status update with an old resourceVersion is refused."""
    made = make_widget(api, "one")
    api.patch(api.at("widgets", "one", "status"), {"status": {"phase": "Up"}}).ok()
    made["status"] = {"phase": "Down"}
    api.put(api.at("widgets", "one", "status"), made).refused(409, "Conflict")
    assert {"phase": "Up"} == api.read("widgets", "one")["status"]


def case_status_can_be_read(api: Client) -> None:
    """Reading the subresource gives the whole object."""
    make_widget(api, "one")
    assert api.read("widgets", "one") == api.get(api.at("widgets", "one", "status")).ok()


def case_status_of_a_custom_kind_ignores_metadata(api: Client) -> None:
    """A status patch of a custom kind cannot write labels."""
    make_widget(api, "one")
    patch = {"metadata": {"labels": {"a": "b"}}, "status": {"phase": "Up"}}
    after = api.patch(api.at("widgets", "one", "status"), patch).ok()
    assert "labels" not in after["metadata"]


def case_status_is_validated(api: Client) -> None:
    """A status that breaks the schema is refused."""
    make_widget(api, "one")
    api.patch(api.at("widgets", "one", "status"), {"status": {"seen": "many"}}).refused(422, "Invalid")


def case_node_status_leaves_the_taints(api: Client) -> None:
    """A status patch of a node writes conditions and leaves its spec."""
    name = api.name("node")
    api.create("nodes", a_node(name))
    patch = {"spec": {"unschedulable": True}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    after = api.patch(api.at("nodes", name, "status"), patch).ok()
    assert [("Ready", "True")] == [(c["type"], c["status"]) for c in after["status"]["conditions"]]
    assert "unschedulable" not in after["spec"]


def case_pod_phase_is_written_by_status(api: Client) -> None:
    """A pod's phase changes by its status subresource only."""
    make_pod(api, "one")
    assert "Pending" == api.patch(api.at("pods", "one"), {"status": {"phase": "Running"}}).ok()["status"]["phase"]
    operations = [{"op": "replace", "path": "/status/phase", "value": "Running"}]
    after = api.patch(api.at("pods", "one", "status"), operations, JSON_PATCH).ok()
    assert "Running" == after["status"]["phase"]


def case_kinds_without_status_have_no_such_path(api: Client) -> None:
    """A kind without a status subresource answers 404 there."""
    api.create("configmaps", a_config("one"))
    assert 404 == api.get(api.at("configmaps", "one", "status")).status
