"""Which host a Machine names: itself (OpenShift), or through its Metal3Machine (Metal3's provider for Cluster API)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import (
    CONSUMER,
    HOST_AT,
    HOST_NAME,
    MACHINE_AT,
    METAL3_CONSUMER,
    METAL3_MACHINE_AT,
    NODE_AT,
    NOW,
    OPENSHIFT_MACHINE_AT,
    a_cache,
    a_host,
    a_machine,
    a_metal3_machine,
    a_node,
)

from noderemedy.core import hostnames
from noderemedy.core.metal3.annotation import decide
from noderemedy.core.metal3.links import concerned
from noderemedy.core.metal3.view import MachineView, sees
from noderemedy.model.host import Consumer
from noderemedy.model.ids import HOST, MACHINE, METAL3_MACHINE, Ref, ref
from noderemedy.model.machine import HostName, Metal3Machine
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import HostNameUnreadable, HostNotNamed, HostNotOurs

GARBAGE = Malformed("'a/b/c' is not namespace/name")
ELSEWHERE = HostName("metal", "another")
OURS = a_metal3_machine(host=HOST_NAME)

NAMED: dict[str, tuple[Any, Metal3Machine | None, Any]] = {
    # name: (what the Machine says, its Metal3Machine, what counts)
    "the Machine": (HOST_NAME, None, HOST_NAME),
    "its Metal3Machine": (None, OURS, HOST_NAME),
    "both, alike": (HOST_NAME, OURS, HOST_NAME),
    "both: what the Machine says": (ELSEWHERE, OURS, ELSEWHERE),
    "garbage on the Machine": (GARBAGE, OURS, GARBAGE),
    "garbage on its Metal3Machine": (None, a_metal3_machine(host=GARBAGE), GARBAGE),
    "nobody": (None, a_metal3_machine(), None),
    "no Metal3Machine": (None, None, None),
    "the Metal3Machine of a former Machine": (None, a_metal3_machine(host=HOST_NAME, owner_uid="former"), None),
    "the Metal3Machine of another": (None, a_metal3_machine(host=HOST_NAME, owner="worker-9"), None),
    "a Metal3Machine without an owner": (None, a_metal3_machine(host=HOST_NAME, owner=None, owner_uid=""), None),
}


@pytest.mark.parametrize("name", NAMED)
def test_who_names_the_host(name: str) -> None:
    """The Machine first, then the Metal3Machine that this very Machine owns, and nobody else."""
    said, middle, counts = NAMED[name]
    machine = a_machine(host=said)
    cache = a_cache({MACHINE_AT: machine, **({METAL3_MACHINE_AT: middle} if middle else {})})

    assert counts == hostnames.named(MACHINE_AT, machine, cache)
    at = {HOST_NAME: HOST_AT, ELSEWHERE: ref(HOST, "another", "metal")}.get(counts)
    assert at == hostnames.host_at(MACHINE_AT, machine, cache)


def test_a_metal3_machine_is_nothing_to_openshift() -> None:
    """A Machine of the other group with the same name and uid does not own it."""
    machine = a_machine(host=None)

    assert hostnames.named(OPENSHIFT_MACHINE_AT, machine, a_cache({METAL3_MACHINE_AT: OURS})) is None


def test_who_may_name_a_host() -> None:
    """Found from the host: Machines that say it, and those whose Metal3Machine does; each once."""
    other, between = ref(MACHINE, "worker-9", "metal"), ref(METAL3_MACHINE, "worker-9-m3m", "metal")
    theirs = replace(OURS, owner_machine="worker-9", owner_uid="other")
    cache = a_cache({MACHINE_AT: a_machine(), METAL3_MACHINE_AT: OURS, between: theirs})

    assert (MACHINE_AT, other) == hostnames.naming(HOST_AT, cache)


CONSUMED: dict[str, tuple[Consumer, type | None]] = {
    "back through the same": (METAL3_CONSUMER, None),
    "back to the Machine itself": (CONSUMER, None),
    "another's": (Consumer("Metal3Machine", "metal", "worker-9-m3m"), HostNotOurs),
}


@pytest.mark.parametrize("name", CONSUMED)
def test_a_machine_that_metal3_made_is_repaired(name: str) -> None:
    """Its annotation is on the Metal3Machine only; the host must name it back all the same."""
    consumer, blocked = CONSUMED[name]
    objects: dict[Ref, Any] = {
        MACHINE_AT: a_machine(needs=True, host=None),
        METAL3_MACHINE_AT: OURS,
        HOST_AT: a_host(consumer=consumer),
        NODE_AT: a_node(),
    }

    view = sees(MACHINE_AT, a_cache(objects))

    assert isinstance(view, MachineView)
    assert (HOST_AT, blocked is None) == (view.host_at, view.is_consumer)
    found = decide(view, NOW)
    assert (blocked is None) == bool(found.actions)
    assert blocked is None or [blocked] == [type(reason) for reason in found.because]


@pytest.mark.parametrize(
    ("middle", "reason"),
    [(a_metal3_machine(), HostNotNamed()), (a_metal3_machine(host=GARBAGE), HostNameUnreadable(GARBAGE.problem))],
)
def test_a_machine_without_a_host_is_told_so(middle: Metal3Machine, reason: Any) -> None:
    """Nobody names a host, or what is said of it is garbage: nothing is switched."""
    view = sees(MACHINE_AT, a_cache({MACHINE_AT: a_machine(needs=True, host=None), METAL3_MACHINE_AT: middle}))

    assert isinstance(view, MachineView)
    assert (reason,) == decide(view, NOW).because


def test_a_host_event_concerns_the_machine_behind_its_metal3_machine() -> None:
    """And a Metal3Machine that learns its host wakes its Machine."""
    cache = a_cache({MACHINE_AT: a_machine(host=None), METAL3_MACHINE_AT: OURS, HOST_AT: a_host()})

    assert (MACHINE_AT, HOST_AT) == tuple(concerned(HOST_AT, a_host(), cache))
    assert MACHINE_AT in concerned(METAL3_MACHINE_AT, OURS, cache)
    assert (MACHINE_AT, HOST_AT) == tuple(concerned(MACHINE_AT, a_machine(host=None), cache))
