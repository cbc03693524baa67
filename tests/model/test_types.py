"""What the type checker must refuse: each snippet breaks one rule, and mypy says so; what keeps to them passes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAD = """\
from noderemedy.model.actions import AddRebootAnnotation, Confirm, DeleteNode, Guard
from noderemedy.model.ids import NODE, ref
from noderemedy.model.proof import PoweredOff, Subject
from noderemedy.model.time import Mono, Now, Span, Wall

AT, GUARD, NOW = ref(NODE, "n"), Guard("u"), Now(Wall(0), Mono(0))
def proof() -> PoweredOff: raise NotImplementedError
"""
GOOD = """\
DeleteNode(AT, GUARD, "b", proof())
Wall(1) < Wall(2)
Mono(1) < NOW.until(Wall(2))
Wall(1) + Span(1)
Confirm(AT)
"""
BAD = {
    "freeing without a proof": ('DeleteNode(AT, GUARD, "b")', "call-arg"),
    "freeing with None": ('DeleteNode(AT, GUARD, "b", None)', "arg-type"),
    "freeing with a word of honour": ('DeleteNode(AT, GUARD, "b", "it is off")', "arg-type"),
    "freeing with a subject only": ('DeleteNode(AT, GUARD, "b", Subject("u", "b"))', "arg-type"),
    "freeing after some time": ('DeleteNode(AT, GUARD, "b", Span(600_000))', "arg-type"),
    "wall compared with monotonic time": ("Wall(1) < Mono(2)", "operator"),
    "monotonic compared with wall time": ("Mono(1) >= Wall(2)", "operator"),
    "a moment plus a moment": ("Wall(1) + Wall(2)", "operator"),
    "a span as a moment": ("NOW.until(Span(5))", "arg-type"),
    "an age across two clocks": ("Wall(5).since(Mono(1))", "arg-type"),
    "a write without a guard": ("AddRebootAnnotation(AT)", "call-arg"),
    "a proof that is changed": ('proof().host_uid = "other"', "misc"),
}


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """One run of mypy --strict over all snippets, one per line: line number to complaint."""
    lines = [*HEAD.splitlines(), *GOOD.splitlines(), *(snippet for snippet, _ in BAD.values())]
    file = tmp_path_factory.mktemp("types") / "snippets.py"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(file.parent), str(file)]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert 1 == answer.returncode, answer.stdout + answer.stderr
    found = {}
    for line in answer.stdout.splitlines():
        if line.startswith(str(file)) and ": error: " in line:
            found[int(line[len(str(file)) + 1 :].split(":")[0])] = line
    return found


@pytest.mark.parametrize("name", BAD)
def test_mypy_refuses(name: str, complaints: dict[int, str]) -> None:
    """The rule is a type error on that very line, of that very sort."""
    number = len(HEAD.splitlines()) + len(GOOD.splitlines()) + list(BAD).index(name) + 1

    assert BAD[name][1] in complaints.get(number, f"mypy accepts: {BAD[name][0]}")


def test_mypy_accepts_what_keeps_to_the_rules(complaints: dict[int, str]) -> None:
    """Nothing is refused but the snippets that break a rule."""
    first = len(HEAD.splitlines()) + len(GOOD.splitlines()) + 1

    assert list(range(first, first + len(BAD))) == sorted(complaints)
