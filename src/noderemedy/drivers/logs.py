"""Structured logs: one JSON object per line on standard error, constant messages, facts as keys.

Programs call `set_up()` once and log through `Log`. Keys are stable: `at`, `level`, `logger`, `message`, then the
caller's own in the order given. What looks like a secret is blotted out here as the last line of defence, also in
messages of libraries and in tracebacks; the first line is `Secret`, which cannot be printed at all.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

BLOT = "[redacted]"
SECRET_KEYS = re.compile(r"token|password|passwd|secret|authorization|private.?key|credential", re.IGNORECASE)
# Keys that look like secrets and are not: a fencing token is a public counter.
PUBLIC_KEYS = frozenset({"fencing_token", "lease_token"})
SECRET_TEXT = re.compile(
    r"(?P<bearer>\b(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]+"
    r"|\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^/\s:@]+:[^/\s@]+@",
    re.IGNORECASE | re.DOTALL,
)


class Log:
    """A logger with facts as keyword arguments: `log.info("lease taken", fencing_token=3)`."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, message: str, **facts: object) -> None:
        self._logger.debug(message, extra={"facts": facts})

    def info(self, message: str, **facts: object) -> None:
        self._logger.info(message, extra={"facts": facts})

    def warning(self, message: str, **facts: object) -> None:
        self._logger.warning(message, extra={"facts": facts})

    def error(self, message: str, **facts: object) -> None:
        self._logger.error(message, extra={"facts": facts})

    def failure(self, message: str, problem: BaseException, **facts: object) -> None:
        """An error of ours, with its traceback."""
        self._logger.error(message, extra={"facts": facts}, exc_info=problem)


class JsonLines(logging.Formatter):
    """One line of JSON per record, without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "at": moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        facts = getattr(record, "facts", {})
        line |= {key: value for key, value in clean(facts).items() if key not in line}
        if record.exc_info and record.exc_info[1] is not None:
            line["trace"] = redact("".join(traceback.format_exception(record.exc_info[1])))
        return msgspec.json.encode(line, enc_hook=str).decode()


def set_up(level: str = "info", stream: TextIO | None = None) -> None:
    """Send all logs of this process, ours and the libraries', to one stream as JSON lines."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)


def redact(text: str) -> str:
    """The text with everything that looks like a secret blotted out."""
    return SECRET_TEXT.sub(_blot, text)


def _blot(found: re.Match[str]) -> str:
    return f"{found['bearer'] or found['scheme'] or ''}{BLOT}{'@' if found['scheme'] else ''}"


def clean(value: Any, key: str = "") -> Any:
    """A fact without secrets, at any depth."""
    if key and SECRET_KEYS.search(key) and key not in PUBLIC_KEYS:
        return BLOT
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {str(name): clean(item, str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return redact(str(value))
