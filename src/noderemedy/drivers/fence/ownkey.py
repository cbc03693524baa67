"""The key under which the node is registered that an agent runs on. Called by the runner, in its container.

Agents for disks take another node's key away in the name of their own, and look that up in files that they wrote when
they registered the node. Those are of that container, which is gone, or of the node: the order knows the key.
"""

from __future__ import annotations

from pathlib import Path

from noderemedy.core.fencing import disks
from noderemedy.model.run import Order

RUN_AT = Path("/var/run")
KEY_FILES = {"fence_scsi": ("cluster.key", "cluster/fence_scsi.key")}  # as of fence-agents 4.12, and later
DEVICES_FILES = {"fence_mpath": ("cluster/mpath.devices",)}  # a key for every device


def leave(order: Order, run: Path = RUN_AT) -> None:
    """Write it where the agent looks; nothing for an order without one. Raises OSError."""
    if not order.own_key:
        return
    devices = disks.each(order)
    texts = {
        **dict.fromkeys(KEY_FILES.get(order.agent, ()), f"{order.own_key}\n"),
        **dict.fromkeys(DEVICES_FILES.get(order.agent, ()), "".join(f"{one}\t{order.own_key}\n" for one in devices)),
    }
    for name, text in texts.items():
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text(text, "ascii")
