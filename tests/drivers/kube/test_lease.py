"""Leader election against the simulated API over HTTP, and how operations become requests."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.drivers.kube.processes import an_endpoint, kubeconfig
from tests.drivers.kube.scripted import run, until

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.kube.lease import Election, Place, read_lease, read_reply, render
from noderemedy.engine.leadership import (
    Conflict,
    Do,
    Found,
    Leadership,
    Lease,
    Missing,
    Operation,
    Reply,
    Rules,
    Unsure,
)
from noderemedy.lab.http import Endpoint
from noderemedy.lab.http_faults import Drop, Fault, Moment
from noderemedy.model.ids import LEASE
from noderemedy.model.time import Mono, Span, Wall
from noderemedy.sim.apiserver.types import User
from noderemedy.wire.http import Answer, Request

PLACE = Place("default", "node-remedy-manager")
QUICK = Rules(Span(3_000), Span(2_000), Span(200))
OURS = Lease("we", 3, Span(15_000), Wall(1_000), Wall(1_700_000_000_123), "7")


class Runner:
    """One manager's election, running."""

    def __init__(self, client: KubeClient, name: str, place: Place = PLACE) -> None:
        self.leadership = Leadership(name, QUICK)
        self.clock = Clock(random.Random(name))
        self.changes: list[tuple[bool, int]] = []
        self.told: list[Obstacle] = []
        self.election = Election(
            client, self.leadership, self.clock, place, lambda *change: self.changes.append(change), self.told.append
        )
        self.task = asyncio.create_task(self.election.run())

    def leads(self) -> bool:
        return self.leadership.may_act(self.clock.now())

    async def crash(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


def the_lease(endpoint: Endpoint) -> dict[str, Any]:
    tree = endpoint.api.find(LEASE, PLACE.name, PLACE.namespace)
    assert tree is not None
    return tree


def test_a_standby_takes_over_at_once_after_a_release(tmp_path: Path) -> None:
    """The leader leaves and empties the Lease; the standby leads with the next token long before the duration."""

    async def test() -> None:
        async with an_endpoint() as endpoint:
            path = kubeconfig(tmp_path / "k", endpoint, {"token": "good"})
            async with KubeClient(load(path)) as client:
                first = Runner(client, "first")
                await until(first.leads)
                assert ("first", 1) == (first.leadership.holder, first.leadership.token)
                second = Runner(client, "second")
                await until(lambda: second.leadership.holder == "first")
                await first.election.release(first.task)
                assert [(True, 1), (False, 1)] == first.changes
                begun = asyncio.get_running_loop().time()
                await until(second.leads)
                assert asyncio.get_running_loop().time() - begun < 2.0
                assert [(True, 2)] == second.changes
                assert 2 == the_lease(endpoint)["spec"]["leaseTransitions"]
                await second.election.release(second.task)
                assert not the_lease(endpoint)["spec"].get("holderIdentity")

    run(test())


def test_a_standby_takes_over_from_a_crashed_leader_after_its_time(tmp_path: Path) -> None:
    """Without a release the standby waits the whole duration."""

    async def test() -> None:
        async with an_endpoint() as endpoint:
            path = kubeconfig(tmp_path / "k", endpoint, {"token": "good"})
            async with KubeClient(load(path)) as client:
                first = Runner(client, "first")
                await until(first.leads)
                second = Runner(client, "second")
                await until(lambda: second.leadership.holder == "first")
                await first.crash()
                begun = asyncio.get_running_loop().time()
                await until(second.leads)
                assert asyncio.get_running_loop().time() - begun >= 2.5
                assert not first.leads()
                await second.crash()

    run(test())


def test_a_leader_that_cannot_renew_stops_in_time_and_says_so(tmp_path: Path) -> None:
    """The server applies renewals and never answers: we stop after our deadline, announced while waiting."""

    async def test() -> None:
        silent = False

        async def interfere(moment: Moment, _request: Request, _user: User) -> Fault | None:
            return Drop() if silent and moment is Moment.AFTER else None

        async with an_endpoint(interfere=interfere) as endpoint:
            path = kubeconfig(tmp_path / "k", endpoint, {"token": "good"})
            async with KubeClient(load(path)) as client:
                leader = Runner(client, "first")
                await until(leader.leads)
                silent = True
                await until(lambda: leader.changes == [(True, 1), (False, 1)])
                assert any("closed the connection" in one.why and one.is_connection for one in leader.told)
                silent = False
                await until(leader.leads)
                assert leader.leadership.token > 1
                await leader.crash()

    run(test())


def test_labels_that_people_put_on_the_lease_survive(tmp_path: Path) -> None:
    """Renewals change our fields and nothing else."""

    async def test() -> None:
        async with an_endpoint() as endpoint:
            path = kubeconfig(tmp_path / "k", endpoint, {"token": "good"})
            async with KubeClient(load(path)) as client:
                leader = Runner(client, "first")
                await until(leader.leads)
                body = b'{"metadata":{"labels":{"team":"a"}}}'
                where = f"/apis/coordination.k8s.io/v1/namespaces/default/leases/{PLACE.name}"
                patched = await client.send(Request("PATCH", where, (), body, "application/merge-patch+json"))
                assert 200 == patched.status
                version = the_lease(endpoint)["metadata"]["resourceVersion"]
                await until(lambda: the_lease(endpoint)["metadata"]["resourceVersion"] != version)
                await leader.election.release(leader.task)
                assert {"team": "a"} == the_lease(endpoint)["metadata"]["labels"]

    run(test())


def test_a_missing_namespace_is_named(tmp_path: Path) -> None:
    """The message says what to create; once, though reads succeed between two refusals."""
    creations = []

    async def count(_moment: Moment, request: Request, _user: User) -> Fault | None:
        if request.method == "POST":
            creations.append(request)
        return None

    async def test() -> None:
        async with an_endpoint(interfere=count) as endpoint:
            path = kubeconfig(tmp_path / "k", endpoint, {"token": "good"})
            async with KubeClient(load(path)) as client:
                runner = Runner(client, "first", Place("nowhere", "lease"))
                await until(lambda: len(creations) > 4)
                await runner.crash()
        assert 1 == len(runner.told)
        obstacle = runner.told[0]
        assert ("create the namespace nowhere" in obstacle.why, False) == (True, obstacle.is_connection)

    run(test())


def test_operations_become_requests() -> None:
    """Create posts the whole object; all other writes are patches guarded by the version."""
    read = render(Operation(Do.READ, Mono(0)), PLACE)
    create = render(Operation(Do.CREATE, Mono(0), OURS), PLACE)
    renew = render(Operation(Do.RENEW, Mono(0), OURS), PLACE)

    root = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    assert Request("GET", f"{root}/node-remedy-manager") == read
    assert ("POST", root) == (create.method, create.path)
    assert ("PATCH", f"{root}/node-remedy-manager") == (renew.method, renew.path)
    body = msgspec.json.decode(renew.body)
    assert {"resourceVersion": "7"} == body["metadata"]
    assert {
        "holderIdentity": "we",
        "leaseDurationSeconds": 15,
        "leaseTransitions": 3,
        "acquireTime": "1970-01-01T00:00:01.000000Z",
        "renewTime": "2023-11-14T22:13:20.123000Z",
    } == body["spec"]


def test_a_release_removes_the_holder() -> None:
    """Null in a merge patch removes the field, whatever a server thinks of empty names."""
    released = Lease("", 3, Span(1_000), Wall(0), Wall(0), "7")

    request = render(Operation(Do.RELEASE, Mono(0), released), PLACE)

    assert msgspec.json.decode(request.body)["spec"]["holderIdentity"] is None


@pytest.mark.parametrize(
    ("do", "answer", "reply"),
    [
        (Do.READ, Answer(404), Missing()),
        (Do.RENEW, Answer(404), Missing()),
        (Do.CREATE, Answer(404), Unsure()),
        (Do.CREATE, Answer(409), Conflict()),
        (Do.RENEW, Answer(409), Conflict()),
        (Do.RENEW, Answer(403), Unsure()),
        (Do.RENEW, Answer(429), Unsure()),
        (Do.READ, Answer(500), Unsure()),
        (Do.READ, Answer(200, b"<html>"), Unsure()),
        (Do.READ, Answer(200, b'{"metadata":{}}'), Unsure()),
        (
            Do.READ,
            Answer(200, b'{"metadata":{"resourceVersion":"4"}}'),
            Found(Lease("", 0, Span(0), Wall(0), Wall(0), "4")),
        ),
    ],
)
def test_answers_become_replies(do: Do, answer: Answer, reply: Reply) -> None:
    """Only what the server surely said about the Lease counts."""
    assert reply == read_reply(Operation(do, Mono(0), OURS), answer)


def test_a_lease_is_read_with_its_times() -> None:
    """Micro times of the API become milliseconds."""
    body = b"""{"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"we","leaseTransitions":3,
        "leaseDurationSeconds":15,"acquireTime":"1970-01-01T00:00:01.000000Z",
        "renewTime":"2023-11-14T22:13:20.123000Z"}}"""

    assert OURS == read_lease(body)
