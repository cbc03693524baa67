"""How an API server misbehaves over HTTP: the faults that a test or a lab can switch on.

`lab/http.py` asks an `Interfere` function before it hands a request to the simulated API server and again
after the request was applied; what comes back is one of the faults below, or None. The function is async,
so a delay is simply an `await` in it. Dropping at AFTER is the fault that matters most here: the write
happened and its author never hears of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import Enum

from msgspec import Struct
from msgspec.json import encode

from noderemedy.model.time import Span
from noderemedy.sim.apiserver.types import User
from noderemedy.wire.http import Request


class Moment(Enum):
    """When the question is asked: nothing is applied yet, or everything is."""

    BEFORE = "before"
    AFTER = "after"


class Drop(Struct, frozen=True):
    """The connection is closed without an answer."""


class Instead(Struct, frozen=True):
    """This is answered, whatever the API server said or would have said."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    retry_after: Span | None = None


class Silence(Struct, frozen=True):
    """A watch sends so many lines, then nothing more: no events, no bookmarks, no end of the connection."""

    after: int = 0


class Cut(Struct, frozen=True):
    """A watch sends so many lines, then the connection is closed in the middle of a chunk."""

    after: int = 0


class Spoil(Struct, frozen=True):
    """A watch sends so many lines, then this one, then goes on as if nothing had happened."""

    after: int = 0
    line: bytes = b'{"type":"MODIFIED","object":{"metad'


Fault = Drop | Instead | Silence | Cut | Spoil
Interfere = Callable[[Moment, Request, User], Awaitable[Fault | None]]

HTML = Instead(502, b"<html><body><h1>502 Bad Gateway</h1></body></html>", "text/html")
"""What a load balancer says when nobody is behind it."""


def failure(code: int, reason: str, message: str, retry_after: Span | None = None) -> Instead:
    """A refusal in the API's own form."""
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    return Instead(code, encode(status), retry_after=retry_after)


def too_many_requests(retry_after: Span) -> Instead:
    """The server is overloaded and says when to come again."""
    return failure(429, "TooManyRequests", "too many requests, please try again later", retry_after)


def broken() -> Instead:
    """The server failed inside."""
    return failure(500, "InternalError", "an error on the server has prevented the request from succeeding")


def expired() -> Instead:
    """The version or the page asked for is no longer kept."""
    return failure(410, "Expired", "too old resource version")


def expired_line() -> bytes:
    """The same, said inside a watch."""
    return b'{"type":"ERROR","object":' + expired().body + b"}"
