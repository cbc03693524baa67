"""aiohttp's responses and errors as our own values and sentences. Used by `client.py`."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import lru_cache

import aiohttp

from noderemedy.model.time import Span, Wall
from noderemedy.wire.http import Answer


def answer_of(response: aiohttp.ClientResponse, body: bytes) -> Answer:
    """The response as a value."""
    return Answer(response.status, body, _date(response.headers), _retry_after(response.headers))


def _date(headers: Mapping[str, str]) -> Wall | None:
    return _moment(headers.get("Date", ""))


@lru_cache(maxsize=8)
def _moment(text: str) -> Wall | None:
    """A date as HTTP writes it; all answers of one second have the same."""
    try:
        return Wall(round(parsedate_to_datetime(text).timestamp() * 1000))
    except ValueError:
        return None


def _retry_after(headers: Mapping[str, str]) -> Span | None:
    """Seconds, or a date (then reckoned by the server's own clock)."""
    wish = headers.get("Retry-After", "")
    if wish.isascii() and wish.isdigit():
        return Span(min(int(wish), 3600) * 1000)
    here, there = _date(headers), _moment(wish) if wish else None
    return Span(max(0, there.since(here).ms)) if here is not None and there is not None else None


def explain(problem: BaseException) -> str:
    """Why there was no answer, in words that hold no address line and no secret."""
    if isinstance(problem, aiohttp.ClientConnectorCertificateError | ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({_verification(problem)}); check the CA and the server name"
    if isinstance(problem, aiohttp.ClientHttpProxyError):
        return f"the proxy refused to connect (status {problem.status}); check proxy-url"
    if isinstance(problem, aiohttp.ClientProxyConnectionError):
        return f"the proxy cannot be reached ({_cause(problem)}); check proxy-url"
    if isinstance(problem, aiohttp.ClientConnectorDNSError):
        return "its name cannot be resolved; check its address"
    if isinstance(problem, aiohttp.ClientConnectorSSLError):
        return f"does not speak TLS as we do ({_reason(problem)}); check its address and its port"
    if isinstance(problem, aiohttp.ClientConnectorError):
        return f"cannot be reached ({_cause(problem)}); check that it runs, and its address"
    if isinstance(problem, aiohttp.ServerTimeoutError | TimeoutError):
        return "gave no answer in time"
    if isinstance(problem, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError | ConnectionError):
        return "closed the connection before the answer was complete"
    return f"the connection failed ({type(problem).__name__})"


def _cause(problem: aiohttp.ClientConnectorError) -> str:
    """In the words of the system: asyncio's own text repeats the address as a Python tuple."""
    number = problem.os_error.errno
    return os.strerror(number) if number and number > 0 else "no connection"


def _reason(problem: aiohttp.ClientConnectorError) -> str:
    """In the words of the TLS library, which numbers its errors as the system does, and means others."""
    said = getattr(problem.os_error, "reason", None) or "the handshake failed"
    return str(said).lower().replace("_", " ")


def _verification(problem: BaseException) -> str:
    cause = getattr(problem, "certificate_error", problem)
    return getattr(cause, "verify_message", "") or "verification failed"
