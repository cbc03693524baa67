"""What a repair by power cycling must look like, asked of the world, of the API and of the server's audit log.

Shared by the scenario tests. Every check raises an AssertionError that names what is wrong; each is seen to fail in
test_sabotage.py.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.e2e import audit
from tests.e2e.api import Api, Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import allow, bind
from tests.e2e.fleet import EXTERNAL, HOSTS, NODES, Fleet

HOLD = "reboot.metal3.io/machine-remediation"
RECORD = "remediation.metal3.io/hold"
BACKUP = "remediation.metal3.io/node-backup"
DELETED_AT = "remediation.metal3.io/node-deleted-at"
OURS = (EXTERNAL, HOLD, RECORD, BACKUP, DELETED_AT)
LONG_AGO = "2020-01-01T00:00:00Z"
MARKS = {"capm3.metal3.io/unhealthy", "capi.metal3.io/unhealthy"}  # a provider reads one of them, by its release
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
MACHINE_GROUPS = ("cluster.x-k8s.io", "machine.openshift.io")
# The writes of one whole repair, in order: hold, back up, delete, unmark, release, restore, drop the backup.
REPAIR = [
    "patch baremetalhosts",
    "patch machines",
    "delete nodes",
    "patch machines",
    "patch baremetalhosts",
    "patch nodes",
    "patch machines",
]


def a_remediator(plane: ControlPlane) -> Api:
    """Somebody who may change Machines and holds the right to ask for repairs, and nothing else."""
    admin = plane.api()
    allow(admin, "change-machines", [(group, "machines", ("get", "patch")) for group in MACHINE_GROUPS], "remediator")
    bind(admin, "may-remediate", "node-remedy-remediator", "remediator")
    somebody = plane.api("remediator")
    probe = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machines/nobody"
    eventually(lambda: somebody.get(probe).status == 404, "the remediator's rights are in force")
    return somebody


def decorate(fleet: Fleet, name: str) -> None:
    """What people put on a Node: a label, an annotation, a taint and a cordon."""
    taint = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
    metadata = {"labels": {"rack": "a"}, "annotations": {"example.com/owner": "storage"}}
    fleet.api.merge(f"{NODES}/{name}", {"metadata": metadata, "spec": {"taints": [taint], "unschedulable": True}}).ok()


def assert_decorated(fleet: Fleet, name: str) -> None:
    """The Node carries all of that (again)."""
    node = fleet.node(name)
    taints = [taint["key"] for taint in node["spec"].get("taints", [])]
    assert "a" == node["metadata"]["labels"].get("rack"), "the label is missing"
    assert "storage" == node["metadata"].get("annotations", {}).get("example.com/owner"), "the annotation is missing"
    assert "dedicated" in taints, "the taint is missing"
    assert node["spec"].get("unschedulable"), "the cordon is missing"


def assert_nothing_left(fleet: Fleet, name: str) -> None:
    """Machine and host carry nothing of ours, host and computer are on, the Node is Ready."""
    assert {} == ours(fleet.machine(name)), "annotations on the Machine"
    assert {} == ours(fleet.host(name)), "annotations on the host"
    assert fleet.powered_on(name), "the host is off"
    assert fleet.world.computers[name].powered, "the computer is off"
    assert fleet.is_ready(name), "the Node is not Ready"


def assert_freed_only_when_off(plane: ControlPlane, fleet: Fleet) -> int:
    """Every Node that the manager deleted was off at that moment, and nothing ran twice; how many were deleted."""
    deleted = [one for one in audit.writes(plane.audit_log) if one.did == "delete nodes" and one.status < 300]
    assert [] == [one.name for one in deleted if fleet.world.was_on(one.name, one.at)], "deleted while on"
    assert [] == fleet.world.overlaps
    return len(deleted)


def is_over(fleet: Fleet, name: str) -> bool:
    """Whether the repair of this machine has come to its end."""
    try:
        assert_nothing_left(fleet, name)
    except AssertionError:
        return False
    return True


def wait_until_over(fleet: Fleet, *names: str, seconds: float = 60.0) -> None:
    for name in names:
        eventually(lambda name=name: is_over(fleet, name), f"{name} is repaired", seconds)  # type: ignore[misc]


def ours(thing: Json) -> dict[str, str]:
    """The annotations of ours that it carries."""
    return {key: value for key, value in thing["metadata"].get("annotations", {}).items() if key in OURS}


def notes(api: Api, name: str, kind: str = "Machine") -> dict[str, Json]:
    """Reason → Event, of the Events about this object; the newest of each reason. Others' may be about nothing."""
    about = [(one.get("regarding", {}), one) for one in api.items(EVENTS)]
    events = [one for regarding, one in about if (name, kind) == (regarding.get("name"), regarding.get("kind"))]
    return {one["reason"]: one for one in sorted(events, key=lambda one: str(one["eventTime"]))}


def wait_for_note(api: Api, name: str, reason: str, words: str = "", seconds: float = 30.0) -> Json:
    """The Event with this reason, and these words in it, about this Machine."""

    def found() -> Json | None:
        note = notes(api, name).get(reason)
        return note if note and words in note["note"] else None

    note: Json = eventually(found, f"event {reason} about {name}", seconds)
    return note


def age_the_hold(fleet: Fleet, name: str) -> None:
    """Rewrites the record on the host as if we had held it for years."""
    record = json.loads(ours(fleet.host(name))[RECORD])
    fleet.annotate(f"{HOSTS}/{name}", {RECORD: json.dumps({**record, "since": LONG_AGO})})


def age_the_deletion(fleet: Fleet, name: str) -> None:
    """Rewrites the time on the Machine as if its Node had been deleted years ago."""
    fleet.annotate(fleet.machine_path(name), {DELETED_AT: LONG_AGO})


def a_stateful_set(replicas: int, labels: Json) -> Json:
    """Pods `web-…`, each on a node of its own, on nodes with these labels."""
    apart = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    pod = {
        "nodeSelector": labels,
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}},
        "containers": [{"name": "web", "image": "web:1"}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "podManagementPolicy": "Parallel",
            "serviceName": "web",
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod},
        },
    }


def running_on(fleet: Fleet, pods: Sequence[str]) -> list[str]:
    """The computers on which these pods really run, without doubles."""
    return sorted({name for pod in pods for name in fleet.world.where(f"default/{pod}")})
