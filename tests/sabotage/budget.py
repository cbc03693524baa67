"""Sabotages of the budget and the claim: one line of harm each. `tests/test_sabotage_budget.py` runs them."""

from __future__ import annotations

from itertools import count

import pytest
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NODE_AT
from tests.core import test_claim, test_claimshelf, test_pacing, test_pauses, test_resting, test_slots
from tests.core.budget import (
    test_bursts,
    test_grants,
    test_health,
    test_openings,
    test_places,
    test_pods,
    test_rooms,
    test_storms,
)
from tests.core.fencing import test_beginnings as test_fence_beginnings
from tests.core.fencing import test_gates as test_fence_gates
from tests.core.fencing import test_hostpower, test_paced, test_story
from tests.core.healthcheck import test_modes, test_remediation
from tests.core.metal3 import test_delete, test_orphan, test_starting, test_waiting
from tests.core.metal3 import test_remediation as test_power_cycles
from tests.core.metal3 import test_resting as test_metal3_resting
from tests.core.owner import test_aftermath
from tests.core.remedy import test_cleaning
from tests.core.remedy import test_gates as test_remedy_gates
from tests.sabotage.running import Sabotage, Test, set_to, together
from tests.wire import test_budgets

from noderemedy.core import claim, claimshelf, freeing, leftalone, machines, pacing, slots
from noderemedy.core.budget import facts, grants, health, openings, places, pods, room, spec, status, storms, view
from noderemedy.core.budget.facts import health_ref
from noderemedy.core.budget.storms import is_over
from noderemedy.core.fencing import fence
from noderemedy.core.healthcheck import remediation as healthcheck
from noderemedy.core.metal3 import annotation, needs, remediation
from noderemedy.model import budget
from noderemedy.model.budget import NEED, Granted, Need
from noderemedy.model.ids import Ref
from noderemedy.model.ledger import BudgetLedger
from noderemedy.model.reasons import ClusterPaused, DomainBurst, TooManyInFlight
from noderemedy.model.remediationbudget import Allowance
from noderemedy.model.room import Index, Unreadable, Unseen
from noderemedy.model.time import Mono, Span
from noderemedy.model.workload import FreeBy
from noderemedy.wire import budgets

IS_OVER, JUDGE, OPEN_BOOKS, CLAIMED, ASKS = is_over, grants.judge, grants.open_books, claim.claimed, view.asks_of
BLOCKED = grants.blocked
TURN, PERMIT, ALLOWED = count(), pacing.Permit, pods.allowed
PER_HOUR = grants.per_hour_bearable
HOLDER, BUCKETS, UNENDED = claim.holder_name, facts.buckets, healthcheck.unended
AT_NODE = machines.at_node


def by_anybody(ref: Ref, need: Need) -> tuple[str, ...]:
    return (HOLDER(need.room, need.target),)


def without(gate: grants.Gate, *tests: Test) -> Sabotage:
    """A budget that lacks one of its gates."""
    rest, still = (tuple(one for one in gates if one is not gate) for gates in (grants.GATES, grants.STILL))
    seen = (test_grants.test_each_limit_refuses_with_its_numbers, *tests)

    def harm(monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(grants, "GATES", rest)
        monkeypatch.setattr(grants, "STILL", still)

    return Sabotage(f"no gate {gate.__name__}", harm, seen)


def gate_that(name: str, gate: grants.Gate, harmed: grants.Gate, *tests: Test) -> Sabotage:
    """A budget with one gate that is wrong."""
    gates = tuple(harmed if one is gate else one for one in grants.GATES)
    return Sabotage(name, set_to(grants, "GATES", gates), tests)


LIMITS = (
    without(grants.ledger_readable, test_rooms.test_an_unreadable_ledger_is_never_overwritten),
    without(grants.ledger_has_room),
    without(grants.budget_valid, test_rooms.test_an_invalid_budget_starts_nothing),
    Sabotage(
        "the budget reckons anew whenever a granted repair begins",
        set_to(room, "has_begun", lambda need, reader: False),
        (test_rooms.test_a_granted_repair_that_begins_is_not_reckoned_anew,),
    ),
    Sabotage(
        "a grant of what begins in the middle stays",
        set_to(room, "has_begun", lambda need, reader: reader.read(need).obj.is_running),
        (test_rooms.test_a_grant_of_what_begins_in_the_middle_ends_when_it_has_begun,),
    ),
    Sabotage(
        "a machine without a node is judged by the health of the management cluster",
        set_to(view, "cluster_of", lambda target, reader: ""),
        (
            test_rooms.test_a_machine_without_a_node_is_judged_by_its_own_cluster,
            test_rooms.test_a_machine_without_a_node_counts_in_its_own_cluster,
        ),
    ),
    Sabotage(
        "a cluster counts where somebody asks",
        set_to(view, "in_sight", lambda reader: []),
        (
            test_rooms.test_the_status_tells_of_clusters_in_which_nobody_asks,
            test_rooms.test_a_storm_where_nobody_asked_has_its_cooldown,
            test_rooms.test_what_is_out_of_sight_is_neither_well_nor_sick,
        ),
    ),
    Sabotage(
        "a cluster counts though nobody sees it",
        set_to(view, "in_sight", lambda reader: [test_rooms.PROD]),
        (test_rooms.test_what_is_out_of_sight_is_neither_well_nor_sick,),
    ),
    Sabotage(
        "what blocks the home cluster is all that blocks",
        set_to(grants, "blocked", lambda *seen: tuple(one for one in BLOCKED(*seen) if not one.cluster)),
        (
            test_rooms.test_the_status_tells_of_clusters_in_which_nobody_asks,
            test_rooms.test_a_cluster_that_is_blocked_later_is_told_soon,
        ),
    ),
    Sabotage(
        "what blocks everywhere is told of each cluster",
        set_to(grants, "EVERYWHERE", frozenset()),
        (test_rooms.test_what_blocks_everywhere_names_no_cluster,),
    ),
    Sabotage(
        "time alone ends nothing that blocks",
        set_to(grants, "blocked", lambda *seen: tuple(replace(one, until=None) for one in BLOCKED(*seen))),
        (
            test_rooms.test_that_a_cooldown_is_over_is_told_though_nobody_asks,
            test_rooms.test_that_a_window_closes_is_told_though_nobody_asks,
        ),
    ),
    Sabotage(
        "a cluster that is blocked as well is no news",
        set_to(status, "named", lambda told: []),
        (test_rooms.test_a_cluster_that_is_blocked_later_is_told_soon,),
    ),
    Sabotage(
        "every figure is news",
        set_to(status, "named", id),
        (test_rooms.test_a_cluster_that_is_blocked_later_is_told_soon,),
    ),
    Sabotage(
        "all clusters are named",
        set_to(status, "NAMED", 1_000),
        (test_rooms.test_of_many_blocked_clusters_some_are_named,),
    ),
    Sabotage(
        "who rests asks",
        set_to(view, "is_asking", lambda need: not need.is_running),
        (test_rooms.test_who_rests_gives_its_place_to_others,),
    ),
    Sabotage(
        "a grant does not name what may begin",
        set_to(grants, "Granted", lambda target, at, begins, asked: Granted(target, at, (), asked)),
        (
            test_grants.test_a_grant_names_what_may_begin_in_the_middle,
            test_rooms.test_a_grant_of_what_begins_in_the_middle_ends_when_it_has_begun,
        ),
    ),
    Sabotage(
        "the end of a repair is no news for the budget",
        set_to(room, "has_begun", lambda need, reader: True),
        (test_rooms.test_a_granted_repair_that_begins_is_not_reckoned_anew,),
    ),
    without(grants.not_paused),
    without(grants.window_open),
    without(grants.share_bearable, test_rooms.test_a_storm_holds_and_ends),
    without(grants.domain_quiet, test_grants.test_a_held_rack_leaves_the_others_working),
    without(grants.domain_bearable),
    without(grants.cooled_down, test_rooms.test_a_storm_holds_and_ends),
    without(grants.control_plane_free, test_grants.test_never_more_than_the_limits),
    without(grants.quorum_kept),
    without(grants.pending_bearable, test_grants.test_a_pending_power_off_counts_once),
    without(grants.in_flight_bearable, test_grants.test_never_more_than_the_limits),
    without(grants.per_hour_bearable, test_grants.test_never_more_than_the_limits),
    Sabotage(
        "a limit blocks only above itself",
        set_to(grants, "is_over", lambda limit, sick, total: IS_OVER(limit, sick - 1, total)),
        (test_grants.test_each_limit_refuses_with_its_numbers, test_rooms.test_a_storm_holds_and_ends),
    ),
    Sabotage(
        "a share blocks a single node",
        set_to(grants, "is_over", lambda limit, sick, total: sick >= 1 and IS_OVER(limit, sick + 1, total)),
        (test_grants.test_one_sick_node_is_never_blocked_by_a_share,),
    ),
    Sabotage(
        "a share may be nothing",
        set_to(budgets, "Allowance", lambda least, percent=0: Allowance(0 if percent else least, percent)),
        (test_budgets.test_a_share_is_rounded_down_and_at_least_one,),
    ),
    gate_that(
        "a held rack holds all",
        grants.domain_quiet,
        lambda ask, seen, books, now: next(
            ((DomainBurst(one.name, one.sick, one.total), None) for one in seen.domains if one.is_burst), None
        ),
        test_grants.test_just_below_each_limit_it_is_granted,
        test_grants.test_a_held_rack_leaves_the_others_working,
    ),
    gate_that(
        "a limit is one for all clusters",
        grants.in_flight_bearable,
        lambda ask, seen, books, now: (TooManyInFlight(9, 2), None) if len(books.in_flight) >= 2 else None,
        test_grants.test_limits_hold_per_cluster,
    ),
    gate_that(
        "quorum counts the sick one as well",
        grants.quorum_kept,
        lambda ask, seen, books, now: grants.quorum_kept(
            replace(ask, health=replace(ask.health, is_sick=True)), seen, books, now
        ),
        test_grants.test_each_limit_refuses_with_its_numbers,
    ),
    Sabotage(
        "the hour is a minute",
        set_to(grants, "HOUR", Span.seconds(60)),
        (test_grants.test_each_limit_refuses_with_its_numbers,),
    ),
)
STORMS = (
    Sabotage(
        "two are a burst",
        set_to(storms, "BURST_LEAST", 2),
        (
            test_storms.test_a_burst_is_half_of_a_domain_within_two_minutes,
            test_storms.test_a_burst_is_found_wherever_it_is,
        ),
    ),
    Sabotage(
        "a burst has an hour",
        set_to(storms, "BURST_WITHIN", Span.seconds(3_600)),
        (
            test_storms.test_a_burst_is_half_of_a_domain_within_two_minutes,
            test_storms.test_a_burst_is_found_wherever_it_is,
        ),
    ),
    Sabotage(
        "the end of a storm is forgotten",
        set_to(grants, "ended_storms", lambda *given: ()),
        (test_grants.test_a_storm_that_ended_is_written_down_once, test_rooms.test_a_storm_holds_and_ends),
    ),
    Sabotage(
        "a window belongs to today only",
        set_to(
            openings,
            "is_open",
            lambda one, minute: one.begins <= minute % openings.DAY < one.begins + one.minutes,
        ),
        (test_openings.test_a_window_belongs_to_the_day_on_which_it_began,),
    ),
    Sabotage(
        "the week begins on Thursday",
        set_to(openings, "THURSDAY", 0),
        (test_openings.test_a_window_belongs_to_the_day_on_which_it_began,),
    ),
)
LEDGER = (
    Sabotage(
        "a reservation ends at once",
        set_to(grants, "KEPT_FOR", Span(0)),
        (
            test_grants.test_a_reservation_is_never_dropped_within_a_minute,
            test_grants.test_the_next_look_is_when_a_reservation_lapses,
            test_rooms.test_the_next_begins_when_one_has_ended,
        ),
    ),
    Sabotage(
        "a reservation's age is read from its timestamp",
        set_to(
            grants,
            "sights_of",
            lambda seen, ledger, now: tuple(facts.Sight(one.target, one.since, Mono(0)) for one in ledger.reservations),
        ),
        (test_grants.test_a_reservation_is_never_dropped_within_a_minute,),
    ),
    Sabotage(
        "what waits is granted unseen",
        set_to(grants, "judge", lambda ask, *rest: JUDGE(ask, *rest) or Granted(ask.target, rest[-1].wall)),
        (
            test_grants.test_just_below_each_limit_it_is_granted,
            test_rooms.test_all_who_ask_are_answered_by_one_write,
        ),
    ),
    Sabotage(
        "nothing is counted before it was written",
        set_to(grants, "count", lambda *given: None),
        (
            test_grants.test_the_oldest_sign_is_served_first,
            test_grants.test_each_limit_refuses_with_its_numbers,
            test_grants.test_never_more_than_the_limits,
        ),
    ),
    Sabotage(
        "the youngest is served first",
        set_to(view, "asks_of", lambda *given: ASKS(*given)[::-1]),
        (test_rooms.test_all_who_ask_are_answered_by_one_write,),
    ),
    Sabotage(
        "garbage in the ledger is an empty ledger",
        set_to(view, "ledger_of", lambda entry: BudgetLedger()),
        (test_rooms.test_an_unreadable_ledger_is_never_overwritten,),
    ),
    Sabotage(
        "the ledger is written without a guard",
        set_to(room, "Guard", lambda uid, version: None),
        (test_rooms.test_the_next_begins_when_one_has_ended,),
    ),
    Sabotage(
        "a mark is a repair",
        set_to(
            grants,
            "open_books",
            lambda seen, *rest: OPEN_BOOKS(
                replace(seen, asks=tuple(replace(one, is_waiting=not one.is_running) for one in seen.asks)), *rest
            ),
        ),
        (test_grants.test_a_mark_is_no_repair,),
    ),
    Sabotage(
        "every number is news",
        set_to(grants, "as_told_before", lambda ask, refused: refused),
        (test_grants.test_a_refusal_keeps_its_numbers,),
    ),
    Sabotage(
        "an object that cannot be read is none",
        set_to(spec, "Unreadable", type("Nothing", (), {})),
        (test_rooms.test_a_budget_that_does_not_decode_starts_nothing,),
    ),
    Sabotage(
        "the object is not looked at",
        set_to(view, "SPEC_AT", facts.STATE_AT),
        (test_rooms.test_a_budget_that_does_not_decode_starts_nothing,),
    ),
)
LOST = (
    Sabotage(
        "a ledger that is gone is an empty one",
        set_to(
            grants, "remembered", lambda seen: seen.ledger if isinstance(seen.ledger, BudgetLedger) else BudgetLedger()
        ),
        (test_grants.test_whoever_deletes_the_ledger_does_not_reset_the_hour,),
    ),
    Sabotage(
        "the end of a storm slides along with the clock",
        set_to(grants, "of_now", lambda calm, seen, now: calm),
        (test_grants.test_a_storm_that_ended_in_the_future_is_waited_for_once,),
    ),
    Sabotage(
        "a storm is over when nobody asks",
        set_to(view, "stormy_clusters", lambda storms: []),
        (test_rooms.test_a_storm_goes_on_while_nobody_asks,),
    ),
)

HEALTH = (
    Sabotage(
        "whose Node somebody deleted is a worker of no rack",
        together(
            set_to(health, "rules", lambda seen, labels: not health.CONTROL_PLANE.isdisjoint(labels)),
            set_to(health, "domain_of", lambda seen, labels: labels.get(seen.topology, "")),
        ),
        (test_health.test_each_node_is_counted_as_it_is,),
    ),
    Sabotage(
        "what a fence has deleted counts as nothing",
        set_to(health, "waiting_fence", lambda key, reader: None),
        (test_health.test_each_node_is_counted_as_it_is,),
    ),
    Sabotage(
        "a node that is gone is well",
        set_to(health, "is_sick", lambda seen: False),
        (test_health.test_each_node_is_counted_as_it_is, test_rooms.test_a_storm_holds_and_ends),
    ),
    Sabotage(
        "a Node that cannot be read counts as nothing",
        set_to(health, "Unseen", (Unseen, Unreadable)),
        (test_health.test_each_node_is_counted_as_it_is,),
    ),
    Sabotage(
        "a deleted node is in no rack",
        set_to(health, "NodeBackup", type("Nothing", (), {})),
        (test_health.test_each_node_is_counted_as_it_is,),
    ),
    Sabotage(
        "nobody is of the control plane",
        set_to(health, "CONTROL_PLANE", frozenset()),
        (test_health.test_each_node_is_counted_as_it_is,),
    ),
    Sabotage(
        "all clusters are one",
        set_to(facts, "buckets", lambda at, fact: BUCKETS(health_ref(NODE_AT), fact)),
        (test_health.test_nodes_are_counted_where_they_are,),
    ),
    Sabotage(
        "who deletes a sick Node makes it sick anew",
        set_to(health, "signs_of_gap", lambda seen, now: [now.wall if seen.known is not None else None]),
        (
            test_health.test_each_node_is_counted_as_it_is,
            test_bursts.test_deleting_the_dead_nodes_of_a_rack_ends_no_burst,
        ),
    ),
    Sabotage(
        "a Node that goes before our eyes gives no sign",
        set_to(health, "signs_of_gap", lambda seen, now: [seen.known.since] if seen.known else []),
        (test_health.test_each_node_is_counted_as_it_is, test_bursts.test_nodes_that_go_at_once_are_a_burst),
    ),
    Sabotage(
        "whatever was missing when we came went just then",
        set_to(health, "is_missing", lambda verdict: False),
        (
            test_health.test_each_node_is_counted_as_it_is,
            test_bursts.test_nodes_that_were_missing_before_a_leader_came_are_no_burst,
        ),
    ),
    Sabotage(
        "a Machine tells nothing of its node",
        set_to(health, "told_of_node", lambda machine: []),
        (test_health.test_each_node_is_counted_as_it_is,),
    ),
)
STUCK = (
    Sabotage(
        "time in which nobody looks is time of trying",
        set_to(budget, "contact_since", lambda reader: None),
        (test_resting.test_what_nobody_could_try_does_not_count,),
    ),
    Sabotage(
        "who rests in the middle of its repair has not begun",
        set_to(test_places, "asks_of", lambda *given: tuple(replace(one, is_running=False) for one in ASKS(*given))),
        (test_places.test_who_rests_before_it_began_keeps_no_fellow_waiting,),
    ),
    Sabotage(
        "who has not begun keeps its fellows waiting",
        set_to(grants, "is_halted", lambda ask, has_no_place: has_no_place or (ask.is_stuck and ask.is_running)),
        (
            test_places.test_one_of_the_control_plane_keeps_its_fellows_waiting,
            test_places.test_who_rests_before_it_began_keeps_no_fellow_waiting,
        ),
    ),
    Sabotage(
        "who is well keeps no fellow waiting, whatever is done to it",
        set_to(grants, "is_halted", lambda ask, has_no_place: ask.is_stuck and ask.is_running and ask.health.is_sick),
        (
            test_places.test_one_of_the_control_plane_keeps_its_fellows_waiting,
            test_places.test_who_rests_before_it_began_keeps_no_fellow_waiting,
        ),
    ),
    Sabotage(
        "who is held for its domain keeps its place",
        set_to(grants, "ending", lambda memory, now: frozenset()),
        (
            test_places.test_who_is_held_for_its_domain_has_ten_minutes,
            test_places.test_a_dark_rack_keeps_no_places,
        ),
    ),
    Sabotage(
        "who lost its place is not told",
        set_to(grants, "without_place", lambda memory, now: frozenset()),
        (
            test_places.test_who_is_held_for_its_domain_has_ten_minutes,
            test_places.test_a_dark_rack_keeps_no_places,
            test_places.test_one_of_the_control_plane_keeps_its_fellows_waiting,
        ),
    ),
    Sabotage(
        "a pause takes places",
        set_to(grants, "others_may_begin", lambda *given: True),
        (
            test_places.test_what_holds_everybody_takes_no_place,
            test_places.test_a_pause_lets_its_time_begin_anew,
        ),
    ),
    Sabotage(
        "nobody looks when a place is given back",
        set_to(grants, "given_back_at", lambda held, now: []),
        (test_places.test_it_is_looked_at_in_time,),
    ),
    Sabotage(
        "who lost its place is served first",
        set_to(test_places, "asks_of", lambda reader, memory: ASKS(reader, facts.Memory())),
        (test_places.test_it_asks_behind_the_others,),
    ),
    Sabotage(
        "nobody is ever stuck",
        set_to(slots, "GIVEN_UP_AFTER", Span.seconds(1_000_000)),
        (
            test_slots.test_what_is_stuck,
            test_remediation.test_who_waits_for_others_for_ever_tells_and_gives_its_place_back,
        ),
    ),
    Sabotage(
        "who is stuck once is stuck for ever",
        set_to(slots, "waits_for_others", lambda decision, before: True),
        (test_slots.test_what_is_stuck,),
    ),
    Sabotage(
        "what is refused in the middle of a repair keeps its place",
        set_to(slots, "is_refused", lambda decision, refused: False),
        (
            test_slots.test_what_the_api_refuses_is_stuck,
            test_metal3_resting.test_a_repair_whose_end_is_refused_keeps_no_place,
        ),
    ),
    Sabotage(
        "a fence whose end is refused keeps its place",
        set_to(fence, "harmless", lambda view: None),
        (test_fence_beginnings.test_a_fence_whose_end_is_refused_keeps_no_place,),
    ),
    Sabotage(
        "a fence whose power-off is not recorded keeps no place",
        set_to(fence, "harmless", lambda view: view.refusal),
        (test_fence_beginnings.test_a_fence_whose_power_off_is_not_recorded_keeps_its_place,),
    ),
    Sabotage(
        "the end of a window is no news",
        set_to(grants, "closes_at", lambda openings, wall: None),
        (test_openings.test_the_budget_looks_when_the_window_closes,),
    ),
    Sabotage(
        "who asks beside a repair that runs gives its place back",
        set_to(places, "is_at_work", lambda ask: False),
        (test_places.test_who_is_at_work_keeps_its_place,),
    ),
    Sabotage(
        "a host that cannot be released keeps no place",
        set_to(remediation, "harmless", lambda view: view.refusal),
        (test_metal3_resting.test_hosts_that_nobody_may_release_are_no_more_than_may_be_in_flight,),
    ),
    Sabotage(
        "time runs anew at each look",
        set_to(slots, "begun_at", lambda before, now: now.mono),
        (test_slots.test_what_is_stuck, test_slots.test_it_comes_to_rest),
    ),
    Sabotage(
        "what is stuck is in flight",
        set_to(
            grants,
            "open_books",
            lambda seen, *rest: OPEN_BOOKS(
                replace(seen, asks=tuple(replace(one, is_stuck=False) for one in seen.asks)), *rest
            ),
        ),
        (test_grants.test_what_is_stuck_takes_no_slot,),
    ),
    Sabotage(
        "a stuck ruler is forgotten",
        set_to(
            grants,
            "open_books",
            lambda seen, *rest: OPEN_BOOKS(
                replace(seen, asks=tuple(one for one in seen.asks if not one.is_stuck)), *rest
            ),
        ),
        (test_grants.test_a_stuck_ruler_still_stops_its_fellows,),
    ),
    Sabotage(
        "only the sick are overdue",
        set_to(
            healthcheck,
            "unended",
            lambda seen, running, now, *because: replace(
                UNENDED(seen, running, now, *because), because=because, wake_at=None
            ),
        ),
        (test_remediation.test_a_repair_that_leads_to_nothing_gives_its_place_back_whatever_the_verdict,),
    ),
    Sabotage(
        "what goes off at last is as stuck as before",
        set_to(slots, "has_gone_off", lambda before, found: False),
        (test_slots.test_a_power_off_that_is_carried_out_at_last_goes_on,),
    ),
    Sabotage(
        "only what is stuck is loaded",
        set_to(
            grants,
            "open_books",
            lambda seen, *rest: OPEN_BOOKS(
                replace(
                    seen,
                    asks=tuple(replace(one, is_off_pending=one.is_off_pending and one.is_stuck) for one in seen.asks),
                ),
                *rest,
            ),
        ),
        (test_grants.test_a_pending_power_off_counts_once,),
    ),
    Sabotage(
        "a host that is held counts as off",
        set_to(needs, "is_off_pending", lambda seen: False),
        (test_waiting.test_a_held_host_that_was_not_seen_off_may_go_off,),
    ),
    Sabotage(
        "what a request holds counts as off",
        set_to(remediation, "is_off_pending", lambda seen: False),
        (test_power_cycles.test_a_hold_that_was_not_seen_to_work_is_told,),
    ),
    Sabotage(
        "a request that rests keeps its place",
        set_to(remediation, "rests_between_attempts", lambda seen, now: False),
        (test_power_cycles.test_between_attempts_its_place_is_given_back,),
    ),
    Sabotage(
        "who asks once more goes first, being the oldest",
        set_to(view, "turn", lambda one: (one.since, one.target)),
        (test_grants.test_needs_are_ordered_by_who_waits_for_the_first_time,),
    ),
    Sabotage(
        "a machine that anybody asks for once more waits behind all others",
        set_to(view, "again_of", lambda needs: min((one.again for one in needs if one.again), default=None)),
        (test_grants.test_needs_are_ordered_by_who_waits_for_the_first_time,),
    ),
    gate_that(
        "who asks once more has the whole hour",
        grants.per_hour_bearable,
        lambda ask, seen, books, now: PER_HOUR(replace(ask, again=None), seen, books, now),
        test_grants.test_who_asks_once_more_has_half_of_the_hour,
    ),
    Sabotage(
        "who leads again goes by what it knew when it led before",
        set_to(budget, "term", lambda reader: None),
        (test_slots.test_who_leads_again_gives_a_repair_its_whole_time, test_resting.test_who_leads_again_tries_anew),
    ),
)
PACE = (
    Sabotage(
        "everything may go",
        set_to(pods, "allowed", lambda wish, limit, freed: wish.pods),
        (
            test_pods.test_pods_one_by_one_share_the_minute,
            test_pods.test_nodes_wait_for_each_other,
            test_pods.test_no_minute_has_more_than_the_limit,
        ),
    ),
    Sabotage(
        "a big node may never go",
        set_to(pods, "allowed", lambda wish, limit, freed: wish.pods if wish.pods <= (limit or 0) else 0),
        (test_pods.test_one_node_alone_always_may,),
    ),
    Sabotage(
        "the limit of a document is nobody's",
        set_to(pods, "allowed", lambda wish, limit, freed: ALLOWED(replace(wish, limit=None), limit, freed)),
        (
            test_pods.test_a_document_limits_its_own_nodes,
            test_pods.test_whole_nodes_of_a_document_wait_for_each_other,
            test_story.test_freed_pods_are_limited_by_the_nodes_document,
        ),
    ),
    Sabotage(
        "whoever has the higher limit is named",
        set_to(pacing, "NO_LIMIT", 0),
        (test_pacing.test_the_stricter_limit_is_told,),
    ),
    Sabotage(
        "a batch is counted at every look",
        set_to(pods, "identity", lambda wish: (wish.room, wish.asker, f"{wish.what} {next(TURN)}")),
        (test_pods.test_the_same_batch_is_counted_once,),
    ),
    Sabotage(
        "a minute is a second",
        set_to(pods, "MINUTE", Span.seconds(1)),
        (test_pods.test_one_node_alone_always_may, test_pods.test_no_minute_has_more_than_the_limit),
    ),
    Sabotage(
        "nobody waits for leave",
        set_to(pacing, "Permit", lambda pods, facts=(), because=(): PERMIT(9, facts)),
        (test_pacing.test_who_has_no_leave_waits_and_says_what_would_go,),
    ),
    Sabotage(
        "whole nodes are not counted",
        set_to(freeing, "held_back", lambda work, now: None),
        (
            test_pacing.test_pods_are_counted_before_they_go_at_once,
            test_delete.test_a_node_waits_for_its_share_of_freed_pods,
            test_aftermath.test_the_node_waits_for_its_share_of_freed_pods,
        ),
    ),
    Sabotage(
        "all pods of a node go at once, whatever the limit",
        set_to(freeing, "way", lambda work, named, now: freeing.Way(named or freeing.default(work.node))),
        (
            test_pacing.test_more_pods_than_fit_go_one_by_one,
            test_pacing.test_the_way_is_chosen_when_the_pods_are_counted,
            test_paced.test_more_pods_than_fit_into_a_minute_go_one_by_one,
            test_cleaning.test_more_pods_than_the_budget_lets_go_are_freed_one_by_one,
        ),
    ),
    Sabotage(
        "a limit wins over whoever names a way",
        set_to(freeing, "way", lambda work, named, now: freeing.Way(FreeBy.PODS)),
        (
            test_pacing.test_more_pods_than_fit_go_one_by_one,
            test_paced.test_more_pods_than_fit_into_a_minute_go_one_by_one,
        ),
    ),
    Sabotage(
        "who frees one by one has no more time than others",
        set_to(freeing, "until", lambda work, by, due, last, within: due),
        (
            test_pacing.test_pods_that_go_one_by_one_have_the_time_for_it,
            test_paced.test_who_frees_one_by_one_has_the_time_for_it,
        ),
    ),
    Sabotage(
        "who frees one by one has an hour whatever happens",
        set_to(freeing, "until", lambda work, by, due, last, within: last),
        (test_paced.test_pods_that_nobody_may_delete_end_its_time_as_ever,),
    ),
    Sabotage(
        "who frees one by one has all the time",
        set_to(freeing, "PACED_WITHIN", Span.seconds(1_000_000)),
        (test_paced.test_pods_that_come_again_for_ever_end_nobodys_patience,),
    ),
    Sabotage(
        "pods are counted by any list",
        set_to(freeing, "MINUTE", Span.seconds(360_000)),
        (test_pacing.test_pods_are_counted_by_a_list_of_the_last_minute,),
    ),
    Sabotage(
        "a minute begins with the leave",
        set_to(
            pods,
            "of_last_minute",
            lambda before, _, now: [one for one in before if now.mono < one.at + Span.seconds(60)],
        ),
        (test_pods.test_a_minute_begins_when_the_pods_have_gone,),
    ),
    Sabotage(
        "a limit that cannot be read is none",
        set_to(budgets, "pods_per_minute", lambda fields: None),
        (test_budgets.test_freed_pods_per_minute,),
    ),
)
CLAIM = (
    Sabotage(
        "a check keeps the claim from whom it asks",
        set_to(healthcheck, "is_claimant", lambda way: True),
        (test_modes.test_only_a_deletion_keeps_the_claim,),
    ),
    Sabotage(
        "whoever has a need keeps the claim",
        set_to(claim, "INDEXES", (Index(claim.BY_HOLDER, NEED, by_anybody), *claim.INDEXES[1:])),
        (test_claim.test_who_leaves_the_repair_to_others_keeps_no_claim,),
    ),
    Sabotage(
        "only who runs is about a machine",
        set_to(claim, "is_about_it", lambda need, told: need.is_running),
        (test_claim.test_who_else_is_about_a_machine,),
    ),
    Sabotage(
        "whoever waits is about a machine",
        set_to(claim, "is_about_it", lambda need, told: True),
        (test_claim.test_who_else_is_about_a_machine,),
    ),
    Sabotage(
        "a claim goes while its machine is there",
        set_to(claimshelf, "Absent", object),
        (test_claimshelf.test_it_goes_when_its_machine_is_gone,),
    ),
    Sabotage(
        "what another began is not read",
        set_to(claim, "was_read_since", lambda record, lease: True),
        (test_claim.test_what_another_began_is_read_before_its_claim_is_taken,),
    ),
    Sabotage(
        "any old look at what another began will do",
        set_to(claim, "was_read_since", lambda record, lease: getattr(record, "confirmed_at", None) is not None),
        (test_claim.test_what_another_began_is_read_before_its_claim_is_taken,),
    ),
    Sabotage(
        "a grant is anybody's",
        set_to(view, "asked", lambda needs, told: tuple(sorted(one.room for one in needs))),
        (test_rooms.test_a_grant_names_those_who_have_asked,),
    ),
    Sabotage(
        "who has run asks nobody",
        set_to(view, "asked", lambda needs, told: told.asked if isinstance(told, Granted) else ()),
        (test_rooms.test_a_grant_names_those_who_have_asked, test_rooms.test_a_second_room_is_answered_by_itself),
    ),
    Sabotage(
        "the next power cycle is told as the one that runs",
        set_to(annotation, "wanted_need", lambda of, now: needs.running_need(of, now) or needs.wanted_need(of, now)),
        (test_starting.test_a_mark_of_our_check_in_the_middle_of_a_repair_asks_the_budget,),
    ),
    Sabotage(
        "what Cluster API has paused is as good as anything",
        set_to(leftalone, "pause_of", lambda at, machine, reader: None),
        (
            test_orphan.test_the_host_of_a_paused_machine_is_left_alone,
            test_power_cycles.test_the_host_of_a_paused_machine_is_left_alone,
            test_hostpower.test_the_host_of_a_paused_machine_is_left_alone,
            test_fence_gates.test_a_fence_leaves_the_node_of_a_paused_cluster_alone,
            test_story.test_whoever_pauses_the_cluster_stops_a_fence_wherever_it_is,
            test_remedy_gates.test_whoever_pauses_the_cluster_stops_a_chain_wherever_it_is,
            test_remedy_gates.test_it_goes_on_when_its_cluster_is_paused_no_more,
        ),
    ),
    Sabotage(
        "a paused Cluster is told as a mark on the Machine",
        set_to(leftalone, "ClusterObjectPaused", lambda cluster: ClusterPaused(f"Machine {cluster}")),
        (
            test_pauses.test_a_pause_of_cluster_api_names_who_carries_it,
            test_pauses.test_a_relic_that_is_left_alone_names_who_carries_the_pause,
        ),
    ),
    Sabotage(
        "a pause names nobody",
        set_to(Ref, "in_words", "it"),
        (
            test_pauses.test_a_persons_pause_names_who_carries_it,
            test_pauses.test_a_pause_of_what_a_check_looks_after_names_who_carries_it,
            test_pauses.test_a_check_that_stands_aside_or_is_silent_names_who_carries_the_pause,
        ),
    ),
    Sabotage(
        "of two Machines that name a node the first one counts",
        set_to(machines, "at_node", lambda node, reader: AT_NODE(node, reader)[:1]),
        (
            test_fence_gates.test_a_node_that_two_machines_name_is_left_alone_if_one_of_them_is_paused,
            test_remedy_gates.test_what_holds_a_remedy_back,
        ),
    ),
    Sabotage(
        "only a Machine can be paused",
        set_to(leftalone, "pause_of", lambda at, machine, reader: leftalone.pause(at, machine, None)),
        (
            test_orphan.test_the_host_of_a_paused_machine_is_left_alone,
            test_fence_gates.test_a_fence_leaves_the_node_of_a_paused_cluster_alone,
            test_remedy_gates.test_it_goes_on_when_its_cluster_is_paused_no_more,
        ),
    ),
    Sabotage(
        "the claim that a list of the past shows is one of now",
        set_to(claim, "was_made_since", lambda lease, need: lease.changed_at >= need.first_seen),
        (test_claim.test_a_claim_of_a_list_that_went_back_in_time_is_made_again,),
    ),
    Sabotage(
        "a claim of an earlier repair is as good as a new one",
        set_to(claim, "was_made_since", lambda lease, need: True),
        (test_claim.test_a_claim_of_an_earlier_repair_is_made_again, test_claim.test_of_two_who_come_at_once_one_acts),
    ),
    Sabotage(
        "our own node is as good as any",
        set_to(claim, "is_own", lambda node, reader: False),
        (
            test_claim.test_our_own_node_is_claimed_by_nobody_here,
            test_remedy_gates.test_the_managers_own_node_gets_no_remedy,
        ),
    ),
    Sabotage(
        "a claim goes while somebody needs it",
        set_to(claim, "BY_LEASE", claim.BY_HOLDER),
        (test_claimshelf.test_it_stays_while_somebody_needs_it,),
    ),
    Sabotage(
        "what another claims is looked at once",
        set_to(claim, "AGAIN", Span(10**12)),
        (test_claim.test_the_claim_is_a_gate,),
    ),
    Sabotage(
        "a claim is taken from whoever has it",
        set_to(test_claim, "claimed", lambda seen, now: CLAIMED(replace(seen, is_other_about_it=False), now)),
        (test_claim.test_the_claim_is_a_gate,),
    ),
    Sabotage(
        "nobody states a need",
        set_to(claim, "BY_HOLDER", claim.BY_LEASE),
        (test_claim.test_who_states_a_need_keeps_the_claim,),
    ),
    Sabotage(
        "holders are named without their group",
        set_to(test_claim, "holder_name", lambda room, target: HOLDER(room, MACHINE_AT)),
        (test_claim.test_holders_of_two_groups_differ,),
    ),
    Sabotage(
        "a claim is taken over without a guard",
        set_to(claim, "Guard", lambda uid, version: None),
        (test_claim.test_the_claim_is_a_gate,),
    ),
    Sabotage(
        "long names are cut",
        set_to(claim, "digest", lambda text: "0" * 10),
        (test_claim.test_no_two_repairs_share_a_lease,),
    ),
)
SABOTAGES: tuple[Sabotage, ...] = (*LIMITS, *STORMS, *LEDGER, *LOST, *HEALTH, *STUCK, *PACE, *CLAIM)
