"""The examples in the words of today's Cluster API (v1beta2), in virtual time: each does what its older twin does.

The kind is served in v1beta2 alone: no example here may need the older shape. Whether Cluster API's own definition
takes them is asked by tests/e2e/test_kinds_of_others.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from tests.sim import test_fence_check as fencing
from tests.sim import test_power_cycling_check as power_cycling
from tests.sim.test_power_cycling_check import SICK

from noderemedy.manager.plan import with_uid
from noderemedy.model.ids import HEALTH_CHECK, MACHINE
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.definitions import definition_of
from noderemedy.sim.kinds import CUSTOM_RESOURCE
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import Process
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.weather import CALM
from noderemedy.wire.objects import convert

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "cluster-api-health-check"
TWINS = {
    "workers": "health-check/workers.yaml",
    "power-cycle": "metal3-remediation/power-cycle.yaml",
    "escalate": "metal3-remediation/escalate.yaml",
    "keep-trying": "metal3-remediation/keep-trying.yaml",
    "fence": "fence-remediation/fence.yaml",
}


def begin(seed: int, nodes: int) -> tuple[Cluster, Checkers, Process]:
    """As `calm`, in a cluster whose checks are Cluster API's own."""
    cluster = Cluster(nodes=nodes, seed=seed, replicas=min(nodes, 6), tracks_fields=False)
    cluster.api.delete(CUSTOM_RESOURCE, definition_of(HEALTH_CHECK)["metadata"]["name"])
    cluster.api.create(theirs())
    checkers = Checkers(cluster)
    process = Process("manager-1", cluster, weather=CALM, seed=seed)
    process.start()
    cluster.agenda.run_until(2 * MINUTE_MS)
    return cluster, checkers, process


def theirs() -> Tree:
    """The kind in v1beta2, and in no other version."""
    ours = definition_of(HEALTH_CHECK)
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1beta2", "served": True, "storage": True, "subresources": {"status": {}}, "schema": schema}
    return {**ours, "metadata": {"name": ours["metadata"]["name"]}, "spec": {**ours["spec"], "versions": [version]}}


def the_check(file: Path) -> Tree:
    """The check of an example comes last."""
    return dict(list(yaml.safe_load_all(file.read_text(encoding="utf-8")))[-1])


@pytest.mark.parametrize("example", TWINS)
def test_it_says_what_its_twin_says(example: str) -> None:
    """The same machines, conditions, times, limit and template, read by Cluster API's rules."""
    new, old = the_check(EXAMPLES / f"{example}.yaml"), the_check(ROOT / "examples" / TWINS[example])
    old["metadata"]["namespace"] = new["metadata"]["namespace"]
    found, twin = (convert(HEALTH_CHECK, with_uid(tree, HEALTH_CHECK)).obj for tree in (new, old))

    assert ("cluster.x-k8s.io/v1beta2", "cluster.x-k8s.io/v1alpha3") == (new["apiVersion"], old["apiVersion"])
    assert (True, True, "lab") == (found.is_valid, twin.is_valid, found.cluster_name)
    for field in ("selector", "node_criteria", "max_unhealthy", "template"):
        assert getattr(twin, field) == getattr(found, field)


def test_the_guide_shows_the_first_of_them() -> None:
    """docs/guide/health-checks.md prints workers.yaml, in fewer lines."""
    text = (ROOT / "docs" / "guide" / "health-checks.md").read_text(encoding="utf-8")
    shown = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]

    assert the_check(EXAMPLES / "workers.yaml") == shown[0]


def test_every_example_has_its_twin() -> None:
    """None is added that nobody compares and runs."""
    assert sorted(TWINS) == sorted(file.stem for file in EXAMPLES.iterdir())


def test_the_owner_of_a_sick_machine_is_asked() -> None:
    """workers.yaml: the silent node's Machine gets OwnerRemediated=False, the others nothing of that sort."""
    cluster, checkers, _ = begin(11, 5)
    check = the_check(EXAMPLES / "workers.yaml")
    check["metadata"]["namespace"] = NAMESPACE
    cluster.api.create(check)
    for node in cluster.servers:
        body = {"metadata": {"labels": check["spec"]["selector"]["matchLabels"]}}
        cluster.api.patch(MACHINE, machine_of(node), NAMESPACE, body, "merge")
    cluster.agenda.run_until(cluster.agenda.now_ms + 8 * MINUTE_MS)
    cluster.servers[SICK].hang()
    cluster.agenda.run_until(cluster.agenda.now_ms + 10 * MINUTE_MS)

    asked = [tree["metadata"]["name"] for tree in cluster.api.list(MACHINE) if is_asked(tree)]
    assert ([machine_of(SICK)], []) == (asked, checkers.violations)


def is_asked(machine: Tree) -> bool:
    conditions = machine["status"].get("conditions", [])
    return any((one["type"], one["status"]) == ("OwnerRemediated", "False") for one in conditions)


@pytest.mark.parametrize("example", ["power-cycle", "escalate", "keep-trying"])
def test_a_hung_node_is_power_cycled(example: str) -> None:
    """Sick, asked for, off, on, ready: the request is gone again."""
    story = power_cycling.Story(example, EXAMPLES, begin)
    story.cluster.servers[SICK].hang()
    story.run(40)
    story.checkers.at_rest(story.process.engine)

    name = machine_of(SICK)
    assert [] == story.checkers.violations
    assert [f"ADDED {name}", f"DELETED {name}"] == story.requests
    assert ("power-off", "waiting") == (story.phases[0], story.phases[-1])
    assert (2, [5, 4, 5]) == (story.cluster.servers[SICK].boots, story.healthy)


def test_a_hung_node_is_fenced() -> None:
    """fence.yaml: asked for, fenced, freed on proof, back."""
    story = fencing.Story(EXAMPLES / "fence.yaml", begin)
    story.cluster.servers[SICK].hang()
    story.run(40)
    story.checkers.at_rest(story.process.engine)

    name = machine_of(SICK)
    assert [] == story.checkers.violations
    assert [f"ADDED {name}", f"DELETED {name}"] == story.requests
    assert 2 == story.cluster.servers[SICK].boots
