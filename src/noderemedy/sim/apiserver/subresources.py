"""Subresources over HTTP: status, scale, eviction, binding, finalize, approval, token; and reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noderemedy.sim.apiserver import bodies, errors
from noderemedy.sim.apiserver.events import shown
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.apiserver.patches import MEDIA_TYPES, accepted_media_types
from noderemedy.sim.apiserver.reviews import answer_review
from noderemedy.sim.apiserver.routes import Route
from noderemedy.sim.apiserver.scale import scale_of, scaled
from noderemedy.sim.apiserver.types import ScalePaths, Tree

if TYPE_CHECKING:
    from noderemedy.sim.apiserver.rest import Call
    from noderemedy.sim.apiserver.server import ApiServer

POSTED = ("eviction", "binding", "token")
METHODS = {"GET": "get", "PUT": "update", "PATCH": "patch"}


class Subresources:
    """Everything below an object's name, and the writes that status shares with whole objects."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server

    def verb_of(self, route: Route, method: str) -> str:
        known = {"POST": "create"} if route.subresource in POSTED else METHODS
        if method not in known:
            raise errors.method_not_allowed()
        return known[method]

    def answer(self, call: Call, verb: str) -> tuple[int, Tree]:
        match call.route.subresource:
            case "eviction":
                return self._evict(call)
            case "binding":
                return self._bind(call)
            case "token":
                return self._token(call)
            case "scale":
                return self._scale(call, verb)
        if verb == "get":
            return 200, self.server.rest.stored(call)
        if verb == "patch":
            return self.patched(call, call.route.subresource)
        bodies.check_write_options(call.query, "UpdateOptions")
        tree = bodies.named(bodies.decode_object(call.request, call.route), call.route)
        return self.updated(call, tree, call.route.subresource)

    def updated(self, call: Call, tree: Tree, subresource: str) -> tuple[int, Tree]:
        """PUT of an object or its status; 201 where that makes a new one."""
        route = call.route
        key = (route.namespace, route.name)
        is_new = key not in self.server.store.collection(route.resource.stored_kind).objects
        found = self.server.updated(route.resource, tree, call.options("update", subresource))
        return 201 if is_new else 200, found

    def patched(self, call: Call, subresource: str) -> tuple[int, Tree]:
        """PATCH of an object or its status; 201 where an apply makes a new one."""
        route = call.route
        kind = bodies.media_type(call.request.content_type)
        patch_type = MEDIA_TYPES.get(kind)
        if patch_type is None or (patch_type == "strategic" and route.resource.is_custom):
            raise errors.unsupported_media_type(accepted_media_types(route.resource))
        is_apply = patch_type == "apply"
        bodies.check_write_options(call.query, "PatchOptions", is_apply)
        body = bodies.decode(call.request.body, is_apply)
        if is_apply:
            body = self._configuration(call, body)
        key = (route.namespace, route.name)
        is_new = key not in self.server.store.collection(route.resource.stored_kind).objects
        options = call.options("apply" if is_apply else "patch", subresource)
        found = self.server.patched(route.resource, route.name, route.namespace, body, patch_type, options)
        return 201 if is_new else 200, found

    def _configuration(self, call: Call, body: object) -> Tree:
        """An applied document says what it is."""
        if not isinstance(body, dict) or not body.get("kind") or not body.get("apiVersion"):
            raise errors.bad_request("Object 'Kind' or 'apiVersion' is missing in the applied configuration")
        return bodies.typed(body, call.route)

    def _evict(self, call: Call) -> tuple[int, Tree]:
        tree = bodies.decode(call.request.body, True)
        if not isinstance(tree, dict):
            raise errors.bad_request("the body of the request is not an Eviction")
        name = (tree.get("metadata") or {}).get("name")
        if name and name != call.route.name:
            raise errors.bad_request("name in URL does not match name in Eviction object")
        asked, is_dry = bodies.deletion_in(tree.get("deleteOptions") or {}, call.query)
        options = Options(call.user, dry_run=is_dry, verb="delete")
        self.server.evictions.evict((call.route.namespace, call.route.name), asked, options)
        self.server.settle()
        return 201, SUCCESS

    def _bind(self, call: Call) -> tuple[int, Tree]:
        tree = bodies.decode(call.request.body, True)
        if not isinstance(tree, dict):
            raise errors.bad_request("the body of the request is not a Binding")
        key = (call.route.namespace, call.route.name)
        self.server.evictions.bind(key, tree, call.options("create"))
        return 201, SUCCESS

    def _token(self, call: Call) -> tuple[int, Tree]:
        """A token that only this server could understand, and which nothing here asks for."""
        self.server.rest.stored(call)
        tree = bodies.decode(call.request.body, True) if call.request.body.strip() else {}
        seconds = (tree.get("spec") or {}).get("expirationSeconds", 3600)
        due = self.server.stamps.wall().ms // 1000 + seconds
        token = f"simulated.{call.route.namespace}.{call.route.name}"
        status = {"token": token, "expirationTimestamp": self.server.stamps.at(due)}
        return 201, {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", **tree, "status": status}

    def _scale(self, call: Call, verb: str) -> tuple[int, Tree]:
        paths = call.route.resource.version(call.route.version).scale or ScalePaths()
        old = self.server.rest.stored(call)
        now = scale_of(old, paths)
        if verb == "get":
            return 200, now
        if verb == "patch":
            patch_type = MEDIA_TYPES.get(bodies.media_type(call.request.content_type))
            if patch_type is None:
                raise errors.unsupported_media_type(accepted_media_types(call.route.resource))
            wanted = self.server.patches.patched_view(now, bodies.decode(call.request.body), patch_type)
        else:
            wanted = bodies.decode(call.request.body, True)
        new = scaled(old, wanted, paths)
        inner = self.server.resources.of(call.route.resource.stored_kind)
        stored = self.server.store.collection(inner.kind).objects[call.route.namespace, call.route.name]
        found = self.server.writes.change(inner, stored, new, call.options("patch"))
        return 200, scale_of(shown(call.route.resource, found, call.route.version), paths)

    def review(self, call: Call, tree: Tree) -> Tree:
        """The answer to a review; a pod's binding may also be posted to the collection."""
        if tree["kind"] == "Binding":
            name = (tree.get("metadata") or {}).get("name", "")
            self.server.evictions.bind((call.route.namespace, name), tree, call.options("create"))
            return SUCCESS
        self.server.admission.check("create", call.route.resource, None, tree, call.user)
        return answer_review(tree, call.user, self.server.rest.authorizer)


SUCCESS: Tree = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
