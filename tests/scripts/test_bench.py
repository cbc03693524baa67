"""The benchmark works, and its table says so when a target is missed. It measures nothing here: machines are busy."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
SCRIPTS = ROOT / "scripts"


def bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / "bench.py"), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)


def test_the_part_without_a_server_measures(tmp_path: Path) -> None:
    """Heartbeats in process and a simulated hour give figures, as a table and as JSON."""
    output = tmp_path / "figures.json"

    done = bench("--quick", "--only", "inside", "-o", output)

    assert 0 == done.returncode, done.stderr
    figures = json.loads(output.read_text())
    assert [20, 100] == [one["nodes"] for one in figures["inside"]]
    assert all(one["us"] > 0 and one["readUs"] > 0 for one in figures["inside"])
    assert figures["simulator"]["timesRealTime"] > 1
    assert "simulator, checkers on" in done.stdout


def test_the_whole_benchmark_runs_on_the_simulated_server(tmp_path: Path) -> None:
    """Without a real API server the simulated one stands in; idle means no writes, a repair has its requests."""
    output = tmp_path / "figures.json"

    done = bench("--quick", "--only", "outside", "--simulated", "--nodes", "20", "-o", output)

    assert 0 == done.returncode, done.stdout + done.stderr
    figures = json.loads(output.read_text())
    size = figures["sizes"][0]
    assert figures["server"].startswith("simulated API server")
    assert (20, 2, 2) == (size["nodes"], size["repairs"], size["sick"])
    assert 0 == size["idleWrites"]
    assert size["requestsOfPowerCycle"]["effects"] >= 8
    assert size["requestsOfRemediation"]["effects"] >= 12
    assert size["heartbeats"] > 10


@pytest.mark.e2e
def test_the_whole_benchmark_runs_on_a_real_server(tmp_path: Path) -> None:
    """On a real kube-apiserver all figures are there, for nodes of the size of real ones."""
    output = tmp_path / "figures.json"

    done = bench("--quick", "--only", "outside", "-o", output)

    assert 0 == done.returncode, done.stdout + done.stderr
    figures = json.loads(output.read_text())
    if not figures["server"].startswith("real"):
        pytest.skip(figures["server"])
    assert 19_000 < figures["sizes"][0]["bytesPerNode"] < 21_000
    assert 0 == figures["sizes"][0]["idleWrites"]


GOOD: dict[str, Any] = {
    "nodes": 500,
    "bytesPerNode": 15_000,
    "usPerEvent": 120.0,
    "bareUsPerEvent": 100.0,
    "mb": 60.0,
    "bareMb": 50.0,
    "peakMb": 66.0,
    "stormMb": 99.0,
    "verdictsS": 1.2,
    "bareSyncS": 1.0,
    "holdMsP50": 12.0,
    "holdMsP99": 40.0,
    "sickMsP50": 12.0,
    "sickMsP99": 40.0,
    "writeMsP50": 5.0,
    "writeMsP99": 9.0,
    "storm": 500,
    "stormS": 3.0,
    "limited": 200,
    "limitedSick": 100,
    "limitedRequests": 79,
    "aboveLimit": 0,
    "requestsOfPowerCycle": {"patch machines": 6.0, "create events": 4.0},
    "requestsOfRemediation": {"patch metal3remediations": 5.0, "patch incidents": 1.0},
    "requestsOfExternal": {"create benchremediations": 1.0, "create events": 4.0},
    "idleWrites": 0.0,
    "idleCores": 0.002,
}
BAD = {
    "usPerEvent": 140.0,
    "mb": 90.0,
    "peakMb": 120.0,
    "verdictsS": 2.5,
    "holdMsP50": 31.0,
    "holdMsP99": 101.0,
    "sickMsP50": 31.0,
    "sickMsP99": 101.0,
    "stormS": 5.1,
    "aboveLimit": 1,
    "requestsOfPowerCycle": {"patch machines": 6.0, "create events": 4.5},
    "requestsOfRemediation": {"patch metal3remediations": 10.5},
    "requestsOfExternal": {"create benchremediations": 10.5},
    "idleWrites": 1.0,
    "idleCores": 0.06,
}


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the scripts that prints the table."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    from benching import table as module  # type: ignore[import-not-found]

    return module


@pytest.mark.parametrize(("many", "rank"), [(100, 99), (200, 198), (10, 10), (1, 1)])
def test_a_percentile_is_the_nearest_rank(monkeypatch: pytest.MonkeyPatch, many: int, rank: int) -> None:
    """One of a hundred may be late: that is what the 99th says. Of few values it is the worst."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    from benching import outside

    assert float(rank) == outside.percentile([float(one) for one in range(many, 0, -1)], 0.99)


def test_good_figures_meet_every_target(table: Any) -> None:
    """Each figure within its target is marked as met."""
    assert {True} == {line.is_met for line in table.of_size(GOOD)}


def test_requests_are_told_by_what_they_are_for(table: Any) -> None:
    """The repair itself, the words about it, and Events."""
    asked = {"patch machines": 5.0, "get nodes": 1.0, "patch incidents": 2.0, "list pods": 1.0, "create events": 3.0}

    line = table.requests("power cycle", asked)

    assert "12.0 (6.0 repair, 3.0 record and status, 3.0 Events)" == line.value


def test_growth_is_told(table: Any) -> None:
    """An event that costs more in a larger cluster is a miss of its own."""
    assert table.growth(GOOD, {**GOOD, "nodes": 5_000}).is_met
    assert not table.growth(GOOD, {**GOOD, "nodes": 5_000, "usPerEvent": 150.0}).is_met


@pytest.mark.parametrize("figure", BAD)
def test_a_missed_target_is_told(table: Any, figure: str) -> None:
    """One figure beyond its target turns its line red, and no line that does not depend on it."""
    red = [line for line in table.of_size({**GOOD, figure: BAD[figure]}) if not line.is_met]

    assert 1 <= len(red) <= 2
    assert all("NOT MET" in row for row in table.rows(red))


def test_who_follows_learns_of_what_went_while_the_stream_was_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a benchmark waits for requests to go that are gone."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    from benching.fleet import Fleet  # type: ignore[import-not-found]

    told: list[tuple[str, str]] = []
    streams = [["a", "b"], []]

    class Cut(Fleet):  # type: ignore[misc]
        def __init__(self) -> None:
            """It connects to nobody."""

        async def _stream(self, path: str, version: str, take: Any) -> None:
            if not streams:
                raise asyncio.CancelledError
            for name in streams.pop(0):
                take("ADDED", {"name": name})

        async def send(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
            return {"metadata": {"resourceVersion": "2"}, "items": [{"metadata": {"name": "b"}}]}

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(Cut()._follow("/x", "1", lambda type_, meta: told.append((type_, meta["name"]))))

    assert [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a"), ("MODIFIED", "b"), ("MODIFIED", "b")] == told
