"""The manager as an administrator runs it: a process of its own with the shipped ServiceAccount's identity.

Nothing here reaches into it. Tests read what anybody can read: its log, its figures, its exit status. `how` names one
of the variations in entry.py, for tests that need shorter pauses, a death at a chosen moment or a sabotage.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from urllib.request import urlopen

from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import manager_kubeconfig
from tests.e2e.processes import Program

COMMAND = Path(sys.executable).parent / "node-remedy"
ENTRY = Path(__file__).with_name("entry.py")


class Manager:
    """One running manager."""

    def __init__(
        self,
        plane: ControlPlane,
        identity: str = "manager-0",
        how: str = "",
        more: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        start: list[str | Path] = [sys.executable, "-P", ENTRY, how] if how else [COMMAND]
        options: list[str | Path] = [
            "--identity",
            identity,
            "--metrics-port",
            "0",
            "--kubeconfig",
            manager_kubeconfig(plane),
        ]
        self.identity = identity
        self.program = Program([*start, "manager", *options, *more], plane.folder / f"{identity}.log", environment)
        self._port = 0

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.program.kill()

    def said(self, message: str, **facts: object) -> list[Json]:
        """The lines of its log with this message and these facts."""
        wanted = {"message": message, **facts}
        lines = [json.loads(line) for line in self.program.log.read_text().splitlines() if line.endswith("}")]
        return [line for line in lines if wanted.items() <= line.items()]

    def leads(self) -> bool:
        return self.figure("node_remedy_leader") == 1

    def answer(self, path: str) -> str:
        """What it serves there."""
        if not self._port:
            [line] = eventually(lambda: self.said("serving figures and health"), f"{self.identity} serves its figures")
            self._port = line["port"]
        with urlopen(f"http://127.0.0.1:{self._port}{path}", timeout=10) as response:
            return str(response.read().decode())

    def figure(self, name: str, **labels: str) -> float:
        """One figure of /metrics; 0 where there is none."""
        inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
        full = re.escape(f"{name}{{{inside}}}" if labels else name)
        found = re.search(rf"^{full} (\S+)$", self.answer("/metrics"), re.MULTILINE)
        return float(found.group(1)) if found else 0.0

    def wait_until_ready(self) -> None:
        """Its caches are in step with the API."""
        eventually(lambda: self.said("caches are in step with the API"), f"{self.identity} is in step: {self.words()}")

    def words(self) -> str:
        return self.program.last_words(5)
