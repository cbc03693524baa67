"""Hosts that carry our hold without a Machine that answers for it: the hold is released, nothing is freed."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import (
    HOST_AT,
    MACHINE_AT,
    METAL3_CONSUMER,
    METAL3_MACHINE_AT,
    NOW,
    OPENSHIFT_MACHINE_AT,
    a_cache,
    a_host,
    a_machine,
    a_metal3_machine,
    unreadable,
)

from noderemedy.core.metal3.annotation import decide
from noderemedy.core.metal3.view import HostView, sees
from noderemedy.model.actions import Confirm, Guard, RemoveRebootAnnotation
from noderemedy.model.cluster import Cluster
from noderemedy.model.host import Consumer, Power
from noderemedy.model.ids import CLUSTER, MACHINE, METAL3_MACHINE, OPENSHIFT_MACHINE, Ref, ref
from noderemedy.model.machine import HostName
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import (
    ClusterObjectPaused,
    ClusterPaused,
    ConfirmFirst,
    ConsumerUnreadable,
    HoldOrphaned,
    HostPaused,
)
from noderemedy.model.time import MINUTE

OTHER = ref(MACHINE, "worker-9", "metal")


def held(consumer: Consumer | None, *, power: Power = Power.OFF) -> Any:
    return a_host(held=True, power=power, consumer=consumer)


ORPHANED: dict[str, dict[Ref, Any]] = {
    "nobody consumes it": {HOST_AT: held(None), MACHINE_AT: a_machine()},
    "the machine is gone": {HOST_AT: held(Consumer("Machine", "metal", "worker-0", MACHINE.group))},
    "gone, group not named": {HOST_AT: held(Consumer("Machine", "metal", "worker-0"))},
    "the machine names another host": {
        HOST_AT: a_host(held=True, power=Power.OFF),
        MACHINE_AT: a_machine(host=HostName("metal", "rack9")),
    },
    "the machine names no host": {HOST_AT: a_host(held=True, power=Power.OFF), MACHINE_AT: a_machine(host=None)},
    "its host name is garbage": {
        HOST_AT: a_host(held=True, power=Power.OFF),
        MACHINE_AT: a_machine(host=Malformed("a/b/c")),
    },
    "another consumer that does not name it": {
        HOST_AT: held(Consumer("Machine", "metal", "worker-9", MACHINE.group)),
        MACHINE_AT: a_machine(needs=True),
        OTHER: a_machine(uid="other", host=None),
    },
    "the Metal3Machine is gone": {HOST_AT: held(METAL3_CONSUMER), MACHINE_AT: a_machine()},
    "the Metal3Machine has no owner": {HOST_AT: held(METAL3_CONSUMER), METAL3_MACHINE_AT: a_metal3_machine(owner=None)},
    "the Metal3Machine's owner is gone": {HOST_AT: held(METAL3_CONSUMER), METAL3_MACHINE_AT: a_metal3_machine()},
    "the Metal3Machine's owner is another one": {
        HOST_AT: held(METAL3_CONSUMER),
        METAL3_MACHINE_AT: a_metal3_machine(owner_uid="former"),
        MACHINE_AT: a_machine(),
    },
    "the consumer is of an unknown kind": {HOST_AT: held(Consumer("Server", "metal", "worker-0"))},
    "still on": {HOST_AT: held(None, power=Power.ON)},
    "power unknown": {HOST_AT: held(None, power=Power.UNKNOWN)},
}


@pytest.mark.parametrize("name", ORPHANED)
def test_an_orphaned_hold_is_released(name: str) -> None:
    """After live reads of whoever might answer for the host, our hold goes, guarded by the host's version."""
    objects = ORPHANED[name]
    cache = a_cache(objects)
    version = str(list(objects).index(HOST_AT) + 1)

    view = sees(HOST_AT, cache)
    assert isinstance(view, HostView)
    for action in decide(view, NOW).actions:
        if isinstance(action, Confirm) and action.ref not in objects:
            cache.drop(action.ref, confirmed_at=NOW.mono)
    view = sees(HOST_AT, cache)
    assert view is not None
    decision = decide(view, NOW)

    assert (RemoveRebootAnnotation(HOST_AT, Guard("host-uid-1", version)),) == decision.actions
    assert (HoldOrphaned("metal/rack1-u07"),) == decision.because


@pytest.mark.parametrize(
    ("consumer", "suspects"),
    [
        (Consumer("Machine", "metal", "worker-0", MACHINE.group), (MACHINE_AT,)),
        (Consumer("Machine", "", "worker-0", OPENSHIFT_MACHINE.group), (OPENSHIFT_MACHINE_AT,)),
        (Consumer("Machine", "metal", "worker-0"), (MACHINE_AT, OPENSHIFT_MACHINE_AT)),
        (METAL3_CONSUMER, (METAL3_MACHINE_AT,)),
        (Consumer("Metal3Machine", "", "m"), (ref(METAL3_MACHINE, "m", "metal"),)),
    ],
)
def test_absence_of_the_machine_is_read_live(consumer: Consumer, suspects: tuple[Ref, ...]) -> None:
    """A Machine that the cache does not know is read live before its host counts as an orphan."""
    view = sees(HOST_AT, a_cache({HOST_AT: held(consumer)}, confirmed=False))

    assert view is not None
    decision = decide(view, NOW)
    assert tuple(Confirm(at) for at in suspects) == decision.actions
    assert tuple(ConfirmFirst(str(at)) for at in suspects) == decision.because


def test_a_hold_with_a_machine_is_the_machines_business() -> None:
    """A host that names its Machine and is named by it is no orphan: its own key has nothing to do."""
    for objects in (
        {HOST_AT: a_host(held=True, power=Power.OFF), MACHINE_AT: a_machine()},
        {HOST_AT: held(METAL3_CONSUMER), MACHINE_AT: a_machine(), METAL3_MACHINE_AT: a_metal3_machine()},
    ):
        view = sees(HOST_AT, a_cache(objects))
        assert view is not None
        decision = decide(view, NOW)
        assert ((), ()) == (decision.actions, decision.because)


@pytest.mark.parametrize(
    ("objects", "who"),
    [
        ({HOST_AT: a_host(held=True, power=Power.OFF), MACHINE_AT: unreadable()}, MACHINE_AT),
        ({HOST_AT: held(Consumer("Machine", "metal", "worker-0")), OPENSHIFT_MACHINE_AT: unreadable()}, MACHINE_AT),
        ({HOST_AT: held(METAL3_CONSUMER), METAL3_MACHINE_AT: unreadable(), MACHINE_AT: a_machine()}, METAL3_MACHINE_AT),
        ({HOST_AT: held(METAL3_CONSUMER), METAL3_MACHINE_AT: a_metal3_machine(), MACHINE_AT: unreadable()}, MACHINE_AT),
    ],
)
def test_a_hold_of_a_machine_that_cannot_be_read_is_no_orphan(objects: dict[Ref, Any], who: Ref) -> None:
    """Whoever may answer for the host exists: nothing is written until that object is mended or gone."""
    view = sees(HOST_AT, a_cache(objects))

    assert view is not None
    decision = decide(view, NOW)
    assert ((), (ConsumerUnreadable(str(who), "garbage"),)) == (decision.actions, decision.because)


def test_a_host_without_our_hold_is_not_looked_at() -> None:
    """Without the hold there is nothing to judge, whoever consumes the host."""
    assert sees(HOST_AT, a_cache({HOST_AT: a_host(consumer=None)})) is None
    assert sees(HOST_AT, a_cache({})) is None


ELSEWHERE = HostName("metal", "rack9")
CAPI = ref(CLUSTER, "site", "metal")


@pytest.mark.parametrize(
    "objects",
    [
        {MACHINE_AT: a_machine(host=ELSEWHERE, cluster_paused=True)},
        {MACHINE_AT: replace(a_machine(host=ELSEWHERE), cluster_name="site"), CAPI: Cluster("uid", paused=True)},
        {HOST_AT: held(None), MACHINE_AT: a_machine(cluster_paused=True)},
        {MACHINE_AT: a_machine(uid="its successor", host=ELSEWHERE, cluster_paused=True)},
    ],
    ids=["it names another host", "its Cluster is paused", "the host serves nobody", "another one of that name"],
)
def test_the_host_of_a_paused_machine_is_left_alone(objects: dict[Ref, Any]) -> None:
    """Not even a hold that nobody answers for is taken off, until the pause ends; that is looked for every minute."""
    view = sees(HOST_AT, a_cache({HOST_AT: a_host(held=True, power=Power.OFF), **objects}))

    assert view is not None
    decision = decide(view, NOW)
    pause = ClusterObjectPaused("metal/site") if CAPI in objects else ClusterPaused("Machine metal/worker-0")
    assert ((), (pause,)) == (decision.actions, decision.because)
    assert NOW.mono + MINUTE == decision.wake_at


def test_a_paused_machine_that_merely_names_the_host_keeps_no_hold() -> None:
    """A host belongs to the Machine that it serves, and to the one that it is held for."""
    stranger = a_machine(uid="stranger", cluster_paused=True)
    view = sees(HOST_AT, a_cache({HOST_AT: held(None), OTHER: stranger}))

    assert view is not None
    assert (HoldOrphaned("metal/rack1-u07"),) == decide(view, NOW).because


@pytest.mark.parametrize("how", ["paused", "detached"])
def test_an_unattended_orphan_waits(how: str) -> None:
    """On a host that the baremetal operator leaves alone nothing is written either."""
    host = a_host(held=True, power=Power.OFF, consumer=None, paused=how == "paused", detached=how == "detached")

    view = sees(HOST_AT, a_cache({HOST_AT: host}))

    assert view is not None
    decision = decide(view, NOW)
    assert ((), (HostPaused("metal/rack1-u07", how),)) == (decision.actions, decision.because)
