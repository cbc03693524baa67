"""Sabotages of documents, thresholds, storm policies and remedies. `tests/test_sabotage_remedy.py` runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from tests.core.remedy import (
    test_alarms,
    test_chain,
    test_cleaning,
    test_documents,
    test_events,
    test_fencing,
    test_gates,
    test_governing,
    test_repeats,
    test_resting,
    test_tally,
)
from tests.manager import test_nodeevents
from tests.sabotage.running import Sabotage, Test, item_to, set_to, together
from tests.sim import test_fence_uses
from tests.wire import test_configuration, test_remedies

from noderemedy.core import freeing, pacing, resting
from noderemedy.core.fencing import needs
from noderemedy.core.fencing import view as fence_view
from noderemedy.core.incident import records
from noderemedy.core.incident import remedies as incident_remedies
from noderemedy.core.remedy import (
    chain,
    cleaning,
    documents,
    fencing,
    gates,
    jobs,
    policies,
    recording,
    recovery,
    remedy,
    repeats,
    running,
    tally,
    thresholds,
    view,
)
from noderemedy.core.resting import Turn
from noderemedy.model import remedy as model_remedy
from noderemedy.model.configuration import Configuration, FenceRemedy, Threshold
from noderemedy.model.decision import Decision
from noderemedy.model.meta import Malformed
from noderemedy.model.nodeevents import EventsWanted
from noderemedy.model.nodefence import FenceSpec
from noderemedy.model.reasons import SkippedUnresponsive
from noderemedy.model.remedy import JobState, Phase
from noderemedy.model.selector import Selector
from noderemedy.model.time import Span, Wall
from noderemedy.wire import configuration, placedfields, podtemplates, remedies, selectortext
from noderemedy.wire import documents as wire_documents

DESCRIBED = remedies.described
READ_SELECTOR = selectortext.read_selector_text
OF_EVENTS, FINDINGS, PROBLEM = thresholds.of_events, thresholds.findings, thresholds.problem
NUMBERS: Iterator[int] = iter(range(10**6))


def all_of(view: Any) -> tuple[Threshold, ...]:
    """Thresholds and what only alarms name, as if there were no difference."""
    read = view.documents[0].document.configuration
    return (*read.thresholds, *read.watched)


ENDED, CLEAN, RUN_BY, JOB_NAME = chain.ended, cleaning.cleaning, view.run_by, jobs.job_name
FREED_BOOT = cleaning.freed_boot


def without(gate: Callable[..., Any], *tests: Test) -> Sabotage:
    """A room that lacks one of its gates."""
    names = ("GOING_ON", "BEFORE_NEXT", "BEFORE_TURN")
    rest = {name: tuple(one for one in getattr(gates, name) if one is not gate) for name in names}

    def harm(monkeypatch: pytest.MonkeyPatch) -> None:
        for name, kept in rest.items():
            monkeypatch.setattr(gates, name, kept)

    return Sabotage(f"no gate {gate.__name__}", harm, tests)


def without_sets(text: str) -> Selector | Malformed:
    return Malformed("no") if " in (" in text else READ_SELECTOR(text)


HELD = test_gates.test_what_holds_a_remedy_back
GATES = (
    without(gates.nobody_paused_it, HELD, test_gates.test_a_pause_holds_the_next_remedy),
    without(gates.document_may_act, HELD),
    without(gates.former_one_has_ended, test_cleaning.test_no_remedy_begins_beside_one_that_runs),
    without(gates.nobody_removes_it, HELD),
    without(gates.no_condition_forbids_it, HELD),
    without(gates.no_storm, test_gates.test_a_share_of_silent_nodes_is_a_storm),
    without(gates.watched_long_enough, test_gates.test_an_observer_that_has_just_come_waits),
    without(gates.person_approved, HELD),
    without(gates.no_check_has_asked, HELD, test_gates.test_it_goes_on_when_whom_a_check_has_asked_is_done),
    Sabotage(
        "no storm holds the next remedy",
        set_to(gates, "BEFORE_NEXT", gates.GOING_ON),
        (test_gates.test_a_storm_holds_the_next_remedy,),
    ),
    Sabotage(
        "a chain goes on while nobody knows whose node it is",
        set_to(remedy, "halted", lambda view: Decision() if view.left_alone else None),
        (test_gates.test_whoever_pauses_the_cluster_stops_a_chain_wherever_it_is,),
    ),
    Sabotage(
        "what is stuck keeps its turn",
        set_to(remedy, "in_turn", lambda decision: decision),
        (test_gates.test_a_remedy_that_is_stuck_gives_its_turn_back,),
    ),
    Sabotage(
        "a fence that is held keeps its turn",
        set_to(needs, "POLICIES", ()),
        (test_governing.test_a_fence_that_is_held_gives_its_turn_back,),
    ),
    Sabotage(
        "everybody has the turn",
        set_to(gates, "its_turn", lambda view, now: None),
        (test_gates.test_one_node_at_a_time,),
    ),
    Sabotage(
        "a refused record keeps its place",
        set_to(resting, "turn", lambda *given, is_tried: Turn()),
        (
            test_gates.test_the_managers_own_node_gets_no_remedy,
            test_resting.test_what_is_refused_leaves_its_place_to_others,
            test_resting.test_who_rests_tries_nothing_and_asks_again,
            test_resting.test_who_rests_gives_its_turn_back,
        ),
    ),
    Sabotage(
        "no budget",
        set_to(gates, "budget_allows", lambda view, now: None),
        (test_gates.test_the_budget_is_the_stricter_one,),
    ),
    Sabotage(
        "no claim",
        set_to(gates, "nobody_else_repairs_it", lambda view, now: None),
        (test_gates.test_the_first_sign_is_the_conditions_own_time,),
    ),
    Sabotage(
        "one silent node is a storm",
        set_to(policies, "LEAST", 1),
        (test_gates.test_one_silent_node_is_never_a_storm,),
    ),
    Sabotage(
        "rivals are not looked for",
        set_to(policies, "rivals_of", lambda at, reader: ()),
        (test_gates.test_the_oldest_document_governs,),
    ),
    Sabotage(
        "the youngest document governs",
        set_to(thresholds, "governing", lambda node, reader, old=thresholds.governing: old(node, reader)[::-1]),
        (test_gates.test_the_oldest_document_governs,),
    ),
)

GOVERNING = (
    Sabotage(
        "no document governs a fence",
        set_to(fence_view, "governor", lambda node, reader: None),
        (
            test_governing.test_a_condition_of_the_node_holds_its_fence,
            test_governing.test_a_storm_holds_a_fence,
            test_governing.test_fences_and_remedies_share_one_turn,
        ),
    ),
    Sabotage(
        "a fence takes no turn",
        set_to(policies, "fences_of", lambda at, reader: ()),
        (test_governing.test_a_remedy_waits_for_a_fence,),
    ),
    Sabotage(
        "the limit of a document does not reach fences",
        set_to(fence_view, "permit_for", lambda document, reader: None),
        (test_governing.test_a_fence_learns_how_many_pods_may_go,),
    ),
    Sabotage(
        "every document holds its nodes back",
        set_to(policies, "storm", lambda view, policy: SkippedUnresponsive(view.at.name, 0)),
        (test_governing.test_without_a_policy_it_begins,),
    ),
)

CHAIN = (
    Sabotage(
        "the period runs from the order",
        set_to(chain, "ended", lambda *given: _with_record(ENDED(*given), at=given[1].at)),
        (test_chain.test_the_period_runs_from_the_end_of_a_remedy,),
    ),
    Sabotage(
        "a Job that is gone is made again",
        set_to(remedy, "is_seen", lambda view, record: False),
        (test_chain.test_a_job_that_somebody_deleted_has_failed,),
    ),
    Sabotage(
        "an order never gets old",
        set_to(running, "ORDERED_FOR", Span.seconds(10**9)),
        (test_chain.test_an_order_that_nobody_carried_out_is_not_carried_out_late,),
    ),
    Sabotage(
        "nobody asks when a Job should have ended",
        set_to(running, "MARGIN", Span.seconds(10**9)),
        (test_chain.test_a_job_without_an_end_calls_a_person,),
    ),
    Sabotage(
        "what is stuck keeps its slot",
        set_to(remedy, "settled", lambda decision, before, now: decision),
        (test_chain.test_remedies_without_an_end_keep_no_other_node_waiting,),
    ),
    Sabotage(
        "nobody asks whether the fence flow is stuck",
        set_to(view, "is_flow_stuck", lambda target, reader: False),
        (test_fencing.test_a_flow_that_is_stuck_keeps_no_slot_by_us,),
    ),
    Sabotage(
        "silence is recovery",
        set_to(recovery, "UNKNOWN", "nothing"),
        (test_chain.test_silence_is_no_recovery,),
    ),
    Sabotage(
        "a glimpse is recovery",
        set_to(recovery, "HEALTHY_DELAY", Span(0)),
        (test_chain.test_a_remedy_that_helps_is_the_last_one,),
    ),
    Sabotage(
        "exhausted begins anew",
        item_to(chain.PHASES, Phase.EXHAUSTED, lambda view, record, now: chain.order(view, record, 1, now)),
        (test_chain.test_when_nothing_helps_a_person_is_called,),
    ),
    Sabotage(
        "undefined remedies end the chain",
        set_to(
            jobs,
            "choose",
            lambda read, threshold, number, old=jobs.choose: (
                old(read, threshold, number)
                if read.definition(threshold.remedies[number - 1].name)
                else jobs.Choice(number, None, None)
            ),
        ),
        (test_chain.test_a_remedy_that_is_not_defined_is_skipped,),
    ),
    Sabotage(
        "every look makes another Job",
        set_to(running, "run_by", lambda record: replace(RUN_BY(record), name=f"remedy-{next(NUMBERS)}")),
        (test_chain.test_a_new_manager_goes_on_where_the_record_is,),
    ),
    Sabotage(
        "the document is not asked for again",
        set_to(chain, "call_off", lambda view, record, now: Decision()),
        (test_chain.test_a_document_that_goes_ends_the_chain,),
    ),
)

CLEANING = (
    Sabotage(
        "every end cleans",
        together(
            set_to(chain, "ended", lambda *given: _with_record(ENDED(*given), phase=Phase.FREEING)),
            set_to(cleaning, "unvouched", lambda view, record, now: None),
        ),
        (test_cleaning.test_without_clean_resource_nothing_is_freed, test_cleaning.test_a_failed_remedy_frees_nothing),
    ),
    Sabotage(
        "the word is for any boot",
        together(
            set_to(
                chain,
                "cleaning",
                lambda view, record, now: CLEAN(view, replace(record, boot_id=view.node.boot_id), now),
            ),
            set_to(cleaning, "unvouched", lambda view, record, now: None),
        ),
        (test_cleaning.test_another_boot_keeps_what_it_has,),
    ),
    Sabotage(
        "the pace is forgotten",
        set_to(cleaning, "paced", lambda view, step, now: step),
        (test_cleaning.test_pods_are_freed_at_the_documents_pace,),
    ),
    Sabotage(
        "the budget's pace is not asked",
        set_to(pacing, "sees", lambda room, asker, reader, permit=None: pacing.UNLIMITED),
        (test_cleaning.test_the_stricter_pace_wins, test_cleaning.test_a_whole_node_waits_for_the_minute),
    ),
    Sabotage(
        "every taint is ours",
        set_to(freeing, "mark_of", lambda node, uid="": _Mark() if freeing.is_tainted(node) else None),
        (test_cleaning.test_a_taint_of_somebody_else_stays,),
    ),
    Sabotage(
        "a taint of ours stays",
        set_to(chain, "untaint", lambda view, record=None: None),
        (test_cleaning.test_success_frees_by_a_taint,),
    ),
    Sabotage(
        "whoever is well is freed",
        set_to(recovery, "is_well", lambda node, threshold: False),
        (test_cleaning.test_a_node_that_is_well_again_keeps_what_it_has,),
    ),
    Sabotage(
        "the record is a proof by itself",
        set_to(cleaning, "unvouched", lambda view, record, now: None),
        (
            test_cleaning.test_a_record_is_no_proof_by_itself,
            test_cleaning.test_a_record_that_names_another_job_is_no_proof,
            test_cleaning.test_the_word_may_be_taken_back,
            test_cleaning.test_the_word_is_about_what_ran,
            test_cleaning.test_a_job_that_is_gone_vouches_for_nothing,
        ),
    ),
    Sabotage(
        "any success vouches",
        set_to(cleaning, "is_vouching", lambda job, view, record: job.state is JobState.SUCCEEDED),
        (
            test_cleaning.test_a_record_that_names_another_job_is_no_proof,
            test_cleaning.test_the_word_is_about_what_ran,
        ),
    ),
    Sabotage(
        "the Job of a former order is that of this one",
        set_to(jobs, "job_name", lambda uid, record: JOB_NAME(uid, replace(record, at=Wall(0)))),
        (
            test_cleaning.test_a_chain_that_begins_anew_runs_anew,
            test_cleaning.test_an_exhausted_chain_that_begins_anew_runs_anew,
        ),
    ),
    Sabotage(
        "a boot that was freed is opened again",
        together(
            set_to(recovery, "is_left_over", lambda view, record: False),
            set_to(cleaning, "freed_boot", lambda view, record: ""),
        ),
        (
            test_cleaning.test_the_boot_that_was_freed_is_not_opened_again,
            test_cleaning.test_a_taint_outlives_its_document,
        ),
    ),
    Sabotage(
        "who falls silent behind its taint was heard all along",
        set_to(
            cleaning,
            "freed_boot",
            lambda view, record: "" if freeing.is_tainted(view.node) else FREED_BOOT(view, record),
        ),
        (test_cleaning.test_a_node_that_falls_silent_behind_its_taint_is_not_opened_again,),
    ),
    Sabotage(
        "whoever is freed must boot",
        set_to(cleaning, "freed_boot", lambda view, record: record.boot_id),
        (test_cleaning.test_a_node_that_was_heard_all_along_ends_its_pods_itself,),
    ),
)


class _Mark:
    """A mark that says of every taint that it is ours."""

    room, boot_id = view.NAME, ""


def _with_record(decision: Any, **changes: Any) -> Any:
    [write] = decision.actions
    return replace(decision, actions=(replace(write, record=replace(write.record, **changes)),))


FENCING = (
    Sabotage(
        "a former fence is ours",
        set_to(fencing, "is_former", lambda fence, record: False),
        (test_fencing.test_a_fence_of_an_earlier_episode_goes_first,),
    ),
    Sabotage(
        "the end of a fence flow is a word",
        set_to(cleaning, "jobs", SimpleNamespace(is_fence=lambda record: False)),
        (
            test_fencing.test_the_end_of_a_fence_flow_frees_nothing,
            test_fencing.test_a_fence_flow_that_an_earlier_release_took_for_a_word_frees_nothing,
        ),
    ),
    Sabotage(
        "who is Ready is well",
        set_to(fencing, "is_about_more", lambda view: False),
        (test_fence_uses.test_a_node_whose_resources_leak_is_restarted,),
    ),
    Sabotage(
        "a fence flow takes its usual time",
        set_to(fencing, "written", lambda view, record: FenceSpec()),
        (test_fencing.test_the_document_says_how_long_the_flow_waits,),
    ),
    Sabotage(
        "what a document says of fences is passed over",
        set_to(configuration, "read_fence", lambda fields, path, tree: FenceRemedy()),
        (
            test_fencing.test_the_document_says_how_long_the_flow_waits,
            test_configuration.test_a_fence_may_have_times_of_its_own,
            test_configuration.test_mistakes_are_told_with_their_place,
        ),
    ),
    Sabotage(
        "nobody else removes nodes",
        set_to(gates, "remover_of", lambda node: ""),
        (test_gates.test_what_holds_a_remedy_back,),
    ),
    Sabotage(
        "a fence flow is never over",
        set_to(fencing, "Ended", lambda *given: running.Running(Decision())),
        (test_fencing.test_a_final_fence_is_a_success, test_fencing.test_without_the_kind_the_remedy_fails),
    ),
    Sabotage(
        "the claim is ours while it runs",
        set_to(jobs, "is_fence", lambda record: False),
        (test_fencing.test_a_fence_flow_is_asked_for,),
    ),
)

DOCUMENTS = (
    Sabotage(
        "the last good one is nobody's",
        set_to(documents, "kept_at", lambda at: replace(at, name="another")),
        (
            test_documents.test_a_good_document_is_stated_and_kept,
            test_documents.test_the_last_good_one_survives_a_restart,
        ),
    ),
    Sabotage(
        "broken ones do nothing",
        set_to(documents, "broken", lambda view: Decision()),
        (test_documents.test_a_broken_document_keeps_the_last_good_one,),
    ),
    Sabotage(
        "everybody's text is ours to overwrite",
        set_to(documents, "is_others", lambda kept: False),
        (test_documents.test_what_is_not_ours_is_not_overwritten,),
    ),
    Sabotage(
        "it is kept at every look",
        set_to(
            documents,
            "keeping",
            lambda view, old=documents.keeping: old(replace(view, document=replace(view.document, text="another"))),
        ),
        (test_documents.test_a_change_counts_at_once_and_is_kept,),
    ),
    Sabotage(
        "every config.yaml is ours",
        set_to(wire_documents, "is_meant", lambda text: True),
        (test_documents.test_other_peoples_config_maps_are_not_read,),
    ),
)

WIRE = (
    Sabotage(
        "any node will do",
        set_to(remedies, "elsewhere", lambda affinity, node: affinity or {}),
        (test_chain.test_the_pod_never_runs_on_the_node_that_it_repairs,),
    ),
    Sabotage(
        "the token is not told",
        set_to(remedies, "described", lambda order, token: {**DESCRIBED(order, token), "TOKEN": ""}),
        (test_chain.test_the_pod_is_told_about_the_node, test_remedies.test_a_pod_is_told_twice),
    ),
    Sabotage(
        "sets of labels are unknown to documents",
        set_to(configuration, "read_selector_text", without_sets),
        (test_configuration.test_node_selectors,),
    ),
    Sabotage(
        "lines are not known",
        set_to(placedfields.PlacedFields, "_line", lambda self, path: 1),
        (
            test_configuration.test_mistakes_are_told_with_their_place,
            test_documents.test_a_broken_document_keeps_the_last_good_one,
        ),
    ),
    Sabotage(
        "unknown fields are skipped",
        set_to(placedfields.PlacedFields, "known", lambda self, path, item, names: None),
        (test_configuration.test_mistakes_are_told_with_their_place,),
    ),
    Sabotage(
        "playbooks are fetched",
        set_to(podtemplates, "no_urls", lambda fields, path, tree: None),
        (test_configuration.test_mistakes_are_told_with_their_place,),
    ),
    Sabotage(
        "clean-resource as it should be spelt",
        set_to(configuration, "CLEANS", ("clean-resource",)),
        (test_configuration.test_the_seeds_example_is_read_as_printed,),
    ),
    Sabotage(
        "keys for root only",
        set_to(podtemplates, "may_be_root", lambda spec: True),
        (test_remedies.test_keys_can_be_read_by_whoever_runs,),
    ),
    Sabotage(
        "root's keys for a group",
        set_to(podtemplates, "may_be_root", lambda spec: False),
        (test_remedies.test_keys_can_be_read_by_whoever_runs,),
    ),
    Sabotage(
        "bombs are unfolded",
        set_to(configuration, "VALUES_MAX", 10**7),
        (test_configuration.test_long_and_deep_texts_are_refused,),
    ),
    Sabotage(
        "what is about to complete is complete",
        set_to(remedies, "ENDS", {"SuccessCriteriaMet": JobState.SUCCEEDED}),
        (test_remedies.test_how_a_job_stands,),
    ),
    Sabotage(
        "the Job ends when its pod has to",
        set_to(model_remedy, "BACKSTOP", Span(-30_000)),
        (test_remedies.test_the_pod_has_the_deadline_and_the_job_a_later_one,),
    ),
    Sabotage(
        "the pod has no deadline of its own",
        set_to(remedies, "seconds", lambda span: 60),
        (test_remedies.test_the_pod_has_the_deadline_and_the_job_a_later_one,),
    ),
    Sabotage(
        "what hung is tried again",
        set_to(remedies, "TRIED_AGAIN", remedies.TRIED_AGAIN[:1] * 2),
        (test_remedies.test_what_was_killed_is_not_tried_again,),
    ),
    Sabotage(
        "the grace of a pod is not asked for",
        set_to(podtemplates, "grace", lambda spec: {}),
        (test_remedies.test_the_grace_of_a_pod_is_its_authors,),
    ),
    Sabotage(
        "a deadline that has passed is not told",
        set_to(running, "why", lambda view, record, job: job.why),
        (test_chain.test_a_remedy_that_hung_is_told_from_one_that_failed,),
    ),
)
REPEATS = (
    without(
        gates.not_parked, test_repeats.test_repeat_offenders_are_parked, test_repeats.test_repeats_survive_a_restart
    ),
    Sabotage(
        "fences do not count",
        set_to(repeats, "REPAIRS", ("remedy",)),
        (test_repeats.test_a_node_that_was_fenced_again_and_again_is_parked,),
    ),
    Sabotage(
        "a parked node is fenced",
        set_to(fence_view, "parked_of", lambda node, reader: None),
        (test_repeats.test_a_node_that_was_fenced_again_and_again_is_parked,),
    ),
    Sabotage(
        "every problem counts for ever",
        set_to(repeats, "within", lambda told, span, now: list(told)),
        (test_repeats.test_an_alarm_ends_with_its_time, test_repeats.test_repeat_offenders_are_parked),
    ),
    Sabotage(
        "nothing was ever repaired",
        set_to(repeats, "is_repaired", lambda incident: False),
        (test_repeats.test_repeat_offenders_are_parked,),
    ),
    Sabotage(
        "conditions are not in records",
        together(
            set_to(incident_remedies, "conditions_of", lambda because, care: ()),
            set_to(incident_remedies, "problems", lambda care, known: ()),
        ),
        (test_repeats.test_alarms_count_every_problem, test_repeats.test_a_node_without_a_machine_has_a_record),
    ),
    Sabotage(
        "records on Nodes go before history tells of them",
        together(
            set_to(chain, "forget", lambda view, record, now, *because: recording.write(view, None, *because)),
            set_to(records, "is_ours_alone", lambda fresh: False),
        ),
        (test_repeats.test_the_record_stays_until_its_incident_tells_of_it,),
    ),
    Sabotage(
        "remedies are not in records",
        set_to(incident_remedies, "observed", lambda care: ()),
        (test_repeats.test_a_node_without_a_machine_has_a_record,),
    ),
)
ALARMS = (
    Sabotage(
        "nobody watches what only an alarm names",
        set_to(Configuration, "watched", ()),
        (
            test_alarms.test_a_condition_that_only_an_alarm_names_is_counted,
            test_alarms.test_events_that_only_an_alarm_names_are_counted,
        ),
    ),
    Sabotage(
        "what is only counted is repaired",
        set_to(thresholds, "findings", lambda view, some, now: FINDINGS(view, all_of(view), now)),
        (test_alarms.test_what_is_only_counted_makes_no_node_sick,),
    ),
    Sabotage(
        "an alarm watches besides the threshold",
        set_to(Threshold, "problem", ""),
        (test_alarms.test_what_a_threshold_tracks_is_counted_by_its_statuses,),
    ),
    Sabotage(
        "a problem that stays hides others",
        set_to(incident_remedies, "problems", lambda care, known: ()),
        (test_alarms.test_a_problem_that_stays_hides_no_other,),
    ),
    Sabotage(
        "what flickers is counted each time",
        set_to(repeats, "QUIET", Span(0)),
        (test_alarms.test_how_often_a_record_tells_of_a_problem,),
    ),
    Sabotage(
        "only what is repaired is in the record",
        set_to(
            incident_remedies,
            "conditions_of",
            lambda because, care: (care.problems.found[0].name,) if care.problems else (),
        ),
        (test_alarms.test_all_that_was_found_is_in_the_record,),
    ),
    Sabotage(
        "events have no name",
        set_to(
            thresholds, "problem", lambda one, read: replace(PROBLEM(one, read), name=one.threshold.condition or "none")
        ),
        (test_alarms.test_problems_by_events_are_counted_by_their_reason,),
    ),
)
EVENTS = (
    Sabotage(
        "events count for ever",
        set_to(
            thresholds,
            "of_events",
            lambda view, threshold, event, now: OF_EVENTS(
                view, threshold, replace(event, within=Span.seconds(10**9)), now
            ),
        ),
        (test_events.test_events_that_are_too_old_do_not_count, test_events.test_the_trouble_ends_with_the_time),
    ),
    Sabotage(
        "one event is enough",
        set_to(
            thresholds,
            "of_events",
            lambda view, threshold, event, now: OF_EVENTS(view, threshold, replace(event, count=1), now),
        ),
        (test_events.test_enough_events_reach_the_threshold,),
    ),
    Sabotage(
        "nobody asks for events",
        set_to(documents, "EventsWanted", lambda reasons: EventsWanted(())),
        (test_events.test_events_are_asked_for_only_by_documents_that_name_them,),
    ),
    Sabotage(
        "events count whatever was repaired since",
        set_to(thresholds, "anew_since", lambda node: Wall(0)),
        (
            test_events.test_only_what_happens_after_a_repair_calls_for_the_next_remedy,
            test_events.test_a_repaired_node_stays_in_peace,
            test_events.test_a_new_node_of_that_name_has_no_past,
        ),
    ),
    Sabotage(
        "a remedy that fails repairs, too",
        set_to(chain, "remedied_at", lambda ordered, after, found: after.at),
        (test_events.test_only_what_happens_after_a_repair_calls_for_the_next_remedy,),
    ),
    Sabotage(
        "a boot repairs nothing",
        set_to(recovery, "has_booted", lambda view, record: False),
        (test_events.test_only_what_happens_after_a_repair_calls_for_the_next_remedy,),
    ),
    Sabotage(
        "an unknown boot is another one",
        set_to(recovery, "has_booted", lambda view, record: record.boot_id != view.node.boot_id),
        (test_events.test_only_what_happens_after_a_repair_calls_for_the_next_remedy,),
    ),
    Sabotage(
        "silence is recovery at once",
        set_to(recovery, "can_tell", lambda threshold, due, now: True),
        (test_events.test_only_what_happens_after_a_repair_calls_for_the_next_remedy,),
    ),
    Sabotage(
        "times of repairs are everybody's",
        set_to(recovery, "counts_events", lambda view: True),
        (test_events.test_where_nobody_counts_events_nothing_is_kept,),
    ),
    Sabotage(
        "all of an Event happened at its last moment",
        set_to(tally, "spread", lambda times, earliest, last: [last] * max(1, times)),
        (
            test_tally.test_never_more_than_truly_happened,
            test_nodeevents.test_a_new_manager_takes_no_old_events_for_new_ones,
        ),
    ),
    Sabotage(
        "what was counted is counted again",
        set_to(tally, "is_behind", lambda event, before: False),
        (test_tally.test_never_more_than_truly_happened,),
    ),
    Sabotage(
        "a new object is a new beginning",
        set_to(tally, "goes_on", lambda event, before: event.uid == before.uid),
        (test_tally.test_never_more_than_truly_happened,),
    ),
    Sabotage(
        "whoever is forgotten was never there",
        set_to(tally, "forget", lambda tally, gone: None),
        (test_tally.test_what_is_forgotten_is_not_counted_again,),
    ),
    Sabotage(
        "counters grow",
        set_to(tally, "KEPT", 10**9),
        (test_nodeevents.test_counters_are_bounded,),
    ),
)
SABOTAGES = (*REPEATS, *ALARMS, *EVENTS, *GATES, *GOVERNING, *CHAIN, *CLEANING, *FENCING, *DOCUMENTS, *WIRE)
