"""`node-remedy lab`: a whole cluster on this machine, to watch a repair and to play with; `lab fault` disturbs it.

Three ways to run: on a terminal a live view, elsewhere plain lines, and with `--once` (or CI=true) one scenario with
an exit code: 0 if it ended as it should, 1 if not.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path

import click
import msgspec

from noderemedy.drivers import logs
from noderemedy.lab import control, files, lines, screen
from noderemedy.lab.faults import FAULTS
from noderemedy.lab.files import Folder
from noderemedy.lab.lab import Lab, Size, open_lab
from noderemedy.lab.once import Play, Report
from noderemedy.lab.scenarios import DEFAULT, SCENARIOS, find

INTERRUPTED = 130
FASTEST = 1000.0
LARGEST = 1000


class Wishes(msgspec.Struct, frozen=True):
    """What the command line asked for."""

    size: Size
    scenario: str
    port: int
    is_once: bool = False
    is_json: bool = False
    until_alert: bool = False


@click.group(invoke_without_command=True)
@click.option("--nodes", type=click.IntRange(1, LARGEST), default=12, show_default=True, help="How many nodes.")
@click.option(
    "--speed",
    type=click.FloatRange(0, FASTEST, min_open=True),
    default=150.0,
    show_default=True,
    help="How much faster than usual things happen in the world. Clocks are always real.",
)
@click.option("--scenario", default=DEFAULT, show_default=True, help="What happens first; see --list.")
@click.option("--list", "is_list", is_flag=True, help="List scenarios and faults.")
@click.option("--once", "is_once", is_flag=True, help="Run the scenario and end: exit code 0 if all went as it should.")
@click.option("--json", "is_json", is_flag=True, help="With --once: print one JSON object and nothing else.")
@click.option("--until-alert", is_flag=True, help="With --once: wait for the alert too (2 or 10 minutes, real clock).")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The endpoint's port on 127.0.0.1; free if 0.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the kubeconfig goes.  [default: .lab; with --once a temporary folder]",
)
@click.pass_context
def lab(
    ctx: click.Context,
    nodes: int,
    speed: float,
    scenario: str,
    is_list: bool,
    is_once: bool,
    is_json: bool,
    until_alert: bool,
    port: int,
    folder: Path | None,
) -> int:
    """A simulated cluster with a real manager: watch a node fail and be repaired, then play with it."""
    if ctx.invoked_subcommand:
        return 0
    if is_list:
        click.echo(listing())
        return 0
    find(scenario)
    is_once = is_once or os.environ.get("CI") == "true"
    for name, is_wanted in (("--json", is_json), ("--until-alert", until_alert)):
        if is_wanted and not is_once:
            raise click.UsageError(f"{name} needs --once")
    wishes = Wishes(Size(nodes, speed), scenario, port, is_once, is_json, until_alert)
    if folder is None and is_once:
        with tempfile.TemporaryDirectory(prefix="node-remedy-lab-") as temporary:
            return run(wishes, Path(temporary))
    return run(wishes, folder or files.DEFAULT)


@lab.command()
@click.argument("fault")
@click.argument("node")
@click.option("--dir", "folder", type=click.Path(path_type=Path), default=files.DEFAULT, help="The lab's folder.")
def fault(fault: str, node: str, folder: Path) -> None:
    """Cause a FAULT on a NODE of a running lab.

    node-remedy lab --list names the faults.
    """
    click.echo(control.ask(folder / "kubeconfig", fault, node))


def listing() -> str:
    """Scenarios and faults, one per line."""
    told = [f"  {name:<16} {scenario.tells}: {scenario.end.value}" for name, scenario in SCENARIOS.items()]
    caused = [f"  {name:<16} {fault.means}" for name, fault in FAULTS.items()]
    return "\n".join(["Scenarios (--scenario):", *told, "", "Faults (node-remedy lab fault FAULT NODE):", *caused])


def run(wishes: Wishes, path: Path) -> int:
    """Open the folder, run the lab, and leave nothing behind."""
    folder = Folder(path)
    try:
        with (path / "manager.log").open("w") as log:
            logs.set_up(stream=log)
            return asyncio.run(_run(wishes, folder))
    finally:
        folder.close()


async def _run(wishes: Wishes, folder: Folder) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with open_lab(wishes.size, folder, wishes.port) as running:
        if wishes.is_once:
            return await _once(running, wishes, stop)
        return await _play(running, wishes, folder, stop)


async def _once(running: Lab, wishes: Wishes, stop: asyncio.Event) -> int:
    if not wishes.is_json:
        click.echo(lines.opening(running))
        lines.narrate(running, click.echo)
    report = await _unless(stop, asyncio.create_task(_story(running, wishes)))
    if report is None:
        click.echo("interrupted", err=True)
        return INTERRUPTED
    text = msgspec.json.encode(report).decode() if wishes.is_json else "\n".join(lines.ending(report))
    click.echo(text)
    for wrong in running.wrongs():
        click.echo(wrong, err=True)
    return 0 if report.ok else 1


async def _play(running: Lab, wishes: Wishes, folder: Folder, stop: asyncio.Event) -> int:
    """Tell the first story, then live on until somebody stops it."""
    story = asyncio.create_task(_story(running, wishes))
    story.add_done_callback(lambda task: stop.set() if not task.cancelled() and task.exception() else None)
    try:
        if sys.stdout.isatty():
            await screen.live(running, folder.kubeconfig, stop)
        else:
            await _talk(running, folder, stop)
    finally:
        story.cancel()
        await asyncio.wait([story])
    if not story.cancelled() and (problem := story.exception()):
        raise problem
    click.echo("The lab has ended; nothing is left running.")
    return 0


async def _talk(running: Lab, folder: Folder, stop: asyncio.Event) -> None:
    click.echo(lines.opening(running))
    for command, meaning in screen.hints(running, folder.kubeconfig).commands:
        click.echo(f"  {command}{f'   ({meaning})' if meaning else ''}")
    lines.narrate(running, click.echo)
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait([stopped, running.manager], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not stop.is_set():
        running.complain_if_dead()


async def _story(running: Lab, wishes: Wishes) -> Report:
    await running.ready()
    return await Play(running, wishes.scenario, wishes.until_alert).run()


async def _unless(stop: asyncio.Event, story: asyncio.Task[Report]) -> Report | None:
    """The report, or None if somebody stopped us first."""
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait([story, stopped], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if story.done():
        return story.result()
    story.cancel()
    return None
