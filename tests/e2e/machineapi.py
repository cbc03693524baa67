"""OpenShift's machine controllers, as far as a health check meets them: a MachineSet owns Machines, and lets them go.

No OpenShift runs here. The owner is an object of an open kind, so that Kubernetes' own garbage collector finds it; what
the controllers would do is done when a test says so: take the computer away first, then the Machine's finalizer.
"""

from __future__ import annotations

from tests.e2e.api import Json, eventually
from tests.e2e.fleet import NODES, Fleet, Provider

GROUP = "machine.openshift.io"
KINDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MACHINE_SETS = f"/apis/{GROUP}/v1beta1/namespaces/default/machinesets"
CHECKS = f"/apis/{GROUP}/v1beta1/namespaces/default/machinehealthchecks"
FINALIZER = "machine.machine.openshift.io"


def open_kind() -> Json:
    """A MachineSet that takes anything."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1beta1", "served": True, "storage": True, "schema": schema}
    names = {"kind": "MachineSet", "plural": "machinesets"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"machinesets.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


class MachineSet:
    """One MachineSet, and the Machines that it has made."""

    def __init__(self, fleet: Fleet, name: str) -> None:
        self.fleet = fleet
        api = fleet.api
        if api.get(MACHINE_SETS).status == 404:
            api.create(KINDS, open_kind()).ok()
            eventually(lambda: api.get(MACHINE_SETS).status == 200, "the kind is served")
        body = {"apiVersion": f"{GROUP}/v1beta1", "kind": "MachineSet", "metadata": {"name": name}}
        self.made = api.create(MACHINE_SETS, body).ok()

    def add(self, *names: str, labels: Json) -> None:
        """Machines of this set, each with a computer that runs."""
        self.fleet.add(*names, provider=Provider.OPENSHIFT)
        uid, name = self.made["metadata"]["uid"], self.made["metadata"]["name"]
        owner = {"apiVersion": f"{GROUP}/v1beta1", "kind": "MachineSet", "name": name, "uid": uid, "controller": True}
        meta = {"labels": labels, "ownerReferences": [owner], "finalizers": [FINALIZER]}
        for machine in names:
            self.fleet.api.merge(self.fleet.machine_path(machine), {"metadata": meta}).ok()

    def let_go(self, name: str) -> None:
        """The computer of a deleted Machine goes, then its Node, then the Machine."""
        self.fleet.power(name, on=False)
        self.fleet.api.delete(f"{NODES}/{name}").ok()
        self.fleet.api.merge(self.fleet.machine_path(name), {"metadata": {"finalizers": None}}).ok()
