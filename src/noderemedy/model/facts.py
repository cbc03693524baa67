"""The base of what rooms derive, and programs enter, besides the objects of the API. It needs nothing of the model."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct


class FactValue(Struct, frozen=True):
    """Facts have no uid: they are as old as their key's last look."""

    uid: ClassVar[str] = ""

    def if_broken(self, problem: str) -> FactValue | None:
        """What is left of it when its room raises: by default all, for what was so does not end by a bug of ours."""
        return self
