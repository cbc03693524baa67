"""A private, real Kubernetes control plane on loopback: etcd, kube-apiserver, controller-manager, scheduler.

Started by the fixtures in conftest.py, one per test module, each with an empty etcd. Authorisation is RBAC;
identities are tokens in a file: an administrator, and restricted ones that have no rights until a test gives them
some. Timings of the node lifecycle are shortened by the servers' own flags, never by changing what they do.
What the identities under test ask for is written down by the server itself (audit.py).

Rule: the API server is ended before its etcd, otherwise it hangs for minutes.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e import audit
from tests.e2e.api import Api
from tests.e2e.certificates import Certificates
from tests.e2e.processes import Program, free_port

ADMIN = "admin"
TOKENS = "tokens.csv"
RESTRICTED = ("editor", "remediator", "viewer", "stranger")
START_S = 60.0
ATTEMPTS = 3  # a free port may be taken by somebody else before the server binds it


class DidNotStart(Exception):
    """A server ended or never became ready; the message has its last words."""


@dataclass
class ControlPlane:
    """One control plane: `start()`, use it, `stop()`."""

    binaries: Mapping[str, str]
    folder: Path
    certificates: Certificates
    grace_period_s: int = 6  # without a sign of life for so long a node is Unknown; 1 s is added by the look-out
    toleration_s: int = 1  # then its pods are told to go, after so long
    server_flags: tuple[str, ...] = ()  # of the API server, besides those that all have
    port: int = 0
    etcd_port: int = 0
    seconds_to_ready: float = 0.0
    tokens: dict[str, str] = field(default_factory=dict)
    programs: dict[str, Program] = field(default_factory=dict)

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def audit_log(self) -> Path:
        return self.folder / "audit.log"

    def start(self) -> None:
        """Starts all four and returns when the API server is ready."""
        self.folder.mkdir(parents=True, exist_ok=True)
        begun = time.monotonic()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._start_servers()
                break
            except DidNotStart:
                self.stop()
                if attempt == ATTEMPTS:
                    raise
        self.seconds_to_ready = time.monotonic() - begun
        self._start_controllers()

    def stop(self) -> None:
        """Ends everything, the API server before its etcd."""
        for name in ("kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"):
            if program := self.programs.pop(name, None):
                program.kill()

    def api(self, identity: str = ADMIN) -> Api:
        """A client that speaks as this identity."""
        return self.api_with(self.tokens[identity])

    def api_with(self, token: str) -> Api:
        """A client that shows this token."""
        return Api(self.server, token, self.certificates.authority)

    def kubeconfig(self, identity: str = ADMIN) -> Path:
        """A kubeconfig file for this identity."""
        return self.kubeconfig_with(identity, self.tokens[identity])

    def kubeconfig_with(self, name: str, token: str) -> Path:
        """A kubeconfig file that shows this token. JSON is YAML. Never half of one: a program may read it just then."""
        cluster = {"server": self.server, "certificate-authority": str(self.certificates.authority)}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "e2e", "cluster": cluster}],
            "users": [{"name": name, "user": {"token": token}}],
            "contexts": [{"name": name, "context": {"cluster": "e2e", "user": name}}],
            "current-context": name,
        }
        path = self.folder / f"{name}.kubeconfig"
        unfinished = path.with_suffix(".part")
        unfinished.touch(mode=0o600)
        unfinished.write_text(json.dumps(content, indent=2))
        return unfinished.replace(path)

    def run(self, name: str, *arguments: str | Path) -> None:
        """Starts one program of the control plane."""
        command = [self.binaries[name], *arguments]
        self.programs[name] = Program(command, self.folder / f"{name}.log")

    def _start_servers(self) -> None:
        self.port, self.etcd_port = free_port(), free_port()
        etcd = f"http://127.0.0.1:{self.etcd_port}"
        peers = f"http://127.0.0.1:{free_port()}"
        self.run(
            "etcd",
            f"--data-dir={self.folder / f'etcd-{self.etcd_port}'}",
            f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            "--unsafe-no-fsync",
            "--logger=zap",
            "--log-level=warn",
        )
        self._write_tokens()
        self.start_api()

    def stop_api(self) -> None:
        """The API server dies; its etcd and everybody else live on."""
        self.programs.pop("kube-apiserver").kill()

    def start_api(self) -> None:
        """Starts the API server, for the first time or again on the same port, and returns when it is ready."""
        self.run(
            "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            f"--secure-port={self.port}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={self.folder}",
            f"--tls-cert-file={self.certificates.serving}",
            f"--tls-private-key-file={self.certificates.serving_key}",
            f"--service-account-key-file={self.certificates.service_account_key}",
            f"--service-account-signing-key-file={self.certificates.service_account_key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--token-auth-file={self.folder / TOKENS}",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--allow-privileged",
            f"--audit-policy-file={audit.write_policy(self.folder)}",
            f"--audit-log-path={self.audit_log}",
            f"--default-not-ready-toleration-seconds={self.toleration_s}",
            f"--default-unreachable-toleration-seconds={self.toleration_s}",
            *self.server_flags,
        )
        self._wait_until_ready()

    def _start_controllers(self) -> None:
        kubeconfig = self.kubeconfig()
        self.run(
            "kube-controller-manager",
            f"--kubeconfig={kubeconfig}",
            "--leader-elect=false",
            "--secure-port=0",
            f"--service-account-private-key-file={self.certificates.service_account_key}",
            f"--root-ca-file={self.certificates.authority}",
            "--node-monitor-period=1s",
            f"--node-monitor-grace-period={self.grace_period_s}s",
            "--attach-detach-reconcile-sync-period=2s",
        )
        self.run("kube-scheduler", f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0")

    def _write_tokens(self) -> None:
        """One line per identity: token, user, uid, groups."""
        self.tokens = {name: secrets.token_hex(16) for name in (ADMIN, *RESTRICTED)}
        groups = {ADMIN: "system:masters"}
        lines = [f'{token},{name},{name},"{groups.get(name, "")}"\n' for name, token in self.tokens.items()]
        path = self.folder / TOKENS
        path.touch(mode=0o600)
        path.write_text("".join(lines))

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            for program in self.programs.values():
                if not program.is_running:
                    raise DidNotStart(f"{program.name} ended:\n{program.last_words()}")
            if self._is_ready():
                return
            time.sleep(0.1)
        raise DidNotStart(f"not ready after {START_S:.0f} s:\n{self.programs['kube-apiserver'].last_words()}")

    def _is_ready(self) -> bool:
        try:
            return self.api().get("/readyz").status == 200
        except OSError:
            return False
