"""The simulated API server: the parts put together, and the direct interface for simulated controllers.

Synchronous, without sockets, without a clock of its own: `wall` says what time it is, `chance` makes uids and names.
The direct methods take and give JSON trees that are shared with the store; callers must not change them.
HTTP is in `rest.py`: `handle` and `watch` answer exactly what a real server would.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from noderemedy.model.ids import Kind
from noderemedy.model.time import Wall
from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.admission import Admission, Hook
from noderemedy.sim.apiserver.budgets import Budgets
from noderemedy.sim.apiserver.builtin import BUILT_IN
from noderemedy.sim.apiserver.clock import Stamps
from noderemedy.sim.apiserver.crd import Definitions
from noderemedy.sim.apiserver.deletion import Deletion, Deletions, Propagation
from noderemedy.sim.apiserver.events import shown, stored
from noderemedy.sim.apiserver.eviction import Evictions
from noderemedy.sim.apiserver.garbage import Garbage
from noderemedy.sim.apiserver.listing import Lists
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.apiserver.patches import Patches, PatchType
from noderemedy.sim.apiserver.rbac import follow_roles
from noderemedy.sim.apiserver.resources import Resources, kind_of
from noderemedy.sim.apiserver.rest import Rest
from noderemedy.sim.apiserver.reviews import Authorizer
from noderemedy.sim.apiserver.store import Store
from noderemedy.sim.apiserver.types import ADMIN, Page, ResourceType, Sink, Subscription, Tree, User
from noderemedy.sim.apiserver.watching import Watches
from noderemedy.sim.apiserver.writes import Writes
from noderemedy.wire.http import Request

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class ApiServer:
    """One API server with its store."""

    def __init__(
        self,
        *,
        wall: Callable[[], Wall],
        chance: random.Random,
        resources: Iterable[ResourceType] = BUILT_IN,
    ) -> None:
        self.store = Store()
        self.stamps = Stamps(wall, chance)
        self.resources = Resources(resources)
        self.admission = Admission()
        self.writes = Writes(self.store, self.stamps, self.admission)
        self.patches = Patches(self.store, self.writes)
        self.deletions = Deletions(self.store, self.writes, self.stamps, self.admission)
        self.budgets = Budgets(self.store, self.resources, self.writes)
        self.evictions = Evictions(self.store, self.budgets, self.resources, self.writes, self.deletions)
        self.definitions = Definitions(self.store, self.resources)
        self.garbage = Garbage(self.store, self.resources, self.writes, self.deletions, self.definitions)
        self.lists = Lists(self.store)
        self.watches = Watches(self.store, self.lists)
        self.definitions.on_end = self.watches.end_all
        self.rest = Rest(self)
        self.collects_at_once = True
        for name in NAMESPACES:
            self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    @property
    def resource_version(self) -> int:
        """The newest resourceVersion."""
        return self.store.revision

    @property
    def hooks(self) -> list[Hook]:
        """Callables `(verb, resource, old, new, user)` that may refuse by raising ApiError."""
        return self.admission.hooks

    def authorize_with(self, authorizer: Authorizer) -> None:
        """Ask this function whether a user may do what a request over HTTP wants."""
        self.rest.authorizer = authorizer

    def enforce_roles(self) -> None:
        """Let everybody do over HTTP what the stored roles and bindings say, and no more."""
        self.authorize_with(follow_roles(self))

    # --- HTTP in values ---------------------------------------------------------------------------------

    def handle(self, request: Request, user: User = ADMIN, accept: str = "", agent: str = "") -> Page:
        """The answer to any request but a watch; `accept` and `agent` are the headers of those names."""
        return self.rest.handle(request, user, accept, agent)

    def watch(self, request: Request, sink: Sink, user: User = ADMIN, accept: str = "") -> Subscription:
        """Replay and follow; raises ApiError for a refusal. A version that is forgotten is an ERROR event
        to the sink, and the subscription is closed from the start."""
        return self.rest.watch(request, sink, user, accept)

    # --- reading --------------------------------------------------------------------------------------

    def find(self, kind: Kind, name: str, namespace: str = "") -> Tree | None:
        """The object, or None."""
        resource = self.resources.of(kind)
        found = self.store.collection(resource.stored_kind).objects.get((namespace, name))
        return None if found is None else shown(resource, found)

    def get(self, kind: Kind, name: str, namespace: str = "") -> Tree:
        """The object, or ApiError 404."""
        found = self.find(kind, name, namespace)
        if found is None:
            raise errors.not_found(self.resources.of(kind), name)
        return found

    def list(self, kind: Kind, namespace: str = "", labels: str = "", fields: str = "") -> list[Tree]:
        """All objects that match, sorted by namespace and name."""
        return self.lists.current(self.resources.of(kind), namespace, labels, fields)

    def subscribe(self, kind: Kind, sink: Sink, on_end: Callable[[], None] | None = None) -> Subscription:
        """Live changes of a kind, from now on; with `on_end` until the kind is no longer served."""
        return self.watches.subscribe(self.resources.of(kind), sink, on_end)

    # --- writing --------------------------------------------------------------------------------------

    def create(self, tree: Tree, user: User = ADMIN, manager: str = "sim", dry_run: bool = False) -> Tree:
        resource = self.resources.of(kind_of(tree))
        options = Options(user, manager, dry_run, verb="create", version=_version(tree))
        return self.created(resource, tree, options)

    def created(self, resource: ResourceType, tree: Tree, options: Options) -> Tree:
        """Create in any view of a kind; a namespace that nobody names is `default`."""
        meta = tree.get("metadata") or {}
        if resource.namespaced and not meta.get("namespace"):
            tree = {**tree, "metadata": {**meta, "namespace": "default"}}
        inner = self.resources.behind(resource)
        found = self.writes.create(inner, stored(resource, tree), options)
        self.settle()
        return shown(resource, found, options.version)

    def update(self, tree: Tree, user: User = ADMIN, manager: str = "sim", subresource: str = "") -> Tree:
        """Replace an object; metadata.resourceVersion, if there, must be the current one."""
        resource = self.resources.of(kind_of(tree))
        options = Options(user, manager, verb="update", subresource=subresource, version=_version(tree))
        return self.updated(resource, tree, options)

    def updated(self, resource: ResourceType, tree: Tree, options: Options) -> Tree:
        meta = tree.get("metadata") or {}
        inner = self.resources.behind(resource)
        key = (meta.get("namespace", ""), meta.get("name", ""))
        old = self.store.collection(inner.kind).objects.get(key)
        if old is None:
            if not resource.creates_on_update or options.subresource:
                raise errors.not_found(resource, key[1])
            if meta.get("uid"):
                why = f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: "
                raise errors.conflict(resource, key[1], why)
            meta = {name: value for name, value in meta.items() if name != "resourceVersion"}
            return self.created(resource, {**tree, "metadata": meta}, options)
        found = self.writes.change(inner, old, stored(resource, tree), options)
        self.settle()
        return shown(resource, found, options.version)

    def patch(
        self,
        kind: Kind,
        name: str,
        namespace: str = "",
        body: Any = None,
        patch_type: PatchType = "merge",
        subresource: str = "",
        *,
        user: User = ADMIN,
        manager: str = "sim",
        force: bool = False,
        dry_run: bool = False,
    ) -> Tree:
        """Patch by merge, json, strategic or apply; the body is a tree (a list for json)."""
        options = Options(
            user,
            manager,
            dry_run,
            force,
            subresource=subresource,
            verb="apply" if patch_type == "apply" else "patch",
        )
        return self.patched(self.resources.of(kind), name, namespace, body, patch_type, options)

    def patched(
        self,
        resource: ResourceType,
        name: str,
        namespace: str,
        body: Any,
        patch_type: PatchType,
        options: Options,
    ) -> Tree:
        inner = self.resources.behind(resource)
        said = stored(resource, body) if isinstance(body, dict) else body
        found = self.patches.patch(inner, (namespace, name), said, patch_type, options)
        self.settle()
        return shown(resource, found, options.version)

    def renew(self, kind: Kind, old: Tree, part: str, value: Tree, options: Options) -> Tree:
        """Replace one part of a stored object by a value that is known to be in shape (`writes.renew`)."""
        found = self.writes.renew(self.resources.of(kind), old, part, value, options)
        self.settle()
        return found

    def store_unjudged(self, tree: Tree) -> Tree:
        """Put an object that is there into the store as it is, past shape and validity, as a hand in etcd does."""
        resource, meta = self.resources.of(kind_of(tree)), tree["metadata"]
        old = self.get(resource.kind, meta["name"], meta.get("namespace", ""))
        options = Options(ADMIN, verb="update")
        return self.writes.commit(resource, (meta.get("namespace", ""), meta["name"]), old, tree, options)

    def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str = "",
        uid: str | None = None,
        resource_version: str | None = None,
        grace: int | None = None,
        propagation: Propagation = "",
        *,
        user: User = ADMIN,
    ) -> Tree:
        """Delete, or mark for deletion; the object as it last was."""
        asked = Deletion(uid, resource_version, grace, propagation)
        resource = self.resources.of(self.resources.of(kind).stored_kind)
        found = self.deletions.delete(resource, (namespace, name), asked, Options(user, verb="delete"))
        self.settle()
        return found.tree

    def evict(
        self,
        name: str,
        namespace: str,
        uid: str | None = None,
        grace: int | None = None,
        *,
        user: User = ADMIN,
        dry_run: bool = False,
    ) -> None:
        """Evict a pod, or ApiError 429 if a disruption budget forbids it."""
        options = Options(user, dry_run=dry_run, verb="delete")
        self.evictions.evict((namespace, name), Deletion(uid, None, grace), options)
        self.settle()

    def bind(self, name: str, namespace: str, node: str, *, user: User = ADMIN) -> None:
        """Bind a pod to a node, once."""
        self.evictions.bind((namespace, name), {"target": {"name": node}}, Options(user))

    # --- time and upkeep, called by programs ------------------------------------------------------------

    def settle(self) -> None:
        """Collect garbage and count budgets now, unless a program has taken that over."""
        if self.collects_at_once and (self.garbage.due or self.budgets.due):
            self.collect()

    def collect(self) -> int:
        """Do what the garbage collector, the namespace and the disruption controller would do by now."""
        looked = self.garbage.collect()
        if self.budgets.due:
            self.budgets.refresh()
        return looked

    def bookmark(self) -> None:
        """Send bookmarks to the watchers that asked for them."""
        self.watches.bookmark()

    def compact(self, revision: int | None = None) -> None:
        """Forget the past before a revision (all of it without one)."""
        self.store.compact(self.store.revision if revision is None else revision)


def _version(tree: Tree) -> str:
    return str(tree.get("apiVersion", "")).rpartition("/")[2]
