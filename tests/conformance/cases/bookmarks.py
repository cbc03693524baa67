"""Bookmarks, streaming lists, and versions that are too old."""

from __future__ import annotations

from tests.conformance.client import Client, Reply
from tests.conformance.objects import a_lease, causes_of, make_widget, names_of
from tests.conformance.stream import kind_and_name

END = "k8s.io/initial-events-end"


def case_initial_events_end_with_a_bookmark(api: Client) -> None:
    """A streaming list sends what exists, then a bookmark that says so, then changes."""
    api.create("leases", a_lease("a"))
    api.create("leases", a_lease("b"))
    stream = api.watch(
        api.at("leases"),
        sendInitialEvents="true",
        allowWatchBookmarks="true",
        resourceVersionMatch="NotOlderThan",
    )
    assert [("ADDED", "a"), ("ADDED", "b")] == [kind_and_name(event) for event in stream.take(2)]
    bookmark = stream.next()
    assert "BOOKMARK" == bookmark["type"]
    assert {END: "true"} == bookmark["object"]["metadata"]["annotations"]
    api.create("leases", a_lease("c"))
    assert ("ADDED", "c") == kind_and_name(stream.until(lambda event: event["type"] != "BOOKMARK"))


def case_bookmark_has_a_version_and_no_contents(api: Client) -> None:
    """A bookmark is an object of the kind with a resourceVersion and nothing else of interest."""
    make_widget(api, "one")
    stream = api.watch(
        api.at("widgets"),
        sendInitialEvents="true",
        allowWatchBookmarks="true",
        resourceVersionMatch="NotOlderThan",
    )
    bookmark = stream.until(lambda event: event["type"] == "BOOKMARK")["object"]
    assert "Widget" == bookmark["kind"]
    assert bookmark["metadata"]["resourceVersion"].isdigit()
    assert "name" not in bookmark["metadata"]


def case_a_watch_resumes_from_a_bookmark(api: Client) -> None:
    """The version of a bookmark is a place to continue from."""
    api.create("leases", a_lease("a"))
    first = api.watch(
        api.at("leases"),
        sendInitialEvents="true",
        allowWatchBookmarks="true",
        resourceVersionMatch="NotOlderThan",
    )
    version = first.until(lambda event: event["type"] == "BOOKMARK")["object"]["metadata"]["resourceVersion"]
    first.close()
    api.create("leases", a_lease("b"))
    stream = api.watch(api.at("leases"), resourceVersion=version)
    assert ("ADDED", "b") == kind_and_name(stream.next())


def case_bookmark_comes_before_the_end(api: Client) -> None:
    """A watch that asked for bookmarks learns before its end of what happened elsewhere."""
    version = api.get(api.at("leases")).ok()["metadata"]["resourceVersion"]
    stream = api.watch(api.at("leases"), resourceVersion=version, allowWatchBookmarks="true", timeoutSeconds="4")
    other = api.name("case-other")
    api.create("namespaces", {"metadata": {"name": other}})
    made = api.post(api.at("leases", namespace=other), a_lease("elsewhere")).ok(201)
    events = stream.rest()
    assert {"BOOKMARK"} == {event["type"] for event in events}
    last = events[-1]["object"]["metadata"]["resourceVersion"]
    assert int(last) >= int(made["metadata"]["resourceVersion"])


def case_no_bookmarks_unless_asked_for(api: Client) -> None:
    """A watch that did not ask for bookmarks gets none."""
    api.create("leases", a_lease("a"))
    stream = api.watch(api.at("leases"), timeoutSeconds="3")
    assert ["ADDED"] == [event["type"] for event in stream.rest()]


def case_streaming_list_needs_a_match(api: Client) -> None:
    """sendInitialEvents without resourceVersionMatch is invalid."""
    stream = api.watch(api.at("leases"), sendInitialEvents="true", allowWatchBookmarks="true")
    assert 422 == stream.status
    assert ("FieldValueForbidden", "resourceVersionMatch") in causes_of(stream.body())


def case_streaming_list_needs_a_watch(api: Client) -> None:
    """sendInitialEvents on a plain list is invalid."""
    reply = api.get(api.at("leases"), sendInitialEvents="true", resourceVersionMatch="NotOlderThan")
    assert ("FieldValueForbidden", "sendInitialEvents") in causes_of(reply.refused(422, "Invalid"))


def case_too_old_version_is_an_error_event(api: Client) -> None:
    """A watch from a version that is no longer kept is told so by one ERROR event with code 410."""
    make_widget(api, "one")
    api.site.forget()
    stream = api.watch(api.at("widgets"), resourceVersion="1")
    assert 200 == stream.status
    event = stream.next()
    assert "ERROR" == event["type"]
    status = event["object"]
    assert ("Status", "Failure", "Expired", 410) == (
        status["kind"],
        status["status"],
        status["reason"],
        status["code"],
    )
    assert "too old resource version" in status["message"]
    assert [] == stream.rest()


def case_nonsense_version_is_refused(api: Client) -> None:
    """A watch from a resourceVersion that is no number is refused."""
    stream = api.watch(api.at("leases"), resourceVersion="abc")
    assert 500 == stream.status
    assert 'resourceVersion: Invalid value: "abc"' in stream.body()["message"]


def case_list_of_a_forgotten_version(api: Client) -> None:
    """Listing exactly at a version that is no longer kept is 410."""
    made = api.create("leases", a_lease("one"))
    api.create("leases", a_lease("two"))
    api.site.forget()
    version = made["metadata"]["resourceVersion"]

    def past() -> Reply:
        return api.get(api.at("leases"), resourceVersion=version, resourceVersionMatch="Exact")

    api.eventually(lambda: past().status == 410)
    past().refused(410, "Expired")


def case_forgotten_page(api: Client) -> None:
    """A continue token whose snapshot is no longer kept is 410 and offers another one."""
    for name in ("a", "b", "c"):
        api.create("leases", a_lease(name))
    first = api.get(api.at("leases"), limit="1").ok()
    api.create("leases", a_lease("d"))
    api.site.forget()

    def second() -> Reply:
        return api.get(api.at("leases"), limit="1", **{"continue": first["metadata"]["continue"]})

    api.eventually(lambda: second().status == 410)
    status = second().refused(410, "Expired")
    rest = api.get(api.at("leases"), limit="5", **{"continue": status["metadata"]["continue"]}).ok()
    assert ["b", "c", "d"] == names_of(rest)
