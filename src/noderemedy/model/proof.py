"""Proofs that a node cannot write any more. Rule: only `core/safety.py` builds them.

Each names its subject, the very boot of the very Node object it speaks of, and its evidence. A proof is used
in the decision that made it; traces write proofs, nothing reads them back. Time that passed is never a proof.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.time import Span, Wall

LASTS = Span.seconds(5)  # from the decision that made it until the last act that rests on it begins


class Subject(Struct, frozen=True):
    """One boot of one Node object."""

    node_uid: str
    boot_id: str


class PoweredOff(Struct, frozen=True):
    """The node's host was held off by us, and was seen off in a live read after that."""

    subject: Subject
    host_uid: str
    host_resource_version: str
    seen_at: Wall
    held_since: Wall | None

    def note(self) -> str:
        return f"PoweredOff host {self.host_uid} at {self.seen_at}, held since {self.held_since}"


class InstanceGone(Struct, frozen=True):
    """The provider said that the node's instance is deleted and let go of its Machine, as a live read showed."""

    subject: Subject
    machine_uid: str
    machine_resource_version: str
    provider_id: str
    seen_at: Wall


class FencedOff(Struct, frozen=True):
    """All that can power the node was switched off by us, and said so when it was asked after that; nobody hears it."""

    subject: Subject
    methods: tuple[str, ...]
    runs: tuple[str, ...]  # the names of the runs that asked
    seen_at: Wall

    def note(self) -> str:
        return f"FencedOff by {', '.join(self.methods)} at {self.seen_at}: runs {', '.join(self.runs)}"


class StorageFenced(Struct, frozen=True):
    """The node was cut off from the volumes that `covers` names, and from no others: frees only pods of those."""

    subject: Subject
    methods: tuple[str, ...]
    covers: tuple[str, ...]
    seen_at: Wall


class Attested(Struct, frozen=True):
    """Somebody gave their word that this boot is over: a person, or an administrator's configuration."""

    subject: Subject
    by: str
    at: Wall
    word: str

    def note(self) -> str:
        return attested_note(self.by, self.at)


WORD = "Attested by"


def attested_note(by: str, at: Wall) -> str:
    """How a record tells of somebody's word."""
    return f"{WORD} {by} at {at}"


def is_word(note: str) -> bool:
    """Whether a record tells of somebody's word, not of what a device has shown."""
    return note.startswith(f"{WORD} ")


Proof = PoweredOff | InstanceGone | FencedOff | StorageFenced | Attested
