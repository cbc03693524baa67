"""One machine, one repair, in virtual time: a check asks for nothing while somebody else repairs a machine of its own.

In every way that a check knows, beside a request that a person made, a fence, and the remedies of a document. The check
is told of the sickness before the other repair is over, and goes on by itself when that one has not helped. And the
reverse: who was asked by a check is waited for by the remedies of a document, but not for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.sabotage.running import Sabotage, fails, set_to

from noderemedy.core.external import lifecycle
from noderemedy.core.healthcheck import remediation, remediationgates
from noderemedy.core.remedy import gates as remedy_gates
from noderemedy.model.ids import HEALTH_CHECK, MACHINE, NODE, NODE_FENCE, REMEDIATION
from noderemedy.model.reasons import ClaimedByOther
from noderemedy.sim import objects
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.extras import PLAIN
from noderemedy.sim.fencecrash import ask
from noderemedy.sim.fencecrash import stage as fenced_stage
from noderemedy.sim.fencerun import simulate_fencing
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.onerepair import OneRepair
from noderemedy.sim.process import Process
from noderemedy.sim.run import Report, calm, simulate
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.wire import names

SICK = "worker-2"  # where nodes are fenced, too, it has a Machine
AT_ONCE_MS = 5_000  # nothing is late in a quiet world
TEMPLATE = {"apiVersion": "remediation.metal3.io/v1alpha1", "kind": "Metal3RemediationTemplate", "name": "reboot"}
OWNER, MARK, REQUEST = "asks the owner", "marks", "makes a request"


def a_check(way: str, seconds: int = 60) -> Tree:
    """Over all machines, without a limit of its own."""
    check = objects.health_check("workers", "100%")
    del check["spec"]["maxUnhealthy"]
    for criterion in check["spec"]["unhealthyConditions"]:
        criterion["timeout"] = f"{seconds}s"
    if way == MARK:
        check["metadata"]["annotations"] = {names.STRATEGY: "external-baremetal"}
    if way == REQUEST:
        check["spec"]["externalRemediationTemplate"] = TEMPLATE
    return check


class Story:
    """A quiet cluster with one manager, and a check that means all machines."""

    def __init__(self, staged: tuple[Cluster, Checkers, Process], check: Tree) -> None:
        self.cluster, self.checkers, self.process = staged
        OneRepair(self.checkers, [self.process], AT_ONCE_MS)
        spec = {"template": {"spec": {"strategy": "reboot"}}}
        self.cluster.api.create(TEMPLATE | {"metadata": {"name": "reboot", "namespace": NAMESPACE}, "spec": spec})
        self.cluster.api.create(check)
        self.run(2)

    def run(self, minutes: float) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + round(minutes * MINUTE_MS))

    def machine(self) -> Tree:
        return self.cluster.api.get(MACHINE, machine_of(SICK), NAMESPACE)

    def is_asked(self) -> bool:
        """By the check: its mark, its word to the owner, or its request."""
        conditions = self.machine().get("status", {}).get("conditions", ())
        told = any(one["type"] == "OwnerRemediated" and "HealthCheck" in one["message"] for one in conditions)
        mark = (self.machine()["metadata"].get("annotations") or {}).get(names.NEEDS_REMEDIATION, "")
        request = self.cluster.api.find(REMEDIATION, machine_of(SICK), NAMESPACE)
        made = names.CLONED_FROM in ((request or {}).get("metadata", {}).get("annotations") or {})
        return told or mark.startswith(names.MARKED_BY) or made

    def waits_for(self) -> set[str]:
        """Whose repair is waited for, by the room."""
        told = (one.reason for one in self.process.notices if isinstance(one.reason, ClaimedByOther))
        return {reason.holder.partition(" ")[0] for reason in told}


@pytest.mark.parametrize("way", [OWNER, MARK])
@pytest.mark.parametrize("has_owner", [False, True])
def test_a_check_waits_for_a_power_cycle_by_hand(way: str, has_owner: bool) -> None:
    """A person's Metal3Remediation brings the node back: nobody else is asked, and it stays, as it is the person's."""
    story = Story(calm(seed=4, nodes=8), a_check(way))
    story.cluster.servers[SICK].hang()
    story.cluster.remediate(SICK)
    if has_owner:
        uid = story.machine()["metadata"]["uid"]
        owner = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "name": machine_of(SICK), "uid": uid}
        body = {"metadata": {"ownerReferences": [owner]}}
        story.cluster.api.patch(REMEDIATION, machine_of(SICK), NAMESPACE, body, "merge")
    story.run(15)

    assert ([], 2, True) == (story.checkers.violations, story.cluster.servers[SICK].boots, is_ready(story))
    assert {"metal3-remediation"} == story.waits_for()
    assert (1, False) == (len(story.cluster.api.list(REMEDIATION)), story.is_asked())


@pytest.mark.parametrize("way", [OWNER, MARK])
def test_a_check_goes_on_when_the_other_repair_has_not_helped(way: str) -> None:
    """The person takes the request back in the middle, and the node is still sick: the check asks at once."""
    story = Story(calm(seed=4, nodes=8), a_check(way))
    story.cluster.servers[SICK].hang()
    story.cluster.remediate(SICK)
    story.run(2)
    assert ({"metal3-remediation"}, False) == (story.waits_for(), story.is_asked())
    story.cluster.recall(SICK)
    story.run(0.25)

    assert ([], True) == (story.checkers.violations, story.is_asked())


def is_ready(story: Story) -> bool:
    told: list[dict[str, Any]] = story.cluster.api.get(NODE, SICK)["status"]["conditions"]
    return any((one["type"], one["status"]) == ("Ready", "True") for one in told)


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_template_that_goes_takes_no_request_along(is_restarted: bool) -> None:
    """Edited in the middle, also where the manager begins anew: the request comes to its end, then it is deleted."""
    story = Story(calm(seed=4, nodes=8), a_check(REQUEST, 10))
    story.cluster.servers[SICK].hang()
    story.run(1.2)
    assert "power-off" == story.cluster.api.get(REMEDIATION, machine_of(SICK), NAMESPACE)["status"]["phase"]
    body = {"spec": {"externalRemediationTemplate": None}}
    story.cluster.api.patch(HEALTH_CHECK, "workers", NAMESPACE, body, "merge")
    if is_restarted:
        story.process.kill()
        story.process.start()
    story.run(15)

    assert ([], True) == (story.checkers.violations, is_ready(story))
    assert ([], False) == (story.cluster.api.list(REMEDIATION), story.is_asked())


@pytest.mark.parametrize("way", [OWNER, MARK, REQUEST])
def test_a_check_waits_for_a_fence_by_hand(way: str) -> None:
    """A person has the node fenced: nobody else is asked until it is over, and well."""
    story = Story(fenced_stage("threshold", 1, 5), a_check(way, 10))
    story.cluster.servers[SICK].hang()
    story.run(0.9)  # a node that is Ready is not fenced
    ask(story.cluster, SICK)
    story.run(15)

    assert ([], True, False) == (story.checkers.violations, is_ready(story), story.is_asked())
    assert {"node-fence"} == story.waits_for()
    assert [] == story.cluster.api.list(NODE_FENCE)


@pytest.mark.parametrize("way", [OWNER, MARK, REQUEST])
@pytest.mark.parametrize("trigger", ["threshold", "chain"])
def test_a_check_waits_for_the_remedies_of_a_document(way: str, trigger: str) -> None:
    """By a fence flow or by a Job: the document was first, so the check has nothing to do."""
    story = Story(fenced_stage(trigger, 1, 5), a_check(way, 90))
    story.cluster.servers[SICK].hang()
    story.run(15)

    assert ([], True, False) == (story.checkers.violations, is_ready(story), story.is_asked())
    assert story.waits_for() & {"node-fence", "remedy", "remedy-fence"}


@pytest.mark.parametrize("trigger", ["threshold", "chain"])
def test_remedies_wait_for_whom_a_check_has_asked(trigger: str) -> None:
    """The check came first: the document's remedies begin when the owner has done nothing for half an hour."""
    story = Story(fenced_stage(trigger, 1, 5), a_check(OWNER, 10))
    story.cluster.servers[SICK].hang()
    story.run(25)
    notes = story.cluster.api.get(NODE, SICK)["metadata"].get("annotations") or {}
    assert (True, False, []) == (story.is_asked(), names.REMEDY in notes, story.cluster.api.list(NODE_FENCE))
    assert {"remediation"} == story.waits_for()
    story.run(20)

    assert ([], True) == (story.checkers.violations, is_ready(story))


BEFORE, OTHERS = remediationgates.BEFORE_BUDGET, remediationgates.nobody_else_repairs_it
BEFORE_TURN, ASKED = remedy_gates.BEFORE_TURN, remedy_gates.no_check_has_asked
SABOTAGES = (
    Sabotage(
        "a check looks at nobody else",
        set_to(remediation, "BEFORE_BUDGET", tuple(gate for gate in BEFORE if gate is not OTHERS)),
        (
            test_a_check_waits_for_a_power_cycle_by_hand,
            test_a_check_goes_on_when_the_other_repair_has_not_helped,
            test_a_check_waits_for_a_fence_by_hand,
            test_a_check_waits_for_the_remedies_of_a_document,
        ),
    ),
    Sabotage(
        "remedies look at no check",
        set_to(remedy_gates, "BEFORE_TURN", tuple(gate for gate in BEFORE_TURN if gate is not ASKED)),
        (test_remedies_wait_for_whom_a_check_has_asked,),
    ),
    Sabotage(
        "only kinds that checks name are looked at",
        set_to(lifecycle, "ALWAYS_WATCHED", ()),
        (test_a_template_that_goes_takes_no_request_along,),
    ),
)


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name.replace(" ", "-"))
def test_each_sabotage_is_seen(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under one line of harm, each of the named stories fails."""
    sabotage.harm(monkeypatch)

    assert [] == [test.__name__ for test in sabotage.tests if not fails(test, monkeypatch)]


def test_a_second_repair_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S2: a check asks the owner in the middle of a person's power cycle."""
    SABOTAGES[0].harm(monkeypatch)
    story = Story(calm(seed=4, nodes=8), a_check(OWNER))
    story.cluster.servers[SICK].hang()
    story.cluster.remediate(SICK)
    story.run(5)

    told = f"S2: WriteMachineConditions for {machine_of(SICK)}, which a Metal3Remediation repairs"
    assert [told] == [line.partition(" ms: ")[2] for line in story.checkers.violations]


@pytest.mark.parametrize(("history", "seed"), [(simulate, 2), (simulate_fencing, 4)])
def test_histories_meet_a_second_repair(
    history: Callable[..., Report], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2: nobody plans it, and without the gate it happens: requests and fences of people meet a check."""
    SABOTAGES[0].harm(monkeypatch)
    lines = history(seed, nodes=12, hours=2.0, trouble_every_ms=MINUTE_MS, extras=PLAIN).violations

    assert lines
    assert all("S2: " in line and " repairs" in line for line in lines)
