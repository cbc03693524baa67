"""The base of what rooms derive, and programs enter, besides the objects of the API. It needs nothing of the model."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct


class FactValue(Struct, frozen=True):
    """Facts have no uid: they are as old as their key's last look."""

    uid: ClassVar[str] = ""
