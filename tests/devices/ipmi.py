"""A BMC: OpenIPMI's `ipmi_sim` over RMCP+, whose chassis is a shell script with a file."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path

from tests.devices.device import PASSWORD, Device, needs
from tests.e2e.processes import Program, free_port

CONFIGURATION = """name "bmc"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 {port}
    priv_limit admin
    allowed_auths_admin none md2 md5 straight
    guid {guid}
  endlan
  chassis_control "{folder}/chassis {folder}"
  user 2 true "admin" "{password}" admin 10 none md2 md5 straight
"""
COMMANDS = """mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
mc_enable 0x20
"""
# `state` is the truth. Faults are files: `answers-after`, `acts-after` (seconds), `ignores` (switches nothing), and
# `lies` (how many answers say off after it was told to be off).
CHASSIS = """#!/bin/sh
folder=$1
case "$2 $3" in
"get power")
  [ -f $folder/answers-after ] && sleep $(cat $folder/answers-after)
  left=$(cat $folder/left 2>/dev/null || echo 0)
  if [ $left -gt 0 ]; then echo $((left - 1)) > $folder/left; echo power:0; else echo power:$(cat $folder/state); fi;;
"set power")
  [ -f $folder/lies ] && cp $folder/lies $folder/left
  [ -f $folder/ignores ] && exit 0
  if [ -f $folder/world ]; then echo $4 > $folder/asked.new; mv $folder/asked.new $folder/asked; exit 0; fi
  if [ -f $folder/acts-after ]; then
    (sleep $(cat $folder/acts-after); echo $4 > $folder/state) &
  else echo $4 > $folder/state; fi;;
esac
exit 0
"""


class Bmc(Device):
    agent = "fence_ipmilan"
    returns_after_s = 3.5

    def __init__(self, folder: Path, guid: str = "a123456789abcdefa123456789abcdef") -> None:
        super().__init__(folder)
        self.port = free_port()
        self._guid = guid
        self._program: Program | None = None

    @property
    def parameters(self) -> dict[str, str]:
        # A fixed cipher: to be asked for the list of them is the one thing that ipmi_sim does not answer.
        return {
            "ip": "127.0.0.1",
            "ipport": str(self.port),
            "username": "admin",
            "lanplus": "1",
            "cipher": "3",
            "power_timeout": "8",
        }

    def start(self) -> None:
        needs("ipmi_sim", "ipmitool", self.agent)
        (self.folder / "state").write_text("1\n")
        (self.folder / "chassis").write_text(CHASSIS)
        (self.folder / "chassis").chmod(0o755)
        (self.folder / "persist").mkdir()
        told = {"port": self.port, "guid": self._guid, "folder": self.folder, "password": PASSWORD}
        (self.folder / "lan.conf").write_text(CONFIGURATION.format(**told))
        (self.folder / "cmds.emu").write_text(COMMANDS)
        self.resume()

    def resume(self) -> None:
        command: list[str | Path] = ["ipmi_sim", "-c", self.folder / "lan.conf", "-f", self.folder / "cmds.emu", "-s"]
        self._program = Program([*command, self.folder / "persist", "-n"], self.folder / "log")

    def stop(self) -> None:
        if self._program:
            self._program.kill()
            self._program = None

    def is_on(self) -> bool:
        return (self.folder / "state").read_text().strip() == "1"

    def switch(self, on: bool) -> None:
        (self.folder / "state").write_text(f"{int(on)}\n")

    async def follow(self, switch: Callable[[bool], None]) -> None:
        """Whatever is asked of this BMC happens to a computer, and only then it says so."""
        (self.folder / "world").touch()
        asked = self.folder / "asked"
        while True:
            if asked.exists():
                wanted = asked.read_text().strip() == "1"
                asked.unlink()
                switch(wanted)
                self.switch(wanted)
            await asyncio.sleep(0.02)

    def fault(self, name: str, value: str = "") -> None:
        (self.folder / name).write_text(value)

    def mend(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)


def silent_port() -> socket.socket:
    """A UDP port of loopback where packets arrive and nobody answers."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("127.0.0.1", 0))
    return listener
