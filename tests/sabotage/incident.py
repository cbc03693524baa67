"""Sabotages of records, approvals, explanations and history: one line of harm each.

`tests/test_sabotage_incident.py` runs them.
"""

from __future__ import annotations

from msgspec.structs import replace
from tests.builders import MACHINE_AT
from tests.cli import test_explain_command as explain_tests
from tests.cli import test_history_command as history_tests
from tests.cli import test_plan_records as planned_records
from tests.core import test_approvals, test_traces
from tests.core.incident import test_bounds, test_deciders, test_diary, test_fixpoint
from tests.core.metal3 import test_gates
from tests.core.remedy import test_repeats
from tests.manager import test_notices as notice_tests
from tests.sabotage.running import Sabotage, set_to, together
from tests.wire import test_incidents

from noderemedy.cli import historytext
from noderemedy.core import approvals, consumers, hostnames, traces
from noderemedy.core.incident import (
    aspects,
    deciders,
    diary,
    ending,
    facts,
    nodediary,
    podlists,
    records,
    recordview,
    shelf,
    view,
)
from noderemedy.core.incident.observed import Decider
from noderemedy.core.metal3 import gates, links, remediation
from noderemedy.manager import explain as explaining
from noderemedy.manager import history, notices, plan
from noderemedy.model.actions import WriteIncident
from noderemedy.model.ids import INCIDENT
from noderemedy.model.incident import Answer, Approval, Ending, Record
from noderemedy.model.node import Node
from noderemedy.model.nodefence import fence_ref
from noderemedy.model.time import MINUTE, Span
from noderemedy.wire import incidents

WRITE_AT = records.write_at
NOTED, DETECTION, GATE, OPEN = diary.noted, diary.detection, approvals.unapproved, approvals.open_incident
PROBLEM = history.Problem
STEP_BODY = incidents.step_body

BEGINNING = (
    Sabotage(
        "a machine that starts is an incident",
        set_to(view, "NOT_SICK", ()),
        (test_diary.test_a_machine_that_starts_is_no_incident, test_diary.test_a_machine_that_leaves_is_no_incident),
    ),
    Sabotage(
        "a sign that has time is none",
        set_to(view, "NOT_SICK", (object,)),
        (test_diary.test_a_record_begins_when_a_target_leaves_healthy,),
    ),
    Sabotage(
        "a record begins at once",
        set_to(records, "begin_at", lambda seen, lists: seen.begun),
        (
            test_diary.test_a_blink_is_not_written_down,
            test_diary.test_a_record_is_opened_with_what_was_done,
        ),
    ),
    Sabotage(
        "whether a record is written is by lot",
        set_to(ending, "is_blink", lambda begun, record, now: not ending.was_something_done(record)),
        (
            test_diary.test_what_lasted_for_seconds_is_written_down_whatever_its_lot,
            test_diary.test_a_machine_that_goes_before_its_record_was_begun_has_one,
        ),
    ),
    Sabotage(
        "that of a node, too",
        set_to(nodediary, "is_blink", lambda begun, record, now: not ending.was_something_done(record)),
        (test_repeats.test_what_lasted_for_seconds_is_recorded_whatever_its_lot,),
    ),
    Sabotage(
        "a blink is worth a record",
        set_to(ending, "BLINK", Span(0)),
        (
            test_diary.test_a_blink_is_not_written_down,
            test_repeats.test_what_lasted_for_seconds_is_recorded_whatever_its_lot,
        ),
    ),
    Sabotage(
        "a record begins empty",
        set_to(incidents, "open_still", lambda record: Record()),
        (test_diary.test_a_record_is_opened_with_what_was_done, test_bounds.test_pods_are_listed_before_they_go),
    ),
    Sabotage(
        "who is gone is forgotten",
        set_to(diary, "is_nothing", lambda seen, noted, now: True),
        (test_diary.test_the_story_of_a_machine_that_was_made_anew_is_not_lost,),
    ),
    Sabotage(
        "an episode is named by its target only",
        set_to(diary, "episode", lambda uid, boot_id, first: "0123456789"),
        (test_diary.test_an_episode_is_named_by_node_boot_and_first_sign,),
    ),
    Sabotage(
        "a name is used twice",
        set_to(diary, "incident_ref", lambda found: facts.incident_ref(replace(found, episode="0" * 10))),
        (test_diary.test_an_episode_is_named_by_node_boot_and_first_sign,),
    ),
    Sabotage(
        "nobody waits for an incident",
        set_to(view, "needs_approval", lambda verdict, reader: False),
        (test_approvals.test_an_incident_that_somebody_waits_for_is_opened_at_once,),
    ),
)
STEPS = (
    Sabotage(
        "only the first step is kept",
        set_to(diary, "noted", lambda *given: replace(NOTED(*given), steps=NOTED(*given).steps[:1])),
        (test_diary.test_one_record_explains_a_whole_repair,),
    ),
    Sabotage(
        "every change is written",
        set_to(records, "write_at", lambda seen, incident, now, lists: now.mono),
        (test_diary.test_writes_of_one_record_are_apart, test_diary.test_a_whole_repair_takes_few_writes),
    ),
    Sabotage(
        "everything is news",
        set_to(records, "is_news", lambda step: True),
        (test_diary.test_what_was_merely_seen_goes_along_with_the_next_write,),
    ),
    Sabotage(
        "every host is ours",
        set_to(consumers, "is_consumed_by", lambda host, at, machine, key, reader: True),
        (test_diary.test_the_hold_of_another_consumer_is_not_ours,),
    ),
    Sabotage(
        "what only we know can wait",
        set_to(records, "is_ours_alone", lambda fresh: False),
        (
            test_diary.test_what_only_we_know_is_written_soon,
            test_diary.test_a_mark_that_went_untold_is_told_half_a_minute_later,
        ),
    ),
    Sabotage(
        "whose hold it is says the host alone",
        set_to(hostnames, "BY_HOST", "machines by nothing"),
        (test_traces.test_a_hold_without_its_machine_is_told_first,),
    ),
    Sabotage(
        "a hold is found by names only",
        set_to(links, "HELD_FOR", "hosts by nothing"),
        (
            test_diary.test_a_hold_for_this_machine_is_ours_whoever_is_named,
            test_traces.test_a_hold_without_its_machine_is_told_first,
        ),
    ),
    Sabotage(
        "what another leader wrote is written over",
        set_to(recordview, "goes_on", lambda wanted, stored: True),
        (test_diary.test_what_another_leader_wrote_is_never_written_over,),
    ),
    Sabotage(
        "what is stored is forgotten",
        set_to(diary, "noted", lambda seen, found, stored, now: NOTED(replace(seen, diary=None), found, stored, now)),
        (test_diary.test_writes_of_one_record_are_apart,),
    ),
    *(
        Sabotage(
            f"no aspect {aspect.__name__}",
            set_to(diary, "ASPECTS", tuple(one for one in aspects.ASPECTS if one is not aspect)),
            tests,
        )
        for aspect, tests in {
            aspects.problems: (test_diary.test_what_an_alarm_counts_is_in_the_record_of_the_machine,),
            aspects.verdict: (test_diary.test_the_verdict_is_a_step,),
            aspects.approval: (test_approvals.test_a_persons_answer_is_read_and_noted,),
            aspects.grant: (test_diary.test_the_budgets_answer_is_a_step,),
            aspects.taint: (test_diary.test_a_taint_is_a_step,),
            aspects.hold: (test_diary.test_each_aspect_is_a_step, test_fixpoint.test_an_open_record_says_what_is_there),
            aspects.hold_for: (test_diary.test_each_aspect_is_a_step,),
            aspects.replacement: (test_diary.test_each_aspect_is_a_step,),
            aspects.remediation: (
                test_diary.test_the_phases_of_a_remediation_are_steps,
                test_diary.test_a_remediation_that_gives_the_machine_to_its_owner_is_an_escalation,
            ),
            aspects.pods: (test_diary.test_pods_that_a_remediation_deletes_are_a_step,),
            aspects.intents: (test_traces.test_a_record_that_is_waited_for_is_written_at_once,),
            aspects.requests: (test_diary.test_a_request_of_any_kind_is_a_step,),
            aspects.conditions: (test_diary.test_each_aspect_is_a_step,),
            aspects.deletion: (test_diary.test_each_aspect_is_a_step,),
            aspects.leaving: (test_diary.test_each_aspect_is_a_step,),
            aspects.request: (test_diary.test_a_repair_that_nobody_judges_is_an_incident,),
            aspects.power: (test_diary.test_one_record_explains_a_whole_repair,),
            aspects.backup: (test_diary.test_one_record_explains_a_whole_repair,),
            aspects.node: (test_diary.test_one_record_explains_a_whole_repair,),
        }.items()
    ),
)
ENDING = (
    Sabotage(
        "a record is closed at once",
        set_to(ending, "QUIET", Span(0)),
        (test_diary.test_a_target_may_recover_by_itself, test_diary.test_a_target_that_flaps_goes_on_with_its_record),
    ),
    Sabotage(
        "nothing was ever done",
        set_to(ending, "EFFECTS", frozenset()),
        (
            test_diary.test_one_record_explains_a_whole_repair,
            test_diary.test_a_repair_that_nobody_judges_ends_with_a_ready_node,
        ),
    ),
    Sabotage(
        "something was always done",
        set_to(ending, "was_something_done", lambda record: True),
        (test_diary.test_a_target_may_recover_by_itself, test_diary.test_a_target_that_nobody_judges_any_more),
    ),
    Sabotage(
        "whoever is gone was replaced",
        set_to(ending, "departed", lambda record: Ending.REPLACED),
        (test_diary.test_a_machine_that_is_gone_ends_its_record,),
    ),
    Sabotage(
        "a record has no end",
        set_to(ending, "STEPS_MAX", 10**6),
        (test_diary.test_a_full_record_is_followed_by_another,),
    ),
    Sabotage(
        "every node is ready",
        set_to(Node, "is_ready", property(lambda node: True)),
        (test_diary.test_a_repair_that_nobody_judges_ends_with_a_ready_node,),
    ),
)
BOUNDS = (
    Sabotage(
        "all of a target's records are kept",
        together(set_to(records, "PER_TARGET", 1_000), set_to(recordview, "PER_TARGET", 1_000)),
        (test_bounds.test_what_is_gone_already_is_no_trouble, test_bounds.test_each_write_has_its_reason),
    ),
    Sabotage(
        "all records of a target have the same ten places",
        set_to(records, "UNTOUCHED", ()),
        (test_bounds.test_signs_that_came_to_nothing_push_no_repair_out,),
    ),
    Sabotage(
        "the shelf drops nothing",
        set_to(shelf, "AT_ONCE", 0),
        (test_bounds.test_too_few_to_drop_are_left_alone,),
    ),
    Sabotage(
        "old lists of pods will do",
        set_to(podlists, "listed", lambda seen: getattr(seen.pods, "obj", None)),
        (test_bounds.test_a_list_from_before_the_record_does_not_count,),
    ),
    Sabotage(
        "a list of pods may go before it is written down",
        set_to(podlists, "with_pods", lambda seen, stored: stored),
        (test_bounds.test_pods_are_not_listed_in_a_cluster_that_is_out_of_sight,),
    ),
    Sabotage(
        "every pod is written down",
        set_to(podlists, "PODS_MAX", 10_000),
        (test_bounds.test_pods_are_listed_once_and_bounded,),
    ),
    Sabotage(
        "ask a cluster that does not answer",
        set_to(recordview, "is_in_sight", lambda at, reader: True),
        (test_bounds.test_pods_are_not_listed_in_a_cluster_that_is_out_of_sight,),
    ),
    Sabotage(
        "what cannot be seen is gone",
        set_to(aspects, "Absent", object),
        (
            test_diary.test_a_node_that_cannot_be_read_is_not_gone,
            test_bounds.test_pods_are_not_listed_in_a_cluster_that_is_out_of_sight,
        ),
    ),
    Sabotage(
        "nothing is written before the pods are listed",
        set_to(
            records,
            "write_at",
            lambda seen, incident, now, lists: (
                WRITE_AT(seen, incident, now, lists) if lists is None else now.mono + MINUTE
            ),
        ),
        (test_bounds.test_a_record_is_written_though_its_pods_cannot_be_listed,),
    ),
    Sabotage(
        "pods are listed late",
        set_to(recordview, "EFFECTS", frozenset()),
        (test_bounds.test_pods_are_listed_before_they_go,),
    ),
)
SERVING = (
    Sabotage(
        "every kind is served",
        set_to(recordview, "is_served", lambda kind, reader: True),
        (test_diary.test_without_incidents_nothing_is_written_and_nothing_disturbed,),
    ),
    Sabotage(
        "no kind is served",
        set_to(recordview, "is_served", lambda kind, reader: False),
        (test_diary.test_incidents_that_are_installed_later_are_written,),
    ),
    Sabotage(
        "files have no incidents",
        set_to(plan, "undefined", lambda trees, kinds: frozenset({INCIDENT})),
        (
            planned_records.test_incidents_are_there_unless_the_files_say_otherwise,
            planned_records.test_a_plan_on_files_tells_of_incidents,
        ),
    ),
    Sabotage(
        "files have all kinds whatever they define",
        set_to(plan, "undefined", lambda trees, kinds: frozenset()),
        (planned_records.test_incidents_are_there_unless_the_files_say_otherwise,),
    ),
    Sabotage(
        "a plan ends where a record is waited for",
        set_to(plan, "awaited", lambda engine: ()),
        (planned_records.test_the_act_behind_a_record_is_shown,),
    ),
)
APPROVAL = (
    Sabotage(
        "silence is consent",
        set_to(
            test_approvals,
            "unapproved",
            lambda question, now: GATE(
                replace(question, answer=question.answer or Approval(Answer.APPROVE)),
                now,
            ),
        ),
        (test_approvals.test_every_answer_has_its_meaning, test_approvals.test_an_answer_is_to_one_incident),
    ),
    Sabotage(
        "an answer is for ever",
        set_to(
            approvals,
            "opened",
            lambda target: approvals.place(target),
        ),
        (test_approvals.test_an_answer_is_to_one_incident,),
    ),
    Sabotage(
        "garbage is an approval",
        set_to(incidents, "approval", lambda tree: Approval(Answer.APPROVE) if tree is not None else None),
        (test_incidents.test_answers_of_people,),
    ),
)
WIRE = (
    Sabotage(
        "what a record was opened with counts for ever",
        set_to(incidents, "told", lambda shape: incidents.record(shape.spec.begun or shape.status)),
        (test_incidents.test_what_was_written_last_counts,),
    ),
    Sabotage(
        "what a record was opened with is not read",
        set_to(incidents, "told", lambda shape: incidents.record(shape.status or incidents.StatusShape())),
        (
            test_incidents.test_an_incident_is_opened_with_what_has_happened,
            test_incidents.test_what_was_written_last_counts,
        ),
    ),
    Sabotage(
        "pods are not read",
        set_to(incidents, "PodSeen", lambda *given: None),
        (test_incidents.test_what_is_written_is_read_back,),
    ),
    Sabotage(
        "the last step is not shown",
        set_to(incidents, "moment", lambda at: ""),
        (test_incidents.test_people_see_the_last_step,),
    ),
)
EXPLAINING = (
    Sabotage(
        "nothing that was opened is counted",
        set_to(notices, "OpenIncident", WriteIncident),
        (notice_tests.test_problems_are_counted_by_condition,),
    ),
    Sabotage(
        "problems of all nodes are one",
        set_to(history, "Problem", lambda node, *of: PROBLEM("all", *of)),
        (history_tests.test_by_condition,),
    ),
    Sabotage(
        "gates are not explained",
        set_to(gates, "passages", lambda asked, seen, now: ()),
        (test_gates.test_all_gates_are_explained,),
    ),
    Sabotage(
        "a machine has its own name only",
        set_to(explaining, "names_of", lambda ref: (ref.name,)),
        (explain_tests.test_a_target_has_many_names, explain_tests.test_machines_of_one_name_are_all_explained),
    ),
    Sabotage(
        "no name is near",
        set_to(explaining, "NEAR", 1.0),
        (explain_tests.test_a_wrong_name_gets_near_ones,),
    ),
)
TRACES = (
    Sabotage(
        "a word to an owner goes untold, or stands there until it is",
        set_to(remediation, "OWNER_ASKED", traces.Trace("nobody", "knows")),
        (test_traces.test_a_word_that_may_set_off_a_replacement_waits_for_seconds_only,),
    ),
    Sabotage(
        "a word is taken for a proof that tells of a hold",
        set_to(remediation, "is_word", lambda note: False),
        (test_traces.test_a_remediation_is_told_first,),
    ),
    Sabotage(
        "nothing is waited for",
        set_to(traces, "recorded", lambda *given: None),
        (
            test_traces.test_power_cycling_is_told_first,
            test_traces.test_a_remediation_is_told_first,
            test_traces.test_a_replaced_machine_goes_when_that_is_told,
            test_traces.test_what_a_check_takes_back_is_told_first,
        ),
    ),
    Sabotage(
        "records are waited for as long as it takes",
        set_to(traces, "PATIENCE", Span.seconds(10**6)),
        (test_traces.test_nobody_waits_longer_than_needed,),
    ),
    Sabotage(
        "every room is woken",
        set_to(test_traces, "waiting", lambda room, incident, reader: (MACHINE_AT,)),
        (test_traces.test_only_who_waits_is_woken_by_a_record,),
    ),
    Sabotage(
        "all who bear a name are one",
        set_to(
            approvals,
            "open_incident",
            lambda target, reader, uid="": OPEN(target, reader),
        ),
        (test_approvals.test_an_answer_is_to_one_machine, test_traces.test_the_story_of_a_namesake_is_not_ours),
    ),
    Sabotage(
        "the story of a former Machine is the next one's, too",
        set_to(traces, "is_there", lambda target, uid, reader: False),
        (test_traces.test_while_the_story_of_a_former_machine_is_told_the_next_one_waits_for_its_own,),
    ),
    Sabotage(
        "who waits for a record waits like everybody",
        set_to(traces, "BY_TARGET", "nobody"),
        (test_traces.test_a_record_that_is_waited_for_is_written_at_once,),
    ),
    Sabotage(
        "what is not in sight is gone",
        set_to(view, "is_blind", lambda key, verdict, reader: False),
        (test_diary.test_what_is_not_in_sight_yet_is_not_gone,),
    ),
    Sabotage(
        "where nothing was noted something has just changed",
        set_to(ending, "since", lambda how, found, record, now: record.steps[-1].at if record.steps else now.wall),
        (test_diary.test_a_record_without_a_step_ends_all_the_same,),
    ),
)
DECIDING = (
    Sabotage(
        "no check has a generation",
        set_to(deciders, "check", lambda verdict, reader: Decider(verdict.check) if verdict else None),
        (
            test_deciders.test_a_verdict_names_its_check_and_generation,
            test_deciders.test_a_record_stays_as_it_is_when_its_check_is_edited,
        ),
    ),
    Sabotage(
        "a status was written for what is wished now",
        set_to(deciders, "remediation", lambda at, one: Decider(test_deciders.REMEDIATION_AT, one.generation)),
        (test_deciders.test_a_phase_names_the_generation_that_its_status_was_written_for,),
    ),
    Sabotage(
        "a fence was ordered by its present wish",
        set_to(deciders, "fence", lambda one: Decider(fence_ref(one.spec.node_at), one.generation)),
        (test_deciders.test_a_fence_flow_names_its_fence,),
    ),
    Sabotage(
        "whatever stands there was decided just now",
        set_to(deciders, "of_trace", lambda decider, is_witnessed: decider),
        (
            test_deciders.test_who_comes_later_does_not_guess_a_generation,
            test_deciders.test_who_leads_again_does_not_guess_either,
        ),
    ),
    Sabotage(
        "a former leadership has seen all of this one",
        set_to(deciders, "term", lambda reader: None),
        (test_deciders.test_who_leads_again_does_not_guess_either,),
    ),
    Sabotage(
        "every word on a Machine is its check's",
        set_to(deciders, "is_its_word", lambda type, said, check: True),
        (test_deciders.test_a_word_on_a_machine_names_who_said_it,),
    ),
    Sabotage(
        "no document is broken",
        set_to(deciders, "kept_at", lambda at: at),
        (test_deciders.test_a_document_has_a_version_instead,),
    ),
    Sabotage(
        "no document has a version",
        set_to(deciders, "document", lambda at, reader: Decider(at)),
        (test_repeats.test_its_steps_name_the_document_in_the_version_that_decided,),
    ),
    Sabotage(
        "what an older definition dropped is missing",
        set_to(diary, "same", lambda stored, noted: stored == noted),
        (test_deciders.test_what_is_stored_stands,),
    ),
    Sabotage(
        "what was noted stands, whatever is stored",
        together(
            set_to(diary, "appended", lambda stored, noted: replace(stored, steps=noted.steps)),
            set_to(nodediary, "appended", lambda stored, noted: replace(stored, steps=noted.steps)),
        ),
        (test_deciders.test_under_an_older_definition_records_are_kept_without_it,),
    ),
    Sabotage(
        "who decided is not written",
        set_to(incidents, "step_body", lambda step: STEP_BODY(replace(step, by="", generation=0))),
        (
            test_incidents.test_what_is_written_is_read_back,
            test_deciders.test_a_verdict_names_its_check_and_generation,
        ),
    ),
    Sabotage(
        "who decided is not shown",
        set_to(historytext, "policy", lambda step: ""),
        (history_tests.test_a_step_names_who_decided_it, history_tests.test_one_in_full),
    ),
)
SABOTAGES = (*BEGINNING, *STEPS, *DECIDING, *ENDING, *BOUNDS, *SERVING, *APPROVAL, *WIRE, *EXPLAINING, *TRACES)
