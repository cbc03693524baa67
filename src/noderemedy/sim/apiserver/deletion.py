"""Deleting: preconditions, grace, finalizers, propagation. What is deleted for good leaves through `writes.py`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from noderemedy.sim.apiserver import errors, kinds
from noderemedy.sim.apiserver.admission import Admission
from noderemedy.sim.apiserver.clock import Stamps, second_of, text_of
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.apiserver.store import Store
from noderemedy.sim.apiserver.types import Key, ResourceType, Tree
from noderemedy.sim.apiserver.writes import Writes

Propagation = Literal["", "Background", "Foreground", "Orphan"]
ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"


class Deletion(Struct, frozen=True):
    """How a deletion is asked for. None means: not said."""

    uid: str | None = None
    resource_version: str | None = None
    grace: int | None = None
    propagation: Propagation = ""


class Deleted(Struct, frozen=True):
    """What a deletion left: the object as it last was, and whether it is gone."""

    tree: Tree
    is_gone: bool


class Deletions:
    """Deletes objects of any kind."""

    def __init__(self, store: Store, writes: Writes, stamps: Stamps, admission: Admission) -> None:
        self.store = store
        self.writes = writes
        self.stamps = stamps
        self.admission = admission

    def delete(self, resource: ResourceType, key: Key, asked: Deletion, options: Options) -> Deleted:
        """Mark for deletion, or remove at once where nothing holds the object."""
        old = self.store.collection(resource.stored_kind).objects.get(key)
        if old is None:
            raise errors.not_found(resource, key[1])
        self.check_preconditions(resource, old, asked)
        self.check_protected(resource, key)
        self.admission.check("delete", resource, old, None, options.user)
        grace = self.grace_of(resource, old, asked)
        new = self._held(old, asked)
        if "deletionTimestamp" in old["metadata"]:
            return self._again(resource, old, new, asked, grace, options)
        if grace or self.is_held(resource, new):
            marked = self._marked(resource, new, grace)
            return Deleted(self._write(resource, old, marked, options), False)
        return Deleted(self.writes.remove(resource, old, options), True)

    def check_preconditions(self, resource: ResourceType, old: Tree, asked: Deletion) -> None:
        """Delete that very object in that very version, or nothing."""
        meta = old["metadata"]
        if asked.uid is not None and asked.uid != meta["uid"]:
            why = f"the UID in the precondition ({asked.uid}) does not match the UID in record ({meta['uid']})."
            raise errors.conflict(
                resource, meta["name"], f"{why} The object might have been deleted and then recreated"
            )
        version = meta["resourceVersion"]
        if asked.resource_version is not None and asked.resource_version != version:
            why = f"the ResourceVersion in the precondition ({asked.resource_version}) does not match"
            why += f" the ResourceVersion in record ({version})."
            raise errors.conflict(resource, meta["name"], f"{why} The object might have been modified")

    def is_held(self, resource: ResourceType, tree: Tree) -> bool:
        """Whether something must happen before the object may go: finalizers, or a namespace's content."""
        return bool(tree["metadata"].get("finalizers")) or resource.kind == kinds.NAMESPACE

    def check_protected(self, resource: ResourceType, key: Key) -> None:
        if resource.kind == kinds.NAMESPACE and key[1] in ("default", "kube-system", "kube-public"):
            raise errors.forbidden(resource, key[1], "this namespace may not be deleted")

    def grace_of(self, resource: ResourceType, old: Tree, asked: Deletion) -> int:
        """Only pods that a kubelet holds are given time; it then deletes them with no grace."""
        if resource.kind != kinds.POD:
            return 0
        spec, phase = old.get("spec") or {}, (old.get("status") or {}).get("phase")
        if not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
            return 0
        grace = asked.grace if asked.grace is not None else spec.get("terminationGracePeriodSeconds", 30)
        return grace if grace >= 0 else 1

    def _held(self, old: Tree, asked: Deletion) -> Tree:
        """The object with the finalizer that its way of propagation asks for, and without the other one."""
        meta = old["metadata"]
        before = meta.get("finalizers") or []
        wanted = {"Orphan": ORPHAN, "Foreground": FOREGROUND}.get(asked.propagation)
        if not asked.propagation:
            return old
        after = [name for name in before if name not in (ORPHAN, FOREGROUND)]
        after += [wanted] if wanted else []
        if after == before:
            return old
        rest = {key: value for key, value in meta.items() if key != "finalizers"}
        return {**old, "metadata": {**rest, "finalizers": after} if after else rest}

    def _marked(self, resource: ResourceType, tree: Tree, grace: int) -> Tree:
        second = self.stamps.wall().ms // 1000 + grace
        meta = {**tree["metadata"], "deletionTimestamp": text_of(second), "deletionGracePeriodSeconds": grace}
        if resource.kind == kinds.NAMESPACE:
            del meta["deletionGracePeriodSeconds"]
            tree = {**tree, "status": {**(tree.get("status") or {}), "phase": "Terminating"}}
        if "generation" in meta:
            meta["generation"] += 1
        return {**tree, "metadata": meta}

    def _again(
        self, resource: ResourceType, old: Tree, new: Tree, asked: Deletion, grace: int, options: Options
    ) -> Deleted:
        """Deleting what is being deleted: the grace may only shrink, finalizers still hold."""
        meta = new["metadata"]
        left = meta.get("deletionGracePeriodSeconds") or 0
        if left and asked.grace is None:
            return Deleted(old, False)
        if left and grace >= left:
            return Deleted(old, False)
        if left:
            begun = second_of(meta["deletionTimestamp"]) - left
            due = max(begun + grace, self.stamps.wall().ms // 1000)
            grace = max(grace, 1) if grace and due > begun + grace else grace
            meta = {**meta, "deletionTimestamp": text_of(due), "deletionGracePeriodSeconds": grace}
            new = {**new, "metadata": meta}
        if self.writes.is_free_to_go(new):
            return Deleted(self.writes.remove(resource, old, options), True)
        return Deleted(self._write(resource, old, new, options), False)

    def _write(self, resource: ResourceType, old: Tree, new: Tree, options: Options) -> Tree:
        if new == old:
            return old
        meta = old["metadata"]
        return self.writes.commit(resource, (meta.get("namespace", ""), meta["name"]), old, new, options)
