"""The status room: one key per MachineHealthCheck. Writes what the check room found into the check's status.

It is a room of its own because a key with a write in flight, or refused, is not looked at meanwhile: a gate must never
wait for a status. Written only when something differs. Figures alone wait until a little after the last write, so that
many machines which change are one write; what a condition says, and who is a target, is told at once.
What a person steers the check with is told by `acting.py`, in the same write.
A check whose status another controller writes is left alone (`node-remedy.dev/govern` overrides).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

from noderemedy.core.conditions import merged, states
from noderemedy.core.healthcheck import acting, facts, templates
from noderemedy.core.healthcheck.controllers import next_look, other_controller
from noderemedy.core.healthcheck.facts import GateFact, gate_ref, targets_ref
from noderemedy.core.slots import soonest
from noderemedy.model.actions import Guard, PublishCheckStatus
from noderemedy.model.checkstatus import (
    CANNOT_SEE,
    DEPRECATED,
    OVERLAPPING,
    REMEDIATION_ALLOWED,
    VALID,
    CheckStatus,
    Told,
)
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.dialect import RULES
from noderemedy.model.healthcheck import HealthCheck
from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK, Ref
from noderemedy.model.reasons import (
    CannotSeeCluster,
    CheckInvalid,
    CheckPaused,
    ChecksOverlap,
    OtherControllerGoverns,
    StatusBehind,
)
from noderemedy.model.room import Present, Reader, Room, Stage
from noderemedy.model.time import SECOND, Mono, Now

APART = SECOND * 2  # two writes of figures
MESSAGE_MAX = 4_000
INT32_MAX = 2**31 - 1
DEPRECATED_MESSAGE = (
    "annotation machine.openshift.io/remediation-strategy: remediation by annotation is deprecated; name a template"
)


class StatusView(Struct, frozen=True):
    """A check as it was read, and what was found for it."""

    at: Ref
    check: HealthCheck
    version: str
    first_seen: Mono
    found: GateFact
    targets: tuple[str, ...] | None = None  # None: too many to be listed
    written: Mono | None = None  # when the check changed last while we looked
    news: templates.News = templates.News()


def decide(view: StatusView, now: Now) -> Decision:
    check = view.check
    if check.cluster_paused:
        return Decision(because=(CheckPaused(view.at.in_words),))
    if (writer := other_controller(check, view.first_seen, now)) is not None:
        return Decision(
            because=(OtherControllerGoverns(writer.manager),), wake_at=next_look(writer, view.first_seen, now)
        )
    if view.found.unasked:
        return NOTHING  # a moment after we started: what is not known yet is no news
    wanted, again = wanted_status(view, now), acting.next_look(check, now)
    if wanted == structs.replace(check.status, targets=None):
        return Decision(wake_at=again)
    if view.written is not None and is_figures_only(wanted, check.status) and now.mono < view.written + APART:
        return Decision(wake_at=soonest(view.written + APART, again))
    return Decision(
        actions=(PublishCheckStatus(view.at, Guard(check.uid, view.version), wanted),),
        because=(StatusBehind(wanted.expected, wanted.healthy),),
        wake_at=again,
    )


# --- what the status should say ----------------------------------------------------------------------------------


def wanted_status(view: StatusView, now: Now) -> CheckStatus:
    """The status as it should be; equal to the one that is there, without its targets, if nothing is to be written."""
    check, found = view.check, view.found
    return CheckStatus(
        expected=found.count.total,
        healthy=found.count.healthy,
        allowed=min(found.gate.allowed, INT32_MAX),
        generation=check.generation if RULES[check.dialect].tells_generation else check.status.generation,
        conditions=merged(check.status.conditions, wanted_conditions(view, now), str(now.wall)),
        targets=new_targets(view),
    )


def is_figures_only(wanted: CheckStatus, known: CheckStatus) -> bool:
    """Also where a message only tells other figures."""
    is_same = (wanted.generation, wanted.expected) == (known.generation, known.expected)
    return is_same and wanted.targets is None and states(wanted.conditions) == states(known.conditions)


def new_targets(view: StatusView) -> tuple[str, ...] | None:
    """The names of the targets, if there is a field for them and it says something else."""
    is_told = RULES[view.check.dialect].tells_targets and view.targets is not None
    return view.targets if is_told and view.targets != (view.check.status.targets or ()) else None


def wanted_conditions(view: StatusView, now: Now) -> tuple[Told, ...]:
    """What we have to say. Beyond the first two, that all is in order is told only to those who were told otherwise."""
    check, found = view.check, view.found
    said = {one.type: one.status for one in check.status.conditions if isinstance(one, Told)}
    told = [remediation_allowed(found), acting.told(view.at, check, now)]
    if not check.is_valid:
        told.append(Told(VALID, "False", CheckInvalid.__name__, "; ".join(check.problems)[:MESSAGE_MAX]))
    elif VALID in said:
        told.append(Told(VALID, "True", VALID))
    if found.contested:
        told.append(Told(OVERLAPPING, "True", ChecksOverlap.__name__, ChecksOverlap(found.contested).note()))
    elif OVERLAPPING in said:
        told.append(Told(OVERLAPPING, "False", "NoOverlap"))
    if found.unseen:
        message = f"{found.unseen} of its machines cannot be judged: their cluster is out of sight"
        told.append(Told(CANNOT_SEE, "True", CannotSeeCluster.__name__, message))
    elif CANNOT_SEE in said:
        told.append(Told(CANNOT_SEE, "False", "InSight"))
    if check.annotation_mode:
        told.append(Told(DEPRECATED, "True", "AnnotationMode", DEPRECATED_MESSAGE))
    elif DEPRECATED in said:
        told.append(Told(DEPRECATED, "False", "NotDeprecated"))
    return (*told, *templates.told(check, view.news, found.count.unhealthy))


def remediation_allowed(found: GateFact) -> Told:
    reason = found.gate.reason
    if found.gate.is_open or reason is None:
        return Told(REMEDIATION_ALLOWED, "True", REMEDIATION_ALLOWED, since=found.since)
    return Told(REMEDIATION_ALLOWED, "False", type(reason).__name__, reason.note()[:MESSAGE_MAX], found.since)


# --- what it sees, and what wakes it -----------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> StatusView | None:
    entry, found = reader.read(key), reader.read(gate_ref(key))
    if not isinstance(entry, Present) or not isinstance(found, Present) or entry.obj.deleting:
        return None
    targets = reader.read(targets_ref(key))
    names = targets.obj.names if isinstance(targets, Present) else () if not found.obj.count.total else None
    written = entry.changed_at if entry.changed_at != entry.first_seen else None
    news = templates.sees(key, reader) if entry.obj.template is not None else templates.News()
    return StatusView(key, entry.obj, entry.resource_version, entry.first_seen, found.obj, names, written, news)


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    return (obj.check,) if isinstance(obj, templates.TemplateFact) else (facts.check_of(ref),)


ROOM = Room(
    name="status",
    watches=(
        *(HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK),
        *(*facts.GATES.values(), *facts.TARGETS.values(), *templates.KINDS.values()),
    ),
    indexes=templates.INDEXES,
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset({PublishCheckStatus}),
    stage=Stage.TELL,
)
