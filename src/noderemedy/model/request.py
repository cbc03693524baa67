"""Requests for an external remediation, and the templates that they are made from. Seeds 003 and 004.

Their kinds are any kinds of any group, known only from the checks that name a template: so checks state what is
`Wanted`, programs follow it (`Engine.wanted`), and the engine says how far that is (`Followed`).
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.decision import Fact, FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.room import Present, Reader
from noderemedy.model.time import Wall

WANTED = Kind(FACTS, "Wanted")
FOLLOWED = Kind(FACTS, "Followed")
Pairs = tuple[tuple[str, str], ...]


class Template(Struct, frozen=True):
    """A `…Template`: what its requests look like. `body` is the JSON text of `spec.template` without its metadata."""

    uid: str
    body: str | Malformed = "{}"
    labels: Pairs = ()
    annotations: Pairs = ()


class ExternalRequest(Struct, frozen=True):
    """A request of a kind that we know nothing about: only its metadata matters here."""

    uid: str
    deleting: bool = False
    owner_uid: str = ""  # of the Machine that it is for; "" if it names none
    cloned_from: str = ""
    created: Wall | None = None

    @property
    def has_succeeded(self) -> bool:
        """Nobody knows."""
        return False


class Wanted(FactValue, frozen=True):
    """Requests of this kind have to be followed; its templates are read in the same version if that is served."""

    kind: Kind
    version: str

    @property
    def template(self) -> Kind:
        return Kind(self.kind.group, f"{self.kind.kind}Template")


class Followed(FactValue, frozen=True):
    """How far a wanted kind is: in sight, or not, and why. Stated by the engine, for what a program found."""

    kind: Kind
    missing: str = ""  # the kind that is not served: the request's or the template's
    refused: str = ""  # why the API does not show it

    @property
    def is_seen(self) -> bool:
        return not self.missing and not self.refused


def want(by: Ref, kind: Kind, version: str) -> Fact:
    """The fact by which a check, or a machine with a request, asks for a kind to be followed."""
    return Fact(Ref(by.cluster, WANTED, by.namespace, f"{kind} for {by.kind} {by.name}"), Wanted(kind, version))


def followed_ref(kind: Kind) -> Ref:
    return Ref("", FOLLOWED, "", str(kind))


def followed(kind: Kind, reader: Reader) -> Followed | None:
    """What is known of a wanted kind; None: nobody has looked yet."""
    entry = reader.read(followed_ref(kind))
    return entry.obj if isinstance(entry, Present) else None
