"""`node-remedy stop|release|attest NODE`: what a person does to the fence of a node."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from noderemedy.cli import options
from noderemedy.model.ids import NODE, Ref
from noderemedy.model.time import Wall
from noderemedy.wire.fenceconfig import CLUSTER


def cluster_name(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """As Clusters are named; any other word would be a cluster that nobody has."""
    if value and not CLUSTER.fullmatch(value):
        raise click.BadParameter(f"{value!r} names no Cluster; write NAMESPACE/NAME", ctx, param)
    return value


cluster = click.option(
    "--cluster",
    default="",
    callback=cluster_name,
    metavar="NAMESPACE/NAME",
    help="The workload cluster that has the node; left out: this one.",
)


def steered(command: Callable[..., None]) -> Callable[..., None]:
    """The argument and the options that all three share."""
    for part in (options.context, options.kubeconfig, cluster, click.argument("node")):
        command = part(command)
    return command


def do(act: Any, node: str, cluster: str, kubeconfig: Path | None, context: str) -> None:
    import asyncio

    from noderemedy.manager import steering

    click.echo(asyncio.run(steering.at_desk(kubeconfig, context, Ref(cluster, NODE, "", node), act)))


@click.command()
@steered
@click.option("--undo", is_flag=True, help="Let a fence that was stopped begin anew.")
def stop(node: str, cluster: str, kubeconfig: Path | None, context: str, *, undo: bool) -> None:
    """Stop the fence of NODE: no new step, power comes back, nothing more is freed, isolation stays."""
    from noderemedy.manager import steering

    do(steering.go_on if undo else steering.stop, node, cluster, kubeconfig, context)


@click.command()
@steered
def release(node: str, cluster: str, kubeconfig: Path | None, context: str) -> None:
    """Release NODE: power comes back, isolation is undone, and its NodeFence goes."""
    from noderemedy.manager import steering

    do(steering.release, node, cluster, kubeconfig, context)


def named(node: str) -> str:
    """What a person types; whoever ends the input instead has attested nothing, and is told so."""
    try:
        return str(click.prompt(f"Type the name of the node that is off, to attest it ({node})", err=True))
    except click.Abort:
        told = "no name was typed: nothing was attested; type the name of the node, or write --yes"
        raise click.UsageError(told) from None


@click.command()
@steered
@click.option("--yes", is_flag=True, help="Do not ask to type the name of the node.")
def attest(node: str, cluster: str, kubeconfig: Path | None, context: str, *, yes: bool) -> None:
    """Attest that NODE is off: its workload is freed on your word.

    If the node still runs, two copies of its workload will write to the same volumes. Pull its plugs first.
    """
    from noderemedy.drivers.kube.config import load
    from noderemedy.manager.attesting import attest as sign

    if not yes:
        access = load(kubeconfig, context)  # nodes of two clusters may have one name
        whose = f" of cluster {cluster}" if cluster else ""
        click.echo(f"Node {node}{whose}, by {access.server} ({access.origin}).", err=True)
        click.echo(f"Its workload will be started elsewhere. If {node} still runs, data is lost.", err=True)
        typed = named(node)
        if typed != node:
            raise click.UsageError(f"{typed!r} is not {node!r}: nothing was attested")
    do(partial(sign, now=Wall(time.time_ns() // 1_000_000)), node, cluster, kubeconfig, context)
