"""JSON merge patch: objects merge, null removes, lists are replaced."""

from __future__ import annotations

from tests.conformance.client import Client
from tests.conformance.objects import a_config, a_lease, a_node, causes_of, make_widget


def case_fields_are_merged(api: Client) -> None:
    """A patch adds and replaces the fields that it names and leaves the others."""
    api.create("configmaps", a_config("one", {"a": "1", "b": "2"}))
    after = api.patch(api.at("configmaps", "one"), {"data": {"b": "x", "c": "3"}}).ok()
    assert {"a": "1", "b": "x", "c": "3"} == after["data"]


def case_null_removes(api: Client) -> None:
    """A null removes the field; removing what is not there is no error."""
    api.create("configmaps", a_config("one", {"a": "1", "b": "2"}))
    after = api.patch(api.at("configmaps", "one"), {"data": {"a": None, "z": None}}).ok()
    assert {"b": "2"} == after["data"]


def case_lists_are_replaced(api: Client) -> None:
    """A list in the patch replaces the whole list, even of a kind with list keys."""
    make_widget(api, "one", parts=[{"name": "a"}, {"name": "b"}])
    after = api.patch(api.at("widgets", "one"), {"spec": {"parts": [{"name": "c"}]}}).ok()
    assert [{"name": "c", "shape": "round"}] == after["spec"]["parts"]


def case_nested_objects_are_merged(api: Client) -> None:
    """Merging goes down into nested objects."""
    make_widget(api, "one", nested={"mode": "manual", "level": 1})
    after = api.patch(api.at("widgets", "one"), {"spec": {"nested": {"level": 2}}}).ok()
    assert {"mode": "manual", "level": 2} == after["spec"]["nested"]


def case_annotation_values_come_and_go(api: Client) -> None:
    """An annotation is set and removed by patches, with slashes in its key."""
    name = api.name("node")
    api.create("nodes", a_node(name))
    path = api.at("nodes", name)
    after = api.patch(path, {"metadata": {"annotations": {"example.dev/x": "1"}}}).ok()
    assert "1" == after["metadata"]["annotations"]["example.dev/x"]
    last = api.patch(path, {"metadata": {"annotations": {"example.dev/x": None}}}).ok()
    assert "example.dev/x" not in last["metadata"].get("annotations", {})


def case_taints_are_replaced(api: Client) -> None:
    """The taints of a node are one list to a merge patch."""
    name = api.name("node")
    api.create("nodes", a_node(name, taints=[{"key": "a", "effect": "NoSchedule"}]))
    taints = [{"key": "b", "effect": "NoSchedule"}]
    assert taints == api.patch(api.at("nodes", name), {"spec": {"taints": taints}}).ok()["spec"]["taints"]


def case_stale_patch_is_a_conflict(api: Client) -> None:
    """A patch that carries an old resourceVersion is refused and changes nothing."""
    made = api.create("configmaps", a_config("one"))
    newer = api.patch(api.at("configmaps", "one"), {"data": {"k": "new"}}).ok()
    version = made["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": version}, "data": {"k": "newest"}}
    api.patch(api.at("configmaps", "one"), patch).refused(409, "Conflict")
    assert newer == api.read("configmaps", "one")


def case_current_version_is_accepted(api: Client) -> None:
    """A patch that carries the current resourceVersion is applied."""
    version = api.create("configmaps", a_config("one"))["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": version}, "data": {"k": "new"}}
    assert {"k": "new"} == api.patch(api.at("configmaps", "one"), patch).ok()["data"]


def case_another_uid_is_refused(api: Client) -> None:
    """A patch that carries another uid is invalid (not a conflict) and changes nothing."""
    made = api.create("configmaps", a_config("one"))
    patch = {"metadata": {"uid": "11111111-1111-1111-1111-111111111111"}, "data": {"k": "new"}}
    status = api.patch(api.at("configmaps", "one"), patch).refused(422, "Invalid")
    assert {("FieldValueInvalid", "metadata.uid")} == set(causes_of(status))
    assert made == api.read("configmaps", "one")


def case_missing_object_cannot_be_patched(api: Client) -> None:
    """A patch does not create."""
    api.patch(api.at("configmaps", "none"), {"data": {"k": "v"}}).refused(404, "NotFound")


def case_unchanging_patch_keeps_the_version(api: Client) -> None:
    """A patch that changes nothing writes nothing."""
    made = api.create("configmaps", a_config("one"))
    assert made == api.patch(api.at("configmaps", "one"), {"data": {"k": "v"}}).ok()


def case_name_cannot_be_patched(api: Client) -> None:
    """A patch cannot rename."""
    api.create("configmaps", a_config("one"))
    api.patch(api.at("configmaps", "one"), {"metadata": {"name": "two"}}).refused(400, "BadRequest")


def case_patch_must_be_json(api: Client) -> None:
    """A patch that cannot be read is a bad request."""
    api.create("configmaps", a_config("one"))
    api.patch(api.at("configmaps", "one"), b"{no json").refused(400, "BadRequest")


def case_result_is_validated(api: Client) -> None:
    """A patch whose result is invalid is refused and changes nothing."""
    made = make_widget(api, "one")
    api.patch(api.at("widgets", "one"), {"spec": {"size": 1000}}).refused(422, "Invalid")
    assert made == api.read("widgets", "one")


def case_wrong_types_are_refused(api: Client) -> None:
    """A patch that gives a built-in field another type is invalid as a patch."""
    made = api.create("leases", a_lease("one"))
    patch = {"spec": {"leaseDurationSeconds": "long"}}
    status = api.patch(api.at("leases", "one"), patch).refused(422, "Invalid")
    assert [("FieldValueInvalid", "patch")] == causes_of(status)
    assert made == api.read("leases", "one")
