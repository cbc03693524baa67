"""Builders of orders: switch worker-0 off through its BMC, with a password that is in a Secret."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.builders import NOW

from noderemedy.model.fenceplan import Step
from noderemedy.model.ids import NODE_FENCE, ref
from noderemedy.model.nodefence import FenceJob, FenceSpec, FenceStatus, NodeFence
from noderemedy.model.run import Deed, Order, SecretParameter
from noderemedy.model.time import Span

PASSWORD = "hunter2 & co"
ORDER = Order(
    id="fence-0123456789",
    fence=ref(NODE_FENCE, "node-fence-worker-0"),
    fence_uid="fence-uid-1",
    node="worker-0",
    node_uid="node-uid-1",
    boot_id="boot-1",
    token=3,
    method="bmc",
    agent="fence_ipmilan",
    deed=Deed.OFF,
    parameters=(("ip", "192.0.2.7"), ("username", "admin")),
    secrets=(SecretParameter("password", "bmc-worker-0", "password"),),
    patience=Span.seconds(60),
    not_after=NOW.wall + Span.seconds(30),
)
JOB = FenceJob(ORDER.id, Step.POWER_MANAGEMENT, "bmc", Deed.OFF, NOW.wall, ORDER.patience)
STATUS = FenceStatus(node_uid="node-uid-1", boot_id="boot-1", jobs=(JOB,))
FENCE = NodeFence("fence-uid-1", FenceSpec("worker-0"), STATUS)


def an_order(deed: Deed = Deed.OFF, **changes: Any) -> Order:
    return replace(ORDER, deed=deed, **changes)


def a_fence(*, uid: str = FENCE.uid, stopped: bool = False, deleting: bool = False, **status: Any) -> NodeFence:
    """The NodeFence that wants the order, but for these changes."""
    spec = replace(FENCE.spec, stopped=stopped)
    return replace(FENCE, uid=uid, spec=spec, deleting=deleting, status=replace(STATUS, **status))
