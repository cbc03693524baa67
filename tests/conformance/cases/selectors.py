"""Choosing objects by labels and by fields."""

from __future__ import annotations

from tests.conformance.client import Client
from tests.conformance.objects import a_config, a_lease, a_node, make_pod, make_widget, names_of

LABELS: dict[str, dict[str, str]] = {
    "a": {"tier": "front", "zone": "one"},
    "b": {"tier": "back", "zone": "one"},
    "c": {"tier": "back"},
    "d": {},
}


def _select(api: Client, selector: str) -> list[str]:
    for name, labels in LABELS.items():
        api.create("leases", a_lease(name, labels=labels))
    return names_of(api.get(api.at("leases"), labelSelector=selector).ok())


def case_equal(api: Client) -> None:
    """key=value and key==value choose what has that value."""
    assert ["b", "c"] == _select(api, "tier=back")
    assert ["a"] == names_of(api.get(api.at("leases"), labelSelector="tier==front").ok())


def case_not_equal(api: Client) -> None:
    """key!=value also chooses what lacks the key."""
    assert ["a", "d"] == _select(api, "tier!=back")


def case_in_and_notin(api: Client) -> None:
    """Sets choose by membership; notin also chooses what lacks the key."""
    assert ["a", "b", "c"] == _select(api, "tier in (front, back)")
    assert ["c", "d"] == names_of(api.get(api.at("leases"), labelSelector="zone notin (one)").ok())


def case_exists_and_absent(api: Client) -> None:
    """A bare key asks for presence, with an exclamation mark for absence."""
    assert ["a", "b"] == _select(api, "zone")
    assert ["c", "d"] == names_of(api.get(api.at("leases"), labelSelector="!zone").ok())


def case_all_requirements_hold(api: Client) -> None:
    """Requirements separated by commas must all hold."""
    assert ["b"] == _select(api, "tier=back,zone")


def case_greater_and_less(api: Client) -> None:
    """Labels can be compared as whole numbers."""
    for number in ("3", "20"):
        api.create("leases", a_lease(f"n{number}", labels={"number": number}))
    assert ["n20"] == names_of(api.get(api.at("leases"), labelSelector="number>5").ok())
    assert ["n3"] == names_of(api.get(api.at("leases"), labelSelector="number<5").ok())


def case_bad_label_selector_is_refused(api: Client) -> None:
    """A selector that cannot be read is a bad request."""
    api.get(api.at("leases"), labelSelector="tier in (").refused(400, "BadRequest")


def case_field_name(api: Client) -> None:
    """metadata.name chooses one object, of built-in and of custom kinds."""
    api.create("leases", a_lease("a"))
    api.create("leases", a_lease("b"))
    assert ["b"] == names_of(api.get(api.at("leases"), fieldSelector="metadata.name=b").ok())
    make_widget(api, "w1")
    make_widget(api, "w2")
    assert ["w2"] == names_of(api.get(api.at("widgets"), fieldSelector="metadata.name=w2").ok())


def case_field_namespace(api: Client) -> None:
    """metadata.namespace chooses within a list over all namespaces."""
    api.create("leases", a_lease("a"))
    listing = api.get(api.everywhere("leases"), fieldSelector=f"metadata.namespace={api.namespace}").ok()
    assert ["a"] == names_of(listing)


def case_pods_by_node(api: Client) -> None:
    """Pods are found by the node that they are bound to."""
    make_pod(api, "bound", node="somewhere")
    make_pod(api, "free")
    chosen = api.get(api.at("pods"), fieldSelector="spec.nodeName=somewhere").ok()
    assert ["bound"] == names_of(chosen)
    assert ["free"] == names_of(api.get(api.at("pods"), fieldSelector="spec.nodeName=").ok())


def case_pods_by_phase(api: Client) -> None:
    """Pods are found by phase, and by not being in one."""
    make_pod(api, "waiting")
    make_pod(api, "done")
    api.patch(api.at("pods", "done", "status"), {"status": {"phase": "Succeeded"}}).ok()
    assert ["done"] == names_of(api.get(api.at("pods"), fieldSelector="status.phase=Succeeded").ok())
    assert ["waiting"] == names_of(api.get(api.at("pods"), fieldSelector="status.phase!=Succeeded").ok())


def case_nodes_by_schedulability(api: Client) -> None:
    """Nodes are found by spec.unschedulable."""
    open_node, cordoned = api.name("node"), api.name("node")
    api.create("nodes", a_node(open_node))
    api.create("nodes", a_node(cordoned, unschedulable=True))
    names = names_of(api.get(api.at("nodes"), fieldSelector="spec.unschedulable=true").ok())
    assert cordoned in names
    assert open_node not in names


def case_unknown_field_is_refused(api: Client) -> None:
    """A field that the kind does not index is a bad request that names it."""
    status = api.get(api.at("configmaps"), fieldSelector="data.k=v").refused(400, "BadRequest")
    assert '"data.k" is not a known field selector' in status["message"]


def case_selectors_and_pages(api: Client) -> None:
    """A page counts what was chosen, and its rest follows the same selector."""
    for name in ("a", "b", "c", "d"):
        api.create("leases", a_lease(name, labels={"odd": "yes" if name in "ac" else "no"}))
    first = api.get(api.at("leases"), labelSelector="odd=yes", limit="1").ok()
    assert ["a"] == names_of(first)
    token = {"continue": first["metadata"]["continue"]}
    second = api.get(api.at("leases"), labelSelector="odd=yes", limit="1", **token).ok()
    assert ["c"] == names_of(second)


def case_labels_must_be_valid(api: Client) -> None:
    """A label value with a space is refused."""
    status = api.post(api.at("configmaps"), a_config("one", labels={"k": "a b"})).refused(422, "Invalid")
    assert "metadata.labels" == status["details"]["causes"][0]["field"]
    assert 404 == api.get(api.at("configmaps", "one")).status
