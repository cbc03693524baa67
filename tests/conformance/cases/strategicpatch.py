"""Strategic merge patch: the lists of built-in kinds merge by their keys."""

from __future__ import annotations

from tests.conformance.client import STRATEGIC, Client
from tests.conformance.objects import a_config, a_node, make_pod, make_widget


def case_containers_merge_by_name(api: Client) -> None:
    """A container of the patch changes the container of the same name."""
    make_pod(api, "one")
    patch = {"spec": {"containers": [{"name": "main", "image": "example.invalid/other"}]}}
    after = api.patch(api.at("pods", "one"), patch, STRATEGIC).ok()
    assert [("main", "example.invalid/other")] == [(c["name"], c["image"]) for c in after["spec"]["containers"]]


def _conditioned(api: Client) -> str:
    name = api.name("node")
    api.create("nodes", a_node(name))
    conditions = [{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "False"}]
    api.patch(api.at("nodes", name, "status"), {"status": {"conditions": conditions}}, STRATEGIC).ok()
    return name


def case_conditions_merge_by_type(api: Client) -> None:
    """A condition of the patch changes the condition of the same type and leaves the others."""
    name = _conditioned(api)
    patch = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
    after = api.patch(api.at("nodes", name, "status"), patch, STRATEGIC).ok()
    statuses = {condition["type"]: condition["status"] for condition in after["status"]["conditions"]}
    assert {"Ready": "Unknown", "DiskPressure": "False"} == statuses


def case_new_condition_is_added(api: Client) -> None:
    """A condition of a new type joins the others."""
    name = _conditioned(api)
    patch = {"status": {"conditions": [{"type": "PIDPressure", "status": "False"}]}}
    after = api.patch(api.at("nodes", name, "status"), patch, STRATEGIC).ok()
    assert {"Ready", "DiskPressure", "PIDPressure"} == {c["type"] for c in after["status"]["conditions"]}


def case_delete_directive_removes_one_element(api: Client) -> None:
    """`$patch: delete` removes the element of that key."""
    name = _conditioned(api)
    patch = {"status": {"conditions": [{"type": "Ready", "$patch": "delete"}]}}
    after = api.patch(api.at("nodes", name, "status"), patch, STRATEGIC).ok()
    assert ["DiskPressure"] == [condition["type"] for condition in after["status"]["conditions"]]


def case_replace_directive_replaces_the_list(api: Client) -> None:
    """`$patch: replace` in a list replaces the whole list."""
    name = _conditioned(api)
    patch = {"status": {"conditions": [{"$patch": "replace"}, {"type": "Ready", "status": "False"}]}}
    after = api.patch(api.at("nodes", name, "status"), patch, STRATEGIC).ok()
    assert [("Ready", "False")] == [(c["type"], c["status"]) for c in after["status"]["conditions"]]


def case_taints_are_replaced(api: Client) -> None:
    """Taints have no merge key: the list of the patch replaces them."""
    name = api.name("node")
    api.create("nodes", a_node(name, taints=[{"key": "a", "effect": "NoSchedule"}]))
    taints = [{"key": "b", "effect": "NoExecute", "value": "x"}]
    after = api.patch(api.at("nodes", name), {"spec": {"taints": taints}}, STRATEGIC).ok()
    assert [("b", "x", "NoExecute")] == [(t["key"], t["value"], t["effect"]) for t in after["spec"]["taints"]]


def case_finalizers_are_united(api: Client) -> None:
    """Finalizers are a set: those of the patch join those that are there."""
    api.create("configmaps", a_config("one", finalizers=["example.dev/a"]))
    patch = {"metadata": {"finalizers": ["example.dev/b"]}}
    after = api.patch(api.at("configmaps", "one"), patch, STRATEGIC).ok()
    assert {"example.dev/a", "example.dev/b"} == set(after["metadata"]["finalizers"])
    api.patch(api.at("configmaps", "one"), {"metadata": {"finalizers": None}}).ok()


def case_set_elements_are_deleted_by_directive(api: Client) -> None:
    """`$deleteFromPrimitiveList` removes elements of a set."""
    api.create("configmaps", a_config("one", finalizers=["example.dev/a", "example.dev/b"]))
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.dev/a"]}}
    after = api.patch(api.at("configmaps", "one"), patch, STRATEGIC).ok()
    assert ["example.dev/b"] == after["metadata"]["finalizers"]
    api.patch(api.at("configmaps", "one"), {"metadata": {"finalizers": None}}).ok()


def case_null_removes_fields(api: Client) -> None:
    """A null removes a map entry, as in a merge patch."""
    api.create("configmaps", a_config("one", {"a": "1", "b": "2"}))
    after = api.patch(api.at("configmaps", "one"), {"data": {"a": None}}, STRATEGIC).ok()
    assert {"b": "2"} == after["data"]


def case_custom_kinds_refuse_it(api: Client) -> None:
    """Custom kinds have no strategic merge: the media type is refused."""
    make_widget(api, "one")
    status = api.patch(api.at("widgets", "one"), {"spec": {"size": 2}}, STRATEGIC)
    status.refused(415, "UnsupportedMediaType")
    assert 1 == api.read("widgets", "one")["spec"]["size"]


def case_cordon_is_one_field(api: Client) -> None:
    """spec.unschedulable is set and, by null, removed: what cordon and uncordon send."""
    name = api.name("node")
    api.create("nodes", a_node(name))
    path = api.at("nodes", name)
    assert api.patch(path, {"spec": {"unschedulable": True}}, STRATEGIC).ok()["spec"]["unschedulable"]
    after = api.patch(path, {"spec": {"unschedulable": None}}, STRATEGIC).ok()
    assert "unschedulable" not in after["spec"]
