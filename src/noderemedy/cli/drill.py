"""`node-remedy drill [NODE]`: asks every fence device for its status, and says which would fail when it is needed."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import click

from noderemedy.cli import options
from noderemedy.drivers.fence.agents import folders
from noderemedy.drivers.fence.verify import Hand
from noderemedy.manager import drill as drilling
from noderemedy.manager.drill import Row
from noderemedy.model.time import Wall

WRONG = 1  # the exit code if anything is
HEADS = ("NODE", "METHOD", "AGENT", "POWER", "RESULT")


@click.command()
@click.argument("node", required=False)
@options.output
@options.kubeconfig
@options.context
@options.agents_path
def drill(node: str | None, is_json: bool, kubeconfig: Path | None, context: str, agents_path: str) -> int:
    """Ask every fence device of every node, or of NODE, for its status. Switches nothing and writes nothing.

    Says whether each device answers, and whether it is the node's: by its power, by the identity that it tells, and by
    the node's providerID. The exit code is 1 if anything is wrong.
    """
    hand = Hand(folders(agents_path, os.environ))
    now = Wall(time.time_ns() // 1_000_000)
    rows = asyncio.run(drilling.drill(kubeconfig, context, node, hand, now))
    if is_json:
        click.echo(json.dumps([row.plain() for row in rows], indent=2, ensure_ascii=False))
    else:
        show(rows)
    return 0 if all(row.is_well for row in rows) else WRONG


def show(rows: list[Row]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    if not rows:
        console.print("No node has a fence configuration: there is no device to ask.")
        return
    lines = [HEADS, *(cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADS))]
    for number, line in enumerate(lines):
        words = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        style = "bold" if not number else "green" if rows[number - 1].is_well else "red"
        console.print(Text(words, style=style))
        if number and not rows[number - 1].is_well:
            console.print(Text(f"  {rows[number - 1].finding.problem}"))
    wrong = sum(not row.is_well for row in rows)
    nodes = len({row.node for row in rows})
    told = f"{options.counted(nodes, 'node')}, {options.counted(len(rows), 'answer')}, {wrong} wrong."
    console.print(Text(told, style="bold"))


def cells(row: Row) -> tuple[str, ...]:
    return row.node, row.method or "-", row.agent or "-", row.power.value, row.finding.word or "answered"
