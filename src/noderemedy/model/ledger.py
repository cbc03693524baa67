"""The budget's ledger: which repairs are reserved, when they were started, and when the last storms ended.

One ConfigMap, written by compare-and-swap, so that two leaders cannot overspend. Read by `wire/bookkeeping.py`,
reckoned with in `core/budget/`.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.ids import CONFIG_MAP, SYSTEM, Ref, ref
from noderemedy.model.time import Wall

LEDGER_AT: Ref = ref(CONFIG_MAP, "budget-ledger", SYSTEM)


class Reservation(Struct, frozen=True):
    """One repair that may run: of whom, on which node, granted when and by which leader."""

    target: Ref
    since: Wall
    node: Ref | None = None
    domain: str = ""
    token: int = 0  # of the leader that granted it; 0 until it is written

    @property
    def cluster(self) -> str:
        """The cluster whose limits it counts against: the one in which its node lives."""
        return self.node.cluster if self.node else self.target.cluster


class Start(Struct, frozen=True, order=True):
    """A repair was granted then: the limit per hour counts these, whatever became of them."""

    at: Wall
    cluster: str = ""


class Calm(Struct, frozen=True, order=True):
    """A storm over this scope (a cluster, or a failure domain of one) ended then."""

    scope: str
    at: Wall


class BudgetLedger(Struct, frozen=True):
    """All of it. Bounded: what has ended is dropped with the next write."""

    reservations: tuple[Reservation, ...] = ()
    starts: tuple[Start, ...] = ()
    calms: tuple[Calm, ...] = ()
