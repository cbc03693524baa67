"""Which kinds have to be followed besides those that rooms watch: the ones that some key states to be `Wanted`.

Kept by the loop as facts come and go. Such a kind is no part of being synced: one that is not served, or that the API
refuses to show, holds up those who need it and nobody else.
"""

from __future__ import annotations

from noderemedy.model.ids import Kind, Ref
from noderemedy.model.request import Wanted


class Wants:
    """Who wants what."""

    def __init__(self) -> None:
        self._by_kind: dict[Kind, dict[Ref, Wanted]] = {}
        self._all: tuple[Wanted, ...] | None = ()  # as it was told last; asked for at every step, changed rarely

    def stated(self, ref: Ref, wanted: Wanted) -> None:
        self._by_kind.setdefault(wanted.kind, {})[ref] = wanted
        self._all = None

    def withdrawn(self, ref: Ref, wanted: Wanted) -> None:
        found = self._by_kind[wanted.kind]
        self._all = None
        del found[ref]
        if not found:
            del self._by_kind[wanted.kind]

    def __contains__(self, kind: Kind) -> bool:
        return kind in self._by_kind

    def all(self) -> tuple[Wanted, ...]:
        """One per kind, in order. Where they differ in the version, the first by name that has one counts."""
        if self._all is None:
            self._all = tuple(
                min(found.items(), key=lambda one: (not one[1].version, one[0]))[1]
                for _, found in sorted(self._by_kind.items())
            )
        return self._all
