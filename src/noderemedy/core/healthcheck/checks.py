"""The check room: one key per MachineHealthCheck. Counts its verdicts, opens or closes its gate, and says why.

It sees counts, never the machines, so that a verdict costs the same in a cluster of any size. It writes
nothing: the status room does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core.healthcheck import facts
from noderemedy.core.healthcheck.controllers import next_look, other_controller
from noderemedy.core.healthcheck.facts import BY_CHECK, GateFact, PermitFact, VerdictFact, gate_ref, permit_ref
from noderemedy.core.healthcheck.gate import gate
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.healthcheck import HealthCheck, Tally
from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK, Ref
from noderemedy.model.reasons import CheckInvalid, ChecksOverlap, Reason
from noderemedy.model.room import Present, Reader, Room, Stage
from noderemedy.model.time import Mono, Now


class CheckView(Struct, frozen=True):
    """A check and how many machines it speaks for."""

    at: Ref
    check: HealthCheck
    count: Tally
    contested: int  # machines that another check selects too
    first_seen: Mono = Mono(0)
    unseen: int = 0
    unasked: int = 0


def decide(view: CheckView, now: Now) -> Decision:
    found = gate(view.check, view.count)
    because: list[Reason] = [found.reason] if found.reason and concerns_somebody(found.reason, view.count) else []
    if view.contested:
        because.append(ChecksOverlap(view.contested))
    writer = other_controller(view.check, view.first_seen, now)
    permit = PermitFact(view.at, found.is_open, writer.manager if writer else "")
    return Decision(
        because=tuple(because),
        wake_at=next_look(writer, view.first_seen, now),
        facts=(
            Fact(gate_ref(view.at), GateFact(found, view.count, view.contested, view.unseen, view.unasked)),
            Fact(permit_ref(view.at), permit),
        ),
    )


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
    return CheckView(
        at=key,
        check=entry.obj,
        count=count,
        contested=reader.tally(BY_CHECK, facts.contested(key)),
        first_seen=entry.first_seen,
        unseen=reader.tally(BY_CHECK, facts.unseen(key)),
        unasked=reader.tally(BY_CHECK, facts.unasked(key)),
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
