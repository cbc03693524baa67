"""Real programs and a real TLS endpoint for the driver's tests: exec plugins, a CONNECT proxy, the simulated API."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import random
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from noderemedy.lab.http import Endpoint, serve
from noderemedy.model.time import Wall
from noderemedy.sim.apiserver.server import ApiServer
from noderemedy.sim.apiserver.types import ADMIN, User

V1 = "client.authentication.k8s.io/v1"

PROXY = '''
"""A CONNECT proxy: prints its port, then one line per request; wants a password if it was given one."""
import asyncio, base64, sys

WANTED = "Basic " + base64.b64encode(sys.argv[1].encode()).decode() if len(sys.argv) > 1 else ""

async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()

async def handle(reader, writer):
    head = (await reader.readuntil(b"\\r\\n\\r\\n")).decode()
    line, *headers = head.split("\\r\\n")
    method, target, _ = line.split(" ")
    print(method, target, flush=True)
    given = [h.split(": ", 1)[1] for h in headers if h.lower().startswith("proxy-authorization: ")]
    if WANTED and given != [WANTED]:
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\\r\\nContent-Length: 0\\r\\n\\r\\n")
        writer.close()
        return
    host, port = target.rsplit(":", 1)
    other_reader, other_writer = await asyncio.open_connection(host, int(port))
    writer.write(b"HTTP/1.1 200 Connection established\\r\\n\\r\\n")
    await asyncio.gather(pump(reader, other_writer), pump(other_reader, writer))

async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()

asyncio.run(main())
'''


def an_api() -> ApiServer:
    api = ApiServer(wall=lambda: Wall(time.time_ns() // 1_000_000), chance=random.Random(7))
    api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker"}})
    return api


@contextlib.asynccontextmanager
async def an_endpoint(tokens: dict[str, User] | None = None, **more: Any) -> AsyncIterator[Endpoint]:
    """The simulated API over TLS on loopback."""
    endpoint = await serve(an_api(), tokens={"good": ADMIN} if tokens is None else tokens, tls=True, **more)
    try:
        yield endpoint
    finally:
        await endpoint.close()


def kubeconfig(path: Path, endpoint: Endpoint, user: dict[str, Any], **cluster: Any) -> Path:
    """A kubeconfig for this endpoint with this user entry; cluster fields with _ for -, None to leave one out."""
    assert endpoint.authority is not None
    fields = {
        "server": endpoint.url,
        "certificate-authority-data": base64.b64encode(endpoint.authority.certificate).decode(),
        **{name.replace("_", "-"): value for name, value in cluster.items()},
    }
    document = {
        "clusters": [{"name": "c", "cluster": {key: value for key, value in fields.items() if value is not None}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(yaml.safe_dump(document))
    return path


def a_plugin(folder: Path, body: str) -> Path:
    """An executable Python program that may use sys, os, json, time and `here`, its own folder."""
    path = folder / "plugin"
    head = f"#!{sys.executable}\nimport sys, os, json, time, pathlib\nhere = pathlib.Path(__file__).parent\n"
    count = "runs = here / 'runs'\nruns.write_text((runs.read_text() if runs.exists() else '') + 'x')\n"
    path.write_text(head + count + body)
    path.chmod(0o700)
    return path


def runs(folder: Path) -> int:
    """How often the plugin was started."""
    path = folder / "runs"
    return len(path.read_text()) if path.exists() else 0


def credential(**status: Any) -> str:
    """Python source that prints an ExecCredential."""
    document = {"apiVersion": V1, "kind": "ExecCredential", "status": status}
    return f"print({msgspec.json.encode(document).decode()!r})\n"


@contextlib.asynccontextmanager
async def a_proxy(folder: Path, *arguments: str) -> AsyncIterator[tuple[int, list[str]]]:
    """A running proxy process: its port, and the requests it saw."""
    path = folder / "proxy.py"
    path.write_text(PROXY)
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(path), *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    lines: list[str] = []
    port = int(await process.stdout.readline())
    reading = asyncio.create_task(_keep(process.stdout, lines))
    try:
        yield port, lines
    finally:
        process.terminate()
        await process.wait()
        await reading


async def _keep(stream: asyncio.StreamReader, lines: list[str]) -> None:
    async for line in stream:
        lines.append(line.decode().strip())
