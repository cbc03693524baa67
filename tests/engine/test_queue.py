"""Queue and timers: looked at once, the earliest wake wins, replaced and cancelled entries are skipped."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st
from tests.engine.bench import A, B, C, key

from noderemedy.engine.queue import Queue, Timers
from noderemedy.model.ids import NODE, Ref
from noderemedy.model.outcome import Key
from noderemedy.model.time import Mono

KEYS = [key(A), key(B), key(C)]
KEY = KEYS[0]


def test_a_key_queued_twice_is_looked_at_once() -> None:
    """Keys come out in the order in which they became due, each once."""
    queue = Queue()
    for item in (KEYS[1], KEYS[0], KEYS[1], KEYS[2], KEYS[0]):
        queue.add(item)

    assert 3 == len(queue)
    assert [KEYS[1], KEYS[0], KEYS[2]] == [queue.pop() for _ in range(3)]
    assert not queue


def test_an_empty_queue_takes_no_place() -> None:
    """A first look queues every key there is; the room that took is not kept for ever."""
    queue = Queue()
    keys = [Key("room", Ref("", NODE, "", str(number))) for number in range(1_000)]
    for one in keys:
        queue.add(one)
    assert keys == [queue.pop() for _ in keys]
    assert sys.getsizeof(set()) == sys.getsizeof(queue._waiting)


def test_the_earliest_wake_wins() -> None:
    """A later wish does not put off an earlier one; an earlier one replaces a later one."""
    timers = Timers()
    timers.wake(KEY, Mono(20))
    timers.wake(KEY, Mono(30))
    assert Mono(20) == timers.planned(KEY)
    timers.wake(KEY, Mono(10))
    assert Mono(10) == timers.next()

    assert [] == timers.due(Mono(9))
    assert [KEY] == timers.due(Mono(10))
    assert [] == timers.due(Mono(100))
    assert timers.next() is None


def test_a_cancelled_wake_does_not_fire() -> None:
    """Cancelled means gone, and the key may be planned anew, at the same time or another."""
    timers = Timers()
    timers.wake(KEY, Mono(10))
    timers.cancel(KEY)
    assert (None, 0) == (timers.next(), len(timers))
    timers.wake(KEY, Mono(10))
    timers.cancel(KEY)
    timers.wake(KEY, Mono(10))

    assert [KEY] == timers.due(Mono(10))
    assert [] == timers.due(Mono(11))


def test_keys_are_due_in_order_of_time() -> None:
    """Two keys of one moment are due in the order in which they were planned."""
    timers = Timers()
    timers.wake(KEYS[2], Mono(5))
    timers.wake(KEYS[1], Mono(5))
    timers.wake(KEYS[0], Mono(4))

    assert KEYS == sorted(timers.planned_keys())
    assert [KEYS[0], KEYS[2], KEYS[1]] == timers.due(Mono(5))


operations = st.lists(
    st.one_of(
        st.tuples(st.just("wake"), st.sampled_from(KEYS), st.integers(0, 20)),
        st.tuples(st.just("cancel"), st.sampled_from(KEYS), st.just(0)),
        st.tuples(st.just("due"), st.just(KEY), st.integers(0, 20)),
    ),
    max_size=40,
)


@given(operations)
def test_timers_behave_like_a_dictionary_of_minima(chosen: list[tuple[str, Key, int]]) -> None:
    """Against the obvious model: one minimum per key, due keys leave it, `next` is the least of all."""
    timers, model = Timers(), dict[Key, int]()

    for what, item, at in chosen:
        if what == "wake":
            timers.wake(item, Mono(at))
            model[item] = min(at, model.get(item, at))
        elif what == "cancel":
            timers.cancel(item)
            model.pop(item, None)
        else:
            expected = sorted(name for name, time in model.items() if time <= at)
            assert expected == sorted(timers.due(Mono(at)))
            model = {name: time for name, time in model.items() if time > at}
        assert (Mono(min(model.values())) if model else None) == timers.next()
        assert len(model) == len(timers)
