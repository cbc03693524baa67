#!/usr/bin/env python3
"""Writes what is generated from the code: the manager's rights, the custom kinds and the list of alerts in deploy/.

    python scripts/generate.py            rewrite (make generate)
    python scripts/generate.py --check    change nothing; exit 1 and name each file that differs (make check)

The rights follow from the rooms: what they watch, and what each action that they may ask for needs (NEEDS).
An action that has no line here is an error, so nobody can add one without saying which right it takes. Rule: a
right that no room needs is not granted. The custom kinds, ours and foreign, live in `noderemedy/crds`, where the
simulator reads them, and are copied to where an administrator looks for them. Every reason that is marked as an alert
is in a rule of deploy/alerts: in one of its own, or in the rule for all others.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from noderemedy.crds import FENCE_GROUP, OUR_GROUP, OUR_GROUPS
from noderemedy.manager.kinds import wanted
from noderemedy.manager.settings import LEASE_NAME, NAMESPACE
from noderemedy.model.keeping import DEFINITION, FILES, definition_name
from noderemedy.model.reasons import Reason
from noderemedy.rooms import ROOMS

ROOT = Path(__file__).resolve().parent.parent
MANAGER = "node-remedy-manager"
LABELS = {"app.kubernetes.io/name": "node-remedy", "app.kubernetes.io/component": "manager"}
ALERTS = "deploy/alerts/node-remedy.yaml"
FOR_ALL_OTHERS = "alert: NodeRemedyNeedsAPerson"
# These have rules of their own; ObjectUnreadable is counted by kind.
ALERTED_ALREADY = {"PowerOffOverdue", "NodeOverdue", "NodeFinalizingOverdue", "ObjectUnreadable"}
CLUSTER_API = "cluster.x-k8s.io"
OPENSHIFT = "machine.openshift.io"


@dataclass(frozen=True, order=True)
class Need:
    """One resource and the verbs on it. `names` narrows it to objects of these names."""

    group: str
    resource: str
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()


def on_machines(*verbs: str) -> tuple[Need, ...]:
    return (Need(CLUSTER_API, "machines", verbs), Need(OPENSHIFT, "machines", verbs))


READ = ("get", "list", "watch")
# The remediation annotations are guarded by deploy/admission: writing them takes the verb `remediate` too.
NEEDS: dict[str, tuple[Need, ...]] = {
    "Confirm": (),  # a live read of what is watched anyway
    "ListPods": (Need("", "pods", ("list",)),),
    "DescribeAgent": (),  # asks a program, not the API
    "EvictPod": (Need("", "pods/eviction", ("create",)),),
    "AddRebootAnnotation": (Need("metal3.io", "baremetalhosts", ("patch", "remediate")),),
    "RecordSight": (Need("metal3.io", "baremetalhosts", ("patch", "remediate")),),
    "RemoveRebootAnnotation": (Need("metal3.io", "baremetalhosts", ("patch", "remediate")),),
    "BackUpNode": on_machines("patch", "remediate"),
    "DeleteNode": (Need("", "nodes", ("delete",)),),
    "RemoveRemediationAnnotation": on_machines("patch", "remediate"),
    "RestoreNode": (Need("", "nodes", ("patch",)),),
    "DropBackup": on_machines("patch", "remediate"),
    "RecordReplacement": (Need(CLUSTER_API, "machines", ("patch", "remediate")),),
    "ForgetReplacement": (Need(CLUSTER_API, "machines", ("patch", "remediate")),),
    "CordonNode": (Need("", "nodes", ("patch",)),),
    "UncordonNode": (Need("", "nodes", ("patch",)),),
    "PublishNodeCondition": (Need("", "nodes/status", ("patch",)),),
    "CreateMachine": (Need(CLUSTER_API, "machines", ("create", "remediate")),),
    "WriteMachineConditions": (Need(CLUSTER_API, "machines/status", ("patch",)),),
    "MarkMachine": on_machines("patch", "remediate"),
    "DeleteMachine": on_machines("delete"),
    "WriteLedger": (),  # in our own namespace: see BOOKKEEPING
    "ClaimRepair": (),
    "KeepDocument": (),
    "CreateJob": (),
    "WriteRemedyRecord": (Need("", "nodes", ("patch",)),),
    "DropClaim": (),
    "OpenIncident": (),
    "WriteIncident": (),
    "DropIncident": (),
    "ListVolumes": (Need("storage.k8s.io", "volumeattachments", ("list",)),),
    "ListStorage": (Need("", "persistentvolumes", ("list",)),),
    "HoldHost": (Need("metal3.io", "baremetalhosts", ("patch", "remediate")),),
    "ReleaseHost": (Need("metal3.io", "baremetalhosts", ("patch", "remediate")),),
    "MarkHostUnhealthy": (Need("metal3.io", "baremetalhosts", ("patch",)),),
    "UnmarkHost": (Need("metal3.io", "baremetalhosts", ("patch",)),),
    "TaintOutOfService": (Need("", "nodes", ("patch",)),),
    "UntaintOutOfService": (Need("", "nodes", ("patch",)),),
    "DeletePod": (Need("", "pods", ("delete",)),),
    "DetachVolume": (Need("storage.k8s.io", "volumeattachments", ("delete",)),),
    "WriteFinalizers": (
        Need("remediation.metal3.io", "metal3remediations", ("patch",)),
        Need(FENCE_GROUP, "nodefences", ("patch",)),
        Need(OUR_GROUP, "fenceremediations", ("patch",)),
    ),
    "PublishRemediationStatus": (Need("remediation.metal3.io", "metal3remediations/status", ("patch",)),),
    "CreateNodeFence": (Need(FENCE_GROUP, "nodefences", ("create",)),),
    "DeleteNodeFence": (Need(FENCE_GROUP, "nodefences", ("delete",)),),
    "PublishFenceStatus": (Need(FENCE_GROUP, "nodefences/status", ("patch",)),),
    "PublishRequestStatus": (Need(OUR_GROUP, "fenceremediations/status", ("patch",)),),
    "StartRun": (),  # a process of ours; its secrets and Jobs are in our own namespace
    "PublishBudgetStatus": (Need(OUR_GROUP, "remediationbudgets/status", ("patch",)),),
    "PublishCheckStatus": (
        Need(CLUSTER_API, "machinehealthchecks/status", ("patch",)),
        Need(OPENSHIFT, "machinehealthchecks/status", ("patch",)),
    ),
    # Kinds that nobody knows beforehand: whoever brings one brings its role, see deploy/rbac/40-requests.yaml.
    "CreateRequest": (),
    "DeleteRequest": (),
}
# Events about nodes are read only while a document asks for them (manager/nodeevents.py).
REPORTING = (Need("events.k8s.io", "events", ("create", "get", "patch")), Need("", "events", ("list", "watch")))
# Whether the API would forget what we record: the definitions of those kinds, by name (manager/definitions.py).
DEFINED = (
    Need(DEFINITION.group, "customresourcedefinitions", ("list", "watch"), tuple(sorted(map(definition_name, FILES)))),
)
# `create` cannot be narrowed to a name: the API server does not know it yet when it authorises.
LEADERSHIP = (
    Need("coordination.k8s.io", "leases", ("create",)),
    Need("coordination.k8s.io", "leases", ("get", "update", "patch"), (LEASE_NAME,)),
)
# Names of claims are those of nodes, so that `patch` of Leases cannot be narrowed to them.
BOOKKEEPING = (
    Need("", "configmaps", ("create",)),
    # Names of documents are their authors', and so are those of the last good ones: `patch` cannot be narrowed to them.
    Need("", "configmaps", ("patch",)),
    Need("batch", "jobs", ("create",)),
    Need("coordination.k8s.io", "leases", ("create", "patch", "delete")),
    Need(OUR_GROUP, "incidents", ("create", "delete")),
    Need(OUR_GROUP, "incidents/status", ("patch",)),
)


# Fence agents: the secrets of their parameters are read by name when one runs; as Jobs, their pods tell the result.
FENCE_RUNS = (
    Need("", "secrets", ("get",)),
    Need("batch", "jobs", ("create",)),
    Need("", "pods", ("list", "watch")),
)


def needs_of(action_names: Iterable[str]) -> tuple[Need, ...]:
    """All cluster-wide needs of a manager whose rooms may ask for these actions."""
    unknown = sorted(set(action_names) - set(NEEDS))
    if unknown:
        raise SystemExit(f"generate: no rights are listed for {', '.join(unknown)}; add a line to NEEDS")
    acting = [need for name in sorted(set(action_names)) for need in NEEDS[name]]
    watching = [Need(one.kind.group, one.plural, READ) for one in wanted() if not one.namespace]
    return merged([*watching, *acting, *REPORTING, *DEFINED])


def rights_at_home() -> tuple[Need, ...]:
    """What the manager needs in its own namespace only."""
    watching = [Need(one.kind.group, one.plural, READ) for one in wanted() if one.namespace]
    return merged([*LEADERSHIP, *BOOKKEEPING, *FENCE_RUNS, *watching])


def merged(needs: Iterable[Need]) -> tuple[Need, ...]:
    """One need per resource and names, with the verbs of all."""
    verbs: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
    for need in needs:
        verbs.setdefault((need.group, need.resource, need.names), set()).update(need.verbs)
    return tuple(
        Need(group, resource, tuple(sorted(verbs[group, resource, names])), names)
        for group, resource, names in sorted(verbs)
    )


def rule(need: Need) -> dict[str, Any]:
    named = {"resourceNames": list(need.names)} if need.names else {}
    return {"apiGroups": [need.group], "resources": [need.resource], **named, "verbs": list(need.verbs)}


def role(kind: str, needs: Iterable[Need], **metadata: str) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": MANAGER, **metadata, "labels": dict(LABELS)},
        "rules": [rule(need) for need in needs],
    }


def binding(kind: str, **metadata: str) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": f"{kind}Binding",
        "metadata": {"name": MANAGER, **metadata, "labels": dict(LABELS)},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": MANAGER},
        "subjects": [{"kind": "ServiceAccount", "name": MANAGER, "namespace": NAMESPACE}],
    }


def manager_rights() -> str:
    """deploy/rbac/10-manager.yaml."""
    asked_for = [action.__name__ for room in ROOMS for action in room.may]
    documents = [
        role("ClusterRole", needs_of(asked_for)),
        binding("ClusterRole"),
        role("Role", rights_at_home(), namespace=NAMESPACE),
        binding("Role", namespace=NAMESPACE),
    ]
    header = "# The rights of the manager, and nothing more. Generated by scripts/generate.py: do not edit.\n"
    return header + yaml.safe_dump_all(documents, sort_keys=False, width=110)


def kinds() -> dict[str, Callable[[], str]]:
    """deploy/crds for our own kinds, deploy/crds/foreign for the others: one file each, as it is."""
    files = sorted((ROOT / "src" / "noderemedy" / "crds").glob("*.yaml"))
    folders = [
        (file, "" if file.stem.endswith(tuple(f".{one}" for one in OUR_GROUPS)) else "foreign/") for file in files
    ]
    return {f"deploy/crds/{folder}{file.name}": file.read_text for file, folder in folders}


def alerts() -> str:
    """deploy/alerts/node-remedy.yaml, which is written by hand except for the reasons in the rule for all others."""
    reasons = sorted({reason.__name__ for reason in alerting(Reason)} - ALERTED_ALREADY)
    before, name, after = (ROOT / ALERTS).read_text().partition(FOR_ALL_OTHERS)
    rule, end, rest = after.partition("labels:")
    return before + name + re.sub(r'reason=~"[^"]*"', f'reason=~"{"|".join(reasons)}"', rule) + end + rest


def alerting(family: type[Reason]) -> list[type[Reason]]:
    """All reasons of a family, at any depth, that call a person."""
    members = [one for child in family.__subclasses__() for one in (child, *alerting(child))]
    return [one for one in members if one.alert]


GENERATED: dict[str, Callable[[], str]] = {
    "deploy/rbac/10-manager.yaml": manager_rights,
    ALERTS: alerts,
    **kinds(),
}


def main(arguments: list[str]) -> int:
    differing = 0
    for name, render in GENERATED.items():
        path, text = ROOT / name, render()
        if path.exists() and path.read_text() == text:
            continue
        differing += 1
        if "--check" in arguments:
            print(f"{name} is not what the code says; run `make generate`", file=sys.stderr)
        else:
            path.write_text(text)
            print(f"wrote {name}")
    return 1 if differing and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
