"""JSON patch: a list of operations, all or none."""

from __future__ import annotations

from typing import Any

from tests.conformance.client import JSON_PATCH, Client, Reply
from tests.conformance.objects import a_config, causes_of, make_widget


def _patch(api: Client, *operations: dict[str, Any], plural: str = "configmaps") -> Reply:
    return api.patch(api.at(plural, "one"), list(operations), JSON_PATCH)


def case_add_replace_remove(api: Client) -> None:
    """Operations are applied in order."""
    api.create("configmaps", a_config("one", {"a": "1", "b": "2"}))
    after = _patch(
        api,
        {"op": "add", "path": "/data/c", "value": "3"},
        {"op": "replace", "path": "/data/a", "value": "x"},
        {"op": "remove", "path": "/data/b"},
    ).ok()
    assert {"a": "x", "c": "3"} == after["data"]


def case_test_guards_the_rest(api: Client) -> None:
    """A test that holds lets the others through."""
    api.create("configmaps", a_config("one"))
    after = _patch(
        api,
        {"op": "test", "path": "/data/k", "value": "v"},
        {"op": "replace", "path": "/data/k", "value": "w"},
    ).ok()
    assert {"k": "w"} == after["data"]


def case_failed_test_changes_nothing(api: Client) -> None:
    """A test that fails refuses all operations, also those before it."""
    made = api.create("configmaps", a_config("one"))
    _patch(
        api,
        {"op": "add", "path": "/data/a", "value": "1"},
        {"op": "test", "path": "/data/k", "value": "other"},
    ).refused(422, "Invalid")
    assert made == api.read("configmaps", "one")


def case_removing_what_is_missing_is_refused(api: Client) -> None:
    """Removing a path that is not there is refused."""
    api.create("configmaps", a_config("one"))
    _patch(api, {"op": "remove", "path": "/data/none"}).refused(422, "Invalid")


def case_replacing_what_is_missing_adds_it(api: Client) -> None:
    """Replacing a missing member of an object adds it, whatever the standard says."""
    api.create("configmaps", a_config("one"))
    after = _patch(api, {"op": "replace", "path": "/data/none", "value": "1"}).ok()
    assert {"k": "v", "none": "1"} == after["data"]


def case_lists_by_index(api: Client) -> None:
    """List elements are inserted by index, appended by a dash, removed by index."""
    make_widget(api, "one", tags=["a", "c"])
    after = _patch(
        api,
        {"op": "add", "path": "/spec/tags/1", "value": "b"},
        {"op": "remove", "path": "/spec/tags/0"},
        {"op": "add", "path": "/spec/tags/-", "value": "d"},
        plural="widgets",
    ).ok()
    assert ["b", "c", "d"] == after["spec"]["tags"]


def case_index_beyond_the_end_is_refused(api: Client) -> None:
    """An index beyond the end is refused."""
    make_widget(api, "one", tags=["a"])
    _patch(api, {"op": "add", "path": "/spec/tags/5", "value": "b"}, plural="widgets").refused(422, "Invalid")


def case_move_and_copy(api: Client) -> None:
    """Values move and are copied between paths."""
    api.create("configmaps", a_config("one", {"a": "1", "b": "2"}))
    after = _patch(
        api,
        {"op": "move", "from": "/data/a", "path": "/data/c"},
        {"op": "copy", "from": "/data/b", "path": "/data/d"},
    ).ok()
    assert {"b": "2", "c": "1", "d": "2"} == after["data"]


def case_escaped_keys(api: Client) -> None:
    """A slash in a key is written ~1, a tilde ~0."""
    api.create("configmaps", a_config("one", annotations={"example.dev/x": "1"}))
    after = _patch(api, {"op": "replace", "path": "/metadata/annotations/example.dev~1x", "value": "2"}).ok()
    assert {"example.dev/x": "2"} == after["metadata"]["annotations"]


def case_version_test_is_a_guard(api: Client) -> None:
    """A test on the resourceVersion makes a patch conditional."""
    version = api.create("configmaps", a_config("one"))["metadata"]["resourceVersion"]
    guard = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
    change = {"op": "replace", "path": "/data/k", "value": "w"}
    _patch(api, guard, change).ok()
    _patch(api, guard, {**change, "value": "x"}).refused(422, "Invalid")
    assert {"k": "w"} == api.read("configmaps", "one")["data"]


def case_unknown_operation_is_refused(api: Client) -> None:
    """An operation that does not exist is refused."""
    api.create("configmaps", a_config("one"))
    reply = _patch(api, {"op": "invent", "path": "/data/k", "value": "w"})
    reply.refused(422, "Invalid")


def case_patch_must_be_a_list(api: Client) -> None:
    """A JSON patch that is not a list is a bad request."""
    api.create("configmaps", a_config("one"))
    api.patch(api.at("configmaps", "one"), {"op": "add"}, JSON_PATCH).refused(400, "BadRequest")


def case_result_must_be_readable(api: Client) -> None:
    """A patch whose result is no object of the kind is invalid as a patch."""
    made = api.create("configmaps", a_config("one"))
    status = _patch(api, {"op": "add", "path": "/metadata/labels", "value": ["a"]}).refused(422, "Invalid")
    assert [("FieldValueInvalid", "patch")] == causes_of(status)
    assert made == api.read("configmaps", "one")
    make_widget(api, "one")
    operation = {"op": "add", "path": "/metadata/finalizers", "value": [1]}
    status = _patch(api, operation, plural="widgets").refused(422, "Invalid")
    assert [("FieldValueInvalid", "patch")] == causes_of(status)


def case_name_cannot_be_removed(api: Client) -> None:
    """A patch that takes the name away is a bad request; a namespace that is taken away comes back."""
    made = make_widget(api, "one")
    _patch(api, {"op": "remove", "path": "/metadata/name"}, plural="widgets").refused(400, "BadRequest")
    after = _patch(api, {"op": "remove", "path": "/metadata/namespace"}, plural="widgets").ok()
    assert made == after


def case_kind_cannot_be_changed(api: Client) -> None:
    """A patch cannot turn an object into one of another kind or version."""
    made = api.create("configmaps", a_config("one"))
    _patch(api, {"op": "replace", "path": "/kind", "value": "Secret"}).refused(422, "Invalid")
    _patch(api, {"op": "replace", "path": "/apiVersion", "value": "v9"}).refused(422, "Invalid")
    assert made == api.read("configmaps", "one")
