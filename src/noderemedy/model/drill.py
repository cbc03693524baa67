"""Drills of fencing: how often, and which one is on. A drill asks every device of a node for its status only."""

from __future__ import annotations

from noderemedy.model.facts import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref, ref
from noderemedy.model.time import Span, Wall

SCHEDULE = Kind(FACTS, "DrillSchedule")
DRILL = Kind(FACTS, "Drill")
SCHEDULE_AT: Ref = ref(SCHEDULE, "drills")
FENCING_READY = "FencingReady"  # the condition of a Node


class DrillSchedule(FactValue, frozen=True):
    """Entered by a program that was told to drill; without it nobody does."""

    every: Span


class Drill(FactValue, frozen=True):
    """The drill of a node that is on, or was the last. Its loss only delays the next one."""

    since: Wall  # when it was due
    runs: tuple[str, ...] = ()


def drill_ref(node: Ref) -> Ref:
    """Beside the Node of that name."""
    return Ref(node.cluster, DRILL, "", node.name)
