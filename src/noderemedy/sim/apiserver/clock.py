"""Timestamps and uids: the only places where the server's clock and its chance enter objects."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime

from noderemedy.model.time import Wall

SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""Generated names use letters that form no words."""


class Stamps:
    """Writes the present as API timestamps, and draws uids and name suffixes from seeded chance."""

    def __init__(self, wall: Callable[[], Wall], chance: random.Random) -> None:
        self._wall = wall
        self._chance = chance
        self._second = -1
        self._text = ""

    def wall(self) -> Wall:
        return self._wall()

    def now(self) -> str:
        """The present in whole seconds. Many writes fall into one second: its text is kept."""
        second = self._wall().ms // 1000
        if second != self._second:
            self._second, self._text = second, text_of(second)
        return self._text

    def at(self, second: int) -> str:
        return text_of(second)

    def uid(self) -> str:
        text = f"{self._chance.getrandbits(128):032x}"
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"

    def suffix(self) -> str:
        return "".join(self._chance.choice(SUFFIX_LETTERS) for _ in range(5))


def text_of(second: int) -> str:
    """A second since 1970 as an API timestamp."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def second_of(text: str) -> int:
    """The second since 1970 of an API timestamp."""
    return int(datetime.fromisoformat(text).timestamp())
