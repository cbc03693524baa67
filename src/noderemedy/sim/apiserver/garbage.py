"""Garbage collection: what the garbage collector and the namespace controller of a real cluster do.

`collect()` works until nothing is left to do; the server calls it after deletions, or a program on its own time.
It is incremental: an index knows the dependents of every owner, and a list names the uids to look at.
"""

from __future__ import annotations

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver import kinds
from noderemedy.sim.apiserver.crd import CLEANUP, Definitions, kind_defined
from noderemedy.sim.apiserver.deletion import FOREGROUND, ORPHAN, Deletion, Deletions, Propagation
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.apiserver.resources import Resources
from noderemedy.sim.apiserver.store import Store
from noderemedy.sim.apiserver.types import Change, Key, ResourceType, Tree, User
from noderemedy.sim.apiserver.writes import Writes

COLLECTOR = User("system:serviceaccount:kube-system:generic-garbage-collector", ("system:serviceaccounts",))
OPTIONS = Options(user=COLLECTOR, manager="kube-controller-manager", verb="patch")
Place = tuple[Kind, Key]


class Garbage:
    """Follows owner references."""

    def __init__(
        self,
        store: Store,
        resources: Resources,
        writes: Writes,
        deletions: Deletions,
        definitions: Definitions,
    ) -> None:
        self.store = store
        self.definitions = definitions
        self.resources = resources
        self.writes = writes
        self.deletions = deletions
        self.live: dict[str, Place] = {}
        self.dependents: dict[str, dict[Place, None]] = {}
        self.due: dict[str, None] = {}
        self._is_collecting = False
        store.observers.append(self.observe)

    def observe(self, change: Change) -> None:
        """Keep the index true. Called for every change, so the usual one must cost almost nothing."""
        new, old = change.new["metadata"], {} if change.old is None else change.old["metadata"]
        place = (change.kind, change.key)
        if change.type == "DELETED":
            self.live.pop(new["uid"], None)
            self._unlink(place, old.get("ownerReferences") or [])
            self._look_at(new["uid"])
            self._look_at_owners(old)
            self._look_at_holders(change)
            return
        if change.type == "ADDED":
            self.live[new["uid"]] = place
        owners = new.get("ownerReferences")
        if owners is not old.get("ownerReferences"):
            self._unlink(place, old.get("ownerReferences") or [])
            for owner in owners or ():
                self.dependents.setdefault(owner["uid"], {})[place] = None
                if owner["uid"] not in self.live:
                    self._look_at(owner["uid"])
            self._look_at_owners(old)
        if "deletionTimestamp" in new:
            self._look_at(new["uid"])

    def _look_at(self, uid: str) -> None:
        if uid in self.dependents or uid in self.live:
            self.due[uid] = None

    def _look_at_owners(self, meta: Tree) -> None:
        """An owner that waits for its dependents may go when one has gone."""
        for owner in meta.get("ownerReferences") or ():
            self._look_at(owner["uid"])

    def _look_at_holders(self, change: Change) -> None:
        """The namespace and the definition of a vanished object may have waited for it."""
        namespace = self._tree((kinds.NAMESPACE, ("", change.key[0]))) if change.key[0] else None
        if namespace is not None and "deletionTimestamp" in namespace["metadata"]:
            self._look_at(namespace["metadata"]["uid"])
        definition = self.definitions.uids.get(change.kind)
        if definition is not None:
            self._look_at(definition)

    def _unlink(self, place: Place, owners: list[Tree]) -> None:
        for owner in owners:
            known = self.dependents.get(owner["uid"])
            if known is not None:
                known.pop(place, None)
                if not known:
                    del self.dependents[owner["uid"]]

    def collect(self) -> int:
        """Do everything that is due; say how many owners and namespaces were looked at."""
        if self._is_collecting:
            return 0
        self._is_collecting = True
        looked = 0
        try:
            while self.due:
                uid = next(iter(self.due))
                del self.due[uid]
                self._settle(uid)
                looked += 1
        finally:
            self._is_collecting = False
        return looked

    def _settle(self, uid: str) -> None:
        place = self.live.get(uid)
        if place is None:
            self._release_dependents(uid)
            return
        tree = self.store.collection(place[0]).objects[place[1]]
        meta = tree["metadata"]
        finalizers = meta.get("finalizers") or []
        if "deletionTimestamp" not in meta:
            return
        if ORPHAN in finalizers:
            self._orphan_dependents(uid)
            self._drop_finalizer(place, ORPHAN)
        elif FOREGROUND in finalizers:
            self._finish_foreground(uid, place)
        elif place[0] == kinds.NAMESPACE:
            self._empty_namespace(place)
        elif CLEANUP in finalizers:
            self._empty_kind(place, kind_defined(tree))

    def _release_dependents(self, uid: str) -> None:
        """Dependents of a vanished owner go with it, unless another owner is alive."""
        for place in list(self.dependents.get(uid, ())):
            tree = self._tree(place)
            if tree is None:
                continue
            owners = tree["metadata"].get("ownerReferences") or []
            if any(self._is_alive(owner) for owner in owners):
                self._keep_owners(place, [owner for owner in owners if self._is_alive(owner)])
            elif "deletionTimestamp" not in tree["metadata"]:
                self._delete(place, tree, "Background")

    def _is_alive(self, owner: Tree) -> bool:
        return owner["uid"] in self.live

    def _finish_foreground(self, uid: str, place: Place) -> None:
        """Delete the dependents first; the owner goes when none that blocks it is left."""
        blocked = False
        for dependent in list(self.dependents.get(uid, ())):
            tree = self._tree(dependent)
            if tree is None:
                continue
            if "deletionTimestamp" not in tree["metadata"]:
                self._delete(dependent, tree, "Foreground" if self._has_dependents(tree) else "Background")
            tree = self._tree(dependent)
            if tree is not None and self._blocks(tree, uid):
                blocked = True
        if not blocked:
            self._drop_finalizer(place, FOREGROUND)

    def _has_dependents(self, tree: Tree) -> bool:
        return bool(self.dependents.get(tree["metadata"]["uid"]))

    def _blocks(self, tree: Tree, uid: str) -> bool:
        owners = tree["metadata"].get("ownerReferences") or []
        return any(owner["uid"] == uid and owner.get("blockOwnerDeletion") for owner in owners)

    def _orphan_dependents(self, uid: str) -> None:
        for place in list(self.dependents.get(uid, ())):
            tree = self._tree(place)
            if tree is not None:
                owners = tree["metadata"].get("ownerReferences") or []
                self._keep_owners(place, [owner for owner in owners if owner["uid"] != uid])

    def _empty_namespace(self, place: Place) -> None:
        """Delete all content of a namespace; when it is empty, let the namespace go."""
        name, left = place[1][1], False
        for kind in sorted(self.store.collections):
            resource = self.resources.find(kind)
            if resource is not None and resource.namespaced:
                keys = [key for key in self.store.collection(kind).sorted_keys() if key[0] == name]
                left = not self._delete_all(kind, keys) or left
        if not left:
            tree = self._tree(place)
            assert tree is not None
            self._write(place, tree, {**tree, "spec": {}}, "finalize")

    def _empty_kind(self, place: Place, kind: Kind) -> None:
        """Delete all objects of a kind whose definition goes; when none is left, let the definition go."""
        if self._delete_all(kind, list(self.store.collection(kind).sorted_keys())):
            self._drop_finalizer(place, CLEANUP)

    def _delete_all(self, kind: Kind, keys: list[Key]) -> bool:
        """Whether all of these objects are gone after asking each to go."""
        for key in keys:
            tree = self._tree((kind, key))
            if tree is not None and "deletionTimestamp" not in tree["metadata"]:
                self._delete((kind, key), tree, "Background")
        return all(self._tree((kind, key)) is None for key in keys)

    def _tree(self, place: Place) -> Tree | None:
        return self.store.collection(place[0]).objects.get(place[1])

    def _resource(self, place: Place) -> ResourceType:
        return self.resources.of(place[0])

    def _delete(self, place: Place, tree: Tree, how: Propagation) -> None:
        asked = Deletion(uid=tree["metadata"]["uid"], propagation=how)
        self.deletions.delete(self._resource(place), place[1], asked, OPTIONS)

    def _drop_finalizer(self, place: Place, name: str) -> None:
        tree = self._tree(place)
        if tree is None:
            return
        meta = tree["metadata"]
        left = [one for one in meta.get("finalizers") or [] if one != name]
        rest = {key: value for key, value in meta.items() if key != "finalizers"}
        self._write(place, tree, {**tree, "metadata": {**rest, "finalizers": left} if left else rest})

    def _keep_owners(self, place: Place, owners: list[Tree]) -> None:
        tree = self._tree(place)
        assert tree is not None
        meta = tree["metadata"]
        rest = {key: value for key, value in meta.items() if key != "ownerReferences"}
        self._write(place, tree, {**tree, "metadata": {**rest, "ownerReferences": owners} if owners else rest})

    def _write(self, place: Place, old: Tree, new: Tree, subresource: str = "") -> None:
        options = (
            OPTIONS if not subresource else Options(COLLECTOR, OPTIONS.manager, subresource=subresource, verb="patch")
        )
        self.writes.change(self._resource(place), old, new, options)
