"""Under which leadership this process acts, and since when. Entered by the engine, read by rooms that order runs.

What was recorded under another token may be under way somewhere else: only what bears ours was surely asked by us.
"""

from __future__ import annotations

from noderemedy.model.decision import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref, ref
from noderemedy.model.room import Present, Reader
from noderemedy.model.time import Mono

TERM = Kind(FACTS, "Term")
TERM_AT: Ref = ref(TERM, "term")


class Term(FactValue, frozen=True):
    """The token of our leadership."""

    token: int
    since: Mono


def term(reader: Reader) -> Term | None:
    """None while nobody leads here."""
    entry = reader.read(TERM_AT)
    return entry.obj if isinstance(entry, Present) else None
