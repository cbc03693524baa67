"""A small synchronous Kubernetes client for the conformance cases: one case, one namespace, no help from drivers.

It is deliberately not our Kubernetes driver: the suite judges servers, so it must not share the driver's mistakes.
A `Site` is one server under test; `site.client(case)` gives a `Client` with a namespace of its own, and
`client.finish()` removes what the case left behind.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from itertools import count
from typing import Any
from urllib.parse import urlencode

from tests.conformance.stream import Stream

Json = dict[str, Any]
Query = Mapping[str, str]

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

GROUP = "conformance.node-remedy.dev"
CLUSTER_SCOPED = {"nodes", "namespaces", "customresourcedefinitions", "clusterroles", "clusterrolebindings"}
ROOTS = {
    "leases": "/apis/coordination.k8s.io/v1",
    "poddisruptionbudgets": "/apis/policy/v1",
    "statefulsets": "/apis/apps/v1",
    "deployments": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "events": "/apis/events.k8s.io/v1",
    "customresourcedefinitions": "/apis/apiextensions.k8s.io/v1",
    "roles": "/apis/rbac.authorization.k8s.io/v1",
    "rolebindings": "/apis/rbac.authorization.k8s.io/v1",
    "clusterroles": "/apis/rbac.authorization.k8s.io/v1",
    "clusterrolebindings": "/apis/rbac.authorization.k8s.io/v1",
    "widgets": f"/apis/{GROUP}/v1",
}


@dataclass(frozen=True)
class Reply:
    """One answer: status, headers (lower case) and the text as it came."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Json:
        value = json.loads(self.text)
        assert isinstance(value, dict)
        return value

    def ok(self, status: int = 200) -> Json:
        """The body, after checking the status code."""
        assert status == self.status, f"expected {status}, got {self.status}: {self.text[:600]}"
        return self.json

    def refused(self, code: int, reason: str) -> Json:
        """The Status body of a refusal, after checking its shape, its code and its reason."""
        assert code == self.status, f"expected {code} {reason}, got {self.status}: {self.text[:600]}"
        body = self.json
        assert {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason} == {
            key: body.get(key) for key in ("kind", "apiVersion", "status", "code", "reason")
        }, body
        return body


@dataclass
class Site:
    """A server under test, with what all cases share: the way in, and the kinds already installed.

    `patience` is how long a case waits for what does not come: long for real controllers on a busy machine.
    `forget` makes the server forget all states before the present one, as it does by itself every few minutes.
    """

    host: str
    port: int
    token: str
    restricted_token: str = ""
    context: ssl.SSLContext | None = None
    patience: float = 30.0
    forget: Callable[[], None] = lambda: None
    installed: set[str] = field(default_factory=set)
    numbers: Callable[[], int] = field(default_factory=lambda: count(1).__next__)
    run: str = field(default_factory=lambda: f"{time.time_ns() % 0xFFFFFFF:07x}")

    def connect(self, timeout: float) -> HTTPConnection:
        if self.context is not None:
            return HTTPSConnection(self.host, self.port, timeout=timeout, context=self.context)
        return HTTPConnection(self.host, self.port, timeout=timeout)

    def client(self) -> Client:
        """A client in a namespace of its own."""
        return Client(self, f"case-{self.run}-{self.numbers()}")


class Client:
    """One case's view of the server."""

    def __init__(self, site: Site, namespace: str) -> None:
        self.site = site
        self.namespace = namespace
        self._connection: HTTPConnection | None = None
        self._leftovers: list[str] = []
        self._streams: list[Stream] = []
        self.post("/api/v1/namespaces", {"metadata": {"name": namespace}}).ok(201)

    # Names and paths

    def name(self, prefix: str = "thing") -> str:
        """A name that no other case uses."""
        return f"{prefix}-{self.site.run}-{self.site.numbers()}"

    def at(self, plural: str, name: str = "", subresource: str = "", *, namespace: str | None = None) -> str:
        """The path of a collection or an object, in this case's namespace where the kind has one."""
        root = ROOTS.get(plural, "/api/v1")
        where = "" if plural in CLUSTER_SCOPED else f"/namespaces/{namespace or self.namespace}"
        return "/".join(part for part in (root + where, plural, name, subresource) if part)

    def everywhere(self, plural: str) -> str:
        """The path of a collection over all namespaces."""
        return f"{ROOTS.get(plural, '/api/v1')}/{plural}"

    # Requests

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Query | None = None,
        content_type: str = "application/json",
        accept: str = "application/json",
        token: str | None = None,
    ) -> Reply:
        """One request. `body` is sent as it is when it is bytes, as JSON otherwise."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {"Accept": accept}
        if data is not None:
            headers["Content-Type"] = content_type
        shown = self.site.token if token is None else token
        if shown:
            headers["Authorization"] = f"Bearer {shown}"
        target = f"{path}?{urlencode(query)}" if query else path
        return self._send(method, target, data, headers)

    def _send(self, method: str, target: str, data: bytes | None, headers: Mapping[str, str]) -> Reply:
        fresh = self._connection is None
        connection = self._connection or self.site.connect(timeout=30)
        self._connection = connection
        try:
            connection.request(method, target, body=data, headers=dict(headers))
            answer = connection.getresponse()
            text = answer.read().decode()
        except (HTTPException, ConnectionError):
            self._hang_up()
            if fresh:
                raise
            return self._send(method, target, data, headers)  # the kept connection had been closed meanwhile
        return Reply(answer.status, {key.lower(): value for key, value in answer.getheaders()}, text)

    def get(self, path: str, *, accept: str = "application/json", **query: str) -> Reply:
        return self.call("GET", path, query=query, accept=accept)

    def post(self, path: str, body: Any, **query: str) -> Reply:
        return self.call("POST", path, body, query=query)

    def put(self, path: str, body: Any, **query: str) -> Reply:
        return self.call("PUT", path, body, query=query)

    def patch(self, path: str, body: Any, content_type: str = MERGE, **query: str) -> Reply:
        return self.call("PATCH", path, body, query=query, content_type=content_type)

    def apply(self, path: str, body: Any, manager: str, **query: str) -> Reply:
        return self.patch(path, body, APPLY, fieldManager=manager, **query)

    def delete(self, path: str, options: Any = None, **query: str) -> Reply:
        return self.call("DELETE", path, options, query=query)

    def watch(self, path: str, *, accept: str = "application/json", **query: str) -> Stream:
        """Open a watch; it is closed at the end of the case at the latest."""
        target = f"{path}?{urlencode({'watch': 'true', **query})}"
        headers = {"Accept": accept, "Authorization": f"Bearer {self.site.token}"}
        stream = Stream(self.site.connect(timeout=30), target, headers, self.site.patience)
        self._streams.append(stream)
        return stream

    # Objects

    def create(self, plural: str, body: Json) -> Json:
        """Create an object of a kind; a cluster-scoped one is removed at the end of the case."""
        made = self.post(self.at(plural), body).ok(201)
        if plural in CLUSTER_SCOPED:
            self.later(self.at(plural, made["metadata"]["name"]))
        return made

    def read(self, plural: str, name: str) -> Json:
        return self.get(self.at(plural, name)).ok()

    def later(self, path: str) -> None:
        """Remember to delete this path when the case ends."""
        self._leftovers.append(path)

    def eventually(self, question: Callable[[], object]) -> None:
        """Wait until the question is answered with something true: for what controllers do, not the API server."""
        end = time.monotonic() + self.site.patience
        while not question():
            assert time.monotonic() < end, f"not within {self.site.patience} s"
            time.sleep(0.02)

    def gone(self, path: str) -> bool:
        return self.get(path).status == 404

    def finish(self) -> None:
        """Close the streams, delete what is cluster-scoped, and the namespace."""
        for stream in self._streams:
            stream.close()
        self._streams.clear()
        for path in reversed(self._leftovers):
            self.patch(path, {"metadata": {"finalizers": None}})
            self.delete(path)
        self._leftovers.clear()
        self.delete(f"/api/v1/namespaces/{self.namespace}")
        self._hang_up()

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
