"""Who we are to an API server: tokens and client certificates, and how they are read again.

`KubeClient` asks `current()` before every request and `renew(refused)` after a 401. Files are read again
every minute, because a mounted service account token is replaced on disk while we run; after a 401 they are
read at once. The exec plugin lives in `execplugin.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from noderemedy.drivers.kube.errors import BadCredentials
from noderemedy.drivers.kube.secret import NOTHING, Secret

FRESH_FOR_S = 60.0
UNFIT = "holds a line break, a blank or another sign that is in no token; write it on one line"


class Identity(Struct, frozen=True):
    """What is shown to the server: a bearer token, a client certificate with its key (PEM), or neither."""

    token: Secret = NOTHING
    certificate: str = ""
    key: Secret = NOTHING


class Credentials(Protocol):
    """A source of identities."""

    async def current(self) -> Identity:
        """The identity to use now; cheap, and raises BadCredentials when there is none."""

    async def renew(self, refused: Identity) -> Identity:
        """The server refused this one: read, or ask, again."""


class Fixed:
    """Credentials written in the kubeconfig itself: nothing to read again."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    async def current(self) -> Identity:
        return self._identity

    async def renew(self, refused: Identity) -> Identity:
        return self._identity


class FromFiles:
    """A token file, certificate files, or both; read again every minute and after a refusal."""

    def __init__(self, read: Callable[[], Identity], clock: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._clock = clock
        self._identity: Identity | None = None
        self._read_at = 0.0

    async def current(self) -> Identity:
        if self._identity is None or self._clock() - self._read_at >= FRESH_FOR_S:
            self._again()
        assert self._identity is not None
        return self._identity

    async def renew(self, refused: Identity) -> Identity:
        if self._identity is None or self._identity == refused:
            self._again()
        assert self._identity is not None
        return self._identity

    def _again(self) -> None:
        """Read the files; while they are being replaced an identity that worked is kept."""
        try:
            self._identity = self._read()
        except BadCredentials:
            if self._identity is None:
                raise
        self._read_at = self._clock()


def is_token(text: str) -> bool:
    """Whether a header can carry it."""
    return text.isascii() and text.isprintable() and " " not in text


def read_token(path: Path, what: str) -> Secret:
    """The token in a file. Raises BadCredentials."""
    text = read_text(path, what).strip()
    if not is_token(text):
        raise BadCredentials(f"{what}: {path}: {UNFIT}")
    return Secret(text)


def read_text(path: Path, what: str) -> str:
    """The content of a credential file, or an error that names it and never shows it."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        cause = problem.strerror if isinstance(problem, OSError) else "it is not text"
        raise BadCredentials(f"{what}: cannot read {path}: {cause}; check that it exists and is readable") from None
    if not text.strip():
        raise BadCredentials(f"{what}: {path} is empty; write the credential into it")
    return text
