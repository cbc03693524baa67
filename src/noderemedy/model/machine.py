"""A Machine (of Cluster API or OpenShift), and the Metal3Machine that may stand between it and its host."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import NodeBackup
from noderemedy.model.time import Wall


class HostName(Struct, frozen=True):
    """The BareMetalHost that a Machine names in `metal3.io/BareMetalHost`."""

    namespace: str
    name: str


class Machine(Struct, frozen=True):
    """A machine and what was asked of it, stored on it or recorded about it."""

    uid: str
    needs_remediation: bool = False
    host: HostName | Malformed | None = None
    node_name: str | None = None
    provider_id: str = ""
    backup: NodeBackup | Malformed | None = None
    node_deleted_at: Wall | Malformed | None = None
    cluster_paused: bool = False
    paused: Paused | Malformed | None = None
    deleting: bool = False


class Metal3Machine(Struct, frozen=True):
    """The infrastructure half of a Machine; only its owner matters here."""

    uid: str
    owner_machine: str | None = None
    owner_uid: str = ""
