"""Starts `node-remedy lab` as a person would, in a process of its own, and ends it by Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.calling import Result, called

ROOT = Path(__file__).parent.parent.parent
FAST = "400"
PATIENCE_S = 100.0


def environment(**variables: str) -> dict[str, str]:
    """Ours without what a CI or an enclosing make put there, which hands on what it was told, too (`ARGS=-q`)."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    for ours in ("CI", "ARGS"):
        inherited.pop(ours, None)
    return {**inherited, **variables}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "noderemedy.cli.main", "lab", *arguments]


def lab(*arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `node-remedy lab …` to its end."""
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


class RunningLab:
    """A lab that lives, and what it has said so far."""

    def __init__(self, folder: Path, *arguments: str, typed: list[str] | None = None) -> None:
        self.folder = folder
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            typed or command("--speed", FAST, *arguments),
            cwd=folder,
            env=environment(PYTHONUNBUFFERED="1"),
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def kubeconfig(self) -> Path:
        return self.folder / ".lab" / "kubeconfig"

    @property
    def said(self) -> str:
        return "".join(self.lines)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)

    def wait_for(self, *words: str) -> str:
        """The first line with all these words; fails with everything that was said."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for line in list(self.lines):
                if all(word in line for word in words):
                    return line
            assert self.process.poll() is None, self.said
            time.sleep(0.02)
        raise AssertionError(f"nothing about {words} in:\n{self.said}")

    def fault(self, fault: str, node: str) -> Result:
        return called("lab", "fault", fault, node, "--dir", str(self.kubeconfig.parent))

    def interrupt(self, number: int = signal.SIGINT) -> int:
        """Ctrl-C, and the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return code


@contextmanager
def a_running_lab(folder: Path, *arguments: str) -> Iterator[RunningLab]:
    running = RunningLab(folder, *arguments)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()
