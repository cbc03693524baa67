"""Which kinds the API would not keep our records of, as facts: it drops what a definition does not have, in silence.

Entered by programs: they read the definitions of the kinds that repairs are recorded in. No fact: all is kept.
"""

from __future__ import annotations

from functools import lru_cache

from noderemedy.model.facts import FactValue
from noderemedy.model.ids import (
    BUDGET,
    FACTS,
    FENCE_REMEDIATION,
    INCIDENT,
    NODE_FENCE,
    REMEDIATION,
    Kind,
    Ref,
)
from noderemedy.model.room import Present, Reader

DEFINITION = Kind("apiextensions.k8s.io", "CustomResourceDefinition")
UNKEPT = Kind(FACTS, "Unkept")
# Kinds that prove something: no repair begins whose record they would forget.
PROVING = (REMEDIATION, NODE_FENCE, FENCE_REMEDIATION)
# All that we write, and which of our manifests defines each.
FILES: dict[Kind, str] = {
    REMEDIATION: "deploy/crds/foreign/metal3remediations.remediation.metal3.io.yaml",
    NODE_FENCE: "deploy/crds/nodefences.ha.k8s.io.yaml",
    FENCE_REMEDIATION: "deploy/crds/fenceremediations.node-remedy.dev.yaml",
    INCIDENT: "deploy/crds/incidents.node-remedy.dev.yaml",
    BUDGET: "deploy/crds/remediationbudgets.node-remedy.dev.yaml",
}


class Unkept(FactValue, frozen=True):
    """What of a record would be lost; or that nobody knows it, since the definition was not read."""

    missing: tuple[str, ...] = ()  # fields that the definition lacks
    unread: str = ""  # why it cannot be read; "" with nothing missing: it was not read yet


@lru_cache(maxsize=100)
def unkept_ref(kind: Kind) -> Ref:
    """Where that is stated."""
    return Ref("", UNKEPT, "", str(kind))


def unkept(kind: Kind, reader: Reader) -> Unkept | None:
    entry = reader.read(unkept_ref(kind))
    return entry.obj if isinstance(entry, Present) else None


def definition_name(kind: Kind) -> str:
    """As in `kubectl get crd`."""
    return FILES[kind].rpartition("/")[2].removesuffix(".yaml")


def renewal(kind: Kind) -> str:
    """What renews the definition of a kind, and leaves its objects alone."""
    return f"kubectl apply --server-side --force-conflicts -f {FILES[kind]}"
