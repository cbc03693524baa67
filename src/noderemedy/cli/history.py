"""`node-remedy history`: what happened to nodes, and what was done about it. Reads Incidents, changes nothing."""

from __future__ import annotations

import json
import sys
import time
from difflib import get_close_matches
from pathlib import Path

import click

from noderemedy.cli import options
from noderemedy.manager import history as keeping
from noderemedy.manager import sources
from noderemedy.model.meta import Malformed
from noderemedy.model.time import Wall
from noderemedy.wire.scalars import read_duration, read_wall


def past(ctx: click.Context, param: click.Parameter, value: str | None) -> Wall | None:
    """A moment, or a length of time before now."""
    if value is None:
        return None
    days = value[:-1] if value.endswith("d") and value[:-1].isdigit() else ""
    span = read_duration(f"{int(days) * 24}h" if days else value)
    if not isinstance(span, Malformed):
        return Wall(time.time_ns() // 1_000_000 - span.ms)
    at = read_wall(value)
    if isinstance(at, Malformed):
        told = f"{value!r} is neither a length of time like 24h or 7d nor a time like 2030-01-31T12:00:00Z"
        raise click.BadParameter(told, ctx, param)
    return at


@click.command()
@click.argument("name", metavar="[NODE|MACHINE|INCIDENT]", default="")
@options.filename
@click.option("--since", callback=past, metavar="AGE|TIME", help="Leave out what was over before: 24h, 7d, or a time.")
@click.option(
    "--by",
    type=click.Choice(["workload", "condition"]),
    help="Count by what ran on the nodes (is one pod the cause?), or by node and condition (who repeats?).",
)
@options.output
@options.kubeconfig
@options.context
def history(
    name: str,
    names: tuple[str, ...],
    since: Wall | None,
    by: str | None,
    is_json: bool,
    kubeconfig: Path | None,
    context: str,
) -> None:
    """List incidents, the newest first: of all nodes, of one node or machine, or one incident with all its steps.

    Changes nothing.
    """
    options.one_source(names, kubeconfig, context)
    kept, remarks = files(names) if names else live(kubeconfig, context)
    options.remark(remarks)
    found = keeping.chosen(kept, name, since)
    if by is not None:
        show_counts(by, found, is_json=is_json)
        return
    if is_json:
        click.echo(json.dumps([one.plain() for one in found], indent=2, ensure_ascii=False))
        return
    from noderemedy.cli import historytext

    if not found:
        click.echo(nothing(kept, name, since))
    elif [name] == [one.at.name for one in found]:
        historytext.show_one(found[0])
    else:
        historytext.show(found)


def show_counts(by: str, found: list[keeping.Kept], *, is_json: bool) -> None:
    workloads = keeping.by_workload(found) if by == "workload" else []
    problems = keeping.by_condition(found) if by == "condition" else []
    if is_json:
        listed = [*(one.plain() for one in workloads), *(one.plain() for one in problems)]
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
        return
    from noderemedy.cli import historytext

    if by == "workload":
        historytext.show_workloads(workloads)
    else:
        historytext.show_problems(problems)


def nothing(kept: list[keeping.Kept], name: str, since: Wall | None) -> str:
    """Why the list is empty."""
    after = f" since {since}" if since else ""
    if not name:
        return f"No incidents{after}."
    if not kept:
        return f"No incidents of {name}: none of any node is recorded."
    if any(name in keeping.called(one) for one in kept):
        return f"No incidents of {name}{after}."
    near = get_close_matches(name, sorted({known for one in kept for known in keeping.called(one)}), n=3)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"No incidents of {name}.{hint}"


def files(names: tuple[str, ...]) -> tuple[list[keeping.Kept], list[str]]:
    return keeping.in_files(sources.objects(names, sys.stdin.buffer.read))


def live(kubeconfig: Path | None, context: str) -> tuple[list[keeping.Kept], list[str]]:
    import asyncio

    return asyncio.run(keeping.in_cluster(kubeconfig, context))
