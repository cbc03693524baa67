"""Pieces that several kinds share: a field that could not be read, and a pause."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.time import Wall

PROBLEMS_TOLD = 3


def trouble(problems: tuple[str, ...]) -> str:
    """What is wrong, as long as an event may be: the first of the problems, and how many more there are."""
    more = len(problems) - PROBLEMS_TOLD
    return "; ".join(problems[:PROBLEMS_TOLD]) + (f"; and {more} more" if more > 0 else "")


class Malformed(Struct, frozen=True):
    """A field of ours that somebody wrote and that cannot be read. Never the same as absent."""

    problem: str


class Paused(Struct, frozen=True):
    """`node-remedy.dev/paused`: nothing new starts; `until` is None for as long as it is there."""

    until: Wall | None = None

    def holds(self, wall: Wall) -> bool:
        return self.until is None or wall < self.until
