"""What `node-remedy drill` prints: a row per method, what is wrong below it, and who has no fence configuration."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from noderemedy.cli import options
from noderemedy.manager.drill import NO_PLAN, Row

HEADS = ("NODE", "METHOD", "AGENT", "POWER", "RESULT")
NAMED_MAX = 10


def show(rows: list[Row]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    bare = [row.node for row in rows if row.finding.word == NO_PLAN]
    nodes = len({row.node for row in rows})
    rows = [row for row in rows if row.finding.word != NO_PLAN]
    if rows:
        show_table(console, rows)
    elif not bare:
        console.print("No node has a fence configuration: there is no device to ask.")
    if bare:
        console.print(Text(unplanned(bare), style="red"))
    if rows:
        wrong = sum(not row.is_well for row in rows) + len(bare)
        asked = options.counted(sum(row.is_asked for row in rows), "answer")
        console.print(Text(f"{options.counted(nodes, 'node')}, {asked}, {wrong} wrong.", style="bold"))


def unplanned(nodes: list[str]) -> str:
    """One line, however many they are."""
    more = f" and {len(nodes) - NAMED_MAX} more" if len(nodes) > NAMED_MAX else ""
    have = "has" if len(nodes) == 1 else "have"
    who = f"{options.counted(len(nodes), 'node')} {have} no fence configuration: {', '.join(nodes[:NAMED_MAX])}{more}"
    return f"{who}; write ConfigMap fence-config-NODE, or one with a node_selector (clouds: node-remedy drill NODE)"


def show_table(console: Console, rows: list[Row]) -> None:
    """A row per method, and below it what is wrong, or how it is known."""
    lines = [HEADS, *(cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADS))]
    for number, line in enumerate(lines):
        words = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        style = "bold" if not number else "green" if rows[number - 1].is_well else "red"
        console.print(Text(words, style=style))
        if number and (told := rows[number - 1].finding.problem or rows[number - 1].note):
            console.print(Text(f"  {told}"))


def cells(row: Row) -> tuple[str, ...]:
    result = row.finding.word or ("answered" if row.is_asked else "not asked")
    return row.node, row.method or "-", row.agent or "-", row.power.value, result
