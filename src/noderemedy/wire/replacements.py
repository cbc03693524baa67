"""What the reference owner reads of a Machine, and writes on it: its record, and what a successor takes over.

Called by `wire/objects.py` for Machines that named us their owner, and by `wire/requests.py`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from noderemedy.model.meta import Malformed
from noderemedy.model.replacement import Replacement, Step
from noderemedy.wire import names
from noderemedy.wire.scalars import read_json, wall

# What belongs to one machine and not to the next: our own notes, requests of people, and where it lives.
LEFT_BEHIND = (
    names.NEEDS_REMEDIATION,
    names.MACHINE_HOST,
    names.REMEDIATE,
    "kubectl.kubernetes.io/last-applied-configuration",
)
LEFT_BEHIND_PREFIXES = ("node-remedy.dev/", "remediation.metal3.io/")
OF_ONE_MACHINE = ("providerID",)


class ReplacementShape(Struct):
    """The JSON of the record."""

    name: str
    since: datetime
    step: Step
    at: datetime | None = None
    token: int = 0


def read_replacement(text: str) -> Replacement | Malformed:
    shape = read_json(text, ReplacementShape)
    if isinstance(shape, Malformed):
        return shape
    if not shape.name:
        return Malformed("it names no successor")
    at = wall(shape.at) if shape.at else None
    return Replacement(shape.name, wall(shape.since), shape.step, at, shape.token)


def replacement_text(record: Replacement, token: int) -> str:
    at = {"at": str(record.at)} if record.at else {}
    body = {"name": record.name, "since": str(record.since), "step": record.step.value, **at, "token": token}
    return msgspec.json.encode(body).decode()


def template_text(labels: dict[str, str] | None, notes: dict[str, str], spec: dict[str, Any]) -> str:
    """What a successor of this Machine takes over, as JSON: labels, annotations, spec."""
    kept = {key: value for key, value in notes.items() if key == names.OWNER or not is_left_behind(key)}
    wanted = {key: value for key, value in spec.items() if key not in OF_ONE_MACHINE}
    body = {"annotations": kept, "labels": labels or {}, "spec": wanted}
    return msgspec.json.encode(body, order="sorted").decode()


def is_left_behind(key: str) -> bool:
    return key in LEFT_BEHIND or key.startswith(LEFT_BEHIND_PREFIXES)


def successor_body(name: str, namespace: str, template: str, replaces: str) -> dict[str, Any]:
    """The successor, all but its apiVersion and kind; it names the uid of the Machine that it follows."""
    wanted: dict[str, Any] = msgspec.json.decode(template)
    notes = {**wanted["annotations"], names.REPLACES: replaces}
    metadata = {"name": name, "namespace": namespace, "labels": wanted["labels"], "annotations": notes}
    return {"metadata": metadata, "spec": wanted["spec"]}


def own_parts(spec: dict[str, Any]) -> tuple[str, ...]:
    """Objects that a spec names and that cannot serve a second machine: all but templates."""
    bootstrap = spec.get("bootstrap")
    named = {
        "spec.infrastructureRef": spec.get("infrastructureRef"),
        "spec.bootstrap.configRef": bootstrap.get("configRef") if isinstance(bootstrap, dict) else None,
    }
    return tuple(f"{path} ({kind_of(part)})" for path, part in named.items() if part and not is_template(part))


def kind_of(part: Any) -> str:
    return str(part.get("kind") or "") if isinstance(part, dict) else ""


def is_template(part: Any) -> bool:
    return kind_of(part).endswith("Template")
