"""A contradicted Metal3Remediation beside everybody else: no place in the budget, no writes, and `explain` names it."""

from __future__ import annotations

import pytest
from tests.builders import NOW, REMEDIATION_AT, unreadable
from tests.core.fencing.story import Story
from tests.core.metal3.remediations import a_reader, a_world, actions, looked, reasons
from tests.core.metal3.test_contradiction import CONTRADICTED, LAST, TOLD, silent, waits
from tests.core.metal3.test_escalation import needs_of

from noderemedy.core.budget import health
from noderemedy.core.budget import room as budget
from noderemedy.core.budget import spec as budget_spec
from noderemedy.core.metal3 import remediation as room
from noderemedy.model.ids import HOST, MACHINE, REMEDIATION
from noderemedy.model.ledger import LEDGER_AT
from noderemedy.model.remediation import Metal3Remediation, Strategy
from noderemedy.model.room import Present

HELD_UP = [("metal3-remediation", True, True)]
NEXT: dict[str, Metal3Remediation] = {
    "an attempt after a pause": waits(CONTRADICTED, strategy=Strategy.REBOOT),
    "an attempt at once": waits(CONTRADICTED, strategy=Strategy.ESCALATE),
    "the owner's turn": waits(CONTRADICTED, strategy=Strategy.ESCALATE, attempt=LAST),
}


class Bare(Story):
    """A node on bare metal that hangs, and a Metal3Remediation whose host was contradicted."""

    rooms = (room.ROOM, health.ROOM, budget.ROOM, budget_spec.ROOM)

    def contradicted(self, strategy: Strategy, retries: int) -> None:
        self.bare_metal()
        self.hang()
        self.api.create(
            {
                "apiVersion": "remediation.metal3.io/v1alpha1",
                "kind": "Metal3Remediation",
                "metadata": {"name": "worker-0", "namespace": "metal", "finalizers": ["remediation.metal3.io"]},
                "spec": {"strategy": strategy.value, "deleteAfterRetries": 1},
            }
        )
        at = str(self.now.wall)
        evidence = {
            "machineUid": self.api.get(MACHINE, "worker-0", "metal")["metadata"]["uid"],
            "nodeUid": self.node()["metadata"]["uid"],
            "bootID": "boot-1",
            "hostUid": self.api.get(HOST, "rack-1", "metal")["metadata"]["uid"],
            "hostOffAt": at,
            "contradictedAt": at,
        }
        told = {"phase": "waiting", "phaseStartedAt": at, "retryCount": retries, "evidence": evidence}
        self.api.patch(REMEDIATION, "worker-0", "metal", {"status": told}, "merge", subresource="status")

    @property
    def because(self) -> list[str]:
        found = self.engine.decisions.items()
        return [type(one).__name__ for key, told in found if key.ref.kind == REMEDIATION for one in told.because]

    @property
    def reservations(self) -> int:
        entry = self.engine.cache.read(LEDGER_AT)
        ledger = entry.obj.ledger if isinstance(entry, Present) else None
        return len(ledger.reservations) if ledger else 0


@pytest.mark.parametrize(
    ("strategy", "retries"), [(Strategy.REBOOT, 0), (Strategy.ESCALATE, 0), (Strategy.ESCALATE, 1)]
)
def test_it_takes_no_place_and_writes_nothing(strategy: Strategy, retries: int) -> None:
    """Two hours beside the real budget: no reservation, not a single write, and the alert is there all the time."""
    story = Bare()
    story.contradicted(strategy, retries)

    for _ in range(120):
        story.run(60)
        assert (["HostContradicted"], 0) == (story.because, story.reservations)
    assert [] == story.acts


@pytest.mark.parametrize("case", NEXT)
def test_it_keeps_its_claim_and_is_not_in_flight(case: str) -> None:
    """Nobody else may switch that host meanwhile; and whoever needs a place in the budget gets it."""
    decision = looked(a_world(NEXT[case], node=silent(60)))

    assert ([], HELD_UP) == (actions(decision), needs_of(decision))


@pytest.mark.parametrize("case", NEXT)
def test_another_boot_asks_for_a_place_before_anything_begins(case: str) -> None:
    """The place was given back, maybe days ago: neither the next attempt nor the owner's turn begins without one."""
    decision = looked(a_world(NEXT[case], node=silent(60, boot_id="boot-2")), told=None)

    assert ([], ["WaitingForBudget"]) == (actions(decision), reasons(decision))
    assert [("metal3-remediation", False, False)] == needs_of(decision)


@pytest.mark.parametrize("case", NEXT)
def test_a_node_that_cannot_be_seen_may_be_that_boot(case: str) -> None:
    """What cannot be read now is no other boot: nobody is asked to replace the machine of a node that may run."""
    decision = looked(a_world(NEXT[case], node=unreadable()))

    assert ([], TOLD, HELD_UP) == (actions(decision), decision.because[0], needs_of(decision))


@pytest.mark.parametrize("case", NEXT)
def test_explain_names_what_stands_in_the_way(case: str) -> None:
    """It is a gate, and the only one that is closed."""
    view = room.ROOM.sees(REMEDIATION_AT, a_reader(a_world(NEXT[case], node=silent(60))))
    assert room.ROOM.explains is not None

    closed = [(one.gate, one.reason) for one in room.ROOM.explains(view, NOW) if one.reason]

    assert [("host is not contradicted", TOLD)] == closed
