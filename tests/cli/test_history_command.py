"""`history`: incidents as a table, of one node, since a time, or one in full; from files and from a live cluster."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.builders import MACHINE_AT
from tests.manager.bench import bench

from noderemedy.cli.main import cli
from noderemedy.manager.history import NoHistory, in_cluster
from noderemedy.model.ids import INCIDENT, SYSTEM, ref
from noderemedy.model.incident import Answer, Approval, Detection, Ending, PodSeen, Record, Step
from noderemedy.model.time import Span, Wall
from noderemedy.wire.incidents import incident_body, status_body

BEGAN = Wall(1_896_091_200_000)  # 2030-01-31T12:00:00Z
MINUTE = Span(60_000)
STEPS = (
    Step(
        BEGAN + MINUTE,
        "verdict",
        "verdict",
        "unhealthy",
        "since …",
        by="MachineHealthCheck/metal/workers",
        generation=3,
    ),
    Step(BEGAN + MINUTE, "annotation", "hold", "held since 2030-01-31T12:01:00Z"),
    Step(BEGAN + MINUTE * 2, "annotation", "hold"),
)


def a_tree(number: int, node: str, ending: Ending | None = Ending.RECOVERED, **spec: Any) -> dict[str, Any]:
    """An incident that began so many minutes later, and took three."""
    began = BEGAN + MINUTE * number
    target = ref(MACHINE_AT.kind, f"machine-{node}", "metal")
    found = Detection(target, f"m-{node}", f"{number:010x}", began, node, f"n-{node}", "boot-1", "c", ("not ready",))
    closed = began + MINUTE * 3 if ending else None
    record = Record(STEPS, (PodSeen("shop", "web-0", "u", "StatefulSet/web"),), 1, ending, closed)
    tree = incident_body(ref(INCIDENT, f"{node}-{number:010x}", SYSTEM), "v1alpha1", found)
    return {**tree, "spec": {**tree["spec"], **spec}, "status": status_body(record)}


TREES = [a_tree(0, "worker-0"), a_tree(60, "worker-1", Ending.SELF_RECOVERED), a_tree(90, "worker-0", None)]


def told(folder: Path, *arguments: str, trees: list[dict[str, Any]] = TREES) -> Result:
    (folder / "incidents.yaml").write_text(yaml.safe_dump_all(trees))
    return CliRunner().invoke(cli, ["history", *arguments, "-f", str(folder)])


def names(folder: Path, *arguments: str) -> list[str]:
    result = told(folder, *arguments, "--json")
    assert 0 == result.exit_code, result.output
    return [one["name"] for one in json.loads(result.stdout)]


def test_a_table_with_the_newest_first(tmp_path: Path) -> None:
    """Name, target, when, how long, how many steps, how it ended; and how many are open."""
    lines = told(tmp_path).output.splitlines()

    assert ["INCIDENT", "TARGET", "DETECTED", "TOOK", "STEPS", "OUTCOME"] == lines[0].split()
    assert ["worker-0-000000005a", "metal/machine-worker-0", "2030-01-31T13:30:00Z", "-", "3", "open"] == lines[
        1
    ].split()
    assert ["3m00s", "3", "self-recovered"] == lines[2].split()[3:]
    assert "3 incidents, 1 open." == lines[-1]


@pytest.mark.parametrize(
    "name",
    [
        *("worker-0", "node/worker-0", "Node/worker-0", "Node//worker-0"),
        *("machine-worker-0", "metal/machine-worker-0", "machine/machine-worker-0"),
        *("machine/metal/machine-worker-0", "Machine/metal/machine-worker-0"),
    ],
)
def test_of_one_node(tmp_path: Path, name: str) -> None:
    """By the name of the node or of its machine, as `explain` takes it and as it prints it."""
    assert ["worker-0-000000005a", "worker-0-0000000000"] == names(tmp_path, name)
    assert [] == names(tmp_path, f"{name}x")


def test_since_a_time(tmp_path: Path) -> None:
    """What was over before is left out; what is open never is."""
    assert ["worker-0-000000005a", "worker-1-000000003c"] == names(tmp_path, "--since", "2030-01-31T12:30:00Z")
    assert ["worker-0-000000005a"] == names(tmp_path, "--since", "2031-01-01T00:00:00Z")
    assert 3 == len(names(tmp_path, "--since", "100000d"))


def test_one_in_full(tmp_path: Path) -> None:
    """Every step with room, value and evidence, the pods, and the answer of a person."""
    trees = [a_tree(0, "worker-0", approval={"decision": "approve", "by": "ann"}), TREES[1]]
    output = told(tmp_path, "worker-0-0000000000", trees=trees).output

    for words in (
        "Machine/metal/machine-worker-0 uid m-worker-0",
        "worker-0 uid n-worker-0 boot boot-1",
        "not ready",
        "verdict: unhealthy, by MachineHealthCheck metal/workers (generation 3)  (since …)",
        "hold: held since 2030-01-31T12:01:00Z",
        "hold: over",
        "shop/web-0  StatefulSet/web",
        "approve by ann",
        "recovered at 2030-01-31T12:03:00Z",
    ):
        assert words in output


BY: dict[str, tuple[dict[str, Any], str]] = {
    "with its generation": (
        {"by": "MachineHealthCheck/metal/workers", "generation": 3},
        "verdict: unhealthy, by MachineHealthCheck metal/workers (generation 3)",
    ),
    "without a namespace": (
        {"by": "RemediationBudget//cluster", "generation": 2},
        "verdict: unhealthy, by RemediationBudget cluster (generation 2)",
    ),
    "of which nobody saw the generation": (
        {"by": "MachineHealthCheck/metal/workers"},
        "verdict: unhealthy, by MachineHealthCheck metal/workers",
    ),
    "by a document": (
        {"by": "ConfigMap/node-remedy-system/d", "versions": "ConfigMap/node-remedy-system/d@7"},
        "verdict: unhealthy, by ConfigMap node-remedy-system/d  (ConfigMap/node-remedy-system/d@7)",
    ),
    "as an older version wrote it": (
        {"versions": "MachineHealthCheck/metal/workers"},
        "verdict: unhealthy  (MachineHealthCheck/metal/workers)",
    ),
}


@pytest.mark.parametrize("name", BY)
def test_a_step_names_who_decided_it(tmp_path: Path, name: str) -> None:
    """And by which generation, so that an edit of a policy does not hide by which version of it something was done."""
    more, expected = BY[name]
    tree = a_tree(0, "worker-0")
    step = {"time": str(BEGAN), "room": "verdict", "what": "verdict", "value": "unhealthy", **more}
    tree["status"]["steps"] = [step]
    lines = told(tmp_path, "worker-0-0000000000", trees=[tree, TREES[1]]).output.splitlines()

    [line] = [one for one in lines if " verdict: " in one]
    assert line.endswith(f" {expected}")


def test_json_holds_all_of_it(tmp_path: Path) -> None:
    """As the API keeps it."""
    [one] = json.loads(told(tmp_path, "worker-1", "-o", "json").stdout)

    assert TREES[1]["spec"] == one["spec"]
    assert TREES[1]["status"] == one["status"]
    assert Approval(Answer.DENY) != one["approval"]
    assert one["approval"] is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["worker-7"], "No incidents of worker-7. Did you mean"),
        (["zzz"], "No incidents of zzz."),
        (["worker-1", "--since", "2031-01-01T00:00:00Z"], "No incidents of worker-1 since 2031-01-01T00:00:00Z."),
    ],
)
def test_nothing_to_tell(tmp_path: Path, arguments: list[str], expected: str) -> None:
    """An empty list says why; that is no error."""
    result = told(tmp_path, *arguments)

    assert 0 == result.exit_code
    assert expected in result.output


def test_where_nothing_is_recorded_the_name_is_said_all_the_same(tmp_path: Path) -> None:
    """A mistyped name would pass for a node without a history."""
    others = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"}}]

    assert (
        "No incidents of worker-9: none of any node is recorded.\n" == told(tmp_path, "worker-9", trees=others).output
    )
    assert "No incidents.\n" == told(tmp_path, trees=others).output


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["history", "a", "b"], "unexpected extra argument"),
        (["history", "--since", "yesterday"], "'yesterday' is neither a length of time like 24h or 7d"),
        (["history", "-f", "x", "--kubeconfig", "y"], "leave one of them out"),
        (["history", "-o", "xml"], "'xml' is not one of"),
    ],
)
def test_wrong_arguments(arguments: list[str], expected: str) -> None:
    """The message names what is wrong."""
    result = CliRunner().invoke(cli, arguments)

    assert 2 == result.exit_code
    assert expected in result.output


def test_an_incident_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The others are shown."""
    broken = a_tree(5, "worker-3")
    del broken["spec"]["detected"]
    result = told(tmp_path, trees=[*TREES, broken])

    assert "worker-3-0000000005" in result.stderr
    assert "detected" in result.stderr
    assert "3 incidents, 1 open." in result.output


def test_of_a_live_cluster(tmp_path: Path) -> None:
    """Read through the API, with one list."""

    async def story() -> list[str]:
        async with bench(tmp_path) as it:
            tree = a_tree(0, "worker-0")
            it.api.create({key: value for key, value in tree.items() if key != "status"})
            kept, remarks = await in_cluster(it.kubeconfig, "")
            assert [] == remarks
            return [one.at.name for one in kept]

    assert ["worker-0-0000000000"] == asyncio.run(story())


def test_a_cluster_without_incidents(tmp_path: Path) -> None:
    """The message says what is missing and how to install it."""

    async def story() -> None:
        async with bench(tmp_path, without=("incidents",)) as it:
            with pytest.raises(NoHistory, match=r"not installed.*kubectl apply -f deploy/crds"):
                await in_cluster(it.kubeconfig, "")

    asyncio.run(story())


def test_by_workload(tmp_path: Path) -> None:
    """What ran on the nodes of most incidents comes first: how many, on how many nodes, and when last."""
    database = a_tree(120, "worker-2")
    database["status"]["pods"] = [{"namespace": "shop", "name": "db-0", "uid": "u", "owner": "StatefulSet/db"}]
    result = told(tmp_path, "--by", "workload", trees=[*TREES, database])
    lines = [line.split() for line in result.output.splitlines()]
    listed = json.loads(told(tmp_path, "--by", "workload", "--json", trees=[*TREES, database]).stdout)

    assert [
        ["WORKLOAD", "INCIDENTS", "NODES", "LAST"],
        ["shop/StatefulSet/web", "3", "2", "2030-01-31T13:30:00Z"],
        ["shop/StatefulSet/db", "1", "1", "2030-01-31T14:00:00Z"],
    ] == lines[:3]
    assert [3, 1] == [one["incidents"] for one in listed]
    assert ["worker-0", "worker-1"] == listed[0]["nodes"]


def test_by_condition(tmp_path: Path) -> None:
    """Problems of each node, condition by condition, repeat offenders first; what somebody asked for has none."""
    both = [a_tree(number, "worker-2", conditions=["Ready", "DiskPressure"]) for number in (120, 180)]
    trees = [*both, a_tree(60, "worker-1", conditions=["Ready"]), a_tree(0, "worker-0")]
    lines = [line.split() for line in told(tmp_path, "--by", "condition", trees=trees).output.splitlines()]
    listed = json.loads(told(tmp_path, "worker-2", "--by", "condition", "--json", trees=trees).stdout)

    assert [
        ["NODE", "CONDITION", "INCIDENTS", "LAST"],
        ["worker-2", "DiskPressure", "2", "2030-01-31T15:00:00Z"],
        ["worker-2", "Ready", "2", "2030-01-31T15:00:00Z"],
        ["worker-0", "-", "1", "2030-01-31T12:00:00Z"],
        ["worker-1", "Ready", "1", "2030-01-31T13:00:00Z"],
        ["4", "problems", "on", "3", "nodes."],
    ] == lines
    assert [("worker-2", "DiskPressure", 2), ("worker-2", "Ready", 2)] == [
        (one["node"], one["condition"], one["incidents"]) for one in listed
    ]
