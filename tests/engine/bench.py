"""A bench for engine tests: small rooms made of one function, an engine with all kinds listed, and nodes to feed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.builders import NOW, RESOURCES, a_node

from noderemedy.engine.loop import Engine, Output
from noderemedy.engine.trace import Trace
from noderemedy.model.actions import Action, Confirm, DropBackup, Guard
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import NODE, Ref, ref
from noderemedy.model.outcome import Done, Effect, Key, Seen
from noderemedy.model.reasons import BackupUnneeded, Reason
from noderemedy.model.room import Index, Present, Reader, Room, Stage
from noderemedy.model.time import Mono, Now
from noderemedy.rooms import ROOMS

TOKEN = 7
A, B, C = (ref(NODE, name) for name in "abc")
WHY: Reason = BackupUnneeded("a test")
Decide = Callable[[Any, Now], Decision]


def key(at: Ref, room: str = "test") -> Key:
    return Key(room, at)


def drop(at: Ref) -> DropBackup:
    """A write that means nothing here."""
    return DropBackup(at, Guard("uid"))


def want(*actions: Action, because: tuple[Reason, ...] = (WHY,), wake_at: Mono | None = None) -> Decision:
    return Decision(actions, because, wake_at)


def entry_of(at: Ref, reader: Reader) -> Any:
    entry = reader.read(at)
    return (at, entry.obj) if isinstance(entry, Present) else None


def a_room(
    decide: Decide,
    *,
    name: str = "test",
    may: frozenset[type] = frozenset({Confirm, DropBackup}),
    indexes: tuple[Index, ...] = (),
    sees: Callable[[Ref, Reader], Any] = entry_of,
    stage: Stage = Stage.ACT,
) -> Room:
    """A room that watches nodes; its view is (ref, node)."""
    return Room(name, (NODE,), indexes, lambda at, obj, reader: (at,), sees, decide, may, stage)


def idle(view: Any, now: Now) -> Decision:
    return NOTHING


def listed(engine: Engine, now: Now = NOW) -> Engine:
    """All kinds that anybody watches, as far as this engine does, are complete."""
    for kind in RESOURCES:
        engine.listing(kind, now)
        engine.listed(kind, now)
    return engine


def an_engine(*rooms: Room, is_dry: bool = False, trace: Trace | None = None) -> Engine:
    return listed(Engine(rooms or ROOMS, is_dry=is_dry, trace=trace))


def a_seen(at: Ref = A, version: str = "1", *, uid: str = "uid", **node: Any) -> Seen:
    return Seen(at, uid, version, a_node(uid, **node))


def step(engine: Engine, now: Now = NOW, token: int | None = TOKEN) -> Output:
    return engine.step(now, token)


def only_effect(engine: Engine, now: Now = NOW) -> Effect:
    """The one effect that a step begins."""
    (effect,) = step(engine, now).effects
    return effect


def done(engine: Engine, effect: Effect, now: Now = NOW, seen: Seen | None = None) -> Effect | None:
    return engine.ended(effect, Done(now.mono, seen), now)
