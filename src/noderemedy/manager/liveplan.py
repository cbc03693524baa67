"""Plan on a live cluster: paged lists of what rooms watch, and live reads where a decision asks for one.

Called by `node-remedy plan` without -f. Only GET is ever sent: `reading` refuses everything else.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from noderemedy.crds.recording import judged
from noderemedy.drivers.fence.agents import folders
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.kube.discovery import NotServed, find, serving
from noderemedy.drivers.kube.discovery import Wanted as WantedKind
from noderemedy.drivers.kube.errors import NoAnswer, NotSent, Obstacle, Refused
from noderemedy.drivers.kube.listing import Lister
from noderemedy.drivers.kube.refusals import describe as describe_refusal
from noderemedy.drivers.kube.sink import DEFAULT, OneList
from noderemedy.manager.definitions import DEFINITIONS
from noderemedy.manager.describing import describe, described
from noderemedy.manager.effects import judge
from noderemedy.manager.kinds import WITHOUT, crd_name, wanted
from noderemedy.manager.plan import Look, Plan
from noderemedy.manager.planremotes import Remotes
from noderemedy.model.actions import DescribeAgent
from noderemedy.model.errors import Permanent
from noderemedy.model.ids import Kind
from noderemedy.model.keeping import FILES, definition_name
from noderemedy.model.outcome import Done, Effect, Failed, Outcome, Seen, Unknown
from noderemedy.model.request import Wanted
from noderemedy.model.time import Wall
from noderemedy.rooms import NARROWED, watched
from noderemedy.wire.definitions import decode_definition
from noderemedy.wire.http import Request, Resource
from noderemedy.wire.objects import Undecodable, decode
from noderemedy.wire.requests import render


class Unreachable(Permanent):
    """The cluster cannot be planned on: says why, and what to do."""


async def on_cluster(kubeconfig: Path | None, context: str, now: Wall, agents_path: str = "") -> Plan:
    """What would be done on the cluster that the kubeconfig means. Raises Theirs."""
    look, remarks = await look_at(kubeconfig, context, now, agents_path)
    return look.plan(remarks)


async def look_at(
    kubeconfig: Path | None, context: str, now: Wall, agents_path: str = "", to_fence: str | None = None
) -> tuple[Look, list[str]]:
    """One look at that cluster, and remarks about it. `to_fence`: a node of which its plan is asked. Raises Theirs."""
    async with KubeClient(load(kubeconfig, context)) as client:
        try:
            live = Live(client, now, agents_path)
            if to_fence is not None:
                live.look.asks_how_to_fence(to_fence)
            return live.look, await live.fill()
        except (NotSent, NoAnswer) as problem:
            raise Unreachable(str(problem)) from None


class Live(OneList):
    """One look at a live cluster. A `Sink` for the lists."""

    def __init__(self, client: KubeClient, now: Wall, agents_path: str) -> None:
        self._client = client
        self._agents = folders(agents_path, os.environ)
        self.look = Look(now)
        self._served: dict[Kind, Resource] = {}
        self._remotes = Remotes(client, self.look)

    async def fill(self) -> list[str]:
        """List and read all that the rooms ask for; returns remarks."""
        try:
            return await self._fill()
        finally:
            await self._remotes.close()

    async def _fill(self) -> list[str]:
        remarks = [remark for one in wanted() if (remark := await self._take(one))]
        remarks += await self._remotes.take()
        while (pending := self.look.reads()) or self.look.wanted():
            for wish in self.look.wanted():
                remarks += await self._follow(wish)
            for read in pending:
                await self._read(read)
        return remarks

    async def _take(self, one: WantedKind) -> str:
        """List one kind, if it is served; a remark if not."""
        match await serving(self._client, one):
            case Obstacle(why):
                raise Unreachable(why)
            case NotServed():
                self.look.unserved(one.kind)
                return f"{crd_name(one)} is not installed: {WITHOUT[one.kind]}"
            case resource:
                self._served[one.kind] = resource
                await self._list(one.kind, resource)
                return await self._definition(one.kind) if one.kind in FILES else ""

    async def _definition(self, kind: Kind) -> str:
        """Whether the API keeps what we record in objects of this kind; a remark where we may not see that."""
        name = definition_name(kind)
        answer = await self._client.send(reading(Request("GET", DEFINITIONS.path(name=name))), retry=True)
        unseen = f"{name}: whether this definition keeps what a manager records was not seen"
        if answer.status != 200:
            return f"{unseen} (HTTP {answer.status})"
        try:
            self.look.keeps(kind, judged(kind, decode_definition(answer.body).obj))
        except Undecodable as problem:
            return f"{unseen}: {problem}"
        return ""

    async def _follow(self, wish: Wanted) -> list[str]:
        """List the requests of a template's kind; what does not work is told where they are needed, and as a remark."""
        for kind in (wish.template, wish.kind):
            match await find(self._client, kind, wish.version):
                case Obstacle(why):
                    self.look.follow(wish.kind, refused=why)
                    return [f"{kind}: {why}"]
                case NotServed():
                    self.look.follow(wish.kind, missing=str(kind))
                    return [f"{kind} is not installed: a template names it, and no request can be made"]
                case resource:
                    self._served[kind] = resource
        try:
            if wish.kind not in watched():
                await self._list(wish.kind, self._served[wish.kind])
        except Unreachable as refused:
            self.look.follow(wish.kind, refused=str(refused))
            return [str(refused)]
        self.look.follow(wish.kind)
        return []

    async def _list(self, kind: Kind, resource: Resource) -> None:
        namespace = NARROWED.get(kind, "")
        lister = Lister(self._client, partial(decode, kind), self, namespace, DEFAULT)
        try:
            await lister.pour(resource)
        except Refused as refused:
            raise Unreachable(describe_refusal(refused.answer, resource, namespace)) from None

    async def _read(self, read: Effect) -> None:
        more: Effect | None = read
        while more is not None:
            more = self.look.answer(more, await self._outcome(more))

    async def _outcome(self, read: Effect) -> Outcome:
        begun = self.look.now.mono
        if isinstance(read.action, DescribeAgent):
            return described(read.action.ref, begun, await describe(read.action.ref.name, self._agents))
        if read.action.ref.kind not in self._served:
            return Done(begun, gone=True)
        cluster = read.action.ref.cluster
        client = self._remotes.client(cluster) if cluster else self._client
        if client is None:
            return Failed(f"cluster {cluster}: there is no connection to it")
        request = reading(render(read.action, 0, self._served))
        try:
            return judge(read, await client.send(request, retry=True), begun, lambda: False)
        except (NotSent, NoAnswer) as problem:
            return Unknown(str(problem))

    # --- Sink ----------------------------------------------------------------------------------------------------

    def seen(self, item: Seen) -> None:
        self.look.seen(item)

    def listed(self, kind: Kind) -> None:
        self.look.complete(kind)

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        self.look.unreadable(problem)


def reading(request: Request) -> Request:
    """A plan changes nothing: whatever would, stops here."""
    assert request.method == "GET", "plan only reads"
    return request
