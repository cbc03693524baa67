"""One order of a Job, from its environment to its termination message.

Rule 1: nothing is sent to a device before live reads show that it is still wanted (`core/fencing/staleness.py`):
        not too late, listed in its NodeFence, ordered by who leads now, and the Node has not booted again.
Rule 2: until something was sent a signal ends it at once; afterwards it finishes (races R34).
Rule 3: whatever happens, the termination message is a result, and the exit code is 0 only for one that is done.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from noderemedy.core.fencing import credentials, results, staleness
from noderemedy.drivers.fence import agents, ownkey, verify
from noderemedy.model.ids import SYSTEM
from noderemedy.model.run import Order, Result, RunState
from noderemedy.model.time import Wall
from noderemedy.runner.api import MOUNT, Api, Unsure
from noderemedy.wire import fenceanswer
from noderemedy.wire.fencejobs import LEASES_VARIABLE, MESSAGE_VARIABLE, ORDER_VARIABLE, SECRETS_VARIABLE
from noderemedy.wire.live import fence_of, node_of
from noderemedy.wire.undecodable import Undecodable

LEASE_NAME = "node-remedy-manager"
MESSAGE_AT = Path("/dev/termination-log")
FENCES, NODES = "/apis/ha.k8s.io/v1/nodefences", "/api/v1/nodes"
SECRET_MAX = 64 * 1024


class Surroundings:
    """Where this runner finds things; tests put them elsewhere."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.mount = Path(environ.get("NODE_REMEDY_ACCOUNT", str(MOUNT)))
        self.message = Path(environ.get(MESSAGE_VARIABLE, str(MESSAGE_AT)))
        self.secrets = Path(environ.get(SECRETS_VARIABLE, ""))
        self.leases = f"/apis/coordination.k8s.io/v1/namespaces/{environ.get(LEASES_VARIABLE, SYSTEM)}/leases"
        self.run = Path(environ.get("NODE_REMEDY_RUN", str(ownkey.RUN_AT)))
        self.folders = agents.folders(environ.get("NODE_REMEDY_AGENTS_PATH", ""), environ)


def main() -> int:
    """The exit code. What it prints is the Job's log: what agents print, at last its result, and no secrets."""
    around = Surroundings(os.environ)
    try:
        order = fenceanswer.read_order(around.environ.get(ORDER_VARIABLE, ""))
    except fenceanswer.Unreadable as problem:
        return tell(Result(RunState.FAILED, said=f"{ORDER_VARIABLE} holds no order: {problem}"), around)
    try:
        result = asyncio.run(run(order, around))
    except Exception as bug:  # noqa: BLE001  the outermost place: a Job that says nothing helps nobody
        result = results.failed(order, f"a bug in node-remedy: {type(bug).__name__}")
    return tell(result, around)


def tell(result: Result, around: Surroundings) -> int:
    text = fenceanswer.result_text(result)
    say(text + "\n")
    try:
        around.message.write_text(text, "utf-8")
    except OSError as problem:
        sys.stderr.write(f"the termination message cannot be written: {problem}\n")
    return 0 if result.state is RunState.DONE else 1


def say(text: str) -> None:
    """To the Job's log. That nobody reads it is no reason to leave a device half switched."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.write(text)
        sys.stdout.flush()


async def run(order: Order, around: Surroundings) -> Result:
    """Carry it out, if it is still wanted."""
    try:
        secrets = read_secrets(order, around.secrets)
        why = wanted(order, Api(around.environ, around.mount), around.leases)
    except (Unsure, Undecodable, fenceanswer.Unreadable, credentials.SecretMissing) as problem:
        return results.not_begun(order, str(problem))
    if why := why or staleness.too_late(order, Wall(time.time_ns() // 1_000_000)):
        return results.not_begun(order, why)
    try:
        ownkey.leave(order, around.run)
    except OSError as problem:
        return results.not_begun(order, f"the key of node {order.bound_to} cannot be written: {problem.strerror}")
    finish_what_was_sent()
    return await verify.carry_out(order, secrets, verify.Hand(around.folders, hear=say))


def finish_what_was_sent() -> None:
    """From here on a polite signal is not obeyed: the device has its command."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


def wanted(order: Order, api: Api, leases: str) -> str:
    """Why it is stale; "" if it is wanted. Raises Unsure, Undecodable or Unreadable."""
    if not staleness.belongs_to_a_fence(order):
        return ""
    lease = api.read(leases, LEASE_NAME)
    token = fenceanswer.leading_token(lease) if lease is not None else -1
    if why := staleness.superseded(order, token):
        return why
    body = api.read(FENCES, order.fence.name)
    fence = fence_of(body) if body is not None else None
    if why := staleness.unwanted(order, fence):
        return why
    if not staleness.needs_node(order, fence):
        return ""
    body = api.read(NODES, order.node)
    return staleness.another_boot(order, node_of(body) if body is not None else None)


def read_secrets(order: Order, at: Path) -> dict[str, str]:
    """Values by parameter, from the files that the kubelet mounted. Raises SecretMissing."""
    return credentials.values_of(order, {one.secret: mounted(order, at / one.secret) for one in order.secrets})


def mounted(order: Order, folder: Path) -> dict[str, str] | None:
    """What an order needs of one Secret; None: there is no such Secret. A value that is no text is left out."""
    if not is_mounted(folder):
        return None
    texts: dict[str, str] = {}
    for one in [one for one in order.secrets if one.secret == folder.name]:
        try:
            with (folder / one.key).open("rb") as file:
                texts[one.key] = file.read(SECRET_MAX).decode()
        except (OSError, UnicodeDecodeError):
            continue
    return texts


def is_mounted(folder: Path) -> bool:
    """Whether there is such a Secret: the kubelet mounts a missing one as a folder without keys, but its own links."""
    return folder.is_dir() and any(not path.name.startswith("..") for path in folder.iterdir())
