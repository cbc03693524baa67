"""The objects of the benchmark: a Node as big as real ones, its Machine and its host. Used over HTTP and in process."""

from __future__ import annotations

import hashlib
from typing import Any

Tree = dict[str, Any]

NAMESPACE = "default"
IMAGES = 50  # with them, and what an API server adds, a Node has about 19.7 KB
POOLS = ("plain", *["open"] * 5, *["limited"] * 4)  # of ten machines in a row, which health check speaks for whom
WHEN = "2026-11-15T08:00:00Z"


def name_of(number: int) -> str:
    return f"bench-{number:05d}"


def pool_of(number: int) -> str:
    return POOLS[number % len(POOLS)]


def numbers_of(pool: str, size: int) -> list[int]:
    return [number for number in range(size) if pool_of(number) == pool]


def node(number: int) -> Tree:
    """A Node with the labels, conditions, addresses and images of an ordinary worker."""
    name = name_of(number)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels(number), "annotations": notes(number)},
        "spec": {"providerID": f"metal3://{NAMESPACE}/{name}", "podCIDR": f"10.{number // 250}.{number % 250}.0/24"},
        "status": {
            "capacity": resources(),
            "allocatable": resources(),
            "addresses": [
                {"type": "InternalIP", "address": f"10.200.{number // 250}.{number % 250}"},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": node_info(name),
            "conditions": conditions(WHEN),
            "images": [image(number, i) for i in range(IMAGES)],
        },
    }


def labels(number: int) -> dict[str, str]:
    usual = {
        "kubernetes.io/hostname": name_of(number),
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/region": "region-1",
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
        "node.kubernetes.io/instance-type": "bare-metal.large",
        "node-role.kubernetes.io/worker": "",
    }
    return usual | {f"feature.example.com/cpu-{i}": "true" for i in range(12)}


def notes(number: int) -> dict[str, str]:
    return {
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
        "csi.volume.kubernetes.io/nodeid": f'{{"storage.example.com":"{name_of(number)}"}}',
        "example.com/asset": f"asset-{number}",
    }


def resources() -> dict[str, str]:
    return {"cpu": "64", "memory": "263839744Ki", "ephemeral-storage": "468Gi", "pods": "250", "hugepages-1Gi": "0"}


def node_info(name: str) -> dict[str, str]:
    digest = hashlib.sha256(name.encode()).hexdigest()
    return {
        "architecture": "amd64",
        "bootID": f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}",
        "containerRuntimeVersion": "containerd://2.1.4",
        "kernelVersion": "6.1.0-38-amd64",
        "kubeProxyVersion": "v1.36.3",
        "kubeletVersion": "v1.36.3",
        "machineID": digest[:32],
        "operatingSystem": "linux",
        "osImage": "Debian GNU/Linux 12 (bookworm)",
        "systemUUID": digest[32:],
    }


def conditions(heartbeat: str, ready: str = "True", since: str = WHEN) -> list[Tree]:
    """The four conditions of a kubelet; of a healthy one only the heartbeat changes from one to the next."""
    said = [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", ready, "KubeletReady", "kubelet is posting ready status"),
    ]
    return [
        {
            "type": type_,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": heartbeat,
            "lastTransitionTime": since if type_ == "Ready" else WHEN,
        }
        for type_, status, reason, message in said
    ]


def image(number: int, index: int) -> Tree:
    digest = hashlib.sha256(f"{number} {index}".encode()).hexdigest()
    repository = f"registry.example.com/platform/component-{index:02d}"
    mirror = f"mirror-of-the-platform-team.registry.example.com/{repository}"
    names = [f"{repository}@sha256:{digest}", f"{repository}:v1.{index}.3", f"{mirror}:v1.{index}.3-{number}"]
    return {"names": names, "sizeBytes": 50_000_000 + index}


def machine(number: int) -> tuple[Tree, Tree]:
    """A Machine, and the status that it gets."""
    name = name_of(number)
    tree = {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Machine",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"cluster.x-k8s.io/cluster-name": "bench", "pool": pool_of(number)},
            "annotations": {"metal3.io/BareMetalHost": f"{NAMESPACE}/{name}"},
        },
        "spec": {"clusterName": "bench", "providerID": f"metal3://{NAMESPACE}/{name}"},
    }
    return tree, {"phase": "Running", "nodeRef": {"apiVersion": "v1", "kind": "Node", "name": name}}


def host(number: int) -> tuple[Tree, Tree]:
    """A BareMetalHost that serves the Machine of the same name, and its status."""
    name = name_of(number)
    consumer = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "name": name, "namespace": NAMESPACE}
    tree = {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "online": True,
            "bmc": {"address": f"ipmi://{name}.bmc.example", "credentialsName": f"{name}-bmc"},
            "consumerRef": consumer,
        },
    }
    return tree, {"poweredOn": True, "operationalStatus": "OK", "provisioning": {"state": "provisioned"}}
