"""Bad input and faults of issue "health checks", one story each: it is told where it is, and the others go on.

In every story something is wrong about one check or one machine while another node hangs: that one is repaired as if
nothing else had happened. What the readers say about every field is in `tests/wire/test_healthchecks.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from noderemedy.model.ids import HEALTH_CHECK, MACHINE, NODE
from noderemedy.sim import objects
from noderemedy.sim.apiserver import ApiError, User
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.lifecycle import is_out_of_service
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import MANAGER, Process
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.weather import CALM, Stream
from noderemedy.wire import names

BAD, GOOD = "worker-1", "worker-2"


class Story:
    """Eight nodes under one check; whatever is wrong is wrong about the first, or about another check."""

    def __init__(self) -> None:
        self.cluster: Cluster
        self.checkers: Checkers
        self.process: Process
        self.cluster, self.checkers, self.process = calm(seed=4, nodes=8)
        self.api = self.cluster.api
        self.api.create(objects.marking_check("all", "100%", self.cluster.durations))
        self.run(1)

    def run(self, minutes: float) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + round(minutes * MINUTE_MS))

    def second_check(self, **spec: Any) -> None:
        """Another check, over one machine of its own, that asks for repair in its own way."""
        self.label(BAD)
        check = objects.health_check("second", "100%")
        del check["spec"]["maxUnhealthy"]
        check["spec"] |= {"selector": {"matchLabels": {"lane": "second"}}, **spec}
        for criterion in check["spec"]["unhealthyConditions"]:
            criterion["timeout"] = "1s"
        self.api.create(check)

    def label(self, node: str) -> None:
        """Out of the first check's hands, and into the second's."""
        body = {"metadata": {"labels": {"lane": "second", names.CLUSTER_NAME: "elsewhere"}}}
        self.api.patch(MACHINE, machine_of(node), NAMESPACE, body, "merge")

    def told(self, about: str) -> list[str]:
        """All that was said about this object, in words."""
        found = [one for one in self.process.notices if about in str(one.ref)]
        return [f"{type(one.reason).__name__}: {one.reason.note()}" for one in found]

    def boots(self, node: str) -> int:
        return self.cluster.servers[node].boots


def selects_nobody(story: Story) -> None:
    story.second_check()
    body = {"metadata": {"labels": {"lane": None, names.CLUSTER_NAME: "lab"}}}
    story.api.patch(MACHINE, machine_of(BAD), NAMESPACE, body, "merge")


def selects_everybody(story: Story) -> None:
    story.run(1)
    story.api.create(objects.marking_check("younger", "100%", story.cluster.durations))


def broken_range(story: Story) -> None:
    story.second_check()
    story.api.patch(HEALTH_CHECK, "second", NAMESPACE, {"spec": {"unhealthyRange": "[5-3]"}}, "merge")
    story.cluster.servers[BAD].hang()


def template_of_a_missing_kind(story: Story) -> None:
    story.second_check(
        externalRemediationTemplate={"apiVersion": "example.com/v1", "kind": "NurseTemplate", "name": "night"}
    )
    story.cluster.servers[BAD].hang()


def machine_deleted(story: Story) -> None:
    story.cluster.servers[BAD].hang()
    story.cluster.mark(BAD)
    story.run(0.1)
    story.cluster.delete_machine(BAD)


def node_recreated(story: Story) -> None:
    story.api.delete(NODE, BAD)
    story.cluster.kubelets.by_node[BAD].start()
    story.checkers.violations.clear()  # a person did that, not we


def gone_in_every_watch(story: Story) -> None:
    story.process.weather = structs.replace(CALM, streams=((Stream.GONE, 0.9),))
    story.process.calm_watches()


def one_verb_forbidden(story: Story) -> None:
    def refuse(verb: str, resource: Any, old: Any, new: Any, user: User) -> None:
        if verb == "delete" and user == MANAGER and old["metadata"]["name"] == BAD:
            raise ApiError(403, "Forbidden", f'nodes "{BAD}" is forbidden: cannot delete resource "nodes"')

    story.api.hooks.append(refuse)
    story.cluster.servers[BAD].hang()


# What is wrong, about which object, and words of what is told there ("" where there is nothing to tell).
CASES: dict[Callable[[Story], None], tuple[str, str]] = {
    selects_nobody: ("second", ""),
    selects_everybody: ("younger", "ChecksOverlap: "),
    broken_range: ("second", "spec.unhealthyRange: '[5-3]' cannot be read; write two numbers"),
    template_of_a_missing_kind: (machine_of(BAD), "NurseTemplate.example.com"),
    machine_deleted: (machine_of(BAD), ""),
    node_recreated: (machine_of(BAD), ""),
    gone_in_every_watch: (machine_of(BAD), ""),
    one_verb_forbidden: (machine_of(BAD), "ActionRefused: DeleteNode"),
}


@pytest.mark.parametrize("wrong", CASES, ids=lambda wrong: wrong.__name__)
def test_it_is_told_and_nobody_else_is_disturbed(wrong: Callable[[Story], None]) -> None:
    """The message is on the object, the other hung node is power cycled and back, and no invariant is broken."""
    story = Story()
    wrong(story)
    about, words = CASES[wrong]
    story.cluster.servers[GOOD].hang()
    story.run(25)

    assert words == "" or any(words in line for line in story.told(about)), story.told(about)
    assert 2 == story.boots(GOOD)
    assert [] == [line for line in story.checkers.violations if "P1" in line or "S1" in line]


def test_a_check_of_nobody_counts_nobody() -> None:
    """Its status says so: no machine is expected, and it repairs none."""
    story = Story()
    selects_nobody(story)
    story.run(5)

    status = story.api.get(HEALTH_CHECK, "second", NAMESPACE)["status"]
    assert (0, 0) == (status["expectedMachines"], status["currentHealthy"])


def test_a_new_node_of_the_old_name_is_not_repaired_for_the_old_one() -> None:
    """Nothing that was decided about the former Node is done to its successor."""
    story = Story()
    before = story.api.get(NODE, BAD)["metadata"]["uid"]
    node_recreated(story)
    story.run(25)

    assert before != story.api.get(NODE, BAD)["metadata"]["uid"]
    assert 1 == story.boots(BAD)
    assert [] == story.checkers.violations


def test_a_taint_of_a_former_machine_goes() -> None:
    """The Machine is made anew while its node is out of service: back and ready, the node takes pods again (S13)."""
    story = Story()
    story.api.delete(HEALTH_CHECK, "all", NAMESPACE)
    story.cluster.servers[BAD].hang()
    story.cluster.remediate(BAD, freeBy="taint")
    while not is_out_of_service(story.api.get(NODE, BAD)):
        story.run(0.05)
    story.cluster.delete_machine(BAD)
    story.cluster.create_machine(BAD)
    story.run(40)

    assert 2 == story.boots(BAD)
    assert not is_out_of_service(story.api.get(NODE, BAD))


def test_somebody_who_is_disturbed_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: a manager that stops at the first refusal repairs nobody else."""
    story = Story()
    one_verb_forbidden(story)
    end = Process._end

    def stops(self: Process, effect: Any, result: Any) -> None:
        if getattr(result, "lasting", False):
            self.kill()
        else:
            end(self, effect, result)

    monkeypatch.setattr(Process, "_end", stops)
    story.run(10)
    story.cluster.servers[GOOD].hang()
    story.run(15)

    assert 1 == story.boots(GOOD)
