"""The status of a RemediationBudget: what we publish, and what is there."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.checkstatus import Foreign, Told

VALID, BLOCKED = "Valid", "Blocked"
OURS = (VALID, BLOCKED)


class BudgetStatus(Struct, frozen=True):
    """The fields of a status that we write."""

    in_flight: int = 0
    unhealthy: int = 0
    total: int = 0
    started: int = 0  # `startedLastHour`
    generation: int = 0
    conditions: tuple[Told | Foreign, ...] = ()
