"""Secrets that an agent wants as files: private, in memory where that can be had, and gone when the run is over.

Called by `verify.py` around a run. Rule: what a Secret says is in the file and nowhere else; agents are told the path.
The folder's name says until when it may be needed, so that what a killed process left behind is removed by the next
one, and not from under an agent that outlived the one who started it.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from noderemedy.model.agent import wants_file
from noderemedy.model.errors import Permanent

MEMORY = Path("/dev/shm")  # noqa: S108  every container and every Linux has one; nothing in it is ever on a disk
PREFIX = "node-remedy-secrets-"
LEFT = re.compile(re.escape(PREFIX) + r"(\d{1,12})-.*")
SHORTEST_LINE = 8  # a line that is a bracket is in every text


class NotWritten(Permanent):
    """A parameter that is a file has none: names the parameter and the remedy, never what is in it."""


def home() -> Path:
    """Where the folders are made."""
    return MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


@contextmanager
def handed(secrets: Mapping[str, str], needed_s: float, where: Path | None = None) -> Iterator[dict[str, str]]:
    """The secrets as the agent is told them: what it wants as a file is a path. Raises NotWritten."""
    wanted = sorted(name for name in secrets if wants_file(name))
    if not wanted:
        yield dict(secrets)
        return
    where = where or home()
    sweep(where)
    folder = None
    try:
        try:
            until = int(time.time() + needed_s)
            folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{until}-", dir=where))  # of mode 0700
            paths = {name: str(write(folder / name, secrets[name])) for name in wanted}
        except OSError as problem:
            why = f"its file cannot be written in {where}: {problem.strerror}; make room, or mount a writable folder"
            raise NotWritten(f"parameter {wanted[0]}: {why}") from None
        yield {**secrets, **paths}
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def words_of(secrets: Mapping[str, str]) -> tuple[str, ...]:
    """What must not be in anything that people read: each secret, and each line of one that is a file."""
    lines = [line.strip() for name, text in secrets.items() if wants_file(name) for line in text.splitlines()]
    return (*secrets.values(), *(line for line in lines if len(line) >= SHORTEST_LINE))


def write(path: Path, text: str) -> Path:
    """A file that nobody else could ever read, also not while it was made."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(file, "w", encoding="utf-8", newline="") as stream:
        stream.write(text)
    return path


def sweep(where: Path) -> None:
    """Remove what those who were killed left behind, once nobody can need it any more."""
    with suppress(OSError):
        for path in list(where.iterdir()):
            found = LEFT.fullmatch(path.name)
            if found and int(found[1]) < time.time() and path.lstat().st_uid == os.geteuid():
                shutil.rmtree(path, ignore_errors=True)
