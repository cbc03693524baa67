"""A RemediationBudget out of the API: every field typed, and everything that is wrong with it in one list.

Called for each event of the object. The schema of the CRD refuses most mistakes at once; files, and clusters with an
older schema, are read by the same rules here.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from noderemedy.model.budgetstatus import OURS, BudgetStatus
from noderemedy.model.healthcheck import Count, Percent
from noderemedy.model.meta import Malformed
from noderemedy.model.remediationbudget import BUDGET_AT, DEFAULT, Allowance, Opening, RemediationBudget
from noderemedy.model.time import Span
from noderemedy.wire import names, shapes
from noderemedy.wire.checkstatus import condition_body, number, read_conditions
from noderemedy.wire.fields import Fields
from noderemedy.wire.scalars import read_duration, read_pause

PERCENT = re.compile(r"(100|[1-9]?[0-9])%", re.ASCII)
CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])", re.ASCII)
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DAY_MINUTES = 24 * 60
PODS_REMEDY = "write a number from 1 on; to stop all repairs write maxInFlight: 0"
REMEDY = 'write a number from 0 on, or a percentage from "0%" to "100%"'


class BudgetShape(Struct):
    """A RemediationBudget. Its spec is read field by field: garbage in it must be told, not refused."""

    metadata: shapes.DatedMetadata
    spec: Any = None
    status: Any = None


def remediation_budget(shape: BudgetShape) -> RemediationBudget:
    meta, fields = shape.metadata, Fields(shape.spec)
    notes = meta.annotations or {}
    if meta.name != BUDGET_AT.name:
        fields.note(f"metadata.name: {meta.name}; there is one budget, and its name is {BUDGET_AT.name}")
    return RemediationBudget(
        uid=meta.uid,
        max_unhealthy=limit(fields, "maxUnhealthy") or DEFAULT.max_unhealthy,
        max_in_flight=allowance(fields, "maxInFlight", DEFAULT.max_in_flight),
        max_per_hour=allowance(fields, "maxPerHour", DEFAULT.max_per_hour),
        topology_key=topology_key(fields),
        domain_max_unhealthy=limit(fields, "perDomain.maxUnhealthy"),
        pods_per_minute=pods_per_minute(fields),
        openings=tuple(found for path, item in windows(fields) if (found := opening(fields, path, item)) is not None),
        cooldown=cooldown(fields),
        paused=read_pause(notes[names.PAUSED]) if names.PAUSED in notes else None,
        generation=meta.generation,
        deleting=meta.deletion_timestamp is not None,
        problems=fields.problems,
        status=read_status(shape.status),
    )


def limit(fields: Fields, path: str) -> Count | Percent | None:
    value = fields.get(path)
    if value is None:
        return None
    if isinstance(value, str) and PERCENT.fullmatch(value):
        return Percent(int(value[:-1]))
    found = fields.whole(path, value, REMEDY)
    return Count(found) if isinstance(found, int) else None


def allowance(fields: Fields, path: str, default: Allowance) -> Allowance:
    """A share is at least one, or a small cluster would repair nothing; 0 and 0% are a stop."""
    match limit(fields, path):
        case Count(n):
            return Allowance(n)
        case Percent(p):
            return Allowance(min(p, 1), p)
        case _:
            return default


def topology_key(fields: Fields) -> str:
    value = fields.get("perDomain.topologyKey")
    return DEFAULT.topology_key if value is None else fields.word("perDomain.topologyKey", value) or ""


def pods_per_minute(fields: Fields) -> int | None:
    """A limit that cannot be read is the strictest one: it must not turn into no limit."""
    value = fields.get("podsPerMinute")
    if value is None:
        return None
    found = fields.whole("podsPerMinute", value, PODS_REMEDY)
    if found == 0:
        fields.wrong("podsPerMinute", value, PODS_REMEDY)
    return found if isinstance(found, int) and found else 1


def windows(fields: Fields) -> list[tuple[str, dict[Any, Any]]]:
    return fields.objects("windows", fields.get("windows"))


def opening(fields: Fields, path: str, item: dict[Any, Any]) -> Opening | None:
    begins, ends = clock(fields, f"{path}.from", item.get("from")), clock(fields, f"{path}.to", item.get("to"))
    days = weekdays(fields, f"{path}.days", item.get("days"))
    if item.get("timeZone") not in (None, "UTC"):
        fields.wrong(f"{path}.timeZone", item["timeZone"], "write the times in UTC")
    if begins is None or ends is None or days is None:
        return None
    return Opening(days, begins, (ends - begins - 1) % DAY_MINUTES + 1)


def clock(fields: Fields, path: str, value: Any) -> int | None:
    """A time of day as minutes. YAML 1.1 reads 22:00 without quotes as the number 1320: that is said."""
    found = CLOCK.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        fields.wrong(path, value, 'write a time of day in quotes, like "22:00"')
        return None
    return int(found[1]) * 60 + int(found[2])


def weekdays(fields: Fields, path: str, value: Any) -> tuple[int, ...] | None:
    if value is None:
        return tuple(range(7))
    if not isinstance(value, list) or not value:
        fields.wrong(path, value, f"write a list of {', '.join(DAYS)}")
        return None
    strange = [(place, day) for place, day in enumerate(value) if day not in DAYS]
    for place, day in strange:
        fields.wrong(f"{path}[{place}]", day, f"write one of {', '.join(DAYS)}")
    return None if strange else tuple(sorted({DAYS.index(day) for day in value}))


def cooldown(fields: Fields) -> Span:
    value = fields.get("cooldown")
    if value is None:
        return DEFAULT.cooldown
    length = read_duration(value) if isinstance(value, str) else Malformed("")
    if isinstance(length, Span):
        return length
    fields.wrong("cooldown", value, 'write a duration in quotes, like "5m"')
    return DEFAULT.cooldown


# --- status ------------------------------------------------------------------------------------------------------


def read_status(tree: Any) -> BudgetStatus:
    """What a status says. What cannot be read counts as not there, and is written anew."""
    found: dict[Any, Any] = tree if isinstance(tree, dict) else {}
    return BudgetStatus(
        in_flight=number(found.get("inFlight")),
        unhealthy=number(found.get("unhealthy")),
        total=number(found.get("total")),
        started=number(found.get("startedLastHour")),
        generation=number(found.get("observedGeneration")),
        conditions=read_conditions(found.get("conditions"), OURS),
    )


def status_body(status: BudgetStatus) -> dict[str, Any]:
    return {
        "observedGeneration": status.generation,
        "inFlight": status.in_flight,
        "unhealthy": status.unhealthy,
        "total": status.total,
        "startedLastHour": status.started,
        "conditions": [condition_body(one) for one in status.conditions],
    }
