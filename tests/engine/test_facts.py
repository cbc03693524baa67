"""Facts: what a room derives, the engine keeps and counts, and others are woken by; verdicts, then gates, then acts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import NOW, later
from tests.engine.bench import WHY, A, B, C, a_room, a_seen, an_engine, drop, only_effect, step, want

from noderemedy.core.healthcheck.facts import PermitFact, VerdictFact
from noderemedy.model.actions import Confirm
from noderemedy.model.budget import Granted, need
from noderemedy.model.decision import NOTHING, Decision, Fact, FactValue
from noderemedy.model.healthcheck import Unhealthy, Unjudged
from noderemedy.model.ids import FACTS, HEALTH_CHECK, NODE, Kind, Ref, ref
from noderemedy.model.outcome import Failed, Key, Unknown
from noderemedy.model.reasons import Reason, RoomBroken
from noderemedy.model.room import Index, Present, Reader, Room, Stage
from noderemedy.model.time import Now

VERDICT, GRANT = Kind(FACTS, "Verdict"), Kind(FACTS, "Grant")
HEALTH_AT = ref(HEALTH_CHECK, "workers", "metal")
POOL = ref(Kind(FACTS, "Pool"), "all")


class Sick(FactValue, frozen=True):
    """A test's verdict."""

    is_sick: bool


def verdict_of(at: Ref) -> Ref:
    return ref(VERDICT, at.name)


def state(view: Any, now: Now) -> Decision:
    at, node = view
    return Decision(facts=(Fact(verdict_of(at), Sick(node.unschedulable)),))


def tally_by_health(at: Ref, fact: Sick) -> tuple[str, ...]:
    return ("sick" if fact.is_sick else "well",)


HEALTH = Index("verdicts by health", VERDICT, tally_by_health)


def counting(looks: list[tuple[int, int]]) -> Room:
    """A room with one key that sees counts only, and writes down what it saw."""

    def sees(key: Ref, reader: Reader) -> Any:
        return (reader.tally("verdicts by health", "sick"), reader.tally("verdicts by health", "well"))

    def decide(view: Any, now: Now) -> Decision:
        looks.append(view)
        return NOTHING

    return Room("count", (VERDICT,), (HEALTH,), lambda at, obj, reader: (POOL,), sees, decide, frozenset(), Stage.GATE)


def judged() -> Room:
    return a_room(state, name="judge", stage=Stage.VERDICT)


def test_a_fact_wakes_those_who_watch_its_kind() -> None:
    """Counts follow the facts, and the counting key is looked at once for many of them."""
    looks: list[tuple[int, int]] = []
    engine = an_engine(judged(), counting(looks))
    for at, is_sick in ((A, True), (B, True), (C, False)):
        engine.seen(a_seen(at, unschedulable=is_sick), NOW)
    step(engine)
    engine.seen(a_seen(A, "2", unschedulable=False), NOW)
    step(engine)

    assert [(2, 1), (1, 2)] == looks


def test_a_fact_that_stays_the_same_wakes_nobody() -> None:
    """Deciding again on the same view is not news."""
    looks: list[tuple[int, int]] = []
    engine = an_engine(judged(), counting(looks))
    engine.seen(a_seen(A), NOW)
    step(engine)
    engine.seen(a_seen(A, "2", boot_id="another boot"), NOW)
    step(engine)

    assert [(0, 1)] == looks


def test_facts_go_with_their_key() -> None:
    """What a key no longer states is forgotten, and counted no more."""
    looks: list[tuple[int, int]] = []
    engine = an_engine(judged(), counting(looks))
    engine.seen(a_seen(A, unschedulable=True), NOW)
    step(engine)
    engine.gone(a_seen(A), NOW)
    step(engine)

    assert [(1, 0), (0, 0)] == looks
    assert not isinstance(engine.cache.read(verdict_of(A)), Present)


def test_all_verdicts_come_before_the_first_gate_and_all_gates_before_the_first_act() -> None:
    """The first part of a storm does not slip through: whatever the order of events, stages are drained in order."""
    order: list[str] = []

    def noting(name: str, stage: Stage) -> Room:
        def decide(view: Any, now: Now) -> Decision:
            order.append(name)
            return want(drop(view[0])) if stage is Stage.ACT else NOTHING

        return a_room(decide, name=name, stage=stage)

    rooms = [noting("act", Stage.ACT), noting("gate", Stage.GATE), noting("verdict", Stage.VERDICT)]
    engine = an_engine(*rooms)
    for at in (A, B):
        engine.seen(a_seen(at), NOW)
    step(engine)

    assert ["verdict", "verdict", "gate", "gate", "act", "act"] == order


def test_a_fact_stated_late_still_comes_before_an_act() -> None:
    """A gate that is woken by the last verdict of a step decides before anybody acts."""
    seen_by_act: list[int] = []

    def act(view: Any, now: Now) -> Decision:
        seen_by_act.append(view)
        return NOTHING

    acting = Room(
        "act",
        (NODE,),
        (),
        lambda at, obj, reader: (at,),
        lambda key, reader: reader.tally("verdicts by health", "sick"),
        act,
        frozenset(),
    )
    engine = an_engine(acting, counting([]), judged())
    for at in (A, B, C):
        engine.seen(a_seen(at, unschedulable=True), NOW)
    step(engine)

    assert [3, 3, 3] == seen_by_act


@pytest.mark.parametrize(("token", "seen"), [(7, [False, True]), (8, [False, False])])
def test_a_grant_of_an_earlier_term_is_none(token: int, seen: list[bool]) -> None:
    """Who leads again after somebody else forgets what it granted before anybody acts on that, and grants anew."""
    seen_by_act: list[bool] = []

    def act(view: Any, now: Now) -> Decision:
        seen_by_act.append(view)
        return NOTHING

    acting = a_room(act, name="act", sees=lambda key, reader: isinstance(reader.read(verdict_of(A)), Present))
    engine = an_engine(acting, a_room(state, name="grant", stage=Stage.GRANT))
    engine.seen(a_seen(A), NOW)
    step(engine, token=7)
    step(engine, token=None)
    engine.seen(a_seen(A, "2", unschedulable=True), NOW)
    step(engine, token=token)

    assert seen == seen_by_act
    assert isinstance(engine.cache.read(verdict_of(A)), Present)


def test_a_grant_of_before_a_gap_is_none() -> None:
    """Who could not see for a while grants anew before anybody acts: what is listed then may show a storm."""
    seen_by_act: list[bool] = []

    def act(view: Any, now: Now) -> Decision:
        seen_by_act.append(view)
        return NOTHING

    def granted(view: Any, now: Now) -> Decision:
        return Decision(facts=(Fact(verdict_of(view[0]), Licence()), Fact(ref(GRANT, "memory"), Sick(False))))

    acting = a_room(act, name="act", sees=lambda key, reader: isinstance(reader.read(verdict_of(A)), Present))
    engine = an_engine(acting, a_room(granted, name="grant", stage=Stage.GRANT))
    engine.seen(a_seen(A), NOW)
    step(engine)
    engine.lost(NODE, NOW)
    left = [isinstance(engine.cache.read(at), Present) for at in (verdict_of(A), ref(GRANT, "memory"))]
    engine.listing(NODE, NOW)
    engine.seen(a_seen(A, "2", unschedulable=True), NOW)
    engine.listed(NODE, NOW)
    step(engine)

    assert [False, True] == left, "what is no licence stays: what it remembers of a storm"
    assert [False, False] == seen_by_act
    assert isinstance(engine.cache.read(verdict_of(A)), Present)


def test_what_was_not_seen_cannot_be_lost() -> None:
    """A cluster that is not to be seen yet is told lost now and then: that ends nobody's grant."""

    def granted(view: Any, now: Now) -> Decision:
        return Decision(facts=(Fact(verdict_of(view[0]), Licence()),))

    engine = an_engine(a_room(granted, name="grant", stage=Stage.GRANT))
    engine.seen(a_seen(A), NOW)
    step(engine)
    engine.lost(NODE, NOW, "metal/young")

    assert isinstance(engine.cache.read(verdict_of(A)), Present)


@pytest.mark.parametrize("outcome", [None, Failed("a webhook says no"), Failed("conflict"), Unknown("no answer")])
def test_a_grant_is_of_now_while_the_write_of_who_grants_is_held_up(outcome: Failed | Unknown | None) -> None:
    """Be its write on its way, or refused and waiting: what is granted follows what is seen; no second write."""

    def granting(view: Any, now: Now) -> Decision:
        return Decision((drop(view[0]),), (WHY,), facts=state(view, now).facts)

    engine = an_engine(a_room(granting, name="grant", stage=Stage.GRANT))
    engine.seen(a_seen(A), NOW)
    effect = only_effect(engine)
    if outcome is not None:
        engine.ended(effect, outcome, NOW)
        if not isinstance(outcome, Unknown):
            step(engine)  # of an unknown one the next step begins with a live read
    before = engine.cache.read(verdict_of(A))
    engine.seen(a_seen(A, "2", unschedulable=True), NOW)
    effects = step(engine).effects
    after = engine.cache.read(verdict_of(A))

    assert isinstance(before, Present)
    assert isinstance(after, Present)
    assert (Sick(False), Sick(True)) == (before.obj, after.obj)
    assert [] == [one for one in effects if not isinstance(one.action, Confirm)]


def test_facts_need_no_list() -> None:
    """An engine is synced as soon as the API's kinds are: nobody lists facts."""
    assert an_engine(judged(), counting([])).is_synced


class Licence(FactValue, frozen=True):
    """A fact that needs somebody who stands by it."""

    def if_broken(self, why: Reason) -> None:
        return None


def test_what_a_room_stated_outlives_its_breaking() -> None:
    """A key whose room raises still states what was so; a licence ends, and all is stated anew when it is mended."""

    def breaks_on_two(view: Any, now: Now) -> Decision:
        if view[1].unschedulable:
            raise ValueError("two")
        return Decision(facts=(Fact(verdict_of(A), Sick(True)), Fact(ref(GRANT, "one"), Licence())), because=(WHY,))

    engine = an_engine(a_room(breaks_on_two, name="judge", stage=Stage.VERDICT))

    def stated() -> list[bool]:
        return [isinstance(engine.cache.read(at), Present) for at in (verdict_of(A), ref(GRANT, "one"))]

    found = []
    for version, is_broken in enumerate((False, True, True, False)):
        engine.seen(a_seen(A, str(version), unschedulable=is_broken, labels={"look": str(version)}), NOW)
        step(engine)
        found.append(stated())

    assert [[True, True], [True, False], [True, False], [True, True]] == found


def test_what_was_stated_of_an_object_outlives_its_breaking() -> None:
    """One that cannot be read any more is as it was, and its repair counts; where it is gone, all of it goes."""

    def sick(view: Any, now: Now) -> Decision:
        return Decision(facts=(Fact(verdict_of(A), Sick(True)), Fact(ref(GRANT, "one"), Licence())), because=(WHY,))

    engine = an_engine(a_room(sick, name="judge", stage=Stage.VERDICT))

    def stated() -> list[bool]:
        step(engine)
        return [isinstance(engine.cache.read(at), Present) for at in (verdict_of(A), ref(GRANT, "one"))]

    engine.seen(a_seen(A, "1"), NOW)
    found = [stated()]
    engine.unreadable(A, "uid", "2", "garbage", NOW)
    found.append(stated())
    engine.seen(a_seen(A, "3", unschedulable=True), NOW)
    found.append(stated())
    engine.unreadable(A, "uid", "4", "garbage", NOW)
    found.append(stated())
    engine.gone(a_seen(A, "5"), NOW)
    found.append(stated())

    assert [[True, True], [True, False], [True, True], [True, False], [False, False]] == found


@pytest.mark.parametrize("again", [False, True])
def test_a_repair_of_what_cannot_be_read_gives_its_place_back(again: bool) -> None:
    """After ten minutes since it could be read last, however often somebody writes on it; it keeps its claim."""
    asked = need(A, "test", NOW.wall, is_running=True)
    engine = an_engine(a_room(lambda view, now: Decision(facts=(asked,), because=(WHY,)), name="judge"))
    engine.seen(a_seen(A, "1"), NOW)
    step(engine)
    engine.unreadable(A, "uid", "2", "garbage", NOW)
    found = []
    for seconds in (0, 599, 600):
        if again:
            engine.unreadable(A, "uid", str(3 + seconds), f"garbage {seconds}", later(seconds))
        step(engine, later(seconds))
        entry = engine.cache.read(asked.ref)
        assert isinstance(entry, Present)
        found.append((entry.obj.is_running, entry.obj.is_stuck))

    assert [(True, False), (True, False), (True, True)] == found


def test_what_is_left_of_each_fact() -> None:
    """A need goes on; a grant ends; a verdict becomes none, and the permission of a check closes."""
    verdict = VerdictFact(HEALTH_AT, Unhealthy(NOW.wall, ()), is_under_repair=False)
    asked = need(A, "test", NOW.wall, is_running=True).value

    stated = (asked, Granted(A, NOW.wall), verdict, PermitFact(HEALTH_AT, is_open=True))
    left = [one.if_broken(RoomBroken("x")) for one in stated]

    judged = VerdictFact(HEALTH_AT, Unjudged((RoomBroken("x"),)), is_under_repair=False)
    assert [asked, None, judged, PermitFact(HEALTH_AT, is_open=False)] == left


def test_a_room_states_only_its_own_facts() -> None:
    """Two keys that state the same fact are a bug of ours: the second one costs its key."""

    def same(view: Any, now: Now) -> Decision:
        return Decision(facts=(Fact(ref(VERDICT, "one"), Sick(True)),), because=(WHY,))

    engine = an_engine(a_room(same, name="judge", stage=Stage.VERDICT))
    engine.seen(a_seen(A), NOW)
    engine.seen(a_seen(B), NOW)
    step(engine)

    names = [type(reason).__name__ for reason in engine.decisions[Key("judge", B)].because]
    assert ["RoomBroken"] == names
