"""A small synchronous Kubernetes client with one identity, for tests and fixtures.

It is not our driver on purpose: what the driver did is judged by somebody else.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True)
class Reply:
    """One answer: the status code and the decoded body."""

    status: int
    body: Json

    @property
    def message(self) -> str:
        """Why it was refused; empty when it was not."""
        return str(self.body.get("message", "")) if self.body.get("kind") == "Status" else ""

    def ok(self) -> Json:
        """The body of an answer that must be a success."""
        assert self.status in (200, 201, 202), f"{self.status}: {self.message or self.body}"
        return self.body


@dataclass(frozen=True)
class Api:
    """One identity at one API server. Every call opens its own connection: simple, and safe in any thread."""

    server: str
    token: str
    authority: Path
    user: str = ""  # whom an administrator speaks as, if not for itself

    def request(self, method: str, path: str, body: object = None, content_type: str = "application/json") -> Reply:
        """Sends and waits."""
        where = urlsplit(self.server)
        context = ssl.create_default_context(cafile=str(self.authority))
        connection = HTTPSConnection(where.hostname or "", where.port, timeout=30, context=context)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type, "Accept": "application/json"}
        if self.user:
            headers["Impersonate-User"] = self.user.encode()  # type: ignore[assignment]
        try:
            connection.request(
                method, path, json.dumps(body, ensure_ascii=False).encode() if body is not None else None, headers
            )
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        decoded = json.loads(text) if text.startswith(b"{") else {"text": text.decode(errors="replace")}
        return Reply(response.status, decoded)

    def get(self, path: str) -> Reply:
        return self.request("GET", path)

    def find(self, path: str) -> Json:
        """The object, or {} when there is none."""
        reply = self.get(path)
        return {} if reply.status == 404 else reply.ok()

    def create(self, path: str, body: Json) -> Reply:
        return self.request("POST", path, body)

    def replace(self, path: str, body: Json) -> Reply:
        return self.request("PUT", path, body)

    def merge(self, path: str, patch: Json) -> Reply:
        return self.request("PATCH", path, patch, MERGE)

    def json_patch(self, path: str, patch: list[Json]) -> Reply:
        return self.request("PATCH", path, patch, JSON_PATCH)

    def apply(self, path: str, body: Json, manager: str = "tests") -> Reply:
        return self.request("PATCH", f"{path}?fieldManager={manager}&force=true", body, APPLY)

    def delete(self, path: str, body: Json | None = None) -> Reply:
        return self.request("DELETE", path, body)

    def items(self, path: str) -> list[Json]:
        listed: list[Json] = self.get(path).ok()["items"]
        return listed


def eventually(question: Callable[[], Any], what: str, seconds: float = 30.0, every: float = 0.1) -> Any:
    """The first answer that is true, asked again and again; fails with the name of what was awaited.

    What the question looks into may not be there yet (an object without annotations): that is no answer, not an error.
    """
    end = time.monotonic() + seconds
    while True:
        answer, missing = _asked(question)
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:.0f} s: {what}") from missing
        time.sleep(every)


def _asked(question: Callable[[], Any]) -> tuple[Any, LookupError | None]:
    try:
        return question(), None
    except LookupError as error:
        return None, error
