"""`plan` and `explain` on files: Incidents are installed unless the files say otherwise, and records are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.cli.test_explain_command import LATER
from tests.cli.test_plan_command import entries, example
from tests.cli.test_plan_health import EXAMPLE, a_pool

from noderemedy import crds
from noderemedy.cli.main import cli

NOT_HERE = "no CustomResourceDefinition in these files defines Incident.node-remedy.dev"
NAMES = {tree["metadata"]["name"]: tree for tree in crds.every()}


def run(folder: Path, command: list[str], *defined: str) -> Result:
    """A command on a pool whose check asks for approval, and on these definitions of kinds."""
    check = yaml.safe_load(EXAMPLE.read_text())
    check["metadata"]["annotations"] = {"node-remedy.dev/approval": "required"}
    trees = [check, *a_pool("Unknown"), *(NAMES[name] for name in defined)]
    (folder / "world.yaml").write_text(yaml.safe_dump_all(trees))
    result = CliRunner().invoke(cli, [*command, "-f", str(folder), "--now", LATER])
    assert 0 == result.exit_code, result.output
    return result


@pytest.mark.parametrize(
    ("defined", "reason", "is_told"),
    [
        ((), "ApprovalAwaited", False),
        (("incidents.node-remedy.dev",), "ApprovalAwaited", False),
        (("machines.cluster.x-k8s.io", "incidents.node-remedy.dev"), "ApprovalAwaited", False),
        (("machines.cluster.x-k8s.io",), "ApprovalUnavailable", True),
    ],
)
def test_incidents_are_there_unless_the_files_say_otherwise(
    tmp_path: Path, defined: tuple[str, ...], reason: str, is_told: bool
) -> None:
    """Without any definition of a kind ours count as installed; with some, those that are among them do."""
    planned = run(tmp_path, ["plan", "-o", "json"], *defined)
    explained = run(tmp_path, ["explain", "w0", "--json"], *defined)
    [told] = json.loads(explained.stdout)

    found = {f"{one['room']} {one['key']}": one["because"] for one in json.loads(planned.stdout)}
    assert reason in [one["reason"] for one in found["remediation Machine/machine-api/w0"]]
    [closed] = [one for room in told["gates"] for one in room["gates"] if one["gate"] == "person approved"]
    assert reason == closed["because"]["reason"]
    assert is_told is (NOT_HERE in planned.stderr) is (NOT_HERE in explained.stderr)


def test_a_plan_on_files_tells_of_incidents(tmp_path: Path) -> None:
    """What would be written down is one word of the last line, and an entry of its own in JSON."""
    last = CliRunner().invoke(cli, ["plan", "-f", str(example("2-held"))]).stdout.splitlines()[-1]

    assert "1 incident written down" in last
    assert "1 incident written down" not in run(tmp_path, ["plan"], "machines.cluster.x-k8s.io").stdout


def written(found: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {one["room"]: [action["do"] for action in one["actions"]] for one in found}


def test_the_act_behind_a_record_is_shown() -> None:
    """A trace goes once the record tells of it: the plan has both, the record and what follows it."""
    found = written(entries("-f", example("6-unmarked")))

    assert {"annotation": ["RemoveRebootAnnotation"], "incident": ["OpenIncident"]} == found
