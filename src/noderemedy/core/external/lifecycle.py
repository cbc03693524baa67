"""The life of a request: asked for while its machine is sick, left to its controller, deleted on recovery. Seed 004.

Used by the room that remediates machines; pure questions about one machine:

    sees       what there is of requests and template
    hindrance  why no request can be made at all: asked before the budget is
    ask        the machine is sick and may be repaired: make the request, or say why there is none
    recover    the machine is healthy: delete what was asked for, whatever check, gate and template say by now
    spent      its node was repaired, and is sick again: what was asked for makes room
    trouble    what a condition should tell of it
    left       no check speaks for the machine any more: what was asked for and stands

Rule 1: a request is ours if it names this very Machine, by uid, as its owner. All others are left alone.
Rule 2: a template is read live when a request is made from it, and never watched.
Rule 3: that a request exists already is the API's word (409), so nothing has to be read before it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct

from noderemedy.core.external.instantiate import instantiate, request_at
from noderemedy.core.external.kinds import request_kind, template_kind
from noderemedy.core.gates import Blocked, first
from noderemedy.core.safety import is_confirmed
from noderemedy.model.actions import Confirm, CreateRequest, DeleteRequest, Guard
from noderemedy.model.decision import NOTHING, Decision, Fact
from noderemedy.model.healthcheck import TemplateRef
from noderemedy.model.ids import FENCE_REMEDIATION, REMEDIATION, Kind, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import (
    ConfirmFirst,
    Reason,
    RequestLeaving,
    RequestNeeded,
    RequestNotOurs,
    RequestSpent,
    RequestStands,
    RequestsUnseen,
    RequestUnneeded,
    TemplateKindMissing,
    TemplateNotFound,
    TemplateUnusable,
    WaitingForRequests,
)
from noderemedy.model.refusal import Refusal, refusal
from noderemedy.model.request import FOLLOWED, Followed, followed, want
from noderemedy.model.room import Absent, Entry, Index, Present, Reader, Unreadable, Unseen
from noderemedy.model.time import MINUTE, Now

LOOK_AGAIN = MINUTE  # after a template that is not there, or cannot be used: nobody watches templates
BY_FOLLOWED = "kinds of requests"
INDEXES = (Index(BY_FOLLOWED, FOLLOWED, lambda ref, obj: ("all",)),)
ALWAYS_WATCHED = (REMEDIATION, FENCE_REMEDIATION)  # kinds of requests that rooms of ours carry out
NOT_FOUND, NOT_CREATED = "RemediationTemplateNotFound", "RemediationRequestCreationFailed"  # Cluster API's words


class Wish(Struct, frozen=True):
    """What a check with a template wants for a sick machine, and how much of it is there."""

    template_at: Ref
    template: Entry
    request_at: Ref
    request: Entry
    followed: Followed | None


class Standing(Struct, frozen=True):
    """A request for this very machine, of whatever kind."""

    at: Ref
    uid: str
    deleting: bool
    has_succeeded: bool = False
    is_made: bool = False  # from a template: a check asked for it


class RequestView(Struct, frozen=True):
    """One machine, what its check wants for it, and all requests that were ever made for it and are still there."""

    at: Ref
    machine: Machine
    wish: Wish | None = None
    standing: tuple[Standing, ...] = ()
    refusal: Refusal | None = None


class Trouble(Struct, frozen=True):
    """Why there is no request, as a condition tells it."""

    reason: str
    message: str


# --- seeing ------------------------------------------------------------------------------------------------------


def sees(at: Ref, machine: Machine, template: TemplateRef | None, room: str, reader: Reader) -> RequestView:
    """`template` is that of the governing check, `room` the name of the room that asks."""
    wish = wish_for(at, template, reader) if template is not None else None
    return RequestView(at, machine, wish, tuple(standing(at, machine, reader)), refusal(room, at, reader))


def wish_for(at: Ref, template: TemplateRef, reader: Reader) -> Wish:
    kind = request_kind(template)
    template_at = Ref(at.cluster, template_kind(template), template.namespace, template.name)
    there = request_at(kind, at)
    return Wish(template_at, reader.read(template_at), there, reader.read(there), followed(kind, reader))


def standing(at: Ref, machine: Machine, reader: Reader) -> list[Standing]:
    """Also what an earlier template asked for: a check may have been edited in the middle, and the manager restarted.

    Of a kind that no check names any more, what a person made by hand is no check's.
    """
    kinds = followed_kinds(reader)
    unnamed = [kind for kind in ALWAYS_WATCHED if kind not in kinds]
    found = (*requests_of(at, machine, kinds, reader), *made(at, machine, unnamed, reader))
    return [Standing(there, one.uid, one.deleting, one.has_succeeded, bool(one.cloned_from)) for there, one in found]


def followed_kinds(reader: Reader) -> list[Kind]:
    known = [reader.read(ref) for ref in reader.find(BY_FOLLOWED, "all")]
    return [entry.obj.kind for entry in known if isinstance(entry, Present)]


def requests_of(at: Ref, machine: Machine, kinds: Iterable[Kind], reader: Reader) -> Iterator[tuple[Ref, Any]]:
    """The requests of these kinds for this very machine: one read each, since they have its name."""
    for kind in kinds:
        there = request_at(kind, at)
        entry = reader.read(there)
        if isinstance(entry, Present) and is_ours(entry.obj, machine):
            yield there, entry.obj


def made(at: Ref, machine: Machine, kinds: Iterable[Kind], reader: Reader) -> list[tuple[Ref, Any]]:
    """The same, as far as they were made from a template."""
    return [(there, one) for there, one in requests_of(at, machine, kinds, reader) if one.cloned_from]


def left(at: Ref, machine: Machine, reader: Reader) -> tuple[Standing, ...]:
    """Made from a template for a machine that no check speaks for any more: it stays until a person deletes it.

    What a person made by hand is no check's. A manager that begins knows of other kinds only from checks, and so
    finds only requests of the kinds that it watches in any case.
    """
    kinds = dict.fromkeys((*followed_kinds(reader), *ALWAYS_WATCHED))
    return tuple(
        Standing(there, one.uid, one.deleting, is_made=True) for there, one in made(at, machine, kinds, reader)
    )


def is_ours(request: Any, machine: Machine) -> bool:
    return bool(request.owner_uid == machine.uid)


def wants(at: Ref, requests: tuple[Standing, ...]) -> tuple[Fact, ...]:
    """A kind is followed as long as one of our requests is there, also when no check names it any more."""
    return tuple(want(at, one.at.kind, "") for one in requests)


def is_running(view: RequestView) -> bool:
    return bool(view.standing)


# --- a sick machine ----------------------------------------------------------------------------------------------


def kind_is_served(view: RequestView, now: Now) -> Blocked | None:
    known = view.wish.followed if view.wish else None
    return Blocked(TemplateKindMissing(known.missing)) if known and known.missing else None


def requests_can_be_seen(view: RequestView, now: Now) -> Blocked | None:
    assert view.wish is not None
    kind, known = view.wish.request_at.kind, view.wish.followed
    if known is not None and known.refused:
        return Blocked(RequestsUnseen(str(kind), known.refused))
    if known is None or isinstance(view.wish.request, Unseen):
        return Blocked(WaitingForRequests(str(kind)))
    return None


def name_is_free(view: RequestView, now: Now) -> Blocked | None:
    """Free, or taken by our own request."""
    assert view.wish is not None
    entry, name = view.wish.request, str(view.wish.request_at)
    if isinstance(entry, Unreadable):
        return Blocked(RequestNotOurs(name, f"cannot be read: {entry.problem}"))
    if not isinstance(entry, Present):
        return None
    if not is_ours(entry.obj, view.machine):
        owner = entry.obj.owner_uid
        return Blocked(RequestNotOurs(name, f"belongs to the Machine with uid {owner}" if owner else "has no owner"))
    return Blocked(RequestLeaving(name)) if entry.obj.deleting else None


def template_is_there(view: RequestView, now: Now) -> Blocked | None:
    """Read live for every request, but not again and again while it is missing."""
    assert view.wish is not None
    if isinstance(view.wish.request, Present):
        return None
    at, entry = view.wish.template_at, view.wish.template
    look = Blocked(ConfirmFirst(str(at)), actions=(Confirm(at),))
    if not isinstance(entry, Present | Absent) or entry.confirmed_at is None:
        return look
    problem = flaw(at, entry)
    if problem is not None:
        if now.mono.since(entry.confirmed_at) >= LOOK_AGAIN:
            return Blocked(problem, actions=(Confirm(at),))  # the same reason: that it is still missing is no news
        return Blocked(problem, until=now.shown_at(entry.confirmed_at + LOOK_AGAIN))
    return None if is_confirmed(entry, now) else look


def flaw(at: Ref, entry: Present | Absent) -> Reason | None:
    """What is wrong with a template."""
    if isinstance(entry, Absent):
        return TemplateNotFound(str(at))
    body = entry.obj.body
    return TemplateUnusable(str(at), body.problem) if isinstance(body, Malformed) else None


GATES: tuple[Callable[[RequestView, Now], Blocked | None], ...] = (
    kind_is_served,
    requests_can_be_seen,
    name_is_free,
    template_is_there,
)


def hindrance(view: RequestView, now: Now) -> Blocked | None:
    """What keeps a request from being made, however long one waits: what can never begin reserves nothing.

    A template that was there at the last look will do: it is read once more when the request is made.
    """
    assert view.wish is not None, "a request is made from a template"
    blocked = first(GATES[:-1], view, now)
    return blocked if blocked or has_template(view.wish) else template_is_there(view, now)


def ask(view: RequestView, now: Now) -> Decision:
    """What to do about a sick machine whose check has a template and may repair."""
    assert view.wish is not None, "a request is made from a template"
    if blocked := first(GATES, view, now):
        return blocked.decision(now)
    if isinstance(view.wish.request, Present):
        return Decision(because=(RequestStands(str(view.wish.request_at)),))
    return Decision(actions=(new_request(view, view.wish),), because=(needed(view.wish),))


def needed(wish: Wish) -> Reason:
    return RequestNeeded(str(wish.request_at), str(wish.template_at))


def new_request(view: RequestView, wish: Wish) -> CreateRequest:
    assert isinstance(wish.template, Present)
    return instantiate(wish.request_at.kind, view.at, view.machine, wish.template_at, wish.template.obj)


def trouble(view: RequestView, now: Now) -> Trouble | None:
    """Why there is no request although there should be one; None if there is, or if it is too early to say.

    A template that was missing stays missing until a look says otherwise, or the condition would flicker.
    """
    wish = view.wish
    if wish is None:
        return None
    blocked = first(GATES[:-1], view, now)
    reason = blocked.reason if blocked else missing_template(wish)
    if reason is not None:
        told = CONDITIONS.get(type(reason))
        return Trouble(told, reason.note()) if told else None
    refused = view.refusal if not isinstance(wish.request, Present) else None
    about = {wish.template_at: NOT_FOUND, wish.request_at: NOT_CREATED}.get(refused.at) if refused else None
    return Trouble(about, refused.why) if refused and about else None


def missing_template(wish: Wish) -> Reason | None:
    """What was wrong with the template at the last look, however long ago."""
    if isinstance(wish.request, Present) or not isinstance(wish.template, Present | Absent):
        return None
    return flaw(wish.template_at, wish.template) if wish.template.confirmed_at is not None else None


def has_template(wish: Wish) -> bool:
    """Whether the template was there at the last look, and a request can be made from it, or was."""
    entry = wish.template
    is_sound = isinstance(entry, Present) and entry.confirmed_at is not None and flaw(wish.template_at, entry) is None
    return is_sound or isinstance(wish.request, Present)


CONDITIONS: dict[type[Reason], str] = {
    TemplateKindMissing: NOT_FOUND,
    TemplateNotFound: NOT_FOUND,
    TemplateUnusable: NOT_CREATED,
    RequestsUnseen: NOT_CREATED,
    RequestNotOurs: NOT_CREATED,
}


# --- a machine that has recovered --------------------------------------------------------------------------------


def recover(view: RequestView) -> Decision:
    """Delete every request of this machine, of whatever kind; its controller's finalizer decides when it is gone."""
    if not view.standing:
        return NOTHING
    doomed = tuple(one for one in view.standing if not one.deleting)
    leaving = tuple(RequestLeaving(str(one.at)) for one in view.standing if one.deleting)
    return Decision(
        actions=tuple(DeleteRequest(one.at, Guard(one.uid)) for one in doomed),
        because=(*(RequestUnneeded(str(one.at)) for one in doomed), *leaving),
    )


def spent(view: RequestView) -> Decision | None:
    """The node that they brought back is not ready again: one that is done would wait for nobody. None: not yet done.

    A request that succeeds is over for its controller, and the check deletes it as soon as it sees the machine well.
    A node that dies before that would never be repaired.
    """
    if not view.standing or not all(one.has_succeeded and not one.deleting for one in view.standing):
        return None
    return Decision(
        actions=tuple(DeleteRequest(one.at, Guard(one.uid)) for one in view.standing),
        because=tuple(RequestSpent(str(one.at)) for one in view.standing),
    )
