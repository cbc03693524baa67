"""The storm policies, alarms and limits of a Configuration: when a document starts nothing. Seed 002."""

from __future__ import annotations

import re
from typing import Any

from noderemedy.model.configuration import Alarm, ParkAfter, Policy, SkipCondition
from noderemedy.wire.fields import is_object
from noderemedy.wire.placedfields import PlacedFields

PERCENT = re.compile(r"([0-9]{1,3})%?", re.ASCII)
STATUSES = {"true": "True", "false": "False", "unknown": "Unknown"}
COUNT_MAX = 9  # of ten Incidents that are kept of each target one may be open
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


def read_alarms(fields: PlacedFields) -> tuple[Alarm, ...]:
    found = []
    for path, item in fields.objects("alarms", fields.get("alarms")):
        fields.known(path, item, ("conditionType", "count", "within"))
        kind = fields.word(f"{path}.conditionType", item.get("conditionType"))
        count = kept_count(fields, f"{path}.count", item.get("count"))
        within = fields.duration(f"{path}.within", item.get("within"))
        if kind and count and within:
            found.append(Alarm(kind, count, within))
    return tuple(found)


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
