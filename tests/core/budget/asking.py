"""Builders for the budget: who asks, how many nodes are sick, and what the ledger holds."""

from __future__ import annotations

from typing import Any

from msgspec import structs
from tests.builders import NAMESPACE, NOW, absent, ago, present

from noderemedy.core.budget.facts import NodeHealth
from noderemedy.core.budget.view import Ask, BudgetView, Domain, Fleet, turn
from noderemedy.model.budget import Refused
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.ids import MACHINE, NODE, Ref, ref
from noderemedy.model.ledger import BudgetLedger, Reservation, Start
from noderemedy.model.meta import Malformed
from noderemedy.model.remediationbudget import DEFAULT, RemediationBudget
from noderemedy.model.time import Wall

SICK = NodeHealth(is_sick=True)


def machine(number: int) -> Ref:
    return ref(MACHINE, f"worker-{number}", NAMESPACE)


def node(number: int, cluster: str = "") -> Ref:
    return ref(NODE, f"worker-{number}", cluster=cluster)


def an_ask(
    number: int = 0,
    *,
    since: Wall | None = None,
    is_running: bool = False,
    is_waiting: bool | None = None,
    health: NodeHealth = SICK,
    cluster: str = "",
    refused: Refused | None = None,
    is_at_work: bool = False,
) -> Ask:
    """One sick worker that waits for its repair; with a higher number a younger one."""
    waiting = not is_running if is_waiting is None else is_waiting
    seen = since or ago(3_600 - number)
    asked = Ask(machine(number), seen, waiting, is_running, node(number, cluster), health, refused)
    return structs.replace(asked, is_at_work=is_at_work)


def a_reservation(number: int = 0, seconds: float = 600, cluster: str = "") -> Reservation:
    return Reservation(machine(number), ago(seconds), node(number, cluster), token=3)


def a_ledger(
    *reservations: Reservation, starts: tuple[Start, ...] = (), changes: dict[str, Any] | None = None
) -> BudgetLedger:
    return BudgetLedger(reservations, starts, **(changes or {}))


def a_budget_view(
    *asks: Ask,
    ledger: BudgetLedger | Malformed | None = None,
    budget: RemediationBudget = DEFAULT,
    total: int = 20,
    sick: int = 1,
    fleet: Fleet | None = None,
    domains: tuple[Domain, ...] = (),
    **rest: Any,
) -> BudgetView:
    """Twenty nodes, one of them sick, and a ledger that does not exist yet, unless said otherwise."""
    entry = absent() if ledger is None else present(ConfigMap("ledger-uid", ledger), version="7")
    ordered = tuple(sorted(asks, key=turn))
    return BudgetView(budget, entry, ordered, (fleet or Fleet("", total, sick),), domains, **rest)


def granted_now(view: BudgetView) -> list[str]:
    """The names of those that are newly reserved by one look."""
    from noderemedy.core.budget.grants import reckon

    found = reckon(view, NOW).ledger
    known = view.ledger.reservations if isinstance(view.ledger, BudgetLedger) else ()
    held = {one.target for one in known}
    return [one.target.name for one in found.reservations if one.target not in held] if found else []
