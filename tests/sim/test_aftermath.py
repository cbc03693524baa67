"""What follows a fault is counted: a success after it, and who took over in which step."""

from __future__ import annotations

import random
from collections.abc import Callable

from noderemedy.sim.aftermath import Aftermath
from noderemedy.sim.bystanders import Bystanders
from noderemedy.sim.process import Process
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS, Troubles

SICK = "worker-1"


def test_another_leader_in_the_middle_of_a_power_cycle() -> None:
    """Its step is counted once, however often the new leader's lease lapses and is renewed."""
    cluster, _, first = calm(seed=4, nodes=4)
    second = Process("manager-2", cluster, seed=5)
    aftermath = Aftermath(cluster, [first, second])
    second.start()
    cluster.servers[SICK].hang()
    cluster.mark(SICK)
    cluster.agenda.run_until(cluster.agenda.now_ms + 1_000)
    first.kill()
    cluster.agenda.run_until(cluster.agenda.now_ms + MINUTE_MS)
    second.took_over()

    assert {"power cycle: asked for": 1, "power cycle: held": 1} == dict(aftermath.leaders)


def test_a_trouble_after_the_last_success_was_not_outlived() -> None:
    """Only what came before a repair ended well counts, and of a node only its own repair."""
    cluster, _, process = calm(seed=4, nodes=4)
    aftermath = Aftermath(cluster, [process])
    assert {} == dict(aftermath.outlived({"hang": {"": 0}}))
    cluster.servers[SICK].hang()
    cluster.mark(SICK)
    cluster.agenda.run_until(cluster.agenda.now_ms + 10 * MINUTE_MS)

    late = cluster.agenda.now_ms
    elsewhere = {"bmc_down": {"worker-2": 0}, "panic": {SICK: late, "": late}}
    assert {"hang": 1} == dict(aftermath.outlived({"hang": {"worker-2": 0, SICK: 0}, **elsewhere}))
    assert {"outage": 1} == dict(aftermath.outlived({"outage": {"": 0}}))


class Few(Troubles):
    """One trouble, whichever the test says."""

    def strike(self, trouble: Callable[[], None]) -> dict[str, set[str]]:
        """What is counted of it, and as touching whom."""
        self._kinds = [(trouble, 1)]
        self._strike(0, MINUTE_MS)
        return {name: set(nodes) for name, nodes in self.touched.items()}


def test_a_trouble_that_finds_nothing_to_do_is_none() -> None:
    """No cloud for an autoscaler, no mark to take back, and a server that hangs already; who does something counts."""
    cluster, _, process = calm(seed=4, nodes=1)
    troubles = Few(cluster, [process], 1)
    bystanders = Bystanders(cluster, [process], random.Random(1))

    assert {} == troubles.strike(bystanders.autoscaler_removes)
    assert {} == troubles.strike(troubles.person_calls_off)
    assert {"hang": {SICK}} == troubles.strike(troubles.hang)
    troubles.strike(troubles.hang)
    assert 1 == troubles.seen["hang"]


def test_whom_a_trouble_touched_is_known() -> None:
    """By its server, by what was written about it, or nobody in particular."""
    cluster, _, process = calm(seed=4, nodes=1)
    troubles = Few(cluster, [process], 1)

    assert {SICK} == troubles.strike(troubles.person_marks)["person_marks"]
    assert {SICK} == troubles.strike(troubles.host_paused)["host_paused"]
    assert {SICK} == troubles.strike(troubles.bmc_down)["bmc_down"]
    assert {""} == troubles.strike(troubles.clock_steps)["clock_steps"]
    assert {""} == troubles.strike(troubles.manager_dies)["manager_dies"]
