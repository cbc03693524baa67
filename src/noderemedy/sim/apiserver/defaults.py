"""Defaults of built-in kinds, filled in on every write as a real server does when it decodes.

Fields that come this way belong to the writer; what admission adds later (`kinds.py`) belongs to nobody.
"""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver.pods import default_pod, default_pod_spec, each, filled, with_field
from noderemedy.sim.apiserver.types import Tree

Default = Callable[[Tree], Tree]

STATEFUL_SET: Tree = {
    "replicas": 1,
    "podManagementPolicy": "OrderedReady",
    "revisionHistoryLimit": 10,
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
}
DEPLOYMENT: Tree = {
    "replicas": 1,
    "revisionHistoryLimit": 10,
    "progressDeadlineSeconds": 600,
    "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
}
DAEMON_SET: Tree = {
    "revisionHistoryLimit": 10,
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
}
JOB: Tree = {
    "parallelism": 1,
    "completions": 1,
    "backoffLimit": 6,
    "completionMode": "NonIndexed",
    "suspend": False,
    "podReplacementPolicy": "TerminatingOrFailed",
}
SERVICE: Tree = {
    "type": "ClusterIP",
    "sessionAffinity": "None",
    "internalTrafficPolicy": "Cluster",
    "ipFamilyPolicy": "SingleStack",
}
STRATEGIES = ("strategy", "updateStrategy")
VOLUME: Tree = {"volumeMode": "Filesystem", "persistentVolumeReclaimPolicy": "Retain"}
CLASS: Tree = {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}


def _spec(defaults: Tree) -> Default:
    return lambda tree: with_field(tree, "spec", filled(tree.get("spec") or {}, defaults))


def _workload(defaults: Tree) -> Default:
    """Defaults of the workload and of the pods in its template."""

    def default(tree: Tree) -> Tree:
        spec = tree.get("spec") or {}
        if spec.get("strategy") == {} or spec.get("updateStrategy") == {}:
            spec = {key: value for key, value in spec.items() if key not in STRATEGIES}
        spec = filled(spec, defaults)
        template = spec.get("template")
        if isinstance(template, dict) and isinstance(template.get("spec"), dict):
            template = with_field(template, "spec", default_pod_spec(template["spec"]))
            spec = with_field(spec, "template", template)
        return with_field(tree, "spec", spec)

    return default


def _service(tree: Tree) -> Tree:
    spec = filled(tree.get("spec") or {}, SERVICE)
    if isinstance(spec.get("ports"), list):
        ports = each(spec["ports"], lambda port: filled(port, {"protocol": "TCP", "targetPort": port.get("port")}))
        spec = with_field(spec, "ports", ports)
    return with_field(tree, "spec", spec)


DEFAULTS: dict[Kind, Default] = {
    Kind("", "Pod"): default_pod,
    Kind("", "Secret"): lambda tree: filled(tree, {"type": "Opaque"}),
    Kind("", "Service"): _service,
    Kind("", "PersistentVolumeClaim"): _spec({"volumeMode": "Filesystem"}),
    Kind("", "PersistentVolume"): _spec(VOLUME),
    Kind("apps", "StatefulSet"): _workload(STATEFUL_SET),
    Kind("apps", "Deployment"): _workload(DEPLOYMENT),
    Kind("apps", "ReplicaSet"): _workload({"replicas": 1}),
    Kind("apps", "DaemonSet"): _workload(DAEMON_SET),
    Kind("batch", "Job"): _workload(JOB),
    Kind("storage.k8s.io", "StorageClass"): lambda tree: filled(tree, CLASS),
}
