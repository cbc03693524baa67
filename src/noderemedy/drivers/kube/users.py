"""The user entry of a kubeconfig as credentials. Called by `config.py` only."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path

from noderemedy.drivers.kube.credentials import (
    UNFIT,
    Credentials,
    Fixed,
    FromFiles,
    Identity,
    is_token,
    read_text,
    read_token,
)
from noderemedy.drivers.kube.documents import ExecEntry, UserEntry
from noderemedy.drivers.kube.errors import BadConfig, BadCredentials
from noderemedy.drivers.kube.execplugin import KNOWN_VERSIONS, ClusterInfo, FromPlugin, Plugin
from noderemedy.drivers.kube.secret import NOTHING, Secret


def credentials_of(user: UserEntry, origin: str, folder: Path, cluster: ClusterInfo) -> Credentials:
    """The source of identities that this entry describes."""
    _refuse_the_obsolete(user, origin)
    if user.exec is not None:
        return FromPlugin(_plugin(user.exec, origin, folder, cluster))
    _refuse_halves(user, origin)
    if user.token_file or user.client_certificate or user.client_key:
        return FromFiles(lambda: _read(user, origin, folder))
    return Fixed(_read(user, origin, folder))


def impersonation_of(user: UserEntry, origin: str) -> tuple[tuple[str, str], ...]:
    """Headers for `as:` and its relatives: ignoring them would act with more rights than was asked for."""
    if not user.as_user:
        if user.as_uid or user.as_groups or user.as_user_extra:
            raise BadConfig(f"{origin}: as-uid, as-groups and as-user-extra need `as`; add it")
        return ()
    headers = [("Impersonate-User", user.as_user)]
    if user.as_uid:
        headers.append(("Impersonate-Uid", user.as_uid))
    headers += [("Impersonate-Group", group) for group in user.as_groups or ()]
    for key, values in sorted((user.as_user_extra or {}).items()):
        headers += [(f"Impersonate-Extra-{key}", value) for value in values]
    if not all(name.isprintable() and value.isprintable() for name, value in headers):
        raise BadConfig(f"{origin}: as, as-uid, as-groups or as-user-extra holds a line break; write each on one line")
    return tuple(headers)


def _refuse_the_obsolete(user: UserEntry, origin: str) -> None:
    if user.username or user.password:
        raise BadConfig(
            f"{origin}: basic authentication is not supported (API servers dropped it in 1.19); "
            "use a token, a client certificate or an exec plugin"
        )
    if user.auth_provider is not None:
        raise BadConfig(f"{origin}: auth-provider was removed from Kubernetes in 1.26; use an exec plugin")


def _refuse_halves(user: UserEntry, origin: str) -> None:
    has_certificate = bool(user.client_certificate or user.client_certificate_data)
    has_key = bool(user.client_key or user.client_key_data)
    if has_certificate != has_key:
        missing = "client-key" if has_certificate else "client-certificate"
        raise BadConfig(f"{origin}: {missing} is missing; a client certificate needs both halves")


def _read(user: UserEntry, origin: str, folder: Path) -> Identity:
    return Identity(
        token=_token(user, origin, folder),
        certificate=_half(user.client_certificate_data, user.client_certificate, "client-certificate", origin, folder),
        key=Secret(_half(user.client_key_data, user.client_key, "client-key", origin, folder)),
    )


def _token(user: UserEntry, origin: str, folder: Path) -> Secret:
    """A token file wins over a token in the entry, which stands in while the file cannot be read."""
    own = user.token.strip()
    if not is_token(own):
        raise BadConfig(f"{origin}: token: {UNFIT}")
    if not user.token_file:
        return Secret(own) if own else NOTHING
    try:
        return read_token(folder / user.token_file, f"{origin}: tokenFile")
    except BadCredentials:
        if own:
            return Secret(own)
        raise


def _half(data: str, path: str, what: str, origin: str, folder: Path) -> str:
    """One half of a client certificate as PEM; data wins over a path."""
    if data:
        try:
            return base64.b64decode(data, validate=True).decode("ascii")
        except (binascii.Error, ValueError):
            raise BadConfig(f"{origin}: {what}-data is not base64 of PEM; correct it") from None
    return read_text(folder / path, f"{origin}: {what}") if path else ""


def _plugin(entry: ExecEntry, origin: str, folder: Path, cluster: ClusterInfo) -> Plugin:
    if not entry.command:
        raise BadConfig(f"{origin}: exec.command is missing; name the program")
    if entry.api_version not in KNOWN_VERSIONS:
        known = " or ".join(KNOWN_VERSIONS)
        raise BadConfig(f"{origin}: exec.apiVersion {entry.api_version!r} is not supported; use {known}")
    if entry.interactive_mode == "Always":
        raise BadConfig(f"{origin}: exec.interactiveMode Always needs a terminal; use another credential here")
    command = entry.command
    if "/" in command and not Path(command).is_absolute():
        command = str((folder / command).resolve())
    return Plugin(
        origin=origin,
        command=command,
        api_version=entry.api_version,
        arguments=tuple(Secret(argument) for argument in entry.args or ()),
        environment=tuple((variable.name, Secret(variable.value)) for variable in entry.env or ()),
        install_hint=entry.install_hint,
        cluster=cluster if entry.provide_cluster_info else None,
    )
