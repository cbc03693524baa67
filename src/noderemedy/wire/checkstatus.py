"""The status of a MachineHealthCheck: read from JSON, written as JSON, in the shape of each API version.

Called by `wire/healthchecks.py` for every event of a check, and by `wire/requests.py`. Whatever is in a status was
written by a program, ours or another one: nothing here raises, and what is not ours is kept as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec

from noderemedy.model.checkstatus import (
    ACTING,
    OURS,
    REMEDIATION_ALLOWED,
    REQUEST_AVAILABLE,
    TEMPLATE_AVAILABLE,
    VALID,
    CheckStatus,
    Foreign,
    Told,
    Writer,
)
from noderemedy.wire import shapes
from noderemedy.wire.scalars import wall
from noderemedy.wire.verbs import FIELD_MANAGER

WITHOUT_SEVERITY = "v1beta2"  # conditions of this version on are those of Kubernetes itself
SEVERITIES = {  # of status False; others carry none
    REMEDIATION_ALLOWED: "Warning",
    ACTING: "Info",
    VALID: "Error",
    TEMPLATE_AVAILABLE: "Error",
    REQUEST_AVAILABLE: "Error",
}


def read_status(tree: Any) -> CheckStatus:
    """What a status says. What cannot be read counts as not there, and is written anew."""
    found: dict[Any, Any] = tree if isinstance(tree, dict) else {}
    return CheckStatus(
        expected=number(found.get("expectedMachines")),
        healthy=number(found.get("currentHealthy")),
        allowed=number(found.get("remediationsAllowed")),
        generation=number(found.get("observedGeneration")),
        conditions=read_conditions(found.get("conditions")),
        targets=names(found.get("targets")),
    )


def names(value: Any) -> tuple[str, ...] | None:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else None


def number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def read_conditions(value: Any, ours: tuple[str, ...] = OURS) -> tuple[Told | Foreign, ...]:
    items = value if isinstance(value, list) else ()
    return tuple(one for one in (condition(item, ours) for item in items) if one is not None)


def condition(item: Any, ours: tuple[str, ...] = OURS) -> Told | Foreign | None:
    """One condition; None for what could not be written back, being nested beyond all reason."""
    if not isinstance(item, dict) or item.get("type") not in ours:
        with suppress(RecursionError, UnicodeEncodeError):
            return Foreign(msgspec.json.encode(item).decode())
        return None
    texts = [item.get(name) for name in ("type", "status", "reason", "message", "lastTransitionTime")]
    return Told(*(text if isinstance(text, str) else "" for text in texts))


def other_writers(entries: Iterable[shapes.ManagedFieldsShape]) -> tuple[Writer, ...]:
    """Who but us has written this status."""
    return tuple(
        Writer(one.manager, wall(one.time))
        for one in entries
        if one.subresource == "status" and one.time is not None and one.manager != FIELD_MANAGER
    )


def status_body(status: CheckStatus, version: str) -> dict[str, Any]:
    """The whole of what we write, for an API of this version."""
    generation = {"observedGeneration": status.generation} if status.generation else {}
    return {
        "expectedMachines": status.expected,
        "currentHealthy": status.healthy,
        "remediationsAllowed": status.allowed,
        **generation,
        **({"targets": list(status.targets)} if status.targets is not None else {}),
        "conditions": [condition_body(one, version) for one in status.conditions],
    }


def condition_body(one: Told | Foreign, version: str = WITHOUT_SEVERITY) -> Any:
    """As it is written. Kubernetes' own conditions have all texts; older versions refuse one that is empty."""
    if isinstance(one, Foreign):
        return msgspec.json.decode(one.text)
    texts = {"reason": one.reason, "message": one.message}
    severity = SEVERITIES.get(one.type, "") if one.status == "False" and version != WITHOUT_SEVERITY else ""
    return {
        "type": one.type,
        "status": one.status,
        **({"severity": severity} if severity else {}),
        **{name: text for name, text in texts.items() if text or version == WITHOUT_SEVERITY},
        "lastTransitionTime": one.since,
    }
