"""Kubeconfig files as documents: the shape, and how several files become one.

`config.py` calls `merged()`. Where several files are named ($KUBECONFIG), the first that has an entry of a name wins,
and a relative path means: relative to the file that says it. A message never quotes a file's content,
since that is where the secrets are.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import yaml
from msgspec import Struct, field

from noderemedy.drivers.kube.errors import BadConfig


class ClusterEntry(Struct, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""


class Variable(Struct):
    name: str
    value: str = ""


class ExecEntry(Struct, rename="camel"):
    command: str = ""
    api_version: str = ""
    args: list[str] | None = None
    env: list[Variable] | None = None
    install_hint: str = ""
    interactive_mode: str = ""
    provide_cluster_info: bool = False


class UserEntry(Struct, rename="kebab"):
    token: str = ""
    token_file: str = field(name="tokenFile", default="")
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    username: str = ""
    password: str = ""
    exec: ExecEntry | None = None
    auth_provider: dict[str, Any] | None = None
    as_user: str = field(name="as", default="")
    as_uid: str = ""
    as_groups: list[str] | None = None
    as_user_extra: dict[str, list[str]] | None = None


class ContextEntry(Struct, rename="kebab"):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _NamedCluster(Struct):
    name: str
    cluster: ClusterEntry | None = None


class _NamedUser(Struct):
    name: str
    user: UserEntry | None = None


class _NamedContext(Struct):
    name: str
    context: ContextEntry | None = None


class Document(Struct, rename="kebab"):
    """One kubeconfig."""

    current_context: str = ""
    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] | None = None


class Merged(Struct):
    """All files as one; each entry remembers the file that said it."""

    files: tuple[Path, ...]
    current_context: str
    clusters: dict[str, tuple[ClusterEntry, Path]]
    users: dict[str, tuple[UserEntry, Path]]
    contexts: dict[str, tuple[ContextEntry, Path]]


def merged(files: Iterable[Path]) -> Merged:
    """Read the files in order; the first that names an entry wins."""
    whole = Merged((), "", {}, {}, {})
    for path in files:
        document = read(path)
        whole.files = (*whole.files, path)
        whole.current_context = whole.current_context or document.current_context
        for cluster in document.clusters or ():
            whole.clusters.setdefault(cluster.name, (cluster.cluster or ClusterEntry(), path))
        for user in document.users or ():
            whole.users.setdefault(user.name, (user.user or UserEntry(), path))
        for context in document.contexts or ():
            whole.contexts.setdefault(context.name, (context.context or ContextEntry(), path))
    return whole


def read(path: Path) -> Document:
    """One kubeconfig file, or an error that names the file, the place in it and the remedy."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise BadConfig(f"kubeconfig {path}: {problem.strerror}; check that it exists and is readable") from None
    return parse(content, f"kubeconfig {path}")


def parse(content: bytes, where: str) -> Document:
    """The bytes of a kubeconfig; `where` is for messages."""
    try:
        tree = yaml.safe_load(content)
    except yaml.MarkedYAMLError as problem:
        line = f" at line {problem.problem_mark.line + 1}" if problem.problem_mark else ""
        raise BadConfig(f"{where}: not YAML{line}; correct the file") from None
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: a word that looks like a date and is none
        raise BadConfig(f"{where}: not YAML; correct the file") from None
    if tree is None:
        return Document()
    try:
        return msgspec.convert(_without_nulls(tree), type=Document, strict=False)
    except msgspec.ValidationError as problem:
        raise BadConfig(f"{where}: {problem}; correct or quote that value") from None


def _without_nulls(value: Any) -> Any:
    """`key: null` means that the key is not there, as for kubectl."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
