"""Where a finding stands: the file, the line and the field. Called by `check` on files, for what is wrong only.

The sentences of readers say key, line and field inside an object; with the place of the object in its file that is a
line of the file. What cannot be found is left out: a finding without a line is still a finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import yaml
from msgspec import Struct

from noderemedy.manager.check import Finding
from noderemedy.manager.checktrees import at_of
from noderemedy.manager.sources import Source
from noderemedy.model.ids import Kind, Ref
from noderemedy.wire import yamltext
from noderemedy.wire.fenceconfig import CONFIG_KEY

# How the sentences of readers begin, and what they say of the place. The first that fits counts.
WORDS = (
    re.compile(r"(?P<key>config\.yaml):(?P<line>\d+):(?: (?P<field>[^\s:]+):)?"),
    re.compile(r"(?P<key>[-\w.]+), line (?P<line>\d+): (?P<field>[-\w.]+)(?=:| is )"),
    re.compile(r"(?P<key>[-\w.]+), line (?P<line>\d+):"),
    re.compile(r"(?:method \S+: )?(?P<step>isolation|power_management|recovery) names"),
    re.compile(r"method (?P<method>\S+): parameter (?P<field>[-\w]+):"),
    re.compile(r"method (?P<method>\S+):"),
    re.compile(r"(?P<key>config\.yaml|config\.properties|template\.properties|fence-method-[-\w.]+): "),
    re.compile(r"annotation (?P<annotation>[^\s:]+):"),
    re.compile(r"(?P<field>(?:spec|metadata|status|data)(?:[.\[][^\s:]*)?):"),
)
BLOCKS = ("|", ">")


class Place(Struct, frozen=True):
    """What is known of it; 0 and "": not known."""

    file: str = ""
    line: int = 0
    field: str = ""


class Files:
    """The files that were read. `text` gives the text of one by its name."""

    def __init__(self, sources: list[Source], text: Callable[[str], str]) -> None:
        self._sources = {identity(one.tree): one for one in sources}  # the last of a name counts
        self._composed: Callable[[str], list[Any]] = cache(lambda name: composed(text(name)))

    def place(self, finding: Finding) -> Place:
        words, field = told(finding.text), field_of(finding)
        source = self._source(finding.at)
        if source is None:
            return Place(field=field)
        nodes = [one for one in self._composed(source.origin) if is_it(one, finding.at)]
        return Place(source.origin, line_of(nodes[-1], source.tree, words) if nodes else 0, field)

    def _source(self, at: Ref) -> Source | None:
        found = self._sources.get((at.kind, at.namespace, at.name))
        return found or self._sources.get((at.kind, "", at.name))


def field_of(finding: Finding) -> str:
    """What the sentence is about, inside its object."""
    words = told(finding.text)
    return ", ".join(words[one] for one in ("key", "method", "field") if one in words)


def told(sentence: str) -> dict[str, str]:
    """What a sentence says of its place."""
    found = next((match for pattern in WORDS if (match := pattern.match(sentence))), None)
    words = {key: value for key, value in found.groupdict().items() if value} if found else {}
    if "annotation" in words:
        return {"field": f"metadata.annotations.{words['annotation']}"}
    return {"key": CONFIG_KEY, "field": words["step"]} if "step" in words else words


def identity(tree: dict[str, Any]) -> tuple[Kind, str, str]:
    at = at_of(tree)
    return at.kind, at.namespace, at.name


# --- lines ------------------------------------------------------------------------------------------------------


def line_of(node: Any, tree: dict[str, Any], words: dict[str, str]) -> int:
    """The line of the field, or of what it would stand in, or of the object."""
    lines = yamltext.places(node)
    first: int = lines.get("metadata.name", node.start_mark.line + 1)
    key = words.get("key") or (f"fence-method-{words['method']}" if "method" in words else "")
    if not key:
        return nearest(lines, words.get("field", ""), first)
    within = int(words["line"]) if "line" in words else line_within(tree, key, words.get("field", ""))
    begin = begins(child(child(node, "data"), key))
    return begin + within - 1 if begin and within else lines.get(f"data.{key}", lines.get("data", first))


def nearest(lines: dict[str, int], path: str, otherwise: int) -> int:
    while path and path not in lines:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return lines.get(path, otherwise)


def line_within(tree: dict[str, Any], key: str, field: str) -> int:
    """The line of a document of properties that sets this field; 0 if none does."""
    data = tree.get("data")
    text = data.get(key) if isinstance(data, dict) else None
    rows = text.splitlines() if isinstance(text, str) and field else []
    return next((number for number, row in enumerate(rows, 1) if row.partition("=")[0].strip() == field), 0)


def begins(node: Any) -> int:
    """The line of a file at which a text begins; 0 if there is none."""
    if not isinstance(node, yaml.ScalarNode):
        return 0
    return int(node.start_mark.line) + 1 + (node.style in BLOCKS)


# --- objects in YAML --------------------------------------------------------------------------------------------


def composed(text: str) -> list[Any]:
    """The nodes of all objects of a file."""
    try:
        return [one for node in yamltext.composed(text) for one in unfolded(node)]
    except (yamltext.Place, RecursionError):
        return []


def unfolded(node: Any) -> Iterator[Any]:
    """An object, or the objects of a list."""
    items = child(node, "items")
    inside = node if isinstance(node, yaml.SequenceNode) else items
    if isinstance(inside, yaml.SequenceNode):
        for one in inside.value:
            yield from unfolded(one)
    elif isinstance(node, yaml.MappingNode):
        yield node


def is_it(node: Any, at: Ref) -> bool:
    kind, meta = child(node, "kind"), child(node, "metadata")
    namespace, name = word(child(meta, "namespace")), word(child(meta, "name"))
    return word(kind) in (at.kind.kind, "") and name == at.name and namespace in (at.namespace, "")


def child(node: Any, key: str) -> Any:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for one, value in node.value if one.value == key), None)


def word(node: Any) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""
