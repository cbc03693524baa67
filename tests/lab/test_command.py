"""`node-remedy lab` with arguments that cannot be: one clear line, exit code 2, nothing left behind."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from tests.calling import called

from noderemedy.lab.faults import FAULTS
from noderemedy.lab.scenarios import SCENARIOS

WRONG = [
    (["--scenario", "flood"], ["no scenario 'flood'", "hang, crash"]),
    (["--speed", "0"], ["--speed", "0<x<=1000"]),
    (["--speed", "-3"], ["--speed"]),
    (["--speed", "quick"], ["--speed", "quick"]),
    (["--nodes", "0"], ["--nodes", "1<=x<=1000"]),
    (["--nodes", "many"], ["--nodes", "many"]),
    (["--port", "70000"], ["--port", "0<=x<=65535"]),
    (["--json"], ["--json needs --once"]),
    (["--until-alert"], ["--until-alert needs --once"]),
    (["fault", "hang", "worker-1"], ["no lab runs in .lab", "node-remedy lab", "--dir"]),
    (["fault", "hang"], ["NODE"]),
    (["fly"], ["fly"]),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=[" ".join(arguments) for arguments, _ in WRONG])
def test_wrong_arguments_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: list[str]
) -> None:
    """The message names what is wrong and what would be right; nothing is started or written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    found = called("lab", *arguments)

    assert 2 == found.returncode, found.stdout
    assert [] == [word for word in words if word not in found.stderr], found.stderr
    assert "Traceback" not in found.stderr
    assert [] == list(tmp_path.iterdir())


def test_a_port_in_use_is_named() -> None:
    """A port that somebody else has is named together with the way out."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = called("lab", "--once", "--port", str(port))

    assert 2 == found.returncode
    assert f"port {port} is in use" in found.stderr
    assert "--port" in found.stderr


def test_a_folder_that_cannot_be_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file is in the way, the folder cannot be made, and that is said."""
    (tmp_path / "file").write_text("in the way")

    monkeypatch.chdir(tmp_path)
    found = called("lab", "--once", "--dir", "file/lab")

    assert 2 == found.returncode
    assert "cannot use the folder file/lab" in found.stderr


def test_list_names_all_scenarios_and_faults() -> None:
    """--list explains every scenario and every fault in one line each."""
    found = called("lab", "--list")
    named = [line.split()[0] for line in found.stdout.splitlines() if line.startswith("  ")]

    assert [*SCENARIOS, *FAULTS] == named
