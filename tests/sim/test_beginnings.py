"""What begins a repair, and what only looks like it."""

from __future__ import annotations

import pytest

from noderemedy.model.actions import Guard, WriteMachineConditions
from noderemedy.model.ids import MACHINE, ref
from noderemedy.model.machineconditions import Graded
from noderemedy.sim.beginnings import begun
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.run import simulate

NAME = machine_of("worker-1")
WORD, OTHER = Graded("OwnerRemediated", "False"), Graded("HealthCheckSucceeded", "False")


@pytest.mark.parametrize(
    ("word", "is_asked", "is_fresh", "expected"),
    [(WORD, False, True, NAME), (OTHER, False, True, ""), (WORD, True, True, ""), (WORD, False, False, "")],
    ids=["asks", "tells", "says again", "by an old version"],
)
def test_a_word_to_the_owner_begins_a_repair(word: Graded, is_asked: bool, is_fresh: bool, expected: str) -> None:
    """Once; one that goes with a version that is no more begins nothing, for it is refused (seed 352, S3)."""
    cluster = Cluster(nodes=2, seed=1)
    at = (MACHINE, NAME, NAMESPACE)
    found = cluster.api.get(*at)["metadata"]
    if is_asked:
        told = [{"type": word.type, "status": word.status}]
        cluster.api.patch(*at, {"status": {"conditions": told}}, "merge", subresource="status")
    elif not is_fresh:
        cluster.api.patch(*at, {"metadata": {"labels": {"touched": ""}}}, "merge")
    version = found["resourceVersion"] if not is_fresh else cluster.api.get(*at)["metadata"]["resourceVersion"]
    action = WriteMachineConditions(ref(MACHINE, NAME, NAMESPACE), Guard(found["uid"], version), None, (word,))

    assert expected == begun(action, cluster)


@pytest.mark.soak
def test_a_word_that_was_taken_back_meanwhile_is_not_said_again() -> None:
    """Two rooms wrote to one Machine within 20 ms, and the second one was refused (seed 352)."""
    assert () == simulate(352, nodes=50, hours=6.0).violations
