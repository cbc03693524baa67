"""The cache: what the API said last, which of it was read live, and indexes that are kept event by event."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import (
    CONSUMER,
    HOST_AT,
    MACHINE_AT,
    METAL3_CONSUMER,
    NODE_AT,
    NOW,
    OPENSHIFT_MACHINE_AT,
    a_host,
    a_machine,
    a_node,
    later,
)

from noderemedy.core.metal3.links import INDEXES
from noderemedy.engine.cache import ABSENT_MAX, Cache, precedes
from noderemedy.model.ids import HOST, MACHINE, NODE, Kind, Ref, ref
from noderemedy.model.machine import HostName
from noderemedy.model.node import Node
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Absent, Entry, Present, Unreadable, Unseen
from noderemedy.model.time import Mono

EARLY, LATE = NOW.mono, later(10).mono


def a_seen(version: str, obj: Node | None = None, at: Ref = NODE_AT) -> Seen:
    node = obj or a_node()
    return Seen(at, node.uid, version, node)


def present(entry: Entry) -> Present:
    assert isinstance(entry, Present)
    return entry


def listed(cache: Cache, *items: Seen) -> list[Ref]:
    """A whole list of nodes; returns what it did not name."""
    cache.begin_list("", NODE)
    for item in items:
        cache.put(item, LATE)
    return cache.end_list("", NODE)


# --- what was seen -------------------------------------------------------------------------------------------


def test_nothing_is_known_before_a_kind_was_listed() -> None:
    """Before the first list an object is unseen, afterwards it is absent: neither was read live."""
    cache = Cache(())

    assert Unseen() == cache.read(NODE_AT)
    assert [] == listed(cache)
    assert Absent(None) == cache.read(NODE_AT)
    cache.forget_complete("", NODE)
    assert Unseen() == cache.read(NODE_AT)


def test_an_object_is_remembered_with_its_version() -> None:
    """The first sight of an object is a change; the time of that sight is kept."""
    cache = Cache(())

    assert (None, True) == cache.put(a_seen("5"), EARLY)
    assert Present(a_node(), "5", EARLY, None, EARLY) == cache.read(NODE_AT)


def test_a_heartbeat_changes_only_the_version() -> None:
    """What equals the object that is there is no change: nobody is woken, but the next write uses the new version."""
    cache = Cache(())
    cache.put(a_seen("5"), EARLY)
    before = present(cache.read(NODE_AT)).obj

    assert (before, False) == cache.put(a_seen("6"), LATE)
    assert Present(before, "6", EARLY, None, EARLY) == cache.read(NODE_AT)
    assert before is present(cache.read(NODE_AT)).obj


def test_a_change_returns_what_was_there() -> None:
    """The loop wakes those whom the former state concerned, too."""
    cache = Cache(())
    cache.put(a_seen("5"), EARLY)

    assert (a_node(), True) == cache.put(a_seen("6", a_node(unschedulable=True)), LATE)


# --- what cannot be read -------------------------------------------------------------------------------------

GARBAGE = Unreadable("node-uid-1", "5", "labels: expected object")


def test_what_cannot_be_read_is_neither_present_nor_absent() -> None:
    """It leaves the counts, is found as it was, and a live absence is forgotten; a live read that shows it mends it."""
    cache = Cache(INDEXES)
    machine = a_machine()
    cache.put(Seen(MACHINE_AT, machine.uid, "4", machine), EARLY)
    garbage = Unreadable(machine.uid, "5", "garbage")
    assert (True, False) == (cache.set_aside(MACHINE_AT, garbage), cache.set_aside(MACHINE_AT, garbage))
    cache.drop(NODE_AT, confirmed_at=EARLY)
    cache.set_aside(NODE_AT, GARBAGE)

    assert (replace(garbage, last=machine), GARBAGE) == (cache.read(MACHINE_AT), cache.read(NODE_AT))
    assert ((MACHINE_AT,), [], ({}, {MACHINE: 1, NODE: 1})) == (
        cache.find("machines by host", str(HOST_AT)),
        cache.refs(),
        cache.count_kinds(),
    )
    assert (None, True) == cache.put(Seen(MACHINE_AT, machine.uid, "6", machine), LATE, confirmed_at=LATE)
    assert (MACHINE_AT,) == cache.find("machines by host", str(HOST_AT))


@pytest.mark.parametrize("ends", ["is mended", "is deleted", "is another one"])
def test_what_cannot_be_read_is_found_as_it_was_until_more_is_known(ends: str) -> None:
    """Mended, it is found as it is; where it is gone, or is another object of that name, nobody knows whose it is."""
    cache = Cache(INDEXES)
    machine = a_machine()
    cache.put(Seen(MACHINE_AT, machine.uid, "4", machine), EARLY)
    for version in ("5", "6"):
        cache.set_aside(MACHINE_AT, Unreadable(machine.uid, version, "garbage"))
    assert (MACHINE_AT,) == cache.find("machines by host", str(HOST_AT))
    match ends:
        case "is mended":
            cache.put(Seen(MACHINE_AT, machine.uid, "7", replace(machine, host=None)), LATE)
        case "is deleted":
            assert None is cache.drop(MACHINE_AT)
        case _:
            cache.set_aside(MACHINE_AT, Unreadable("another", "7", "garbage"))

    assert () == cache.find("machines by host", str(HOST_AT))


def test_what_is_older_does_not_mend() -> None:
    """A live read that was answered late shows what was there before: the object still cannot be read."""
    cache = Cache(())
    cache.set_aside(NODE_AT, GARBAGE)

    assert (None, False) == cache.put(a_seen("4"), LATE, confirmed_at=EARLY)
    assert GARBAGE == cache.read(NODE_AT)


def test_what_is_older_does_not_spoil() -> None:
    """A watch that lags behind a live read tells of garbage that was mended; a list is believed."""
    cache = Cache(())
    cache.put(a_seen("6"), EARLY, confirmed_at=EARLY)

    assert not cache.set_aside(NODE_AT, GARBAGE)
    assert isinstance(cache.read(NODE_AT), Present)
    cache.begin_list("", NODE)
    assert cache.set_aside(NODE_AT, GARBAGE)
    assert ([], replace(GARBAGE, last=a_node())) == (cache.end_list("", NODE), cache.read(NODE_AT))


# --- live reads ----------------------------------------------------------------------------------------------


def test_a_live_read_confirms() -> None:
    """The begin of the read counts, and a later event of the watch does not take it away."""
    cache = Cache(())
    cache.put(a_seen("5"), LATE, confirmed_at=EARLY)
    assert EARLY == present(cache.read(NODE_AT)).confirmed_at

    cache.put(a_seen("6", a_node(unschedulable=True)), LATE)
    assert EARLY == present(cache.read(NODE_AT)).confirmed_at


def test_an_older_event_never_overwrites_a_newer_live_read() -> None:
    """A watch lags behind: what it says about the past changes neither the object nor its confirmation."""
    cache = Cache(())
    cache.put(a_seen("9", a_node(unschedulable=True)), LATE, confirmed_at=LATE)

    assert (a_node(unschedulable=True), False) == cache.put(a_seen("8"), LATE)
    assert Present(a_node(unschedulable=True), "9", LATE, LATE, LATE) == cache.read(NODE_AT)


def test_an_older_event_of_a_former_object_does_not_overwrite_either() -> None:
    """The node was deleted and made again; the live read knows, the watch is still with the former one."""
    cache = Cache(())
    cache.put(a_seen("9", a_node("node-uid-2")), LATE, confirmed_at=LATE)

    cache.put(a_seen("8", a_node("node-uid-1")), LATE)

    assert Present(a_node("node-uid-2"), "9", LATE, LATE, LATE) == cache.read(NODE_AT)


def test_an_older_live_read_does_not_confirm_what_it_did_not_see() -> None:
    """A slow answer shows an older version than the watch by now: the newer one stays, and stays unconfirmed."""
    cache = Cache(())
    cache.put(a_seen("9", a_node(unschedulable=True)), EARLY)

    cache.put(a_seen("8"), LATE, confirmed_at=EARLY)

    assert Present(a_node(unschedulable=True), "9", EARLY, None, EARLY) == cache.read(NODE_AT)


def test_an_older_live_read_during_a_list_does_not_confirm_either() -> None:
    """While a list runs, older items of the list are believed, older answers of live reads are not (S9)."""
    cache = Cache(())
    cache.begin_list("", NODE)
    cache.put(a_seen("9", a_node(unschedulable=True)), EARLY)

    cache.put(a_seen("8"), LATE, confirmed_at=EARLY)

    assert Present(a_node(unschedulable=True), "9", EARLY, None, EARLY) == cache.read(NODE_AT)


def test_another_object_under_the_same_name_is_not_confirmed() -> None:
    """A confirmation belongs to a uid; the successor was first seen just now."""
    cache = Cache(())
    cache.put(a_seen("5"), EARLY, confirmed_at=EARLY)

    cache.put(a_seen("6", a_node("node-uid-2")), LATE)

    assert Present(a_node("node-uid-2"), "6", LATE, None, LATE) == cache.read(NODE_AT)


def test_a_live_read_makes_absence_a_fact() -> None:
    """Only absence that was read live has a time; an object that appears ends it."""
    cache = Cache(())
    listed(cache)
    cache.drop(NODE_AT, confirmed_at=EARLY)
    assert Absent(EARLY) == cache.read(NODE_AT)

    cache.put(a_seen("5"), LATE)
    cache.drop(NODE_AT)
    assert Absent(None) == cache.read(NODE_AT)


def test_absences_do_not_pile_up() -> None:
    """Live-read absences matter for seconds; only the newest are kept."""
    cache = Cache(())
    listed(cache)
    for number in range(ABSENT_MAX + 1):
        cache.drop(ref(NODE, f"n{number}"), confirmed_at=EARLY)

    assert Absent(None) == cache.read(ref(NODE, "n0"))
    assert Absent(EARLY) == cache.read(ref(NODE, f"n{ABSENT_MAX}"))


# --- lists ---------------------------------------------------------------------------------------------------


def test_a_list_names_what_is_gone() -> None:
    """What was known and is not in the new list is returned, sorted, for the loop to drop; other kinds are not."""
    cache = Cache(())
    others = [ref(NODE, name) for name in ("z", "b", "a")]
    for at in others:
        cache.put(a_seen("5", at=at), EARLY)
    cache.put(Seen(HOST_AT, "host-uid-1", "5", a_host()), EARLY)

    assert [ref(NODE, "a"), ref(NODE, "z")] == listed(cache, a_seen("6", at=ref(NODE, "b")), a_seen("7"))


def test_a_list_that_goes_back_in_time_is_believed_but_confirms_nothing() -> None:
    """A restored etcd shows older versions: that is how things are now, and nothing of it was read live."""
    cache = Cache(())
    cache.put(a_seen("9", a_node(unschedulable=True)), EARLY, confirmed_at=EARLY)

    listed(cache, a_seen("8"))

    assert Present(a_node(), "8", EARLY, None, LATE) == cache.read(NODE_AT)


def test_a_live_read_during_a_list_does_not_hide_a_deletion() -> None:
    """Read live while the list ran, deleted before the list was made: the list does not name it, so it is gone.

    Otherwise it would stay for ever: the watch starts at the list's version and never tells of that deletion.
    """
    cache = Cache(())
    known, unknown = NODE_AT, ref(NODE, "worker-1")
    cache.put(a_seen("5", at=known), EARLY)
    cache.begin_list("", NODE)
    cache.put(a_seen("5", at=known), LATE, confirmed_at=LATE)
    cache.put(a_seen("6", at=unknown), LATE, confirmed_at=LATE)

    assert [known, unknown] == cache.end_list("", NODE)


# --- versions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "is_older"),
    [
        ("8", "9", True),
        ("9", "10", True),
        ("10", "9", False),
        ("9", "9", False),
        ("", "9", False),
        ("9", "", False),
        ("abc", "9", False),
        ("²", "9", False),
        ("1", "٩", False),
        ("1" * 5_000, "2" * 5_000, True),
        ("-1", "9", False),
    ],
)
def test_versions_that_cannot_be_compared_are_not_older(one: str, other: str, is_older: bool) -> None:
    """Only plain numbers are compared, of any length; everything else counts as new."""
    assert is_older == precedes(one, other)


# --- indexes -------------------------------------------------------------------------------------------------

POOL: dict[Ref, list[Any]] = {
    MACHINE_AT: [a_machine(), a_machine(host=HostName("metal", "h2")), a_machine(node_name=None, host=None)],
    OPENSHIFT_MACHINE_AT: [a_machine(uid="o"), a_machine(uid="o", node_name="n2")],
    ref(MACHINE, "worker-2", "metal"): [a_machine(uid="m2"), a_machine(uid="m3", node_name="n2")],
    HOST_AT: [a_host(), a_host(consumer=METAL3_CONSUMER), a_host(consumer=None), a_host(uid="h2", consumer=CONSUMER)],
}
VALUES = ["worker-0", "n2", str(HOST_AT), str(ref(HOST, "h2", "metal")), str(MACHINE_AT), str(OPENSHIFT_MACHINE_AT)]
operations = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from(list(POOL)), st.integers(0, 3), st.integers(1, 9), st.booleans()),
        st.tuples(st.just("drop"), st.sampled_from(list(POOL)), st.just(0), st.just(0), st.booleans()),
        st.tuples(st.sampled_from(("begin", "end")), st.sampled_from(list(POOL)), st.just(0), st.just(0), st.just(0)),
    ),
    max_size=25,
)


def recomputed(cache: Cache, name: str, value: str) -> tuple[Ref, ...]:
    """What an index should find, from the objects themselves."""
    found = set()
    for at in cache.refs():
        for index in INDEXES:
            if index.name == name and index.kind == at.kind and value in index.of(at, present(cache.read(at)).obj):
                found.add(at)
    return tuple(sorted(found))


def run(cache: Cache, operation: tuple[Any, ...]) -> None:
    what, at, choice, version, is_live = operation
    confirmed_at = LATE if is_live else None
    kind: Kind = at.kind
    if what == "put":
        obj = POOL[at][choice % len(POOL[at])]
        cache.put(Seen(at, obj.uid, str(version), obj), EARLY, confirmed_at=confirmed_at)
    elif what == "drop":
        cache.drop(at, confirmed_at=confirmed_at)
    elif what == "begin":
        cache.begin_list("", kind)
    else:
        for gone in cache.end_list("", kind):
            cache.drop(gone)


@given(operations)
def test_indexes_always_equal_what_the_objects_say(chosen: list[tuple[Any, ...]]) -> None:
    """After any history of events, live reads and lists an index finds what a search through all objects finds."""
    cache = Cache(INDEXES)

    for operation in chosen:
        run(cache, operation)
        for name in {index.name for index in INDEXES}:
            for value in VALUES:
                found = recomputed(cache, name, value)
                assert (found, len(found)) == (cache.find(name, value), cache.tally(name, value))


@given(operations)
def test_an_index_keeps_no_empty_places(chosen: list[tuple[Any, ...]]) -> None:
    """Names that nobody carries any more cost no memory."""
    cache = Cache(INDEXES)
    for operation in chosen:
        run(cache, operation)
    for at in cache.refs():
        cache.drop(at)

    assert {index.name: {} for index in INDEXES} == cache._found


def test_objects_are_counted_by_kind() -> None:
    """For metrics: how many objects of a kind are known."""
    cache = Cache(())
    cache.put(a_seen("1"), EARLY)
    cache.put(Seen(HOST_AT, "h", "1", a_host()), EARLY)

    assert ({NODE: 1, HOST: 1}, {}) == cache.count_kinds()


def test_a_version_that_says_the_same_is_noted_without_a_look() -> None:
    """The very object at a newer version keeps everything but its version; an older version changes nothing."""
    cache = Cache(())
    seen = a_seen("5")
    cache.put(seen, Mono(1), confirmed_at=Mono(2))
    assert [True, True] == [cache.renew(replace(seen, resource_version=version)) for version in ("7", "6")]
    assert Present(seen.obj, "7", Mono(1), Mono(2), Mono(1)) == cache.read(NODE_AT)


def test_a_stamp_goes_with_what_it_was_taken_of() -> None:
    """A heartbeat brings its stamp along; what a live read shows has none, so that the next line is read as a whole."""
    cache = Cache(())
    cache.put(replace(a_seen("1"), stamp=7), Mono(1))
    known = present(cache.read(NODE_AT)).obj
    cache.renew(Seen(NODE_AT, known.uid, "2", known, 8))
    renewed = present(cache.read(NODE_AT)).stamp
    cache.put(a_seen("3"), Mono(3), confirmed_at=Mono(3))
    assert (8, None) == (renewed, present(cache.read(NODE_AT)).stamp)


def test_only_what_is_known_can_be_renewed() -> None:
    """Another object, one that nobody knows, and one that a running list names take the long way."""
    cache = Cache(())
    assert not cache.renew(a_seen("1"))
    cache.put(a_seen("1"), Mono(1))
    assert not cache.renew(a_seen("2"))
    known = present(cache.read(NODE_AT)).obj
    cache.begin_list("", NODE)
    assert not cache.renew(Seen(NODE_AT, known.uid, "2", known))
