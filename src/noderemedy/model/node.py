"""A Node: the fields that rooms judge by, and what a backup must bring back. Heartbeats are left out."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.time import Wall


class Condition(Struct, frozen=True):
    """What the API says about one aspect of an object."""

    type: str
    status: str
    since: Wall | None = None
    reason: str = ""


class Taint(Struct, frozen=True, order=True):
    """A taint, without its time."""

    key: str
    effect: str
    value: str = ""


class Node(Struct, frozen=True):
    """A node as the API describes it."""

    uid: str
    boot_id: str = ""
    provider_id: str = ""
    unschedulable: bool = False
    deleting: bool = False
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    taints: tuple[Taint, ...] = ()
    conditions: tuple[Condition, ...] = ()
    repair_now: bool = False  # node-remedy.dev/repair
    paused: Paused | Malformed | None = None
    kubelet: str = ""  # its version; the server is never older


class NodeBackup(Struct, frozen=True):
    """What a Node carried when we deleted it, so that it can be given back. Kept on the Machine."""

    node_uid: str
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
