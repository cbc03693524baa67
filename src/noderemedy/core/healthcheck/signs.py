"""Signs of sickness that need time: conditions of node and machine with their timeouts, and a start without a node.

Called by `criteria.py` for every target. A sign says since when it lasts, by whose word, and how long it may last.

Rule: an age is never less than what we ourselves have seen of it, whatever a timestamp says (race R54). A sighting is
of one sign with its very timestamp: a condition that came back is another sign.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from noderemedy.core.machines import is_own
from noderemedy.model.dialect import RULES, StartupClock
from noderemedy.model.healthcheck import Criterion, HealthCheck, Sighting, Target
from noderemedy.model.machine import Machine
from noderemedy.model.node import Condition, Node
from noderemedy.model.reasons import (
    ConditionPending,
    ConditionTimedOut,
    MachineConditionPending,
    MachineConditionTimedOut,
    NodeStarting,
    NodeStartupTimedOut,
    Reason,
    TimestampAhead,
)
from noderemedy.model.room import Absent, Present
from noderemedy.model.time import MINUTE, SECOND, Now, Span, Wall

AHEAD = MINUTE  # clocks that differ by less are not worth a word


class Sign(Struct, frozen=True):
    """One thing that is wrong, or not there yet, and how long that may last; `timeout` None: as long as it takes."""

    name: str  # for a person
    what: str  # the name of its sighting
    since: Wall | None
    timeout: Span | None
    pending: Reason
    over: Reason


class Age(Struct, frozen=True):
    """How long a sign has lasted at a moment."""

    sign: Sign
    lasted: Span
    began: Wall
    now: Now

    @property
    def is_over(self) -> bool:
        return self.sign.timeout is not None and self.lasted > self.sign.timeout

    @property
    def next_look(self) -> Wall | None:
        """When it has surely lasted longer than it may: timestamps of the API have whole seconds."""
        if self.sign.timeout is None:
            return None
        return self.now.wall + (self.sign.timeout - self.lasted) + SECOND

    @property
    def reasons(self) -> tuple[Reason, ...]:
        reason = self.sign.over if self.is_over else self.sign.pending
        since = self.sign.since
        if since is None or since < self.now.wall + AHEAD:
            return (reason,)
        return (reason, TimestampAhead(self.sign.name, since))


def age(sign: Sign, seen: Sighting | None, now: Now) -> Age:
    """By its timestamp, but never less than since we have seen it."""
    by_us = now.mono.since(seen.since) if seen else Span(0)
    first_seen = seen.wall if seen else now.wall
    if sign.since is None or now.wall.since(sign.since) < by_us:
        return Age(sign, by_us, first_seen, now)
    return Age(sign, now.wall.since(sign.since), sign.since, now)


def signs(target: Target, check: HealthCheck, now: Now) -> Iterator[Sign]:
    """All signs that this machine shows now, those of the machine first."""
    yield from of_machine(target.machine, check.machine_criteria)
    if isinstance(target.node, Present) and target.node_at is not None:
        if is_own(target.node.obj, target.machine):
            yield from of_node(target.node.obj, target.node_at.name, check.node_criteria)
    elif is_starting(target, check, now):
        yield of_startup(target, check)


def of_machine(machine: Machine, criteria: tuple[Criterion, ...]) -> Iterator[Sign]:
    for criterion, condition in met(criteria, conditions_of(machine)):
        said = (condition.type, condition.status, condition.since, criterion.timeout)
        yield Sign(
            name=f"condition {condition.type} of the Machine",
            what=f"machine {condition.type}={condition.status} {moment(condition.since)}",
            since=condition.since,
            timeout=criterion.timeout,
            pending=MachineConditionPending(*said),
            over=MachineConditionTimedOut(*said),
        )


def of_node(node: Node, name: str, criteria: tuple[Criterion, ...]) -> Iterator[Sign]:
    for criterion, condition in met(criteria, node.conditions):
        said = (name, condition.type, condition.status, condition.since, criterion.timeout)
        yield Sign(
            name=f"condition {condition.type} of node {name}",
            what=f"node {node.uid} {condition.type}={condition.status} {moment(condition.since)}",
            since=condition.since,
            timeout=criterion.timeout,
            pending=ConditionPending(*said),
            over=ConditionTimedOut(*said),
        )


def met(criteria: tuple[Criterion, ...], conditions: tuple[Condition, ...]) -> Iterator[tuple[Criterion, Condition]]:
    """The criteria whose condition is there with their status. A condition that is not there meets none."""
    for criterion in criteria:
        for condition in conditions:
            if (condition.type, condition.status) == (criterion.type, criterion.status):
                yield criterion, condition


def conditions_of(machine: Machine) -> tuple[Condition, ...]:
    """Both generations, where the API has two; the current one has the last word on a type."""
    current = {condition.type for condition in machine.conditions}
    return machine.conditions + tuple(one for one in machine.older_conditions if one.type not in current)


# --- startup -----------------------------------------------------------------------------------------------------


def is_starting(target: Target, check: HealthCheck, now: Now) -> bool:
    """Whether the machine is waited for: it names no node yet, or we deleted the one that it names, or asked for it.

    The power cycle of a machine without a node deletes nothing: only the time of asking tells that it is booting.
    """
    if not isinstance(target.machine.node_deleted_at, Wall | None):
        return False
    if target.node_at is None:
        return True
    is_expected = target.machine.node_deleted_at is not None or was_asked_lately(target.machine, check, now)
    return isinstance(target.node, Absent) and is_expected


def was_asked_lately(machine: Machine, check: HealthCheck, now: Now) -> bool:
    """Whether a repair was asked for within the time that a start may take; also where a start may take for ever."""
    timeout = check.startup_timeout
    assert isinstance(timeout, Span), "a check with a problem is not asked"
    time = timeout if timeout.ms else RULES[check.dialect].startup_default
    return isinstance(machine.asked_at, Wall) and now.wall < machine.asked_at + time


def of_startup(target: Target, check: HealthCheck) -> Sign:
    since = started(target, RULES[check.dialect].startup_clock)
    timeout = check.startup_timeout
    assert isinstance(timeout, Span), "a check with a problem is not asked"
    return Sign(
        name="the start of the Machine",
        what=f"start {moment(since)}",
        since=since,
        timeout=timeout if timeout.ms else None,
        pending=NodeStarting(since, timeout),
        over=NodeStartupTimedOut(since, timeout),
    )


def started(target: Target, clock: StartupClock) -> Wall | None:
    """The latest moment from which on a node could be expected; None if nothing tells."""
    machine = target.machine
    moments = [*column(target, clock), target.power_cycled]
    moments += [one for one in (machine.node_deleted_at, machine.asked_at) if isinstance(one, Wall)]
    return max((one for one in moments if one is not None), default=None)


def column(target: Target, clock: StartupClock) -> tuple[Wall | None, ...]:
    """The dialect's own column of the table."""
    machine, cluster = target.machine, target.cluster
    match clock:
        case StartupClock.CREATION:
            return (machine.created,)
        case StartupClock.LAST_UPDATED:
            return (machine.last_updated,)
        case StartupClock.PROGRESS:
            of_cluster = cluster.conditions if cluster else ()
            return (
                machine.created,
                true_since(of_cluster, "ControlPlaneInitialized"),
                true_since(of_cluster, "InfrastructureReady"),
                true_since(conditions_of(machine), "InfrastructureReady"),
            )


def true_since(conditions: tuple[Condition, ...], name: str) -> Wall | None:
    return next((one.since for one in conditions if (one.type, one.status) == (name, "True")), None)


def is_true(conditions: tuple[Condition, ...], name: str) -> bool:
    return any((one.type, one.status) == (name, "True") for one in conditions)


def moment(since: Wall | None) -> str:
    return str(since.ms) if since is not None else "-"
