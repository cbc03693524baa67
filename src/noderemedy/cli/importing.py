"""`node-remedy import`: what will behave differently when node-remedy takes over existing health checks."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import click
import yaml

from noderemedy.cli import options
from noderemedy.cli.plan import moment
from noderemedy.manager import sources
from noderemedy.manager.importing.convert import convert, remarks
from noderemedy.manager.importing.examine import examine
from noderemedy.manager.importing.report import Report
from noderemedy.manager.importing.world import World
from noderemedy.model.time import Wall

HEADER = """\
# Checks that name a template instead of the annotation. Look at them, then: kubectl apply --validate=strict -f FILE
# (strict: an API server that does not know the template's field must refuse it, not drop it).
# On OpenShift a machine in phase Failed was deleted; with a template its request decides what becomes of it.
# kubectl may leave the annotation machine.openshift.io/remediation-strategy where it is: it yields to the template.
"""


@click.command("import")
@options.filename
@click.option(
    "--convert",
    "converts",
    is_flag=True,
    help="Print checks that repair by annotation as checks with a template, and the templates.",
)
@click.option(
    "--only", multiple=True, metavar="NAMESPACE/NAME", help="With --convert: only this check. May be repeated."
)
@click.option("--now", callback=moment, metavar="TIME", help="Look as if it were this time, like 2030-01-31T12:00:00Z.")
@options.output
@options.kubeconfig
@options.context
def import_checks(
    names: tuple[str, ...],
    converts: bool,
    only: tuple[str, ...],
    now: Wall | None,
    is_json: bool,
    kubeconfig: Path | None,
    context: str,
) -> None:
    """Show what will behave differently for MachineHealthChecks and NodeHealthChecks. Changes nothing.

    A kubectl dump will do: kubectl get machinehealthchecks,machines -A -o yaml --show-managed-fields | node-remedy
    import -f -
    """
    options.one_source(names, kubeconfig, context)
    if only and not converts:
        raise click.UsageError("--only chooses what is converted; add --convert, or leave it out")
    if converts and is_json:
        raise click.UsageError("--convert prints YAML for kubectl apply; leave the output format out")
    world = World(sources.objects(names, sys.stdin.buffer.read) if names else live(kubeconfig, context))
    if converts:
        show_converted(world, only)
        return
    show(examine(world, now or Wall(time.time_ns() // 1_000_000)), is_json=is_json)


def live(kubeconfig: Path | None, context: str) -> list[sources.Source]:
    import asyncio

    from noderemedy.manager.importing.live import on_cluster

    return asyncio.run(on_cluster(kubeconfig, context))


def show_converted(world: World, only: tuple[str, ...]) -> None:
    documents = convert(world, only)
    options.remark([*world.remarks, *remarks(world, only)])
    if not documents:
        click.echo("Nothing to convert: no check repairs by annotation.", err=True)
        return
    click.echo(HEADER + yaml.safe_dump_all(documents, sort_keys=False, explicit_start=True), nl=False)


def show(report: Report, *, is_json: bool) -> None:
    options.remark(report.remarks)
    if is_json:
        click.echo(json.dumps(report.plain(), indent=2, ensure_ascii=False))
        return
    from noderemedy.cli import importtext

    importtext.show(report)
