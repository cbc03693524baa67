"""One owner per node's repair: claimed when free, passed when ours, waited for while the other is about it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import MACHINE_AT, NODE_AT, NOW, a_machine, absent, present, unreadable

from noderemedy.core import claim
from noderemedy.core.claim import Claim, claimed, holder_name, lease_of, see
from noderemedy.core.gates import Blocked, budgeted
from noderemedy.engine.cache import Cache
from noderemedy.model.actions import ClaimRepair, Confirm, Guard
from noderemedy.model.budget import Granted, Refused, answer_ref, need
from noderemedy.model.ids import FENCE_REMEDIATION, LEASE, MACHINE, NODE, OPENSHIFT_MACHINE, REMEDIATION, Ref, ref
from noderemedy.model.lease import Lease
from noderemedy.model.nodefence import fence_ref
from noderemedy.model.outcome import Seen
from noderemedy.model.ownnode import OWN_NODE_AT, OwnNodeFact
from noderemedy.model.reasons import BudgetPaused, ClaimedByOther, Claiming, ClaimUnreadable, OwnNode, WaitingForBudget
from noderemedy.model.room import Entry, Unseen
from noderemedy.model.time import SECOND, Mono, Span
from noderemedy.rooms import ROOMS

OURS, THEIRS = holder_name("annotation", MACHINE_AT), holder_name("owner", MACHINE_AT)
AT = lease_of(NODE_AT)
SOON = NOW.wall + Span.seconds(30)
A_READ = Seen(MACHINE_AT, "machine-uid", "5", a_machine())  # of what the rooms of these tests record their progress on


def held_by(holder: str) -> Entry:
    return present(Lease("lease-uid", holder), version="9")


def a_take(guard: Guard | None, holder: str = OURS) -> Blocked:
    return Blocked(Claiming("worker-0"), actions=(ClaimRepair(AT, guard, holder, NOW.wall),))


# Who holds it, whether that one states a need, and what the gate says.
CASES: dict[str, tuple[Entry, bool, Blocked | None]] = {
    "nobody": (absent(), False, a_take(None)),
    "nobody, as far as the cache knows": (absent(confirmed=False), False, a_take(None)),
    "ourselves": (held_by(OURS), True, None),
    "another that is about it": (held_by(THEIRS), True, Blocked(ClaimedByOther("worker-0", THEIRS), SOON)),
    "another that has ended": (held_by(THEIRS), False, a_take(Guard("lease-uid", "9"))),
    "an empty name": (held_by(""), False, a_take(Guard("lease-uid", "9"))),
    "garbage": (unreadable(), False, Blocked(ClaimUnreadable("node-remedy-system/repair-worker-0", "garbage"))),
    "not seen yet": (Unseen(), False, Blocked(WaitingForBudget())),
}


def stated(cache: Cache, room: str, at: Mono) -> None:
    """The room states a need for the machine's repair."""
    fact = need(MACHINE_AT, room, NOW.wall, is_running=False, node=NODE_AT)
    cache.put(Seen(fact.ref, "", "", fact.value), at)


def test_a_claim_of_an_earlier_repair_is_made_again() -> None:
    """Ours, but from before we wanted anything: another room may be taking it over, so a write has to decide."""
    cache, later = Cache(claim.INDEXES), NOW.mono + SECOND
    cache.put(Seen(AT, "lease-uid", "9", Lease("lease-uid", OURS, "yesterday")), NOW.mono)
    again = a_take(Guard("lease-uid", "9"))
    assert claimed(see("annotation", MACHINE_AT, NODE_AT, cache), NOW) is None, "nobody else wants it"
    stated(cache, "owner", NOW.mono)

    assert again == claimed(see("annotation", MACHINE_AT, NODE_AT, cache), NOW)
    stated(cache, "annotation", later)
    assert again == claimed(see("annotation", MACHINE_AT, NODE_AT, cache), NOW)
    cache.put(Seen(AT, "lease-uid", "10", Lease("lease-uid", OURS, "today")), later, confirmed_at=later)
    assert claimed(see("annotation", MACHINE_AT, NODE_AT, cache), NOW) is None


def test_a_claim_of_a_list_that_went_back_in_time_is_made_again() -> None:
    """Another one has it; a server that is behind shows the claim of our former repair, and only a write tells."""
    cache, later = Cache(claim.INDEXES), NOW.mono + SECOND
    stated(cache, "owner", NOW.mono)
    stated(cache, "annotation", NOW.mono)
    cache.put(Seen(AT, "lease-uid", "10", Lease("lease-uid", THEIRS)), later, confirmed_at=later)
    assert Blocked(ClaimedByOther("worker-0", THEIRS), SOON) == claimed(
        see("annotation", MACHINE_AT, NODE_AT, cache), NOW
    )

    cache.begin_list("", LEASE)
    cache.put(Seen(AT, "lease-uid", "9", Lease("lease-uid", OURS, "yesterday")), later + SECOND)

    assert a_take(Guard("lease-uid", "9")) == claimed(see("annotation", MACHINE_AT, NODE_AT, cache), NOW)


def test_of_two_who_come_at_once_one_acts() -> None:
    """Whoever held it last and whoever takes it over write on one version: the loser waits, whichever it is."""
    cache, later = Cache(claim.INDEXES), NOW.mono + SECOND
    cache.put(Seen(AT, "lease-uid", "9", Lease("lease-uid", OURS, "yesterday")), NOW.mono)
    cache.put(A_READ, NOW.mono, confirmed_at=NOW.mono)
    takes = []
    for room in ("owner", "annotation"):
        takes.append(claimed(see(room, MACHINE_AT, NODE_AT, cache), NOW))
        stated(cache, room, later)

    assert [a_take(Guard("lease-uid", "9"), THEIRS), a_take(Guard("lease-uid", "9"), OURS)] == takes
    for winner, loser in (("annotation", "owner"), ("owner", "annotation")):
        held = Lease("lease-uid", holder_name(winner, MACHINE_AT), winner)
        cache.put(Seen(AT, "lease-uid", f"{10 + (winner == 'owner')}", held), later, confirmed_at=later)
        assert claimed(see(winner, MACHINE_AT, NODE_AT, cache), NOW) is None
        waits = Blocked(ClaimedByOther("worker-0", held.holder), SOON)
        assert waits == claimed(see(loser, MACHINE_AT, NODE_AT, cache), NOW)


REMEDIATION_AT = ref(REMEDIATION, MACHINE_AT.name, MACHINE_AT.namespace)
REQUEST_AT = ref(FENCE_REMEDIATION, MACHINE_AT.name, MACHINE_AT.namespace)


@pytest.mark.parametrize(
    ("room", "node", "record"),
    [
        ("owner", NODE_AT, MACHINE_AT),
        ("remedy", NODE_AT, NODE_AT),
        ("remedy", None, MACHINE_AT),
        ("node-fence", NODE_AT, fence_ref(NODE_AT)),
        ("metal3-remediation", NODE_AT, REMEDIATION_AT),
        ("fence-remediation", NODE_AT, REQUEST_AT),
    ],
)
def test_what_another_began_is_read_before_its_claim_is_taken(room: str, node: Ref | None, record: Ref) -> None:
    """A leader that has just come may see the Lease before the record: only what was read since then counts."""
    cache, at = Cache(claim.INDEXES), lease_of(node or MACHINE_AT)
    for version, before in (("8", "somebody"), ("9", holder_name(room, MACHINE_AT))):
        cache.put(Seen(at, "lease-uid", version, Lease("lease-uid", before)), NOW.mono)
    reads = Blocked(Claiming((node or MACHINE_AT).name), actions=(Confirm(record),))

    assert reads == claimed(see("annotation", MACHINE_AT, node, cache), NOW)
    cache.drop(record, confirmed_at=Mono(NOW.mono.ms - 1))
    assert reads == claimed(see("annotation", MACHINE_AT, node, cache), NOW), "that was before"
    cache.drop(record, confirmed_at=NOW.mono)
    take = ClaimRepair(at, Guard("lease-uid", "9"), OURS, NOW.wall)
    assert Blocked(reads.reason, actions=(take,)) == claimed(see("annotation", MACHINE_AT, node, cache), NOW)


def test_rooms_are_known_by_their_names() -> None:
    """A room that is renamed would have its record looked for in the wrong place, and nobody would notice."""
    assert {*claim.ON_THE_NODE, *claim.ON_A_REQUEST} <= {room.name for room in ROOMS}


def test_names_that_are_not_ours_are_not_looked_for() -> None:
    """Whoever wrote something else into the Lease has no record that we could read."""
    assert claim.record_of("somebody", NODE_AT) is None


@pytest.mark.parametrize("name", CASES)
def test_the_claim_is_a_gate(name: str) -> None:
    """It passes once the Lease names us; it creates, takes over by compare-and-swap, or waits."""
    entry, is_other_about_it, expected = CASES[name]

    assert expected == claimed(Claim(NODE_AT, entry, OURS, is_other_about_it), NOW)


def test_our_own_node_is_claimed_by_nobody_here() -> None:
    """Neither free nor ours already; a node of that name in another cluster, and every other node, may be."""
    found = {}
    for name in ("worker-0", "worker-1"):
        cache = Cache(claim.INDEXES)
        cache.put(Seen(OWN_NODE_AT, "", "", OwnNodeFact(name)), NOW.mono)
        stated(cache, "annotation", NOW.mono)
        cache.put(Seen(AT, "lease-uid", "9", Lease("lease-uid", OURS)), NOW.mono)
        found[name] = claimed(see("annotation", MACHINE_AT, NODE_AT, cache), NOW)
        elsewhere = ref(NODE, name, cluster="metal/other")
        assert not see("annotation", MACHINE_AT, elsewhere, cache).is_own

    assert {"worker-0": Blocked(OwnNode("worker-0")), "worker-1": None} == found


def test_who_states_a_need_keeps_the_claim() -> None:
    """The holder is about the node as long as its room states a need for its target, and no longer."""
    cache = Cache(claim.INDEXES)
    cache.put(Seen(AT, "lease-uid", "9", Lease("lease-uid", THEIRS)), NOW.mono)
    fact = need(MACHINE_AT, "owner", NOW.wall, is_running=True, node=NODE_AT)

    assert not see("annotation", MACHINE_AT, NODE_AT, cache).is_other_about_it
    cache.put(Seen(fact.ref, "", "", fact.value), NOW.mono)
    assert see("annotation", MACHINE_AT, NODE_AT, cache).is_other_about_it
    assert (fact.ref,) == cache.find(claim.BY_LEASE, AT.name)
    cache.drop(fact.ref)
    assert not see("annotation", MACHINE_AT, NODE_AT, cache).is_other_about_it


def test_who_leaves_the_repair_to_others_keeps_no_claim() -> None:
    """A check once had the Machine deleted; now it is marked, and who power cycles it takes the claim over."""
    cache = Cache(claim.INDEXES)
    cache.put(Seen(AT, "lease-uid", "9", Lease("lease-uid", holder_name("remediation", MACHINE_AT))), NOW.mono)
    for is_claimant in (True, False):
        fact = need(MACHINE_AT, "remediation", NOW.wall, is_running=True, node=NODE_AT, is_claimant=is_claimant)
        cache.put(Seen(fact.ref, "", "", fact.value), NOW.mono)

        assert is_claimant == see("annotation", MACHINE_AT, NODE_AT, cache).is_other_about_it
        assert (fact.ref,) == cache.find(claim.BY_LEASE, AT.name)


# What another room states, the budget's answer, and whether that room is about the machine.
ABOUT_IT: dict[str, tuple[dict[str, Any], Granted | Refused | None, bool]] = {
    "it runs": ({"is_running": True}, None, True),
    "it runs, and waits for a person": ({"is_running": True, "is_stuck": True}, None, True),
    "it waits": ({}, None, False),
    "it waits, and is refused": ({}, Refused(MACHINE_AT, BudgetPaused(None)), False),
    "it has its grant": ({}, Granted(MACHINE_AT, NOW.wall, asked=("owner",)), True),
    "another room has a grant": ({}, Granted(MACHINE_AT, NOW.wall, asked=("remediation",)), False),
    "it had its grant, and rests": ({"is_stuck": True}, Granted(MACHINE_AT, NOW.wall, asked=("owner",)), False),
    "it waits in the middle": ({"begins": "the next attempt"}, None, True),
    "it waits in the middle, and rests": ({"begins": "the next attempt", "is_stuck": True}, None, True),
}


@pytest.mark.parametrize("node", [NODE_AT, None])
@pytest.mark.parametrize("case", ABOUT_IT)
def test_who_else_is_about_a_machine(case: str, node: Ref | None) -> None:
    """By its node, or by itself where that room knows no node; a room is none of the others for itself."""
    said, told, expected = ABOUT_IT[case]
    cache = Cache(claim.INDEXES)
    if told is not None:
        cache.put(Seen(answer_ref(MACHINE_AT), "", "", told), NOW.mono)
    fact = need(MACHINE_AT, "owner", NOW.wall, **{"is_running": False, "node": node, **said})
    cache.put(Seen(fact.ref, "", "", fact.value), NOW.mono)

    assert ((fact.value,) if expected else ()) == claim.others("remediation", MACHINE_AT, NODE_AT, cache)
    assert () == claim.others("owner", MACHINE_AT, NODE_AT, cache)
    assert () == claim.others("remediation", ref(MACHINE, "worker-1", "metal"), ref(NODE, "worker-1"), cache)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (NODE_AT, ref(NODE, "worker-0", cluster="metal/other")),
        (NODE_AT, MACHINE_AT),
        (MACHINE_AT, ref(OPENSHIFT_MACHINE, "worker-0", "metal")),
        (MACHINE_AT, ref(MACHINE, "worker-0", "elsewhere")),
        (ref(NODE, "n" * 250), ref(NODE, "n" * 251)),
    ],
)
def test_no_two_repairs_share_a_lease(one: Ref, other: Ref) -> None:
    """Nodes of other clusters, machines without a node and very long names have Leases of their own."""
    assert lease_of(one) != lease_of(other)
    assert {LEASE} == {lease_of(one).kind, lease_of(other).kind}
    assert max(len(lease_of(one).name), len(lease_of(other).name)) <= 253


def test_holders_of_two_groups_differ() -> None:
    """Machines of both groups may share a name: their claims do not."""
    assert OURS != holder_name("annotation", ref(OPENSHIFT_MACHINE, "worker-0", "metal"))
    assert OURS != THEIRS


def test_the_budget_is_a_gate() -> None:
    """Granted passes, refused says why and until when, no answer yet is waited for."""
    refused = Refused(MACHINE_AT, BudgetPaused(None), NOW.wall)

    assert budgeted(Granted(MACHINE_AT, NOW.wall)) is None
    assert Blocked(BudgetPaused(None), NOW.wall) == budgeted(refused)
    assert Blocked(WaitingForBudget()) == budgeted(None)
