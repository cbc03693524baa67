"""The command group: lazy commands, version, and messages that say what to do instead."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from noderemedy.cli import main as entry
from noderemedy.cli.main import COMMANDS, cli, loading

ROOT = Path(__file__).resolve().parents[2]


def test_version() -> None:
    """`--version` and `version` say the same."""
    by_option, by_command = CliRunner().invoke(cli, ["--version"]), CliRunner().invoke(cli, ["version"])

    assert by_option.output == by_command.output
    assert by_option.output.startswith("node-remedy 0.")


def test_help_names_every_command() -> None:
    """The help lists the commands that are there, each with its sentence."""
    shown = CliRunner().invoke(cli, ["--help"]).output

    assert all(name in shown and COMMANDS[name].help in shown for name in ("plan", "version"))


def test_unknown_command_names_the_known_ones() -> None:
    """A typing error is answered with what there is."""
    result = CliRunner().invoke(cli, ["pan"])

    assert 2 == result.exit_code
    assert "there is no command 'pan'; use one of: plan" in result.output


def test_help_and_plan_load_no_http_stack() -> None:
    """Starting costs no import of aiohttp, rich or asyncio's event loops before they are needed."""
    code = "import sys, noderemedy.cli.main, noderemedy.cli.plan; print({'aiohttp', 'rich'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "set()\n" == done.stdout


def test_a_manager_starts_without_what_most_never_need() -> None:
    """No start waits for an XML parser or for the list of installed packages: each takes longer than a room."""
    code = "import sys, noderemedy.cli.manager; print({'pyexpat', 'importlib.metadata'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "set()\n" == done.stdout


@pytest.mark.parametrize(
    ("called", "name"),
    [("/usr/bin/kubectl-remedy", "kubectl remedy"), ("/usr/bin/node-remedy", "node-remedy")],
)
def test_name_in_messages(called: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a kubectl plugin it calls itself what the user typed."""
    monkeypatch.setattr(sys, "argv", [called])

    assert name == entry._called()


def test_bug_of_ours_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What we did wrong ends in exit code 70 and a sentence; a traceback comes only when asked for."""
    monkeypatch.setattr("noderemedy.cli.version.text", lambda: 1 / 0)

    with pytest.raises(SystemExit) as ended:
        entry.main(["version"])
    assert (70, 1) == (ended.value.code, len(capsys.readouterr().err.splitlines()))

    monkeypatch.setenv("NODE_REMEDY_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        entry.main(["version"])


@pytest.mark.parametrize("name", ["plan", "check", "explain", "history", "import", "agents", "drill"])
def test_whatever_is_shown_can_be_had_as_json(name: str) -> None:
    """Commands that only look say so, and take -o json and --json alike."""
    shown = " ".join(CliRunner().invoke(cli, [name, "--help"]).output.split())

    assert "-o, --output [text|json] Text for people, JSON for programs." in shown
    assert "--json The same as -o json." in shown
    assert "Changes nothing." in shown or "writes nothing." in shown


@pytest.mark.parametrize("words", [["check", "-f", "examples"], ["--help"]])
def test_a_reader_that_went_is_no_problem_of_the_configuration(words: list[str]) -> None:
    """`node-remedy check | head` ends as other programs do in a broken pipe: 1 would mean that there are problems."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "noderemedy.cli.main", *words]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False)
    os.close(writing)

    assert 141 == done.returncode
    assert "roken pipe" not in done.stderr
    assert "Traceback" not in done.stderr


def test_loading_leaves_the_authorities_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules find none; who makes a connection afterwards finds those that the user named, also after a failure."""
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/our/roots.pem")
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    with loading():
        assert (os.devnull, False) == (os.environ["SSL_CERT_DIR"], gc.isenabled())
    with pytest.raises(ImportError), loading():
        raise ImportError("no such module")

    assert ("/etc/our/roots.pem", None) == (os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    assert gc.isenabled()
