"""The rules of watching were seen to fail: one line of sabotage each, under which the test of that rule is red."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import types
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import aiohttp
import msgspec
import pytest
from tests.drivers.kube import scripted, test_client, test_watch
from tests.manager import test_silence

from noderemedy.drivers.kube import client, listing, watch
from noderemedy.drivers.kube.backoff import Backoff
from noderemedy.drivers.kube.errors import NotSent, Silent
from noderemedy.drivers.kube.sink import Settings
from noderemedy.model.time import Span
from noderemedy.wire.http import Resource
from noderemedy.wire.objects import Undecodable

Watcher, Lister = watch._Watcher, listing.Lister
stream, pages, say = client.KubeClient.stream, Lister._pages, Watcher._say
init: Any = Lister.__init__
items, take, accepted = Lister._items, Watcher._take, Watcher._accepted


STATUS_LINE = scripted.stream(msgspec.json.encode(test_watch.GONE) + b"\n")


def patient(self: Any, request: Any, silence: Span, opened: Any) -> Any:
    return stream(self, request, silence=silence * 1000, opened=opened)


def mute(self: Any, request: Any, silence: Span, opened: Any) -> Any:
    return stream(self, request, silence=silence)


def breathless(self: Any, *arguments: Any) -> None:
    init(self, *[msgspec.structs.replace(one, breath=10**9) if isinstance(one, Settings) else one for one in arguments])


async def unfitting(self: Any, resource: Any, limit: int) -> Any:
    return await self._fetch(resource, limit, ""), limit


@contextlib.asynccontextmanager
async def unhurried(self: Any, resource: Any, limit: int, token: str) -> AsyncIterator[Any]:
    yield self._fetch(resource, limit, token) if token else None


async def hasty(self: Any, resource: Any, *more: Any) -> str:
    self._sink.listed(resource.kind)
    return await pages(self, resource, *more)


async def ask_once(self: Any) -> None:
    found = await self._locate()
    self._resource = found if isinstance(found, Resource) else self._resource


async def shrug(*_: Any) -> None:
    """Do nothing about it."""


RESTLESS = types.SimpleNamespace(**{**vars(asyncio), "sleep": shrug})


def chatty(self: Any, obstacle: Any) -> None:
    self._said = None
    say(self, obstacle)


def calm_page(self: Any, resource: Any, *more: Any) -> Any:
    self._sink.contact(resource.kind)
    return items(self, resource, *more)


def credulous(self: Any, line: bytes) -> None:
    self._hear()
    take(self, line)


def forgetful(self: Any) -> None:
    accepted(self)
    self._is_back = True


def thoughtless(self: Any) -> None:
    self._backoff.reset()
    accepted(self)


def greedy(_self: Any, _wish: Any = None) -> Span:
    return Span(1)


SABOTAGES: dict[str, tuple[Any, str, Any, Callable[[], None]]] = {
    "follow at once": (Watcher, "_rest", shrug, test_watch.test_the_first_stream_waits_a_moment),
    "list what is not served": (
        Watcher, "_look_where_it_is_served", ask_once, test_watch.test_what_discovery_does_not_know_is_not_listed,
    ),
    "ignore a 410 status": (
        Watcher, "_refused", shrug,
        partial(test_watch.test_rules_1_2_5_an_error_means_a_new_list, scripted.a_status(410)),
    ),
    "go on after an error event": (
        watch, "is_error", lambda _: False, test_watch.test_rule_2_the_version_of_an_error_event_is_not_used,
    ),
    "forget bookmarks": (
        Watcher, "_advance", lambda *_: None, test_watch.test_rule_3_bookmarks_are_asked_for_and_used,
    ),
    "take no answer for a quiet stream": (
        client._Attempt, "failure", lambda _, why: Silent(why),
        test_silence.test_an_api_that_never_answers_is_out_of_sight,
    ),
    "wait for ever in silence": (
        client.KubeClient, "stream", patient, test_watch.test_rule_3_silence_means_a_new_connection,
    ),
    "always the same end": (
        random.Random, "randint", lambda *_: 400_000, test_watch.test_rule_4_every_stream_has_a_drawn_end,
    ),
    "see no Status in a stream": (
        watch, "is_error", lambda event: event.type == "ERROR",
        partial(test_watch.test_rules_1_2_5_an_error_means_a_new_list, STATUS_LINE),
    ),
    "short lines only": (
        client, "LINE_LIMIT", 1000, partial(test_watch.test_rule_6_lines_may_be_long, 2 * 1024 * 1024),
    ),
    "die of an unreadable object": (
        watch, "Undecodable", KeyError, partial(test_watch.test_rule_7_an_unreadable_object_is_put_aside, {}),
    ),
    "die of an unreadable object in a page": (
        Lister, "_read", lambda self, raw: self._decode(raw),
        partial(test_watch.test_rule_7_an_unreadable_object_is_put_aside, test_watch.QUICK_WAYS),
    ),
    "never breathe": (
        Lister, "__init__", breathless, test_watch.test_rule_8_others_get_their_turn_during_a_long_list,
    ),
    "complete too early": (
        Lister, "_pages", hasty, test_watch.test_rule_9_listed_is_said_when_the_list_is_complete,
    ),
    "ask for small pages only": (
        Lister, "_first", unfitting, test_watch.test_small_objects_come_in_larger_pages,
    ),
    "ask for a page when it is needed": (
        Lister, "_ahead", unhurried, test_watch.test_the_next_page_is_on_its_way_while_one_is_passed_on,
    ),
    "read a page and ask then": (
        listing, "asyncio", RESTLESS, test_watch.test_the_next_page_is_asked_for_before_one_is_read,
    ),
    "pass everything on": (
        Watcher, "_is_repeated", lambda *_: False, test_watch.test_rule_10_the_same_version_is_passed_on_once,
    ),
    "travel in time": (
        watch, "precedes", lambda *_: False,
        partial(test_watch.test_rule_10_time_travel_means_a_new_list, scripted.bookmark(9)),
    ),
    "believe every list": (
        listing, "precedes", lambda *_: False,
        test_watch.test_rule_10_a_list_from_the_past_is_doubted_before_it_is_believed,
    ),
    "repeat every complaint": (
        Watcher, "_say", chatty, test_watch.test_forbidden_names_the_resource_the_identity_and_the_remedy,
    ),
    "stay where it was served": (
        Watcher, "_look_where_it_is_served", shrug,
        test_watch.test_a_kind_that_appears_later_is_picked_up_where_it_is_served,
    ),
    "count lines only as life": (
        client.KubeClient, "stream", mute, test_watch.test_a_quiet_stream_shows_life_when_it_opens,
    ),
    "count pages as life": (
        Lister, "_items", calm_page, test_watch.test_rule_9_listed_is_said_when_the_list_is_complete,
    ),
    "believe a line before it is read": (
        Watcher, "_take", credulous, test_watch.test_a_line_that_is_not_believed_is_no_contact,
    ),
    "stay slow after an outage": (
        Backoff, "reset", lambda _: None, test_watch.test_a_server_that_is_back_is_listed_soon,
    ),
    "hammer who forgets": (
        Watcher, "_accepted", forgetful, test_watch.test_a_server_that_forgets_at_once_is_not_hammered,
    ),
    "hammer who accepts now and then": (
        Watcher, "_accepted", thoughtless, test_watch.test_a_server_that_accepts_now_and_then_is_not_hammered,
    ),
    "rest before a list that nobody can wait for": (
        watch, "_OutOfSight", watch._Distrust, test_watch.test_a_stream_that_nobody_believes_any_more_is_listed_at_once,
    ),
    "stay on the surface": (
        client, "DEPTH", 1_000, test_watch.test_what_is_nested_as_deep_as_the_api_allows_is_read,
    ),
    "take what was on its way for not sent": (
        client._Connector, "connect", aiohttp.TCPConnector.connect, test_client.test_no_answer_in_time_is_unknown,
    ),
    "ask for no last word": (
        client._Attempt, "__init__", lambda self, *_: setattr(self, "may_leave", client.freely),
        test_client.test_the_last_word_is_asked_before_every_exchange,
    ),
    "ignore Retry-After": (Backoff, "pause", greedy, test_watch.test_retry_after_is_honoured),
}  # fmt: skip


@pytest.mark.parametrize("name", SABOTAGES)
def test_sabotage_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With this one line changed, the test of its rule fails or hangs."""
    owner, attribute, replacement, test = SABOTAGES[name]
    monkeypatch.setattr(owner, attribute, replacement)
    monkeypatch.setattr(scripted, "LIMIT_S", 1.0)
    sys.setrecursionlimit(1_000)  # as at the start of a program: an earlier test may have raised it

    with pytest.raises((AssertionError, TimeoutError, Undecodable, NotSent, pytest.fail.Exception)):
        test()
