"""The yardstick: list, watch and decode with aiohttp and msgspec, and no logic at all.

    python follower.py KUBECONFIG      prints "synced" when all three kinds are listed, then follows until killed

What any Python program that watches these kinds has to pay: bytes, TLS, HTTP, decoding of the fields that we judge by
(`wire/shapes.py`), and one reference per object. Everything that the manager costs beyond this is ours.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from noderemedy.wire import shapes

KINDS: dict[str, Any] = {
    "/api/v1/nodes": shapes.NodeShape,
    "/apis/cluster.x-k8s.io/v1beta1/machines": shapes.MachineShape,
    "/apis/metal3.io/v1alpha1/baremetalhosts": shapes.HostShape,
}
PAGE = 500
BUFFER = 2**20


class Access(msgspec.Struct):
    """What the benchmark's own kubeconfig says."""

    server: str
    token: str
    authority: str


def read_access(path: Path) -> Access:
    tree = json.loads(path.read_text(encoding="utf-8"))
    cluster, user = tree["clusters"][0]["cluster"], tree["users"][0]["user"]
    return Access(cluster["server"], user["token"], cluster["certificate-authority"])


def session(access: Access) -> aiohttp.ClientSession:
    context = ssl.create_default_context(cafile=access.authority) if access.server.startswith("https") else False
    return aiohttp.ClientSession(
        access.server,
        connector=aiohttp.TCPConnector(limit=0, ssl=context),
        headers={"Authorization": f"Bearer {access.token}", "Accept-Encoding": "identity"},
        read_bufsize=BUFFER,
        timeout=aiohttp.ClientTimeout(total=None),
    )


class Follower:
    """One kind, listed and followed."""

    def __init__(self, client: aiohttp.ClientSession, path: str, shape: Any) -> None:
        self.client = client
        self.path = path
        page = msgspec.defstruct("Page", [("metadata", dict[str, Any]), ("items", list[shape])])
        line = msgspec.defstruct("Line", [("type", str), ("object", shape)])
        self.page: msgspec.json.Decoder[Any] = msgspec.json.Decoder(page)
        self.line: msgspec.json.Decoder[Any] = msgspec.json.Decoder(line)
        self.objects: dict[str, Any] = {}
        self.version = ""

    async def list(self) -> None:
        token = ""
        while True:
            query = {"limit": str(PAGE), **({"continue": token} if token else {})}
            async with self.client.get(self.path, params=query) as response:
                page = self.page.decode(await response.read())
            for item in page.items:
                self.objects[item.metadata.name] = item
            self.version, token = page.metadata["resourceVersion"], page.metadata.get("continue", "")
            if not token:
                return

    async def live(self) -> None:
        """Follow; when the server ends the stream, list and follow again."""
        while True:
            await self.follow()
            await self.list()

    async def follow(self) -> None:
        query = {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": self.version}
        async with self.client.get(self.path, params=query) as response:
            rest = b""
            async for chunk in response.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self.take(line)

    def take(self, line: bytes) -> None:
        if line.startswith(b'{"type":"BOOKMARK"'):
            return
        event = self.line.decode(line)
        if event.type == "DELETED":
            self.objects.pop(event.object.metadata.name, None)
        else:
            self.objects[event.object.metadata.name] = event.object


async def main(path: Path) -> None:
    async with session(read_access(path)) as client:
        followers = [Follower(client, where, shape) for where, shape in KINDS.items()]
        await asyncio.gather(*(follower.list() for follower in followers))
        print("synced", sum(len(follower.objects) for follower in followers), flush=True)
        await asyncio.gather(*(follower.live() for follower in followers))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
