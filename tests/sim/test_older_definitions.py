"""A definition that lacks fields of ours: the API would forget what a repair records, so none begins, and one that is
on its way ends without freeing anything, until the definition is renewed.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable

from tests.sim.test_bad_input import BAD, Story
from tests.sim.test_wires import Crossed

from noderemedy.model.ids import NODE_FENCE, REMEDIATION, Kind
from noderemedy.model.reasons import RecordNotKept
from noderemedy.sim.apiserver import ApiServer, Tree
from noderemedy.sim.cluster import machine_of
from noderemedy.sim.definitions import definition_of
from noderemedy.sim.fencecrash import stage
from noderemedy.sim.kinds import CUSTOM_RESOURCE
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import Process
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.wires import Wires

LATER = ("attestedAhead", "bootReadAt", "contradictedAt")  # fields that an older definition of ours lacks
CAPM3 = ("phase", "retryCount", "lastRemediated")  # all that CAPM3's has


def status_of(definition: Tree) -> Tree:
    found: Tree = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
    return found


def without(kind: Kind, fields: Iterable[str]) -> Tree:
    """Our definition before these fields of its status, or of its evidence, were added."""
    definition = copy.deepcopy(definition_of(kind))
    status = status_of(definition)
    for field in fields:
        status.pop(field, None)
        status["evidence"]["properties"].pop(field, None)
    return definition


def as_capm3_has_it() -> Tree:
    definition = copy.deepcopy(definition_of(REMEDIATION))
    status = status_of(definition)
    for field in [one for one in status if one not in CAPM3]:
        del status[field]
    return definition


def apply(api: ApiServer, definition: Tree) -> None:
    """As `kubectl apply` does: the objects of the kind stay."""
    body = {"spec": {"versions": definition["spec"]["versions"]}}
    api.patch(CUSTOM_RESOURCE, definition["metadata"]["name"], "", body, "merge")


def told(process: Process) -> list[RecordNotKept]:
    return [one.reason for one in process.notices if isinstance(one.reason, RecordNotKept)]


def writes(process: Process, what: str, since: int = 0) -> Counter[str]:
    found = [request for at, request in process.writes if at >= since and what in request.path]
    return Counter(f"{request.method} {request.path.rsplit('/', 1)[-1]}" for request in found)


def sick_with_a_request(definition: Tree) -> Story:
    story = Story()
    apply(story.api, definition)
    story.run(1)
    story.label(BAD)
    story.cluster.servers[BAD].hang()
    story.cluster.remediate(BAD)
    story.run(40)
    return story


def test_what_capm3s_status_would_forget_is_not_begun() -> None:
    """The definition has three fields of the status: no host goes off, nothing loops, and the command is told."""
    story = sick_with_a_request(as_capm3_has_it())
    request = story.api.get(REMEDIATION, machine_of(BAD), NAMESPACE)

    assert (1, {}) == (story.boots(BAD), dict(story.process.freed_by))
    assert "status" not in request
    assert Counter() == writes(story.process, "metal3remediations")
    (reason,) = told(story.process)
    assert "status.evidence" in reason.note()
    assert "deploy/crds/foreign/metal3remediations.remediation.metal3.io.yaml" in reason.note()
    assert [] == story.checkers.violations


def test_a_definition_that_is_renewed_lets_it_begin() -> None:
    """Nobody has to start anything again: the node is back soon after the definition was applied."""
    story = sick_with_a_request(without(REMEDIATION, LATER))
    assert 1 == story.boots(BAD)
    apply(story.api, definition_of(REMEDIATION))
    story.run(20)

    assert 2 == story.boots(BAD)
    assert "Succeeded" in str(story.api.get(REMEDIATION, machine_of(BAD), NAMESPACE)["status"]["conditions"])
    assert [] == story.checkers.violations


class Mixed:
    """Two hosts have each other's BMC, and one of them is power cycled by a Metal3Remediation."""

    def __init__(self, *later: str) -> None:
        self.cluster, self.checkers, self.process = calm(seed=3, nodes=6)
        apply(self.cluster.api, without(REMEDIATION, later))
        self.wait(1)
        chance = Crossed(1)
        chance.way = 2
        Wires(self.cluster, chance).bmc_shared()
        self.offs = 0
        self.had_power = True
        self.cluster.servers["worker-2"].on_change.append(self._note)

    def _note(self, server: object) -> None:
        has_power = self.cluster.servers["worker-2"].has_power
        self.offs += self.had_power and not has_power
        self.had_power = has_power

    def wait(self, minutes: float) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + round(minutes * MINUTE_MS))

    @property
    def status(self) -> Tree:
        request = self.cluster.api.get(REMEDIATION, machine_of("worker-1"), NAMESPACE)
        found: Tree = request.get("status", {})
        return found

    def falls_silent_in_the_second_attempt(self) -> None:
        """If there is one: the healthy server goes off once more, and the node that was found elsewhere hangs."""
        server = self.cluster.servers["worker-1"]
        for _ in range(37 * 6):
            self.wait(1 / 6)
            if server.is_heard and self.status.get("retryCount", 0) >= 1 and self.status.get("phase") == "power-off":
                server.is_spared = False
                server.hang()


def test_a_host_that_was_found_wrong_is_not_forgotten() -> None:
    """The definition lacks the fields that tell: nothing goes off, and nothing of the node that writes is freed."""
    scene = Mixed(*LATER)
    scene.falls_silent_in_the_second_attempt()

    assert (0, {}, []) == (scene.offs, dict(scene.process.freed_by), scene.checkers.violations)
    assert told(scene.process)


def test_one_that_is_on_its_way_ends_and_frees_nothing() -> None:
    """Somebody applies an older definition in the middle: the host is released, and no attempt follows."""
    story = Story()
    story.label(BAD)
    story.cluster.servers[BAD].hang()
    story.cluster.remediate(BAD)
    story.until(lambda: not story.cluster.servers[BAD].has_power)
    before, freed = story.cluster.agenda.now_ms, dict(story.process.freed_by)
    apply(story.api, without(REMEDIATION, LATER))
    story.run(60)

    assert freed == dict(story.process.freed_by) == {}
    assert story.cluster.servers[BAD].has_power
    assert 2 == story.boots(BAD)
    assert Counter() == writes(story.process, "metal3remediations", before + 5_000)
    assert [] == story.checkers.violations


def test_a_fence_of_an_older_definition_does_not_begin() -> None:
    """What a run did would not be remembered: nothing is switched until the definition is renewed."""
    cluster, checkers, process = stage("check", 1, 5)
    definition = copy.deepcopy(definition_of(NODE_FENCE))
    del status_of(definition)["jobs"]["items"]["properties"]["wasOn"]
    apply(cluster.api, definition)
    cluster.servers[BAD].hang()
    cluster.agenda.run_until(cluster.agenda.now_ms + 30 * MINUTE_MS)

    assert (1, {}, []) == (cluster.servers[BAD].boots, dict(process.freed_by), checkers.violations)
    assert {"status.jobs[].wasOn"} == {reason.lacks for reason in told(process)}
    apply(cluster.api, definition_of(NODE_FENCE))
    cluster.agenda.run_until(cluster.agenda.now_ms + 30 * MINUTE_MS)
    assert (2, []) == (cluster.servers[BAD].boots, checkers.violations)
