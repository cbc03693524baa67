"""`node-remedy agents`: what is installed here, what one takes, and its form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from tests.wire.agents import PDU

from noderemedy.cli.main import cli

SILENT = "#!/bin/sh\necho usage\nexit 1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place with agents: one that describes itself, and one that does not."""
    pdu = tmp_path / "fence_pdu"
    (tmp_path / "pdu.xml").write_text(PDU, encoding="utf-8")
    pdu.write_text(f"#!/bin/sh\ncat {tmp_path / 'pdu.xml'}\n", encoding="utf-8")
    silent = tmp_path / "fence_silent"
    silent.write_text(SILENT, encoding="utf-8")
    for program in (pdu, silent):
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("noderemedy.drivers.fence.agents.USUAL", ())
    return tmp_path


def test_what_is_installed_is_listed(folder: Path) -> None:
    """By name, one a line, or as JSON."""
    assert ["fence_pdu", "fence_silent"] == CliRunner().invoke(cli, ["agents"]).stdout.splitlines()
    assert ["fence_pdu", "fence_silent"] == json.loads(CliRunner().invoke(cli, ["agents", "--json"]).stdout)


FENCED = """\
apiVersion: v1
kind: Node
metadata: {name: worker-1}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: fence-config-worker-1, namespace: node-remedy-system}
data:
  config.properties: power_management=outlet
  fence-method-outlet: |
    agent=fence_pdu
    plug=1
    nonsense=1
"""


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["agents"], "fence_pdu"),
        (["agents", "fence_pdu"], "switches power"),
        (["check", "-f", "all.yaml"], "parameter nonsense: fence_pdu does not know it"),
        (["plan", "-f", "all.yaml"], "parameter nonsense: fence_pdu does not know it"),
        (["explain", "worker-1", "-f", "all.yaml"], "fence_pdu does not know it"),
    ],
)
def test_agents_in_a_folder_of_their_own_are_found(
    arguments: list[str], shown: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--agents-path names it, as for the manager that will run them."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    Path("all.yaml").write_text(FENCED, encoding="utf-8")

    assert shown not in CliRunner().invoke(cli, arguments).stdout
    assert shown in CliRunner().invoke(cli, [*arguments, "--agents-path", str(folder)]).stdout


def test_an_agent_says_what_it_takes(folder: Path) -> None:
    """What it switches, and each parameter with its type and default."""
    shown = CliRunner().invoke(cli, ["agents", "fence_pdu"]).stdout

    assert "switches power" in shown
    assert ["ipport", "integer", "default", "623", "About", "ipport"] in [line.split() for line in shown.splitlines()]


def test_a_form_is_yaml(folder: Path) -> None:
    """Ready to be filled in and applied."""
    shown = CliRunner().invoke(cli, ["agents", "fence_pdu", "--form"]).stdout

    assert ["ConfigMap", "ConfigMap", "Secret"] == [one["kind"] for one in yaml.safe_load_all(shown)]
    schema = json.loads(CliRunner().invoke(cli, ["agents", "fence_pdu", "--json"]).stdout)
    assert "fence_pdu" == schema["title"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["fence_none"], "fence_none is not installed here"),
        (["fence_silent"], "fence_silent: it prints no metadata"),
        (["../bin/sh"], "../bin/sh is not installed here"),
        (["--form"], "--form needs the name of an agent"),
    ],
)
def test_what_is_not_there_is_said(folder: Path, arguments: list[str], problem: str) -> None:
    """With a remedy, and without starting anything that is no agent."""
    result = CliRunner().invoke(cli, ["agents", *arguments])

    assert 0 != result.exit_code
    assert problem in f"{result.output}{result.exception}"
