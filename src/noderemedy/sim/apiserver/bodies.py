"""Request bodies and query options, checked before anything is done with them."""

from __future__ import annotations

from typing import Any

import msgspec
import yaml

from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.deletion import Deletion, Propagation
from noderemedy.sim.apiserver.errors import ApiError, Cause
from noderemedy.sim.apiserver.protobuf import MAGIC, decode_protobuf
from noderemedy.sim.apiserver.routes import Route
from noderemedy.sim.apiserver.types import Tree
from noderemedy.wire.http import Request

BODY_MAX = 3 * 1024 * 1024
READABLE = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
STRICTNESS = ("Ignore", "Warn", "Strict")


class _Loader(yaml.SafeLoader):
    """YAML that yields only what JSON has: timestamps stay text."""


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def decode(body: bytes, is_yaml: bool = False) -> Any:
    """The document in a body; 400 if there is none, 413 if it is too large."""
    if len(body) > BODY_MAX:
        raise ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {BODY_MAX}")
    if body.startswith(MAGIC):
        return decode_protobuf(body)
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        if not is_yaml:
            raise errors.bad_request(f"couldn't get version/kind; json parse error: {error}") from None
    try:
        return yaml.load(body, _Loader)  # noqa: S506 the loader is a safe one
    except yaml.YAMLError as error:
        raise errors.bad_request(f"error decoding YAML: {error}") from None


def decode_object(request: Request, route: Route) -> Tree:
    """The object in the body of a POST or PUT, of the kind that the path serves."""
    kind = media_type(request.content_type) or "application/json"
    if kind not in READABLE:
        raise errors.unsupported_media_type(READABLE)
    tree = decode(request.body, kind == "application/yaml")
    if not isinstance(tree, dict):
        raise errors.bad_request("the body of the request is not an object")
    return typed(tree, route)


def typed(tree: Tree, route: Route, kind: str = "", api_version: str = "") -> Tree:
    """The object with its type, which built-in kinds may leave out but not get wrong."""
    kind, api_version = kind or route.resource.kind.kind, api_version or route.api_version
    if route.resource.is_custom:
        if not tree.get("kind"):
            raise errors.bad_request("Object 'Kind' is missing in the request body")
        if not tree.get("apiVersion"):
            raise errors.bad_request("Object 'apiVersion' is missing in the request body")
    said = tree.get("apiVersion") or api_version
    if said != api_version:
        why = f"the API version in the data ({said}) does not match the expected API version ({api_version})"
        raise errors.bad_request(why)
    if (tree.get("kind") or kind) != kind:
        found = tree["kind"]
        raise errors.bad_request(f'{found} in version "{route.version}" cannot be handled as a {kind}: no kind {found}')
    return {**tree, "apiVersion": api_version, "kind": kind}


def named(tree: Tree, route: Route) -> Tree:
    """The object with the name and namespace of its path, which it may leave out but not get wrong."""
    meta = tree.get("metadata") or {}
    if not isinstance(meta, dict):
        raise errors.bad_request("the metadata of the object is not an object")
    if route.name and not meta.get("name"):
        raise errors.bad_request("the name of the object ( based on URL) was undeterminable: name must be provided")
    if route.name and meta["name"] != route.name:
        why = f"the name of the object ({meta['name']}) does not match the name on the URL ({route.name})"
        raise errors.bad_request(why)
    namespace = meta.get("namespace")
    if route.namespace and namespace and namespace != route.namespace:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if route.namespace and not namespace:
        tree = {**tree, "metadata": {**meta, "namespace": route.namespace}}
    return tree


def query_of(request: Request) -> dict[str, str]:
    """The query; of a name that comes twice, the first counts."""
    found: dict[str, str] = {}
    for key, value in request.query:
        found.setdefault(key, value)
    return found


def check_write_options(query: dict[str, str], kind: str, is_apply: bool = False) -> None:
    """dryRun, fieldValidation, force and fieldManager have few legal values."""
    causes: list[Cause] = []
    if query.get("dryRun", "All") != "All":
        causes.append(errors.not_supported("dryRun", [query["dryRun"]], ["All"]))
    if query.get("fieldValidation", "Warn") not in ("", *STRICTNESS):
        causes.append(errors.not_supported("fieldValidation", query["fieldValidation"], sorted(("", *STRICTNESS))))
    if is_apply and not query.get("fieldManager"):
        causes.append(errors.required("fieldManager", "is required for apply patch"))
    if not is_apply and kind == "PatchOptions" and "force" in query:
        causes.append(errors.field_forbidden("force", "may not be specified for non-apply patch"))
    if causes:
        refuse(kind, causes)


def refuse(kind: str, causes: list[Cause]) -> None:
    """422 for options: they are objects of meta.k8s.io in the words of a real server."""
    said = [f"{cause.field}: {cause.message}" for cause in causes]
    text = said[0] if len(said) == 1 else f"[{', '.join(said)}]"
    details = {"group": "meta.k8s.io", "kind": kind, "causes": [cause.tree() for cause in causes]}
    raise ApiError(422, "Invalid", f'{kind}.meta.k8s.io "" is invalid: {text}', details)


def deletion_of(request: Request, query: dict[str, str]) -> tuple[Deletion, bool]:
    """How a DELETE is asked for, by its body or its query; and whether it is a dry run."""
    body: Tree = {}
    if request.body.strip():
        decoded = decode(request.body, True)
        if not isinstance(decoded, dict):
            raise errors.bad_request("DeleteOptions is not an object")
        body = decoded
    return deletion_in(body, query)


def deletion_in(body: Tree, query: dict[str, str]) -> tuple[Deletion, bool]:
    """The same from DeleteOptions as they also stand in an Eviction."""
    preconditions = body.get("preconditions") or {}
    grace = body.get("gracePeriodSeconds", query.get("gracePeriodSeconds"))
    dry = body.get("dryRun") or ([query["dryRun"]] if query.get("dryRun") else [])
    if dry not in ([], ["All"]):
        refuse("DeleteOptions", [errors.not_supported("dryRun", dry, ["All"])])
    if grace is not None and not str(grace).lstrip("-").isdigit():
        raise errors.bad_request(f"gracePeriodSeconds is not a number: {grace}")
    asked = Deletion(
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion"),
        grace=None if grace is None else int(grace),
        propagation=_propagation(body, query),
    )
    return asked, bool(dry)


def _propagation(body: Tree, query: dict[str, str]) -> Propagation:
    orphan = body.get("orphanDependents")
    asked = body.get("propagationPolicy") or query.get("propagationPolicy")
    if orphan is None and "orphanDependents" in query:
        orphan = query["orphanDependents"] == "true"
    if orphan is not None and asked:
        why = "orphanDependents and deletionPropagation cannot be both set"
        refuse("DeleteOptions", [errors.invalid_value("propagationPolicy", asked, why)])
    match asked:
        case "Background" | "Foreground" | "Orphan":
            return asked
        case None | "":
            return "Orphan" if orphan else "Background" if orphan is False else ""
    allowed = ("Foreground", "Background", "Orphan", "nil")
    refuse("DeleteOptions", [errors.not_supported("propagationPolicy", asked, allowed)])
    return ""
