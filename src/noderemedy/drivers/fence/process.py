"""Runs one fence agent once: parameters by standard input, its own process group, bounded time and output.

Called by `verify.py` and `describe.py`. Rules:

1. Parameters go through standard input, never through arguments: those are in everybody's process list.
2. The agent has a session of its own, so that no signal to us reaches it, and so that all of it can be ended at once.
3. It is ended only when its time is over. Whoever cancels us waits: half a command is worse than a late one (R34).
4. However much it prints, a bounded part is kept; whatever it leaves behind does not keep us waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from noderemedy.core.fencing.results import Ended, Trouble
from noderemedy.drivers.fence.agents import surroundings

OUTPUT_MAX = 64 * 1024
GRACE_S = 2.0  # between asking an agent to end and ending it
REST_S = 1.0  # for what is still in the pipe when the agent itself has ended
CHUNK = 8 * 1024


class Kept:
    """The first and the last part of what was printed: beginnings tell what was tried, ends how it went.

    Whole lines only, where something is left out: half a password would not be recognised as one.
    """

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._first = bytearray()
        self._last = bytearray()
        self._left_out = 0

    def add(self, chunk: bytes) -> None:
        room = self._half - len(self._first)
        self._first += chunk[:room]
        self._last += chunk[room:] if room > 0 else chunk
        if (over := len(self._last) - self._half) > 0:
            del self._last[:over]
            self._left_out += over

    def text(self) -> str:
        first, last = bytes(self._first), bytes(self._last)
        if self._left_out:
            first, last = first[: first.rfind(b"\n") + 1], last.partition(b"\n")[2]
            left_out = self._left_out + len(self._first) - len(first) + len(self._last) - len(last)
            first += f"({left_out} bytes left out)\n".encode()
        return (first + last).decode("utf-8", "replace")


def stdin_of(parameters: Sequence[tuple[str, str]]) -> bytes:
    """One `name=value` a line. The caller has made sure that no value has two lines."""
    assert not any("\n" in name + value or "\r" in name + value for name, value in parameters)
    return "".join(f"{name}={value}\n" for name, value in parameters).encode("utf-8", "surrogateescape")


async def run_agent(
    path: Path,
    parameters: Sequence[tuple[str, str]],
    patience_s: float,
    *,
    environ: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    output_max: int = OUTPUT_MAX,
) -> Ended:
    """Run it to its end, or to the end of our patience. Cancelling waits for that end, too."""
    running = asyncio.ensure_future(_run(path, stdin_of(parameters), patience_s, environ, arguments, output_max))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        with contextlib.suppress(Exception):
            await running
        raise


async def _run(
    path: Path,
    given: bytes,
    patience_s: float,
    environ: Mapping[str, str] | None,
    arguments: Sequence[str],
    output_max: int,
) -> Ended:
    printed, printing = os.pipe()  # our own: asyncio's would keep us until the last child has closed it
    try:
        process = await asyncio.create_subprocess_exec(
            str(path),
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=printing,
            stderr=printing,
            env=surroundings(os.environ if environ is None else environ),
            start_new_session=True,
            cwd="/",
        )
    except OSError as problem:
        os.close(printed)
        return Ended(trouble=Trouble.NOT_STARTED, why=f"{path}: {problem.strerror or problem}")
    finally:
        os.close(printing)
    kept = Kept(output_max)
    reading = asyncio.ensure_future(_read(printed, kept))
    writing = asyncio.ensure_future(_write(process, given))
    trouble = await _until_over(process, patience_s)
    writing.cancel()
    await asyncio.wait([reading], timeout=REST_S)
    _signal(process, signal.SIGKILL)  # children that it left behind
    reading.cancel()
    await asyncio.gather(reading, writing, return_exceptions=True)
    return Ended(process.returncode if trouble is Trouble.NONE else None, kept.text(), trouble)


async def _until_over(process: asyncio.subprocess.Process, patience_s: float) -> Trouble:
    try:
        await asyncio.wait_for(process.wait(), max(0.0, patience_s))
    except TimeoutError:
        await _end(process)
        return Trouble.TOO_LONG
    return Trouble.NONE


async def _write(process: asyncio.subprocess.Process, given: bytes) -> None:
    """Hand the parameters over; an agent that does not want them is judged by how it ends."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(given)
        await process.stdin.drain()
    process.stdin.close()


async def _read(printed: int, kept: Kept) -> None:
    reader = asyncio.StreamReader(limit=CHUNK)
    pipe = os.fdopen(printed, "rb", buffering=0)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        while chunk := await reader.read(CHUNK):
            kept.add(chunk)
    finally:
        transport.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ask all of it to end, then end it."""
    _signal(process, signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), GRACE_S)
    _signal(process, signal.SIGKILL)
    await process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """To the whole group. Its number is that of the agent, which was the first of its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
