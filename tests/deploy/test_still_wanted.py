"""Whether a remedy pod finds its node in trouble still: still-wanted.yaml, run by Ansible against a Node in a file.

What it finds has to be what the manager finds (`core/remedy/recovery.py`). tests/e2e/test_playbooks.py runs it whole.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.builders import a_node_tree

from noderemedy.core.remedy.recovery import is_well
from noderemedy.model.configuration import Threshold
from noderemedy.model.ids import NODE
from noderemedy.wire.objects import convert

TASKS = Path(__file__).resolve().parents[2] / "deploy" / "remedy-image" / "runner" / "project" / "still-wanted.yaml"
ANSIBLE = Path(sys.executable).with_name("ansible-playbook")
ORDERED = {"episode": "0123456789", "phase": "running", "number": 1, "at": "2026-11-17T12:00:00Z"}
OLDER, NEWER = "2026-11-17T12:00:00Z", "2026-11-17T12:00:01Z"
pytestmark = pytest.mark.e2e

# What the threshold tracks, what the Node tells, and whether the trouble is over.
CONDITIONS = [
    ("Ready=False|Unknown", {"Ready": "True"}, True),
    ("Ready=False|Unknown", {"Ready": "False"}, False),
    ("Ready=False|Unknown", {"Ready": "Unknown"}, False),
    ("KernelDeadlock=True", {"Ready": "True", "KernelDeadlock": "True"}, False),
    ("KernelDeadlock=True", {"Ready": "True", "KernelDeadlock": "False"}, True),
    ("KernelDeadlock=True", {"Ready": "True", "KernelDeadlock": "Unknown"}, False),
    ("KernelDeadlock=True", {"Ready": "False", "KernelDeadlock": "False"}, True),
    ("KernelDeadlock=True", {"Ready": "True"}, True),
    ("KernelDeadlock=True", {"Ready": "Unknown"}, False),
]
# The same for events, of which a Node tells only until when they count for nothing.
EVENTS = [
    ({"Ready": "True"}, "", False),
    ({"Ready": "True"}, OLDER, False),
    ({"Ready": "True"}, NEWER, True),
    ({"Ready": "False"}, NEWER, False),
    ({"Ready": "True"}, "tomorrow", False),
    ({"Ready": "True"}, "2026-11-17T12:30:00+01:00", False),
]


def a_node(told: dict[str, str], **annotations: str) -> dict[str, Any]:
    tree = a_node_tree(annotations={"node-remedy.dev/remedy": json.dumps(ORDERED), **annotations})
    tree["status"]["conditions"] = [{"type": kind, "status": status} for kind, status in told.items()]
    return tree


def asked(
    folder: Path, node: dict[str, Any], tasks: Path = TASKS, **variables: str
) -> subprocess.CompletedProcess[str]:
    """What the tasks say when `kubectl` shows this Node."""
    if not ANSIBLE.exists():
        pytest.skip("missing: ansible-playbook (the extra e2e installs it)")
    folder.joinpath("node.json").write_text(json.dumps(node))
    kubectl = folder / "kubectl"
    kubectl.write_text(f"#!/bin/sh\nexec cat {folder}/node.json\n")
    kubectl.chmod(0o755)
    steps = {"hosts": "localhost", "connection": "local", "gather_facts": False}
    begun = {"has_begun": True} if variables.pop("begun", "") else {}
    play = {**steps, "tasks": [{"ansible.builtin.import_tasks": str(tasks), "vars": begun}]}
    folder.joinpath("play.yaml").write_text(yaml.safe_dump([play]))
    told = {
        "NODE_NAME": "worker-0",
        "NODE_UID": node["metadata"]["uid"],
        "NODE_BOOT_ID": node["status"]["nodeInfo"]["bootID"],
        "EPISODE": ORDERED["episode"],
        "REMEDY_NUMBER": "1",
        "NOT_AFTER": "2999-01-01T00:00:00Z",
        **variables,
    }
    path = os.pathsep.join([str(folder), str(ANSIBLE.parent), os.environ["PATH"]])
    environ = {"PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8", **told}
    command = [str(ANSIBLE), str(folder / "play.yaml")]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)


def is_refused(done: subprocess.CompletedProcess[str]) -> bool:
    """Because the node is well; everything else that could be wrong fails the test."""
    words = " ".join(done.stdout.split())
    assert done.returncode == 0 or "too late for node worker-0: it is well" in words, done.stdout + done.stderr
    return done.returncode != 0


@pytest.mark.parametrize(("threshold", "told", "is_over"), CONDITIONS, ids=str)
def test_a_condition_that_is_over(threshold: str, told: dict[str, str], is_over: bool, tmp_path: Path) -> None:
    """A node whose condition is over is left alone; over means what it means to the manager."""
    condition, _, statuses = threshold.partition("=")
    node = a_node(told)
    manager_says = is_well(convert(NODE, node).obj, Threshold(condition, tuple(statuses.split("|"))))

    assert (is_over, is_over) == (is_refused(asked(tmp_path, node, THRESHOLD=threshold)), manager_says)


@pytest.mark.parametrize(("told", "until", "is_over"), EVENTS, ids=str)
def test_events_that_count_no_more(told: dict[str, str], until: str, is_over: bool, tmp_path: Path) -> None:
    """Nobody tells a pod of new events, so it acts, unless the node was called repaired after the order."""
    notes = {"node-remedy.dev/remedied-at": until} if until else {}

    assert is_over == is_refused(asked(tmp_path, a_node(told, **notes), THRESHOLD="event KernelOops"))


def test_a_remedy_that_has_begun_goes_on(tmp_path: Path) -> None:
    """A drain may make the node well: what was begun is finished, and only the first step asks."""
    assert not is_refused(asked(tmp_path, a_node({"Ready": "True"}), THRESHOLD="Ready=False", begun="yes"))


def test_a_recovery_is_for_a_node_that_is_well(tmp_path: Path) -> None:
    """It runs because the trouble is over."""
    recovering = json.dumps({**ORDERED, "phase": "recovering", "number": 0})
    node = a_node({"Ready": "True"}, **{"node-remedy.dev/remedy": recovering})

    assert not is_refused(asked(tmp_path, node, THRESHOLD="Ready=False", REMEDY_NUMBER="0"))


def test_sabotage_not_asking_is_seen(tmp_path: Path) -> None:
    """Without the last question the remedy would hit the node that is well."""
    harmed = tmp_path / "harmed.yaml"
    harmed.write_text(yaml.safe_dump(yaml.safe_load(TASKS.read_text())[:-1]))
    node = a_node({"Ready": "True"})

    assert not is_refused(asked(tmp_path, node, harmed, THRESHOLD="Ready=False"))
    assert is_refused(asked(tmp_path, node, THRESHOLD="Ready=False"))
