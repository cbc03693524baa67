"""The upgrade page with bash and a real kubectl: what a person would type, typed, in every state of a repair.

The cluster is the simulated one, served over HTTP while its virtual time runs a hundred times as fast as ours.
`tests/sim/test_upgrade.py` goes through far more states with a kubectl of its own: this shows that the two agree.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.conformance.simulated import Background
from tests.guide import page as pages
from tests.guide.stopped import NODE_OF, SETTLED_MS, Stopped, boundaries, variables

PAGE = pages.read("upgrade.md")
STEP_MS = 500
PAUSE_S = 0.005


def find(state: str) -> Stopped:
    """The first point of the first story that leaves this state behind."""
    stories = ((story, at) for story in NODE_OF for at in range(len(boundaries(story))))
    return next(stopped for story, at in stories if (stopped := Stopped(story, at)).state() == state)


class Terminal:
    """bash, with the real kubectl first on its path and a kubeconfig of its own."""

    def __init__(self, folder: Path, kubectl: str) -> None:
        self.folder = folder
        (folder / "kubectl").symlink_to(kubectl)
        (folder / "python3").symlink_to(sys.executable)

    def type(self, program: str, **more: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.folder}:{os.environ['PATH']}"
        environment = {"PATH": path, "HOME": str(self.folder), "KUBECONFIG": str(self.folder / "config"), **more}
        command = ["bash", "-euo", "pipefail", "-c", program]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=90, check=False)


@contextmanager
def served(stopped: Stopped, folder: Path) -> Iterator[None]:
    """The world lives on, quickly, and can be reached with the folder's kubeconfig."""
    background = Background()
    agenda = stopped.cluster.agenda

    async def live() -> None:
        while True:
            agenda.run_until(agenda.now_ms + STEP_MS)
            await asyncio.sleep(PAUSE_S)

    endpoint = background.serve(stopped.cluster.api, tls=True)
    (folder / "config").write_text(endpoint.kubeconfig())
    life = asyncio.run_coroutine_threadsafe(live(), background.loop)
    yield
    life.cancel()
    background.stop(endpoint)


@pytest.mark.parametrize("state", PAGE.states)
def test_bash_and_kubectl_finish_every_state(state: str, binaries: dict[str, str], tmp_path: Path) -> None:
    """The blocks that the page names for a state, pasted into a shell, leave nothing behind."""
    stopped = find(state)
    terminal = Terminal(tmp_path, binaries["kubectl"])

    with served(stopped, tmp_path):
        done = terminal.type(PAGE.program(*PAGE.states[state]), **variables(stopped.node))
    stopped.cluster.agenda.run_until(stopped.cluster.agenda.now_ms + SETTLED_MS)
    stopped.checkers.at_rest(None)

    assert 0 == done.returncode, done.stderr
    found = [line for line in stopped.checkers.violations if ": S15: " not in line]  # nobody is left to write records
    assert [] == found


def test_the_columns_show_the_state(binaries: dict[str, str], tmp_path: Path) -> None:
    """The commands that tell the state print request and hold of the node that is being repaired."""
    stopped = find("held, off")
    terminal = Terminal(tmp_path, binaries["kubectl"])

    with served(stopped, tmp_path):
        done = terminal.type(PAGE.program("Which state is it?"))

    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["metal3", "host-worker-1", "false", "machine-worker-1", '{"mode":"hard"}'] in lines
    assert ["metal3", "host-worker-2", "true", "machine-worker-2", "<none>"] in lines
    assert ["metal3", "machine-worker-1", "worker-1", "<none>"] in lines
    assert ["metal3", "machine-worker-2", "worker-2", "<none>", "<none>"] in lines


def test_a_pause_can_be_set_on_all_machines(binaries: dict[str, str], tmp_path: Path) -> None:
    """The command before an uninstall pauses every Machine of every namespace."""
    stopped = find("marked")
    terminal = Terminal(tmp_path, binaries["kubectl"])
    pause = next(block for block in PAGE.blocks["Before you uninstall"] if "kubectl" in block)

    with served(stopped, tmp_path):
        done = terminal.type(pause)

    assert 0 == done.returncode, done.stderr
    assert 3 == done.stdout.count("annotated")
