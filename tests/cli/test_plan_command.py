"""`node-remedy plan` on files: examples, dumps, standard input, folders, garbage, and what it prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.calling import called

from noderemedy.cli.main import cli

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "annotation-power-cycle"
NOW = "2030-01-31T12:02:00Z"

STAGES = {
    "1-marked": ["AddRebootAnnotation"],
    "2-held": [],
    "3-off": ["BackUpNode"],
    "4-backed-up": ["DeleteNode"],
    "5-node-gone": ["RemoveRemediationAnnotation"],
    "6-unmarked": ["RemoveRebootAnnotation", "OpenIncident"],
    "7-booting": [],
    "8-returned": ["RestoreNode"],
    "9-restored": ["DropBackup", "OpenIncident"],
}


def example(stage: str) -> Path:
    return EXAMPLES / f"{stage}.yaml"


def run(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli, ["plan", *map(str, arguments)], input=stdin)


def entries(*arguments: str | Path, stdin: str | bytes | None = None, now: str = NOW) -> list[dict[str, Any]]:
    result = run(*arguments, "--now", now, "-o", "json", stdin=stdin)
    assert 0 == result.exit_code, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def actions(found: list[dict[str, Any]]) -> list[str]:
    return [action["do"] for entry in found for action in entry["actions"]]


def reasons(found: list[dict[str, Any]]) -> list[str]:
    return [reason["reason"] for entry in found for reason in entry["because"]]


def documents(stage: str) -> list[dict[str, Any]]:
    return [tree for tree in yaml.safe_load_all(example(stage).read_text()) if tree]


# --- what is planned -------------------------------------------------------------------------------------


def test_every_example_is_a_stage() -> None:
    """No example is left untested."""
    assert sorted(STAGES) == sorted(path.stem for path in EXAMPLES.iterdir())


@pytest.mark.parametrize("stage", STAGES)
def test_examples_show_the_whole_flow(stage: str) -> None:
    """Each example is one stage of the repair, and its plan is the next step."""
    assert STAGES[stage] == actions(entries("-f", example(stage)))


def test_deletion_shows_its_proof() -> None:
    """The plan to delete a node names the proof, in camelCase, with moments people can read."""
    [entry] = entries("-f", example("4-backed-up"))
    [action] = entry["actions"]

    assert "annotation" == entry["room"]
    assert "Machine/metal3/worker-1" == entry["key"]
    assert "Node//worker-1" == action["ref"]
    assert "PoweredOff" == action["proof"]["proof"]
    assert "2030-01-31T12:00:30Z" == action["proof"]["heldSince"]
    assert action["guard"]["uid"] == action["proof"]["subject"]["nodeUid"]


def test_backup_shows_maps_as_maps() -> None:
    """Labels and annotations of a backup are objects, taints a list."""
    [entry] = entries("-f", example("3-off"))
    backup = entry["actions"][0]["backup"]

    assert {"kubernetes.io/hostname": "worker-1", "rack": "a"} == backup["labels"]
    assert [{"key": "dedicated", "effect": "NoSchedule", "value": "db"}] == backup["taints"]


def test_next_look_follows_now() -> None:
    """A wait that is not over has a next look; once it is over there is an alert, and its slot goes back later."""
    [waiting] = entries("-f", example("2-held"), now="2030-01-31T12:02:00Z")
    [overdue] = entries("-f", example("2-held"), now="2030-01-31T12:02:30Z")

    assert ("2030-01-31T12:02:30Z", "WaitingForPowerOff") == (waiting["wakeAt"], reasons([waiting])[-1])
    assert ("2030-01-31T12:12:30Z", "PowerOffOverdue") == (overdue["wakeAt"], reasons([overdue])[-1])


def test_node_overdue_follows_now() -> None:
    """Ten minutes after the deletion the missing node is an alert."""
    assert "2030-01-31T12:11:30Z" == entries("-f", example("7-booting"))[0]["wakeAt"]
    assert "NodeOverdue" in reasons(entries("-f", example("7-booting"), now="2030-01-31T12:11:30Z"))


def test_hold_without_a_record_counts_as_old() -> None:
    """A plan has watched since long ago: a hold of unknown age on a host that is on is overdue."""
    trees = documents("2-held")
    host = next(tree for tree in trees if tree["kind"] == "BareMetalHost")
    del host["metadata"]["annotations"]["remediation.metal3.io/hold"]

    assert "PowerOffOverdue" in reasons(entries("-f", "-", stdin=yaml.safe_dump_all(trees)))


def test_objects_written_by_hand_need_no_uid() -> None:
    """Files without uid and resourceVersion can be planned on, up to the deletion of a node."""
    trees = documents("4-backed-up")
    for tree in trees:
        for key in ("uid", "resourceVersion"):
            del tree["metadata"][key]
    for key in ("remediation.metal3.io/node-backup", "remediation.metal3.io/hold"):  # both name the Node
        [notes] = [tree["metadata"]["annotations"] for tree in trees if key in tree["metadata"].get("annotations", {})]
        notes[key] = json.dumps({**json.loads(notes[key]), "nodeUid": "Node//worker-1"})

    assert ["DeleteNode"] == actions(entries("-f", "-", stdin=yaml.safe_dump_all(trees)))


def test_nothing_to_do_is_an_empty_list() -> None:
    """Keys with neither action, reason nor wake are left out."""
    trees = [tree for tree in documents("1-marked") if tree["kind"] == "Node"]

    assert [] == entries("-f", "-", stdin=yaml.safe_dump_all(trees))


# --- what it reads ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", ["List", "kinds", "json", "array"])
def test_dumps_of_kubectl(wrap: str, tmp_path: Path) -> None:
    """A List, the API's own lists, JSON and a bare array hold the same objects as separate documents."""
    trees = documents("1-marked")
    made: dict[str, tuple[str, str]] = {
        "List": ("d.yaml", yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": trees})),
        "json": ("d.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": trees})),
        "array": ("d.json", json.dumps(trees)),
        "kinds": ("d.yaml", yaml.safe_dump_all(typed_list(tree) for tree in trees)),
    }
    name, text = made[wrap]
    (tmp_path / name).write_text(text)

    assert ["AddRebootAnnotation"] == actions(entries("-f", tmp_path / name))


def typed_list(tree: dict[str, Any]) -> dict[str, Any]:
    """As the API itself lists: the items do not repeat their kind."""
    item = {key: value for key, value in tree.items() if key not in ("apiVersion", "kind")}
    return {"apiVersion": tree["apiVersion"], "kind": f"{tree['kind']}List", "items": [item]}


def test_standard_input_and_folders(tmp_path: Path) -> None:
    """`-` reads standard input; a folder is read with all that is below it, other files are not looked at."""
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    [machine, *others] = documents("1-marked")
    (deep / "machine.yml").write_text(yaml.safe_dump(machine))
    (tmp_path / "others.json").write_text(json.dumps(others[0]))
    (tmp_path / "others.yaml").write_text(yaml.safe_dump_all(others[1:]))
    (tmp_path / "notes.txt").write_text("{{{ not yaml")

    assert ["AddRebootAnnotation"] == actions(entries("-f", tmp_path))
    assert ["AddRebootAnnotation"] == actions(entries("-f", "-", stdin=example("1-marked").read_text()))


def test_kinds_we_do_not_know_are_ignored() -> None:
    """Pods, CRDs and strangers in a dump change nothing."""
    strangers = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 3}},
        {"apiVersion": "example.com/v1", "kind": "Node", "metadata": {}},
    ]
    text = yaml.safe_dump_all([*strangers, *documents("1-marked")])

    assert ["AddRebootAnnotation"] == actions(entries("-f", "-", stdin=text))


def test_last_of_two_counts(tmp_path: Path) -> None:
    """An object that is given twice counts as its last version, with a note on standard error."""
    result = run("-f", example("1-marked"), "-f", example("2-held"), "--now", NOW, "-o", "json")

    assert [] == actions(json.loads(result.stdout))
    assert "Note:" in result.stderr
    assert "BareMetalHost/metal3/host-1 is given twice" in result.stderr


def test_unreadable_object_is_set_aside() -> None:
    """An object that does not decode is an entry of its own; the others are planned, and the exit code is 0."""
    broken = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "bad", "labels": {"a": 7}}}
    nameless = {"apiVersion": "v1", "kind": "Node", "metadata": {"labels": {}}}
    ready = {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2030-01-31T11:00:00Z"}]}
    well = [{**broken, "metadata": {"name": f"well-{number}"}, "status": ready} for number in range(5)]
    text = yaml.safe_dump_all([broken, nameless, *well, *documents("1-marked")])

    found = entries("-f", "-", stdin=text)

    assert ["AddRebootAnnotation"] == actions(found)
    aside = [entry for entry in found if entry["room"] == "quarantine"]
    assert ["Node//", "Node//bad"] == [entry["key"] for entry in aside]
    assert "ObjectUnreadable" == aside[1]["because"][0]["reason"]
    problem = aside[1]["because"][0]["problem"]
    assert "metadata.labels.a: a number where a text is expected; write it in quotes" == problem


def test_unreadable_node_is_not_an_absent_one() -> None:
    """A node that cannot be read is not taken for deleted: the mark stays, and the plan says why."""
    trees = documents("5-node-gone")
    broken = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1", "labels": {"a": 7}}}

    found = entries("-f", "-", stdin=yaml.safe_dump_all([*trees, broken]))

    assert [] == actions(found)
    assert "NodeUnreadable" in reasons(found)


# --- what it refuses -------------------------------------------------------------------------------------

GARBAGE = {
    "broken.yaml": (b"a: [1\nb: 2\n", "broken.yaml:2:"),
    "scalar.yaml": (b"hello\n", "holds 'hello' where a Kubernetes object is expected"),
    "empty.yaml": (b"", "nothing in there"),
    "twice.yaml": (b"kind: Node\nkind: Pod\n", "key 'kind' is given twice"),
    "binary.json": (b"\xff\xd8\xff\xe0", "not UTF-8"),
    "half.json": (b'{"kind": "List", "items": [', "half.json:1:"),
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    """Unusable input ends with exit code 2 and one line that names file and remedy; nothing is printed."""
    content, problem = GARBAGE[name]
    (tmp_path / name).write_bytes(content)

    result = called("plan", "-f", tmp_path / name)

    assert (2, "") == (result.returncode, result.stdout)
    assert problem in result.stderr
    assert 1 == len(result.stderr.splitlines())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-f", "no/such/file.yaml"], "no/such/file.yaml: No such file"),
        (["-f", str(EXAMPLES), "--now", "noon"], "'noon' is not a time like 2030-01-31T12:00:00Z"),
        (["-f", str(EXAMPLES), "--context", "x"], "leave one of them out"),
        (["-f", str(EXAMPLES), "-o", "xml"], "'xml' is not one of"),
        (["--kubeconfig", "no/such/config"], "no/such/config"),
    ],
)
def test_bad_usage_names_the_remedy(arguments: list[str], problem: str) -> None:
    """A wrong argument ends with exit code 2 and says what would be right."""
    result = called("plan", *arguments)

    assert 2 == result.returncode
    assert problem in result.stderr
    assert "Traceback" not in result.stderr


def test_folder_without_files(tmp_path: Path) -> None:
    """An empty folder is said to be empty."""
    result = called("plan", "-f", tmp_path)

    assert 2 == result.returncode
    assert "no file that ends in" in result.stderr


def test_dump_without_our_kinds_says_so() -> None:
    """An empty list is a world in which there is nothing to do, and that is said."""
    result = run("-f", "-", "-o", "json", stdin="apiVersion: v1\nkind: List\nitems: []\n")

    assert (0, "[]\n") == (result.exit_code, result.stdout)
    assert "no object of a kind that node-remedy looks at" in result.stderr


# --- what it prints --------------------------------------------------------------------------------------


def command(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The installed command, as a process of its own."""
    program = Path(sys.executable).with_name("node-remedy")
    line = [str(program), "plan", *map(str, arguments)]
    return subprocess.run(line, input=stdin, capture_output=True, text=True, check=False, timeout=60)


def test_text_for_people() -> None:
    """A real process prints actions, the reasons' sentences and the next look, without colour in a pipe."""
    held = command("-f", example("2-held"), "--now", NOW)
    marked = command("-f", example("1-marked"), "--now", NOW)

    assert (0, 0) == (held.returncode, marked.returncode)
    assert "AddRebootAnnotation BareMetalHost/metal3/host-1" in marked.stdout
    assert "waiting for host metal3/host-1 to be powered off" in held.stdout
    assert "2030-01-31T12:02:30Z (in 30s)" in held.stdout
    assert "\x1b" not in held.stdout


def test_an_object_without_a_namespace_is_called_without_one(tmp_path: Path) -> None:
    """Two slashes in a row look like something that is missing."""
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "bad", "labels": {"a": 7}}})

    (tmp_path / "a.yaml").write_text(f"{text}---\n{text}")

    shown = called("plan", "-f", tmp_path)

    assert "Node/bad  (quarantine)" in shown.stdout
    assert "Node/bad is given twice" in shown.stderr


def test_real_now_is_the_default() -> None:
    """Without --now the clock of this machine counts."""
    result = called("plan", "-f", example("1-marked"), "-o", "json")

    assert ["AddRebootAnnotation"] == actions(json.loads(result.stdout))


def test_closed_pipe_is_no_traceback() -> None:
    """When whoever reads our output has gone, we end quietly."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    program = Path(sys.executable).with_name("node-remedy")
    line = [str(program), "plan", "-f", str(example("1-marked")), "-o", "json"]

    done = subprocess.run(line, stdout=write_end, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(write_end)

    assert b"" == done.stderr
    assert 0 != done.returncode
