"""A label selector in one line, as `kubectl -l` takes it, to the selector of the model.

Called for documents that people write: `type=compute`, `rack in (r1, r2), !virtual`. Wrong parts are told.
"""

from __future__ import annotations

import re

from noderemedy.model.meta import Malformed
from noderemedy.model.selector import Expression, Operator, Selector
from noderemedy.wire.selectors import KEY, VALUE

LETTERS_MAX = 2_000
# What separates parts, but not inside parentheses.
COMMA = re.compile(r",(?![^()]*\))")
SET = re.compile(r"(\S+)\s+(in|notin)\s*\(([^()]*)\)")
EQUALITY = re.compile(r"([^=!\s]+)\s*(==|=|!=)\s*(\S*)")
OPERATORS = {"in": Operator.IN, "notin": Operator.NOT_IN}
REMEDY = "write labels like type=compute, rack in (r1, r2) or !virtual, separated by commas"


def read_selector_text(text: str) -> Selector | Malformed:
    """An empty text is refused: nobody means all nodes without saying so."""
    if len(text) > LETTERS_MAX or not text.strip():
        return Malformed(f"a selector of {len(text)} letters cannot be read; {REMEDY}")
    labels: list[tuple[str, str]] = []
    expressions: list[Expression] = []
    for part in COMMA.split(text):
        found = read_part(part.strip())
        if isinstance(found, Malformed):
            return found
        if isinstance(found, Expression):
            expressions.append(found)
        else:
            labels.append(found)
    return Selector(tuple(sorted(labels)), tuple(expressions))


def read_part(part: str) -> tuple[str, str] | Expression | Malformed:
    if found := SET.fullmatch(part):
        values = tuple(sorted(value.strip() for value in found[3].split(",")))
        return checked(part, found[1], values, Expression(found[1], OPERATORS[found[2]], values))
    if found := EQUALITY.fullmatch(part):
        key, sign, value = found.groups()
        is_same = sign != "!="
        return checked(part, key, (value,), (key, value) if is_same else Expression(key, Operator.NOT_IN, (value,)))
    is_absent = part.startswith("!")
    key = part.removeprefix("!").strip()
    operator = Operator.DOES_NOT_EXIST if is_absent else Operator.EXISTS
    return checked(part, key, (), Expression(key, operator, ()))


def checked(
    part: str, key: str, values: tuple[str, ...], found: tuple[str, str] | Expression
) -> tuple[str, str] | Expression | Malformed:
    """What was read, if its words may be those of labels."""
    if KEY.fullmatch(key) and all(VALUE.fullmatch(value) for value in values):
        return found
    return Malformed(f"{part[:80]!r} cannot be read; {REMEDY}")
