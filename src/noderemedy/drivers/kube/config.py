"""From a kubeconfig, or from inside a pod, to an `Access`: where a cluster is and how to be let in.

Programs call `load()`. Looked at in this order: the path they were given, $KUBECONFIG, ~/.kube/config, the
service account mounted into the pod. Whatever is wrong ends in one `BadConfig` that names the file, the entry and
the remedy. What would be ignored silently elsewhere and weaken security is refused here: basic
authentication, a password in an address, removed auth providers, a CA beside the insecure flag, a token over plain
HTTP.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from noderemedy.drivers.kube import documents, incluster
from noderemedy.drivers.kube.addresses import demand_plain
from noderemedy.drivers.kube.credentials import Credentials
from noderemedy.drivers.kube.errors import BadConfig
from noderemedy.drivers.kube.execplugin import ClusterInfo
from noderemedy.drivers.kube.proxy import proxy_for
from noderemedy.drivers.kube.secret import NOTHING, Secret
from noderemedy.drivers.kube.users import credentials_of, impersonation_of

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Access(Struct, frozen=True):
    """Everything a `KubeClient` needs. `origin` says in messages where it came from."""

    origin: str
    server: str
    credentials: Credentials
    certificate_authority: str = ""  # PEM; "" means the system's own store
    insecure: bool = False
    server_name: str = ""
    proxy: Secret = NOTHING
    headers: tuple[tuple[str, str], ...] = ()
    namespace: str = "default"


def load(
    path: Path | None = None,
    context: str = "",
    environ: Mapping[str, str] | None = None,
    mount: Path = incluster.MOUNT,
) -> Access:
    """How to reach the cluster that the user means."""
    environ = os.environ if environ is None else environ
    files = _files(path, environ)
    if files:
        return _from_files(files, context, environ)
    if incluster.is_here(environ, mount):
        place = incluster.read(environ, mount)
        return Access(
            origin="the pod's service account",
            server=place.server,
            credentials=place.credentials,
            certificate_authority=place.certificate_authority,
            namespace=place.namespace,
        )
    raise BadConfig(
        "no cluster: neither --kubeconfig, nor $KUBECONFIG, nor ~/.kube/config, nor a mounted service account; "
        "name a kubeconfig with --kubeconfig"
    )


def _files(path: Path | None, environ: Mapping[str, str]) -> list[Path]:
    """The kubeconfig files to read; a file named by the caller must exist, the others may be missing."""
    if path is not None:
        return [path]
    named = [Path(part) for part in environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    if named:
        found = [file for file in named if file.exists()]
        if not found:
            listed = ", ".join(str(file) for file in named)
            raise BadConfig(f"$KUBECONFIG names no file that exists ({listed}); correct or unset it")
        return found
    usual = Path(environ.get("HOME", "~")).expanduser() / ".kube" / "config"
    return [usual] if usual.exists() else []


def _from_files(files: list[Path], context: str, environ: Mapping[str, str]) -> Access:
    whole = documents.merged(files)
    name = context or whole.current_context
    where = ", ".join(str(file) for file in whole.files)
    if not name:
        raise BadConfig(f"kubeconfig {where}: no current-context; name one with --context{_known(whole.contexts)}")
    if name not in whole.contexts:
        raise BadConfig(
            f"kubeconfig {where}: there is no context {name!r}; name another one with --context{_known(whole.contexts)}"
        )
    entry, entry_file = whole.contexts[name]
    if entry.cluster not in whole.clusters:
        raise BadConfig(
            f"kubeconfig {entry_file}: context {name!r} names cluster {entry.cluster!r}, which is not there; "
            f"add that cluster{_known(whole.clusters)}"
        )
    if entry.user and entry.user not in whole.users:
        raise BadConfig(
            f"kubeconfig {entry_file}: context {name!r} names user {entry.user!r}, which is not there; "
            f"add that user{_known(whole.users)}"
        )
    cluster, cluster_file = whole.clusters[entry.cluster]
    user, user_file = whole.users.get(entry.user, (documents.UserEntry(), entry_file))
    access = cluster_part(cluster, f"cluster {entry.cluster!r} of {cluster_file}", cluster_file.parent, environ)
    origin = f"user {entry.user!r} of {user_file}"
    info = ClusterInfo(
        access.server,
        access.certificate_authority.encode(),
        access.insecure,
        access.server_name,
        access.proxy,
    )
    credentials = credentials_of(user, origin, user_file.parent, info)
    no_secret_in_the_clear(access.server, user, origin)
    return Access(
        origin=f"context {name!r} of {entry_file}",
        server=access.server,
        credentials=credentials,
        certificate_authority=access.certificate_authority,
        insecure=access.insecure,
        server_name=access.server_name,
        proxy=access.proxy,
        headers=impersonation_of(user, origin),
        namespace=entry.namespace or "default",
    )


class _ClusterPart(Struct, frozen=True):
    server: str
    certificate_authority: str
    insecure: bool
    server_name: str
    proxy: Secret


def cluster_part(
    cluster: documents.ClusterEntry, origin: str, folder: Path, environ: Mapping[str, str]
) -> _ClusterPart:
    """Where the cluster is, and whom to trust there."""
    demand_plain(cluster.server, origin)
    authority = _certificate_authority(cluster, origin, folder)
    if authority and cluster.insecure_skip_tls_verify:
        raise BadConfig(
            f"{origin}: certificate-authority and insecure-skip-tls-verify contradict each other; remove the latter"
        )
    return _ClusterPart(
        server=cluster.server.rstrip("/"),
        certificate_authority=authority,
        insecure=cluster.insecure_skip_tls_verify,
        server_name=cluster.tls_server_name,
        proxy=proxy_for(cluster.server, cluster.proxy_url, origin, environ),
    )


def _certificate_authority(cluster: documents.ClusterEntry, origin: str, folder: Path) -> str:
    if cluster.certificate_authority_data:
        try:
            return base64.b64decode(cluster.certificate_authority_data, validate=True).decode("ascii")
        except (binascii.Error, ValueError):
            raise BadConfig(f"{origin}: certificate-authority-data is not base64 of PEM; correct it") from None
    if cluster.certificate_authority:
        path = folder / cluster.certificate_authority
        try:
            return path.read_text("ascii")
        except (OSError, UnicodeDecodeError):
            raise BadConfig(f"{origin}: cannot read certificate-authority {path}; correct the path") from None
    return ""


def no_secret_in_the_clear(server: str, user: documents.UserEntry, origin: str) -> None:
    parts = urlsplit(server)
    has_token = bool(user.token or user.token_file or user.exec)
    if parts.scheme == "http" and has_token and parts.hostname not in LOOPBACK:
        raise BadConfig(f"{origin}: a token would travel unencrypted to {server}; use an https server")


def _known(entries: Mapping[str, object]) -> str:
    return f" (known: {', '.join(sorted(entries))})" if entries else " (there are none)"
