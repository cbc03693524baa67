"""Watches: initial events, bookmarks, resuming, namespaces, forms."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sim.apiserver.support import CONFIG, NODE, POD, a_config, a_node, a_pod

from noderemedy.sim.apiserver import ApiError, ApiServer, WatchEvent
from noderemedy.wire.http import Request

PATH = "/api/v1/configmaps"
STREAMING = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}


def watch(server: ApiServer, path: str = PATH, accept: str = "", **query: str) -> list[WatchEvent]:
    """Everything that a watch is told, from now on too."""
    told: list[WatchEvent] = []
    server.watch(Request("GET", path, (("watch", "true"), *query.items())), told.append, accept=accept)
    return told


def types_and_names(told: list[WatchEvent]) -> list[tuple[str, Any]]:
    return [(event.type, event.tree["metadata"].get("name")) for event in told]


def test_streaming_list(server: ApiServer) -> None:
    """What exists, a bookmark that ends it, then changes; a bookmark later says how far the server is."""
    server.create(a_config("a"))
    told = watch(server, **STREAMING)
    end = told[1].tree["metadata"]
    assert ("true", str(server.resource_version)) == (
        end["annotations"]["k8s.io/initial-events-end"],
        end["resourceVersion"],
    )
    server.create(a_config("b"))
    server.create(a_node("elsewhere"))
    server.bookmark()
    assert [("ADDED", "a"), ("BOOKMARK", None), ("ADDED", "b"), ("BOOKMARK", None)] == types_and_names(told)
    assert str(server.resource_version) == told[3].tree["metadata"]["resourceVersion"]


def test_no_bookmark_without_asking(server: ApiServer) -> None:
    """A watch that did not ask for bookmarks gets none."""
    told = watch(server)
    server.bookmark()
    assert [] == told


@pytest.mark.parametrize("version", ["", "0"])
def test_without_a_version_the_present_comes_first(server: ApiServer, version: str) -> None:
    """Watching from nowhere starts with an ADDED for everything that exists."""
    server.create(a_config("a"))
    told = watch(server, **({"resourceVersion": version} if version else {}))
    assert [("ADDED", "a")] == types_and_names(told)


def test_resuming_replays_what_was_missed(server: ApiServer) -> None:
    """A watch from a version replays the changes after it, also deletions, with their own versions."""
    server.create(a_config("a"))
    then = str(server.resource_version)
    server.patch(CONFIG, "a", "default", {"data": {"k": "1"}})
    server.delete(CONFIG, "a", "default")
    told = watch(server, resourceVersion=then)
    assert [("MODIFIED", "a"), ("DELETED", "a")] == types_and_names(told)
    assert str(server.resource_version) == told[1].tree["metadata"]["resourceVersion"]
    assert {"k": "1"} == told[1].tree["data"]


def test_a_version_of_the_future_waits(server: ApiServer) -> None:
    """A watch from a version that is not reached yet is told only what comes after it."""
    told = watch(server, resourceVersion=str(server.resource_version + 1))
    server.create(a_config("a"))
    server.create(a_config("b"))
    assert [("ADDED", "b")] == types_and_names(told)


def test_one_namespace_one_name_one_field(server: ApiServer) -> None:
    """A watch sees its namespace, its name, or what its field selector lets through."""
    server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
    here = watch(server, "/api/v1/namespaces/default/configmaps")
    one = watch(server, "/api/v1/namespaces/default/configmaps/a")
    bound = watch(server, "/api/v1/pods", fieldSelector="spec.nodeName=n1")
    for namespace, name in (("default", "a"), ("default", "b"), ("other", "a")):
        server.create(a_config(name, namespace=namespace))
    server.create(a_pod("p"))
    server.bind("p", "default", "n1")
    assert [("ADDED", "a"), ("ADDED", "b")] == types_and_names(here)
    assert [("ADDED", "a")] == types_and_names(one)
    assert [("ADDED", "p")] == types_and_names(bound)


def test_a_closed_watch_hears_nothing(server: ApiServer) -> None:
    """Closing ends a watch at once, also from inside its own sink, any number of times."""
    told: list[WatchEvent] = []

    def once(event: WatchEvent) -> None:
        told.append(event)
        subscription.close()

    subscription = server.watch(Request("GET", PATH, (("watch", "true"),)), once)
    server.create(a_config("a"))
    server.create(a_config("b"))
    subscription.close()
    assert (1, False) == (len(told), subscription.is_open)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"sendInitialEvents": "true"}, 422),
        ({"resourceVersionMatch": "NotOlderThan"}, 422),
        ({"resourceVersion": "abc"}, 500),
        ({**STREAMING, "resourceVersion": "99999"}, 504),
        ({"labelSelector": "a in b"}, 400),
        ({"fieldSelector": "spec.x=1"}, 400),
    ],
)
def test_refusals(server: ApiServer, query: dict[str, str], code: int) -> None:
    """A watch that makes no sense is refused before it begins."""
    with pytest.raises(ApiError) as refusal:
        watch(server, **query)
    assert code == refusal.value.code


def test_gone_can_be_said_at_once(server: ApiServer) -> None:
    """For clients that must bear it, a forgotten version can be an HTTP 410 instead of an event."""
    server.create(a_config("a"))
    server.compact()
    server.watches.says_gone_at_once = True
    with pytest.raises(ApiError) as refusal:
        watch(server, resourceVersion="1")
    assert 410 == refusal.value.code


def test_tables_and_metadata(server: ApiServer) -> None:
    """A watch can be told tables, the first with its columns, or metadata alone."""
    tables = watch(server, "/api/v1/nodes", "application/json;as=Table;g=meta.k8s.io;v=v1")
    metas = watch(server, "/api/v1/nodes", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
    server.create(a_node("n1"))
    server.patch(NODE, "n1", body={"spec": {"unschedulable": True}})
    rows = [event.tree["rows"][0]["cells"][:2] for event in tables]
    assert [["n1", "Unknown"], ["n1", "Unknown,SchedulingDisabled"]] == rows
    assert [True, False] == [bool(event.tree["columnDefinitions"]) for event in tables]
    assert ["PartialObjectMetadata"] * 2 == [event.tree["kind"] for event in metas]


def test_subscribers_share_the_stored_tree(server: ApiServer) -> None:
    """A direct subscriber is handed the stored tree itself: fan-out copies nothing."""
    told: list[WatchEvent] = []
    server.subscribe(POD, told.append)
    assert server.create(a_pod("p")) is told[0].tree is server.get(POD, "p", "default")
