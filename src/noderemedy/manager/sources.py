"""Files, folders and standard input to Kubernetes objects. Called by `node-remedy plan -f`.

A `kubectl get -o yaml` dump is a List: its items are the objects. The lists of the API itself (NodeList) do not
repeat the kind in each item, so it is taken from the list. What is not an object at all is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from noderemedy.manager.trees import BadInput, read

SUFFIXES = (".yaml", ".yml", ".json")
STDIN = "-"


class Source(Struct, frozen=True):
    """One object as it stands in a file. `origin` is for people."""

    tree: dict[str, Any]
    origin: str


def objects(names: Sequence[str], stdin: Callable[[], bytes]) -> list[Source]:
    """All objects of all named files, folders and of standard input (`-`), in order. Raises BadInput."""
    found, broken = gathered(names, stdin)
    if broken:
        raise broken[0]
    return found


def gathered(names: Sequence[str], stdin: Callable[[], bytes]) -> tuple[list[Source], list[BadInput]]:
    """The same, as far as they can be read, and what is wrong with the others."""
    found: list[Source] = []
    broken: list[BadInput] = []
    is_empty = True
    for origin, content in _contents(names, stdin, broken):
        try:
            trees = read(content(), origin)
            found += [source for tree in trees for source in unfold(tree, origin)]
            is_empty = is_empty and not trees
        except BadInput as problem:
            broken.append(problem)
    if is_empty and not broken:
        expected = "expected YAML or JSON as kubectl get … -o yaml writes it"
        broken.append(BadInput(", ".join(names), f"nothing in there; {expected}"))
    return found, broken


def _contents(
    names: Sequence[str], stdin: Callable[[], bytes], broken: list[BadInput]
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Each file for itself, or why a folder cannot be looked into."""
    for name in names:
        if name == STDIN:
            yield "<stdin>", stdin
            continue
        try:
            yield from ((str(file), partial(_bytes, file)) for file in files(Path(name)))
        except BadInput as problem:
            broken.append(problem)


def files(path: Path) -> list[Path]:
    """The file itself, or what is below a folder, in order."""
    if not path.is_dir():
        return [path]
    try:
        found = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    except OSError as problem:
        raise BadInput(str(path), f"{problem.strerror}; check its permissions") from None
    if not found:
        raise BadInput(str(path), f"no file that ends in {', '.join(SUFFIXES)} in this folder")
    return found


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise BadInput(str(path), f"{problem.strerror}; check the name and its permissions") from None


def unfold(tree: Any, origin: str) -> Iterator[Source]:
    """An object, or the objects of a list."""
    if isinstance(tree, list):
        for item in tree:
            yield from unfold(item, origin)
        return
    if not isinstance(tree, dict):
        raise BadInput(origin, f"holds {_short(tree)} where a Kubernetes object is expected; correct the file")
    kind, items = str(tree.get("kind", "")), tree.get("items")
    if not (kind.endswith("List") and (isinstance(items, list) or items is None) and "spec" not in tree):
        yield Source(tree, origin)
        return
    for item in items or ():
        yield from unfold(_with_kind(item, tree, kind.removesuffix("List")), origin)


def _with_kind(item: Any, of: dict[str, Any], kind: str) -> Any:
    if not kind or not isinstance(item, dict) or "kind" in item:
        return item
    return {"apiVersion": of.get("apiVersion", ""), "kind": kind, **item}


def _short(tree: Any) -> str:
    text = repr(tree)
    return text if len(text) <= 40 else f"{text[:37]}…"
