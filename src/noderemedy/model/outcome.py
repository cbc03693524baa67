"""Effects (actions in flight) and their outcomes. No answer is an outcome, never an error."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from noderemedy.model.actions import Action
from noderemedy.model.ids import Ref
from noderemedy.model.time import Mono, Wall


class Key(Struct, frozen=True, order=True, cache_hash=True):
    """What the engine queues: one object as one room looks at it."""

    room: str
    ref: Ref


class Seen(Struct, frozen=True):
    """An object as it was last seen. The version stays outside `obj`: heartbeats change nothing else.

    `stamp` stands for the bytes that `obj` was read from, where somebody took one (`wire/heartbeats.py`).
    """

    ref: Ref
    uid: str
    resource_version: str
    obj: Any
    stamp: int | None = None


class Effect(Struct, frozen=True):
    """An action in flight, with the token of the leader that wanted it."""

    number: int
    key: Key
    action: Action
    token: int
    decided_at: Mono | None = None  # None: nobody decided it, a doubt has to be settled


class Done(Struct, frozen=True):
    """It happened. `seen` is the object that came back; None for a Confirm or a delete: it is not there."""

    begun: Mono
    seen: Seen | None = None
    gone: bool = False
    date: Wall | None = None


class Failed(Struct, frozen=True):
    """It surely did not happen. `conflict`: our view was old. `lasting`: a person must change something."""

    why: str
    conflict: bool = False
    lasting: bool = False
    retry_after_ms: int = 0


class Unknown(Struct, frozen=True):
    """Nobody knows whether it happened: look before anything else."""

    why: str


Outcome = Done | Failed | Unknown
