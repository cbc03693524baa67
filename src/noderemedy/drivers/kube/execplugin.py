"""Credentials from a program: the exec plugins of a kubeconfig (client.authentication.k8s.io).

The program is started without a terminal, gets its request in KUBERNETES_EXEC_INFO and prints an
ExecCredential. Its answer is kept until it expires or the server refuses it. Its standard error belongs to
the person who runs kubectl; it may hold tokens, so it is thrown away and never becomes part of a message.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from noderemedy.drivers.kube.credentials import Identity, is_token
from noderemedy.drivers.kube.errors import BadCredentials
from noderemedy.drivers.kube.secret import Secret
from noderemedy.wire.scalars import UNREADABLE

KNOWN_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
PATIENCE_S = 60.0
EARLY_S = 5.0  # a token that ends within this time may end on its way


class ClusterInfo(Struct, frozen=True):
    """The cluster entry as the plugin is told about it, where the kubeconfig asks for that."""

    server: str
    certificate_authority: bytes = b""
    insecure: bool = False
    server_name: str = ""
    proxy_url: Secret = Secret("")


class Plugin(Struct, frozen=True):
    """The `exec` section of a user entry, with `origin` for messages ("user x of /path")."""

    origin: str
    command: str
    api_version: str
    arguments: tuple[Secret, ...] = ()
    environment: tuple[tuple[str, Secret], ...] = ()
    install_hint: str = ""
    cluster: ClusterInfo | None = None


class _Status(Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _ExecCredential(Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


class FromPlugin:
    """Runs the plugin when needed, once for everybody who waits."""

    def __init__(
        self,
        plugin: Plugin,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._plugin = plugin
        self._environ = os.environ if environ is None else environ
        self._clock = clock
        self._patience_s = patience_s
        self._identity: Identity | None = None
        self._expires = float("inf")
        self._one_at_a_time = asyncio.Lock()

    async def current(self) -> Identity:
        async with self._one_at_a_time:
            if self._identity is None or self._clock() >= self._expires - EARLY_S:
                await self._ask()
            assert self._identity is not None
            return self._identity

    async def renew(self, refused: Identity) -> Identity:
        async with self._one_at_a_time:
            if self._identity is None or self._identity == refused:
                await self._ask()
            assert self._identity is not None
            return self._identity

    async def _ask(self) -> None:
        status = _parse(self._plugin, await _run(self._plugin, self._environ, self._patience_s))
        self._identity = Identity(Secret(status.token), status.client_certificate_data, Secret(status.client_key_data))
        self._expires = _seconds(status.expiration_timestamp)


def _seconds(moment: datetime | None) -> float:
    """When a credential ends, since 1970; never, if the plugin does not say. A missing zone means UTC."""
    if moment is None:
        return float("inf")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


async def _run(plugin: Plugin, environ: Mapping[str, str], patience_s: float) -> bytes:
    """Start the program and return what it printed."""
    environment = {**environ, **{name: value.reveal() for name, value in plugin.environment}}
    environment["KUBERNETES_EXEC_INFO"] = exec_info(plugin)
    try:
        process = await asyncio.create_subprocess_exec(
            plugin.command,
            *(argument.reveal() for argument in plugin.arguments),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError as problem:
        raise _failed(plugin, f"could not be started ({problem.strerror})") from None
    try:
        printed, _ = await asyncio.wait_for(process.communicate(), patience_s)
    except TimeoutError:
        raise _failed(plugin, f"gave no answer within {patience_s:g} s") from None
    finally:
        await _end(process)
    if process.returncode != 0:
        raise _failed(plugin, f"ended with exit code {process.returncode}")
    return printed


async def _end(process: asyncio.subprocess.Process) -> None:
    """Leave no program behind, whether it hung or we were cancelled."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _parse(plugin: Plugin, printed: bytes) -> _Status:
    """The credential in the plugin's answer; nothing of the answer itself appears in a message."""
    try:
        answer = msgspec.json.decode(printed, type=_ExecCredential)
    except UNREADABLE:
        raise _failed(plugin, "printed no ExecCredential in JSON") from None
    if answer.kind != "ExecCredential" or answer.api_version != plugin.api_version:
        raise _failed(plugin, f"printed something else than an ExecCredential of {plugin.api_version}")
    status = answer.status
    if status is None or not (status.token or status.client_certificate_data):
        raise _failed(plugin, "gave neither a token nor a client certificate")
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise _failed(plugin, "gave a client certificate without its key, or a key without its certificate")
    if not is_token(status.token):
        raise _failed(plugin, "gave a token that no header can carry")
    return status


def exec_info(plugin: Plugin) -> str:
    """The request to the plugin, for the variable KUBERNETES_EXEC_INFO."""
    spec: dict[str, object] = {"interactive": False}
    if plugin.cluster is not None:
        spec["cluster"] = _cluster(plugin.cluster)
    request = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    return msgspec.json.encode(request).decode()


def _cluster(info: ClusterInfo) -> dict[str, object]:
    told: dict[str, object] = {"server": info.server}
    if info.certificate_authority:
        told["certificate-authority-data"] = base64.b64encode(info.certificate_authority).decode()
    if info.insecure:
        told["insecure-skip-tls-verify"] = True
    if info.server_name:
        told["tls-server-name"] = info.server_name
    if info.proxy_url:
        told["proxy-url"] = info.proxy_url.reveal()
    return told


def _failed(plugin: Plugin, what: str) -> BadCredentials:
    hint = f" ({plugin.install_hint.strip()})" if plugin.install_hint.strip() else ""
    return BadCredentials(f"{plugin.origin}: the exec plugin {plugin.command} {what}; run it by hand to see why{hint}")
