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
@click.option(
    "--remedy-image",
    default="",
    metavar="IMAGE",
    help="Ask what has to run on the node itself (SCSI reservations), too, by a privileged Job there from this image.",
)
def drill(
    node: str | None, is_json: bool, kubeconfig: Path | None, context: str, agents_path: str, remedy_image: str
) -> int:
    """Ask every fence device of every node, or of NODE, for its status. Switches nothing and writes nothing.

    Only --remedy-image creates Jobs: what has to run on the node itself cannot be asked otherwise.

    Says whether each device answers, and whether it is the node's: by its power, by the identity that it tells, and by
    the node's providerID. A host that is switched through its BareMetalHost is judged by what the API shows of it; no
    device is asked then. The exit code is 1 if anything is wrong, which a node without a fence configuration is, too.
    """
    now = Wall(time.time_ns() // 1_000_000)
    rows, remarks = asyncio.run(drilling.drill(kubeconfig, context, node, now, agents_path, remedy_image))
    options.remark(remarks)
    if is_json:
        click.echo(json.dumps([row.plain() for row in rows], indent=2, ensure_ascii=False))
    else:
        from noderemedy.cli.drilltext import show

        show(rows)
    return 0 if all(row.is_well for row in rows) else WRONG
