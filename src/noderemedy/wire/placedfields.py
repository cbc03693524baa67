"""A document that somebody wrote, read field by field; what is wrong is collected with file, line, field and remedy.

The same as `fields.py` for documents inside ConfigMaps: their authors look for a line, not for a path below `spec`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from noderemedy.model.meta import Malformed
from noderemedy.model.time import Span
from noderemedy.wire.fields import Fields, instead, is_object, trouble
from noderemedy.wire.scalars import read_duration


class PlacedFields(Fields):
    """One document, where its values stand, and what was wrong in it so far."""

    def __init__(self, tree: Any, file: str, places: Mapping[str, int]) -> None:
        self._file, self._places = file, places
        super().__init__(tree)
        self.tree: dict[Any, Any] = tree if is_object(tree) else {}

    def wrong(self, path: str, found: Any, remedy: str) -> Malformed:
        return self.say(path, f"{trouble(found)}; {remedy}")

    def say(self, path: str, sentence: str) -> Malformed:
        """Any other mistake at a path."""
        line, field = self._line(path), f" {path}:" if path else ""
        return self.note(f"{self._file}:{line}:{field} {sentence}")

    def part(self, path: str, tree: Any) -> Fields:
        """The fields of an object inside, by their own names; what is wrong with them is told of this document."""
        return Part(self, path, tree)

    def _line(self, path: str) -> int:
        """Of the value, or of what it would stand in."""
        while path and path not in self._places:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self._places.get(path, 1)

    def known(self, path: str, item: Mapping[Any, Any], names: Iterable[str]) -> None:
        """A field of another name is a typing error, and what it should have done is not done."""
        allowed = tuple(names)
        for key in item:
            if key not in allowed:
                where = f"{path}.{key}" if path else str(key)
                self.say(where, f"is no field of this document; {instead(str(key), allowed)}")

    def duration(self, path: str, value: Any) -> Span | None:
        """A length of time as Go writes it."""
        if not isinstance(value, str):
            self.wrong(path, value, "write a duration like 5m or 1h30m")
            return None
        found = read_duration(value)
        if isinstance(found, Malformed):
            self.say(path, f"{found.problem}; correct it")
            return None
        return found

    def positive(self, path: str, value: Any) -> int | None:
        """A whole number from 1 on."""
        found = self.whole(path, value, "write a number from 1 on")
        if found == 0:
            self.wrong(path, value, "write a number from 1 on")
        return found if isinstance(found, int) and found else None

    def flag(self, path: str, value: Any) -> bool:
        if not isinstance(value, bool):
            self.wrong(path, value, "write true or false")
        return value is True


class Part(Fields):
    """An object inside a document."""

    def __init__(self, whole: PlacedFields, path: str, tree: Any) -> None:
        self._whole, self._path = whole, path
        super().__init__(tree)

    def wrong(self, path: str, found: Any, remedy: str) -> Malformed:
        return self._whole.wrong(f"{self._path}.{path}" if path else self._path, found, remedy)

    def note(self, problem: str) -> Malformed:
        return self._whole.note(problem)
