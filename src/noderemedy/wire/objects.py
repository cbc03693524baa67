"""Bytes of the API to objects of the model, or a refusal that names the object and the field.

Called by the watch for every event, so it decodes only the fields that rooms judge by. Our own annotations become
typed fields here: `Malformed` where somebody wrote what cannot be read, never "absent".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from noderemedy.model.cluster import Cluster
from noderemedy.model.host import Consumer, Hold, Host, Login, Power
from noderemedy.model.ids import (
    BUDGET,
    CLUSTER,
    CONFIG_MAP,
    FENCE_REMEDIATION,
    HEALTH_CHECK,
    HOST,
    INCIDENT,
    JOB,
    LEASE,
    MACHINE,
    METAL3_MACHINE,
    NODE,
    NODE_FENCE,
    OPENSHIFT_HEALTH_CHECK,
    OPENSHIFT_MACHINE,
    REMEDIATION,
    Kind,
    Ref,
)
from noderemedy.model.machine import ControllerOwner, HostName, Machine, Metal3Machine
from noderemedy.model.machineconditions import MachineConditions
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Condition
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Present
from noderemedy.wire import (
    bookkeeping,
    budgets,
    externals,
    healthchecks,
    heartbeats,
    incidents,
    names,
    nodefences,
    remediations,
    remedies,
    shapes,
)
from noderemedy.wire.backups import backup
from noderemedy.wire.machineconditions import read_conditions
from noderemedy.wire.nodes import condition as condition
from noderemedy.wire.nodes import node, pairs
from noderemedy.wire.replacements import own_parts, read_replacement, template_text
from noderemedy.wire.scalars import UNREADABLE, read_host_name, read_json, read_pause, read_wall, wall
from noderemedy.wire.undecodable import Undecodable as Undecodable
from noderemedy.wire.undecodable import undecodable

NAME_MAX = 253  # of the Kubernetes API
Known = Callable[[Ref], Present | None]  # what is remembered of an object


def machine(shape: shapes.MachineShape) -> Machine:
    meta = shape.metadata
    notes = meta.annotations or {}
    status = shape.status or shapes.MachineStatus()
    spec = spec_of(shape.spec)
    is_owned = notes.get(names.OWNER) == names.OURS and isinstance(shape.spec, dict)
    current, older = judged(status)
    return Machine(
        uid=meta.uid,
        needs_remediation=names.NEEDS_REMEDIATION in notes,
        marked_by=marked_by(notes.get(names.NEEDS_REMEDIATION, "")),
        asked_at=read_wall(notes[names.ASKED_AT]) if names.ASKED_AT in notes else None,
        host=host_named(meta),
        node_name=(status.node_ref.name or None) if status.node_ref else None,
        provider_id=spec.provider_id or "",
        backup=backup(notes[names.NODE_BACKUP]) if names.NODE_BACKUP in notes else None,
        node_deleted_at=read_wall(notes[names.NODE_DELETED_AT]) if names.NODE_DELETED_AT in notes else None,
        cluster_paused=names.CLUSTER_PAUSED in notes,
        paused=read_pause(notes[names.PAUSED]) if names.PAUSED in notes else None,
        deleting=meta.deletion_timestamp is not None,
        labels=pairs(meta.labels),
        created=wall(meta.creation_timestamp) if meta.creation_timestamp else None,
        cluster_name=spec.cluster_name or "",
        failure_domain=sys.intern(spec.failure_domain) if isinstance(spec.failure_domain, str) else "",
        phase=sys.intern(status.phase or ""),
        conditions=current,
        older_conditions=older,
        last_updated=wall(status.last_updated) if status.last_updated else None,
        remediate=names.REMEDIATE in notes,
        skips_remediation=names.SKIP_REMEDIATION in notes,
        repair_now=names.REPAIR in notes,
        controller=controller(meta.owner_references or ()),
        told=told(shape.api_version, status),
        owner=notes.get(names.OWNER, ""),
        finalizers=tuple(map(sys.intern, meta.finalizers or ())),
        deleted_at=wall(meta.deletion_timestamp) if meta.deletion_timestamp else None,
        replacement=read_replacement(notes[names.REPLACEMENT]) if names.REPLACEMENT in notes else None,
        replaces=notes.get(names.REPLACES, ""),
        excludes_drain=names.EXCLUDE_DRAIN in notes,
        template=template_text(meta.labels, notes, shape.spec) if is_owned else "",
        own_parts=own_parts(shape.spec) if is_owned else (),
    )


def spec_of(spec: Any) -> shapes.MachineSpec:
    """What we judge by of a spec that is kept as it came; what is wrong in it is told with its path."""
    if isinstance(spec, dict):
        provider_id, cluster_name = spec.get("providerID"), spec.get("clusterName")
        if isinstance(provider_id, str | None) and isinstance(cluster_name, str | None):
            return shapes.MachineSpec(provider_id, cluster_name, spec.get("failureDomain"))
    return msgspec.convert({"spec": spec}, shapes.MachineSpecShape).spec or shapes.MachineSpec()


def marked_by(text: str) -> str:
    """The check that a mark of ours names; a mark of anybody else, whatever it says, names none."""
    return text.removeprefix(names.MARKED_BY) if text.startswith(names.MARKED_BY) else ""


def judged(status: shapes.MachineStatus) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """The conditions of a Machine as verdicts need them; what is wrong in them is told with its path."""
    if not status.conditions and status.v1beta2 is None and status.deprecated is None:
        return (), ()
    typed = msgspec.convert(shapes.RawStatusShape(status), shapes.StatusShape, from_attributes=True)
    return generations(typed.status)


def told(api_version: str, status: shapes.MachineStatus) -> MachineConditions:
    older = status.deprecated.v1beta1 if status.deprecated else None
    return read_conditions(
        api_version,
        status.conditions,
        status.v1beta2.conditions if status.v1beta2 else None,
        older.conditions if older else None,
    )


def generations(status: shapes.ConditionedStatus) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """The conditions that count, and those of an older generation. Where there is only one, it counts."""
    own = tuple(condition(item) for item in status.conditions or ())
    if status.v1beta2 is not None:
        return tuple(condition(item) for item in status.v1beta2.conditions or ()), own
    older = status.deprecated.v1beta1 if status.deprecated else None
    return own, tuple(condition(item) for item in older.conditions or ()) if older else ()


def controller(owners: Iterable[shapes.Owner]) -> ControllerOwner | None:
    found = next((owner for owner in owners if owner.controller), None)
    return ControllerOwner(found.api_version, found.kind, found.name, found.uid) if found else None


def cluster(shape: shapes.ClusterShape) -> Cluster:
    meta = shape.metadata
    current, older = generations(shape.status or shapes.ConditionedStatus())
    told = {one.type for one in current}
    return Cluster(
        uid=meta.uid,
        paused=bool(shape.spec and shape.spec.paused) or names.CLUSTER_PAUSED in (meta.annotations or {}),
        conditions=current + tuple(one for one in older if one.type not in told),
        deleting=meta.deletion_timestamp is not None,
    )


def metal3_machine(shape: shapes.MetadataShape) -> Metal3Machine:
    owners = [owner for owner in shape.metadata.owner_references or () if owner.kind == "Machine"]
    owner = owners[0] if owners else shapes.Owner()
    return Metal3Machine(shape.metadata.uid, owner.name or None, owner.uid, host_named(shape.metadata))


def host_named(meta: shapes.Metadata) -> HostName | Malformed | None:
    """By the annotation of a Machine, or of a Metal3Machine."""
    text = (meta.annotations or {}).get(names.MACHINE_HOST)
    return read_host_name(text, meta.namespace) if text is not None else None


def host(shape: shapes.HostShape) -> Host:
    meta = shape.metadata
    notes = meta.annotations or {}
    spec = shape.spec or shapes.HostSpec()
    status = shape.status or shapes.HostStatus()
    return Host(
        uid=meta.uid,
        online=spec.online,
        power=power(status.powered_on),
        held=names.REBOOT in notes,
        hold=hold(notes[names.HOLD]) if names.HOLD in notes else None,
        consumer=consumer(spec.consumer_ref) if spec.consumer_ref else None,
        paused=names.HOST_PAUSED in notes,
        detached=names.HOST_DETACHED in notes or status.operational_status == "detached",
        power_off_disabled=spec.disable_power_off,
        status=sys.intern(status.operational_status),
        login=login(spec.bmc, status),
        login_secret=spec.bmc.credentials_name if spec.bmc else "",
        error=": ".join(part for part in (status.error_type, status.error_message) if part),
        deleting=meta.deletion_timestamp is not None,
        held_for=holds_for(notes, names.REBOOT_FOR, names.HOLD_FOR),
        fenced_for=holds_for(notes, names.FENCE_REBOOT_FOR, names.FENCE_HOLD_FOR),
        unhealthy=tuple((name, notes[key]) for name, key in names.MARKS.items() if key in notes),
        state=sys.intern(status.provisioning.state) if status.provisioning else "",
        soft_reboot=soft_reboot(notes),
        externally_provisioned=spec.externally_provisioned,
    )


def soft_reboot(notes: dict[str, str]) -> str:
    """A key by which somebody, never we, asks for a shutdown that the machine itself carries out; "" if nobody does."""
    asked = sorted(key for key in notes if key == names.ANY_REBOOT or key.startswith(f"{names.ANY_REBOOT}/"))
    return next((key for key in asked if not key.startswith(names.OUR_REBOOTS) and not is_hard(notes[key])), "")


def is_hard(text: str) -> bool:
    """As the operator reads it: all that it does not understand is soft."""
    found = read_json(text, shapes.RebootShape)
    return isinstance(found, shapes.RebootShape) and found.mode == "hard"


def holds_for(notes: dict[str, str], hold_key: str, record_key: str) -> tuple[tuple[str, Hold | Malformed | None], ...]:
    """The holds for requests of one kind. Most hosts have none, and every event of a host comes through here."""
    uids = sorted(key.removeprefix(hold_key) for key in notes if key.startswith(hold_key))
    records = [notes.get(f"{record_key}{uid}") for uid in uids]
    return tuple((uid, hold(text, was_on=False) if text else None) for uid, text in zip(uids, records, strict=True))


def power(powered_on: bool | msgspec.UnsetType | None) -> Power:
    if powered_on is True:
        return Power.ON
    return Power.OFF if powered_on is False else Power.UNKNOWN


def login(bmc: shapes.BmcShape | None, status: shapes.HostStatus) -> Login:
    """Accepted is what was tried last, and what the host names now."""
    good, tried = status.good_credentials, status.tried_credentials
    name = good.credentials.name if good and good.credentials else ""
    if not name and tried is None:
        return Login.UNTOLD
    is_current = bmc is None or bmc.credentials_name in ("", name)
    return Login.ACCEPTED if name and is_current and tried in (None, good) else Login.REFUSED


def consumer(shape: shapes.ConsumerShape) -> Consumer:
    group = shape.api_version.partition("/")[0] if "/" in shape.api_version else ""
    return Consumer(shape.kind, shape.namespace, shape.name, group)


def hold(text: str, *, was_on: bool = True) -> Hold | Malformed:
    """A record; `was_on` is what counts where it does not say. The table, which holds only what is on, never says."""
    shape = read_json(text, shapes.HoldShape)
    if isinstance(shape, Malformed):
        return shape
    since = wall(shape.since)
    said = was_on if shape.powered_on is msgspec.UNSET else shape.powered_on
    seen = [wall(one) if one is not None else None for one in (shape.off_at, shape.contradicted_at, shape.on_at)]
    return Hold(shape.machine_uid, since, shape.node_uid, shape.boot_id, shape.token, shape.remediation, said, *seen)


# kind -> (shape on the wire, how to build the object from it)
READERS: dict[Kind, tuple[Any, Callable[[Any], Any]]] = {
    NODE: (shapes.NodeShape, node),
    MACHINE: (shapes.MachineShape, machine),
    OPENSHIFT_MACHINE: (shapes.MachineShape, machine),
    METAL3_MACHINE: (shapes.MetadataShape, metal3_machine),
    HOST: (shapes.HostShape, host),
    CLUSTER: (shapes.ClusterShape, cluster),
    BUDGET: (budgets.BudgetShape, budgets.remediation_budget),
    LEASE: (bookkeeping.LeaseShape, bookkeeping.lease),
    CONFIG_MAP: (bookkeeping.ConfigMapShape, bookkeeping.config_map),
    JOB: (remedies.JobShape, remedies.job),
    HEALTH_CHECK: (shapes.HealthCheckShape, healthchecks.health_check),
    OPENSHIFT_HEALTH_CHECK: (shapes.HealthCheckShape, healthchecks.openshift_health_check),
    INCIDENT: (incidents.IncidentShape, incidents.incident),
    REMEDIATION: (shapes.RemediationShape, remediations.remediation),
    NODE_FENCE: (shapes.RemediationShape, nodefences.node_fence),
    FENCE_REMEDIATION: (shapes.RemediationShape, nodefences.fence_remediation),
}
ANY_TEMPLATE: tuple[Any, Callable[[Any], Any]] = (shapes.TemplateShape, externals.template)
ANY_REQUEST: tuple[Any, Callable[[Any], Any]] = (shapes.DatedShape, externals.request)


@cache
def objects_of(kind: Kind) -> msgspec.json.Decoder[Any]:
    """Decoders are made when they are needed: a start waits for none, and most kinds have no object at all."""
    return msgspec.json.Decoder(reader(kind)[0])


@cache
def lines_of(kind: Kind) -> msgspec.json.Decoder[Any]:
    """The ordinary lines of a watch: envelope and object."""
    fields: list[Any] = [("type", Literal["ADDED", "MODIFIED", "DELETED"]), ("object", reader(kind)[0])]
    return msgspec.json.Decoder(msgspec.defstruct("Event", fields))


def reader(kind: Kind) -> tuple[Any, Callable[[Any], Any]]:
    """How a kind is read: ours by their own readers, all others as the templates and requests of somebody else."""
    return READERS.get(kind) or (ANY_TEMPLATE if externals.is_template(kind) else ANY_REQUEST)


def decode(kind: Kind, raw: bytes | msgspec.Raw, cluster: str = "") -> Seen:
    """An object of this kind from the bytes of the API. Raises Undecodable."""
    try:
        seen = recognised(kind, objects_of(kind).decode(raw), cluster, nothing_known)
        return replace(seen, stamp=heartbeats.stamp(heartbeats.NODES.decode(raw))) if kind == NODE else seen
    except UNREADABLE as error:
        tree: Any = None
        with suppress(*UNREADABLE):
            tree = msgspec.json.decode(raw)
        raise undecodable(kind, cluster, tree, error) from None


def nothing_known(ref: Ref) -> None:
    return None


def decode_event(kind: Kind, line: bytes, cluster: str = "", known: Known = nothing_known) -> tuple[str, Seen] | None:
    """What happened and to which object: an ordinary line of a watch, envelope and object in one pass.

    None for every other line (bookmarks, errors, what cannot be read): whoever asked has to look closer. `known` is
    what is remembered of an object: what says the same again is not made again.
    """
    try:
        if kind == NODE:
            return node_event(line, cluster, known)
        event = lines_of(kind).decode(line)
        return event.type, recognised(kind, event.object, cluster, known)
    except UNREADABLE:
        return None


def node_event(line: bytes, cluster: str, known: Known) -> tuple[str, Seen]:
    """The same for a Node, which is read only where its stamp is not the one that is known. Raises UNREADABLE."""
    brief = heartbeats.LINES.decode(line)
    meta, stamp = brief.object.metadata, heartbeats.stamp(brief.object)
    ref = Ref(cluster, NODE, "", meta.name)
    old = known(ref)
    is_heartbeat = old is not None and old.stamp == stamp
    obj = old.obj if old and is_heartbeat else node(lines_of(NODE).decode(line).object)
    return brief.type, Seen(ref, meta.uid, meta.resource_version, obj, stamp)


def recognised(kind: Kind, shape: Any, cluster: str, known: Known) -> Seen:
    """An object that is known already, or one that is made of what was read."""
    meta = shape.metadata
    ref = Ref(cluster, kind, meta.namespace, meta.name)
    old = known(ref)
    is_old = old is not None and is_known(shape, old)
    return Seen(ref, meta.uid, meta.resource_version, old.obj if old and is_old else reader(kind)[1](shape))


def is_known(shape: Any, old: Present) -> bool:
    """Whether it is what the answer to a write of ours has shown before the watch did."""
    meta = shape.metadata
    return bool(meta.uid == old.obj.uid and meta.resource_version == old.resource_version != "")


def convert(kind: Kind, tree: Any, cluster: str = "") -> Seen:
    """The same from a JSON tree: files, and the simulated API in process."""
    try:
        return recognised(kind, msgspec.convert(tree, reader(kind)[0]), cluster, nothing_known)
    except UNREADABLE as error:
        raise undecodable(kind, cluster, tree, error) from None
