"""YAML 1.1 to a JSON tree, hardened: what Kubernetes would read is read alike, whatever is not JSON is refused.

Called for files (`manager/trees.py`) and for documents inside ConfigMaps (`wire/configuration.py`). Timestamps and 1:30
stay text, `yes` and `off` are booleans, keys are text. A key given twice, a tag, an anchor that contains itself or that
unfolds without end is refused, with its line and column. Where each value stands is remembered, for later complaints.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, ClassVar

import yaml

BASE: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TAG = "tag:yaml.org,2002:"
DEPTH_MAX = 200  # no object of Kubernetes has fifty levels


class Place(Exception):
    """What is wrong, and where; whoever reads adds the file's name."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.problem, self.line, self.column = problem, line, column


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


def read_yaml(text: str, values_max: int) -> list[Any]:
    """All documents of a YAML stream; aliases may unfold to so many values."""
    return [Unfolding(values_max).tree(node) for node in composed(text)]


def read_placed(text: str, values_max: int) -> tuple[list[Any], dict[str, int]]:
    """The same, and the line at which each value of the first document stands, by its path: a[0].b."""
    nodes = composed(text)
    trees = [Unfolding(values_max).tree(node) for node in nodes]
    return trees, (places(nodes[0]) if nodes else {})


def composed(text: str) -> list[Any]:
    """The nodes of all documents."""
    try:
        refuse_depth(text)
        return list(yaml.compose_all(text, Loader=Loader))
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise Place(f"not YAML ({problem.problem or problem.context})", line, column) from None
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        column = problem.position - text.rfind("\n", 0, problem.position)
        raise Place(f"not YAML (character {problem.character!r} is not allowed)", line, column) from None
    except UnicodeEncodeError as problem:
        line = text.count("\n", 0, problem.start) + 1
        raise Place("not YAML (half a character is no text)", line, 1) from None


def refuse_depth(text: str) -> None:
    """The parser itself would not survive a hundred thousand brackets: it has a stack of the machine, and no more."""
    depth = 0
    for event in yaml.parse(text, Loader=Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEPTH_MAX:
                raise at(event, "nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


class Unfolding:
    """One document's nodes to a tree. Counts what aliases unfold to, and refuses those that hold themselves."""

    def __init__(self, values_max: int) -> None:
        self._left = values_max
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


def places(node: Any, path: str = "") -> dict[str, int]:
    """The line of each value that is written out, by its path; of one in a mapping that of its key.

    What was unfolded already is known to end. What an alias repeats stands where it was written first.
    """
    found: dict[str, int] = {}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            where = f"{path}.{key.value}" if path else str(key.value)
            found |= {where: key.start_mark.line + 1, **places(value, where)}
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            where = f"{path}[{number}]"
            found |= {where: item.start_mark.line + 1, **places(item, where)}
    return found
