"""The seed's PDU: the real `snmpd` with a script behind the outlets of a managed Eaton ePDU."""

from __future__ import annotations

from pathlib import Path

from tests.devices.device import PASSWORD, Device, needs, wait_for
from tests.e2e.processes import Program, free_port

OUTLETS = ".1.3.6.1.4.1.534.6.6.6.1.2.2.1.3"
CONFIGURATION = """agentaddress udp:127.0.0.1:{port}
rwcommunity {password} 127.0.0.1
sysobjectid .1.3.6.1.4.1.534.6.6.6
pass_persist {outlets} /bin/sh {folder}/outlets
"""
# Outlet 1 of people is number 0 of the device. `state` is the truth. Asked anew each time: `pass` without `persist`
# answers from a cache for half a minute, which is how a plug that is on can be read as off (races R35).
SCRIPT = """say() {{ printf '%s\\ninteger\\n%s\\n' {outlets}.0 "$(cat {folder}/state)"; }}
while read -r word; do
  case "$word" in
  PING) echo PONG;;
  get) read -r oid; if [ "$oid" = {outlets}.0 ]; then say; else echo NONE; fi;;
  getnext) read -r oid; if [ "$oid" = {outlets} ]; then say; else echo NONE; fi;;
  set) read -r oid; read -r type value
    if [ "$oid" = {outlets}.0 ]; then echo "$value" > {folder}/state; echo DONE; else echo not-writable; fi;;
  esac
done
"""


class Eaton(Device):
    agent = "fence_eaton_snmp"
    secret = "community"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = free_port()
        self._program: Program | None = None

    @property
    def parameters(self) -> dict[str, str]:
        return {"ip": "127.0.0.1", "ipport": str(self.port), "plug": "1", "power_timeout": "8", "power_wait": "0"}

    def start(self) -> None:
        needs("snmpd", "snmpget", self.agent)
        (self.folder / "state").write_text("1\n")
        told = {"port": self.port, "folder": self.folder, "outlets": OUTLETS, "password": PASSWORD}
        (self.folder / "outlets").write_text(SCRIPT.format(**told))
        (self.folder / "snmpd.conf").write_text(CONFIGURATION.format(**told))
        command: list[str | Path] = ["/usr/sbin/snmpd", "-f", "-Lo", "-C", "-c", self.folder / "snmpd.conf"]
        environment = {"SNMP_PERSISTENT_DIR": str(self.folder), "MIBS": ""}
        self._program = Program([*command, "-p", self.folder / "pid", "-I", "-smux"], self.folder / "log", environment)
        wait_for(lambda: "NET-SNMP version" in self._program.last_words() if self._program else False)

    def stop(self) -> None:
        if self._program:
            self._program.kill()
            self._program = None

    def is_on(self) -> bool:
        return (self.folder / "state").read_text().strip() == "1"

    def switch(self, on: bool) -> None:
        (self.folder / "state").write_text(f"{int(on)}\n")
