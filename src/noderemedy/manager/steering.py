"""What a person does to the fence of a node: stop it, or release the node. Each is one write.

Called by `node-remedy stop` and `release`; `attesting.py` sits at the same desk. Everything here can be done with
`kubectl` as well; these words know the name of the NodeFence, and ask first. Who may do it says the API server.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from noderemedy.drivers.kube.client import PATIENCE, KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.kube.discovery import serving
from noderemedy.drivers.kube.errors import NoAnswer, NotSent, Obstacle
from noderemedy.manager.kinds import WANTED
from noderemedy.manager.liveplan import Unreachable
from noderemedy.model.errors import Permanent
from noderemedy.model.ids import NODE, NODE_FENCE, Ref
from noderemedy.model.nodefence import NodeFence, fence_ref
from noderemedy.wire import verbs
from noderemedy.wire.answers import status_of
from noderemedy.wire.http import Answer, Request, Resource
from noderemedy.wire.objects import decode

FENCES = Resource(NODE_FENCE, "v1", "nodefences", namespaced=False)
FORBIDDEN = 403
RIGHTS = "the ClusterRole node-remedy-attester is for whoever attests, node-remedy-releaser for who stops or releases"
Act = Callable[["Desk"], Awaitable[str]]


class Refusal(Permanent):
    """It was not done: says why, and what to do."""


class Repair(Struct, frozen=True):
    """The object that a person decides about, in this very version, and the boot that it is about."""

    resource: Resource
    ref: Ref
    uid: str
    version: str
    node_uid: str = ""
    boot_id: str = ""

    def __str__(self) -> str:
        return f"{self.resource.kind.kind} {self.ref.name}"


class Desk:
    """One node and its NodeFence, at which a person decides."""

    def __init__(self, client: KubeClient, node: Ref) -> None:
        self.client = client
        self.node = node
        self.at = fence_ref(node)

    async def fence(self) -> Repair:
        """Its NodeFence. Raises Refusal."""
        found = await self.fence_if_any()
        if found is None:
            raise Refusal(f"node {self.node.name} has no NodeFence ({self.at.name}); see kubectl get nodefences")
        return found

    async def fence_if_any(self) -> Repair | None:
        """It is about no boot before it has begun, and when it is over."""
        answer = await self.ask(Request("GET", FENCES.path("", self.at.name)))
        if answer.status == 404:
            return None
        seen = decode(NODE_FENCE, good(answer, f"read NodeFence {self.at.name}").body)
        assert isinstance(seen.obj, NodeFence)
        status = seen.obj.status
        boot = (status.node_uid, status.boot_id) if not seen.obj.is_final else ("", "")
        return Repair(FENCES, self.at, seen.uid, seen.resource_version, *boot)

    async def change(self, at: Repair, body: dict[str, Any]) -> None:
        guard = {"uid": at.uid, "resourceVersion": at.version}
        wanted = {**body, "metadata": {**guard, **body.get("metadata", {})}}
        answer = await self.ask(verbs.merge_patch(at.resource, at.ref.name, wanted, at.ref.namespace))
        again = "; it changed meanwhile: look at it and try again" if answer.status == 409 else ""
        good(answer, f"change {at}", again)

    async def delete(self, at: Repair) -> None:
        good(await self.ask(verbs.delete(at.resource, at.ref.name, {"uid": at.uid})), f"delete {at}")

    async def ask(self, request: Request) -> Answer:
        try:
            return await self.client.send(request, timeout=PATIENCE)
        except (NotSent, NoAnswer) as problem:
            raise Unreachable(str(problem)) from None


def good(answer: Answer, what: str, remedy: str = "") -> Answer:
    """An answer to go on with. Raises Refusal."""
    if 200 <= answer.status < 300:
        return answer
    remedy = remedy or (f"; have this right granted to you: {RIGHTS}" if answer.status == FORBIDDEN else "")
    raise Refusal(f"cannot {what}: {status_of(answer).message or f'HTTP {answer.status}'}{remedy}")


async def at_desk(kubeconfig: Path | None, context: str, node: Ref, act: Act) -> str:
    """Do this in the cluster that the kubeconfig means; returns a sentence for the person. Raises Theirs."""
    async with KubeClient(load(kubeconfig, context)) as client:
        found = await serving(client, WANTED[NODE])  # Nodes are there in every cluster, whatever else is not
        if isinstance(found, Obstacle):
            raise Unreachable(found.why)
        return await act(Desk(client, node))


async def stop(desk: Desk) -> str:
    await desk.change(await desk.fence(), {"spec": {"stopped": True}})
    return f"The fence of {desk.node.name} is stopped: what runs ends, power comes back, nothing more is freed."


async def go_on(desk: Desk) -> str:
    await desk.change(await desk.fence(), {"spec": {"stopped": False}})
    return f"The fence of {desk.node.name} goes on."


async def release(desk: Desk) -> str:
    await desk.delete(await desk.fence())
    return f"Node {desk.node.name} is being released: power comes back, isolation is undone, {desk.at.name} goes."
