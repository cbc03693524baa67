"""The shared shelf: machines of both groups, the index that leads from a node to its machine, and whose a node is."""

from __future__ import annotations

from noderemedy.model.ids import MACHINE, NODE, OPENSHIFT_MACHINE, Kind, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.node import Node
from noderemedy.model.room import Index

MACHINE_KINDS: tuple[Kind, ...] = (MACHINE, OPENSHIFT_MACHINE)
BY_NODE = "machines by node"


def _node(ref: Ref, machine: Machine) -> tuple[str, ...]:
    return (machine.node_name,) if machine.node_name else ()


def node_at(key: Ref, machine: Machine) -> Ref | None:
    """Where the Node of a machine is; None while the machine names none."""
    return Ref(key.cluster, NODE, "", machine.node_name) if machine.node_name else None


INDEXES: tuple[Index, ...] = tuple(Index(BY_NODE, kind, _node) for kind in MACHINE_KINDS)


def is_own(node: Node, machine: Machine) -> bool:
    """A node of that name with another providerID is another machine's (invariant S7)."""
    return not machine.provider_id or node.provider_id in ("", machine.provider_id)
