"""Managers that die in the middle, on a real control plane: whoever comes next finishes, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e import audit
from tests.e2e.api import eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleet import Fleet
from tests.e2e.managers import Manager
from tests.e2e.repairs import (
    HOLD,
    REPAIR,
    assert_decorated,
    assert_freed_only_when_off,
    assert_nothing_left,
    decorate,
    is_over,
    ours,
    wait_until_over,
)

KILLED = -9
MOST = 40  # writes: those of the repair, of its reservation and claim, and of its record
STEPS = {"AddRebootAnnotation", "BackUpNode", "DeleteNode", "RemoveRebootAnnotation", "RestoreNode", "DropBackup"}


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    with Fleet(installed_plane) as made:
        yield made


@pytest.mark.timeout(400)
def test_killed_after_every_write_it_still_ends_well(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """Managers in a row are killed, each after its one write; the end is that of an undisturbed repair."""
    fleet.add("often")
    decorate(fleet, "often")
    fleet.crash("often")
    fleet.ask_for_repair("often")
    for number in range(MOST):
        assert is_in_order(audit.steps(installed_plane.audit_log, "often"))
        if is_over(fleet, "often"):
            break
        with Manager(installed_plane, f"mortal-{number}", how="mortal") as manager:
            assert KILLED == manager.program.process.wait(timeout=40), manager.words()

    assert 7 <= number
    assert is_in_order(audit.steps(installed_plane.audit_log, "often"))
    asked = [one.did for one in audit.writes(installed_plane.audit_log, "often")]
    assert [] == [step for step in REPAIR if asked.count(step) < REPAIR.count(step)]
    assert_nothing_left(fleet, "often")
    assert_decorated(fleet, "often")
    assert 1 == assert_freed_only_when_off(installed_plane, fleet)


def is_in_order(done: list[str]) -> bool:
    """Steps of a repair, none twice and none before its time.

    One may be missing: the write that was on its way when its manager died, after another one of the same moment. The
    server carries it out and has nobody left to answer, which its log shows as a request that failed.
    """
    rest = iter(REPAIR)
    return all(step in rest for step in done)


def test_the_order_is_seen_to_be_wrong() -> None:
    """A Node that is restored before it was deleted, or a host that is held twice, is no order."""
    assert is_in_order(REPAIR)
    assert is_in_order([*REPAIR[:4], *REPAIR[5:]])
    assert not is_in_order(["patch nodes", "delete nodes"])
    assert not is_in_order(["patch baremetalhosts", "patch baremetalhosts", "patch baremetalhosts"])


def test_a_standby_takes_over_from_a_killed_leader(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """Two managers with the shipped timing: the leader is killed while it waits for power, the other one finishes."""
    fleet.add("twice")
    fleet.switches.bmc_dead.add("twice")
    with Manager(installed_plane, "first") as first:
        eventually(first.leads, "the first leads")
        with Manager(installed_plane, "second") as second:
            second.wait_until_ready()
            fleet.crash("twice")
            fleet.ask_for_repair("twice")
            eventually(lambda: HOLD in ours(fleet.host("twice")), "the host is held")
            assert not second.leads()
            first.program.kill()
            fleet.switches.bmc_dead.clear()
            eventually(lambda: fleet.powered_on("twice") is False, "the host is off")
            assert not is_over(fleet, "twice")
            wait_until_over(fleet, "twice", seconds=40)
            eventually(lambda: second.said("effect ended", action="DropBackup"), "the second was it")

    assert REPAIR[:5] == audit.steps(installed_plane.audit_log, "twice")[:5]
    assert 2 == assert_freed_only_when_off(installed_plane, fleet)
    done = first.said("effect ended", outcome="Done")  # the operator writes to the host, too: one try may be in its way
    assert ["AddRebootAnnotation"] == [line["action"] for line in done if line["action"] in STEPS]
