"""HTTP in values: a Request comes in, a Page goes out, exactly as a real API server would answer.

`lab/http.py` puts sockets around it. Watches are not answered here but followed: `watch` tells a sink.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from noderemedy.model.time import Span
from noderemedy.sim.apiserver import bodies, discovery, errors
from noderemedy.sim.apiserver.bulk import delete_collection
from noderemedy.sim.apiserver.errors import ApiError
from noderemedy.sim.apiserver.events import shown
from noderemedy.sim.apiserver.listing import parse_revision
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.apiserver.representation import Accepted, agree, encode, list_tree, object_tree, watched
from noderemedy.sim.apiserver.reviews import Access, Authorizer, refusal
from noderemedy.sim.apiserver.routes import Route, parse_route
from noderemedy.sim.apiserver.selectors import named_by_fields
from noderemedy.sim.apiserver.subresources import Subresources
from noderemedy.sim.apiserver.types import Page, Sink, Subscription, Tree, User
from noderemedy.wire.http import Request

if TYPE_CHECKING:
    from noderemedy.sim.apiserver.server import ApiServer

Answerer = Callable[["Call"], tuple[int, Tree]]
HEALTH = ("/healthz", "/livez", "/readyz")
NOT_FOUND = b"404 page not found\n"


class Call:
    """One request on its way: everything that the verbs look at."""

    def __init__(self, request: Request, user: User, accept: str, agent: str) -> None:
        self.request = request
        self.user = user
        self.query = bodies.query_of(request)
        self.accept = accept
        self.agent = agent
        self.route: Route

    @property
    def is_watch(self) -> bool:
        return self.query.get("watch") in ("true", "1")

    def options(self, verb: str, subresource: str = "") -> Options:
        manager = self.query.get("fieldManager") or self.agent.partition("/")[0] or "unknown"
        return Options(
            user=self.user,
            manager=manager,
            dry_run=self.query.get("dryRun") == "All",
            force=self.query.get("force") in ("true", "1"),
            strictness=self.query.get("fieldValidation") or "Warn",
            version=self.route.version,
            subresource=subresource,
            verb=verb,
        )


class Rest:
    """Answers requests for one ApiServer."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self.authorizer: Authorizer = lambda access: True
        self.subresources = Subresources(server)

    def handle(self, request: Request, user: User, accept: str, agent: str) -> Page:
        """The answer to anything but a watch."""
        wall = self.server.stamps.wall()
        self.server.writes.warnings.clear()
        try:
            found = self._outside(request, accept)
            if found is None:
                found = self._inside(Call(request, user, accept, agent))
        except ApiError as error:
            after = error.details.get("retryAfterSeconds")
            status = encode(error.status())
            return Page(error.code, status, wall, Span.seconds(after) if after else None)
        warnings = tuple(self.server.writes.warnings)
        return Page(found.status, found.body, wall, None, found.content_type, warnings)

    # --- what is no resource --------------------------------------------------------------------------

    def _outside(self, request: Request, accept: str) -> Page | None:
        """Health, version, discovery; None if the path is a resource's."""
        path = request.path.rstrip("/") or "/"
        parts = path.strip("/").split("/")
        if path in HEALTH or parts[0] in ("livez", "readyz", "healthz"):
            return Page(200, b"ok", content_type="text/plain; charset=utf-8")
        if path == "/version":
            return Page(200, encode(discovery.VERSION))
        if path == "/openapi/v2":
            return Page(200, b"\n\x032.0", content_type="application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
        if parts[0] in ("api", "apis") and len(parts) <= (2 if parts[0] == "api" else 3):
            return self._discover(path, parts, accept)
        if parts[0] not in ("api", "apis"):
            return Page(404, NOT_FOUND, content_type="text/plain; charset=utf-8")
        return None

    def _discover(self, path: str, parts: list[str], accept: str) -> Page:
        accepted, resources = agree(accept), self.server.resources
        if len(parts) == 1 and accepted.form == "aggregated":
            version = accepted.version or "v2"
            tree = discovery.aggregated(resources, parts[0] == "api", version)
            kind = f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
            return Page(200, encode(tree), content_type=kind)
        found: Tree | None
        if len(parts) == 1:
            found = discovery.api_versions() if parts[0] == "api" else discovery.group_list(resources)
        elif parts[0] == "api":
            found = discovery.resource_list(resources, "", parts[1])
        elif len(parts) == 2:
            found = discovery.one_group(resources, parts[1])
        else:
            found = discovery.resource_list(resources, parts[1], parts[2])
        if found is None:
            return Page(404, NOT_FOUND, content_type="text/plain; charset=utf-8")
        return Page(200, encode(found))

    # --- resources ------------------------------------------------------------------------------------

    def _inside(self, call: Call) -> Page:
        call.route = parse_route(call.request.path, self.server.resources)
        accepted = agree(call.accept)
        verb = self.verb_of(call)
        self.authorize(call, verb)
        code, tree = self._answer(call, verb, accepted)
        return Page(code, encode(tree))

    def verb_of(self, call: Call) -> str:
        """The verb of a request; 405 where a path does not know the method."""
        route, method = call.route, call.request.method
        if route.subresource:
            return self.subresources.verb_of(route, method)
        one = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
        many = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
        verb = (one if route.name else many).get(method, "")
        if verb not in route.resource.verbs:
            raise errors.method_not_allowed()
        if verb == "create" and route.resource.namespaced and not route.namespace:
            raise errors.method_not_allowed()
        return "watch" if verb == "list" and call.is_watch else verb

    def authorize(self, call: Call, verb: str) -> None:
        """Refuse who may not; a subject's rights are the authorizer's business."""
        route = call.route
        access = Access(
            call.user,
            verb,
            route.resource.group,
            route.resource.plural,
            route.subresource,
            route.namespace,
            route.name or (named_by_fields(call.query.get("fieldSelector", "")) if verb in ("list", "watch") else ""),
        )
        if not self.authorizer(access):
            raise refusal(access, route.resource)

    def _answer(self, call: Call, verb: str, accepted: Accepted) -> tuple[int, Tree]:
        now = self.server.stamps.wall().ms // 1000
        include = call.query.get("includeObject", "Metadata")
        if verb == "list":
            self._admit_read(call, verb)
            found = self.server.lists.page(call.route.resource, call.route.namespace, call.query)
            version = call.route.version
            if version != call.route.resource.storage:
                found.items = [shown(call.route.resource, tree, version) for tree in found.items]
            return 200, list_tree(call.route, found, accepted, now, include)
        if verb == "deletecollection":
            return 200, delete_collection(self.server, call)
        if call.route.subresource:
            code, tree = self.subresources.answer(call, verb)
        else:
            verbs: dict[str, Answerer] = {
                "get": self._get,
                "create": self._create,
                "update": self._update,
                "patch": self._patch,
                "delete": self._delete,
            }
            code, tree = verbs[verb](call)
        return code, object_tree(call.route, tree, accepted, now, include)

    def _admit_read(self, call: Call, verb: str) -> None:
        self.server.admission.check(verb, call.route.resource, None, None, call.user)

    def _get(self, call: Call) -> tuple[int, Tree]:
        self._admit_read(call, "get")
        asked = parse_revision(call.query.get("resourceVersion", ""))
        if asked > self.server.store.revision:
            raise errors.too_large(asked, self.server.store.revision)
        return 200, self.stored(call)

    def stored(self, call: Call) -> Tree:
        route = call.route
        key = (route.namespace, route.name)
        found = self.server.store.collection(route.resource.stored_kind).objects.get(key)
        if found is None:
            raise errors.not_found(route.resource, route.name)
        return shown(route.resource, found, route.version)

    def _create(self, call: Call) -> tuple[int, Tree]:
        bodies.check_write_options(call.query, "CreateOptions")
        tree = bodies.decode_object(call.request, call.route)
        if call.route.resource.verbs == ("create",):
            return 201, self.subresources.review(call, tree)
        tree = bodies.named(tree, call.route)
        return 201, self.server.created(call.route.resource, tree, call.options("create"))

    def _update(self, call: Call) -> tuple[int, Tree]:
        bodies.check_write_options(call.query, "UpdateOptions")
        tree = bodies.named(bodies.decode_object(call.request, call.route), call.route)
        return self.subresources.updated(call, tree, "")

    def _patch(self, call: Call) -> tuple[int, Tree]:
        return self.subresources.patched(call, "")

    def _delete(self, call: Call) -> tuple[int, Tree]:
        route = call.route
        asked, is_dry = bodies.deletion_of(call.request, call.query)
        options = call.options("delete")
        if is_dry and not options.dry_run:
            options = Options(call.user, dry_run=True, verb="delete", version=route.version)
        inner = self.server.resources.of(route.resource.stored_kind)
        found = self.server.deletions.delete(inner, (route.namespace, route.name), asked, options)
        self.server.settle()
        if not found.is_gone or route.resource.returns_deleted:
            code = 202 if not found.is_gone and asked.propagation == "Background" and is_orphan_said(call) else 200
            return code, shown(route.resource, found.tree, route.version)
        details = {"name": route.name, "group": route.resource.group, "kind": route.resource.plural}
        details["uid"] = found.tree["metadata"]["uid"]
        return 200, success({key: value for key, value in details.items() if value})

    # --- watches --------------------------------------------------------------------------------------

    def watch(self, request: Request, sink: Sink, user: User, accept: str) -> Subscription:
        """Follow a collection, or one object by its path."""
        call = Call(request, user, accept, "")
        call.route = parse_route(request.path, self.server.resources)
        accepted = agree(accept)
        self.authorize(call, "watch")
        self._admit_read(call, "watch")
        query = dict(call.query)
        if call.route.name:
            query["fieldSelector"] = f"metadata.name={call.route.name}"
        now = self.server.stamps.wall().ms // 1000
        told = watched(call.route, accepted, query.get("includeObject", "Metadata"), now, sink)
        return self.server.watches.watch(call.route.resource, call.route.version, call.route.namespace, query, told)


def is_orphan_said(call: Call) -> bool:
    return b"orphanDependents" in call.request.body or "orphanDependents" in call.query


def success(details: Tree) -> Tree:
    """The Status of something done that has no object to show."""
    found: Tree = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return {**found, "details": details} if details else found
