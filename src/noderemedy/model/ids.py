"""Names of things: a Kind of object, and a Ref to one object of one cluster."""

from __future__ import annotations

from msgspec import Struct


class Kind(Struct, frozen=True, order=True, cache_hash=True):
    """A kind of Kubernetes object. The served version is the driver's business (discovery)."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class Ref(Struct, frozen=True, order=True, cache_hash=True):
    """The name of one object. `cluster` is "" for the home cluster, `namespace` "" where there is none."""

    cluster: str
    kind: Kind
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.kind}/{self.namespace}/{self.name}"

    @property
    def in_words(self) -> str:
        """As a sentence names it: kind and name, and a namespace where it has one."""
        return f"{self.kind.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind.kind} {self.name}"


FACTS = "facts.node-remedy.dev"  # the group of what rooms derive; never in the API
NODE = Kind("", "Node")
MACHINE = Kind("cluster.x-k8s.io", "Machine")
OPENSHIFT_MACHINE = Kind("machine.openshift.io", "Machine")
HEALTH_CHECK = Kind("cluster.x-k8s.io", "MachineHealthCheck")
OPENSHIFT_HEALTH_CHECK = Kind("machine.openshift.io", "MachineHealthCheck")
CLUSTER = Kind("cluster.x-k8s.io", "Cluster")
METAL3_MACHINE = Kind("infrastructure.cluster.x-k8s.io", "Metal3Machine")
HOST = Kind("metal3.io", "BareMetalHost")
INCIDENT = Kind("node-remedy.dev", "Incident")
REMEDIATION = Kind("remediation.metal3.io", "Metal3Remediation")
NODE_FENCE = Kind("ha.k8s.io", "NodeFence")
FENCE_REMEDIATION = Kind("node-remedy.dev", "FenceRemediation")
LEASE = Kind("coordination.k8s.io", "Lease")
EVENT = Kind("events.k8s.io", "Event")
CONFIG_MAP = Kind("", "ConfigMap")
JOB = Kind("batch", "Job")
BUDGET = Kind("node-remedy.dev", "RemediationBudget")
SYSTEM = "node-remedy-system"  # the namespace of our own bookkeeping


def ref(kind: Kind, name: str, namespace: str = "", cluster: str = "") -> Ref:
    """The usual way to name an object of the home cluster."""
    return Ref(cluster, kind, namespace, name)
