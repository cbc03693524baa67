"""How people may call an object: as they type it, and as we print it. Called by `explain` and `history`."""

from __future__ import annotations

from noderemedy.model.ids import Ref


def names_of(ref: Ref) -> tuple[str, ...]:
    """Name, namespace/name, kind/name, kind/namespace/name; the kind in small letters or as it is."""
    kinds = (ref.kind.kind.lower(), ref.kind.kind)
    namespaced = (f"{ref.namespace}/{ref.name}",) if ref.namespace else ()
    whole = tuple(f"{kind}/{ref.namespace}/{ref.name}" for kind in kinds)
    return (ref.name, *namespaced, *(f"{kind}/{ref.name}" for kind in kinds), *whole)
