"""A Configuration of seed 002: which node conditions are tracked, and which remedies follow when they last too long.

Read by `wire/configuration.py` from the key `config.yaml` of a ConfigMap, judged by `core/remedy/`. What could not be
read is one line of `problems`: such a document does nothing, and the last good one goes on. What can be read and is
probably not meant is one line of `hints`.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.meta import Malformed, Paused, trouble
from noderemedy.model.nodefence import FenceSpec
from noderemedy.model.remedy import PodRemedy
from noderemedy.model.selector import Selector
from noderemedy.model.time import MINUTE, Span, Wall
from noderemedy.model.workload import FreeBy

PERIOD: Span = MINUTE * 5  # how long a remedy without a period of its own has to help
WITHIN: Span = MINUTE * 10  # in which events are counted where nothing else is said
NOT_READY = ("False", "Unknown")  # a problem of Ready, and of nothing else


class EventSign(Struct, frozen=True):
    """So many events of this reason about a node, within this time."""

    reason: str
    count: int
    within: Span


class Remedy(Struct, frozen=True):
    """One step of the chain: a remedy by its name, and how long to wait for recovery after it has ended."""

    name: str
    period: Span = PERIOD
    cleans: bool = False  # clean-resource: its success is the administrator's word that the node is safe


class Threshold(Struct, frozen=True):
    """What is tracked, and what follows. Either a condition with statuses and a period, or events."""

    condition: str = ""
    statuses: tuple[str, ...] = ()
    period: Span = Span(0)
    event: EventSign | None = None
    remedies: tuple[Remedy, ...] = ()
    recovery: str = ""  # the remedy that runs when the trouble is over; "": none

    @property
    def name(self) -> str:
        """By which a record and people know it: it stays the same when periods and remedies change."""
        return f"event {self.event.reason}" if self.event else f"{self.condition}={'|'.join(self.statuses)}"

    @property
    def problem(self) -> str:
        """By which records and alarms know it: the type of its condition, or the reason of its events."""
        return self.event.reason if self.event else self.condition


class FenceRemedy(Struct, frozen=True):
    """`nodeFence: {}`: the remedy is the fence flow of seed 002, with these delays and tries."""

    spec: FenceSpec = FenceSpec()  # of the NodeFence to make, without its node


class Definition(Struct, frozen=True):
    """One of `remedyConfigs`."""

    name: str
    how: PodRemedy | FenceRemedy


class SkipCondition(Struct, frozen=True):
    """While a node shows this, no repair of it begins: what is broken is elsewhere."""

    type: str
    status: str = "True"


class Policy(Struct, frozen=True):
    """When this document starts nothing, whatever its thresholds say."""

    unresponsive_percent: int | None = None  # at this share of its nodes, and from two nodes on
    skip_conditions: tuple[SkipCondition, ...] = ()
    one_at_a_time: bool = False
    pods_per_minute: int | None = None


class Alarm(Struct, frozen=True):
    """So many problems with this condition, or with events of this reason, within this time call a person."""

    problem: str
    count: int
    within: Span
    statuses: tuple[str, ...] = ()  # of the condition that are a problem; none: the usual ones
    is_event: bool = False

    @property
    def watch(self) -> Threshold:
        """How its problem is tracked where no threshold does."""
        if self.is_event:
            return Threshold(event=EventSign(self.problem, 1, WITHIN))
        usual = NOT_READY if self.problem == "Ready" else ("True",)
        return Threshold(condition=self.problem, statuses=self.statuses or usual)


class ParkAfter(Struct, frozen=True):
    """A node that was repaired so often within this time is left to a person."""

    count: int
    within: Span


class Configuration(Struct, frozen=True):
    """One document."""

    selector: Selector = Selector()
    thresholds: tuple[Threshold, ...] = ()
    definitions: tuple[Definition, ...] = ()
    policy: Policy = Policy()
    alarms: tuple[Alarm, ...] = ()
    park_after: ParkAfter | None = None
    free_by: FreeBy | None = None  # None: as the node's version of Kubernetes allows
    problems: tuple[str, ...] = ()  # each names file, line, field and remedy
    hints: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        return not self.problems

    @property
    def trouble(self) -> str:
        return trouble(self.problems)

    @property
    def watched(self) -> tuple[Threshold, ...]:
        """What alarms name and no threshold tracks: it is counted, and nothing follows."""
        tracked = {one.problem for one in self.thresholds}
        return tuple(dict.fromkeys(one.watch for one in self.alarms if one.problem not in tracked))

    @property
    def event_reasons(self) -> tuple[str, ...]:
        """Of all events that somebody has to watch for this document."""
        found = (one.event for one in (*self.thresholds, *self.watched))
        return tuple(one.reason for one in found if one is not None)

    @property
    def counts_events(self) -> bool:
        return any(one.event is not None for one in self.thresholds)

    @property
    def has_fence(self) -> bool:
        """Whether some remedy is a fence flow."""
        return any(isinstance(one.how, FenceRemedy) for one in self.definitions)

    def threshold(self, name: str) -> Threshold | None:
        return next((one for one in self.thresholds if one.name == name), None)

    def definition(self, name: str) -> Definition | None:
        return next((one for one in self.definitions if one.name == name), None)


class Document(Struct, frozen=True):
    """A Configuration, and what its ConfigMap says about it."""

    configuration: Configuration
    text: str  # as it was written, to be kept when it is good
    paused: Paused | Malformed | None = None
    observes_only: bool = False
    needs_approval: bool = False
    created: Wall | None = None
    deleting: bool = False
    kept_for: str = ""  # of a last good one: the uid of the ConfigMap that it was read from
