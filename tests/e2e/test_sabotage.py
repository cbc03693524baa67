"""The checks of the scenarios were seen red: managers that are wrong on purpose, under the same eyes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e import audit
from tests.e2e.api import eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import manager_api
from tests.e2e.fleet import NODES, Fleet
from tests.e2e.managers import Manager
from tests.e2e.repairs import (
    REPAIR,
    assert_decorated,
    assert_freed_only_when_off,
    assert_nothing_left,
    decorate,
    wait_until_over,
)


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    with Fleet(installed_plane) as made:
        yield made


def test_sabotage_restoring_nothing_is_seen(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """A manager that restores nothing ends with a bare Node and one write less, and both checks say so."""
    fleet.add("bare")
    decorate(fleet, "bare")
    fleet.crash("bare")
    fleet.ask_for_repair("bare")
    with Manager(installed_plane, "forgetful", how="forgetful") as manager:
        wait_until_over(fleet, "bare")
        manager.program.terminate()  # so that the next one need not wait for its lease

    with pytest.raises(AssertionError, match="the label is missing"):
        assert_decorated(fleet, "bare")
    assert REPAIR != audit.done(installed_plane.audit_log, "bare")


def test_sabotage_a_write_while_idle_is_seen(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """A single write under the manager's identity, that changes nothing at all, is in the audit log."""
    fleet.add("idle")
    before = audit.writes(installed_plane.audit_log)
    manager_api(installed_plane).merge(f"{NODES}/idle", {}).ok()

    assert ["patch nodes"] == [one.did for one in audit.writes(installed_plane.audit_log)[len(before) :]]


def test_sabotage_deleting_without_proof_is_seen(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """A manager that deletes the Node of a host that is on is convicted by world and audit log."""
    fleet.add("alive")
    fleet.switches.bmc_dead.add("alive")
    fleet.crash("alive")
    fleet.ask_for_repair("alive")
    with Manager(installed_plane, "careless", how="careless"):
        eventually(lambda: not fleet.node("alive"), "the Node is gone although its computer runs")

    with pytest.raises(AssertionError, match="deleted while on"):
        assert_freed_only_when_off(installed_plane, fleet)
    with pytest.raises(AssertionError):
        assert_nothing_left(fleet, "alive")
