"""Text of people and of kubectl to JSON trees: YAML 1.1 or JSON, one document or several.

Called by `sources.py`. Whatever Kubernetes would read is read alike, whatever is not JSON does not come through:
timestamps and 1:30 stay text, `yes` and `off` are booleans, keys are text. A key given twice, an anchor that
contains itself or that unfolds without end is refused. Every refusal names the line, the column and the remedy.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from typing import Any, ClassVar

import yaml

from noderemedy.model.errors import Permanent

VALUES_MAX = 20_000_000  # what aliases may unfold to: a dump of a big cluster has a few million
REMEDY = "correct the file, or write it anew with kubectl get … -o yaml"
BASE: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TAG = "tag:yaml.org,2002:"


class BadInput(Permanent):
    """A file that cannot be used: the message names the file, the place and the remedy."""


class Place(Exception):
    """What is wrong, and where; `read` adds the file's name."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.problem, self.line, self.column = problem, line, column


def read(data: bytes, origin: str) -> list[Any]:
    """Every document of a file as a JSON tree; empty documents are left out. Raises BadInput."""
    text = decoded(data, origin)
    try:
        is_json = text.lstrip()[:1] in ("{", "[")
        trees = read_json(text) if is_json and origin.endswith(".json") else either(text, is_json)
    except Place as place:
        raise BadInput(f"{origin}:{place.line}:{place.column}: {place.problem}; {REMEDY}") from None
    except RecursionError:
        raise BadInput(f"{origin}: nested too deeply; {REMEDY}") from None
    return [tree for tree in trees if tree is not None]


def decoded(data: bytes, origin: str) -> str:
    """UTF-8, or UTF-16 with a byte order mark: that is what some shells write when output is redirected."""
    has_utf16_mark = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if has_utf16_mark else "utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise BadInput(f"{origin}:{line}: not UTF-8 text; save the file as UTF-8") from None


def either(text: str, is_json: bool) -> list[Any]:
    """JSON where that works, since it is many times faster; what only looks like JSON may be YAML."""
    if is_json:
        try:
            return read_json(text)
        except Place as place:
            if "given twice" in place.problem:
                raise
    return read_yaml(text)


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


def no_number(word: str) -> Any:
    raise ValueError(f"{word} is not a number of JSON")


# --- YAML ------------------------------------------------------------------------------------------------------


class Loader(BASE):  # type: ignore[misc]
    """Composes nodes; resolves plain words as Kubernetes does."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


Loader.add_implicit_resolver(
    f"{TAG}bool",
    re.compile(r"^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$"),
    list("yYnNtTfFoO"),
)
Loader.add_implicit_resolver(f"{TAG}null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
Loader.add_implicit_resolver(
    f"{TAG}int",
    re.compile(r"^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|0|[1-9][0-9_]*)$"),
    list("-+0123456789"),
)
Loader.add_implicit_resolver(
    f"{TAG}float",
    re.compile(r"^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*|[0-9][0-9_]*(?=[eE]))(?:[eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)
Loader.add_implicit_resolver(f"{TAG}merge", re.compile(r"^<<$"), ["<"])


def read_yaml(text: str) -> list[Any]:
    """All documents of a YAML stream."""
    try:
        return [Unfolding().tree(node) for node in yaml.compose_all(text, Loader=Loader)]
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise Place(f"not YAML ({problem.problem or problem.context})", line, column) from None
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        column = problem.position - text.rfind("\n", 0, problem.position)
        raise Place(f"not YAML (character {problem.character!r} is not allowed)", line, column) from None


class Unfolding:
    """One document's nodes to a tree. Counts what aliases unfold to, and refuses those that hold themselves."""

    def __init__(self) -> None:
        self._left = VALUES_MAX
        self._open: set[int] = set()

    def tree(self, node: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise at(node, "its aliases unfold to more values than any cluster has")
        if isinstance(node, yaml.ScalarNode):
            return scalar(node)
        if id(node) in self._open:
            raise at(node, "this anchor contains itself")
        self._open.add(id(node))
        made = self._mapping(node) if isinstance(node, yaml.MappingNode) else self._sequence(node)
        self._open.remove(id(node))
        return made

    def _sequence(self, node: Any) -> list[Any]:
        expect(node, f"{TAG}seq")
        return [self.tree(item) for item in node.value]

    def _mapping(self, node: Any) -> dict[str, Any]:
        expect(node, f"{TAG}map")
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value in node.value:
            if key_node.tag == f"{TAG}merge":
                merged = {**self._merge(value), **merged}
                continue
            key = text_key(key_node)
            if key in own:
                raise at(key_node, f"key {key!r} is given twice")
            own[key] = self.tree(value)
        return {**merged, **own}

    def _merge(self, node: Any) -> dict[str, Any]:
        """`<<:` takes a mapping or a list of them; the first that has a key wins."""
        tree = self.tree(node)
        parts = tree if isinstance(tree, list) else [tree]
        if not all(isinstance(part, dict) for part in parts):
            raise at(node, "<< takes a mapping")
        return {key: value for part in reversed(parts) for key, value in part.items()}


def scalar(node: Any) -> Any:
    word: str = node.value
    try:
        make = SCALARS[node.tag]
        return make(word)
    except KeyError:
        raise at(node, f"tag {short(node.tag)} has no meaning in JSON") from None
    except ValueError:
        raise at(node, f"{word[:40]!r} is not a {short(node.tag)}") from None


def integer(word: str) -> int:
    digits = word.replace("_", "")
    bare = digits.lstrip("-+")
    is_octal = len(bare) > 1 and bare[0] == "0" and bare[1].isdigit()
    return int(digits, 8) if is_octal else int(digits, 0)


def boolean(word: str) -> bool:
    return word.lower() in ("yes", "true", "on")


SCALARS: dict[str, Callable[[str], Any]] = {
    f"{TAG}null": lambda word: None,
    f"{TAG}bool": boolean,
    f"{TAG}int": integer,
    f"{TAG}float": lambda word: float(word.replace("_", "")),
    f"{TAG}str": str,
    f"{TAG}timestamp": str,  # only where somebody wrote the tag
}


def text_key(node: Any) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise at(node, "a key must be text")
    value = scalar(node)
    return value if isinstance(value, str) else json.dumps(value)


def expect(node: Any, tag: str) -> None:
    if node.tag != tag:
        raise at(node, f"tag {short(node.tag)} has no meaning in JSON")


def short(tag: str) -> str:
    return tag.replace(TAG, "!!")


def at(node: Any, problem: str) -> Place:
    return Place(problem, node.start_mark.line + 1, node.start_mark.column + 1)
