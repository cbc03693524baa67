"""Fence agents of a few lines of shell, whose device is a file: real processes, and every fault that a device has."""

from __future__ import annotations

from pathlib import Path

from tests.core.fencing.orders import an_order

from noderemedy.drivers.fence.verify import Hand
from noderemedy.model.run import Deed, Order
from noderemedy.model.time import Span

# Reads its parameters as agents do, into shell variables `p_NAME`; keeps a list of what it was asked.
HEAD = """#!/bin/sh
state={folder}/state
while IFS= read -r line; do
  case "$line" in ''|'#'*) continue;; esac
  eval "p_${{line%%=*}}=\\${{line#*=}}"
done
echo "$p_action" >> {folder}/asked
echo "$p_password" >> {folder}/passwords
power() {{ cat $state 2>/dev/null || echo on; }}
say_status() {{ if [ "$(power)" = on ]; then echo "Status: ON"; exit 0; else echo "Status: OFF"; exit 2; fi; }}
"""
DEVICE = """case "$p_action" in
  status) say_status;;
  off|on) echo $p_action > $state; echo "Success: Powered $p_action"; exit 0;;
esac
echo "unknown action" >&2; exit 1
"""
FAULTS = {
    "well": DEVICE,
    "refused": '[ "$p_password" = hunter2 ] || { echo "Failed: Unable to login with $p_password" >&2; exit 1; }\n'
    + DEVICE,
    "away": 'echo "Connection timed out" >&2; exit 1\n',
    "lies": 'if [ "$p_action" = status ]; then say_status; fi; echo "Success: Powered OFF"; exit 0\n',
    "comes back": '[ "$p_action" = status ] && { was=$(power); echo on > $state; '
    'if [ "$was" = on ]; then exit 0; else exit 2; fi; }\n' + DEVICE,
    "garbage": "head -c 300000 /dev/urandom; exit 7\n",
    "never ends": "echo working; sleep 600 & wait\n",
    "ignores signals": "trap '' TERM; sleep 600 & sleep 600\n",
    "leaves a child": 'sleep 600 &\necho $! > $state.child\n' + DEVICE,
    "talks for ever": "exec yes 'Failed: no way'\n",
    "lists two": "if [ \"$p_action\" = list ]; then echo 1,one; echo 2,two; exit 0; fi\n" + DEVICE,
    "asks through another": 'echo "$p_snmpget_path$p_sg_persist_path" >> {folder}/through\n' + DEVICE,
    "talks of all it does": 'echo "Connecting to the device with $p_password"\n'
    'echo "> Authorization: Digest response=6629fae49393a05397450978507c4ef1"\n'
    'echo "Sent: $(printf %s "root:$p_password" | base64 -w0)"; printf "\\033[31mred\\033[0m\\n"\n' + DEVICE,
    "slow": "[ \"$p_action\" = status ] || sleep 0.4\n" + DEVICE,
    "reads nothing": "exec <&-\n" + DEVICE,
}  # fmt: skip


def install(folder: Path, fault: str, name: str = "fence_scripted") -> Path:
    """An agent with that fault, as an executable file."""
    path = folder / name
    path.write_text(HEAD.format(folder=folder) + FAULTS[fault].replace("{folder}", str(folder)))
    path.chmod(0o755)
    return path


def hand(folder: Path) -> Hand:
    return Hand((folder,), between_looks=Span(10))


def order(deed: Deed = Deed.OFF, seconds: float = 5.0, agent: str = "fence_scripted") -> Order:
    return an_order(deed, agent=agent, patience=Span.seconds(seconds))


def asked(folder: Path) -> list[str]:
    """All actions that the agent was asked for, in order."""
    path = folder / "asked"
    return path.read_text().split() if path.exists() else []
