"""What a repair costs the API, counted in virtual time: every read and write of a manager, by flow.

A single repair in a quiet cluster is the dearest: where many begin together, ledger and statuses are shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from msgspec import Struct

from noderemedy.model.actions import Confirm
from noderemedy.model.ids import BUDGET, INCIDENT
from noderemedy.model.outcome import Effect
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.crash import (
    STORY_MS,
    Story,
    hung_node,
    node_without_ref,
    remediated_by_node,
    remediated_by_pods,
    remediated_by_taint,
    replaced_machine,
)
from noderemedy.sim.doctor import Doctor
from noderemedy.sim.process import Process
from noderemedy.sim.run import calm
from noderemedy.sim.ward import Ward

RECORDS = ("incident", "incident-pods", "incident-shelf")
STATUS = ("PublishCheckStatus", "PublishBudgetStatus")
SETTLES_MS = 60_000
QUIET_MS = 660_000  # figures for their own sake are written this far apart
A_BUDGET = {"apiVersion": "node-remedy.dev/v1alpha1", "kind": BUDGET.kind, "metadata": {"name": "cluster"}}
Scene = Callable[[Cluster], None]  # what there is before it begins, and costs nothing


class Cost(Struct, frozen=True):
    """Requests of one repair: of the rooms that carry it out, of its record, of statuses; and its Events."""

    repair: int
    record: int
    status: int
    events: int


def in_all(cost: Cost) -> int:
    return cost.repair + cost.record + cost.status + cost.events


def cost_of(scene: Scene, story: Story) -> tuple[Cost, tuple[str, ...]]:
    """What a story costs a small cluster, and what is asked for one after the other."""
    cluster, checkers, process = calm(1, 3)
    scene(cluster)
    return counted(cluster, checkers, process, story)


def counted(
    cluster: Cluster, checkers: Checkers, process: Process, story: Callable[[Cluster], None]
) -> tuple[Cost, tuple[str, ...]]:
    """From its first moment on, until its record is closed and long after."""
    asked: list[str] = []
    count: Counter[str] = Counter()

    def boundary(process: Process, where: str, effect: Effect) -> None:
        if where == "begin":
            name = type(effect.action).__name__
            what = f" {effect.action.ref.kind.kind}" if isinstance(effect.action, Confirm) else ""
            asked.append(f"{effect.key.room} {name}{what}")
            count["record" if effect.key.room in RECORDS else "status" if name in STATUS else "repair"] += 1

    process.on_boundary.append(boundary)
    told = len(process.notices)
    story(cluster)
    cluster.agenda.run_until(cluster.agenda.now_ms + STORY_MS)
    assert [] == checkers.violations
    assert [] == [tree for tree in cluster.api.list(INCIDENT) if "outcome" not in tree.get("status", {})]
    events = [one for one in process.notices[told:] if not one.reason.logged]
    return Cost(count["repair"], count["record"], count["status"], len(events)), tuple(asked)


def nothing(cluster: Cluster) -> None:
    """The cluster as it is."""


def a_ward(cluster: Cluster) -> None:
    """A check with a template, its machines, and the controller that answers requests; its status was told."""
    Doctor(Ward(cluster, 1), seed=1)
    cluster.agenda.run_until(cluster.agenda.now_ms + SETTLES_MS)


def a_ward_with_a_budget(cluster: Cluster) -> None:
    """And an object that tells what the budget counts; nobody has written its figures for a while."""
    cluster.api.create(A_BUDGET)
    a_ward(cluster)
    cluster.agenda.run_until(cluster.agenda.now_ms + QUIET_MS)


def falls_ill(cluster: Cluster) -> None:
    """The machine of the ward panics."""
    cluster.servers["worker-3"].panic()


# What each flow costs at most. A power cycle by the printed table: ledger, claim, three live reads, three writes of the
# Machine, two of the host, deletion and restoration of the Node. None can go without giving up a guard or a proof.
FLOWS: dict[str, tuple[Scene, Story, Cost]] = {
    "a power cycle by annotation": (nothing, hung_node, Cost(repair=12, record=4, status=0, events=3)),
    "a power cycle without a node": (nothing, node_without_ref, Cost(repair=6, record=3, status=0, events=1)),
    "a request made and withdrawn": (a_ward, falls_ill, Cost(repair=5, record=4, status=2, events=1)),
    "a request made and withdrawn, with a RemediationBudget": (
        a_ward_with_a_budget,
        falls_ill,
        Cost(repair=5, record=4, status=5, events=1),
    ),
    "a replacement": (nothing, replaced_machine, Cost(repair=10, record=3, status=0, events=3)),  # its claim goes, too
    "a Metal3Remediation that deletes the Node": (
        nothing,
        remediated_by_node,
        Cost(repair=17, record=4, status=0, events=6),
    ),
    "a Metal3Remediation that taints": (nothing, remediated_by_taint, Cost(repair=21, record=4, status=0, events=5)),
    "a Metal3Remediation that removes pods": (
        nothing,
        remediated_by_pods,
        Cost(repair=19, record=4, status=0, events=5),
    ),
}


@pytest.mark.parametrize("name", FLOWS)
def test_a_repair_costs_no_more_than_this(name: str) -> None:
    """The bounds that docs/performance.md names hold, flow by flow, and none is too high."""
    scene, story, most = FLOWS[name]
    cost, asked = cost_of(scene, story)

    assert most == cost, Counter(asked)


# A machine that a check has treated, alone, with five minutes of timeout, in the order in which it is asked for.
ALONE = (
    "status PublishCheckStatus",  # one machine is not healthy: told when its node is silent
    "incident OpenIncident",  # half a minute after that sign
    "remediation Confirm DoctorTemplate",  # the timeout is over: both reads are made while the ledger is written
    "remediation Confirm Node",
    "budget WriteLedger",
    "remediation CreateRequest",
    "incident-pods ListPods",
    "incident WriteIncident",  # what was decided and made: before the request may go
    "remediation DeleteRequest",  # it is well
    "status PublishCheckStatus",
    "incident WriteIncident",  # closed
)


def test_a_repair_by_request_that_comes_alone_is_twelve_requests() -> None:
    """Record, statuses and its one Event included; fifteen where a RemediationBudget publishes its figures."""
    cost, asked = cost_of(a_ward, falls_ill)
    with_budget = FLOWS["a request made and withdrawn, with a RemediationBudget"][2]

    assert ALONE == asked
    assert (12, 15) == (in_all(cost), in_all(with_budget))


def test_ten_repairs_by_request_at_one_moment_share_the_ledger_and_little_else() -> None:
    """They get well one after the other: of the status of their check only the first write is everybody's.

    A real manager reads the template once for all ten (`manager/effects.py`), here each of them does.
    """
    cluster, checkers, process = calm(1, 30)
    ward = Ward(cluster, 10)
    Doctor(ward, seed=1)
    cluster.api.create({**A_BUDGET, "spec": {"maxInFlight": 10}})
    cluster.agenda.run_until(cluster.agenda.now_ms + SETTLES_MS)

    def story(cluster: Cluster) -> None:
        for name in ward.nodes:
            cluster.servers[name].panic()

    cost, asked = counted(cluster, checkers, process, story)

    assert Cost(repair=42, record=40, status=23, events=10) == cost, Counter(asked)
    assert (2, 10) == (asked.count("budget WriteLedger"), asked.count("remediation Confirm DoctorTemplate"))
