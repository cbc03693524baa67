"""The lab's own path on its endpoint: how another terminal causes faults in a running lab.

`GET /lab` says which nodes and faults there are, `POST /lab/faults` with `{"fault": …, "node": …}` lets one happen.
Only the lab's administrator may: the manager has no say over the world it repairs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from noderemedy.drivers.kube import config
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import NoAnswer, NotSent
from noderemedy.lab.faults import FAULTS
from noderemedy.lab.http_faults import Instead, failure
from noderemedy.model.errors import Permanent
from noderemedy.sim.apiserver import User
from noderemedy.wire.http import Answer, Request

PATH = "/lab"
MASTERS = "system:masters"


class Asked(Struct, frozen=True):
    """A fault, and the node that it shall happen to."""

    fault: str
    node: str


class Told(Struct, frozen=True):
    """What the lab answers."""

    message: str


class Offer(Struct, frozen=True):
    """What can be asked for."""

    nodes: tuple[str, ...]
    faults: tuple[str, ...]


def is_control(request: Request) -> bool:
    return request.path == PATH or request.path.startswith(f"{PATH}/")


def answer(request: Request, user: User, nodes: tuple[str, ...], inject: Callable[[str, str], None]) -> Instead:
    """Answer a request on the lab's own path."""
    if MASTERS not in user.groups:
        return failure(403, "Forbidden", f"{user.name} may not cause faults; use the lab's kubeconfig")
    if (request.method, request.path) == ("GET", PATH):
        return Instead(200, msgspec.json.encode(Offer(nodes, tuple(FAULTS))))
    if (request.method, request.path) != ("POST", f"{PATH}/faults"):
        return failure(404, "NotFound", f"the lab knows GET {PATH} and POST {PATH}/faults")
    try:
        asked = msgspec.json.decode(request.body, type=Asked)
        inject(asked.fault, asked.node)
    except msgspec.DecodeError as problem:
        return failure(400, "BadRequest", f'expected {{"fault": …, "node": …}}: {problem}')
    except Permanent as problem:
        return failure(422, "Invalid", str(problem))
    return Instead(200, msgspec.json.encode(Told(f"{asked.node}: {FAULTS[asked.fault].means}")))


def ask(kubeconfig: Path, fault: str, node: str) -> str:
    """Ask the lab behind a kubeconfig for a fault; says what happens now."""
    if not kubeconfig.exists():
        raise no_lab(kubeconfig)
    body = msgspec.json.encode(Asked(fault, node))
    request = Request("POST", f"{PATH}/faults", body=body, content_type="application/json")
    try:
        found = asyncio.run(_send(config.load(kubeconfig), request))
    except (NotSent, NoAnswer):
        raise no_lab(kubeconfig) from None
    message = _message(found)
    if found.status != 200:
        raise Permanent(message)
    return message


async def _send(access: config.Access, request: Request) -> Answer:
    async with KubeClient(access) as client:
        return await client.send(request)


def no_lab(kubeconfig: Path) -> Permanent:
    return Permanent(
        f"no lab runs in {kubeconfig.parent}; start one in another terminal with `node-remedy lab`, "
        "or name its folder with --dir"
    )


def _message(found: Answer) -> str:
    try:
        return msgspec.json.decode(found.body, type=Told).message
    except msgspec.DecodeError:
        return f"what answers there is no lab (status {found.status})"
