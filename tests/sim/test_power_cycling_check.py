"""A health check that has sick machines power-cycled (seeds 003 and 004): the examples, in virtual time.

The check makes a Metal3Remediation from its template, the other room carries it out, and both share one reservation.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from noderemedy.model.attestation import Attestation
from noderemedy.model.ids import HEALTH_CHECK, HOST, MACHINE, NODE, REMEDIATION, Kind
from noderemedy.model.reasons import RequestUnneeded
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import Process
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.wire import names
from noderemedy.wire.attestations import attestation_text

EXAMPLES = Path(__file__).parents[2] / "examples" / "metal3-remediation"
SICK = "worker-1"
Begin = Callable[[int, int], tuple[Cluster, Checkers, Process]]  # from a seed and a number of nodes
FREEING = ("DeleteNode", "DeletePod", "DetachVolume", "TaintOutOfService")


class Story:
    """Five quiet nodes, an example applied to all of their machines, and one manager."""

    def __init__(self, example: str, folder: Path = EXAMPLES, begin: Begin = calm) -> None:
        self.cluster, self.checkers, self.process = begin(11, 5)
        self.requests: list[str] = []  # what became of them, in order
        self.phases: list[str] = []
        self.healthy: list[int] = []
        self.cluster.api.subscribe(REMEDIATION, self._request)
        self.cluster.api.subscribe(HEALTH_CHECK, self._check)
        trees = list(yaml.safe_load_all((folder / f"{example}.yaml").read_text()))
        labels = trees[-1]["spec"]["selector"]["matchLabels"]  # the check comes last, and finds its machines
        for node in self.cluster.servers:
            body = {"metadata": {"labels": labels}}
            self.cluster.api.patch(MACHINE, machine_of(node), NAMESPACE, body, "merge")
        for tree in trees:
            tree["metadata"]["namespace"] = NAMESPACE
            self.cluster.api.create(tree)
        self.run(8)  # long enough that nobody doubts what the observer saw

    def _request(self, event: WatchEvent) -> None:
        phase = event.tree.get("status", {}).get("phase", "")
        if event.type != "MODIFIED":
            self.requests.append(f"{event.type} {event.tree['metadata']['name']}")
        if phase and phase not in self.phases[-1:]:
            self.phases.append(phase)

    def _check(self, event: WatchEvent) -> None:
        found = event.tree.get("status", {}).get("currentHealthy")
        if found is not None and found not in self.healthy[-1:]:
            self.healthy.append(found)

    def run(self, minutes: float) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + round(minutes * MINUTE_MS))

    def find(self, kind: Kind, name: str) -> Tree | None:
        return self.cluster.api.find(kind, name, "" if kind == NODE else NAMESPACE)

    def attest(self, node: str) -> None:
        """A person's word that the boot which is being repaired is over."""
        evidence = self.cluster.api.get(REMEDIATION, machine_of(node), NAMESPACE)["status"]["evidence"]
        word = Attestation("anna", self.cluster.agenda.wall(), evidence["nodeUid"], evidence["bootID"])
        body = {"metadata": {"annotations": {names.ATTESTED_OFF: attestation_text(word)}}}
        self.cluster.api.patch(REMEDIATION, machine_of(node), NAMESPACE, body, "merge")

    def acted(self, action: str) -> int:
        return self.process.acted.count(action)


def test_a_hung_node_is_power_cycled_once() -> None:
    """Sick, asked for, off, freed, on, ready: the request is gone again, and so is everything that it left behind."""
    story = Story("power-cycle")
    story.cluster.servers[SICK].hang()
    story.run(40)
    story.checkers.at_rest(story.process.engine)

    name = machine_of(SICK)
    assert [] == story.checkers.violations
    assert [f"ADDED {name}", f"DELETED {name}"] == story.requests
    assert ["power-off", "freeing", "power-on", "waiting"] == story.phases
    assert 2 == story.cluster.servers[SICK].boots
    assert [5, 4, 5] == story.healthy
    unneeded = [one.reason.note() for one in story.process.notices if isinstance(one.reason, RequestUnneeded)]
    assert [f"the machine is healthy: Metal3Remediation/{NAMESPACE}/{name} is deleted"] == unneeded


def test_check_and_power_cycle_share_one_reservation() -> None:
    """Both rooms name the Machine: one write of the ledger, one claim, and nothing that waits for itself."""
    story = Story("power-cycle")
    story.cluster.servers[SICK].hang()
    story.run(40)

    assert (1, 1) == (story.acted("WriteLedger"), story.acted("ClaimRepair"))


def test_what_a_power_cycle_does_not_cure_is_told_to_the_owner() -> None:
    """Two attempts, then OwnerRemediated=False on the Machine and a mark on its host; the check leaves both alone."""
    story = Story("escalate")
    story.cluster.servers[SICK].is_broken = True
    story.cluster.servers[SICK].hang()
    story.run(40)
    machine, host = story.find(MACHINE, machine_of(SICK)), story.find(HOST, host_of(SICK))
    assert machine is not None
    assert host is not None

    once = ["power-off", "freeing", "power-on", "waiting"]
    asked = [one["status"] for one in machine["status"]["conditions"] if one["type"] == "OwnerRemediated"]
    assert [*once, *once, "deleting-machine"] == story.phases
    assert ["False"] == asked
    assert set(names.MARKS.values()) <= set(host["metadata"]["annotations"])
    assert 1 == story.acted("WriteMachineConditions"), "written once, and not fought over"


def test_power_cycles_go_on_until_the_cause_is_mended() -> None:
    """A server that does not power on is tried again after growing pauses; mended, it is back by itself."""
    story = Story("keep-trying")
    story.cluster.servers[SICK].bmc.obeys_on = False
    story.cluster.servers[SICK].hang()
    story.run(120)
    tried = story.phases.count("power-off")
    story.cluster.servers[SICK].bmc.obeys_on = True
    story.run(90)
    story.checkers.at_rest(story.process.engine)

    assert 4 <= tried
    assert [] == story.checkers.violations
    assert None is story.find(REMEDIATION, machine_of(SICK))
    assert [5, 4, 5] == story.healthy


@pytest.mark.parametrize(
    ("example", "minutes", "phase"),
    [
        ("keep-trying", 0.3, "power-off"),
        ("keep-trying", 4, "waiting"),
        ("keep-trying", 60, "waiting"),
        ("escalate", 30, "deleting-machine"),
        ("escalate", 75, "failed"),
    ],
)
def test_a_person_pulls_the_plugs_of_a_server_whose_bmc_is_dead(example: str, minutes: float, phase: str) -> None:
    """Nothing is freed however long it takes, until somebody says that it is off; then all of it, and not twice."""
    story = Story(example)
    server = story.cluster.servers[SICK]
    server.bmc.answers = False
    server.hang()
    while not story.phases:
        story.run(0.05)
    story.run(minutes)
    freed = [action for action in FREEING if story.acted(action)]
    assert [phase] == story.phases[-1:]
    server.power_off()
    story.attest(SICK)
    story.run(3)

    assert ([], []) == (freed, story.checkers.violations)
    assert [action for action in FREEING if story.acted(action)]
    request = story.find(REMEDIATION, machine_of(SICK))
    assert request is not None
    assert request["status"]["evidence"]["proof"].startswith("Attested by anna at ")

    server.bmc.answers = True
    server.power_on()
    server.booted()
    story.run(120)
    story.checkers.at_rest(story.process.engine)
    assert ([], [5, 4, 5]) == (story.checkers.violations, story.healthy)


@pytest.mark.parametrize("minutes", [0.1, 0.5, 1.5, 2.5, 3.5])
def test_a_request_that_is_deleted_in_the_middle_is_made_again(minutes: float) -> None:
    """Somebody deletes it at some moment: the host comes on, and a machine that is still sick gets another one."""
    story = Story("power-cycle")
    story.cluster.servers[SICK].hang()
    while not story.requests:
        story.run(0.05)
    story.run(minutes)
    story.cluster.recall(SICK)
    story.run(45)
    story.checkers.at_rest(story.process.engine)

    assert [] == story.checkers.violations
    assert None is story.find(REMEDIATION, machine_of(SICK))
    assert [5, 4, 5] == story.healthy
