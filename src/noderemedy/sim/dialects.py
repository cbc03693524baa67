"""What Machines and their checks are called in a simulated cluster, and who names a host: Cluster API, or OpenShift.

Objects are written in Cluster API's words (`objects.py`) and said in those of the cluster. Where Metal3's provider made
the Machines, a Metal3Machine stands between each and its host: that one has the host's name, and is its consumer.
"""

from __future__ import annotations

import random
from typing import Any

from msgspec import Struct

from noderemedy.model.ids import HEALTH_CHECK, MACHINE, METAL3_MACHINE, OPENSHIFT_HEALTH_CHECK, OPENSHIFT_MACHINE, Kind
from noderemedy.sim import objects
from noderemedy.sim.apiserver import Tree
from noderemedy.wire import names

SHARE = 1 / 8  # of the worlds of health checks and Metal3 that are OpenShift's; and that Metal3's provider made
SMALLEST = 10  # nodes of such a world


class Dialect(Struct, frozen=True):
    """The kinds, and how a check names its template."""

    machine: Kind
    check: Kind
    version: str = ""  # of both; "": as `objects.py` has them
    template: str = "externalRemediationTemplate"
    names_host: Kind = MACHINE  # which says what host a Machine has, and is its consumer
    checks: str = ""  # the version of Cluster API that checks are in; "": as `objects.py` has them

    def say(self, tree: Tree) -> Tree:
        """The same object in these words; a host, too, which names its Machine."""
        if self.checks and tree["kind"] == HEALTH_CHECK.kind:
            return {**tree, "apiVersion": f"{HEALTH_CHECK.group}/{self.checks}", "spec": self.spec(tree["spec"])}
        if self.names_host == METAL3_MACHINE:
            return _between(tree)
        if not self.version:
            return tree
        spec = self.spec(tree["spec"])
        if "consumerRef" in spec:
            return {**tree, "spec": {**spec, "consumerRef": {**spec["consumerRef"], "apiVersion": self.version}}}
        return {**tree, "apiVersion": self.version, "spec": spec}

    def spec(self, spec: Tree) -> Tree:
        """What is said of a check, all or a part, in these words."""
        if self.checks:
            named = {"clusterName": cluster_of(spec["selector"])} if "selector" in spec else {}
            return today({**spec, **named}) if self.checks == "v1beta2" else renamed({**spec, **named}, V1BETA1)
        return renamed(spec, {OURS: self.template})

    def define(self, definition: Tree) -> Tree:
        """How this cluster has a kind defined: where checks are Cluster API's, in their one version."""
        spec = definition["spec"]
        if not self.checks or (spec["group"], spec["names"]["kind"]) != (HEALTH_CHECK.group, HEALTH_CHECK.kind):
            return definition
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        one = {"name": self.checks, "served": True, "storage": True, "subresources": {"status": {}}, "schema": schema}
        return {**definition, "spec": {**spec, "versions": [one]}}

    def kind(self, kind: Kind) -> Kind:
        """What is called so here."""
        return {MACHINE: self.machine, HEALTH_CHECK: self.check}.get(kind, kind)


OURS = "externalRemediationTemplate"
V1BETA1 = {OURS: "remediationTemplate"}
PLACES = {  # of v1beta2
    "maxUnhealthy": ("remediation", "triggerIf", "unhealthyLessThanOrEqualTo"),
    "unhealthyRange": ("remediation", "triggerIf", "unhealthyInRange"),
    OURS: ("remediation", "templateRef"),
    "unhealthyConditions": ("checks", "unhealthyNodeConditions"),
    "nodeStartupTimeout": ("checks", "nodeStartupTimeoutSeconds"),
}


def renamed(spec: Tree, new: dict[str, str]) -> Tree:
    return {new.get(key, key): value for key, value in spec.items()}


def cluster_of(selector: Tree) -> str:
    """The cluster whose machines are meant."""
    return str((selector.get("matchLabels") or {}).get(names.CLUSTER_NAME, "lab"))


def today(spec: Tree) -> Tree:
    """As v1beta2 has it: other places, and times in seconds."""
    found: Tree = {}
    for key, value in spec.items():
        *above, last = PLACES.get(key, (key,))
        at = found
        for level in above:
            at = at.setdefault(level, {})
        at[last] = in_seconds(key, value)
    return found


def in_seconds(key: str, value: Any) -> Any:
    if key == "nodeStartupTimeout":
        return seconds(value)
    if key != "unhealthyConditions":
        return value
    kept = [{name: one[name] for name in ("type", "status")} for one in value]
    return [{**one, "timeoutSeconds": seconds(old["timeout"])} for one, old in zip(kept, value, strict=True)]


def seconds(text: str) -> int:
    """Of a duration as `objects.py` writes them."""
    return int(text[:-2]) // 1_000 if text.endswith("ms") else int(text.removesuffix("m")) * 60


def _between(tree: Tree) -> Tree:
    """A Machine says nothing of its host; a host is consumed by the Metal3Machine, which has the Machine's name."""
    if tree["kind"] == "Machine":
        metadata = tree["metadata"]
        notes = {key: value for key, value in metadata["annotations"].items() if key != names.MACHINE_HOST}
        return {**tree, "metadata": {**metadata, "annotations": notes}}
    if tree["kind"] == "BareMetalHost":
        consumer = {"apiVersion": objects.METAL3_VERSION, "kind": METAL3_MACHINE.kind}
        return {**tree, "spec": {**tree["spec"], "consumerRef": {**tree["spec"]["consumerRef"], **consumer}}}
    return tree


CLUSTER_API = Dialect(MACHINE, HEALTH_CHECK)
METAL3 = Dialect(MACHINE, HEALTH_CHECK, names_host=METAL3_MACHINE)
OPENSHIFT = Dialect(
    OPENSHIFT_MACHINE,
    OPENSHIFT_HEALTH_CHECK,
    "machine.openshift.io/v1beta1",
    template="remediationTemplate",
    names_host=OPENSHIFT_MACHINE,
)


def dialect_of(seed: int, nodes: int) -> Dialect:
    """Of this seed's world; each drawn from a chance of its own, so that all others stay as they are."""
    if nodes < SMALLEST:
        return CLUSTER_API
    if random.Random(f"dialect {seed}").random() < SHARE:
        return OPENSHIFT
    return METAL3 if random.Random(f"metal3 {seed}").random() < SHARE else CLUSTER_API
