"""`plan` on health checks: verdicts with countdown, the gate, and who is at fault for what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

from noderemedy.cli import plantext
from noderemedy.cli.main import cli
from noderemedy.manager.plan import Plan

EXAMPLE = Path(__file__).parents[2] / "examples" / "health-check" / "workers.yaml"
LABELS = {"role": "worker"}


def a_machine(name: str, node: str) -> dict[str, Any]:
    meta = {"name": name, "namespace": "machine-api", "uid": f"machine-{name}", "labels": LABELS}
    version = "cluster.x-k8s.io/v1alpha3"
    return {"apiVersion": version, "kind": "Machine", "metadata": meta, "status": {"nodeRef": {"name": node}}}


def a_node(name: str, ready: str) -> dict[str, Any]:
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": "2026-01-01T00:00:00Z"}
    meta = {"name": name, "uid": f"node-{name}"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": {"conditions": [condition]}}


def planned(folder: Path, now: str, *trees: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (folder / "world.yaml").write_text(yaml.safe_dump_all(trees))
    arguments = ["plan", "-f", str(EXAMPLE), "-f", str(folder), "--now", now, "-o", "json"]
    result = CliRunner().invoke(cli, arguments)
    assert 0 == result.exit_code, result.output
    return {f"{entry['room']} {entry['key']}": entry for entry in json.loads(result.stdout)}


def a_pool(sick: str) -> list[dict[str, Any]]:
    machines = [a_machine(f"w{number}", f"n{number}") for number in range(5)]
    return [*machines, a_node("n0", sick), *(a_node(f"n{number}", "True") for number in range(1, 5))]


def test_a_sick_node_has_a_countdown(tmp_path: Path) -> None:
    """In its grace period a machine waits, and the plan says until when."""
    entries = planned(tmp_path, "2026-01-01T00:03:00Z", *a_pool("Unknown"))

    entry = entries.pop("verdict Machine/machine-api/w0")
    assert ["ConditionPending"] == [reason["reason"] for reason in entry["because"]]
    assert "2026-01-01T00:05:01Z" == entry["wakeAt"]
    [action] = entries.pop("status MachineHealthCheck/machine-api/example")["actions"]
    assert "PublishCheckStatus" == action["do"]
    assert (5, 4, 0) == tuple(action["status"][name] for name in ("expected", "healthy", "allowed"))
    for number in range(1, 5):
        [action] = entries.pop(f"remediation Machine/machine-api/w{number}")["actions"]
        assert "WriteMachineConditions" == action["do"], "healthy machines are told so, once"
    assert {} == entries, "the gate is open: nothing else to tell"


def test_the_dialect_of_each_check_is_shown(tmp_path: Path) -> None:
    """In the entries about a check, and in one line per dialect for people."""
    entries = planned(tmp_path, "2026-01-01T00:03:00Z", *a_pool("Unknown"))
    text = CliRunner().invoke(cli, ["plan", "-f", str(EXAMPLE), "-f", str(tmp_path)]).stdout.splitlines()

    assert "seed" == entries["status MachineHealthCheck/machine-api/example"]["dialect"]
    assert "dialect" not in entries["verdict Machine/machine-api/w0"]
    assert "MachineHealthCheck/machine-api/example  (status, dialect seed)" in text
    assert "Read in the dialect seed: MachineHealthCheck/machine-api/example." == text[-2]


def test_many_checks_of_one_dialect_are_counted() -> None:
    """Five are named, for a plan is about what is to be done."""
    many = Plan((), 9, checks=(*((f"c{number}", "capi") for number in range(7)), ("s", "seed")))

    assert [
        "Read in the dialect capi: c0, c1, c2, c3, c4 and 2 more.",
        "Read in the dialect seed: s.",
    ] == plantext.dialects(many)


def test_after_its_timeout_it_is_unhealthy(tmp_path: Path) -> None:
    """The reason carries the condition, its beginning and the timeout that it exceeded."""
    entries = planned(tmp_path, "2026-01-01T00:05:01Z", *a_pool("False"))

    [reason] = entries["verdict Machine/machine-api/w0"]["because"]
    assert ("ConditionTimedOut", "Ready", "False", "300s") == tuple(
        reason[key] for key in ("reason", "type", "status", "timeout")
    )


def test_forty_percent_close_the_gate(tmp_path: Path) -> None:
    """Seed 003: at 40 % or more no further remediation takes place; missing nodes count."""
    pool = [tree for tree in a_pool("Unknown") if tree["metadata"]["name"] != "n4"]
    entries = planned(tmp_path, "2026-01-01T00:01:00Z", *pool)

    [reason] = entries["check MachineHealthCheck/machine-api/example"]["because"]
    assert {"reason": "TooManyUnhealthy", "unhealthy": 2, "total": 5, "limit": "40%"} == reason
    [reason] = entries["verdict Machine/machine-api/w4"]["because"]
    assert "NodeMissing" == reason["reason"]


def test_a_check_that_makes_no_sense_is_told_and_disturbs_nobody(tmp_path: Path) -> None:
    """The reason names the field and the remedy; the good check goes on with its machines."""
    bad = yaml.safe_load(EXAMPLE.read_text())
    bad["metadata"]["name"] = "bad"
    bad["spec"] |= {"maxUnhealthy": "many", "selector": {"matchLabels": {"role": "master"}}}
    entries = planned(tmp_path, "2026-01-01T00:06:00Z", bad, *a_pool("Unknown"))

    [reason] = entries["check MachineHealthCheck/machine-api/bad"]["because"]
    assert "CheckInvalid" == reason["reason"]
    assert "maxUnhealthy" in reason["problem"]
    [reason] = entries["verdict Machine/machine-api/w0"]["because"]
    assert "ConditionTimedOut" == reason["reason"]


def test_a_mistake_in_the_older_of_two_checks_is_named_for_its_machines(tmp_path: Path) -> None:
    """It goes on governing them: the younger one does nothing for the sick one, and the plan names the mistake."""
    bad = yaml.safe_load(EXAMPLE.read_text())
    bad["metadata"]["name"] = "bad"  # of the same age: the first by name is the older one
    bad["spec"]["maxUnhealthy"] = "many"
    entries = planned(tmp_path, "2026-01-01T00:06:00Z", bad, *a_pool("Unknown"))

    [reason] = entries["verdict Machine/machine-api/w0"]["because"]
    assert ("InvalidCheckGoverns", "bad") == (reason["reason"], reason["check"])
    assert "maxUnhealthy" in reason["problem"]
    [status] = entries["status MachineHealthCheck/machine-api/bad"]["actions"]
    assert (5, 4, 0) == tuple(status["status"][name] for name in ("expected", "healthy", "allowed"))
    assert [] == [key for key in entries if key.startswith("remediation ")]
