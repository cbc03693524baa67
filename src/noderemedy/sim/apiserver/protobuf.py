"""Reading objects in protobuf, which `kubectl create` and typed Go clients send for built-in kinds.

Answers are always JSON, which such clients accept. Field numbers are in the generated table; what it does not
know is passed over, as protobuf demands.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.core_shapes import core_shapes

MAGIC = b"k8s\x00"
Tree = dict[str, Any]
Numbers = dict[str, Any]


class _Malformed(Exception):
    """Bytes that are no message."""


def decode_protobuf(body: bytes) -> Tree:
    """The object in an envelope of runtime.Unknown: its type, then itself."""
    try:
        envelope = {number: value for number, _, value in _fields(body[len(MAGIC) :])}
        names = {number: _text(value) for number, _, value in _fields(envelope.get(1, b""))}
        api_version, kind = names.get(1, ""), names.get(2, "")
        name = core_shapes().definition(api_version, kind)
        if name is None:
            raise errors.bad_request(f'no kind "{kind}" is registered for version "{api_version}"')
        return {"apiVersion": api_version, "kind": kind, **_message(name, envelope.get(2, b""))}
    except (_Malformed, UnicodeDecodeError, IndexError, struct.error) as fault:
        raise errors.bad_request(f"error decoding protobuf: {fault}") from None


def _fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """(number, wire type, value) of every field; a value is an int or bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        value: Any
        if wire == 0:
            value, at = _varint(data, at)
        elif wire == 2:
            length, at = _varint(data, at)
            value, at = data[at : at + length], at + length
            if len(value) != length:
                raise _Malformed("a field is cut off")
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, at = data[at : at + size], at + size
        else:
            raise _Malformed(f"unknown wire type {wire}")
        yield key >> 3, wire, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value - (1 << 64) if value >= 1 << 63 else value), at
        shift += 7


def _text(value: Any) -> str:
    if not isinstance(value, bytes):
        raise _Malformed("a text is no text")
    return value.decode()


def _message(name: str, data: bytes) -> Tree:
    found: Tree = {}
    _read_into(found, name, core_shapes().numbers(name), data)
    return found


def _read_into(found: Tree, name: str, numbers: Numbers, data: bytes) -> None:
    """Read the fields of a message; one that JSON inlines is read into the same object."""
    described = core_shapes().described(name)
    for number, _, value in _fields(data):
        field = numbers.get(str(number))
        if isinstance(field, dict):
            _read_into(found, name, field, value)
        elif field is not None:
            _add(found, field, described[field], value)


def _add(found: Tree, field: str, described: Tree, value: Any) -> None:
    if "list" in described:
        found.setdefault(field, []).append(_value(described["list"], value))
    elif "map" in described:
        entry = {number: one for number, _, one in _fields(value)}
        key = _text(entry.get(1, b""))
        found.setdefault(field, {})[key] = _value(described["map"], entry.get(2, b""))
    else:
        decoded = _value(described, value)
        if decoded is not None:
            found[field] = decoded


def _value(described: Tree, value: Any) -> Any:
    if "ref" in described:
        return _message(described["ref"], value)
    if "list" in described:
        return [_value(described["list"], one) for _, _, one in _fields(value)]
    match described["type"]:
        case "string":
            return _text(value)
        case "boolean":
            return bool(value)
        case "integer":
            return value
        case "number":
            return struct.unpack("<d", value)[0]
        case "bytes":
            return base64.b64encode(value).decode()
        case "quantity":
            return _text(_first(value))
        case "int-or-string":
            return _int_or_string(value)
        case "time" | "microtime" as kind:
            return _time(value, kind)
        case _:
            raw = _first(value)
            return msgspec.json.decode(raw) if raw else None


def _first(value: bytes) -> bytes:
    """The first field of a message that only wraps a value."""
    return next((one for number, _, one in _fields(value) if number == 1), b"")


def _int_or_string(value: bytes) -> int | str:
    parts = {number: one for number, _, one in _fields(value)}
    return _text(parts.get(3, b"")) if parts.get(1) else int(parts.get(2, 0))


def _time(value: bytes, kind: str) -> str | None:
    """A moment in seconds and nanoseconds; an empty message is no moment."""
    parts = {number: one for number, _, one in _fields(value)}
    if not parts:
        return None
    moment = datetime.fromtimestamp(parts.get(1, 0), UTC)
    fraction = f".{parts.get(2, 0) // 1000:06d}" if kind == "microtime" else ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"
