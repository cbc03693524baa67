"""Shows a running lab until it is told to stop: redrawn on a terminal, plain lines elsewhere.

Called by `node-remedy lab`. Drawing costs some milliseconds, so it happens eight times per second in the lab's own
event loop: no threads, nothing to lock.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from rich.console import Console
from rich.live import Live

from noderemedy.lab import files
from noderemedy.lab.lab import Lab
from noderemedy.lab.snapshot import take
from noderemedy.lab.view import Hints, render

FRAME_S = 0.125


def hints(lab: Lab, kubeconfig: Path) -> Hints:
    """Commands that work as printed, in any folder."""
    node = list(lab.cluster.servers)[min(2, lab.size.nodes - 1)]
    fault = f"{program()} lab fault hang {node}"
    if kubeconfig.parent != files.DEFAULT:
        fault += f" --dir {kubeconfig.parent}"
    return Hints(
        title=f"node-remedy lab · {lab.size.nodes} nodes",
        commands=(
            (f"export KUBECONFIG={kubeconfig.absolute()}", ""),
            ("kubectl get nodes -w", "or apply, patch, delete, drain"),
            (fault, "or crash, partition, bmc-down, heal"),
        ),
    )


def program() -> str:
    """How the reader can call us: by name, or by the path that worked just now."""
    called = Path(sys.argv[0])
    on_path = any((Path(folder) / called.name).exists() for folder in os.get_exec_path())
    return called.name if on_path or not called.exists() else os.path.relpath(called)


async def live(lab: Lab, kubeconfig: Path, stop: asyncio.Event) -> None:
    """Redraw until `stop`."""
    console = Console()
    told = hints(lab, kubeconfig)
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as screen:
        while not stop.is_set():
            lab.complain_if_dead()
            screen.update(render(take(lab), told, console.width, console.height), refresh=True)
            await _pause(stop)
        screen.update(render(take(lab), told, console.width, console.height), refresh=True)


async def _pause(stop: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(FRAME_S):
            await stop.wait()
    except TimeoutError:
        pass
