"""The backup of a Node that is deleted and comes back: JSON text in an annotation of its Machine, or in a status."""

from __future__ import annotations

import msgspec

from noderemedy.model.meta import Malformed
from noderemedy.model.node import NodeBackup, Taint
from noderemedy.wire import nodes, shapes
from noderemedy.wire.scalars import read_json


def backup(text: str) -> NodeBackup | Malformed:
    shape = read_json(text, shapes.BackupShape)
    if isinstance(shape, Malformed):
        return shape
    return NodeBackup(
        node_uid=shape.node_uid,
        labels=tuple(sorted(shape.labels.items())),
        annotations=nodes.others(shape.annotations),  # an older version kept some that are about the former Node
        taints=tuple(sorted(Taint(taint.key, taint.effect, taint.value) for taint in shape.taints)),
        unschedulable=shape.unschedulable,
    )


def backup_text(backup: NodeBackup) -> str:
    record = {
        "nodeUid": backup.node_uid,
        "labels": dict(backup.labels),
        "annotations": dict(backup.annotations),
        "taints": taint_list(backup.taints),
        "unschedulable": backup.unschedulable,
    }
    return msgspec.json.encode(record).decode()


def taint_list(taints: tuple[Taint, ...]) -> list[dict[str, str]]:
    return [taint(item.key, item.value, item.effect) for item in taints]


def taint(key: str, value: str, effect: str) -> dict[str, str]:
    return {"key": key, "effect": effect, **({"value": value} if value else {})}
