"""Who is asking: bearer tokens and client certificates, mapped to the users that the API server judges.

Used by `lab/http.py` for every request. Nobody is anonymous here, except to the few paths that tell nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest

from aiohttp import web

from noderemedy.sim.apiserver.types import User

PUBLIC = ("/healthz", "/livez", "/readyz", "/version")
ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
AUTHENTICATED = "system:authenticated"


def identify(request: web.BaseRequest, tokens: Mapping[str, User]) -> User | None:
    """The user behind a request; None when nobody we know."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return _by_token(token.strip(), tokens)
    by_certificate = _by_certificate(request)
    if by_certificate is None and request.path in PUBLIC:
        return ANONYMOUS
    return by_certificate


def _by_token(token: str, tokens: Mapping[str, User]) -> User | None:
    found = None
    for known, user in tokens.items():
        if compare_digest(known.encode(), token.encode()):
            found = user
    return found


def _by_certificate(request: web.BaseRequest) -> User | None:
    certificate = request.get_extra_info("peercert")
    if not certificate:
        return None
    fields = [pair for part in certificate["subject"] for pair in part]
    names = [value for key, value in fields if key == "commonName"]
    groups = [value for key, value in fields if key == "organizationName"]
    return User(names[0], (*groups, AUTHENTICATED)) if names else None
