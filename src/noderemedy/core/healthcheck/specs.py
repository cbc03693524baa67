"""The spec room: one key per MachineHealthCheck. States what a check asks for, without what its status says.

Verdicts are judged on this fact and not on the object: a status that we or somebody else wrote leaves it as it is, and
so costs one look and no machine's. Its stage comes before all verdicts, so none is judged by an old spec. A template
makes the room state as well which kind of requests has to be followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

from noderemedy.core.external.kinds import wanted
from noderemedy.core.healthcheck.facts import SpecFact, spec_ref
from noderemedy.model.checkstatus import CheckStatus
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.healthcheck import HealthCheck
from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK, Ref
from noderemedy.model.room import Present, Reader, Room, Stage
from noderemedy.model.time import Now


class SpecView(Struct, frozen=True):
    """A check."""

    at: Ref
    check: HealthCheck


def decide(view: SpecView, now: Now) -> Decision:
    bare = structs.replace(view.check, status=CheckStatus(), other_writers=())
    return Decision(facts=(Fact(spec_ref(view.at), SpecFact(view.at, bare)), *wanted(view.at, view.check)))


def sees(key: Ref, reader: Reader) -> SpecView | None:
    entry = reader.read(key)
    return SpecView(key, entry.obj) if isinstance(entry, Present) else None


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    return (ref,)


ROOM = Room(
    name="spec",
    watches=(HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK),
    indexes=(),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset(),
    stage=Stage.SPEC,
)
