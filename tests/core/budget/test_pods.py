"""`podsPerMinute`: how many pods may be freed now, over all who ask."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.builders import NOW, later
from tests.core.budget.asking import machine, node

from noderemedy.core.budget.facts import Freed
from noderemedy.core.budget.pods import pace
from noderemedy.model.ids import CONFIG_MAP, SYSTEM, Ref, ref
from noderemedy.model.pace import Wish
from noderemedy.model.time import MINUTE

WORKERS, OTHERS = (ref(CONFIG_MAP, name, SYSTEM) for name in ("workers", "others"))


def a_wish(number: int, pods: int, *, whole: bool = False, what: str = "1", cluster: str = "") -> Wish:
    return Wish("test", machine(number), node(number, cluster), what, pods, whole)


def governed(wish: Wish, document: Ref, limit: int | None) -> Wish:
    """The same of a node for which a Configuration speaks."""
    return structs.replace(wish, document=document, limit=limit)


def test_pods_one_by_one_share_the_minute() -> None:
    """The first gets what is left, the next what is left of that; who gets nothing learns when to ask again."""
    found = pace((a_wish(1, 6), a_wish(2, 6), a_wish(3, 6)), 10, (), NOW)

    assert [6, 4, 0] == [one.pods for one in found.leaves]
    assert later(60).wall == found.leaves[2].until
    assert NOW.mono + MINUTE == found.until


def test_nodes_wait_for_each_other() -> None:
    """A whole node goes only if all its pods fit; a small one may pass a big one."""
    found = pace((a_wish(1, 8, whole=True), a_wish(2, 3, whole=True), a_wish(3, 2, whole=True)), 10, (), NOW)

    assert [8, 0, 2] == [one.pods for one in found.leaves]


def test_one_node_alone_always_may() -> None:
    """However many pods it has: or it would never be freed. The next one has to wait for it."""
    first = pace((a_wish(1, 50, whole=True),), 10, (), NOW)
    gone = pace((), 10, first.freed, later(1))
    second, third = (pace((a_wish(2, 1, whole=True),), 10, gone.freed, later(seconds)) for seconds in (60, 61))

    assert [50, 0, 1] == [found.leaves[0].pods for found in (first, second, third)]


def test_a_minute_begins_when_the_pods_have_gone() -> None:
    """A leave that could be used only later, after a refusal of the API, keeps the next one waiting from then on."""
    first = pace((a_wish(1, 5, whole=True),), 5, (), NOW)
    tried = pace((a_wish(1, 5, whole=True), a_wish(2, 5, whole=True)), 5, first.freed, later(47))
    gone = pace((a_wish(2, 5, whole=True),), 5, tried.freed, later(48))
    soon, late = (pace((a_wish(2, 5, whole=True),), 5, gone.freed, later(seconds)) for seconds in (107, 108))

    assert [5, 0] == [one.pods for one in tried.leaves]
    assert [0, 0, 5] == [found.leaves[0].pods for found in (gone, soon, late)]


def test_a_leave_that_was_not_used_within_a_minute_is_asked_for_anew() -> None:
    """Or one that cannot be used would keep all others waiting."""
    first = pace((a_wish(2, 5, whole=True),), 5, (), NOW)
    found = pace((a_wish(1, 5, whole=True), a_wish(2, 5, whole=True)), 5, first.freed, later(60))

    assert [5, 0] == [one.pods for one in found.leaves]


def test_the_same_batch_is_counted_once() -> None:
    """A look that comes between, or a failed deletion, costs nothing; another batch does."""
    first = pace((a_wish(1, 5),), 10, (), NOW)
    nobody = pace((), 10, first.freed, later(1))
    again = pace((a_wish(1, 5), a_wish(1, 5, what="2"), a_wish(1, 5, what="3")), 10, nobody.freed, later(2))

    assert [5, 5, 0] == [one.pods for one in again.leaves]


def test_clusters_do_not_share() -> None:
    """Each has its own pods, its own nodes to take them, and its own minute."""
    found = pace((a_wish(1, 10), a_wish(2, 10, cluster="metal/a")), 10, (), NOW)

    assert [10, 10] == [one.pods for one in found.leaves]


@pytest.mark.parametrize(("budget", "expected"), [(None, [4, 2, 6, 6]), (10, [4, 2, 4, 0]), (5, [4, 1, 0, 0])], ids=str)
def test_a_document_limits_its_own_nodes(budget: int | None, expected: list[int]) -> None:
    """Its nodes share its minute, others do not; and the budget's holds for all of them together."""
    asked = (
        governed(a_wish(1, 4), WORKERS, 6),
        governed(a_wish(2, 4), WORKERS, 6),
        governed(a_wish(3, 6), OTHERS, 6),
        a_wish(4, 6),
    )

    assert expected == [one.pods for one in pace(asked, budget, (), NOW).leaves]


def test_whole_nodes_of_a_document_wait_for_each_other() -> None:
    """A fence that frees by a taint: the next node of the document goes a minute later, one of another at once."""
    own = [governed(a_wish(number, 5, whole=True), WORKERS, 3) for number in (1, 2)]
    first = pace((*own, governed(a_wish(3, 5, whole=True), OTHERS, 3)), None, (), NOW)
    gone = pace(tuple(own[1:]), None, first.freed, later(1))
    second, third = (pace(tuple(own[1:]), None, gone.freed, later(seconds)) for seconds in (60, 61))

    assert [5, 0, 5] == [one.pods for one in first.leaves]
    assert [0, 5] == [found.leaves[0].pods for found in (second, third)]


def test_without_a_limit_all_may_go() -> None:
    """Who asked while there was one is answered."""
    assert [99] == [one.pods for one in pace((a_wish(1, 99),), None, (), NOW).leaves]


wishes = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 30), st.booleans(), st.integers(0, 300)), min_size=1, max_size=20
)


@settings(max_examples=100)
@given(wishes, st.integers(1, 40))
def test_no_minute_has_more_than_the_limit(asked: list[tuple[int, int, bool, int]], limit: int) -> None:
    """Over any course of wishes: within a minute at most the limit, or one single node."""
    freed: tuple[Freed, ...] = ()
    gone: list[tuple[int, int, bool]] = []
    for turn, (number, pods, whole, seconds) in enumerate(sorted(asked, key=lambda one: one[3])):
        found = pace((a_wish(number, pods, whole=whole, what=str(turn)),), limit, freed, later(seconds))
        freed = found.freed
        gone += [(seconds, leave.pods, whole) for leave in found.leaves if leave.pods]
    for seconds, _, _ in gone:
        minute = [one for one in gone if seconds <= one[0] < seconds + 60]
        assert sum(pods for _, pods, _ in minute) <= limit or (len(minute) == 1 and minute[0][2])


@settings(max_examples=100)
@given(wishes, st.integers(1, 40))
def test_looking_again_changes_nothing(asked: list[tuple[int, int, bool, int]], limit: int) -> None:
    """With the memory of the first look, the second one answers the same."""
    all_at_once = tuple(a_wish(n, pods, whole=whole, what=str(turn)) for turn, (n, pods, whole, _) in enumerate(asked))
    first = pace(all_at_once, limit, (), NOW)

    assert first == pace(all_at_once, limit, first.freed, NOW)
