"""A Cluster of Cluster API: is it paused, and how far has it come? Clusters that manage themselves have none."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.node import Condition


class Cluster(Struct, frozen=True):
    """A workload cluster as its management cluster describes it."""

    uid: str
    paused: bool = False
    conditions: tuple[Condition, ...] = ()
    deleting: bool = False
