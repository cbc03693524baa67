"""`node-remedy agents`: what is installed here, what one takes, and its form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from tests.wire.agents import MUTE, PDU

from noderemedy.cli.main import cli

SILENT = "#!/bin/sh\necho usage\nexit 1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place with agents."""
    return furnished(tmp_path, monkeypatch)


def furnished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One agent that describes itself, one that does not, one that cannot be asked, and one that is known by name."""
    for name, said in (("pdu", PDU), ("mute", MUTE)):
        (tmp_path / f"{name}.xml").write_text(said, encoding="utf-8")
        (tmp_path / f"fence_{name}").write_text(f"#!/bin/sh\ncat {tmp_path}/{name}.xml\n", encoding="utf-8")
    for name in ("silent", "virsh"):
        (tmp_path / f"fence_{name}").write_text(SILENT, encoding="utf-8")
    for program in tmp_path.glob("fence_*"):
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("noderemedy.drivers.fence.agents.USUAL", ())
    return tmp_path


REFUSED = {
    "fence_mute": "has no action status, so that nothing it does can be verified",
    "fence_pdu": None,
    "fence_silent": "it prints no metadata",
    "fence_virsh": "proves nothing, as it says off also of a guest that shuts down or sleeps",
}


def test_what_is_installed_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, one a line, those that are refused with the reason; as JSON the same."""
    furnished(tmp_path, monkeypatch)
    shown = CliRunner().invoke(cli, ["agents"])
    found = {one["name"]: one["refused"] for one in json.loads(CliRunner().invoke(cli, ["agents", "--json"]).stdout)}

    assert sorted(REFUSED) == list(found) == [line.split()[0] for line in shown.stdout.splitlines()]
    for (name, refused), line in zip(REFUSED.items(), shown.stdout.splitlines(), strict=True):
        assert (found[name] or "").startswith(refused or "")
        assert (found[name] is None) is (refused is None)
        assert line == (f"{name:<12}  refused: {found[name]}" if refused else name)
    assert "4 fence agents are installed here, 3 of them are refused." in shown.stderr


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
