"""Answers and bodies between the API server's values and aiohttp's, for `lab/http.py`."""

from __future__ import annotations

import math
from email.utils import formatdate
from typing import Any

from aiohttp import web
from msgspec.json import encode
from multidict import CIMultiDict

from noderemedy.lab.http_faults import Instead
from noderemedy.sim.apiserver.types import Page
from noderemedy.wire.http import Answer

BODY_MAX = 3 * 1024 * 1024


class TooLarge(Exception):
    """A body above the limit of a real API server."""

    def __init__(self) -> None:
        super().__init__(f"Request entity too large: limit is {BODY_MAX}")


async def body_of(request: web.BaseRequest) -> bytes:
    """The whole body, read to its end also when it is too large, so that the refusal can be read."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.content.iter_any():
        size += len(chunk)
        if size <= BODY_MAX:
            chunks.append(chunk)
    if size > BODY_MAX:
        raise TooLarge
    return b"".join(chunks)


def send(answer: Answer | Instead) -> web.Response:
    """An answer as it goes over the wire."""
    headers = CIMultiDict({"Cache-Control": "no-cache, private"})
    headers["Content-Type"] = answer.content_type if isinstance(answer, (Page, Instead)) else "application/json"
    if answer.retry_after is not None:
        headers["Retry-After"] = str(math.ceil(answer.retry_after.ms / 1000))
    if isinstance(answer, Answer) and answer.date is not None:
        headers["Date"] = formatdate(answer.date.ms / 1000, usegmt=True)
    if isinstance(answer, Page):
        for warning in answer.warnings:
            quoted = warning.replace("\\", "\\\\").replace('"', '\\"')
            headers.add("Warning", f'299 - "{quoted}"')
    return web.Response(status=answer.status, body=answer.body, headers=headers)


def refusal(code: int, reason: str, message: str, details: dict[str, Any] | None = None) -> web.Response:
    """A Status object as an answer."""
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "code": code,
    }
    if reason:
        status["reason"] = reason
    if details:
        status["details"] = details
    return web.Response(status=code, body=encode(status), headers={"Content-Type": "application/json"})


def drop(request: web.BaseRequest) -> web.Response:
    """Close the connection without a word. What is returned goes nowhere."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
