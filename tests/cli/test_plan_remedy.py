"""`node-remedy plan` on Configuration documents: the seed's own example, the guide's, and broken ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from noderemedy.cli.plan import plan

ROOT = Path(__file__).parent.parent.parent
NOW = "2030-03-17T17:46:40Z"


def planned(*files: Path | str) -> list[dict[str, Any]]:
    names = [part for file in files for part in ("-f", str(file))]
    result = CliRunner().invoke(plan, [*names, "--now", NOW, "-o", "json"])
    assert not result.exception, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def told(entries: list[dict[str, Any]], room: str) -> list[dict[str, Any]]:
    return [one for entry in entries if entry["room"] == room for one in entry["because"]]


def test_the_seeds_example() -> None:
    """What is missing in it is told, and the sick node gets its first remedy."""
    found = planned(ROOT / "examples" / "node-remedy-seed")

    assert ["WriteRemedyRecord"] == [one["do"] for entry in found for one in entry["actions"]]
    assert ["DocumentHint"] * 3 == [one["reason"] for one in told(found, "configuration")]
    assert [("RemedyOrdered", "repair")] == [(one["reason"], one["remedy"]) for one in told(found, "remedy")]


def test_a_broken_document_is_told_with_its_line(tmp_path: Path) -> None:
    """File, line, field and remedy, and nothing is planned."""
    text = (ROOT / "examples" / "node-remedy-seed" / "compute.yaml").read_text(encoding="utf-8")
    (tmp_path / "broken.yaml").write_text(text.replace("nodeConditionPeriod: 10m", "nodeConditionPeriod: ten"))
    found = planned(tmp_path, ROOT / "examples" / "node-remedy-seed" / "node.yaml")

    assert [] == [one["do"] for entry in found for one in entry["actions"]]
    [problem] = told(found, "configuration")
    assert "config.yaml:21: thresholdConfigs[1].nodeConditionPeriod: 'ten'" in problem["problem"]
