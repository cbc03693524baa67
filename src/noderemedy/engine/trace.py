"""The trace: every input and output of the engine, in order, folded into one digest.

Two runs of the same seed must give the same digest under any PYTHONHASHSEED. The trace is also the log: programs
give it a listener that writes records where people look for them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from msgspec import Struct

from noderemedy.model.time import Now


class Record(Struct, frozen=True):
    """One thing that the engine was told or asked for."""

    mono_ms: int
    what: str
    about: str
    detail: str = ""


class Trace:
    """Folds records into a digest, and hands them to whoever listens."""

    def __init__(self, listener: Callable[[Record], None] | None = None) -> None:
        self._hash = hashlib.sha256()
        self._listener = listener
        self.count = 0

    def record(self, now: Now, what: str, about: object, detail: str = "") -> None:
        self.count += 1
        line = f"{now.mono.ms} {what} {about} {detail}\n"
        self._hash.update(line.encode())
        if self._listener:
            self._listener(Record(now.mono.ms, what, str(about), detail))

    def digest(self) -> str:
        return self._hash.hexdigest()


class Untraced(Trace):
    """For a program whose runs nobody compares: a real API server never says the same twice."""

    def record(self, now: Now, what: str, about: object, detail: str = "") -> None:
        pass
