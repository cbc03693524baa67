"""Credentials and proxies with real processes, real files and real TLS, against the simulated API over HTTP."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.drivers.kube.processes import (
    V1,
    a_plugin,
    a_proxy,
    an_endpoint,
    credential,
    kubeconfig,
    runs,
)
from tests.drivers.kube.scripted import run, until

from noderemedy.drivers.kube import execplugin
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.kube.credentials import FromFiles
from noderemedy.drivers.kube.errors import BadCredentials, NoAnswer, NotSent
from noderemedy.lab.http_tls import Authority
from noderemedy.model.time import Span
from noderemedy.sim.apiserver.types import ADMIN, User
from noderemedy.wire.http import Request

GET = Request("GET", "/api/v1/nodes/worker")
HUSH = "hush-hush"


def exec_user(plugin: Path | str, **more: Any) -> dict[str, Any]:
    return {"exec": {"command": str(plugin), "apiVersion": V1, **more}}


# --- exec plugin -----------------------------------------------------------------------------------------------------


def test_a_plugin_gives_the_token(tmp_path: Path) -> None:
    """The program is started once, with its arguments, its environment and the request in KUBERNETES_EXEC_INFO."""

    async def test() -> None:
        keep = (
            "(here/'got').write_text(json.dumps([sys.argv[1:], os.environ['E'], os.environ['KUBERNETES_EXEC_INFO']]))\n"
        )
        plugin = a_plugin(tmp_path, keep + credential(token="good"))
        user = exec_user(plugin, args=["-v", "a b"], env=[{"name": "E", "value": "e"}], provideClusterInfo=True)
        async with an_endpoint() as endpoint, KubeClient(load(kubeconfig(tmp_path / "k", endpoint, user))) as client:
            assert [200, 200, 200] == [(await client.send(GET)).status for _ in range(3)]
        arguments, variable, info = json.loads((tmp_path / "got").read_text())
        assert (1, ["-v", "a b"], "e") == (runs(tmp_path), arguments, variable)
        told = json.loads(info)
        assert (V1, "ExecCredential", False) == (told["apiVersion"], told["kind"], told["spec"]["interactive"])
        assert endpoint.url == told["spec"]["cluster"]["server"]
        assert "certificate-authority-data" in told["spec"]["cluster"]

    run(test())


def test_a_plugin_is_asked_again_after_a_refusal(tmp_path: Path) -> None:
    """The server forgets the token, the plugin knows a new one: no request fails, and all share one run."""

    async def test() -> None:
        (tmp_path / "token").write_text("old")
        body = "doc = {'apiVersion': '%s', 'kind': 'ExecCredential', 'status': {'token': (here/'token').read_text()}}\n"
        plugin = a_plugin(tmp_path, body % V1 + "print(json.dumps(doc))\n")
        tokens = {"old": ADMIN}
        async with (
            an_endpoint(tokens) as endpoint,
            KubeClient(load(kubeconfig(tmp_path / "k", endpoint, exec_user(plugin)))) as client,
        ):
            assert 200 == (await client.send(GET)).status
            (tmp_path / "token").write_text("new")
            tokens["new"] = tokens.pop("old")
            answers = await asyncio.gather(*(client.send(GET) for _ in range(5)))
            assert [200] * 5 == [answer.status for answer in answers]
        assert 2 == runs(tmp_path)

    run(test())


def test_an_expired_credential_is_renewed_before_it_is_used(tmp_path: Path) -> None:
    """expirationTimestamp in the past: the program is asked for every request."""

    async def test() -> None:
        plugin = a_plugin(tmp_path, credential(token="good", expirationTimestamp="2020-01-01T00:00:00Z"))
        async with (
            an_endpoint() as endpoint,
            KubeClient(load(kubeconfig(tmp_path / "k", endpoint, exec_user(plugin)))) as client,
        ):
            assert [200, 200] == [(await client.send(GET)).status for _ in range(2)]
        assert 2 == runs(tmp_path)

    run(test())


def test_a_plugin_gives_a_client_certificate(tmp_path: Path) -> None:
    """The certificate is shown in the handshake, and the server knows the user by it."""

    async def test() -> None:
        async with an_endpoint({}) as endpoint:
            assert endpoint.authority is not None
            pair = endpoint.authority.client("alice", "system:masters")
            status = {"clientCertificateData": pair.certificate.decode(), "clientKeyData": pair.key.decode()}
            plugin = a_plugin(tmp_path, credential(**status))
            async with KubeClient(load(kubeconfig(tmp_path / "k", endpoint, exec_user(plugin)))) as client:
                assert 200 == (await client.send(GET)).status

    run(test())


def test_a_plugin_beside_the_kubeconfig_is_found(tmp_path: Path) -> None:
    """A relative path means: relative to the file that says it."""

    async def test() -> None:
        a_plugin(tmp_path, credential(token="good"))
        async with an_endpoint() as endpoint:
            access = load(kubeconfig(tmp_path / "k", endpoint, exec_user("./plugin")))
            async with KubeClient(access) as client:
                assert 200 == (await client.send(GET)).status

    run(test())


FAILURES = {
    "exits": (f"print('{HUSH}'); print('{HUSH}', file=sys.stderr); sys.exit(3)\n", "ended with exit code 3"),
    "garbage": (f"print('{HUSH}')\n", "printed no ExecCredential in JSON"),
    "other kind": (f'print(\'{{"kind": "{HUSH}"}}\')\n', "printed something else than an ExecCredential of"),
    "nothing": (credential(), "gave neither a token nor a client certificate"),
    "two lines": (credential(token=f"{HUSH}\n{HUSH}"), "gave a token that no header can carry"),
    "half": (credential(clientCertificateData=HUSH), "without its key"),
    "bad pair": (credential(clientCertificateData=HUSH, clientKeyData=HUSH), "cannot be used together"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failing_plugin_is_named_and_its_output_is_not_shown(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The message names user, file and program, says what to do, and leaks neither stdout nor stderr."""

    async def test() -> None:
        body, message = FAILURES[name]
        plugin = a_plugin(tmp_path, body)
        async with an_endpoint() as endpoint:
            path = kubeconfig(tmp_path / "k", endpoint, exec_user(plugin, installHint="see the wiki"))
            async with KubeClient(load(path)) as client:
                with pytest.raises(NotSent, match=message) as failure:
                    await client.send(GET)
        assert str(tmp_path / "k") in str(failure.value)
        assert HUSH not in str(failure.value) + "".join(capfd.readouterr())

    run(test())


def test_a_missing_plugin_is_named_with_its_hint(tmp_path: Path) -> None:
    """The kubeconfig's installHint is part of the message."""

    async def test() -> None:
        async with an_endpoint() as endpoint:
            user = exec_user(tmp_path / "nowhere", installHint="install the cloud tools")
            async with KubeClient(load(kubeconfig(tmp_path / "k", endpoint, user))) as client:
                with pytest.raises(NotSent, match=r"could not be started \(No such file.*install the cloud tools"):
                    await client.send(GET)

    run(test())


def test_a_hanging_plugin_is_ended(tmp_path: Path) -> None:
    """No answer within its time: it is killed, not left behind."""

    async def test() -> None:
        plugin = a_plugin(tmp_path, "(here/'pid').write_text(str(os.getpid()))\ntime.sleep(600)\n")
        source = execplugin.FromPlugin(execplugin.Plugin("user 'u'", str(plugin), V1), patience_s=1.0)
        with pytest.raises(BadCredentials, match="gave no answer within 1 s"):
            await source.current()
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)

    run(test())


# --- proxy -----------------------------------------------------------------------------------------------------------


def test_everything_goes_through_the_proxy(tmp_path: Path) -> None:
    """Requests and streams are tunnelled by CONNECT, and TLS is with the API server, not with the proxy."""

    async def test() -> None:
        async with an_endpoint() as endpoint, a_proxy(tmp_path) as (port, seen):
            path = kubeconfig(tmp_path / "k", endpoint, {"token": "good"}, proxy_url=f"http://127.0.0.1:{port}")
            async with KubeClient(load(path)) as client:
                assert 200 == (await client.send(GET)).status
                watch = client.stream(Request("GET", "/api/v1/nodes", (("watch", "true"),)))
                assert b"worker" in await anext(watch)
                await watch.aclose()
            assert {f"CONNECT 127.0.0.1:{endpoint.port}"} == set(seen)

    run(test())


def test_a_proxy_with_a_password(tmp_path: Path) -> None:
    """The password of proxy-url is shown to the proxy; a wrong one means that nothing was sent."""

    async def test() -> None:
        async with an_endpoint() as endpoint, a_proxy(tmp_path, f"me:{HUSH}") as (port, _seen):
            for password, works in ((HUSH, True), ("wrong-" + HUSH, False)):
                proxy = f"http://me:{password}@127.0.0.1:{port}"
                path = kubeconfig(tmp_path / "k", endpoint, {"token": "good"}, proxy_url=proxy)
                async with KubeClient(load(path)) as client:
                    if works:
                        assert 200 == (await client.send(GET)).status
                        continue
                    with pytest.raises(NotSent, match=r"the proxy refused to connect \(status 407\)") as failure:
                        await client.send(GET)
                    assert HUSH not in str(failure.value)

    run(test())


def test_a_proxy_that_is_not_there(tmp_path: Path) -> None:
    """The message says that it is the proxy, not the server, and where that is set."""

    async def test() -> None:
        async with an_endpoint() as endpoint:
            path = kubeconfig(tmp_path / "k", endpoint, {"token": "good"}, proxy_url="http://127.0.0.1:9")
            async with KubeClient(load(path)) as client:
                with pytest.raises(NotSent, match=r"the proxy cannot be reached .* check proxy-url"):
                    await client.send(GET)

    run(test())


# --- files that change -----------------------------------------------------------------------------------------------


def test_a_token_file_replaced_while_requests_go_on(tmp_path: Path) -> None:
    """The kubelet renews the mounted token, the server forgets the old one: not one request is refused."""

    async def test() -> None:
        token = tmp_path / "token"
        token.write_text("token-0")
        tokens = {"token-0": ADMIN}
        async with an_endpoint(tokens) as endpoint:
            path = kubeconfig(tmp_path / "k", endpoint, {"tokenFile": str(token)})
            statuses: list[int] = []

            async def ask(client: KubeClient) -> None:
                while True:
                    statuses.append((await client.send(GET)).status)

            async def more() -> None:
                enough = len(statuses) + 20
                await until(lambda: len(statuses) >= enough)

            async with KubeClient(load(path)) as client:
                askers = [asyncio.create_task(ask(client)) for _ in range(3)]
                for number in range(1, 6):
                    await more()
                    new = tmp_path / "new"
                    new.write_text(f"token-{number}")
                    new.replace(token)
                    tokens[f"token-{number}"] = tokens.pop(f"token-{number - 1}")
                await more()
                for asker in askers:
                    asker.cancel()
        assert {200} == set(statuses)

    run(test())


def test_the_service_account_of_a_pod(tmp_path: Path) -> None:
    """Inside a pod: the mounted files are enough, and a token that was replaced is used after the first refusal."""

    async def test() -> None:
        tokens = {"first": ADMIN}
        async with an_endpoint(tokens) as endpoint:
            assert endpoint.authority is not None
            (tmp_path / "token").write_text("first\n")
            (tmp_path / "ca.crt").write_bytes(endpoint.authority.certificate)
            host = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(endpoint.port)}
            async with KubeClient(load(environ={**host, "HOME": str(tmp_path)}, mount=tmp_path)) as client:
                assert 200 == (await client.send(GET)).status
                tokens["second"] = tokens.pop("first")
                assert 401 == (await client.send(GET)).status
                (tmp_path / "token").write_text("second\n")
                assert 200 == (await client.send(GET)).status

    run(test())


def test_a_token_file_is_read_every_minute(tmp_path: Path) -> None:
    """A token that was replaced is used a minute later, before anybody refuses the old one."""
    clock = [0.0]
    (tmp_path / "token").write_text("old")
    access = load(_token_file(tmp_path))
    source = access.credentials
    assert isinstance(source, FromFiles)
    source._clock = lambda: clock[0]

    async def token() -> str:
        return (await source.current()).token.reveal()

    async def test() -> None:
        assert "old" == await token()
        (tmp_path / "token").write_text("new")
        clock[0] = 59.0
        assert "old" == await token()
        clock[0] = 61.0
        assert "new" == await token()
        (tmp_path / "token").unlink()
        clock[0] = 200.0
        assert "new" == await token()

    run(test())


def _token_file(folder: Path) -> Path:
    path = folder / "k"
    path.write_text(
        "clusters: [{name: c, cluster: {server: 'https://api'}}]\nusers: [{name: u, user: {tokenFile: token}}]\n"
        "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
    )
    return path


# --- TLS -------------------------------------------------------------------------------------------------------------


def test_a_client_certificate_in_the_kubeconfig(tmp_path: Path) -> None:
    """Data in the entry: the server knows the user by it."""

    async def test() -> None:
        async with an_endpoint({}) as endpoint:
            assert endpoint.authority is not None
            pair = endpoint.authority.client("alice", "system:masters")
            user = {
                "client-certificate-data": base64.b64encode(pair.certificate).decode(),
                "client-key-data": base64.b64encode(pair.key).decode(),
            }
            async with KubeClient(load(kubeconfig(tmp_path / "k", endpoint, user))) as client:
                assert 200 == (await client.send(GET)).status

    run(test())


def test_client_certificate_files_are_read_every_minute(tmp_path: Path) -> None:
    """A certificate of a stranger is refused in the handshake; once replaced on disk it is used a minute later."""

    async def test() -> None:
        clock = [0.0]
        async with an_endpoint({}) as endpoint:
            assert endpoint.authority is not None
            _write_pair(tmp_path, Authority("a stranger"))
            path = kubeconfig(tmp_path / "k", endpoint, {"client-certificate": "crt", "client-key": "key"})
            async with KubeClient(load(path)) as client:
                source = client.access.credentials
                assert isinstance(source, FromFiles)
                source._clock = lambda: clock[0]
                with pytest.raises((NotSent, NoAnswer)):
                    await client.send(GET)
                _write_pair(tmp_path, endpoint.authority)
                clock[0] = 61.0
                assert 200 == (await client.send(GET)).status

    run(test())


def _write_pair(folder: Path, authority: Authority) -> None:
    pair = authority.client("a", "system:masters")
    (folder / "crt").write_bytes(pair.certificate)
    (folder / "key").write_bytes(pair.key)


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        ({"certificate_authority_data": None}, "its certificate is not trusted"),
        ({"tls_server_name": "other.invalid"}, "its certificate is not trusted .*Hostname mismatch"),
    ],
)
def test_a_server_that_is_not_trusted(cluster: dict[str, Any], message: str, tmp_path: Path) -> None:
    """An unknown authority or another name: nothing is sent, and the message says what to check."""

    async def test() -> None:
        async with (
            an_endpoint() as endpoint,
            KubeClient(load(kubeconfig(tmp_path / "k", endpoint, {"token": "good"}, **cluster))) as client,
        ):
            with pytest.raises(NotSent, match=message):
                await client.send(GET)

    run(test())


def test_a_server_that_does_not_speak_tls(tmp_path: Path) -> None:
    """https to a port of plain http: the message says so, and not that nobody is there."""

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def test() -> None:
        async with await asyncio.start_server(plain, "127.0.0.1", 0) as server, an_endpoint() as endpoint:
            address = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            path = kubeconfig(tmp_path / "k", endpoint, {"token": "good"}, server=address)
            async with KubeClient(load(path)) as client:
                with pytest.raises(NotSent, match=r"does not speak TLS .*; check its address and its port"):
                    await client.send(GET)

    run(test())


@pytest.mark.parametrize(
    "cluster",
    [
        {"certificate_authority_data": None, "insecure_skip_tls_verify": True},
        {"tls_server_name": "localhost"},
    ],
    ids=["insecure", "server-name"],
)
def test_settings_of_tls_work(cluster: dict[str, Any], tmp_path: Path) -> None:
    """insecure-skip-tls-verify and tls-server-name do what they say."""

    async def test() -> None:
        async with (
            an_endpoint() as endpoint,
            KubeClient(load(kubeconfig(tmp_path / "k", endpoint, {"token": "good"}, **cluster))) as client,
        ):
            assert 200 == (await client.send(GET)).status

    run(test())


def test_a_refused_token_stays_an_answer(tmp_path: Path) -> None:
    """A token that the server does not know is a 401, not an exception."""

    async def test() -> None:
        async with (
            an_endpoint({"other": User("x")}) as endpoint,
            KubeClient(load(kubeconfig(tmp_path / "k", endpoint, {"token": "bad"}))) as client,
        ):
            assert 401 == (await client.send(GET, timeout=Span(5_000))).status

    run(test())
