"""Followers of workload clusters over real HTTP: connections drop, secrets change, and nobody else is delayed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace
from tests.builders import PROVIDER_ID, a_machine, a_node
from tests.manager.bench import TOKENS, until
from tests.manager.fleet import NAMESPACE, QUICK, SECRET, Fleet, Workload, fleet

from noderemedy.drivers.metrics import Metrics
from noderemedy.lab.http_faults import Instead, failure
from noderemedy.manager import clusters
from noderemedy.manager.follower import Pace
from noderemedy.model.cluster import Cluster
from noderemedy.model.ids import CLUSTER, MACHINE, NODE, ref
from noderemedy.model.node import Condition
from noderemedy.model.outcome import Seen
from noderemedy.model.remote import Sight
from noderemedy.model.room import Absent, Present, Unseen
from noderemedy.model.time import Span

Story = Callable[[Fleet], Awaitable[None]]
BROKEN = {
    "not YAML": ("a: [", "key value: not YAML"),
    "not a kubeconfig": ("users: 7", "key value: Expected"),
    "no context": ("{}", "current-context names no context"),
    "exec": ("exec", "exec would run a program here"),
    "auth-provider": ("auth-provider", "auth-provider would run a program here"),
    "token file": ("tokenFile", "tokenFile names a file"),
    "CA file": ("certificate-authority", "certificate-authority names a file"),
    "certificate file": ("client-certificate", "client-certificate names a file"),
    "key file": ("client-key", "client-key names a file"),
    "address": ("server", "server is no plain http(s) address"),
    "references": ("a: &a [1]\nb: *a", "holds YAML references"),
    "too large": ("#" * 300_000, "larger than"),
}


def tell(folder: Path, story: Story) -> None:
    async def told() -> None:
        async with fleet(folder) as it:
            await story(it)

    asyncio.run(asyncio.wait_for(told(), 30))


def spoilt(kubeconfig: str, how: str) -> str:
    """A kubeconfig with one thing in it that must not be used."""
    tree = yaml.safe_load(kubeconfig)
    user, cluster = tree["users"][0]["user"], tree["clusters"][0]["cluster"]
    entries = {
        "exec": (user, {"command": "sh", "apiVersion": "client.authentication.k8s.io/v1"}),
        "auth-provider": (user, {"name": "gcp"}),
        "tokenFile": (user, "/etc/passwd"),
        "certificate-authority": (cluster, "/etc/passwd"),
        "client-certificate": (user, "/etc/passwd"),
        "client-key": (user, "/etc/passwd"),
        "server": (cluster, "https://joe:hunter2@10.0.0.1"),
    }
    if how not in entries:
        return how
    place, value = entries[how]
    place[how] = value
    return yaml.safe_dump(tree)


# --- where the nodes are -----------------------------------------------------------------------------------------


def test_nodes_of_two_clusters_of_one_name_each(tmp_path: Path) -> None:
    """Both clusters are followed, and their nodes of one name are two."""

    async def story(it: Fleet) -> None:
        for name in ("east", "west"):
            made = await it.workload(name, "node-0", f"only-{name}")
            it.secret(name, made.kubeconfig)
            it.notice(name)
            assert Sight.UNKNOWN is it.state(name).sight, "until somebody has looked"
        await it.until("east", Sight.SEEN)
        await it.until("west", Sight.SEEN)
        uids = {read.obj.uid for name in ("east", "west") if isinstance(read := it.read(name, "node-0"), Present)}

        assert 2 == len(uids)
        assert isinstance(it.read("west", "only-east"), Absent)
        assert [] == [one for one in it.engine.cache.refs() if one.kind == NODE and not one.cluster]

    tell(tmp_path, story)


def test_a_cluster_without_secret_manages_itself_if_its_nodes_are_here(tmp_path: Path) -> None:
    """Nothing to connect to: its nodes are in this API."""

    async def story(it: Fleet) -> None:
        machine = replace(a_machine(node_name="node-0"), cluster_name="east")
        it.engine.seen(Seen(ref(MACHINE, "m", NAMESPACE), machine.uid, "5", machine), it.clock.now())
        it.engine.seen(Seen(ref(NODE, "node-0"), "n", "6", a_node("n")), it.clock.now())
        it.notice("east")
        await it.until("east", Sight.HOME)
        assert it.clusters.client("metal/east") is None

    tell(tmp_path, story)


def a_node_of_both(it: Fleet, made: Workload, name: str) -> None:
    """The very Node that its own API shows is in the home cluster, too: they are one."""
    uid = made.api.get(NODE, name)["metadata"]["uid"]
    it.engine.seen(Seen(ref(NODE, name), uid, "6", a_node(uid)), it.clock.now())


def test_a_kubeconfig_that_leads_here_makes_no_second_cluster(tmp_path: Path) -> None:
    """A cluster that manages itself has such a secret, too: its nodes are those of here, once, and stay so."""

    async def story(it: Fleet) -> None:
        made = await it.workload("east", "node-0", "node-1")
        a_node_of_both(it, made, "node-1")
        it.secret("east", made.kubeconfig)
        it.notice("east")
        found = await it.until("east", Sight.HOME, "leads to this very cluster")
        it.secret("east", made.kubeconfig + "\n")  # renewed, as certificates are
        lists = len(made.requests)
        await until(lambda: len(made.requests) > lists)
        it.secret("east", "nonsense")
        await asyncio.sleep(0.2)

        assert (Sight.HOME, found.since) == (it.state("east").sight, it.state("east").since), "and never anything else"
        assert it.clusters.client("metal/east") is None
        assert [] == [one for one in it.engine.cache.refs() if one.kind == NODE and one.cluster]

    tell(tmp_path, story)


def test_whose_nodes_they_are_waits_for_the_nodes_of_here(tmp_path: Path) -> None:
    """Before these are listed nobody can tell; a moment later it is known."""

    async def story(it: Fleet) -> None:
        it.engine.lost(NODE, it.clock.now())
        made = await it.workload("east", "node-0")
        it.secret("east", made.kubeconfig)
        it.notice("east")
        await it.until("east", Sight.LOST, "which Nodes are in this cluster is not known yet")
        it.engine.listing(NODE, it.clock.now())
        a_node_of_both(it, made, "node-0")
        it.engine.listed(NODE, it.clock.now())
        await it.until("east", Sight.HOME)

    tell(tmp_path, story)


def test_a_cluster_without_secret_is_judged_when_its_machines_are_known(tmp_path: Path) -> None:
    """At a start Clusters may be listed first: that none of its machines has a node is not known then."""

    async def story(it: Fleet) -> None:
        it.engine.lost(MACHINE, it.clock.now())
        it.engine.seen(Seen(ref(NODE, "node-0"), "n", "6", a_node("n")), it.clock.now())
        it.notice("east")
        await asyncio.sleep(0.2)
        assert Sight.UNKNOWN is it.state("east").sight
        machine = replace(a_machine(node_name="node-0"), cluster_name="east")
        it.engine.listing(MACHINE, it.clock.now())
        it.engine.seen(Seen(ref(MACHINE, "m", NAMESPACE), machine.uid, "5", machine), it.clock.now())
        it.engine.listed(MACHINE, it.clock.now())
        await it.until("east", Sight.HOME)

    tell(tmp_path, story)


def test_a_lost_secret_is_no_reason_to_call_all_nodes_missing(tmp_path: Path) -> None:
    """Neither a secret nor one of its nodes here: out of sight, with what to restore; when it is back, all goes on."""

    async def story(it: Fleet) -> None:
        machine = replace(a_machine(node_name="node-0"), cluster_name="east")
        it.engine.seen(Seen(ref(MACHINE, "m", NAMESPACE), machine.uid, "5", machine), it.clock.now())
        it.notice("east")
        await it.until("east", Sight.LOST, "there is no secret metal/east-kubeconfig")
        made = await it.workload("east", "node-0")
        it.secret("east", made.kubeconfig)
        await it.until("east", Sight.SEEN)

    tell(tmp_path, story)


def test_a_secret_that_appears_later(tmp_path: Path) -> None:
    """A new cluster has no secret and no node: it is young, and connected when the secret is there."""

    async def story(it: Fleet) -> None:
        made = await it.workload("east", "node-0")
        it.notice("east")
        await it.until("east", Sight.YOUNG, "no machine of it has a node yet")
        it.secret("east", made.kubeconfig)
        await it.until("east", Sight.SEEN)

    tell(tmp_path, story)


def test_no_connection_before_the_control_plane_is_up(tmp_path: Path) -> None:
    """As Cluster API has it: the secret is not even read."""

    async def story(it: Fleet) -> None:
        made = await it.workload("east", "node-0")
        it.secret("east", made.kubeconfig)
        it.notice("east", Cluster("uid", conditions=(Condition("ControlPlaneInitialized", "False"),)))
        await it.until("east", Sight.YOUNG, "ControlPlaneInitialized")
        asked = [request.path for _, request in it.it.requests if "secrets" in request.path]
        it.notice("east")
        await it.until("east", Sight.SEEN)

        assert [] == asked

    tell(tmp_path, story)


@pytest.mark.parametrize("provider_id", ["", PROVIDER_ID])
def test_without_the_right_to_read_secrets(tmp_path: Path, provider_id: str) -> None:
    """The reason says what to grant; a cluster whose node here has its machine's own providerID works on."""

    async def story(it: Fleet) -> None:
        it.it.before = lambda request: (
            failure(403, "Forbidden", 'User "joe" cannot') if is_secret(request.path) else None
        )
        machine = replace(a_machine(node_name="node-0", provider_id=provider_id), cluster_name="east")
        it.engine.seen(Seen(ref(MACHINE, "m", NAMESPACE), machine.uid, "5", machine), it.clock.now())
        it.engine.seen(Seen(ref(NODE, "node-0"), "n", "6", a_node("n", provider_id=provider_id)), it.clock.now())
        it.notice("east")
        if provider_id:
            await it.until("east", Sight.HOME)
        else:
            found = await it.until("east", Sight.LOST, "grant get on secrets in namespace metal to joe")
            assert "deploy/rbac/30-workload-clusters.yaml" in found.why

    tell(tmp_path, story)


def is_secret(path: str) -> bool:
    return "/secrets/" in path


# --- kubeconfigs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_kubeconfig_names_secret_and_key_and_nothing_of_it(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What cannot or must not be used is said once, in the state and in the log, without a word of the content."""
    caplog.set_level(logging.INFO)
    text, words = BROKEN[how]

    async def story(it: Fleet) -> None:
        made = await it.workload("east", "node-0")
        it.secret("east", spoilt(made.kubeconfig, text))
        it.notice("east")
        found = await it.until("east", Sight.LOST, words)
        await asyncio.sleep(0.2)
        said = " ".join(str(vars(record)) for record in caplog.records)

        assert found.why.startswith("secret metal/east-kubeconfig, key value: ")
        assert [] == made.requests
        assert 1 == sum("cannot be used" in record.getMessage() for record in caplog.records)
        assert not [word for word in (*TOKENS.values(), "hunter2") if word in said + found.why]
        it.secret("east", made.kubeconfig)
        await it.until("east", Sight.SEEN)

    tell(tmp_path, story)


@pytest.mark.parametrize(("key", "words"), [("kubeconfig", "is not there"), ("value", "key value: not YAML")])
def test_a_secret_without_its_key(tmp_path: Path, key: str, words: str) -> None:
    """The key is named."""

    async def story(it: Fleet) -> None:
        it.secret("east", "\x00", key)
        it.notice("east")
        await it.until("east", Sight.LOST, words)

    tell(tmp_path, story)


def test_a_rotated_kubeconfig_is_taken_over(tmp_path: Path) -> None:
    """The token in use is refused, the secret has a new one: connected again, without a restart."""

    async def story(it: Fleet) -> None:
        made = await it.workload("east", "node-0")
        it.secret("east", made.endpoint.kubeconfig(TOKENS["first"]))
        it.notice("east")
        await it.until("east", Sight.SEEN)
        made.refuses = Instead(401, b'{"kind":"Status","code":401}')
        made.endpoint.cut_watches()
        await it.until("east", Sight.LOST, "credentials are not accepted")
        made.refuses = None
        it.secret("east", made.endpoint.kubeconfig(TOKENS["second"]))
        await it.until("east", Sight.SEEN)
        client = it.clusters.client("metal/east")

        assert client is not None
        assert TOKENS["second"] == (await client.access.credentials.current()).token.reveal()

    tell(tmp_path, story)


def test_rotation_does_not_blind(tmp_path: Path) -> None:
    """A new kubeconfig beside a connection that works: all the time its nodes are in sight."""

    async def story(it: Fleet) -> None:
        made = await it.workload("east", "node-0")
        it.secret("east", made.endpoint.kubeconfig(TOKENS["first"]))
        it.notice("east")
        since = (await it.until("east", Sight.SEEN)).since
        before = it.clusters.client("metal/east")
        it.secret("east", made.endpoint.kubeconfig(TOKENS["second"]))
        await until(lambda: it.clusters.client("metal/east") is not before)
        made.node("node-1")
        await until(lambda: isinstance(it.read("east", "node-1"), Present))

        assert (Sight.SEEN, since) == (it.state("east").sight, it.state("east").since)

    tell(tmp_path, story)


def test_a_bad_kubeconfig_does_not_end_a_connection_that_works(tmp_path: Path) -> None:
    """Somebody broke the secret, or deleted it: the nodes stay in sight."""

    async def story(it: Fleet) -> None:
        made = await it.workload("east", "node-0")
        it.secret("east", made.kubeconfig)
        it.notice("east")
        await it.until("east", Sight.SEEN)
        it.secret("east", "a: [")
        await asyncio.sleep(0.4)
        assert Sight.SEEN is it.state("east").sight
        it.it.api.delete(SECRET, "east-kubeconfig", NAMESPACE)
        await asyncio.sleep(0.4)
        made.node("node-1")
        await until(lambda: isinstance(it.read("east", "node-1"), Present))

        assert Sight.SEEN is it.state("east").sight

    tell(tmp_path, story)


def test_the_kubeconfig_of_another_cluster_makes_no_node_missing(tmp_path: Path) -> None:
    """None of the nodes that its machines name is there: out of sight. Once one is, it is believed from then on."""

    async def story(it: Fleet) -> None:
        for number in (0, 1):
            machine = replace(a_machine(uid=f"m{number}", node_name=f"node-{number}"), cluster_name="east")
            it.engine.seen(Seen(ref(MACHINE, f"m{number}", NAMESPACE), machine.uid, "5", machine), it.clock.now())
        made = await it.workload("west", "other-0", "other-1")
        it.secret("east", made.kubeconfig)
        it.notice("east")
        found = await it.until("east", Sight.LOST, "has none of the nodes that its 2 machines name")
        assert made.endpoint.url in found.why
        assert isinstance(it.read("east", "node-0"), Unseen)
        made.node("node-1")
        await it.until("east", Sight.SEEN)
        assert isinstance(it.read("east", "node-0"), Absent)
        made.api.delete(NODE, "node-1")
        port = made.endpoint.port
        await made.endpoint.close()
        await it.until("east", Sight.LOST, "API server")
        await made.start(port=port)
        await it.until("east", Sight.SEEN)

    tell(tmp_path, story)


def test_a_certificate_that_is_not_trusted(tmp_path: Path) -> None:
    """A kubeconfig with the CA of another cluster connects to nobody, until it is corrected."""

    async def story(it: Fleet) -> None:
        made = await it.workload("east", "node-0", tls=True)
        other = await it.workload("west", tls=True)
        wrong = yaml.safe_load(made.kubeconfig)
        wrong["clusters"][0]["cluster"] |= {
            "certificate-authority-data": yaml.safe_load(other.kubeconfig)["clusters"][0]["cluster"][
                "certificate-authority-data"
            ]
        }
        it.secret("east", yaml.safe_dump(wrong))
        it.notice("east")
        await it.until("east", Sight.LOST, "its certificate is not trusted")
        it.secret("east", made.kubeconfig)
        await it.until("east", Sight.SEEN)

    tell(tmp_path, story)


# --- outages -----------------------------------------------------------------------------------------------------


def test_an_api_server_that_dies_and_comes_back(tmp_path: Path) -> None:
    """After the grace its nodes are out of sight; back again they are, with what changed meanwhile."""

    async def story(it: Fleet) -> None:
        made = await it.workload("east", "node-0")
        it.secret("east", made.kubeconfig)
        it.notice("east")
        await it.until("east", Sight.SEEN)
        port = made.endpoint.port
        await made.endpoint.close()
        await it.until("east", Sight.LOST, "API server http://127.0.0.1")
        assert isinstance(it.read("east", "node-0"), Unseen)
        made.api.delete(NODE, "node-0")
        made.node("node-1")
        await made.start(port=port)
        await it.until("east", Sight.SEEN)

        assert isinstance(it.read("east", "node-0"), Absent)
        assert isinstance(it.read("east", "node-1"), Present)

    tell(tmp_path, story)


def test_a_dropped_connection_is_no_outage(tmp_path: Path) -> None:
    """A cut stream is opened again within the grace: nobody notices."""

    async def story(it: Fleet) -> None:
        made = await it.workload("east", "node-0")
        it.secret("east", made.kubeconfig)
        it.notice("east")
        since = (await it.until("east", Sight.SEEN)).since
        made.endpoint.cut_watches()
        made.node("node-1")
        await until(lambda: isinstance(it.read("east", "node-1"), Present))
        await asyncio.sleep(QUICK.grace.ms / 1000 * 1.5)

        assert (Sight.SEEN, since) == (it.state("east").sight, it.state("east").since)

    tell(tmp_path, story)


def test_one_cluster_that_hangs_delays_no_other(tmp_path: Path) -> None:
    """An address that swallows everything: the other cluster is connected meanwhile."""

    async def story(it: Fleet) -> None:
        swallowed: list[asyncio.StreamWriter] = []

        async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            swallowed.append(writer)
            await reader.read()

        hole = await asyncio.start_server(swallow, "127.0.0.1", 0)
        made = await it.workload("west", "node-0")
        port = hole.sockets[0].getsockname()[1]
        it.secret("east", made.kubeconfig.replace(f":{made.endpoint.port}", f":{port}"))
        it.secret("west", made.kubeconfig)
        it.notice("east")
        await until(lambda: swallowed)
        it.notice("west")
        await it.until("west", Sight.SEEN)

        assert Sight.LOST is it.state("east").sight
        assert it.engine.is_synced
        hole.close()
        for writer in swallowed:
            writer.close()

    tell(tmp_path, story)


def test_a_deleted_cluster_is_forgotten(tmp_path: Path) -> None:
    """Its connection is closed, its nodes and what was known of it are gone; the other stays."""

    async def story(it: Fleet) -> None:
        for name in ("east", "west"):
            made = await it.workload(name, "node-0")
            it.secret(name, made.kubeconfig)
            it.notice(name)
            await it.until(name, Sight.SEEN)
        it.clusters.keep({ref(CLUSTER, "west", NAMESPACE)})
        await until(lambda: "metal/east" not in {one.cluster for one in it.engine.cache.refs()})
        east = it.workloads["east"]
        await until(lambda: not east.endpoint.watchers)

        assert it.clusters.client("metal/east") is None
        assert isinstance(it.read("west", "node-0"), Present)
        assert isinstance(it.read("east", "node-0"), Unseen)

    tell(tmp_path, story)


# --- figures -----------------------------------------------------------------------------------------------------


def test_figures_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusters are counted by state; only so many have a figure of their own."""
    monkeypatch.setattr(clusters, "SHOWN", 1)

    async def story(it: Fleet) -> None:
        made = await it.workload("east", "node-0")
        it.secret("east", made.kubeconfig)
        for name in ("east", "north", "west"):
            it.notice(name)
        await it.until("east", Sight.SEEN)
        await it.until("north", Sight.YOUNG)
        await it.until("west", Sight.YOUNG)
        metrics = Metrics()
        it.clusters.measure(metrics)
        text = metrics.text().decode()

        assert 'node_remedy_workload_clusters{state="connected"} 1.0' in text
        assert 'node_remedy_workload_clusters{state="not initialised"} 2.0' in text
        assert 1 == text.count("node_remedy_workload_cluster_up{")
        assert 'node_remedy_workload_cluster_up{cluster="metal/east"} 1.0' in text

    tell(tmp_path, story)


def test_the_pace_is_slow_when_all_is_well() -> None:
    """A secret is read every few minutes while its cluster is in sight, and often enough while it is not."""
    usual = Pace()

    assert Span(300_000) == usual.settled
    assert Span(30_000) == usual.unsettled
