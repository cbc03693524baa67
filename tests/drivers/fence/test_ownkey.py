"""The key of the node that an agent runs on, where each agent looks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.fencing.orders import ORDER

from noderemedy.drivers.fence import ownkey

DEVICES = "/dev/disk/by-id/wwn-0x1,/dev/disk/by-id/wwn-0x2"


@pytest.mark.parametrize(
    ("agent", "key", "files"),
    [
        ("fence_scsi", "a2", {"cluster.key": "a2\n", "cluster/fence_scsi.key": "a2\n"}),
        (
            "fence_mpath",
            "a2",
            {"cluster/mpath.devices": "/dev/disk/by-id/wwn-0x1\ta2\n/dev/disk/by-id/wwn-0x2\ta2\n"},
        ),
        ("fence_scsi", "", {}),
        ("fence_ipmilan", "a2", {}),
    ],
)
def test_the_key_is_where_the_agent_looks(agent: str, key: str, files: dict[str, str], tmp_path: Path) -> None:
    """As the agents of Debian 12 and later ones have it; an order without a key leaves nothing."""
    order = replace(ORDER, agent=agent, own_key=key, bound_to="worker-7", parameters=(("devices", DEVICES),))
    ownkey.leave(order, tmp_path)
    ownkey.leave(order, tmp_path)

    found = {str(one.relative_to(tmp_path)): one.read_text() for one in tmp_path.rglob("*") if one.is_file()}
    assert files == found
