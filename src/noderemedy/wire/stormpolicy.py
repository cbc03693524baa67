"""The storm policies, alarms and limits of a Configuration: when a document starts nothing. Seed 002."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from msgspec.structs import replace

from noderemedy.model.configuration import Alarm, ParkAfter, Policy, SkipCondition
from noderemedy.model.time import Span
from noderemedy.wire.fields import is_object
from noderemedy.wire.placedfields import PlacedFields

PERCENT = re.compile(r"([0-9]{1,3})%?", re.ASCII)
STATUSES = {"true": "True", "false": "False", "unknown": "Unknown"}
COUNT_MAX = 9  # of ten Incidents of a sort that are kept of each target one may be open
OF_ALARM = ("conditionType", "conditionStatus", "nodeEventReason")
OF_POLICY = ("skipWhenUnresponsive", "skipWhenNodeCondition", "oneAtATime", "podsPerMinute")


def read_policy(fields: PlacedFields) -> Policy:
    tree = fields.get("policy")
    if tree is None:
        return Policy()
    if not is_object(tree):
        fields.wrong("policy", tree, f"write an object with {', '.join(OF_POLICY)}")
        return Policy()
    fields.known("policy", tree, OF_POLICY)
    limit = tree.get("podsPerMinute")
    return Policy(
        unresponsive_percent=percent(fields, "policy.skipWhenUnresponsive", tree.get("skipWhenUnresponsive")),
        skip_conditions=skip_conditions(fields, tree.get("skipWhenNodeCondition")),
        one_at_a_time=fields.flag("policy.oneAtATime", tree.get("oneAtATime", False)),
        pods_per_minute=fields.positive("policy.podsPerMinute", limit) if limit is not None else None,
    )


def percent(fields: PlacedFields, path: str, value: Any) -> int | None:
    """A share of the document's nodes; with or without the sign."""
    if value is None:
        return None
    found = PERCENT.fullmatch(str(value)) if isinstance(value, int | str) and not isinstance(value, bool) else None
    if found is None or not 1 <= int(found[1]) <= 100:
        fields.wrong(path, value, "write a percentage from 1% to 100%")
        return None
    return int(found[1])


def skip_conditions(fields: PlacedFields, value: Any) -> tuple[SkipCondition, ...]:
    """Names of conditions (that are True), or type and status; one of them or a list."""
    path, found = "policy.skipWhenNodeCondition", []
    items = value if isinstance(value, list) else [] if value is None else [value]
    for number, item in enumerate(items):
        where = f"{path}[{number}]"
        tree = {"type": item} if isinstance(item, str) else item
        if not is_object(tree):
            fields.wrong(where, item, "write the type of a condition, or type and status")
            continue
        fields.known(where, tree, ("type", "status"))
        kind, status = fields.word(f"{where}.type", tree.get("type")), tree.get("status", True)
        said = STATUSES.get(str(status).lower())
        if said is None:
            fields.wrong(f"{where}.status", status, "write true, false or Unknown")
        if kind and said:
            found.append(SkipCondition(kind, said))
    return tuple(found)


def read_alarms(fields: PlacedFields, tracked: Collection[str]) -> tuple[Alarm, ...]:
    """`tracked`: the problems that thresholds are about."""
    found = []
    for path, item in fields.objects("alarms", fields.get("alarms")):
        fields.known(path, item, (*OF_ALARM, "count", "within"))
        problem = read_problem(fields, path, item, tracked)
        count = kept_count(fields, f"{path}.count", item.get("count"))
        within = fields.duration(f"{path}.within", item.get("within"))
        if problem and count and within:
            found.append(replace(problem, count=count, within=within))
    return tuple(found)


def read_problem(fields: PlacedFields, path: str, item: dict[Any, Any], tracked: Collection[str]) -> Alarm | None:
    """What an alarm counts: a condition, with statuses of its own where no threshold has any, or events."""
    is_event = "nodeEventReason" in item
    if is_event and "conditionType" in item:
        fields.say(f"{path}.conditionType", "an alarm is about a condition or about events; write two alarms")
    field = "nodeEventReason" if is_event else "conditionType"
    name = fields.word(f"{path}.{field}", item.get(field))
    statuses: tuple[str, ...] = ()
    if "conditionStatus" in item:
        statuses = read_statuses(fields, f"{path}.conditionStatus", item["conditionStatus"])
        if is_event or name in tracked:
            told = "events have none" if is_event else f"a threshold says which of {name} count"
            fields.say(f"{path}.conditionStatus", f"{told}; remove it")
    return Alarm(name, 0, Span(0), statuses, is_event) if name else None


def read_statuses(fields: PlacedFields, path: str, value: Any) -> tuple[str, ...]:
    """One status or a list; YAML makes a boolean of `false`."""
    values = value if isinstance(value, list) else [value]
    found = [STATUSES.get(str(one).lower()) if isinstance(one, str | bool) else None for one in values]
    for number, (one, status) in enumerate(zip(values, found, strict=True)):
        if status is None:
            where = f"{path}[{number}]" if isinstance(value, list) else path
            fields.wrong(where, one, "write true, false or Unknown")
    if not found:
        fields.wrong(path, value, "write true, false or Unknown, or a list of them")
    return () if None in found else tuple(sorted({one for one in found if one}))


def kept_count(fields: PlacedFields, path: str, value: Any) -> int | None:
    """No more than there are records of one node: a count that is never reached would be a limit in vain."""
    count = fields.positive(path, value)
    if count is not None and count > COUNT_MAX:
        fields.wrong(path, value, f"write a number from 1 to {COUNT_MAX}: so many Incidents of a node are kept")
    return count


def read_park_after(fields: PlacedFields) -> ParkAfter | None:
    tree = fields.get("parkAfter")
    if tree is None:
        return None
    if not is_object(tree):
        fields.wrong("parkAfter", tree, "write an object with count and within")
        return None
    fields.known("parkAfter", tree, ("count", "within"))
    count = kept_count(fields, "parkAfter.count", tree.get("count"))
    within = fields.duration("parkAfter.within", tree.get("within"))
    return ParkAfter(count, within) if count and within else None
