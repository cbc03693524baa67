"""A RemediationBudget: how much may be repaired at once, per hour, where and when. Without one the defaults hold.

Built by `wire/budgets.py`, reckoned with in `core/budget/`. One that cannot be understood (`problems`) lets nothing new
begin: a limit that somebody wanted must not turn into no limit.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.budgetstatus import BudgetStatus
from noderemedy.model.healthcheck import Count, Percent
from noderemedy.model.ids import BUDGET, Ref, ref
from noderemedy.model.meta import Malformed, Paused, trouble
from noderemedy.model.time import MINUTE, Span

BUDGET_AT: Ref = ref(BUDGET, "cluster")
ZONE = "topology.kubernetes.io/zone"


class Allowance(Struct, frozen=True):
    """The greater of a number and a share of all nodes, rounded down."""

    least: int
    percent: int = 0

    def of(self, total: int) -> int:
        return max(self.least, self.percent * total // 100)


class Opening(Struct, frozen=True):
    """When repairs may begin: on these days (Monday is 0), from a minute of the day, for so many minutes. UTC."""

    days: tuple[int, ...]
    begins: int
    minutes: int


class RemediationBudget(Struct, frozen=True):
    """All limits. Every field has the default that holds without an object."""

    uid: str = ""
    max_unhealthy: Count | Percent = Percent(40)
    max_in_flight: Allowance = Allowance(2, 10)
    max_per_hour: Allowance = Allowance(10, 20)
    topology_key: str = ZONE
    domain_max_unhealthy: Count | Percent | None = None
    pods_per_minute: int | None = None  # freed by all rooms together; None: as fast as they go
    openings: tuple[Opening, ...] = ()  # none: always
    cooldown: Span = MINUTE * 5
    paused: Paused | Malformed | None = None
    generation: int = 0
    deleting: bool = False
    problems: tuple[str, ...] = ()  # each names the field and the remedy
    status: BudgetStatus = BudgetStatus()  # as it is published

    @property
    def trouble(self) -> str:
        return trouble(self.problems)


DEFAULT = RemediationBudget()
