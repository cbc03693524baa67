"""The simulated controllers of workload: what they do about volumes that somebody else detached."""

from __future__ import annotations

from noderemedy.sim.cluster import Cluster
from noderemedy.sim.kinds import ATTACHMENT, POD
from noderemedy.sim.objects import WORKLOAD
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


def test_nobody_starts_on_a_volume_that_is_being_detached() -> None:
    """Somebody's finalizer kept it attached to the node that the next pod came to, until it went under it (seed 32)."""
    cluster = Cluster(nodes=1, seed=1, replicas=1)
    cluster.agenda.run_until(MINUTE_MS)
    [before] = cluster.api.list(ATTACHMENT)
    at = before["metadata"]["name"]
    cluster.api.patch(ATTACHMENT, at, "", {"metadata": {"finalizers": ["example.com/keeps"]}}, "merge")
    cluster.api.delete(ATTACHMENT, at)
    cluster.api.delete(POD, "database-0", WORKLOAD)
    cluster.agenda.run_until(5 * MINUTE_MS)
    meanwhile = running(cluster)
    cluster.api.patch(ATTACHMENT, at, "", {"metadata": {"finalizers": []}}, "merge")
    cluster.agenda.run_until(7 * MINUTE_MS)

    assert ([], ["default/database-0"]) == (meanwhile, running(cluster))


def running(cluster: Cluster) -> list[str]:
    return [copy.identity for server in cluster.servers.values() for copy in server.running.values() if copy.volumes]
