"""Somebody else's health checker beside us, in virtual time: it marks a Machine the moment its Node is gone.

So does OpenShift's machine-api-operator for checks with the annotation: a Machine that names a Node which is not there
is sick at once. It marks anew whenever the mark goes while the Node is away, and never takes a mark back.
"""

from __future__ import annotations

import pytest
from tests.sabotage.running import Sabotage, fails, set_to

from noderemedy.core.metal3 import cleanup, gates
from noderemedy.model.ids import HOST, MACHINE, NODE
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.cluster import host_of, machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.wire import names

SICK = "worker-1"
SECOND_MS = 1_000


class Story:
    """Five quiet nodes, one manager, and the other health checker."""

    def __init__(self) -> None:
        self.cluster, self.checkers, self.process = calm(seed=11, nodes=5)
        self.held: list[int] = []  # when the host was held off, in minutes since the first mark
        self.is_held = False
        self.since_ms = 0
        self.cluster.api.subscribe(NODE, self._look)
        self.cluster.api.subscribe(MACHINE, self._look)
        self.cluster.api.subscribe(HOST, self._host)

    def begin(self) -> None:
        self.cluster.servers[SICK].hang()
        self.run(2)
        self.since_ms = self.cluster.agenda.now_ms
        self.cluster.mark(SICK)

    def run(self, minutes: float) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + round(minutes * MINUTE_MS))

    def _look(self, event: WatchEvent) -> None:
        self.cluster.agenda.after(SECOND_MS, self._mark_if_gone)

    def _mark_if_gone(self) -> None:
        if self.cluster.api.find(NODE, SICK) is None and names.NEEDS_REMEDIATION not in self.notes():
            self.cluster.mark(SICK)

    def _host(self, event: WatchEvent) -> None:
        if event.tree["metadata"]["name"] != host_of(SICK):
            return
        is_held = names.REBOOT in (event.tree["metadata"].get("annotations") or {})
        if is_held and not self.is_held:
            self.held.append((self.cluster.agenda.now_ms - self.since_ms) // MINUTE_MS)
        self.is_held = is_held

    def notes(self) -> dict[str, str]:
        return self.cluster.api.get(MACHINE, machine_of(SICK), NAMESPACE)["metadata"].get("annotations") or {}

    def told(self) -> set[str]:
        return {type(notice.reason).__name__ for notice in self.process.notices}


def test_a_node_that_is_marked_while_it_starts_is_power_cycled_once() -> None:
    """One power cycle within an hour: the second mark waits for the node, and goes when the node is back and well."""
    story = Story()
    story.begin()
    story.run(60)
    story.checkers.at_rest(story.process.engine)

    assert [0] == story.held
    assert 2 == story.cluster.servers[SICK].boots
    assert {"StartingAnew", "MarkFulfilled"} <= story.told()
    assert {names.NEEDS_REMEDIATION, names.NODE_BACKUP, names.NODE_DELETED_AT}.isdisjoint(story.notes())
    assert [] == story.checkers.violations


def test_a_node_that_does_not_come_back_is_tried_again_after_its_time() -> None:
    """A server that does not boot is left alone for ten minutes; then the mark counts."""
    story = Story()
    story.cluster.servers[SICK].is_broken = True
    story.begin()
    story.run(9)
    early = list(story.held)
    story.run(4)

    assert [0] == early
    assert [0, 11] == story.held[:2], "a minute until the Node was deleted, and ten from then on"
    assert names.NODE_BACKUP in story.notes()


SABOTAGES = (
    Sabotage(
        "a mark counts while the node starts",
        set_to(gates, "starting_until", lambda view, now: None),
        (
            test_a_node_that_is_marked_while_it_starts_is_power_cycled_once,
            test_a_node_that_does_not_come_back_is_tried_again_after_its_time,
        ),
    ),
    Sabotage(
        "a mark outlives the return of the node",
        set_to(cleanup, "fulfilled", lambda view, now: None),
        (test_a_node_that_is_marked_while_it_starts_is_power_cycled_once,),
    ),
)


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name.replace(" ", "-"))
def test_each_sabotage_is_seen(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under one line of harm the story fails."""
    sabotage.harm(monkeypatch)

    assert [] == [test.__name__ for test in sabotage.tests if not fails(test, monkeypatch)]
