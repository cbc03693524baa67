"""A JSON tree that somebody wrote, read field by field: what is wrong is collected with its path and its remedy.

Called for the specs of policies. One wrong field must not hide the others, and a policy that cannot be understood is
shown with all that is wrong with it, not refused: its author reads the list on the object.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, TypeGuard

from noderemedy.model.meta import Malformed

PROBLEMS_MAX = 20
LETTERS_MAX = 60


class Fields:
    """One spec, and what was wrong in it so far. Paths are dotted, below the spec."""

    def __init__(self, spec: Any) -> None:
        self._problems: list[str] = []
        self._spec: dict[Any, Any] = {}
        if is_object(spec):
            self._spec = spec
        elif spec is not None:
            self.wrong("", spec, "write an object")

    @property
    def problems(self) -> tuple[str, ...]:
        more = len(self._problems) - PROBLEMS_MAX
        tail = (f"and {more} more",) if more > 0 else ()
        return (*self._problems[:PROBLEMS_MAX], *tail)

    def wrong(self, path: str, found: Any, remedy: str) -> Malformed:
        """Something that cannot be read, and what to write instead."""
        return self.note(f"{'spec.' + path if path else 'spec'}: {trouble(found)}; {remedy}")

    def note(self, problem: str) -> Malformed:
        """Any other mistake; the sentence names its field and its remedy."""
        if problem not in self._problems:
            self._problems.append(problem)
        return Malformed(problem)

    def get(self, path: str) -> Any:
        """The value at a path; None if it, or anything on the way, is not there."""
        here: Any = self._spec
        steps = path.split(".")
        for number, step in enumerate(steps):
            here = here.get(step)
            is_last = number == len(steps) - 1
            if here is None or is_last:
                return here
            if not is_object(here):
                self.wrong(".".join(steps[: number + 1]), here, "write an object")
                return None
        return None

    def first(self, paths: tuple[str, ...]) -> tuple[str, Any]:
        """The first of several paths at which there is something; else the last one and None."""
        found = ((path, self.get(path)) for path in paths)
        return next((one for one in found if one[1] is not None), (paths[-1] if paths else "", None))

    def objects(self, path: str, value: Any) -> list[tuple[str, dict[Any, Any]]]:
        """The items of a list of objects, each with its own path. None is an empty list."""
        if value is None:
            return []
        if not isinstance(value, list):
            self.wrong(path, value, "write a list")
            return []
        items = [(f"{path}[{number}]", item) for number, item in enumerate(value)]
        for where, item in items:
            if not is_object(item):
                self.wrong(where, item, "write an object")
        return [(where, item) for where, item in items if is_object(item)]

    def word(self, path: str, value: Any) -> str | None:
        """A text that must be there."""
        if isinstance(value, str) and value:
            return value
        quoted = f'write it in quotes: "{str(value)[:LETTERS_MAX]}"' if is_plain(value) else "write a text"
        self.wrong(path, value, quoted)
        return None

    def whole(self, path: str, value: Any, remedy: str) -> int | Malformed:
        """A whole number from 0 on, within what the API can hold."""
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
            return value
        return self.wrong(path, value, remedy)


def is_object(value: Any) -> TypeGuard[dict[Any, Any]]:
    return isinstance(value, dict)


def is_plain(value: Any) -> bool:
    """What YAML makes of a word without quotes: true, 12."""
    return isinstance(value, bool | int)


def instead(word: str, known: Iterable[str]) -> str:
    """What somebody meant by a field that there is not."""
    folded = {one.lower().replace("_", ""): one for one in known}
    near = get_close_matches(word.lower().replace("_", ""), folded, n=1)
    return f"did you mean {folded[near[0]]}?" if near else f"write one of {', '.join(folded.values())}"


def trouble(value: Any) -> str:
    """What is the matter with it."""
    return "it is missing" if value is None else f"{shown(value)} cannot be read"


def shown(value: Any) -> str:
    """A few letters of what was found."""
    if isinstance(value, dict | list):
        article = "an" if not value or isinstance(value, dict) else "a"
        return f"{article} {'' if value else 'empty '}{'object' if isinstance(value, dict) else 'list'}"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= LETTERS_MAX else f"{text[:LETTERS_MAX]}…"
