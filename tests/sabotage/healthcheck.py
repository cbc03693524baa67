"""Sabotages of health checks: criteria, signs, gate, selection, reading, and the table of dialects cell by cell.

`tests/test_sabotage_healthcheck.py` runs them. A sabotage is one replaced function, constant or cell.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from msgspec.structs import replace
from tests.builders import NOW
from tests.core.healthcheck import (
    test_checks,
    test_criteria,
    test_gate,
    test_inhand,
    test_remediation,
    test_selector,
    test_status,
)
from tests.sabotage.aside import ASIDE
from tests.sabotage.invalid import INVALID
from tests.sabotage.machineconditions import MACHINE_CONDITIONS
from tests.sabotage.remediation import REMEDIATION
from tests.sabotage.running import Sabotage, Test, item_to, set_to
from tests.sim import test_scale
from tests.wire import test_healthchecks, test_machines, test_scalars, test_selectors

from noderemedy.core import labels
from noderemedy.core.external import lifecycle
from noderemedy.core.healthcheck import checks, criteria, gate, inhand, remediation, selector, signs
from noderemedy.model.dialect import RULES, StartupClock
from noderemedy.model.healthcheck import Dialect, HealthCheck, Percent, Target, Unjudged, Window
from noderemedy.model.machine import ControllerOwner
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import RepairNow, TooManyUnhealthy
from noderemedy.model.room import Absent, Present, Unseen
from noderemedy.model.selector import Selector
from noderemedy.model.time import MINUTE, Now, Span
from noderemedy.wire import fields, healthchecks, objects, scalars, selectors

AGE, OF_NODE, CONCLUDE, SIGHTINGS = signs.age, criteria.of_node, criteria.conclude, criteria.sightings
MOST = gate.most_bearable
FAILED, OWNER = criteria.Failed((RepairNow(),), NOW.wall), ControllerOwner("", "", "", "")
SEED, CAPI, OPENSHIFT = Dialect.SEED, Dialect.CAPI, Dialect.OPENSHIFT


def node_as(node: Any) -> Any:
    """The presence of the node, taken for something else unless it is there."""

    def of_node(target: Target, check: HealthCheck, now: Now) -> Any:
        return OF_NODE(
            target if isinstance(target.node, Present) else replace(target, node=node(target, now)), check, now
        )

    return of_node


CRITERIA = (
    Sabotage(
        "as long as the timeout is long enough",
        set_to(
            signs.Age, "is_over", property(lambda age: age.sign.timeout is not None and age.lasted >= age.sign.timeout)
        ),
        (test_criteria.test_a_condition_has_its_whole_timeout, test_criteria.test_a_timeout_of_zero_works),
    ),
    Sabotage(
        "a timeout of zero disables every criterion",
        set_to(
            signs.Age,
            "is_over",
            property(lambda age: bool(age.sign.timeout and 0 < age.sign.timeout.ms < age.lasted.ms)),
        ),
        (test_criteria.test_a_timeout_of_zero_works,),
    ),
    Sabotage(
        "the next look is at the timeout",
        set_to(signs, "SECOND", Span(0)),
        (
            test_criteria.test_a_condition_has_its_whole_timeout,
            test_criteria.test_at_the_next_look_it_is_over,
            test_criteria.test_every_wait_ends,
        ),
    ),
    Sabotage(
        "only the timestamp counts",
        set_to(criteria, "age", lambda sign, seen, now: AGE(sign, None, now)),
        (
            test_criteria.test_a_time_in_the_future_is_counted_from_when_we_saw_it,
            test_criteria.test_our_wall_clock_stepped_back,
            test_criteria.test_a_machine_without_any_date_starts_when_we_see_it,
        ),
    ),
    Sabotage(
        "only our memory counts",
        set_to(criteria, "age", lambda sign, seen, now: AGE(replace(sign, since=None), seen, now)),
        (test_criteria.test_a_timestamp_counts_more_than_our_short_memory,),
    ),
    Sabotage(
        "all spells of a condition are one",
        set_to(signs, "moment", lambda since: ""),
        (test_criteria.test_a_condition_that_came_back_begins_anew,),
    ),
    Sabotage(
        "what was seen is forgotten",
        set_to(
            test_criteria, "sightings", lambda target, check, now: SIGHTINGS(replace(target, sightings=()), check, now)
        ),
        (
            test_criteria.test_sightings_last_as_long_as_their_signs,
            test_criteria.test_a_request_keeps_the_date_at_which_we_saw_it,
            test_criteria.test_an_absence_once_read_live_stays_a_fact,
        ),
    ),
    Sabotage(
        "every difference of clocks is worth a word",
        set_to(signs, "AHEAD", Span(-2 * MINUTE.ms)),
        (test_criteria.test_clocks_that_nearly_agree_are_not_worth_a_word,),
    ),
    Sabotage(
        "an absence need not be read live",
        set_to(criteria, "of_node", node_as(lambda target, now: Absent(now.mono))),
        (
            test_criteria.test_a_missing_node_is_read_live_first,
            test_criteria.test_repair_now_guesses_nothing,
            test_criteria.test_what_cannot_be_seen_is_neither_healthy_nor_sick,
        ),
    ),
    Sabotage(
        "what is absent is out of sight",
        set_to(criteria, "of_node", node_as(lambda target, now: Unseen())),
        (test_criteria.test_a_missing_node_is_unhealthy_at_once,),
    ),
    Sabotage(
        "a node that we deleted is missing",
        set_to(
            criteria,
            "of_node",
            lambda target, check, now: OF_NODE(
                replace(target, machine=replace(target.machine, node_deleted_at=None)), check, now
            ),
        ),
        (
            test_criteria.test_a_node_that_we_deleted_is_starting,
            test_criteria.test_a_deletion_time_that_cannot_be_read_is_held_against_nobody,
        ),
    ),
    Sabotage(
        "nobody is ever starting",
        set_to(signs, "is_starting", lambda target, check, now: False),
        (test_criteria.test_the_startup_clock, test_criteria.test_a_startup_timeout_of_zero_disables_it),
    ),
    Sabotage(
        "our deletion does not restart the clock",
        set_to(
            signs, "started", lambda target, clock: max((m for m in signs.column(target, clock) if m), default=None)
        ),
        (test_criteria.test_the_startup_clock, test_criteria.test_a_node_that_we_deleted_is_starting),
    ),
    Sabotage(
        "every node of that name is ours",
        set_to(criteria, "is_own", lambda node, machine: True),
        (test_criteria.test_another_machines_node_says_nothing,),
    ),
    Sabotage(
        "the sickness of another machine's node is ours",
        set_to(signs, "is_own", lambda node, machine: True),
        (test_criteria.test_another_machines_node_says_nothing,),
    ),
    Sabotage(
        "an older generation of conditions counts as much",
        set_to(signs, "conditions_of", lambda machine: machine.conditions + machine.older_conditions),
        (test_criteria.test_the_current_generation_of_conditions_has_the_last_word,),
    ),
    Sabotage(
        "whoever is in a hurry is sick",
        set_to(
            criteria, "conclude", lambda found, hurried: CONCLUDE((*found, *([FAILED] if hurried else [])), hurried)
        ),
        (test_criteria.test_repair_now_skips_the_timeout, test_criteria.test_repair_now_guesses_nothing),
    ),
    Sabotage(
        "nobody is ever in a hurry",
        set_to(criteria, "is_hurried", lambda target: False),
        (test_criteria.test_repair_now_skips_the_timeout,),
    ),
    Sabotage(
        "what cannot be judged is healthy",
        set_to(Unjudged, "counts_as_healthy", True),
        (test_gate.test_what_counts_as_healthy, test_criteria.test_what_cannot_be_seen_is_neither_healthy_nor_sick),
    ),
)

GATE = (
    Sabotage(
        "percents are rounded up",
        set_to(
            gate,
            "most_bearable",
            lambda limit, total, blocks_at_limit: MOST(limit, total + 1, blocks_at_limit=blocks_at_limit),
        ),
        (test_gate.test_the_limit, test_gate.test_the_seed_never_rounds, test_gate.test_the_others_round_down),
    ),
    Sabotage(
        "a percentage is rounded before it is compared",
        set_to(
            gate,
            "most_bearable",
            lambda limit, total, blocks_at_limit: (
                (limit.p * total) // 100 - blocks_at_limit
                if isinstance(limit, Percent)
                else MOST(limit, total, blocks_at_limit=blocks_at_limit)
            ),
        ),
        (test_gate.test_the_limit, test_gate.test_the_seed_never_rounds),
    ),
    Sabotage(
        "any number is bearable",
        set_to(gate, "most_bearable", lambda limit, total, blocks_at_limit: total),
        (test_scale.test_a_storm_starts_no_repair_and_its_end_starts_those_that_are_left,),
    ),
    Sabotage(
        "the ends of a window are outside",
        set_to(gate, "through_window", lambda window, count: gate.below_limit(window.high - 1, str(window), count)),
        (test_gate.test_the_window, test_gate.test_a_window_is_open_inside_only),
    ),
    Sabotage(
        "a window yields to the limit",
        set_to(gate, "Window", Malformed),
        (test_gate.test_the_window,),
    ),
    Sabotage(
        "an invalid check acts",
        set_to(HealthCheck, "is_valid", True),
        (test_gate.test_an_invalid_check_opens_nothing,),
    ),
)

NEWS = (
    Sabotage(
        "every count of a storm is news",
        set_to(TooManyUnhealthy, "passing", ()),
        (test_checks.test_a_storm_is_two_events, test_checks.test_the_counts_go_on_in_the_status),
    ),
    Sabotage(
        "nobody hears that a gate has opened",
        set_to(checks, "gate_reasons", lambda view, found: (found.gate.reason,) if found.is_told else ()),
        (test_checks.test_a_storm_is_two_events, test_checks.test_what_was_told_stands_until_the_gate_opens),
    ),
    Sabotage(
        "who is not sick any more ends the news",
        set_to(checks, "is_news", lambda view, found: found.reason is not None and view.count.unhealthy > 0),
        (test_checks.test_what_was_told_stands_until_the_gate_opens,),
    ),
    Sabotage(
        "a gate that opened is told of to everybody",
        set_to(checks, "is_news", lambda view, found: found.reason is not None),
        (test_checks.test_who_was_told_nothing_is_told_no_end,),
    ),
    Sabotage(
        "a gate that opens and closes has no moment",
        set_to(checks, "since_when", lambda view, found, now: ""),
        (test_checks.test_each_storm_has_events_of_its_own, test_checks.test_the_moment_names_the_episode),
    ),
    Sabotage(
        "a gate changes at every look",
        set_to(checks, "since_when", lambda view, found, now: str(now.wall)),
        (test_checks.test_the_moment_names_the_episode, test_checks.test_a_look_at_what_was_found_changes_nothing),
    ),
    Sabotage(
        "a sickness is like any other",
        set_to(remediation, "episode", lambda uid, boot, since: ""),
        (test_remediation.test_each_sickness_is_an_episode,),
    ),
)

SELECTION = (
    Sabotage(
        "a check speaks for all clusters",
        set_to(selector, "is_of_cluster", lambda name, machine, labels: True),
        (test_selector.test_a_check_speaks_for_its_own_cluster,),
    ),
    Sabotage(
        "every machine that is selected is a target",
        set_to(test_selector, "is_target", selector.selects),
        (test_selector.test_who_is_a_target,),
    ),
    Sabotage(
        "nobody says by whose rules",
        set_to(healthchecks, "chosen", lambda fields, notes, found: found),
        (
            test_healthchecks.test_a_person_says_by_whose_rules,
            test_healthchecks.test_rules_of_another_group_stop_the_check,
        ),
    ),
    Sabotage(
        "every kind is read by any rules",
        set_to(healthchecks, "READABLE", dict.fromkeys(Dialect, tuple(Dialect))),
        (test_healthchecks.test_rules_of_another_group_stop_the_check,),
    ),
    Sabotage(
        "expressions are satisfied by all",
        set_to(labels, "satisfies", lambda expression, labels: True),
        (test_selector.test_match_expressions, test_selector.test_all_parts_must_hold),
    ),
)

READING = (
    Sabotage(
        "fields of other dialects are ignored",
        set_to(healthchecks, "foreign", lambda fields, dialect: None),
        (test_healthchecks.test_a_field_of_another_dialect_is_a_mistake,),
    ),
    Sabotage(
        "nobody is told of the annotation",
        set_to(healthchecks, "told_by", lambda path, dialect: ""),
        (
            test_healthchecks.test_a_field_of_another_dialect_is_a_mistake,
            test_healthchecks.test_a_check_of_cluster_api_03_is_read_as_its_problem_says,
        ),
    ),
    Sabotage(
        "labels that cannot be read are left out",
        set_to(selectors, "match_labels", lambda fields, path, tree: ()),
        (test_selectors.test_selectors, test_selectors.test_garbage),
    ),
    Sabotage(
        "a selector that cannot be read is an empty one",
        set_to(healthchecks, "read_selector", lambda fields, path, tree: Selector()),
        (test_healthchecks.test_the_seeds_example, test_healthchecks.test_a_selector_of_another_cluster_is_refused),
    ),
    Sabotage(
        "an annotation means what it begins with",
        set_to(healthchecks, "flag", lambda fields, notes, name, word, *_: notes.get(name, "").startswith(word)),
        (test_healthchecks.test_a_word_that_nobody_knows_stops_the_check,),
    ),
    Sabotage(
        "problems are not told",
        set_to(fields.Fields, "problems", ()),
        (test_healthchecks.test_garbage_never_raises, test_healthchecks.test_limits_that_are_none),
    ),
    Sabotage(
        "problems have no end",
        set_to(fields, "PROBLEMS_MAX", 10**9),
        (test_healthchecks.test_problems_are_bounded,),
    ),
    Sabotage(
        "a window may be the wrong way round",
        set_to(
            healthchecks,
            "window",
            lambda found, rules: (
                Window(int(m[1]), int(m[2]))
                if (m := healthchecks.RANGE.fullmatch(str(found.get("unhealthyRange"))))
                else None
            ),
        ),
        (test_healthchecks.test_windows_that_are_none,),
    ),
    Sabotage(
        "a minute has a thousand seconds",
        item_to(scalars.MILLISECONDS, "m", Fraction(1_000_000)),
        (test_scalars.test_durations, test_scalars.test_the_pieces_add_up, test_healthchecks.test_the_seeds_example),
    ),
    Sabotage(
        "the newer conditions of v1beta1 are not read",
        set_to(objects, "generations", lambda status: (tuple(map(objects.condition, status.conditions or ())), ())),
        (test_machines.test_conditions_of_two_generations, test_machines.test_clusters),
    ),
    Sabotage(
        "any owner replaces its machine",
        set_to(objects, "controller", lambda owners: next((OWNER for _ in owners), None)),
        (test_machines.test_the_owner_that_replaces_a_machine,),
    ),
)


def cell(dialect: Dialect, rule: str, value: object, *tests: Test) -> Sabotage:
    """Another value in one cell of the table."""
    changed = replace(RULES[dialect], **{rule: value})
    return Sabotage(f"{rule} of {dialect.value} is {value}", item_to(RULES, dialect, changed), tests)


def row(rule: str, value: object, *tests: Test) -> tuple[Sabotage, ...]:
    """Another value in every cell of a row."""
    return tuple(cell(dialect, rule, value, *tests) for dialect in Dialect)


wire, judged, limits, told = test_healthchecks, test_criteria, test_gate, test_status
CELLS = (
    cell(SEED, "node_criteria_fields", (), wire.test_the_seeds_example),
    cell(CAPI, "node_criteria_fields", ("unhealthyConditions",), wire.test_v1beta2),
    cell(CAPI, "node_criteria_fields", ("checks.unhealthyNodeConditions",), wire.test_v1beta1),
    cell(OPENSHIFT, "node_criteria_fields", (), wire.test_openshift),
    cell(SEED, "machine_criteria_fields", ("checks",), wire.test_a_field_of_another_dialect_is_a_mistake),
    cell(CAPI, "machine_criteria_fields", (), wire.test_v1beta1, wire.test_v1beta2),
    cell(
        OPENSHIFT,
        "machine_criteria_fields",
        ("unhealthyMachineConditions",),
        wire.test_a_field_of_another_dialect_is_a_mistake,
    ),
    cell(SEED, "limit_fields", (), wire.test_the_seeds_example, wire.test_limits),
    cell(CAPI, "limit_fields", ("maxUnhealthy",), wire.test_v1beta2),
    cell(OPENSHIFT, "limit_fields", (), wire.test_limits_of_openshift),
    cell(SEED, "window_fields", (), wire.test_windows),
    cell(CAPI, "window_fields", ("unhealthyRange",), wire.test_v1beta2),
    cell(OPENSHIFT, "window_fields", ("unhealthyRange",), wire.test_a_field_of_another_dialect_is_a_mistake),
    cell(SEED, "startup_fields", (), wire.test_startup_timeouts),
    cell(CAPI, "startup_fields", ("nodeStartupTimeout",), wire.test_v1beta2),
    cell(OPENSHIFT, "startup_fields", (), wire.test_openshift),
    cell(SEED, "template_fields", ("remediationTemplate",), wire.test_the_seeds_example_with_a_template),
    cell(CAPI, "template_fields", ("remediationTemplate",), wire.test_v1beta2),
    cell(OPENSHIFT, "template_fields", (), wire.test_openshift),
    cell(SEED, "limit_as_text", True, wire.test_limits_that_are_none),
    cell(CAPI, "limit_as_text", True, wire.test_limits_that_are_none),
    cell(OPENSHIFT, "limit_as_text", False, wire.test_limits_of_openshift),
    cell(SEED, "negative_is_zero", True, wire.test_limits_that_are_none),
    cell(CAPI, "negative_is_zero", True, wire.test_limits_that_are_none),
    cell(OPENSHIFT, "negative_is_zero", False, wire.test_limits_of_openshift),
    cell(SEED, "empty_selects_all", True, wire.test_an_empty_selector_is_a_mistake),
    cell(CAPI, "empty_selects_all", True, wire.test_an_empty_selector_is_a_mistake),
    cell(OPENSHIFT, "empty_selects_all", False, wire.test_an_empty_selector_of_openshift_means_all),
    cell(SEED, "needs_cluster_name", True, wire.test_the_seeds_example),
    cell(CAPI, "needs_cluster_name", False, wire.test_cluster_api_needs_a_clusters_name),
    cell(OPENSHIFT, "needs_cluster_name", True, wire.test_openshift),
    *row("startup_default", Span.seconds(300), wire.test_defaults),
    cell(SEED, "startup_minimum", Span(0), wire.test_startup_timeouts_that_are_none),
    cell(CAPI, "startup_minimum", Span(0), wire.test_startup_seconds_that_are_none),
    cell(OPENSHIFT, "startup_minimum", Span.seconds(31), wire.test_startup_timeouts),
    cell(SEED, "startup_clock", StartupClock.LAST_UPDATED, judged.test_the_startup_clock),
    cell(CAPI, "startup_clock", StartupClock.CREATION, judged.test_the_startup_clock),
    cell(OPENSHIFT, "startup_clock", StartupClock.PROGRESS, judged.test_the_startup_clock),
    cell(SEED, "waits_for_cluster", True, judged.test_a_cluster_that_is_being_built),
    cell(CAPI, "waits_for_cluster", False, judged.test_a_cluster_that_is_being_built),
    cell(OPENSHIFT, "waits_for_cluster", True, judged.test_a_cluster_that_is_being_built),
    cell(SEED, "fails_by_phase", True, judged.test_phase_failed),
    cell(CAPI, "fails_by_phase", True, judged.test_phase_failed),
    cell(OPENSHIFT, "fails_by_phase", False, judged.test_phase_failed),
    cell(SEED, "blocks_at_limit", False, limits.test_the_limit, limits.test_the_seed_never_rounds),
    cell(CAPI, "blocks_at_limit", True, limits.test_the_limit, limits.test_the_others_round_down),
    cell(OPENSHIFT, "blocks_at_limit", True, limits.test_the_limit, limits.test_the_others_round_down),
    cell(SEED, "limit_unset", Percent(100), limits.test_the_limit),
    cell(CAPI, "limit_unset", Percent(0), limits.test_the_limit),
    cell(OPENSHIFT, "limit_unset", Percent(0), limits.test_the_limit),
    cell(SEED, "tells_generation", False, told.test_the_generation_is_told_where_there_is_a_field),
    cell(CAPI, "tells_generation", False, told.test_the_generation_is_told_where_there_is_a_field),
    cell(OPENSHIFT, "tells_generation", True, told.test_the_generation_is_told_where_there_is_a_field),
    cell(SEED, "tells_targets", False, told.test_targets_are_told_where_there_is_a_field),
    cell(CAPI, "tells_targets", False, told.test_targets_are_told_where_there_is_a_field),
    cell(OPENSHIFT, "tells_targets", True, told.test_targets_are_told_where_there_is_a_field),
    cell(SEED, "has_annotation_mode", False, wire.test_annotation_mode),
    cell(CAPI, "has_annotation_mode", True, wire.test_annotation_mode),
    cell(OPENSHIFT, "has_annotation_mode", False, wire.test_annotation_mode),
)
IN_HAND = (
    Sabotage(
        "nobody is in hand",
        set_to(inhand, "is_in_hand", lambda *_: False),
        (test_inhand.test_a_request_that_stands_counts, test_inhand.test_a_node_out_of_service_counts),
    ),
    Sabotage(
        "requests of other kinds do not count",
        set_to(lifecycle, "standing", lambda *_: []),
        (test_inhand.test_a_request_that_stands_counts,),
    ),
    Sabotage(
        "a power cycle does not start the clock",
        set_to(inhand, "remediation_of", lambda *_: None),
        (test_inhand.test_the_room_takes_the_time_of_the_attempt_from_the_request,),
    ),
    Sabotage(
        "only machines tell when they started",
        set_to(signs, "started", lambda target, clock: max(filter(None, signs.column(target, clock)), default=None)),
        (test_inhand.test_a_power_cycle_starts_the_clock_of_the_start_anew,),
    ),
)
SABOTAGES = (
    *(*CRITERIA, *IN_HAND, *GATE, *NEWS, *SELECTION, *READING, *CELLS),
    *(*MACHINE_CONDITIONS, *REMEDIATION, *ASIDE, *INVALID),
)
