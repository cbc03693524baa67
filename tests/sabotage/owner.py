"""Sabotages of the reference owner and of what it stands on, with the tests that see them.

`tests/test_sabotage_owner.py` runs them.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.core import test_resting as test_turns
from tests.core.owner import (
    test_aftermath,
    test_begin,
    test_beginnings,
    test_drain,
    test_fixpoint,
    test_proof,
    test_refused,
    test_resting,
)
from tests.engine import test_lists
from tests.sabotage.running import Sabotage, set_to, together
from tests.wire import test_pods, test_replacements

from noderemedy.core import resting, safety
from noderemedy.core.budget import grants
from noderemedy.core.gates import budgeted
from noderemedy.core.owner import aftermath, drain, gates, overdue, reading, replacing, view
from noderemedy.engine import ledger, loop
from noderemedy.model import replacement
from noderemedy.model.actions import Confirm
from noderemedy.model.node import Node
from noderemedy.model.reasons import DeletionOverdue, Replaced
from noderemedy.model.time import Span, Wall
from noderemedy.wire import answers, pods, replacements

PODS: tuple[Sabotage, ...] = (
    Sabotage(
        "a list counts as a write",
        set_to(loop, "READS", (Confirm,)),
        (test_lists.test_a_dry_engine_lists_and_evicts_nobody,),
    ),
    Sabotage(
        "a deletion asks for no quorum",
        set_to(grants, "STILL", tuple(one for one in grants.STILL if one is not grants.quorum_kept)),
        (test_beginnings.test_a_control_plane_without_a_quorum_keeps_its_members,),
    ),
    Sabotage(
        "a list is kept for ever",
        set_to(loop, "FACTS", "no such group"),
        (test_lists.test_a_list_is_forgotten_when_its_key_wants_nothing,),
    ),
    Sabotage(
        "a pod is read before its node's list",
        set_to(ledger, "REPEATABLE", ()),
        (test_lists.test_what_the_next_list_shows_is_not_read_first,),
    ),
    Sabotage(
        "a disruption budget is a failure",
        set_to(answers, "is_settled", lambda answer: False),
        (test_pods.test_what_became_of_an_eviction, test_pods.test_a_settled_eviction_shows_nothing),
    ),
    Sabotage(
        "agents of the node are workload",
        set_to(pods, "OF_THE_NODE", ()),
        (test_pods.test_what_a_list_says_of_a_pod,),
    ),
    Sabotage(
        "mirrors of files are workload",
        set_to(pods, "MIRROR", "nothing"),
        (test_pods.test_what_a_list_says_of_a_pod,),
    ),
)

STATED, GONE = safety.is_stated_gone, safety.instance_gone
TURN, TOLD = resting.turn, overdue.told
ONE = test_fixpoint.test_every_story_ends_with_one_successor


def gone_ignoring(**changes: Any) -> Any:
    """The maker of the proof, blind for one field of the Machine."""
    return lambda node, entry, keeper, now: GONE(node, replace(entry, obj=replace(entry.obj, **changes)), keeper, now)


PROOF: tuple[Sabotage, ...] = (
    Sabotage(
        "a cached statement proves",
        set_to(safety, "is_confirmed", lambda entry, now: True),
        (test_proof.test_a_cached_statement_is_no_proof,),
    ),
    Sabotage(
        "a machine that nobody deletes proves",
        set_to(safety, "instance_gone", gone_ignoring(deleting=True)),
        (test_proof.test_anything_less_is_none,),
    ),
    Sabotage(
        "whoever keeps the machine does not matter",
        set_to(safety, "instance_gone", gone_ignoring(finalizers=(view.FINALIZER,))),
        (test_proof.test_anything_less_is_none,),
    ),
    Sabotage(
        "a removed finalizer is a statement",
        set_to(safety, "is_stated_gone", lambda machine: True),
        (test_proof.test_anything_less_is_none, test_aftermath.test_without_a_proof_the_node_stays),
    ),
    Sabotage(
        "one generation is enough",
        set_to(safety, "is_stated_gone", lambda machine: STATED(replace(machine, older_conditions=()))),
        (test_proof.test_anything_less_is_none,),
    ),
    Sabotage(
        "a node that reports is believed to be dead",
        set_to(Node, "is_heard", property(lambda node: False)),
        (test_proof.test_anything_less_is_none, test_aftermath.test_without_a_proof_the_node_stays),
    ),
)

OWNER: tuple[Sabotage, ...] = (
    Sabotage(
        "machines that name nobody are ours",
        set_to(view.View, "is_ours", property(lambda self: self.machine.controller is None)),
        (test_begin.test_what_holds_a_replacement_back_before_the_budget_is_asked,),
    ),
    Sabotage(
        "machines of a controller are ours",
        set_to(view.View, "is_ours", property(lambda self: self.machine.owner == view.OURS)),
        (
            test_begin.test_what_holds_a_replacement_back_before_the_budget_is_asked,
            test_drain.test_it_is_called_off_until_the_machine_is_deleted,
            test_aftermath.test_a_machine_that_is_not_ours_any_more_has_no_successor_of_ours,
        ),
    ),
    Sabotage(
        "the budget is not asked",
        set_to(gates, "BEFORE_BEGINNING", ()),
        (
            test_begin.test_what_holds_it_back_after_the_budget_was_asked,
            test_begin.test_a_free_node_is_claimed_first,
        ),
    ),
    Sabotage(
        "a refused deletion goes on without its place",
        set_to(gates, "budget", lambda view, now: None),
        (test_refused.test_a_refused_deletion_without_its_place_asks_for_one,),
    ),
    Sabotage(
        "a grant outlives the place that was given back",
        set_to(gates, "budget", lambda view, now: budgeted(view.answer)),
        (test_refused.test_a_refused_deletion_without_its_place_asks_for_one,),
    ),
    Sabotage(
        "who waits for a place forgets what the API said",
        set_to(replacing, "held", lambda wanted, late, now: wanted),
        (test_refused.test_who_asks_for_a_place_keeps_the_words_on_the_machine,),
    ),
    Sabotage(
        "a begun replacement knows no pause",
        set_to(gates, "BEFORE_ACTING", ()),
        (test_drain.test_a_pause_holds_it_before_the_deletion,),
    ),
    Sabotage(
        "a silent node is drained",
        set_to(Node, "is_heard", property(lambda node: True)),
        (
            test_begin.test_where_nobody_ends_pods_there_is_no_drain,
            test_drain.test_a_node_that_falls_silent_is_drained_no_more,
        ),
    ),
    Sabotage(
        "agents of the node are evicted",
        set_to(drain, "leaving", lambda view: list(view.pods.pods)),
        (
            test_drain.test_pods_are_evicted_when_their_time_has_come,
            test_drain.test_an_empty_node_is_recorded_before_its_machine_goes,
        ),
    ),
    Sabotage(
        "the pauses do not grow",
        set_to(drain, "SHARE", 10**9),
        (test_drain.test_the_pauses_grow,),
    ),
    Sabotage(
        "every cordon is ours",
        set_to(replacing, "is_cordoned_by_us", lambda node: node.unschedulable),
        (test_drain.test_a_persons_cordon_survives,),
    ),
    Sabotage(
        "our words stay for ever",
        set_to(replacing, "taken_back", lambda view, now: None),
        (test_drain.test_our_words_are_taken_back,),
    ),
    Sabotage(
        "nobody is told",
        set_to(overdue, "PATIENCE", Span.seconds(10**9)),
        (
            test_drain.test_a_drain_that_takes_too_long_is_told,
            test_drain.test_a_deletion_that_takes_too_long_is_told,
            test_aftermath.test_an_instance_that_lingers_is_told,
        ),
    ),
    Sabotage(
        "budgets are not named",
        set_to(replacing, "who_keeps", lambda view: ""),
        (test_drain.test_a_drain_that_a_budget_holds_up_names_it,),
    ),
    Sabotage(
        "nobody reads what was said of pods",
        set_to(view, "kept_at", lambda at: at),
        (test_drain.test_what_the_api_said_of_pods_is_seen,),
    ),
    Sabotage(
        "what a budget says is not heard",
        set_to(answers, "kept", lambda action, answer: None),
        (test_pods.test_a_pod_that_is_kept_is_remembered_with_the_words_for_it,),
    ),
    Sabotage(
        "refusals are not read",
        set_to(overdue, "cause_of", lambda view: ""),
        (
            test_refused.test_the_words_of_the_api_stand_on_the_machine_at_once,
            test_refused.test_what_is_overdue_names_the_cause,
        ),
    ),
    Sabotage(
        "what was refused once is the cause for ever",
        set_to(overdue, "is_past", lambda view, refused: False),
        (test_refused.test_what_came_about_without_us_is_not_told,),
    ),
    Sabotage(
        "every step is refused",
        set_to(
            overdue, "told_if_refused", lambda view, wanted, now: overdue.saying(view, wanted, overdue.GOES_ON, now)
        ),
        (test_refused.test_the_words_of_the_api_stand_on_the_machine_at_once,),
    ),
    Sabotage(
        "a refused drain pauses",
        set_to(drain, "is_refused", lambda view: False),
        (test_refused.test_a_refused_eviction_is_tried_without_a_pause_of_our_own,),
    ),
    Sabotage(
        "words outlive their step",
        set_to(overdue, "OURS", frozenset()),
        (test_refused.test_words_go_with_their_step, test_refused.test_words_are_taken_back_with_the_replacement),
    ),
    Sabotage(
        "words go before their step does",
        set_to(overdue, "CONDITIONS", dict.fromkeys(overdue.CONDITIONS, "another step's")),
        (test_refused.test_words_stay_as_long_as_their_step,),
    ),
    Sabotage(
        "words come first",
        set_to(overdue, "WriteMachineConditions", Confirm),
        (test_refused.test_words_that_are_refused_hold_nothing_up,),
    ),
    Sabotage(
        "the provider is not heard",
        set_to(aftermath, "provider_says", lambda view: ()),
        (test_refused.test_an_instance_that_lingers_names_who_is_waited_for,),
    ),
    Sabotage(
        "old views are acted on",
        set_to(reading, "is_sure", lambda entry, now: True),
        (
            test_drain.test_the_machine_is_deleted_on_a_live_read,
            test_aftermath.test_node_and_machine_are_read_live_first,
            test_aftermath.test_the_old_machine_is_read_live_before_the_successor_is_made,
        ),
    ),
    Sabotage(
        "the provider is not waited for",
        set_to(view.View, "keepers", property(lambda self: ())),
        (test_aftermath.test_the_provider_ends_the_instance_first,),
    ),
    Sabotage(
        "any machine of that name will do",
        set_to(aftermath, "make_successor", lambda view, now: aftermath.let_go(view, Replaced("x"), now)),
        (test_aftermath.test_a_stranger_of_that_name_is_told, ONE),
    ),
    Sabotage(
        "a successor has any name",
        set_to(replacement, "LETTERS", 4),
        (test_begin.test_a_machine_has_one_possible_successor,),
    ),
    Sabotage(
        "a successor takes over the instance",
        set_to(replacements, "OF_ONE_MACHINE", ()),
        (test_replacements.test_a_successor_takes_over_all_but_what_belonged_to_one_machine,),
    ),
    Sabotage(
        "a successor takes over our notes",
        set_to(replacements, "LEFT_BEHIND_PREFIXES", ("remediation.metal3.io/",)),
        (test_replacements.test_a_successor_takes_over_all_but_what_belonged_to_one_machine,),
    ),
    Sabotage(
        "every part can serve two",
        set_to(replacements, "is_template", lambda part: True),
        (test_replacements.test_what_a_successor_could_not_use,),
    ),
    Sabotage(
        "a refused deletion asks anew at once",
        set_to(resting, "given_back", lambda before, now: None),
        (
            test_turns.test_whose_turn_it_is,
            test_resting.test_the_rests_grow,
            test_resting.test_a_record_that_is_refused_rests_as_well,
            test_refused.test_after_ten_minutes_its_place_is_given_back,
        ),
    ),
    Sabotage(
        "a pause ends every rest",
        together(set_to(resting, "kept", lambda stated, before: ()), set_to(replacing, "halted", replacing.running)),
        (test_resting.test_a_pause_ends_no_rest,),
    ),
    Sabotage(
        "who waits for a person is not tried",
        set_to(resting, "turn", lambda *given, is_tried: TURN(*given, is_tried=False)),
        (test_resting.test_who_waits_for_a_person_rests,),
    ),
    Sabotage(
        "every rest is as short as the first",
        set_to(resting, "REST_MAX", resting.REST_MIN),
        (test_resting.test_the_rests_grow,),
    ),
    Sabotage(
        "who asks once more asks for the first time",
        set_to(replacing, "turn", lambda *given, is_tried: replace(TURN(*given, is_tried=is_tried), again=Wall(0))),
        (
            test_resting.test_the_rests_grow,
            test_resting.test_it_asks_once_more_since_it_has_rested,
        ),
    ),
    Sabotage(
        "a successor takes a refused deletion for a new one",
        set_to(replacing, "is_said_to_fail", lambda view: False),
        (test_resting.test_a_successor_knows_by_the_machine_that_it_was_tried,),
    ),
    Sabotage(
        "a storm holds no deletion that was granted before it",
        set_to(gates, "budgeted_to_begin", lambda told, *rest: budgeted(told)),
        (
            test_beginnings.test_a_successor_deletes_nothing_in_a_storm,
            test_refused.test_a_refused_deletion_without_its_place_asks_for_one,
        ),
    ),
    Sabotage(
        "a deletion that is ahead is told as one that runs",
        set_to(replacing, "waiting", lambda of, stands, again=None: replacing.running(of)),
        (test_beginnings.test_nothing_is_deleted_while_the_budget_lets_nothing_begin,),
    ),
    Sabotage(
        "what a storm held back is overdue when it is tried",
        set_to(replacing, "told", lambda of, wanted, late, now, tried=None: TOLD(of, wanted, late, now)),
        (
            test_refused.test_what_was_never_tried_is_not_overdue,
            test_beginnings.test_nothing_is_deleted_while_the_budget_lets_nothing_begin,
        ),
    ),
    Sabotage(
        "who waits for another repair is tried",
        set_to(resting, "turn", lambda *given, is_tried: TURN(*given, is_tried=True)),
        (test_resting.test_who_waits_for_another_repair_to_end_keeps_its_turn,),
    ),
    Sabotage(
        "who asks for a place has one when it is paused",
        set_to(replacing, "is_without_place", lambda of: False),
        (test_refused.test_who_has_no_place_and_is_halted_gets_none,),
    ),
    Sabotage(
        "whoever is paused has no place",
        set_to(replacing, "is_without_place", lambda of: True),
        (test_refused.test_who_has_no_place_and_is_halted_gets_none,),
    ),
    Sabotage(
        "who rests says that nothing was refused",
        set_to(replacing, "deletion", lambda view: DeletionOverdue(view.record.begun)),
        (
            test_resting.test_who_rests_tells_what_the_api_said,
            test_resting.test_refused_deletions_leave_places_and_starts_to_others,
        ),
    ),
)

SABOTAGES: tuple[Sabotage, ...] = (*PODS, *PROOF, *OWNER)
