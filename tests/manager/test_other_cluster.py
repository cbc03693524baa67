"""The secret of a connected cluster leads to another one: its nodes are not ours, and no proof of ours holds there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from tests.builders import NODE_AT, a_machine, a_node, a_node_tree
from tests.manager.bench import TOKENS, until
from tests.manager.fleet import NAMESPACE, QUICK, Fleet, Workload, fleet
from tests.manager.test_workload_repair import OURS, Kubelet, populate

from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.kube.kubeconfigs import Kubeconfig
from noderemedy.lab.http_faults import Moment
from noderemedy.manager.follower import Follower, Pace
from noderemedy.model.ids import MACHINE, NODE, Kind, Ref, ref
from noderemedy.model.outcome import Seen
from noderemedy.model.remote import Sight
from noderemedy.model.room import Absent, Present, Unseen
from noderemedy.model.time import Span
from noderemedy.model.workload import POD
from noderemedy.wire.http import Request

NAMES = tuple(f"node-{number:03}" for number in range(250))  # the loop has its turn twice within such a list
SELDOM = Pace(settled=Span(100_000), unsettled=Span(100_000), least=Span(10), grace=Span(150))
REQUEST: dict[str, Any] = {
    "apiVersion": "remediation.metal3.io/v1alpha1",
    "kind": "Metal3Remediation",
    "metadata": {"name": "worker-0", "namespace": NAMESPACE},
    "spec": {"strategy": "reboot", "freeBy": "pods"},
}


def tell(folder: Path, story: Callable[[Fleet], Awaitable[None]], pace: Pace = QUICK) -> None:
    async def told() -> None:
        async with fleet(folder, pace) as it:
            await story(it)

    asyncio.run(asyncio.wait_for(told(), 30))


def is_list(request: Request) -> bool:
    return request.path == "/api/v1/nodes" and not dict(request.query).get("watch")


class Slow(Workload):
    """Its list of Nodes takes until somebody lets it go on."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.is_asked, self.goes_on = asyncio.Event(), asyncio.Event()
        self.dawdles = self._list

    async def _list(self, moment: Moment, request: Request) -> None:
        if moment is Moment.BEFORE and is_list(request):
            self.is_asked.set()
            await self.goes_on.wait()


async def other(it: Fleet, *nodes: str) -> Slow:
    made = Slow("other")
    it.workloads["other"] = made
    for node in nodes:
        register(made, node)
    await made.start()
    return made


def register(at: Workload, name: str) -> None:
    """A node whose providerID says where it is."""
    tree = a_node_tree(name, spec={"providerID": f"{at.name}://{name}"})
    meta = {key: value for key, value in tree["metadata"].items() if key not in ("uid", "resourceVersion")}
    made = at.api.create({**tree, "metadata": meta})
    at.api.update({**made, "status": tree["status"]}, subresource="status")


async def connected(it: Fleet, *nodes: str) -> Workload:
    """East, with a machine for each node, and in sight."""
    for name in nodes:
        machine = replace(a_machine(uid=name, node_name=name, provider_id=f"east://{name}"), cluster_name="east")
        it.engine.seen(Seen(ref(MACHINE, f"m-{name}", NAMESPACE), name, "5", machine), it.clock.now())
    east = await it.workload("east")
    for name in nodes:
        register(east, name)
    it.secret("east", east.kubeconfig)
    it.notice("east")
    await it.until("east", Sight.SEEN)
    return east


def follower(it: Fleet) -> Follower:
    return it.clusters._followers[f"{NAMESPACE}/east"]


def server(it: Fleet) -> str:
    client = it.clusters.client(f"{NAMESPACE}/east")
    assert client is not None
    return client.access.server


def belongs_to(it: Fleet, name: str) -> str:
    entry = it.read("east", name)
    return entry.obj.provider_id.partition(":")[0] if isinstance(entry, Present) else type(entry).__name__


# --- effects -----------------------------------------------------------------------------------------------------


def test_effects_use_a_new_connection_only_when_it_is_believed(tmp_path: Path) -> None:
    """While it is on trial live reads and writes go where they went; once believed it is used, and nobody was blind."""

    async def story(it: Fleet) -> None:
        east = await connected(it, "node-0", "node-1")
        since = it.state("east").since
        again = Slow("again")
        again.api = east.api  # the same cluster behind another address
        it.workloads["again"] = again
        await again.start()
        it.secret("east", again.kubeconfig)
        await again.is_asked.wait()

        assert east.endpoint.url == server(it)
        again.goes_on.set()
        await until(lambda: server(it) == again.endpoint.url)
        assert (Sight.SEEN, since) == (it.state("east").sight, it.state("east").since)

    tell(tmp_path, story)


def test_there_is_no_connection_before_the_first_is_believed(tmp_path: Path) -> None:
    """A manager begins, and the secret is another cluster's: nothing is asked there but its list."""

    async def story(it: Fleet) -> None:
        for name in ("node-0", "node-1"):
            machine = replace(a_machine(uid=name, node_name=name), cluster_name="east")
            it.engine.seen(Seen(ref(MACHINE, f"m-{name}", NAMESPACE), name, "5", machine), it.clock.now())
        made = await other(it, "other-0")
        it.secret("east", made.kubeconfig)
        it.notice("east")
        await made.is_asked.wait()
        assert it.clusters.client(f"{NAMESPACE}/east") is None
        made.goes_on.set()
        await it.until("east", Sight.LOST, "has none of the nodes that its 2 machines name")

        assert it.clusters.client(f"{NAMESPACE}/east") is None
        assert isinstance(it.read("east", "other-0"), Unseen)

    tell(tmp_path, story)


def test_pods_of_another_clusters_living_node_are_not_deleted(tmp_path: Path) -> None:
    """Its secret is stored in ours while a node of that name is emptied: the emptying goes on and ends in ours."""

    async def story() -> None:
        async with fleet(tmp_path) as it:
            ours = await populate(it)
            theirs = await other(it, NODE_AT.name)
            for api, pods in ((ours.api, ("web-0", "web-1", "web-2")), (theirs.api, ("db-0",))):
                if api.find(Kind("", "Namespace"), "default") is None:
                    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})
                for name in pods:
                    api.create(a_pod(name))
            for number in range(200):  # an older cluster: its versions are higher
                note = {"metadata": {"name": f"note-{number}", "namespace": "default"}}
                theirs.api.create({"apiVersion": "v1", "kind": "ConfigMap", **note})

            async def swap(moment: Moment, request: Request) -> None:
                """After the first pod is deleted, and before we hear of it."""
                if moment is Moment.AFTER and request.method == "DELETE" and not theirs.is_asked.is_set():
                    it.secret(OURS, theirs.kubeconfig)
                    await theirs.is_asked.wait()

            ours.dawdles = swap
            Kubelet(it, ours)
            manager = it.it.start(metrics_port=0, clusters=QUICK)
            await until(manager.is_leading)
            it.it.api.create(REQUEST)
            await until(lambda: not ours.api.list(POD), 10, "the emptying of our node")
            theirs.goes_on.set()
            await until(lambda: any(not is_list(one) for one in theirs.requests), what="what is asked behind the list")
            await asyncio.sleep(0.3)

            assert theirs.api.find(POD, "db-0", "default") is not None
            assert [] == [one for one in theirs.requests if one.method != "GET"]
            await manager.end()

    asyncio.run(asyncio.wait_for(story(), 40))


def a_pod(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"nodeName": NODE_AT.name, "containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Running"},
    }


# --- what is seen ------------------------------------------------------------------------------------------------


def test_nodes_of_another_cluster_never_enter_as_ours(tmp_path: Path) -> None:
    """All names repeat there: in no turn of the loop is one of them taken for ours; the connection that works stays."""

    async def story(it: Fleet) -> None:
        east = await connected(it, *NAMES)
        wrong = await other(it, *NAMES)
        wrong.goes_on.set()
        found: set[str] = set()
        trial = asyncio.create_task(turns(lambda: found.update(belongs_to(it, name) for name in NAMES[::100])))
        it.secret("east", wrong.kubeconfig)
        await until(lambda: wrong.kubeconfig == follower(it)._refused.reveal(), what="that it is doubted")
        trial.cancel()
        east.api.delete(NODE, NAMES[7])
        await until(lambda: isinstance(it.read("east", NAMES[7]), Absent), what="the watch of before")

        assert {"east"} == found
        assert (Sight.SEEN, east.endpoint.url) == (it.state("east").sight, server(it))

    tell(tmp_path, story)


async def turns(look: Callable[[], None]) -> None:
    while True:
        look()
        await asyncio.sleep(0)


def test_a_cluster_whose_only_connection_leads_elsewhere_is_out_of_sight(tmp_path: Path) -> None:
    """Ours dies while another one is doubted: the reason is what to correct; corrected, it is seen again."""

    async def story(it: Fleet) -> None:
        east = await connected(it, "node-0", "node-1")
        wrong = await other(it, "other-0")
        wrong.goes_on.set()
        it.secret("east", wrong.kubeconfig)
        await until(lambda: wrong.kubeconfig == follower(it)._refused.reveal(), what="that it is doubted")
        port = east.endpoint.port
        await east.endpoint.close()
        await it.until("east", Sight.LOST, "has none of the nodes that its 2 machines name")
        await east.start(port=port)
        it.secret("east", east.kubeconfig)
        await it.until("east", Sight.SEEN)
        await until(lambda: follower(it)._trial is None, what="the end of the trial")

        assert "east" == belongs_to(it, "node-0")

    tell(tmp_path, story)


def test_what_a_retired_connection_still_says_is_not_heard(tmp_path: Path) -> None:
    """Its watch has a turn or two after another has taken its place."""

    async def story(it: Fleet) -> None:
        east = await connected(it, "node-0")
        old = follower(it)._believed
        assert old is not None
        it.secret("east", east.endpoint.kubeconfig(TOKENS["second"]))
        await until(lambda: follower(it)._believed is not old)
        stranger = Seen(Ref(f"{NAMESPACE}/east", NODE, "", "stranger"), "u", "9", a_node("u"))
        node = Seen(Ref(f"{NAMESPACE}/east", NODE, "", "node-0"), "", "9999", None)
        old.sink.lost(NODE, Obstacle("forbidden"))
        old.sink.seen(stranger)
        old.sink.gone(node)
        old.sink.listing(NODE)
        old.sink.listed(NODE)
        old.sink.contact(NODE)

        assert Sight.SEEN is it.state("east").sight
        assert ("Absent", "east") == (belongs_to(it, "stranger"), belongs_to(it, "node-0"))

    tell(tmp_path, story)


def test_a_doubted_connection_is_asked_again_only_when_its_list_is_complete(tmp_path: Path) -> None:
    """It lists again just when its secret is read: the half of it that is there is not all of it."""

    async def story(it: Fleet) -> None:
        for number in range(3):
            machine = replace(a_machine(uid=f"m{number}", node_name=f"node-{number}"), cluster_name="east")
            it.engine.seen(Seen(ref(MACHINE, f"m{number}", NAMESPACE), machine.uid, "5", machine), it.clock.now())
        made = await it.workload("east", "ghost")
        it.secret("east", made.kubeconfig)
        it.notice("east")
        await it.until("east", Sight.LOST, "has none of the nodes")
        trial = follower(it)._trial
        assert trial is not None
        found = [
            Seen(Ref(f"{NAMESPACE}/east", NODE, "", f"node-{i}"), f"u{i}", str(900 + i), a_node(f"u{i}"))
            for i in range(3)
        ]
        trial.sink.listing(NODE)
        trial.sink.seen(found[0])
        follower(it)._use(Kubeconfig(trial.content, "the look of every half minute"))
        half = it.state("east").sight
        trial.sink.seen(found[1])
        trial.sink.listed(NODE)

        assert (Sight.LOST, Sight.SEEN) == (half, it.state("east").sight)
        assert ["Present", "Present", "Absent"] == [type(it.read("east", f"node-{i}")).__name__ for i in range(3)]

    tell(tmp_path, story, SELDOM)
