"""Which kinds a world of files has: by the definitions of kinds among them. Pure. Called by plans on files.

Files without any definition say nothing of that: all kinds of ours count as installed, as our manifests install them.
Kinds of others are never missed: whoever writes a few objects into a file need not bring their definitions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from noderemedy.crds import OUR_GROUPS
from noderemedy.crds.recording import by_name, judged
from noderemedy.model.ids import Kind
from noderemedy.model.keeping import Unkept

DEFINITION = "CustomResourceDefinition"


def undefined(trees: Iterable[dict[str, Any]], kinds: Iterable[Kind]) -> frozenset[Kind]:
    """Kinds of ours that these files lack, although they define others."""
    found = {kind for tree in trees if (kind := defines(tree)) is not None}
    return frozenset(kind for kind in kinds if found and kind.group in OUR_GROUPS and kind not in found)


def defines(tree: dict[str, Any]) -> Kind | None:
    """The kind that an object defines, if it is a definition; a broken one defines none that we know."""
    if tree.get("kind") != DEFINITION:
        return None
    spec = tree.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(names, dict):
        return Kind("", "")
    return Kind(str(spec.get("group", "")), str(names.get("kind", "")))


def defined(trees: Iterable[dict[str, Any]]) -> list[tuple[Kind, Unkept | None]]:
    """What definitions in these files would make the API forget of our records, where they define a kind of those."""
    known = ((kind, tree.get("spec")) for tree in trees if (kind := defines(tree)) in by_name().values())
    return [(kind, judged(kind, spec)) for kind, spec in known if kind is not None and isinstance(spec, dict)]


def remark(kind: Kind) -> str:
    return f"no {DEFINITION} in these files defines {kind}: it counts as not installed"
