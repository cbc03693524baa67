"""`node-remedy lab --once --json` for every scenario, in processes of their own; and how it fails."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.lab.running import FAST, ROOT, command, environment, lab

from noderemedy.cli.lab import Wishes, run
from noderemedy.core.healthcheck.modes import Way
from noderemedy.lab.files import Folder
from noderemedy.lab.lab import Size, open_lab
from noderemedy.lab.once import Play, Report
from noderemedy.lab.scenarios import SCENARIOS, End
from noderemedy.model.errors import Permanent
from noderemedy.model.host import Host, Power
from noderemedy.model.ids import HOST
from noderemedy.wire import objects

KEYS = ["scenario", "ok", "seconds", "nodes", "freedBeforeSafe", "actions"]
NODE_KEYS = ["name", "recovered", "secondsToSafe", "secondsToRecover"]
ACTION_KEYS = ["do", "object", "second"]
BOOKKEEPING = {"PublishCheckStatus", "WriteLedger", "ClaimRepair", "OpenIncident", "WriteIncident"}
WHOLE = [
    "MarkMachine",
    "AddRebootAnnotation",
    "BackUpNode",
    "DeleteNode",
    "RemoveRemediationAnnotation",
    "RemoveRebootAnnotation",
    "RestoreNode",
    "DropBackup",
]
ONE_NODE = [name for name, scenario in SCENARIOS.items() if scenario.end is End.BACK and scenario.faults]


@pytest.fixture(scope="module")
def reports() -> dict[str, tuple[int, dict[str, Any]]]:
    """Exit code and report of every scenario. Two at a time: a lab that waits for a processor takes nodes for dead."""

    def play(name: str) -> tuple[int, dict[str, Any]]:
        ended = lab("--once", "--json", "--speed", FAST, "--scenario", name, folder=ROOT)
        return ended.returncode, json.loads(ended.stdout)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(SCENARIOS, pool.map(play, SCENARIOS), strict=True))


def acts(report: dict[str, Any]) -> list[str]:
    """What was done for the nodes: the status of the check, reservations and claims are left out."""
    return [action["do"] for action in report["actions"] if action["do"] not in BOOKKEEPING]


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_ends_as_it_should(reports: dict[str, tuple[int, dict[str, Any]]], name: str) -> None:
    """The exit code is 0, nothing was freed before it was safe, and the report has exactly the promised keys."""
    code, report = reports[name]

    assert (0, True, 0) == (code, report["ok"], report["freedBeforeSafe"]), report
    assert KEYS == list(report)
    assert [NODE_KEYS] * len(report["nodes"]) == [list(node) for node in report["nodes"]]
    assert [ACTION_KEYS] * len(report["actions"]) == [list(action) for action in report["actions"]]


@pytest.mark.parametrize("name", [name for name in ONE_NODE if not SCENARIOS[name].whole_rack])
def test_a_node_that_comes_back_was_safe_first(reports: dict[str, tuple[int, dict[str, Any]]], name: str) -> None:
    """The manager does its eight acts in order, the Node goes after the power, and the node comes back last."""
    report = reports[name][1]
    (node,) = report["nodes"]
    deleted = next(action["second"] for action in report["actions"] if action["do"] == "DeleteNode")

    assert WHOLE == acts(report)
    assert node["recovered"]
    assert 0 < node["secondsToSafe"] < deleted < node["secondsToRecover"] <= report["seconds"]


def test_a_machine_is_replaced_after_its_instance_has_gone(reports: dict[str, tuple[int, dict[str, Any]]]) -> None:
    """Recorded, deleted, its Node freed when nothing can write, then one successor, and the old one is let go."""
    report = reports["replaced-machine"][1]
    (node,) = report["nodes"]
    acts = [(action["do"], action["second"]) for action in report["actions"]]
    order = ["RecordReplacement", "DeleteMachine", "DeleteNode", "CreateMachine", "ForgetReplacement"]

    assert order == [do for do, _ in acts if do in order]
    assert 0 < node["secondsToSafe"] < dict(acts)["DeleteNode"] < node["secondsToRecover"]


def test_a_dead_bmc_frees_nothing(reports: dict[str, tuple[int, dict[str, Any]]]) -> None:
    """The host is held and that is all: no Node is deleted, nobody says that it is safe."""
    report = reports["bmc-down"][1]

    assert ["MarkMachine", "AddRebootAnnotation"] == acts(report)
    assert [(False, None, None)] == [
        (node["recovered"], node["secondsToSafe"], node["secondsToRecover"]) for node in report["nodes"]
    ]


def test_a_node_that_never_returns_keeps_its_backup(reports: dict[str, tuple[int, dict[str, Any]]]) -> None:
    """The workload is freed after the power went, the node does not come back, its backup is not dropped."""
    report = reports["no-return"][1]

    # A health check may ask for another power cycle of a node that is missing for long: that frees nothing more.
    assert WHOLE[:-2] == acts(report)[:6]
    assert set(WHOLE[:-2]) == set(acts(report))
    assert [(False, None)] == [(node["recovered"], node["secondsToRecover"]) for node in report["nodes"]]
    assert report["nodes"][0]["secondsToSafe"] > 0


def test_a_whole_rack_is_held(reports: dict[str, tuple[int, dict[str, Any]]]) -> None:
    """None of its four nodes is touched: that many at once are the rack's fault, and power cycling helps nobody."""
    report = reports["rack"][1]

    assert [False] * 4 == [node["recovered"] for node in report["nodes"]]
    assert not set(WHOLE) & set(acts(report))


def test_progress_is_told_in_plain_lines(tmp_path: Path) -> None:
    """Without --json the steps are told in order, and the last lines say how it ended."""
    found = lab("--once", "--speed", FAST, "--scenario", "crash", "--nodes", "3", folder=tmp_path)
    text = found.stdout
    steps = ["kernel panics", "not ready", "marked", "held off", "power is off", "Node is deleted", "back and ready"]

    assert 0 == found.returncode, text
    assert sorted(range(len(steps)), key=lambda i: text.index(steps[i])) == list(range(len(steps)))
    assert "scenario crash ended as it should" in text
    assert [] == list(tmp_path.iterdir()), "a run with --once leaves nothing behind"


def test_ci_runs_one_scenario_and_ends(tmp_path: Path) -> None:
    """With CI=true `node-remedy lab` ends by itself, with an exit code."""
    found = lab("--speed", FAST, "--nodes", "1", folder=tmp_path, CI="true")

    assert 0 == found.returncode
    assert "ended as it should" in found.stdout


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["bmc-down", "no-return"])
def test_alerts_come_by_the_real_clock(tmp_path: Path, name: str) -> None:
    """With --until-alert a run waits for the manager's own alert: 120 s and 600 s, which nothing shortens."""
    arguments = ["--once", "--speed", FAST, "--scenario", name, "--until-alert"]
    found = subprocess.run(
        command(*arguments), cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )

    assert 0 == found.returncode, found.stdout
    assert "ALERT" in found.stdout


# --- seen red ------------------------------------------------------------------------------------------------


def play(folder: Path, scenario: str) -> Report:
    async def run() -> Report:
        held = Folder(folder)
        try:
            async with open_lab(Size(nodes=4, speed=400.0), held) as running:
                await running.ready()
                return await Play(running, scenario).run()
        finally:
            held.close()

    return asyncio.run(run())


@pytest.fixture
def quiet_logs() -> Iterator[None]:
    """Give the test process its own log handlers back."""
    handlers, level = list(logging.root.handlers), logging.root.level
    yield
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


def held_counts_as_off(shape: Any) -> Host:
    """The sabotage: whoever asked for the power to go believes that it went."""
    host = objects.host(shape)
    return msgspec.structs.replace(host, power=Power.OFF) if host.held else host


@pytest.mark.parametrize("is_sabotaged", [True, False])
def test_freeing_too_early_is_seen(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    quiet_logs: None,
    is_sabotaged: bool,
) -> None:
    """If a held host counts as off, the observer counts what was freed too early and the command fails."""
    if is_sabotaged:
        monkeypatch.setitem(objects.READERS, HOST, (objects.READERS[HOST][0], held_counts_as_off))

    code = run(Wishes(Size(nodes=4, speed=400.0), "bmc-down", 0, is_once=True, is_json=True), tmp_path)
    report = json.loads(capsys.readouterr().out)

    assert is_sabotaged == (report["freedBeforeSafe"] > 0)
    assert (int(is_sabotaged), not is_sabotaged) == (code, report["ok"])


def test_a_broken_world_is_not_ok(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a simulated part breaks, the run says so instead of calling the outcome right."""
    monkeypatch.setattr("noderemedy.sim.workload.Attacher._reconcile", lambda *_: 1 // 0)

    with pytest.raises(Permanent, match="the workload does not run"):
        play(tmp_path, "crash")


def test_a_manager_that_does_nothing_is_not_ok(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that nobody repairs ends in ok = false, after the time that the world would have needed."""
    monkeypatch.setattr("noderemedy.lab.once.OVERHEAD_MS", 500)
    for module in ("modes", "remediation", "remediationgates"):
        monkeypatch.setattr(f"noderemedy.core.healthcheck.{module}.way_of", lambda check, machine: Way.DELETION)

    report = play(tmp_path, "crash")

    assert (False, 0) == (report.ok, report.freed_before_safe)
    assert {one.do for one in report.actions} <= BOOKKEEPING
    assert [False] == [node.recovered for node in report.nodes]
