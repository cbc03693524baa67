"""What `make generate` writes: rights that follow from the actions, and a check that sees every difference."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
RIGHTS = "deploy/rbac/10-manager.yaml"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The generator and what it generates, in a folder of their own."""
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    shutil.copytree(ROOT / "src" / "noderemedy" / "crds", tmp_path / "src" / "noderemedy" / "crds")
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "generate.py", tmp_path / "scripts")
    return tmp_path


def generate(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "scripts" / "generate.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_the_committed_files_are_what_the_code_says(copy: Path) -> None:
    """Nothing differs, and checking writes nothing."""
    before = (copy / RIGHTS).read_text()
    answer = generate(copy, "--check")

    assert (0, before) == (answer.returncode, (copy / RIGHTS).read_text()), answer.stderr


def test_a_difference_is_named_and_repaired(copy: Path) -> None:
    """A right that was added by hand is named by the check and gone after generating."""
    before = (copy / RIGHTS).read_text()
    (copy / RIGHTS).write_text(before.replace("  - nodes\n", "  - nodes\n  - secrets\n"))
    answer = generate(copy, "--check")
    assert 1 == answer.returncode
    assert RIGHTS in answer.stderr

    assert 0 == generate(copy).returncode
    assert before == (copy / RIGHTS).read_text()


def test_a_foreign_kind_that_was_edited_in_the_wrong_place_is_seen(copy: Path) -> None:
    """The source of a foreign kind is beside the code; its copy in deploy/ may not differ."""
    (kind, *_) = sorted((copy / "deploy" / "crds" / "foreign").glob("*.yaml"))
    kind.write_text(kind.read_text() + "# by hand\n")

    assert kind.name in generate(copy, "--check").stderr


def test_an_action_without_a_line_is_refused(copy: Path) -> None:
    """Nobody can add an action without saying which right it takes."""
    script = copy / "scripts" / "generate.py"
    source = script.read_text()
    line = '    "DeleteNode": (Need("", "nodes", ("delete",)),),\n'
    assert 1 == source.count(line)
    script.write_text(source.replace(line, ""))
    answer = generate(copy, "--check")

    assert 1 == answer.returncode
    assert "DeleteNode" in answer.stderr


def test_a_right_goes_with_its_action(copy: Path) -> None:
    """Without the action that deletes Nodes the role would not allow deleting them."""
    script = copy / "scripts" / "generate.py"
    script.write_text(script.read_text().replace('("delete",)', "()"))
    assert 0 == generate(copy).returncode

    rules: list[dict[str, Any]] = next(yaml.safe_load_all((copy / RIGHTS).read_text()))["rules"]
    assert [["get", "list", "patch", "watch"]] == [rule["verbs"] for rule in rules if rule["resources"] == ["nodes"]]
