"""A Node: the fields that rooms judge by, and what a backup must bring back. Heartbeats are left out."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.remedy import RemedyRecord
from noderemedy.model.time import Wall


class Condition(Struct, frozen=True):
    """What the API says about one aspect of an object."""

    type: str
    status: str
    since: Wall | None = None
    reason: str = ""
    wrong: tuple[str, ...] = ()  # of FencingReady: the devices, as digests, that are not this node's


class Taint(Struct, frozen=True, order=True):
    """A taint, without its time."""

    key: str
    effect: str
    value: str = ""


class OutOfService(Struct, frozen=True):
    """Who put the out-of-service taint on a Node: without such a mark it is a person's, and none of our business."""

    room: str
    owner: str  # namespace/name of the request that it was done for
    uid: str
    boot_id: str = ""  # of the boot that had ended


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
    system_uuid: str = ""  # of the machine, as its firmware tells it
    out_of_service: OutOfService | Malformed | None = None  # node-remedy.dev/out-of-service-by
    addresses: tuple[str, ...] = ()
    remedy: RemedyRecord | Malformed | None = None  # how far its remedies are: our record on it
    remedied_at: Wall | Malformed | None = None  # what happened to it until then calls for no remedy any more
    created: Wall | None = None

    @property
    def is_ready(self) -> bool:
        return any(one.type == "Ready" and one.status == "True" for one in self.conditions)

    @property
    def is_heard(self) -> bool:
        """Whether its kubelet is taken to report, be it that it is sick: who falls silent is told Unknown."""
        return any(one.type == "Ready" and one.status in ("True", "False") for one in self.conditions)

    @property
    def silent_since(self) -> Wall | None:
        """Since when it is told Unknown; None if it is not."""
        return next((one.since for one in self.conditions if one.type == "Ready" and one.status == "Unknown"), None)


class NodeBackup(Struct, frozen=True):
    """What a Node carried when we deleted it, so that it can be given back. Kept on the Machine."""

    node_uid: str
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
