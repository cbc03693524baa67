"""Which of the things that a manager sets out to do begin a repair, and of which Machine. For checkers: `bearing.py`.

A power cycle by annotation begins with its hold, a Metal3Remediation with the phase that is published before one (its
first attempt and every other), a health check's repair with the mark, the request, the word to the owner or the
deletion, a replacement by the reference owner with its record, and once more with the deletion. What is said or done
already begins nothing, whoever says it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from noderemedy.model.actions import (
    Action,
    AddRebootAnnotation,
    CreateRequest,
    DeleteMachine,
    MarkMachine,
    PublishRemediationStatus,
    RecordReplacement,
    WriteMachineConditions,
)
from noderemedy.model.ids import REMEDIATION
from noderemedy.model.machineconditions import OWNER_REMEDIATED, Graded
from noderemedy.model.remediation import Phase
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.wire import names

HOST_PREFIX = host_of("")


def begun(action: Action, cluster: Cluster) -> str:
    """The name of the Machine whose repair it begins; "": it begins none."""
    way = WAYS.get(type(action))
    return way(action, cluster) if way is not None else ""


def held(action: AddRebootAnnotation, cluster: Cluster) -> str:
    return machine_of(action.ref.name.removeprefix(HOST_PREFIX))


def attempted(action: PublishRemediationStatus, cluster: Cluster) -> str:
    """In simulated clusters a Metal3Remediation has the name of its Machine."""
    found = cluster.api.find(REMEDIATION, action.ref.name, NAMESPACE) or {}
    phase = found.get("status", {}).get("phase")
    is_new = action.progress.phase is Phase.POWER_OFF and phase != Phase.POWER_OFF.value
    return action.ref.name if is_new else ""


def requested(action: CreateRequest, cluster: Cluster) -> str:
    return action.owner.name


def marked(action: MarkMachine, cluster: Cluster) -> str:
    return action.ref.name


def deleted(action: DeleteMachine, cluster: Cluster) -> str:
    return action.ref.name if "deletionTimestamp" not in meta_of(action, cluster) else ""


def replaced(action: RecordReplacement, cluster: Cluster) -> str:
    return action.ref.name if names.REPLACEMENT not in (meta_of(action, cluster).get("annotations") or {}) else ""


def asked(action: WriteMachineConditions, cluster: Cluster) -> str:
    """The owner's turn, in either generation of conditions.

    Whoever writes leaves the word of others as it has seen it: by a version that is no more, which is refused.
    """
    told = [one for one in (*(action.current or ()), *(action.older or ())) if isinstance(one, Graded)]
    is_word = any((one.type, one.status) == (OWNER_REMEDIATED, "False") for one in told)
    machine = machine_at(action, cluster)
    is_refused = action.guard.resource_version != machine["metadata"].get("resourceVersion")
    return action.ref.name if is_word and not is_refused and not is_owner_asked(machine) else ""


def machine_at(action: Any, cluster: Cluster) -> Tree:
    return cluster.api.find(cluster.dialect.machine, action.ref.name, NAMESPACE) or {"metadata": {}}


def meta_of(action: Any, cluster: Cluster) -> Tree:
    found: Tree = machine_at(action, cluster)["metadata"]
    return found


def is_owner_asked(machine: Tree) -> bool:
    told = machine.get("status", {}).get("conditions", ())
    return any((one["type"], one["status"]) == (OWNER_REMEDIATED, "False") for one in told)


WAYS: dict[type, Callable[[Any, Cluster], str]] = {
    AddRebootAnnotation: held,
    PublishRemediationStatus: attempted,
    CreateRequest: requested,
    MarkMachine: marked,
    DeleteMachine: deleted,
    RecordReplacement: replaced,
    WriteMachineConditions: asked,
}
