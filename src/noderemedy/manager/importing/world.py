"""The objects that `import` looks at, out of trees of files or of a live cluster. Pure; read by the manager's reader.

Nothing here raises: an object that cannot be read is a remark, and the others are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from noderemedy.core.healthcheck.selector import is_target, selects
from noderemedy.manager.plan import last_of_each, with_uid
from noderemedy.manager.sources import Source
from noderemedy.model.healthcheck import HealthCheck
from noderemedy.model.ids import (
    HEALTH_CHECK,
    MACHINE,
    NODE,
    OPENSHIFT_HEALTH_CHECK,
    OPENSHIFT_MACHINE,
    Kind,
    Ref,
)
from noderemedy.model.machine import Machine
from noderemedy.wire.objects import Undecodable, convert

NODE_HEALTH_CHECK = Kind("remediation.medik8s.io", "NodeHealthCheck")
TEMPLATE = Kind("remediation.metal3.io", "Metal3RemediationTemplate")
DEFINITION = Kind("apiextensions.k8s.io", "CustomResourceDefinition")
CHECKS: dict[Kind, Kind] = {HEALTH_CHECK: MACHINE, OPENSHIFT_HEALTH_CHECK: OPENSHIFT_MACHINE}  # and whom they judge
DECODED = (*CHECKS, *CHECKS.values())
KINDS = (*DECODED, NODE_HEALTH_CHECK, NODE, TEMPLATE, DEFINITION)


class World:
    """Everything that was told, by kind."""

    def __init__(self, sources: Iterable[Source]) -> None:
        chosen, self.remarks = last_of_each(sources, KINDS)
        self.trees: dict[Kind, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
        self.checks: dict[Ref, HealthCheck] = {}
        self.machines: dict[Ref, Machine] = {}
        self.check_trees: dict[Ref, dict[str, Any]] = {}
        self._targets: dict[Ref, dict[Ref, Machine]] = {}
        for kind, tree in chosen:
            self.trees[kind].append(tree)
            if kind in DECODED:
                self._decode(kind, tree)
        if not self.checks and not self.trees[NODE_HEALTH_CHECK]:
            self.remarks.append("no MachineHealthCheck and no NodeHealthCheck was found")

    def _decode(self, kind: Kind, tree: dict[str, Any]) -> None:
        try:
            seen = convert(kind, with_uid(tree, kind))
        except Undecodable as problem:
            self.remarks.append(f"{problem}; it was left out")
            return
        if kind in CHECKS:
            self.checks[seen.ref] = seen.obj
            self.check_trees[seen.ref] = tree
        else:
            self.machines[seen.ref] = seen.obj

    @cached_property
    def definitions(self) -> dict[str, dict[str, Any]]:
        """Which custom kinds exist, by the name of their definition."""
        return {str(metadata(tree).get("name", "")): tree for tree in self.trees[DEFINITION]}

    def targets(self, at: Ref) -> dict[Ref, Machine]:
        """The machines that this check judges."""
        if at not in self._targets:
            check = self.checks[at]
            self._targets[at] = {ref: machine for ref, machine in self._near(at) if is_target(check, machine)}
        return self._targets[at]

    def selected(self, at: Ref) -> dict[Ref, Machine]:
        """The same with those that are paused or skipped: they may carry what a repair left on them."""
        check = self.checks[at]
        return {ref: machine for ref, machine in self._near(at) if selects(check, machine)}

    def _near(self, at: Ref) -> list[tuple[Ref, Machine]]:
        kind = CHECKS[at.kind]
        here = (kind, at.namespace)
        return [(ref, machine) for ref, machine in self.machines.items() if (ref.kind, ref.namespace) == here]

    def has_machines(self, at: Ref) -> bool:
        """Whether anybody told us machines of the kind that this check judges."""
        return any(ref.kind == CHECKS[at.kind] for ref in self.machines)


def metadata(tree: dict[str, Any]) -> dict[str, Any]:
    found = tree.get("metadata")
    return found if isinstance(found, dict) else {}
