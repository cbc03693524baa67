"""Freed pods per minute, as every room that frees meets it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import HOST_AT, NODE_AT, NOW, REMEDIATION_AT, a_node
from tests.core.metal3.remediations import (
    NO_PODS,
    NO_VOLUMES,
    SICK,
    a_held_host,
    a_reader,
    a_remediation,
    a_world,
    actions,
    decided,
    reasons,
)
from tests.core.metal3.test_remediation import OFF_SEEN, PODS, chosen

from noderemedy.core import freeing
from noderemedy.core.freeing import PACED_WITHIN, Workload, held_back
from noderemedy.core.freeing import sees as see_work
from noderemedy.core.pacing import Pace, permit, sees
from noderemedy.engine.cache import Cache
from noderemedy.model.actions import ListPods, PublishRemediationStatus
from noderemedy.model.governing import PermitFact
from noderemedy.model.ids import CONFIG_MAP, SYSTEM, ref
from noderemedy.model.outcome import Seen
from noderemedy.model.pace import PODS_LIMIT_AT, Leave, PodsLimit, Wish, leave_ref
from noderemedy.model.remediation import Phase
from noderemedy.model.room import Absent, Present
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


def undecided(limit: int | None, by: FreeBy | None, pods: PodsOfNode | None = PODS) -> Cache:
    """A host that is off; how its node with two pods is freed is not chosen yet."""
    remediation = a_remediation(Phase.FREEING, evidence=OFF_SEEN, free_by=by)
    world = a_world(remediation, host=a_held_host(), node=replace(SICK, kubelet="v1.31.0"))
    reader = a_reader(world, pods=pods, volumes=NO_VOLUMES)
    if limit is not None:
        reader.put(Seen(PODS_LIMIT_AT, "", "", PodsLimit(limit)), NOBODY)
    return reader


@pytest.mark.parametrize(
    ("limit", "named", "chosen", "told"),
    [
        (None, None, FreeBy.TAINT, ["ProvenOff"]),
        (2, None, FreeBy.TAINT, ["ProvenOff"]),
        (1, None, FreeBy.PODS, ["ProvenOff"]),
        (1, FreeBy.TAINT, FreeBy.TAINT, ["ProvenOff", "FreedAtOnce"]),
        (1, FreeBy.NODE, FreeBy.NODE, ["ProvenOff", "FreedAtOnce"]),
        (1, FreeBy.PODS, FreeBy.PODS, ["ProvenOff"]),
    ],
)
def test_more_pods_than_fit_go_one_by_one(
    limit: int | None, named: FreeBy | None, chosen: FreeBy, told: list[str]
) -> None:
    """Of a Metal3Remediation as of a fence; who names a way has it so, and is told."""
    decision = decided(REMEDIATION_AT, undecided(limit, named))

    (publish,) = decision.actions
    assert isinstance(publish, PublishRemediationStatus)
    assert (chosen, told) == (publish.progress.evidence.free_by, reasons(decision))


def test_the_way_is_chosen_when_the_pods_are_counted() -> None:
    """Not by a guess; and whoever named pods need not wait for that."""
    assert ["ListPods"] == actions(decided(REMEDIATION_AT, undecided(1, None, None)))
    assert ["PublishRemediationStatus"] == actions(decided(REMEDIATION_AT, undecided(1, FreeBy.PODS, None)))


LATE = MINUTE * 11
FREEING_LASTS: list[tuple[str, FreeBy, int | None, bool, Span, bool]] = [
    # by, limit, told to wait, since the pods last changed -> is its time over after eleven minutes?
    ("no limit", FreeBy.PODS, None, False, MINUTE, True),
    ("all at once", FreeBy.TAINT, 1, True, MINUTE, True),
    ("told to wait", FreeBy.PODS, 1, True, LATE, False),
    ("some have just gone", FreeBy.PODS, 1, False, MINUTE, False),
    ("none goes", FreeBy.PODS, 1, False, LATE, True),
]


@pytest.mark.parametrize(
    ("by", "limit", "waits", "unchanged", "is_over"),
    [case[1:] for case in FREEING_LASTS],
    ids=[case[0] for case in FREEING_LASTS],
)
def test_pods_that_go_one_by_one_have_the_time_for_it(
    by: FreeBy, limit: int | None, waits: bool, unchanged: Span, is_over: bool
) -> None:
    """Longer than all others, while some go or are told to wait, and never longer than an hour."""
    pace = Pace(ROOM, REMEDIATION_AT, limit, Leave(ROOM, REMEDIATION_AT, "x", 0) if waits else None)
    begun, within = Mono(NOW.mono.ms - LATE.ms), MINUTE * 10
    entry = Present(PODS, "", Mono(0), changed_at=Mono(NOW.mono.ms - unchanged.ms))
    work = Workload(NODE_AT, a_node(), "1", entry, Absent(), pace)
    due = freeing.until(work, by, begun + within, begun + PACED_WITHIN, within)

    assert is_over == (due <= NOW.mono)
    assert due <= begun + PACED_WITHIN
