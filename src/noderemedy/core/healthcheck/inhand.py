"""Whether somebody repairs a machine now: by what stands on it, on its node, and beside it. A few reads at most.

Called by the verdict room. A machine in hand counts as not healthy until the repair is over, even while its node says
Ready: or a check would start the next repair too early. The verdict itself stays what the criteria say.
"""

from __future__ import annotations

from collections.abc import Iterable

from noderemedy.core import freeing
from noderemedy.core.external import lifecycle
from noderemedy.model.ids import REMEDIATION, Kind, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.remediation import Metal3Remediation
from noderemedy.model.room import Entry, Present, Reader


def is_in_hand(key: Ref, machine: Machine, node: Entry, reader: Reader) -> bool:
    """A mark, a node that we deleted, a successor; a node out of service; a request from a template, or by hand."""
    is_marked = machine.needs_remediation or machine.node_deleted_at is not None or machine.replacement is not None
    is_out_of_service = isinstance(node, Present) and freeing.is_tainted(node.obj)
    is_asked_for = bool(lifecycle.standing(key, machine, reader)) or remediation_of(key, machine, reader) is not None
    return is_marked or is_out_of_service or is_asked_for


def remediation_of(key: Ref, machine: Machine, reader: Reader) -> Metal3Remediation | None:
    """The Metal3Remediation of this name that is not over, unless it is, or was begun, for another Machine."""
    entry = reader.read(Ref(key.cluster, REMEDIATION, key.namespace, key.name))
    if not isinstance(entry, Present):
        return None
    found: Metal3Remediation = entry.obj
    is_of_another = any(uid not in ("", machine.uid) for uid in (found.owner_uid, found.progress.evidence.machine_uid))
    return None if found.is_ended or is_of_another else found


def of_request(ref: Ref, machines: Iterable[Kind]) -> list[Ref]:
    """The machines that a request may be for: it has their name."""
    return [Ref(ref.cluster, kind, ref.namespace, ref.name) for kind in machines]
