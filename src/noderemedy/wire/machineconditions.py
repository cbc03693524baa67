"""The conditions of a Machine: read from JSON and written as JSON, in the places where each API version keeps them.

    v1alpha3, v1alpha4   status.conditions: the older generation, which is the only one
    v1beta1              status.conditions: the older one; status.v1beta2.conditions: the current one
    v1beta2              status.conditions: the current one; status.deprecated.v1beta1.conditions: the older one

Called by `wire/objects.py` for every event of a Machine, and by `wire/requests.py`. OpenShift's Machines have
conditions of their own, which are nobody's business here. What is not ours is kept as it is.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec

from noderemedy.model.checkstatus import Foreign
from noderemedy.model.ids import MACHINE
from noderemedy.model.machineconditions import OURS, Conditions, Graded, MachineConditions
from noderemedy.wire.checkstatus import number

CURRENT_VERSION = "v1beta2"  # from this one on, `status.conditions` is the current generation
SINGLE = ("v1alpha3", "v1alpha4")  # versions with the older generation only
TEXTS = ("type", "status", "reason", "message", "lastTransitionTime", "severity")
REQUIRED = TEXTS[:-1]  # by the schema of the current generation, even if it is empty


def read_conditions(
    api_version: str, own: list[Any] | None, newer: list[Any] | None, older: list[Any] | None
) -> MachineConditions:
    """`own` is status.conditions, `newer` and `older` what is kept aside; None where there is no such place."""
    group, _, version = api_version.partition("/")
    if group != MACHINE.group:
        return MachineConditions()
    if version == CURRENT_VERSION:
        return MachineConditions(conditions(own or []), conditions(older), is_current=True)
    return MachineConditions(conditions(newer), conditions(own or []))


def conditions(items: list[Any] | None) -> Conditions | None:
    if items is None:
        return None
    return tuple(one for one in map(condition, items) if one is not None)


def condition(item: Any) -> Graded | Foreign | None:
    """One condition; None for what could not be written back, being nested beyond all reason."""
    if not isinstance(item, dict) or item.get("type") not in OURS:
        with suppress(RecursionError, UnicodeEncodeError):
            return Foreign(msgspec.json.encode(item).decode())
        return None
    type, status, reason, message, since, severity = (word(item.get(name)) for name in TEXTS)
    return Graded(type, status, reason, message, since, severity, number(item.get("observedGeneration")))


def word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def conditions_body(current: Conditions | None, older: Conditions | None, version: str) -> dict[str, Any]:
    """The status that says so, for an API of this version. What is None is left as it is."""
    new = {"conditions": [condition_body(one, REQUIRED) for one in current]} if current is not None else None
    old = {"conditions": [condition_body(one) for one in older]} if older is not None else None
    if version == CURRENT_VERSION:
        return {**(new or {}), **({"deprecated": {"v1beta1": old}} if old else {})}
    return {**(old or {}), **({"v1beta2": new} if new and version not in SINGLE else {})}


def condition_body(one: Graded | Foreign, required: tuple[str, ...] = ()) -> Any:
    """As it is written: an empty text is left out, unless it is required."""
    if isinstance(one, Foreign):
        return msgspec.json.decode(one.text)
    texts = zip(TEXTS, (one.type, one.status, one.reason, one.message, one.since, one.severity), strict=True)
    body: dict[str, Any] = {name: text for name, text in texts if text or name in required}
    return {**body, **({"observedGeneration": one.generation} if one.generation else {})}
