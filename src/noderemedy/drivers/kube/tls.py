"""TLS contexts from PEM text. `KubeClient` makes one per client certificate.

The standard library loads a certificate chain from files only, so the key is written to a private scratch folder
for the moment of loading and removed at once.
"""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

from noderemedy.drivers.kube.credentials import Identity
from noderemedy.drivers.kube.errors import BadConfig, BadCredentials


def context(origin: str, authority: str, insecure: bool, identity: Identity) -> ssl.SSLContext:
    """How to talk TLS to this server as this identity."""
    try:
        made = ssl.create_default_context(cadata=authority or None)
    except (ssl.SSLError, ValueError):
        raise BadConfig(f"{origin}: the certificate authority holds no usable certificate; correct it") from None
    # Go's tooling makes authorities without the key identifiers that the strict mode of Python 3.13 demands.
    made.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    if identity.certificate:
        _load(made, origin, identity)
    return made


def _load(made: ssl.SSLContext, origin: str, identity: Identity) -> None:
    with tempfile.TemporaryDirectory(prefix="node-remedy-") as folder:
        path = Path(folder) / "client.pem"
        path.touch(mode=0o600)
        path.write_text(f"{identity.certificate}\n{identity.key.reveal()}\n", "ascii")
        try:
            made.load_cert_chain(path, password=_no_password)
        except (ssl.SSLError, ValueError, OSError):
            raise BadCredentials(
                f"{origin}: client certificate and key cannot be used together; check that both are PEM, "
                "unencrypted, and belong to each other"
            ) from None


def _no_password() -> str:
    """An encrypted key must fail, not ask at a terminal."""
    return ""
