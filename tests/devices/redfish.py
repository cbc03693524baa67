"""A BMC with Redfish over TLS: `sushy-emulator` with a made-up system behind a password."""

from __future__ import annotations

import base64
import json
import ssl
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.devices.device import PASSWORD, Device, answers, needs, wait_for
from tests.e2e.processes import Program, free_port

from noderemedy.lab.http_tls import Authority

UUID = "4c4c4544-0042-3510-8052-b4c04f4d3732"
EMULATOR = Path(sys.executable).with_name("sushy-emulator")
CONFIGURATION = """SUSHY_EMULATOR_LISTEN_IP = "127.0.0.1"
SUSHY_EMULATOR_LISTEN_PORT = {port}
SUSHY_EMULATOR_AUTH_FILE = "{folder}/htpasswd"
SUSHY_EMULATOR_STATE_DIR = "{folder}/persist"
SUSHY_EMULATOR_FAKE_DRIVER = True
SUSHY_EMULATOR_FAKE_SYSTEMS = [{{"uuid": "{uuid}", "name": "worker-0", "power_state": "On", "nics": []}}]
"""


class Redfish(Device):
    agent = "fence_redfish"
    takes_to_come_on_s = 12  # the emulator draws lots, as machines do

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = free_port()
        self._authority = Authority("devices")
        self._program: Program | None = None

    @property
    def parameters(self) -> dict[str, str]:
        return {
            "ip": "127.0.0.1",
            "ipport": str(self.port),
            "username": "admin",
            "systems_uri": f"/redfish/v1/Systems/{UUID}",
            "ssl_insecure": "1",  # the agent knows no other way to name an authority
            "power_wait": "0",
        }

    def start(self) -> None:
        needs(EMULATOR, self.agent)
        bcrypt = pytest.importorskip("bcrypt", reason="missing: bcrypt (the extra e2e installs it)")
        hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
        (self.folder / "htpasswd").write_text(f"admin:{hashed}\n")
        (self.folder / "persist").mkdir()
        pair = self._authority.server()
        (self.folder / "certificate").write_bytes(pair.certificate)
        (self.folder / "key").write_bytes(pair.key)
        (self.folder / "authority").write_bytes(self._authority.certificate)
        config = self.folder / "emulator.conf"
        config.write_text(CONFIGURATION.format(port=self.port, folder=self.folder, uuid=UUID))
        files: list[str | Path] = ["--ssl-certificate", self.folder / "certificate", "--ssl-key", self.folder / "key"]
        self._program = Program([EMULATOR, "--fake", "--config", config, *files], self.folder / "log")
        wait_for(lambda: answers(self.port))

    def stop(self) -> None:
        if self._program:
            self._program.kill()
            self._program = None

    def is_on(self) -> bool:
        return bool(self._ask("")["PowerState"] == "On")

    def switch(self, on: bool) -> None:
        self._ask("/Actions/ComputerSystem.Reset", {"ResetType": "On" if on else "ForceOff"})

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        url = f"https://127.0.0.1:{self.port}/redfish/v1/Systems/{UUID}{path}"
        login = base64.b64encode(f"admin:{PASSWORD}".encode()).decode()
        headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
        request = urllib.request.Request(url, json.dumps(body).encode() if body else None, headers)
        trusting = ssl.create_default_context(cafile=str(self.folder / "authority"))
        with urllib.request.urlopen(request, context=trusting, timeout=10) as answer:  # noqa: S310
            read = answer.read()
        found: dict[str, Any] = json.loads(read) if read else {}
        return found
