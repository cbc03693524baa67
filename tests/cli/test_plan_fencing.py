"""`node-remedy plan` on the fencing examples: each is complete, and a mistake is said before it is applied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tests.wire.agents import ACTIONS, COMMON, metadata, parameter

from noderemedy.cli import explain as explaining
from noderemedy.cli import plan as command
from noderemedy.core.fencing import configs, describing, plan
from noderemedy.manager.plan import Look, look_at
from noderemedy.manager.sources import objects
from noderemedy.model.agent import AgentDescription
from noderemedy.model.fenceplan import AgentMethod, FencePlan, plan_ref
from noderemedy.model.ids import NODE, ref
from noderemedy.model.room import Present
from noderemedy.model.time import Wall
from noderemedy.wire.fenceagent import read_metadata

EXAMPLES = Path(__file__).parents[2] / "examples"
NOW = Wall(1_900_000_000_000)
ON, BOTH = '<action name="on"/>', '<action name="on"/><action name="reboot"/>'
UNPLUGGED = COMMON.replace('name="plug" unique="0" required="1"', 'name="plug" unique="0"')
# Invented, under the names that the examples use; tests/e2e/test_fence_agents.py holds them against the real ones.
AGENTS = {
    "fence_brocade": metadata("fence_brocade", COMMON + parameter("secure", "boolean"), ACTIONS + ON),
    "fence_eaton_snmp": metadata(
        "fence_eaton_snmp", COMMON + parameter("snmp_version", "select", options="1 2c 3"), ACTIONS + BOTH
    ),
    "fence_ipmilan": metadata("fence_ipmilan", UNPLUGGED, ACTIONS + BOTH),
    "fence_redfish": metadata(
        "fence_redfish", UNPLUGGED + parameter("systems_uri") + parameter("ssl_secure", "boolean"), ACTIONS + BOTH
    ),
    "fence_openstack": metadata(
        "fence_openstack",
        UNPLUGGED.replace('required="1"', "") + "".join(map(parameter, ("auth_url", "project_name", "cacert"))),
        ACTIONS + BOTH,
    ),
    "fence_scsi": metadata(
        "fence_scsi",
        parameter("plug", more='required="1"')
        + parameter("key")
        + parameter("devices")
        + parameter("aptpl", "boolean"),
        ACTIONS + '<action name="on" on_target="1" automatic="1"/>',
    ),
    "fence_aws": metadata(
        "fence_aws",
        parameter("plug", more='required="1"')
        + parameter("region")
        + parameter("access_key")
        + parameter("secret_key")
        + parameter("power_timeout", "second"),
        ACTIONS + BOTH,
    ),
}


def installed(agent: str) -> AgentDescription | None:
    return read_metadata(agent, AGENTS[agent]) if agent in AGENTS else None


def a_node(name: str, **more: Any) -> dict[str, Any]:
    labels = {"type": "bare-metal", "kdump": "true", "node-restriction.kubernetes.io/bmc": f"{name}.bmc.example.com"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": more}


NODES = [
    a_node("worker-1", providerID="aws:///eu-west-1a/i-01"),
    a_node("worker-2", providerID="aws:///eu-west-1a/i-02"),
]
CASES = {  # example -> the parameters of worker-1's first power method, besides secrets
    "fencing-eaton-brocade": {"ip": "pdu.example.com", "plug": "1", "snmp_version": "3"},
    "fencing-ipmi": {"ip": "worker-1.bmc.example.com", "lanplus": "1", "power_timeout": "40"},
    "fencing-kdump": {"ip": "worker-1.bmc.example.com", "lanplus": "1"},
    "fencing-scsi": {"ip": "worker-1.bmc.example.com", "lanplus": "1"},
    "fencing-redfish": {"ip": "bmc.example.com", "ssl_secure": "1", "systems_uri": "/redfish/v1/Systems/1"},
    "fencing-aws": {"plug": "i-01", "power_timeout": "180", "region": "eu-west-1"},
}


def look(folder: Path, tmp_path: Path) -> Look:
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text(yaml.safe_dump_all(NODES), encoding="utf-8")
    found = objects((str(folder), str(nodes)), lambda: b"")
    return look_at(found, NOW, (plan.ROOM, describing.ROOM, configs.ROOM), installed)[0]


@pytest.mark.parametrize("example", CASES)
def test_an_example_is_complete(example: str, tmp_path: Path) -> None:
    """Nothing is wrong with it, and its nodes have a plan with their own plugs."""
    done = look(EXAMPLES / example, tmp_path)

    assert [] == [one.problems for one in plans(done) if one.problems]
    assert plans(done)
    first = plans(done)[0].power_management[0]
    assert isinstance(first, AgentMethod)
    assert CASES[example] == dict(first.parameters)
    assert first.secrets


def test_the_seeds_document_is_read_as_printed(tmp_path: Path) -> None:
    """A bare list without a namespace, which kubectl would refuse, means the same."""
    example = EXAMPLES / "fencing-eaton-brocade"
    text = (example / "fence-config.yaml").read_text(encoding="utf-8")
    _, printed = text.replace("   namespace: node-remedy-system\n", "").split("items:\n")
    folder = tmp_path / "printed"
    folder.mkdir()
    (folder / "fence-config.yaml").write_text(printed, encoding="utf-8")
    (folder / "fencing.yaml").write_text((example / "fencing.yaml").read_text(encoding="utf-8"), encoding="utf-8")

    (expected,), (found,) = plans(look(example, tmp_path)), plans(look(folder, tmp_path))

    assert printed.startswith("- kind: ConfigMap")
    assert ((), expected.power_management) == (found.problems, found.power_management)


def plans(done: Look) -> list[FencePlan]:
    entries = [done.engine.cache.read(plan_ref(ref(NODE, name))) for name in ("worker-1", "worker-2")]
    return [entry.obj for entry in entries if isinstance(entry, Present)]


def test_a_mistake_is_said_before_it_is_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the ConfigMap and on its node, by name of method, parameter and remedy."""
    monkeypatch.setattr(command, "describe_here", lambda agent, agents_path: installed(agent))
    text = (EXAMPLES / "fencing-redfish" / "fencing.yaml").read_text(encoding="utf-8")
    broken = tmp_path / "fencing.yaml"
    broken.write_text(
        text.replace("Systems/2", "Systems/1").replace("ssl_secure=1", "ssl_secure=maybe"), encoding="utf-8"
    )
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text(yaml.safe_dump_all(NODES), encoding="utf-8")

    result = CliRunner().invoke(command.plan, ["-f", str(tmp_path), "-o", "json"])

    assert 0 == result.exit_code, result.output
    entries = {(one["room"], one["key"]): one["because"] for one in json.loads(result.stdout)}
    (said,) = entries["fence-config", "ConfigMap/node-remedy-system/fence-config-worker-1"]
    assert "FenceConfigInvalid" == said["reason"]
    assert "method redfish: parameter ssl_secure: 'maybe' is neither true nor false" in said["problem"]
    assert ("fence-plan", "Node//worker-2") in entries


def test_agents_that_are_not_installed_are_said_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan on a laptop may know no agent at all."""
    monkeypatch.setattr(command, "describe_here", lambda agent, agents_path: None)
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text(yaml.safe_dump_all(NODES), encoding="utf-8")

    files = ["-f", str(EXAMPLES / "fencing-aws"), "-f", str(nodes)]
    result = CliRunner().invoke(command.plan, files)

    assert "agent fence_aws is not installed where node-remedy runs" in " ".join(result.stdout.split())


def test_explain_says_what_was_read_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The seed's document of a cloud would keep its node cordoned for good."""
    monkeypatch.setattr(explaining, "describe_here", lambda agent, agents_path: installed(agent))
    words = "node_name=worker-1\npower_management=restart-instance\nrecovery=mark-unschedulable"
    meta = {"name": "fence-config-worker-1", "namespace": "node-remedy-system"}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"config.properties": words}}
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all([NODES[0], document]), encoding="utf-8")

    shown = CliRunner().invoke(explaining.explain, ["worker-1", "-f", str(file)]).stdout
    assert "recovery: mark-schedulable" in shown
    assert "note: ConfigMap fence-config-worker-1, node worker-1, method mark-unschedulable: recovery: it is" in shown


def test_explain_says_how_a_node_would_be_fenced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Step by step, or what is wrong with it; also where no Machine names the node."""
    monkeypatch.setattr(explaining, "describe_here", lambda agent, agents_path: installed(agent))
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text(yaml.safe_dump_all([NODES[0], {**NODES[1], "metadata": {"name": "bare"}}]), encoding="utf-8")
    files = ["-f", str(EXAMPLES / "fencing-redfish"), "-f", str(nodes)]

    shown = CliRunner().invoke(explaining.explain, ["worker-1", *files]).stdout
    assert "power-management: redfish (fence_redfish off and on)" in shown
    assert "fencing" not in CliRunner().invoke(explaining.explain, ["bare", *files]).stdout

    monkeypatch.setattr(explaining, "describe_here", lambda agent, agents_path: None)
    shown = CliRunner().invoke(explaining.explain, ["worker-1", *files]).stdout
    assert "it cannot be fenced: ConfigMap fence-config-worker-1, node worker-1, method redfish" in shown
