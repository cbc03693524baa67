"""`stop`, `release` and `attest`: one write each, signed, and refused with a remedy where it makes no sense."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace
from tests.builders import NODE_AT
from tests.core.fencing.fences import FENCE_AT
from tests.manager.bench import Bench, bench

from noderemedy.cli.main import cli
from noderemedy.lab.http_faults import Instead, failure
from noderemedy.manager.attesting import attest
from noderemedy.manager.liveplan import Unreachable
from noderemedy.manager.steering import Desk, Refusal, at_desk, go_on, release, stop
from noderemedy.model.ids import MACHINE, NODE, NODE_FENCE, REMEDIATION
from noderemedy.model.time import Span, Wall
from noderemedy.wire.objects import convert

NOW = Wall(int(time.time()) * 1000)  # the API server of the bench has the true time


def a_fence(it: Bench, **status: Any) -> None:
    """A NodeFence of worker-0 that has begun, unless a test says otherwise."""
    meta = {"name": FENCE_AT.name, "finalizers": ["node-remedy.dev/fence"]}
    tree = {"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": meta, "spec": {"node": NODE_AT.name}}
    it.api.create(tree)
    body = {"status": {"nodeUID": "n", "bootID": "boot-1", "state": "error", **status}}
    it.api.patch(NODE_FENCE, FENCE_AT.name, "", body, "merge", subresource="status")


def a_node(it: Bench, ready: str, since: str | None = None) -> None:
    it.api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE_AT.name}})
    body = {"status": {"conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": since}]}}
    it.api.patch(NODE, NODE_AT.name, "", body, "merge", subresource="status")


async def done(it: Bench, act: Any) -> str:
    return await at_desk(it.kubeconfig, "", NODE_AT, act)


async def signed(desk: Desk) -> str:
    return await attest(desk, NOW)


def story(tmp_path: Path, act: Any, prepare: Any = a_fence, **more: Any) -> tuple[str, Any]:
    """What the person is told, and the NodeFence afterwards; None: it is gone."""

    async def run() -> tuple[str, Any]:
        async with bench(tmp_path, **more) as it:
            prepare(it)
            said = await done(it, act)
            tree = it.api.find(NODE_FENCE, FENCE_AT.name)
            return said, convert(NODE_FENCE, tree).obj if tree else None

    return asyncio.run(run())


def test_stop_and_go_on(tmp_path: Path) -> None:
    """spec.stopped, and back."""
    assert story(tmp_path, stop)[1].spec.stopped

    async def both(desk: Desk) -> str:
        await stop(desk)
        return await go_on(desk)

    said, fence = story(tmp_path, both)
    assert ("The fence of worker-0 goes on.", False) == (said, fence.spec.stopped)


def test_release_deletes_the_fence(tmp_path: Path) -> None:
    """Its finalizer keeps it until everything is undone."""
    said, fence = story(tmp_path, release)

    assert (True, True) == (fence.deleting, said.startswith("Node worker-0 is being released"))


def test_a_word_is_signed_with_the_name_that_the_server_knows(tmp_path: Path) -> None:
    """Who, when, and the boot that is being fenced."""

    def prepare(it: Bench) -> None:
        a_fence(it)
        a_node(it, "Unknown")

    said, fence = story(tmp_path, signed, prepare)

    assert ("administrator", NOW, "n", "boot-1") == (
        fence.attested.by,
        fence.attested.at,
        fence.attested.node_uid,
        fence.attested.boot_id,
    )
    assert said.startswith("administrator attests")


@pytest.mark.parametrize("ready", ["True", "False"])
def test_nobody_attests_a_node_that_reports(tmp_path: Path, ready: str) -> None:
    """Be it that it is sick: nothing is written."""

    def prepare(it: Bench) -> None:
        a_fence(it)
        a_node(it, ready)

    with pytest.raises(Refusal, match="reports: it is not off"):
        story(tmp_path, signed, prepare)


def test_a_clock_that_is_behind_would_date_a_word_before_the_silence(tmp_path: Path) -> None:
    """It would count as nothing: that is said at once."""

    def prepare(it: Bench) -> None:
        a_fence(it)
        a_node(it, "Unknown", since=str(NOW + Span.seconds(60)))

    with pytest.raises(Refusal, match="correct your clock"):
        story(tmp_path, signed, prepare)


def test_a_clock_that_is_ahead_dates_no_word(tmp_path: Path) -> None:
    """A word of the future would outlive what the node reports until then: nothing is written."""

    async def ahead(desk: Desk) -> str:
        with pytest.raises(Refusal, match="correct your clock; nothing was attested"):
            await attest(desk, NOW + Span.seconds(3_600))
        return ""

    _, fence = story(tmp_path, ahead)

    assert fence.attested is None


def test_nobody_attests_what_is_not_being_fenced(tmp_path: Path) -> None:
    """A fence that has not begun, or is over, is about no boot."""
    for status in ({"bootID": None}, {"state": "final"}):
        with pytest.raises(Refusal, match="nothing to attest"):
            story(tmp_path, signed, lambda it, status=status: a_fence(it, **status))


def a_remediation(it: Bench, **status: Any) -> None:
    """A Metal3Remediation that has begun, of the Node that is there, unless a test says otherwise."""
    uid = it.api.get(NODE, NODE_AT.name)["metadata"]["uid"]
    meta = {"name": "machine-0", "namespace": "metal"}
    kind = {"apiVersion": "remediation.metal3.io/v1alpha1", "kind": "Metal3Remediation"}
    it.api.create({**kind, "metadata": meta, "spec": {}})
    evidence = {"machineUid": "m", "nodeUid": uid, "bootID": "boot-1"}
    body = {"status": {"phase": "power-off", "evidence": {**evidence, **status}}}
    it.api.patch(REMEDIATION, "machine-0", "metal", body, "merge", subresource="status")


def test_a_word_goes_to_the_remediation_of_a_node_without_a_fence(tmp_path: Path) -> None:
    """The Metal3Remediation that is about a boot of this very Node is signed."""

    async def run() -> Any:
        async with bench(tmp_path) as it:
            a_node(it, "Unknown")
            a_remediation(it)
            said = await done(it, signed)
            found = convert(REMEDIATION, it.api.get(REMEDIATION, "machine-0", "metal")).obj
            return said, found.attested, it.api.get(NODE, NODE_AT.name)["metadata"]["uid"]

    said, word, uid = asyncio.run(run())
    assert said.startswith("administrator attests that node worker-0 is off")
    assert ("administrator", NOW, uid, "boot-1") == (word.by, word.at, word.node_uid, word.boot_id)


def test_a_word_for_a_node_of_another_cluster_goes_by_its_machine(tmp_path: Path) -> None:
    """Its Node is in another API: the Machine that names it leads to the remediation, and one of a third does not."""

    async def run() -> Any:
        async with bench(tmp_path) as it:
            a_node(it, "Unknown")  # of the same name, and of this cluster
            spec = {"clusterName": "prod", "bootstrap": {"dataSecretName": "x"}, "infrastructureRef": {}}
            meta = {"name": "machine-0", "namespace": "metal"}
            tree = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "metadata": meta, "spec": spec}
            uid = it.api.create(tree)["metadata"]["uid"]
            body = {"status": {"nodeRef": {"name": NODE_AT.name}}}
            it.api.patch(MACHINE, "machine-0", "metal", body, "merge", subresource="status")
            a_remediation(it, nodeUid="elsewhere", machineUid=uid)
            with pytest.raises(Refusal, match="no Metal3Remediation that has begun"):
                await at_desk(it.kubeconfig, "", replace(NODE_AT, cluster="metal/other"), signed)
            await at_desk(it.kubeconfig, "", replace(NODE_AT, cluster="metal/prod"), signed)
            return convert(REMEDIATION, it.api.get(REMEDIATION, "machine-0", "metal")).obj.attested.node_uid

    assert "elsewhere" == asyncio.run(run())


@pytest.mark.parametrize("act", [stop, release, signed])
def test_a_node_without_a_fence(tmp_path: Path, act: Any) -> None:
    """The message names the object and how to look for others."""
    with pytest.raises(Refusal, match=r"no NodeFence \(node-fence-worker-0\)"):
        story(tmp_path, act, lambda it: None)


def test_a_cluster_that_is_away(tmp_path: Path) -> None:
    """One line, no traceback."""
    config = tmp_path / "config"
    config.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\nusers: [{name: u, user: {token: t}}]\n"
    )
    with pytest.raises(Unreachable):
        asyncio.run(at_desk(config, "", NODE_AT, stop))


@pytest.mark.parametrize("act", [stop, release, signed])
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Instead(200, b"<html>welcome</html>"), "no discovery document; check that this is a Kubernetes API server"),
        (Instead(404), "check that this is a Kubernetes API server"),
        (Instead(401), "the API server answered 401; check the credentials"),
        (Instead(500, b"boom"), "the API server answered 500; look at its log, or try again later"),
    ],
)
def test_another_server_than_a_kubernetes_one(tmp_path: Path, act: Any, answer: Instead, message: str) -> None:
    """It is asked what it serves before anything is read or written."""

    async def run() -> list[Any]:
        async with bench(tmp_path) as it:
            a_fence(it)
            it.before = lambda request: answer
            with pytest.raises(Unreachable, match=message):
                await done(it, act)
            return it.writes()

    assert [] == asyncio.run(run())


def test_a_right_that_is_missing_is_named_with_its_remedy(tmp_path: Path) -> None:
    """In the words of the API server, and what to do about it."""

    async def run() -> None:
        async with bench(tmp_path) as it:
            a_fence(it)
            it.before = lambda request: (
                failure(403, "Forbidden", "may not patch") if request.method == "PATCH" else None
            )
            with pytest.raises(
                Refusal, match=r"cannot change NodeFence node-fence-worker-0: .*; have this right granted"
            ):
                await done(it, stop)

    asyncio.run(run())


def typed(folder: Path, text: str, *more: str) -> Result:
    """What `attest` says to whoever types this; nobody listens at that server."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "berlin",
        "clusters": [{"name": "c", "cluster": {"server": "https://192.0.2.1:6443", "insecure-skip-tls-verify": True}}],
        "users": [{"name": "anna", "user": {}}],
        "contexts": [{"name": "berlin", "context": {"cluster": "c", "user": "anna"}}],
    }
    (folder / "config").write_text(json.dumps(config))
    return CliRunner().invoke(cli, ["attest", "worker-0", "--kubeconfig", str(folder / "config"), *more], input=text)


def test_the_name_has_to_be_typed(tmp_path: Path) -> None:
    """Another name attests nothing, and the cluster is not even asked."""
    result = typed(tmp_path, "worker-1\n")

    assert 2 == result.exit_code
    assert "nothing was attested" in result.output


@pytest.mark.parametrize(("more", "whose"), [((), ""), (("--cluster", "fleet/edge"), " of cluster fleet/edge")])
def test_the_cluster_is_named_before_the_name_is_typed(more: tuple[str, ...], whose: str, tmp_path: Path) -> None:
    """Nodes of two clusters often have one name: whoever attests reads which one it is, by server and context."""
    said, _, _ = typed(tmp_path, "worker-1\n", *more).output.partition("Type the name")

    assert f"Node worker-0{whose}, by https://192.0.2.1:6443 (context 'berlin' of {tmp_path / 'config'})" in said


def test_a_cluster_that_nobody_knows_is_told_before_the_name_is_typed() -> None:
    """Nobody is asked for a word that could go nowhere."""
    result = CliRunner().invoke(cli, ["attest", "worker-0", "--kubeconfig", "/nowhere"], input="worker-0\n")

    assert 0 != result.exit_code
    assert "Type the name" not in result.output


@pytest.mark.parametrize("text", ["", "\n"])
def test_nobody_who_types_nothing_attests(text: str, tmp_path: Path) -> None:
    """The end of the input is told, with the way for scripts."""
    result = typed(tmp_path, text)

    assert 2 == result.exit_code
    assert "nothing was attested; type the name of the node, or write --yes" in result.output


def test_all_three_are_in_the_help() -> None:
    """Each says what it does to power and workload."""
    for word, said in (("stop", "isolation stays"), ("release", "isolation is undone"), ("attest", "on your word")):
        assert said in CliRunner().invoke(cli, [word, "--help"]).output


@pytest.mark.parametrize("command", ["stop", "release", "attest"])
def test_a_cluster_is_named_with_its_namespace(command: str) -> None:
    """Any other word would be looked for in vain, under a name that nobody has seen."""
    result = CliRunner().invoke(cli, [command, "worker-1", "--cluster", "edge"])

    assert 2 == result.exit_code
    assert "'edge' names no Cluster; write NAMESPACE/NAME" in result.output
