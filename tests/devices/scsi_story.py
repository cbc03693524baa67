"""Runs inside the guest: two nodes at one disk, one fences the other. Prints a JSON line for each thing that happened.

Two loop-back targets on one backstore are two initiators: node a sees the disk as the first device, node b as the
second, and each has a link to its own under the name that both use. Every order is carried out as the container of its
Job would be: with a fresh /run and /dev, and of its node what the Job mounts and nothing else.

The agent takes a key away by PREEMPT AND ABORT. The target of Linux 6.1 does that, and then waits for ever for commands
to abort; so the agent gets a `sg_persist` that asks for PREEMPT, whose effect on the reservation is the same.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from noderemedy.drivers.fence import agents, ownkey
from noderemedy.drivers.fence.verify import Hand, carry_out
from noderemedy.model.ids import NODE, NODE_FENCE, Ref
from noderemedy.model.run import Deed, Order
from noderemedy.model.time import Span, Wall
from noderemedy.wire.fenceanswer import order_text, read_order
from noderemedy.wire.fencejobs import JobSettings, job_body

TARGET = Path("/sys/kernel/config/target")
KEYS = {"a": "aa0001", "b": "bb0002"}
HOSTS = Path("/hosts")  # what each node has for itself
DISK = "/dev/disk/by-id/wwn-0x6001405000000000"
INSIDE = "--inside"
PREEMPTING = Path("/sg_persist")
WITHOUT_ABORT = """#!/bin/sh
for word in "$@"; do
  shift
  if [ "$word" = -A ]; then word=-P; fi
  set -- "$@" "$word"
done
exec /usr/bin/sg_persist "$@"
"""


def build() -> dict[str, str]:
    """The disk, and the device by which each node sees it, under its own name and under that of the disk."""
    subprocess.run(["mount", "-t", "configfs", "configfs", "/sys/kernel/config"], check=False)
    Path("/var/target/pr").mkdir(parents=True, exist_ok=True)
    disk = Path("/disk.img")
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
    for node, device in devices.items():
        place = HOSTS / node / "dev"
        place.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(place)], check=True)
        for name in ("null", "zero", "random", "urandom", Path(device).name):
            subprocess.run(["cp", "-a", f"/dev/{name}", str(place)], check=True)
        link = HOSTS / node / DISK[1:]
        link.parent.mkdir(parents=True)
        link.symlink_to(f"../../{Path(device).name}")
    return devices


def order(by: str, whose: str, deed: Deed, **more: str) -> Order:
    """About the key of node `whose`, for node `by`: of a fence, or of a drill."""
    name = f"node-{whose}"
    is_drill = deed is Deed.STATUS
    parameters = {"devices": DISK, "key": KEYS[whose], "sg_persist_path": str(PREEMPTING)}
    own_key = KEYS[by] if by != whose else ""
    return Order(
        id="fence-0", fence=Ref("", NODE if is_drill else NODE_FENCE, "", name), fence_uid="u", node=name, node_uid="n",
        boot_id="b", token=1, method="scsi", agent="fence_scsi", deed=deed,
        parameters=tuple(sorted({**parameters, **{key: more[key] for key in more if key != "own_key"}}.items())),
        secrets=(), patience=Span.seconds(200), not_after=Wall(1 << 45), bound_to=f"node-{by}",
        own_key=more.get("own_key", own_key),
    )  # fmt: skip


def run(by: str, whose: str, deed: Deed, **more: str) -> str:
    """As the container of the order's Job: what of node `by` its pod mounts, and as the user that it says."""
    wanted = order(by, whose, deed, **more)
    spec = job_body(wanted, JobSettings("image"), Wall(0))["spec"]["template"]["spec"]
    paths = [one["hostPath"]["path"] for one in spec["volumes"] if "hostPath" in one]
    user = spec["securityContext"]["runAsUser"]
    inside = [sys.executable, __file__, INSIDE, order_text(wanted)]
    script = [
        *("set -e", "mount --make-rprivate /", "mount -t tmpfs tmpfs /run", "mount -t tmpfs tmpfs /dev"),
        *(f"mount --rbind {HOSTS / by}{path} {path}" for path in paths),
        f"exec setpriv --reuid {user} --regid {user} --clear-groups {shlex.join(inside)}",
    ]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", "\n".join(script)], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or f"nothing: {done.stderr[-300:]}"


def carried_out(text: str) -> str:
    """What the runner does when the order is still wanted."""
    wanted = read_order(text)
    ownkey.leave(wanted)
    hand = Hand(agents.folders("", os.environ), between_looks=Span(500))
    result = asyncio.run(carry_out(wanted, {}, hand))
    return f"{result.state.value} {result.power.value}{', was on' if result.was_on else ''}: {result.said}"


def write(device: str) -> str:
    """Whether a write reaches the disk."""
    command = ["dd", "if=/dev/zero", f"of={device}", "bs=4096", "count=1", "oflag=direct", "conv=fsync"]
    return "written" if subprocess.run(command, capture_output=True, check=False).returncode == 0 else "refused"


def main() -> None:
    devices = build()
    story: list[tuple[str, Callable[[], object]]] = [
        ("devices", lambda: len(devices)),
        ("b is fenced, of whom nobody knows", lambda: run("a", "b", Deed.OFF)),
        ("b writes, of whom nobody knows", lambda: write(devices["b"])),
        ("b is drilled, of whom nobody knows", lambda: run("b", "b", Deed.STATUS)),
        ("a joins", lambda: run("a", "a", Deed.ON)),
        ("b is drilled, without a key", lambda: run("b", "b", Deed.STATUS)),
        ("b joins", lambda: run("b", "b", Deed.ON)),
        ("b is drilled", lambda: run("b", "b", Deed.STATUS)),
        ("b writes", lambda: write(devices["b"])),
        ("b is fenced by its key in capitals", lambda: run("a", "b", Deed.OFF, key=KEYS["b"].upper())),
        ("b writes, whose key is there", lambda: write(devices["b"])),
        ("b is fenced by a key that it never had", lambda: run("a", "b", Deed.OFF, key="dd0004")),
        ("b is fenced by nobody's key", lambda: run("a", "b", Deed.OFF, own_key="cc0003")),
        ("a fences b", lambda: run("a", "b", Deed.OFF)),
        ("b writes, fenced", lambda: write(devices["b"])),
        ("a writes", lambda: write(devices["a"])),
        ("b returns", lambda: run("b", "b", Deed.ON)),
        ("b writes again", lambda: write(devices["b"])),
    ]
    for name, act in story:
        sys.stdout.write(f"STORY {json.dumps([name, act()])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1:2] == [INSIDE]:
        sys.stdout.write(carried_out(sys.argv[2]))
    else:
        main()
