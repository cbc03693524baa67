"""Chunks of a stream into lines of any length. Pure; used by `KubeClient.stream`."""

from __future__ import annotations

import msgspec

from noderemedy.wire.scalars import UNREADABLE


class Lines:
    """Feed chunks, get whole lines. A line of a megabyte costs one join, not one copy per chunk."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._held = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without their ends."""
        *whole, rest = chunk.split(b"\n")
        if whole and self._pieces:
            whole[0] = b"".join((*self._pieces, whole[0]))
            self._pieces, self._held = [], 0
        if rest:
            self._pieces.append(rest)
            self._held += len(rest)
        if self._held > self._limit:
            raise ValueError(f"a line is longer than {self._limit} bytes")
        return whole

    def rest(self) -> bytes:
        """What came after the last line end."""
        return b"".join(self._pieces)


def is_whole(rest: bytes) -> bool:
    """Whether the end of a stream is a document without a line end (a bare Status), not half an event."""
    try:
        msgspec.json.decode(rest)
    except UNREADABLE:
        return False
    return True
