"""The simulated controllers of workload: what they do about volumes that somebody else detached."""

from __future__ import annotations

from noderemedy.sim.cluster import Cluster
from noderemedy.sim.kinds import ATTACHMENT, POD
from noderemedy.sim.troubles import MINUTE_MS


def test_a_volume_that_was_detached_under_its_pod_is_attached_anew() -> None:
    """The pod is bound to that node: without its volume it would never start there (seed 3018)."""
    cluster = Cluster(nodes=2, seed=1, replicas=1)
    cluster.agenda.run_until(MINUTE_MS)
    [before] = cluster.api.list(ATTACHMENT)
    cluster.api.delete(ATTACHMENT, before["metadata"]["name"])
    assert [] == cluster.api.list(ATTACHMENT)
    cluster.agenda.run_until(2 * MINUTE_MS)

    [after] = cluster.api.list(ATTACHMENT)
    [pod] = [one for one in cluster.api.list(POD) if one["metadata"]["name"] == "database-0"]
    assert before["metadata"]["uid"] != after["metadata"]["uid"]
    assert pod["spec"]["nodeName"] == after["spec"]["nodeName"]
