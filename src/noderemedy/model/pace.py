"""How many pods may be freed per minute: rooms state what they would free next, the budget room says how much may go.

Facts, like needs and answers (`model/budget.py`). Where neither the budget nor the node's document sets a limit nobody
states anything.
"""

from __future__ import annotations

from noderemedy.model.facts import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref, ref
from noderemedy.model.reasons import Reason
from noderemedy.model.time import Wall

PODS_LIMIT, WISH, LEAVE = Kind(FACTS, "PodsLimit"), Kind(FACTS, "Wish"), Kind(FACTS, "Leave")
PODS_LIMIT_AT: Ref = ref(PODS_LIMIT, "cluster")


class PodsLimit(FactValue, frozen=True):
    """`podsPerMinute` of the RemediationBudget."""

    per_minute: int


class Wish(FactValue, frozen=True):
    """What one key would free next: so many pods one by one, or a whole node with all of them."""

    room: str
    asker: Ref
    node: Ref
    what: str  # names this batch: the same one is not counted twice
    pods: int
    is_whole: bool
    document: Ref | None = None  # the Configuration that governs the node
    limit: int | None = None  # `podsPerMinute` of that document


class Leave(FactValue, frozen=True):
    """How many of them may go now. None of them: until then at least."""

    room: str
    asker: Ref
    what: str
    pods: int
    until: Wall | None = None

    def if_broken(self, why: Reason) -> None:
        """Nothing: a licence needs somebody who stands by it."""


def wish_ref(room: str, asker: Ref) -> Ref:
    return Ref(asker.cluster, WISH, asker.namespace, f"{room} {asker.kind} {asker.name}")


def leave_ref(room: str, asker: Ref) -> Ref:
    return Ref(asker.cluster, LEAVE, asker.namespace, f"{room} {asker.kind} {asker.name}")
