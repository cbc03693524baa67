"""The few live reads of a runner, with the service account of its pod. Standard library only, and blocking.

Three tries, then it gives up: whoever cannot read what it has to know sends nothing.
"""

from __future__ import annotations

import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from noderemedy.model.errors import Temporary

MOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
PATIENCE_S = 10.0
TRIES = 3
BODY_MAX = 4 * 1024 * 1024


class Unsure(Temporary):
    """What has to be known cannot be read."""


class Api:
    """The API server around this pod."""

    def __init__(self, environ: Mapping[str, str], mount: Path = MOUNT) -> None:
        host, port = environ.get("KUBERNETES_SERVICE_HOST", ""), environ.get("KUBERNETES_SERVICE_PORT", "443")
        self._server = f"https://{f'[{host}]' if ':' in host else host}:{port}"
        try:
            self._token = (mount / "token").read_text("ascii").strip()
            self._tls = ssl.create_default_context(cafile=str(mount / "ca.crt"))
        except (OSError, ValueError) as problem:
            raise Unsure(f"the service account of this pod cannot be used: {problem}") from None
        # A proxy of the environment is the agents' way to their devices, never ours to the API server.
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._tls), _NoRedirect()
        )

    def read(self, path: str, name: str) -> bytes | None:
        """One object; None if the server says that it does not exist. Raises Unsure."""
        for attempt in range(TRIES):
            if attempt:
                time.sleep(attempt)
            try:
                return self._get(f"{path}/{quote(name, safe='')}")
            except urllib.error.HTTPError as refusal:
                if refusal.code == 404 and _speaks_of(refusal.read(BODY_MAX), name):
                    return None
                why = f"the API server answered {refusal.code}"
                if refusal.code in (401, 403):
                    break
            except (OSError, ValueError) as problem:
                why = str(getattr(problem, "reason", problem))
        raise Unsure(f"{path}/{name}: {why}")

    def _get(self, path: str) -> bytes:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        request = urllib.request.Request(self._server + path, headers=headers)  # noqa: S310  always https
        with self._opener.open(request, timeout=PATIENCE_S) as response:
            return bytes(response.read(BODY_MAX))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to somebody else."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def _speaks_of(body: bytes, name: str) -> bool:
    try:
        return bool(json.loads(body)["details"]["name"] == name)
    except (ValueError, KeyError, TypeError):
        return False
