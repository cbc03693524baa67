"""Documents of lines `KEY=VALUE`, as the seed's ConfigMaps hold them, with the numbers of their lines.

Called by `wire/fenceconfig.py`. Empty lines and comments (`#`) are skipped, a value may be quoted as a whole, no line
goes on in the next one. What is wrong is told with its line and never repeated: it may be a misplaced password.
"""

from __future__ import annotations

import re

from msgspec import Struct

KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}", re.ASCII)
LINES_MAX = 1_000
VALUE_MAX = 4_096
PROBLEMS_MAX = 20
QUOTES = ('"', "'")


class Property(Struct, frozen=True):
    """One line."""

    key: str
    value: str
    line: int


class Document(Struct, frozen=True):
    """All lines that could be read, each key once, and what is wrong with the others."""

    name: str  # the key of the ConfigMap
    properties: tuple[Property, ...] = ()
    problems: tuple[str, ...] = ()

    def get(self, key: str) -> Property | None:
        return next((one for one in self.properties if one.key == key), None)


def read_properties(name: str, text: str) -> Document:
    """Whatever the text is, there is a document of it."""
    found: dict[str, Property] = {}
    problems: list[str] = []
    lines = text.splitlines()
    for number, line in enumerate(lines[:LINES_MAX], 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        one = read_line(name, number, stripped)
        if isinstance(one, str):
            problems.append(one)
        elif one.key in found:
            problems.append(
                f"{name}, line {number}: {one.key} is there twice, first in line {found[one.key].line}; keep one"
            )
        else:
            found[one.key] = one
    if len(lines) > LINES_MAX:
        problems.append(f"{name}: {len(lines)} lines are too many; at most {LINES_MAX} are read")
    return Document(name, tuple(found.values()), bounded(problems))


def read_line(name: str, number: int, line: str) -> Property | str:
    """One line without the space around it, or what is wrong with it."""
    key, equals, value = (part.strip() for part in line.partition("="))
    where = f"{name}, line {number}"
    if not equals:
        return f"{where}: this is not KEY=VALUE; write a name, an equals sign and a value, or # before a comment"
    if not KEY.fullmatch(key):
        return f"{where}: the name before the equals sign cannot be read; use letters, digits, _, . and -"
    if len(value) > VALUE_MAX:
        return f"{where}: the value of {key} has {len(value)} letters; at most {VALUE_MAX} are read"
    if not value.isprintable():
        return f"{where}: the value of {key} holds a control character; remove it"
    found = unquoted(value)
    if found == value and " #" in value:
        return f"{where}: a comment needs a line of its own; if # belongs to the value of {key}, put it in quotes"
    return Property(key, found, number)


def unquoted(value: str) -> str:
    """Agents take a pair of quotes off a value, too."""
    is_quoted = len(value) > 1 and value[0] in QUOTES and value[0] == value[-1]
    return value[1:-1] if is_quoted else value


def bounded(problems: list[str]) -> tuple[str, ...]:
    """A broken file of a thousand lines is one complaint, not a thousand."""
    more = len(problems) - PROBLEMS_MAX
    return (*problems[:PROBLEMS_MAX], f"and {more} more") if more > 0 else tuple(problems)
