"""Client, credentials, proxy, lease, events, discovery and health: each group of tests was seen red.

One line of sabotage each; the named test must then fail. The rules of watching have their own such file.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import pytest
from msgspec.structs import replace
from tests.drivers import test_health
from tests.drivers.kube import (
    scripted,
    test_client,
    test_config,
    test_discovery,
    test_events,
    test_lease,
    test_processes,
)

from noderemedy.drivers import health
from noderemedy.drivers.kube import client, config, discovery, events, execplugin, tls, users
from noderemedy.drivers.kube.credentials import FromFiles
from noderemedy.drivers.kube.execplugin import FromPlugin
from noderemedy.drivers.kube.lease import Election
from noderemedy.drivers.kube.secret import NOTHING, Secret
from noderemedy.wire import verbs
from noderemedy.wire.http import Request

context = tls.context
say = events.Publisher._say


async def pass_through(request: Any, handler: Any) -> Any:
    return await handler(request)


async def same(self: Any, _refused: Any) -> Any:
    return await self.current()


async def crash(_self: Any, task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def all_versions(_client: Any, wanted: Any) -> list[str]:
    return list(wanted.versions)


async def ask_alone(self: Any, path: str, patience: Any) -> Any:
    return await self.send(Request("GET", path), timeout=patience, urgent=True)


def talkative(self: Any, why: str, _verb: str = "") -> None:
    self.dropped += 1
    self._tell(why)


async def count_all(self: Any, note: Any) -> Any:
    return await say(self, replace(note, again=True))


def unguarded(note: events.Note, _body: bytes) -> Request:
    return verbs.merge_patch(events.EVENTS, note.name, {"series": {"count": 2}}, "default")


def trusting(origin: str, authority: str, _insecure: bool, identity: Any) -> Any:
    return context(origin, authority, True, identity)


# what is broken: (owner, attribute, replacement, the test that must notice, its arguments beside fixtures)
SABOTAGES: dict[str, tuple[Any, str, Any, Callable[..., None], dict[str, Any]]] = {
    "let aiohttp repeat writes": (
        client, "_never_twice", pass_through,
        test_client.test_a_write_without_an_answer_is_sent_once, {"request_": test_client.DELETE},
    ),
    "repeat patches": (
        client, "REPEATABLE", ("GET", "PATCH"),
        test_client.test_a_write_without_an_answer_is_sent_once, {"request_": test_client.PATCH},
    ),
    "list all at once": (
        client, "LISTS_AT_ONCE", 1_000, test_client.test_lists_go_a_few_at_a_time, {},
    ),
    "take 429 for an end": (
        client, "_worth_repeating", lambda *_: False, test_client.test_too_many_requests_is_waited_for, {},
    ),
    "show secrets": (
        Secret, "__repr__", Secret.reveal, test_client.test_secrets_are_not_in_any_text, {},
    ),
    "accept basic authentication": (
        users, "_refuse_the_obsolete", lambda *_: None,
        test_config.test_a_mistake_is_named_with_file_entry_and_remedy, {"name": "basic auth"},
    ),
    "never read a file again": (
        FromFiles, "renew", same, test_processes.test_a_token_file_replaced_while_requests_go_on, {},
    ),
    "never ask a plugin again": (
        FromPlugin, "renew", same, test_processes.test_a_plugin_is_asked_again_after_a_refusal, {},
    ),
    "ignore the expiry of a credential": (
        execplugin, "_seconds", lambda _: float("inf"),
        test_processes.test_an_expired_credential_is_renewed_before_it_is_used, {},
    ),
    "let a plugin speak to our standard error": (
        asyncio.subprocess, "DEVNULL", None,
        test_processes.test_a_failing_plugin_is_named_and_its_output_is_not_shown, {"name": "exits"},
    ),
    "go around the proxy": (
        config, "proxy_for", lambda *_: NOTHING, test_processes.test_everything_goes_through_the_proxy, {},
    ),
    "trust any server": (
        tls, "context", trusting, test_processes.test_a_server_that_is_not_trusted,
        {"cluster": {"certificate_authority_data": None}, "message": "not trusted"},
    ),
    "leave without a release": (
        Election, "release", crash, test_lease.test_a_standby_takes_over_at_once_after_a_release, {},
    ),
    "repeat what the lease refuses": (
        Election, "_say", lambda self, _do, obstacle: self._tell(obstacle),
        test_lease.test_a_missing_namespace_is_named, {},
    ),
    "complain about every event": (
        events.Publisher, "_drop", talkative, test_events.test_a_failure_is_told_once_and_dropped, {},
    ),
    "count what is merely said once more": (
        events.Publisher, "_say", count_all, test_events.test_what_came_back_is_counted, {},
    ),
    "count nothing": (
        events, "MOVES_MAX", 0, test_events.test_what_came_back_is_counted, {},
    ),
    "count without looking": (
        events, "move", unguarded, test_events.test_a_series_is_moved_for_the_version_that_was_read, {},
    ),
    "count until it works": (
        events, "MOVES_MAX", 9, test_events.test_a_conflict_is_tried_once_more, {},
    ),
    "ask for each kind of its own": (
        client.KubeClient, "ask", ask_alone, test_discovery.test_what_many_ask_at_once_is_asked_once, {},
    ),
    "want versions that are not served": (
        discovery, "_versions", all_versions, test_discovery.test_the_version_is_one_that_both_understand,
        {"preferred": "v1beta1", "versions": ("v1beta1", "v1beta2"), "expected": "v1beta1"},
    ),
    "take a refusal for absence": (
        discovery, "Obstacle", lambda _: discovery.NotServed(), test_discovery.test_no_word_of_the_server_is_not_no,
        {"handler": scripted.a_status(403), "why": "may read /apis"},
    ),
    "be ready always": (
        health, "_verdict", lambda _: (HTTPStatus.OK, health.TEXT, b"ok\n"),
        test_health.test_ready_only_when_nothing_is_missing, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SABOTAGES)
def test_sabotage_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """With this one line changed, the test of its group fails or hangs."""
    owner, attribute, replacement, test, arguments = SABOTAGES[name]
    fixtures = [each for each in inspect.signature(test).parameters if each not in arguments]
    given = {**arguments, **{each: request.getfixturevalue(each) for each in fixtures}}
    monkeypatch.setattr(owner, attribute, replacement)
    monkeypatch.setattr(scripted, "LIMIT_S", 2.0)

    with pytest.raises((AssertionError, TimeoutError, pytest.fail.Exception)):
        test(**given)
