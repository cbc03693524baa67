"""The everyday commands: the Makefile makes its own environment, the CI script runs and times its steps.

Interpreters and `make` are stood in for by small shell scripts that write down how they were called, so nothing
is installed and nothing is run but the frame itself.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMMANDS = ("setup", "check", "test", "e2e", "lab", "sim", "sample", "fuzz", "soak", "bench", "generate", "fmt")
# An interpreter that says it is VERSION, makes an environment with a pip that only notes how it was called.
STAND_IN = """
case "$1" in
  --version) echo "Python VERSION" ;;
  -c) exec REAL -c "import sys; sys.version_info = tuple(map(int, 'VERSION'.split('.'))); $2" ;;
  -m) mkdir -p "$3/bin"
      printf '#!/bin/sh\\necho "$@" >> %s\\n' "$(dirname "$0")/pip.log" > "$3/bin/pip"
      chmod +x "$3/bin/pip" ;;
esac
"""


def python(folder: Path, version: str) -> Path:
    return script(folder / "python", STAND_IN.replace("VERSION", version).replace("REAL", sys.executable))


def script(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run without what an enclosing `make` put into the environment."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment = {**inherited, **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with just the frame: Makefile, project file and CI script."""
    (tmp_path / ".ci").mkdir()
    for name in ("Makefile", "pyproject.toml", ".ci/run"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_help_lists_every_command(checkout: Path) -> None:
    """`make` alone names all commands, each with a sentence."""
    lines = [line.split(maxsplit=2) for line in run(["make"], checkout).stdout.splitlines() if "  make " in line]

    assert {"help", *COMMANDS} == {words[1] for words in lines}
    assert all(len(words) == 3 for words in lines)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_makes_its_own_environment(checkout: Path, command: str) -> None:
    """In a fresh clone each command first makes the virtual environment; when it is there, none does."""
    assert "-m venv" in run(["make", "-n", command], checkout).stdout

    (checkout / ".venv").mkdir()
    (checkout / ".venv" / ".installed").touch()
    assert "-m venv" not in run(["make", "-n", command], checkout).stdout


@pytest.mark.parametrize("command", ["fuzz", "soak"])
def test_fuzzing_rotates_and_names_its_seed(checkout: Path, command: str) -> None:
    """Each run has another seed, which it prints with its command: what it finds can be found again."""
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / ".installed").touch()
    chosen, given = (run(["make", "-n", command, *more], checkout).stdout for more in ([], ["FUZZ=7"]))

    assert re.search(r"--hypothesis-profile=rotating --hypothesis-seed=\d{9,} ", chosen)
    assert "--hypothesis-profile=rotating --hypothesis-seed=7 " in given


def test_environment_is_made_once(checkout: Path) -> None:
    """The second call installs nothing, a change of pyproject.toml installs again."""
    command = ["make", "setup", f"PYTHON={python(checkout, '3.11.0')}"]

    assert [0, 0] == [run(command, checkout).returncode, run(command, checkout).returncode]
    assert 1 == len((checkout / "pip.log").read_text(encoding="utf-8").splitlines())

    later = (checkout / ".venv" / ".installed").stat().st_mtime + 1
    os.utime(checkout / "pyproject.toml", (later, later))
    run(command, checkout)
    assert 2 == len((checkout / "pip.log").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("version", ["3.10.13", "2.7.18"])
def test_old_python_is_named_and_refused(checkout: Path, version: str) -> None:
    """An interpreter before 3.11 is named, with the remedy, and no environment is begun."""
    old = python(checkout, version)

    answer = run(["make", "setup", f"PYTHON={old}"], checkout)

    assert 0 != answer.returncode
    assert f"'{old}' is Python {version}; node-remedy needs Python 3.11 or newer." in answer.stderr
    assert "make PYTHON=" in answer.stderr
    assert not (checkout / ".venv").exists()


def test_missing_python_is_named(checkout: Path) -> None:
    """An interpreter that does not exist is named, with the remedy."""
    answer = run(["make", "setup", "PYTHON=python-of-tomorrow"], checkout)

    assert 0 != answer.returncode
    assert "There is no 'python-of-tomorrow' here." in answer.stderr


@pytest.mark.parametrize(
    ("breaks", "steps", "status"),
    [("none", ["setup", "check", "test", "sample", "e2e"], 0), ("test", ["setup", "check", "test"], 3)],
)
def test_ci_runs_and_times_its_steps(checkout: Path, breaks: str, steps: list[str], status: int) -> None:
    """The CI script runs the steps in order, stops at the first that fails with its status, and times each."""
    tools = checkout / "tools"
    tools.mkdir()
    script(tools / "make", f'echo "$1 $CI" >> {checkout}/made.log; [ "$1" != {breaks} ] || exit 3')

    answer = run(["bash", ".ci/run"], checkout, PATH=f"{tools}:{os.environ['PATH']}", CI="true")

    assert status == answer.returncode
    assert [f"{step} true" for step in steps] == (checkout / "made.log").read_text(encoding="utf-8").splitlines()
    verdicts = re.findall(r"^\w+ +\d+ s  (ok|FAILED)$", answer.stdout, re.MULTILINE)
    assert ["ok"] * (len(steps) - 1) + ["ok" if status == 0 else "FAILED"] == verdicts
