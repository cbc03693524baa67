"""A health check that has nodes fenced (seeds 002 and 004): the example, in virtual time, with hosts as devices.

The check makes a FenceRemediation from its template, that one makes a NodeFence, and the NodeFence powers the node's
BareMetalHost off, frees what ran on it and brings it back; all share one reservation.
"""

from __future__ import annotations

from pathlib import Path

import yaml
from tests.sim.test_power_cycling_check import Begin

from noderemedy.model.ids import FENCE_REMEDIATION, MACHINE, NODE, NODE_FENCE, SYSTEM
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.cluster import machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS

EXAMPLE = Path(__file__).parents[2] / "examples" / "fence-remediation" / "fence.yaml"
SICK = "worker-1"
PROPERTIES = "node_name={}\nisolation=mark-unschedulable\npower_management=host-power\nrecovery=mark-schedulable\n"


class Story:
    """Five quiet nodes, the example applied to all of their machines, a fence configuration each, and one manager."""

    def __init__(self, example: Path = EXAMPLE, begin: Begin = calm) -> None:
        self.cluster, self.checkers, self.process = begin(11, 5)
        self.requests: list[str] = []
        self.states: list[str] = []
        api = self.cluster.api
        api.subscribe(FENCE_REMEDIATION, self._request)
        api.subscribe(NODE_FENCE, self._fence)
        template, check = yaml.safe_load_all(example.read_text())
        for tree in (template, check):
            tree["metadata"]["namespace"] = NAMESPACE
            api.create(tree)
        for node in self.cluster.servers:
            body = {"metadata": {"labels": check["spec"]["selector"]["matchLabels"]}}
            api.patch(MACHINE, machine_of(node), NAMESPACE, body, "merge")
            data = {"config.properties": PROPERTIES.format(node)}
            meta = {"name": f"fence-config-{node}", "namespace": SYSTEM}
            api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data})
        self.run(8)

    def _request(self, event: WatchEvent) -> None:
        if event.type != "MODIFIED":
            self.requests.append(f"{event.type} {event.tree['metadata']['name']}")

    def _fence(self, event: WatchEvent) -> None:
        state = event.tree.get("status", {}).get("state", "")
        if state and state not in self.states[-1:]:
            self.states.append(state)

    def run(self, minutes: float) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + round(minutes * MINUTE_MS))


def test_a_hung_node_is_fenced_because_its_check_noticed() -> None:
    """Sick, asked for, fenced, freed on proof, back: the request is gone, and nothing of ours is left on the node."""
    story = Story()
    story.cluster.servers[SICK].hang()
    story.run(40)
    story.checkers.at_rest(story.process.engine)
    name = machine_of(SICK)
    node = story.cluster.api.get(NODE, SICK)

    assert [] == story.checkers.violations
    assert [f"ADDED {name}", f"DELETED {name}"] == story.requests
    assert "running" in story.states
    assert 2 == story.cluster.servers[SICK].boots
    assert (False, []) == (node["spec"].get("unschedulable", False), node["spec"].get("taints", []))
    assert 1 == story.process.acted.count("HoldHost") == story.process.acted.count("ReleaseHost")


def test_check_request_and_fence_share_one_reservation() -> None:
    """All rooms name the Machine: one write of the ledger, one claim."""
    story = Story()
    story.cluster.servers[SICK].hang()
    story.run(40)

    assert (1, 1) == (story.process.acted.count("WriteLedger"), story.process.acted.count("ClaimRepair"))


def test_what_fencing_does_not_cure_is_told_to_the_owner() -> None:
    """A server that does not come back: after its restart the owner of the Machine is asked to replace it."""
    story = Story()
    story.cluster.servers[SICK].is_broken = True
    story.cluster.servers[SICK].hang()
    story.run(60)
    machine = story.cluster.api.get(MACHINE, machine_of(SICK), NAMESPACE)
    asked = [one["status"] for one in machine["status"]["conditions"] if one["type"] == "OwnerRemediated"]

    assert (["False"], []) == (asked, story.checkers.violations)
