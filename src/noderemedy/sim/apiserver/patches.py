"""The four ways to patch an object, each leading to one change that `writes.py` accepts or refuses."""

from __future__ import annotations

from typing import Any, Literal

from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.jsonpatch import apply_json_patch
from noderemedy.sim.apiserver.managers import apply
from noderemedy.sim.apiserver.mergepatch import merge
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.apiserver.pruning import prune
from noderemedy.sim.apiserver.store import Store
from noderemedy.sim.apiserver.strategic import strategic_merge
from noderemedy.sim.apiserver.types import Key, ResourceType, Tree
from noderemedy.sim.apiserver.writes import Writes

PatchType = Literal["merge", "json", "strategic", "apply"]

TYPE = ("kind", "apiVersion")
MEDIA_TYPES: dict[str, PatchType] = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
    "application/apply-patch+json": "apply",
}


class Patches:
    """Patches objects; apply also creates them."""

    def __init__(self, store: Store, writes: Writes) -> None:
        self.store = store
        self.writes = writes

    def patch(self, resource: ResourceType, key: Key, body: Any, patch_type: PatchType, options: Options) -> Tree:
        """The object after the patch."""
        old = self.store.collection(resource.stored_kind).objects.get(key)
        if patch_type == "apply":
            return self._apply(resource, key, old, body, options)
        if old is None:
            raise errors.not_found(resource, key[1])
        shown = old
        if options.version and options.version != resource.storage:
            shown = {**old, "apiVersion": resource.api_version(options.version)}
        new = self.patched(resource, shown, body, patch_type)
        if new is shown:
            return old
        new = identified(resource, key, shown, new)
        try:
            return self.writes.change(resource, old, new, options)
        except errors.Undecodable as fault:
            raise fault.of_patch() from None

    def patched(self, resource: ResourceType, old: Tree, body: Any, patch_type: PatchType) -> Tree:
        """The object as the patch wants it."""
        if patch_type == "json":
            new = apply_json_patch(old, body)
        elif not isinstance(body, dict):
            raise errors.bad_request("error decoding patch: the patch is not an object")
        elif patch_type == "merge":
            new = merge(old, body)
        else:
            if resource.is_custom:
                raise errors.unsupported_media_type(accepted_media_types(resource))
            new = strategic_merge(old, body, resource.version().shape)
        if not isinstance(new, dict):
            raise errors.Undecodable("json: cannot unmarshal the patched document into an object").of_patch()
        return new

    def patched_view(self, view: Tree, body: Any, patch_type: PatchType) -> Tree:
        """A view such as a Scale after a patch; plain merging is enough for so few fields."""
        found = apply_json_patch(view, body) if patch_type == "json" else merge(view, body)
        if not isinstance(found, dict):
            raise errors.bad_request("the patched view is not an object")
        return found

    def _apply(self, resource: ResourceType, key: Key, old: Tree | None, body: Any, options: Options) -> Tree:
        """Server-side apply of a configuration in the name of its field manager."""
        applied = self._configuration(resource, key, body, options)
        shape = resource.version(options.version).shape
        writer = self.writes.writer(resource, options)
        if old is None:
            if options.subresource:
                raise errors.not_found(resource, key[1])
            self._check_new(resource, key, applied)
            owners = apply({"metadata": {}}, applied, shape, writer, True).entries
            # A resourceVersion does not keep an apply from creating; only a uid does.
            meta = {name: value for name, value in applied["metadata"].items() if name != "resourceVersion"}
            return self.writes.create(resource, {**applied, "metadata": meta}, options, owners)
        found = apply(old, applied, shape, writer, options.force)
        new = found.tree
        if found.entries is not old["metadata"].get("managedFields"):
            new = {**new, "metadata": {**new["metadata"], "managedFields": found.entries}}
        elif "managedFields" in old["metadata"]:
            new = _with_entries(new, old, found.entries)
        return self.writes.change(resource, old, new, options)

    def _configuration(self, resource: ResourceType, key: Key, body: Any, options: Options) -> Tree:
        """The applied configuration with only those parts that this endpoint lets through."""
        if not isinstance(body, dict):
            raise errors.bad_request("error decoding patch: the configuration is not an object")
        meta = body.get("metadata") or {}
        if meta.get("managedFields"):
            raise errors.bad_request("metadata.managedFields must be nil")
        check_identity(resource, key, body)
        meta = {**meta, "name": key[1], **({"namespace": key[0]} if key[0] else {})}
        unknown: list[str] = []
        shape = resource.version(options.version).shape
        applied: Tree = {**body, "metadata": meta}
        prune(applied, {}, shape, unknown)  # only to find what is unknown: an empty list is applied as such
        if unknown:
            raise errors.untyped(resource.api_version(options.version), resource.kind.kind, key[1], sorted(unknown))
        if not resource.version().has_status:
            return applied
        if options.subresource != "status":
            return {name: part for name, part in applied.items() if name != "status"}
        if resource.is_custom:
            kept = ("name", "namespace", "uid", "resourceVersion")
            applied = {**applied, "metadata": {name: meta[name] for name in kept if name in meta}}
        allowed = ("apiVersion", "kind", "metadata", "status")
        return {name: part for name, part in applied.items() if name in allowed}

    def _check_new(self, resource: ResourceType, key: Key, applied: Tree) -> None:
        uid = applied["metadata"].get("uid")
        if uid:
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise errors.conflict(resource, key[1], why)


def _with_entries(new: Tree, old: Tree, entries: list[Tree]) -> Tree:
    """Apply works on trees without entries: put the untouched ones back, sharing what can be shared."""
    bare = {key: value for key, value in old["metadata"].items() if key != "managedFields"}
    if new["metadata"] == bare:
        return {**new, "metadata": old["metadata"]}
    return {**new, "metadata": {**new["metadata"], "managedFields": entries}}


def accepted_media_types(resource: ResourceType) -> list[str]:
    """What a PATCH of this kind may carry."""
    names = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"]
    if not resource.is_custom:
        names.insert(2, "application/strategic-merge-patch+json")
    return names


def identified(resource: ResourceType, key: Key, old: Tree, new: Tree) -> Tree:
    """The patched object, which keeps its name and its type; a namespace that was taken out comes back."""
    meta = new.get("metadata")
    if not isinstance(meta, dict) or not meta.get("name"):
        why = f"the name of the object ({key[1]} based on URL) was undeterminable: name must be provided"
        raise errors.bad_request(why)
    check_identity(resource, key, new)
    for field in TYPE:
        said = new.get(field)
        if said != old[field] and (said or resource.is_custom):
            raise errors.Undecodable(f'{field}: "{said}" must be {old[field]}').of_patch()
    if key[0] and not meta.get("namespace"):
        meta = {**meta, "namespace": key[0]}
        new = {**new, "metadata": meta}
    return new if new.get("kind") and new.get("apiVersion") else {**new, **{field: old[field] for field in TYPE}}


def check_identity(resource: ResourceType, key: Key, tree: Tree) -> None:
    """The name and namespace in an object are those of the URL it is sent to, or absent."""
    meta = tree.get("metadata") or {}
    name, namespace = meta.get("name"), meta.get("namespace")
    if name and name != key[1]:
        why = f"the name of the object ({name}) does not match the name on the URL ({key[1]})"
        raise errors.bad_request(why)
    if resource.namespaced and namespace and namespace != key[0]:
        why = f"the namespace of the object ({namespace}) does not match the namespace on the URL ({key[0]})"
        raise errors.bad_request(why)
