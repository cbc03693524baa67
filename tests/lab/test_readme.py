"""The README as a test: each of its commands is run, as printed, beside the lab that its first command starts.

Two things are stood in for: the environment of this test run serves as `.venv`, and `make test`, which would run this
very test, only collects.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.lab.running import PATIENCE_S, ROOT, RunningLab, environment

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
LINES = [line.partition(" #")[0].strip() for block in BLOCKS for line in block.splitlines()]
COMMANDS = [line for line in LINES if line and not line.startswith("export ") and line != "make lab"]
EXPORTS = [line for line in LINES if line.startswith("export ")]
LINKED = (".ci", "Makefile", "pyproject.toml", "deploy", "examples", "src", "tests", "README.md", "LICENSE")
STAMP = ".venv/.installed"
ENDLESS = "node-remedy manager"
# What must be seen in the output, so that a command that merely does not fail is not enough.
SHOWS = {
    "make test": "test_files.py",
    "kubectl get nodes": "worker-12",
    "kubectl get pods": "database-5",
    "lab fault partition": "cut off",
    "lab fault heal": "repaired",
    "kubectl describe": "ProvenOff",
    "lab --list": "power-on-fails",
    "lab --once": '"ok":true',
    "plan -f": "BackUpNode",
    "plan -o json": "[",
    "node-remedy check": "No problems",
    "node-remedy import": "MachineHealthCheck",
    "kubectl apply": "node-remedy-manager",
    "manager --dry-run": "caches are in step",
    "kubectl annotate": "annotated",
}


def applied(line: str) -> set[str]:
    """The files below deploy/ that a command applies; a folder means all that is in it."""
    named = [ROOT / path for path in re.findall(r"-f (\S+)", line)]
    found = [file for path in named for file in (path.glob("*.yaml") if path.is_dir() else [path])]
    return {str(file.relative_to(ROOT / "deploy")) for file in found}


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("kubectl apply")])
def test_nobody_gets_rights_that_an_installation_leaves_out(line: str) -> None:
    """Rights of remedies, of workload clusters and on OpenShift are given by whoever needs them."""
    installed = set(yaml.safe_load((ROOT / "deploy" / "kustomization.yaml").read_text())["resources"])

    assert applied(line)
    assert set() == applied(line) - installed
    assert "rbac/60-repairer.yaml" in applied("kubectl apply -f deploy/rbac") - installed


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like a clone after `make setup`."""
    folder = tmp_path_factory.mktemp("clone")
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


@pytest.fixture(scope="module")
def running(checkout: Path) -> Iterator[RunningLab]:
    """`make lab`, the first command of the README, alive."""
    found = RunningLab(checkout, typed=["make", "-o", STAMP, "lab"])
    try:
        found.wait_for("it has its labels and taints again")
        yield found
    finally:
        os.killpg(found.process.pid, signal.SIGINT)
        found.process.wait(PATIENCE_S)


def test_the_first_two_commands_are_all_the_set_up() -> None:
    """The README begins with `make lab` and `make test`."""
    assert ["make lab", "make test"] == LINES[:2]


def test_every_command_has_something_to_show() -> None:
    """The table above has one row for each command, and no row without one."""
    assert [1] * len(COMMANDS) == [sum(key in line for key in SHOWS) for line in COMMANDS]
    assert len(SHOWS) == len(COMMANDS)


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_the_readme_work(running: RunningLab, checkout: Path, line: str) -> None:
    """The command ends well and shows what the README promises."""
    if line.startswith("kubectl") and shutil.which("kubectl") is None:
        pytest.skip("kubectl is not on PATH; install it to run the README's kubectl commands")
    shown = next(text for key, text in SHOWS.items() if key in line)
    typed = line.replace("make test", f"make -o {STAMP} test ARGS='--collect-only -q tests/lab/test_files.py'")
    with subprocess.Popen(
        ["bash", "-c", "; ".join([*EXPORTS, f"exec {typed}"])],
        cwd=checkout,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        output = ""
        for said in process.stdout:
            output += said
            if ENDLESS in line and shown in said:
                process.terminate()
        code = process.wait(PATIENCE_S)

    assert (0, True) == (code, shown in output), output
