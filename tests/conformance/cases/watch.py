"""Watching: every change once, in order, from any recent point."""

from __future__ import annotations

import time

from tests.conformance.client import Client
from tests.conformance.objects import a_lease, make_widget
from tests.conformance.stream import kind_and_name


def _version(api: Client, plural: str = "leases") -> str:
    version = api.get(api.at(plural)).ok()["metadata"]["resourceVersion"]
    assert isinstance(version, str)
    return version


def case_changes_arrive_in_order(api: Client) -> None:
    """Creation, change and deletion arrive as ADDED, MODIFIED, DELETED."""
    stream = api.watch(api.at("leases"), resourceVersion=_version(api))
    api.create("leases", a_lease("one"))
    api.patch(api.at("leases", "one"), {"metadata": {"labels": {"a": "b"}}}).ok()
    api.delete(api.at("leases", "one")).ok()
    assert [("ADDED", "one"), ("MODIFIED", "one"), ("DELETED", "one")] == [
        kind_and_name(event) for event in stream.take(3)
    ]


def case_events_carry_whole_objects(api: Client) -> None:
    """An event carries the object as reading it gives it, with kind and apiVersion."""
    stream = api.watch(api.at("leases"), resourceVersion=_version(api))
    made = api.create("leases", a_lease("one"))
    assert {"type": "ADDED", "object": made} == stream.next()


def case_without_version_the_present_comes_first(api: Client) -> None:
    """A watch without a resourceVersion starts with what exists."""
    api.create("leases", a_lease("a"))
    api.create("leases", a_lease("b"))
    stream = api.watch(api.at("leases"))
    assert {("ADDED", "a"), ("ADDED", "b")} == {kind_and_name(event) for event in stream.take(2)}
    api.create("leases", a_lease("c"))
    assert ("ADDED", "c") == kind_and_name(stream.next())


def case_from_version_zero_the_present_comes_first(api: Client) -> None:
    """A watch from resourceVersion 0 also starts with what exists."""
    api.create("leases", a_lease("a"))
    _version(api)
    stream = api.watch(api.at("leases"), resourceVersion="0")
    assert ("ADDED", "a") == kind_and_name(stream.next())


def case_from_a_list_nothing_is_lost_or_repeated(api: Client) -> None:
    """What happened after the list arrives; what the list held does not."""
    api.create("leases", a_lease("a"))
    version = _version(api)
    api.create("leases", a_lease("b"))
    api.delete(api.at("leases", "a")).ok()
    stream = api.watch(api.at("leases"), resourceVersion=version)
    assert [("ADDED", "b"), ("DELETED", "a")] == [kind_and_name(event) for event in stream.take(2)]


def case_resume_after_an_event(api: Client) -> None:
    """A watch from the version of an event continues after that event."""
    first = api.create("leases", a_lease("a"))
    api.create("leases", a_lease("b"))
    stream = api.watch(api.at("leases"), resourceVersion=first["metadata"]["resourceVersion"])
    assert ("ADDED", "b") == kind_and_name(stream.next())


def case_deletion_carries_the_last_state(api: Client) -> None:
    """A DELETED event has the last contents and a resourceVersion of its own."""
    made = api.create("leases", a_lease("one", labels={"a": "b"}))
    stream = api.watch(api.at("leases"), resourceVersion=made["metadata"]["resourceVersion"])
    api.delete(api.at("leases", "one")).ok()
    last = stream.next()["object"]
    assert ({"a": "b"}, made["metadata"]["uid"]) == (last["metadata"]["labels"], last["metadata"]["uid"])
    assert int(last["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])


def case_selector_turns_changes_into_comings_and_goings(api: Client) -> None:
    """An object that starts or stops matching is ADDED or DELETED to a watch with a selector."""
    api.create("leases", a_lease("one"))
    stream = api.watch(api.at("leases"), resourceVersion=_version(api), labelSelector="on=yes")
    path = api.at("leases", "one")
    api.patch(path, {"metadata": {"labels": {"on": "yes"}}}).ok()
    api.patch(path, {"metadata": {"annotations": {"a": "b"}}}).ok()
    left = api.patch(path, {"metadata": {"labels": {"on": "no"}}}).ok()
    events = stream.take(3)
    assert ["ADDED", "MODIFIED", "DELETED"] == [event["type"] for event in events]
    assert left["metadata"]["resourceVersion"] == events[2]["object"]["metadata"]["resourceVersion"]
    assert {"on": "yes"} == events[2]["object"]["metadata"]["labels"]


def case_one_name(api: Client) -> None:
    """A field selector on the name watches one object."""
    stream = api.watch(api.at("leases"), resourceVersion=_version(api), fieldSelector="metadata.name=b")
    for name in ("a", "b", "c"):
        api.create("leases", a_lease(name))
    api.delete(api.at("leases", "b")).ok()
    assert [("ADDED", "b"), ("DELETED", "b")] == [kind_and_name(event) for event in stream.take(2)]


def case_one_namespace(api: Client) -> None:
    """A watch of a namespace does not see the others; one over all sees both."""
    other = api.name("case-other")
    api.create("namespaces", {"metadata": {"name": other}})
    version = _version(api)
    here = api.watch(api.at("leases"), resourceVersion=version)
    everywhere = api.watch(api.everywhere("leases"), resourceVersion=version, labelSelector=f"run={other}")
    api.post(api.at("leases", namespace=other), a_lease("there", labels={"run": other})).ok(201)
    api.create("leases", a_lease("here", labels={"run": other}))
    assert ("ADDED", "here") == kind_and_name(here.next())
    assert [("ADDED", "there"), ("ADDED", "here")] == [kind_and_name(event) for event in everywhere.take(2)]


def case_watch_ends_after_its_time(api: Client) -> None:
    """timeoutSeconds ends the stream, without an error."""
    begun = time.monotonic()
    stream = api.watch(api.at("leases"), resourceVersion=_version(api), timeoutSeconds="1")
    assert [] == stream.rest()
    assert 0.8 < time.monotonic() - begun < 4


def case_unchanging_writes_are_silent(api: Client) -> None:
    """A write that changes nothing causes no event."""
    made = api.create("leases", a_lease("one"))
    stream = api.watch(api.at("leases"), resourceVersion=made["metadata"]["resourceVersion"])
    api.put(api.at("leases", "one"), made).ok()
    api.create("leases", a_lease("two"))
    assert ("ADDED", "two") == kind_and_name(stream.next())


def case_held_deletion_is_a_change_first(api: Client) -> None:
    """Marking a held object is MODIFIED; releasing it is DELETED."""
    made = api.create("leases", a_lease("one", finalizers=["example.dev/hold"]))
    stream = api.watch(api.at("leases"), resourceVersion=made["metadata"]["resourceVersion"])
    api.delete(api.at("leases", "one")).ok()
    api.patch(api.at("leases", "one"), {"metadata": {"finalizers": None}}).ok()
    events = stream.take(2)
    assert ["MODIFIED", "DELETED"] == [event["type"] for event in events]
    assert "deletionTimestamp" in events[0]["object"]["metadata"]


def case_custom_kinds_are_watched(api: Client) -> None:
    """Custom objects arrive like built-in ones."""
    made = make_widget(api, "one")
    stream = api.watch(api.at("widgets"), resourceVersion=made["metadata"]["resourceVersion"])
    after = api.patch(api.at("widgets", "one", "status"), {"status": {"phase": "Up"}}).ok()
    assert {"type": "MODIFIED", "object": after} == stream.next()


def case_versions_rise(api: Client) -> None:
    """The resourceVersions of a stream rise strictly."""
    stream = api.watch(api.at("leases"), resourceVersion=_version(api))
    for name in ("a", "b", "c"):
        api.create("leases", a_lease(name))
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in stream.take(3)]
    assert sorted(set(versions)) == versions
