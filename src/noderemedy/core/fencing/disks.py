"""Shared disks: what their agents must be told, and which node runs them for another one. Tables; pure.

Called by `agents.py` (before a plan counts) and by `runs.py` (when something is ordered). These agents talk to a disk
and not to the network. Rule 1: a node is let in by itself, and cut off by another one that has the same disks and a key
of its own: whoever has no key can take none away. Rule 2: names and keys must mean the same on every node, letter by
letter, or "its key is not there" would be said of another disk, or of a key that is written otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from noderemedy.core.fencing.letters import LETTERS_MAX
from noderemedy.model.drill import told_by_drills
from noderemedy.model.fenceplan import FENCE_PLAN, AgentMethod, FencePlan, Method
from noderemedy.model.ids import Ref
from noderemedy.model.nodefence import fence_ref
from noderemedy.model.room import Index, Present, Reader, Unreadable, known
from noderemedy.model.run import Deed, Order

KEYS = {"fence_scsi": "key", "fence_mpath": "plug"}  # by agent: the parameter that holds the key of a node
DEVICES = "devices"
# As the agents read it back from a disk: they compare letters, and `0A1` would never be found there.
KEY = re.compile(r"[1-9a-f][0-9a-f]{0,15}", re.ASCII)
# By the number that no other disk in the world has. /dev/sdb, /dev/mapper/mpatha, and a name by model and serial number
# (the first disk of every QEMU is ata-QEMU_HARDDISK_QM00001) may be another disk on the next node, not shared at all.
STEADY = re.compile(r"(?:/dev/disk/by-id/(?:wwn-0x|scsi-3|dm-uuid-mpath-3)|/dev/mapper/3)([0-9a-f]{16,32})", re.ASCII)
BY_ID = "write /dev/disk/by-id/wwn-0x…"
UNSHARED = "no other node has a key for the same devices, so that nobody could take its key away; configure another one"
BY_DISKS = "fence plans by disks"
STORE = "the runner keeps the key of its node in the usual place; leave it out"
ALONE = "no other node that is Ready, and not fenced itself, has a key for the same devices, and could use it"


class Peer(Struct, frozen=True):
    """A node that can cut another one off from their disks, and the key under which it is registered there."""

    node: str
    key: str
    disks: str
    is_doubtful: bool = False  # a drill found something wrong with its devices


def unsteady(agent: str, values: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with the key and the disks of a method, by parameter."""
    if agent not in KEYS:
        return
    name = KEYS[agent]
    key, devices = values.get(name, ""), listed(values)
    if "store_path" in values:
        yield f"parameter store_path: {STORE}"
    if name != "key" and "key" in values:
        yield f"parameter key: {agent} takes it for its {name}; write {name}= instead"
    if not KEY.fullmatch(key):
        shown = f"{key[:LETTERS_MAX]!r} is no key as disks tell it" if key else f"{agent} requires it"
        yield f"parameter {name}: {shown}; write up to 16 of 0-9 and a-f, small, without 0x and zeros before it"
    if wrong := [one for one in devices if not STEADY.fullmatch(one)]:
        yield f"parameter {DEVICES}: {wrong[0][:LETTERS_MAX]!r} may be another disk on another node; {BY_ID}"
    elif not devices:
        yield f"parameter {DEVICES}: {agent} requires it; {BY_ID}"


def listed(values: Mapping[str, str]) -> list[str]:
    """As the agents split them; a blank is part of a name, which is refused then."""
    return [one for one in values.get(DEVICES, "").split(",") if one]


def each(order: Order) -> list[str]:
    """The disks of an order; none of one that is about no disk."""
    return listed(dict(order.parameters)) if order.agent in KEYS else []


def number(device: str) -> str:
    """Of a disk, the same under each of its names."""
    found = STEADY.fullmatch(device)
    return found[1] if found else device


def at_odds(methods: Iterable[Method]) -> Iterator[tuple[str, str]]:
    """By method: another key than an earlier one has at the same disk. The one of them that lets the node in stays."""
    keys: dict[str, str] = {}
    for method in methods:
        if isinstance(method, AgentMethod) and method.agent in KEYS:
            values, name = dict(method.parameters), KEYS[method.agent]
            others = {keys.setdefault(number(one), values[name]) for one in listed(values)} - {values[name]}
            if others:
                yield method.name, f"parameter {name}: another method has {min(others)} at the same disk; write one key"


def disks_of(method: AgentMethod) -> str:
    """What nodes have in common that can cut each other off; "" if a method is about no disk."""
    return f"{method.agent} {dict(method.parameters).get(DEVICES, '')}" if method.agent in KEYS else ""


def keys_of(plan: FencePlan) -> dict[str, str]:
    """The keys of a node, by disks."""
    found = [one for one in plan.agent_methods if one.agent in KEYS]
    return {disks_of(one): dict(one.parameters).get(KEYS[one.agent], "") for one in found}


def peers_of(plan: FencePlan, reader: Reader) -> tuple[Peer, ...]:
    """Who could cut the node of this plan off from its disks; nobody where it has none."""
    return tuple(
        peer
        for disks in keys_of(plan)
        for found in reader.find(BY_DISKS, disks)
        if (peer := fit(found, disks, reader)) and peer.node != plan.node.name
    )


def fit(found: Ref, disks: str, reader: Reader) -> Peer | None:
    """A node with these disks, if what is bound to it would be carried out: it is Ready, not fenced, its plan holds."""
    entry = reader.read(found)
    if not isinstance(entry, Present) or entry.obj.problems or entry.obj.is_pending:
        return None
    at, key = entry.obj.node, keys_of(entry.obj)[disks]
    node = reader.read(at)
    if not isinstance(node, Present) or not node.obj.is_ready or is_fenced(at, reader):
        return None
    told = told_by_drills(node.obj)
    return Peer(at.name, key, disks, is_doubtful=told is not None and told.status != "True")


def is_fenced(node: Ref, reader: Reader) -> bool:
    """Whether a fence is about it, be it one that nobody can read, or could."""
    found = reader.read(fence_ref(node))
    fence = known(found)
    return isinstance(found, Unreadable) if fence is None else not fence.is_final


def is_alone(peers: tuple[Peer, ...], method: AgentMethod) -> bool:
    """Whether nobody could run a method that needs the disks of another node."""
    return bool(disks_of(method)) and chosen(peers, method, 0) is None


def unshared(plan: FencePlan, reader: Reader) -> tuple[str, ...]:
    """The methods of a plan whose disks no other node has, be it that it is sick: told before they are needed."""
    lonely = {disks for disks in keys_of(plan) if reader.tally(BY_DISKS, disks) <= 1}
    found = [one for one in plan.agent_methods if Deed.OFF in one.deeds and disks_of(one) in lonely]
    return tuple(dict.fromkeys(one.name for one in found))


def chosen(peers: tuple[Peer, ...], method: AgentMethod, attempt: int) -> Peer | None:
    """Another one at every attempt: one that does not do it must not be in the way for ever."""
    found = [one for one in peers if one.disks == disks_of(method)]
    found.sort(key=lambda one: (one.is_doubtful, one.node))
    return found[attempt % len(found)] if found else None


INDEXES = (Index(BY_DISKS, FENCE_PLAN, lambda ref, plan: tuple(keys_of(plan))),)
