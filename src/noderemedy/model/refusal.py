"""What the API refuses lastingly, as a fact: a room may have to publish that its action does not succeed.

Stated by the engine for the key whose action was refused; it goes when that action succeeds, or is not wanted any more.
"""

from __future__ import annotations

from noderemedy.model.decision import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.room import Present, Reader

REFUSAL = Kind(FACTS, "Refusal")


class Refusal(FactValue, frozen=True):
    """The API refused this action on this object, and will again until a person changes something."""

    action: str
    at: Ref
    why: str


def refusal_ref(room: str, key: Ref) -> Ref:
    return Ref(key.cluster, REFUSAL, key.namespace, f"{room} {key.kind} {key.name}")


def refusal(room: str, key: Ref, reader: Reader) -> Refusal | None:
    """What was refused to this key of this room last; None: nothing."""
    entry = reader.read(refusal_ref(room, key))
    return entry.obj if isinstance(entry, Present) else None
