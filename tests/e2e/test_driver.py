"""The Kubernetes driver against a real API server: what the scripted and the simulated one can only claim."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import random
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests.drivers.kube.processes import V1, a_plugin, credential, runs
from tests.drivers.kube.scripted import NODES, QUICK, Recorder, until
from tests.e2e.certificates import Certificates
from tests.e2e.controlplane import ControlPlane

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.kube.discovery import NotServed, Wanted, serving
from noderemedy.drivers.kube.errors import Obstacle, Refused
from noderemedy.drivers.kube.events import Note, Publisher
from noderemedy.drivers.kube.lease import Election, Place
from noderemedy.drivers.kube.watch import _Watcher, watch
from noderemedy.engine.leadership import Leadership, Rules
from noderemedy.lab.http_tls import Authority
from noderemedy.manager.effects import speaks_of
from noderemedy.model.ids import HOST, NODE, Kind, ref
from noderemedy.model.time import Span, Wall
from noderemedy.wire import verbs
from noderemedy.wire.http import Answer, Request, Resource
from noderemedy.wire.objects import decode

CLIENTS = Authority("client certificates")
PODS = Resource(Kind("", "Pod"), "v1", "pods", True)
ACCOUNTS = Resource(Kind("", "ServiceAccount"), "v1", "serviceaccounts", True)
BUDGETS = Resource(Kind("policy", "PodDisruptionBudget"), "v1", "poddisruptionbudgets", True)
GUARDED = {"matchLabels": {"app": "guarded"}}
LABEL_2 = b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"applied","labels":{"a":"2"}}}'
MERGE, APPLY, JSON = "application/merge-patch+json", "application/apply-patch+yaml", "application/json"
WANTED_NODES = Wanted(NODE, ("v1",), "nodes", False)
WANTED_HOSTS = Wanted(HOST, ("v1alpha1",), "baremetalhosts", True)
PATIENT = msgspec.structs.replace(QUICK, silence=Span(70_000), refused_pause=Span(200), page=3)
LIMIT_S = 60
DEPLOYED = Path(__file__).resolve().parents[2] / "deploy" / "crds" / "foreign"


class JustTheApi(ControlPlane):
    """API server and etcd alone; the server also accepts client certificates of our own authority."""

    def run(self, name: str, *arguments: str | Path) -> None:
        if name != "kube-apiserver":
            super().run(name, *arguments)
            return
        authority = self.folder / "clients.crt"
        authority.write_bytes(CLIENTS.certificate)
        super().run(name, *arguments, f"--client-ca-file={authority}")

    def _start_controllers(self) -> None:
        """None needed."""

    def restart_api(self) -> None:
        """End the API server at once and start it again on the same port."""
        self.stop_api()
        self.start_api()


@pytest.fixture(scope="module")
def plane(
    binaries: dict[str, str], certificates: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JustTheApi]:
    """A real API server with an empty etcd."""
    found = JustTheApi(binaries, tmp_path_factory.mktemp("driver"), certificates)
    found.start()
    yield found
    found.stop()


def run(test: Any) -> None:
    asyncio.run(asyncio.wait_for(test, LIMIT_S))


async def create(client: KubeClient, path: str, **body: Any) -> Answer:
    return await client.send(Request("POST", path, (), msgspec.json.encode(body), JSON))


async def make_node(client: KubeClient, name: str, **more: Any) -> dict[str, Any]:
    answer = await create(client, "/api/v1/nodes", metadata={"name": name}, **more)
    assert 201 == answer.status, answer.body
    return dict(json.loads(answer.body))


@contextlib.asynccontextmanager
async def watching(client: KubeClient) -> AsyncIterator[Recorder]:
    sink = Recorder()
    chance = random.Random(1)
    task = asyncio.create_task(watch(client, NODES, partial(decode, NODE), sink, chance=chance, settings=PATIENT))
    try:
        yield sink
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def seen(sink: Recorder) -> list[str]:
    return [entry[1] for entry in sink.log if entry[0] == "seen"]


def test_list_watch_patch_delete(plane: JustTheApi) -> None:
    """Pages are listed, changes are followed, guards are obeyed: the whole life of objects."""

    async def test() -> None:
        async with KubeClient(load(plane.kubeconfig())) as client:
            nodes = [await make_node(client, f"paged-{number}") for number in range(7)]
            async with watching(client) as sink:
                await sink.until("listed")
                assert [f"paged-{number}" for number in range(7)] == seen(sink)
                node = nodes[0]["metadata"]
                stale = {"metadata": {"uid": node["uid"], "resourceVersion": "1", "labels": {"a": "b"}}}
                path = "/api/v1/nodes/paged-0"
                assert 409 == (await client.send(Request("PATCH", path, (), msgspec.json.encode(stale), MERGE))).status
                stale["metadata"]["resourceVersion"] = node["resourceVersion"]
                patched = await client.send(Request("PATCH", path, (), msgspec.json.encode(stale), MERGE))
                assert 200 == patched.status
                await sink.until("seen", "paged-0", json.loads(patched.body)["metadata"]["resourceVersion"])
                for uid, status in (("wrong", 409), (node["uid"], 200)):
                    options = msgspec.json.encode({"preconditions": {"uid": uid}})
                    assert status == (await client.send(Request("DELETE", path, (), options, JSON))).status
                await sink.until("gone", "paged-0")
                assert patched.date is not None

    run(test())


def test_apply_and_status(plane: JustTheApi) -> None:
    """Server-side apply owns its fields, conflicts with another manager unless forced; the status has its own door."""

    async def test() -> None:
        async with KubeClient(load(plane.kubeconfig())) as client:
            body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "applied", "labels": {"a": "1"}}}
            applied = await client.send(verbs.apply(NODES, "applied", body))
            assert 201 == applied.status
            managers = [entry["manager"] for entry in json.loads(applied.body)["metadata"]["managedFields"]]
            assert ["node-remedy"] == managers
            other = Request("PATCH", "/api/v1/nodes/applied", (("fieldManager", "other"),), LABEL_2, APPLY)
            assert 409 == (await client.send(other)).status
            body["metadata"] = {"name": "applied", "labels": {"a": "3"}}
            assert 200 == (await client.send(verbs.apply(NODES, "applied", body, force=True))).status
            status = verbs.merge_patch(
                NODES, "applied", {"status": {"nodeInfo": {"bootID": "b-1"}}}, subresource="status"
            )
            assert "b-1" == json.loads((await client.send(status)).body)["status"]["nodeInfo"]["bootID"]

    run(test())


def test_eviction_obeys_the_budget_and_the_uid(plane: JustTheApi) -> None:
    """A pod of another uid is not evicted, nor one whose disruption budget allows none; a free one is."""

    async def test() -> None:
        async with KubeClient(load(plane.kubeconfig())) as client:
            await client.send(verbs.create(ACCOUNTS, {"metadata": {"name": "default"}}, "default"))
            pods = [await make_pod(client, name, name) for name in ("guarded", "free")]
            budget = {"metadata": {"name": "b"}, "spec": {"maxUnavailable": 0, "selector": GUARDED}}
            assert 201 == (await client.send(verbs.create(BUDGETS, budget, "default"))).status
            guarded, free = (pod["metadata"]["uid"] for pod in pods)
            assert 429 == (await client.send(verbs.evict(PODS, "guarded", "default", guarded))).status
            assert 409 == (await client.send(verbs.evict(PODS, "free", "default", guarded))).status
            assert 201 == (await client.send(verbs.evict(PODS, "free", "default", free))).status

    run(test())


async def make_pod(client: KubeClient, name: str, app: str) -> dict[str, Any]:
    """A pod that runs on some node, as far as the API is told."""
    spec = {"nodeName": "nowhere", "containers": [{"name": "c", "image": "i"}]}
    body = {"metadata": {"name": name, "labels": {"app": app}}, "spec": spec}
    made: dict[str, Any] = json.loads((await client.send(verbs.create(PODS, body, "default"))).body)
    ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    await client.send(verbs.merge_patch(PODS, name, ready, "default", "status"))
    return made


def test_an_expired_version_is_followed_by_a_new_list(plane: JustTheApi) -> None:
    """A version from before the server's memory is refused as 410 in some form, and the watch lists again."""

    async def test() -> None:
        async with KubeClient(load(plane.kubeconfig())) as client:
            await make_node(client, "after-all")
            plane.restart_api()
            sink = Recorder()
            watcher = _Watcher(client, NODES, partial(decode, NODE), sink, "", random.Random(1), PATIENT, None)
            watcher._version = watcher._newest = "1"
            task = asyncio.create_task(watcher.run())
            await sink.until("listed")
            assert "after-all" in seen(sink)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    run(test())


def test_a_watch_survives_a_restart_of_the_server(plane: JustTheApi) -> None:
    """The server is killed under an open stream; what happens afterwards arrives, and nothing is made up."""

    async def test() -> None:
        async with KubeClient(load(plane.kubeconfig())) as client:
            await make_node(client, "before")
            async with watching(client) as sink:
                await sink.until("listed")
                plane.stop_api()
                await until(lambda: any(entry[0] in ("lost", "away") for entry in sink.log))
                plane.start_api()
                await make_node(client, "afterwards")
                await until(lambda: "afterwards" in seen(sink))
                assert [] == [entry for entry in sink.log if entry[0] == "gone"]

    run(test())


def test_tokens_of_an_exec_plugin_and_of_nobody(plane: JustTheApi, tmp_path: Path) -> None:
    """A plugin's token is accepted; an unknown one is a 401 answer, after the plugin was asked once more."""

    async def test() -> None:
        for token, status, asked in ((plane.tokens["admin"], 200, 1), ("unknown", 401, 2)):
            folder = tmp_path / str(status)
            folder.mkdir()
            plugin = a_plugin(folder, credential(token=token))
            user = {"exec": {"command": str(plugin), "apiVersion": V1}}
            async with KubeClient(load(a_kubeconfig(folder, plane, user))) as client:
                assert status == (await client.send(Request("GET", "/api/v1/nodes"))).status
            assert asked == runs(folder)

    run(test())


def test_client_certificates(plane: JustTheApi, tmp_path: Path) -> None:
    """A certificate in the kubeconfig and one from a plugin: the server knows user and groups by them."""

    async def test() -> None:
        pair = CLIENTS.client("alice", "system:masters")
        status = {"clientCertificateData": pair.certificate.decode(), "clientKeyData": pair.key.decode()}
        entry = {
            "client-certificate-data": base64.b64encode(pair.certificate).decode(),
            "client-key-data": base64.b64encode(pair.key).decode(),
        }
        plugin = a_plugin(tmp_path, credential(**status))
        for user in (entry, {"exec": {"command": str(plugin), "apiVersion": V1}}):
            async with KubeClient(load(a_kubeconfig(tmp_path, plane, user))) as client:
                review = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
                answer = await create(client, review)
                info = json.loads(answer.body)["status"]["userInfo"]
                assert ("alice", True) == (info["username"], "system:masters" in info["groups"])

    run(test())


def a_kubeconfig(folder: Path, plane: JustTheApi, user: dict[str, Any]) -> Path:
    """A kubeconfig for this server with this user entry."""
    cluster = {"server": plane.server, "certificate-authority": str(plane.certificates.authority)}
    document = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(document))
    return path


def test_a_forbidden_watch_names_the_identity_and_goes_on_when_granted(plane: JustTheApi) -> None:
    """The real server's words become one message with a remedy that works."""

    async def test() -> None:
        async with (
            KubeClient(load(plane.kubeconfig())) as admin,
            KubeClient(load(plane.kubeconfig("stranger"))) as client,
            watching(client) as sink,
        ):
            await until(lambda: bool(sink.log))
            assert [("lost", "cannot watch nodes: forbidden; grant list,watch on nodes to stranger")] == sink.log
            rbac = "/apis/rbac.authorization.k8s.io/v1"
            rule = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "watch"]}
            assert 201 == (await create(admin, f"{rbac}/clusterroles", metadata={"name": "r"}, rules=[rule])).status
            role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}
            subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "stranger"}
            bindings = f"{rbac}/clusterrolebindings"
            bound = await create(admin, bindings, metadata={"name": "b"}, roleRef=role, subjects=[subject])
            assert 201 == bound.status
            await sink.until("listed")

    run(test())


def test_a_kind_that_comes_and_goes(plane: JustTheApi) -> None:
    """Before its CRD the kind is missing and told so, with it its objects arrive; with the CRD they go, told again."""

    async def test() -> None:
        async with KubeClient(load(plane.kubeconfig())) as client:
            assert NODES == await serving(client, WANTED_NODES)
            assert NotServed() == await serving(client, WANTED_HOSTS)
            sink = Recorder()
            coroutine = watch(
                client,
                WANTED_HOSTS.guess(),
                partial(decode, HOST),
                sink,
                chance=random.Random(1),
                settings=PATIENT,
                locate=partial(serving, client, WANTED_HOSTS),
            )
            task = asyncio.create_task(coroutine)
            await until(lambda: bool(sink.log))
            why = "not served as metal3.io/v1alpha1; install its CRD, if it is wanted"
            assert [("lost", f"cannot watch baremetalhosts.metal3.io: {why}")] == sink.log
            crd = yaml.safe_load(next(DEPLOYED.glob("*baremetalhosts*.yaml")).read_text())
            body = msgspec.json.encode(crd)
            crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
            assert 201 == (await client.send(Request("POST", crds, (), body, JSON))).status
            await sink.until("listed")
            hosts = "/apis/metal3.io/v1alpha1/namespaces/default/baremetalhosts"
            host = {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {"name": "h"}}
            made = await create(client, hosts, **host, spec={"online": True})
            assert 201 == made.status, made.body
            await until(lambda: "h" in seen(sink))
            assert WANTED_HOSTS.guess() == await serving(client, WANTED_HOSTS)
            sink.log.clear()
            assert 200 == (await client.send(Request("DELETE", f"{crds}/{crd['metadata']['name']}"))).status
            await sink.until("lost", f"cannot watch baremetalhosts.metal3.io: {why}")
            assert ("gone", "h") == sink.log[0]
            assert NotServed() == await serving(client, WANTED_HOSTS)
            absent = await client.send(Request("GET", f"{hosts}/h"))
            assert (404, False) == (absent.status, speaks_of(absent, "h")), "the path is gone, not the object"
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    run(test())


def test_leaders_follow_each_other(plane: JustTheApi) -> None:
    """Two candidates on a real Lease: one leads, releases, the other takes over with the next token."""

    async def test() -> None:
        rules = Rules(Span(3_000), Span(2_000), Span(300))
        async with KubeClient(load(plane.kubeconfig())) as client:
            machines, elections, tasks = [], [], []
            for name in ("first", "second"):
                machine, clock = Leadership(name, rules), Clock(random.Random(name))
                told: list[Obstacle] = []
                election = Election(client, machine, clock, Place("default", "leader"), lambda *_: None, told.append)
                machines.append(machine)
                elections.append(election)
                tasks.append(asyncio.create_task(election.run()))
                await until(lambda: machines[0].may_act(Clock(random.Random(1)).now()))
            await elections[0].release(tasks[0])
            assert machines[0].is_done
            await until(lambda: machines[1].may_act(Clock(random.Random(1)).now()))
            assert (1, 2) == (machines[0].token, machines[1].token)
            await elections[1].release(tasks[1])
            path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/leader"
            spec = json.loads((await client.send(Request("GET", path))).body)["spec"]
            assert (None, 2) == (spec.get("holderIdentity"), spec["leaseTransitions"])

    run(test())


def test_events_are_accepted(plane: JustTheApi) -> None:
    """The real server takes our Events, also the longest, and the second of a name is no failure."""

    async def test() -> None:
        told: list[str] = []
        async with KubeClient(load(plane.kubeconfig())) as client:
            node = await make_node(client, "eventful")
            publisher = Publisher(client, "manager-1", told.append)
            task = asyncio.create_task(publisher.run())
            about = (ref(NODE, "eventful"), node["metadata"]["uid"], "v1")
            note = Note("eventful.1", *about, "NodeDeleted", "ä" * 2000, "DeleteNode", Wall(1_700_000_000_000))
            publisher.publish(note)
            publisher.publish(note)
            await publisher.drain(Span(10_000))
            task.cancel()
            path = "/apis/events.k8s.io/v1/namespaces/default/events/eventful.1"
            assert 200 == (await client.send(Request("GET", path))).status
        assert ([], 0) == (told, publisher.dropped)

    run(test())


def test_what_came_back_is_counted_in_its_event(plane: JustTheApi) -> None:
    """The real server lets the series of our Event move, and shows it to those who read core Events."""

    async def test() -> None:
        told: list[str] = []
        async with KubeClient(load(plane.kubeconfig())) as client:
            node = await make_node(client, "returning")
            publisher = Publisher(client, "manager-1", told.append)
            task = asyncio.create_task(publisher.run())
            about = (ref(NODE, "returning"), node["metadata"]["uid"], "v1")
            first = 1_700_000_000_123
            for minutes, again in ((0, False), (5, False), (20, True), (30, True)):
                at = Wall(first + minutes * 60_000)
                publisher.publish(Note("returning.1", *about, "NodeDeleted", "gone", "DeleteNode", at, again=again))
            await publisher.drain(Span(10_000))
            task.cancel()
            path = "/api/v1/namespaces/default/events/returning.1"
            event = json.loads((await client.send(Request("GET", path))).body)
        assert ([], 0) == (told, publisher.dropped)
        assert {"count": 3, "lastObservedTime": "2023-11-14T22:43:20.123000Z"} == event["series"]
        assert "2023-11-14T22:13:20.123000Z" == event["eventTime"]

    run(test())


def test_a_refused_stream_is_an_answer(plane: JustTheApi) -> None:
    """A watch on something that does not exist is refused with its status."""

    async def test() -> None:
        async with KubeClient(load(plane.kubeconfig())) as client:
            request = Request("GET", "/apis/nowhere.example/v1/things", (("watch", "true"),))
            with pytest.raises(Refused) as refused:
                await anext(client.stream(request))
            assert 404 == refused.value.answer.status

    run(test())
