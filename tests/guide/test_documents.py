"""Every document that the guide prints can be applied: `node-remedy check --strict` finds nothing, not even a note."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tests.cli.test_plan_fencing import installed
from tests.guide.page import GUIDE

from noderemedy.cli import check
from noderemedy.cli.main import cli
from noderemedy.wire.configuration import read_configuration

BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in sorted(GUIDE.glob("*.md"))
    for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), start=1)
]
NOT_OURS = ("ClusterRole",)  # of Kubernetes, and nothing that `check` looks at
FENCED = [{"nodeEventReason": "Other", "remedy1": {"name": "fence"}}]


def whole(text: str) -> dict[str, Any]:
    """A part of a Configuration with what it lacks: head, thresholds, and the remedies that these name."""
    tree: dict[str, Any] = {"apiVersion": "node-remedy/v1alpha", "kind": "Configuration", "thresholdConfigs": FENCED}
    tree |= yaml.safe_load(text)
    names = {one[key]["name"] for one in tree["thresholdConfigs"] for key in one if key.startswith("remedy")}
    return tree | {"remedyConfigs": [{"name": name, "nodeFence": {}} for name in sorted(names)]}


def faults(tree: dict[str, Any]) -> tuple[str, ...]:
    read = read_configuration(yaml.safe_dump(tree))
    return (*read.problems, *read.hints)


@pytest.mark.parametrize("block", PRINTED)
def test_a_printed_document_has_no_fault(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands there; a part of a document together with what it names."""
    if not block.startswith("apiVersion"):
        assert () == faults(whole(block))
        return
    kinds = [tree["kind"] for tree in yaml.safe_load_all(block)]
    if all(kind in NOT_OURS for kind in kinds):
        return
    monkeypatch.setattr(check, "describe_here", lambda agent, agents_path: installed(agent))
    monkeypatch.setattr(check, "installed", lambda where: ("fence_aws",))
    file = tmp_path / "printed.yaml"
    file.write_text(block, encoding="utf-8")

    result = CliRunner().invoke(cli, ["check", "--strict", "-f", str(file)], standalone_mode=False)

    assert (None, 0) == (result.exception, result.return_value), result.output


@pytest.mark.parametrize("fault", [{"remedyConfigs": []}, {"alarm": []}])
def test_a_part_with_a_fault_is_found(fault: dict[str, Any]) -> None:
    """A remedy that is named and not defined is pointed at, and so is a field that nobody knows."""
    assert 1 == len(faults(whole("thresholdConfigs: [{nodeEventReason: Oops, remedy1: {name: reboot}}]") | fault))
