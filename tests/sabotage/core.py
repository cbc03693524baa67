"""Sabotages of model, core, engine and wire: for each safety-relevant line, the harm and the tests that see it.

`tests/test_sabotage_core.py` runs them: every green of these rings was seen red. A sabotage is one replaced function,
constant or row; the tests are named, so that a rule and its watchman can be found from each other.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace
from tests.core import test_backup, test_safety
from tests.core.budget import test_grants
from tests.core.metal3 import (
    test_cleanup,
    test_delete,
    test_fixpoint,
    test_gates,
    test_links,
    test_orphan,
    test_rules,
    test_starting,
    test_table,
    test_unread,
    test_waiting,
)
from tests.core.metal3.world import World
from tests.engine import (
    test_beginning,
    test_cache,
    test_facts,
    test_ledger,
    test_loop,
    test_notices,
    test_queue,
    test_whole,
)
from tests.model import test_actions, test_reasons, test_time
from tests.sabotage.checkstatus import CHECK_STATUS
from tests.sabotage.external import EXTERNAL
from tests.sabotage.running import Harm, Sabotage, item_to, set_to
from tests.sim import test_decoding
from tests.sim.apiserver import test_once
from tests.wire import test_answers, test_bookkeeping, test_machines, test_objects, test_pages, test_requests

from noderemedy.core import backup, consumers, safety
from noderemedy.core.budget import grants
from noderemedy.core.gates import Blocked, nobody_paused
from noderemedy.core.healthcheck.facts import VerdictFact
from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.core.metal3 import annotation, cleanup, gates, links, needs, view, waiting
from noderemedy.core.metal3.annotation import TABLE, Says, row
from noderemedy.engine import cache, ledger, loop, queue, telling, trace
from noderemedy.model import actions, meta, reasons, time
from noderemedy.model.budget import Need
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.host import MarkName, Power
from noderemedy.model.ids import HOST
from noderemedy.model.outcome import Done, Failed
from noderemedy.model.room import Unreadable
from noderemedy.model.time import Mono, Span
from noderemedy.sim import decoding
from noderemedy.sim.apiserver import once
from noderemedy.wire import (
    answers,
    backups,
    bookkeeping,
    heartbeats,
    http,
    names,
    nodes,
    objects,
    pages,
    requests,
    shapes,
    undecodable,
)

POWERED_OFF, PUT, STEP, DUE = safety.powered_off, cache.Cache.put, loop.Engine.step, queue.Timers.due
SPEC_OF, READ_HOST = objects.spec_of, objects.host
STATE, QUEUE, STAMP = loop.Engine._state, queue.Queue.__init__, heartbeats.stamp
SET_ASIDE, DROP = cache.Cache.set_aside, cache.Cache.drop
DECIDED, RECOUNT, BEGIN = telling.Telling.decided, telling.Telling._recount, ledger.Ledger.begin
CONFIRM_FIRST, RESTORE, BACK_UP = annotation.confirm_first, backup.restore, backup.back_up
SEE_MACHINE, CONCERNED = view.see_machine, links.concerned
SAFE = test_rules.test_a_node_is_deleted_only_when_it_is_safe
LIVE_READS = (test_delete.test_node_and_host_are_read_live_first, SAFE)


def proof_ignoring(**changes: Any) -> Any:
    """The maker of proofs, blind for one field of the host."""
    return lambda node, entry, *rest, **more: POWERED_OFF(
        node, replace(entry, obj=replace(entry.obj, **changes)), *rest, **more
    )


def without(gate: gates.Gate) -> Harm:
    """All gates but one."""

    def harm(monkeypatch: Any) -> None:
        for name in ("BEFORE_ANYTHING", "BEFORE_THE_TABLE", "BEFORE_A_ROW", "BEFORE_POWER_OFF"):
            monkeypatch.setattr(gates, name, tuple(one for one in getattr(gates, name) if one is not gate))

    return harm


PROOFS = (
    Sabotage(
        "a hold for a request proves without its record",
        set_to(safety, "is_held", lambda host, held_for: bool(host.holds_of(held_for)) if held_for else host.held),
        (test_safety.test_a_hold_for_a_request_proves_by_its_record_alone,),
    ),
    Sabotage(
        "every answer is news",
        set_to(loop.Engine, "_is_overtaken", lambda engine, done: False),
        (
            test_loop.test_an_answer_brings_nobody_back_who_went_meanwhile,
            test_loop.test_whoever_has_the_name_by_now_is_not_overwritten,
            test_loop.test_an_answer_from_before_a_list_that_does_not_name_it_is_not_entered,
        ),
    ),
    Sabotage(
        "whatever has the name of one that went has gone",
        set_to(ledger.Ledger, "has_missed", lambda book, ref, uid="": bool(book._missed.get(ref))),
        (test_loop.test_what_is_made_anew_under_the_name_is_entered,),
    ),
    Sabotage(
        "what went is remembered, whoever asks about it",
        set_to(ledger.Ledger, "misses", lambda book, ref, uid="": book._missed.setdefault(ref, set()).add(uid)),
        (test_loop.test_who_went_is_remembered_only_until_the_answer,),
    ),
    Sabotage(
        "an old absence is about whoever came since",
        set_to(loop.Engine, "_has_come_since", lambda engine, ref, begun: False),
        (test_loop.test_an_answer_that_it_is_gone_is_not_about_what_came_since,),
    ),
    Sabotage(
        "an ended reservation is a grant",
        set_to(grants, "has_ended", lambda sight, now: False),
        (test_grants.test_what_has_ended_is_no_grant_for_the_next_repair,),
    ),
    Sabotage(
        "a grant outlives a storm",
        set_to(grants, "STILL", ()),
        (test_grants.test_what_comes_between_a_grant_and_the_begin_holds_it_back,),
    ),
    Sabotage(
        "a grant outlives its term",
        set_to(loop.Engine, "_begin_term", lambda engine, token, now: None),
        (test_facts.test_a_grant_of_an_earlier_term_is_none,),
    ),
    Sabotage(
        "a grant outlives a gap",
        set_to(loop.Engine, "_granting", lambda engine: []),
        (test_facts.test_a_grant_of_before_a_gap_is_none,),
    ),
    Sabotage(
        "who grants and cannot write leaves its grants as they were",
        set_to(loop.Engine, "_grant_meanwhile", lambda engine, key, now: None),
        (test_facts.test_a_grant_is_of_now_while_the_write_of_who_grants_is_held_up,),
    ),
    Sabotage(
        "a new leader trusts every reservation",
        set_to(grants, "is_of_before", lambda one, ask: False),
        (test_grants.test_a_new_leader_takes_no_old_reservation_for_a_grant,),
    ),
    Sabotage(
        "a pause of the node is overlooked",
        set_to(gates, "nobody_paused", lambda now, *carriers: nobody_paused(now, *carriers[:1])),
        (test_gates.test_each_gate_blocks_with_its_reason,),
    ),
    Sabotage(
        "a live read never goes stale",
        set_to(safety, "is_fresh", lambda confirmed_at, now: True),
        (*LIVE_READS, test_delete.test_a_live_read_goes_stale, test_safety.test_a_cached_state_is_no_proof),
    ),
    Sabotage(
        "a live read is fresh for a minute",
        set_to(safety, "FRESH", Span(60_000)),
        (test_delete.test_a_live_read_goes_stale, SAFE),
    ),
    *(
        Sabotage(
            f"a proof that ignores {field}",
            set_to(test_safety, "powered_off", proof_ignoring(**{field: value})),
            (test_safety.test_anything_less_is_none,),
        )
        for field, value in {
            "held": True,
            "power": Power.OFF,
            "paused": False,
            "detached": False,
            "state": "provisioned",
            "status": "OK",
            "deleting": False,
            "power_off_disabled": False,
        }.items()
    ),
    Sabotage(
        "a proof for nobody in particular",
        set_to(actions, "demand_proof", lambda proof, subject: None),
        (test_actions.test_anything_else_is_no_proof, test_actions.test_a_proof_for_another_node_or_boot_is_refused),
    ),
    Sabotage(
        "nothing is read live",
        set_to(annotation, "confirm_first", lambda now, *entries: None),
        (
            *LIVE_READS,
            test_delete.test_absence_of_the_node_is_read_live,
            test_delete.test_the_request_is_read_live_before_power_off,
            test_orphan.test_absence_of_the_machine_is_read_live,
            test_rules.test_a_host_is_held_only_for_a_request_that_was_read_live,
        ),
    ),
    Sabotage(
        "only the first object is read live",
        set_to(annotation, "confirm_first", lambda now, *entries: CONFIRM_FIRST(now, *entries[:1])),
        LIVE_READS,
    ),
)

WRONG_ROWS = tuple(
    Sabotage(
        f"the table says {wrong.name} for {node}{needs}{on}{held}",
        item_to(TABLE, row(node, needs, on, held), wrong),
        (test_table.test_the_table_reads_as_the_seed_prints_it, test_table.test_each_row_does_what_it_says),
    )
    for node, needs, on, held, wrong in (
        (1, 1, 0, 0, Says.DELETE),
        (1, 1, 1, 1, Says.DELETE),
        (1, 0, 0, 1, Says.DELETE),
        (0, 0, 0, 1, Says.NOTHING),
        (1, 0, 1, 1, Says.RELEASE),
        (0, 1, 1, 0, Says.NOTHING),
    )
)
ROWS = (
    *WRONG_ROWS,
    Sabotage(
        "the row that the seed forgot acts",
        item_to(TABLE, row(0, 0, 0, 0), Says.RELEASE),
        (test_table.test_the_row_that_the_seed_forgot_says_nothing,),
    ),
    Sabotage(
        "the guard of an action names no version",
        set_to(annotation, "host_guard", lambda view: actions.Guard(view.host.uid)),
        (
            test_table.test_actions_are_aimed_at_the_right_object,
            test_rules.test_a_hold_is_released_only_when_the_host_is_off,
        ),
    ),
)

ALL_GATES = (*gates.BEFORE_ANYTHING, *gates.BEFORE_THE_TABLE, *gates.BEFORE_A_ROW, *gates.BEFORE_POWER_OFF)
NO_GATES = tuple(
    Sabotage(f"no gate {gate.__name__}", without(gate), (test_gates.test_each_gate_blocks_with_its_reason,))
    for gate in ALL_GATES
)
GATES = (
    *NO_GATES,
    Sabotage(
        "a foreign consumer is served",
        without(gates.host_is_its_own),
        (SAFE, test_links.test_a_changed_consumer_ends_the_repair),
    ),
    Sabotage(
        "a paused cluster is repaired",
        without(gates.cluster_is_not_paused),
        (test_gates.test_a_paused_cluster_stops_everything, test_rules.test_a_paused_cluster_is_left_alone),
    ),
    Sabotage(
        "a hold in every state is followed",
        without(gates.host_is_settled),
        (test_gates.test_each_gate_blocks_with_its_reason,),
    ),
    Sabotage(
        "a host that shuts down softly is held",
        without(gates.nobody_shuts_it_down),
        (test_gates.test_each_gate_blocks_with_its_reason,),
    ),
    Sabotage(
        "an unattended host is believed",
        set_to(gates, "host_unattended", lambda ref, host: None),
        (test_gates.test_an_unattended_host_proves_nothing, test_orphan.test_an_unattended_orphan_waits),
    ),
    Sabotage(
        "a stranger's node keeps our host off",
        set_to(
            gates,
            "BEFORE_ANYTHING",
            (gates.cluster_is_not_paused, lambda view, now: view.node and gates.closed(reasons.ClusterPaused())),
        ),
        (test_gates.test_a_strangers_node_does_not_keep_our_host_off,),
    ),
    Sabotage(
        "a pause has no end",
        set_to(Blocked, "decision", lambda blocked, now: Decision(because=(blocked.reason,))),
        (test_gates.test_a_pause_ends_by_itself,),
    ),
)

LINKS = (
    Sabotage(
        "every host serves every machine",
        set_to(consumers, "is_consumed_by", lambda *everything: True),
        (
            test_links.test_the_host_must_name_the_machine_back,
            test_links.test_a_metal3_machine_must_be_owned_by_the_machine,
            test_links.test_a_changed_consumer_ends_the_repair,
            test_links.test_two_machines_that_name_one_host,
        ),
    ),
    Sabotage(
        "both groups of Machines are one",
        set_to(consumers, "MACHINE_KINDS", MACHINE_KINDS[:1]),
        (test_links.test_the_host_must_name_the_machine_back,),
    ),
    Sabotage(
        "an orphan stays held",
        set_to(annotation, "orphan", lambda view, now: NOTHING),
        (test_orphan.test_an_orphaned_hold_is_released, test_fixpoint.test_the_room_comes_to_rest),
    ),
    Sabotage(
        "every held host is an orphan",
        set_to(test_orphan, "sees", lambda key, reader: disowned(view.sees(key, reader))),
        (test_orphan.test_a_hold_with_a_machine_is_the_machines_business,),
    ),
    Sabotage(
        "an event of a node concerns everybody",
        set_to(
            test_whole,
            "ROOMS",
            (replace(annotation.ROOM, wakes=lambda at, obj, reader: list(reader._entries)[::30]),),
        ),
        (test_whole.test_the_cost_of_a_node_event_does_not_grow_with_the_cluster,),
    ),
)


def disowned(found: Any) -> Any:
    return replace(found, is_named_back=False)


BACKUPS = (
    Sabotage(
        "a read from before the news is as good as one after it",
        set_to(safety, "is_read_since", lambda entry, known: True),
        (test_cleanup.test_a_live_read_from_before_the_news_drops_no_backup,),
    ),
    Sabotage(
        "a backup is not compared with the node",
        set_to(annotation, "back_up", lambda node, earlier: earlier or BACK_UP(node, None)),
        (
            test_delete.test_a_backup_of_another_state_is_stored_again,
            SAFE,
        ),
    ),
    Sabotage(
        "an earlier backup is thrown away",
        set_to(annotation, "back_up", lambda node, earlier: BACK_UP(node, None)),
        (
            test_delete.test_a_node_created_again_under_the_same_name_is_backed_up_anew,
            test_fixpoint.test_a_second_failure_before_the_restore_loses_nothing,
        ),
    ),
    Sabotage(
        "taints of the lifecycle are kept",
        set_to(backup, "LIFECYCLE", "\0"),
        (test_backup.test_taints_of_the_lifecycle_are_not_restored,),
    ),
    Sabotage(
        "the word of a remover is kept",
        set_to(backup, "REMOVERS", {}),
        (test_backup.test_the_word_of_a_remover_is_about_the_former_node,),
    ),
    Sabotage(
        "a wish for a repair is kept",
        set_to(nodes, "PASSING", nodes.RECORDS),
        (
            test_objects.test_a_wish_for_a_repair_is_no_annotation_of_the_node,
            test_objects.test_a_backup_of_an_older_version_gives_back_no_wish_and_no_record_of_ours,
        ),
    ),
    Sabotage(
        "the old node's keys win",
        set_to(backup, "missing", lambda wanted, has: wanted),
        (test_backup.test_keys_of_the_new_node_win, test_backup.test_restoring_again_changes_nothing),
    ),
    Sabotage(
        "a backup is dropped before the restore",
        set_to(cleanup, "restore", lambda *everything: None),
        (
            test_cleanup.test_a_returned_node_gets_its_labels_back,
            test_fixpoint.test_an_ordinary_repair_brings_the_node_back_whole,
        ),
    ),
    Sabotage(
        "a cordon is forgotten",
        set_to(cleanup, "restore", lambda *everything: _uncordoned(RESTORE(*everything))),
        (test_cleanup.test_a_persons_cordon_survives_the_power_cycle,),
    ),
    Sabotage(
        "a backup is dropped on an old view",
        set_to(cleanup, "_read_live", lambda view, now: None),
        (test_cleanup.test_a_backup_that_was_never_needed_is_dropped_after_a_live_read,),
    ),
    Sabotage(
        "a backup that names no node is dropped on an old view",
        set_to(cleanup, "_read_live", lambda view, now: None),
        (
            test_cleanup.test_a_backup_that_names_no_node_is_dropped_after_a_live_read,
            test_cleanup.test_a_backup_that_was_never_needed_is_dropped_after_a_live_read,
        ),
    ),
    Sabotage(
        "nothing is restored",
        set_to(annotation, "returned_node", lambda view, now: None),
        (
            test_cleanup.test_a_whole_node_loses_its_backup,
            test_cleanup.test_an_unreadable_backup_is_kept,
            test_fixpoint.test_an_ordinary_repair_brings_the_node_back_whole,
        ),
    ),
)


def _uncordoned(write: Any) -> Any:
    return replace(write, unschedulable=False) if write else None


WAITING = (
    Sabotage(
        "power off is never overdue",
        set_to(waiting, "OFF_WITHIN", Span(10**9)),
        (
            test_waiting.test_power_off_is_waited_for_and_then_overdue,
            test_waiting.test_unknown_power_of_a_held_host_is_overdue_too,
        ),
    ),
    Sabotage(
        "a node is never overdue",
        set_to(waiting, "NODE_WITHIN", Span(10**9)),
        (
            test_waiting.test_the_node_is_waited_for_and_then_overdue,
            test_waiting.test_a_failed_power_on_is_told_when_the_machine_was_marked_again,
            test_delete.test_a_node_with_finalizers_is_waited_for,
        ),
    ),
    Sabotage(
        "a mark never waits for a node that starts",
        set_to(gates, "starting_until", lambda view, now: None),
        (
            test_starting.test_a_mark_counts_when_the_node_had_its_time,
            test_starting.test_nothing_is_reserved_while_a_mark_waits,
            test_starting.test_explain_shows_the_gate,
        ),
    ),
    Sabotage(
        "a mark waits for ever",
        set_to(gates, "NODE_WITHIN", Span(10**9)),
        (
            test_starting.test_a_mark_counts_when_the_node_had_its_time,
            test_starting.test_any_other_mark_of_a_ready_node_counts,
        ),
    ),
    Sabotage(
        "a mark outlives the node's return",
        set_to(cleanup, "fulfilled", lambda view, now: None),
        (
            test_starting.test_a_mark_is_fulfilled_when_the_node_is_back_and_ready,
            test_starting.test_it_is_fulfilled_by_a_live_read_only,
        ),
    ),
    Sabotage(
        "nobody is told what is waited for",
        set_to(annotation, "waiting", lambda view, now: NOTHING),
        (
            test_waiting.test_off_but_not_held_is_no_proof,
            test_waiting.test_a_host_switched_off_on_purpose_is_left_off,
            test_fixpoint.test_a_host_that_never_goes_off_is_told,
        ),
    ),
    Sabotage(
        "hosts are never released",
        item_to(annotation.ANSWERS, Says.RELEASE, lambda view, reason, now: NOTHING),
        (test_fixpoint.test_the_room_comes_to_rest, test_whole.test_a_marked_machine_is_repaired),
    ),
    Sabotage(
        "a restore without end",
        set_to(cleanup, "restore", lambda at, version, node, kept: _again(at, version, node)),
        (test_fixpoint.test_an_ordinary_repair_brings_the_node_back_whole,),
    ),
    Sabotage(
        "the little world forgets to look at guards",
        set_to(World, "_demand", lambda self, ref, guard: None),
        (test_fixpoint.test_the_little_world_refuses_an_old_view,),
    ),
)


def _again(at: Any, version: str, node: Any) -> Any:
    return actions.RestoreNode(at, actions.Guard(node.uid, version), (), (), node.taints, node.unschedulable)


def put_as_list_item(self: Any, seen: Any, now: Any, *, confirmed_at: Any = None) -> Any:
    """A live read counts as an item of the list that runs."""
    for named in self._listing.values():
        named.add(seen.ref)
    return PUT(self, seen, now, confirmed_at=confirmed_at)


CACHE = (
    Sabotage(
        "older events are believed",
        set_to(cache, "precedes", lambda one, other: False),
        (
            test_cache.test_an_older_event_never_overwrites_a_newer_live_read,
            test_cache.test_an_older_event_of_a_former_object_does_not_overwrite_either,
            test_cache.test_an_older_live_read_does_not_confirm_what_it_did_not_see,
            test_cache.test_a_list_that_goes_back_in_time_is_believed_but_confirms_nothing,
        ),
    ),
    Sabotage(
        "live reads hide deletions",
        set_to(cache.Cache, "put", put_as_list_item),
        (test_cache.test_a_live_read_during_a_list_does_not_hide_a_deletion,),
    ),
    Sabotage(
        "every event counts as a live read",
        set_to(
            cache.Cache, "put", lambda self, seen, now, *, confirmed_at=None: PUT(self, seen, now, confirmed_at=now)
        ),
        (
            test_cache.test_an_object_is_remembered_with_its_version,
            test_cache.test_another_object_under_the_same_name_is_not_confirmed,
        ),
    ),
    Sabotage(
        "heartbeats count as changes",
        set_to(cache.Cache, "put", lambda self, *seen, **live: (PUT(self, *seen, **live)[0], True)),
        (test_cache.test_a_heartbeat_changes_only_the_version, test_whole.test_a_heartbeat_costs_no_look),
    ),
    Sabotage(
        "nobody is woken at a start",
        set_to(loop.Engine, "_wake_all", lambda self: setattr(self, "_is_begun", True)),
        (
            test_beginning.test_who_is_found_by_an_index_is_found_in_any_order,
            test_beginning.test_what_cannot_be_read_concerns_somebody_at_a_start_too,
        ),
    ),
    Sabotage(
        "every list is a beginning",
        set_to(loop.Engine, "lost", lambda self, kind, now, cluster="": setattr(self, "_is_begun", False)),
        (test_beginning.test_a_list_that_is_made_anew_is_no_beginning,),
    ),
    Sabotage(
        "lists forget nothing",
        set_to(cache.Cache, "end_list", lambda self, cluster, kind: self._complete.add((cluster, kind)) or []),
        (test_cache.test_a_list_names_what_is_gone, test_loop.test_a_new_list_synthesises_deletions),
    ),
    Sabotage(
        "a Status is a list",
        set_to(pages, "NO_LISTS", ()),
        (test_pages.test_what_is_no_page_has_no_head,),
    ),
    Sabotage(
        "a list needs no items",
        set_to(pages, "Headed", msgspec.defstruct("Headed", [("metadata", pages.ListMeta), ("kind", str, "")])),
        (test_pages.test_what_is_no_page_has_no_head,),
    ),
    Sabotage(
        "a list needs no version",
        set_to(test_pages, "decode_head", lambda body: msgspec.json.decode(body, type=pages.Headed)),
        (test_pages.test_what_is_no_page_has_no_head,),
    ),
    Sabotage(
        "effects forget when they were decided",
        set_to(ledger.Ledger, "begin", lambda self, key, actions, token, _: BEGIN(self, key, actions, token)),
        (test_loop.test_effects_know_when_they_were_decided,),
    ),
    Sabotage(
        "half a list is seen",
        set_to(cache.Cache, "hold_back", lambda *_: False),
        (test_loop.test_half_of_a_list_that_is_made_again_is_not_seen,),
    ),
    Sabotage(
        "what a broken list brought is kept",
        set_to(cache.Cache, "begin_list", lambda self, *place: self._held.setdefault(place, {})),
        (test_loop.test_a_list_that_was_broken_off_leaves_nothing,),
    ),
    Sabotage(
        "a list that ends goes back in time",
        set_to(cache.Cache, "_outrun", lambda *_: None),
        (test_loop.test_a_live_read_outruns_what_a_list_brought_before,),
    ),
    Sabotage(
        "indexes only grow",
        set_to(cache.Cache, "_reindex", lambda self, ref, old, new: _grow(self, ref, new)),
        (test_cache.test_indexes_always_equal_what_the_objects_say, test_cache.test_an_index_keeps_no_empty_places),
    ),
    Sabotage(
        "versions are compared as words",
        set_to(test_cache, "precedes", lambda one, other: one < other),
        (test_cache.test_versions_that_cannot_be_compared_are_not_older,),
    ),
)


def _pop(self: Any) -> Any:
    key = next(line.popleft() for line in self._lines if line)
    self._waiting.remove(key)
    return key


def _stamped(self: Any, seen: Any) -> Any:
    known = self._entries.get(seen.ref)
    return replace(seen, stamp=seen.stamp or known.stamp) if known else seen


def _grow(self: Any, ref: Any, new: Any) -> None:
    for index in self._indexes.get(ref.kind, ()):
        for value in index.of(ref, new) if new is not None else ():
            cache._note(self._found[index.name], value, ref)


ENGINE = (
    Sabotage(
        "unknown outcomes are forgotten",
        set_to(ledger.Ledger, "doubt", lambda self, key: None),
        (
            test_loop.test_an_unknown_outcome_is_looked_at_before_anything_else,
            test_ledger.test_what_is_not_known_is_looked_at,
        ),
    ),
    Sabotage(
        "keys in flight are decided again",
        set_to(ledger.Ledger, "holds", lambda self, key: False),
        (test_loop.test_a_key_in_flight_is_not_decided_again, test_ledger.test_one_effect_in_flight_per_key),
    ),
    Sabotage(
        "held keys are dropped",
        set_to(loop.Engine, "ended", lambda self, effect, outcome, now: self.ledger.end(effect) and None),
        (
            test_loop.test_a_key_in_flight_is_not_decided_again,
            test_loop.test_a_timer_of_a_held_key_is_not_lost,
            test_loop.test_the_rest_of_a_decision_follows_what_is_done,
            test_loop.test_an_answer_is_an_event,
        ),
    ),
    Sabotage(
        "failures do not slow down",
        set_to(ledger, "pause", lambda times, outcome, draw: Span(0)),
        (test_loop.test_a_failed_key_waits_its_pause, test_ledger.test_the_pause_counts_from_the_failure),
    ),
    Sabotage(
        "pauses are all alike",
        set_to(test_ledger, "pause", lambda times, outcome, draw: Span(200)),
        (
            test_ledger.test_pauses_grow_to_a_limit,
            test_ledger.test_chance_comes_from_the_draw_alone,
            test_ledger.test_lasting_failures_are_slow,
            test_ledger.test_a_wish_of_the_server_is_kept,
        ),
    ),
    Sabotage(
        "acting in vain goes on at full speed",
        set_to(ledger, "PATIENCE", 10**9),
        (test_ledger.test_acting_in_vain_slows_down,),
    ),
    Sabotage(
        "going round in circles goes on at full speed",
        set_to(ledger, "ROUNDS", 10**9),
        (test_ledger.test_going_round_in_circles_slows_down,),
    ),
    Sabotage(
        "who looks before each step goes round in circles",
        set_to(ledger, "MOMENT", Span.seconds(60)),
        (test_ledger.test_a_flow_that_looks_before_each_step_is_no_circle,),
    ),
    Sabotage(
        "a lost answer slows the next step down",
        set_to(ledger, "is_next", lambda before, wanted: False),
        (test_ledger.test_another_action_after_a_lost_answer_counts_anew,),
    ),
    Sabotage(
        "trouble is never forgotten",
        set_to(ledger.Ledger, "forget_trouble", lambda self, key: None),
        (test_loop.test_trouble_is_over_when_nothing_is_wanted,),
    ),
    Sabotage(
        "an engine that sees nothing acts",
        set_to(loop.Engine, "is_synced", True),
        (
            test_loop.test_nothing_is_decided_before_all_kinds_are_listed,
            test_loop.test_a_lost_kind_stops_everything_until_it_is_listed_again,
        ),
    ),
    Sabotage(
        "standbys act",
        set_to(loop.Engine, "step", lambda self, now, token: STEP(self, now, token or 1)),
        (test_loop.test_a_standby_keeps_its_queue, test_notices.test_a_standby_tells_nobody),
    ),
    Sabotage(
        "rooms may ask for anything",
        set_to(loop.Engine, "_demand", lambda self, *everything: None),
        (
            test_loop.test_a_broken_rule_costs_one_key,
            test_loop.test_two_irreversible_actions_are_refused,
            test_facts.test_a_room_states_only_its_own_facts,
        ),
    ),
    Sabotage(
        "everything can be undone",
        set_to(loop, "IRREVERSIBLE", ()),
        (test_loop.test_two_irreversible_actions_are_refused,),
    ),
    Sabotage(
        "a clock that is set ahead ages everybody",
        set_to(loop.Engine, "_watch_anew", lambda self, now: None),
        (test_loop.test_a_clock_that_is_set_ahead_begins_our_watch_anew,),
    ),
    Sabotage(
        "the wall clock is never set",
        set_to(loop.Engine, "_mind_the_clock", lambda self, now: None),
        (test_loop.test_a_step_of_the_wall_clock_re_arms_the_timers,),
    ),
    Sabotage(
        "a dry engine writes",
        set_to(loop, "READS", (object,)),
        (test_loop.test_a_dry_engine_only_reads, test_whole.test_a_dry_engine_writes_nothing),
    ),
    Sabotage(
        "later wakes replace earlier ones",
        set_to(queue.Timers, "wake", lambda self, key, at: _replace_wake(self, key, at)),
        (test_queue.test_the_earliest_wake_wins, test_queue.test_timers_behave_like_a_dictionary_of_minima),
    ),
    Sabotage(
        "cancelled wakes fire",
        set_to(queue.Timers, "cancel", lambda self, key: None),
        (test_queue.test_a_cancelled_wake_does_not_fire,),
    ),
    Sabotage(
        "timers are not due",
        set_to(queue.Timers, "due", lambda self, now: DUE(self, Mono(0))),
        (test_loop.test_the_engine_looks_again_when_a_decision_says_so, test_queue.test_keys_are_due_in_order_of_time),
    ),
    Sabotage(
        "a key queued twice is looked at twice",
        set_to(queue.Queue, "add", lambda self, key: self._lines[-1].append(key) or self._waiting.add(key)),
        (test_queue.test_a_key_queued_twice_is_looked_at_once,),
    ),
    Sabotage(
        "reasons are told at every look",
        set_to(telling.Telling, "decided", lambda self, *what: self._told.clear() or DECIDED(self, *what)),
        (test_notices.test_a_reason_is_told_once,),
    ),
    Sabotage(
        "who asks the budget has its answer",
        set_to(telling, "LOOKS", telling.LOOKS[:2]),
        (test_notices.test_a_look_in_between_makes_nothing_new,),
    ),
    Sabotage(
        "every change of a count is news",
        set_to(reasons.Reason, "gist", lambda self: self),
        (test_notices.test_what_is_passing_is_no_news, test_reasons.test_the_gist_is_what_is_not_passing),
    ),
    Sabotage(
        "what stands is never over",
        set_to(telling.Telling, "_recount", lambda self, key, before, after: RECOUNT(self, key, (), after)),
        (
            test_notices.test_what_calls_a_person_is_counted_while_it_stands,
            test_notices.test_a_reason_goes_with_its_object,
            test_notices.test_a_complaint_stands_until_it_works,
        ),
    ),
    Sabotage(
        "nothing ever comes back",
        set_to(telling.Telling, "_end", lambda self, *what: None),
        (
            test_notices.test_what_was_over_comes_again,
            test_notices.test_an_end_of_what_another_leader_told_counts,
            test_notices.test_a_complaint_comes_again,
            test_notices.test_an_object_becomes_unreadable_again,
        ),
    ),
    Sabotage(
        "what another leader told meanwhile came back",
        set_to(telling.Telling, "begin_term", lambda self: None),
        (test_notices.test_the_first_word_of_a_leader_is_no_return,),
    ),
    Sabotage(
        "what cannot be judged is over",
        set_to(telling.Telling, "lose_sight", telling.Telling.forget),
        (test_notices.test_who_cannot_judge_has_seen_no_end,),
    ),
    Sabotage(
        "every end is remembered for ever",
        set_to(telling, "OVER_MAX", 1_000_000),
        (test_notices.test_what_is_over_is_remembered_within_bounds,),
    ),
    Sabotage(
        "people are told of the first failure",
        set_to(telling, "NOTICED_AFTER", 1),
        (test_notices.test_passing_failures_are_told_from_the_third_on_and_once,),
    ),
    Sabotage(
        "unreadable objects are told every time",
        set_to(cache.Cache, "set_aside", lambda self, *what: SET_ASIDE(self, *what) or True),
        (test_notices.test_an_unreadable_object_is_set_aside_and_told_once,),
    ),
    Sabotage(
        "what cannot be read is set aside for ever",
        set_to(cache.Cache, "drop", lambda self, ref, **live: keep_aside(self, ref, live)),
        (test_notices.test_an_unreadable_object_that_is_deleted_leaves_the_quarantine,),
    ),
    Sabotage(
        "what cannot be read is gone",
        set_to(cache.Cache, "set_aside", lambda self, ref, unreadable: self.drop(ref) is None),
        (
            test_notices.test_an_unreadable_object_is_set_aside_and_told_once,
            test_cache.test_what_cannot_be_read_is_neither_present_nor_absent,
            test_orphan.test_a_hold_of_a_machine_that_cannot_be_read_is_no_orphan,
        ),
    ),
    Sabotage(
        "whatever happens to a node is a heartbeat to the simulator",
        set_to(decoding, "is_heartbeat", lambda old, new: True),
        (test_decoding.test_what_is_more_than_a_heartbeat_is_decoded_anew,),
    ),
    Sabotage(
        "nothing is remembered of a tree",
        set_to(once, "KEPT_MAX", 0),
        (test_once.test_the_same_tree_is_worked_out_once,),
    ),
    Sabotage("every tree is remembered for ever", set_to(once, "KEPT_MAX", 10**9), (test_once.test_memory_is_bounded,)),
    Sabotage(
        "nothing is read while the budget makes up its mind",
        set_to(annotation, "meanwhile", lambda blocked, reads: blocked),
        (test_gates.test_the_machine_is_read_while_the_budget_makes_up_its_mind,),
    ),
    Sabotage(
        "a step ends when all was looked at, however long that takes",
        set_to(loop.Engine, "step", lambda self, now, token, looks=None: STEP(self, now, token)),
        (test_loop.test_a_long_look_is_taken_in_pieces,),
    ),
    Sabotage(
        "a node that says something else is taken for a heartbeat",
        set_to(heartbeats, "stamp", lambda node: hash(node.metadata.name)),
        (test_objects.test_a_node_that_says_something_else_is_made_anew, test_objects.test_a_taint_that_goes_is_seen),
    ),
    Sabotage(
        "nobody reads where a machine was put",
        set_to(objects, "spec_of", lambda spec: replace(SPEC_OF(spec), failure_domain=None)),
        (test_machines.test_where_a_machine_was_put,),
    ),
    Sabotage(
        "a later version is taken for the one that is known",
        set_to(objects, "is_known", lambda shape, old: shape.metadata.uid == old.obj.uid),
        (test_objects.test_what_the_answer_to_a_write_has_shown_is_not_made_again,),
    ),
    Sabotage(
        "a ledger tells that it is broken, and not where",
        set_to(bookkeeping, "LedgerShape", bookkeeping.LedgerPieces),
        (test_bookkeeping.test_a_broken_piece_of_a_ledger_is_told_by_its_place,),
    ),
    Sabotage(
        "what is not served is looked for among all objects again and again",
        set_to(loop.Engine, "unserved", lambda self, kind, now, cluster="": self.listed(kind, now, cluster)),
        (test_loop.test_what_is_not_served_is_told_again_and_changes_nothing,),
    ),
    Sabotage(
        "a node is made anew at every heartbeat",
        set_to(heartbeats, "stamp", lambda node: hash((STAMP(node), node.metadata.resource_version))),
        (test_objects.test_a_heartbeat_is_the_very_object_that_is_known,),
    ),
    Sabotage(
        "a live read keeps the stamp of what the watch has shown",
        set_to(cache.Cache, "put", lambda self, seen, now, **rest: PUT(self, _stamped(self, seen), now, **rest)),
        (test_cache.test_a_stamp_goes_with_what_it_was_taken_of,),
    ),
    Sabotage(
        "every node keeps its own copy of what all of them are labelled with",
        set_to(nodes, "known_pair", lambda key, value: (key, value)),
        (test_objects.test_what_many_nodes_say_is_kept_once,),
    ),
    Sabotage(
        "a queue never gives back the place that it once took",
        set_to(queue.Queue, "pop", lambda self: _pop(self)),
        (test_queue.test_an_empty_queue_takes_no_place,),
    ),
    Sabotage(
        "every live read of a decision is made, whoever has made it meanwhile",
        set_to(loop.Engine, "_unread", lambda self, rest, since: rest),
        (test_loop.test_what_somebody_else_read_meanwhile_is_not_read_again,),
    ),
    Sabotage(
        "a live read of long ago will do",
        set_to(loop.Engine, "_unread", lambda self, rest, since: ()),
        (test_loop.test_what_was_read_before_is_read_again,),
    ),
    Sabotage(
        "any version mends or spoils",
        set_to(cache.Cache, "_is_older", lambda self, ref, version: False),
        (test_cache.test_what_is_older_does_not_mend, test_cache.test_what_is_older_does_not_spoil),
    ),
    Sabotage(
        "whom an unreadable object concerns is not found",
        set_to(links, "concerned_by_unreadable", lambda ref, reader: ()),
        (test_links.test_an_unreadable_object_concerns_who_names_it,),
    ),
    Sabotage(
        "a node that cannot be read is gone",
        without(gates.node_is_readable),
        (test_gates.test_an_unreadable_node_is_not_a_node_that_is_gone,),
    ),
    Sabotage(
        "a machine that cannot be read answers for no host",
        set_to(gates, "consumer_unreadable", lambda entries: None),
        (test_orphan.test_a_hold_of_a_machine_that_cannot_be_read_is_no_orphan,),
    ),
    Sabotage(
        "the hold of a machine that cannot be read is not in flight",
        set_to(annotation, "held_need", lambda view, now: ()),
        (
            test_unread.test_a_held_host_states_the_need_of_whom_nobody_can_ask,
            test_unread.test_ten_minutes_later_it_gives_its_place_back,
        ),
    ),
    Sabotage(
        "a host that cannot be read is not held",
        set_to(needs, "is_hidden", lambda view: False),
        (
            test_unread.test_a_host_that_cannot_be_read_is_still_held,
            test_unread.test_a_new_leader_judges_such_a_host_by_the_claim,
        ),
    ),
    Sabotage(
        "whoever has the claim may hold a host that cannot be read",
        set_to(needs, "is_ours", lambda claim: True),
        (test_unread.test_a_new_leader_judges_such_a_host_by_the_claim,),
    ),
    Sabotage(
        "a place counts where whoever asks says, though it cannot tell",
        set_to(grants, "cluster_of", lambda held, ask: (ask or held).cluster),
        (test_grants.test_a_place_counts_in_its_cluster_though_its_machine_cannot_be_read,),
    ),
    Sabotage(
        "facts are not kept",
        set_to(loop.Engine, "_state", lambda self, key, facts, now: None),
        (test_facts.test_a_fact_wakes_those_who_watch_its_kind,),
    ),
    Sabotage(
        "facts outlive what states them",
        set_to(loop.Engine, "_state", lambda self, key, facts, now: facts and STATE(self, key, facts, now)),
        (test_facts.test_facts_go_with_their_key,),
    ),
    Sabotage(
        "a room that breaks takes its facts along",
        set_to(loop.Engine, "_kept", lambda self, key, problem: ()),
        (test_facts.test_what_a_room_stated_outlives_its_breaking,),
    ),
    Sabotage(
        "what cannot be read states nothing",
        set_to(loop.Engine, "_blind", lambda self, key, now: NOTHING),
        (test_facts.test_what_was_stated_of_an_object_outlives_its_breaking,),
    ),
    Sabotage(
        "what cannot be read keeps its place for ever",
        set_to(Need, "if_blind_for_long", lambda self: self),
        (test_facts.test_a_repair_of_what_cannot_be_read_gives_its_place_back,),
    ),
    Sabotage(
        "a proof lasts for ever",
        set_to(loop, "PROVEN", ()),
        (test_loop.test_a_proof_lasts_for_seconds,),
    ),
    Sabotage(
        "an old verdict is a verdict",
        set_to(VerdictFact, "if_broken", lambda self, problem: self),
        (test_facts.test_what_is_left_of_each_fact,),
    ),
    Sabotage(
        "stages are one line",
        set_to(queue.Queue, "__init__", lambda self, stages=None: QUEUE(self)),
        (
            test_facts.test_all_verdicts_come_before_the_first_gate_and_all_gates_before_the_first_act,
            test_facts.test_a_fact_stated_late_still_comes_before_an_act,
        ),
    ),
    Sabotage(
        "the trace keeps nothing",
        set_to(trace.Trace, "record", lambda self, *everything: None),
        (test_whole.test_the_digest_depends_on_every_record, test_loop.test_every_effect_is_in_the_trace),
    ),
    Sabotage(
        "a late deletion hits the successor",
        set_to(loop.Engine, "gone", lambda self, seen, now: self._leave(seen.ref, now, None)),
        (test_loop.test_a_late_deletion_does_not_hit_the_successor,),
    ),
)


def keep_aside(self: Any, ref: Any, live: Any) -> Any:
    return None if isinstance(self._entries.get(ref), Unreadable) else DROP(self, ref, **live)


def _replace_wake(self: Any, key: Any, at: Any) -> None:
    self._wakes[key] = at
    self._heap.append((at, len(self._heap), key))


MODEL_AND_WIRE = (
    Sabotage(
        "a moment is shown to the minute",
        set_to(time.Wall, "__str__", lambda self: "2030-03-17T17:46:00Z"),
        (test_time.test_a_moment_is_shown_in_utc, test_time.test_a_moment_is_read_as_it_is_shown),
    ),
    Sabotage(
        "wall time is awaited as if it were monotonic",
        set_to(time.Now, "until", lambda self, wall: Mono(wall.ms)),
        (
            test_time.test_a_wall_time_is_awaited_on_the_monotonic_clock,
            test_waiting.test_the_node_is_waited_for_and_then_overdue,
        ),
    ),
    Sabotage(
        "a pause holds at its end",
        set_to(meta.Paused, "holds", lambda self, wall: self.until is None or wall <= self.until),
        (test_time.test_a_pause_holds_until_its_end, test_gates.test_a_pause_ends_by_itself),
    ),
    Sabotage(
        "a reason says nothing",
        set_to(reasons.HostMissing, "note", lambda self: ""),
        (test_reasons.test_each_reason_can_be_told,),
    ),
    Sabotage(
        "an alert is not documented as one",
        set_to(reasons.HostMissing, "alert", False),
        (test_reasons.test_each_section_says_enough,),
    ),
    Sabotage(
        "writes carry no guard",
        set_to(requests, "preconditions", lambda guard: {}),
        (
            test_requests.test_each_action_has_one_request,
            test_requests.test_a_guard_without_a_version_names_the_uid_only,
        ),
    ),
    Sabotage(
        "a mark of before is not understood",
        item_to(names.MARKS, MarkName.BEFORE, "other.metal3.io/unhealthy"),
        (test_objects.test_the_mark_of_an_unhealthy_host_has_two_names,),
    ),
    Sabotage(
        "nobody hears that somebody else installed a host",
        item_to(
            objects.READERS,
            HOST,
            (shapes.HostShape, lambda shape: replace(READ_HOST(shape), externally_provisioned=False)),
        ),
        (test_objects.test_a_host_says_whether_somebody_else_installed_it,),
    ),
    Sabotage(
        "a hold is written under another name",
        set_to(names, "REBOOT", "reboot.metal3.io/other"),
        (test_requests.test_each_action_has_one_request, test_objects.test_only_our_own_key_is_a_hold),
    ),
    Sabotage(
        "a backup forgets the taints",
        set_to(test_requests, "backup_text", lambda kept: backups.backup_text(replace(kept, taints=()))),
        (test_requests.test_a_backup_is_read_back_as_it_was_written,),
    ),
    Sabotage(
        "names leave their place in a path",
        set_to(http, "quote", lambda name, safe: name),
        (test_requests.test_a_name_from_somebodys_object_cannot_leave_its_path,),
    ),
    Sabotage(
        "silence about power is off",
        set_to(objects, "power", lambda powered_on: Power.ON if powered_on is True else Power.OFF),
        (test_objects.test_silence_about_power_is_unknown,),
    ),
    Sabotage(
        "an unreadable backup is no backup",
        set_to(objects, "backup", lambda text: None),
        (test_objects.test_a_backup_that_cannot_be_read_is_malformed,),
    ),
    Sabotage(
        "only broken JSON is garbage",
        set_to(objects, "UNREADABLE", (msgspec.ValidationError,)),
        (test_objects.test_bytes_that_are_no_object_are_refused, test_objects.test_any_bytes_are_seen_or_refused),
    ),
    Sabotage(
        "a refusal names nobody",
        set_to(undecodable, "word", lambda value: ""),
        (test_objects.test_a_refusal_names_the_object_and_the_field,),
    ),
    Sabotage(
        "a refusal shows what it found",
        set_to(objects.Undecodable, "__str__", lambda self: "hunter2"),
        (test_objects.test_a_refusal_shows_no_secrets,),
    ),
    Sabotage(
        "no answer counts as not done",
        set_to(answers, "Unknown", Failed),
        (test_answers.test_each_answer_has_its_outcome,),
    ),
    Sabotage(
        "a conflict counts as done",
        set_to(answers, "_failed", lambda action, answer: Done(Mono(0))),
        (test_answers.test_each_answer_has_its_outcome, test_answers.test_unauthorized_is_lasting),
    ),
)

SABOTAGES: tuple[Sabotage, ...] = (
    *PROOFS,
    *ROWS,
    *GATES,
    *LINKS,
    *BACKUPS,
    *WAITING,
    *CACHE,
    *ENGINE,
    *MODEL_AND_WIRE,
    *CHECK_STATUS,
    *EXTERNAL,
)
