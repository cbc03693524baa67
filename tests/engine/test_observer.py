"""The observer's own health, and bookkeeping that an engine which only looks takes for done."""

from __future__ import annotations

from tests.builders import HOST_AT, NOW, RESOURCES, later
from tests.engine.tiny_api import TinyApi

from noderemedy.engine.assumed import assumed
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import ClaimRepair, Confirm, Guard, WriteLedger
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.ids import LEASE, NODE, ref
from noderemedy.model.lease import Lease
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger
from noderemedy.model.observer import contact_since
from noderemedy.model.outcome import Seen
from noderemedy.rooms import ROOMS, watched

AT = ref(LEASE, "repair-worker-0", "node-remedy-system")


def test_contact_begins_when_everything_is_in_sight() -> None:
    """Not before the last kind was listed; a kind that is lost breaks it, and it begins anew."""
    engine = Engine(ROOMS)
    first, *rest = watched(ROOMS)
    for kind in rest:
        engine.listed(kind, NOW)
    assert contact_since(engine.cache) is None

    engine.listed(first, later(5))
    engine.listed(NODE, later(50))
    assert later(5).mono == contact_since(engine.cache)

    engine.lost(NODE, later(60))
    assert contact_since(engine.cache) is None

    engine.listed(NODE, later(70))
    assert later(70).mono == contact_since(engine.cache)


def test_a_workload_cluster_out_of_sight_does_not_break_contact() -> None:
    """Contact is with the home cluster: each of the others has a sight of its own."""
    engine = Engine(ROOMS)
    for kind in watched(ROOMS):
        engine.listed(kind, NOW)

    engine.lost(NODE, later(60), "metal/other")

    assert NOW.mono == contact_since(engine.cache)


def test_who_only_looks_sees_the_act_behind_the_bookkeeping() -> None:
    """Ledger and claim are taken for written, so that a plan shows what would be done; nothing is sent."""
    api = TinyApi(Engine(ROOMS, is_dry=True), 2)
    api.mark(0)

    api.run(30)

    actions = [type(one).__name__ for each in api.engine.decisions.values() for one in each.actions]
    assert (["AddRebootAnnotation"], []) == (actions, api.writes)


def test_what_is_assumed_is_what_would_be_written() -> None:
    """With the uid and version that were read, or new ones where the object is created; other actions say nothing."""
    ledger = BudgetLedger()

    assert Seen(AT, "u", "9", Lease("u", "me", str(NOW.wall))) == assumed(
        ClaimRepair(AT, Guard("u", "9"), "me", NOW.wall)
    )
    assert Seen(LEDGER_AT, "u", "9", ConfigMap("u", ledger)) == assumed(WriteLedger(LEDGER_AT, Guard("u", "9"), ledger))
    created = assumed(WriteLedger(LEDGER_AT, None, ledger))
    assert created is not None
    assert "" == created.resource_version
    assert assumed(Confirm(HOST_AT)) is None
    assert LEASE in RESOURCES
