"""What commands print for people is whole in a pipe or a file: nothing ends where a terminal would."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from tests.builders import MACHINE_AT, NOW
from tests.cli.test_history_command import BEGAN, a_tree, told

from noderemedy.cli import drilltext, explaintext, plantext
from noderemedy.core.fencing.drills import Finding
from noderemedy.manager.drill import Row
from noderemedy.manager.explain import Explanation
from noderemedy.manager.plan import Entry, Plan
from noderemedy.model.incident import Record, Step
from noderemedy.model.reasons import ActionFailed
from noderemedy.wire.incidents import status_body

LONG = f"{'sentence ' * 40}to its end"
REASON = ActionFailed("DeleteMachine", LONG)


@contextmanager
def piped() -> Iterator[list[str]]:
    """The lines that were printed meanwhile."""
    lines: list[str] = []
    with redirect_stdout(io.StringIO()) as output:
        yield lines
    lines += output.getvalue().splitlines()


def test_a_plan_is_whole() -> None:
    """A reason is one line."""
    with piped() as lines:
        plantext.show(Plan((Entry("owner", str(MACHINE_AT), (), (REASON,)),), 1), NOW.wall)

    assert f"  because   {REASON.note()}" in lines


def test_an_explanation_is_whole() -> None:
    """A sign of a verdict is one line."""
    with piped() as lines:
        explaintext.show((Explanation(MACHINE_AT, None, verdict="Unhealthy", signs=(REASON,)),), NOW.wall)

    assert REASON.note() in [line.strip() for line in lines]


def test_history_is_whole(tmp_path: Path) -> None:
    """A step with its evidence is one line."""
    tree = a_tree(0, "worker-0")
    steps = (Step(BEGAN, "owner", "drain", "begun", LONG),)
    tree["status"] = status_body(Record(steps))
    lines = told(tmp_path, "worker-0-0000000000", trees=[tree]).output.splitlines()

    assert [f"drain: begun  ({LONG})"] == [line.partition("owner ")[2].strip() for line in lines if LONG in line]


def test_a_drill_is_whole() -> None:
    """What is wrong with a device is one line."""
    with piped() as lines:
        drilltext.show([Row("worker-0", "ipmi", finding=Finding("ipmi", "Silent", LONG))])

    assert f"  {LONG}" in lines
