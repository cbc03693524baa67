"""The ways to have a machine repaired: one mode each, in a table. Seeds 003 (conditions, deletion) and 004 (the rest).

A mode says how to tell that its repair is asked for, how to ask, and how to take that back. The remediation room calls
it when all gates are open; which mode a check means comes from the table of dialects (`model/dialect.py`).

Rule 1: taking back never undoes what somebody has begun: a hold on a host, an owner's own word, a deletion.
Rule 2: a mode writes nothing that it could not recognise as ours again.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from noderemedy.core.claim import claimed
from noderemedy.core.external import lifecycle
from noderemedy.core.healthcheck import words
from noderemedy.core.healthcheck.remediationview import RemediationView
from noderemedy.model.actions import (
    Action,
    DeleteMachine,
    Guard,
    MarkMachine,
    RemoveRemediationAnnotation,
)
from noderemedy.model.decision import Decision
from noderemedy.model.dialect import RULES, Default
from noderemedy.model.healthcheck import HealthCheck
from noderemedy.model.machine import Machine
from noderemedy.model.machineconditions import HEALTH_CHECK_SUCCEEDED, OWNER_REMEDIATED
from noderemedy.model.reasons import RemediationAsked
from noderemedy.model.room import Present
from noderemedy.model.time import Now, Wall


class Way(Enum):
    """How a sick machine is repaired, in words for people."""

    EXTERNAL = "a request made from a template"
    ANNOTATION = "the annotation host.metal3.io/external-remediation"
    CONDITIONS = "its owner (condition OwnerRemediated)"
    DELETION = "deletion of the Machine"


def way_of(check: HealthCheck, machine: Machine) -> Way:
    """What this check does about this machine: a template first, then the annotation, then the dialect's default.

    A machine that its provider has given up (OpenShift's phase Failed) is past power cycling: it is replaced.
    """
    rules = RULES[check.dialect]
    if check.template is not None:
        return Way.EXTERNAL
    is_given_up = rules.fails_by_phase and machine.phase == "Failed"
    if rules.has_annotation_mode and check.annotation_mode and not is_given_up:
        return Way.ANNOTATION
    return Way.CONDITIONS if rules.default is Default.CONDITIONS else Way.DELETION


def told_by(check: HealthCheck, way: Way) -> tuple[str, ...]:
    """The conditions that are written on a machine which is repaired this way."""
    if way is Way.EXTERNAL:
        return RULES[check.dialect].external_conditions
    return (HEALTH_CHECK_SUCCEEDED, OWNER_REMEDIATED) if way is Way.CONDITIONS else ()


class Mode(Struct, frozen=True):
    """One way: is it asked for already, how to ask, and what takes that back (while nobody has begun with it)."""

    is_asked: Callable[[RemediationView], bool]
    ask: Callable[[RemediationView, Now], Decision]
    take_back: Callable[[RemediationView, Now], tuple[Action, ...]]


def nothing_to_take_back(view: RemediationView, now: Now) -> tuple[Action, ...]:
    return ()


def asked(view: RemediationView, way: Way, *actions: Action) -> Decision:
    assert view.governing is not None
    return Decision(actions, (RemediationAsked(view.governing.at.name, way.value),))


# --- a request made from a template (`core/external/`) -----------------------------------------------------------


def has_request(view: RemediationView) -> bool:
    return view.requests is not None and lifecycle.is_running(view.requests)


def request(view: RemediationView, now: Now) -> Decision:
    assert view.requests is not None
    return lifecycle.ask(view.requests, now)


def delete_requests(view: RemediationView, now: Now) -> tuple[Action, ...]:
    """On recovery. A request whose check is gone may be somebody else's by now: its own controller ends it."""
    return lifecycle.recover(view.requests).actions if view.requests is not None else ()


# --- the annotation ----------------------------------------------------------------------------------------------


def is_marked(view: RemediationView) -> bool:
    """By whomever: two marks are one."""
    return view.machine.needs_remediation


def mark(view: RemediationView, now: Now) -> Decision:
    assert view.governing is not None
    return asked(view, Way.ANNOTATION, MarkMachine(view.at, machine_guard(view), view.governing.at.name, now.wall))


def unmark(view: RemediationView, now: Now) -> tuple[Action, ...]:
    """Our own mark goes, unless its power cycle has begun: then it is finished, and goes by itself.

    Should the hold be placed at this very moment, the table of seed 001 releases it again: held and not needed.
    """
    machine = view.machine
    is_held = isinstance(view.host, Present) and view.host.obj.held
    if not machine.marked_by or is_held or has_emptied(machine):
        return ()
    return (RemoveRemediationAnnotation(view.at, machine_guard(view)),)


def has_emptied(machine: Machine) -> bool:
    """Whether the power cycle of this very mark has taken the Node away, and not an earlier one."""
    deleted, asked_at = machine.node_deleted_at, machine.asked_at
    is_earlier = isinstance(deleted, Wall) and isinstance(asked_at, Wall) and deleted < asked_at
    return not is_earlier and (machine.backup is not None or deleted is not None)


# --- the owner, and deletion -------------------------------------------------------------------------------------


def is_owner_asked(view: RemediationView) -> bool:
    """By us, or where owners are asked by anybody at all: what an owner says of itself concerns no other way."""
    told = view.machine.told
    return bool(words.asked_by(told)) or (is_meant(view, Way.CONDITIONS) and words.is_owner_asked(told))


def ask_owner(view: RemediationView, now: Now) -> Decision:
    """The room writes the condition, together with all others."""
    return asked(view, Way.CONDITIONS)


def is_deleting(view: RemediationView) -> bool:
    return view.machine.deleting and is_meant(view, Way.DELETION)


def is_meant(view: RemediationView, way: Way) -> bool:
    return view.governing is not None and way_of(view.governing.check, view.machine) is way


def delete(view: RemediationView, now: Now) -> Decision:
    """Only under our claim: it cannot be undone, and who deletes is recorded. That somebody replaces it is a gate."""
    assert view.claim is not None
    if blocked := claimed(view.claim, now):
        return blocked.decision(now)
    return asked(view, Way.DELETION, DeleteMachine(view.at, machine_guard(view)))


def machine_guard(view: RemediationView) -> Guard:
    return Guard(view.machine.uid, view.entry.resource_version)


MODES: dict[Way, Mode] = {
    Way.EXTERNAL: Mode(has_request, request, delete_requests),
    Way.ANNOTATION: Mode(is_marked, mark, unmark),
    Way.CONDITIONS: Mode(is_owner_asked, ask_owner, nothing_to_take_back),
    Way.DELETION: Mode(is_deleting, delete, nothing_to_take_back),
}
