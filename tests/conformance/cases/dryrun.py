"""Dry runs: everything is judged, nothing is written."""

from __future__ import annotations

from tests.conformance.client import STRATEGIC, Client
from tests.conformance.objects import a_config, a_widget, make_widget, widgets


def case_create(api: Client) -> None:
    """A dry creation answers the object that would have been made, and makes none."""
    made = api.post(api.at("configmaps"), a_config("one"), dryRun="All").ok(201)
    assert {"k": "v"} == made["data"]
    assert made["metadata"]["uid"]
    assert "resourceVersion" not in made["metadata"]
    assert api.gone(api.at("configmaps", "one"))


def case_create_is_validated(api: Client) -> None:
    """A dry creation is refused for what a real one would be refused for."""
    widgets(api)
    api.post(api.at("widgets"), a_widget("one", size=0), dryRun="All").refused(422, "Invalid")
    api.create("configmaps", a_config("one"))
    api.post(api.at("configmaps"), a_config("one"), dryRun="All").refused(409, "AlreadyExists")


def case_update(api: Client) -> None:
    """A dry update answers the changed object and leaves the stored one."""
    made = api.create("configmaps", a_config("one"))
    after = api.put(api.at("configmaps", "one"), {**made, "data": {"k": "new"}}, dryRun="All").ok()
    assert {"k": "new"} == after["data"]
    assert made == api.read("configmaps", "one")


def case_stale_update(api: Client) -> None:
    """A dry update is refused when it is stale."""
    made = api.create("configmaps", a_config("one"))
    api.patch(api.at("configmaps", "one"), {"data": {"k": "new"}}).ok()
    api.put(api.at("configmaps", "one"), {**made, "data": {"k": "x"}}, dryRun="All").refused(409, "Conflict")


def case_patches(api: Client) -> None:
    """Dry patches answer the result and leave the stored object."""
    made = api.create("configmaps", a_config("one"))
    patch = {"data": {"k": "new"}}
    assert patch["data"] == api.patch(api.at("configmaps", "one"), patch, dryRun="All").ok()["data"]
    assert patch["data"] == api.patch(api.at("configmaps", "one"), patch, STRATEGIC, dryRun="All").ok()["data"]
    assert made == api.read("configmaps", "one")


def case_apply(api: Client) -> None:
    """A dry apply of a new object makes none."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"a": "1"}}
    assert {"a": "1"} == api.apply(api.at("configmaps", "one"), body, "first", dryRun="All").ok(201)["data"]
    assert api.gone(api.at("configmaps", "one"))


def case_delete(api: Client) -> None:
    """A dry deletion answers success and leaves the object."""
    made = api.create("configmaps", a_config("one"))
    api.delete(api.at("configmaps", "one"), dryRun="All").ok()
    api.delete(api.at("configmaps", "one"), {"dryRun": ["All"]}).ok()
    assert made == api.read("configmaps", "one")


def case_status(api: Client) -> None:
    """A dry status patch answers the result and leaves the stored object."""
    made = make_widget(api, "one")
    patch = {"status": {"phase": "Up"}}
    after = api.patch(api.at("widgets", "one", "status"), patch, dryRun="All").ok()
    assert {"phase": "Up"} == after["status"]
    assert made == api.read("widgets", "one")


def case_unknown_value(api: Client) -> None:
    """A dryRun other than All is refused, and nothing is written."""
    api.post(api.at("configmaps"), a_config("one"), dryRun="Maybe").refused(422, "Invalid")
    assert api.gone(api.at("configmaps", "one"))
