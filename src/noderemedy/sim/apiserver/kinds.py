"""What the server does to single built-in kinds: preparing, keeping, judging. One table per question.

Only what decisions of controllers depend on is here; the long tail of a real server's defaults and checks
is not (see `less.py`).
"""

from __future__ import annotations

import base64
from collections.abc import Callable

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver.crd import DEFINITION, definition_causes, prepare_definition
from noderemedy.sim.apiserver.errors import Cause, field_forbidden, invalid_value, not_supported, required
from noderemedy.sim.apiserver.events import event_causes
from noderemedy.sim.apiserver.pods import pod_causes, prepare_pod, spec_causes
from noderemedy.sim.apiserver.selectors import matches_selector
from noderemedy.sim.apiserver.types import Tree, User

Prepare = Callable[[Tree, User], Tree]
Judge = Callable[[Tree, Tree | None], list[Cause]]

NODE, POD, NAMESPACE = Kind("", "Node"), Kind("", "Pod"), Kind("", "Namespace")
LEASE, BUDGET = Kind("coordination.k8s.io", "Lease"), Kind("policy", "PodDisruptionBudget")
STATEFUL_SET, DEPLOYMENT = Kind("apps", "StatefulSet"), Kind("apps", "Deployment")
REPLICA_SET, DAEMON_SET = Kind("apps", "ReplicaSet"), Kind("apps", "DaemonSet")
EVENT = Kind("events.k8s.io", "Event")
JOB, SECRET, CONFIG_MAP = Kind("batch", "Job"), Kind("", "Secret"), Kind("", "ConfigMap")
CLAIM, VOLUME = Kind("", "PersistentVolumeClaim"), Kind("", "PersistentVolume")
SIGNING_REQUEST = Kind("certificates.k8s.io", "CertificateSigningRequest")
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def prepare_node(tree: Tree, user: User) -> Tree:
    """A node keeps the status it registers with, and is tainted until it is known to be ready."""
    spec = tree.get("spec") or {}
    taints = spec.get("taints") or []
    if not any(one.get("key") == NOT_READY["key"] and one.get("effect") == NOT_READY["effect"] for one in taints):
        spec = {**spec, "taints": [*taints, NOT_READY]}
    return {**tree, "spec": spec}


def prepare_namespace(tree: Tree, user: User) -> Tree:
    meta = tree["metadata"]
    labels = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": meta.get("name", "")}
    spec = {"finalizers": ["kubernetes"]}
    return {**tree, "metadata": {**meta, "labels": labels}, "spec": spec, "status": {"phase": "Active"}}


def fold_strings(tree: Tree) -> Tree:
    """stringData is a way to write data; it is never stored."""
    if "stringData" not in tree:
        return tree
    said = {key: base64.b64encode(value.encode()).decode() for key, value in tree["stringData"].items()}
    kept = {key: value for key, value in tree.items() if key != "stringData"}
    return {**kept, "data": {**(tree.get("data") or {}), **said}}


def prepare_job(tree: Tree, user: User) -> Tree:
    return tree if tree["spec"].get("manualSelector") else _own_selector(tree)


def _own_selector(tree: Tree) -> Tree:
    """A job finds its pods by its own uid."""
    spec, meta = tree["spec"], tree["metadata"]
    own = {"batch.kubernetes.io/controller-uid": meta["uid"]}
    labels = {
        **own,
        "batch.kubernetes.io/job-name": meta["name"],
        "controller-uid": meta["uid"],
        "job-name": meta["name"],
    }
    template = spec.get("template") or {}
    of_template = template.get("metadata") or {}
    of_template = {**of_template, "labels": {**(of_template.get("labels") or {}), **labels}}
    template = {**template, "metadata": of_template}
    return {**tree, "spec": {**spec, "selector": {"matchLabels": own}, "template": template}}


def prepare_signing_request(tree: Tree, user: User) -> Tree:
    """Who asks is what the server knows, not what the request says."""
    spec = {**(tree.get("spec") or {}), "username": user.name, "groups": list(user.groups)}
    return {**tree, "spec": spec}


PREPARE: dict[Kind, Prepare] = {
    DEFINITION: prepare_definition,
    NODE: prepare_node,
    POD: lambda tree, user: prepare_pod(tree),
    NAMESPACE: prepare_namespace,
    JOB: prepare_job,
    SIGNING_REQUEST: prepare_signing_request,
    CLAIM: lambda tree, user: {**tree, "status": {"phase": "Pending"}},
    VOLUME: lambda tree, user: {**tree, "status": {"phase": "Pending"}},
}
"""What is done to a new object, after its status was taken away and before it is judged."""

KEEPS_STATUS_WHEN_CREATED = frozenset({NODE})

ALWAYS_STATUS: dict[Kind, Tree] = {
    STATEFUL_SET: {"replicas": 0, "availableReplicas": 0},
    REPLICA_SET: {"replicas": 0},
    DAEMON_SET: {
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    },
    BUDGET: {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0},
}
"""Numbers that are written also when they are zero."""


def node_causes(new: Tree, old: Tree | None) -> list[Cause]:
    causes: list[Cause] = []
    spec, was = new.get("spec") or {}, (old or {}).get("spec") or {}
    if spec is was:
        return causes
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(spec.get("taints") or []):
        where = f"spec.taints[{index}]"
        if not taint.get("key"):
            causes.append(required(f"{where}.key"))
        if taint.get("effect") not in EFFECTS:
            missing = "effect" not in taint
            causes.append(
                required(f"{where}.effect") if missing else not_supported(f"{where}.effect", taint["effect"], EFFECTS)
            )
        pair = (taint.get("key", ""), taint.get("effect", ""))
        if pair in seen:
            why = "taints must be unique by key and effect pair"
            causes.append(Cause("FieldValueDuplicate", f"Duplicate value: {taint}: {why}", where))
        seen.add(pair)
    if was.get("providerID") and spec.get("providerID") != was["providerID"]:
        causes.append(
            field_forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid')
        )
    return causes


def lease_causes(new: Tree, old: Tree | None) -> list[Cause]:
    spec = new.get("spec") or {}
    causes = []
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if duration is not None and duration <= 0:
        causes.append(invalid_value("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    if transitions is not None and transitions < 0:
        causes.append(invalid_value("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
    return causes


def workload_causes(new: Tree, old: Tree | None) -> list[Cause]:
    """A selector that finds the workload's own pods and does not change."""
    spec, causes = new.get("spec") or {}, []
    if spec.get("replicas", 0) < 0:
        causes.append(invalid_value("spec.replicas", spec["replicas"], "must be greater than or equal to 0"))
    selector = spec.get("selector")
    if selector is None:
        return [*causes, required("spec.selector")]
    if old is not None and selector != (old.get("spec") or {}).get("selector"):
        return [*causes, invalid_value("spec.selector", selector, "field is immutable")]
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    if not matches_selector(selector, labels):
        causes.append(
            invalid_value("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
        )
    return [*causes, *spec_causes(template.get("spec") or {}, "spec.template.spec")]


def stateful_set_causes(new: Tree, old: Tree | None) -> list[Cause]:
    causes = workload_causes(new, old)
    if old is None or new["spec"] is old["spec"]:
        return causes
    loose = (
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    )
    fixed = [{key: one for key, one in tree["spec"].items() if key not in loose} for tree in (new, old)]
    if fixed[0] != fixed[1]:
        why = (
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
            "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
        )
        causes.append(field_forbidden("spec", why))
    return causes


def budget_causes(new: Tree, old: Tree | None) -> list[Cause]:
    spec = new.get("spec") or {}
    if "minAvailable" in spec and "maxUnavailable" in spec:
        return [invalid_value("spec", spec, "minAvailable and maxUnavailable cannot be both set")]
    return []


def frozen_data_causes(new: Tree, old: Tree | None) -> list[Cause]:
    """An immutable ConfigMap or Secret stays as it is."""
    if old is None or not old.get("immutable"):
        return []
    why = "field is immutable when `immutable` is set"
    causes = [] if new.get("immutable") else [field_forbidden("immutable", why)]
    return causes + [field_forbidden(key, why) for key in ("data", "binaryData") if new.get(key) != old.get(key)]


CAUSES: dict[Kind, Judge] = {
    DEFINITION: definition_causes,
    NODE: node_causes,
    POD: pod_causes,
    LEASE: lease_causes,
    STATEFUL_SET: stateful_set_causes,
    DEPLOYMENT: workload_causes,
    REPLICA_SET: workload_causes,
    DAEMON_SET: workload_causes,
    BUDGET: budget_causes,
    CONFIG_MAP: frozen_data_causes,
    SECRET: frozen_data_causes,
    EVENT: event_causes,
}
"""What is wrong with an object of this kind, beyond types and metadata."""
