"""`node-remedy manager`: the long-running program, with its signals and its logs."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import uuid
from pathlib import Path

import click

from noderemedy.cli import options
from noderemedy.drivers import logs
from noderemedy.drivers.kube.config import load
from noderemedy.manager.program import LOG, run
from noderemedy.manager.settings import NAMESPACE, Agents, Settings
from noderemedy.model.errors import Theirs
from noderemedy.model.meta import Malformed
from noderemedy.model.time import MINUTE, Span
from noderemedy.wire.scalars import read_duration

NAMESPACE_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
ADDRESS = re.compile(r"([0-9.]+|\[[0-9a-fA-F:]+\]):[0-9]{1,5}")
LEVELS = ("debug", "info", "warning", "error")


def namespace_name(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """A name that a namespace can have: anything else would be looked for in vain, for ever."""
    if not NAMESPACE_NAME.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no name of a namespace; use letters a-z, digits and -", ctx, param)
    return value


def period(ctx: click.Context, param: click.Parameter, value: str | None) -> Span | None:
    """A duration like 24h, and not less than a minute: devices have other things to do."""
    if value is None:
        return None
    found = read_duration(value)
    if isinstance(found, Malformed):
        raise click.BadParameter(found.problem, ctx, param)
    if found < MINUTE:
        raise click.BadParameter(f"{value!r} is shorter than a minute; write a time like 24h", ctx, param)
    return found


def address_and_port(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """As in 0.0.0.0:7410 or [::]:7410."""
    if value and not ADDRESS.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no address and port; write them like 0.0.0.0:7410", ctx, param)
    return value


@click.command()
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="How to reach the cluster; not needed in a pod.")
@options.context
@click.option(
    "--namespace",
    default=NAMESPACE,
    show_default=True,
    callback=namespace_name,
    help="Where the leader's lease lives.",
)
@click.option("--dry-run", is_flag=True, help="Decide and log, and write nothing: no lease, no events.")
@click.option("--metrics-port", type=click.IntRange(0, 65535), help="Serve /metrics, /healthz and /readyz there.")
@click.option("--metrics-host", default="127.0.0.1", show_default=True, help="The address for that port.")
@click.option(
    "--agents",
    type=click.Choice([one.value for one in Agents]),
    default=Agents.PROCESS.value,
    show_default=True,
    help="Run fence agents as processes of the manager, or each as a Job.",
)
@options.agents_path
@click.option("--remedy-image", default="", help="The image of Jobs, by its registry's name: deploy/remedy-image.")
@click.option(
    "--drill-every", callback=period, help="Ask the fence devices of every node so often, like 24h; left out: never."
)
@click.option(
    "--kdump-listen",
    default="",
    callback=address_and_port,
    help="ADDRESS:PORT where crash kernels say that they write a dump (7410 by custom); left out: nobody listens.",
)
@click.option("--node", default="", envvar="NODE_NAME", help="The node that it runs on: it never repairs that one.")
@click.option("--identity", default="", help="The name in the lease; left out: made up anew for every process.")
@click.option("--log-level", type=click.Choice(LEVELS), default="info", show_default=True)
def manager(
    kubeconfig: Path | None,
    context: str,
    namespace: str,
    dry_run: bool,
    metrics_port: int | None,
    metrics_host: str,
    agents: str,
    agents_path: str,
    remedy_image: str,
    kdump_listen: str,
    drill_every: Span | None,
    node: str,
    identity: str,
    log_level: str,
) -> int:
    """Run the manager: repair nodes until it is stopped. Logs are JSON lines on standard error.

    SIGTERM or Ctrl-C: finish what is in flight, hand the lease over and end. A second one ends at once.
    """
    if agents == Agents.JOB.value and not remedy_image:
        raise click.UsageError("--agents job needs --remedy-image IMAGE: where you pushed deploy/remedy-image to")
    settings = Settings(
        access=load(kubeconfig, context),
        identity=identity or made_up_name(),
        namespace=namespace,
        is_dry=dry_run,
        metrics_host=metrics_host,
        metrics_port=metrics_port,
        freezes_garbage=True,
        agents=Agents(agents),
        agents_path=agents_path,
        remedy_image=remedy_image,
        kdump_listen=kdump_listen,
        drill_every=drill_every,
        node=node,
    )
    logs.set_up(log_level)
    return asyncio.run(until_signalled(settings))


def made_up_name() -> str:
    return f"{socket.gethostname()}_{uuid.uuid4().hex[:8]}"


async def until_signalled(settings: Settings) -> int:
    """Run until a signal comes; the exit code."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, on_signal, stop, number)
    try:
        await run(settings, stop)
    except Theirs:
        raise
    except Exception:  # noqa: BLE001  it was logged where it happened; a restart is the remedy
        return 1
    return 0


def on_signal(stop: asyncio.Event, number: signal.Signals) -> None:
    if stop.is_set():
        os._exit(128 + number)
    LOG.info("stopping", signal=number.name, remedy="send it again to end at once")
    stop.set()
