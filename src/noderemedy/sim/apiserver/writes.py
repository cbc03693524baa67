"""The one way in: every create and every change of an object passes here and obeys the same rules in the same order.

Each rule is a method of its own, so that a test can take a single rule away and see the suite notice.
Who calls: the direct interface (`server.py`), HTTP (`rest.py`), deletion and garbage collection.
"""

from __future__ import annotations

from noderemedy.sim.apiserver import errors, kinds
from noderemedy.sim.apiserver.admission import Admission
from noderemedy.sim.apiserver.clock import Stamps
from noderemedy.sim.apiserver.managers import Writer, managed, track_update, with_managed
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.apiserver.shape import Shape
from noderemedy.sim.apiserver.shaping import Shaping, with_field, with_meta
from noderemedy.sim.apiserver.store import Store, change_of, stamped
from noderemedy.sim.apiserver.types import Key, ResourceType, Tree, User

KEPT = ("uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
SERVER_MADE = (*KEPT, "resourceVersion", "managedFields")


class Writes(Shaping):
    """Creates and changes objects of any kind."""

    def __init__(self, store: Store, stamps: Stamps, admission: Admission) -> None:
        super().__init__()
        self.store = store
        self.stamps = stamps
        self.admission = admission
        self.tracks_updates = True

    # --- creating -------------------------------------------------------------------------------------

    def create(self, resource: ResourceType, tree: Tree, options: Options, owners: list[Tree] | None = None) -> Tree:
        """Store a new object, or refuse. An apply brings its own record of owners."""
        tree = self.named(resource, tree)
        meta = tree["metadata"]
        key: Key = (meta.get("namespace", ""), meta.get("name", ""))
        shape = resource.version(options.version).shape
        tree = self.shaped(resource, tree, {}, options)
        if owners is None:
            owners = self._owners_of_new(resource, shape, tree, options)
        self.check_namespace(resource, key[0])
        tree = self.prepared(resource, tree, options.user)
        self.judge(resource, shape, tree, None)
        self.admission.check("create", resource, None, tree, options.user)
        if key in self.store.collection(resource.stored_kind).objects:
            raise errors.already_exists(resource, key[1])
        tree = with_managed(tree, owners)
        return self.commit(resource, key, None, tree, options)

    def named(self, resource: ResourceType, tree: Tree) -> Tree:
        """The object with metadata that only the server may write taken out, and a name if it asks for one."""
        meta = tree.get("metadata") or {}
        if not isinstance(meta, dict):
            raise errors.bad_request("metadata is not an object")
        if meta.get("resourceVersion"):
            raise errors.ApiError(500, "", "resourceVersion should not be set on objects to be created")
        meta = {key: value for key, value in meta.items() if key not in SERVER_MADE}
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = meta["generateName"][: 63 - 5] + self.stamps.suffix()
        if not resource.namespaced:
            meta.pop("namespace", None)
        return {**tree, "apiVersion": resource.api_version(), "metadata": meta}

    def prepared(self, resource: ResourceType, tree: Tree, user: User) -> Tree:
        """A new object as the server completes it: identity, then what its kind needs."""
        meta = {**tree["metadata"], "uid": self.stamps.uid(), "creationTimestamp": self.stamps.now()}
        if resource.has_generation:
            meta["generation"] = 1
        tree = {**tree, "metadata": meta}
        if resource.version().has_status and resource.kind not in kinds.KEEPS_STATUS_WHEN_CREATED:
            tree = {key: value for key, value in tree.items() if key != "status"}
        prepare = kinds.PREPARE.get(resource.kind)
        tree = prepare(tree, user) if prepare else tree
        status = kinds.ALWAYS_STATUS.get(resource.kind)
        return {**tree, "status": status} if status else tree

    def check_namespace(self, resource: ResourceType, namespace: str) -> None:
        """Objects are created only in a namespace that exists and stays."""
        if not resource.namespaced:
            return
        found = self.store.collection(kinds.NAMESPACE).objects.get(("", namespace))
        if found is None:
            about = {"name": namespace, "kind": "namespaces"}
            raise errors.ApiError(404, "NotFound", f'namespaces "{namespace}" not found', about)
        if found["metadata"].get("deletionTimestamp"):
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            error = errors.forbidden(resource, "", why)
            cause = {"reason": "NamespaceTerminating", "message": f"namespace {namespace} is being terminated"}
            error.details["causes"] = [{**cause, "field": "metadata.namespace"}]
            raise error

    # --- changing -------------------------------------------------------------------------------------

    def change(self, resource: ResourceType, old: Tree, new: Tree, options: Options) -> Tree:
        """Replace an object by its changed self, or refuse. An object that does not change is not written."""
        if new is old:
            return old
        shape = resource.version(options.version).shape
        meta = old["metadata"]
        self.check_uid(resource, old, new, options)
        self.check_version(resource, old, new, options)
        new = self.shaped(resource, new, old, options)
        new = self.separated(resource, old, new, options.subresource)
        new = self._kept(old, new)
        self.judge(resource, shape, new, old)
        verb = f"{options.verb}/{options.subresource}" if options.subresource else options.verb
        self.admission.check(verb, resource, old, new, options.user)
        new = self.counted(resource, old, new)
        new = self._recorded(shape, old, new, resource, options)
        key: Key = (meta.get("namespace", ""), meta["name"])
        if self.is_free_to_go(new):
            return self._remove(resource, key, old, new, options)
        if new == old:
            return old
        return self.commit(resource, key, old, new, options)

    def renew(self, resource: ResourceType, old: Tree, part: str, value: Tree, options: Options) -> Tree:
        """Replace one part of an object by a value that has its shape already: what kubelets and leaders say all day.

        Seen from outside it is a change like any other; only shape and validity are not gone through again.
        """
        assert part == "status" or not resource.has_generation, "the generation would have to be counted"
        if value == old.get(part):
            return old
        new = {**old, part: value}
        verb = f"{options.verb}/{options.subresource}" if options.subresource else options.verb
        self.admission.check(verb, resource, old, new, options.user)
        new = self._recorded(resource.version().shape, old, new, resource, options)
        meta = old["metadata"]
        return self.commit(resource, (meta.get("namespace", ""), meta["name"]), old, new, options)

    def check_uid(self, resource: ResourceType, old: Tree, new: Tree, options: Options) -> None:
        """A writer that names a uid means that very object: a conflict for updates, invalid for patches."""
        asked, actual = new["metadata"].get("uid"), old["metadata"]["uid"]
        if not asked or asked == actual:
            return
        name = old["metadata"]["name"]
        if options.verb in ("patch", "apply"):
            raise errors.invalid(resource, name, [errors.invalid_value("metadata.uid", asked, "field is immutable")])
        why = f"Precondition failed: UID in precondition: {asked}, UID in object meta: {actual}"
        raise errors.conflict(resource, name, why)

    def check_version(self, resource: ResourceType, old: Tree, new: Tree, options: Options) -> None:
        """A writer that names a version is refused if the object has moved on; some kinds must name one."""
        asked = new["metadata"].get("resourceVersion")
        name = old["metadata"]["name"]
        if asked and asked != old["metadata"]["resourceVersion"]:
            raise errors.stale(resource, name)
        if not asked and options.verb == "update" and (resource.is_custom or resource.needs_version_to_update):
            cause = errors.Cause("FieldValueInvalid", "Invalid value: 0: must be specified for an update")
            cause = errors.Cause(cause.reason, cause.message, "metadata.resourceVersion")
            raise errors.invalid(resource, name, [cause])

    def separated(self, resource: ResourceType, old: Tree, new: Tree, subresource: str) -> Tree:
        """Status is changed only through the status subresource, and nothing else is changed there."""
        if not resource.version().has_status:
            return new
        if subresource != "status":
            return with_field(new, "status", old.get("status"))
        if resource.is_custom:
            kept = with_field(old, "status", new.get("status"))
            return with_meta(kept, "managedFields", new["metadata"].get("managedFields"))
        changed = {"metadata": new["metadata"], "status": new.get("status")}
        return {key: value for key, value in {**old, **changed}.items() if value is not None}

    def _kept(self, old: Tree, new: Tree) -> Tree:
        """Metadata that belongs to the server stays as it was."""
        before, after = old["metadata"], new["metadata"]
        if before is after:
            return new
        meta = {key: value for key, value in after.items() if key not in SERVER_MADE}
        meta |= {key: before[key] for key in KEPT if key in before}
        meta["resourceVersion"] = before["resourceVersion"]
        entries = after.get("managedFields") or before.get("managedFields")
        if entries:
            meta["managedFields"] = before.get("managedFields") if entries == before.get("managedFields") else entries
        return {**new, "metadata": before if meta == before else meta}

    def counted(self, resource: ResourceType, old: Tree, new: Tree) -> Tree:
        """The generation counts changes of what is wanted: everything but metadata and status."""
        if not resource.has_generation or not self.is_wish_changed(resource, old, new):
            return new
        return with_meta(new, "generation", old["metadata"].get("generation", 0) + 1)

    def is_wish_changed(self, resource: ResourceType, old: Tree, new: Tree) -> bool:
        apart = {"metadata", "apiVersion"} | ({"status"} if resource.version().has_status else set())
        keys = [key for key in {**old, **new} if key not in apart]
        return any(old.get(key) is not new.get(key) and old.get(key) != new.get(key) for key in keys)

    def is_free_to_go(self, tree: Tree) -> bool:
        """Whether an object that is being deleted has nothing left that holds it."""
        meta = tree["metadata"]
        if "deletionTimestamp" not in meta or meta.get("finalizers"):
            return False
        if tree.get("kind") == "Namespace" and (tree.get("spec") or {}).get("finalizers"):
            return False
        return not meta.get("deletionGracePeriodSeconds")

    # --- recording and committing ---------------------------------------------------------------------

    def writer(self, resource: ResourceType, options: Options) -> Writer:
        api_version = resource.api_version(options.version)
        return Writer(options.manager, api_version, self.stamps.now(), options.subresource)

    def _owners_of_new(self, resource: ResourceType, shape: Shape, tree: Tree, options: Options) -> list[Tree]:
        """The creator owns what it said and what decoding filled in, but not the status, nor what admission adds."""
        if not self.tracks_updates:
            return []
        if resource.version().has_status:
            tree = with_field(tree, "status", None)
        return track_update({"metadata": {}}, tree, shape, self.writer(resource, options))

    def _recorded(self, shape: Shape, old: Tree, new: Tree, resource: ResourceType, options: Options) -> Tree:
        """The object with who owns what. An apply has recorded it already."""
        if options.verb == "apply" or not self.tracks_updates:
            return new
        asked = new["metadata"].get("managedFields")
        if asked is not None and asked != managed(old) and not options.subresource:
            old = with_managed(old, [] if asked in ([], [{}]) else asked)
        return with_managed(new, track_update(old, new, shape, self.writer(resource, options)))

    def commit(self, resource: ResourceType, key: Key, old: Tree | None, new: Tree, options: Options) -> Tree:
        if options.dry_run:
            return new
        revision = self.store.next_revision()
        new = stamped(new, revision)
        self.store.commit(change_of(resource.stored_kind, key, revision, old, new))
        return new

    def _remove(self, resource: ResourceType, key: Key, old: Tree, last: Tree, options: Options) -> Tree:
        """Take an object away for good. Watchers get its last stored state, still with what held it until now."""
        if options.dry_run:
            return last
        revision = self.store.next_revision()
        self.store.commit(change_of(resource.stored_kind, key, revision, old, None))
        return stamped(last, revision)

    def remove(self, resource: ResourceType, tree: Tree, options: Options) -> Tree:
        """Remove an object without asking further."""
        meta = tree["metadata"]
        return self._remove(resource, (meta.get("namespace", ""), meta["name"]), tree, tree, options)
