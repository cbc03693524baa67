"""The live view: a snapshot of the lab drawn for a terminal of 80 columns or more.

Pure: `render(snapshot, hints)` returns something that rich can print; `lab/screen.py` redraws it. From top to
bottom: nodes by rack, the workload, the repair step by step, the manager's reasons, and what to type next.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from msgspec import Struct
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from noderemedy.lab.lines import step_text
from noderemedy.lab.snapshot import Line, NodeRow, Snapshot, State, is_whole
from noderemedy.lab.story import Repair, Step

WIDE = 100
ROOMY = 32  # lines that the whole view takes with twelve nodes; below that it is drawn tighter
STEPS_SHOWN_TIGHT = 9
REASONS_USUAL = 4
STYLES: dict[State, str] = {
    State.READY: "green",
    State.NOT_READY: "bold red",
    State.MARKED: "bold yellow",
    State.HELD: "bold yellow",
    State.OFF: "bold blue",
    State.FREED: "bold magenta",
    State.BOOTING: "bold cyan",
    State.BACK: "bold green",
    State.GONE: "bold red",
}
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Hints(Struct, frozen=True):
    """What stays the same while a lab runs: where it is, and what to type in another terminal."""

    title: str
    commands: tuple[tuple[str, str], ...]


def render(snapshot: Snapshot, hints: Hints, width: int = WIDE, height: int = ROOMY) -> RenderableType:
    """The whole view, for a terminal of this size."""
    is_tight = height < ROOMY
    nodes_per_rack_max = max(4, height - ROOMY + 4)
    rows_max = min(nodes_per_rack_max, max(Counter(row.rack for row in snapshot.nodes).values()))
    others = ROOMY - 4 - REASONS_USUAL + rows_max + (len(snapshot.pods) + 2) // 3 - 2
    why = [] if is_tight else fitting(snapshot.reasons, width, height - others - len(snapshot.wrongs[-1:]))
    wrongs = [Text(f" {text}", "bold red", no_wrap=True, overflow="ellipsis") for text in snapshot.wrongs[-1:]]
    return Group(
        _title(snapshot, hints),
        *wrongs,
        Padding(nodes(snapshot, nodes_per_rack_max, width >= WIDE), (0, 1)),
        *([] if is_tight else [Text()]),
        Padding(workload(snapshot), (0, 1)),
        Rule(_repair_title(snapshot), align="left", style="dim"),
        Padding(repair(snapshot, is_tight), (0, 1)),
        *([] if is_tight else [Rule("why (the manager's reasons)", align="left", style="dim")]),
        Padding(reasons(why or list(snapshot.reasons[-1:]), is_tight), (0, 1)),
        Rule("now you, in another terminal (Ctrl-C here ends the lab)", align="left", style="dim"),
        Padding(commands(hints), (0, 1)),
    )


def _title(snapshot: Snapshot, hints: Hints) -> RenderableType:
    is_safe = not snapshot.freed_before_safe
    word = Text("freed before safe: ") + Text(str(snapshot.freed_before_safe), "bold green" if is_safe else "bold red")
    return Rule(Text(hints.title, "bold") + Text("  ·  ", "dim") + word, align="left", style="dim")


# --- nodes and workload --------------------------------------------------------------------------------------------


def nodes(snapshot: Snapshot, per_rack_max: int, is_wide: bool) -> RenderableType:
    """One column per rack; of a large cluster only the nodes that something happens to."""
    is_large = max(Counter(row.rack for row in snapshot.nodes).values()) > per_rack_max
    grid = Table.grid(padding=(0, 1), expand=True)
    columns = []
    for rack, rows in groupby(sorted(snapshot.nodes, key=lambda row: row.rack), key=lambda row: row.rack):
        grid.add_column(ratio=1)
        found = list(rows)
        shown = [row for row in found if row.state is not State.READY][: per_rack_max - 1] if is_large else found
        lines = [Text(rack, "dim"), *(node_line(row, is_wide) for row in shown)]
        if is_large:
            lines.append(Text(f"and {len(found) - len(shown)} more", "dim"))
        columns.append(Group(*lines))
    grid.add_row(*columns)
    return grid


def node_line(row: NodeRow, is_wide: bool) -> Text:
    mark = "●" if row.state in (State.READY, State.BACK) else "○"
    line = Text(f"{mark} ", STYLES[row.state], no_wrap=True) + Text(f"{row.name:<10}")
    line.append(row.state.value, STYLES[row.state])
    if row.cordoned:
        line.append(" cordoned", "yellow")
    if row.writes:
        line.append(" ✎ writes" if is_wide else " ✎", "bold red")
    if row.bmc_dead:
        line.append(" no BMC", "red")
    return line


def workload(snapshot: Snapshot) -> RenderableType:
    """The pods of the database, three in a row."""
    grid = Table.grid(padding=(0, 1), expand=True)
    columns = 3
    for _ in range(columns):
        grid.add_column(ratio=1, no_wrap=True)
    cells = []
    for pod in snapshot.pods:
        is_running = pod.phase == "Running"
        cell = Text("▪ " if is_running else "▫ ", "green" if is_running else "bold yellow") + Text(pod.name)
        cells.append(cell + Text(f" on {pod.node}" if pod.node else f" {pod.phase}", "dim" if is_running else "yellow"))
    for start in range(0, len(cells), columns):
        grid.add_row(*cells[start : start + columns])
    return grid


# --- the repair ----------------------------------------------------------------------------------------------------


def _repair_title(snapshot: Snapshot) -> Text:
    found = snapshot.repair
    if found is None:
        return Text("no repair")
    others = f", also in repair: {', '.join(snapshot.others)}" if snapshot.others else ""
    if found.is_recovered:
        return Text(f"repair of {found.node} ended after {found.recovered_s or 0:.1f} s{others}", "bold green")
    if found.is_over:
        return Text(f"{found.node} is well again by itself{others}", "bold green")
    age_s = (snapshot.now_ms - found.begun_ms) / 1000
    return Text(f"repair of {found.node}, {age_s:.1f} s{others}", "bold yellow")


def repair(snapshot: Snapshot, is_tight: bool) -> RenderableType:
    """The steps: done with their second, the one that is waited for, and those to come."""
    found = snapshot.repair
    if found is None:
        return Text("All is well. Cause a fault and watch.", "green" if is_whole(snapshot) else "yellow")
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right")
    for step in _window(found) if is_tight else found.steps:
        grid.add_row(*step_row(found, step, snapshot.now_ms))
    return grid


def _window(found: Repair) -> list[Step]:
    """The steps around the one that is waited for."""
    steps = list(found.steps)
    following = next_step(found)
    last = steps.index(following) + 2 if following else len(steps)
    end = max(STEPS_SHOWN_TIGHT, min(last, len(steps)))
    return steps[end - STEPS_SHOWN_TIGHT : end]


def step_row(found: Repair, step: Step, now_ms: int) -> tuple[Text, Text, Text]:
    text = step_text(found, step)
    if step in found.at:
        return Text("✓", "bold green"), Text(text), Text(f"{found.seconds(step) or 0:.2f} s", "dim")
    if found.is_over:
        return Text("–", "dim"), Text(text, "dim"), Text()
    if step is next_step(found):
        turn = SPINNER[now_ms // 120 % len(SPINNER)]
        return Text(turn, "bold yellow"), Text(text, "yellow"), Text("…", "yellow")
    return Text("·", "dim"), Text(text, "dim"), Text()


def next_step(found: Repair) -> Step | None:
    """The first step that has not come."""
    return next((step for step in found.steps if step not in found.at), None)


def fitting(lines: tuple[Line, ...], width: int, height: int) -> list[Line]:
    """The last reasons that fit into so many lines of the terminal, long ones being wrapped."""
    shown: list[Line] = []
    for line in reversed(lines):
        height -= 1 + len(line.text) // (width - 12)
        if height < 0:
            break
        shown.insert(0, line)
    return shown


def reasons(shown: list[Line], is_tight: bool) -> RenderableType:
    if not shown:
        return Text("none yet", "dim")
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="dim", no_wrap=True)
    grid.add_column(no_wrap=is_tight, overflow="ellipsis")
    for line in shown:
        grid.add_row(f"{line.at_s:.1f} s", Text(line.text, "bold red" if line.is_alert else ""))
    return grid


def commands(hints: Hints) -> RenderableType:
    """To be copied: where it is narrow, the meaning is cut off, never the command."""
    longest = max(len(command) for command, _ in hints.commands[1:])
    lines = [
        Text(f"{command:<{longest}}  ", "bold", no_wrap=True, overflow="ellipsis").append(meaning, "dim not bold")
        for command, meaning in hints.commands
    ]
    return Group(*lines)
