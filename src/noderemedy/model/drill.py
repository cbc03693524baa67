"""Drills of fencing: how often, and which one is on. A drill asks every device of a node for its status only."""

from __future__ import annotations

from noderemedy.model.facts import FactValue
from noderemedy.model.fenceplan import Builtin
from noderemedy.model.ids import FACTS, Kind, Ref, ref
from noderemedy.model.node import Condition, Node
from noderemedy.model.nodefence import digest
from noderemedy.model.time import Span, Wall

SCHEDULE = Kind(FACTS, "DrillSchedule")
DRILL = Kind(FACTS, "Drill")
SCHEDULE_AT: Ref = ref(SCHEDULE, "drills")
FENCING_READY = "FencingReady"  # the condition of a Node
WRONG_DEVICE = "WrongDevice"  # its reason: somebody else's machine would be switched


class DrillSchedule(FactValue, frozen=True):
    """Entered by a program that was told to drill; without it nobody does."""

    every: Span


class Drill(FactValue, frozen=True):
    """The drill of a node that is on, or was the last. Its loss only delays the next one."""

    since: Wall  # when it was due
    runs: tuple[str, ...] = ()
    is_over: bool = False  # all that was asked has answered, or came late


def drill_ref(node: Ref) -> Ref:
    """Beside the Node of that name."""
    return Ref(node.cluster, DRILL, "", node.name)


def host_identity(at: Ref | None) -> str:
    """Which device a BareMetalHost is, also one that nobody names."""
    named = (at.namespace, at.name) if at is not None else ()
    return digest("\n".join((Builtin.HOST_POWER.value, *named)))


def told_by_drills(node: Node) -> Condition | None:
    """What the last drill of a node said of its devices."""
    return next((one for one in node.conditions if one.type == FENCING_READY), None)


def is_found_wrong(node: Node, device: str) -> bool:
    """Whether the word stands that this device is not the node's. One that names no device, of an older version, may
    be about any: it stands for whatever is configured, until the next drill.
    """
    told = told_by_drills(node)
    if told is None or told.status != "False":
        return False
    return device in told.wrong if told.wrong else told.reason == WRONG_DEVICE
