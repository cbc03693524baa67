"""A PDU of two outlets that `fence_apc_snmp` knows: the real `snmpd` with a script behind its outlets.

The agent calls whatever is not "on" off, also the words "No Such Instance" for an outlet that is not there.
"""

from __future__ import annotations

import sys

from tests.devices.pdu import Pdu

ROOT = ".1.3.6.1.4.1.318.1.1.12.3"
ON, OFF = "1", "2"
SCRIPT = """import sys
root, state, names = {root!r}, {folder!r} + "/state", {folder!r} + "/names"
def tree():
    power = open(state).read().split()
    found = {{}}
    for number, now in enumerate(power, 1):
        found[f"{{root}}.3.1.1.4.{{number}}"] = found[f"{{root}}.5.1.1.4.{{number}}"] = ("integer", now)
        found[f"{{root}}.5.1.1.2.{{number}}"] = ("string", open(names).read() or f"outlet-{{number}}")
    return found
def key(oid):
    return [int(part) for part in oid.strip(".").split(".")]
def line():
    return sys.stdin.readline().strip()
def say(*words):
    print(*words, sep="\\n", flush=True)
while word := line():
    if word == "PING":
        say("PONG")
        continue
    oid, known = line(), tree()
    if word == "set":
        value = line().split()[-1]
        if oid not in known:
            say("not-writable")
            continue
        power = open(state).read().split()
        power[key(oid)[-1] - 1] = value
        open(state, "w").write(" ".join(power))
        say("DONE")
        continue
    later = sorted((one for one in known if key(one) > key(oid)), key=key)
    found = oid if word == "get" and oid in known else later[0] if word == "getnext" and later else ""
    say(found, *known[found]) if found else say("NONE")
"""


class Apc(Pdu):
    agent = "fence_apc_snmp"
    kind = ".1.3.6.1.4.1.318.1.3.4.5"
    outlets = ROOT

    @property
    def parameters(self) -> dict[str, str]:
        return {**super().parameters, "snmp_version": "2c"}

    def write_script(self) -> str:
        self.call_all("")
        (self.folder / "outlets.py").write_text(SCRIPT.format(folder=str(self.folder), root=ROOT))
        return f"{sys.executable} {self.folder}/outlets.py"

    def is_on(self) -> bool:
        return self.states()[0] == ON

    def states(self) -> list[str]:
        """Of both outlets, as the device answers them."""
        return (self.folder / "state").read_text().split()

    def call_all(self, name: str) -> None:
        """One name for every outlet; each has its own without one."""
        (self.folder / "names").write_text(name)

    def answer(self, state: str) -> None:
        """What the first outlet is said to be, whatever it is."""
        (self.folder / "state").write_text(f"{state} {ON}")

    def switch(self, on: bool) -> None:
        (self.folder / "state").write_text(f"{ON if on else OFF} {ON}")
