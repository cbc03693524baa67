"""Where the kinds that rooms watch are served, and what does not work without each. Read by manager and plan."""

from __future__ import annotations

from noderemedy.drivers.kube.discovery import Wanted
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
)
from noderemedy.rooms import NARROWED, watched

# Versions in which the fields that we read are the same, best first.
WANTED: dict[Kind, Wanted] = {
    NODE: Wanted(NODE, ("v1",), "nodes", False),
    MACHINE: Wanted(MACHINE, ("v1beta2", "v1beta1", "v1alpha4", "v1alpha3"), "machines", True),
    OPENSHIFT_MACHINE: Wanted(OPENSHIFT_MACHINE, ("v1beta1",), "machines", True),
    METAL3_MACHINE: Wanted(METAL3_MACHINE, ("v1beta2", "v1beta1", "v1alpha5", "v1alpha4"), "metal3machines", True),
    HEALTH_CHECK: Wanted(HEALTH_CHECK, ("v1beta2", "v1beta1", "v1alpha4", "v1alpha3"), "machinehealthchecks", True),
    OPENSHIFT_HEALTH_CHECK: Wanted(OPENSHIFT_HEALTH_CHECK, ("v1beta1",), "machinehealthchecks", True),
    CLUSTER: Wanted(CLUSTER, ("v1beta2", "v1beta1", "v1alpha4", "v1alpha3"), "clusters", True),
    INCIDENT: Wanted(INCIDENT, ("v1alpha1",), "incidents", True, NARROWED[INCIDENT]),
    HOST: Wanted(HOST, ("v1alpha1",), "baremetalhosts", True),
    BUDGET: Wanted(BUDGET, ("v1alpha1",), "remediationbudgets", False),
    LEASE: Wanted(LEASE, ("v1",), "leases", True, NARROWED[LEASE]),
    JOB: Wanted(JOB, ("v1",), "jobs", True, NARROWED[JOB]),
    CONFIG_MAP: Wanted(CONFIG_MAP, ("v1",), "configmaps", True, NARROWED[CONFIG_MAP]),
    REMEDIATION: Wanted(REMEDIATION, ("v1alpha1",), "metal3remediations", True),
    NODE_FENCE: Wanted(NODE_FENCE, ("v1",), "nodefences", False),
    FENCE_REMEDIATION: Wanted(FENCE_REMEDIATION, ("v1alpha1",), "fenceremediations", True),
}
WITHOUT: dict[Kind, str] = {
    MACHINE: "machines of Cluster API are not repaired",
    OPENSHIFT_MACHINE: "machines of OpenShift are not repaired",
    METAL3_MACHINE: "the host of a machine that Metal3's provider made is not found",
    HEALTH_CHECK: "machines of Cluster API are not judged by health checks",
    OPENSHIFT_HEALTH_CHECK: "machines of OpenShift are not judged by health checks",
    CLUSTER: "every cluster is taken to manage itself, and to be up",
    BUDGET: "the default budget holds",
    LEASE: "nobody can claim a repair, so none begins",
    INCIDENT: "no incidents are recorded, and what needs approval is not repaired; kubectl apply -f deploy/crds",
    HOST: "no host can be powered off, so nothing is repaired through its annotations",
    REMEDIATION: "no machine is power cycled by a Metal3Remediation",
    NODE_FENCE: "no node is fenced; kubectl apply -f deploy/crds",
    FENCE_REMEDIATION: "no health check can have a node fenced; kubectl apply -f deploy/crds",
}


def wanted() -> tuple[Wanted, ...]:
    """All kinds that some room watches."""
    return tuple(WANTED[kind] for kind in watched())


def crd_name(one: Wanted) -> str:
    """The name of the CustomResourceDefinition, as in `kubectl get crd`."""
    return f"{one.plural}.{one.kind.group}"
