"""From the kubeconfig of a workload cluster, as its secret holds it, to an `Access`.

Called by the manager and by `plan` for each cluster of a management cluster. Whoever may write that secret must not
thereby run programs or read files where we run: everything has to be in the kubeconfig itself. What it
says is never quoted: a message names the secret, the key and the field.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from noderemedy.drivers.kube import documents
from noderemedy.drivers.kube.config import Access, cluster_part, no_secret_in_the_clear
from noderemedy.drivers.kube.errors import BadConfig
from noderemedy.drivers.kube.execplugin import ClusterInfo
from noderemedy.drivers.kube.users import credentials_of, impersonation_of

LARGEST = 256 * 1024
NOWHERE = Path("/nonexistent")  # no field that names a file gets past `_demand_embedded`


def access(content: bytes, origin: str, environ: Mapping[str, str] | None = None) -> Access:
    """How to reach the cluster that this kubeconfig means. Raises BadConfig; `origin` names the secret and the key."""
    _demand_plain(content, origin)
    cluster, user = _chosen(documents.parse(content, origin), origin)
    _demand_embedded(cluster, user, origin)
    part = cluster_part(cluster, origin, NOWHERE, os.environ if environ is None else environ)
    no_secret_in_the_clear(part.server, user, origin)
    info = ClusterInfo(part.server, b"", part.insecure, part.server_name, part.proxy)
    return Access(
        origin=origin,
        server=part.server,
        credentials=credentials_of(user, origin, NOWHERE, info),
        certificate_authority=part.certificate_authority,
        insecure=part.insecure,
        server_name=part.server_name,
        proxy=part.proxy,
        headers=impersonation_of(user, origin),
    )


def _chosen(document: documents.Document, origin: str) -> tuple[documents.ClusterEntry, documents.UserEntry]:
    """The cluster and the user of the current context."""
    contexts = {one.name: one.context for one in document.contexts or ()}
    clusters = {one.name: one.cluster for one in document.clusters or ()}
    users = {one.name: one.user for one in document.users or ()}
    context = contexts.get(document.current_context)
    if context is None:
        raise BadConfig(f"{origin}: current-context names no context; correct it")
    cluster = clusters.get(context.cluster)
    if cluster is None:
        raise BadConfig(f"{origin}: its context names no cluster that is there; correct it")
    user = users.get(context.user)
    if user is None:
        raise BadConfig(f"{origin}: its context names no user that is there; correct it")
    return cluster, user


def _demand_plain(content: bytes, origin: str) -> None:
    """Repeated references can make a few lines as large as all our memory, and no tool writes them."""
    if len(content) > LARGEST:
        raise BadConfig(f"{origin}: larger than {LARGEST} bytes; replace it by the kubeconfig of one cluster")
    if b"*" not in content:
        return
    try:
        has_alias = any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(content, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError):
        return  # `documents.parse` says where
    if has_alias:
        raise BadConfig(f"{origin}: holds YAML references; write them out")


def _demand_embedded(cluster: documents.ClusterEntry, user: documents.UserEntry, origin: str) -> None:
    if user.exec is not None or user.auth_provider is not None:
        field = "exec" if user.exec is not None else "auth-provider"
        raise BadConfig(f"{origin}: {field} would run a program here, which is refused; embed a token or a certificate")
    files = {
        "certificate-authority": cluster.certificate_authority,
        "tokenFile": user.token_file,
        "client-certificate": user.client_certificate,
        "client-key": user.client_key,
    }
    for field, path in files.items():
        if path:
            raise BadConfig(f"{origin}: {field} names a file, which is not read here; embed what it holds")
