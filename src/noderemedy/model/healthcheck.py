"""A MachineHealthCheck, what a verdict is judged on, and the verdicts. Seeds 003 and 004.

Built by `wire/healthchecks.py`, judged by `core/healthcheck/`. Three APIs share the kind; `Dialect` says whose rules
hold. Whatever could not be read is `Malformed` in its field and one line of `problems`: such a check does nothing.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from msgspec import Struct

from noderemedy.model.checkstatus import CheckStatus, Writer
from noderemedy.model.cluster import Cluster
from noderemedy.model.ids import Ref
from noderemedy.model.machine import Machine
from noderemedy.model.meta import Malformed, Paused, trouble
from noderemedy.model.reasons import Reason
from noderemedy.model.remote import Remote
from noderemedy.model.room import Absent, Entry
from noderemedy.model.selector import Selector
from noderemedy.model.time import Mono, Span, Wall


class Dialect(Enum):
    """Whose words a check is written in: an API means what its owner says it means."""

    SEED = "seed"
    CAPI = "capi"
    OPENSHIFT = "openshift"


class Criterion(Struct, frozen=True):
    """A condition of this type with this status for longer than this is a failure."""

    type: str
    status: str
    timeout: Span


class Count(Struct, frozen=True):
    """A limit as a number of machines."""

    n: int

    def __str__(self) -> str:
        return str(self.n)


class Percent(Struct, frozen=True):
    """A limit as a share of all targets; whole percents, 0 to 100."""

    p: int

    def __str__(self) -> str:
        return f"{self.p}%"


class Window(Struct, frozen=True):
    """Repairs only while the number of targets that are not healthy lies in here, both ends included."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"[{self.low}-{self.high}]"


class TemplateRef(Struct, frozen=True):
    """The template of the request that is made for a sick machine: any kind of any group."""

    api_version: str
    kind: str
    name: str
    namespace: str


class HealthCheck(Struct, frozen=True):
    """A MachineHealthCheck. With `problems` it is invalid: verdicts are not given and nothing is done.

    It goes on speaking for the machines that it selects, as far as it can be read whom it means.
    """

    uid: str
    dialect: Dialect
    selector: Selector | Malformed = Selector()
    cluster_name: str | Malformed = ""
    node_criteria: tuple[Criterion, ...] = ()
    machine_criteria: tuple[Criterion, ...] = ()
    max_unhealthy: Count | Percent | Malformed | None = None
    window: Window | Malformed | None = None
    startup_timeout: Span | Malformed = Span(600_000)  # 0: a machine may be without a node for ever
    template: TemplateRef | Malformed | None = None
    annotation_mode: bool = False
    cluster_paused: bool = False
    paused: Paused | Malformed | None = None
    observes_only: bool = False
    needs_approval: bool = False
    governs: bool = False  # although another controller writes the status of this check
    created: Wall | None = None
    generation: int = 0
    deleting: bool = False
    problems: tuple[str, ...] = ()  # each names the field and the remedy
    status: CheckStatus = CheckStatus()  # as it is published
    other_writers: tuple[Writer, ...] = ()  # of the status

    @property
    def is_valid(self) -> bool:
        return not self.problems

    @property
    def trouble(self) -> str:
        return trouble(self.problems)


class Sighting(Struct, frozen=True):
    """When we ourselves first saw one thing: the lower bound of its age, whatever its timestamp says (R54)."""

    what: str
    since: Mono
    wall: Wall  # the same moment, for people: it stays the same whatever the clocks do later


class Target(Struct, frozen=True):
    """What a verdict is judged on: a machine, its node as the cache has it, and its cluster if there is a Cluster."""

    at: Ref
    machine: Machine
    node_at: Ref | None = None
    node: Entry = Absent()  # means nothing while the machine names no node
    cluster: Cluster | None = None  # None: a cluster that manages itself, there is nothing to wait for
    remote: Remote | None = None  # whether the nodes of its cluster can be seen; None: they are here
    sightings: tuple[Sighting, ...] = ()  # as `criteria.sightings` returned them at the last look
    is_in_hand: bool = False  # somebody repairs it, whatever its node says meanwhile
    power_cycled: Wall | None = None  # when a Metal3Remediation last began to


class Healthy(Struct, frozen=True):
    """Nothing is wrong, and nothing is pending."""

    counts_as_healthy: ClassVar[bool] = True


class Waiting(Struct, frozen=True):
    """Something is wrong or not there yet, and it has time left; until None: as long as it takes."""

    counts_as_healthy: ClassVar[bool] = False
    until: Wall | None
    because: tuple[Reason, ...]


class Unhealthy(Struct, frozen=True):
    """At least one criterion is met. `since`: its first sign; it stays the same as long as that sign does."""

    counts_as_healthy: ClassVar[bool] = False
    since: Wall
    because: tuple[Reason, ...]


class Unjudged(Struct, frozen=True):
    """Could not be evaluated: neither healthy nor sick; its request is left alone. `until`: look again then."""

    because: tuple[Reason, ...]
    until: Wall | None = None
    counts_as_healthy: bool = False  # in the figures of an invalid check, which open no gate


class NeedsLook(Struct, frozen=True):
    """The cache says that the node is gone: that has to be read live before it counts."""

    counts_as_healthy: ClassVar[bool] = False
    ref: Ref
    because: tuple[Reason, ...]


Verdict = Healthy | Waiting | Unhealthy | Unjudged | NeedsLook


class Tally(Struct, frozen=True):
    """The targets of one check, counted. `healthy` is without those under repair; the rest counts for the gate."""

    total: int
    healthy: int
    unhealthy: int = 0  # verdict Unhealthy: for the words, not for the arithmetic

    @property
    def not_healthy(self) -> int:
        return self.total - self.healthy


class Gate(Struct, frozen=True):
    """Whether a check may start repairs now, how many more it would bear, and why not."""

    is_open: bool
    allowed: int  # `status.remediationsAllowed`
    limit: str = ""  # as somebody wrote it; "" without one
    reason: Reason | None = None
