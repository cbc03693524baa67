"""A ConfigMap of our namespace: what we read in it, and nothing of its text. Read by `wire/bookkeeping.py`."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.configuration import Document
from noderemedy.model.fenceconfig import FenceDocument
from noderemedy.model.ledger import BudgetLedger
from noderemedy.model.meta import Malformed


class ConfigMap(Struct, frozen=True):
    """One of ours has one of these parts, everybody else's none."""

    uid: str
    ledger: BudgetLedger | Malformed | None = None
    fence: FenceDocument | None = None
    document: Document | None = None  # a Configuration of seed 002
    problems: tuple[str, ...] = ()  # why nothing of it is read, although its label says that it is for us
