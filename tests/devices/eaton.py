"""The seed's PDU: the real `snmpd` with a script behind the outlets of a managed Eaton ePDU."""

from __future__ import annotations

from tests.devices.pdu import Pdu

OUTLETS = ".1.3.6.1.4.1.534.6.6.6.1.2.2.1.3"
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


class Eaton(Pdu):
    agent = "fence_eaton_snmp"
    kind = ".1.3.6.1.4.1.534.6.6.6"
    outlets = OUTLETS

    def write_script(self) -> str:
        (self.folder / "outlets").write_text(SCRIPT.format(folder=self.folder, outlets=OUTLETS))
        return f"/bin/sh {self.folder}/outlets"

    def is_on(self) -> bool:
        return (self.folder / "state").read_text().strip() == "1"

    def switch(self, on: bool) -> None:
        (self.folder / "state").write_text(f"{int(on)}\n")
