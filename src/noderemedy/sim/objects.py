"""The objects of a simulated bare-metal cluster, as JSON trees."""

from __future__ import annotations

from typing import Any

from noderemedy import crds
from noderemedy.sim.durations import Durations
from noderemedy.wire import names

NAMESPACE = "metal3"
METAL3_VERSION = "infrastructure.cluster.x-k8s.io/v1beta1"
SYSTEM = "node-remedy-system"
WORKLOAD = "default"
OPENSHIFT_CHECKS = "machinehealthchecks.machine.openshift.io"
STARTUP_MIN_MS = 30_000  # of the API: less would replace machines before they can have started


def namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def host(name: str, machine: str, powered_on: bool) -> dict[str, Any]:
    """A provisioned BareMetalHost that serves a Machine."""
    return {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "online": True,
            "bootMACAddress": "52:54:00:00:00:01",
            "bmc": {"address": f"ipmi://{name}.bmc.example", "credentialsName": f"{name}-bmc"},
            "consumerRef": {
                "apiVersion": "cluster.x-k8s.io/v1beta1",
                "kind": "Machine",
                "name": machine,
                "namespace": NAMESPACE,
            },
        },
        "status": {
            "poweredOn": powered_on,
            "operationalStatus": "OK",
            "goodCredentials": {"credentials": {"name": f"{name}-bmc"}, "credentialsVersion": "1"},
            "provisioning": {"state": "provisioned"},
        },
    }


def machine(name: str, node: str, host_name: str, cluster: str = "lab") -> dict[str, Any]:
    """A Machine that names its Node and its host."""
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Machine",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"cluster.x-k8s.io/cluster-name": cluster},
            "annotations": {names.MACHINE_HOST: f"{NAMESPACE}/{host_name}"},
        },
        "spec": {
            "clusterName": cluster,
            "providerID": f"metal3://{node}",
            "bootstrap": {"dataSecretName": "none"},
            "infrastructureRef": {"kind": "Metal3Machine", "name": name, "namespace": NAMESPACE},
        },
        "status": {"phase": "Running", "nodeRef": {"apiVersion": "v1", "kind": "Node", "name": node}},
    }


def metal3_machine(name: str, machine_uid: str, host_name: str) -> dict[str, Any]:
    """What Metal3's provider puts between the Machine of that name and its host: it names the host."""
    owner = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "name": name, "uid": machine_uid}
    return {
        "apiVersion": METAL3_VERSION,
        "kind": "Metal3Machine",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "annotations": {names.MACHINE_HOST: f"{NAMESPACE}/{host_name}"},
            "ownerReferences": [owner],
        },
    }


def instance_machine(name: str) -> dict[str, Any]:
    """A Machine of the simulated cloud without a controller: node-remedy is its owner."""
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Machine",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"cluster.x-k8s.io/cluster-name": "lab", "pool": "cloud"},
            "annotations": {names.OWNER: names.OURS},
        },
        "spec": {
            "clusterName": "lab",
            "bootstrap": {"dataSecretName": "none"},
            "infrastructureRef": {"kind": "SimulatedMachineTemplate", "name": "workers", "namespace": NAMESPACE},
        },
    }


def health_check(name: str, max_unhealthy: str, cluster: str = "lab") -> dict[str, Any]:
    """A check over all machines of the cluster, in the shape of seed 003."""
    statuses = ("Unknown", "False")
    return {
        "apiVersion": "cluster.x-k8s.io/v1alpha3",
        "kind": "MachineHealthCheck",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "selector": {"matchLabels": {"cluster.x-k8s.io/cluster-name": cluster}},
            "unhealthyConditions": [{"type": "Ready", "status": status, "timeout": "5m"} for status in statuses],
            "maxUnhealthy": max_unhealthy,
        },
    }


def marking_check(name: str, max_unhealthy: str | None, durations: Durations) -> dict[str, Any]:
    """The same with the times of a simulated world: it has machines power cycled, those of a cloud's pool excepted."""
    tree = health_check(name, max_unhealthy or "")
    if max_unhealthy is None:
        del tree["spec"]["maxUnhealthy"]
    tree["metadata"]["annotations"] = {names.STRATEGY: "external-baremetal"}
    tree["spec"]["selector"]["matchExpressions"] = [{"key": "pool", "operator": "DoesNotExist"}]
    for criterion in tree["spec"]["unhealthyConditions"]:
        criterion["timeout"] = f"{durations.mark_after}ms"
    tree["spec"]["nodeStartupTimeout"] = f"{max(durations.startup, STARTUP_MIN_MS)}ms"
    return tree


def definitions(*, with_openshift: bool = False) -> tuple[dict[str, Any], ...]:
    """The kinds that a cluster starts with: all that we ship, OpenShift's checks only where there are some."""
    return tuple(tree for tree in crds.every() if with_openshift or tree["metadata"]["name"] != OPENSHIFT_CHECKS)


def cluster_definition() -> dict[str, Any]:
    """The kind Cluster of Cluster API, which a management cluster has and we ship to nobody."""
    names_of_kind = {"kind": "Cluster", "listKind": "ClusterList", "plural": "clusters", "singular": "cluster"}
    version = {
        "name": "v1beta1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "clusters.cluster.x-k8s.io"},
        "spec": {"group": "cluster.x-k8s.io", "scope": "Namespaced", "names": names_of_kind, "versions": [version]},
    }


def cluster(name: str) -> dict[str, Any]:
    """A Cluster whose control plane is up."""
    conditions = [{"type": kind, "status": "True"} for kind in ("ControlPlaneInitialized", "InfrastructureReady")]
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Cluster",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {},
        "status": {"conditions": conditions},
    }


def kubeconfig(cluster: str, value: str) -> dict[str, Any]:
    """The secret through which a workload cluster is reached; here its value is the name of the cluster."""
    metadata = {"name": f"{cluster}-kubeconfig", "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"value": value}}


def remediation(name: str, **spec: Any) -> dict[str, Any]:
    """A Metal3Remediation for the Machine of that name."""
    return {
        "apiVersion": "remediation.metal3.io/v1alpha1",
        "kind": "Metal3Remediation",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    }


def pool_check() -> dict[str, Any]:
    """A check over the machines of the cloud that loses no time: the lab's clocks are real."""
    check = health_check("pool", "100%")
    check["spec"]["selector"] = {"matchLabels": {"pool": "cloud"}}
    for condition in check["spec"]["unhealthyConditions"]:
        condition["timeout"] = "1s"
    del check["spec"]["maxUnhealthy"]
    return check


def stateful_set(name: str, replicas: int, volumes: tuple[str, ...] = ("data",)) -> dict[str, Any]:
    """A database: each pod has volumes that only one copy may write to."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "namespace": WORKLOAD, "labels": labels},
        "spec": {
            "replicas": replicas,
            "serviceName": name,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "registry.example/database:1"}]},
            },
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": stem},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                }
                for stem in volumes
            ],
        },
    }


def disruption_budget(workload: str) -> dict[str, Any]:
    """No pod of this workload may be evicted."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": workload, "namespace": WORKLOAD},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": workload}}},
    }


def claim(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": WORKLOAD},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "volumeName": name,
        },
    }


def volume(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "sim.example", "volumeHandle": name},
            "claimRef": {"namespace": WORKLOAD, "name": name},
        },
    }
