"""Sabotages of fencing: one line of harm each, with the tests that see it. Run by `tests/test_sabotage_fencing.py`."""

from __future__ import annotations

import re

from msgspec.structs import replace
from tests.builders import NOW
from tests.core import test_foredated, test_takingback
from tests.core.fencing import (
    test_automaton,
    test_beginnings,
    test_calledoff,
    test_dark,
    test_devices,
    test_drilling,
    test_erring,
    test_escalation,
    test_gates,
    test_hostpower,
    test_leaving,
    test_mistaken,
    test_outliving,
    test_owners_word,
    test_proofs,
    test_request,
    test_sleepers,
    test_slow,
    test_storage,
    test_story,
    test_told,
    test_wellness,
)
from tests.core.fencing.fences import IPMI
from tests.core.metal3 import test_owners_word as metal3_word
from tests.core.metal3 import test_words
from tests.model import test_fenceplan
from tests.sabotage.running import Sabotage, item_to, set_to, together
from tests.sim import test_fence_uses
from tests.wire import test_nodeconditions, test_nodefences
from tests.wire import test_storage as test_wire_storage

from noderemedy.core import conditions, consumers, foredated, hostnames, machines, resting, safety, takingback
from noderemedy.core.fencing import (
    attempts,
    automaton,
    devices,
    drilling,
    drills,
    emptying,
    erring,
    escalation,
    fence,
    gates,
    hostpower,
    hosts,
    isolation,
    leaving,
    moves,
    needs,
    outliving,
    patience,
    planless,
    power,
    recovery,
    relics,
    request,
    requestgates,
    requestview,
    runs,
    storage,
    view,
    wellness,
    words,
)
from noderemedy.core.fencing.automaton import Event, Move
from noderemedy.core.fencing.view import FenceView
from noderemedy.core.gates import budgeted
from noderemedy.core.metal3 import words as metal3_words
from noderemedy.core.resting import Turn
from noderemedy.model import actions
from noderemedy.model.budget import need
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.drill import WRONG_DEVICE, told_by_drills
from noderemedy.model.fenceplan import AgentMethod, FencePlan, PlanProblem
from noderemedy.model.fenceremediation import FenceRemediation
from noderemedy.model.host import Consumer
from noderemedy.model.ids import Ref
from noderemedy.model.machine import Metal3Machine
from noderemedy.model.node import Condition, Node
from noderemedy.model.nodefence import FenceEvidence, FenceJob, NodeFence, State
from noderemedy.model.reasons import FenceAsked
from noderemedy.model.room import Absent, Reader
from noderemedy.model.time import MINUTE, Mono, Span
from noderemedy.model.workload import StorageOfNode, Volume
from noderemedy.wire import nodefences, requests
from noderemedy.wire import storage as wire_storage

host_of, between = view.host_of, consumers.between
POWER_OFFS, DROP, REMEMBERED = outliving.power_offs, leaving.drop, devices.remembered
IS_SEEN_ON = devices.is_seen_on


def owned_between(host: Ref, consumer: Consumer, reader: Reader) -> Metal3Machine | None:
    found = between(host, consumer, reader)
    return replace(found, owner_uid="machine-uid-1") if found is not None else None


def own_host_of(node_at: Ref, reader: Reader) -> hosts.HostSeen:
    found = host_of(node_at, reader)
    return hosts.NO_HOST if found.is_of_another else found


NOTHING_IS_HELD_ELSEWHERE = set_to(view, "held_host", lambda fence, named, reader: None)


def drilled(node: Node) -> Condition:
    return told_by_drills(node) or Condition("", "")


def known_to_the_plan(view: FenceView, is_over: bool) -> tuple[FenceJob, ...]:
    """What is off and has a method that switches it on."""
    known = {devices.identity(one) for one in devices.left_off(view)}
    return tuple(job for job in devices.unlit(view) if devices.device_of(view, job) in known)


def tells_again(view: FenceView) -> Decision:
    """A fence that goes, with all that it left off, whatever was told."""
    gone = DROP(view)
    return replace(gone, because=(*erring.dark(view, is_over=True), *gone.because))


PROOFS: tuple[Sabotage, ...] = (
    Sabotage(
        "a node that reports is off",
        set_to(Node, "is_heard", property(lambda node: False)),
        (test_proofs.test_another_boot_or_a_node_that_reports_is_not_proven_off,),
    ),
    Sabotage(
        "who says that it is sick is silent",
        set_to(Node, "is_heard", property(lambda node: node.is_ready)),
        (
            test_proofs.test_another_boot_or_a_node_that_reports_is_not_proven_off,
            test_story.test_a_node_that_reports_that_it_is_sick_is_heard_all_the_same,
        ),
    ),
    Sabotage(
        "a word of the future counts",
        set_to(foredated, "void", lambda word, recorded, known, now: None),
        (
            test_foredated.test_a_word_of_the_future_is_void_for_good,
            test_words.test_a_word_that_does_not_fit_counts_as_nothing,
        ),
    ),
    Sabotage(
        "a word of the future counts for whoever takes over a fence",
        set_to(words, "record", lambda view, void, now: None),
        (test_story.test_a_word_of_the_future_does_not_wait_for_the_next_silence,),
    ),
    Sabotage(
        "a word of the future counts for whoever takes over a Metal3Remediation",
        set_to(metal3_words, "record", lambda view, void, now: None),
        (test_words.test_a_word_of_the_future_is_void_for_a_successor,),
    ),
    Sabotage(
        "a repair stands still for a record that does not stay",
        set_to(foredated, "first_of_all", lambda record, known, told, entry, now: (record or told, known)),
        (test_words.test_no_repair_stands_still_for_a_record_that_does_not_stay,),
    ),
    Sabotage(
        "a record that does not stay is tried for ever",
        set_to(foredated, "TRIES", 10**9),
        (
            test_foredated.test_what_was_taken_and_forgotten_three_times_is_not_tried_again,
            test_foredated.test_a_repair_with_an_older_definition_gives_its_place_back,
            test_foredated.test_an_older_definition_costs_few_writes_and_tells_what_to_do,
        ),
    ),
    Sabotage(
        "a refused record was tried in vain",
        set_to(
            foredated,
            "known_of",
            lambda void, known, entry: foredated.ForedatedWord(void, in_vain=known.in_vain + 1 if known else 0),
        ),
        (test_foredated.test_only_what_the_api_took_was_tried_in_vain,),
    ),
    Sabotage(
        "nothing else that is written carries the record along",
        set_to(
            metal3_words,
            "without",
            lambda view, void: replace(view, remediation=replace(view.remediation, attested=None)),
        ),
        (test_words.test_no_repair_stands_still_for_a_record_that_does_not_stay,),
    ),
    Sabotage(
        "a word of the future on record voids every other one",
        set_to(foredated, "is_recorded", lambda word, recorded: recorded is not None),
        (test_foredated.test_another_word_is_another_matter,),
    ),
    Sabotage(
        "a record of whole seconds is about another word",
        set_to(foredated, "is_recorded", lambda word, recorded: word.at == recorded),
        (test_foredated.test_a_word_of_the_future_is_void_for_good,),
    ),
    Sabotage(
        "a word of the future is forgotten where nothing may be written",
        set_to(foredated, "memory", lambda key, known: ()),
        (
            test_words.test_a_word_of_the_future_stays_void,
            test_words.test_while_nothing_may_be_written_a_word_of_the_future_is_remembered,
        ),
    ),
    Sabotage(
        "a word of the future is a proof",
        set_to(safety, "CLOCKS_WITHIN", Span.seconds(86_400)),
        (test_proofs.test_a_word_of_the_future_is_no_proof,),
    ),
    Sabotage(
        "a word counts for every silence",
        set_to(safety, "is_refuted", lambda word, node: node.is_heard),
        (
            test_proofs.test_a_word_is_about_the_silence_that_it_was_given_in,
            test_story.test_a_word_that_the_node_refuted_does_not_wait_for_its_next_silence,
            test_story.test_a_word_is_refuted_by_a_node_that_its_boot_made_anew,
        ),
    ),
    Sabotage(
        "any boot will do",
        set_to(safety, "is_subject", lambda entry, subject, now: safety.is_confirmed(entry, now)),
        (test_proofs.test_another_boot_or_a_node_that_reports_is_not_proven_off,),
    ),
    Sabotage(
        "an old view will do",
        set_to(safety, "is_confirmed", lambda entry, now: True),
        (test_proofs.test_an_old_view_proves_nothing,),
    ),
    Sabotage(
        "an old answer of a device will do",
        set_to(safety, "FRESH_RUN", Span.seconds(3_600)),
        (test_proofs.test_less_than_all_off_just_now_proves_nothing,),
    ),
    Sabotage(
        "what a slow device takes makes its word old",
        set_to(safety, "idle", lambda run, until: until.since(run.begun)),
        (
            test_proofs.test_what_a_device_takes_to_answer_does_not_make_its_word_old,
            test_slow.test_a_bmc_that_is_slow_by_two_minutes_is_survived,
            test_slow.test_two_slow_plugs_are_survived,
            test_slow.test_a_slow_switch_in_front_of_storage_is_survived,
        ),
    ),
    Sabotage(
        "only the last answer has to be young",
        set_to(safety, "idle", lambda run, until: Span(0) if until != NOW.mono else until.since(run.begun) - run.took),
        (test_proofs.test_what_a_device_takes_to_answer_does_not_make_its_word_old,),
    ),
    Sabotage(
        "who waits for a device is not counted",
        set_to(safety, "idle", lambda run, until: Span(0)),
        (
            test_proofs.test_less_than_all_off_just_now_proves_nothing,
            test_slow.test_one_late_answer_is_asked_for_again,
        ),
    ),
    Sabotage(
        "devices are asked for ever",
        set_to(attempts, "ASKED_MAX", 1 << 30),
        (
            test_slow.test_answers_that_come_too_late_fail_the_step_and_power_comes_back,
            test_slow.test_who_waits_in_vain_is_told_for_how_long,
            test_slow.test_a_late_word_of_storage_fails_its_step_too,
        ),
    ),
    Sabotage(
        "the first late answer is a failure",
        set_to(attempts, "ASKED_MAX", 1),
        (test_slow.test_one_late_answer_is_asked_for_again,),
    ),
    Sabotage(
        "a slow answer outweighs another boot",
        together(
            set_to(safety, "is_subject", lambda entry, subject, now: safety.is_confirmed(entry, now)),
            set_to(FenceView, "is_same_boot", True),
        ),
        (test_slow.test_a_slow_plug_that_comes_on_while_it_is_asked_frees_nothing,),
    ),
    Sabotage(
        "no plug powers the node",
        set_to(devices, "powering", lambda view: ()),
        (
            test_story.test_a_silent_node_is_isolated_powered_off_freed_and_comes_back,
            test_told.test_the_proof_is_told_with_its_evidence,
            test_fence_uses.test_a_pod_of_a_node_without_network_moves_after_the_reboot,
            test_fence_uses.test_a_stateful_set_in_a_cloud_scales_after_the_loss_of_a_worker,
        ),
    ),
    Sabotage(
        "a storage fence frees a whole node",
        set_to(actions, "demand_whole", lambda proof: None),
        (test_proofs.test_a_storage_fence_never_frees_a_whole_node,),
    ),
)
FLOW: tuple[Sabotage, ...] = (
    Sabotage(
        "an error ends everything",
        item_to(automaton.TABLE, (State.ERROR, Event.RESTART), Move(State.FINAL)),
        (test_automaton.test_every_state_with_every_event,),
    ),
    Sabotage(
        "retries never end",
        set_to(test_automaton, "has_failed", lambda status, *rest: replace(status, retries=status.retries + 1)),
        (
            test_automaton.test_a_step_is_tried_again_before_it_is_an_error,
            test_automaton.test_whatever_happens_the_counters_stay_within_their_limits,
        ),
    ),
    Sabotage(
        "restarts never end",
        set_to(NodeFence, "is_given_up", False),
        (test_story.test_a_device_that_refuses_ends_in_an_alert_and_frees_nothing,),
    ),
    Sabotage(
        "success is enough",
        set_to(runs, "WANTED", {}),
        (test_story.test_success_is_not_enough_if_the_device_says_on,),
    ),
    Sabotage(
        "a lost run is forgotten at once",
        set_to(runs, "all_time", lambda view, job: view.entry.changed_at),
        (test_story.test_a_successor_waits_for_a_run_that_may_be_under_way_and_asks_first,),
    ),
    Sabotage(
        "a suspended machine is off",
        together(set_to(devices, "SLEEPERS", frozenset()), set_to(runs, "SLEEPERS", frozenset())),
        (
            test_sleepers.test_a_machine_that_was_suspended_is_not_off,
            test_sleepers.test_a_machine_that_was_suspended_after_it_came_on_is_not_off,
            test_sleepers.test_a_person_may_give_their_word_for_it,
            test_sleepers.test_what_is_ordered_next,
            test_sleepers.test_an_answer_that_nobody_looked_before_is_none,
        ),
    ),
    Sabotage(
        "that a machine was seen on is forgotten",
        set_to(devices, "is_seen_on", lambda view, device, but=None: False),
        (
            test_sleepers.test_a_machine_that_is_seen_on_is_switched_off_and_freed,
            test_sleepers.test_a_power_off_that_took_too_long_counts_for_the_next_try,
            test_sleepers.test_a_manager_may_die_at_any_moment_of_it,
        ),
    ),
    Sabotage(
        "a power-on that failed forgets that a machine was seen on",
        set_to(devices, "is_seen_on", lambda view, device, but=None: IS_SEEN_ON(view, device)),
        (test_sleepers.test_a_machine_that_stays_off_is_known_in_the_next_flow,),
    ),
    Sabotage(
        "seen on once is seen on for ever",
        set_to(devices, "is_seen_on", lambda view, device, but=None: any(job.was_on for job in view.status.jobs)),
        (test_sleepers.test_what_is_ordered_next,),
    ),
    Sabotage(
        "every boot was seen on",
        set_to(devices, "remembered", lambda view, is_same_boot: REMEMBERED(view, is_same_boot=True)),
        (test_sleepers.test_that_it_was_on_is_known_of_one_boot,),
    ),
    Sabotage(
        "to look is to touch",
        set_to(devices, "is_touched", lambda view: any(map(devices.is_power, devices.of_this_flow(view.status)))),
        (test_sleepers.test_a_node_that_comes_back_while_it_is_looked_at_is_not_switched_off,),
    ),
    Sabotage(
        "a successor does not ask first",
        set_to(devices, "is_lost", lambda view, method: False),
        (test_story.test_a_successor_waits_for_a_run_that_may_be_under_way_and_asks_first,),
    ),
    Sabotage(
        "what others ordered is ours",
        set_to(runs, "begin", lambda view, job, now: runs.lost(view, job, now)),
        (test_story.test_a_silent_node_is_isolated_powered_off_freed_and_comes_back,),
    ),
    Sabotage(
        "a node that still reports is freed",
        set_to(power, "still_heard", lambda view, now: None),
        (test_story.test_a_node_that_reports_while_its_plug_is_off_hangs_on_another_plug,),
    ),
    Sabotage(
        "a word is about a Node",
        set_to(words, "is_its_boot", lambda status, uid, boot: (uid, boot) == (status.node_uid, status.boot_id)),
        (
            test_story.test_a_word_is_about_a_boot_whatever_node_that_has_made,
            test_leaving.test_a_storage_fence_behind_which_pods_were_freed_is_lifted_for_another_boot_only,
        ),
    ),
    Sabotage(
        "a boot that nobody named is every boot",
        set_to(words, "is_its_boot", lambda status, uid, boot: boot == status.boot_id),
        (test_leaving.test_a_storage_fence_behind_which_pods_were_freed_is_lifted_for_another_boot_only,),
    ),
    Sabotage(
        "who has fallen silent was never heard",
        set_to(outliving, "has_outlived", lambda view, now: False),
        (
            test_outliving.test_who_was_heard_long_after_its_power_off_is_not_freed,
            test_outliving.test_a_silence_that_began_too_late_contradicts_the_plug,
        ),
    ),
    Sabotage(
        "a proof does not ask when its node fell silent",
        set_to(safety, "has_outlived", lambda node, off_at, now: False),
        (
            test_proofs.test_who_fell_silent_long_after_its_plugs_were_off_hangs_on_others,
            test_outliving.test_no_proof_says_that_it_was_off,
        ),
    ),
    Sabotage(
        "nobody knows when this flow switched its node off",
        set_to(outliving, "off_by", lambda view: None),
        (test_outliving.test_no_proof_says_that_it_was_off,),
    ),
    Sabotage(
        "a silence is measured from the first power-off",
        set_to(outliving, "power_offs", lambda view: POWER_OFFS(view)[:1]),
        (
            test_outliving.test_it_is_counted_from_the_last_power_off_of_this_flow,
            test_outliving.test_a_plug_that_goes_off_late_contradicts_nobody,
        ),
    ),
    Sabotage(
        "a silence is measured from a power-off of any flow",
        set_to(devices, "of_this_flow", lambda status: status.jobs),
        (test_outliving.test_it_is_counted_from_the_last_power_off_of_this_flow,),
    ),
    Sabotage(
        "a host goes off when that is ordered",
        set_to(outliving, "hold_of", lambda view: None),
        (test_outliving.test_a_host_goes_off_after_it_is_held,),
    ),
    Sabotage(
        "a plug is contradicted by what a server that lags says",
        set_to(power, "confirm", lambda now, *entries: None),
        (test_outliving.test_it_is_called_so_on_a_live_read_only,),
    ),
    Sabotage(
        "waits are measured by the wall",
        set_to(patience, "known", lambda view, recorded, now: now.until(recorded)),
        (test_story.test_a_clock_that_runs_ahead_cuts_no_wait_short,),
    ),
    Sabotage(
        "a dump is not waited for",
        set_to(power, "dumping", lambda view, now: None),
        (test_story.test_a_node_that_dumps_its_memory_is_given_time,),
    ),
    Sabotage(
        "any host is the node's",
        set_to(consumers, "is_consumed_by", lambda *rest: True),
        (
            test_hostpower.test_a_host_that_is_not_ours_to_switch_is_not_held,
            test_hostpower.test_a_host_is_a_machines_for_all_rooms_or_for_none,
        ),
    ),
    Sabotage(
        "whoever owns a Metal3Machine has its host",
        set_to(consumers, "between", owned_between),
        (test_hostpower.test_a_host_is_a_machines_for_all_rooms_or_for_none,),
    ),
    Sabotage(
        "a Metal3Machine that cannot be read is nobody's",
        together(set_to(consumers, "known", lambda entry: None), set_to(hostnames, "known", lambda entry: None)),
        (test_hostpower.test_the_host_of_a_paused_machine_is_its_own_whatever_stands_between,),
    ),
    Sabotage(
        "whatever names a node is its Machine",
        set_to(machines, "is_own", lambda node, machine: True),
        (
            test_hostpower.test_the_host_of_another_server_proves_nothing,
            test_hostpower.test_a_host_that_turns_out_to_be_another_servers_is_released,
            test_hostpower.test_a_machine_is_the_nodes_by_its_provider_id,
            test_gates.test_a_node_that_two_machines_name_is_left_alone_if_one_of_them_is_paused,
        ),
    ),
    Sabotage(
        "the host of another server is not seen",
        together(set_to(view, "host_of", own_host_of), NOTHING_IS_HELD_ELSEWHERE),
        (test_hostpower.test_a_host_that_turns_out_to_be_another_servers_is_released,),
    ),
    Sabotage(
        "what is held is where the Machine points",
        NOTHING_IS_HELD_ELSEWHERE,
        (test_hostpower.test_what_is_held_is_released_wherever_the_machine_points,),
    ),
    Sabotage(
        "a host that cannot be read is not held",
        set_to(hostpower, "may_be_held", lambda view: False),
        (test_hostpower.test_a_held_host_that_cannot_be_read_is_waited_for,),
    ),
    Sabotage(
        "a host that nobody has read is not held",
        set_to(hostpower, "may_be_held", hostpower.is_held),
        (test_hostpower.test_a_held_host_that_cannot_be_read_is_waited_for,),
    ),
    Sabotage(
        "the host stays held",
        set_to(hostpower, "release", lambda view: None),
        (test_hostpower.test_a_plug_that_refuses_releases_the_host,),
    ),
    Sabotage(
        "what cannot be read is gone",
        set_to(relics, "is_unread", lambda view: False),
        (
            test_hostpower.test_the_hold_of_a_fence_that_cannot_be_read_stays,
            test_hostpower.test_a_hold_that_must_stay_keeps_no_other,
        ),
    ),
    Sabotage(
        "a fence that cannot be read is not looked at again",
        set_to(relics, "MINUTE", Span.seconds(86_400)),
        (test_hostpower.test_the_host_of_a_fence_that_could_not_be_read_comes_on_when_that_is_gone,),
    ),
    Sabotage(
        "a hold without a fence stays",
        set_to(relics, "decide", lambda view, now: Decision()),
        (
            test_hostpower.test_a_hold_whose_fence_was_torn_off_goes,
            test_hostpower.test_a_new_fence_of_that_name_does_not_keep_the_old_hold,
        ),
    ),
    Sabotage(
        "nothing is drained",
        set_to(Node, "is_heard", property(lambda node: False)),
        (test_story.test_a_node_that_answers_is_drained_before_it_is_powered_off,),
    ),
    Sabotage(
        "Ready is enough",
        set_to(wellness, "is_left_over", lambda view, now: False),
        (
            test_story.test_a_node_that_answers_is_drained_before_it_is_powered_off,
            test_storage.test_the_fence_is_not_lifted_while_the_same_boot_may_write,
        ),
    ),
    Sabotage(
        "how a workload is freed is chosen without a time for it",
        set_to(
            emptying, "noted", lambda view, evidence, *why: moves.noted(view, replace(evidence, freeing_since=None))
        ),
        (test_story.test_a_flow_that_begins_anew_frees_anew,),
    ),
    Sabotage(
        "a node gets back what it carried when all else is done",
        set_to(recovery, "given_back", lambda view: None),
        (test_story.test_labels_come_back_before_the_plan_that_knows_the_node_by_them,),
    ),
    Sabotage(
        "an instance that nobody removes is nobody's business",
        set_to(recovery, "unremoved", lambda view: ()),
        (test_story.test_an_instance_that_nobody_removes_is_told,),
    ),
    Sabotage(
        "whose Machine is not there has none",
        set_to(FenceEvidence, "machine", ""),
        (
            test_story.test_an_instance_whose_machine_went_on_the_way_is_no_persons_business,
            test_story.test_a_terminated_instance_is_removed_by_its_provider,
        ),
    ),
    Sabotage(
        "whoever has the name of an ended instance gets what that one carried",
        set_to(recovery, "is_successor", lambda view: False),
        (
            test_story.test_a_successor_of_a_terminated_instance_gets_nothing_that_it_carried,
            test_story.test_a_successor_is_no_recovery_of_what_was_ended,
            test_story.test_another_instance_of_that_name_gets_nothing_that_the_former_one_carried,
        ),
    ),
    Sabotage(
        "every cordon is ours",
        set_to(recovery, "is_cordoned_by_us", lambda node: node.unschedulable),
        (test_story.test_a_persons_cordon_survives,),
    ),
    Sabotage(
        "a failed recovery asks for a place",
        set_to(erring, "one_repair_per_node", gates.budget_allows),
        (test_erring.test_a_failed_recovery_of_a_node_that_is_well_asks_for_no_place,),
    ),
    Sabotage(
        "an error leaves the node dark",
        set_to(erring, "power_comes_back", lambda view, now: None),
        (
            test_story.test_a_plug_that_does_not_go_off_frees_nothing_and_the_other_comes_on_again,
            test_story.test_releasing_brings_power_back_and_undoes_the_isolation,
            test_story.test_stopping_lets_the_run_end_and_brings_power_back,
        ),
    ),
    Sabotage(
        "the wrong plug is tried again",
        set_to(power, "contradicted", lambda view, now: moves.move(view, Event.STEP_FAILED, now)),
        (test_story.test_a_node_that_reports_while_its_plug_is_off_hangs_on_another_plug,),
    ),
    Sabotage(
        "another node is as good",
        set_to(FenceView, "is_same_boot", True),
        (test_story.test_a_node_that_was_made_anew_is_not_switched_off,),
    ),
    Sabotage(
        "freeing lasts for ever",
        set_to(emptying, "FREE_WITHIN", Span.seconds(86_400)),
        (test_told.test_what_is_told_where,),
    ),
    Sabotage(
        "failures are not counted",
        set_to(attempts, "is_failed", lambda job: False),
        (test_story.test_a_device_that_refuses_ends_in_an_alert_and_frees_nothing,),
    ),
)
DEVICES: tuple[Sabotage, ...] = (
    Sabotage(
        "all devices are one",
        set_to(devices, "identity", lambda method: "0123456789"),
        (
            test_devices.test_what_tells_devices_apart,
            test_devices.test_a_proof_is_of_one_device,
            test_devices.test_the_new_device_is_switched_off_itself_before_anything_is_freed,
            test_devices.test_what_was_switched_off_is_switched_on_when_its_document_is_back,
        ),
    ),
    Sabotage(
        "every word of a device is believed",
        set_to(devices, "left_at", lambda told: told[-1].power),
        (test_devices.test_what_was_ordered_off_is_on_only_when_it_was_switched_on,),
    ),
    Sabotage(
        "every parameter makes another device",
        set_to(devices, "HOW", re.compile("nothing")),
        (test_devices.test_what_tells_devices_apart,),
    ),
    Sabotage(
        "runs are of the device that their method names now",
        set_to(devices, "device_of", lambda view, job: devices.identity(view.agent(job.method) or IPMI)),
        (
            test_devices.test_a_run_that_was_recorded_for_another_device_is_not_begun,
            test_devices.test_a_proof_is_of_one_device,
            test_devices.test_a_fence_does_not_succeed_while_a_device_is_astray,
        ),
    ),
    Sabotage(
        "what is astray is forgotten",
        set_to(devices, "astray", lambda view: ()),
        (
            test_devices.test_a_fence_does_not_succeed_while_a_device_is_astray,
            test_devices.test_whoever_releases_it_is_told_what_stays_off,
        ),
    ),
    Sabotage(
        "whatever the configuration names comes on",
        set_to(devices, "is_not_ours", lambda view, method: False),
        (test_devices.test_what_was_switched_off_is_switched_on_when_its_document_is_back,),
    ),
    Sabotage(
        "the last word of a device is its last run",
        set_to(devices, "is_telling", lambda job: True),
        (test_leaving.test_what_was_told_off_is_told_on_whatever_it_answers,),
    ),
    Sabotage(
        "without a method nothing is off",
        set_to(devices, "unlit", lambda view: ()),
        (
            test_devices.test_recovery_waits_for_a_plan_that_can_be_used,
            test_devices.test_a_port_that_is_cut_off_is_not_released_by_a_broken_plan,
        ),
    ),
    Sabotage(
        "nothing is ever over",
        set_to(NodeFence, "is_final", False),
        (test_devices.test_a_fence_that_is_over_goes_without_a_plan,),
    ),
)
LIT: tuple[Sabotage, ...] = (
    Sabotage(
        "a word outlives the boot that it is about",
        set_to(words, "is_its_boot", lambda *boot: True),
        (test_erring.test_a_word_about_a_boot_that_is_history_solves_nothing,),
    ),
    Sabotage(
        "runs are named by their numbers alone",
        set_to(runs, "digest", lambda text: text.rsplit(" ", 1)[0]),
        (test_erring.test_what_an_earlier_flow_learnt_answers_for_no_other,),
    ),
    Sabotage(
        "a Node that was deleted is waited for without an end",
        set_to(erring, "away", lambda view, now: Decision()),
        (test_erring.test_a_node_that_never_comes_back_is_given_up,),
    ),
    Sabotage(
        "a device that refuses is hammered",
        set_to(erring, "rest", lambda view, failed, now: None),
        (test_erring.test_a_device_that_does_not_come_on_is_given_a_moment,),
    ),
    Sabotage(
        "a flow that begins anew forgets",
        set_to(devices, "remembered", lambda view, **_: ()),
        (
            test_erring.test_a_flow_that_begins_anew_remembers_what_does_not_come_on,
            test_devices.test_a_flow_that_begins_anew_remembers_what_is_astray,
        ),
    ),
    Sabotage(
        "the last flow is this one",
        set_to(devices, "of_this_flow", lambda status: status.jobs),
        (
            test_erring.test_a_flow_that_begins_anew_asks_before_it_switches_off,
            test_erring.test_a_node_that_is_back_when_its_flow_begins_anew_is_recovered,
        ),
    ),
    Sabotage(
        "what a device called itself last is all that is remembered",
        set_to(devices, "last_word", lambda told: told[-1]),
        (test_leaving.test_a_flow_that_begins_anew_remembers_that_it_was_told_off,),
    ),
    Sabotage(
        "a list shows whether our cordon is gone",
        set_to(leaving, "nothing_left", lambda view, now: None),
        (test_leaving.test_who_is_shown_a_node_without_its_cordon_asks_before_it_goes,),
    ),
    Sabotage(
        "a backup goes with its fence",
        set_to(leaving, "kept", lambda view, now: None),
        (
            test_leaving.test_what_a_deleted_node_carried_waits_for_it,
            test_leaving.test_a_node_that_is_released_while_it_is_away_comes_back_whole,
        ),
    ),
    Sabotage(
        "what was ordered is taken for done while a node dumps",
        set_to(devices, "is_any_off", lambda view: True),
        (test_told.test_a_power_off_that_did_not_go_through_waits_for_a_dump,),
    ),
    Sabotage(
        "no end of a step is counted",
        set_to(moves, "OUTCOMES", {}),
        (test_told.test_every_end_of_a_step_is_counted_with_its_beginning,),
    ),
    Sabotage(
        "a Node of the past is taken for the present one",
        set_to(leaving, "confirm", lambda now, *entries: None),
        (
            test_leaving.test_who_is_shown_what_it_deleted_asks_before_its_backup_goes,
            test_leaving.test_another_boot_is_read_live_before_a_storage_fence_is_lifted,
        ),
    ),
    Sabotage(
        "a backup waits for a node that never comes back",
        set_to(leaving, "is_gone_for_good", lambda view: False),
        (
            test_leaving.test_what_a_deleted_node_carried_waits_for_it,
            test_leaving.test_a_machine_that_was_never_read_goes,
        ),
    ),
    Sabotage(
        "a Machine that nobody has read is gone",
        set_to(FenceView, "has_unread_machine", False),
        (test_leaving.test_a_machine_that_was_never_read_may_come_back,),
    ),
    Sabotage(
        "an owner is asked although somebody releases the fence",
        set_to(
            escalation,
            "BEFORE_THE_OWNER",
            tuple(gate for gate in requestgates.BEFORE_THE_OWNER if gate is not requestgates.nobody_releases_it),
        ),
        (test_escalation.test_a_gate_that_is_closed_keeps_a_request_where_it_is,),
    ),
    Sabotage(
        "a plan is awaited that went with a machine which was replaced",
        set_to(leaving, "is_out_of_reach", lambda view: False),
        (test_leaving.test_a_plan_that_went_with_its_machine_is_not_awaited,),
    ),
    Sabotage(
        "whoever has no plan just now leaves its devices dark",
        set_to(leaving, "is_out_of_reach", lambda view: view.plan is None),
        (test_leaving.test_a_plan_that_went_with_its_machine_is_not_awaited,),
    ),
    Sabotage(
        "every end of a run is an Event",
        set_to(runs, "is_told_otherwise", lambda view, job: False),
        (test_told.test_what_is_told_where,),
    ),
    Sabotage(
        "no end of a run is an Event",
        set_to(runs, "is_told_otherwise", lambda view, job: True),
        (test_told.test_what_is_told_where,),
    ),
    Sabotage(
        "what was stuck begins anew without asking",
        set_to(erring, "budget_allows", lambda view, now: None),
        (test_gates.test_what_begins_anew_holds_a_grant_for_that,),
    ),
    Sabotage(
        "who asks to begin anew says that it runs",
        set_to(erring, "asking", lambda wanted, view, now: wanted),
        (test_gates.test_what_begins_anew_holds_a_grant_for_that,),
    ),
    Sabotage(
        "a flow begins anew under its old grant",
        set_to(gates, "budgeted_to_begin", lambda told, *rest: budgeted(told)),
        (
            test_gates.test_what_begins_anew_holds_a_grant_for_that,
            test_beginnings.test_no_flow_begins_anew_while_the_budget_lets_nothing_begin,
        ),
    ),
    Sabotage(
        "every start anew has the same name",
        set_to(gates, "what_is_waited_for", lambda fence: "fence-uid-1 error long ago"),
        (test_gates.test_what_begins_anew_holds_a_grant_for_that,),
    ),
    Sabotage(
        "a refused start keeps its place",
        set_to(resting, "turn", lambda *given, is_tried: Turn()),
        (
            test_beginnings.test_a_node_on_which_the_manager_runs_keeps_no_place,
            test_beginnings.test_a_start_that_is_refused_leaves_its_place_to_others,
            test_beginnings.test_a_start_anew_that_is_refused_leaves_its_place,
        ),
    ),
    Sabotage(
        "a start that has rested uses its old grant",
        set_to(gates, "budgeted_anew", lambda told, *rest: budgeted(told)),
        (test_beginnings.test_what_was_granted_has_ten_minutes,),
    ),
    Sabotage(
        "a refused cordon is tried for ever",
        set_to(isolation, "CORDON_WITHIN", MINUTE * 1_440),
        (test_beginnings.test_a_node_that_cannot_be_cordoned_leaves_its_place_to_others,),
    ),
    Sabotage(
        "an owner's turn that cannot be recorded keeps its place",
        set_to(resting, "turn", lambda *given, is_tried: Turn()),
        (test_escalation.test_an_owner_s_turn_that_cannot_be_recorded_keeps_no_place,),
    ),
    Sabotage(
        "who was given up is in flight as soon as its plan is mended",
        set_to(needs, "need", lambda *one, is_stuck, **more: need(*one, **more)),
        (test_gates.test_a_fence_whose_plan_was_mended_waits_in_nobodys_way,),
    ),
    Sabotage(
        "a flow that lives again is the one that was given up",
        set_to(FenceJob, "is_remembered", False),
        (test_erring.test_a_flow_that_lives_again_has_tried_nothing_yet,),
    ),
    Sabotage(
        "who failed to recover is left for ever",
        set_to(erring, "is_well", lambda view, now: False),
        (test_erring.test_a_failed_recovery_is_tried_again_on_another_node_of_that_name,),
    ),
    Sabotage(
        "one plug is all plugs",
        set_to(devices, "are_off", lambda view, jobs: True),
        (test_erring.test_off_means_all_plugs,),
    ),
    Sabotage(
        "a broken plan is a plan",
        set_to(FencePlan, "problems", ()),
        (
            test_erring.test_a_run_that_was_recorded_by_a_broken_plan_is_not_begun,
            test_erring.test_by_a_broken_plan_nothing_is_switched_on,
        ),
    ),
    Sabotage(
        "problems of a plan are told without their place",
        set_to(PlanProblem, "__str__", lambda problem: problem.words),
        (test_fenceplan.test_a_problem_is_told_with_its_place,),
    ),
    Sabotage(
        "nothing was left off",
        set_to(devices, "left_off", lambda view: ()),
        (test_erring.test_a_node_that_comes_back_by_itself_gets_its_plugs_back,),
    ),
    Sabotage(
        "nothing was cut off",
        set_to(devices, "cut_off", lambda view: ()),
        (
            test_leaving.test_what_was_cut_off_is_let_in_again,
            test_leaving.test_storage_comes_back_before_pods_may,
            test_dark.test_what_is_let_in_again_calls_nobody,
        ),
    ),
    Sabotage(
        "only what the plan would light is told",
        set_to(devices, "stays_off", known_to_the_plan),
        (
            test_dark.test_a_node_that_nobody_lights_is_told,
            test_dark.test_a_node_that_stays_cut_off_is_told_at_the_end,
            test_dark.test_a_node_that_nobody_lets_in_is_told,
        ),
    ),
    Sabotage(
        "what stays off is nobody's business",
        set_to(erring, "dark", lambda view, is_over=False: ()),
        (test_leaving.test_what_does_not_let_it_in_is_told, test_told.test_what_stays_off_is_told),
    ),
    Sabotage(
        "what was told at the end is told again",
        set_to(leaving, "drop", tells_again),
        (test_dark.test_what_was_ended_for_good_calls_nobody,),
    ),
    Sabotage(
        "what is to be ended has to be lit",
        set_to(erring, "is_terminated", lambda view: False),
        (test_dark.test_what_is_to_be_ended_calls_nobody_before_it_is_given_up,),
    ),
    Sabotage(
        "pods may before storage comes back",
        set_to(recovery, "recover", lambda view, now: None),
        (test_leaving.test_storage_comes_back_before_pods_may,),
    ),
)
PLANLESS: tuple[Sabotage, ...] = (
    Sabotage(
        "a plan is awaited for ever",
        set_to(planless, "planless_since", lambda view, now: now.mono),
        (
            test_request.test_without_a_plan_the_owner_is_asked,
            test_story.test_a_plan_that_comes_late_is_used,
            test_story.test_a_plan_that_breaks_ends_the_step_and_nothing_is_freed,
        ),
    ),
    Sabotage(
        "no plan is a failure at once",
        set_to(planless, "planless_since", lambda view, now: Mono(-(10**9))),
        (
            test_request.test_without_a_plan_the_owner_is_asked,
            test_story.test_a_plan_that_comes_late_is_used,
            test_story.test_a_plan_that_breaks_ends_the_step_and_nothing_is_freed,
        ),
    ),
)
MENDED: tuple[Sabotage, ...] = (
    Sabotage(
        "only a deletion revives",
        set_to(erring, "is_mended", lambda view, now: False),
        (test_story.test_a_plan_that_comes_late_is_used, test_story.test_a_flow_that_lost_its_plan_gets_one_more_start),
    ),
    Sabotage(
        "a plan revives what devices ended",
        set_to(planless, "UNUSABLE", "Error"),
        (test_story.test_a_flow_that_lost_its_plan_gets_one_more_start,),
    ),
    Sabotage(
        "what was just lit begins anew at once",
        set_to(erring, "rests", lambda view, now: None),
        (test_story.test_a_node_that_a_mended_plan_lights_is_given_time_to_boot,),
    ),
    Sabotage(
        "an order that was given is forgotten",
        set_to(runs, "is_ending", lambda job: False),
        (test_gates.test_an_order_that_may_still_be_carried_out_is_told,),
    ),
    Sabotage(
        "a host that a fence holds counts as off",
        set_to(hostpower, "is_held", lambda seen: False),
        (test_gates.test_an_order_that_may_still_be_carried_out_is_told,),
    ),
    Sabotage(
        "what is mended states no need",
        set_to(needs, "is_mended", lambda view, now: False),
        (test_gates.test_a_fence_whose_plan_was_mended_waits_in_nobodys_way,),
    ),
)
GATES: tuple[Sabotage, ...] = (
    Sabotage(
        "a storm is asked about once",
        set_to(erring, "BEFORE_ANEW", gates.BEFORE_POWER_OFF),
        (test_gates.test_what_keeps_a_fence_from_beginning_anew,),
    ),
    Sabotage(
        "nobody is woken when we see everything again",
        set_to(view, "OBSERVER", "nothing"),
        (test_gates.test_who_waits_for_a_storm_or_for_our_contact_is_woken_by_its_end,),
    ),
    Sabotage(
        "a storm stops recoveries",
        set_to(fence, "BEFORE_ANYTHING", (*gates.BEFORE_ANYTHING, *gates.POLICIES)),
        (test_gates.test_nothing_of_that_stops_a_recovery,),
    ),
    Sabotage(
        "who is held keeps its slot",
        set_to(needs, "POLICIES", ()),
        (test_gates.test_what_keeps_a_fence_from_beginning_anew,),
    ),
    Sabotage(
        "nobody else removes nodes",
        set_to(gates, "remover_of", lambda node: ""),
        (
            test_gates.test_what_keeps_a_fence_from_beginning,
            test_story.test_a_node_that_somebody_else_removes_is_left_to_them,
        ),
    ),
    Sabotage(
        "who has just come may begin",
        set_to(gates, "CONTACT", Span(0)),
        (test_gates.test_what_keeps_a_fence_from_beginning,),
    ),
)
STORAGE: tuple[Sabotage, ...] = (
    Sabotage(
        "one covered volume is enough",
        set_to(storage, "is_covered", lambda at, pod, found, covers: bool(pod.claims)),
        (test_storage.test_only_what_was_cut_off_is_freed_before_power_management,),
    ),
    Sabotage(
        "every attachment goes",
        set_to(storage, "is_free", lambda *rest: True),
        (test_storage.test_attachments_of_what_was_cut_off_go_too_unless_somebody_uses_them,),
    ),
    Sabotage(
        "a release lifts every fence",
        set_to(leaving, "is_over", lambda view: True),
        (
            test_storage.test_releasing_keeps_the_fence_until_the_node_boots,
            test_storage.test_a_plug_that_was_contradicted_ended_no_boot,
            test_storage.test_a_node_that_is_gone_has_not_booted,
            test_storage.test_one_of_two_supplies_that_is_off_ended_no_boot,
            test_leaving.test_a_storage_fence_behind_which_pods_were_freed_is_lifted_for_another_boot_only,
        ),
    ),
    Sabotage(
        "plugs that said off ended a boot",
        set_to(leaving, "is_over", lambda view: view.status.evidence.off_at is not None),
        (
            test_storage.test_a_plug_that_was_contradicted_ended_no_boot,
            test_storage.test_one_of_two_supplies_that_is_off_ended_no_boot,
            test_leaving.test_a_storage_fence_behind_which_pods_were_freed_is_lifted_for_another_boot_only,
        ),
    ),
    Sabotage(
        "no storage is given back but to another boot",
        set_to(leaving, "is_over", lambda view: False),
        (
            test_storage.test_a_boot_that_was_proven_off_gets_no_storage,
            test_storage.test_the_word_of_a_person_opens_the_storage_of_a_node_that_never_comes_back,
        ),
    ),
    Sabotage(
        "another Node is another boot, and so is none",
        set_to(FenceView, "has_booted", property(lambda view: not view.is_same_boot)),
        (
            test_storage.test_a_node_that_is_gone_has_not_booted,
            test_storage.test_a_node_that_registers_again_has_not_booted,
            test_leaving.test_a_storage_fence_behind_which_pods_were_freed_is_lifted_for_another_boot_only,
            test_leaving.test_a_flow_that_begins_anew_remembers_which_boot_was_cut_off,
            test_wellness.test_behind_a_storage_fence_only_another_boot_is_well,
        ),
    ),
    Sabotage(
        "what cannot be read has booted",
        set_to(leaving, "stays_fenced", lambda view, now: None),
        (test_storage.test_a_node_that_cannot_be_read_has_not_booted,),
    ),
    Sabotage(
        "a fence that was lifted waits for a boot",
        set_to(devices, "is_behind_storage_fence", lambda view: view.status.evidence.storage_freed_at is not None),
        (test_storage.test_a_fence_that_was_lifted_waits_for_no_boot,),
    ),
    Sabotage(
        "who waits for another boot is not told what for",
        set_to(erring, "kept_from_storage", lambda view: ()),
        (test_storage.test_a_node_that_registers_again_has_not_booted,),
    ),
    Sabotage(
        "nobody looks again when the moment of a node that is back is over",
        set_to(erring, "back_at", lambda view, now: None),
        (test_storage.test_a_node_that_registers_again_has_not_booted,),
    ),
    Sabotage(
        "recovery goes by a boot that a list showed",
        set_to(recovery, "confirm", lambda now, *entries: None),
        (test_leaving.test_another_boot_is_read_live_before_a_flow_goes_by_it,),
    ),
    Sabotage(
        "a start anew goes by a boot that a list showed",
        set_to(erring, "confirm", lambda now, *entries: None),
        (test_leaving.test_another_boot_is_read_live_before_a_flow_goes_by_it,),
    ),
    Sabotage(
        "nothing runs on the node itself",
        set_to(AgentMethod, "on_target", False),
        (
            test_storage.test_only_what_registers_the_node_itself_runs_there,
            test_storage.test_a_node_registers_itself_when_it_is_back,
        ),
    ),
    Sabotage(
        "everything runs on the node itself",
        set_to(AgentMethod, "on_target", True),
        (test_storage.test_only_what_registers_the_node_itself_runs_there,),
    ),
    Sabotage(
        "a volume has every name",
        set_to(Volume, "names", property(lambda self: frozenset({"driver/d1"}))),
        (test_storage.test_which_pods_are_covered, test_wire_storage.test_the_names_of_a_volume),
    ),
    Sabotage(
        "the first volume of a claim speaks for it",
        set_to(StorageOfNode, "volumes_of", lambda self, claim: tuple(x for x in self.volumes if x.claim == claim)[:1]),
        (test_storage.test_which_pods_are_covered, test_storage.test_a_pod_goes_by_the_volume_that_its_claim_has_now),
    ),
    Sabotage(
        "a volume that was released speaks for its claim",
        set_to(wire_storage, "is_bound", lambda shape: bool(shape.spec and shape.spec.claim_ref)),
        (
            test_wire_storage.test_only_a_volume_that_is_bound_speaks_for_its_claim,
            test_wire_storage.test_a_volume_without_a_status_speaks_for_nothing,
        ),
    ),
)
REQUESTS: tuple[Sabotage, ...] = (
    Sabotage(
        "how far a fence is, is news",
        set_to(request, "WaitingForFence", lambda node, state: FenceAsked(node)),
        (test_request.test_a_request_that_is_withdrawn_before_anything_was_sent_is_called_off,),
    ),
    Sabotage(
        "the next request takes over the old fence",
        set_to(requestview.RequestView, "is_ours", True),
        (
            test_request.test_a_new_episode_replaces_a_fence_that_is_over,
            test_request.test_somebody_elses_fence_is_awaited,
        ),
    ),
    Sabotage(
        "nobody asks the owner",
        set_to(escalation, "ASKED", replace(requestgates.ASKED, status="True")),
        (test_request.test_when_fencing_does_not_help_the_owner_is_asked,),
    ),
    Sabotage(
        "the owner of a node that comes back is asked",
        set_to(requestgates, "is_whole", lambda node: False),
        (
            test_escalation.test_a_gate_that_is_closed_keeps_a_request_where_it_is,
            test_escalation.test_a_node_that_has_just_come_back_is_the_fence_s,
        ),
    ),
    Sabotage(
        "a fence that lives again helps nobody",
        set_to(NodeFence, "is_given_up", property(lambda fence: True)),
        (test_escalation.test_a_fence_that_helps_after_all_leads_back,),
    ),
    Sabotage(
        "a Machine is deleted by what is known of its Node",
        set_to(escalation, "live", lambda view, at: [(at, view.machine_entry)]),
        (test_escalation.test_before_a_machine_is_deleted_its_node_is_read_live,),
    ),
    Sabotage(
        "the owner is asked under the grant of a check",
        set_to(requestgates, "budgeted_to_begin", lambda told, *rest: budgeted(told)),
        (test_escalation.test_the_grant_of_a_check_is_of_before_the_storm,),
    ),
    Sabotage(
        "the owner is asked without a grant",
        set_to(requestgates, "budgeted_to_begin", lambda *given: None),
        (
            test_escalation.test_a_gate_that_is_closed_keeps_a_request_where_it_is,
            test_escalation.test_a_paused_budget_holds_the_owner_s_turn_until_it_opens,
            test_escalation.test_in_a_storm_no_owner_is_asked,
        ),
    ),
    Sabotage(
        "the owner is asked though somebody paused it",
        set_to(requestgates, "nobody_paused", lambda now, *carriers: None),
        (
            test_escalation.test_a_gate_that_is_closed_keeps_a_request_where_it_is,
            test_escalation.test_the_node_s_pause_holds_the_owner_s_turn,
        ),
    ),
    Sabotage(
        "who lives again by a word keeps nobody waiting",
        set_to(words, "revives", lambda view: False),
        (test_erring.test_who_lives_again_by_a_word_is_a_repair_that_runs,),
    ),
    Sabotage(
        "the owner is asked for a machine that has got a node meanwhile",
        set_to(
            escalation,
            "BEFORE_THE_OWNER",
            tuple(gate for gate in requestgates.BEFORE_THE_OWNER if gate is not requestgates.fencing_cannot_help),
        ),
        (test_escalation.test_a_machine_that_got_its_node_is_fenced_after_all,),
    ),
    Sabotage(
        "a request that is deleted heeds no pause",
        set_to(request, "cluster_is_not_paused", lambda view, now: None),
        (test_calledoff.test_what_becomes_of_a_request_that_is_deleted,),
    ),
    Sabotage(
        "a fence that cannot be read is not called off",
        set_to(request, "Unreadable", ()),
        (test_calledoff.test_what_becomes_of_a_request_that_is_deleted,),
    ),
    Sabotage(
        "the owner of a node out of sight is asked",
        set_to(requestgates, "node_in_sight", lambda name, entry: None),
        (test_escalation.test_a_gate_that_is_closed_keeps_a_request_where_it_is,),
    ),
    Sabotage(
        "a machine is deleted while somebody else repairs it",
        set_to(requestgates, "claimed", lambda claim, now: None),
        (
            test_escalation.test_a_gate_that_is_closed_keeps_a_request_where_it_is,
            test_escalation.test_only_whom_we_delete_we_claim,
        ),
    ),
    Sabotage(
        "an owner's claim is ours",
        set_to(requestgates, "is_deleted_by_us", lambda view: True),
        (
            test_escalation.test_only_whom_we_delete_we_claim,
            test_escalation.test_an_owner_of_ours_gets_grant_and_claim_of_what_it_is_asked,
        ),
    ),
    Sabotage(
        "what was recorded goes on in a storm",
        set_to(escalation, "closed", lambda view, now: None),
        (test_escalation.test_a_gate_that_closes_after_the_record_leads_back,),
    ),
    Sabotage(
        "a Machine is deleted that nothing would replace",
        set_to(escalation, "irreplaceable", lambda view: None),
        (
            test_escalation.test_a_machine_that_nobody_would_replace_reserves_nothing,
            test_escalation.test_a_machine_whose_host_no_new_one_would_get_is_not_deleted,
        ),
    ),
    Sabotage(
        "nobody looks who installed a host",
        set_to(requestview, "host_of", lambda at, machine, reader: Absent()),
        (test_escalation.test_the_host_of_a_machine_of_openshift_is_seen,),
    ),
    Sabotage(
        "who waits at a gate loses the owner's half hour",
        set_to(escalation, "step_back", lambda view, blocked, now: None),
        (test_escalation.test_a_gate_that_closes_after_the_record_leads_back,),
    ),
    Sabotage(
        "an owner that was asked is nobody's repair",
        set_to(
            escalation,
            "need",
            lambda at, room, since, *, is_running, **more: need(at, room, since, is_running=False),
        ),
        (test_escalation.test_what_was_asked_runs_whatever_the_gates_say_by_now,),
    ),
    Sabotage(
        "two requests ask for one machine",
        set_to(requestview, "rival_of", lambda *asked: ""),
        (test_escalation.test_two_requests_for_one_machine_do_not_break_each_other,),
    ),
    Sabotage(
        "a request goes before its fence",
        set_to(request, "leave", lambda view, now: Decision()),
        (test_request.test_a_request_that_is_withdrawn_before_anything_was_sent_is_called_off,),
    ),
    Sabotage(
        "the owner's time runs from the record",
        set_to(
            escalation,
            "owner_within",
            lambda view: view.request.status.since + escalation.OWNER_WITHIN,
        ),
        (test_owners_word.test_the_owner_has_half_an_hour_from_when_it_was_asked,),
    ),
    Sabotage(
        "an owner that nobody asked is late",
        set_to(escalation, "is_owner_asked", lambda view, now: True),
        (
            test_owners_word.test_time_in_which_nobody_was_asked_is_not_the_owner_s,
            test_owners_word.test_a_cluster_that_is_paused_right_after_the_record_costs_the_owner_nothing,
        ),
    ),
    Sabotage(
        "who cannot ask tries for ever",
        set_to(escalation, "OWNER_WITHIN", Span.seconds(10**6)),
        (test_owners_word.test_who_cannot_ask_for_half_an_hour_says_so,),
    ),
    Sabotage(
        "a word to the owner outlives its request",
        set_to(request, "taken_back", lambda view, now: None),
        (
            test_owners_word.test_the_word_goes_with_the_request_of_a_machine_that_is_well,
            test_owners_word.test_nothing_is_left_on_a_machine_that_came_back,
        ),
    ),
    Sabotage(
        "a request whose word stays never goes",
        set_to(takingback, "WITHIN", Span.seconds(10**9)),
        (
            test_takingback.test_the_word_goes_before_the_request_does,
            test_takingback.test_a_request_whose_word_stays_goes_within_a_bound,
        ),
    ),
    Sabotage(
        "nobody remembers since when a word is to be taken back",
        set_to(takingback, "since", lambda key, reader: None),
        (test_takingback.test_a_request_whose_word_stays_goes_within_a_bound,),
    ),
    Sabotage(
        "a gap in watching is a try to take a word back",
        set_to(takingback, "contact_since", lambda reader: None),
        (test_takingback.test_a_gap_is_no_try,),
    ),
    Sabotage(
        "the time of a word runs while something else goes first",
        set_to(request, "memory", lambda key, word, wanted: takingback.memory(key, word, NOTHING)),
        (test_takingback.test_its_time_begins_when_it_is_its_turn,),
    ),
    Sabotage(
        "a word that is refused once stays",
        set_to(takingback, "WITHIN", Span(0)),
        (test_takingback.test_a_word_that_is_refused_for_a_while_is_taken_back,),
    ),
    Sabotage(
        "whatever is said to an owner is ours",
        set_to(conditions, "is_ours", lambda told, word: True),
        (
            test_owners_word.test_what_is_not_ours_or_still_true_stays,
            metal3_word.test_what_is_not_ours_or_still_true_stays,
        ),
    ),
    Sabotage(
        "any node of that name tells that the machine is well",
        set_to(conditions, "is_own", lambda node, machine: True),
        (
            test_owners_word.test_what_is_not_ours_or_still_true_stays,
            metal3_word.test_what_is_not_ours_or_still_true_stays,
        ),
    ),
    Sabotage(
        "a word is left without a finalizer",
        set_to(FenceRemediation, "is_finalized_by_us", property(lambda asked: True)),
        (test_owners_word.test_who_leaves_a_word_stays_to_take_it_back,),
    ),
)
MISTAKEN: tuple[Sabotage, ...] = (
    Sabotage(
        "another machine's device is switched, and believed",
        set_to(devices, "is_mistaken", lambda view, method: False),
        (
            test_mistaken.test_a_device_that_a_drill_found_wrong_proves_nothing,
            test_mistaken.test_a_run_that_was_ordered_before_the_word_was_read_is_not_begun,
            test_mistaken.test_what_is_right_beside_it_is_switched_and_proves_nothing_alone,
            test_mistaken.test_a_switch_that_is_another_nodes_frees_nothing,
        ),
    ),
    Sabotage(
        "another machine's device is not switched, and believed",
        set_to(emptying, "mistaken", lambda view: ()),
        (test_mistaken.test_a_device_that_a_drill_found_wrong_proves_nothing,),
    ),
    Sabotage(
        "another machine's host is held",
        set_to(hostpower, "mistaken", lambda view: ()),
        (test_mistaken.test_a_host_that_a_drill_found_wrong_is_not_held,),
    ),
    Sabotage(
        "a word that names no device is about none",
        set_to(devices, "is_found_wrong", lambda node, device: device in drilled(node).wrong),
        (test_mistaken.test_a_device_that_a_drill_found_wrong_proves_nothing,),
    ),
    Sabotage(
        "a word about one device is about all",
        set_to(devices, "is_found_wrong", lambda node, device: drilled(node).reason == WRONG_DEVICE),
        (test_mistaken.test_a_corrected_mapping_is_not_held_up_by_the_old_word,),
    ),
    Sabotage(
        "any drill takes back what an earlier one found",
        set_to(drills, "remembering", lambda finding, at, node: finding),
        (test_drilling.test_the_word_against_a_device_stands_until_the_device_fits,),
    ),
    Sabotage(
        "a node that has just gone off speaks against its own device",
        set_to(drilling, "SETTLES", Span(0)),
        (test_drilling.test_a_node_that_has_just_gone_off_is_given_time_to_fall_silent,),
    ),
    Sabotage(
        "a device that does not answer hides one that is another machine's",
        set_to(drilling, "WRONG_DEVICE", "none"),
        (test_drilling.test_whose_device_it_is_comes_before_whether_it_answers,),
    ),
    Sabotage(
        "a broken plan makes forget whose devices they are",
        set_to(drilling, "wrong_devices", lambda view, problems: ()),
        (test_drilling.test_a_plan_that_breaks_meanwhile_does_not_lose_the_word,),
    ),
    Sabotage(
        "a word does not say which device it is about",
        set_to(requests, "naming", lambda message, devices: message),
        (test_nodeconditions.test_which_devices_are_wrong_is_read_from_the_message_again,),
    ),
)
WIRE: tuple[Sabotage, ...] = (
    Sabotage(
        "runs are written without their token",
        set_to(nodefences, "job_body", lambda job, token: {"name": job.id, "since": str(job.since)}),
        (test_nodefences.test_a_status_is_read_back_as_it_was_written,),
    ),
    Sabotage(
        "half a word is a word",
        set_to(nodefences, "attested_in", lambda notes: None),
        (
            test_nodefences.test_half_an_attestation_is_none,
            test_nodefences.test_an_attestation_is_read_back_as_it_was_written,
        ),
    ),
    Sabotage(
        "an unknown state is a new one",
        set_to(nodefences, "known", lambda kind, found, field, otherwise, fields: otherwise),
        (test_nodefences.test_a_status_that_is_not_ours_is_a_problem,),
    ),
)

SABOTAGES = (*PROOFS, *FLOW, *DEVICES, *LIT, *PLANLESS, *MENDED, *GATES, *STORAGE, *REQUESTS, *MISTAKEN, *WIRE)
