"""Text of people and of kubectl to JSON trees: YAML 1.1 or JSON, one document or several.

Called by `sources.py`. Whatever Kubernetes would read is read alike, whatever is not JSON does not come through:
timestamps and 1:30 stay text, `yes` and `off` are booleans, keys are text. A key given twice, an anchor that
contains itself or that unfolds without end is refused. Every refusal names the line, the column and the remedy.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from noderemedy.model.errors import Permanent
from noderemedy.wire.yamltext import Place, read_yaml

VALUES_MAX = 20_000_000  # what aliases may unfold to: a dump of a big cluster has a few million
HALF = re.compile("[\\ud800-\\udfff]")
HALF_WRITTEN = re.compile(r"\\u[dD][89a-fA-F]")
REMEDY = "correct the file, or write it anew with kubectl get … -o yaml"


class BadInput(Permanent):
    """A file that cannot be used: the message names the file, the place and the remedy."""

    def __init__(self, origin: str, problem: str, line: int = 0, column: int = 0) -> None:
        place = "".join(f":{number}" for number in (line, column) if number)
        super().__init__(f"{origin}{place}: {problem}")
        self.origin, self.problem, self.line = origin, problem, line


def read(data: bytes, origin: str) -> list[Any]:
    """Every document of a file as a JSON tree; empty documents are left out. Raises BadInput."""
    text = decoded(data, origin)
    try:
        is_json = text.lstrip()[:1] in ("{", "[")
        trees = read_json(text) if is_json and origin.endswith(".json") else either(text, is_json)
        refuse_halves(text, trees)
    except Place as place:
        raise BadInput(origin, f"{place.problem}; {REMEDY}", place.line, place.column) from None
    except RecursionError:
        raise BadInput(origin, f"nested too deeply; {REMEDY}") from None
    return [tree for tree in trees if tree is not None]


def decoded(data: bytes, origin: str) -> str:
    """UTF-8, or UTF-16 with a byte order mark: that is what some shells write when output is redirected."""
    has_utf16_mark = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if has_utf16_mark else "utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise BadInput(origin, "not UTF-8 text; save the file as UTF-8", line) from None


def either(text: str, is_json: bool) -> list[Any]:
    """JSON where that works, since it is many times faster; what only looks like JSON may be YAML."""
    if is_json:
        try:
            return read_json(text)
        except Place as place:
            if "given twice" in place.problem:
                raise
    return read_yaml(text, VALUES_MAX)


# --- JSON ------------------------------------------------------------------------------------------------------


def read_json(text: str) -> list[Any]:
    """One JSON document, or several one after the other."""
    decoder = json.JSONDecoder(object_pairs_hook=unique, parse_constant=no_number)
    trees: list[Any] = []
    position = 0
    try:
        while rest := re.compile(r"\s*").match(text, position):
            position = rest.end()
            if position == len(text):
                return trees
            tree, position = decoder.raw_decode(text, position)
            trees.append(tree)
    except json.JSONDecodeError as problem:
        raise Place(f"not JSON ({problem.msg})", problem.lineno, problem.colno) from None
    except ValueError as problem:
        line = text.count("\n", 0, position) + 1
        raise Place(f"{problem}, in the document that begins here", line, 1) from None
    return trees


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"key {twice!r} is given twice")
    return found


def refuse_halves(text: str, trees: list[Any]) -> None:
    """JSON can write half a character (`\\ud800`), which is no text: nobody could print it or send it on."""
    if HALF_WRITTEN.search(text) is None:
        return
    for path, word in (found for tree in trees for found in words(tree, "")):
        if half := HALF.search(word):
            escape = f"\\u{ord(half[0]):04x}"
            line = text.count("\n", 0, max(text.lower().find(escape), 0)) + 1
            where = HALF.sub(lambda one: f"\\u{ord(one[0]):04x}", path)
            raise Place(f"{where}: holds half a character ({escape})", line, 0)


def words(tree: Any, path: str) -> Iterator[tuple[str, str]]:
    """All keys and texts of a tree with their paths: a[0].b."""
    if isinstance(tree, str):
        yield path, tree
    elif isinstance(tree, list):
        for number, item in enumerate(tree):
            yield from words(item, f"{path}[{number}]")
    elif isinstance(tree, dict):
        for key, value in tree.items():
            where = f"{path}.{key}" if path else str(key)
            yield where, str(key)
            yield from words(value, where)


def no_number(word: str) -> Any:
    raise ValueError(f"{word} is not a number of JSON")
