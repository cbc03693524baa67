"""A bench for the manager: the simulated API over real HTTP, a tiny baremetal operator, and managers in process.

Used by the tests of `manager/`. Times are short so that tests are; nothing else differs from production.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from tests.builders import HOST_AT, MACHINE_AT, NODE_AT, a_host_tree, a_machine_tree, a_node_tree

from noderemedy import crds
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.kube.sink import Settings as WatchSettings
from noderemedy.engine.leadership import Rules
from noderemedy.lab.http import Endpoint, serve
from noderemedy.lab.http_faults import Drop, Fault, Moment
from noderemedy.manager.program import run
from noderemedy.manager.settings import Ended, Happening, Led, Settings
from noderemedy.model.actions import Confirm, DropIncident, ListPods, OpenIncident, WriteIncident
from noderemedy.model.ids import HOST, LEASE, MACHINE, NODE
from noderemedy.model.outcome import Done
from noderemedy.model.time import Span, Wall
from noderemedy.sim.apiserver.server import ApiServer
from noderemedy.sim.apiserver.types import ADMIN, User, WatchEvent
from noderemedy.wire import names
from noderemedy.wire.http import Request

TOKENS = {name: f"token-of-the-{name}" for name in ("administrator", "first", "second")}
USERS = {token: User(name, ADMIN.groups) for name, token in TOKENS.items()}
SYSTEM = "node-remedy-system"
NOT_HERE = {"clusters.cluster.x-k8s.io"}  # kinds that the bench lacks
HURRIED = WatchSettings(
    first_stream=Span(0), first_pause=Span(20), longest_pause=Span(100), refused_pause=Span(100), settled=Span(100)
)
RULES = Rules(duration=Span(2_000), deadline=Span(1_200), retry=Span(200))
PATIENCE_S = 10.0
ASIDE = (Confirm, ListPods, OpenIncident, WriteIncident, DropIncident)
Trouble = Callable[[Request], Fault | None]


class Managed:
    """A manager that runs in this process, and all that it told."""

    def __init__(self, settings: Settings) -> None:
        self.happenings: list[Happening] = []
        self.stop = asyncio.Event()
        self.task = asyncio.create_task(run(settings, self.stop, self.happenings.append))

    def done(self) -> list[str]:
        """The writes that succeeded, in order, but for those of records, which come when it suits."""
        ended = [one for one in self.happenings if isinstance(one, Ended)]
        chosen = [one for one in ended if isinstance(one.outcome, Done)]
        return [type(one.effect.action).__name__ for one in chosen if not isinstance(one.effect.action, ASIDE)]

    def reasons(self) -> list[str]:
        return [type(one.reason).__name__ for one in self.happenings if hasattr(one, "reason")]

    def is_leading(self) -> bool:
        led = [one for one in self.happenings if isinstance(one, Led)]
        return bool(led and led[-1].is_leading)

    async def end(self) -> None:
        """Stop as a signal would."""
        self.stop.set()
        await asyncio.wait_for(self.task, 15)


class Bench:
    """The cluster, what was asked of it, and what goes wrong."""

    def __init__(self, api: ApiServer, kubeconfig: Path) -> None:
        self.api = api
        self.kubeconfig = kubeconfig
        self.endpoint: Endpoint
        self.requests: list[tuple[float, Request]] = []
        self.before: Trouble = lambda request: None
        self.after: Trouble = lambda request: None
        self.cut_off: set[str] = set()  # users whose requests vanish
        self.delay: Callable[[Request], Awaitable[None]] | None = None
        self._managers: list[Managed] = []

    async def interfere(self, moment: Moment, request: Request, user: User) -> Fault | None:
        if moment is Moment.AFTER:
            return self.after(request)
        if user.name in self.cut_off:
            return Drop()
        self.requests.append((time.monotonic(), request))
        if self.delay:
            await self.delay(request)
        return self.before(request)

    def writes(self) -> list[Request]:
        return [request for _, request in self.requests if request.method != "GET"]

    def start(self, identity: str = "first", **changes: Any) -> Managed:
        """A manager whose user has the name of its identity."""
        usual: dict[str, Any] = {"watch": HURRIED, "rules": RULES, "namespace": SYSTEM}
        file = self.kubeconfig.with_name(identity)
        file.write_text(self.endpoint.kubeconfig(TOKENS[identity]))
        made = Managed(Settings(access=load(file), identity=identity, **{**usual, **changes}))
        self._managers.append(made)
        return made

    async def close(self) -> None:
        self.cut_off.clear()
        for manager in self._managers:
            manager.stop.set()
        for manager in self._managers:
            manager.task.cancel()
            await asyncio.gather(manager.task, return_exceptions=True)
        await self.endpoint.close()

    # --- the cluster --------------------------------------------------------------------------------------

    def create(self, tree: dict[str, Any]) -> None:
        """With its status, which the API takes through the subresource only."""
        meta = {key: value for key, value in tree["metadata"].items() if key not in ("uid", "resourceVersion")}
        made = self.api.create({**tree, "metadata": meta})
        if status := tree.get("status"):
            self.api.update({**made, "status": status}, subresource="status")

    def populate(self) -> None:
        """One machine, its host and its node, all well."""
        self.create(a_machine_tree())
        self.create(a_host_tree())
        taints = [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]
        self.create(a_node_tree(labels={"rack": "a"}, annotations={"owner": "x"}, spec={"taints": taints}))

    def mark(self) -> None:
        body = {"metadata": {"annotations": {names.NEEDS_REMEDIATION: ""}}}
        self.api.patch(MACHINE, MACHINE_AT.name, MACHINE_AT.namespace, body)

    def notes(self, kind: str) -> dict[str, str]:
        at = {"host": HOST_AT, "machine": MACHINE_AT, "node": NODE_AT}[kind]
        found = self.api.get(at.kind, at.name, at.namespace)["metadata"].get("annotations") or {}
        return dict(found)

    def node(self) -> dict[str, Any] | None:
        return self.api.find(NODE, NODE_AT.name)

    def lease(self) -> dict[str, Any]:
        found = self.api.find(LEASE, "node-remedy-manager", SYSTEM)
        return dict(found["spec"]) if found else {}


class Operator:
    """A baremetal operator in twenty lines: held hosts go off, others on, and a host that is on boots its node."""

    def __init__(self, api: ApiServer, nodes: ApiServer | None = None) -> None:
        self._api = api
        self._nodes = nodes or api  # where the Nodes are, if that is another cluster
        self._loop = asyncio.get_running_loop()
        api.subscribe(HOST, self._look)

    def _look(self, event: WatchEvent) -> None:
        self._loop.call_later(0.02, self._act)

    def _act(self) -> None:
        host = self._api.find(HOST, HOST_AT.name, HOST_AT.namespace)
        if host is None:
            return
        held = any(key.startswith("reboot.metal3.io") for key in host["metadata"].get("annotations") or {})
        if host["status"]["poweredOn"] == held:
            status = {**host["status"], "poweredOn": not held}
            self._api.update({**host, "status": status}, subresource="status")
            if held:
                self._loop.call_later(0.02, self._fall_silent)
            if not held and self._api.find(NODE, NODE_AT.name) is None:
                self._loop.call_later(0.02, self._boot)

    def _fall_silent(self) -> None:
        """Kubernetes notices that nobody reports any more."""
        if self._nodes.find(NODE, NODE_AT.name) is not None:
            body = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
            self._nodes.patch(NODE, NODE_AT.name, "", body, "merge", subresource="status")

    def _boot(self) -> None:
        tree = a_node_tree()
        meta = {key: value for key, value in tree["metadata"].items() if key not in ("uid", "resourceVersion")}
        self._api.create({**tree, "metadata": meta})


@contextlib.asynccontextmanager
async def bench(folder: Path, *, without: Iterable[str] = (), namespace: bool = True) -> AsyncIterator[Bench]:
    """A bench with the custom kinds installed, but for those whose plural is in `without`."""
    api = ApiServer(wall=lambda: Wall(time.time_ns() // 1_000_000), chance=random.Random(1))
    for tree in crds.every():
        if tree["spec"]["names"]["plural"] not in without:
            api.create(tree)
    if namespace:
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}})
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MACHINE_AT.namespace}})
    made = Bench(api, folder / "kubeconfig")
    made.endpoint = await serve(api, tokens=USERS, interfere=made.interfere)
    made.kubeconfig.write_text(made.endpoint.kubeconfig())
    try:
        yield made
    finally:
        await made.close()


async def until(is_so: Callable[[], object], seconds: float | None = None, what: str = "") -> None:
    """Wait for something that the manager does by itself."""
    end = time.monotonic() + (seconds or PATIENCE_S)
    while not is_so():
        assert time.monotonic() < end, f"waited too long: {what}"
        await asyncio.sleep(0.01)
