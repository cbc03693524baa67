"""The lab on a terminal: a pseudo-terminal shows the live view, and Ctrl-C typed there ends it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time
from pathlib import Path

import pytest
from tests.lab.running import FAST, PATIENCE_S, command, environment

from noderemedy.lab.story import OF_POWER_CYCLE, Step

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """A program on a terminal of 80 × 24, and everything that it has drawn."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        self.drawn = ""
        self.process = subprocess.Popen(
            command(*arguments),
            cwd=folder,
            env=environment(TERM="xterm", COLUMNS="80", LINES="24"),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C reaches it as a signal
        )
        os.close(slave)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def wait_for(self, words: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while words not in self.drawn and time.monotonic() < deadline and self._read():
            pass
        assert words in self.drawn, self.drawn[-3000:]

    def end(self) -> int:
        while self._read():
            pass
        os.close(self._master)
        return self.process.wait(PATIENCE_S)

    def _read(self) -> bool:
        """Read some more; False when the program has closed its terminal."""
        readable, _, _ = select.select([self._master], [], [], PATIENCE_S)
        try:
            data = os.read(self._master, 65536) if readable else b""
        except OSError:  # how Linux says that nobody holds the other end
            return False
        self.drawn += ESCAPES.sub("", data.decode(errors="replace"))
        return bool(data)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, "--speed", FAST)


def test_a_person_watches_a_repair_and_ends_the_lab(terminal: Terminal) -> None:
    """The view shows every step of the repair as done; Ctrl-C ends it with 0 and a word of good-bye."""
    terminal.wait_for("ended after")
    terminal.type("\x03")

    assert 0 == terminal.end()
    assert [] == [step for step in OF_POWER_CYCLE if step is not Step.BEGUN and f"✓ {step.value}" not in terminal.drawn]
    assert "freed before safe: 0" in terminal.drawn
    assert "kubectl get nodes -w" in terminal.drawn
    assert "Traceback" not in terminal.drawn
    assert terminal.drawn.rstrip().endswith("nothing is left running.")
