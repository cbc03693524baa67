"""Our own bookkeeping in the API: the budget's ledger (a ConfigMap) and claims of repairs (Leases), both ways.

Called for every event of these kinds in our namespace, and to render the writes. A ledger that cannot be read whole is
`Malformed`: a reservation that is lost would be a repair that nobody counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from noderemedy.model.actions import ClaimRepair, WriteLedger
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.fenceconfig import CONFIG_NAME, TEMPLATE_NAME
from noderemedy.model.ids import Kind, Ref
from noderemedy.model.lease import Lease
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger, Calm, Reservation, Start
from noderemedy.model.meta import Malformed
from noderemedy.wire import names, shapes, verbs
from noderemedy.wire.configuration import KEY
from noderemedy.wire.documents import read_document
from noderemedy.wire.fenceconfig import CONFIG_KEY, TEMPLATE_KEY, fence_document
from noderemedy.wire.http import Request, Resource
from noderemedy.wire.scalars import UNREADABLE, read_json, wall

LEDGER_KEY = "ledger.json"
LEDGER_VERSION = 1
KEYS_TOLD = 3
PIECES_KNOWN = 2_048  # a grant rewrites the whole ledger: of a storm's, all but one piece is as it was


class RefShape(Struct, rename="camel", omit_defaults=True):
    """The name of an object, in full."""

    kind: str
    name: str
    group: str = ""
    namespace: str = ""
    cluster: str = ""


class ReservationShape(Struct, rename="camel", omit_defaults=True):
    """One repair."""

    target: RefShape
    since: datetime
    node: RefShape | None = None
    domain: str = ""
    token: int = 0


class StartShape(Struct, omit_defaults=True):
    """When a repair was granted."""

    at: datetime
    cluster: str = ""


class CalmShape(Struct):
    """When a storm ended."""

    scope: str
    at: datetime


class LedgerShape(Struct):
    """The JSON text of the ledger. Another version than ours is not guessed at."""

    version: int
    reservations: list[ReservationShape] = []
    starts: list[StartShape] = []
    calms: list[CalmShape] = []


class LedgerPieces(Struct):
    """The same text in pieces: most of them were read or written a moment ago."""

    version: int
    reservations: list[msgspec.Raw] = []
    starts: list[msgspec.Raw] = []
    calms: list[CalmShape] = []


PIECES = msgspec.json.Decoder(LedgerPieces)
RESERVATION = msgspec.json.Decoder(ReservationShape)
START = msgspec.json.Decoder(StartShape)


class ConfigMapShape(Struct):
    """A ConfigMap."""

    metadata: shapes.DatedMetadata
    data: dict[str, str] | None = None


class LeaseSpec(Struct, rename="camel"):
    """What a Lease says."""

    holder_identity: str | None = None
    acquire_time: str | None = None


class LeaseShape(Struct):
    """A Lease."""

    metadata: shapes.Metadata
    spec: LeaseSpec | None = None


# --- reading -----------------------------------------------------------------------------------------------------


def config_map(shape: ConfigMapShape) -> ConfigMap:
    meta = shape.metadata
    is_ledger = (meta.namespace, meta.name) == (LEDGER_AT.namespace, LEDGER_AT.name)
    text = (shape.data or {}).get(LEDGER_KEY) if is_ledger else None
    return ConfigMap(
        uid=meta.uid,
        ledger=read_ledger(text) if text is not None else None,
        fence=fence_document(meta.name, is_configuration(meta), shape.data or {}) if is_at_home(meta) else None,
        document=read_document(meta, shape.data or {}),
        problems=without_key(meta, shape.data or {}),
    )


def without_key(meta: shapes.Metadata, data: Mapping[str, str]) -> tuple[str, ...]:
    """A label says that it is for us, and no key that it is read for is there."""
    named_otherwise = meta.name.startswith((CONFIG_NAME, TEMPLATE_NAME))
    if not is_configuration(meta) or named_otherwise or {KEY, CONFIG_KEY, TEMPLATE_KEY} & data.keys():
        return ()
    others = ", ".join(sorted(data)[:KEYS_TOLD])
    remedy = f"and nothing is read of {others}; rename it to {KEY}" if data else "and there is no other; write it"
    return (f"{KEY}: this key is missing, {remedy}",)


def is_at_home(meta: shapes.Metadata) -> bool:
    """Whether its namespace is ours; what somebody wrote down for a plan may name none."""
    return meta.namespace in (LEDGER_AT.namespace, "")


def is_configuration(meta: shapes.Metadata) -> bool:
    """Whether it is to be read whatever its name is."""
    return names.CONFIGURATION in (meta.labels or {})


def lease(shape: LeaseShape) -> Lease:
    spec = shape.spec or LeaseSpec()
    return Lease(shape.metadata.uid, spec.holder_identity or "", spec.acquire_time or "")


def read_ledger(text: str) -> BudgetLedger | Malformed:
    """Piece by piece, and what is wrong with a piece is said by its place in the whole."""
    try:
        shape = PIECES.decode(text)
        if shape.version != LEDGER_VERSION:
            return Malformed(f"{LEDGER_KEY}: version {shape.version}, we read version {LEDGER_VERSION}")
        reserved = [reservation(bytes(one)) for one in shape.reservations]
        starts = [start(bytes(one)) for one in shape.starts]
    except UNREADABLE:
        whole = read_json(text, LedgerShape)
        return Malformed(f"{LEDGER_KEY}: {whole.problem if isinstance(whole, Malformed) else 'cannot be read'}")
    return BudgetLedger(
        tuple(sorted(reserved, key=lambda one: (one.target, one.since))),
        tuple(sorted(starts)),
        tuple(sorted(Calm(one.scope, wall(one.at)) for one in shape.calms)),
    )


@lru_cache(maxsize=PIECES_KNOWN)
def reservation(piece: bytes) -> Reservation:
    shape = RESERVATION.decode(piece)
    node = object_ref(shape.node) if shape.node else None
    return Reservation(object_ref(shape.target), wall(shape.since), node, shape.domain, shape.token)


@lru_cache(maxsize=PIECES_KNOWN)
def start(piece: bytes) -> Start:
    shape = START.decode(piece)
    return Start(wall(shape.at), shape.cluster)


def object_ref(shape: RefShape) -> Ref:
    return Ref(shape.cluster, Kind(shape.group, shape.kind), shape.namespace, shape.name)


# --- writing -----------------------------------------------------------------------------------------------------


def write_ledger(action: WriteLedger, token: int, resource: Resource) -> Request:
    data = {LEDGER_KEY: ledger_text(action.ledger, token)}
    if action.guard is None:
        return verbs.create(resource, created(action.ref, resource, {"data": data}), action.ref.namespace)
    body = {"metadata": guarded(action), "data": data}
    return verbs.merge_patch(resource, action.ref.name, body, action.ref.namespace)


def claim_repair(action: ClaimRepair, token: int, resource: Resource) -> Request:
    """Times of a Lease have microseconds; the token tells people which leader claimed it."""
    spec = {"holderIdentity": action.holder, "acquireTime": f"{action.at}"[:-1] + ".000000Z"}
    notes = {names.LEADERSHIP: str(token)}
    if action.guard is None:
        tree = created(action.ref, resource, {"spec": spec})
        tree["metadata"]["annotations"] = notes
        return verbs.create(resource, tree, action.ref.namespace)
    body = {"metadata": {**guarded(action), "annotations": notes}, "spec": spec}
    return verbs.merge_patch(resource, action.ref.name, body, action.ref.namespace)


def created(ref: Ref, resource: Resource, rest: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": ref.name, "namespace": ref.namespace}
    return {"apiVersion": resource.api_version, "kind": ref.kind.kind, "metadata": metadata, **rest}


def guarded(action: WriteLedger | ClaimRepair) -> dict[str, Any]:
    assert action.guard is not None
    return {"uid": action.guard.uid, "resourceVersion": action.guard.resource_version}


def ledger_text(ledger: BudgetLedger, token: int) -> str:
    """The whole ledger as text; what is new in it gets the token of the leader that writes."""
    record = {
        "version": LEDGER_VERSION,
        "reservations": [reservation_body(one, token) for one in ledger.reservations],
        "starts": [start_body(one) for one in ledger.starts],
        "calms": [{"scope": one.scope, "at": str(one.at)} for one in ledger.calms],
    }
    return msgspec.json.encode(record).decode()


@lru_cache(maxsize=PIECES_KNOWN)
def start_body(one: Start) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode({"at": str(one.at), **cluster_body(one.cluster)}))


@lru_cache(maxsize=PIECES_KNOWN)
def reservation_body(one: Reservation, token: int) -> msgspec.Raw:
    node = {"node": ref_body(one.node)} if one.node else {}
    domain = {"domain": one.domain} if one.domain else {}
    body = {"target": ref_body(one.target), "since": str(one.since), **node, **domain, "token": one.token or token}
    return msgspec.Raw(msgspec.json.encode(body))


def ref_body(ref: Ref) -> dict[str, str]:
    group = {"group": ref.kind.group} if ref.kind.group else {}
    namespace = {"namespace": ref.namespace} if ref.namespace else {}
    return {**group, "kind": ref.kind.kind, **namespace, "name": ref.name, **cluster_body(ref.cluster)}


def cluster_body(cluster: str) -> dict[str, str]:
    return {"cluster": cluster} if cluster else {}
