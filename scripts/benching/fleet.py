"""The benchmark's own hands: loads objects, beats hearts, marks machines, and plays baremetal operator and kubelet."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from benching import objects
from benching.counting import IDENTITY
from benching.follower import read_access, session

from noderemedy import crds
from noderemedy.manager.settings import NAMESPACE as SYSTEM
from noderemedy.wire import names

NODES = "/api/v1/nodes"
MACHINES = f"/apis/cluster.x-k8s.io/v1beta1/namespaces/{objects.NAMESPACE}/machines"
HOSTS = f"/apis/metal3.io/v1alpha1/namespaces/{objects.NAMESPACE}/baremetalhosts"
EVENTS = "/apis/events.k8s.io/v1/events"
INCIDENTS = f"/apis/node-remedy.dev/v1alpha1/namespaces/{SYSTEM}/incidents"
MERGE = "application/merge-patch+json"
PARALLEL = 24
PATIENCE_S = 120.0


class Fleet:
    """A client that writes. Use it as an asynchronous context."""

    def __init__(self, kubeconfig: Path) -> None:
        self._access = read_access(kubeconfig)
        self._lanes = asyncio.Semaphore(PARALLEL)
        self.size = 0
        self._beats = 0
        self.held: dict[str, float] = {}  # host -> when its hold was seen
        self.released: set[str] = set()
        self.clean: set[str] = set()
        self.gone: set[str] = set()
        self._watches: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Fleet:
        self._client = session(self._access)
        return self

    async def __aexit__(self, *_: object) -> None:
        for watch in self._watches:
            watch.cancel()
        await asyncio.gather(*self._watches, return_exceptions=True)
        await self._client.close()

    # --- requests --------------------------------------------------------------------------------------------------

    async def send(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        data = msgspec.json.encode(body) if body is not None else None
        async with self._lanes, self._client.request(method, path, data=data, headers={"Content-Type": kind}) as found:
            text = await found.read()
            if found.status >= 300 and not (method == "POST" and found.status == 409):
                raise SystemExit(f"{method} {path}: {found.status} {text[:300]!r}")
            return msgspec.json.decode(text)

    async def patch(self, path: str, body: Any) -> Any:
        return await self.send("PATCH", path, body, MERGE)

    async def annotate(self, path: str, notes: dict[str, str | None]) -> Any:
        return await self.patch(path, {"metadata": {"annotations": notes}})

    # --- loading ---------------------------------------------------------------------------------------------------

    async def install(self) -> None:
        """The kinds, and the namespace of the lease."""
        for tree in crds.every():
            await self.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", tree)
        for name in (SYSTEM, objects.NAMESPACE):
            await self.send("POST", "/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": name}})
        binding = {
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "bench"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": IDENTITY}],
        }
        await self.send("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
        for path in (MACHINES, HOSTS):
            await until(lambda path=path: self.is_served(path), f"{path} is served")  # type: ignore[misc]

    async def is_served(self, path: str) -> bool:
        async with self._client.get(path) as answer:
            return answer.status == 200

    async def grow(self, size: int) -> None:
        """Load until there are so many nodes, each with its machine and host."""
        numbers = range(self.size, size)
        await asyncio.gather(*(self._load(number) for number in numbers))
        self.size = size

    async def _load(self, number: int) -> None:
        name = objects.name_of(number)
        await self.send("POST", NODES, objects.node(number))
        for path, (tree, status) in ((MACHINES, objects.machine(number)), (HOSTS, objects.host(number))):
            await self.send("POST", path, tree)
            await self.patch(f"{path}/{name}/status", {"status": status})

    async def bytes_per_node(self) -> int:
        async with self._client.get(f"{NODES}/{objects.name_of(0)}") as answer:
            return len(await answer.read())

    # --- life ------------------------------------------------------------------------------------------------------

    async def beat(self, rate: int, seconds: float) -> int:
        """Heartbeats at this rate, each a status patch of another node; returns how many were sent."""
        begun, sent = time.monotonic(), 0
        tasks: list[asyncio.Task[Any]] = []
        while (elapsed := time.monotonic() - begun) < seconds:
            while sent < elapsed * rate:
                tasks.append(asyncio.create_task(self._beat_once()))
                sent += 1
            await asyncio.sleep(1 / rate)
        await asyncio.gather(*tasks)
        return sent

    async def _beat_once(self) -> None:
        """No two beats have the same time: a patch that changes nothing is no event."""
        self._beats += 1
        minutes, second = divmod(self._beats, 60)
        stamp = f"2026-11-15T{minutes // 60 % 24:02d}:{minutes % 60:02d}:{second:02d}Z"
        status = {"status": {"conditions": objects.conditions(stamp)}}
        await self.patch(f"{NODES}/{objects.name_of(self._beats % self.size)}/status", status)

    async def mark(self, number: int) -> float:
        """Ask for a repair; returns the moment before the request left."""
        begun = time.monotonic()
        await self.annotate(f"{MACHINES}/{objects.name_of(number)}", {names.NEEDS_REMEDIATION: ""})
        return begun

    async def power(self, number: int, is_on: bool) -> None:
        """What is off falls silent: nobody frees a node that still reports."""
        await self.patch(f"{HOSTS}/{objects.name_of(number)}/status", {"status": {"poweredOn": is_on}})
        if not is_on:
            silent = {"status": {"conditions": objects.conditions(objects.WHEN, "Unknown", objects.WHEN)}}
            await self.patch(f"{NODES}/{objects.name_of(number)}/status", silent)

    async def come_back(self, number: int) -> None:
        """The host is on, and its kubelet registers a bare Node, of another boot."""
        await self.power(number, True)
        tree = objects.node(number)
        tree["metadata"] = {"name": objects.name_of(number)}
        tree["status"]["nodeInfo"]["bootID"] = str(uuid.uuid4())
        await self.send("POST", NODES, tree)

    async def events(self) -> int:
        return len((await self.send("GET", EVENTS))["items"])

    async def records_closed(self, seconds: float) -> None:
        """Until all records are closed, a minute after the end of what they tell; not longer than this."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            listed = (await self.send("GET", INCIDENTS))["items"]
            if all("outcome" in (one.get("status") or {}) for one in listed):
                return
            await asyncio.sleep(1.0)

    # --- watching --------------------------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Note when holds come and go, nodes go and machines are clean."""
        for path, take in ((HOSTS, self._host), (MACHINES, self._machine), (NODES, self._node)):
            await self.follow(path, take)

    async def follow(self, path: str, take: Callable[[str, Any], None]) -> asyncio.Task[None]:
        """Tells every change from now on, until the task is cancelled."""
        version = (await self.send("GET", f"{path}?limit=1"))["metadata"]["resourceVersion"]
        task = asyncio.create_task(self._follow(path, version, take))
        self._watches.append(task)
        return task

    async def _follow(self, path: str, version: str, take: Callable[[str, Any], None]) -> None:
        """Follow for ever. A server under load may end a stream: then what is there now, or no more, is told."""
        known: dict[str, Any] = {}

        def tell(type_: str, meta: Any) -> None:
            known[meta["name"]] = meta
            take(type_, meta)
            if type_ == "DELETED":
                del known[meta["name"]]

        while True:
            await self._stream(path, version, tell)
            listed = await self.send("GET", path)
            version = listed["metadata"]["resourceVersion"]
            there = {item["metadata"]["name"]: item["metadata"] for item in listed["items"]}
            for meta in [one for name, one in known.items() if name not in there]:
                tell("DELETED", meta)
            for meta in there.values():
                tell("MODIFIED", meta)

    async def _stream(self, path: str, version: str, take: Callable[[str, Any], None]) -> None:
        query = {"watch": "true", "resourceVersion": version}
        async with self._client.get(path, params=query) as response:
            rest = b""
            async for chunk in response.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for event in map(msgspec.json.decode, lines):
                    take(event["type"], event["object"]["metadata"])

    def _host(self, type_: str, meta: Any) -> None:
        if any(key == names.REBOOT or key.startswith(names.REBOOT_FOR) for key in meta.get("annotations") or {}):
            self.held.setdefault(meta["name"], time.monotonic())
        elif meta["name"] in self.held:
            self.released.add(meta["name"])

    def _machine(self, type_: str, meta: Any) -> None:
        ours = {names.NEEDS_REMEDIATION, names.NODE_BACKUP, names.NODE_DELETED_AT}
        known = self.clean.discard if ours & set(meta.get("annotations") or {}) else self.clean.add
        known(meta["name"])

    def _node(self, type_: str, meta: Any) -> None:
        if type_ == "DELETED":
            self.gone.add(meta["name"])


async def until(is_so: Callable[[], Any], what: str, pause_s: float = 0.005) -> None:
    """Wait until it is so."""
    end = time.monotonic() + PATIENCE_S
    while True:
        answer = is_so()
        if await answer if isinstance(answer, Awaitable) else answer:
            return
        if time.monotonic() > end:
            raise SystemExit(f"not within {PATIENCE_S:.0f} s: {what}")
        await asyncio.sleep(pause_s)
