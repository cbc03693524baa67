"""`node-remedy drill [NODE]`: asks every fence device for its status, and says which would fail when it is needed."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import click

from noderemedy.cli import options
from noderemedy.manager import drill as drilling
from noderemedy.model.time import Wall

WRONG = 1  # the exit code if anything is


@click.command()
@click.argument("node", required=False)
@options.output
@options.kubeconfig
@options.context
@options.agents_path
def drill(node: str | None, is_json: bool, kubeconfig: Path | None, context: str, agents_path: str) -> int:
    """Ask every fence device of every node, or of NODE, for its status. Switches nothing and writes nothing.

    Says whether each device answers, and whether it is the node's: by its power, by the identity that it tells, and by
    the node's providerID. A host that is switched through its BareMetalHost is judged by what the API shows of it; no
    device is asked then. The exit code is 1 if anything is wrong, which a node without a fence configuration is, too.
    """
    now = Wall(time.time_ns() // 1_000_000)
    rows, remarks = asyncio.run(drilling.drill(kubeconfig, context, node, now, agents_path))
    options.remark(remarks)
    if is_json:
        click.echo(json.dumps([row.plain() for row in rows], indent=2, ensure_ascii=False))
    else:
        from noderemedy.cli.drilltext import show

        show(rows)
    return 0 if all(row.is_well for row in rows) else WRONG
