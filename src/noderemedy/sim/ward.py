"""Machines that are left to somebody else's controller: an invented template kind, a check that names it, its machines.

Part of a simulated cluster if the seed says so. Group and kinds exist nowhere else: whatever works for them works for
any vendor's. `doctor.py` is the controller, `wardcheckers.py` holds what happens against the truth.
"""

from __future__ import annotations

from typing import Any

from noderemedy.model.ids import Kind
from noderemedy.sim import objects
from noderemedy.sim.apiserver import ApiError, WatchEvent
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.wire import names

GROUP, VERSION = "example.com", "v1alpha1"
DOCTOR, TEMPLATE = Kind(GROUP, "Doctor"), Kind(GROUP, "DoctorTemplate")
TEMPLATE_NAME, CHECK_NAME, WARD = "house-call", "ward", "ward"


class Ward:
    """The machines of some nodes of a cluster, with all that they need to be treated by a doctor."""

    def __init__(self, cluster: Cluster, nodes: int) -> None:
        self.cluster = cluster
        self.nodes = tuple(list(cluster.servers)[-nodes:])
        self._machines = {machine_of(node) for node in self.nodes}
        for kind in (DOCTOR, TEMPLATE):
            cluster.api.create(definition(kind))
        self.write_template()
        for machine in sorted(self._machines):
            self._admit(machine)
        cluster.api.create(cluster.dialect.say(check()))
        cluster.api.subscribe(cluster.dialect.machine, self._machine)

    def write_template(self) -> None:
        self.cluster.api.create(template())

    def tear_template(self) -> None:
        self.cluster.api.delete(TEMPLATE, TEMPLATE_NAME, NAMESPACE)

    def has_template(self) -> bool:
        return self.cluster.api.find(TEMPLATE, TEMPLATE_NAME, NAMESPACE) is not None

    def _machine(self, event: WatchEvent) -> None:
        """A Machine that was made again belongs to the ward as its predecessor did."""
        name = event.tree["metadata"]["name"]
        if event.type == "ADDED" and name in self._machines:
            self.cluster.agenda.after(1, lambda: self._admit(name))

    def _admit(self, machine: str) -> None:
        body = {"metadata": {"labels": {names.CLUSTER_NAME: WARD}}}
        try:
            self.cluster.api.patch(self.cluster.dialect.machine, machine, NAMESPACE, body, "merge")
        except ApiError:
            return  # gone again


def definition(kind: Kind, name: str = VERSION) -> dict[str, Any]:
    """A CustomResourceDefinition that takes whatever it is given."""
    plural = f"{kind.kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "names": {
                "kind": kind.kind,
                "plural": plural,
                "singular": kind.kind.lower(),
                "listKind": f"{kind.kind}List",
            },
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def template() -> dict[str, Any]:
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": TEMPLATE.kind,
        "metadata": {"name": TEMPLATE_NAME, "namespace": NAMESPACE},
        "spec": {"template": {"metadata": {"labels": {"shift": "night"}}, "spec": {"dose": 3}}},
    }


def check() -> dict[str, Any]:
    """A check over the ward that names the template, in the shape of seed 003."""
    tree = objects.health_check(CHECK_NAME, "100%")
    tree["spec"]["selector"]["matchLabels"] = {names.CLUSTER_NAME: WARD}
    reference = {"apiVersion": f"{GROUP}/{VERSION}", "kind": TEMPLATE.kind, "name": TEMPLATE_NAME}
    tree["spec"]["externalRemediationTemplate"] = reference
    del tree["spec"]["maxUnhealthy"]
    return tree
