"""A Machine (of Cluster API or OpenShift), and the Metal3Machine that may stand between it and its host."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.machineconditions import MachineConditions
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import Condition, NodeBackup
from noderemedy.model.replacement import Replacement
from noderemedy.model.time import Wall


class HostName(Struct, frozen=True):
    """The BareMetalHost that a Machine names in `metal3.io/BareMetalHost`."""

    namespace: str
    name: str


class ControllerOwner(Struct, frozen=True):
    """The owner that replaces this machine when it is deleted."""

    api_version: str
    kind: str
    name: str
    uid: str


class Machine(Struct, frozen=True):
    """A machine and what was asked of it, stored on it or recorded about it."""

    uid: str
    needs_remediation: bool = False
    marked_by: str = ""  # the health check that asked for this, in our words; "" if somebody else did
    asked_at: Wall | Malformed | None = None  # when a health check asked for this last: its start has time from then on
    host: HostName | Malformed | None = None
    node_name: str | None = None
    provider_id: str = ""
    backup: NodeBackup | Malformed | None = None
    node_deleted_at: Wall | Malformed | None = None
    cluster_paused: bool = False
    paused: Paused | Malformed | None = None
    deleting: bool = False
    # What health checks judge by.
    labels: tuple[tuple[str, str], ...] = ()
    created: Wall | None = None
    cluster_name: str = ""
    failure_domain: str = ""  # where its provider was told to put it
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    older_conditions: tuple[Condition, ...] = ()  # the other generation, where the API has two; they are written alike
    last_updated: Wall | None = None
    remediate: bool = False  # cluster.x-k8s.io/remediate-machine
    skips_remediation: bool = False  # cluster.x-k8s.io/skip-remediation
    repair_now: bool = False  # node-remedy.dev/repair
    controller: ControllerOwner | None = None
    told: MachineConditions = MachineConditions()  # what is said on it, by us and by others, word for word
    # What the reference owner goes by.
    owner: str = ""  # node-remedy.dev/owner
    finalizers: tuple[str, ...] = ()
    deleted_at: Wall | None = None
    replacement: Replacement | Malformed | None = None
    replaces: str = ""  # the uid of the Machine that it follows
    excludes_drain: bool = False
    template: str = ""  # what a successor takes over; only of machines that named us their owner
    own_parts: tuple[str, ...] = ()  # what its spec names and no other machine can use; likewise


class Metal3Machine(Struct, frozen=True):
    """The infrastructure half of a Machine; only its owner and its host matter here."""

    uid: str
    owner_machine: str | None = None
    owner_uid: str = ""
    host: HostName | Malformed | None = None
