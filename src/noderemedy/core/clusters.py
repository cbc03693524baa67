"""The cluster room: one key per Cluster. Says aloud, once per cluster, that its Nodes are out of sight for a while.

Each of its machines has the same reason, quietly: a cluster of a thousand machines must not make a thousand events.
It asks for nothing: programs keep trying.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import CLUSTER, Ref
from noderemedy.model.reasons import CannotSeeCluster, ClusterOutOfSight
from noderemedy.model.remote import REMOTE, Remote, Sight, cluster_name, remote_ref
from noderemedy.model.room import Present, Reader, Room
from noderemedy.model.time import MINUTE, Now

A_WHILE = MINUTE * 5
IN_ORDER = (Sight.HOME, Sight.SEEN)


class ClusterView(Struct, frozen=True):
    """A cluster, and what is known of its Nodes."""

    at: Ref
    remote: Remote


def decide(view: ClusterView, now: Now) -> Decision:
    remote, name = view.remote, cluster_name(view.at.namespace, view.at.name)
    if remote.sight in IN_ORDER:
        return NOTHING
    quietly = Decision(because=(CannotSeeCluster(name, remote.why),))
    if remote.sight is not Sight.LOST:
        return quietly
    overdue = remote.since + A_WHILE
    if now.mono < overdue:
        return Decision(because=quietly.because, wake_at=overdue)
    return Decision(because=(ClusterOutOfSight(name, remote.why),))


def sees(key: Ref, reader: Reader) -> ClusterView | None:
    remote = reader.read(remote_ref(key.namespace, key.name))
    return ClusterView(key, remote.obj) if isinstance(remote, Present) else None


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    return (Ref("", CLUSTER, ref.namespace, ref.name),)


ROOM = Room(
    name="cluster",
    watches=(CLUSTER, REMOTE),
    indexes=(),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset(),
)
