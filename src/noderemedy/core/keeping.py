"""The shared shelf: no repair begins whose record the API would forget.

An older definition of a kind, or another project's, lacks fields of ours, and the API server drops what is written
there without a word. What was seen and is not on record is not seen by the next decision, nor by the next leader: a
host that was found wrong would be trusted again.

Rule 1: where fields are missing nothing begins and nothing is freed, until the definition is renewed.
Rule 2: nobody knows is no permission: the same, until the definition was read.
"""

from __future__ import annotations

from noderemedy.core.gates import Blocked
from noderemedy.model.ids import Kind
from noderemedy.model.keeping import Unkept, definition_name, renewal
from noderemedy.model.reasons import DefinitionHidden, DefinitionUnread, RecordNotKept

NAMED = 5  # fields; who has to renew a definition needs no more


def kept(kind: Kind, found: Unkept | None) -> Blocked | None:
    """Whether all that we record in objects of this kind stays there, as far as its definition was read."""
    if found is None or not found.missing:
        return None
    more = len(found.missing) - NAMED
    lacks = ", ".join(found.missing[:NAMED]) + (f" and {more} more" if more > 0 else "")
    return Blocked(RecordNotKept(definition_name(kind), lacks, renewal(kind)))


def known(kind: Kind, found: Unkept | None) -> Blocked | None:
    """Whether anybody knows that."""
    if found is None or found.missing:
        return None
    if found.unread:
        return Blocked(DefinitionHidden(definition_name(kind), found.unread))
    return Blocked(DefinitionUnread(definition_name(kind)))


def sure(kind: Kind, found: Unkept | None) -> Blocked | None:
    """Both: what is asked before anything begins."""
    return kept(kind, found) or known(kind, found)
