"""The sixteen rows of seed 001's truth table, as YAML files through `node-remedy plan`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from noderemedy.cli.main import cli
from noderemedy.core.metal3 import annotation
from noderemedy.manager import plan as planning
from noderemedy.manager.sources import Source
from noderemedy.model.decision import NOTHING
from noderemedy.model.room import Room
from noderemedy.model.time import Wall
from noderemedy.rooms import ROOMS

NOW = "2030-01-31T12:02:00Z"
HOLD = '{"machineUid":"m","since":"2030-01-31T12:01:30Z","token":1}'

# node, needs remediation, powered on, held -> what the seed says, and what is done about it first
ROWS: dict[tuple[int, int, int, int], tuple[str, str]] = {
    (0, 1, 1, 0): ("Add reboot annotation", "AddRebootAnnotation"),
    (1, 1, 1, 0): ("Add reboot annotation", "AddRebootAnnotation"),
    (1, 1, 0, 1): ("Delete node", "BackUpNode"),
    (0, 0, 1, 0): ("nothing", ""),
    (0, 0, 1, 1): ("nothing", ""),
    (0, 1, 0, 0): ("nothing", ""),
    (0, 1, 1, 1): ("nothing", ""),
    (1, 0, 0, 0): ("nothing", ""),
    (1, 0, 1, 0): ("nothing", ""),
    (1, 0, 1, 1): ("nothing", ""),
    (1, 1, 0, 0): ("nothing", ""),
    (1, 1, 1, 1): ("nothing", ""),
    (0, 1, 0, 1): ("Remove needs-remediation annotation", "RemoveRemediationAnnotation"),
    (0, 0, 0, 1): ("Remove reboot annotation", "RemoveRebootAnnotation"),
    (1, 0, 0, 1): ("Remove reboot annotation", "RemoveRebootAnnotation"),
    (0, 0, 0, 0): ("nothing", ""),
}


def world(node: int, needs: int, on: int, held: int) -> list[dict[str, Any]]:
    """A Machine, its host and, perhaps, its Node in the state of one row."""
    mark = {"host.metal3.io/external-remediation": ""} if needs else {}
    hold = {"reboot.metal3.io/machine-remediation": "{}", "remediation.metal3.io/hold": HOLD} if held else {}
    machine = {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Machine",
        "metadata": {
            "name": "m1",
            "namespace": "metal3",
            "uid": "m",
            "resourceVersion": "1",
            "annotations": {"metal3.io/BareMetalHost": "metal3/h1", **mark},
        },
        "status": {"nodeRef": {"name": "n1"}},
    }
    host = {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": {
            "name": "h1",
            "namespace": "metal3",
            "uid": "h",
            "resourceVersion": "2",
            "annotations": hold,
        },
        "spec": {"online": True, "consumerRef": {"kind": "Machine", "name": "m1", "namespace": "metal3"}},
        "status": {"poweredOn": bool(on), "provisioning": {"state": "provisioned"}},
    }
    there = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "uid": "n", "resourceVersion": "3"},
        "status": {"nodeInfo": {"bootID": "b"}},
    }
    return [machine, host, there] if node else [machine, host]


def summary(entries: list[dict[str, Any]]) -> tuple[str, str]:
    """What the table said, and the first action, of a plan of at most one entry; what is written down is no row."""
    found = [entry for entry in entries if entry["room"] not in planning.KEEPING_RECORDS]
    assert len(found) <= 1
    for entry in found:
        says = [reason["says"] for reason in entry["because"] if reason["reason"] == "TableRow"]
        return says[0], entry["actions"][0]["do"] if entry["actions"] else ""
    return "nothing", ""


@pytest.mark.parametrize("row", ROWS)
def test_row(row: tuple[int, int, int, int], tmp_path: Path) -> None:
    """A file in the state of a row yields what the seed prints for that row."""
    file = tmp_path / "world.yaml"
    file.write_text(yaml.safe_dump_all(world(*row)))

    result = CliRunner().invoke(cli, ["plan", "-f", str(file), "--now", NOW, "-o", "json"])

    assert 0 == result.exit_code, result.output
    assert ROWS[row] == summary(json.loads(result.stdout))


def wrong_rows(rooms: tuple[Room, ...]) -> list[tuple[int, int, int, int]]:
    """The rows for which a plan of these rooms does not say what the seed says."""
    now = Wall(1_896_091_320_000)

    def planned(row: tuple[int, int, int, int]) -> tuple[str, str]:
        made = planning.on_trees([Source(tree, "test") for tree in world(*row)], now, rooms)
        return summary([entry.plain() for entry in made.entries])

    return [row for row, expected in ROWS.items() if expected != planned(row)]


def test_rows_can_be_wrong() -> None:
    """Sabotage: a room that decides nothing fails the rows that demand something, and no others."""
    room = annotation.ROOM
    sabotaged = Room(room.name, room.watches, room.indexes, room.wakes, room.sees, lambda view, now: NOTHING, room.may)

    assert [] == wrong_rows(ROOMS)
    assert [row for row, (says, _) in ROWS.items() if says != "nothing"] == wrong_rows((sabotaged,))
