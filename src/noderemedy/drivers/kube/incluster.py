"""Access from inside a pod: the mounted service account and the variables that the kubelet sets.

The kubelet replaces the token file before it expires, so the token is read again every minute and after a 401.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from noderemedy.drivers.kube.credentials import FromFiles, Identity, read_token
from noderemedy.drivers.kube.errors import BadConfig

MOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class Place(Struct, frozen=True):
    """The cluster around this pod."""

    server: str
    credentials: FromFiles
    certificate_authority: str
    namespace: str


def is_here(environ: Mapping[str, str], mount: Path = MOUNT) -> bool:
    """Whether we run in a pod: the kubelet names the API service in every container."""
    return "KUBERNETES_SERVICE_HOST" in environ


def read(environ: Mapping[str, str], mount: Path = MOUNT) -> Place:
    """The pod's own access; fails with a remedy where the token is not mounted."""
    host = environ["KUBERNETES_SERVICE_HOST"]
    port = environ.get("KUBERNETES_SERVICE_PORT", "443")
    token, authority = mount / "token", mount / "ca.crt"
    for path in (token, authority):
        if not path.exists():
            raise BadConfig(
                f"in a pod, but {path} is missing; set automountServiceAccountToken: true on the pod or account"
            )
    namespace = mount / "namespace"
    return Place(
        server=f"https://{f'[{host}]' if ':' in host else host}:{port}",
        credentials=FromFiles(lambda: Identity(read_token(token, "service account token"))),
        certificate_authority=authority.read_text("ascii"),
        namespace=namespace.read_text("utf-8").strip() if namespace.exists() else "default",
    )
