"""Metal3Remediations for tests: builders, and one look of the room at a handful of objects."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.builders import (
    EVERYBODY,
    HOST_AT,
    MACHINE_AT,
    NODE_AT,
    NOW,
    REMEDIATION_AT,
    RESOURCES,
    a_host,
    a_machine,
    a_node,
    ago,
)

from noderemedy.core.claim import holder_name, lease_of
from noderemedy.core.metal3 import remediation as room
from noderemedy.core.metal3.phases import TABLE
from noderemedy.core.metal3.remediationview import INDEXES, RelicView, RemediationView, what_is_waited_for
from noderemedy.engine.cache import Cache
from noderemedy.model.budget import Granted, Refused, answer_ref, need
from noderemedy.model.checkstatus import SUCCEEDED, Told
from noderemedy.model.decision import Decision
from noderemedy.model.host import Hold, Host, MarkName, Power
from noderemedy.model.ids import LEASE, OPENSHIFT_MACHINE, REMEDIATION, Ref, ref
from noderemedy.model.lease import Lease
from noderemedy.model.node import Node
from noderemedy.model.outcome import Seen
from noderemedy.model.remediation import FINALIZER, Evidence, Metal3Remediation, Phase, Progress
from noderemedy.model.room import Unreadable
from noderemedy.model.time import Mono, Now
from noderemedy.model.workload import PodsOfNode, VolumesOfNode, pods_at, volumes_at

UID = "remediation-uid-1"
LONG_AGO = Mono(0)
GRANTED = Granted(MACHINE_AT, NOW.wall, asked=EVERYBODY)
OF_BEFORE = Granted(MACHINE_AT, ago(600))  # as told to a repair that runs
HOLDER = holder_name("metal3-remediation", MACHINE_AT)
SICK = a_node(ready="Unknown")
BACK = a_node(boot_id="boot-2")
OUR_MARKS = tuple((name, "node-remedy/worker-0") for name in MarkName)
EVIDENCE = Evidence("machine-uid-1", "node-uid-1", "boot-1", "host-uid-1")


def a_remediation(
    phase: Phase = Phase.NEW,
    *,
    seconds: float = 10,
    attempt: int = 1,
    evidence: Evidence = EVIDENCE,
    recovered: bool = False,
    **changes: Any,
) -> Metal3Remediation:
    """One that entered its phase so many seconds ago."""
    begun = phase is not Phase.NEW
    status, reason = ("True", "NodeReady") if recovered else (TABLE[phase].status, TABLE[phase].reason)
    progress = Progress(
        phase=phase,
        since=ago(seconds) if begun else None,
        retry_count=attempt - 1,
        last_remediated=ago(seconds) if begun else None,
        evidence=evidence if begun else Evidence(),
        conditions=(Told(SUCCEEDED, status, reason, "", str(ago(seconds))),) if begun else (),
    )
    made = Metal3Remediation(
        UID, progress=progress, finalizers=(FINALIZER,) if begun else (), created=ago(3_600), generation=1
    )
    return replace(made, **changes)


def a_held_host(power: Power = Power.OFF, *, was_on: bool = True, uid: str = UID, **changes: Any) -> Host:
    """A host that is held for a remediation."""
    record = Hold("machine-uid-1", ago(30), "node-uid-1", "boot-1", 7, "metal/worker-0", was_on)
    return replace(a_host(power=power), held_for=((uid, record),), **changes)


def a_world(
    remediation: Metal3Remediation | None, *, host: Any = None, node: Node | Unreadable | None = SICK, **others: Any
) -> dict[Ref, Any]:
    """The objects of one machine, and a remediation for it; `machine=None` for one without a machine."""
    found: dict[Ref, Any] = {
        REMEDIATION_AT: remediation,
        MACHINE_AT: others.pop("machine", a_machine()),
        HOST_AT: host if host is not None else a_host(),
        NODE_AT: node,
        **others.pop("more", {}),
    }
    assert not others
    return {at: obj for at, obj in found.items() if obj is not None}


def a_reader(
    objects: dict[Ref, Any],
    *,
    stale: tuple[Ref, ...] = (),
    pods: Any = None,
    volumes: Any = None,
    told: Granted | Refused | None = GRANTED,
    holder: str | None = HOLDER,
    now: Now = NOW,
    known: Mono = LONG_AGO,
) -> Cache:
    """The engine's cache with these objects, all read live just now but those that are stale, and known for long.

    Unless said otherwise the budget was asked and has granted the repair and what begins next, and the claim is ours.
    """
    cache = Cache(INDEXES)
    for kind in (*RESOURCES, LEASE):
        cache.end_list("", kind)
    wants = objects.get(REMEDIATION_AT)
    if told is GRANTED and isinstance(wants, Metal3Remediation):
        told = replace(GRANTED, begins=(what_is_waited_for(wants),))
    if told is not None:
        for at in (MACHINE_AT, ref(OPENSHIFT_MACHINE, MACHINE_AT.name, MACHINE_AT.namespace)):
            cache.put(Seen(answer_ref(at), "", "", replace(told, target=at)), now.mono)
    is_new = isinstance(wants, Metal3Remediation) and wants.progress.phase is Phase.NEW
    if holder is not None or is_new:
        wanted = need(MACHINE_AT, (holder or HOLDER).partition(" ")[0], now.wall, is_running=False, node=NODE_AT)
        cache.put(Seen(wanted.ref, "", "", wanted.value), now.mono)
    if holder is not None:
        cache.put(Seen(lease_of(NODE_AT), "lease-uid-1", "7", Lease("lease-uid-1", holder)), now.mono)
        cache.put(Seen(lease_of(MACHINE_AT), "lease-uid-2", "8", Lease("lease-uid-2", holder)), now.mono)
    for at in (NODE_AT, HOST_AT, MACHINE_AT):
        if at not in objects and at not in stale:
            cache.drop(at, confirmed_at=now.mono)
    for number, (at, obj) in enumerate(objects.items(), start=100):
        if isinstance(obj, Unreadable):
            cache.set_aside(at, obj)
            continue
        first_seen = known if at.kind == REMEDIATION else now.mono
        cache.put(Seen(at, obj.uid, str(number), obj), first_seen, confirmed_at=None if at in stale else now.mono)
    for listed, value in ((pods_at(NODE_AT), pods), (volumes_at(NODE_AT), volumes)):
        if value is not None:
            cache.put(Seen(listed, "", "1", value), now.mono, confirmed_at=now.mono)
    return cache


def looked(objects: dict[Ref, Any], key: Ref = REMEDIATION_AT, *, now: Now = NOW, **reading: Any) -> Decision:
    """What the room decides about a key of this world."""
    return decided(key, a_reader(objects, now=now, **reading), now)


def decided(key: Ref, reader: Cache, now: Now = NOW) -> Decision:
    view = room.ROOM.sees(key, reader)
    assert isinstance(view, RemediationView | RelicView)
    return room.decide(view, now)


def actions(decision: Decision) -> list[str]:
    return [type(action).__name__ for action in decision.actions]


def reasons(decision: Decision) -> list[str]:
    return [type(reason).__name__ for reason in decision.because]


NO_PODS, NO_VOLUMES = PodsOfNode(), VolumesOfNode()
