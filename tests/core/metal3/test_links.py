"""Who belongs to whom: both ends must name each other, in both Machine groups, with or without a Metal3Machine."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import (
    CONSUMER,
    HOST_AT,
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

from noderemedy.core.metal3.annotation import decide
from noderemedy.core.metal3.links import concerned
from noderemedy.core.metal3.view import MachineView, sees
from noderemedy.model.host import Consumer, Power
from noderemedy.model.ids import HOST, MACHINE, OPENSHIFT_MACHINE, Ref, ref
from noderemedy.model.machine import HostName
from noderemedy.model.reasons import HostNotOurs

LINKED: dict[str, tuple[Ref, Consumer, bool, bool]] = {
    # name: (the Machine, consumerRef of its host, is a Metal3Machine between them, does the link hold?)
    "machine": (MACHINE_AT, CONSUMER, False, True),
    "machine of OpenShift": (
        OPENSHIFT_MACHINE_AT,
        Consumer("Machine", "metal", "worker-0", OPENSHIFT_MACHINE.group),
        False,
        True,
    ),
    "the group is not named": (MACHINE_AT, Consumer("Machine", "metal", "worker-0"), False, True),
    "the group is not named, OpenShift": (OPENSHIFT_MACHINE_AT, Consumer("Machine", "metal", "worker-0"), False, True),
    "the namespace is not named": (MACHINE_AT, Consumer("Machine", "", "worker-0", MACHINE.group), False, True),
    "through a Metal3Machine": (MACHINE_AT, METAL3_CONSUMER, True, True),
    "Metal3Machine, namespace not named": (MACHINE_AT, Consumer("Metal3Machine", "", "worker-0-m3m"), True, True),
    "the other group": (MACHINE_AT, Consumer("Machine", "metal", "worker-0", OPENSHIFT_MACHINE.group), False, False),
    "another machine": (MACHINE_AT, Consumer("Machine", "metal", "worker-9"), False, False),
    "another namespace": (MACHINE_AT, Consumer("Machine", "other", "worker-0"), False, False),
    "another kind": (MACHINE_AT, Consumer("Server", "metal", "worker-0"), False, False),
    "the Metal3Machine is missing": (MACHINE_AT, METAL3_CONSUMER, False, False),
    "a Metal3Machine of OpenShift's": (OPENSHIFT_MACHINE_AT, METAL3_CONSUMER, True, False),
}


@pytest.mark.parametrize("name", LINKED)
def test_the_host_must_name_the_machine_back(name: str) -> None:
    """The link holds for every way to name this Machine, and for nobody else."""
    machine_at, consumer, has_middle, holds = LINKED[name]
    objects: dict[Ref, Any] = {machine_at: a_machine(needs=True), HOST_AT: a_host(consumer=consumer), NODE_AT: a_node()}
    if has_middle:
        objects[METAL3_MACHINE_AT] = a_metal3_machine()

    view = sees(machine_at, a_cache(objects))

    assert isinstance(view, MachineView)
    assert holds == view.is_consumer
    assert holds == bool(decide(view, NOW).actions)
    if not holds:
        assert [HostNotOurs] == [type(reason) for reason in decide(view, NOW).because]


@pytest.mark.parametrize(
    ("owner", "owner_uid", "holds"),
    [
        ("worker-0", "machine-uid-1", True),
        ("worker-0", "", False),
        ("worker-0", "uid-of-a-former-machine", False),
        ("worker-9", "machine-uid-1", False),
        (None, "", False),
    ],
)
def test_a_metal3_machine_must_be_owned_by_the_machine(owner: str | None, owner_uid: str, holds: bool) -> None:
    """By name and by uid: a Metal3Machine of a former Machine of the same name does not count."""
    objects = {
        MACHINE_AT: a_machine(needs=True),
        HOST_AT: a_host(consumer=METAL3_CONSUMER),
        METAL3_MACHINE_AT: a_metal3_machine(owner=owner, owner_uid=owner_uid),
    }

    view = sees(MACHINE_AT, a_cache(objects))

    assert isinstance(view, MachineView)
    assert holds == view.is_consumer


def test_a_changed_consumer_ends_the_repair() -> None:
    """Held and off, the host is given to another machine: the node of the first one is not deleted any more."""
    machine = a_machine(needs=True)
    off = a_host(power=Power.OFF, held=True)
    before = sees(MACHINE_AT, a_cache({MACHINE_AT: machine, HOST_AT: off, NODE_AT: a_node(ready="Unknown")}))
    given_away = a_host(power=Power.OFF, held=True, consumer=Consumer("Machine", "metal", "worker-9"))
    after = sees(MACHINE_AT, a_cache({MACHINE_AT: machine, HOST_AT: given_away, NODE_AT: a_node(ready="Unknown")}))

    assert before is not None
    assert after is not None
    assert 1 == len(decide(before, NOW).actions)
    assert () == decide(after, NOW).actions


def test_two_machines_that_name_one_host() -> None:
    """Only the one that the host names back is served; the other is told whose host it is."""
    other = ref(MACHINE, "worker-9", "metal")
    cache = a_cache({MACHINE_AT: a_machine(needs=True), other: a_machine(uid="other", needs=True), HOST_AT: a_host()})

    ours, theirs = sees(MACHINE_AT, cache), sees(other, cache)

    assert ours is not None
    assert theirs is not None
    assert 1 == len(decide(ours, NOW).actions)
    assert (HostNotOurs("metal/rack1-u07", "Machine/metal/worker-0"),) == decide(theirs, NOW).because


# --- whom an event concerns ----------------------------------------------------------------------------------


def test_a_node_event_concerns_its_machine_only() -> None:
    """One node, one machine: found by index, whatever the number of machines."""
    many = {ref(MACHINE, f"m{n}", "metal"): a_machine(uid=f"u{n}", node_name=f"n{n}") for n in range(20)}
    cache = a_cache({**many, MACHINE_AT: a_machine()})

    assert (MACHINE_AT,) == tuple(concerned(NODE_AT, a_node(), cache))
    assert () == tuple(concerned(ref(HOST, "x", "metal"), object(), cache))


def test_a_host_event_concerns_who_names_it_and_itself() -> None:
    """The Machines that name the host, of both groups, and the host as a key of its own."""
    cache = a_cache({MACHINE_AT: a_machine(), OPENSHIFT_MACHINE_AT: a_machine(uid="o")})

    assert (MACHINE_AT, OPENSHIFT_MACHINE_AT, HOST_AT) == tuple(concerned(HOST_AT, a_host(), cache))


def test_a_machine_event_concerns_itself_and_its_host() -> None:
    """The host that the Machine names may have become an orphan, or is one no more."""
    assert (MACHINE_AT, HOST_AT) == tuple(concerned(MACHINE_AT, a_machine(), a_cache({})))
    assert (MACHINE_AT,) == tuple(concerned(MACHINE_AT, a_machine(host=None), a_cache({})))


def test_a_metal3_machine_event_concerns_its_owner_and_its_host() -> None:
    """Both ends of the chain through it are judged again."""
    cache = a_cache({HOST_AT: a_host(consumer=METAL3_CONSUMER)})

    assert (HOST_AT, MACHINE_AT) == tuple(concerned(METAL3_MACHINE_AT, a_metal3_machine(), cache))
    assert (HOST_AT,) == tuple(concerned(METAL3_MACHINE_AT, a_metal3_machine(owner=None), cache))


def test_an_unreadable_object_concerns_who_names_it() -> None:
    """It says nothing itself, so both ends of the chain are found from the other objects."""
    objects = {MACHINE_AT: a_machine(), HOST_AT: a_host(consumer=METAL3_CONSUMER)}
    cache = a_cache({**objects, METAL3_MACHINE_AT: a_metal3_machine()})
    directly = a_cache({MACHINE_AT: a_machine(), HOST_AT: a_host()})

    assert (MACHINE_AT,) == tuple(concerned(NODE_AT, None, cache))
    assert (MACHINE_AT, HOST_AT) == tuple(concerned(HOST_AT, None, cache))
    assert (HOST_AT, MACHINE_AT) == tuple(concerned(METAL3_MACHINE_AT, None, cache))
    assert (MACHINE_AT, HOST_AT) == tuple(concerned(MACHINE_AT, None, cache))
    assert (MACHINE_AT, HOST_AT) == tuple(concerned(MACHINE_AT, None, directly))


def test_a_bare_host_name_means_the_machines_namespace() -> None:
    """The view follows the name that the Machine gives, in the namespace that it gives."""
    elsewhere = ref(HOST, "h", "racks")
    machine = a_machine(needs=True, host=HostName("racks", "h"))

    view = sees(MACHINE_AT, a_cache({MACHINE_AT: machine, elsewhere: a_host()}))

    assert isinstance(view, MachineView)
    assert (elsewhere, True) == (view.host_at, view.is_consumer)
