"""A small parser of PromQL, for the rules that we ship: there is no Prometheus here to ask.

It knows the part of the language that alerts are written in: numbers, selectors with matchers and ranges, functions,
aggregations with `by` or `without`, and binary operators by their rank. What it does not know is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

TOKEN = re.compile(
    r"\s*(?:(?P<range>\[\d+[smhd]\])|(?P<span>\d+[smhd]\b)|(?P<number>\d+(?:\.\d+)?)|(?P<word>[a-zA-Z_:][\w:]*)"
    r"|(?P<text>\"(?:[^\"\\]|\\.)*\")|(?P<sign>==|!=|>=|<=|=~|!~|[-+*/%^<>=(){},]))"
)
AGGREGATIONS = ("sum", "min", "max", "avg", "count")
# What each takes; all of them give an instant vector.
FUNCTIONS = {
    **dict.fromkeys(("increase", "rate", "changes", "max_over_time"), "range"),
    "absent": "instant",
    "vector": "scalar",
}
RANKS = ({"or"}, {"and", "unless"}, {"==", "!=", ">", "<", ">=", "<="}, {"+", "-"}, {"*", "/", "%"})
MATCHES = ("=", "!=", "=~", "!~")
Type = str  # scalar, instant or range


class Wrong(Exception):
    """This is no expression that we understand."""


def tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while text[at:].strip():
        found = TOKEN.match(text, at)
        if found is None:
            raise Wrong(f"cannot read {text[at : at + 20]!r}")
        at = found.end()
        yield str(found.lastgroup), found[str(found.lastgroup)]
    yield "end", ""


class Parser:
    """One expression from its first token to its last. `figures` are the metrics that it asks for."""

    def __init__(self, text: str) -> None:
        self._tokens = list(tokens(text))
        self.figures: list[str] = []

    def whole(self) -> Type:
        found = self._binary(0)
        if self._kind != "end":
            raise Wrong(f"what is {self._word!r} doing here?")
        return found

    @property
    def _kind(self) -> str:
        return self._tokens[0][0]

    @property
    def _word(self) -> str:
        return self._tokens[0][1]

    def _take(self, word: str = "") -> str:
        if word and self._word != word:
            raise Wrong(f"expected {word!r}, found {self._word!r}")
        return self._tokens.pop(0)[1]

    def _binary(self, rank: int) -> Type:
        if rank == len(RANKS):
            return self._single()
        found = self._binary(rank + 1)
        while self._word in RANKS[rank]:
            sign = self._take()
            other = self._binary(rank + 1)
            if "range" in (found, other):
                raise Wrong(f"{sign} of a range")
            found = "scalar" if (found, other) == ("scalar", "scalar") else "instant"
        return found

    def _single(self) -> Type:
        if self._word == "(":
            self._take()
            found = self._binary(0)
            self._take(")")
            return found
        if self._kind == "number":
            self._take()
            return "scalar"
        if self._kind != "word":
            raise Wrong(f"expected a value, found {self._word!r}")
        word = self._take()
        if word in AGGREGATIONS:
            return self._aggregation(word)
        return self._call(word) if word in FUNCTIONS else self._selector(word)

    def _aggregation(self, word: str) -> Type:
        is_grouped = self._grouping()
        self._take("(")
        if self._binary(0) != "instant":
            raise Wrong(f"{word} of what is not an instant vector")
        self._take(")")
        if not is_grouped:
            self._grouping()
        return "instant"

    def _grouping(self) -> bool:
        if self._word not in ("by", "without"):
            return False
        self._take()
        self._take("(")
        while self._word != ")":
            self._take()
            if self._word == ",":
                self._take()
        self._take(")")
        return True

    def _call(self, word: str) -> Type:
        self._take("(")
        if (found := self._binary(0)) != FUNCTIONS[word]:
            raise Wrong(f"{word} takes {FUNCTIONS[word]}, not {found}")
        self._take(")")
        return "instant"

    def _selector(self, word: str) -> Type:
        self.figures.append(word)
        if self._word == "{":
            self._take()
            while self._word != "}":
                self._matcher()
            self._take("}")
        found = "instant"
        if self._kind == "range":
            self._take()
            found = "range"
        if self._word == "offset":
            self._take()
            if self._kind != "span":
                raise Wrong(f"offset by {self._word!r}")
            self._take()
        return found

    def _matcher(self) -> None:
        label, sign, value = self._tokens[0], self._tokens[1], self._tokens[2]
        if label[0] != "word" or sign[1] not in MATCHES or value[0] != "text":
            raise Wrong(f"{label[1]}{sign[1]}{value[1]} is no matcher")
        if "~" in sign[1]:
            re.compile(value[1][1:-1])
        del self._tokens[:3]
        if self._word == ",":
            self._take()


def parse(text: str) -> tuple[Type, list[str]]:
    """The type of an expression, and the figures in it."""
    parser = Parser(text)
    return parser.whole(), parser.figures
