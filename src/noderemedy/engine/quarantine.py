"""Objects that cannot be read: set aside, counted, told about once, and forgotten when they are mended or gone.

Called by the loop. An object leaves as soon as it is readable again, deleted, or not named any more by a whole list.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.ids import Kind, Ref


class Case(Struct, frozen=True):
    """One object that cannot be read, and why."""

    ref: Ref
    uid: str
    problem: str


class Quarantine:
    """Which objects are set aside, and about which of them nobody was told yet."""

    def __init__(self) -> None:
        self._cases: dict[Ref, Case] = {}
        self._untold: dict[Ref, Case] = {}
        self._unlisted: dict[tuple[str, Kind], set[Ref]] = {}

    def knows(self, case: Case) -> bool:
        """Whether this very problem of the object is known; the list that runs, if one does, has named it."""
        self._unlisted.get((case.ref.cluster, case.ref.kind), set()).discard(case.ref)
        known = self._cases.get(case.ref)
        return known is not None and known.problem == case.problem

    def add(self, case: Case) -> None:
        self._cases[case.ref] = case
        self._untold[case.ref] = case

    def release(self, ref: Ref) -> None:
        """Mended, or gone."""
        if ref in self._cases:
            self._unlisted.get((ref.cluster, ref.kind), set()).discard(ref)
            del self._cases[ref]
            self._untold.pop(ref, None)

    def tell(self) -> list[Case]:
        """What is to be told; each is told once."""
        cases, self._untold = list(self._untold.values()), {}
        return cases

    def begin_list(self, cluster: str, kind: Kind) -> None:
        self._unlisted[cluster, kind] = {ref for ref in self._cases if (ref.cluster, ref.kind) == (cluster, kind)}

    def end_list(self, cluster: str, kind: Kind) -> None:
        """The list is complete: what it did not name is gone."""
        for ref in sorted(self._unlisted.pop((cluster, kind), ())):
            self.release(ref)

    def __len__(self) -> int:
        return len(self._cases)
