"""`node-remedy plan`: what would be done, and why, on files or on a live cluster. Changes nothing."""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from pathlib import Path

import click

from noderemedy.cli import options
from noderemedy.manager import plan as planning
from noderemedy.manager import sources
from noderemedy.manager.describing import describe_here
from noderemedy.model.meta import Malformed
from noderemedy.model.time import Wall
from noderemedy.wire.scalars import read_wall


def moment(ctx: click.Context, param: click.Parameter, value: str | None) -> Wall | None:
    """An RFC 3339 moment."""
    found = read_wall(value) if value is not None else None
    if isinstance(found, Malformed):
        raise click.BadParameter(found.problem, ctx, param)
    return found


@click.command()
@options.filename
@click.option(
    "--now",
    callback=moment,
    metavar="TIME",
    help="Decide as if it were this time, like 2030-01-31T12:00:00Z.",
)
@options.output
@options.kubeconfig
@options.context
@options.agents_path
def plan(
    names: tuple[str, ...],
    now: Wall | None,
    is_json: bool,
    kubeconfig: Path | None,
    context: str,
    agents_path: str,
) -> None:
    """Show every action that would be taken next, its reasons and when the next look is due. Changes nothing.

    A kubectl dump will do: kubectl get nodes,machines,bmh,metal3machines -A -o yaml | node-remedy plan -f -
    """
    at = now or Wall(time.time_ns() // 1_000_000)
    options.one_source(names, kubeconfig, context)
    if names:
        found = sources.objects(names, sys.stdin.buffer.read)
        made = planning.on_trees(found, at, describe=partial(describe_here, agents_path=agents_path))
    else:
        made = live(kubeconfig, context, at, agents_path)
    options.remark(made.remarks)
    show(made, at, is_json=is_json)


def live(kubeconfig: Path | None, context: str, now: Wall, agents_path: str) -> planning.Plan:
    import asyncio

    from noderemedy.manager import liveplan

    return asyncio.run(liveplan.on_cluster(kubeconfig, context, now, agents_path))


def show(made: planning.Plan, now: Wall, *, is_json: bool) -> None:
    if is_json:
        click.echo(json.dumps([entry.plain() for entry in made.entries], indent=2, ensure_ascii=False))
        return
    from noderemedy.cli import plantext

    plantext.show(made, now)
