"""`explain`: who judges a target, every gate in order, what is next and when; wrong names get near ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.builders import MACHINE_AT, NOW
from tests.cli.test_plan_health import EXAMPLE, a_machine, a_node, a_pool

from noderemedy.cli.main import cli
from noderemedy.manager import explain as explaining
from noderemedy.model.ids import INCIDENT, SYSTEM, ref
from noderemedy.model.incident import Detection
from noderemedy.wire.incidents import incident_body

SOON, LATER = "2026-01-01T00:03:00Z", "2026-01-01T00:06:00Z"
POWER_CYCLE = Path(__file__).parents[2] / "examples" / "annotation-power-cycle"


def explained(folder: Path, *arguments: str, trees: list[dict[str, Any]] | None = None) -> Result:
    """Run it on a pool of five machines whose first node is not ready since midnight."""
    (folder / "world.yaml").write_text(yaml.safe_dump_all(trees or a_pool("Unknown")))
    return CliRunner().invoke(cli, ["explain", *arguments, "-f", str(EXAMPLE), "-f", str(folder)])


def as_json(folder: Path, *arguments: str, **more: Any) -> list[dict[str, Any]]:
    result = explained(folder, *arguments, "--json", **more)
    assert 0 == result.exit_code, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def gates_of(found: dict[str, Any], room: str = "remediation") -> dict[str, bool]:
    [gates] = [one["gates"] for one in found["gates"] if one["room"] == room]
    return {gate["gate"]: gate["passed"] for gate in gates}


def test_a_countdown_and_what_blocks(tmp_path: Path) -> None:
    """In its grace period a machine waits: the gate says for what, and until when."""
    [found] = as_json(tmp_path, "w0", "--now", SOON)

    assert ("Machine/machine-api/w0", "Node//n0", "MachineHealthCheck/machine-api/example") == (
        found["machine"],
        found["node"],
        found["check"],
    )
    assert ("Waiting", "2026-01-01T00:05:01Z") == (found["verdict"], found["until"])
    assert ["ConditionPending"] == [sign["reason"] for sign in found["signs"]]
    blocked = [gate for one in found["gates"] for gate in one["gates"] if not gate["passed"]]
    assert ("machine is unhealthy", "ConditionPending", "2026-01-01T00:05:01Z") == (
        blocked[0]["gate"],
        blocked[0]["because"]["reason"],
        blocked[0]["until"],
    )


def test_the_dialect_of_the_check_is_shown(tmp_path: Path) -> None:
    """By whose rules the machine is judged: a word for programs, and a word behind the check for people."""
    [found] = as_json(tmp_path, "w0", "--now", SOON)
    lines = explained(tmp_path, "w0", "--now", SOON).output.splitlines()

    assert "seed" == found["dialect"]
    assert ["  check     MachineHealthCheck/machine-api/example  (dialect seed)"] == [
        line for line in lines if line.startswith("  check ")
    ]


def test_all_gates_pass_and_what_is_next(tmp_path: Path) -> None:
    """After the timeout every gate is open, and the next action is named."""
    [found] = as_json(tmp_path, "w0", "--now", LATER)

    assert {True} == set(gates_of(found).values())
    assert ("Unhealthy", "2026-01-01T00:00:00Z") == (found["verdict"], found["since"])
    assert "WriteMachineConditions" in [action["do"] for entry in found["next"] for action in entry["actions"]]


@pytest.mark.parametrize(
    "name",
    [
        *("n0", "node/n0", "Node/n0", "Node//n0", "w0", "machine/w0", "machine-api/w0", "machine/machine-api/w0"),
        "Machine/machine-api/w0",
    ],
)
def test_a_target_has_many_names(tmp_path: Path, name: str) -> None:
    """By node or machine, with or without namespace, also as it is printed."""
    [found] = as_json(tmp_path, name, "--now", SOON)

    assert "Machine/machine-api/w0" == found["machine"]


def test_machines_of_one_name_are_all_explained(tmp_path: Path) -> None:
    """Two namespaces have a w0: both are shown; with its namespace it is one."""
    other = a_machine("w0", "n4")
    other["metadata"]["namespace"] = "other"
    trees = [*a_pool("Unknown"), other]

    assert ["Machine/machine-api/w0", "Machine/other/w0"] == [
        one["machine"] for one in as_json(tmp_path, "w0", trees=trees)
    ]
    assert ["Machine/other/w0"] == [one["machine"] for one in as_json(tmp_path, "other/w0", trees=trees)]


def test_a_node_without_a_machine(tmp_path: Path) -> None:
    """Nobody repairs it, and that is said."""
    result = explained(tmp_path, "lonely", trees=[*a_pool("True"), a_node("lonely", "Unknown")])

    assert 0 == result.exit_code
    assert "no Machine names this node" in result.output


def garbled(tree: dict[str, Any]) -> dict[str, Any]:
    """The same, as nobody can read it."""
    return {**tree, "status": "a word"}


@pytest.mark.parametrize("name", ["w9", "machine/machine-api/w9", "n9", "node/n9"])
def test_a_machine_that_cannot_be_read_is_not_denied(tmp_path: Path, name: str) -> None:
    """By its own name, and by that of a node which it may name: both tell the problem, as `plan` does."""
    trees = [*a_pool("True"), garbled(a_machine("w9", "n9")), a_node("n9", "Unknown")]
    result, [found] = explained(tmp_path, name, trees=trees), as_json(tmp_path, name, trees=trees)

    assert 0 == result.exit_code
    assert "Machine machine-api/w9 cannot be read" in " ".join(result.output.split())
    assert "Nothing is to be done" not in result.output
    assert "no Machine names this node" not in result.output
    [unread] = found["unreadable"]
    assert "Machine/machine-api/w9" == unread["object"]
    assert "status" in unread["problem"]


def test_a_node_that_cannot_be_read_is_not_denied(tmp_path: Path) -> None:
    """Neither one without a Machine nor that of a Machine which can be read."""
    trees = [*a_pool("True")[:-1], garbled(a_node("n9", "True"))]
    named = [*trees, a_machine("w9", "n9")]

    for name, known in (("n9", trees), ("n9", named), ("w9", named)):
        result = explained(tmp_path, name, trees=known)
        assert 0 == result.exit_code, result.output
        assert "Node n9 cannot be read" in " ".join(result.output.split())
        assert "Nothing is to be done" not in result.output


def test_of_many_that_cannot_be_read_some_are_named(tmp_path: Path) -> None:
    """A node may be that of any of them; the rest is a number. Of a node whose Machine is known nothing is said."""
    many = [garbled(a_machine(f"x{number}", "n9")) for number in range(5)]
    trees = [*a_pool("True"), *many, a_node("n9", "Unknown")]
    result = explained(tmp_path, "n9", trees=trees)

    assert 3 == result.output.count("cannot be read: ")
    assert "2 more" in result.output
    assert "cannot be read" not in explained(tmp_path, "n1", trees=trees).output


def test_a_machine_that_nobody_judges(tmp_path: Path) -> None:
    """Without a check there is no verdict."""
    machine = a_machine("alone", "n0")
    machine["metadata"]["labels"] = {}
    result = explained(tmp_path, "alone", trees=[machine, a_node("n0", "True")])

    assert 0 == result.exit_code
    assert "no check selects it" in result.output
    assert "Nothing is to be done." in result.output


def test_a_request_whose_check_is_gone_is_shown(tmp_path: Path) -> None:
    """By explain and by plan, with the command that ends it, as long as it stands; nothing is done about it."""
    machine = a_machine("alone", "n0")
    machine["metadata"]["labels"] = {}
    owner = {"apiVersion": machine["apiVersion"], "kind": "Machine", "name": "alone"}
    request = {
        "apiVersion": "remediation.metal3.io/v1alpha1",
        "kind": "Metal3Remediation",
        "metadata": {
            "name": "alone",
            "namespace": "machine-api",
            "uid": "request-uid",
            "annotations": {"cluster.x-k8s.io/cloned-from-name": "power-cycle"},
            "ownerReferences": [{**owner, "uid": machine["metadata"]["uid"]}],
        },
    }
    trees = [machine, a_node("n0", "True"), request]
    [found] = as_json(tmp_path, "alone", trees=trees)
    [entry] = [one for one in found["next"] if one["room"] == "remediation"]
    planned = CliRunner().invoke(cli, ["plan", "-f", str(tmp_path)])

    assert ([], ["RequestLeft"]) == (entry["actions"], [one["reason"] for one in entry["because"]])
    command = "kubectl delete metal3remediation.remediation.metal3.io alone -n machine-api"
    for text in (explained(tmp_path, "alone", trees=trees).output, planned.output):
        assert command in text.replace("\n", " "), text


@pytest.mark.parametrize(
    ("name", "told"),
    [("w9", "did you mean"), ("zzzzzzzz", "10 nodes and machines are known"), ("machine-api/w9", "did you mean")],
)
def test_a_wrong_name_gets_near_ones(tmp_path: Path, name: str, told: str) -> None:
    """One line, exit code 2, no traceback."""
    result = explained(tmp_path, name)

    assert isinstance(result.exception, explaining.NoSuchTarget)
    assert f"there is no node or machine {name!r}" in str(result.exception)
    assert told in str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["explain"], "Missing argument 'NODE|MACHINE'"),
        (["explain", "a", "b"], "unexpected extra argument"),
        (["explain", "a", "--now", "noon"], "'noon' is not a time like"),
        (["explain", "a", "-o", "xml"], "'xml' is not one of"),
        (["explain", "a", "-f", "x", "--context", "y"], "leave one of them out"),
    ],
)
def test_wrong_arguments(arguments: list[str], told: str) -> None:
    """The message names what is wrong."""
    result = CliRunner().invoke(cli, arguments)

    assert 2 == result.exit_code
    assert told in result.output


def test_the_text_marks_each_gate(tmp_path: Path) -> None:
    """Passed, BLOCKED with a reason and a countdown, and a budget that nobody asked yet; then one sentence."""
    lines = explained(tmp_path, "w0", "--now", SOON).output.splitlines()

    assert any("passed   check is valid" in line for line in lines)
    [blocked] = [line for line in lines if "BLOCKED" in line]
    assert "in 2m 1s" in blocked
    assert any("unasked  budget allows" in line for line in lines)
    assert any(line.startswith("  Nothing is done now: condition Ready") for line in lines)


def test_the_gates_of_the_annotation_room(tmp_path: Path) -> None:
    """A marked machine on bare metal: the questions before power off, and the act behind them."""
    result = CliRunner().invoke(cli, ["explain", "worker-1", "-f", str(POWER_CYCLE / "1-marked.yaml"), "--json"])
    assert 0 == result.exit_code, result.output
    [found] = json.loads(result.stdout)
    [room] = [one for one in found["gates"] if one["room"] == "annotation"]

    assert {"cluster is not paused", "host is its own", "power is known", "power off is possible"} <= {
        gate["gate"] for gate in room["gates"]
    }
    assert "AddRebootAnnotation" in [action["do"] for entry in found["next"] for action in entry["actions"]]


def test_what_waits_behind_a_closed_gate_is_not_asked(tmp_path: Path) -> None:
    """Budget, claim and live reads come last: behind a pause they are neither passed nor closed."""
    world = POWER_CYCLE.joinpath("1-marked.yaml").read_text()
    paused = world.replace("annotations:", 'annotations:\n    node-remedy.dev/paused: "true"', 1)
    (tmp_path / "world.yaml").write_text(paused)
    shown, told = (
        CliRunner().invoke(cli, ["explain", "worker-1", "-f", str(tmp_path), *more]) for more in ((), ("--json",))
    )
    [found] = json.loads(told.stdout)
    gates = gates_of(found, "annotation")

    assert ["nobody paused it"] == [name for name, passed in gates.items() if passed is False]
    assert {"budget allows", "one repair per node"} <= {name for name, passed in gates.items() if passed is None}
    assert 1 == shown.output.count("BLOCKED")
    assert "unasked  one repair per node" in shown.output


def test_the_open_incident_is_named(tmp_path: Path) -> None:
    """Where records are kept, the one that is open is the place to answer and to read on."""
    target = ref(MACHINE_AT.kind, "w0", "machine-api")
    found = Detection(target, "machine-w0", "0123456789", NOW.wall, "n0")
    name = ref(INCIDENT, "n0-0123456789", SYSTEM)
    [told] = as_json(tmp_path, "w0", trees=[*a_pool("Unknown"), incident_body(name, "v1alpha1", found)])

    assert "n0-0123456789" == told["incident"]


def test_what_runs_is_told(tmp_path: Path) -> None:
    """A repair that a room has begun is named with it."""
    trees = a_pool("Unknown")
    trees[0]["metadata"]["annotations"] = {"host.metal3.io/external-remediation": "check example"}
    result = explained(tmp_path, "w0", "--now", LATER, trees=trees)

    assert 0 == result.exit_code
    assert "running" in result.output
