"""A real shell and a real kubectl at a simulated cluster, served over HTTP while its virtual time runs quickly.

Used by the end-to-end tests of the guide's pages: `tests/guide/shell.py` is the same in virtual time, and faster.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conformance.simulated import Background
from tests.guide.page import Page

from noderemedy.sim.cluster import Cluster

STEP_MS = 500
PAUSE_S = 0.005
TRIES = 5


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

    def paste(self, page: Page, blocks: Iterable[str], **more: str) -> subprocess.CompletedProcess[str]:
        """One block after the other; one that met a conflict once more, as pages say. How the last one ended."""
        done = self.type("true")
        for name in blocks:
            for _ in range(TRIES):
                done = self.type(page.program(name), **more)
                if "Conflict" not in done.stderr:
                    break
            if done.returncode:
                break
        return done


@contextmanager
def served(cluster: Cluster, folder: Path) -> Iterator[Background]:
    """The world lives on, quickly, and can be reached with the folder's kubeconfig."""
    background = Background()
    agenda = cluster.agenda

    async def live() -> None:
        while True:
            agenda.run_until(agenda.now_ms + STEP_MS)
            await asyncio.sleep(PAUSE_S)

    endpoint = background.serve(cluster.api, tls=True)
    (folder / "config").write_text(endpoint.kubeconfig())
    life = asyncio.run_coroutine_threadsafe(live(), background.loop)
    yield background
    life.cancel()
    background.stop(endpoint)
