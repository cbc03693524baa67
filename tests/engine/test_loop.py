"""The loop: what is looked at, when, and what of a decision is carried out."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import NOW, a_node, later
from tests.engine.bench import (
    TOKEN,
    WHY,
    A,
    B,
    C,
    a_room,
    a_seen,
    an_engine,
    done,
    drop,
    entry_of,
    idle,
    key,
    only_effect,
    step,
    want,
)
from tests.model.test_actions import a_proof

from noderemedy.engine import loop
from noderemedy.engine.loop import Engine
from noderemedy.engine.trace import Record, Trace
from noderemedy.model.actions import AddRebootAnnotation, Confirm, DeletePod, DropBackup, Guard
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.errors import Bug
from noderemedy.model.host import Hold
from noderemedy.model.ids import INCIDENT, NODE, Kind, Ref, ref
from noderemedy.model.observer import contact_since
from noderemedy.model.outcome import Done, Failed, Seen, Unknown
from noderemedy.model.reasons import RoomBroken
from noderemedy.model.room import Absent, Present, Reader, Unreadable
from noderemedy.model.time import Mono, Now, Span, Wall
from noderemedy.model.workload import POD


def once(view: Any, now: Now) -> Decision:
    """Drop until the node is cordoned: one write, then nothing."""
    at, node = view
    return NOTHING if node.unschedulable else want(drop(at))


def always(view: Any, now: Now) -> Decision:
    return want(drop(view[0]))


# --- who may act, and when -----------------------------------------------------------------------------------


def test_whether_all_is_listed_is_asked_once_per_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """No look of ours changes that, and a first step has thousands of them."""
    engine = an_engine(a_room(idle))
    asked: list[frozenset[tuple[str, Kind]]] = []
    are_complete = engine.cache.are_complete

    def noted(places: frozenset[tuple[str, Kind]]) -> bool:
        asked.append(places)
        return are_complete(places)

    monkeypatch.setattr(engine.cache, "are_complete", noted)
    for number in range(50):
        engine.seen(a_seen(ref(NODE, f"n{number}")), NOW)
    step(engine)

    assert not engine.queue
    assert [{("", NODE)}] == asked


def test_what_somebody_else_read_meanwhile_is_not_read_again() -> None:
    """Of two keys that want to see the same object live, each after another one, the second has its answer already."""
    reads = {A: (Confirm(A), Confirm(C)), B: (Confirm(B), Confirm(C))}
    engine = an_engine(a_room(lambda view, now: want(*reads.get(view[0], ()), because=(WHY,))))
    engine.seen(a_seen(A), NOW)
    engine.seen(a_seen(B), NOW)
    first, second = step(engine).effects
    following = done(engine, first, later(1), a_seen(A, "2"))
    assert following is not None
    assert Confirm(C) == following.action
    engine.ended(following, Done(later(1).mono, gone=True), later(2))

    assert None is engine.ended(second, Done(NOW.mono, a_seen(B, "2")), later(2))


def test_what_was_read_before_is_read_again() -> None:
    """A live read that is older than the decision does not do: the room has asked for a new one."""
    engine = an_engine(a_room(lambda view, now: want(Confirm(A), Confirm(C)) if view[0] == A else NOTHING))
    engine.seen(a_seen(C), NOW)
    engine._enter(a_seen(C, "2"), NOW, NOW.mono)
    engine.seen(a_seen(A), later(9))
    (first,) = step(engine, later(9)).effects

    following = engine.ended(first, Done(later(9).mono, a_seen(A, "2")), later(9))
    assert following is not None
    assert Confirm(C) == following.action


def test_a_long_look_is_taken_in_pieces() -> None:
    """After so many looks a step ends and says that there is more; the next one goes on where it ended."""
    looked: list[Ref] = []
    engine = an_engine(a_room(lambda view, now: looked.append(view[0]) or NOTHING))  # type: ignore[func-returns-value]
    for number in range(5):
        engine.seen(a_seen(ref(NODE, f"n{number}")), NOW)

    assert [True, True, False] == [engine.step(NOW, TOKEN, 2).has_more for _ in range(3)]
    assert [f"n{number}" for number in range(5)] == [at.name for at in looked]


def test_a_standby_has_nothing_more_to_do() -> None:
    """What is queued waits for leadership: to step again at once would be to spin."""
    engine = an_engine(a_room(always))
    engine.seen(a_seen(), NOW)
    assert not engine.step(NOW, None, 2).has_more


def test_what_is_to_be_done_leaves_soon_after_it_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit of looks a step ends a few looks after its first effect; without one it looks at everything."""
    monkeypatch.setattr(loop, "LOOKS_BESIDE", 1)

    def effects(looks: int | None) -> list[int]:
        engine = an_engine(a_room(always))
        for at in (A, B, C):
            engine.seen(a_seen(at), NOW)
        return [len(engine.step(NOW, TOKEN, looks).effects) for _ in range(2)]

    assert ([2, 1], [3, 0]) == (effects(500), effects(None))


def test_nothing_is_decided_before_all_kinds_are_listed() -> None:
    """An engine that has not seen everything does nothing, and forgets nothing."""
    engine = Engine((a_room(always),))
    engine.seen(a_seen(), NOW)

    assert not engine.is_synced
    assert () == step(engine).effects
    engine.listing(NODE, NOW)
    engine.seen(a_seen(), NOW)
    engine.listed(NODE, NOW)
    assert drop(A) == only_effect(engine).action


def test_a_lost_kind_stops_everything_until_it_is_listed_again() -> None:
    """Not seeing is not knowing: no decision while a kind cannot be seen."""
    engine = an_engine(a_room(always))
    engine.lost(NODE, NOW)
    engine.seen(a_seen(), NOW)

    assert () == step(engine).effects
    engine.listing(NODE, NOW)
    engine.seen(a_seen(), NOW)
    engine.listed(NODE, NOW)
    assert 1 == len(step(engine).effects)


def test_half_of_a_list_that_is_made_again_is_not_seen() -> None:
    """Nodes of a cluster are counted: nothing that the list brings is seen before all of it is, then all at once."""
    engine = an_engine(a_room(always))
    engine.seen(a_seen(A, version="1"), NOW)
    before = engine.cache.read(A)
    engine.listing(NODE, NOW)
    engine.seen(a_seen(A, "2", unschedulable=True), NOW)
    engine.unreadable(B, "b", "2", "garbage", NOW)

    assert (before, Absent(None)) == (engine.cache.read(A), engine.cache.read(B))
    engine.listed(NODE, NOW)
    after = engine.cache.read(A)
    assert isinstance(after, Present)
    assert (a_node("uid", unschedulable=True), Unreadable("b", "2", "garbage")) == (after.obj, engine.cache.read(B))


def test_a_list_that_was_broken_off_leaves_nothing() -> None:
    """The next one names all that is there."""
    engine = an_engine(a_room(always))
    engine.listing(NODE, NOW)
    engine.seen(a_seen(A), NOW)
    engine.listing(NODE, NOW)
    engine.seen(a_seen(B), NOW)
    engine.listed(NODE, NOW)

    assert (Absent(None), True) == (engine.cache.read(A), isinstance(engine.cache.read(B), Present))


def test_a_live_read_outruns_what_a_list_brought_before() -> None:
    """What we have written and read while a list ran does not go back in time when it ends, nor is it gone."""
    engine = an_engine(a_room(always))
    engine.seen(a_seen(A, version="5"), NOW)
    effect = only_effect(engine)
    engine.listing(NODE, NOW)
    engine.seen(a_seen(A, "6", unschedulable=True), NOW)
    engine.ended(effect, Done(NOW.mono, a_seen(A, version="7")), NOW)
    engine.listed(NODE, NOW)

    found = engine.cache.read(A)
    assert isinstance(found, Present)
    assert ("7", NOW.mono) == (found.resource_version, found.confirmed_at)


def test_effects_know_when_they_were_decided() -> None:
    """All of one decision: what rests on its proof must not leave much later."""
    two = want(drop(A), drop(B))
    engine = an_engine(a_room(lambda view, now: two))
    engine.seen(a_seen(A), NOW)
    first = only_effect(engine)
    second = done(engine, first, later(3))

    assert second is not None
    assert (NOW.mono, NOW.mono) == (first.decided_at, second.decided_at)


def test_a_standby_keeps_its_queue() -> None:
    """Without leadership nothing is decided; on election the whole backlog is."""
    engine = an_engine(a_room(always))
    engine.seen(a_seen(A), NOW)
    engine.seen(a_seen(B), NOW)

    assert () == step(engine, token=None).effects
    assert () == step(engine, token=None).effects
    effects = step(engine, token=3).effects
    assert [(key(A), 3), (key(B), 3)] == [(effect.key, effect.token) for effect in effects]


def test_a_wake_that_falls_due_on_a_standby_is_not_lost() -> None:
    """It is due no more, or the standby would spin; it waits in the queue for the election."""
    engine = an_engine(a_room(lambda view, now: want(drop(A)) if now == later(30) else want(wake_at=later(10).mono)))
    engine.seen(a_seen(), NOW)
    step(engine)

    assert () == step(engine, later(20), token=None).effects
    assert engine.next_wake() is None
    assert drop(A) == only_effect(engine, later(30)).action


# --- one key, one effect -------------------------------------------------------------------------------------


def test_a_key_in_flight_is_not_decided_again() -> None:
    """Events during an effect do not start a second one; the key is looked at again when it is released."""
    engine = an_engine(a_room(once))
    engine.seen(a_seen(), NOW)
    effect = only_effect(engine)
    engine.seen(a_seen(version="2", labels={"x": "1"}), NOW)

    assert () == step(engine).effects
    done(engine, effect)
    assert drop(A) == only_effect(engine).action


def test_a_held_key_does_not_block_the_others() -> None:
    """While one key waits for its outcome, others go on."""
    engine = an_engine(a_room(always))
    engine.seen(a_seen(A), NOW)
    only_effect(engine)
    engine.seen(a_seen(B), NOW)

    assert [key(B)] == [effect.key for effect in step(engine).effects]


def test_a_timer_of_a_held_key_is_not_lost() -> None:
    """A wake that falls due during an effect leads to a look after it."""
    engine = an_engine(a_room(lambda view, now: want(drop(A), wake_at=later(5).mono)))
    engine.seen(a_seen(), NOW)
    effect = only_effect(engine)

    assert () == step(engine, later(6)).effects
    done(engine, effect, later(7))
    assert 1 == len(step(engine, later(7)).effects)


def test_the_rest_of_a_decision_follows_what_is_done() -> None:
    """Actions go one after the other, in order; each begins when the one before is done."""
    engine = an_engine(a_room(lambda view, now: want(Confirm(B), Confirm(C), drop(A))))
    engine.seen(a_seen(), NOW)

    first = only_effect(engine)
    second = done(engine, first, seen=a_seen(B))
    assert second is not None
    third = done(engine, second, seen=a_seen(C))
    assert third is not None
    assert [Confirm(B), Confirm(C), drop(A)] == [effect.action for effect in (first, second, third)]
    assert [TOKEN] * 3 == [effect.token for effect in (first, second, third)]
    assert done(engine, third) is None


@pytest.mark.parametrize("outcome", [Failed("no"), Unknown("no answer")])
def test_the_rest_of_a_decision_is_dropped_otherwise(outcome: Failed | Unknown) -> None:
    """What is not done drops the rest: the key is decided anew."""
    engine = an_engine(a_room(lambda view, now: want(Confirm(B), drop(A))))
    engine.seen(a_seen(), NOW)

    assert engine.ended(only_effect(engine), outcome, NOW) is None
    assert not engine.ledger.holds(key(A))


def test_every_effect_is_in_the_trace() -> None:
    """Crash points are read from the trace: those that follow in the same decision begin there as well."""
    records: list[Record] = []
    engine = an_engine(a_room(lambda view, now: want(Confirm(B), drop(A))), trace=Trace(records.append))
    engine.seen(a_seen(), NOW)
    done(engine, only_effect(engine), seen=a_seen(B))

    begun = [record.detail for record in records if record.what == "begin"]
    assert ["Confirm", "DropBackup"] == begun
    assert ["Confirm Done"] == [record.detail for record in records if record.what == "ended"]


def test_an_answer_is_an_event() -> None:
    """The object that came back enters the cache, confirmed at the begin of the request, and wakes its key."""
    engine = an_engine(a_room(once))
    engine.seen(a_seen(), NOW)
    effect = only_effect(engine)
    written = a_seen(version="9", unschedulable=True)

    engine.ended(effect, Done(NOW.mono, written), later(2))

    assert Present(written.obj, "9", NOW.mono, NOW.mono, later(2).mono) == engine.cache.read(A)
    assert () == step(engine, later(2)).effects


def test_an_answer_that_it_is_gone_is_not_about_what_came_since() -> None:
    """A live read began before another object of that name was there, and was answered late: that one stays."""
    engine = an_engine(a_room(lambda view, now: want(Confirm(A))))
    engine.seen(a_seen(), NOW)
    effect = only_effect(engine)
    engine.seen(a_seen(uid="new", version="9"), later(1))

    engine.ended(effect, Done(NOW.mono, gone=True), later(2))

    entry = engine.cache.read(A)
    assert isinstance(entry, Present)
    assert "new" == entry.obj.uid


def test_an_answer_that_it_is_gone_is_an_event() -> None:
    """A live read or a deletion that finds nothing makes the absence a fact."""
    engine = an_engine(a_room(lambda view, now: want(Confirm(A))))
    engine.seen(a_seen(), NOW)

    engine.ended(only_effect(engine), Done(NOW.mono, gone=True), later(1))

    assert Absent(NOW.mono) == engine.cache.read(A)
    assert () == step(engine, later(1)).effects


GONE = Seen(A, "uid", "9", None)


def test_an_answer_brings_nobody_back_who_went_meanwhile() -> None:
    """A write is answered when the watch has told already that its object is deleted: it stays deleted, for no event
    would ever take it away again (L6, dense seed 145 of an earlier state).
    """
    engine = an_engine(a_room(once))
    engine.seen(a_seen(), NOW)
    effect = only_effect(engine)
    engine.seen(a_seen(version="8", unschedulable=True), later(1))
    engine.gone(GONE, later(1))

    engine.ended(effect, Done(NOW.mono, a_seen(version="8", unschedulable=True)), later(2))

    assert Absent() == engine.cache.read(A)
    assert () == step(engine, later(2)).effects


def test_whoever_has_the_name_by_now_is_not_overwritten() -> None:
    """Also where versions tell nothing of what is older: it is known by its uid that it went."""
    engine = an_engine(a_room(once))
    engine.seen(a_seen(version="x"), NOW)
    effect = only_effect(engine)
    engine.gone(GONE, later(1))
    engine.seen(a_seen(version="z", uid="new"), later(1))

    engine.ended(effect, Done(NOW.mono, a_seen(version="y", unschedulable=True)), later(2))

    entry = engine.cache.read(A)
    assert isinstance(entry, Present)
    assert ("new", "z", None) == (entry.obj.uid, entry.resource_version, entry.confirmed_at)


def test_what_is_made_anew_under_the_name_is_entered() -> None:
    """What an answer shows is another object than the one that went."""
    engine = an_engine(a_room(once))
    engine.seen(a_seen(), NOW)
    effect = only_effect(engine)
    engine.gone(GONE, later(1))

    engine.ended(effect, Done(NOW.mono, a_seen(version="12", uid="new", unschedulable=True)), later(2))

    entry = engine.cache.read(A)
    assert isinstance(entry, Present)
    assert "new" == entry.obj.uid


def test_who_went_is_remembered_only_until_the_answer() -> None:
    """The next question is about what is there then; of what nobody has asked about nothing is remembered at all."""
    engine = an_engine(a_room(lambda view, now: NOTHING if view[0] == C else always(view, now)))
    for at in (A, B, C):
        engine.seen(a_seen(at), NOW)
    first, second = step(engine).effects
    engine.gone(GONE, NOW)
    engine.gone(Seen(C, "uid", "9", None), NOW)
    assert [True, False, False] == [engine.ledger.has_missed(at, "uid") for at in (A, B, C)]

    engine.ended(first, Done(NOW.mono, a_seen(version="8")), later(1))
    engine.ended(second, Done(NOW.mono, a_seen(B, version="8")), later(1))
    assert not engine.ledger.has_missed(A, "uid")


def test_an_answer_from_before_a_list_that_does_not_name_it_is_not_entered() -> None:
    """Made by a write, deleted before the list was made, and answered after it: no event will tell of the deletion.

    If it was made after the list, the watch tells of it.
    """
    engine = an_engine(a_room(lambda view, now: want(Confirm(B)) if view[0] == A else NOTHING))
    engine.seen(a_seen(), NOW)
    effect = only_effect(engine)
    engine.listing(NODE, later(1))
    engine.seen(a_seen(), later(1))
    engine.listed(NODE, later(1))

    engine.ended(effect, Done(NOW.mono, a_seen(B, version="8")), later(2))
    assert Absent() == engine.cache.read(B)

    engine.seen(a_seen(B, version="8"), later(3))
    again = only_effect(engine, later(3))
    engine.ended(again, Done(later(3).mono, a_seen(B, version="8")), later(4))
    entry = engine.cache.read(B)
    assert isinstance(entry, Present)
    assert later(3).mono == entry.confirmed_at


def test_an_older_answer_does_not_overwrite_what_was_seen_since() -> None:
    """The watch has shown a later version than the answer to a write: that one stays."""
    engine = an_engine(a_room(once))
    engine.seen(a_seen(), NOW)
    effect = only_effect(engine)
    newer = a_seen(version="9", unschedulable=True)
    engine.seen(newer, later(1))

    engine.ended(effect, Done(NOW.mono, a_seen(version="8")), later(2))

    assert Present(newer.obj, "9", NOW.mono, None, later(1).mono) == engine.cache.read(A)


# --- after failures ------------------------------------------------------------------------------------------


def test_an_unknown_outcome_is_looked_at_before_anything_else() -> None:
    """Nobody knows whether it happened: after the pause the object is read live, and only then decided on."""
    decided: list[Now] = []

    def decide(view: Any, now: Now) -> Decision:
        decided.append(now)
        return want(drop(A))

    engine = an_engine(a_room(decide))
    engine.seen(a_seen(), NOW)
    engine.ended(only_effect(engine), Unknown("no answer"), NOW)

    assert () == step(engine, later(0.1)).effects
    look = only_effect(engine, later(1))
    assert (Confirm(A), [NOW]) == (look.action, decided)
    done(engine, look, later(1), seen=a_seen(version="2"))
    assert drop(A) == only_effect(engine, later(1)).action


def test_a_failed_key_waits_its_pause() -> None:
    """After a failure the key is left alone until its pause is over, whatever happens meanwhile."""
    engine = an_engine(a_room(always))
    engine.seen(a_seen(), NOW)
    engine.ended(only_effect(engine), Failed("busy"), NOW)

    assert () == step(engine).effects
    assert Mono(NOW.mono.ms + 150) == engine.next_wake()
    engine.seen(a_seen(version="2", labels={}), NOW)
    assert () == step(engine, later(0.149)).effects
    assert drop(A) == only_effect(engine, later(0.15)).action


def test_trouble_is_over_when_nothing_is_wanted() -> None:
    """Somebody else mended it: the next failure, whenever it comes, is the first of a new row."""
    engine = an_engine(a_room(once))
    engine.seen(a_seen(), NOW)
    now = NOW
    for _ in range(4):
        engine.ended(only_effect(engine, now), Failed("busy"), now)
        now = later(100, now)
    engine.seen(a_seen(version="2", unschedulable=True), now)
    step(engine, now)
    assert engine.ledger.trouble(key(A)) is None

    engine.seen(a_seen(version="3"), now)
    engine.ended(only_effect(engine, now), Failed("busy"), now)
    trouble = engine.ledger.trouble(key(A))
    assert trouble is not None
    assert (1, ()) == (trouble.times, step(engine, now).notices)


# --- our own mistakes ----------------------------------------------------------------------------------------


def hold(at: Ref) -> AddRebootAnnotation:
    return AddRebootAnnotation(at, Guard("u"), Hold("m", Wall(0)))


def raises(error: Exception) -> Any:
    def decide(view: Any, now: Now) -> Decision:
        if view[0] == A:
            raise error
        return want(drop(view[0]))

    return decide


BROKEN = {
    "an assertion": raises(AssertionError("a rule")),
    "a bug": raises(Bug("a rule")),
    "any other error": raises(KeyError("a rule")),
    "an action that the room may not ask for": lambda view, now: want(hold(A)) if view[0] == A else want(drop(view[0])),
    "an action without a reason": lambda view, now: want(drop(view[0]), because=() if view[0] == A else (WHY,)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_costs_one_key(name: str) -> None:
    """The key is left alone with a reason, others go on, and it is looked at again when its object changes."""
    engine = an_engine(a_room(BROKEN[name]))
    engine.seen(a_seen(A), NOW)
    engine.seen(a_seen(B), NOW)

    output = step(engine)

    assert [key(B)] == [effect.key for effect in output.effects]
    assert [RoomBroken] == [type(notice.reason) for notice in output.notices if notice.ref == A]
    assert () == step(engine).notices
    engine.seen(a_seen(A, "2", labels={}), NOW)
    assert 1 == len(engine.queue)


def test_a_view_that_cannot_be_made_costs_one_key() -> None:
    """Looking is our own code as well."""

    def sees(at: Ref, reader: Reader) -> Any:
        if at == A:
            raise Bug("cannot look")
        return entry_of(at, reader)

    engine = an_engine(a_room(always, sees=sees))
    engine.seen(a_seen(A), NOW)
    engine.seen(a_seen(B), NOW)

    output = step(engine)

    assert [key(B)] == [effect.key for effect in output.effects]
    assert RoomBroken("cannot look") in [notice.reason for notice in output.notices]


def test_two_irreversible_actions_are_refused() -> None:
    """At most one act that cannot be undone per decision, even for a room that may ask for it."""
    may = frozenset({AddRebootAnnotation, DropBackup})
    engine = an_engine(a_room(lambda view, now: want(hold(A), hold(B)), may=may))
    engine.seen(a_seen(), NOW)

    output = step(engine)

    assert () == output.effects
    assert [RoomBroken] == [type(notice.reason) for notice in output.notices]


@pytest.mark.parametrize(("seconds", "then"), [(0.5, "DeletePod"), (5.5, None)])
def test_a_proof_lasts_for_seconds(seconds: float, then: str | None) -> None:
    """Of many acts on one proof those that would begin too late are dropped, and the key is looked at again."""
    proof = a_proof()
    pods = [DeletePod(ref(POD, name, "default"), Guard(name), proof.subject, proof) for name in ("one", "two")]
    looks: list[int] = []

    def decide(view: Any, now: Now) -> Decision:
        looks.append(now.mono.ms - NOW.mono.ms)
        return want(*pods)

    engine = an_engine(a_room(decide, may=frozenset({DeletePod})))
    engine.seen(a_seen(), NOW)
    effect = only_effect(engine)

    following = done(engine, effect, later(seconds))
    step(engine, later(seconds))

    assert then == (type(following.action).__name__ if following else None)
    assert [0] + ([] if then else [round(seconds * 1000)]) == looks


# --- time ----------------------------------------------------------------------------------------------------


def test_the_engine_looks_again_when_a_decision_says_so() -> None:
    """`wake_at` is kept, and replaced by what the next decision says."""
    seen_at: list[int] = []

    def decide(view: Any, now: Now) -> Decision:
        seen_at.append(now.mono.ms - NOW.mono.ms)
        return want(because=(WHY,), wake_at=now.mono + Span(10_000))

    engine = an_engine(a_room(decide))
    engine.seen(a_seen(), NOW)
    for seconds in (0, 4, 10, 12, 20):
        step(engine, later(seconds))
    engine.seen(a_seen(version="2", labels={}), later(22))
    step(engine, later(22))

    assert [0, 10_000, 20_000, 22_000] == seen_at
    assert later(32).mono == engine.next_wake()


def test_a_room_that_wants_to_be_asked_at_once_stops_nobody() -> None:
    """A moment that is not in the future is a mistake of the room's: it is asked again a little later, not for ever."""
    looks: list[int] = []

    def decide(view: Any, now: Now) -> Decision:
        looks.append(now.mono.ms - NOW.mono.ms)
        return want(because=(WHY,), wake_at=NOW.mono)

    engine = an_engine(a_room(decide))
    engine.seen(a_seen(), NOW)
    for seconds in (0, 0, 0.05, 0.1, 0.15):
        step(engine, later(seconds))

    assert [0, 100] == looks


def test_a_step_of_the_wall_clock_re_arms_the_timers() -> None:
    """Wakes stand on the monotonic clock for moments of the wall clock: when that is set, all are decided anew."""
    until = NOW.wall + Span(60_000)

    def decide(view: Any, now: Now) -> Decision:
        return want(because=(WHY,), wake_at=now.until(until)) if now.wall < until else want(drop(A))

    engine = an_engine(a_room(decide))
    engine.seen(a_seen(), NOW)
    step(engine)
    stepped = Now(NOW.wall + Span(50_000), NOW.mono + Span(1_000))

    assert () == step(engine, stepped).effects
    assert NOW.mono + Span(11_000) == engine.next_wake()
    assert 1 == len(step(engine, Now(until, NOW.mono + Span(11_000))).effects)


@pytest.mark.parametrize(("ahead", "since"), [(600, 1_000), (20, 0), (-600, 0)])
def test_a_clock_that_is_set_ahead_begins_our_watch_anew(ahead: int, since: int) -> None:
    """Silence would seem to have lasted for long, and every timeout to be over, of all nodes at once."""
    engine = an_engine(a_room(lambda view, now: NOTHING))
    step(engine)
    step(engine, Now(NOW.wall + Span.seconds(ahead), NOW.mono + Span(1_000)))

    assert NOW.mono + Span(since) == contact_since(engine.cache)


def test_a_drift_below_a_second_is_no_step() -> None:
    """Small corrections of the wall clock do not cause looks."""
    count = 0

    def decide(view: Any, now: Now) -> Decision:
        nonlocal count
        count += 1
        return want(because=(WHY,), wake_at=later(60).mono)

    engine = an_engine(a_room(decide))
    engine.seen(a_seen(), NOW)
    step(engine)
    step(engine, Now(NOW.wall + Span(2_000), NOW.mono + Span(1_000)))

    assert 1 == count


# --- objects that come and go --------------------------------------------------------------------------------


def test_a_deleted_object_is_gone_and_wakes_its_keys() -> None:
    """The key of a gone object has no decision and no timer left."""
    engine = an_engine(a_room(lambda view, now: want(because=(WHY,), wake_at=later(60).mono)))
    engine.seen(a_seen(), NOW)
    step(engine)
    assert key(A) in engine.decisions

    engine.gone(a_seen(), NOW)
    step(engine)

    assert (Absent(None), None, {}) == (engine.cache.read(A), engine.next_wake(), engine.decisions)


def test_a_late_deletion_does_not_hit_the_successor() -> None:
    """The deletion of a former object of that name leaves the new one alone."""
    engine = an_engine(a_room(idle))
    engine.seen(a_seen(uid="new", version="9"), NOW)

    engine.gone(a_seen(uid="old", version="8"), NOW)

    assert isinstance(engine.cache.read(A), Present)


def test_a_new_list_synthesises_deletions() -> None:
    """What a list does not name any more is gone, with all that follows from an event."""
    engine = an_engine(a_room(lambda view, now: want(because=(WHY,))))
    engine.seen(a_seen(A), NOW)
    engine.seen(a_seen(B), NOW)
    step(engine)

    engine.listing(NODE, NOW)
    engine.seen(a_seen(B), NOW)
    engine.listed(NODE, NOW)
    step(engine)

    assert (Absent(None), [key(B)]) == (engine.cache.read(A), list(engine.decisions))


def test_a_deletion_with_an_unreadable_last_state_is_one() -> None:
    """A watch that cannot read what was deleted still says that it was."""
    engine = an_engine(a_room(idle))
    engine.seen(a_seen(), NOW)

    engine.gone(Seen(A, "uid", "2", None), NOW)

    assert Absent(None) == engine.cache.read(A)


# --- dry -----------------------------------------------------------------------------------------------------


def test_a_dry_engine_only_reads() -> None:
    """Decisions are made and kept for whoever asks; of their actions only live reads are begun."""
    rooms = (
        a_room(lambda view, now: want(Confirm(view[0])) if view[0] == A else want(drop(view[0]))),
        a_room(always, name="writer"),
    )
    engine = an_engine(*rooms, is_dry=True)
    engine.seen(a_seen(A), NOW)
    engine.seen(a_seen(B), NOW)

    assert [Confirm(A)] == [effect.action for effect in step(engine).effects]
    assert (drop(B),) == engine.decisions[key(B)].actions
    assert 4 == len(engine.decisions)


def test_idle_means_no_effects() -> None:
    """With nothing wanted and nothing changing there is nothing: no effect, no notice, no timer, no queue."""
    engine = an_engine(a_room(idle))
    for at in (A, B, C):
        engine.seen(a_seen(at), NOW)
    step(engine)

    for seconds in range(1, 100):
        output = step(engine, later(seconds * 60))
        assert ((), ()) == (output.effects, output.notices)
    assert (0, None) == (len(engine.queue), engine.next_wake())


def test_what_is_not_served_is_told_again_and_changes_nothing() -> None:
    """Whoever looks now and then whether a kind is served costs nobody a walk through all objects."""
    engine = an_engine(a_room(lambda view, now: NOTHING))
    engine.unserved(INCIDENT, NOW)
    before = engine.trace.digest()
    engine.unserved(INCIDENT, later(1))
    assert before == engine.trace.digest()
    assert engine.cache.is_complete(INCIDENT)
