"""One watch as the conformance cases see it: events in order, bounded waits, and the end of the stream."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from http.client import HTTPConnection
from typing import Any

Event = dict[str, Any]


class Stream:
    """An open watch. Opening it has already read the status line, so nothing later can be missed."""

    def __init__(self, connection: HTTPConnection, target: str, headers: Mapping[str, str], patience: float) -> None:
        self._connection = connection
        self._patience = patience
        connection.request("GET", target, headers=dict(headers))
        self._socket = connection.sock
        self._answer = connection.getresponse()
        self.status = self._answer.status

    def next(self, seconds: float | None = None) -> Event:
        """The next event; fails when there is none in time or when the stream ended."""
        event = self._line(self._patience if seconds is None else seconds)
        assert event is not None, "the stream ended"
        return event

    def take(self, number: int) -> list[Event]:
        """The next events, in order."""
        return [self.next() for _ in range(number)]

    def until(self, wanted: Callable[[Event], object]) -> Event:
        """The first event of which `wanted` is true; those before it are passed over."""
        end = time.monotonic() + self._patience
        while True:
            event = self.next(max(0.01, end - time.monotonic()))
            if wanted(event):
                return event

    def rest(self) -> list[Event]:
        """All events until the server ends the stream."""
        end = time.monotonic() + self._patience
        events = []
        while (event := self._line(max(0.01, end - time.monotonic()))) is not None:
            events.append(event)
        return events

    def body(self) -> dict[str, Any]:
        """The whole body of an answer that is not a stream (a refusal)."""
        value = json.loads(self._answer.read())
        assert isinstance(value, dict)
        return value

    def _line(self, seconds: float) -> Event | None:
        self._socket.settimeout(seconds)
        line = self._answer.readline()
        if not line:
            return None
        event = json.loads(line)
        assert isinstance(event, dict)
        return event

    def close(self) -> None:
        self._answer.close()
        self._connection.close()


def kind_and_name(event: Event) -> tuple[str, str]:
    """What happened to whom."""
    return event["type"], event["object"]["metadata"]["name"]
