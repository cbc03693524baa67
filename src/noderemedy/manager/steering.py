"""What a person does to the fence of a node: stop it, release the node, attest that it is off. Each is one write.

Called by `node-remedy stop`, `release` and `attest`. Everything here can be done with `kubectl` as well; these words
know the name of the NodeFence, ask first, and sign. Who may do it is decided by the API server alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from noderemedy.drivers.kube.client import PATIENCE, KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.kube.errors import NoAnswer, NotSent
from noderemedy.manager.liveplan import Unreachable
from noderemedy.model.errors import Permanent
from noderemedy.model.ids import NODE, NODE_FENCE, Kind, Ref
from noderemedy.model.nodefence import Attestation, NodeFence, fence_ref
from noderemedy.model.time import Wall
from noderemedy.wire import names, verbs
from noderemedy.wire.answers import status_of
from noderemedy.wire.http import Answer, Request, Resource
from noderemedy.wire.nodefences import attestation_text
from noderemedy.wire.objects import decode

FENCES = Resource(NODE_FENCE, "v1", "nodefences", namespaced=False)
NODES = Resource(NODE, "v1", "nodes", namespaced=False)
REVIEWS = Resource(Kind("authentication.k8s.io", "SelfSubjectReview"), "v1", "selfsubjectreviews", namespaced=False)
Act = Callable[["Desk"], Awaitable[str]]


class Refusal(Permanent):
    """It was not done: says why, and what to do."""


class Who(Struct):
    """The user that the API server takes us for."""

    username: str = ""


class WhoStatus(Struct, rename="camel"):
    """The answer to a SelfSubjectReview."""

    user_info: Who


class Review(Struct):
    """A SelfSubjectReview."""

    status: WhoStatus


class Desk:
    """One node and its NodeFence, at which a person decides."""

    def __init__(self, client: KubeClient, node: Ref) -> None:
        self._client = client
        self.node = node
        self.at = fence_ref(node)

    async def fence(self) -> tuple[NodeFence, str]:
        """The NodeFence, and its version. Raises Refusal."""
        answer = await self._ask(Request("GET", FENCES.path("", self.at.name)))
        if answer.status == 404:
            raise Refusal(f"node {self.node.name} has no NodeFence ({self.at.name}); see kubectl get nodefences")
        seen = decode(NODE_FENCE, self._good(answer, "read").body)
        assert isinstance(seen.obj, NodeFence)
        return seen.obj, seen.resource_version

    async def is_reporting(self) -> bool:
        """Whether the Node, read live, is Ready."""
        if self.node.cluster:
            return False  # in another API; the manager looks there before it frees anything
        answer = await self._ask(Request("GET", NODES.path("", self.node.name)))
        if answer.status == 404:
            return False
        node = decode(NODE, self._good(answer, "read").body).obj
        return any((one.type, one.status) == ("Ready", "True") for one in node.conditions)

    async def user(self) -> str:
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        answer = await self._ask(verbs.create(REVIEWS, body))
        return msgspec.json.decode(self._good(answer, "sign").body, type=Review).status.user_info.username

    async def change(self, fence: NodeFence, version: str, body: dict[str, Any]) -> None:
        guard = {"uid": fence.uid, "resourceVersion": version}
        wanted = {**body, "metadata": {**guard, **body.get("metadata", {})}}
        self._good(await self._ask(verbs.merge_patch(FENCES, self.at.name, wanted)), "change")

    async def delete(self, fence: NodeFence) -> None:
        self._good(await self._ask(verbs.delete(FENCES, self.at.name, {"uid": fence.uid})), "delete")

    async def _ask(self, request: Request) -> Answer:
        try:
            return await self._client.send(request, timeout=PATIENCE)
        except (NotSent, NoAnswer) as problem:
            raise Unreachable(str(problem)) from None

    def _good(self, answer: Answer, verb: str) -> Answer:
        if 200 <= answer.status < 300:
            return answer
        said = status_of(answer).message or f"HTTP {answer.status}"
        again = "; it changed meanwhile: look at it and try again" if answer.status == 409 else ""
        raise Refusal(f"cannot {verb} NodeFence {self.at.name}: {said}{again}")


async def at_desk(kubeconfig: Path | None, context: str, node: Ref, act: Act) -> str:
    """Do this in the cluster that the kubeconfig means; returns a sentence for the person. Raises Theirs."""
    async with KubeClient(load(kubeconfig, context)) as client:
        return await act(Desk(client, node))


async def stop(desk: Desk) -> str:
    fence, version = await desk.fence()
    await desk.change(fence, version, {"spec": {"stopped": True}})
    return f"The fence of {desk.node.name} is stopped: what runs ends, power comes back, nothing more is freed."


async def go_on(desk: Desk) -> str:
    fence, version = await desk.fence()
    await desk.change(fence, version, {"spec": {"stopped": False}})
    return f"The fence of {desk.node.name} goes on."


async def release(desk: Desk) -> str:
    fence, _ = await desk.fence()
    await desk.delete(fence)
    return f"Node {desk.node.name} is being released: power comes back, isolation is undone, {desk.at.name} goes."


async def attest(desk: Desk, now: Wall) -> str:
    """Sign that the boot which is being fenced is over."""
    fence, version = await desk.fence()
    status = fence.status
    if not status.boot_id or fence.is_final:
        raise Refusal(f"{desk.at.name} fences no boot of node {desk.node.name} now; there is nothing to attest")
    if await desk.is_reporting():
        raise Refusal(f"node {desk.node.name} reports Ready: it is not off; nothing was attested")
    word = Attestation(await desk.user(), now, status.node_uid, status.boot_id)
    notes = {"annotations": {names.ATTESTED_OFF: attestation_text(word)}}
    await desk.change(fence, version, {"metadata": notes})
    return f"{word.by} attests that node {desk.node.name} is off: its workload will be freed."
