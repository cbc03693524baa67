"""Server-side apply and the record of who owns what."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.sim.apiserver.support import CONFIG, NODE, POD, a_config, a_node, a_pod, a_server

from noderemedy.sim.apiserver import ApiServer, Tree
from noderemedy.sim.apiserver.fieldset import difference, intersection, union


def owned(tree: Tree, manager: str, operation: str = "Apply") -> Any:
    entries = tree["metadata"].get("managedFields", [])
    found = [one["fieldsV1"] for one in entries if (one["manager"], one["operation"]) == (manager, operation)]
    return found[0] if found else None


def test_an_update_takes_fields_over(server: ApiServer) -> None:
    """A patch owns what it changed, and the former owner owns it no more."""
    body = a_config("one", {"a": "1", "b": "1"})
    server.patch(CONFIG, "one", "default", body, "apply", manager="first")
    after = server.patch(CONFIG, "one", "default", {"data": {"a": "2"}}, manager="editor")
    assert {"f:data": {"f:b": {}}} == owned(after, "first")
    assert {"f:data": {"f:a": {}}} == owned(after, "editor", "Update")


def test_removed_fields_belong_to_nobody(server: ApiServer) -> None:
    """A field that is removed leaves every record, and an empty record goes."""
    server.patch(CONFIG, "one", "default", a_config("one", {"a": "1"}), "apply", manager="first")
    after = server.patch(CONFIG, "one", "default", {"data": None}, manager="editor")
    assert "managedFields" not in after["metadata"]


def test_an_unchanged_apply_writes_nothing(server: ApiServer) -> None:
    """Applying the same again gives the very same object."""
    body = a_config("one", {"a": "1"}, labels={"x": "y"})
    first = server.patch(CONFIG, "one", "default", body, "apply", manager="m")
    assert server.patch(CONFIG, "one", "default", body, "apply", manager="m") is first


def test_list_elements_of_built_in_kinds_are_owned_by_key(server: ApiServer) -> None:
    """Two managers own two containers of a pod template's list by their names, and taints as a whole."""
    pod = a_pod("p")
    server.patch(POD, "p", "default", pod, "apply", manager="first")
    fields = owned(server.get(POD, "p", "default"), "first")
    assert 'k:{"name":"main"}' in fields["f:spec"]["f:containers"]
    node = a_node("n", taints=[{"key": "a", "effect": "NoExecute"}])
    assert {"f:spec": {"f:taints": {}}} == owned(server.patch(NODE, "n", "", node, "apply", manager="m"), "m")


def test_what_admission_adds_belongs_to_nobody(server: ApiServer) -> None:
    """A taint that the server itself adds survives an apply that does not name it."""
    server.patch(NODE, "n", "", a_node("n", podCIDR="10.0.0.0/24"), "apply", manager="m")
    after = server.patch(NODE, "n", "", a_node("n"), "apply", manager="m")
    assert ["node.kubernetes.io/not-ready"] == [taint["key"] for taint in after["spec"]["taints"]]
    assert "podCIDR" not in after["spec"]


def test_conditions_are_applied_through_status(server: ApiServer) -> None:
    """Two reporters own their own condition of a node's status."""
    server.create(a_node("n"))
    for name in ("One", "Two"):
        body = {**a_node("n"), "status": {"conditions": [{"type": name, "status": "True"}]}}
        server.patch(NODE, "n", "", body, "apply", "status", manager=name)
    gone = {**a_node("n"), "status": {}}
    after = server.patch(NODE, "n", "", gone, "apply", "status", manager="One")
    assert ["Two"] == [one["type"] for one in after["status"]["conditions"]]


sets: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.just({}), lambda inner: st.dictionaries(st.sampled_from(["f:a", "f:b", "."]), inner, min_size=1), max_leaves=6
)


def members(node: dict[str, Any], path: str = "") -> set[str]:
    """The members of a set, written out: the meaning that the operations must respect."""
    if not node:
        return {path}
    return {one for key, child in node.items() for one in ({path} if key == "." else members(child, path + key))}


@given(sets, sets)
def test_set_operations_mean_what_they_say(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Union, difference and intersection of field sets are those of their members."""
    left, right = members(first), members(second)
    assert left | right == members(union(first, second))
    less, both = difference(first, second), intersection(first, second)
    assert left - right == (set() if less is None else members(less))
    assert left & right == (set() if both is None else members(both))


def test_nothing_is_recorded_when_told_so() -> None:
    """A simulator that needs no owners can do without: writes are then not recorded."""
    server = a_server()
    server.writes.tracks_updates = False
    assert "managedFields" not in server.create(a_config("one", {"a": "1"}))["metadata"]
