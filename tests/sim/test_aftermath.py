"""What follows a fault is counted: a success after it, and who took over in which step."""

from __future__ import annotations

from noderemedy.sim.aftermath import Aftermath
from noderemedy.sim.process import Process
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS

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
    """Only what came before a repair ended well counts."""
    cluster, _, process = calm(seed=4, nodes=4)
    aftermath = Aftermath(cluster, [process])
    assert {} == dict(aftermath.outlived({"hang": 0}))
    cluster.servers[SICK].hang()
    cluster.mark(SICK)
    cluster.agenda.run_until(cluster.agenda.now_ms + 10 * MINUTE_MS)

    assert {"hang": 1} == dict(aftermath.outlived({"hang": 0, "panic": cluster.agenda.now_ms}))
