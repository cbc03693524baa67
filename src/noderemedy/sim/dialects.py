"""What Machines and their checks are called in a simulated cluster: Cluster API's words, or OpenShift's.

Objects are written in Cluster API's words (`objects.py`) and said in those of the cluster.
"""

from __future__ import annotations

import random

from msgspec import Struct

from noderemedy.model.ids import HEALTH_CHECK, MACHINE, OPENSHIFT_HEALTH_CHECK, OPENSHIFT_MACHINE, Kind
from noderemedy.sim.apiserver import Tree

SHARE = 1 / 8  # of the worlds of health checks and Metal3 that are OpenShift's
SMALLEST = 10  # nodes of such a world


class Dialect(Struct, frozen=True):
    """The kinds, and how a check names its template."""

    machine: Kind
    check: Kind
    version: str = ""  # of both; "": as `objects.py` has them
    template: str = "externalRemediationTemplate"

    def say(self, tree: Tree) -> Tree:
        """The same object in these words; a host, too, which names its Machine."""
        if not self.version:
            return tree
        spec = dict(tree["spec"])
        if "externalRemediationTemplate" in spec:
            spec[self.template] = spec.pop("externalRemediationTemplate")
        if "consumerRef" in spec:
            return {**tree, "spec": {**spec, "consumerRef": {**spec["consumerRef"], "apiVersion": self.version}}}
        return {**tree, "apiVersion": self.version, "spec": spec}

    def kind(self, kind: Kind) -> Kind:
        """What is called so here."""
        return {MACHINE: self.machine, HEALTH_CHECK: self.check}.get(kind, kind)


CLUSTER_API = Dialect(MACHINE, HEALTH_CHECK)
OPENSHIFT = Dialect(
    OPENSHIFT_MACHINE, OPENSHIFT_HEALTH_CHECK, "machine.openshift.io/v1beta1", template="remediationTemplate"
)


def dialect_of(seed: int, nodes: int) -> Dialect:
    """Of this seed's world; drawn from a chance of its own, so that all others stay as they are."""
    is_openshift = random.Random(f"dialect {seed}").random() < SHARE
    return OPENSHIFT if is_openshift and nodes >= SMALLEST else CLUSTER_API
