"""What a run says that sent nothing: simulated runs and those that are shipped, held against each other.

Both read one world. The shipped ones read it over HTTP: `manager/runs.py` with its client, and `runner/program.py` with
the service account and the Secrets of a pod. Rooms judge by these words whether a device was touched, and whether a
drill says anything about it.
"""

from __future__ import annotations

import asyncio
import random
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace
from tests.core.fencing.orders import JOB
from tests.drivers.kube import scripted
from tests.sim.test_fence_checkers import Ward

from noderemedy.core.fencing import devices, staleness
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.fence.verify import Hand
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import Access
from noderemedy.drivers.kube.credentials import Fixed, Identity
from noderemedy.drivers.kube.secret import Secret
from noderemedy.engine.leadership import Leadership
from noderemedy.lab.http import serve
from noderemedy.manager import runs as shipped
from noderemedy.manager.effects import Licence
from noderemedy.model.ids import NODE, NODE_FENCE, SYSTEM, ref
from noderemedy.model.run import Deed, Order, Result, RunState
from noderemedy.model.time import Mono, Now, Span, Wall
from noderemedy.runner import program
from noderemedy.sim import runs as simulated
from noderemedy.sim.apiserver.types import ADMIN
from noderemedy.sim.fenced import SECRET
from noderemedy.sim.jobrunner import JobFate, Jobs
from noderemedy.sim.outlets import Sent
from noderemedy.sim.weather import Fate, Weather
from noderemedy.wire.fencejobs import SECRETS_VARIABLE

TOKEN = "token-of-somebody"
FENCE = "node-fence-worker-1"
NO_AGENT = "there is no agent"  # how far shipped runs come here: the next thing would be to start it


class Book:
    """Who is told of the one run of a shipped manager."""

    result: Result | None = None

    def knows(self, id: str) -> bool:
        return False

    def may_run(self, order: Order) -> None: ...

    def began(self, order: Order, begun: Mono | None) -> None: ...

    def ended(self, order: Order, result: Result) -> None:
        self.result = result


class Leads:
    """Under one token, for ever."""

    def __init__(self, token: int) -> None:
        self.token = token

    def may_act(self, now: Now) -> bool:
        return True


class World:
    """A fence that has just sent its first power-off, and the order of that."""

    def __init__(self, folder: Path) -> None:
        self.ward, self.folder = Ward(), folder
        self.cluster, self.process = self.ward.cluster, self.ward.process
        self.api = self.cluster.api
        self.sent: list[Sent] = []
        self.cluster.outlets.on_sent.append(self.sent.append)
        self.ward.hang("worker-1")
        self.ward.fence("worker-1")
        while not self.sent:
            self.cluster.agenda.run_until(self.cluster.agenda.now_ms + 50)
        self.order = replace(self.sent.pop().order, agent="fence_nowhere", not_after=Wall(1 << 45))
        self.is_reached, self.leads = True, True

    def patch(self, status: dict[str, Any]) -> None:
        self.api.patch(NODE_FENCE, FENCE, "", {"status": status}, "merge", subresource="status")

    # --- simulated -----------------------------------------------------------------------------------------------

    def simulated_manager(self) -> Result | None:
        """None: it was sent."""
        if not self.is_reached:
            self.process.weather = Weather(requests=((Fate.NEVER_ARRIVED, 1.0),))
        order = self.order if self.leads else replace(self.order, token=self.order.token - 1)
        begun = simulated.Runs(self.process)
        begun.start(order)
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + 100)
        found = begun._known[order.id]
        return None if self.sent else Result(found.state, found.power, found.said)

    def simulated_job(self) -> Result | None:
        jobs = Jobs(self.cluster, 1)
        jobs._run(self.order, JobFate.FINE, "")
        return None if self.sent else jobs.results[self.order.id]

    # --- shipped -------------------------------------------------------------------------------------------------

    async def shipped_manager(self) -> Result:
        book, clock = Book(), Clock(random.Random(1))
        licence = Licence(cast(Leadership, Leads(self.order.token + (not self.leads))))
        endpoint = await serve(self.api, tokens={TOKEN: ADMIN})
        access = Access("the test", endpoint.url, Fixed(Identity(token=Secret(TOKEN))))
        if not self.is_reached:
            await endpoint.close()
        async with KubeClient(access) as client:
            refusal = lambda token: licence.refusal(token, clock.now())  # noqa: E731
            await shipped.Runs(client, book, clock, Hand((self.folder,)), refusal).start(self.order)
            await scripted.until(lambda: book.result is not None)
        await endpoint.close()
        assert book.result is not None
        return book.result

    async def shipped_job(self) -> Result:
        endpoint = await serve(self.api, tokens={TOKEN: ADMIN}, tls=True)
        assert endpoint.authority
        account = self.folder / "account"
        account.mkdir()
        (account / "token").write_text(TOKEN)
        (account / "ca.crt").write_bytes(endpoint.authority.certificate)
        self._mount()
        environ = {
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(endpoint.port),
            "NODE_REMEDY_ACCOUNT": str(account),
            "NODE_REMEDY_AGENTS_PATH": str(self.folder),
            SECRETS_VARIABLE: str(self.folder / "secrets"),
        }
        try:
            return await asyncio.to_thread(lambda: asyncio.run(program.run(self.order, program.Surroundings(environ))))
        finally:
            await endpoint.close()

    def _mount(self) -> None:
        """As a kubelet does: a missing Secret is a folder without keys."""
        folder = self.folder / "secrets" / "devices"
        folder.mkdir(parents=True)
        found = self.api.find(SECRET, "devices", SYSTEM) or {}
        for key, value in (found.get("data") or {}).items():
            (folder / key).write_bytes(b64decode(value))


@pytest.fixture(autouse=True)
def _signals_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A runner that is about to send obeys none any more; here it runs in the process of the tests."""
    monkeypatch.setattr(program, "finish_what_was_sent", lambda: None)


Harm = Callable[[World], object]


def reordered(**changes: Any) -> Harm:
    def harm(world: World) -> None:
        world.order = replace(world.order, **changes)

    return harm


def drilled(world: World) -> None:
    """The same question as a drill asks it: of no NodeFence, and late."""
    world.order = replace(world.order, deed=Deed.STATUS, fence=ref(NODE, "worker-1"), not_after=Wall(1))


def ordered_before(world: World) -> None:
    """A drill of an earlier leader, in time."""
    drilled(world)
    world.order = replace(world.order, token=77, not_after=Wall(1 << 45))


def booted(world: World) -> None:
    """Fence and order are about the boot before the one that the Node shows."""
    world.order = replace(world.order, boot_id="an-earlier-one")
    world.patch({"bootID": "an-earlier-one"})


def deleted(world: World) -> None:
    world.api.patch(NODE_FENCE, FENCE, "", {"metadata": {"finalizers": None}}, "merge")
    world.api.delete(NODE_FENCE, FENCE)


def without_key(world: World) -> None:
    world.api.patch(SECRET, "devices", SYSTEM, {"data": {"password": None}}, "merge")


def stopped(world: World) -> None:
    world.api.patch(NODE_FENCE, FENCE, "", {"spec": {"stopped": True}}, "merge")


SAME: dict[str, tuple[Harm, str]] = {
    "nothing is wrong": (lambda world: None, ""),
    "the secret is missing": (lambda world: world.api.delete(SECRET, "devices", SYSTEM), "there is no secret devices"),
    "the key is missing": (without_key, "has no key password"),
    "the fence is gone": (deleted, "is gone"),
    "the fence is another one": (reordered(fence_uid="x"), "is another one"),
    "it is not listed": (lambda world: world.patch({"jobs": []}), "lists no open run"),
    "it was stopped": (stopped, "was stopped"),
    "the node has booted again": (booted, "has booted again"),
    "it is too late": (reordered(not_after=Wall(1)), "should have begun by"),
}
BY_MANAGER: dict[str, tuple[Harm, str]] = {
    **SAME,
    "a late drill is asked all the same": (drilled, ""),
    "it has to run on a node": (reordered(bound_to="worker-2"), "has to run on node worker-2"),
    "it leads no more": (lambda world: setattr(world, "leads", False), "does not lead any more"),
}
BY_JOB: dict[str, tuple[Harm, str]] = {
    **SAME,
    "a drill is late": (drilled, "should have begun by"),
    "another one leads": (reordered(token=77), "was ordered under leadership 77"),
    "a drill of an earlier leader is asked all the same": (ordered_before, ""),
}


def held_against_each_other(real: Result, played: Result | None, why: str) -> None:
    """The same words, or both are sent."""
    assert (real.state, why in real.said) == (RunState.FAILED, True)
    if not why:
        assert (True, None) == (NO_AGENT in real.said, played)
        return
    assert real.said == (played and played.said)


@pytest.mark.parametrize("how", BY_MANAGER)
def test_a_simulated_manager_says_what_a_real_one_says(how: str, tmp_path: Path) -> None:
    """Whatever keeps it from sending, and in the same words."""
    harm, why = BY_MANAGER[how]
    world = World(tmp_path)
    harm(world)

    held_against_each_other(asyncio.run(world.shipped_manager()), world.simulated_manager(), why)


@pytest.mark.parametrize("how", BY_JOB)
def test_a_simulated_job_says_what_a_real_one_says(how: str, tmp_path: Path) -> None:
    """The same for the runner in a pod."""
    harm, why = BY_JOB[how]
    world = World(tmp_path)
    harm(world)

    held_against_each_other(asyncio.run(world.shipped_job()), world.simulated_job(), why)


def test_without_an_api_both_say_nothing_about_the_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody was asked: the device is untouched, and a drill keeps the condition that its node has."""
    monkeypatch.setattr(shipped, "READ_PATIENCE", Span(200))
    world = World(tmp_path)
    world.is_reached = False
    told = (asyncio.run(world.shipped_manager()), world.simulated_manager())

    for one in told:
        assert one is not None
        assert not devices.is_sent(replace(JOB, state=one.state, said=one.said))
        assert staleness.came_late(one.said)
