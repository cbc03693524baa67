"""The examples as people use them: applied by kubectl, and looked at with the commands that their comments print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.calling import called
from tests.cli.test_plan_fencing import installed

from noderemedy.cli import check, plan
from noderemedy.cli.main import cli
from noderemedy.manager.sources import unfold
from noderemedy.manager.trees import read
from noderemedy.model.ids import SYSTEM

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "examples").rglob("*.yaml"))
COMMAND = re.compile(r"^#   (node-remedy .+)$", re.MULTILINE)
PRINTED = [(file, command) for file in FILES for command in COMMAND.findall(file.read_text(encoding="utf-8"))]


def unfit(tree: Any) -> list[str]:
    """Why kubectl would not apply this document, or would apply it where nobody reads it."""
    if not isinstance(tree, dict):
        return ["kubectl applies objects, and a list of them only as a v1 List"]
    objects = [source.tree for source in unfold(tree, "")]
    nameless = [one for one in objects if not (one.get("apiVersion") and one.get("kind") and one["metadata"]["name"])]
    lost = [one for one in objects if one["kind"] in ("ConfigMap", "Secret") and SYSTEM != namespace(one)]
    return [f"{one}: no name" for one in nameless] + [f"{one['metadata']}: not in {SYSTEM}" for one in lost]


def namespace(tree: dict[str, Any]) -> str:
    return str(tree["metadata"].get("namespace", ""))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_an_example_can_be_applied(file: Path) -> None:
    """Every document is an object that kubectl takes, in the namespace in which the manager reads it."""
    assert [] == [problem for tree in read(file.read_bytes(), file.name) for problem in unfit(tree)]


@pytest.mark.parametrize("text", ["- {}", "{kind: ConfigMap, apiVersion: v1, metadata: {name: fence-config-worker-1}}"])
def test_an_example_that_cannot_be_applied_is_found(text: str) -> None:
    """A bare list, and a ConfigMap without its namespace, are pointed at."""
    assert 1 == len([problem for tree in read(text.encode(), "") for problem in unfit(tree)])


@pytest.mark.parametrize(("file", "command"), PRINTED, ids=[file.stem for file, _ in PRINTED])
def test_a_printed_command_works(file: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typed as it stands in the comment, it looks at this very file, and no time in it is in the future."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(check, "describe_here", lambda agent, agents_path: installed(agent))
    monkeypatch.setattr(plan, "describe_here", lambda agent, agents_path: installed(agent))
    words = shlex.split(command)[1:]

    result = CliRunner().invoke(cli, words, standalone_mode=False)

    assert (None, 0) == (result.exception, result.return_value or 0), result.output
    assert file.is_relative_to(ROOT / words[words.index("-f") + 1])
    assert "in the future" not in result.output


@pytest.mark.parametrize("example", ["remedy-pods", "node-remedy-seed"])
def test_its_first_remedy_would_be_ordered(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the comments promise of the sick node is what `plan` says on any day."""
    monkeypatch.setattr(plan, "describe_here", lambda agent, agents_path: installed(agent))

    result = CliRunner().invoke(cli, ["plan", "-f", str(ROOT / "examples" / example)])

    assert "WriteRemedyRecord" in result.stdout
    assert f"examples/{example}" in [word for _, command in PRINTED for word in shlex.split(command)]


def test_an_application_is_not_ours_to_check() -> None:
    """The StatefulSet beside the pool is refused alone, as its comment says."""
    file = ROOT / "examples" / "replace" / "app.yaml"

    done = called("check", "-f", str(file))

    assert (2, "nothing was checked") == (done.returncode, done.stderr.strip()[-19:])
    assert "refused with exit code 2" in file.read_text(encoding="utf-8").replace("\n# ", " ")
