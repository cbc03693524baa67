"""Custom kinds: structural schemas, validation, pruning and defaults."""

from __future__ import annotations

from typing import Any

from tests.conformance.client import GROUP, Client, Json
from tests.conformance.objects import WIDGET_SPEC, a_definition, a_widget, causes_of, install, make_widget, widgets


def _refused(api: Client, **spec: Any) -> list[tuple[str, str]]:
    """The causes for which a widget is refused; nothing may be stored."""
    widgets(api)
    status = api.post(api.at("widgets"), a_widget("one", **spec)).refused(422, "Invalid")
    assert api.gone(api.at("widgets", "one"))
    return causes_of(status)


def case_required_field(api: Client) -> None:
    """A missing required field is refused with its path."""
    widgets(api)
    status = api.post(api.at("widgets"), {**a_widget("one"), "spec": {}}).refused(422, "Invalid")
    assert [("FieldValueRequired", "spec.size")] == causes_of(status)


def case_wrong_type(api: Client) -> None:
    """A value of another type is refused with its path."""
    assert ("FieldValueTypeInvalid", "spec.size") in _refused(api, size="big")


def case_enum(api: Client) -> None:
    """A value outside the enumeration is refused."""
    assert [("FieldValueNotSupported", "spec.color")] == _refused(api, color="mauve")


def case_bounds(api: Client) -> None:
    """Numbers outside their bounds are refused, both ways."""
    assert [("FieldValueInvalid", "spec.size")] == _refused(api, size=0)
    assert [("FieldValueInvalid", "spec.size")] == _refused(api, size=101)


def case_pattern(api: Client) -> None:
    """A string that does not match its pattern is refused."""
    assert [("FieldValueInvalid", "spec.code")] == _refused(api, code="ABC")


def case_length(api: Client) -> None:
    """A string that is too long is refused."""
    assert [("FieldValueTooLong", "spec.code")] == _refused(api, code="abcdefghij")


def case_too_many_items(api: Client) -> None:
    """A list that is too long is refused."""
    assert [("FieldValueTooMany", "spec.tags")] == _refused(api, tags=["a", "b", "c", "d"])


def case_item_type(api: Client) -> None:
    """The path of a wrong list item has its index."""
    assert ("FieldValueTypeInvalid", "spec.tags[1]") in _refused(api, tags=["a", 2])


def case_duplicate_keys(api: Client) -> None:
    """Two elements of a keyed list with the same key are refused."""
    assert [("FieldValueDuplicate", "spec.parts[1]")] == _refused(api, parts=[{"name": "a"}, {"name": "a"}])


def case_duplicate_elements(api: Client) -> None:
    """A set with the same element twice is refused."""
    assert [("FieldValueDuplicate", "spec.unique[1]")] == _refused(api, unique=["a", "a"])


def case_map_values(api: Client) -> None:
    """The values of a free map are typed."""
    assert [("FieldValueTypeInvalid", "spec.limits.a")] == _refused(api, limits={"a": "many"})
    assert {"a": 1} == make_widget(api, "two", limits={"a": 1})["spec"]["limits"]


def case_int_or_string(api: Client) -> None:
    """A field may be a number or a string, and nothing else."""
    assert 3 == make_widget(api, "number", share=3)["spec"]["share"]
    assert "30%" == make_widget(api, "text", share="30%")["spec"]["share"]
    status = api.post(api.at("widgets"), a_widget("one", share=True)).refused(422, "Invalid")
    assert ("FieldValueTypeInvalid", "spec.share") in causes_of(status)


def case_date_format(api: Client) -> None:
    """A date-time that is none is refused."""
    assert [("FieldValueTypeInvalid", "spec.when")] == _refused(api, when="yesterday")
    assert "2026-01-02T03:04:05Z" == make_widget(api, "two", when="2026-01-02T03:04:05Z")["spec"]["when"]


def case_null_where_allowed(api: Client) -> None:
    """A nullable field keeps its null; another field's null is dropped or defaulted."""
    made = make_widget(api, "one", note=None, color=None)
    assert made["spec"]["note"] is None
    assert "red" == made["spec"]["color"]


def case_unknown_fields_are_pruned(api: Client) -> None:
    """Fields that the schema does not name are dropped."""
    made = make_widget(api, "one", surprise=1, nested={"mode": "x", "surprise": 2})
    assert "surprise" not in made["spec"]
    assert {"mode": "x"} == made["spec"]["nested"]


def case_preserved_fields_stay(api: Client) -> None:
    """Below x-kubernetes-preserve-unknown-fields nothing is dropped."""
    made = make_widget(api, "one", free={"anything": {"goes": [1, "a"]}})
    assert {"anything": {"goes": [1, "a"]}} == made["spec"]["free"]


def case_strict_validation_names_unknown_fields(api: Client) -> None:
    """With fieldValidation=Strict an unknown field of a custom object is a bad request."""
    widgets(api)
    reply = api.post(api.at("widgets"), a_widget("one", surprise=1), fieldValidation="Strict")
    assert 'unknown field "spec.surprise"' in reply.refused(400, "BadRequest")["message"]


def case_defaults_are_filled_in(api: Client) -> None:
    """A missing field takes its default, also in list elements."""
    made = make_widget(api, "one", parts=[{"name": "a"}])
    assert "red" == made["spec"]["color"]
    assert [{"name": "a", "shape": "round"}] == made["spec"]["parts"]


def case_defaults_need_their_parent(api: Client) -> None:
    """A default below an absent object is not filled in; below an empty one it is."""
    assert "nested" not in make_widget(api, "one")["spec"]
    assert {"mode": "auto"} == make_widget(api, "two", nested={})["spec"]["nested"]


def case_removed_field_gets_its_default_back(api: Client) -> None:
    """Removing a field with a default brings the default."""
    make_widget(api, "one", color="blue")
    assert "red" == api.patch(api.at("widgets", "one"), {"spec": {"color": None}}).ok()["spec"]["color"]


def case_many_faults_are_all_named(api: Client) -> None:
    """All faults of an object are reported at once."""
    fields = {field for _, field in _refused(api, size=0, color="mauve", code="ABC")}
    assert {"spec.size", "spec.color", "spec.code"} == fields


def _plain(api: Client) -> Json:
    number = api.site.numbers()
    group = f"g{api.site.run}-{number}.node-remedy.dev"
    return a_definition("plains", "Plain", scope="Cluster", spec={"type": "object"}, group=group)


def case_definition_becomes_established(api: Client) -> None:
    """A new definition is accepted and established, and its kind served."""
    definition = _plain(api)
    install(api, definition)
    path = api.at("customresourcedefinitions", definition["metadata"]["name"])
    api.later(path)
    conditions = {c["type"]: c["status"] for c in api.get(path).ok()["status"]["conditions"]}
    assert ("True", "True") == (conditions["Established"], conditions["NamesAccepted"])


def case_definition_goes_with_its_objects(api: Client) -> None:
    """Deleting a definition deletes its objects, and its path is gone."""
    definition = _plain(api)
    install(api, definition)
    group = definition["spec"]["group"]
    body = {"apiVersion": f"{group}/v1", "kind": "Plain", "metadata": {"name": "one"}}
    api.post(f"/apis/{group}/v1/plains", body).ok(201)
    path = api.at("customresourcedefinitions", definition["metadata"]["name"])
    api.delete(path).ok()
    api.eventually(lambda: api.gone(path))
    api.eventually(lambda: api.gone(f"/apis/{group}/v1/plains"))


def case_definition_needs_a_schema(api: Client) -> None:
    """A version without a schema is refused."""
    definition = _plain(api)
    del definition["spec"]["versions"][0]["schema"]
    api.post(api.at("customresourcedefinitions"), definition).refused(422, "Invalid")


def case_definition_name_is_plural_and_group(api: Client) -> None:
    """A definition must be named after its plural and group."""
    definition = _plain(api)
    definition["metadata"]["name"] = f"others.{definition['spec']['group']}"
    status = api.post(api.at("customresourcedefinitions"), definition).refused(422, "Invalid")
    assert ("FieldValueInvalid", "metadata.name") in causes_of(status)


def case_rules_are_checked(api: Client) -> None:
    """A validation rule of the schema refuses what breaks it."""
    definition = _plain(api)
    rule = {"rule": "self.low <= self.high", "message": "low must not exceed high"}
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = {
        "type": "object",
        "properties": {"low": {"type": "integer"}, "high": {"type": "integer"}},
        "required": ["low", "high"],
        "x-kubernetes-validations": [rule],
    }
    install(api, definition)
    api.later(api.at("customresourcedefinitions", definition["metadata"]["name"]))
    group = definition["spec"]["group"]
    body = {"apiVersion": f"{group}/v1", "kind": "Plain", "metadata": {"name": "one"}, "spec": {"low": 2, "high": 1}}
    status = api.post(f"/apis/{group}/v1/plains", body).refused(422, "Invalid")
    assert [("FieldValueInvalid", "spec")] == causes_of(status)
    assert "low must not exceed high" in status["message"]


def case_definition_is_read_back(api: Client) -> None:
    """The schema of a definition can be read as it was written."""
    widgets(api)
    stored = api.get(api.at("customresourcedefinitions", f"widgets.{GROUP}")).ok()
    schema = stored["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert WIDGET_SPEC == schema["properties"]["spec"]


def case_null_where_not_allowed_is_absent(api: Client) -> None:
    """A null for a field that is not nullable counts as absent."""
    assert [("FieldValueRequired", "spec.size")] == _refused(api, size=None)
    assert "nested" not in make_widget(api, "two", nested=None)["spec"]
