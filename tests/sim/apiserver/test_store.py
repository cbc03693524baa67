"""The store: one order for all listeners, a past that can be asked and forgotten."""

from __future__ import annotations

import pytest
from tests.sim.apiserver.support import CONFIG, NODE, a_config, a_node, names

from noderemedy.sim.apiserver import ApiError, ApiServer, WatchEvent


def test_a_listener_that_writes_does_not_reorder(server: ApiServer) -> None:
    """Two listeners see the same order although the first writes in the middle of being told."""
    first: list[str] = []
    second: list[str] = []

    def answer(event: WatchEvent) -> None:
        first.append(event.tree["metadata"]["name"])
        if event.tree["metadata"]["name"] == "a":
            server.create(a_config("b"))

    server.subscribe(CONFIG, answer)
    server.subscribe(CONFIG, lambda event: second.append(event.tree["metadata"]["name"]))
    server.create(a_config("a"))
    assert ["a", "b"] == first == second


def test_a_watch_begun_in_the_middle_hears_nothing_twice(server: ApiServer) -> None:
    """A subscription made by a listener starts after the change that is being told."""
    late: list[str] = []

    def begin(event: WatchEvent) -> None:
        server.subscribe(CONFIG, lambda later: late.append(later.tree["metadata"]["name"]))

    subscription = server.subscribe(CONFIG, begin)
    server.create(a_config("a"))
    subscription.close()
    server.create(a_config("b"))
    assert ["b"] == late


def test_the_past_can_be_asked(server: ApiServer) -> None:
    """The state at an earlier revision has what was there, as it was."""
    server.create(a_node("a"))
    then = server.resource_version
    server.create(a_node("b"))
    server.patch(NODE, "a", body={"spec": {"unschedulable": True}})
    server.delete(NODE, "a")
    state = server.store.state_at(NODE, then)
    assert ["a"] == names(list(state.values()))
    assert "unschedulable" not in state["", "a"]["spec"]


def test_the_past_is_forgotten(server: ApiServer) -> None:
    """After compaction an earlier revision is 410."""
    server.create(a_node("a"))
    then = server.resource_version
    server.create(a_node("b"))
    server.compact()
    for question in (server.store.since, server.store.state_at):
        with pytest.raises(ApiError) as refusal:
            question(NODE, then)
        assert (410, "Expired") == (refusal.value.code, refusal.value.reason)


def test_a_long_past_is_forgotten_by_itself(server: ApiServer) -> None:
    """History is bounded: very old revisions of a busy kind are 410 without being asked to."""
    server.store.history_max = 10
    server.create(a_node("a"))
    then = server.resource_version
    for number in range(20):
        server.patch(NODE, "a", body={"metadata": {"labels": {"n": str(number)}}})
    with pytest.raises(ApiError):
        server.store.since(NODE, then)
    assert len(server.store.collection(NODE).history) <= 10


def test_unchanged_parts_are_shared(server: ApiServer) -> None:
    """A patch copies the path that it changes and shares the rest with the stored object."""
    made = server.create({**a_node("a"), "status": {"images": [{"names": ["x"]}], "nodeInfo": {"bootID": "1"}}})
    after = server.patch(NODE, "a", body={"status": {"nodeInfo": {"bootID": "2"}}}, subresource="status")
    assert after["status"]["images"] is made["status"]["images"]
    assert "1" == made["status"]["nodeInfo"]["bootID"]
