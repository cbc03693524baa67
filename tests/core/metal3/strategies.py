"""Random nodes, backups, and whole states of a machine, for the property tests of this room.

A state is an ordinary one, drawn over what the truth table asks, with up to two oddities on top: drawing every field by
itself would rarely pass all gates, and nothing of interest would ever be decided. States come from a number, evenly and
fast; a failure shrinks to the least number that fails.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace
from tests.builders import (
    ASKED,
    GRANTED,
    HOST_AT,
    MACHINE_AT,
    METAL3_CONSUMER,
    NODE_AT,
    NOW,
    a_backup,
    a_claim,
    a_hold,
    a_host,
    a_machine,
    a_node,
    ago,
)

from noderemedy.core.claim import holder_name
from noderemedy.core.metal3.view import MachineView
from noderemedy.model.host import Consumer, Host, Power
from noderemedy.model.machine import Machine
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import Node, NodeBackup, Taint
from noderemedy.model.room import Absent, Entry, Present, Unseen
from noderemedy.model.time import Mono, Span

OURS = holder_name("annotation", MACHINE_AT)
HOLDERS = (OURS, OURS, OURS, None, "somebody else")
KEYS = ("rack", "zone", "a", "b")
GARBAGE = Malformed("garbage")
CORDON = Taint("node.kubernetes.io/unschedulable", "NoSchedule")
maps = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(("1", "2", "")), max_size=3).map(
    lambda found: tuple(sorted(found.items()))
)
taints = st.lists(
    st.sampled_from(
        [
            Taint("dedicated", "NoSchedule", "1"),
            Taint("dedicated", "NoSchedule", "2"),
            Taint("dedicated", "NoExecute"),
            Taint("node.kubernetes.io/unreachable", "NoExecute"),
            CORDON,
        ]
    ),
    max_size=3,
    unique_by=lambda taint: (taint.key, taint.effect),
).map(lambda found: tuple(sorted(found)))
node_uids = st.sampled_from(("node-uid-1", "node-uid-2"))
nodes = st.builds(
    Node, uid=node_uids, labels=maps, annotations=maps, taints=taints, unschedulable=st.booleans(), boot_id=st.just("b")
)
backups = st.builds(
    NodeBackup,
    node_uid=st.sampled_from(("node-uid-1", "node-uid-2", "")),
    labels=maps,
    annotations=maps,
    taints=taints,
    unschedulable=st.booleans(),
)

# --- states of a machine -------------------------------------------------------------------------------------


class State(Struct):
    """A machine, its host and its node as the API may show them; None where there is none."""

    machine: Machine | None
    host: Host | None
    node: Node | None

    def change_machine(self, **changes: Any) -> None:
        self.machine = replace(self.machine, **changes) if self.machine else None

    def change_host(self, **changes: Any) -> None:
        self.host = replace(self.host, **changes) if self.host else None

    def change_node(self, **changes: Any) -> None:
        self.node = replace(self.node, **changes) if self.node else None


def in_seconds(seconds: int) -> Any:
    return NOW.wall + Span.seconds(seconds)


Oddity = Callable[[State], None]
ODDITIES: tuple[Oddity, ...] = (
    lambda state: state.change_machine(cluster_paused=True),
    lambda state: state.change_machine(paused=Paused()),
    lambda state: state.change_machine(paused=Paused(in_seconds(30))),
    lambda state: state.change_machine(paused=Paused(in_seconds(-30))),
    lambda state: state.change_machine(paused=GARBAGE),
    lambda state: state.change_machine(deleting=True),
    lambda state: state.change_machine(host=None),
    lambda state: state.change_machine(host=GARBAGE),
    lambda state: state.change_machine(node_name=None),
    lambda state: state.change_machine(provider_id=""),
    lambda state: state.change_machine(backup=GARBAGE),
    lambda state: state.change_machine(node_deleted_at=GARBAGE),
    lambda state: state.change_machine(node_deleted_at=None),
    lambda state: state.change_host(power=Power.UNKNOWN),
    lambda state: state.change_host(online=False),
    lambda state: state.change_host(paused=True),
    lambda state: state.change_host(detached=True),
    lambda state: state.change_host(power_off_disabled=True),
    lambda state: state.change_host(consumer=None),
    lambda state: state.change_host(consumer=Consumer("Machine", "metal", "worker-9")),
    lambda state: state.change_host(consumer=METAL3_CONSUMER),
    lambda state: state.change_host(hold=None),
    lambda state: state.change_host(hold=GARBAGE),
    lambda state: state.change_host(hold=a_hold(since=in_seconds(-500))),
    lambda state: state.change_node(provider_id="metal3://other"),
    lambda state: state.change_node(provider_id=""),
    lambda state: state.change_node(deleting=True),
    lambda state: state.change_node(boot_id=""),
)
NODES = (
    a_node(),
    a_node(ready="Unknown"),
    a_node(ready="False"),
    a_node("node-uid-2", ready="Unknown"),
    a_node("node-uid-2", labels={}, unschedulable=True),
    a_node(taints=(CORDON, Taint("dedicated", "NoSchedule", "1")), annotations={"a": "1"}),
)


def backup_of(node: Node | None, choice: str) -> NodeBackup | None:
    """None, the backup of this very node, or one of a former node that lacks or has more."""
    if choice == "of the node" and node is not None:
        kept = tuple(taint for taint in node.taints if not taint.key.startswith("node.kubernetes.io/"))
        return NodeBackup(node.uid, node.labels, node.annotations, kept, node.unschedulable)
    if choice == "of another":
        return NodeBackup("node-uid-0", (("old", "1"),), (("rack", "0"),), (Taint("x", "NoSchedule"),), True)
    return None if choice == "none" else a_backup("node-uid-0")


# needs, power, held, and whether there is a node. Every second time it is the row in which most can go wrong.
ROWS = list(product((1, 0), (Power.OFF, Power.ON), (1, 0), (1, 0)))
DELETE_ROW = (1, Power.OFF, 1, 1)
BACKUPS = ("of the node", "of the node", "of the node", "none", "of another", "smaller")


def a_state(chance: Random) -> State:
    """An ordinary state over all rows of the table and all kinds of backups, with up to two oddities."""
    needs, power, held, has_node = DELETE_ROW if chance.random() < 0.4 else chance.choice(ROWS)
    node = chance.choice(NODES) if has_node else None
    backup = backup_of(node, chance.choice(BACKUPS))
    state = State(
        a_machine(needs=bool(needs), backup=backup, node_deleted_at=ago(chance.choice((5, 700))) if backup else None),
        a_host(power=power, held=bool(held)),
        node,
    )
    for oddity in chance.choices(ODDITIES, k=chance.choice((0, 1, 1, 2))):
        oddity(state)
    return state


seeds = st.integers(0, 2**32 - 1)


# --- views of it ---------------------------------------------------------------------------------------------

LIVE, JUST, STALE = NOW.mono, Mono(NOW.mono.ms - 5_000), Mono(NOW.mono.ms - 5_001)
READS = (
    (LIVE, LIVE),
    (LIVE, LIVE),
    (JUST, JUST),
    (None, None),
    (LIVE, None),
    (None, LIVE),
    (STALE, LIVE),
    (LIVE, STALE),
)


def entry_of(obj: Any, confirmed_at: Mono | None) -> Entry:
    return Absent(confirmed_at) if obj is None else Present(obj, "100", Mono(NOW.mono.ms - 60_000), confirmed_at)


def a_view(chance: Random) -> MachineView:
    """A state as the cache shows it: read live now, just in time, too long ago, or never."""
    state = a_state(chance)
    node_read, host_read = chance.choice(READS)
    machine = state.machine or a_machine()
    is_named = machine.host == a_machine().host
    host_entry = entry_of(state.host, host_read) if is_named else Absent()
    if is_named and chance.random() < 0.03:
        host_entry = Unseen()
    return MachineView(
        ref=MACHINE_AT,
        entry=Present(machine, "101", NOW.mono, chance.choice((LIVE, LIVE, STALE, None))),
        machine=machine,
        host_named=machine.host,
        host_at=HOST_AT if is_named else None,
        host_entry=host_entry,
        is_consumer=isinstance(host_entry, Present) and host_entry.obj.consumer == a_host().consumer,
        node_at=NODE_AT if machine.node_name else None,
        node_entry=entry_of(state.node, node_read) if machine.node_name else Absent(),
        need=ASKED,
        told=GRANTED if chance.random() < 0.9 else None,
        claim=a_claim(chance.choice(HOLDERS)) if machine.needs_remediation else None,
    )


views = seeds.map(lambda seed: a_view(Random(seed)))
