"""Programs that a test starts: each in its own process group, its words in a file, and none left behind.

A program ends with its test, with the interpreter (atexit), and, where the kernel offers it, even when the
interpreter is killed: the children ask to be told of their parent's death.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1


class Program:
    """One running program."""

    def __init__(self, command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self.name = Path(command[0]).name
        self.log = log
        with log.open("ab") as words:
            self.process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=subprocess.STDOUT,
                env=dict(environment) if environment is not None else None,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        atexit.register(self.kill)

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        """Ends the whole group at once; nothing here has anything to lose."""
        atexit.unregister(self.kill)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=10)

    def terminate(self, seconds: float = 20.0) -> int:
        """Asks it to end, as a pod's end does, and waits; its exit status."""
        self.process.terminate()
        return self.process.wait(timeout=seconds)

    def last_words(self, lines: int = 15) -> str:
        """The end of its log, for a message."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def die_with_parent() -> None:
    """Runs in the child: a killed test run takes its servers with it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port() -> int:
    """A port of the loopback address that nobody used a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
