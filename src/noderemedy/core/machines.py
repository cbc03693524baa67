"""The shared shelf: machines of both groups, and the index that leads from a node to its machine."""

from __future__ import annotations

from noderemedy.model.ids import MACHINE, OPENSHIFT_MACHINE, Kind, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.room import Index

MACHINE_KINDS: tuple[Kind, ...] = (MACHINE, OPENSHIFT_MACHINE)
BY_NODE = "machines by node"


def _node(ref: Ref, machine: Machine) -> tuple[str, ...]:
    return (machine.node_name,) if machine.node_name else ()


INDEXES: tuple[Index, ...] = tuple(Index(BY_NODE, kind, _node) for kind in MACHINE_KINDS)
