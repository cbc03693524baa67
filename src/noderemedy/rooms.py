"""Ring 3: the table of all rooms. Programs take it from here, and RBAC is generated from what rooms may ask for."""

from __future__ import annotations

from noderemedy.core import claimshelf, clusters, outofservice
from noderemedy.core.budget import health
from noderemedy.core.budget import room as budget
from noderemedy.core.budget import spec as budget_spec
from noderemedy.core.budget import status as budget_status
from noderemedy.core.fencing import configs as fence_configs
from noderemedy.core.fencing import describing, drilling, fence
from noderemedy.core.fencing import plan as fence_plan
from noderemedy.core.fencing import request as fence_request
from noderemedy.core.healthcheck import checks, remediation, specs, status, targets, verdicts
from noderemedy.core.incident import diary, nodediary, podlists, records, shelf
from noderemedy.core.metal3 import annotation
from noderemedy.core.metal3 import remediation as metal3_remediation
from noderemedy.core.owner import replacing
from noderemedy.core.remedy import documents, policies, remedy, repeats, thresholds
from noderemedy.model.ids import CONFIG_MAP, FACTS, INCIDENT, JOB, LEASE, SYSTEM, Kind
from noderemedy.model.room import Room

ROOMS: tuple[Room, ...] = (
    verdicts.ROOM,
    specs.ROOM,
    checks.ROOM,
    targets.ROOM,
    status.ROOM,
    clusters.ROOM,
    remediation.ROOM,
    annotation.ROOM,
    replacing.ROOM,
    metal3_remediation.ROOM,
    outofservice.ROOM,
    fence_plan.ROOM,
    describing.ROOM,
    fence_configs.ROOM,
    fence.ROOM,
    fence_request.ROOM,
    documents.ROOM,
    thresholds.ROOM,
    policies.ROOM,
    repeats.ROOM,
    remedy.ROOM,
    drilling.ROOM,
    health.ROOM,
    budget.ROOM,
    diary.ROOM,
    nodediary.ROOM,
    podlists.ROOM,
    records.ROOM,
    shelf.ROOM,
    claimshelf.ROOM,
    budget_spec.ROOM,
    budget_status.ROOM,
)


# Kinds that are watched in one namespace only: the rest of them is none of our business.
NARROWED: dict[Kind, str] = {LEASE: SYSTEM, CONFIG_MAP: SYSTEM, INCIDENT: SYSTEM, JOB: SYSTEM}


def watched(rooms: tuple[Room, ...] = ROOMS) -> tuple[Kind, ...]:
    """Every kind of the API that some room watches, once, in order."""
    return tuple(dict.fromkeys(kind for room in rooms for kind in room.watches if kind.group != FACTS))
