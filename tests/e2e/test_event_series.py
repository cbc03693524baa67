"""What was over and comes back is counted in its Event on a real API server, with the rights that the manager has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from tests.e2e.api import Api, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import kubectl
from tests.e2e.fleet import Fleet
from tests.e2e.managers import Manager
from tests.e2e.repairs import BACKUP, EVENTS

NAME, REASON = "again", "BackupUnreadable"


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    with Fleet(installed_plane) as made:
        made.add(NAME)
        yield made


def counts(api: Api) -> list[int]:
    """How often each Event of the reason says that it happened."""
    about = [one for one in api.items(EVENTS) if (one["reason"], one["regarding"].get("name")) == (REASON, NAME)]
    return [(one.get("series") or {"count": 1})["count"] for one in about]


def are(api: Api, times: int) -> bool:
    return counts(api) == [times]


def stands(manager: Manager) -> bool:
    return manager.figure("node_remedy_reasons_standing", reason=REASON, room="annotation") == 1


@pytest.mark.timeout(240)
def test_what_comes_back_is_counted_in_its_event(installed_plane: ControlPlane, fleet: Fleet) -> None:
    """Told, over, told again: `x2` for `kubectl describe`. Who takes over says it as well, and counts nothing."""
    api, path = fleet.api, fleet.machine_path(NAME)
    with Manager(installed_plane, "manager-0") as manager:
        eventually(manager.leads, "it leads", 60)
        for times in (1, 2):
            fleet.annotate(path, {BACKUP: "not a backup"})
            eventually(partial(are, api, times), f"told {times} times", 60)
            assert stands(manager)
            if times == 1:
                fleet.annotate(path, {BACKUP: None})
                eventually(lambda: not stands(manager), "it is over", 60)
        assert [] == manager.said("event trouble")

    told = kubectl(installed_plane, "describe", "machines.cluster.x-k8s.io", NAME)
    assert "(x2 over " in next(line for line in told.splitlines() if REASON in line)

    with Manager(installed_plane, "manager-1") as second:
        eventually(lambda: second.said("decided", reason=REASON), f"the second says it: {second.words()}", 90)
        eventually(lambda: stands(second), "it stands")
        second.program.terminate()
    assert [2] == counts(api)
