"""A Node from what the API sends: the fields that rooms judge by. Called for every event of every node.

What says the same on thousands of nodes is kept once. Our own records are fields of their own, and no annotations: a
backup must not bring them back. Nor is a person's wish for a repair: it was for the Node that this repair takes away,
and our own admission policy would refuse the whole restore for it.
"""

from __future__ import annotations

import re
import sys
from datetime import datetime
from functools import lru_cache

from msgspec.structs import replace

from noderemedy.model.drill import FENCING_READY
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Condition, Node, OutOfService, Taint
from noderemedy.wire import names, shapes
from noderemedy.wire.remedies import read_record
from noderemedy.wire.scalars import read_pause, read_wall, wall

CONDITIONS_KNOWN = 32_768  # each node has four or five, and most of them tell of the same hour
PAIRS_KNOWN = 2_048  # labels and annotations that were met lately: those of one node only pass through
TAINTS_KNOWN = 256
WRONG = re.compile(r" \(wrong: device ([0-9a-f]+(?:, [0-9a-f]+)*)\)\Z")
REMEDIES = frozenset({names.REMEDY, names.REMEDIED_AT, names.REMEDIATION_TIMESTAMP, names.REMEDIATION_PODNAME})
RECORDS = REMEDIES | {names.OUT_OF_SERVICE_BY}
PASSING = RECORDS | {names.REPAIR}  # what is about this very Node, and not about its successor


def node(shape: shapes.NodeShape) -> Node:
    meta, spec = shape.metadata, shape.spec or shapes.NodeSpec()
    notes = meta.annotations or {}
    status = shape.status or shapes.NodeStatus()
    return Node(
        uid=meta.uid,
        boot_id=status.node_info.boot_id if status.node_info else "",
        provider_id=spec.provider_id,
        unschedulable=spec.unschedulable,
        deleting=meta.deletion_timestamp is not None,
        labels=pairs(meta.labels),
        annotations=pairs(meta.annotations) if PASSING.isdisjoint(notes) else others(notes),
        taints=taints(spec.taints),
        conditions=tuple(map(told, status.conditions or ())),
        repair_now=names.REPAIR in notes,
        paused=read_pause(notes[names.PAUSED]) if names.PAUSED in notes else None,
        addresses=tuple(one.address for one in status.addresses or ()),
        remedy=read_record(notes[names.REMEDY]) if names.REMEDY in notes else None,
        remedied_at=read_wall(notes[names.REMEDIED_AT]) if names.REMEDIED_AT in notes else None,
        created=wall(meta.creation_timestamp) if meta.creation_timestamp else None,
        kubelet=sys.intern(status.node_info.kubelet_version) if status.node_info else "",
        system_uuid=status.node_info.system_uuid if status.node_info else "",
        out_of_service=read_mark(notes[names.OUT_OF_SERVICE_BY]) if names.OUT_OF_SERVICE_BY in notes else None,
    )


def read_mark(text: str) -> OutOfService | Malformed:
    """Room, request, uid and boot id in one line; without a boot id three words."""
    words = text.split(" ")
    if len(words) not in (3, 4) or not all(words):
        return Malformed(f"{names.OUT_OF_SERVICE_BY}: {text[:60]!r}")
    return OutOfService(*words)


def told(shape: shapes.NodeCondition) -> Condition:
    """A condition of a Node: without its message, but for what we ourselves say in ours."""
    known = condition(shape)
    return replace(known, wrong=wrong_devices(shape.message)) if shape.type == FENCING_READY else known


def condition(shape: shapes.ConditionShape) -> Condition:
    return brief(shape.type, shape.status, shape.last_transition_time, shape.reason)


@lru_cache(maxsize=CONDITIONS_KNOWN)
def brief(kind: str, status: str, since: datetime | None, reason: str) -> Condition:
    """A condition says the same in a thousand heartbeats: it is made once, and kept once."""
    moment = wall(since) if since else None
    return Condition(sys.intern(kind), sys.intern(status), moment, sys.intern(reason))


def naming(message: str, devices: tuple[str, ...]) -> str:
    """A message that says which devices are not the node's: a corrected mapping names others."""
    return f"{message} (wrong: device {', '.join(devices)})" if devices else message


def wrong_devices(message: str) -> tuple[str, ...]:
    found = WRONG.search(message)
    return tuple(found[1].split(", ")) if found else ()


def taints(shown: list[shapes.TaintShape] | None) -> tuple[Taint, ...]:
    """Control planes always carry some, and new nodes do."""
    made = [known_taint(one.key, one.effect, one.value) for one in shown or ()]
    return tuple(sorted(made)) if len(made) > 1 else tuple(made)


@lru_cache(maxsize=TAINTS_KNOWN)
def known_taint(key: str, effect: str, value: str) -> Taint:
    return Taint(sys.intern(key), sys.intern(effect), sys.intern(value))


def others(notes: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """The annotations that a successor shall have, too."""
    return pairs({key: value for key, value in notes.items() if key not in PASSING})


def pairs(mapping: dict[str, str] | None) -> tuple[tuple[str, str], ...]:
    """Labels and annotations, sorted. Most are the same on thousands of nodes: each pair is kept once."""
    return tuple(sorted(map(known_pair, mapping, mapping.values()))) if mapping else ()


@lru_cache(maxsize=PAIRS_KNOWN)
def known_pair(key: str, value: str) -> tuple[str, str]:
    return sys.intern(key), sys.intern(value)
