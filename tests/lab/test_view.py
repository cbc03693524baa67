"""The live view as text: what a person sees, on small and large terminals."""

from __future__ import annotations

import io

import msgspec
import pytest
from rich.console import Console

from noderemedy.lab.snapshot import Line, NodeRow, PodRow, Snapshot, State
from noderemedy.lab.story import Repair, Step
from noderemedy.lab.view import Hints, render

HINTS = Hints(
    "node-remedy lab · 12 nodes",
    (
        ("export KUBECONFIG=/home/somebody/a/rather/long/folder/.lab/kubeconfig", ""),
        ("kubectl get nodes -w", "or apply"),
    ),
)
PODS = tuple(PodRow(f"database-{i}", f"worker-{i + 1}", "Running") for i in range(6))
SIZES = [(80, 24), (80, 33), (100, 32), (100, 36), (160, 50)]


def rows(special: dict[str, NodeRow] | None = None, count: int = 12) -> tuple[NodeRow, ...]:
    ordinary = {f"worker-{i + 1}": NodeRow(f"worker-{i + 1}", f"rack-{i % 3 + 1}", State.READY) for i in range(count)}
    return tuple((ordinary | (special or {})).values())


def a_repair(*steps: Step) -> Repair:
    repair = Repair("worker-2", 1_000, "hang", {"database-1": "uid"})
    repair.at |= {step: 1_000 + 500 * i for i, step in enumerate(steps, start=1)}
    return repair


def snapshot(
    nodes: tuple[NodeRow, ...] | None = None,
    repair: Repair | None = None,
    reasons: tuple[Line, ...] = (),
    freed_before_safe: int = 0,
) -> Snapshot:
    return Snapshot(9_000, nodes or rows(), PODS, repair, (), reasons, 0, freed_before_safe, ())


def drawn(shown: Snapshot, width: int = 100, height: int = 40) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=width, height=height, color_system=None).print(render(shown, HINTS, width, height))
    return file.getvalue().splitlines()


def line_with(lines: list[str], word: str) -> str:
    return next(line for line in lines if word in line)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_view_fits_the_terminal(width: int, height: int) -> None:
    """Nothing is wider or longer than the terminal, and no command that is to be copied is cut."""
    reasons = tuple(Line("a long reason " * 9, 1.0) for _ in range(4))
    lines = drawn(snapshot(repair=a_repair(*list(Step)[1:5]), reasons=reasons), width, height)

    assert [] == [line for line in lines if len(line) > width]
    assert len(lines) < height
    assert [] == [command for command, _ in HINTS.commands if not any(command in line for line in lines)]


def test_every_state_has_its_word() -> None:
    """Each state that a node can have is shown by its word."""
    special = {f"worker-{i + 1}": NodeRow(f"worker-{i + 1}", "rack-1", state) for i, state in enumerate(State)}
    text = "\n".join(drawn(snapshot(rows(special))))

    assert [] == [state.value for state in State if f" {state.value} " not in text.replace("\n", " \n")]


def test_danger_is_shown_where_it_is() -> None:
    """A silent node whose pods still write, and a dead BMC, stand beside the node's name."""
    danger = NodeRow("worker-2", "rack-2", State.NOT_READY, writes=True, bmc_dead=True)
    wide, narrow = (drawn(snapshot(rows({"worker-2": danger})), width) for width in (120, 80))

    assert "worker-2  NotReady ✎ writes no BMC" in line_with(wide, "worker-2 ")
    assert "worker-2  NotReady ✎" in line_with(narrow, "worker-2 ")


def test_a_repair_shows_done_and_awaited_steps() -> None:
    """Done steps have a check mark and their second; the next one is awaited; the others are to come."""
    lines = drawn(snapshot(repair=a_repair(Step.NOT_READY, Step.MARKED)))

    assert "✓ its Machine is marked for repair" in line_with(lines, Step.MARKED.value)
    assert "1.00 s" in line_with(lines, Step.MARKED.value)
    assert "…" in line_with(lines, Step.HELD.value)
    assert "· power is off" in line_with(lines, Step.OFF.value)
    assert "repair of worker-2, 8.0 s" in line_with(lines, "repair of")


def test_a_finished_repair_says_so() -> None:
    """The title says that it ended and how long it took."""
    repair = a_repair(*list(Step)[1:])

    assert "repair of worker-2 ended after 5.0 s" in line_with(drawn(snapshot(repair=repair)), "repair of")


def test_a_quiet_lab_invites() -> None:
    """Without a repair the view says that all is well."""
    assert line_with(drawn(snapshot()), "All is well")


def test_large_clusters_show_what_matters() -> None:
    """Of 300 nodes only those are named that something happens to."""
    sick = NodeRow("worker-77", "rack-2", State.HELD)
    lines = drawn(snapshot(rows({"worker-77": sick}, 300)))

    assert "worker-77 held" in line_with(lines, "worker-77")
    assert any("and 99 more" in line for line in lines)
    assert len(lines) < 40


def test_a_broken_rule_stands_at_the_top() -> None:
    """What must not be is told on the second line, whatever else there is to tell."""
    shown = msgspec.structs.replace(snapshot(), wrongs=("older", "S1: Node worker-1 was deleted while it can write"))

    assert " S1: Node worker-1 was deleted while it can write" == drawn(shown, 80, 24)[1].rstrip()


def test_freeing_too_early_is_in_the_title() -> None:
    """The number that must be 0 is on the first line."""
    assert "freed before safe: 3" in drawn(snapshot(freed_before_safe=3), 80, 24)[0]
