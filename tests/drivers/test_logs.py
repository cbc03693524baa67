"""Logs: one JSON object per line, stable keys, and no secret in any of them."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from noderemedy.drivers.kube.secret import Secret
from noderemedy.drivers.logs import BLOT, Log, clean, redact, set_up

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """The stream that all logs of this process go to."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    into = io.StringIO()
    set_up("debug", into)
    yield into
    root.handlers[:] = before
    root.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_has_stable_keys_first(stream: io.StringIO) -> None:
    """at, level, logger, message, then the facts in the order given."""
    Log("noderemedy.manager").info("lease taken", holder="we", fencing_token=3, refs=["a", 1, None])

    (line,) = lines(stream)
    assert ["at", "level", "logger", "message", "holder", "fencing_token", "refs"] == list(line)
    assert ("info", "noderemedy.manager", "lease taken", 3) == (*list(line.values())[1:4], line["fencing_token"])
    assert line["at"].endswith("Z")


def test_every_level_is_there(stream: io.StringIO) -> None:
    """Debug to error, and failures with their traceback on the same line."""
    log = Log("x")
    log.debug("a")
    log.warning("b")
    log.error("c")
    try:
        raise ValueError(f"Authorization: Bearer {JWT}\nnext line")
    except ValueError as problem:
        log.failure("d", problem, key=Secret("hush"))

    assert ["debug", "warning", "error", "error"] == [line["level"] for line in lines(stream)]
    assert "ValueError" in lines(stream)[3]["trace"]
    assert JWT not in stream.getvalue()
    assert "hush" not in stream.getvalue()


def test_libraries_are_redacted_too(stream: io.StringIO) -> None:
    """A library that logs a header or a URL with a password does not leak it."""
    logging.getLogger("library").warning("GET %s with Bearer %s", "http://me:pass@proxy:1/x", JWT)

    assert "GET http://[redacted]@proxy:1/x with Bearer [redacted]" == lines(stream)[0]["message"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"token {JWT}.", f"token {BLOT}."),
        ("bearer abc.def-ghi", f"bearer {BLOT}"),
        ("Basic dXNlcjpwYXNz", f"Basic {BLOT}"),
        ("-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----\nrest", f"{BLOT}\nrest"),
        ("-----BEGIN PRIVATE KEY-----\nabc", BLOT),
        (
            "see https://docs.example/a:b@c and http://host:8080/path",
            "see https://docs.example/a:b@c and http://host:8080/path",
        ),
        ("node worker-1 is NotReady", "node worker-1 is NotReady"),
    ],
)
def test_what_looks_like_a_secret_is_blotted_out(text: str, expected: str) -> None:
    """Tokens, keys and passwords go; addresses and ordinary words stay."""
    assert expected == redact(text)


def test_facts_with_secret_names_are_blotted_out_at_any_depth() -> None:
    """The name alone is enough; a fencing token is no secret."""
    facts = {"user": {"password": "p", "name": "n"}, "apiToken": ["a"], "fencing_token": 4, "list": [{"secret": 1}]}

    expected = {
        "user": {"password": BLOT, "name": "n"},
        "apiToken": BLOT,
        "fencing_token": 4,
        "list": [{"secret": BLOT}],
    }
    assert expected == clean(facts)


def test_without_redaction_the_secret_would_be_seen(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: with the filter taken out, the same line leaks."""
    monkeypatch.setattr("noderemedy.drivers.logs.redact", lambda text: text)

    logging.getLogger("library").warning("Bearer %s", JWT)

    assert JWT in stream.getvalue()
