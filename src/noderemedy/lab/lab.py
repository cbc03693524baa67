"""The lab: a simulated cluster by a real clock, its endpoint on loopback, and a manager that repairs it over HTTP.

`open_lab` is used by `node-remedy lab` in all its forms and by tests. The manager gets nothing but a kubeconfig with an
identity of its own: it cannot tell this cluster from a real one. Checkers and story look at the world from outside.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from msgspec import Struct

from noderemedy.drivers.kube import config
from noderemedy.lab import control, faults
from noderemedy.lab.clock import RealAgenda
from noderemedy.lab.diary import Diary
from noderemedy.lab.files import Folder
from noderemedy.lab.http import Endpoint, serve
from noderemedy.lab.http_faults import Instead, Moment
from noderemedy.lab.story import Story, is_running
from noderemedy.manager import program
from noderemedy.manager.settings import Settings as ManagerSettings
from noderemedy.model.errors import Permanent
from noderemedy.sim import objects
from noderemedy.sim.apiserver import ADMIN, User
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.durations import Durations
from noderemedy.sim.kinds import POD
from noderemedy.wire.http import Request

MANAGER = User(
    "system:serviceaccount:node-remedy-system:node-remedy-manager",
    ("system:serviceaccounts", "system:serviceaccounts:node-remedy-system", "system:authenticated"),
)
RACKS = 3
PODS_MAX = 6
PATIENCE_S = 20.0
LOOK_S = 0.02


class Size(Struct, frozen=True):
    """How big and how fast the simulated world is. Speed shortens its durations, never its clocks."""

    nodes: int = 12
    speed: float = 150.0


class Lab:
    """A running lab. Made by `open_lab`."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.agenda = RealAgenda()
        self.cluster = Cluster(
            nodes=size.nodes,
            racks=min(RACKS, size.nodes),
            replicas=min(PODS_MAX, size.nodes),
            seed=secrets.randbits(64),
            durations=Durations().faster(size.speed),
            agenda=self.agenda,
        )
        self.checkers = Checkers(self.cluster)
        self.story = Story(self.cluster)
        self.diary = Diary(self.agenda)
        self.cluster.api.create(objects.marking_check("workers", None, self.cluster.durations))
        self.admin_token = secrets.token_urlsafe(24)
        self.manager_token = secrets.token_urlsafe(24)
        self.endpoint: Endpoint
        self.manager: asyncio.Task[None]

    @property
    def freed_before_safe(self) -> int:
        """Counted by an observer that knows the truth about every server."""
        return self.checkers.freed_before_safe

    def inject(self, fault: str, node: str) -> None:
        """Let a fault happen now."""
        self.agenda.catch_up()
        faults.strike(self.cluster, fault, node)
        self.story.struck(node, fault)

    async def interfere(self, moment: Moment, request: Request, user: User) -> Instead | None:
        """Every request finds the world at the present moment; those on the lab's own path are answered here."""
        if moment is Moment.AFTER:
            return None
        self.agenda.catch_up()
        if control.is_control(request):
            return control.answer(request, user, tuple(self.cluster.servers), self.inject)
        return None

    async def ready(self) -> None:
        """Wait until the workload runs and the manager leads and sees all nodes."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not (self.workload_runs() and self.diary.is_leading):
                    self.complain_if_dead()
                    if self.agenda.broken:
                        raise Permanent(f"the lab does not get ready: {self._whats_missing()}")
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            raise Permanent(f"the lab was not ready within {PATIENCE_S:.0f} s: {self._whats_missing()}") from None

    def complain_if_dead(self) -> None:
        """Raise what the manager died of."""
        if self.manager.done():
            self.manager.result()
            raise Permanent("the manager of the lab has ended")

    def wrongs(self) -> list[str]:
        """What must not be: rules that were broken, and parts of the simulated world that were."""
        broken = [f"a simulated part broke: {text.splitlines()[-1]}" for text in self.agenda.broken]
        return [*self.checkers.violations, *broken]

    def workload_runs(self) -> bool:
        pods = self.cluster.api.list(POD)
        return len(pods) >= min(PODS_MAX, self.size.nodes) and all(is_running(pod) for pod in pods)

    def _whats_missing(self) -> str:
        missing = {"the workload does not run": self.workload_runs(), "no manager leads": self.diary.is_leading}
        return "; ".join([*(text for text, is_there in missing.items() if not is_there), *self.wrongs()])


@asynccontextmanager
async def open_lab(size: Size, folder: Folder, port: int = 0) -> AsyncIterator[Lab]:
    """A lab that lives as long as the block: world, endpoint and manager."""
    lab = Lab(size)
    lab.endpoint = await _endpoint(lab, port)
    folder.write(lab.endpoint.kubeconfig(lab.admin_token), lab.endpoint.kubeconfig(lab.manager_token))
    world = asyncio.create_task(lab.agenda.live(), name="world")
    stop = asyncio.Event()
    access = config.load(folder.manager_kubeconfig, environ={"PATH": os.environ.get("PATH", "")})
    settings = ManagerSettings(access, identity=f"lab-{secrets.token_hex(4)}")
    lab.manager = asyncio.create_task(program.run(settings, stop, lab.diary.observe), name="manager")
    try:
        yield lab
    finally:
        stop.set()
        await asyncio.wait([lab.manager])
        world.cancel()
        with suppress(asyncio.CancelledError):
            await world
        await lab.endpoint.close()


async def _endpoint(lab: Lab, port: int) -> Endpoint:
    tokens = {lab.admin_token: ADMIN, lab.manager_token: MANAGER}
    try:
        return await serve(lab.cluster.api, tokens=tokens, port=port, tls=True, interfere=lab.interfere)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            raise Permanent(f"port {port} is in use; choose another --port, or none for a free one") from None
        raise Permanent(f"cannot listen on port {port}: {problem.strerror}; choose another --port") from None
