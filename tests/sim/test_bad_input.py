"""Bad input and faults of issue "health checks", one story each: it is told where it is, and the others go on.

In every story something is wrong about one check or one machine while another node hangs: that one is repaired as if
nothing else had happened. What the readers say about every field is in `tests/wire/test_healthchecks.py`. The
rules of our definitions refuse most of it before it is stored (`tests/e2e`); those of others, and older ones, do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from noderemedy.model.ids import HEALTH_CHECK, HOST, MACHINE, NODE, REMEDIATION
from noderemedy.model.time import Span
from noderemedy.sim import objects
from noderemedy.sim.apiserver import ApiError, ApiServer, User
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.conduct import Conduct
from noderemedy.sim.lifecycle import is_out_of_service
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import MANAGER, Process
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.weather import CALM, Fate, Stream
from noderemedy.wire import names
from noderemedy.wire.http import Answer, Request

BAD, GOOD = "worker-1", "worker-2"
TEMPLATE = {"apiVersion": "remediation.metal3.io/v1alpha1", "kind": "Metal3RemediationTemplate", "name": "reboot"}


class Story:
    """Eight nodes under one check; whatever is wrong is wrong about the first, or about another check."""

    def __init__(self) -> None:
        self.cluster: Cluster
        self.checkers: Checkers
        self.process: Process
        self.cluster, self.checkers, self.process = calm(seed=4, nodes=8)
        Conduct(self.checkers, [self.process])
        self.api = self.cluster.api
        self.api.create(objects.marking_check("all", "100%", self.cluster.durations))
        self.run(1)

    def run(self, minutes: float) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + round(minutes * MINUTE_MS))

    def until(self, is_so: Callable[[], bool]) -> None:
        """Go on until something is so; it has ten minutes."""
        end = self.cluster.agenda.now_ms + 10 * MINUTE_MS
        while not is_so():
            assert self.cluster.agenda.now_ms < end, "that never came"
            self.run(0.02)

    def second_check(self, **spec: Any) -> None:
        """Another check, over one machine of its own, that asks for repair in its own way."""
        self.label(BAD)
        check = objects.health_check("second", "100%")
        del check["spec"]["maxUnhealthy"]
        check["spec"] |= {"selector": {"matchLabels": {"lane": "second"}}, **spec}
        for criterion in check["spec"]["unhealthyConditions"]:
            criterion["timeout"] = "1s"
        self.api.create(check)

    def asking(self) -> None:
        """The second check has just asked the owner of its machine for a repair."""
        self.second_check()
        self.cluster.servers[BAD].hang()
        self.until(lambda: "OwnerRemediated" in str(self.cluster.machines(BAD)[0]["status"].get("conditions")))

    def marking(self) -> None:
        """Another check, over one machine of its own, has just had that one marked: its power cycle begins."""
        self.label(BAD)
        check = objects.marking_check("second", None, self.cluster.durations)
        check["spec"]["selector"] = {"matchLabels": {"lane": "second"}}
        self.api.create(check)
        self.cluster.servers[BAD].hang()
        self.until(lambda: names.NEEDS_REMEDIATION in self.cluster.machines(BAD)[0]["metadata"]["annotations"])

    def edit(self, **spec: Any) -> None:
        """Somebody edits the second check."""
        self.api.patch(HEALTH_CHECK, "second", NAMESPACE, {"spec": spec}, "merge")

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


def selects_whatever_there_is(story: Story) -> None:
    check = objects.marking_check("younger", "100%", story.cluster.durations)
    check["spec"]["selector"] = {}
    story.api.create(check)


def broken_range(story: Story) -> None:
    story.second_check()
    story.edit(unhealthyRange="[5-3]")
    story.cluster.servers[BAD].hang()


def percent_out_of_range(story: Story) -> None:
    story.second_check()
    story.edit(maxUnhealthy="150%")
    story.cluster.servers[BAD].hang()


def duration_garbage(story: Story) -> None:
    story.second_check()
    story.edit(unhealthyConditions=[{"type": "Ready", "status": "Unknown", "timeout": "soon"}])
    story.cluster.servers[BAD].hang()


def startup_timeout_garbage(story: Story) -> None:
    story.second_check()
    story.edit(nodeStartupTimeout="soon")
    story.cluster.servers[BAD].hang()


def older_of_two_is_broken(story: Story) -> None:
    """The one that only observes gets a mistake; a younger one would power cycle the same machine."""
    story.second_check(unhealthyRange="[5-3]")
    story.api.patch(HEALTH_CHECK, "second", NAMESPACE, {"metadata": {"annotations": {names.MODE: "observe"}}}, "merge")
    story.run(0.1)
    younger = objects.marking_check("third", None, story.cluster.durations)
    younger["spec"]["selector"] = {"matchLabels": {"lane": "second"}}
    story.api.create(younger)
    story.cluster.servers[BAD].hang()


def condition_from_the_future(story: Story) -> None:
    """The node is sick since a time that is an hour ahead; it is repaired all the same, by our own clock."""
    story.cluster.servers[BAD].hang()
    story.run(1)
    ahead = str(story.cluster.agenda.wall() + Span(60 * MINUTE_MS))
    conditions = [one | {"lastTransitionTime": ahead} for one in story.api.get(NODE, BAD)["status"]["conditions"]]
    story.api.patch(NODE, BAD, "", {"status": {"conditions": conditions}}, "merge", subresource="status")


def check_edited(story: Story) -> None:
    story.asking()
    story.edit(selector={"matchLabels": {"lane": "third"}})


def check_deleted(story: Story) -> None:
    story.asking()
    story.api.delete(HEALTH_CHECK, "second", NAMESPACE)


def check_edited_after_the_power_cycle_began(story: Story) -> None:
    story.marking()
    story.edit(selector={"matchLabels": {"lane": "third"}})


def check_deleted_after_the_power_cycle_began(story: Story) -> None:
    story.marking()
    story.api.delete(HEALTH_CHECK, "second", NAMESPACE)


def check_broken_after_the_power_cycle_began(story: Story) -> None:
    story.marking()
    story.edit(unhealthyRange="[5-3]")


def template_of_a_missing_kind(story: Story) -> None:
    story.second_check(
        externalRemediationTemplate={"apiVersion": "example.com/v1", "kind": "NurseTemplate", "name": "night"}
    )
    story.cluster.servers[BAD].hang()


def template_that_the_api_refuses(story: Story) -> None:
    def refuse(verb: str, resource: Any, old: Any, new: Any, user: User) -> None:
        if verb == "create" and user == MANAGER and new["kind"] == REMEDIATION.kind:
            raise ApiError(422, "Invalid", 'spec.strategy: Unsupported value: "cure"')

    story.api.hooks.append(refuse)
    meta, spec = {"name": TEMPLATE["name"], "namespace": NAMESPACE}, {"template": {"spec": {"strategy": "reboot"}}}
    story.api.create(TEMPLATE | {"metadata": meta, "spec": spec})
    story.second_check(externalRemediationTemplate=TEMPLATE)
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


def node_recreated_in_the_middle(story: Story) -> None:
    """Its host is off and its workload about to be freed when somebody makes another Node of the same name."""
    story.label(BAD)
    story.cluster.servers[BAD].hang()
    story.cluster.remediate(BAD, freeBy="taint")
    at = (REMEDIATION, machine_of(BAD), NAMESPACE)
    story.until(lambda: "freeing" == story.api.get(*at).get("status", {}).get("phase"))
    story.api.delete(NODE, BAD)
    story.api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": BAD}, "spec": {}})


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
    selects_nobody: ("second", "CheckWithoutTargets: selects no machine"),
    selects_everybody: ("younger", "ChecksOverlap: "),
    selects_whatever_there_is: ("younger", "spec.selector is empty; name at least one label"),
    broken_range: ("second", "spec.unhealthyRange: '[5-3]' cannot be read; write two numbers"),
    percent_out_of_range: ("second", "spec.maxUnhealthy: '150%' cannot be read; write a number from 0 on, or a perc"),
    duration_garbage: ("second", "spec.unhealthyConditions[0].timeout: 'soon' is not a duration like 5m or 1h30m"),
    startup_timeout_garbage: ("second", "spec.nodeStartupTimeout: 'soon' is not a duration like 5m or 1h30m"),
    older_of_two_is_broken: ("second", "spec.unhealthyRange: '[5-3]' cannot be read; write two numbers"),
    condition_from_the_future: (machine_of(BAD), "which is in the future: counted from when it was first seen here"),
    check_edited: (machine_of(BAD), "RemediationWithdrawn: what check second asked for is taken back"),
    check_deleted: (machine_of(BAD), "RemediationWithdrawn: what check second asked for is taken back"),
    check_edited_after_the_power_cycle_began: (machine_of(BAD), "NodeWhole: "),
    check_deleted_after_the_power_cycle_began: (machine_of(BAD), "NodeWhole: "),
    check_broken_after_the_power_cycle_began: ("second", "spec.unhealthyRange: '[5-3]' cannot be read; write two num"),
    template_of_a_missing_kind: (machine_of(BAD), "NurseTemplate.example.com"),
    template_that_the_api_refuses: (machine_of(BAD), 'was refused: HTTP 422: spec.strategy: Unsupported value: "cure"'),
    machine_deleted: (host_of(BAD), "HoldOrphaned: "),
    node_recreated: (machine_of(BAD), ""),
    node_recreated_in_the_middle: (machine_of(BAD), "NodeReplaced: "),
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
    assert [] == story.checkers.violations


BEGUN = (
    check_edited_after_the_power_cycle_began,
    check_deleted_after_the_power_cycle_began,
    check_broken_after_the_power_cycle_began,
    condition_from_the_future,
    node_recreated_in_the_middle,
)


@pytest.mark.parametrize("wrong", BEGUN, ids=lambda wrong: wrong.__name__)
def test_what_was_begun_is_brought_to_its_end(wrong: Callable[[Story], None]) -> None:
    """Whoever asked for it is gone or means others by now: the server is not left off, and nothing is broken."""
    story = Story()
    wrong(story)
    story.run(25)

    assert 2 == story.boots(BAD)
    assert story.cluster.servers[BAD].is_heard
    assert [] == story.checkers.violations


def test_every_watch_lists_again_after_410() -> None:
    """Each that anything happened in, and more than once: nobody is told, since nothing is lost."""
    story = Story()
    before = {watch.kind: watch.relists for watch in story.process.watches}
    gone_in_every_watch(story)
    story.cluster.servers[GOOD].hang()
    story.run(25)

    again = {watch.kind for watch in story.process.watches if watch.relists > before[watch.kind] + 1}
    assert {HEALTH_CHECK, HOST, MACHINE, NODE} <= again
    assert 2 == story.boots(GOOD)


def test_a_check_of_nobody_counts_nobody() -> None:
    """Its status says so at once: no machine is expected. Machines may come after it, so it is told after a while."""
    story = Story()
    selects_nobody(story)
    story.run(1.9)
    assert (0, 0, []) == counted(story)
    assert [] == untargeted(story)
    story.run(0.2)
    assert 1 == len(untargeted(story))
    story.run(30)

    assert 1 == len(untargeted(story))
    assert (0, 0, []) == counted(story)


def untargeted(story: Story) -> list[str]:
    return [line for line in story.told("second") if line.startswith("CheckWithoutTargets: selects no machine")]


def counted(story: Story) -> tuple[int, int, list[str]]:
    """What the second check's status says: expected, healthy, and by name."""
    status = story.api.get(HEALTH_CHECK, "second", NAMESPACE)["status"]
    return (status["expectedMachines"], status["currentHealthy"], status.get("targets", []))


def test_an_invalid_check_keeps_its_machines() -> None:
    """They stay counted, and nobody repairs the sick one before the older check is mended; then that one decides."""
    story = Story()
    older_of_two_is_broken(story)
    story.run(25)
    assert 1 == story.boots(BAD)
    assert (1, 0, [machine_of(BAD)]) == counted(story)
    story.edit(unhealthyRange=None)
    story.run(10)
    assert 1 == story.boots(BAD), "mended it only observes"
    story.api.delete(HEALTH_CHECK, "second", NAMESPACE)
    story.run(25)

    assert 2 == story.boots(BAD)
    assert [] == story.checkers.violations


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


def test_whatever_is_broken_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: who deletes without naming a uid frees nothing too early, and breaks a rule all the same (S2)."""
    apply = Process.apply

    def nameless(self: Process, request: Request, fate: Fate, api: ApiServer) -> Answer | None:
        body = b"{}" if request.method == "DELETE" else request.body
        return apply(self, structs.replace(request, body=body), fate, api)

    monkeypatch.setattr(Process, "apply", nameless)
    story = Story()
    story.cluster.servers[GOOD].hang()
    story.run(25)

    assert {"S2"} == {line.split(": ")[1] for line in story.checkers.violations}
