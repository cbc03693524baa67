"""The kubeconfig of a workload cluster, read by name from its secret. Never listed, never watched, never shown.

Called by the manager and by `plan` for each Cluster. Four answers, since only the server's own word that the secret
does not exist lets anybody conclude anything from its absence.
"""

from __future__ import annotations

import base64
import binascii
import re

import msgspec
from msgspec import Struct

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import NoAnswer, NotSent, Obstacle, obstacle_of
from noderemedy.drivers.kube.secret import Secret
from noderemedy.model.time import Span
from noderemedy.wire.answers import status_of
from noderemedy.wire.http import Answer, Request
from noderemedy.wire.scalars import UNREADABLE

KEY = "value"
PATIENCE = Span(10_000)
ROLE = "deploy/rbac/30-workload-clusters.yaml"
_USER = re.compile(r'User "([^"]+)"')


class Kubeconfig(Struct, frozen=True):
    """What the secret holds."""

    content: Secret
    origin: str  # for messages: secret and key


class NoSecret(Struct, frozen=True):
    """The API server says that there is no such secret."""

    name: str


class Forbidden(Struct, frozen=True):
    """We may not read it, so nobody knows whether it is there."""

    why: str


Found = Kubeconfig | NoSecret | Forbidden | Obstacle


class _SecretShape(Struct):
    data: dict[str, str] | None = None


async def read(client: KubeClient, namespace: str, cluster: str) -> Found:
    """The kubeconfig of this cluster, as its secret holds it now."""
    name = f"{cluster}-kubeconfig"
    try:
        request = Request("GET", f"/api/v1/namespaces/{namespace}/secrets/{name}")
        answer = await client.send(request, timeout=PATIENCE, urgent=True)
    except (NotSent, NoAnswer) as problem:
        return obstacle_of(problem)
    return judge(answer, namespace, name)


def judge(answer: Answer, namespace: str, name: str) -> Found:
    """What the answer says about the secret."""
    where = f"secret {namespace}/{name}"
    status = status_of(answer)
    if answer.status == 200:
        return _content(answer.body, f"{where}, key {KEY}")
    if answer.status == 404 and status.details is not None and status.details.name == name:
        return NoSecret(name)
    if answer.status == 403:
        found = _USER.search(status.message)
        who = found.group(1) if found else "the identity we run as"
        return Forbidden(f"{where}: forbidden; grant get on secrets in namespace {namespace} to {who} ({ROLE})")
    return Obstacle(f"{where}: the API server answered {answer.status}")


def _content(body: bytes, origin: str) -> Kubeconfig | Obstacle:
    try:
        data = msgspec.json.decode(body, type=_SecretShape).data or {}
        text = base64.b64decode(data[KEY], validate=True).decode()
    except KeyError:
        return Obstacle(f"{origin}: is not there; regenerate the kubeconfig")
    except (*UNREADABLE, binascii.Error, ValueError):
        return Obstacle(f"{origin}: is no text; regenerate the kubeconfig")
    return Kubeconfig(Secret(text), origin)
