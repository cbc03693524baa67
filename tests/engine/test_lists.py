"""What is listed live and watched by nobody: kept for the key that asked, and forgotten with its business."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import NOW, later
from tests.engine.bench import A, a_room, a_seen, an_engine, key, only_effect, step, want

from noderemedy.engine.ledger import Ledger
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import Action, EvictPod, Guard, ListPods
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import Ref, ref
from noderemedy.model.outcome import Done, Failed, Seen, Unknown
from noderemedy.model.room import Present, Reader, Room, Unseen
from noderemedy.model.time import Now
from noderemedy.model.workload import POD, Pod, PodsOfNode, pods_at

POD_AT = ref(POD, "database-0", "default")
PODS = PodsOfNode(((POD_AT, Pod("pod-uid-1")),))
EVICT = EvictPod(POD_AT, Guard("pod-uid-1"))


def sees(at: Ref, reader: Reader) -> Any:
    node, pods = reader.read(at), reader.read(pods_at(at))
    return (at, node.obj, pods) if isinstance(node, Present) else None


def lists_unless_cordoned(view: Any, now: Now) -> Decision:
    at, node, pods = view
    if node.unschedulable:
        return NOTHING
    return want(EVICT) if isinstance(pods, Present) else want(ListPods(at))


ROOM: Room = a_room(lists_unless_cordoned, may=frozenset({ListPods, EvictPod}), sees=sees)


def an_engine_with_a_list(*, is_dry: bool = False) -> Engine:
    engine = an_engine(ROOM, is_dry=is_dry)
    engine.seen(a_seen(), NOW)
    effect = only_effect(engine)
    assert ListPods(A) == effect.action
    engine.ended(effect, Done(NOW.mono, Seen(pods_at(A), "", "42", PODS)), later(1))
    return engine


def test_a_list_is_seen_by_whoever_asked() -> None:
    """It enters the cache, confirmed at the begin of the request, and its key is looked at again."""
    engine = an_engine_with_a_list()

    assert Present(PODS, "42", later(1).mono, NOW.mono, later(1).mono) == engine.cache.read(pods_at(A))
    assert EVICT == only_effect(engine, later(1)).action


def test_a_dry_engine_lists_and_evicts_nobody() -> None:
    """A list is a live read: `plan` makes it, and prints what would follow."""
    engine = an_engine_with_a_list(is_dry=True)

    assert () == step(engine, later(1)).effects
    assert (EVICT,) == engine.decisions[key(A)].actions


def test_a_list_is_forgotten_when_its_key_wants_nothing() -> None:
    """Nobody would tell us of changes, so nothing is kept longer than it is needed."""
    engine = an_engine_with_a_list()
    engine.ended(only_effect(engine, later(1)), Done(later(1).mono), later(1))
    engine.seen(a_seen(version="2", unschedulable=True), later(2))

    step(engine, later(2))

    assert isinstance(engine.cache.read(pods_at(A)), Unseen)


@pytest.mark.parametrize("action", [EVICT, ListPods(A)])
@pytest.mark.parametrize("outcome", [Unknown("no answer"), Failed("modified", conflict=True)])
def test_what_the_next_list_shows_is_not_read_first(action: Action, outcome: Unknown | Failed) -> None:
    """A pod cannot be read like what is watched: after no answer the key waits, and lists again."""
    ledger = Ledger()
    effect = ledger.begin(key(A), (action,), 7)
    ledger.end(effect)

    trouble = ledger.went_wrong(effect, outcome, NOW)

    assert ledger.doubt(key(A)) is None
    assert trouble.until > NOW.mono
