"""The manager's tests were seen red: one line of sabotage each, under which the named test must fail."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from prometheus_client import Gauge
from tests.builders import DOCTOR
from tests.drivers.kube import scripted, test_events
from tests.engine import test_leadership
from tests.manager import (
    bench,
    test_clusters,
    test_definitions,
    test_effects,
    test_jobruns,
    test_last_word,
    test_later,
    test_liveplan,
    test_notices,
    test_orphans,
    test_other_cluster,
    test_out_of_sight,
    test_plan_remotes,
    test_program,
    test_requests,
    test_sink,
    test_workload_repair,
)
from tests.manager.bench import Bench
from tests.manager.test_last_word import Desk

from noderemedy.core import clusters as core_clusters
from noderemedy.core import machines
from noderemedy.core.healthcheck import specs
from noderemedy.drivers.kube import embedded
from noderemedy.drivers.kube.events import Publisher
from noderemedy.drivers.kube.lease import Election
from noderemedy.engine.leadership import Leadership
from noderemedy.engine.loop import Engine
from noderemedy.manager import effects, jobruns, later, liveplan, notices, program, runbook
from noderemedy.manager.clusters import Clusters
from noderemedy.manager.definitions import DefinitionSink
from noderemedy.manager.effects import Carrier, Licence
from noderemedy.manager.feeding import Feeding
from noderemedy.manager.follower import Follower
from noderemedy.manager.jobruns import JobRuns
from noderemedy.manager.later import Later
from noderemedy.manager.program import Manager
from noderemedy.manager.remotesink import RemoteSink
from noderemedy.manager.requests import Followers
from noderemedy.manager.requestsink import RequestSink
from noderemedy.manager.sink import EngineSink
from noderemedy.model import proof
from noderemedy.model.actions import PROVEN, WriteLedger
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger
from noderemedy.model.outcome import Failed
from noderemedy.model.reasons import Reason
from noderemedy.model.remote import Remote, Sight
from noderemedy.model.request import want
from noderemedy.model.time import Mono, Span

really_start = Bench.start
start = JobRuns.start
event, event_name = notices.event, notices.event_name
lanes_behind = Carrier._lanes_behind


async def nothing(*_: Any, **__: Any) -> None:
    """A part that is not done."""


async def any_port(_self: Any, health: Any, host: str, _port: int) -> None:
    await health.start(host, 0)


async def no_effects_left(_self: Any) -> set[Any]:
    return set()


def unheard(runs: JobRuns) -> JobRuns:
    runs._lapse = always("")
    return runs


def always(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def lost_as_failed(why: str) -> Failed:
    return Failed(why)


# what is broken: (owner, attribute, replacement, the test that must notice, its arguments beside fixtures)
SABOTAGES: dict[str, tuple[Any, str, Any, Callable[..., None], dict[str, Any]]] = {
    "what was hidden of a definition is taken from its stream": (
        DefinitionSink, "opened", always(True),
        test_definitions.test_a_stream_that_is_refused_once_hides_nothing_for_long, {},
    ),
    "a definition that is listed stays hidden": (
        DefinitionSink, "listed", always(None), test_definitions.test_what_cannot_be_read_is_not_listed_again_and_again,
        {},
    ),
    "take any 404 for an absence": (
        effects, "speaks_of", always(True),
        test_effects.test_not_found_is_absence_only_if_it_speaks_of_the_object, {},
    ),
    "records take the road of repairs": (
        effects, "BEHIND", frozenset(),
        test_effects.test_records_leave_the_road_to_repairs, {"room": "incident", "at_once": effects.LANES_BEHIND},
    ),
    "all clusters share the lanes of records": (
        Carrier, "_lanes_behind", lambda self, _: lanes_behind(self, ""),
        test_effects.test_a_cluster_that_never_answers_holds_up_no_other, {},
    ),
    "keep the lanes of clusters that are gone": (
        effects, "WeakValueDictionary", dict,
        test_effects.test_nothing_is_left_of_the_lanes_of_a_cluster_that_nobody_asks, {},
    ),
    "say it at once": (
        Later, "say", lambda self, saying: saying(), test_later.test_things_are_said_a_moment_later_in_their_order, {},
    ),
    "events wait as long as repairs follow each other": (
        later, "LONGEST", Span(3_600_000), test_later.test_calm_comes_when_nothing_has_stirred_for_a_while,
        {"stirred_at": list(range(0, 2_000, 50)), "expected": 1_000},
    ),
    "events wait for nobody": (
        later, "CALM", Span(0), test_later.test_calm_comes_when_nothing_has_stirred_for_a_while,
        {"stirred_at": [0], "expected": 150},
    ),
    "every event waits for calm once more": (
        Publisher, "_is_urgent", always(False), test_events.test_events_give_way_to_who_is_in_a_hurry, {},
    ),
    "the ledger stands in line": (
        effects, "AT_ONCE", PROVEN, test_effects.test_what_others_wait_for_waits_in_no_queue,
        {"write": WriteLedger(LEDGER_AT, None, BudgetLedger())},
    ),
    "a proof stands in line": (
        effects, "AT_ONCE", (WriteLedger,), test_effects.test_what_others_wait_for_waits_in_no_queue,
        {"write": test_effects.FREED},
    ),
    "write without leading": (
        Licence, "refusal", always(""),
        test_effects.test_write_leaves_only_while_we_lead,
        {"token": 1, "seconds": 10, "is_stopping": False, "refusal": "does not lead"},
    ),
    "believe a stale view": (
        EngineSink, "mind_staleness", always(None), test_sink.test_silence_for_long_hides_the_kind, {},
    ),
    "ask before it stands in line, and not again": (
        Carrier, "_last_word", always(""), test_last_word.test_the_last_word,
        {"action": test_last_word.HELD, "meanwhile": Desk.lease_is_gone, "reached": [], "is_refused_once": False},
    ),
    "use proofs for as long as we lead": (
        proof, "LASTS", Span(3_600_000), test_last_word.test_the_last_word,
        {"action": test_effects.FREED, "meanwhile": Desk.six_seconds_pass, "reached": [], "is_refused_once": False},
    ),
    "take any conflict for a Job": (
        jobruns, "exists_already", lambda answer: answer.status == 409,
        test_jobruns.test_a_conflict_of_something_else_is_no_job, {"conflict": test_jobruns.QUOTA},
    ),
    "create Jobs without leading": (
        JobRuns, "start", lambda self, order, patience: start(unheard(self), order, patience),
        test_jobruns.test_a_job_is_created_only_while_we_lead, {},
    ),
    "take half a list for life": (
        EngineSink, "contact", lambda self, kind: self._heard.update({kind: self._clock.mono()}),
        test_sink.test_a_complete_list_is_a_sign_of_life_and_half_of_one_is_none, {},
    ),
    "believe an accepted stream": (
        EngineSink, "opened", lambda self, kind: self.contact(kind) or True,
        test_out_of_sight.test_a_stream_that_is_only_accepted_does_not_bring_an_old_view_back, {},
    ),
    "believe no line": (
        EngineSink, "contact", always(None), test_sink.test_stream_that_goes_on_brings_the_kind_back, {},
    ),
    "let who was refused wait for a line": (
        EngineSink, "opened", always(True),
        test_out_of_sight.test_a_quiet_kind_that_was_refused_is_back_as_soon_as_it_is_accepted, {},
    ),
    "let a workload cluster that was refused wait for a line": (
        RemoteSink, "opened", lambda self, _: self._calm() or True,
        test_out_of_sight.test_a_workload_cluster_that_was_refused_is_back_as_soon_as_it_is_accepted, {},
    ),
    "believe an accepted stream of a workload cluster": (
        RemoteSink, "opened", lambda self, kind: self.contact(kind) or True,
        test_out_of_sight.test_a_workload_cluster_is_seen_again_when_it_was_read, {},
    ),
    "take quiet clusters for lost": (
        RemoteSink, "opened", always(True),
        test_out_of_sight.test_a_quiet_workload_cluster_stays_in_sight_when_it_accepts_again, {},
    ),
    "decide on what is refused": (
        EngineSink, "_hide", always(None), test_sink.test_refusal_hides_the_kind_until_it_is_listed, {},
    ),
    "count only what agents do": (
        notices, "METHODS", {}, test_notices.test_methods_without_an_agent_are_counted_and_timed,
        {"action": test_notices.DEEDS[0][0], "labels": test_notices.DEEDS[0][1]},
    ),
    "call the run of an earlier manager fresh": (
        runbook, "UNKNOWN", Mono(-1), test_jobruns.test_a_job_of_an_earlier_manager_is_followed_and_never_fresh, {},
    ),
    "who stands by says what stands": (
        Manager, "_token", lambda self: 0 if self._leadership.token is None else self._leadership.token,
        test_program.test_what_stands_is_a_figure_of_the_leader, {},
    ),
    "what is over stands for ever": (
        Gauge, "clear", always(None), test_program.test_what_stands_is_a_figure_of_the_leader, {},
    ),
    "few names are looked up at once": (
        program, "NAMES_AT_ONCE", 6, test_program.test_names_that_nobody_resolves_hold_up_no_other, {},
    ),
    "look at all before anything leaves": (
        program, "LOOKS_BESIDE", 500, test_program.test_looks_are_few_at_once_while_something_is_on_its_way, {},
    ),
    "forget the episode in names": (
        notices, "event_name", lambda notice: f"node-remedy-{notice.uid}",
        test_notices.test_event_name_says_what_is_said, {},
    ),
    "name an Event of what was made anew like the one before": (
        notices, "event_name", lambda notice: event_name(replace(notice, uid="")),
        test_notices.test_event_name_says_what_is_said, {},
    ),
    "tell nobody that it came back": (
        notices, "event", lambda *what: replace(event(*what), again=False),
        test_program.test_what_comes_back_is_counted_in_its_event, {},
    ),
    "count what the leader before has said": (
        notices, "event", lambda *what: replace(event(*what), again=True),
        test_program.test_what_comes_back_is_counted_in_its_event, {},
    ),
    "name an Event by the count of the moment": (
        Reason, "gist", lambda self: self, test_notices.test_what_is_passing_gives_no_event_another_name, {},
    ),
    "lead on from a sick node": (
        Manager, "_leave_own_node", always(None), test_program.test_manager_on_the_sick_node_stands_aside, {},
    ),
    "come back at once": (
        Leadership, "_is_aside", always(False), test_leadership.test_who_stands_aside_acts_no_more_and_only_looks, {},
    ),
    "take any port": (
        Manager, "_listen", any_port, test_program.test_a_port_that_is_taken_ends_it_before_it_leads, {},
    ),
    "keep the lease": (
        Election, "release", nothing, test_program.test_graceful_stop_releases_the_lease, {},
    ),
    "leave before the write is done": (
        Manager, "_finish_effects", no_effects_left, test_program.test_stop_waits_for_what_is_in_flight, {},
    ),
    "run for real": (
        Bench, "start", lambda it, is_dry: really_start(it), test_program.test_dry_run_writes_nothing, {},
    ),
    "take lost answers for failures": (
        effects, "Unknown", lost_as_failed, test_program.test_lost_answers_repeat_nothing, {},
    ),
    "tell nobody what cannot be read": (
        EngineSink, "unreadable", always(None), test_program.test_unreadable_object_is_reported_on_itself, {},
    ),
    "never learn that a kind is gone": (
        EngineSink, "not_served", always(None), test_program.test_definition_of_machines_is_deleted, {},
    ),
    "keep showing what a lost cluster said": (
        RemoteSink, "_hide", always(None), test_clusters.test_an_api_server_that_dies_and_comes_back, {},
    ),
    "end a connection for a bad kubeconfig": (
        Follower, "_refuse", lambda self, content, why: self._say(Remote(Sight.LOST, why)),
        test_clusters.test_a_bad_kubeconfig_does_not_end_a_connection_that_works, {},
    ),
    "run the programs of a kubeconfig": (
        embedded, "_demand_embedded", always(None),
        test_clusters.test_a_broken_kubeconfig_names_secret_and_key_and_nothing_of_it, {"how": "token file"},
    ),
    "take every cluster without a secret for ours": (
        core_clusters, "without_secret", lambda at, secret, reader: Remote(Sight.HOME),
        test_clusters.test_a_lost_secret_is_no_reason_to_call_all_nodes_missing, {},
    ),
    "believe the kubeconfig of another cluster": (
        core_clusters, "ENOUGH", 9,
        test_clusters.test_the_kubeconfig_of_another_cluster_makes_no_node_missing, {},
    ),
    "take this cluster for one of its workload clusters": (
        core_clusters, "at_home", lambda found, reader: None,
        test_clusters.test_a_kubeconfig_that_leads_here_makes_no_second_cluster, {},
    ),
    "plan for each node of this cluster twice": (
        core_clusters, "at_home", lambda found, reader: None,
        test_plan_remotes.test_a_plan_on_a_cluster_that_manages_itself, {},
    ),
    "use a connection before it is believed": (
        Follower, "client", property(lambda self: (self._trial or self._believed).client),
        test_other_cluster.test_effects_use_a_new_connection_only_when_it_is_believed, {},
    ),
    "end a connection that works for one that is doubted": (
        Follower, "_doubt", lambda self, trial, found: self._say(found),
        test_other_cluster.test_nodes_of_another_cluster_never_enter_as_ours, {},
    ),
    "show what is not believed": (
        RemoteSink, "seen", Feeding.seen,
        test_other_cluster.test_nodes_of_another_cluster_never_enter_as_ours, {},
    ),
    "hear a connection of before": (
        RemoteSink, "close", lambda self: self._calm(),
        test_other_cluster.test_what_a_retired_connection_still_says_is_not_heard, {},
    ),
    "take half a list for all": (
        RemoteSink, "is_complete", property(always(True)),
        test_other_cluster.test_a_doubted_connection_is_asked_again_only_when_its_list_is_complete, {},
    ),
    "forget a Cluster and look for its nodes here": (
        machines, "unfollowed", lambda cluster, reader: None,
        test_orphans.test_machines_without_their_cluster_when_a_manager_begins, {},
    ),
    "send everything to the home cluster": (
        Clusters, "client", lambda self, cluster: self._around.home,
        test_workload_repair.test_the_node_is_freed_in_its_own_cluster, {},
    ),
    "keep what nobody wants": (
        Engine, "unfollowed", always(None), test_requests.test_a_wanted_kind_is_followed_and_left_again, {},
    ),
    "watch what a broken check names": (
        specs, "wanted", lambda at, check: (want(at, DOCTOR, ""),),
        test_requests.test_kinds_that_nobody_wants_are_not_watched, {},
    ),
    "take a missing kind for an empty one": (
        RequestSink, "missing", lambda self, kind: self.in_sight(),
        test_requests.test_a_kind_that_is_installed_later, {},
    ),
    "take an outage for a refusal": (
        RequestSink, "lost", lambda self, kind, obstacle: self._engine.followed(kind, self._clock.now(), refused="x"),
        test_requests.test_an_outage_is_not_a_refusal, {},
    ),
    "tell nobody of a refusal": (
        RequestSink, "lost", always(None), test_requests.test_a_kind_that_the_api_does_not_show, {},
    ),
    "let requests that were refused wait for a line": (
        RequestSink, "opened", always(True), test_requests.test_a_kind_that_may_be_listed_but_not_followed, {},
    ),
    "take requests that have no namespace": (
        Followers, "_not_namespaced", always(None), test_requests.test_a_kind_without_a_namespace_is_refused, {},
    ),
    "let plan write": (
        liveplan, "reading", lambda request: request, test_liveplan.test_plan_refuses_to_write, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SABOTAGES)
def test_sabotage_is_noticed(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With that one line broken, the test that guards it fails."""
    owner, attribute, replacement, guard, arguments = SABOTAGES[name]
    fixtures = {"tmp_path": tmp_path, "caplog": caplog, "monkeypatch": monkeypatch}
    wanted = {key: value for key, value in fixtures.items() if key in inspect.signature(guard).parameters}
    monkeypatch.setattr(bench, "PATIENCE_S", 3.0)
    monkeypatch.setattr(scripted, "LIMIT_S", 3.0)
    monkeypatch.setattr(owner, attribute, replacement)

    with pytest.raises((AssertionError, ValueError, TimeoutError, pytest.fail.Exception)):
        guard(**wanted, **arguments)
