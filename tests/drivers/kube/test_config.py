"""Kubeconfig files: what is found, what wins, and what every mistake is told to be."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from noderemedy.drivers.kube.config import Access, load
from noderemedy.drivers.kube.credentials import Identity
from noderemedy.drivers.kube.errors import BadConfig, BadCredentials

PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
DATA = base64.b64encode(PEM.encode()).decode()
HUSH = "hush-hush"


def a_config(user: Any = None, cluster: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://api:6443", **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "n"}}],
        "current-context": "x",
        **more,
    }


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


def identity(access: Access) -> Identity:
    return asyncio.run(access.credentials.current())


def test_a_token_in_the_entry(tmp_path: Path) -> None:
    """The usual kubeconfig of a service account."""
    access = load(write(tmp_path / "k", a_config({"token": "abc"}, {"certificate-authority-data": DATA})))

    assert ("https://api:6443", "n", PEM) == (access.server, access.namespace, access.certificate_authority)
    assert "abc" == identity(access).token.reveal()


def test_relative_paths_are_relative_to_the_file_that_says_them(tmp_path: Path) -> None:
    """Token, certificate, key and authority files are looked for beside the kubeconfig."""
    for name in ("token", "crt", "key", "ca"):
        (tmp_path / name).write_text(f"{name}-text\n")
    user = {"tokenFile": "token", "client-certificate": "crt", "client-key": "key"}

    access = load(write(tmp_path / "k", a_config(user, {"certificate-authority": "ca"})))

    got = identity(access)
    assert ("token-text", "crt-text\n", "key-text\n") == (got.token.reveal(), got.certificate, got.key.reveal())
    assert "ca-text\n" == access.certificate_authority


def test_data_wins_over_files_and_the_token_file_over_the_token(tmp_path: Path) -> None:
    """As for kubectl."""
    (tmp_path / "token").write_text("from-file")
    user = {
        "token": "from-entry",
        "tokenFile": "token",
        "client-certificate": "nowhere",
        "client-certificate-data": DATA,
        "client-key": "nowhere",
        "client-key-data": DATA,
    }

    got = identity(load(write(tmp_path / "k", a_config(user))))

    assert ("from-file", PEM, PEM) == (got.token.reveal(), got.certificate, got.key.reveal())


def test_several_files_are_one_and_the_first_wins(tmp_path: Path) -> None:
    """$KUBECONFIG lists files; each entry is taken from the first file that has it, missing files are skipped."""
    first = write(tmp_path / "a", {"users": [{"name": "u", "user": {"token": "one"}}], "contexts": None})
    second = write(tmp_path / "b", a_config({"token": "two"}))

    access = load(environ={"KUBECONFIG": f"{tmp_path / 'missing'}:{first}::{second}"})

    assert "one" == identity(access).token.reveal()
    assert f"context 'x' of {second}" == access.origin


def test_the_usual_place_is_looked_at(tmp_path: Path) -> None:
    """Without a name and without $KUBECONFIG it is ~/.kube/config."""
    (tmp_path / ".kube").mkdir()
    write(tmp_path / ".kube" / "config", a_config({"token": "home"}))

    assert "home" == identity(load(environ={"HOME": str(tmp_path)})).token.reveal()


def test_another_context_can_be_chosen(tmp_path: Path) -> None:
    """--context wins over current-context."""
    content = a_config()
    content["contexts"].append({"name": "y", "context": {"cluster": "c", "user": "u"}})

    assert "default" == load(write(tmp_path / "k", content), "y").namespace


def test_inside_a_pod(tmp_path: Path) -> None:
    """The mounted service account: address from the environment, token and authority from files."""
    for name, text in {"token": "pod-token\n", "ca.crt": PEM, "namespace": "system"}.items():
        (tmp_path / name).write_text(text)
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443", "HOME": str(tmp_path)}

    access = load(environ=environ, mount=tmp_path)

    assert ("https://[fd00::1]:443", "system", PEM) == (access.server, access.namespace, access.certificate_authority)
    assert "pod-token" == identity(access).token.reveal()


def test_impersonation_is_not_ignored(tmp_path: Path) -> None:
    """Acting as oneself where another was asked for would be more rights than meant."""
    user = {"as": "them", "as-groups": ["g"], "as-uid": "7", "as-user-extra": {"scope": ["a", "b"]}}

    headers = load(write(tmp_path / "k", a_config(user))).headers

    expected = ["Impersonate-User", "Impersonate-Uid", "Impersonate-Group"] + ["Impersonate-Extra-scope"] * 2
    assert expected == [name for name, _ in headers]


def exec_entry(**more: Any) -> dict[str, Any]:
    return {"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1", **more}}


MISTAKES: dict[str, tuple[Any, str]] = {
    "not yaml": (f"token: {HUSH}\n\t- [{HUSH}", "not YAML at line 2; correct the file"),
    "not a config": (["a"], "Expected `object`, got `array`"),
    "number as token": (
        a_config({"token": 123}),
        r"Expected `str`, got `int` - at `\$.users\[0\].user.token`; .*quote",
    ),
    "no context": (a_config(**{"current-context": ""}), r"no current-context; name one with --context \(known: x\)"),
    "unknown context": (
        a_config(**{"current-context": "z"}),
        r"there is no context 'z'; name another one with --context \(known: x\)",
    ),
    "unknown cluster": (a_config(clusters=[]), "context 'x' names cluster 'c', which is not there; add"),
    "unknown user": (a_config(users=None), "context 'x' names user 'u', which is not there; add"),
    **{
        f"server {server!r}": (a_config(cluster={"server": server}), "cluster 'c' of .*: server is no plain")
        for server in (
            "",
            "banana",
            "ftp://api",
            "https://:6443",
            "https://api:99999",
            "https://api:port",
            "https://[::1",
            "https://api\n:6443",
            "https://a b",
            f"https://me:{HUSH}@api:6443",
            f"https://api:6443/?key={HUSH}",
        )
    },
    "a password beside a token": (
        a_config({"token": HUSH}, {"server": f"https://me:{HUSH}@api"}),
        "server is no plain http.* address; write https://HOST:PORT without a user name or a password",
    ),
    "a token of two lines": (a_config({"token": f"{HUSH}\n{HUSH}"}), "user 'u' of .*: token: .* write it on one line"),
    "a name of two lines": (a_config({"as": "a\nb"}), "user 'u' of .*: as, .* one line"),
    "a proxy out of range": (a_config(cluster={"proxy-url": "http://p:99999"}), "proxy-url: only http://HOST:PORT"),
    "half a proxy": (a_config(cluster={"proxy-url": f"http://me:{HUSH}@[::1"}), "proxy-url: only http://HOST:PORT"),
    "basic auth": (a_config({"username": "me", "password": HUSH}), "user 'u' of .*: basic authentication is not supp"),
    "auth provider": (a_config({"auth-provider": {"name": "gcp"}}), "auth-provider was removed .* use an exec plugin"),
    "half a pair": (a_config({"client-certificate-data": DATA}), "client-key is missing; a client certificate needs"),
    "other half": (a_config({"client-key-data": DATA}), "client-certificate is missing"),
    "bad base64": (
        a_config({"client-key-data": HUSH, "client-certificate-data": DATA}),
        "client-key-data is not base64",
    ),
    "bad ca": (a_config(cluster={"certificate-authority-data": "%"}), "certificate-authority-data is not base64"),
    "missing ca": (
        a_config(cluster={"certificate-authority": "no"}),
        "cannot read certificate-authority .*/no; correct",
    ),
    "ca and insecure": (
        a_config(cluster={"certificate-authority-data": DATA, "insecure-skip-tls-verify": True}),
        "contradict each other; remove the latter",
    ),
    "socks": (a_config(cluster={"proxy-url": f"socks5://me:{HUSH}@p:1"}), "proxy-url: only http://HOST:PORT proxies"),
    "token in the clear": (
        a_config({"token": HUSH}, {"server": "http://api:80"}),
        "a token would travel unencrypted to http://api:80; use an https server",
    ),
    "groups without user": (a_config({"as-groups": ["g"]}), "need `as`; add it"),
    "no command": (a_config(exec_entry(command="")), "exec.command is missing; name the program"),
    "old plugin": (
        a_config(exec_entry(apiVersion="client.authentication.k8s.io/v1alpha1")),
        "exec.apiVersion .* is not supported; use client.authentication.k8s.io/v1 or",
    ),
    "needs a terminal": (a_config(exec_entry(interactiveMode="Always")), "interactiveMode Always needs a terminal"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_file_entry_and_remedy(name: str, tmp_path: Path) -> None:
    """The message says where and what to do, and never shows a secret."""
    content, message = MISTAKES[name]
    path = write(tmp_path / "kubeconfig", content)

    with pytest.raises(BadConfig, match=message) as refusal:
        load(path, environ={})

    assert str(path) in str(refusal.value)
    assert HUSH not in str(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({}, "no cluster: neither --kubeconfig, nor"),
        ({"KUBECONFIG": "/no/a:/no/b"}, r"\$KUBECONFIG names no file that exists \(/no/a, /no/b\)"),
        ({"KUBERNETES_SERVICE_HOST": "h"}, "token is missing; set automountServiceAccountToken"),
    ],
)
def test_nothing_to_read_is_named_too(environ: dict[str, str], message: str, tmp_path: Path) -> None:
    """Without any configuration the message says what was looked for."""
    with pytest.raises(BadConfig, match=message):
        load(environ={"HOME": str(tmp_path), **environ}, mount=tmp_path)


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    """--kubeconfig with a wrong path does not fall back to anything."""
    with pytest.raises(BadConfig, match="No such file or directory; check that it exists"):
        load(tmp_path / "nowhere")


@pytest.mark.parametrize("content", [None, "", b"\xff\xfe"])
def test_a_token_file_that_gives_no_token(content: str | bytes | None, tmp_path: Path) -> None:
    """Missing, empty or not text: the message names the file."""
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(BadCredentials, match=r"user 'u' of .*: tokenFile: .*/token"):
        identity(load(write(tmp_path / "k", a_config({"tokenFile": "token"}))))


def test_a_token_file_of_two_lines_is_named_and_not_shown(tmp_path: Path) -> None:
    """No header can carry it: it is the file that has to be mended."""
    (tmp_path / "token").write_text(f"{HUSH}\n{HUSH}\n")

    with pytest.raises(BadCredentials, match=r"tokenFile: .*/token: .*one line") as refusal:
        identity(load(write(tmp_path / "k", a_config({"tokenFile": "token"}))))

    assert HUSH not in str(refusal.value)


@pytest.mark.parametrize(
    ("server", "environ", "proxy"),
    [
        ("https://api", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://api", {"https_proxy": "p:1"}, "http://p:1"),
        ("http://api", {"HTTPS_PROXY": "http://p:1"}, ""),
        ("https://api", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api"}, ""),
        ("https://a.b.c", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "x, .b.c"}, ""),
        ("https://ab.c", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.c"}, "http://p:1"),
        ("https://10.1.2.3", {"HTTPS_PROXY": "http://p:1", "no_proxy": "10.0.0.0/8"}, ""),
        ("https://10.1.2.3", {"HTTPS_PROXY": "http://p:1", "no_proxy": "11.0.0.0/8"}, "http://p:1"),
        ("https://api:6443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api:443"}, "http://p:1"),
        ("https://api", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, ""),
        ("https://127.0.0.1:6443", {"HTTPS_PROXY": "http://p:1"}, ""),
        ("https://localhost", {"HTTPS_PROXY": "http://p:1"}, ""),
    ],
)
def test_the_proxy_of_the_environment(server: str, environ: dict[str, str], proxy: str, tmp_path: Path) -> None:
    """HTTPS_PROXY and NO_PROXY are honoured as by kubectl."""
    access = load(write(tmp_path / "k", a_config(cluster={"server": server})), environ=environ)

    assert proxy == access.proxy.reveal()
