"""Checks that have a Metal3Remediation made for a sick machine, from a template: seeds 003 and 004 in simulated days.

A quarter of the worlds of health checks and Metal3 has one instead of the check that marks (`requesting_of`, of a
chance of its own: all others are as without it); in most of those that are not OpenShift's, checks are in the words of
today's Cluster API. Strategy and limits of the template are drawn. `requested.py` looks after what such checks ask for.
"""

from __future__ import annotations

import random
from typing import Any

from msgspec import Struct, structs

from noderemedy.model.ids import HEALTH_CHECK
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.dialects import OPENSHIFT, Dialect
from noderemedy.sim.objects import NAMESPACE
from noderemedy.wire import names

SHARE, SMALLEST = 0.25, 4  # of the worlds; nodes of such a world
VERSIONS = ("", "v1beta1", "v1beta2")  # of Cluster API's checks; "": as `objects.py` has them
WORDS = ("v1alpha3", "v1beta1", "v1beta2", OPENSHIFT.version)
API, TEMPLATE = "remediation.metal3.io/v1alpha1", "Metal3RemediationTemplate"
CHECKS = ("all", "younger")  # each has a template of its own name: by that it is known who asked
WAYS = ("taint", "pods", "node")


class Requesting(Struct, frozen=True):
    """What the check over all machines asks for, and in which version."""

    spec: dict[str, Any]
    version: str = ""

    def over(self, check: Tree) -> Tree:
        """The same check with the template in the place of the annotation."""
        notes = {key: value for key, value in check["metadata"]["annotations"].items() if key != names.STRATEGY}
        named = {"apiVersion": API, "kind": TEMPLATE, "name": check["metadata"]["name"]}
        spec = {**check["spec"], "externalRemediationTemplate": named}
        return {**check, "metadata": {**check["metadata"], "annotations": notes}, "spec": spec}

    def templates(self) -> list[Tree]:
        named, spec = {"apiVersion": API, "kind": TEMPLATE}, {"template": {"spec": self.spec}}
        return [{**named, "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec} for name in CHECKS]


def requesting_of(seed: int, nodes: int) -> Requesting | None:
    """Of this seed's world, if its check has a template."""
    chance = random.Random(f"requesting {seed}")
    if nodes < SMALLEST or chance.random() >= SHARE:
        return None
    strategy = chance.choice(("reboot", "escalate"))
    ways = {"freeBy": way} if (way := chance.choice(("", *WAYS))) else {}
    limits = {
        "deleteAfterRetries": chance.randint(0, 2),
        "powerOffTimeoutSeconds": chance.choice((60, 120)),
        "powerOnTimeoutSeconds": chance.choice((180, 300, 600)),
    }
    return Requesting({"strategy": strategy, **limits, **ways}, chance.choice(VERSIONS))


def spoken(dialect: Dialect, requesting: Requesting | None) -> Dialect:
    """The words of such a world: only Cluster API's checks have more than one version."""
    if requesting is None or not requesting.version or dialect.check != HEALTH_CHECK:
        return dialect
    return structs.replace(dialect, checks=requesting.version)
