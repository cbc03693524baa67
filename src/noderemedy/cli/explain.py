"""`node-remedy explain NODE|MACHINE`: why is nothing done, what comes next, and when. Changes nothing."""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from pathlib import Path

import click

from noderemedy.cli import options
from noderemedy.cli.plan import moment
from noderemedy.manager import explain as explaining
from noderemedy.manager import plan as planning
from noderemedy.manager import sources
from noderemedy.manager.describing import describe_here
from noderemedy.model.time import Wall


@click.command()
@click.argument("name", metavar="NODE|MACHINE")
@options.filename
@click.option("--now", callback=moment, metavar="TIME", help="Look as if it were this time, like 2030-01-31T12:00:00Z.")
@options.output
@options.kubeconfig
@options.context
@options.agents_path
def explain(
    name: str,
    names: tuple[str, ...],
    now: Wall | None,
    is_json: bool,
    kubeconfig: Path | None,
    context: str,
    agents_path: str,
) -> None:
    """Show what is known about one node or machine: who judges it, every gate before its repair, and what is next.

    Where several have the name, write node/NAME or machine/NAMESPACE/NAME. Changes nothing.
    """
    at = now or Wall(time.time_ns() // 1_000_000)
    options.one_source(names, kubeconfig, context)
    look, remarks = files(names, at, agents_path) if names else live(kubeconfig, context, at, agents_path)
    found = explaining.explain(look, name)
    options.remark(remarks)
    if is_json:
        click.echo(json.dumps([one.plain() for one in found], indent=2, ensure_ascii=False))
        return
    from noderemedy.cli import explaintext

    explaintext.show(found, at)


def files(names: tuple[str, ...], now: Wall, agents_path: str) -> tuple[planning.Look, list[str]]:
    describe = partial(describe_here, agents_path=agents_path)
    return planning.look_at(sources.objects(names, sys.stdin.buffer.read), now, describe=describe)


def live(kubeconfig: Path | None, context: str, now: Wall, agents_path: str) -> tuple[planning.Look, list[str]]:
    import asyncio

    from noderemedy.manager import liveplan

    return asyncio.run(liveplan.look_at(kubeconfig, context, now, agents_path))
