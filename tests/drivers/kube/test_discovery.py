"""Which kinds are served: versions that both sides understand, and kinds that are not there (yet)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web
from tests.drivers.kube.scripted import Api, Handler, a_status, answer, run, stream, until

from noderemedy.drivers.kube import discovery
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.discovery import NotServed, Wanted
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.model.ids import HOST, MACHINE, NODE, Kind
from noderemedy.wire.http import Resource

NODES = Wanted(NODE, ("v1",), "nodes", False)
MACHINES = Wanted(MACHINE, ("v1beta2", "v1beta1"), "machines", True)
HOSTS = Wanted(HOST, ("v1alpha1",), "baremetalhosts", True)


def entries(*found: tuple[str, str, bool]) -> dict[str, Any]:
    return {"resources": [{"name": name, "kind": kind, "namespaced": scope} for name, kind, scope in found]}


def group(preferred: str, *versions: str) -> dict[str, Any]:
    return {"versions": [{"version": each} for each in versions], "preferredVersion": {"version": preferred}}


def serving(**documents: Any) -> Api:
    """A server with these discovery documents, by path with _ for /."""

    async def handler(request: web.Request) -> web.StreamResponse:
        document = documents.get(request.path.strip("/").replace("/", "_").replace(".", "_").replace("-", "_"))
        return web.json_response(document or {}, status=200 if document else 404)

    return Api(handler)


CORE = {"api_v1": entries(("nodes", "Node", False), ("nodes/status", "Node", False))}


def test_kinds_are_found_with_scope_and_plural() -> None:
    """What is served is taken from the server; a missing group is no error and leaves a good guess."""

    async def test() -> None:
        async with serving(**CORE).running() as api, KubeClient(api.access()) as client:
            assert Resource(NODE, "v1", "nodes", False) == await discovery.serving(client, NODES)
            assert NotServed() == await discovery.serving(client, HOSTS)
            assert Resource(HOST, "v1alpha1", "baremetalhosts", True) == HOSTS.guess()

    run(test())


@pytest.mark.parametrize(
    ("handler", "why"),
    [
        (a_status(401), "/apis/metal3.io: the API server answered 401; check the credentials"),
        (a_status(403), "may read /apis"),
        (a_status(418), "answered 418"),
        (a_status(503), "answered 503"),
        (stream(then="cut"), "closed the connection"),
        (answer({}), "no discovery document"),
        (answer([]), "check that this is a Kubernetes API server"),
    ],
)
def test_no_word_of_the_server_is_not_no(handler: Handler, why: str) -> None:
    """A refusal or nonsense leaves it unclear: absence may not be concluded."""

    async def test() -> None:
        async with Api(handler).running() as api, KubeClient(api.access()) as client:
            found = await discovery.serving(client, HOSTS)
            assert isinstance(found, Obstacle)
            assert (True, "closed" in why) == (why in found.why, found.is_connection)

    run(test())


def test_what_many_ask_at_once_is_asked_once() -> None:
    """At a start a group is read once for all its kinds; whoever gives up takes nobody with him, and later is anew."""

    async def test() -> None:
        asked: list[str] = []

        async def handler(request: web.Request) -> web.StreamResponse:
            asked.append(request.path)
            await asyncio.sleep(0.05)
            return web.json_response({}, status=404)

        async with Api(handler).running() as api, KubeClient(api.access()) as client:
            first, *others = [asyncio.create_task(discovery.serving(client, HOSTS)) for _ in range(3)]
            await until(lambda: bool(asked))
            first.cancel()
            assert [NotServed(), NotServed()] == await asyncio.gather(*others)
            assert ["/apis/metal3.io"] == asked
            assert NotServed() == await discovery.serving(client, HOSTS)
            assert ["/apis/metal3.io"] * 2 == asked

    run(test())


def test_all_versions_of_a_group_are_asked_about_at_one_moment() -> None:
    """A kind that only the oldest version has is found in two round trips: no version waits for another's answer."""

    async def test() -> None:
        asked: set[str] = set()
        versions = {"/apis/cluster.x-k8s.io/v1beta2", "/apis/cluster.x-k8s.io/v1beta1"}

        async def handler(request: web.Request) -> web.StreamResponse:
            if request.path == "/apis/cluster.x-k8s.io":
                return web.json_response(group("v1beta2", "v1beta2", "v1beta1"))
            asked.add(request.path)
            await until(lambda: versions == asked)
            has_it = request.path.endswith("v1beta1")
            return web.json_response(entries(("machines", "Machine", True)) if has_it else entries())

        async with Api(handler).running() as api, KubeClient(api.access()) as client:
            assert Resource(MACHINE, "v1beta1", "machines", True) == await discovery.serving(client, MACHINES)

    run(test())


def test_a_server_without_nodes_is_no_kubernetes() -> None:
    """Nodes are always served: where they are not, the address is wrong, and no node may count as absent."""

    async def test() -> None:
        async with serving(api_v1=entries(("pods", "Pod", True))).running() as api, KubeClient(api.access()) as client:
            found = await discovery.serving(client, NODES)
            assert isinstance(found, Obstacle)
            why = f"http://{api.url}/api/v1: no nodes there; check that this is a Kubernetes API server"
            assert Obstacle(why) == found

    run(test())


@pytest.mark.parametrize(
    ("preferred", "versions", "expected"),
    [
        ("v1beta1", ("v1beta1", "v1beta2"), "v1beta1"),
        ("v1beta2", ("v1beta1", "v1beta2"), "v1beta2"),
        ("v1", ("v1", "v1beta1", "v1beta2"), "v1beta2"),
        ("v1", ("v1", "v1beta1"), "v1beta1"),
        ("v1", ("v1",), None),
    ],
)
def test_the_version_is_one_that_both_understand(
    preferred: str, versions: tuple[str, ...], expected: str | None
) -> None:
    """The server's favourite if we know it, else the best of ours that it serves, else it is unclear."""

    async def test() -> None:
        documents = {f"apis_cluster_x_k8s_io_{each}": entries(("machines", "Machine", True)) for each in versions}
        documents["apis_cluster_x_k8s_io"] = group(preferred, *versions)
        async with serving(**documents).running() as api, KubeClient(api.access()) as client:
            found = await discovery.serving(client, MACHINES)
            if expected is None:
                assert (
                    Obstacle(
                        "machines.cluster.x-k8s.io is served as v1 only; we read v1beta2, v1beta1; update node-remedy"
                    )
                    == found
                )
            else:
                assert Resource(MACHINE, expected, "machines", True) == found

    run(test())


def test_a_version_without_the_kind_is_passed_over() -> None:
    """A group may serve a kind in one version and not in another."""

    async def test() -> None:
        api = serving(
            apis_cluster_x_k8s_io=group("v1beta2", "v1beta1", "v1beta2"),
            apis_cluster_x_k8s_io_v1beta2=entries(("clusters", "Cluster", True)),
            apis_cluster_x_k8s_io_v1beta1=entries(("machines", "Machine", True)),
        )
        async with api.running(), KubeClient(api.access()) as client:
            assert Resource(MACHINE, "v1beta1", "machines", True) == await discovery.serving(client, MACHINES)

    run(test())


DOCTOR = Kind("example.com", "Doctor")
DOCTORS = entries(("doctors/status", "Doctor", True), ("doctors", "Doctor", True))
NURSES = entries(("nurses", "Nurse", True))


@pytest.mark.parametrize(
    ("asked", "documents", "expected"),
    [
        ("v2", {"apis_example_com_v1": DOCTORS, "apis_example_com_v2": DOCTORS}, "v2"),
        ("v3", {"apis_example_com_v1": DOCTORS, "apis_example_com_v2": DOCTORS}, "v1"),
        ("", {"apis_example_com_v1": DOCTORS, "apis_example_com_v2": DOCTORS}, "v1"),
        ("v1", {"apis_example_com_v1": NURSES, "apis_example_com_v2": DOCTORS}, "v2"),
    ],
)
def test_a_kind_known_only_by_name_is_found(asked: str, documents: dict[str, Any], expected: str) -> None:
    """In the version that was asked for, else in the favourite, else wherever it is; plural and scope are given."""

    async def test() -> None:
        served = {"apis_example_com": group("v1", "v2", "v1"), **documents}
        async with serving(**served).running() as api, KubeClient(api.access()) as client:
            assert Resource(DOCTOR, expected, "doctors", True) == await discovery.find(client, DOCTOR, asked)

    run(test())


def test_a_name_that_is_not_served() -> None:
    """Neither its group, nor in its group; a refusal says nothing about it."""

    async def test() -> None:
        served = {"apis_example_com": group("v1", "v1"), "apis_example_com_v1": NURSES}
        async with serving(**served).running() as api, KubeClient(api.access()) as client:
            assert NotServed() == await discovery.find(client, DOCTOR, "v1")
            assert NotServed() == await discovery.find(client, Kind("nowhere.example.com", "Doctor"), "v1")
        async with Api(a_status(403, "no")).running() as api, KubeClient(api.access()) as client:
            assert isinstance(await discovery.find(client, DOCTOR, "v1"), Obstacle)

    run(test())
