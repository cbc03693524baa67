"""The check room: one key per MachineHealthCheck. Counts its verdicts, opens or closes its gate, and says why.

It sees counts, never the machines, so that a verdict costs the same in a cluster of any size. It writes
nothing: the status room does. People are told once that a gate has closed and once that it has opened again: the moment
of that, which the status keeps over restarts, is the episode.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core.healthcheck import facts
from noderemedy.core.healthcheck.controllers import next_look, other_controller
from noderemedy.core.healthcheck.facts import BY_CHECK, GateFact, PermitFact, VerdictFact, gate_ref, permit_ref
from noderemedy.core.healthcheck.gate import gate
from noderemedy.core.slots import soonest
from noderemedy.model.checkstatus import REMEDIATION_ALLOWED, Foreign, Told
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.healthcheck import Gate, HealthCheck, Tally
from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK, Ref
from noderemedy.model.reasons import CheckInvalid, ChecksOverlap, CheckWithoutTargets, Reason, RemediationAllowedAgain
from noderemedy.model.room import Present, Reader, Room, Stage
from noderemedy.model.time import MINUTE, Mono, Now

SETTLED = MINUTE * 2  # machines come after their check, or are not looked at yet


class CheckView(Struct, frozen=True):
    """A check and how many machines it speaks for."""

    at: Ref
    check: HealthCheck
    count: Tally
    contested: int  # machines that another check selects too
    first_seen: Mono = Mono(0)
    unseen: int = 0
    unasked: int = 0
    before: GateFact | None = None  # what was found at the last look


def decide(view: CheckView, now: Now) -> Decision:
    found = gate(view.check, view.count)
    since, is_told = since_when(view, found, now), is_news(view, found)
    fact = GateFact(found, view.count, view.contested, view.unseen, view.unasked, since, is_told)
    writer = other_controller(view.check, view.first_seen, now)
    permit = PermitFact(view.at, found.is_open, writer.manager if writer else "")
    return Decision(
        because=(*gate_reasons(view, fact), *selection_reasons(view, found, now)),
        wake_at=soonest(next_look(writer, view.first_seen, now), settles(view, now)),
        episode=since,
        facts=(Fact(gate_ref(view.at), fact), Fact(permit_ref(view.at), permit)),
    )


def selection_reasons(view: CheckView, found: Gate, now: Now) -> tuple[Reason, ...]:
    if view.contested:
        return (ChecksOverlap(view.contested),)
    is_alone = view.count.total == 0 and settles(view, now) is None and not isinstance(found.reason, CheckInvalid)
    return (CheckWithoutTargets(),) if is_alone else ()


def settles(view: CheckView, now: Now) -> Mono | None:
    """When a check that selects nobody will have been there for long enough to be told so; None: it is, or it does."""
    due = view.first_seen + SETTLED
    return due if view.count.total == 0 and now.mono < due else None


def gate_reasons(view: CheckView, found: GateFact) -> tuple[Reason, ...]:
    """Why it is closed, if that is news; that it has opened, if somebody was told that it was closed."""
    if found.is_told and found.gate.reason is not None:
        return (found.gate.reason,)
    if found.gate.is_open and view.before is not None and view.before.is_told:
        return (RemediationAllowedAgain(view.count.not_healthy, view.count.total, found.gate.limit),)
    return ()


def is_news(view: CheckView, found: Gate) -> bool:
    """Whether people are told that it is closed: from the first one on who is kept from a repair, until it opens."""
    was_told = view.before is not None and view.before.is_told
    return found.reason is not None and (was_told or concerns_somebody(found.reason, view.count))


def since_when(view: CheckView, found: Gate, now: Now) -> str:
    """When it opened or closed: as the status says, which survives us; else when we first saw it."""
    told = next((one for one in view.check.status.conditions if is_allowance(one)), None)
    if isinstance(told, Told) and told.since and (told.status == "True") is found.is_open:
        return told.since
    before = view.before
    return before.since if before is not None and before.gate.is_open is found.is_open else str(now.wall)


def is_allowance(one: Told | Foreign) -> bool:
    return isinstance(one, Told) and one.type == REMEDIATION_ALLOWED


def concerns_somebody(reason: Reason, count: Tally) -> bool:
    """A limit that keeps nobody from a repair is no news: all may be within their timeouts, or starting."""
    return isinstance(reason, CheckInvalid) or count.unhealthy > 0


def sees(key: Ref, reader: Reader) -> CheckView | None:
    entry = reader.read(key)
    if not isinstance(entry, Present):
        return None
    count = Tally(
        total=reader.tally(BY_CHECK, facts.total(key)),
        healthy=reader.tally(BY_CHECK, facts.healthy(key)),
        unhealthy=reader.tally(BY_CHECK, facts.unhealthy(key)),
    )
    before = reader.read(gate_ref(key))
    return CheckView(
        at=key,
        check=entry.obj,
        count=count,
        contested=reader.tally(BY_CHECK, facts.contested(key)),
        first_seen=entry.first_seen,
        unseen=reader.tally(BY_CHECK, facts.unseen(key)),
        unasked=reader.tally(BY_CHECK, facts.unasked(key)),
        before=before.obj if isinstance(before, Present) else None,
    )


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    return (obj.check, *obj.others) if isinstance(obj, VerdictFact) else (ref,)


ROOM = Room(
    name="check",
    watches=(HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK, *facts.VERDICTS.values()),
    indexes=facts.INDEXES,
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset(),
    stage=Stage.GATE,
)
