"""Replacing objects, and refusing stale ones."""

from __future__ import annotations

from tests.conformance.client import Client
from tests.conformance.objects import a_config, a_lease, causes_of, make_pod, make_widget


def case_update_changes_the_version(api: Client) -> None:
    """A replaced object keeps its identity and gets a new resourceVersion."""
    made = api.create("configmaps", a_config("one"))
    after = api.put(api.at("configmaps", "one"), {**made, "data": {"k": "new"}}).ok()
    assert {"k": "new"} == after["data"]
    assert made["metadata"]["uid"] == after["metadata"]["uid"]
    assert made["metadata"]["creationTimestamp"] == after["metadata"]["creationTimestamp"]
    assert made["metadata"]["resourceVersion"] != after["metadata"]["resourceVersion"]
    assert after == api.read("configmaps", "one")


def case_stale_update_is_a_conflict(api: Client) -> None:
    """An update with an old resourceVersion is refused and changes nothing."""
    made = api.create("configmaps", a_config("one"))
    newer = api.put(api.at("configmaps", "one"), {**made, "data": {"k": "first"}}).ok()
    status = api.put(api.at("configmaps", "one"), {**made, "data": {"k": "second"}}).refused(409, "Conflict")
    assert (
        'Operation cannot be fulfilled on configmaps "one": the object has been modified; '
        "please apply your changes to the latest version and try again"
    ) == status["message"]
    assert {"name": "one", "kind": "configmaps"} == status["details"]
    assert newer == api.read("configmaps", "one")


def case_update_without_version_overwrites(api: Client) -> None:
    """A ConfigMap may be replaced without naming a resourceVersion."""
    api.create("configmaps", a_config("one"))
    assert {"k": "new"} == api.put(api.at("configmaps", "one"), a_config("one", {"k": "new"})).ok()["data"]


def case_lease_update_needs_a_version(api: Client) -> None:
    """A Lease cannot be replaced without naming its resourceVersion."""
    api.create("leases", a_lease("one"))
    status = api.put(api.at("leases", "one"), a_lease("one", labels={"a": "b"})).refused(422, "Invalid")
    assert [("FieldValueInvalid", "metadata.resourceVersion")] == causes_of(status)


def case_custom_update_needs_a_version(api: Client) -> None:
    """A custom object cannot be replaced without naming its resourceVersion."""
    made = make_widget(api, "one")
    del made["metadata"]["resourceVersion"]
    status = api.put(api.at("widgets", "one"), made).refused(422, "Invalid")
    assert [("FieldValueInvalid", "metadata.resourceVersion")] == causes_of(status)


def case_update_of_a_missing_object(api: Client) -> None:
    """Replacing what does not exist is 404 for most kinds."""
    api.put(api.at("configmaps", "none"), a_config("none")).refused(404, "NotFound")


def case_update_creates_a_lease(api: Client) -> None:
    """Replacing a Lease that does not exist creates it."""
    made = api.put(api.at("leases", "one"), a_lease("one")).ok(201)
    assert made == api.read("leases", "one")


def case_update_with_another_uid_is_a_conflict(api: Client) -> None:
    """A body that carries another uid is meant for another object."""
    made = api.create("configmaps", a_config("one"))
    other = "11111111-1111-1111-1111-111111111111"
    body = a_config("one", {"k": "new"}, uid=other)
    status = api.put(api.at("configmaps", "one"), body).refused(409, "Conflict")
    assert "Precondition failed: UID in precondition: " + other in status["message"]
    assert made == api.read("configmaps", "one")


def case_name_must_match_the_path(api: Client) -> None:
    """A body of another name than the path is a bad request."""
    api.create("configmaps", a_config("one"))
    api.put(api.at("configmaps", "one"), a_config("two")).refused(400, "BadRequest")


def case_unchanged_update_keeps_the_version(api: Client) -> None:
    """Writing what is already there changes nothing, not even the resourceVersion."""
    made = api.create("configmaps", a_config("one"))
    assert made == api.put(api.at("configmaps", "one"), made).ok()


def case_generation_counts_spec_changes(api: Client) -> None:
    """generation rises with the spec and not with labels."""
    made = make_widget(api, "one")
    made["metadata"]["labels"] = {"a": "b"}
    labelled = api.put(api.at("widgets", "one"), made).ok()
    assert 1 == labelled["metadata"]["generation"]
    labelled["spec"]["size"] = 2
    resized = api.put(api.at("widgets", "one"), labelled).ok()
    assert 2 == resized["metadata"]["generation"]


def case_creation_time_cannot_be_changed(api: Client) -> None:
    """Another creationTimestamp in the body is ignored or refused, never stored."""
    made = make_widget(api, "one")
    made["metadata"]["creationTimestamp"] = "2001-01-01T00:00:00Z"
    api.put(api.at("widgets", "one"), made)
    assert "2001-01-01T00:00:00Z" != api.read("widgets", "one")["metadata"]["creationTimestamp"]


def case_immutable_config_cannot_change(api: Client) -> None:
    """An immutable ConfigMap refuses new data and refuses to become mutable."""
    made = api.create("configmaps", {**a_config("one"), "immutable": True})
    api.put(api.at("configmaps", "one"), {**made, "data": {"k": "new"}}).refused(422, "Invalid")
    status = api.put(api.at("configmaps", "one"), {**made, "immutable": False}).refused(422, "Invalid")
    assert [("FieldValueForbidden", "immutable")] == causes_of(status)


def case_pod_cannot_move(api: Client) -> None:
    """The node of a bound pod cannot be changed."""
    pod = make_pod(api, "one", node="here")
    pod["spec"]["nodeName"] = "there"
    api.put(api.at("pods", "one"), pod).refused(422, "Invalid")
    assert "here" == api.read("pods", "one")["spec"]["nodeName"]


def case_binding_sets_the_node_once(api: Client) -> None:
    """A pod is bound by its binding subresource, and only once."""
    make_pod(api, "one")
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "one"},
        "target": {"kind": "Node", "name": "here"},
    }
    assert "Success" == api.post(api.at("pods", "one", "binding"), binding).ok(201)["status"]
    assert "here" == api.read("pods", "one")["spec"]["nodeName"]
    api.post(api.at("pods", "one", "binding"), binding).refused(409, "Conflict")


def case_creating_update_with_a_uid_is_a_conflict(api: Client) -> None:
    """A replacement that names a uid never creates."""
    body = a_lease("one", uid="11111111-1111-1111-1111-111111111111")
    api.put(api.at("leases", "one"), body).refused(409, "Conflict")
    assert api.gone(api.at("leases", "one"))
