"""The least OpenAPI that a stock kubectl asks for before it writes.

`kubectl apply` and `create` look into `/openapi/v3` whether the server knows the query parameter
`fieldValidation` for the kind at hand, and refuse to go on when they find no document. So each served group
version gets a document with the patch operation of each kind and that parameter; schemas are not described
(`kubectl explain` has nothing to say here). Asked by `lab/http.py` before the simulated API server.
"""

from __future__ import annotations

from typing import Any

from msgspec.json import encode

from noderemedy.sim.apiserver.server import ApiServer
from noderemedy.sim.apiserver.types import ResourceType
from noderemedy.wire.http import Answer, Request

ROOT = "/openapi/v3"


def openapi(api: ApiServer, request: Request) -> Answer | None:
    """The answer to a question about OpenAPI; None when the request is about something else."""
    if request.method != "GET" or not request.path.startswith(ROOT):
        return None
    places = _places(api)
    wanted = request.path.removeprefix(ROOT).strip("/")
    if not wanted:
        return Answer(200, encode({"paths": {place: {"serverRelativeURL": f"{ROOT}/{place}"} for place in places}}))
    if wanted not in places:
        return Answer(404, b"404 page not found\n")
    return Answer(200, encode(_document(wanted, places[wanted])))


def _places(api: ApiServer) -> dict[str, list[tuple[ResourceType, str]]]:
    """Group versions as OpenAPI names them, each with the kinds that it serves."""
    found: dict[str, list[tuple[ResourceType, str]]] = {}
    for resource in api.resources.all():
        for version in resource.versions:
            api_version = resource.api_version(version.name)
            place = f"apis/{api_version}" if resource.group else f"api/{api_version}"
            found.setdefault(place, []).append((resource, version.name))
    return found


def _document(place: str, kinds: list[tuple[ResourceType, str]]) -> dict[str, Any]:
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1"},
        "paths": {_path(place, resource): {"patch": _operation(resource, version)} for resource, version in kinds},
        "components": {"schemas": {}},
    }


def _path(place: str, resource: ResourceType) -> str:
    where = "namespaces/{namespace}/" if resource.namespaced else ""
    return f"/{place}/{where}{resource.plural}/{{name}}"


def _operation(resource: ResourceType, version: str) -> dict[str, Any]:
    names = ("dryRun", "fieldManager", "fieldValidation", "force")
    return {
        "parameters": [{"name": name, "in": "query", "schema": {"type": "string"}} for name in names],
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {
            "group": resource.group,
            "version": version,
            "kind": resource.kind.kind,
        },
    }
