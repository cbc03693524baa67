"""What our own bookkeeping would leave in the API, for engines that only look (`plan`, `--dry-run`).

A reservation or a claim is no repair: who asks what would be done wants to see the act behind it.
"""

from __future__ import annotations

from msgspec.structs import replace

from noderemedy.model.actions import Action, ClaimRepair, KeepDocument, WriteLedger
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.lease import Lease
from noderemedy.model.outcome import Seen


def assumed(action: Action) -> Seen | None:
    """The object as it would be after a write of bookkeeping; None for every other action."""
    if not isinstance(action, WriteLedger | ClaimRepair | KeepDocument):
        return None
    uid = action.guard.uid if action.guard else f"assumed {action.ref.name}"
    version = action.guard.resource_version if action.guard else ""
    return Seen(action.ref, uid, version, written(action, uid))


def written(action: WriteLedger | ClaimRepair | KeepDocument, uid: str) -> Lease | ConfigMap:
    match action:
        case ClaimRepair():
            return Lease(uid, action.holder, f"{action.at}")
        case WriteLedger():
            return ConfigMap(uid, action.ledger)
        case KeepDocument():
            return ConfigMap(uid, document=replace(action.document, kept_for=action.owner_uid))
