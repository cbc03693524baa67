"""A drill by hand: plans, real processes as agents, and what is said about each device."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from aiohttp import web
from click.testing import CliRunner
from msgspec.structs import replace
from tests.builders import HOST_AT, MACHINE_AT, a_host, a_machine, a_node, a_node_tree
from tests.builders import NOW as BOTH
from tests.core.fencing.configuring import Bench, one_method
from tests.drivers.fence.scripted import asked, hand, install
from tests.drivers.kube import scripted
from tests.drivers.kube.scripted import Api
from tests.manager.bench import bench
from tests.wire.agents import AGENTS
from tests.wire.agents import CLOUD as CLOUD_WORDS
from tests.wire.agents import PDU as PDU_WORDS

from noderemedy.cli import drill as command
from noderemedy.core.fencing.drills import Finding
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.manager import drill as drilling
from noderemedy.manager.asking import Asking
from noderemedy.manager.drill import Row, drill_all
from noderemedy.manager.plan import Look
from noderemedy.model.agent import Parameter
from noderemedy.model.host import Login
from noderemedy.model.ids import NODE, ref
from noderemedy.model.outcome import Seen
from noderemedy.model.run import Power
from noderemedy.model.time import Wall

NOW = Wall(1_900_000_000_000)
PDU = AGENTS["fence_pdu"]
AGENT = replace(PDU, name="fence_scripted", parameters=(*PDU.parameters, Parameter("passphrase")))  # not in the Secret
SECRET = "/api/v1/namespaces/node-remedy-system/secrets/pdu"


def a_look(*plugs: str, ready: str = "True") -> Look:
    """Nodes `n1`, … on these outlets of a PDU, as a look at a cluster would find them."""
    bench = Bench(agents={"fence_scripted": AGENT})
    bench.write("fence-method-template-pdu", {"template.properties": "agent=fence_scripted\nip=10.0.0.9\nsecret=pdu"})
    for number, plug in enumerate(plugs, 1):
        name = f"n{number}"
        bench.node(name, a_node(f"uid-{name}", provider_id="", ready=ready))
        bench.write(f"fence-config-{name}", one_method(f"template=fence-method-template-pdu\nplug={plug}", node=name))
    bench.look()
    look = Look(NOW)
    look.engine = bench.engine
    return look


def drilled(folder: Path, look: Look, fault: str = "well", name: str | None = None, secret: bool = True) -> list[Row]:
    install(folder, fault)

    async def handler(request: web.Request) -> web.StreamResponse:
        if request.path == SECRET and secret:
            data = {"username": base64.b64encode(b"admin").decode(), "password": base64.b64encode(b"hunter2").decode()}
            return web.json_response({"data": data})
        return web.json_response({"kind": "Status", "details": {"name": request.path.rsplit("/", 1)[1]}}, status=404)

    async def story() -> list[Row]:
        async with Api(handler).running() as api, KubeClient(api.access()) as client:
            return await drill_all(look, name, Asking(client, hand(folder), NOW))

    found: list[Row] = []

    async def keep() -> None:
        found.extend(await story())

    scripted.run(keep())
    return found


def test_every_device_of_every_node_is_asked(tmp_path: Path) -> None:
    """For its status only, with the credentials of its Secret."""
    rows = drilled(tmp_path, a_look("1", "2"))

    assert [("n1", "m", Power.ON, True), ("n2", "m", Power.ON, True)] == [
        (row.node, row.method, row.power, row.is_well) for row in rows
    ]
    assert ["status", "status"] == asked(tmp_path)
    assert ["hunter2", "hunter2"] == (tmp_path / "passwords").read_text().split()


def test_one_node_can_be_asked_alone(tmp_path: Path) -> None:
    """And one without a plan, or that does not exist, is told as such."""
    look = a_look("1", "2")

    assert ["n2"] == [row.node for row in drilled(tmp_path, look, name="n2")]
    assert ["NoNode"] == [row.finding.word for row in drilled(tmp_path, look, name="n9")]
    bare = a_look()
    node = a_node("u", provider_id="")
    bare.engine.seen(Seen(ref(NODE, "n3"), "u", "1", node), BOTH)
    assert ["NoPlan"] == [row.finding.word for row in drilled(tmp_path, bare, name="n3")]


def a_cloud(template: str = "") -> Look:
    """A node of a cloud whose agent is installed; nobody wrote a document for it."""
    bench = Bench(agents={"fence_aws": AGENTS["fence_aws"]})
    bench.node("n1", a_node("uid-n1", provider_id="aws:///eu-west-1a/i-01"))
    if template:
        bench.write("fence-method-template-aws", {"template.properties": template})
    bench.look()
    look = Look(NOW)
    look.engine = bench.engine
    look.asks_how_to_fence("n1")
    bench.look()
    return look


@pytest.mark.parametrize("template", ["", "agent=fence_aws\nsecret=pdu"], ids=["its own rights", "a secret"])
def test_a_cloud_is_asked_before_it_is_needed(template: str, tmp_path: Path) -> None:
    """By the agent's own identity, or with what the template names: as a fence of the node would."""
    install(tmp_path, "well", "fence_aws")

    (row,) = drilled(tmp_path, a_cloud(template), name="n1")

    assert ("restart-instance", "fence_aws", Power.ON, "Answered") == (row.method, row.agent, row.power, row.result)
    assert ["status"] == asked(tmp_path)


def test_a_cloud_node_without_a_plan_leads_to_its_drill(tmp_path: Path) -> None:
    """Whoever asks all nodes is not told to write what nobody needs."""
    look = a_look()
    node = a_node("u", provider_id="aws:///eu-west-1a/i-01")
    look.engine.seen(Seen(ref(NODE, "c1"), "u", "1", node), BOTH)

    row, _ = drilled(tmp_path, look)

    expected = "node c1 has no fence configuration; node-remedy drill c1 asks its cloud by fence_aws, as a fence would"
    assert ("c1", "NoPlan", expected) == (row.node, row.result, row.finding.problem)


def test_a_node_without_a_plan_is_not_passed_over(tmp_path: Path) -> None:
    """Whoever drills all nodes reads which of them cannot be fenced."""
    look = a_look("1")
    look.engine.seen(Seen(ref(NODE, "n0"), "u", "1", a_node("u", provider_id="")), BOTH)

    rows = drilled(tmp_path, look)

    assert [("n1", "Answered"), ("n0", "NoPlan")] == [(row.node, row.result) for row in rows]
    assert "node n0 has no fence configuration; write ConfigMap fence-config-n0" == rows[1].finding.problem


def test_a_host_has_a_row_though_nobody_asks_it(tmp_path: Path) -> None:
    """host-power: what the API shows, and that no device was asked."""
    bench = Bench()
    bench.node("worker-0", a_node(provider_id=""))
    bench.write("fence-config-worker-0", {"config.properties": "power_management=host-power"})
    bench.see(MACHINE_AT, a_machine(node_name="worker-0"))
    bench.see(HOST_AT, replace(a_host(), status="OK", login=Login.ACCEPTED))
    bench.look()
    look = Look(NOW)
    look.engine = bench.engine

    (row,) = drilled(tmp_path, look, name="worker-0")
    bench.see(HOST_AT, replace(a_host(), status="error", login=Login.ACCEPTED))
    (broken,) = drilled(tmp_path, look, name="worker-0")

    assert ("host-power", "BareMetalHost", Power.ON, "NotAsked") == (row.method, row.agent, row.power, row.result)
    assert row.note.endswith("is well by what the API shows; its BMC was not asked")
    assert ("HostNotReady", "no device was asked") == (broken.result, broken.note)
    assert [] == asked(tmp_path)


@pytest.mark.parametrize(
    ("fault", "word", "words"),
    [("away", "DeviceFailed", "timed out"), ("garbage", "DeviceFailed", "")],
)
def test_a_device_that_fails_is_named(fault: str, word: str, words: str, tmp_path: Path) -> None:
    """By node and method, and never with a password."""
    look = a_look("1")
    (row,) = drilled(tmp_path, look, fault)

    assert word == row.finding.word
    assert row.finding.problem.startswith("node n1, method m: ")
    assert words in row.finding.problem
    assert "hunter2" not in str(row.plain())


def test_a_missing_secret_is_named(tmp_path: Path) -> None:
    """Before anything is sent."""
    (row,) = drilled(tmp_path, a_look("1"), secret=False)

    assert "there is no secret pdu in node-remedy-system" in row.finding.problem
    assert [] == asked(tmp_path)


def test_the_wrong_plug_is_found(tmp_path: Path) -> None:
    """It says off, and the node is Ready."""
    (tmp_path / "state").write_text("off")

    (row,) = drilled(tmp_path, a_look("1"))
    assert "WrongDevice" == row.finding.word
    (row,) = drilled(tmp_path, a_look("1", ready="Unknown"))
    assert row.is_well


def test_a_plan_with_problems_is_said_without_asking(tmp_path: Path) -> None:
    """All that is wrong with it, one line each."""
    rows = drilled(tmp_path, a_look("1", "1"))

    assert ["PlanInvalid", "PlanInvalid"] == [row.finding.word for row in rows]
    assert [] == asked(tmp_path)


def test_nodes_without_a_plan_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many they are; each of them is wrong, and none has answered. A row that nobody asked says so."""
    bare = [Row(f"b{number}", finding=Finding("", "NoPlan", "p")) for number in range(30)]

    async def found(*_: object) -> tuple[list[Row], list[str]]:
        return [Row("n1", "m"), Row("n2", "host-power", note="its BMC was not asked"), *bare], []

    monkeypatch.setattr(drilling, "drill", found)
    result = CliRunner().invoke(command.drill, [], standalone_mode=False)

    lines = result.stdout.splitlines()
    assert (1, 6) == (result.return_value, len(lines))
    assert ("not asked", "  its BMC was not asked") == (lines[2][-9:], lines[3])
    assert lines[4].startswith("30 nodes have no fence configuration: b0, b1, b2, ")
    assert "b9 and 20 more; write ConfigMap fence-config-NODE" in lines[4]
    assert "32 nodes, 1 answer, 30 wrong." == lines[5]


@pytest.mark.parametrize(("rows", "code"), [([Row("n1", "m")], 0), ([Row("n1", finding=Finding("", "W", "p"))], 1)])
def test_the_exit_code_tells_whether_all_is_well(rows: list[Row], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In words, as a table; or as JSON for whoever counts."""

    async def found(*_: object) -> tuple[list[Row], list[str]]:
        return rows, ["nodefences is not installed"]

    monkeypatch.setattr(drilling, "drill", found)
    text = CliRunner().invoke(command.drill, [], standalone_mode=False)
    plain = CliRunner().invoke(command.drill, ["--json"], standalone_mode=False)

    assert (code, code) == (text.return_value, plain.return_value)
    assert "Note: nodefences is not installed\n" == text.stderr
    assert "n1" in text.stdout
    assert "1 node, 1 answer, " in text.stdout
    assert ["n1"] == [one["node"] for one in json.loads(plain.stdout)]


def test_a_cluster_without_fence_configuration_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty table would look as if all were well."""

    async def found(*_: object) -> tuple[list[Row], list[str]]:
        return [], []

    monkeypatch.setattr(drilling, "drill", found)

    assert "No node has a fence configuration" in CliRunner().invoke(command.drill, [], standalone_mode=False).stdout


def an_agent_that_is_on(tmp_path: Path, name: str, words: str) -> Path:
    """A folder with one agent, which describes itself and calls everything on."""
    folder = tmp_path / "agents"
    folder.mkdir()
    answer = f"#!/bin/sh\nif [ $# -gt 0 ] || grep -q action=metadata; then cat <<'EOF'\n{words}\nEOF\nfi\n"
    (folder / name).write_text(answer)
    (folder / name).chmod(0o755)
    return folder


def test_a_cloud_is_planned_for_whoever_asks_by_hand(tmp_path: Path) -> None:
    """The whole way with an API: asked for by name, the default is drilled; all nodes are, where somebody fences."""
    folder = an_agent_that_is_on(tmp_path, "fence_aws", CLOUD_WORDS)

    async def story() -> None:
        async with bench(tmp_path) as it:
            tree = a_node_tree()
            it.create({**tree, "spec": {**tree.get("spec", {}), "providerID": "aws:///eu-west-1a/i-01"}})
            found[:] = [await drilling.drill(it.kubeconfig, "", one, NOW, str(folder)) for one in ("worker-0", None)]

    found: list[tuple[list[Row], list[str]]] = []
    scripted.run(story())

    assert [("restart-instance", "Answered"), ("", "NoPlan")] == [
        (row.method, row.result) for rows, _ in found for row in rows
    ]


def test_agents_of_the_named_folder_are_planned_and_asked(tmp_path: Path) -> None:
    """Those of --agents-path count for the plan, too: an agent that is only there is no mistake."""
    folder = an_agent_that_is_on(tmp_path, "fence_only_here", PDU_WORDS.replace("fence_pdu", "fence_only_here"))

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.create(a_node_tree())
            method = "agent=fence_only_here\nip=10.0.0.9\nplug=1\nusername=a\n"
            at = {"name": "fence-config-worker-0", "namespace": "node-remedy-system"}
            data = one_method(method, node="worker-0")
            it.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": at, "data": data})
            found[:] = [await drilling.drill(it.kubeconfig, "", "worker-0", NOW, one) for one in ("", str(folder))]

    found: list[tuple[list[Row], list[str]]] = []
    scripted.run(story())

    assert ["PlanInvalid", "Answered"] == [row.result for rows, _ in found for row in rows]
