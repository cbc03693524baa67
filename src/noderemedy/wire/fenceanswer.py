"""Bytes around a run: the order that a Job gets, the result that it gives, and what neither room nor watch reads.

Used by the manager and by the runner, where a run is about to begin.
"""

from __future__ import annotations

import base64
import binascii
from typing import TypeVar

import msgspec
from msgspec import Struct

from noderemedy.model.errors import Temporary
from noderemedy.model.run import Order, Power, Result, RunState
from noderemedy.wire.scalars import UNREADABLE

T = TypeVar("T")
RESULT_MAX = 4096  # Kubernetes keeps no more of a termination message
UNTOLD = Result(RunState.FAILED, Power.UNKNOWN, "it ended without telling how")


class _LeaseSpec(Struct, frozen=True, rename="camel"):
    lease_transitions: int = -1
    holder_identity: str = ""


class _Lease(Struct, frozen=True):
    spec: _LeaseSpec = _LeaseSpec()


class _SecretShape(Struct, frozen=True):
    data: dict[str, str] | None = None


class Unreadable(Temporary):
    """The answer is not what was asked for."""


def leading_token(body: bytes) -> int:
    """The token of whoever leads by this Lease; -1 if nobody does. Raises Unreadable."""
    spec = _decoded(body, _Lease).spec
    return spec.lease_transitions if spec.holder_identity else -1


def secret_data(body: bytes) -> dict[str, str]:
    """The texts of a Secret by key; a value that is no text is left out. Raises Unreadable."""
    texts: dict[str, str] = {}
    for key, value in (_decoded(body, _SecretShape).data or {}).items():
        try:
            texts[key] = base64.b64decode(value, validate=True).decode()
        except (binascii.Error, ValueError):
            continue
    return texts


def order_text(order: Order) -> str:
    """An order as a Job gets it: it holds names of secrets, and nothing of what they say."""
    return msgspec.json.encode(order).decode()


def read_order(text: str) -> Order:
    """The order of a Job. Raises Unreadable, with what is wrong with it."""
    try:
        return msgspec.json.decode(text.encode(), type=Order)
    except UNREADABLE as problem:
        raise Unreadable(str(problem)) from None


def result_text(result: Result) -> str:
    """A result as a termination message, which is cut off where it is too long."""
    said = result.said
    while len(text := msgspec.json.encode(msgspec.structs.replace(result, said=said))) > RESULT_MAX:
        said = said[: len(said) * 3 // 4]
    return text.decode()


def read_result(text: str) -> Result:
    """What a Job told; whatever else it says, that is a failure."""
    try:
        return msgspec.json.decode(text.encode("utf-8", "replace"), type=Result)
    except UNREADABLE:
        return UNTOLD


def _decoded(body: bytes, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=shape)
    except UNREADABLE as problem:
        raise Unreadable(str(problem)) from None
