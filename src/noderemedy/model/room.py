"""The shape of a room, and what it may read. The engine implements `Reader`; rooms never import the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any, Protocol

from msgspec import Struct

from noderemedy.model.decision import Decision
from noderemedy.model.ids import Kind, Ref
from noderemedy.model.reasons import Reason
from noderemedy.model.time import Mono, Now, Wall


class Present(Struct, frozen=True):
    """The object is there. `confirmed_at`: begin of the last live read that returned it; `stamp`: as in `Seen`."""

    obj: Any
    resource_version: str
    first_seen: Mono
    confirmed_at: Mono | None = None
    changed_at: Mono = Mono(0)  # since when we know it to be as it is
    stamp: int | None = None


class Absent(Struct, frozen=True):
    """The cache holds no such object. Only `confirmed_at`, a live read, makes that a fact."""

    confirmed_at: Mono | None = None


class Unreadable(Struct, frozen=True):
    """The object is there, but cannot be read: neither absent nor anything to judge by.

    Whose it was is known, if it could be read before: indexes still find it by that.
    """

    uid: str
    resource_version: str
    problem: str
    last: Any = None  # as it was when it could be read, if this process saw that


class Unseen(Struct, frozen=True):
    """We do not watch this kind, or have not listed it yet: neither there nor absent."""


Entry = Present | Absent | Unreadable | Unseen


def known(entry: Entry) -> Any:
    """An object as it is, or as it was when it could still be read; None: nobody knows. For whose it is, not how."""
    return entry.obj if isinstance(entry, Present) else entry.last if isinstance(entry, Unreadable) else None


class Index(Struct, frozen=True):
    """A way to find objects of a kind by a value that they carry. Kept up to date event by event."""

    name: str
    kind: Kind
    of: Callable[[Ref, Any], tuple[str, ...]]


class Stage(IntEnum):
    """When a room's keys are looked at: all specs before the first verdict, then all gates, then the first act.

    What was found is told before it is noted for those who act, and acted on: a first look at thousands of machines
    takes a while. Grants come last: one write of the budget's ledger answers all who asked meanwhile.
    """

    SPEC = 0
    VERDICT = 1
    GATE = 2
    TELL = 3
    NOTE = 4
    ACT = 5
    GRANT = 6


class Reader(Protocol):
    """What a room may ask of the engine's cache."""

    def read(self, ref: Ref) -> Entry: ...

    def find(self, index: str, value: str) -> tuple[Ref, ...]: ...

    def tally(self, index: str, value: str) -> int: ...

    def has(self, index: str) -> bool: ...


class Passage(Struct, frozen=True):
    """One gate as `explain` shows it; without a reason it is open."""

    gate: str
    reason: Reason | None = None
    until: Wall | None = None


class Room(Struct, frozen=True):
    """One pure function with its surroundings: what it watches, whom an event concerns, what it may ask for."""

    name: str
    watches: tuple[Kind, ...]
    indexes: tuple[Index, ...]
    wakes: Callable[[Ref, Any, Reader], Iterable[Ref]]  # the object is None where it cannot be read
    sees: Callable[[Ref, Reader], Any]  # the room's own View, or None: nothing to judge
    decide: Callable[[Any, Now], Decision]
    may: frozenset[type]
    stage: Stage = Stage.ACT
    explains: Callable[[Any, Now], tuple[Passage, ...]] | None = None  # all gates of an acting room, for people
    secondary: tuple[Kind, ...] = ()  # their objects concern only keys that wake themselves: not asked about at a start
    takes_requests: bool = False  # woken as well by objects of kinds that are only `Wanted` (model/request.py)
