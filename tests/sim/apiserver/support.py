"""What the tests of the simulated API server share: a server with a clock they hold, and small objects."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from noderemedy.model.ids import LEASE, NODE, Kind
from noderemedy.model.time import Wall
from noderemedy.sim.apiserver import ADMIN, ApiServer, Page, Tree, User
from noderemedy.wire.http import Request

POD, CONFIG, NAMESPACE = Kind("", "Pod"), Kind("", "ConfigMap"), Kind("", "Namespace")
BUDGET = Kind("policy", "PodDisruptionBudget")
WIDGET = Kind("example.dev", "Widget")
DEFINITION = Kind("apiextensions.k8s.io", "CustomResourceDefinition")
__all__ = ["LEASE", "NODE"]


class Clock:
    """A wall clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.ms = 1_700_000_000_000

    def __call__(self) -> Wall:
        return Wall(self.ms)


def a_server(seed: int = 1, clock: Clock | None = None) -> ApiServer:
    return ApiServer(wall=clock or Clock(), chance=random.Random(seed))


def a_config(name: str = "one", data: Tree | None = None, **metadata: Any) -> Tree:
    found = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default", **metadata}}
    return found if data is None else {**found, "data": data}


def a_node(name: str = "n1", **spec: Any) -> Tree:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec}


def a_pod(name: str = "p1", node: str = "", labels: Tree | None = None, **metadata: Any) -> Tree:
    spec: Tree = {"containers": [{"name": "main", "image": "main:1"}], **({"nodeName": node} if node else {})}
    meta = {"name": name, "namespace": "default", "labels": labels or {}, **metadata}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def a_widget(name: str = "w1", metadata: Tree | None = None, **spec: Any) -> Tree:
    meta = {"name": name, "namespace": "default", **(metadata or {})}
    return {"apiVersion": "example.dev/v1", "kind": "Widget", "metadata": meta, "spec": spec}


def a_definition(spec: Tree | None = None, **version: Any) -> Tree:
    """Widgets of example.dev: with a status, and two served versions if a second one is given."""
    properties = {
        "spec": spec or {"type": "object", "properties": {"size": {"type": "integer"}}},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    }
    served = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
        "subresources": {"status": {}},
        **version,
    }
    names = {"plural": "widgets", "kind": "Widget"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.dev"},
        "spec": {"group": "example.dev", "scope": "Namespaced", "names": names, "versions": [served]},
    }


def ask(
    server: ApiServer,
    method: str,
    path: str,
    body: Any = None,
    content_type: str = "application/json",
    user: User = ADMIN,
    accept: str = "",
    asked: Mapping[str, str] = MappingProxyType({}),
    **query: str,
) -> Page:
    """One request over HTTP in values."""
    raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    return server.handle(Request(method, path, tuple({**asked, **query}.items()), raw, content_type), user, accept)


def tree_of(page: Page) -> Tree:
    found: Tree = json.loads(page.body)
    return found


def names(trees: list[Tree]) -> list[str]:
    return [tree["metadata"]["name"] for tree in trees]
