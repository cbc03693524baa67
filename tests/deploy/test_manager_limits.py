"""What the shipped Deployment grants the manager, held against what may run in its container at once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from noderemedy.core.fencing.merging import PATIENCE
from noderemedy.drivers.fence.verify import MORE_S
from noderemedy.manager.runs import DRILLS_AT_ONCE, FENCES_AT_ONCE

TEXT = (Path(__file__).parents[2] / "deploy" / "manager" / "deployment.yaml").read_text(encoding="utf-8")
MIB = {"Mi": 1, "Gi": 1024}
MANAGER = 166_000_000 / 2**20  # at its peak, with 5,000 nodes (docs/performance.md)
AGENT = 45  # private memory of fence_aws, the largest that was measured


def pod(text: str) -> dict[str, Any]:
    tree: dict[str, Any] = next(iter(yaml.safe_load_all(text)))
    spec: dict[str, Any] = tree["spec"]["template"]["spec"]
    return spec


def mebibytes(quantity: str) -> int:
    return int(quantity[:-2]) * MIB[quantity[-2:]]


def assert_enough_memory(text: str) -> None:
    """All agents that may run at once fit beside the manager, and its scratch folder, which is memory, too."""
    scratch = mebibytes(pod(text)["volumes"][0]["emptyDir"]["sizeLimit"])
    needed = MANAGER + (FENCES_AT_ONCE + DRILLS_AT_ONCE) * AGENT + scratch
    assert needed < mebibytes(pod(text)["containers"][0]["resources"]["limits"]["memory"])


def assert_waited_for(text: str) -> None:
    """A stop waits for a run whose method has no timeout of its own, or the longest one of our examples."""
    files = (Path(__file__).parents[2] / "examples").glob("*/*.yaml")
    told = [int(found) for file in files for found in re.findall(r"^ *timeout=(\d+)$", file.read_text(), re.MULTILINE)]
    assert told
    assert max(PATIENCE.ms / 1000, *told) + MORE_S <= pod(text)["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("check", [assert_enough_memory, assert_waited_for])
def test_the_manager_is_granted_what_it_needs(check: Any) -> None:
    """A container that outgrows its limit is ended with all its agents, in the middle of a rack's repairs."""
    check(TEXT)


@pytest.mark.parametrize(
    ("check", "line", "instead"),
    [
        (assert_enough_memory, "memory: 2Gi", "memory: 512Mi"),
        (assert_enough_memory, "sizeLimit: 32Mi", "sizeLimit: 512Mi"),
        (assert_waited_for, "terminationGracePeriodSeconds: 300", "terminationGracePeriodSeconds: 240"),
    ],
)
def test_sabotage_is_seen(check: Any, line: str, instead: str) -> None:
    """Less memory, more scratch or less time makes a difference."""
    assert line in TEXT

    with pytest.raises(AssertionError):
        check(TEXT.replace(line, instead))
