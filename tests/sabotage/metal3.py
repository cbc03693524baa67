"""One line of harm each for Metal3Remediations: the room, its phases, the way it frees, and its checkers."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.builders import a_hold
from tests.core import test_freeing as freeing_tests
from tests.core import test_outofservice as orphans
from tests.core import test_safety as safety_tests
from tests.core import test_two_groups as two_groups
from tests.core.fencing import test_hostpower as hostpower_tests
from tests.core.fencing import test_keeping as fences_kept
from tests.core.metal3 import test_beginnings as beginnings
from tests.core.metal3 import test_contradicted_budget as contradicted_tests
from tests.core.metal3 import test_contradiction as contradiction_tests
from tests.core.metal3 import test_delete as delete_tests
from tests.core.metal3 import test_escalation as owners_turn
from tests.core.metal3 import test_explained as explained
from tests.core.metal3 import test_gates as gates_tests
from tests.core.metal3 import test_offsight as offsight_tests
from tests.core.metal3 import test_owners_word as owners_word
from tests.core.metal3 import test_patience as waits
from tests.core.metal3 import test_phases as laws
from tests.core.metal3 import test_remediation as room_tests
from tests.core.metal3 import test_resting as resting_tests
from tests.core.metal3 import test_unread as unread_tests
from tests.core.metal3 import test_words as words_tests
from tests.sabotage.running import Sabotage, item_to, set_to, together
from tests.sim import test_bad_input as bad_input
from tests.sim import test_older_definitions as older
from tests.wire import test_remediations as wire_tests

from noderemedy.core import claim, conditions, freeing, keeping, machines, outofservice, resting, safety
from noderemedy.core.fencing import emptying as fence_emptying
from noderemedy.core.gates import budgeted
from noderemedy.core.metal3 import (
    annotation,
    contradiction,
    emptying,
    escalation,
    gates,
    leaving,
    offsight,
    patience,
    phases,
    relics,
    remediation,
    remediationgates,
    remediationview,
    steps,
    words,
)
from noderemedy.core.metal3.remediationview import PhaseSight, what_is_waited_for
from noderemedy.model.actions import Guard, HoldHost, ListPods, TaintOutOfService
from noderemedy.model.budget import need
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.host import Host, MarkName, Power
from noderemedy.model.ids import MACHINE, OPENSHIFT_MACHINE
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Node, OutOfService
from noderemedy.model.remediation import Evidence, Phase, Strategy
from noderemedy.model.time import Span
from noderemedy.model.workload import FreeBy
from noderemedy.wire import answers, names, objects, remediations
from noderemedy.wire.fields import Fields

TABLE, HOLD, CHOSEN, HOLD_OF = phases.TABLE, steps.hold, emptying.chosen, offsight.hold_of
HOLD_READ, TURN = objects.hold, resting.turn
NEWER = MarkName.CURRENT


def no_gate(name: str) -> Any:
    """The room without its gates of one list."""
    return set_to(remediation, name, ())


def phase(which: Phase, do: Any) -> Any:
    """Another way to go through a phase."""
    return set_to(remediation, "PHASES", {**remediation.PHASES, which: do})


def forgotten(view: Any) -> Any:
    """The record of a host that is on, without the moment at which it was off."""
    hold = HOLD_OF(view)
    return replace(hold, off_at=None) if hold and hold.off_at and view.host.power is Power.ON else None


def given_back_anyhow(wanted: Any, asks: Any, before: Any, now: Any, *, has_place: bool) -> Any:
    """Whatever was stated at the last look, it counts as a beginning."""
    waited = replace(before, is_running=False) if before is not None else None
    return resting.rested(wanted, asks, waited, now, has_place=has_place)


def always_on(view: Any, now: Any) -> Any:
    decision = HOLD(view, now)
    return replace(
        decision,
        actions=tuple(
            replace(a, hold=replace(a.hold, was_on=True)) for a in decision.actions if isinstance(a, HoldHost)
        ),
    )


ENTER = phases.enter


def from_the_attempt(one: Any, which: Phase, now: Any, evidence: Any = None) -> Any:
    """The phase begins when its attempt began."""
    return replace(ENTER(one, which, now, evidence), since=one.progress.since)


def on_the_wall(view: Any, now: Any) -> Any:
    """As the request itself records it, whatever has become of the clock."""
    since = view.remediation.progress.since or now.wall
    return PhaseSight(what_is_waited_for(view.remediation), now.until(since), since)


SABOTAGES = (
    Sabotage(
        "what a definition would forget is nobody's business",
        set_to(keeping, "kept", lambda kind, found: None),
        (
            older.test_what_capm3s_status_would_forget_is_not_begun,
            older.test_a_definition_that_is_renewed_lets_it_begin,
            older.test_a_host_that_was_found_wrong_is_not_forgotten,
            older.test_one_that_is_on_its_way_ends_and_frees_nothing,
            older.test_a_fence_of_an_older_definition_does_not_begin,
        ),
    ),
    Sabotage(
        "a definition that nobody has read forgets nothing",
        set_to(keeping, "known", lambda kind, found: None),
        (
            room_tests.test_every_gate,
            fences_kept.test_a_fence_waits_until_its_record_is_kept,
            fences_kept.test_a_request_waits_until_its_record_is_kept,
        ),
    ),
    Sabotage(
        "what is on its way goes on under a definition that forgets",
        set_to(remediation, "record_is_kept", lambda view, now: None),
        (
            room_tests.test_who_lost_machine_or_host_releases_and_frees_nothing,
            older.test_one_that_is_on_its_way_ends_and_frees_nothing,
        ),
    ),
    Sabotage(
        "a node stays off for as long as a definition is out of sight",
        set_to(fence_emptying, "unkept", lambda view, reason, now: Decision((), (reason,))),
        (fences_kept.test_power_does_not_wait_for_ever_for_a_definition,),
    ),
    Sabotage(
        "power comes back whenever a definition is out of sight",
        set_to(fence_emptying, "unkept", lambda view, reason, now: fence_emptying.go_on(view, now, reason)),
        (fences_kept.test_a_definition_that_is_read_in_time_is_waited_for,),
    ),
    Sabotage(
        "a fence on its way frees under a definition that forgets",
        set_to(fence_emptying, "record_is_kept", lambda view, now: None),
        (fences_kept.test_one_on_its_way_brings_power_back_and_frees_nothing,),
    ),
    Sabotage(
        "a host is held by two repairs",
        set_to(Host, "is_held_besides", lambda host, owner: False),
        (
            gates_tests.test_each_gate_blocks_with_its_reason,
            hostpower_tests.test_a_host_that_another_repair_holds_is_not_held_beside_it,
            room_tests.test_a_host_that_another_repair_holds_is_not_held_beside_it,
            words_tests.test_a_word_waits_for_whoever_else_holds_the_host,
        ),
    ),
    Sabotage(
        "whoever reports is off with its host",
        set_to(Node, "is_heard", property(lambda node: False)),
        (
            delete_tests.test_a_node_that_reports_is_waited_for_and_then_a_person_is_called,
            room_tests.test_every_situation,
        ),
    ),
    Sabotage(
        "a contradiction is forgotten",
        set_to(offsight, "speaks_against", lambda hold, off_at, node, since, now: False),
        (offsight_tests.test_who_reported_while_its_host_was_off_is_never_freed,),
    ),
    Sabotage(
        "what is on record is forgotten",
        set_to(offsight, "hold_of", lambda view: replace(HOLD_OF(view) or a_hold(), off_at=None, contradicted_at=None)),
        (
            offsight_tests.test_who_reported_while_its_host_was_off_is_never_freed,
            offsight_tests.test_what_was_seen_goes_on_record_once,
        ),
    ),
    Sabotage(
        "what a drill found of a host is forgotten",
        set_to(gates, "is_found_wrong", lambda node, identity: False),
        (
            delete_tests.test_a_host_that_a_drill_found_to_be_another_machine_proves_nothing,
            room_tests.test_every_situation,
        ),
    ),
    Sabotage(
        "a host that is on again is off",
        set_to(offsight, "on_again", lambda view, now: None),
        (offsight_tests.test_who_falls_silent_with_its_host_is_freed,),
    ),
    Sabotage(
        "a host that is on again was never off",
        set_to(offsight, "on_again", lambda view, now: forgotten(view)),
        (offsight_tests.test_who_reported_while_its_host_was_off_is_never_freed,),
    ),
    Sabotage(
        "whose Node is gone went off with its host",
        set_to(offsight, "has_deleted", lambda view: True),
        (offsight_tests.test_a_node_that_somebody_else_deleted_did_not_go_off_with_its_host,),
    ),
    Sabotage(
        "whose Node we deleted did not go off with its host",
        set_to(offsight, "has_deleted", lambda view: False),
        (
            offsight_tests.test_who_falls_silent_with_its_host_is_freed,
            offsight_tests.test_a_node_that_somebody_else_deleted_did_not_go_off_with_its_host,
        ),
    ),
    Sabotage(
        "another Node is another boot",
        set_to(offsight, "is_that_boot", lambda known, node: False),
        (offsight_tests.test_who_reported_while_its_host_was_off_is_never_freed,),
    ),
    Sabotage(
        "a host that was on again may have any boot",
        set_to(offsight, "may_have_booted", lambda hold, node: hold.on_at is not None),
        (offsight_tests.test_who_reported_while_its_host_was_off_is_never_freed,),
    ),
    Sabotage(
        "whoever is silent is off with its host",
        set_to(offsight, "is_another", lambda hold, node: False),
        (offsight_tests.test_what_nobody_saw_begins_anew,),
    ),
    Sabotage(
        "a late silence is as good as any",
        set_to(safety, "has_outlived", lambda node, off_at, now: False),
        (
            offsight_tests.test_who_reported_while_its_host_was_off_is_never_freed,
            contradiction_tests.test_a_silence_that_began_long_after_is_no_proof,
            safety_tests.test_a_silence_that_began_long_after_is_no_proof,
        ),
    ),
    Sabotage(
        "a taken-over host went off just now",
        set_to(emptying, "off_since", lambda view, now: now.wall),
        (contradiction_tests.test_who_comes_back_after_an_hour_does_not_take_now_for_then,),
    ),
    Sabotage(
        "the next attempt forgets what was contradicted",
        set_to(contradiction, "is_known", lambda view: False),
        (
            contradiction_tests.test_no_attempt_follows_for_that_boot,
            contradicted_tests.test_a_node_that_cannot_be_seen_may_be_that_boot,
            contradicted_tests.test_explain_names_what_stands_in_the_way,
        ),
    ),
    Sabotage(
        "who was proven off may report",
        set_to(contradiction, "stays", lambda view, now: None),
        (contradiction_tests.test_who_was_proven_off_and_did_not_boot_was_never_off,),
    ),
    Sabotage(
        "a contradiction is not recorded",
        set_to(contradiction, "noticed", lambda view, now: view.remediation.progress.evidence),
        (
            contradiction_tests.test_it_is_on_record,
            contradiction_tests.test_who_was_proven_off_and_did_not_boot_was_never_off,
        ),
    ),
    Sabotage(
        "off before it was held counts as off",
        set_to(safety, "is_held", lambda host, held_for: True),
        (room_tests.test_every_situation,),
    ),
    Sabotage(
        "every hold was placed on a host that was on",
        set_to(remediation, "hold", always_on),
        (room_tests.test_the_hold_names_its_request_and_what_the_host_said,),
    ),
    Sabotage(
        "an old view is good enough",
        set_to(steps, "is_confirmed", lambda entry, now: True),
        (room_tests.test_nothing_is_held_on_an_old_view,),
    ),
    Sabotage(
        "freeing looks at nothing live",
        set_to(emptying, "confirm_first", lambda *_, **__: None),
        (room_tests.test_nothing_is_freed_on_an_old_view,),
    ),
    Sabotage(
        "no deadlines",
        set_to(patience, "is_overdue", lambda view, now: False),
        (room_tests.test_every_situation, room_tests.test_a_request_that_is_deleted),
    ),
    Sabotage(
        "who waits is not woken",
        set_to(patience, "turn", lambda view, now: None),
        (waits.test_an_attempt_that_waits_is_looked_at_when_what_it_states_changes,),
    ),
    Sabotage(
        "waits are measured on the wall",
        set_to(patience, "sight", on_the_wall),
        (
            waits.test_a_step_of_the_clock_neither_shortens_nor_lengthens_a_wait,
            waits.test_who_takes_over_waits_the_whole_time,
        ),
    ),
    Sabotage(
        "nobody remembers since when",
        set_to(patience, "memory", lambda view, now: ()),
        (waits.test_a_step_of_the_clock_neither_shortens_nor_lengthens_a_wait,),
    ),
    Sabotage(
        "one stay in a phase is like another",
        set_to(patience, "what_is_waited_for", lambda remediation: remediation.progress.phase.value),
        (waits.test_another_attempt_is_another_wait,),
    ),
    Sabotage(
        "deadlines of another length",
        set_to(phases, "FREE_WITHIN", phases.OWNER_WITHIN),
        (room_tests.test_every_phase_has_its_deadline,),
    ),
    Sabotage(
        "pauses do not grow",
        set_to(phases, "PAUSE_MAX", phases.PAUSE_MIN),
        (room_tests.test_the_pause_of_reboot_grows_to_an_hour,),
    ),
    Sabotage(
        "retries by equality",
        set_to(phases, "is_last_attempt", lambda one: one.progress.retry_count == one.retries),
        (room_tests.test_a_limit_that_was_lowered_is_over,),
    ),
    Sabotage(
        "ready is ready, since whenever",
        set_to(remediation, "is_back", lambda view: view.node is not None and view.node.is_ready),
        (room_tests.test_every_situation,),
    ),
    Sabotage(
        "nobody is looked at before anything",
        no_gate("BEFORE_ANYTHING"),
        (room_tests.test_every_gate,),
    ),
    Sabotage(
        "a lost host is nobody's business",
        no_gate("LINKED"),
        (room_tests.test_every_gate, room_tests.test_who_lost_machine_or_host_releases_and_frees_nothing),
    ),
    Sabotage(
        "attempts without gates",
        no_gate("BEFORE_AN_ATTEMPT"),
        (room_tests.test_every_gate, room_tests.test_a_pause_with_an_end_is_looked_at_then),
    ),
    Sabotage(
        "nobody hears a paused node",
        set_to(gates, "nobody_paused", lambda now, *carriers: None),
        (explained.test_all_gates_are_listed, explained.test_a_paused_node_is_not_attempted),
    ),
    Sabotage(
        "explain asks what cannot be asked",
        set_to(remediationgates, "WITHOUT_MACHINE", 0),
        (explained.test_without_machine_or_host_the_rest_cannot_be_asked,),
    ),
    Sabotage(
        "a taint is never enough",
        set_to(emptying, "is_taken_out", lambda view, work: False),
        (laws.test_it_comes_to_rest,),
    ),
    Sabotage(
        "the taint goes in any phase",
        set_to(leaving, "BEFORE_POWER_ON", ()),
        (room_tests.test_the_taint_stays_while_the_host_is_off,),
    ),
    Sabotage(
        "the boot at the beginning is the boot that ends",
        set_to(remediation, "seen_off", lambda view, now: replace(view.remediation.progress.evidence, off_at=now.wall)),
        (room_tests.test_a_node_that_booted_on_its_way_off_is_not_back,),
    ),
    Sabotage(
        "deadlines run from the attempt",
        set_to(phases, "enter", from_the_attempt),
        (laws.test_a_phase_begins_when_it_is_entered,),
    ),
    Sabotage(
        "pauses wear off",
        set_to(phases, "pause", lambda one: Span(phases.PAUSE_MAX.ms // one.progress.retry_count or 1)),
        (laws.test_pauses_never_shrink,),
    ),
    Sabotage(
        "no budget",
        set_to(remediation, "SHARED", (remediationgates.one_repair_per_node,)),
        (room_tests.test_nothing_begins_without_the_budget,),
    ),
    Sabotage(
        "what runs asks again",
        set_to(remediation, "ALONE", (lambda view, now: budgeted(view.answer),)),
        (room_tests.test_what_runs_asks_no_more,),
    ),
    Sabotage(
        "no claim",
        set_to(remediationgates, "claimed", lambda claim, now: None),
        (room_tests.test_the_repair_is_claimed_first,),
    ),
    Sabotage(
        "rivals go together",
        set_to(remediationview, "rival_of", lambda *_: ""),
        (room_tests.test_every_gate, room_tests.test_two_requests_do_not_wait_for_each_other),
    ),
    Sabotage(
        "the node of another machine passes",
        set_to(emptying, "NODE_SEEN", ()),
        (room_tests.test_every_situation,),
    ),
    Sabotage(
        "a Node is known by its name",
        set_to(emptying, "is_replaced", lambda seen: False),
        (room_tests.test_every_situation,),
    ),
    Sabotage(
        "a boot id is always there",
        set_to(steps, "ready_since", lambda node: None),
        (room_tests.test_a_node_without_boot_ids_is_back,),
    ),
    Sabotage(
        "what the Node said when its host was off is forgotten",
        set_to(emptying, "ready_since", lambda node: None),
        (room_tests.test_what_the_node_said_when_its_host_was_off_is_recorded,),
    ),
    Sabotage(
        "a mark is not looked at",
        set_to(freeing, "mark_of", lambda node, uid="": OutOfService("metal3-remediation", "metal/worker-0", "x")),
        (room_tests.test_every_situation, orphans.test_what_becomes_of_a_taint),
    ),
    Sabotage(
        "a Node that cannot be read is not waited for",
        set_to(leaving, "left", lambda seen: ()),
        (
            room_tests.test_a_request_that_is_deleted,
            room_tests.test_a_finalizer_waits_for_an_unreadable_node_only_so_long,
        ),
    ),
    Sabotage(
        "a taint goes before its node is back",
        set_to(outofservice, "is_back", lambda seen: True),
        (orphans.test_what_becomes_of_a_taint,),
    ),
    Sabotage(
        "a request that is not in the cache is gone",
        set_to(safety, "is_confirmed", lambda entry, now: True),
        (orphans.test_that_a_request_is_gone_is_read_live,),
    ),
    Sabotage(
        "a request of a former machine keeps its taint",
        set_to(outofservice, "is_abandoned", lambda *given: False),
        (bad_input.test_a_taint_of_a_former_machine_goes,),
    ),
    Sabotage(
        "a machine that cannot be read is gone with its taint",
        set_to(machines, "machine_refs", lambda at, request: []),
        (orphans.test_what_becomes_of_a_taint,),
    ),
    Sabotage(
        "nobody looks at a taint again when it is known whose node it is",
        set_to(machines, "named_here", lambda cluster, reader: ()),
        (orphans.test_a_node_whose_machine_turns_out_to_be_elsewhere_is_looked_at,),
    ),
    Sabotage(
        "the end of a request wakes nobody",
        set_to(outofservice, "BY_OWNER", machines.BY_NODE),
        (orphans.test_the_end_of_a_request_concerns_its_node,),
    ),
    Sabotage(
        "every taint is ours",
        set_to(freeing, "is_tainted", lambda node: False),
        (room_tests.test_how_to_free_is_as_the_spec_says, room_tests.test_freed_is_recorded),
    ),
    Sabotage(
        "always by pods",
        set_to(freeing, "default", lambda node: FreeBy.PODS),
        (room_tests.test_how_to_free_follows_the_version_of_the_node,),
    ),
    Sabotage(
        "the taint replaces all others",
        set_to(freeing, "taint", lambda work, *rest: freeing.Step((replace_taints(work, rest[-1]),), ())),
        (room_tests.test_a_taint_carries_a_proof_and_keeps_the_others,),
    ),
    Sabotage(
        "looks never become rare",
        set_to(freeing, "SELDOM", freeing.PACE),
        (freeing_tests.test_looks_become_rare, freeing_tests.test_whatever_changed_last_gives_hope),
    ),
    Sabotage(
        "what changes gives no hope",
        set_to(freeing, "last_change", lambda work: work.changed_at),
        (freeing_tests.test_whatever_changed_last_gives_hope,),
    ),
    Sabotage(
        "nothing is proven before the phase is recorded",
        set_to(emptying, "proof_of", lambda view, seen, now: None),
        (room_tests.test_every_situation, room_tests.test_freeing_begins_with_its_proof_on_record),
    ),
    Sabotage(
        "a person's word is not heard",
        set_to(remediation, "heeded", lambda view, now: None),
        (words_tests.test_a_word_frees_what_no_device_could_prove,),
    ),
    Sabotage(
        "a person's word is good for every boot",
        set_to(words, "word_of", lambda view: view.remediation.attested),
        (words_tests.test_a_word_that_does_not_fit_counts_as_nothing,),
    ),
    Sabotage(
        "a person's word is heard whoever else is at it",
        set_to(words, "hindered", lambda view, now: ()),
        (
            words_tests.test_a_word_waits_for_whoever_else_holds_the_host,
            words_tests.test_a_word_waits_until_nobody_pauses_the_repair,
        ),
    ),
    Sabotage(
        "a person's word needs no claim",
        set_to(words, "BEFORE_IT_COUNTS", ()),
        (words_tests.test_who_gave_its_claim_back_claims_before_it_frees,),
    ),
    Sabotage(
        "a person's word is heard again and again",
        set_to(words, "is_news", lambda view, now: words.word_of(view) is not None),
        (words_tests.test_a_word_is_heard_once,),
    ),
    Sabotage(
        "lists are never read",
        set_to(freeing, "ask", lambda *rest: None),
        (room_tests.test_every_situation,),
    ),
    Sabotage(
        "pods of the node go too",
        set_to(
            freeing, "pods_of", lambda work: tuple((at, replace(pod, stays=False)) for at, pod in work.pods.obj.pods)
        ),
        (room_tests.test_pods_go_by_uid_and_those_of_the_node_stay,),
    ),
    Sabotage(
        "what is going is deleted again",
        set_to(
            freeing,
            "pods_of",
            lambda work: tuple((at, replace(pod, is_forced=False)) for at, pod in work.pods.obj.pods),
        ),
        (room_tests.test_what_does_not_go_is_looked_at_again,),
    ),
    Sabotage(
        "volumes do not matter",
        set_to(freeing, "volumes_of", lambda work: ()),
        (room_tests.test_volumes_go_after_the_pods,),
    ),
    Sabotage(
        "the Node goes without a backup",
        set_to(emptying, "back_up", lambda node, earlier: earlier),
        (room_tests.test_the_node_goes_when_its_backup_is_on_the_machine,),
    ),
    Sabotage(
        "evidence of earlier attempts is kept",
        set_to(remediation, "Evidence", lambda **_: room_tests.OFF_SEEN),
        (room_tests.test_a_retry_counts_and_begins_anew,),
    ),
    Sabotage(
        "a deleted request goes on",
        set_to(leaving, "decide", lambda view, now: remediation.PHASES[view.remediation.progress.phase](view, now)),
        (room_tests.test_a_request_that_is_deleted,),
    ),
    Sabotage(
        "owners see one generation",
        set_to(conditions, "in_current", lambda one: replace(one, status="True")),
        (room_tests.test_owners_of_both_generations_see_the_escalation,),
    ),
    Sabotage(
        "a Machine of OpenShift is told conditions",
        set_to(escalation, "MACHINE", OPENSHIFT_MACHINE),
        (room_tests.test_on_openshift_the_machine_is_deleted_if_somebody_replaces_it,),
    ),
    Sabotage(
        "a Machine without an owner is deleted",
        set_to(escalation, "OPENSHIFT_MACHINE", MACHINE),
        (room_tests.test_on_openshift_a_machine_without_an_owner_is_kept,),
    ),
    Sabotage(
        "a Machine is deleted that nothing would replace",
        set_to(escalation, "irreplaceable", lambda view: None),
        (
            room_tests.test_on_openshift_a_machine_whose_host_no_new_one_would_get_is_kept,
            room_tests.test_on_openshift_a_machine_without_an_owner_is_kept,
            room_tests.test_why_nobody_replaces_a_machine_is_told_for_as_long_as_the_request_is_there,
        ),
    ),
    Sabotage(
        "the owner's turn comes in a pause",
        set_to(remediation, "BEFORE_THE_OWNER", ()),
        (
            owners_turn.test_a_pause_holds_the_owner_s_turn,
            owners_turn.test_who_has_no_place_any_more_asks_before_the_owner_s_turn,
        ),
    ),
    Sabotage(
        "a pause after the record is not seen",
        set_to(escalation, "UNHINDERED", ()),
        (owners_turn.test_a_pause_holds_the_owner_s_turn,),
    ),
    Sabotage(
        "the owner of a node out of sight is asked",
        together(
            set_to(remediation, "BEFORE_THE_OWNER", (*remediationgates.UNPAUSED, remediationgates.owner_may_be_asked)),
            set_to(escalation, "UNHINDERED", remediationgates.UNPAUSED),
        ),
        (owners_turn.test_a_node_out_of_sight_holds_the_owner_s_turn,),
    ),
    Sabotage(
        "who is paused keeps all others waiting",
        set_to(remediation, "UNHINDERED", ()),
        (
            owners_turn.test_what_is_paused_before_the_owner_s_turn_keeps_nobody_waiting,
            owners_turn.test_a_node_out_of_sight_holds_the_owner_s_turn,
        ),
    ),
    Sabotage(
        "a grant from before the pause counts",
        set_to(remediation, "BEFORE_THE_OWNER", remediationgates.UNPAUSED),
        (owners_turn.test_a_grant_from_before_the_pause_is_none_any_more,),
    ),
    Sabotage(
        "any grant is one for what begins in the middle",
        set_to(remediationgates, "budgeted_to_begin", lambda told, *rest: budgeted(told)),
        (
            beginnings.test_nothing_begins_while_the_budget_lets_nothing_begin,
            beginnings.test_what_was_told_to_a_repair_that_runs_is_no_answer,
        ),
    ),
    Sabotage(
        "all beginnings are one",
        set_to(remediation, "what_is_waited_for", lambda request: "x"),
        (beginnings.test_every_beginning_is_asked_for_by_itself,),
    ),
    Sabotage(
        "a further attempt does not say that it waits",
        set_to(remediation, "is_next_attempt", lambda view, now: False),
        (
            beginnings.test_it_goes_on_at_once_where_nothing_speaks_against_it,
            beginnings.test_nothing_begins_while_the_budget_lets_nothing_begin,
        ),
    ),
    Sabotage(
        "who is held back by more than the budget asks it",
        set_to(remediation, "BEFORE_ANYTHING", ()),
        (beginnings.test_what_something_else_holds_back_does_not_ask,),
    ),
    Sabotage(
        "an attempt that is held back by more than the budget asks it",
        set_to(remediationgates, "BEFORE_THE_BUDGET", ()),
        (beginnings.test_what_something_else_holds_back_does_not_ask,),
    ),
    Sabotage(
        "a record is as good as the owner's turn",
        set_to(remediation, "is_unasked", lambda view, now: False),
        (beginnings.test_what_was_told_to_a_repair_that_runs_is_no_answer,),
    ),
    Sabotage(
        "what is recorded is done in a storm",
        set_to(escalation, "owner_may_be_asked", lambda view, now: None),
        (
            beginnings.test_a_storm_between_the_record_and_the_act_leads_back,
            beginnings.test_what_was_told_to_a_repair_that_runs_is_no_answer,
        ),
    ),
    Sabotage(
        "the owner's time runs out before it was asked",
        set_to(escalation, "step_back", lambda view, blocked, now: None),
        (beginnings.test_a_storm_between_the_record_and_the_act_leads_back,),
    ),
    Sabotage(
        "who has asked the owner asks the budget",
        set_to(remediationgates, "is_asked", lambda of, now: False),
        (beginnings.test_who_has_asked_the_owner_runs,),
    ),
    Sabotage(
        "an owner that tells of itself was not asked",
        set_to(conditions, "is_said", lambda told, wanted: False),
        (beginnings.test_an_owner_that_tells_of_itself_was_asked,),
    ),
    Sabotage(
        "the owner cannot have the claim",
        set_to(remediation, "stated_as", lambda request: remediationview.NAME),
        (
            owners_turn.test_an_owner_of_ours_takes_the_claim_over,
            owners_turn.test_the_owner_s_turn_is_in_flight_and_its_claim_is_the_owner_s,
        ),
    ),
    Sabotage(
        "Machines of both groups are one",
        set_to(machines, "in_index", str),
        (
            two_groups.test_a_metal3_remediation_of_the_other_machine_is_no_rival,
            two_groups.test_a_fence_remediation_of_the_other_machine_is_no_rival,
        ),
    ),
    Sabotage(
        "relics stay",
        set_to(relics, "decide", lambda view, now: NOTHING),
        (
            room_tests.test_a_hold_without_a_request_goes,
            room_tests.test_a_hold_with_a_garbled_record_goes_too,
            room_tests.test_a_paused_host_keeps_even_an_orphaned_hold,
            room_tests.test_our_mark_goes_when_a_node_runs_there,
        ),
    ),
    Sabotage(
        "a mark of somebody else beside ours goes along",
        set_to(remediationview, "our_marks", lambda host: tuple(name for name, _ in host.unhealthy)),
        (
            room_tests.test_only_our_own_mark_goes,
            room_tests.test_a_host_that_only_others_have_marked_is_none_of_ours,
        ),
    ),
    Sabotage(
        "a mark by the name of before is not ours",
        set_to(remediationview, "our_marks", lambda host: tuple(one for one, _ in host.unhealthy if one is NEWER)),
        (room_tests.test_only_our_own_mark_goes,),
    ),
    Sabotage(
        "one name is enough for a mark",
        set_to(escalation, "free_names", lambda view: () if view.host.unhealthy else tuple(MarkName)),
        (room_tests.test_a_host_is_marked_by_every_name_that_is_free, room_tests.test_every_situation),
    ),
    Sabotage(
        "a mark of somebody else is overwritten",
        set_to(escalation, "free_names", lambda view: tuple(MarkName)),
        (room_tests.test_a_host_is_marked_by_every_name_that_is_free, room_tests.test_every_situation),
    ),
    Sabotage(
        "the name that installed providers read is not written",
        item_to(names.MARKS, MarkName.BEFORE, names.UNHEALTHY),
        (wire_tests.test_each_action_has_one_request,),
    ),
    Sabotage(
        "holds of others are relics",
        set_to(remediationview, "is_ours", lambda record: True),
        (room_tests.test_a_hold_without_our_record_is_somebody_elses,),
    ),
    Sabotage(
        "who cannot be read is gone",
        set_to(relics, "is_unread", lambda uid, entry: False),
        (
            room_tests.test_the_hold_of_a_request_that_cannot_be_read_stays,
            unread_tests.test_what_is_held_for_a_request_that_cannot_be_read_counts,
        ),
    ),
    Sabotage(
        "what is held for a request that cannot be read is not in flight",
        set_to(relics, "held_need", lambda view, now: ()),
        (unread_tests.test_what_is_held_for_a_request_that_cannot_be_read_counts,),
    ),
    Sabotage(
        "a request that cannot be read concerns no host",
        set_to(remediationview, "uid_of", lambda entry: None),
        (unread_tests.test_a_request_that_cannot_be_read_any_more_concerns_its_host,),
    ),
    Sabotage(
        "a request whose machine cannot be read loses its place",
        set_to(remediation, "unread_need", lambda view: ()),
        (
            unread_tests.test_a_request_that_has_begun_keeps_the_place_of_a_machine_that_cannot_be_read,
            unread_tests.test_its_power_off_may_be_pending,
        ),
    ),
    Sabotage(
        "whoever cannot be read is the machine that it began with",
        set_to(remediationview, "uids_of", lambda request: set()),
        (unread_tests.test_another_machine_of_that_name_keeps_no_place,),
    ),
    Sabotage(
        "a record that does not say was on",
        set_to(objects, "hold", lambda text, was_on=True: HOLD_READ(text)),
        (wire_tests.test_a_record_that_does_not_say_what_the_host_said_proves_nothing,),
    ),
    Sabotage(
        "an orphan needs no second look",
        set_to(relics, "is_confirmed", lambda entry, now: True),
        (room_tests.test_a_hold_without_a_request_goes,),
    ),
    Sabotage(
        "no need is stated",
        set_to(remediation, "needs", lambda view, now: ()),
        (room_tests.test_it_states_its_need, room_tests.test_nothing_begins_without_the_budget),
    ),
    Sabotage(
        "a need for ever",
        set_to(
            remediation,
            "needs",
            lambda view, now: (need(view.machine.ref, "x", view.remediation.created, is_running=True),),
        ),
        (room_tests.test_who_does_nothing_needs_nothing,),
    ),
    Sabotage(
        "records of holds are not read",
        set_to(objects, "holds_for", lambda *rest: ()),
        (
            wire_tests.test_a_hold_is_read_back_as_it_was_written,
            wire_tests.test_a_hold_without_a_readable_record_is_still_one,
        ),
    ),
    Sabotage(
        "evidence is not read",
        set_to(remediations, "read_evidence", lambda tree: Evidence()),
        (wire_tests.test_a_status_is_read_back_as_it_was_written,),
    ),
    Sabotage(
        "only the seed's shape is read",
        set_to(remediations, "as_capm3", lambda fields: (Strategy.REBOOT, 0, Span(0))),
        (wire_tests.test_the_shape_of_capm3_is_read,),
    ),
    Sabotage(
        "garbage is taken for nothing",
        set_to(Fields, "wrong", lambda self, *_: Malformed("")),
        (wire_tests.test_garbage_is_told_with_its_field,),
    ),
    Sabotage(
        "a power-off may take no time",
        set_to(
            remediations,
            "seconds",
            lambda fields, path, otherwise: Span.seconds(remediations.whole(fields, path, otherwise, 86_400)),
        ),
        (wire_tests.test_numbers_are_those_that_the_api_takes,),
    ),
    Sabotage(
        "defaults of another seed",
        set_to(remediations, "OFF_WITHIN", 60),
        (wire_tests.test_what_is_left_out_has_the_seed_s_defaults,),
    ),
    Sabotage(
        "with its last finalizer an object stays",
        set_to(answers, "WriteFinalizers", ListPods),
        (wire_tests.test_with_its_last_finalizer_an_object_goes,),
    ),
    Sabotage(
        "a contradicted request has a place",
        set_to(remediation, "is_given_to_a_person", lambda view: False),
        (
            contradicted_tests.test_it_takes_no_place_and_writes_nothing,
            contradicted_tests.test_it_keeps_its_claim_and_is_not_in_flight,
        ),
    ),
    Sabotage(
        "a place that was given back is still ours",
        set_to(remediationgates, "is_attempt_over", lambda view, now: False),
        (
            contradicted_tests.test_another_boot_asks_for_a_place_before_anything_begins,
            beginnings.test_nothing_begins_while_the_budget_lets_nothing_begin,
        ),
    ),
    Sabotage(
        "what a watch shows of a boot that was proven off goes on record",
        set_to(contradiction, "confirm_first", lambda *rest, **more: None),
        (contradiction_tests.test_who_seems_to_report_is_read_live_first,),
    ),
    Sabotage(
        "what a watch shows goes on record when time is over",
        set_to(emptying, "confirm_first", lambda *rest, **more: None),
        (
            contradiction_tests.test_another_boot_is_read_live_before_it_counts,
            contradiction_tests.test_nothing_unread_is_on_record,
            contradiction_tests.test_power_comes_back_where_nobody_can_be_read,
        ),
    ),
    Sabotage(
        "a host stays off until somebody answers",
        set_to(emptying, "READ_WITHIN", Span.seconds(86_400)),
        (contradiction_tests.test_power_comes_back_where_nobody_can_be_read,),
    ),
    Sabotage(
        "a host that is off proves whatever boot is there",
        set_to(emptying, "is_replaced", lambda view: False),
        (
            contradiction_tests.test_who_booted_while_its_host_was_off_is_on_another,
            contradiction_tests.test_who_may_have_booted_on_its_way_off_is_tried_again,
        ),
    ),
    Sabotage(
        "who booted did so on its way off",
        set_to(contradiction, "has_booted", lambda view: False),
        (contradiction_tests.test_who_booted_while_its_host_was_off_is_on_another,),
    ),
    Sabotage(
        "who booted did so while its host was off",
        set_to(emptying, "is_read_since_off", lambda view: True),
        (contradiction_tests.test_a_boot_is_known_by_a_read_since_its_host_was_off,),
    ),
    Sabotage(
        "what was freed on a refuted proof was freed",
        set_to(words, "was_refuted", lambda evidence: False),
        (
            contradiction_tests.test_a_word_is_the_way_out_of_a_proof_that_was_refuted,
            contradiction_tests.test_a_word_that_does_not_fit_is_complained_about,
        ),
    ),
    Sabotage(
        "a contradiction is about the Node of then",
        set_to(
            contradiction,
            "noticed",
            lambda view, now: replace(view.remediation.progress.evidence, contradicted_at=now.wall),
        ),
        (
            contradiction_tests.test_the_record_names_the_node_that_a_word_can_be_about,
            contradiction_tests.test_who_booted_while_its_host_was_off_is_on_another,
        ),
    ),
    Sabotage(
        "a claim of before a pause is good enough, and so is the grant of a check",
        together(
            set_to(claim, "was_made_since", lambda lease, need: True),
            set_to(remediationgates, "budgeted_anew", lambda told, *rest: budgeted(told)),
        ),
        (beginnings.test_a_request_that_was_paused_at_once_is_none_of_before_the_storm,),
    ),
    Sabotage(
        "a word to the owner outlives its Metal3Remediation",
        set_to(leaving, "taken_back", lambda view, now: None),
        (owners_word.test_the_word_goes_with_the_request_of_a_machine_that_is_well,),
    ),
    Sabotage(
        "whoever is ready is back",
        set_to(remediation, "is_back", lambda view: view.node is not None and view.node.is_ready),
        (contradiction_tests.test_a_node_made_anew_by_that_boot_is_not_back,),
    ),
    Sabotage(
        "a hold that is refused keeps its place",
        set_to(annotation, "rested", lambda wanted, asks, *given, has_place: (wanted, asks)),
        (
            resting_tests.test_what_was_granted_has_ten_minutes,
            resting_tests.test_what_is_refused_leaves_its_place_to_others,
        ),
    ),
    Sabotage(
        "a Metal3Remediation that is refused keeps its place",
        set_to(remediation, "rested", lambda wanted, asks, *given, has_place: (wanted, asks)),
        (
            resting_tests.test_what_was_granted_has_ten_minutes,
            resting_tests.test_what_is_refused_leaves_its_place_to_others,
        ),
    ),
    Sabotage(
        "the grant of a hold outlives the place that was given back",
        set_to(gates, "budgeted_anew", lambda told, *rest: budgeted(told)),
        (resting_tests.test_it_asks_again_when_it_has_rested,),
    ),
    Sabotage(
        "the grant of a request outlives the place that was given back",
        set_to(remediationgates, "budgeted_anew", lambda told, *rest: budgeted(told)),
        (resting_tests.test_it_asks_again_when_it_has_rested,),
    ),
    Sabotage(
        "who waits for another to let go of the host is tried",
        set_to(resting, "turn", lambda *given, is_tried: TURN(*given, is_tried=True)),
        (resting_tests.test_who_waits_for_another_repair_is_not_stuck,),
    ),
    Sabotage(
        "a host that is held gives its place back since a write is refused",
        set_to(remediation, "has_place", lambda view, now: remediationgates.budget_allows(view, now) is None),
        (resting_tests.test_what_may_go_off_or_ends_by_itself_keeps_its_place,),
    ),
    Sabotage(
        "a pause between two attempts is a refusal",
        set_to(remediation, "rested", given_back_anyhow),
        (resting_tests.test_what_gave_its_place_back_while_it_ran_asks_as_if_it_were_new,),
    ),
)


def replace_taints(work: Any, proof: Any) -> Any:
    return TaintOutOfService(
        work.node_at,
        Guard(work.node.uid, work.version),
        work.node.boot_id,
        (freeing.OUT_OF_SERVICE,),
        OutOfService("metal3-remediation", "metal/worker-0", "remediation-uid-1", "boot-1"),
        proof,
    )


def changed_pods(work: Any, **changes: Any) -> Any:
    return tuple((at, replace(pod, **changes)) for at, pod in work.pods.obj.pods)
