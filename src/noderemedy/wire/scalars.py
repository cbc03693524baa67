"""Small things of the Kubernetes API: moments, durations, JSON texts in annotations, `namespace/name`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from fractions import Fraction
from typing import TypeVar

import msgspec

from noderemedy.model.machine import HostName
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.time import Span, Wall

T = TypeVar("T")

# All that decoding of other people's bytes may raise: wrong JSON or types, broken UTF-8 inside a string, and a depth
# at which msgspec gives up. Any user of the API can store the last one; it must not end a watch.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def wall(moment: datetime) -> Wall:
    """A decoded timestamp as wall time. One without a zone counts as UTC, as in the API."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return Wall(round(moment.timestamp() * 1000))


def read_wall(text: str) -> Wall | Malformed:
    """An RFC 3339 moment."""
    try:
        return wall(msgspec.convert(text, datetime))
    except msgspec.ValidationError:
        return Malformed(f"{text[:80]!r} is not a time like 2030-01-31T12:00:00Z")


# A duration as Go writes it: 5m, 1h30m, 1.5h, 300ms. A bare 0 needs no unit.
DURATION = re.compile(r"([+-]?)((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+", re.ASCII)
PIECE = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
MILLISECONDS: dict[str, Fraction] = {
    "ns": Fraction(1, 1_000_000),
    "us": Fraction(1, 1_000),
    "µs": Fraction(1, 1_000),
    "μs": Fraction(1, 1_000),
    "ms": Fraction(1),
    "s": Fraction(1_000),
    "m": Fraction(60_000),
    "h": Fraction(3_600_000),
}
DURATION_MAX = Fraction(2**63, 1_000_000)  # what Go can hold, in milliseconds
DURATION_LETTERS_MAX = 100
NO_DURATION = "not a duration like 5m or 1h30m"


def read_duration(text: str) -> Span | Malformed:
    """A duration as Go writes it, rounded up to whole milliseconds. Negative ones are refused: nobody means them."""
    shown = f"{text[:80]!r}"
    if text in ("0", "+0", "-0"):
        return Span(0)
    found = DURATION.fullmatch(text) if len(text) <= DURATION_LETTERS_MAX else None
    if found is None:
        return Malformed(f"{shown} is {NO_DURATION}")
    length = sum((Fraction(number) * MILLISECONDS[unit] for number, unit in PIECE.findall(text)), Fraction(0))
    if length >= DURATION_MAX:
        return Malformed(f"{shown} is longer than 290 years, {NO_DURATION}")
    if found[1] == "-" and length:
        return Malformed(f"{shown} is negative, {NO_DURATION}")
    return Span(-(-length.numerator // length.denominator))


def read_json(text: str, shape: type[T]) -> T | Malformed:
    """A JSON text that somebody may have edited."""
    try:
        return msgspec.json.decode(text, type=shape)
    except UNREADABLE as error:
        return Malformed(str(error))


def read_host_name(text: str, namespace: str) -> HostName | Malformed:
    """`namespace/name`, or a bare name in the Machine's own namespace."""
    parts = text.strip().split("/")
    if not all(parts) or len(parts) > 2:
        return Malformed(f"{text[:80]!r} is not namespace/name")
    return HostName(parts[0], parts[1]) if len(parts) == 2 else HostName(namespace, parts[0])


def read_pause(text: str) -> Paused | Malformed | None:
    """`node-remedy.dev/paused`: "true", "false", or the time until which."""
    word = text.strip().lower()
    if word in ("true", ""):
        return Paused()
    if word == "false":
        return None
    until = read_wall(text.strip())
    return Paused(until) if isinstance(until, Wall) else until
