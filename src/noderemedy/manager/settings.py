"""What a manager is told when it starts, and what it tells whoever runs it inside a bigger program (the lab)."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from noderemedy.core.fencing.results import BETWEEN_LOOKS
from noderemedy.drivers.kube.config import Access
from noderemedy.drivers.kube.sink import DEFAULT as PATIENT
from noderemedy.drivers.kube.sink import Settings as WatchSettings
from noderemedy.engine.leadership import Rules
from noderemedy.engine.telling import Notice
from noderemedy.manager.follower import Pace
from noderemedy.model.ids import SYSTEM
from noderemedy.model.outcome import Effect, Outcome
from noderemedy.model.time import Span

NAMESPACE = SYSTEM
LEASE_NAME = "node-remedy-manager"  # the shipped rights name it


class Agents(Enum):
    """How fence agents run."""

    PROCESS = "process"  # of the manager: its image, or its host, has the agents
    JOB = "job"  # one Job for each run, from `remedy_image`


class Settings(Struct, frozen=True):
    """How a manager runs. `identity` must be new for every process."""

    access: Access
    identity: str
    namespace: str = NAMESPACE
    is_dry: bool = False  # decide, log, and write nothing: no lease, no events
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None  # None: no /metrics; 0: any free port
    freezes_garbage: bool = False  # True only where the process is ours alone
    watch: WatchSettings = PATIENT
    rules: Rules = Rules()
    finish_within: Span = Span(10_000)  # effects in flight when it stops
    stale_after: Span = Span(180_000)  # no byte of a watch for so long: nothing is decided on it
    clusters: Pace = Pace()  # of the connections to workload clusters
    agents: Agents = Agents.PROCESS
    agents_path: str = ""  # folders with fence agents, before those of PATH
    remedy_image: str = ""  # of Jobs, which cannot do without: deploy/remedy-image
    kdump_listen: str = ""  # address:port for messages of crash kernels; "": nobody listens
    between_looks: Span = BETWEEN_LOOKS  # at a device, after it was told to switch
    node: str = ""  # that it runs on; "": none of the cluster, or nobody said
    drill_every: Span | None = None  # how often the devices of each node are asked for their status; None: never


class Ended(Struct, frozen=True):
    """An effect has an outcome."""

    effect: Effect
    outcome: Outcome


class Led(Struct, frozen=True):
    """This manager began or ceased to lead."""

    is_leading: bool
    token: int


class Listening(Struct, frozen=True):
    """The port of /metrics, /healthz and /readyz."""

    port: int


Happening = Notice | Effect | Ended | Led | Listening
Observer = Callable[[Happening], None]


def nobody(happening: Happening) -> None:
    """The observer of a manager that nobody observes."""
