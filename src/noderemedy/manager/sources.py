"""Files, folders and standard input to Kubernetes objects. Called by `node-remedy plan -f`.

A `kubectl get -o yaml` dump is a List: its items are the objects. The lists of the API itself (NodeList) do not
repeat the kind in each item, so it is taken from the list. What is not an object at all is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    documents = [document for name in names for document in _documents(name, stdin)]
    if not documents:
        expected = "expected YAML or JSON as kubectl get … -o yaml writes it"
        raise BadInput(f"{', '.join(names)}: nothing in there; {expected}")
    return [source for tree, origin in documents for source in unfold(tree, origin)]


def _documents(name: str, stdin: Callable[[], bytes]) -> Iterator[tuple[Any, str]]:
    if name == STDIN:
        yield from ((tree, "<stdin>") for tree in read(stdin(), "<stdin>"))
        return
    for file in files(Path(name)):
        yield from ((tree, str(file)) for tree in read(_bytes(file), str(file)))


def files(path: Path) -> list[Path]:
    """The file itself, or what is below a folder, in order."""
    if not path.is_dir():
        return [path]
    try:
        found = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    except OSError as problem:
        raise BadInput(f"{path}: {problem.strerror}; check its permissions") from None
    if not found:
        raise BadInput(f"{path}: no file that ends in {', '.join(SUFFIXES)} in this folder")
    return found


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise BadInput(f"{path}: {problem.strerror}; check the name and its permissions") from None


def unfold(tree: Any, origin: str) -> Iterator[Source]:
    """An object, or the objects of a list."""
    if isinstance(tree, list):
        for item in tree:
            yield from unfold(item, origin)
        return
    if not isinstance(tree, dict):
        raise BadInput(f"{origin}: holds {_short(tree)} where a Kubernetes object is expected; correct the file")
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
