"""Histories in which managers change their version when they start: which they are, and what they find."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from tests.sim.test_upgrade import unknown_fields_are_refused

from noderemedy.model.ids import BUDGET, HOST, NODE
from noderemedy.sim.fencerun import simulate_fencing
from noderemedy.sim.process import Process
from noderemedy.sim.run import Report, simulate
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.versions import DOWNGRADE, UPGRADE, Changing, manager_of, with_more
from noderemedy.wire import names
from noderemedy.wire.http import Request, Resource

WITH_BOTH, WITH_ONE = 26, 3  # seeds
HOSTS = Resource(HOST, "v1alpha1", "baremetalhosts", namespaced=True)
BUDGETS = Resource(BUDGET, "v1alpha1", "remediationbudgets", namespaced=False)
NODES = Resource(NODE, "v1", "nodes", namespaced=False)


def test_an_eighth_of_the_histories_has_two_versions() -> None:
    """By a chance of their own, the same in every run."""
    kinds = [manager_of(seed) for seed in range(1, 2001)]

    assert 200 < kinds.count(Changing) < 300
    assert (Changing, Process) == (manager_of(WITH_BOTH), manager_of(WITH_ONE))


@pytest.mark.parametrize("run", [simulate, simulate_fencing])
def test_leaders_change_their_version_in_the_middle_of_repairs(run: Callable[..., Report]) -> None:
    """Both ways, and all ends well; where managers are of one version it never happens."""
    both, one = (run(seed, nodes=8, hours=2.0, trouble_every_ms=MINUTE_MS) for seed in (WITH_BOTH, WITH_ONE))

    assert {UPGRADE, DOWNGRADE} <= set(both.troubles)
    assert set() == {UPGRADE, DOWNGRADE} & set(one.troubles)
    assert ((), ()) == (both.violations, one.violations)


def test_a_version_that_refuses_what_it_does_not_know_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """It leaves the record of the next version as it is, and with it the node; alone it does no harm."""
    unknown_fields_are_refused(monkeypatch)
    both, one = (simulate(seed, nodes=8, hours=2.0, trouble_every_ms=MINUTE_MS) for seed in (WITH_BOTH, WITH_ONE))

    assert () != both.violations
    assert () == one.violations


def patch(resource: Resource, body: object, subresource: str = "") -> Request:
    return Request("PATCH", resource.path("", "x", subresource), body=msgspec.json.encode(body))


def test_the_next_version_writes_more_into_records() -> None:
    """Into those that are text of ours; a value of somebody else's interface stays as it is."""
    notes = {names.HOLD: '{"machineUid":"u"}', names.REBOOT: names.REBOOT_VALUE, names.NODE_DELETED_AT: None}

    told = msgspec.json.decode(with_more(patch(HOSTS, {"metadata": {"annotations": notes}})).body)["metadata"]

    hold = msgspec.json.decode(told["annotations"].pop(names.HOLD))
    assert ("u", 2) == (hold["machineUid"], hold["schema"])
    assert {names.REBOOT: names.REBOOT_VALUE, names.NODE_DELETED_AT: None} == told["annotations"]


def test_the_next_version_has_one_more_condition() -> None:
    """In a status of ours, once; Nodes are not ours."""
    body = {"status": {"conditions": [{"type": "Valid"}]}}
    once = with_more(patch(BUDGETS, body, "status"))

    types = [one["type"] for one in msgspec.json.decode(once.body)["status"]["conditions"]]
    assert ["Valid", "Forecast"] == types
    assert once == with_more(once)
    assert body == msgspec.json.decode(with_more(patch(NODES, body, "status")).body)


def test_what_is_no_object_passes() -> None:
    """A request without a body, or with a list of operations, is sent as it is."""
    bare, operations = Request("GET", "/api"), Request("PATCH", "/api/v1/nodes/x", body=b'[{"op":"test"}]')

    assert (bare, operations) == (with_more(bare), with_more(operations))
