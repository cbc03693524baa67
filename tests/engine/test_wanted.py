"""Kinds that are known only from facts: wanted, followed, in sight or not, forgotten; none of it holds up others."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from tests.builders import DOCTOR, NOW, later
from tests.engine.bench import A, B, a_room, a_seen, an_engine, done, drop, only_effect, step, want

from noderemedy.engine.loop import Engine
from noderemedy.model import request
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import NODE, Kind, Ref, ref
from noderemedy.model.outcome import Failed, Seen
from noderemedy.model.refusal import Refusal, refusal
from noderemedy.model.request import FOLLOWED, ExternalRequest, Followed, Wanted, followed
from noderemedy.model.room import Absent, Present, Reader, Room, Stage, Unseen
from noderemedy.model.time import Now

NURSE = Kind("example.com", "Nurse")
DOCTOR_OF_A = ref(DOCTOR, "a")


class Sight(Struct, frozen=True):
    """What a test's room sees of its doctor."""

    kind: Followed | None
    doctor: str


def asking(name: str = "ask") -> Room:
    """A node that cannot be scheduled wants a doctor; one that was booted twice wants a nurse as well."""

    def decide(view: Any, now: Now) -> Decision:
        at, node = view
        kinds = [kind for kind, is_needed in ((DOCTOR, node.unschedulable), (NURSE, node.boot_id == "2")) if is_needed]
        return Decision(facts=tuple(request.want(at, kind, "v1") for kind in kinds))

    return a_room(decide, name=name, stage=Stage.SPEC)


def taking(looks: list[Sight]) -> Room:
    """A room that is woken by doctors, and writes down how much it sees of that of node `a`."""

    def sees(at: Ref, reader: Reader) -> Any:
        return Sight(followed(DOCTOR, reader), type(reader.read(DOCTOR_OF_A)).__name__)

    def decide(view: Any, now: Now) -> Decision:
        looks.append(view)
        return NOTHING

    return Room("take", (FOLLOWED,), (), lambda at, obj, reader: (A,), sees, decide, frozenset(), takes_requests=True)


def a_doctor(name: str = "a", version: str = "1", **more: Any) -> Seen:
    return Seen(ref(DOCTOR, name), "doctor-uid", version, ExternalRequest("doctor-uid", **more))


def wanting(*rooms: Room) -> Engine:
    """An engine that has found out that doctors are wanted."""
    engine = an_engine(*rooms)
    engine.unfollowed(DOCTOR, NOW)  # the bench lists all kinds that it knows
    engine.seen(a_seen(A, unschedulable=True), NOW)
    step(engine)
    return engine


def list_doctors(engine: Engine, *doctors: Seen) -> None:
    engine.listing(DOCTOR, NOW)
    for doctor in doctors:
        engine.seen(doctor, NOW)
    engine.listed(DOCTOR, NOW)
    engine.followed(DOCTOR, NOW)


def test_a_kind_is_wanted_while_some_key_says_so() -> None:
    """Once for many who want it, in order, until the last one has withdrawn."""
    engine = wanting(asking())
    engine.seen(a_seen(B, uid="b", unschedulable=True, boot_id="2"), NOW)
    step(engine)
    both = engine.wanted
    engine.gone(a_seen(A), NOW)
    step(engine)
    still = engine.wanted
    engine.seen(a_seen(B, "2", uid="b"), NOW)
    step(engine)

    assert (Wanted(DOCTOR, "v1"), Wanted(NURSE, "v1")) == both == still
    assert () == engine.wanted


def test_a_version_that_somebody_names_counts_more_than_none() -> None:
    """Whoever only keeps a kind in sight need not know its version."""

    def decide(view: Any, now: Now) -> Decision:
        return Decision(facts=(request.want(view[0], DOCTOR, "" if view[0] == A else "v2"),))

    engine = an_engine(a_room(decide))
    engine.seen(a_seen(A), NOW)
    engine.seen(a_seen(B), NOW)
    step(engine)

    assert (Wanted(DOCTOR, "v2"),) == engine.wanted


def test_nobody_waits_for_a_wanted_kind() -> None:
    """The engine is in step without it, and other rooms go on."""
    engine = wanting(asking(), a_room(lambda view, now: want(drop(view[0])), name="other"))

    assert engine.is_synced
    assert [A] == [effect.key.ref for effect in engine.ledger.in_flight()]


def test_what_is_not_listed_is_unseen() -> None:
    """Neither there nor absent; the list makes it one of the two, and wakes those who wait for it."""
    looks: list[Sight] = []
    engine = wanting(asking(), taking(looks))
    before = engine.cache.read(DOCTOR_OF_A)
    list_doctors(engine, a_doctor("b"))
    step(engine)

    assert (Unseen(), Absent()) == (before, engine.cache.read(DOCTOR_OF_A))
    assert [Sight(Followed(DOCTOR), "Absent")] == looks


def test_a_request_wakes_those_who_take_requests() -> None:
    """It comes, changes and goes; a heartbeat wakes nobody."""
    looks: list[Sight] = []
    engine = wanting(asking(), taking(looks))
    list_doctors(engine)
    step(engine)
    for seen in (a_doctor(), a_doctor(version="2"), a_doctor(version="3", deleting=True)):
        engine.seen(seen, NOW)
        step(engine)
    engine.gone(a_doctor(version="4", deleting=True), NOW)
    step(engine)

    assert ["Absent", "Present", "Present", "Absent"] == [look.doctor for look in looks]


def test_what_was_seen_before_the_list_was_complete_is_looked_at_again() -> None:
    """A long list comes in pages, and the engine may step between two of them; said once, it is no news."""
    looks: list[Sight] = []
    room = replace(taking(looks), wakes=lambda at, obj, reader: (A,) if at.kind == DOCTOR else ())
    engine = wanting(asking(), room)
    engine.listing(DOCTOR, NOW)
    engine.seen(a_doctor(), NOW)
    step(engine)
    engine.listed(DOCTOR, NOW)
    for _ in range(2):
        engine.followed(DOCTOR, NOW)
        step(engine)

    assert [Sight(None, "Present"), Sight(Followed(DOCTOR), "Present")] == looks


def test_an_object_of_a_kind_that_nobody_wants_wakes_nobody() -> None:
    """A late event of a watch that is being closed."""
    looks: list[Sight] = []
    engine = an_engine(asking(), taking(looks))
    engine.seen(a_doctor(), NOW)
    step(engine)

    assert [] == looks


def test_a_kind_that_cannot_be_seen_says_why() -> None:
    """Not served, then refused, then in sight: each is news, and what was seen before counts no more."""
    looks: list[Sight] = []
    engine = wanting(asking(), taking(looks))
    for trouble in ({"missing": "Doctor.example.com"}, {"refused": "forbidden"}):
        engine.followed(DOCTOR, NOW, **trouble)
        step(engine)
    list_doctors(engine, a_doctor())
    step(engine)
    engine.followed(DOCTOR, NOW, refused="forbidden")
    step(engine)
    not_listed = engine.cache.is_complete(DOCTOR)

    assert [
        Sight(Followed(DOCTOR, missing="Doctor.example.com"), "Unseen"),
        Sight(Followed(DOCTOR, refused="forbidden"), "Unseen"),
        Sight(Followed(DOCTOR), "Present"),
        Sight(Followed(DOCTOR, refused="forbidden"), "Present"),
    ] == looks
    assert not not_listed
    assert engine.is_synced


def test_a_kind_that_nobody_follows_is_forgotten() -> None:
    """Objects, completeness and what was known of it."""
    engine = wanting(asking(), taking([]))
    list_doctors(engine, a_doctor())
    engine.unreadable(ref(DOCTOR, "b"), "u", "1", "garbage", NOW)
    engine.unfollowed(DOCTOR, NOW)

    assert [] == engine.cache.refs_of(DOCTOR)
    assert (Unseen(), None) == (engine.cache.read(DOCTOR_OF_A), followed(DOCTOR, engine.cache))


def test_a_kind_that_a_room_watches_anyway_stays() -> None:
    """Wanted or not: it is part of being in step, and is never lost because of a template."""
    engine = an_engine(asking(), replace(a_room(lambda view, now: NOTHING, name="own"), watches=(NODE, DOCTOR)))
    engine.seen(a_doctor(), NOW)
    engine.followed(DOCTOR, NOW, missing="DoctorTemplate.example.com")
    in_step = engine.is_synced
    engine.unfollowed(DOCTOR, NOW)

    assert (True, True) == (in_step, engine.is_synced)
    assert isinstance(engine.cache.read(DOCTOR_OF_A), Present)


def test_who_watches_and_takes_a_kind_is_asked_once() -> None:
    """Its keys are the same either way."""
    asked: list[Ref] = []

    def wakes(at: Ref, obj: Any, reader: Reader) -> tuple[Ref, ...]:
        asked.append(at)
        return ()

    room = Room("both", (DOCTOR,), (), wakes, lambda at, reader: None, lambda v, n: NOTHING, frozenset())
    engine = an_engine(asking(), replace(room, takes_requests=True))
    engine.seen(a_seen(A, unschedulable=True), NOW)
    step(engine)
    engine.seen(a_doctor(), NOW)

    assert [DOCTOR_OF_A] == asked


# --- refusals ------------------------------------------------------------------------------------------------------

DENIED = Failed("denied", lasting=True)


def refused_engine() -> Engine:
    """An engine whose only write was refused."""
    engine = an_engine(a_room(lambda view, now: want(drop(A)) if not view[1].unschedulable else NOTHING))
    engine.seen(a_seen(A), NOW)
    engine.ended(only_effect(engine), DENIED, NOW)
    return engine


def test_a_lasting_refusal_is_a_fact() -> None:
    """So that a room can publish it; a conflict or an outage is none."""
    engine = refused_engine()
    passing = an_engine(a_room(lambda view, now: want(drop(A))))
    passing.seen(a_seen(A), NOW)
    passing.ended(only_effect(passing), Failed("conflict", conflict=True), NOW)

    assert Refusal("DropBackup", A, "denied") == refusal("test", A, engine.cache)
    assert refusal("test", A, passing.cache) is None


def test_a_refusal_goes_when_the_act_succeeds() -> None:
    """And only by that act: a room that publishes the refusal does not thereby end it."""
    other = drop(B)
    engine = an_engine(a_room(lambda view, now: want(other, drop(A))))
    engine.seen(a_seen(A), NOW)
    more = done(engine, only_effect(engine))
    assert more is not None
    engine.ended(more, DENIED, NOW)
    second = only_effect(engine, later(90))
    more = done(engine, second, later(90))
    during = refusal("test", A, engine.cache)
    assert more is not None
    done(engine, more, later(90))

    assert (Refusal("DropBackup", A, "denied"), None) == (during, refusal("test", A, engine.cache))


def test_a_refusal_goes_when_nothing_is_wanted() -> None:
    """A key without wishes has no trouble."""
    engine = refused_engine()
    engine.seen(a_seen(A, "2", unschedulable=True), later(90))
    step(engine, later(90))

    assert refusal("test", A, engine.cache) is None
