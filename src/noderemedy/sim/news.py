"""What somebody says, and what was said a while ago: a manager may not have heard the latest yet.

For checkers that hold acts of managers against budgets and checks: a rule was broken only by what no saying of the last
minutes allows.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from noderemedy.sim.agenda import Agenda

NEWS_MS = 4 * 60_000  # how late a manager may learn of something: silent watches, lag, a pause of its own

T = TypeVar("T")


class News(Generic[T]):
    """One saying after the other."""

    def __init__(self, agenda: Agenda, said: T) -> None:
        self._agenda = agenda
        self._said = said
        self._former: list[tuple[int, T]] = []  # until when which was said

    def say(self, said: T) -> None:
        if said != self._said:
            self._former = [*self._fresh(), (self._agenda.now_ms, self._said)]
            self._said = said

    def heard(self) -> list[T]:
        """All that a manager may take for the latest."""
        return [self._said, *(said for _, said in self._fresh())]

    def _fresh(self) -> list[tuple[int, T]]:
        return [one for one in self._former if self._agenda.now_ms - one[0] <= NEWS_MS]
