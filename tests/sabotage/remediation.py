"""One line of harm each for the remediation of health checks: gates, modes, words, recovery, and who is woken."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.core.healthcheck import test_modes, test_remediation, test_remediationgates, test_resting
from tests.sabotage.running import Harm, Sabotage, Test, item_to, set_to, together
from tests.wire import test_machines

from noderemedy.core import resting
from noderemedy.core.external import lifecycle
from noderemedy.core.gates import budgeted
from noderemedy.core.healthcheck import (
    checks,
    modes,
    remediation,
    remediationgates,
    remediationview,
    words,
)
from noderemedy.core.resting import Turn
from noderemedy.model.budget import ANSWER, NEED
from noderemedy.model.dialect import RULES, Default
from noderemedy.model.healthcheck import Dialect
from noderemedy.model.observer import OBSERVER
from noderemedy.wire import objects

SEED, CAPI, OPENSHIFT = Dialect.SEED, Dialect.CAPI, Dialect.OPENSHIFT
BEFORE, WAKES, UNMARK = remediationgates.BEFORE_BUDGET, remediation.wakes, modes.unmark
TURN = resting.turn


def without(name: str) -> Harm:
    """All gates but one."""
    left = tuple(gate for gate in BEFORE if gate.__name__ != name)
    assert len(left) + 1 == len(BEFORE), f"no gate {name}"
    return set_to(remediation, "BEFORE_BUDGET", left)


def open_gate(name: str, *tests: Test) -> Sabotage:
    return Sabotage(f"gate {name.replace('_', ' ')} is always open", without(name), tests)


def mode(way: modes.Way, **changes: Any) -> Harm:
    """One mode, changed."""
    return item_to(modes.MODES, way, replace(modes.MODES[way], **changes))


def cell(dialect: Dialect, rule: str, value: object, *tests: Test) -> Sabotage:
    changed = replace(RULES[dialect], **{rule: value})
    return Sabotage(f"{rule} of {dialect.value} is {value!s:.40}", item_to(RULES, dialect, changed), tests)


REMEDIATION_CELLS = (
    cell(SEED, "default", Default.DELETE, test_modes.test_which_way_a_check_means),
    cell(CAPI, "default", Default.DELETE, test_modes.test_which_way_a_check_means),
    cell(OPENSHIFT, "default", Default.CONDITIONS, test_modes.test_which_way_a_check_means),
    cell(SEED, "writes_both_generations", True, test_modes.test_the_seed_writes_one_generation_and_cluster_api_both),
    cell(CAPI, "writes_both_generations", False, test_modes.test_the_seed_writes_one_generation_and_cluster_api_both),
    cell(SEED, "external_conditions", ("HealthCheckSucceeded",), test_modes.test_which_way_a_check_means),
    cell(CAPI, "external_conditions", (), test_modes.test_which_way_a_check_means),
    cell(OPENSHIFT, "external_conditions", ("OwnerRemediated",), test_modes.test_which_way_a_check_means),
)

GATES = (
    open_gate("no_other_controller", test_remediation.test_another_controller_is_left_all_machines_of_its_check),
    open_gate("nobody_paused_it", test_remediation.test_a_paused_node_is_repaired_when_its_pause_is_over),
    open_gate("check_may_act", test_remediationgates.test_behind_a_closed_gate_nothing_is_asked_for),
    open_gate("machine_stays", test_remediationgates.test_behind_a_closed_gate_nothing_is_asked_for),
    open_gate("limit_is_kept", test_remediation.test_a_permission_wakes_the_sick_and_only_them),
    open_gate("watched_long_enough", test_remediation.test_who_has_just_come_asks_for_nothing_yet),
    open_gate("no_hold_is_left", test_modes.test_nothing_begins_beside_a_hold_that_is_left),
    open_gate(
        "nobody_else_repairs_it",
        test_remediationgates.test_in_no_way_is_a_second_repair_begun,
        test_remediation.test_a_check_waits_for_the_repair_of_another_room,
    ),
    Sabotage(
        "what cannot be read repairs nothing",
        set_to(remediationview, "unread", lambda key, node_at, reader: None),
        (test_remediation.test_a_check_waits_for_what_cannot_be_read,),
    ),
    Sabotage(
        "a power cycle of a mark is another's repair",
        set_to(remediationgates, "OF_MARKS", ""),
        (test_remediationgates.test_a_check_that_marks_waits_for_no_power_cycle_of_a_mark,),
    ),
    open_gate(
        "somebody_replaces_it",
        test_modes.test_a_machine_is_deleted_only_if_somebody_replaces_it,
        test_modes.test_a_machine_whose_host_no_new_one_would_get_is_not_deleted,
    ),
    open_gate("person_approved", test_remediationgates.test_behind_a_closed_gate_nothing_is_asked_for),
    open_gate("cluster_is_not_paused", test_remediationgates.test_behind_a_closed_gate_nothing_is_asked_for),
    open_gate("check_is_valid", test_remediationgates.test_behind_a_closed_gate_nothing_is_asked_for),
    open_gate("machine_is_not_skipped", test_remediationgates.test_behind_a_closed_gate_nothing_is_asked_for),
    Sabotage(
        "the node is not read live",
        set_to(remediation, "AFTER_BUDGET", (remediationgates.budget_allows,)),
        (test_remediation.test_a_lagging_watch_costs_no_healthy_node_its_life,),
    ),
    Sabotage(
        "the budget is not asked",
        set_to(remediation, "AFTER_BUDGET", (remediationgates.node_is_read_live,)),
        (
            test_remediation.test_a_sick_machine_is_marked_once_the_budget_allows_it,
            test_remediation.test_repair_now_skips_the_timeout_and_nothing_else,
        ),
    ),
    Sabotage(
        "what is refused keeps its place",
        set_to(resting, "turn", lambda *given, is_tried: Turn()),
        (
            test_resting.test_what_was_granted_has_ten_minutes,
            test_resting.test_refused_marks_leave_their_places_to_others,
        ),
    ),
    Sabotage(
        "who waits for another repair is tried",
        set_to(resting, "turn", lambda *given, is_tried: TURN(*given, is_tried=True)),
        (test_resting.test_who_waits_for_another_repair_is_not_stuck,),
    ),
    Sabotage(
        "a grant outlives the place that was given back",
        set_to(remediationgates, "budgeted_anew", lambda told, *rest: budgeted(told)),
        (test_resting.test_it_asks_again_when_it_has_rested,),
    ),
    Sabotage(
        "a closed gate ends every rest",
        set_to(resting, "kept", lambda stated, before: ()),
        (
            test_resting.test_a_gate_that_closes_ends_no_rest,
            test_resting.test_a_moment_of_trouble_brings_nobody_to_the_front,
        ),
    ),
    Sabotage(
        "a closed gate hides who is sick",
        set_to(remediation, "SILENT", remediationgates.GATES),
        (
            test_remediationgates.test_only_some_gates_keep_the_verdict_quiet,
            test_modes.test_a_closed_gate_tells_the_sickness_and_asks_nobody,
        ),
    ),
    Sabotage(
        "nothing keeps us from telling",
        set_to(remediation, "SILENT", ()),
        (
            test_remediationgates.test_only_some_gates_keep_the_verdict_quiet,
            test_remediation.test_a_request_is_deleted_on_recovery_whatever_the_gates_say,
        ),
    ),
    Sabotage(
        "the startup timeout is forgotten",
        set_to(remediationgates, "shortest_timeout", lambda check: max(one.timeout for one in check.node_criteria)),
        (test_remediationgates.test_who_has_just_come_waits_for_the_shortest_timeout,),
    ),
    Sabotage(
        "other controllers are not told to the machines",
        set_to(checks, "other_controller", lambda check, first_seen, now: None),
        (test_remediation.test_another_controller_is_left_all_machines_of_its_check,),
    ),
)

ASKED = (
    Sabotage(
        "whoever is marked is marked again",
        item_to(
            modes.MODES, modes.Way.ANNOTATION, replace(modes.MODES[modes.Way.ANNOTATION], is_asked=lambda v: False)
        ),
        (
            test_modes.test_a_marked_machine_is_not_marked_again,
            test_modes.test_no_second_repair_beside_a_mark,
            test_remediation.test_a_few_looks_lead_to_rest,
        ),
    ),
    Sabotage(
        "a request is made beside the first",
        mode(modes.Way.EXTERNAL, is_asked=lambda view: False),
        (test_remediation.test_a_request_that_stands_is_left_to_its_controller,),
    ),
    Sabotage(
        "nothing is taken back",
        set_to(remediation, "taken_back", lambda view, now, why: None),
        (
            test_remediation.test_the_mark_of_a_machine_that_recovered_is_taken_off,
            test_remediation.test_the_check_is_deleted_in_the_middle,
            test_remediation.test_a_request_is_deleted_on_recovery_whatever_the_gates_say,
            test_modes.test_on_recovery_a_mark_goes_unless_the_repair_has_begun,
        ),
    ),
    Sabotage(
        "a mark goes although the repair has begun",
        mode(
            modes.Way.ANNOTATION,
            take_back=lambda view, now: UNMARK(
                replace(view, host=None, machine=replace(view.machine, backup=None, node_deleted_at=None)), now
            ),
        ),
        (test_modes.test_on_recovery_a_mark_goes_unless_the_repair_has_begun,),
    ),
    Sabotage(
        "every mark is ours",
        set_to(objects, "marked_by", lambda text: "workers"),
        (test_machines.test_whose_mark_it_is,),
    ),
    Sabotage(
        "what the owner said is ours",
        set_to(words, "asked_by", lambda told: "workers"),
        (
            test_modes.test_on_recovery_our_own_request_goes_and_the_owners_word_stays,
            test_modes.test_the_owner_is_asked_only_where_it_has_not_spoken,
        ),
    ),
    Sabotage(
        "an invalid check means nobody",
        set_to(remediationview, "is_over", lambda check, reader: True),
        (
            test_remediation.test_a_check_edited_in_the_middle,
            test_remediation.test_an_invalid_check_that_is_mended_to_mean_others,
        ),
    ),
    Sabotage(
        "what is left is never withdrawn",
        set_to(remediationview, "is_left", lambda key, machine, reader: False),
        (
            test_remediation.test_a_check_edited_in_the_middle,
            test_remediation.test_the_check_is_deleted_in_the_middle,
            test_remediation.test_machines_that_somebody_skips_or_pauses_in_the_middle,
        ),
    ),
    Sabotage(
        "what can never begin reserves a place",
        together(
            without("somebody_replaces_it"),
            set_to(
                remediation, "AFTER_BUDGET", (*remediationgates.AFTER_BUDGET, remediationgates.somebody_replaces_it)
            ),
        ),
        (test_modes.test_a_machine_is_deleted_only_if_somebody_replaces_it,),
    ),
    Sabotage(
        "a template is looked for with a place in the budget",
        set_to(lifecycle, "hindrance", lambda view, now: None),
        (
            test_remediation.test_what_can_never_begin_reserves_nothing,
            test_remediation.test_a_template_that_is_missing_is_told_before_the_budget_is_asked,
        ),
    ),
    Sabotage(
        "a template that was there once is none",
        set_to(lifecycle, "has_template", lambda wish: False),
        (test_remediation.test_what_can_never_begin_reserves_nothing,),
    ),
    Sabotage(
        "a deletion needs no claim",
        set_to(modes, "claimed", lambda claim, now: None),
        (test_modes.test_a_deletion_is_claimed_first,),
    ),
    Sabotage(
        "a refusal holds up its own telling",
        set_to(lifecycle, "trouble", lambda view, now: None),
        (test_remediation.test_what_went_wrong_with_a_request_is_told_before_it_is_tried_again,),
    ),
    Sabotage(
        "every finding has the same word",
        set_to(words, "REASONS", ()),
        (
            test_modes.test_each_finding_has_the_word_that_owners_know,
            test_modes.test_the_machines_own_trouble_names_the_reason,
        ),
    ),
    Sabotage(
        "a word to the owner of a machine that is well is an alert",
        set_to(remediation, "is_only_a_word", lambda view, running: False),
        (test_remediation.test_a_word_that_another_left_to_the_owner_of_a_well_machine_is_no_alert,),
    ),
    Sabotage(
        "a word to an owner is never an alert",
        set_to(remediation, "is_only_a_word", lambda view, running: True),
        (test_remediation.test_a_repair_that_leads_to_nothing_gives_its_place_back_whatever_the_verdict,),
    ),
)


def deaf(kind: Any) -> Harm:
    """The room is not woken by this kind."""
    changed = replace(
        remediation.ROOM, wakes=lambda ref, obj, reader: () if ref.kind == kind else WAKES(ref, obj, reader)
    )
    rooms = tuple(changed if room is remediation.ROOM else room for room in test_remediation.ROOMS)
    return set_to(test_remediation.Stage, "rooms", rooms)


WOKEN = (
    Sabotage(
        "the budget's answer wakes nobody",
        deaf(ANSWER),
        (test_remediation.test_a_sick_machine_is_marked_once_the_budget_allows_it,),
    ),
    Sabotage(
        "the end of another repair wakes nobody",
        deaf(NEED),
        (test_remediation.test_a_check_waits_for_the_repair_of_another_room,),
    ),
    Sabotage(
        "an observer wakes nobody",
        deaf(OBSERVER),
        (test_remediation.test_who_comes_into_contact_acts,),
    ),
)
REMEDIATION = (*REMEDIATION_CELLS, *GATES, *ASKED, *WOKEN)
