"""Builders of everything that tests judge by: say what matters, the rest is an ordinary worker in good health.

One machine `worker-0` on the host `rack1-u07`, both in the namespace `metal`, with one node of the machine's name.
Typed objects first, then the same as JSON trees, as the API sends them.
"""

from __future__ import annotations

from typing import Any

from msgspec import structs

from noderemedy.core.claim import Claim, holder_name, lease_of
from noderemedy.core.machines import node_at
from noderemedy.core.metal3.links import INDEXES
from noderemedy.core.metal3.view import MachineView
from noderemedy.engine.cache import Cache
from noderemedy.model.budget import Granted, Need, Refused, answer_ref, need
from noderemedy.model.drill import FENCING_READY, WRONG_DEVICE, host_identity
from noderemedy.model.host import Consumer, Hold, Host, Power
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
    ref,
)
from noderemedy.model.lease import Lease
from noderemedy.model.machine import HostName, Machine, Metal3Machine
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import Condition, Node, NodeBackup, Taint
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Absent, Entry, Present, Unreadable
from noderemedy.model.time import Mono, Now, Span, Wall
from noderemedy.wire import names
from noderemedy.wire.http import Resource

NOW = Now(Wall(1_900_000_000_000), Mono(50_000_000))
NAMESPACE = "metal"
MACHINE_AT = ref(MACHINE, "worker-0", NAMESPACE)
OPENSHIFT_MACHINE_AT = ref(OPENSHIFT_MACHINE, "worker-0", NAMESPACE)
METAL3_MACHINE_AT = ref(METAL3_MACHINE, "worker-0-m3m", NAMESPACE)
DOCTOR, DOCTOR_TEMPLATE = Kind("example.com", "Doctor"), Kind("example.com", "DoctorTemplate")  # invented
DOCTOR_AT = ref(DOCTOR, "worker-0", NAMESPACE)
TEMPLATE_AT = ref(DOCTOR_TEMPLATE, "house-call", NAMESPACE)
HOST_AT = ref(HOST, "rack1-u07", NAMESPACE)
REMEDIATION_AT = ref(REMEDIATION, "worker-0", NAMESPACE)
HOST_NAME = HostName(HOST_AT.namespace, HOST_AT.name)
NODE_AT = ref(NODE, "worker-0")
PROVIDER_ID = "metal3://metal/rack1-u07/worker-0"
CONSUMER = Consumer("Machine", NAMESPACE, "worker-0", MACHINE.group)
METAL3_CONSUMER = Consumer("Metal3Machine", NAMESPACE, "worker-0-m3m", METAL3_MACHINE.group)
RESOURCES: dict[Kind, Resource] = {
    NODE: Resource(NODE, "v1", "nodes", namespaced=False),
    MACHINE: Resource(MACHINE, "v1beta1", "machines", namespaced=True),
    OPENSHIFT_MACHINE: Resource(OPENSHIFT_MACHINE, "v1beta1", "machines", namespaced=True),
    METAL3_MACHINE: Resource(METAL3_MACHINE, "v1beta1", "metal3machines", namespaced=True),
    HOST: Resource(HOST, "v1alpha1", "baremetalhosts", namespaced=True),
    HEALTH_CHECK: Resource(HEALTH_CHECK, "v1beta1", "machinehealthchecks", namespaced=True),
    OPENSHIFT_HEALTH_CHECK: Resource(OPENSHIFT_HEALTH_CHECK, "v1beta1", "machinehealthchecks", namespaced=True),
    INCIDENT: Resource(INCIDENT, "v1alpha1", "incidents", namespaced=True),
    CLUSTER: Resource(CLUSTER, "v1beta1", "clusters", namespaced=True),
    REMEDIATION: Resource(REMEDIATION, "v1alpha1", "metal3remediations", namespaced=True),
    NODE_FENCE: Resource(NODE_FENCE, "v1", "nodefences", namespaced=False),
    FENCE_REMEDIATION: Resource(FENCE_REMEDIATION, "v1alpha1", "fenceremediations", namespaced=True),
    DOCTOR: Resource(DOCTOR, "v1alpha1", "doctors", namespaced=True),
    LEASE: Resource(LEASE, "v1", "leases", namespaced=True),
    JOB: Resource(JOB, "v1", "jobs", namespaced=True),
    CONFIG_MAP: Resource(CONFIG_MAP, "v1", "configmaps", namespaced=True),
    BUDGET: Resource(BUDGET, "v1alpha1", "remediationbudgets", namespaced=False),
}


def later(seconds: float, now: Now = NOW) -> Now:
    """The moment so many seconds after `now`, on both clocks."""
    span = Span.seconds(seconds)
    return Now(now.wall + span, now.mono + span, now.draw)


def ago(seconds: float, now: Now = NOW) -> Wall:
    """The wall time so many seconds before `now`."""
    return Wall(now.wall.ms - Span.seconds(seconds).ms)


# --- typed objects -------------------------------------------------------------------------------------------


def a_node(
    uid: str = "node-uid-1",
    *,
    boot_id: str = "boot-1",
    provider_id: str = PROVIDER_ID,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    taints: tuple[Taint, ...] = (),
    unschedulable: bool = False,
    deleting: bool = False,
    ready: str = "True",
) -> Node:
    return Node(
        uid=uid,
        boot_id=boot_id,
        provider_id=provider_id,
        unschedulable=unschedulable,
        deleting=deleting,
        labels=tuple(sorted((labels if labels is not None else {"rack": "1"}).items())),
        annotations=tuple(sorted((annotations or {}).items())),
        taints=tuple(sorted(taints)),
        conditions=(Condition("Ready", ready, ago(3_600)),),
    )


def a_machine(
    *,
    uid: str = "machine-uid-1",
    needs: bool = False,
    host: HostName | Malformed | None = HOST_NAME,
    node_name: str | None = NODE_AT.name,
    provider_id: str = PROVIDER_ID,
    backup: NodeBackup | Malformed | None = None,
    node_deleted_at: Wall | Malformed | None = None,
    cluster_paused: bool = False,
    paused: Paused | Malformed | None = None,
    deleting: bool = False,
) -> Machine:
    return Machine(
        uid=uid,
        needs_remediation=needs,
        host=host,
        node_name=node_name,
        provider_id=provider_id,
        backup=backup,
        node_deleted_at=node_deleted_at,
        cluster_paused=cluster_paused,
        paused=paused,
        deleting=deleting,
    )


def a_hold(*, since: Wall | None = None, machine_uid: str = "machine-uid-1") -> Hold:
    return Hold(machine_uid, since or ago(30), "node-uid-1", "boot-1", 7)


def a_host(
    *,
    uid: str = "host-uid-1",
    power: Power = Power.ON,
    held: bool = False,
    hold: Hold | Malformed | None = None,
    consumer: Consumer | None = CONSUMER,
    online: bool = True,
    paused: bool = False,
    detached: bool = False,
    power_off_disabled: bool = False,
    error: str = "",
) -> Host:
    """A host; one that is held has a record of it, unless another one is given."""
    return Host(
        uid=uid,
        online=online,
        power=power,
        held=held,
        hold=hold or (a_hold() if held else None),
        consumer=consumer,
        paused=paused,
        detached=detached,
        power_off_disabled=power_off_disabled,
        error=error,
    )


def a_metal3_machine(
    *,
    owner: str | None = MACHINE_AT.name,
    owner_uid: str = "machine-uid-1",
    host: HostName | Malformed | None = None,
) -> Metal3Machine:
    return Metal3Machine("m3m-uid-1", owner, owner_uid, host)


def a_backup(node_uid: str = "node-uid-1", *, labels: dict[str, str] | None = None) -> NodeBackup:
    """A backup; without labels given it is exactly that of `a_node()`."""
    return NodeBackup(node_uid, tuple(sorted((labels if labels is not None else {"rack": "1"}).items())))


# --- what a room reads ---------------------------------------------------------------------------------------


def present(obj: Any, *, confirmed: bool = True, version: str = "100", now: Now = NOW) -> Present:
    """The object as the cache holds it; `confirmed`: read live at this very moment."""
    return Present(obj, version, Mono(now.mono.ms - 3_600_000), now.mono if confirmed else None)


def absent(*, confirmed: bool = True, now: Now = NOW) -> Absent:
    return Absent(now.mono if confirmed else None)


def unreadable(problem: str = "garbage") -> Unreadable:
    return Unreadable("some-uid", "100", problem)


def an_entry(obj: Any, *, confirmed: bool, version: str) -> Entry:
    """The entry that the cache holds of an object, or of None; an entry stays as it is."""
    if isinstance(obj, Entry):
        return obj
    return absent(confirmed=confirmed) if obj is None else present(obj, confirmed=confirmed, version=version)


EVERYBODY = ("annotation", "metal3-remediation", "node-fence", "owner", "remediation", "remedy")  # who has asked


def granted(target: Ref = MACHINE_AT) -> dict[Ref, Granted]:
    """The fact by which the budget lets a repair of this target begin; goes into `a_cache` or into an engine."""
    return {answer_ref(target): Granted(target, NOW.wall, asked=EVERYBODY)}


def a_claim(
    holder: str | None = holder_name("annotation", MACHINE_AT), *, subject: Ref = NODE_AT, room: str = "annotation"
) -> Claim:
    """The claim of a repair as a room sees it: held by itself, unless another holder or None is given."""
    entry = absent() if holder is None else present(Lease("lease-uid-1", holder), version="104")
    return Claim(subject, entry, holder_name(room, MACHINE_AT))


DEFAULT_HOST = a_host()
DEFAULT_NODE = a_node()
GRANTED = Granted(MACHINE_AT, NOW.wall, asked=EVERYBODY)
ASKED = Need(MACHINE_AT, "annotation", NOW.wall, is_running=False, node=NODE_AT)


def a_view(
    machine: Machine | None = None,
    host: Host | Entry | None = DEFAULT_HOST,
    node: Node | Entry | None = DEFAULT_NODE,
    *,
    confirmed: bool = True,
    is_consumer: bool = True,
    machine_confirmed: bool = True,
    told: Granted | Refused | None = GRANTED,
    need: Need | None = ASKED,
    claim: Claim | None = None,
) -> MachineView:
    """A Machine with its host and node; None for one that does not exist. Each has a version of its own.

    Its repair was asked for, granted and claimed, unless said otherwise; who is held off is silent.
    """
    machine = machine or a_machine(needs=True)
    if node is DEFAULT_NODE and isinstance(host, Host) and host.held and host.power is Power.OFF:
        node = a_node(ready="Unknown")
    is_named = isinstance(machine.host, HostName)
    return MachineView(
        ref=MACHINE_AT,
        entry=present(machine, confirmed=machine_confirmed, version="101"),
        machine=machine,
        host_named=machine.host,
        host_at=HOST_AT if is_named else None,
        host_entry=an_entry(host if is_named else None, confirmed=confirmed, version="102"),
        is_consumer=is_consumer and is_named and host is not None,
        node_at=NODE_AT if machine.node_name else None,
        node_entry=an_entry(node if machine.node_name else None, confirmed=confirmed, version="103"),
        need=need,
        told=told,
        claim=(claim or a_claim()) if machine.needs_remediation else None,
    )


def a_cache(objects: dict[Ref, Any], *, confirmed: bool = True) -> Cache:
    """The engine's own cache with these objects in it, all kinds complete; repairs are granted and claimed."""
    cache = Cache(INDEXES)
    for kind in RESOURCES:
        cache.end_list("", kind)
    for number, (at, obj) in enumerate(objects.items(), start=1):
        if isinstance(obj, Unreadable):
            cache.set_aside(at, obj)
            continue
        seen = Seen(at, obj.uid, str(number), obj)
        cache.put(seen, NOW.mono, confirmed_at=NOW.mono if confirmed else None)
        if isinstance(obj, Machine):
            _permit(cache, at, obj)
    return cache


def _permit(cache: Cache, at: Ref, machine: Machine) -> None:
    """The budget grants the repair of this machine, and the annotation room has claimed it."""
    for fact_at, fact in granted(at).items():
        cache.put(Seen(fact_at, "", "", fact), NOW.mono)
    node = node_at(at, machine, cache)
    wanted = need(at, "annotation", NOW.wall, is_running=False, node=node)
    cache.put(Seen(wanted.ref, "", "", wanted.value), NOW.mono)
    lease = lease_of(node or at)
    cache.put(Seen(lease, "lease-uid-1", "1", Lease("lease-uid-1", holder_name("annotation", at))), NOW.mono)


# --- JSON trees ----------------------------------------------------------------------------------------------


def a_metadata(at: Ref, uid: str, version: str, annotations: dict[str, str] | None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": at.name, "uid": uid, "resourceVersion": version}
    if at.namespace:
        metadata["namespace"] = at.namespace
    if annotations:
        metadata["annotations"] = dict(annotations)
    return metadata


def mistaken(node: Node) -> Node:
    """The same, and a drill found that its host is another machine."""
    word = Condition(FENCING_READY, "False", ago(60), WRONG_DEVICE, (host_identity(HOST_AT),))
    return structs.replace(node, conditions=(*node.conditions, word))


def a_node_tree(
    name: str = NODE_AT.name,
    *,
    uid: str = "node-uid-1",
    version: str = "103",
    heartbeat: str = "2030-03-17T17:46:30Z",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    spec: dict[str, Any] | None = None,
) -> dict[str, Any]:
    metadata = a_metadata(ref(NODE, name), uid, version, annotations)
    metadata["labels"] = {"kubernetes.io/hostname": name, **(labels or {})}
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "lastHeartbeatTime": heartbeat,
        "lastTransitionTime": "2030-03-17T16:00:00Z",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": {"providerID": PROVIDER_ID, **(spec or {})},
        "status": {"conditions": [ready], "nodeInfo": {"bootID": "boot-1"}},
    }


def a_machine_tree(
    name: str = MACHINE_AT.name,
    *,
    uid: str = "machine-uid-1",
    version: str = "101",
    needs: bool = False,
    host: str | None = f"{HOST_AT.namespace}/{HOST_AT.name}",
    node_name: str | None = NODE_AT.name,
    annotations: dict[str, str] | None = None,
) -> dict[str, Any]:
    notes = {**({names.MACHINE_HOST: host} if host else {}), **(annotations or {})}
    if needs:
        notes[names.NEEDS_REMEDIATION] = ""
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Machine",
        "metadata": a_metadata(ref(MACHINE, name, NAMESPACE), uid, version, notes),
        "spec": {"clusterName": "metal", "providerID": PROVIDER_ID},
        "status": {"nodeRef": {"kind": "Node", "name": node_name}} if node_name else {},
    }


def a_host_tree(
    name: str = HOST_AT.name,
    *,
    uid: str = "host-uid-1",
    version: str = "102",
    powered_on: bool | None = True,
    consumer: str = MACHINE_AT.name,
    annotations: dict[str, str] | None = None,
    spec: dict[str, Any] | None = None,
) -> dict[str, Any]:
    reference = {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Machine",
        "namespace": NAMESPACE,
        "name": consumer,
    }
    return {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": a_metadata(ref(HOST, name, NAMESPACE), uid, version, annotations),
        "spec": {"online": True, "consumerRef": reference, **(spec or {})},
        "status": {
            "operationalStatus": "OK",
            "provisioning": {"state": "provisioned"},
            **({} if powered_on is None else {"poweredOn": powered_on}),
        },
    }


def a_metal3_machine_tree(name: str = METAL3_MACHINE_AT.name, *, owner_uid: str = "machine-uid-1") -> dict[str, Any]:
    metadata = a_metadata(ref(METAL3_MACHINE, name, NAMESPACE), "m3m-uid-1", "104", None)
    owner = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "name": MACHINE_AT.name, "uid": owner_uid}
    return {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
        "kind": "Metal3Machine",
        "metadata": {**metadata, "ownerReferences": [owner]},
    }
