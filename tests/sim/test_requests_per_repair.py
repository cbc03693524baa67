"""What a repair costs the API, counted in virtual time: every read and write of a manager, by flow.

A single repair in a quiet cluster is the dearest: where many begin together, ledger and statuses are shared.
"""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec import Struct

from noderemedy.model.outcome import Effect
from noderemedy.sim.crash import (
    STORY_MS,
    Story,
    hung_node,
    node_without_ref,
    remediated_by_node,
    remediated_by_pods,
    remediated_by_taint,
    replaced_machine,
    treated_by_a_doctor,
)
from noderemedy.sim.process import Process
from noderemedy.sim.run import calm

RECORDS = ("incident", "incident-shelf")
STATUS = ("PublishCheckStatus", "PublishBudgetStatus")


class Cost(Struct, frozen=True):
    """Requests of one repair: of the rooms that carry it out, of its record, of statuses; and its Events."""

    repair: int
    record: int
    status: int
    events: int


def cost_of(story: Story) -> tuple[Cost, Counter[str]]:
    cluster, checkers, process = calm(1, 3)
    asked: Counter[str] = Counter()
    count: Counter[str] = Counter()

    def boundary(process: Process, where: str, effect: Effect) -> None:
        if where == "begin":
            name = type(effect.action).__name__
            asked[name] += 1
            count["record" if effect.key.room in RECORDS else "status" if name in STATUS else "repair"] += 1

    process.on_boundary.append(boundary)
    told = len(process.notices)
    story(cluster)
    cluster.agenda.run_until(cluster.agenda.now_ms + STORY_MS)
    assert [] == checkers.violations
    events = [one for one in process.notices[told:] if not one.reason.logged]
    return Cost(count["repair"], count["record"], count["status"], len(events)), asked


# What each flow costs at most. A power cycle by the printed table: ledger, claim, three live reads, three writes of the
# Machine, two of the host, deletion and restoration of the Node. None can go without giving up a guard or a proof.
FLOWS: dict[str, tuple[Story, Cost]] = {
    "a power cycle by annotation": (hung_node, Cost(repair=12, record=4, status=0, events=4)),
    "a power cycle without a node": (node_without_ref, Cost(repair=6, record=4, status=0, events=1)),
    "a request made and withdrawn": (treated_by_a_doctor, Cost(repair=5, record=4, status=3, events=4)),
    "a replacement": (
        replaced_machine,
        Cost(repair=10, record=4, status=0, events=6),
    ),  # its claim goes, too
    "a Metal3Remediation that deletes the Node": (remediated_by_node, Cost(repair=18, record=4, status=0, events=15)),
    "a Metal3Remediation that taints": (remediated_by_taint, Cost(repair=24, record=4, status=0, events=14)),
    "a Metal3Remediation that removes pods": (remediated_by_pods, Cost(repair=20, record=4, status=0, events=14)),
}


@pytest.mark.parametrize("name", FLOWS)
def test_a_repair_costs_no_more_than_this(name: str) -> None:
    """The bounds that docs/performance.md names hold, flow by flow."""
    story, most = FLOWS[name]
    cost, asked = cost_of(story)

    over = {
        field: getattr(cost, field) for field in most.__struct_fields__ if getattr(cost, field) > getattr(most, field)
    }
    assert {} == over, dict(asked)
