"""Nothing is begun that a check, a Machine or a Cluster forbids, and whoever does is seen: checkers of S4 and S8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.sabotage.running import Harm, set_to, together

from noderemedy.core.healthcheck import remediation, remediationgates, selector, verdicts
from noderemedy.model.ids import HEALTH_CHECK, HOST, MACHINE
from noderemedy.sim import objects
from noderemedy.sim.budgeting import Budgeting
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.permitting import Permitting
from noderemedy.sim.process import Process
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.wire import names

SICK = "worker-2"
Story = Callable[[], Checkers]


def told(*sick: str, limit: str = "40%", check: str = "", machine: str = "", cluster: bool = False) -> Checkers:
    """A check with this limit, an annotation on it or on the first Machine; later these hang, one after the other."""
    world = Cluster(nodes=10, seed=5, replicas=2, tracks_fields=False)
    if cluster:
        world.api.create(objects.cluster_definition())
        world.api.create({**objects.cluster("lab"), "spec": {"paused": True}})
    checkers = Checkers(world)
    process = Process("manager-1", world, seed=5)
    world.api.create(objects.marking_check("all", limit, world.durations))
    Permitting(Budgeting(checkers), [process])
    for kind, name, key in ((HEALTH_CHECK, "all", check), (MACHINE, machine_of((*sick, SICK)[0]), machine)):
        body = {"metadata": {"annotations": {key: "observe" if key == names.MODE else "true"}}}
        if key:
            world.api.patch(kind, name, NAMESPACE, body, "merge")
    process.start()
    world.agenda.run_until(10 * MINUTE_MS)
    for name in sick or (SICK,):
        world.servers[name].hang()
        world.agenda.run_until(world.agenda.now_ms + 6 * MINUTE_MS)
    world.agenda.run_until(world.agenda.now_ms + 12 * MINUTE_MS)
    return checkers


def a_check_that_observes() -> Checkers:
    return told(check=names.MODE)


def a_paused_check() -> Checkers:
    return told(check=names.PAUSED)


def a_check_that_moves() -> Checkers:
    return told(check=names.CLUSTER_PAUSED)


def a_paused_machine() -> Checkers:
    return told(machine=names.PAUSED)


def a_skipped_machine() -> Checkers:
    return told(machine=names.SKIP_REMEDIATION)


def a_paused_cluster() -> Checkers:
    return told(cluster=True)


def too_many_for_their_check() -> Checkers:
    """One that nobody may repair stays sick, and that is all that the check bears."""
    return told("worker-1", SICK, limit="10%", machine=names.PAUSED)


def without(*gates: Any) -> Harm:
    kept = tuple(one for one in remediationgates.BEFORE_BUDGET if one not in gates)
    return set_to(remediation, "BEFORE_BUDGET", kept)


EVERYBODY_IS_A_TARGET = together(
    *(set_to(module, "is_target", selector.selects) for module in (selector, verdicts)),
    without(remediationgates.machine_is_not_skipped),
)


# what the checker says -> the story, and the harm under which it says so
SABOTAGES: dict[str, tuple[Story, Harm]] = {
    "S8: MarkMachine for machine-worker-2, and its check only observes": (
        a_check_that_observes,
        without(remediationgates.check_may_act),
    ),
    "S8: MarkMachine for machine-worker-2, and its check is paused": (
        a_paused_check,
        without(remediationgates.nobody_paused_it),
    ),
    "S8: MarkMachine for machine-worker-2, and its check is paused ": (
        a_check_that_moves,
        without(remediationgates.cluster_is_not_paused),
    ),
    "S8: MarkMachine for machine-worker-2, and a person paused it": (
        a_paused_machine,
        without(remediationgates.nobody_paused_it),
    ),
    "S8: MarkMachine for machine-worker-2, which is not to be remediated": (a_skipped_machine, EVERYBODY_IS_A_TARGET),
    "S8: MarkMachine for machine-worker-2, and its Cluster is paused": (
        a_paused_cluster,
        without(remediationgates.cluster_is_not_paused),
    ),
    "S4: MarkMachine for machine-worker-2, and too many targets of its check are sick": (
        too_many_for_their_check,
        without(remediationgates.limit_is_kept),
    ),
}


@pytest.mark.parametrize("words", SABOTAGES)
def test_what_is_forbidden_is_seen(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is begun and nobody complains; without the gate the checker says so."""
    story, harm = SABOTAGES[words]
    calm = story()
    assert [] == calm.violations
    assert names.REBOOT not in (calm.cluster.api.get(HOST, host_of(SICK), NAMESPACE)["metadata"].get("annotations", {}))
    harm(monkeypatch)

    assert any(f"ms: {words.strip()}" in line for line in story().violations)
