"""Custom kinds: served as soon as they are defined, in all their versions, and gone with their definition."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sim.apiserver.support import DEFINITION, WIDGET, a_config, a_definition, a_widget, ask, names, tree_of

from noderemedy.sim.apiserver import ApiError, ApiServer, Tree, WatchEvent
from noderemedy.wire.http import Request

PATH = "/apis/example.dev/v1/namespaces/default/widgets"


def two_versions() -> Tree:
    tree = a_definition()
    first = tree["spec"]["versions"][0]
    second = {**first, "name": "v2", "storage": False}
    return {**tree, "spec": {**tree["spec"], "versions": [first, second]}}


def test_a_definition_is_served_at_once(server: ApiServer) -> None:
    """The kind is unknown before, Established and served after, with its names completed."""
    assert 404 == ask(server, "GET", PATH).status
    made = server.create(a_definition())
    conditions = {one["type"]: one["status"] for one in made["status"]["conditions"]}
    assert {"NamesAccepted": "True", "Established": "True"} == conditions
    assert ("widget", "WidgetList") == (made["spec"]["names"]["singular"], made["spec"]["names"]["listKind"])
    assert (200, "WidgetList") == (ask(server, "GET", PATH).status, tree_of(ask(server, "GET", PATH))["kind"])


def test_all_versions_are_served_from_one_store(server: ApiServer) -> None:
    """An object created in one version is read, listed and patched in the other."""
    server.create(two_versions())
    server.create(a_widget("w", size=1))
    second = PATH.replace("/v1/", "/v2/")
    assert "example.dev/v2" == tree_of(ask(server, "GET", f"{second}/w"))["apiVersion"]
    assert ["example.dev/v2"] == [item["apiVersion"] for item in tree_of(ask(server, "GET", second))["items"]]
    kind = "application/merge-patch+json"
    page = ask(server, "PATCH", f"{second}/w", {"spec": {"size": 2}}, kind)
    assert ("example.dev/v2", 2) == (tree_of(page)["apiVersion"], tree_of(page)["spec"]["size"])
    assert ("example.dev/v1", 2) == (
        server.get(WIDGET, "w", "default")["apiVersion"],
        server.get(WIDGET, "w", "default")["spec"]["size"],
    )


def test_the_newest_stable_version_is_preferred(server: ApiServer) -> None:
    """Discovery prefers v2 over v1."""
    server.create(two_versions())
    group = tree_of(ask(server, "GET", "/apis/example.dev"))
    assert "v2" == group["preferredVersion"]["version"]


def test_objects_go_with_their_definition(widgets: ApiServer) -> None:
    """Deleting a definition deletes its objects first, waits for held ones, then stops serving the kind."""
    told: list[WatchEvent] = []
    widgets.subscribe(WIDGET, told.append)
    widgets.create(a_widget("free", size=1))
    widgets.create(a_widget("held", {"finalizers": ["x.dev/hold"]}, size=1))
    widgets.delete(DEFINITION, "widgets.example.dev")
    assert ["held"] == names(widgets.list(WIDGET))
    widgets.patch(WIDGET, "held", "default", {"metadata": {"finalizers": None}})
    assert widgets.find(DEFINITION, "widgets.example.dev") is None
    assert 404 == ask(widgets, "GET", PATH).status
    assert ["ADDED", "ADDED", "DELETED", "MODIFIED", "DELETED"] == [event.type for event in told]


def test_watches_end_with_their_kind(widgets: ApiServer) -> None:
    """When a kind is no longer served its watches are over, and whoever holds one is told."""
    told: list[WatchEvent] = []
    ended: list[str] = []
    subscription = widgets.watch(Request("GET", PATH, (("watch", "true"),)), told.append)
    subscription.on_end = lambda: ended.append("over")
    widgets.create(a_widget("w", size=1))
    widgets.delete(DEFINITION, "widgets.example.dev")
    widgets.create(a_definition())
    widgets.create(a_widget("w", size=1))
    assert (["ADDED", "DELETED"], ["over"], False) == ([event.type for event in told], ended, subscription.is_open)


def test_a_definition_can_change(widgets: ApiServer) -> None:
    """A changed schema holds for the next write."""
    tree = widgets.get(DEFINITION, "widgets.example.dev")
    spec = {"type": "object", "properties": {"color": {"type": "string"}}}
    version = a_definition(spec)["spec"]["versions"]
    widgets.update({**tree, "spec": {**tree["spec"], "versions": version}})
    assert {"color": "red"} == widgets.create(a_widget("w", size=1, color="red"))["spec"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda spec: {**spec, "group": "other.dev"}, "metadata.name"),
        (lambda spec: {**spec, "scope": "Everywhere"}, "spec.scope"),
        (lambda spec: {**spec, "versions": []}, "spec.versions"),
        (
            lambda spec: {**spec, "versions": [{**spec["versions"][0], "schema": None}]},
            "spec.versions[0].schema.openAPIV3Schema",
        ),
        (
            lambda spec: a_definition({"properties": {}})["spec"],
            "spec.versions[0].schema.openAPIV3Schema.properties[spec].type",
        ),
    ],
)
def test_a_bad_definition_is_refused(server: ApiServer, change: Any, field: str) -> None:
    """A definition with this fault is invalid, and the kind is not served."""
    tree = a_definition()
    with pytest.raises(ApiError) as refusal:
        server.create({**tree, "spec": change(tree["spec"])})
    assert field in [cause["field"] for cause in refusal.value.details["causes"]]
    assert 404 == ask(server, "GET", PATH).status


def test_strategic_merge_is_for_built_in_kinds(widgets: ApiServer) -> None:
    """A strategic merge patch of a custom object is 415."""
    widgets.create(a_widget("w", size=1))
    page = ask(widgets, "PATCH", f"{PATH}/w", {}, "application/strategic-merge-patch+json")
    assert (415, "UnsupportedMediaType") == (page.status, tree_of(page)["reason"])


def test_definitions_do_not_disturb_others(widgets: ApiServer) -> None:
    """Built-in kinds are served as before."""
    widgets.create(a_config("one"))
    assert 200 == ask(widgets, "GET", "/api/v1/namespaces/default/configmaps/one").status
