"""A repair in whose middle something cannot be read any more keeps its place: its host is held, or may be.

The budget ends a reservation that nobody states a need for within a minute. A Machine, a host or a request that does
not decode states none; the next one began, and one host more than allowed was held (simulated seed 5049).
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import (
    HOST_AT,
    MACHINE_AT,
    METAL3_CONSUMER,
    METAL3_MACHINE_AT,
    NODE_AT,
    NOW,
    REMEDIATION_AT,
    a_cache,
    a_host,
    a_machine,
    a_metal3_machine,
    a_node,
    ago,
    later,
    unreadable,
)
from tests.core.metal3.remediations import UID, a_held_host, a_reader, a_remediation, a_world, decided, looked

from noderemedy.core.claim import holder_name, lease_of
from noderemedy.core.metal3 import annotation
from noderemedy.core.metal3.remediationview import concerned
from noderemedy.core.metal3.view import ROOM_NAME, sees
from noderemedy.engine.cache import Cache
from noderemedy.model.budget import Need
from noderemedy.model.decision import Decision
from noderemedy.model.host import Power
from noderemedy.model.ids import REMEDIATION, Ref, ref
from noderemedy.model.lease import Lease
from noderemedy.model.machine import ControllerOwner
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import RepairStuck
from noderemedy.model.remediation import Phase
from noderemedy.model.room import Unreadable
from noderemedy.model.time import Now

GARBLED = Unreadable("machine-uid-1", "7", "garbled")
REQUEST_GARBLED = Unreadable(UID, "7", "garbled")
SICK = a_node(ready="Unknown")
HELD = a_host(held=True, power=Power.OFF)


def needs(decision: Decision) -> list[Need]:
    return [fact.value for fact in decision.facts if isinstance(fact.value, Need)]


def told(decision: Decision) -> list[tuple[Ref, bool, bool, bool]]:
    """For whom, and whether it runs, is stuck, and may still go off."""
    return [(one.target, one.is_running, one.is_stuck, one.is_off_pending) for one in needs(decision)]


def annotated(key: Ref, cache: Cache, now: Now = NOW) -> Decision:
    view = sees(key, cache)
    assert view is not None
    return annotation.decide(view, now)


def remember(cache: Cache, decision: Decision) -> None:
    for fact in decision.facts:
        cache.put(Seen(fact.ref, "", "", fact.value), NOW.mono)


# what is there, and whose place the hold has
UNREAD: dict[str, tuple[dict[Ref, Any], Ref]] = {
    "its Machine": ({HOST_AT: HELD, MACHINE_AT: GARBLED}, MACHINE_AT),
    "a Machine of that name": ({HOST_AT: HELD, MACHINE_AT: unreadable()}, MACHINE_AT),
    "the Machine of its Metal3Machine": (
        {HOST_AT: replace(HELD, consumer=METAL3_CONSUMER), METAL3_MACHINE_AT: a_metal3_machine(), MACHINE_AT: GARBLED},
        MACHINE_AT,
    ),
    "its Metal3Machine": (
        {HOST_AT: replace(HELD, consumer=METAL3_CONSUMER), METAL3_MACHINE_AT: unreadable(), MACHINE_AT: a_machine()},
        MACHINE_AT,
    ),
    "its Metal3Machine, and nobody names it": (
        {HOST_AT: replace(HELD, consumer=METAL3_CONSUMER), METAL3_MACHINE_AT: unreadable()},
        HOST_AT,
    ),
    "its Metal3Machine, of a paused Machine": (
        {
            HOST_AT: replace(HELD, consumer=METAL3_CONSUMER),
            METAL3_MACHINE_AT: unreadable(),
            MACHINE_AT: a_machine(cluster_paused=True),
        },
        MACHINE_AT,
    ),
}


@pytest.mark.parametrize("name", UNREAD)
def test_a_held_host_states_the_need_of_whom_nobody_can_ask(name: str) -> None:
    """With what is known of its power: one that is not off may go off at any moment."""
    objects, target = UNREAD[name]

    for power, is_pending in ((Power.OFF, False), (Power.ON, True), (Power.UNKNOWN, True)):
        host = replace(objects[HOST_AT], power=power)
        decision = annotated(HOST_AT, a_cache({**objects, HOST_AT: host}))
        assert [(target, True, False, is_pending)] == told(decision), power


def test_ten_minutes_later_it_gives_its_place_back() -> None:
    """As every repair that waits for a person; that its host may still go off is told on."""
    cache = a_cache({HOST_AT: replace(HELD, power=Power.ON), MACHINE_AT: GARBLED})
    first = annotated(HOST_AT, cache)
    remember(cache, first)

    soon, late = (annotated(HOST_AT, cache, later(seconds)) for seconds in (599, 600))

    assert later(600).mono == first.wake_at
    assert [(MACHINE_AT, True, False, True)] == told(soon)
    assert ([(MACHINE_AT, True, True, True)], True) == (told(late), RepairStuck("worker-0") in late.because)
    assert needs(first)[0].since == needs(late)[0].since


def test_a_hold_that_somebody_answers_for_is_counted_once() -> None:
    """By its Machine; one that nobody answers for is only released."""
    cache = a_cache({HOST_AT: HELD, MACHINE_AT: a_machine(needs=True), NODE_AT: SICK})

    assert ([], 1) == (told(annotated(HOST_AT, cache)), len(told(annotated(MACHINE_AT, cache))))
    assert [] == told(annotated(HOST_AT, a_cache({HOST_AT: replace(HELD, consumer=None)})))


@pytest.mark.parametrize("power", [Power.ON, Power.OFF])
def test_a_host_that_cannot_be_read_is_still_held(power: Power) -> None:
    """What was seen on it last counts: whether it was off, and that it was held."""
    machine = a_machine(needs=True)
    cache = a_cache({HOST_AT: replace(HELD, power=power), MACHINE_AT: machine, NODE_AT: SICK})
    remember(cache, annotated(MACHINE_AT, cache))
    cache.set_aside(HOST_AT, Unreadable("host-uid-1", "7", "garbled"))

    assert [(MACHINE_AT, True, False, power is Power.ON)] == told(annotated(MACHINE_AT, cache))


@pytest.mark.parametrize(("holder", "counts"), [(ROOM_NAME, True), ("node-fence", False)])
def test_a_new_leader_judges_such_a_host_by_the_claim(holder: str, counts: bool) -> None:
    """It never saw the host; who holds the claim of a repair may hold its host."""
    cache = a_cache({HOST_AT: unreadable(), MACHINE_AT: a_machine(needs=True), NODE_AT: SICK})
    lease = Lease("lease-uid-1", holder_name(holder, MACHINE_AT))
    cache.put(Seen(lease_of(NODE_AT), "lease-uid-1", "7", lease), NOW.mono)

    assert ([(MACHINE_AT, True, False, True)] if counts else []) == told(annotated(MACHINE_AT, cache))


# --- Metal3Remediations ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("power", "is_pending"), [(Power.OFF, False), (Power.ON, True)])
@pytest.mark.parametrize(
    ("machine", "target"), [(a_machine(), MACHINE_AT), (GARBLED, MACHINE_AT), (None, HOST_AT), (unreadable(), HOST_AT)]
)
def test_what_is_held_for_a_request_that_cannot_be_read_counts(
    power: Power, is_pending: bool, machine: Any, target: Ref
) -> None:
    """For its Machine if that is known by its uid, else for the host itself."""
    world = {**a_world(None, host=a_held_host(power), machine=machine), REMEDIATION_AT: REQUEST_GARBLED}

    assert [(target, True, False, is_pending)] == told(looked(world, HOST_AT))


def test_a_relic_of_a_request_that_is_gone_does_not() -> None:
    """That one is over, and its hold goes."""
    assert [] == told(looked(a_world(None, host=a_held_host()), HOST_AT))


def test_a_request_that_cannot_be_read_any_more_concerns_its_host() -> None:
    """At once: its own need ends with that."""
    reader = a_reader({**a_world(None, host=a_held_host()), REMEDIATION_AT: REQUEST_GARBLED})

    assert HOST_AT in concerned(REMEDIATION_AT, None, reader)


RUNNING = (Phase.POWER_OFF, Phase.FREEING, Phase.POWER_ON, Phase.WAITING)


@pytest.mark.parametrize("phase", Phase)
def test_a_request_that_has_begun_keeps_the_place_of_a_machine_that_cannot_be_read(phase: Phase) -> None:
    """It goes on without asking when that is mended. What has not begun asks then."""
    decision = looked(a_world(a_remediation(phase), machine=GARBLED))

    is_begun = phase in (*RUNNING, Phase.DELETING_MACHINE)
    assert ([(MACHINE_AT, True, False, False)] if is_begun else []) == told(decision)


def test_its_power_off_may_be_pending() -> None:
    """A host that is held for it and still on."""
    world = a_world(a_remediation(Phase.POWER_OFF), host=a_held_host(Power.ON), machine=GARBLED)

    assert [(MACHINE_AT, True, False, True)] == told(looked(world))


def test_another_machine_of_that_name_keeps_no_place() -> None:
    """The one that it began with is gone, whoever cannot be read now."""
    assert [] == told(looked(a_world(a_remediation(Phase.POWER_OFF), machine=unreadable())))


def test_of_two_requests_for_it_one_states_the_need() -> None:
    """Two keys that state one fact are a bug."""
    other = ref(REMEDIATION, "other", "metal")
    younger = replace(a_remediation(Phase.WAITING), uid="uid-9", created=ago(60), **owned())
    older = replace(a_remediation(Phase.WAITING), **owned())
    reader = a_reader(a_world(older, machine=GARBLED, more={other: younger}))

    assert [1, 0] == [len(needs(decided(at, reader))) for at in (REMEDIATION_AT, other)]


def owned() -> dict[str, Any]:
    return {"owner": ControllerOwner("cluster.x-k8s.io/v1beta1", "Machine", "worker-0", ""), "owner_uid": ""}
