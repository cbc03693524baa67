"""Calls `node-remedy` inside this process: for what ends by itself, where a process of its own would show no more."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from noderemedy.cli.main import main


class Result(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def called(*words: str | Path) -> Result:
    """The command with all that surrounds it: exit codes, and errors as one line."""
    output, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        try:
            main([str(word) for word in words])
        except SystemExit as ended:
            code = ended.code
    return Result(code if isinstance(code, int) else 1, output.getvalue(), errors.getvalue())
