"""Taints of ours whose request is gone: when they go, and whose are never touched."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NODE_AT, NOW, REMEDIATION_AT, a_machine, a_node, unreadable
from tests.core.metal3.remediations import UID, a_reader, a_remediation, a_world, actions, reasons

from noderemedy.core.freeing import OUT_OF_SERVICE
from noderemedy.core.metal3.remediationview import INDEXES
from noderemedy.core.outofservice import ROOM
from noderemedy.engine.cache import Cache
from noderemedy.model.actions import UntaintOutOfService
from noderemedy.model.cluster import Cluster
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import CLUSTER, ref
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Node, OutOfService, Taint
from noderemedy.model.outcome import Seen
from noderemedy.model.remediation import Phase
from noderemedy.model.remote import Remote, Sight, remote_ref
from noderemedy.model.room import Unreadable

MARK = OutOfService("metal3-remediation", "metal/worker-0", UID, "boot-1")
MINE = Taint("mine", "NoSchedule")


def tainted(mark: Any = MARK, *, boot_id: str = "boot-2", ready: str = "True", taint: bool = True) -> Node:
    node = a_node(boot_id=boot_id, ready=ready, taints=(MINE, *((OUT_OF_SERVICE,) if taint else ())))
    return replace(node, out_of_service=mark)


def found(reader: Cache) -> Decision:
    view = ROOM.sees(NODE_AT, reader)
    return ROOM.decide(view, NOW) if view is not None else NOTHING


PAUSED = {ref(CLUSTER, "metal", "metal"): Cluster("cluster-uid-1", paused=True)}
SIGHT_AT = remote_ref("metal", "metal")
UNPLACED = {SIGHT_AT: Remote(Sight.UNKNOWN)}
BEGUN, GARBLED = a_remediation(Phase.WAITING), Unreadable("machine-uid-1", "7", "garbled")
UNTAINTED, WAITS = ("UntaintOutOfService", "UntaintingNode"), ("", "TaintOrphaned")
NOTHING_DONE = ("", "")
# situation -> (request, node, more of the world), what is done and why
CASES: dict[str, tuple[Any, Node, dict[str, Any], tuple[str, str]]] = {
    "back, and its request is gone": (None, tainted(), {}, UNTAINTED),
    "back, and another request has the name": (replace(a_remediation(), uid="other"), tainted(), {}, UNTAINTED),
    "back, and its request is there": (a_remediation(), tainted(), {}, NOTHING_DONE),
    "its request cannot be read": (unreadable(), tainted(), {}, NOTHING_DONE),
    "the same boot": (None, tainted(boot_id="boot-1"), {}, WAITS),
    "not ready": (None, tainted(ready="Unknown"), {}, WAITS),
    "on its way out": (None, replace(tainted(), deleting=True), {}, WAITS),
    "no boot ids, and ready": (None, tainted(replace(MARK, boot_id=""), boot_id=""), {}, UNTAINTED),
    "a person's taint": (None, tainted(None), {}, NOTHING_DONE),
    "a mark that cannot be read": (None, tainted(Malformed("x")), {}, NOTHING_DONE),
    "a room that we do not know": (None, tainted(replace(MARK, room="later")), {}, NOTHING_DONE),
    "only the mark is left": (None, tainted(ready="Unknown", taint=False), {}, UNTAINTED),
    "a paused machine": (None, tainted(), {"machine": a_machine(cluster_paused=True)}, ("", "ClusterPaused")),
    "a request for a Machine that is no more": (BEGUN, tainted(), {"machine": a_machine(uid="other")}, UNTAINTED),
    "a request for a Machine that cannot be read": (BEGUN, tainted(), {"machine": GARBLED}, NOTHING_DONE),
    "a start: nobody knows whose node it is": (
        None,
        tainted(),
        {"machine": replace(a_machine(), cluster_name="metal"), "more": UNPLACED},
        ("", "CannotSeeCluster"),
    ),
    "a paused Cluster": (
        None,
        tainted(),
        {"machine": replace(a_machine(), cluster_name="metal"), "more": PAUSED},
        ("", "ClusterObjectPaused"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_a_taint(case: str) -> None:
    """It goes when its request is gone and the node is back; a person's is never touched, nor a paused machine's."""
    request, node, more, (done, why) = CASES[case]
    reader = a_reader(a_world(request, node=node, **more))
    if request is None:
        reader.drop(REMEDIATION_AT, confirmed_at=NOW.mono)

    decision = found(reader)

    assert ([done] if done else [], [why] if why else []) == (actions(decision), reasons(decision))


def test_the_other_taints_stay_and_the_write_is_guarded() -> None:
    """The whole list but ours, for that very Node in that very version."""
    reader = a_reader(a_world(None, node=tainted()))
    reader.drop(REMEDIATION_AT, confirmed_at=NOW.mono)

    (action,) = found(reader).actions

    assert isinstance(action, UntaintOutOfService)
    assert ((MINE,), "node-uid-1", "102") == (action.taints, action.guard.uid, action.guard.resource_version)


def test_that_a_request_is_gone_is_read_live() -> None:
    """A watch that lags has not seen it yet."""
    decision = found(a_reader(a_world(None, node=tainted())))

    assert (["Confirm"], [REMEDIATION_AT]) == (actions(decision), [action.ref for action in decision.actions])


def test_the_end_of_a_request_concerns_its_node() -> None:
    """Found by the mark; a node without one concerns nobody, however often it changes."""
    cache = Cache((*INDEXES, *ROOM.indexes))
    cache.put(Seen(NODE_AT, "node-uid-1", "1", tainted()), NOW.mono)
    cache.put(Seen(MACHINE_AT, "machine-uid-1", "1", a_machine()), NOW.mono)

    assert [NODE_AT] == list(ROOM.wakes(REMEDIATION_AT, a_remediation(), cache))
    assert [NODE_AT] == list(ROOM.wakes(NODE_AT, tainted(), cache))
    assert [NODE_AT] == list(ROOM.wakes(MACHINE_AT, a_machine(), cache))
    assert [] == list(ROOM.wakes(NODE_AT, a_node(), cache))


def test_a_node_whose_machine_turns_out_to_be_elsewhere_is_looked_at() -> None:
    """Until its cluster is known a machine may be that of the node; then it is not, and somebody has to look again."""
    cache = Cache((*INDEXES, *ROOM.indexes))
    cache.put(Seen(NODE_AT, "node-uid-1", "1", tainted()), NOW.mono)
    cache.put(Seen(MACHINE_AT, "machine-uid-1", "1", replace(a_machine(), cluster_name="metal")), NOW.mono)
    cache.put(Seen(SIGHT_AT, "", "", Remote(Sight.SEEN)), NOW.mono)

    assert [NODE_AT] == list(ROOM.wakes(SIGHT_AT, Remote(Sight.SEEN), cache))
