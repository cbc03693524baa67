"""What `import` has to say: per check every difference in behaviour, what it means, and what to do about it. Pure."""

from __future__ import annotations

from enum import Enum
from typing import Any

from msgspec import Struct


class Weight(Enum):
    """How much a difference matters."""

    BLOCKS = "blocks"  # nothing is repaired, or two controllers repair, until somebody does something
    DIFFERS = "differs"  # another machine, another moment or another way than before
    NOTE = "note"  # behaves as before; worth knowing


class Difference(Struct, frozen=True):
    """One thing that is not as it was. `what` says how it was and how it will be."""

    name: str
    weight: Weight
    what: str
    remedy: str

    def plain(self) -> dict[str, Any]:
        return {"difference": self.name, "weight": self.weight.value, "what": self.what, "remedy": self.remedy}


class Examined(Struct, frozen=True):
    """One check and what changes for it."""

    key: str
    dialect: str  # "" for a kind that has none
    targets: int | None  # None: nobody told us the objects that it could select
    limit: str
    differences: tuple[Difference, ...]

    def plain(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "dialect": self.dialect or None,
            "targets": self.targets,
            "limit": self.limit or None,
            "differences": [one.plain() for one in self.differences],
        }


class Report(Struct, frozen=True):
    """All checks, and what holds for every one of them."""

    everywhere: tuple[Difference, ...]
    checks: tuple[Examined, ...]
    remarks: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        return {
            "everywhere": [one.plain() for one in self.everywhere],
            "checks": [one.plain() for one in self.checks],
        }


def blocks(name: str, what: str, remedy: str) -> Difference:
    return Difference(name, Weight.BLOCKS, what, remedy)


def differs(name: str, what: str, remedy: str) -> Difference:
    return Difference(name, Weight.DIFFERS, what, remedy)


def note(name: str, what: str, remedy: str) -> Difference:
    return Difference(name, Weight.NOTE, what, remedy)


def named(names: list[str], most: int = 5) -> str:
    """`a, b and 7 more`: as many names as a person reads."""
    shown = sorted(names)[:most]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
