"""Server-side apply: who owns which field, and what happens when two want the same."""

from __future__ import annotations

from typing import Any

from tests.conformance.client import APPLY, Client, Json
from tests.conformance.objects import a_widget, causes_of, make_widget, widgets


def _config(data: Json | None = None, **metadata: Any) -> Json:
    body: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", **metadata}}
    if data is not None:
        body["data"] = data
    return body


def _owned(obj: Json, manager: str, operation: str = "Apply") -> Json:
    """The fields that a manager owns."""
    entries = [
        entry
        for entry in obj["metadata"]["managedFields"]
        if (entry["manager"], entry["operation"]) == (manager, operation)
    ]
    assert 1 == len(entries), entries
    fields = entries[0]["fieldsV1"]
    assert isinstance(fields, dict)
    return fields


def case_apply_creates(api: Client) -> None:
    """Applying what does not exist creates it, owned by the applier."""
    made = api.apply(api.at("configmaps", "one"), _config({"a": "1"}), "first").ok(201)
    assert {"a": "1"} == made["data"]
    assert {"f:data": {"f:a": {}}} == _owned(made, "first")


def case_apply_updates(api: Client) -> None:
    """Applying again changes the fields that are named."""
    path = api.at("configmaps", "one")
    api.apply(path, _config({"a": "1"}), "first").ok(201)
    assert {"a": "2"} == api.apply(path, _config({"a": "2"}), "first").ok()["data"]


def case_unchanged_apply_writes_nothing(api: Client) -> None:
    """Applying the same again keeps the resourceVersion."""
    path = api.at("configmaps", "one")
    made = api.apply(path, _config({"a": "1"}), "first").ok(201)
    assert made == api.apply(path, _config({"a": "1"}), "first").ok()


def case_fields_no_longer_applied_are_removed(api: Client) -> None:
    """A field that its only owner stops applying disappears."""
    path = api.at("configmaps", "one")
    api.apply(path, _config({"a": "1", "b": "2"}), "first").ok(201)
    assert {"b": "2"} == api.apply(path, _config({"b": "2"}), "first").ok()["data"]


def case_fields_of_others_stay(api: Client) -> None:
    """Each manager removes only what it owns."""
    path = api.at("configmaps", "one")
    api.apply(path, _config({"a": "1"}), "first").ok(201)
    api.apply(path, _config({"b": "2"}), "second").ok()
    assert {"b": "2"} == api.apply(path, _config(), "first").ok()["data"]


def case_conflict_names_the_owner(api: Client) -> None:
    """Applying another value to a field of somebody else is a conflict that names the field and its owner."""
    path = api.at("configmaps", "one")
    before = api.apply(path, _config({"a": "1"}), "first").ok(201)
    status = api.apply(path, _config({"a": "2"}), "second").refused(409, "Conflict")
    assert [("FieldManagerConflict", ".data.a")] == causes_of(status)
    assert 'conflict with "first"' == status["details"]["causes"][0]["message"]
    assert before == api.read("configmaps", "one")


def case_force_takes_the_field(api: Client) -> None:
    """With force the field changes hands."""
    path = api.at("configmaps", "one")
    api.apply(path, _config({"a": "1", "b": "1"}), "first").ok(201)
    after = api.apply(path, _config({"a": "2"}), "second", force="true").ok()
    assert {"a": "2", "b": "1"} == after["data"]
    assert {"f:data": {"f:a": {}}} == _owned(after, "second")
    assert {"f:data": {"f:b": {}}} == _owned(after, "first")


def case_same_value_is_shared(api: Client) -> None:
    """Two managers that apply the same value share the field; it stays until both let go."""
    path = api.at("configmaps", "one")
    api.apply(path, _config({"a": "1"}), "first").ok(201)
    api.apply(path, _config({"a": "1"}), "second").ok()
    assert {"a": "1"} == api.apply(path, _config(), "first").ok()["data"]
    assert "data" not in api.apply(path, _config(), "second").ok()


def case_update_takes_ownership(api: Client) -> None:
    """A patch that changes an applied field takes it; the next apply conflicts."""
    path = api.at("configmaps", "one")
    api.apply(path, _config({"a": "1"}), "first").ok(201)
    after = api.patch(path, {"data": {"a": "2"}}, fieldManager="editor").ok()
    assert {"f:data": {"f:a": {}}} == _owned(after, "editor", "Update")
    status = api.apply(path, _config({"a": "1"}), "first").refused(409, "Conflict")
    assert status["details"]["causes"][0]["message"].startswith('conflict with "editor"')


def case_manager_is_required(api: Client) -> None:
    """An apply without a field manager is refused."""
    status = api.patch(api.at("configmaps", "one"), _config({"a": "1"}), APPLY).refused(422, "Invalid")
    assert [("FieldValueRequired", "fieldManager")] == causes_of(status)


def case_force_is_for_apply_only(api: Client) -> None:
    """force on another kind of patch is refused."""
    api.apply(api.at("configmaps", "one"), _config({"a": "1"}), "first").ok(201)
    status = api.patch(api.at("configmaps", "one"), {"data": {"a": "2"}}, force="true").refused(422, "Invalid")
    assert [("FieldValueForbidden", "force")] == causes_of(status)


def case_kind_is_required(api: Client) -> None:
    """An applied document must say its apiVersion and kind."""
    body = {"metadata": {"name": "one"}, "data": {"a": "1"}}
    assert 400 == api.apply(api.at("configmaps", "one"), body, "first").status


def case_stale_apply_is_a_conflict(api: Client) -> None:
    """An applied document that carries an old resourceVersion is refused."""
    path = api.at("configmaps", "one")
    made = api.apply(path, _config({"a": "1"}), "first").ok(201)
    api.apply(path, _config({"a": "2"}), "first").ok()
    stale = _config({"a": "3"}, resourceVersion=made["metadata"]["resourceVersion"])
    api.apply(path, stale, "first").refused(409, "Conflict")


def case_list_elements_are_owned_by_key(api: Client) -> None:
    """Elements of a list with keys are owned one by one: two managers share the list."""
    widgets(api)
    path = api.at("widgets", "one")
    api.apply(path, a_widget("one", parts=[{"name": "a", "weight": 1}]), "first").ok(201)
    body = {**a_widget("one"), "spec": {"parts": [{"name": "b", "weight": 2}]}}
    both = api.apply(path, body, "second").ok()
    assert ["a", "b"] == [part["name"] for part in both["spec"]["parts"]]
    left = api.apply(path, a_widget("one"), "first").ok()
    assert ["b"] == [part["name"] for part in left["spec"]["parts"]]


def case_atomic_list_is_one_field(api: Client) -> None:
    """A list without keys belongs to one manager as a whole."""
    widgets(api)
    path = api.at("widgets", "one")
    made = api.apply(path, a_widget("one", tags=["a"]), "first").ok(201)
    assert {"f:spec": {"f:size": {}, "f:tags": {}}} == _owned(made, "first")
    body = {**a_widget("one"), "spec": {"tags": ["b"]}}
    status = api.apply(path, body, "second").refused(409, "Conflict")
    assert [("FieldManagerConflict", ".spec.tags")] == causes_of(status)


def case_annotations_are_owned_one_by_one(api: Client) -> None:
    """Two managers each own their annotation and remove only their own."""
    path = api.at("configmaps", "one")
    api.apply(path, _config(annotations={"example.dev/a": "1"}), "first").ok(201)
    api.apply(path, _config(annotations={"example.dev/b": "2"}), "second").ok()
    after = api.apply(path, _config(), "second").ok()
    assert {"example.dev/a": "1"} == after["metadata"]["annotations"]


def case_status_is_applied_on_its_own(api: Client) -> None:
    """Applying to the status subresource owns status fields, recorded with the subresource."""
    made = make_widget(api, "one")
    body = {"apiVersion": made["apiVersion"], "kind": "Widget", "metadata": {"name": "one"}, "status": {"phase": "Up"}}
    after = api.apply(api.at("widgets", "one", "status"), body, "reporter").ok()
    assert {"phase": "Up"} == after["status"]
    entry = next(e for e in after["metadata"]["managedFields"] if e["manager"] == "reporter")
    assert ("status", {"f:status": {"f:phase": {}}}) == (entry["subresource"], entry["fieldsV1"])


def case_fields_without_schema_are_refused(api: Client) -> None:
    """Applying a field that the schema does not have fails, unlike creating with one."""
    widgets(api)
    reply = api.apply(api.at("widgets", "one"), a_widget("one", surprise=1), "first")
    assert 500 == reply.status
    assert ".spec.surprise: field not declared in schema" in reply.json["message"]
    assert api.gone(api.at("widgets", "one"))


def case_uid_of_a_missing_object_is_a_conflict(api: Client) -> None:
    """Applying with a uid never creates."""
    body = _config({"a": "1"}, uid="11111111-1111-1111-1111-111111111111")
    status = api.apply(api.at("configmaps", "one"), body, "first").refused(409, "Conflict")
    assert "uid mismatch" in status["message"]
    assert api.gone(api.at("configmaps", "one"))


def case_version_of_a_missing_object_is_no_guard(api: Client) -> None:
    """Applying with a resourceVersion creates what is missing: only a uid guards against that."""
    api.apply(api.at("configmaps", "one"), _config({"a": "1"}, resourceVersion="1"), "first").ok(201)


def case_empty_list_is_applied(api: Client) -> None:
    """An applied empty list empties the list; it is not the same as saying nothing."""
    widgets(api)
    path = api.at("widgets", "one")
    api.apply(path, a_widget("one", tags=["a"]), "first").ok(201)
    body = {**a_widget("one"), "spec": {"tags": []}}
    api.apply(path, body, "second").refused(409, "Conflict")
    assert [] == api.apply(path, body, "second", force="true").ok()["spec"]["tags"]


def case_stale_status_apply_is_a_conflict(api: Client) -> None:
    """A resourceVersion guards an apply of the status too."""
    made = make_widget(api, "one")
    api.patch(api.at("widgets", "one"), {"spec": {"size": 2}}).ok()
    version = made["metadata"]["resourceVersion"]
    metadata = {"name": "one", "resourceVersion": version}
    body = {"apiVersion": made["apiVersion"], "kind": "Widget", "metadata": metadata, "status": {"phase": "Up"}}
    api.apply(api.at("widgets", "one", "status"), body, "reporter").refused(409, "Conflict")
    assert "status" not in api.read("widgets", "one")


def case_another_uid_is_refused(api: Client) -> None:
    """An applied document with another uid than the object's is invalid (not a conflict)."""
    path = api.at("configmaps", "one")
    before = api.apply(path, _config({"a": "1"}), "first").ok(201)
    other = _config({"a": "2"}, uid="11111111-1111-1111-1111-111111111111")
    status = api.apply(path, other, "first").refused(422, "Invalid")
    assert {("FieldValueInvalid", "metadata.uid")} == set(causes_of(status))
    assert before == api.read("configmaps", "one")


def case_selector_is_one_field(api: Client) -> None:
    """A label selector belongs to one manager as a whole."""
    path = api.at("poddisruptionbudgets", "one")

    def budget(labels: Json) -> Json:
        spec = {"minAvailable": 1, "selector": {"matchLabels": labels}}
        return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "one"}, "spec": spec}

    api.apply(path, budget({"a": "1"}), "first").ok(201)
    status = api.apply(path, budget({"b": "2"}), "second").refused(409, "Conflict")
    assert [("FieldManagerConflict", ".spec.selector")] == causes_of(status)
    after = api.apply(path, budget({"b": "2"}), "second", force="true").ok()
    assert {"matchLabels": {"b": "2"}} == after["spec"]["selector"]
