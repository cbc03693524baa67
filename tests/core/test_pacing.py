"""Freed pods per minute, as every room that frees meets it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import HOST_AT, NODE_AT, NOW, REMEDIATION_AT
from tests.core.metal3.remediations import (
    NO_PODS,
    NO_VOLUMES,
    a_held_host,
    a_reader,
    a_world,
    actions,
    decided,
    reasons,
)
from tests.core.metal3.test_remediation import PODS, chosen

from noderemedy.core.freeing import held_back
from noderemedy.core.freeing import sees as see_work
from noderemedy.core.pacing import permit, sees
from noderemedy.engine.cache import Cache
from noderemedy.model.actions import ListPods
from noderemedy.model.governing import PermitFact
from noderemedy.model.ids import CONFIG_MAP, SYSTEM, ref
from noderemedy.model.outcome import Seen
from noderemedy.model.pace import PODS_LIMIT_AT, Leave, PodsLimit, Wish, leave_ref
from noderemedy.model.room import Present
from noderemedy.model.time import MINUTE, Mono, Span
from noderemedy.model.workload import POD, FreeBy, Pod, PodsOfNode, pods_at

ROOM = "metal3-remediation"
NOBODY = Mono(0)


def a_limited_reader(by: FreeBy, limit: int | None = 5, leave: Leave | None = None, **reading: Any) -> Cache:
    """A node that is proven off and is to be freed in this way, under a limit, with this leave."""
    reader = a_reader(a_world(chosen(by), host=a_held_host()), **{"pods": PODS, "volumes": NO_VOLUMES, **reading})
    if limit is not None:
        reader.put(Seen(PODS_LIMIT_AT, "", "", PodsLimit(limit)), NOBODY)
    if leave is not None:
        reader.put(Seen(leave_ref(ROOM, REMEDIATION_AT), "", "", leave), NOBODY)
    return reader


def wished(reader: Cache) -> list[Wish]:
    return [fact.value for fact in decided(REMEDIATION_AT, reader).facts if isinstance(fact.value, Wish)]


def leave_for(reader: Cache, pods: int) -> Leave:
    (wish,) = wished(reader)
    return Leave(wish.room, wish.asker, wish.what, pods)


@pytest.mark.parametrize(("by", "is_whole"), [(FreeBy.TAINT, True), (FreeBy.PODS, False)])
def test_who_has_no_leave_waits_and_says_what_would_go(by: FreeBy, is_whole: bool) -> None:
    """Two of three pods would go: the third belongs to the node. Nothing is freed meanwhile."""
    reader = a_limited_reader(by)
    unasked = decided(REMEDIATION_AT, reader)
    refused = decided(REMEDIATION_AT, a_limited_reader(by, leave=leave_for(reader, 0)))

    assert ([], ["WaitingForBudget"]) == (actions(unasked), reasons(unasked))
    assert ([], ["FreeingPaced"]) == (actions(refused), reasons(refused))
    assert [(2, is_whole, NODE_AT)] == [(wish.pods, wish.is_whole, wish.node) for wish in wished(reader)]


@pytest.mark.parametrize(
    ("by", "pods", "done"),
    [
        (FreeBy.TAINT, 2, ["TaintOutOfService"]),
        (FreeBy.PODS, 2, ["DeletePod", "DeletePod", "ListPods"]),
        (FreeBy.PODS, 1, ["DeletePod", "ListPods"]),
        (FreeBy.PODS, 0, []),
        (FreeBy.TAINT, 0, []),
    ],
)
def test_so_many_go_as_may(by: FreeBy, pods: int, done: list[str]) -> None:
    """All, some, or none."""
    leave = leave_for(a_limited_reader(by), pods)

    assert done == actions(decided(REMEDIATION_AT, a_limited_reader(by, leave=leave)))


@pytest.mark.parametrize("by", [FreeBy.TAINT, FreeBy.PODS])
def test_a_leave_for_another_batch_is_none(by: FreeBy) -> None:
    """What was allowed for other pods, or another Node, is used up."""
    other = replace(leave_for(a_limited_reader(by), 2), what="other")

    assert [] == actions(decided(REMEDIATION_AT, a_limited_reader(by, leave=other)))


@pytest.mark.parametrize(("limit", "pods"), [(None, PODS), (5, NO_PODS)])
def test_nobody_asks_where_there_is_no_limit_or_nothing_to_free(limit: int | None, pods: PodsOfNode) -> None:
    """The taint comes at once, and nothing is stated."""
    reader = a_limited_reader(FreeBy.TAINT, limit, pods=pods)

    assert (["TaintOutOfService"], []) == (actions(decided(REMEDIATION_AT, reader)), wished(reader))


def test_pods_are_counted_before_they_go_at_once() -> None:
    """Without a list nobody knows how many there are; without a limit nobody needs to know."""
    assert ["ListPods"] == actions(decided(REMEDIATION_AT, a_limited_reader(FreeBy.TAINT, pods=None)))
    assert ["TaintOutOfService"] == actions(decided(REMEDIATION_AT, a_limited_reader(FreeBy.TAINT, None, pods=None)))


def test_the_same_pods_are_the_same_batch() -> None:
    """Their order in a list means nothing to the count; another pod makes it another batch."""
    more = PodsOfNode((*PODS.pods, (ref(POD, "web-9", "default"), Pod("pod-9"))))
    first, again, other = (leave_for(a_limited_reader(FreeBy.PODS, pods=pods), 1).what for pods in (PODS, PODS, more))

    assert first == again != other


@pytest.mark.parametrize(
    ("own", "budgets", "told"),
    [(3, None, "ConfigMap workers is 3"), (3, 5, "ConfigMap workers is 3"), (9, 5, "the budget is 5")],
)
def test_the_stricter_limit_is_told(own: int, budgets: int | None, told: str) -> None:
    """A node that a Configuration governs asks with its limit, too, and says which of the two holds it."""
    at = ref(CONFIG_MAP, "workers", SYSTEM)
    found = sees(ROOM, NODE_AT, a_limited_reader(FreeBy.PODS, budgets), PermitFact(at, pods_per_minute=own))
    (wish,) = (fact.value for fact in permit(found, NODE_AT, "x", 2, is_whole=False).facts)
    refused = replace(found, leave=Leave(ROOM, NODE_AT, "x", 0))
    (reason,) = permit(refused, NODE_AT, "x", 2, is_whole=False).because

    assert isinstance(wish, Wish)
    assert (at, own) == (wish.document, wish.limit)
    assert f"podsPerMinute of {told}" in reason.note()


def test_a_node_by_node_room_asks_for_the_whole_node() -> None:
    """The same question for whoever deletes a Node: its uid names the batch."""
    reader = a_limited_reader(FreeBy.NODE)
    entry = reader.read(NODE_AT)
    assert isinstance(entry, Present)
    step = held_back(see_work(NODE_AT, entry, reader, sees("annotation", HOST_AT, reader)), NOW)

    assert step is not None
    assert [("annotation", HOST_AT, "node-uid-1", 2, True)] == [
        (wish.room, wish.asker, wish.what, wish.pods, wish.is_whole)
        for wish in (fact.value for fact in step.facts)
        if isinstance(wish, Wish)
    ]


@pytest.mark.parametrize(("old", "done"), [(Span(0), []), (MINUTE, []), (MINUTE + Span(1), [ListPods(NODE_AT)])])
def test_pods_are_counted_by_a_list_of_the_last_minute(old: Span, done: list[ListPods]) -> None:
    """By the list of an earlier repair a node has no pods any more, and others were freed in the same minute."""
    reader = a_limited_reader(FreeBy.NODE)
    entry, pods = reader.read(NODE_AT), reader.read(pods_at(NODE_AT))
    assert isinstance(entry, Present)
    assert isinstance(pods, Present)
    work = see_work(NODE_AT, entry, reader, sees("annotation", HOST_AT, reader))
    read_then = replace(work, pods=replace(pods, confirmed_at=NOW.mono))
    step = held_back(read_then, replace(NOW, mono=NOW.mono + old))

    assert step is not None
    assert done == list(step.actions)
