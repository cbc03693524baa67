"""Runs inside the guest: two nodes at one disk, one fences the other. Prints a JSON line for each thing that happened.

Two loop-back targets on one backstore are two initiators: node a sees the disk as the first device, node b as the
second. Each keeps its key in a place of its own, as two machines would.

The agent takes a key away by PREEMPT AND ABORT. The target of Linux 6.1 does that, and then waits for ever for commands
to abort; so the agent gets a `sg_persist` that asks for PREEMPT, whose effect on the reservation is the same.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from noderemedy.drivers.fence import agents
from noderemedy.drivers.fence.verify import Hand, carry_out
from noderemedy.model.ids import Kind, Ref
from noderemedy.model.run import Deed, Order
from noderemedy.model.time import Span, Wall

TARGET = Path("/sys/kernel/config/target")
KEYS = {"a": "aa0001", "b": "bb0002"}
STORE = Path("/run/cluster")
PREEMPTING = Path("/run/sg_persist")
WITHOUT_ABORT = """#!/bin/sh
for word in "$@"; do
  shift
  if [ "$word" = -A ]; then word=-P; fi
  set -- "$@" "$word"
done
exec /usr/bin/sg_persist "$@"
"""


def build() -> dict[str, str]:
    """The disk, and the device by which each node sees it."""
    subprocess.run(["mount", "-t", "configfs", "configfs", "/sys/kernel/config"], check=False)
    Path("/var/target/pr").mkdir(parents=True, exist_ok=True)
    disk = Path("/run/disk.img")
    with disk.open("wb") as file:
        file.truncate(16 << 20)
    store = TARGET / "core" / "fileio_0" / "disk"
    store.mkdir(parents=True)
    (store / "control").write_text(f"fd_dev_name={disk},fd_dev_size={16 << 20}")
    (store / "wwn" / "vpd_unit_serial").write_text("a-disk-of-the-bench")
    (store / "enable").write_text("1")
    PREEMPTING.write_text(WITHOUT_ABORT)
    PREEMPTING.chmod(0o755)
    devices: dict[str, str] = {}
    for number, node in enumerate(KEYS, start=1):
        before = {path.name for path in Path("/sys/block").glob("sd*")}
        group = TARGET / "loopback" / f"naa.500140500000000{number}" / "tpgt_1"
        group.mkdir(parents=True)
        (group / "nexus").write_text(f"naa.600140500000000{number}")
        (group / "lun" / "lun_0").mkdir()
        (group / "lun" / "lun_0" / "disk").symlink_to(store)
        for _ in range(100):
            new = {path.name for path in Path("/sys/block").glob("sd*")} - before
            if new:
                devices[node] = f"/dev/{new.pop()}"
                break
            time.sleep(0.1)
    return devices


def run(by: str, device: str, whose: str, deed: Deed) -> str:
    """An order as node `by` carries it out: about the key of node `whose`."""
    own = Path(f"/run/store-{by}")
    move(own, STORE)
    order = Order(
        id="fence-0", fence=Ref("", Kind("ha.k8s.io", "NodeFence"), "", "x"), fence_uid="u", node=f"node-{whose}",
        node_uid="n", boot_id="b", token=1, method="scsi", agent="fence_scsi", deed=deed,
        parameters=(("devices", device), ("key", KEYS[whose]), ("sg_persist_path", str(PREEMPTING))), secrets=(),
        patience=Span.seconds(200),
        not_after=Wall(1 << 45),
    )  # fmt: skip
    result = asyncio.run(carry_out(order, {}, Hand(agents.folders("", os.environ), between_looks=Span(500))))
    move(STORE, own)
    return f"{result.state.value} {result.power.value}: {result.said}"


def move(source: Path, target: Path) -> None:
    """What the agent remembers of a node: its key, and its devices."""
    for ending in (".key", ".dev"):
        if Path(f"{source}{ending}").exists():
            Path(f"{source}{ending}").rename(f"{target}{ending}")


def write(device: str) -> str:
    """Whether a write reaches the disk."""
    command = ["dd", "if=/dev/zero", f"of={device}", "bs=4096", "count=1", "oflag=direct", "conv=fsync"]
    return "written" if subprocess.run(command, capture_output=True, check=False).returncode == 0 else "refused"


def main() -> None:
    devices = build()
    story: list[tuple[str, Callable[[], object]]] = [
        ("devices", lambda: len(devices)),
        ("b is fenced, of whom nobody knows", lambda: run("a", devices["a"], "b", Deed.OFF)),
        ("b writes, of whom nobody knows", lambda: write(devices["b"])),
        ("a joins", lambda: run("a", devices["a"], "a", Deed.ON)),
        ("b joins", lambda: run("b", devices["b"], "b", Deed.ON)),
        ("b writes", lambda: write(devices["b"])),
        ("a fences b", lambda: run("a", devices["a"], "b", Deed.OFF)),
        ("b writes, fenced", lambda: write(devices["b"])),
        ("a writes", lambda: write(devices["a"])),
        ("b returns", lambda: run("b", devices["b"], "b", Deed.ON)),
        ("b writes again", lambda: write(devices["b"])),
    ]
    for name, act in story:
        sys.stdout.write(f"STORY {json.dumps([name, act()])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
