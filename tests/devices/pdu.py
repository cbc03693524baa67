"""What the PDUs of this bench share: the real `snmpd`, with a script behind the outlets."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path

from tests.devices.device import PASSWORD, Device, needs, wait_for
from tests.e2e.processes import Program, free_port

CONFIGURATION = """agentaddress udp:127.0.0.1:{port}
rwcommunity {password} 127.0.0.1
sysobjectid {kind}
pass_persist {outlets} {script}
"""


class Pdu(Device):
    """`kind` and `outlets`: the OIDs by which an agent knows it, and below which its outlets are."""

    secret = "community"
    kind: str
    outlets: str

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = free_port()
        self._program: Program | None = None

    @property
    def parameters(self) -> dict[str, str]:
        return {"ip": "127.0.0.1", "ipport": str(self.port), "plug": "1", "power_timeout": "8", "power_wait": "0"}

    @abstractmethod
    def write_script(self) -> str:
        """Write the program behind the outlets; returns the command that runs it."""

    def start(self) -> None:
        needs("snmpd", "snmpget", "snmpwalk", self.agent)
        self.switch(True)
        told = {"port": self.port, "password": PASSWORD, "kind": self.kind, "outlets": self.outlets}
        (self.folder / "snmpd.conf").write_text(CONFIGURATION.format(**told, script=self.write_script()))
        command: list[str | Path] = ["/usr/sbin/snmpd", "-f", "-Lo", "-C", "-c", self.folder / "snmpd.conf"]
        environment = {"SNMP_PERSISTENT_DIR": str(self.folder), "MIBS": ""}
        self._program = Program([*command, "-p", self.folder / "pid", "-I", "-smux"], self.folder / "log", environment)
        wait_for(lambda: "NET-SNMP version" in self._program.last_words() if self._program else False)

    def stop(self) -> None:
        if self._program:
            self._program.kill()
            self._program = None
