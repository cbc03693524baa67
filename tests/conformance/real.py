"""A real kube-apiserver as a site: the way in, and how its past is forgotten."""

from __future__ import annotations

import json
import ssl
from base64 import b64encode
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.conformance.client import Site


def real_site(port: int, token: str, restricted_token: str, authority: Path, etcd_port: int) -> Site:
    """The site of a control plane on loopback. `restricted_token` is of an identity without any rights."""
    context = ssl.create_default_context(cafile=str(authority))
    site = Site("127.0.0.1", port, token, restricted_token, context)
    site.forget = lambda: compact(etcd_port)
    return site


def compact(etcd_port: int) -> None:
    """Have etcd forget every revision before the present one, as the API server asks it to every five minutes."""
    revision = _etcd(etcd_port, "/v3/kv/range", {"key": "AA=="})["header"]["revision"]
    # The API server keeps snapshots of its own, and drops them when it reads in this key that etcd was compacted.
    _etcd(etcd_port, "/v3/kv/put", {"key": _text("compact_rev_key"), "value": _text(revision)})
    _etcd(etcd_port, "/v3/kv/compaction", {"revision": revision, "physical": True})


def _text(text: str) -> str:
    return b64encode(text.encode()).decode()


def _etcd(port: int, path: str, body: dict[str, Any]) -> dict[str, Any]:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", path, json.dumps(body))
        answer = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    assert isinstance(answer, dict)
    return answer
