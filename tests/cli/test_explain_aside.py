"""`explain` of machines that a check means and does not judge: which check, why, and what ends that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.test_explain_command import LATER, as_json, explained
from tests.cli.test_plan_health import EXAMPLE, a_pool

CHECK = "MachineHealthCheck/machine-api/example"
Tree = dict[str, Any]


def the_check(**spec: Any) -> Tree:
    """The example's check, with other words; it takes the place of that of the file before it."""
    tree: Tree = yaml.safe_load(EXAMPLE.read_text())
    tree["spec"].update(spec)
    return tree


def noted(name: str) -> Callable[[], list[Tree]]:
    """The pool, with an annotation on its first machine."""

    def trees() -> list[Tree]:
        pool = a_pool("Unknown")
        pool[0]["metadata"]["annotations"] = {name: ""}
        return pool

    return trees


def leaving() -> list[Tree]:
    check = the_check()
    check["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.org/wait"]}
    return [check, *a_pool("Unknown")]


# the world, why its check judges nothing, the gate that says so, words of the last line
ASIDE = [
    (
        lambda: [the_check(selector={}), *a_pool("Unknown")],
        "CheckInvalid",
        "check is valid",
        "this check is invalid and does nothing: spec.selector is empty",
    ),
    (noted("cluster.x-k8s.io/paused"), "ClusterPaused", "cluster is not paused", "cluster.x-k8s.io/paused"),
    (
        noted("cluster.x-k8s.io/skip-remediation"),
        "TargetSkipped",
        "machine is not skipped",
        "cluster.x-k8s.io/skip-remediation",
    ),
    (leaving, "CheckLeaving", "check is valid", "is being deleted"),
]


@pytest.mark.parametrize(("trees", "reason", "gate", "words"), ASIDE)
def test_what_keeps_a_check_from_judging(
    tmp_path: Path, trees: Callable[[], list[Tree]], reason: str, gate: str, words: str
) -> None:
    """The check and the reason stand in JSON, in its line, at its gate and in the sentence to take away."""
    [told] = as_json(tmp_path, "w0", "--now", LATER, trees=trees())
    output = explained(tmp_path, "w0", "--now", LATER, trees=trees()).output
    lines = output.splitlines()
    [aside] = told["standingAside"]
    [closed] = [one for room in told["gates"] for one in room["gates"] if not one["passed"]]

    assert (None, None, CHECK, reason) == (told["check"], told["verdict"], aside["check"], aside["because"]["reason"])
    assert (gate, reason) == (closed["gate"], closed["because"]["reason"])
    [line] = [line for line in lines if line.startswith("  check ")]
    assert f"{CHECK} does not judge it: " in line
    assert words in line
    [answer] = [line for line in lines if line.startswith("  Nothing is done now: ")]
    assert words in answer
    assert "no check selects it" not in output
    assert "Nothing is to be done" not in output


def test_a_younger_check_says_who_governs(tmp_path: Path) -> None:
    """The older one judges; the younger one is named, with the older one."""
    younger = the_check()
    younger["metadata"] |= {"name": "younger", "creationTimestamp": "2026-01-01T00:00:00Z"}
    trees = [younger, *a_pool("Unknown")]
    [told] = as_json(tmp_path, "w0", "--now", LATER, trees=trees)
    output = explained(tmp_path, "w0", "--now", LATER, trees=trees).output

    at = "MachineHealthCheck/machine-api/younger"
    assert (CHECK, [at]) == (told["check"], told["overlappingChecks"])
    assert [{"check": at, "because": {"reason": "CheckYounger", "check": "example"}}] == told["standingAside"]
    assert f"{at} does not judge it: check example is older" in output


def test_an_invalid_check_governs_what_it_selects(tmp_path: Path) -> None:
    """It is named with what is wrong with it: as the machine's verdict, at the gate, and in the last sentence."""
    younger = the_check()
    younger["metadata"] |= {"name": "younger", "creationTimestamp": "2026-01-01T00:00:00Z"}
    trees = [the_check(maxUnhealthy="150%"), younger, *a_pool("Unknown")]
    [told] = as_json(tmp_path, "w0", "--now", LATER, trees=trees)
    output = explained(tmp_path, "w0", "--now", LATER, trees=trees).output
    closed = [one["because"]["reason"] for room in told["gates"] for one in room["gates"] if one["passed"] is False]
    [aside], [sign] = told["standingAside"], told["signs"]

    assert (CHECK, "Unjudged") == (told["check"], told["verdict"])
    assert ("InvalidCheckGoverns", "example") == (sign["reason"], sign["check"])
    assert sign["problem"].startswith("spec.maxUnhealthy: '150%' cannot be read")
    assert "InvalidCheckGoverns" == closed[0]
    assert ("CheckYounger", "example") == (aside["because"]["reason"], aside["because"]["check"])
    [answer] = [line for line in output.splitlines() if line.startswith("  Nothing is done now: ")]
    assert "check example governs this machine and is invalid" in answer
    assert "spec.maxUnhealthy: '150%' cannot be read" in answer


def test_a_limit_has_its_numbers(tmp_path: Path) -> None:
    """How many of how many are not healthy, and how many may be."""
    pool = a_pool("Unknown")
    pool[6]["status"]["conditions"][0]["status"] = "Unknown"
    [told] = as_json(tmp_path, "w0", "--now", LATER, trees=pool)
    output = explained(tmp_path, "w0", "--now", LATER, trees=pool).output

    [closed] = [one for room in told["gates"] for one in room["gates"] if one["gate"] == "limit is kept"]
    assert {"reason": "LimitOfCheck", "check": "example", "unhealthy": 2, "total": 5, "limit": "40%"} == closed[
        "because"
    ]
    assert "2 of 5 machines are not healthy (limit 40%)" in output


def test_a_check_of_another_controller_is_named(tmp_path: Path) -> None:
    """It governs and judges, and its gate says who looks after it instead of us."""
    check = the_check()
    writer = {"manager": "capi", "operation": "Update", "subresource": "status", "time": "2026-01-01T00:05:00Z"}
    check["metadata"]["managedFields"] = [writer]
    trees = [check, *a_pool("Unknown")]
    [told] = as_json(tmp_path, "w0", "--now", LATER, trees=trees)
    output = explained(tmp_path, "w0", "--now", LATER, trees=trees).output

    [closed] = [one for room in told["gates"] for one in room["gates"] if one["gate"] == "no other controller"]
    assert (CHECK, "Unhealthy", []) == (told["check"], told["verdict"], told["standingAside"])
    assert ("CheckOfAnother", "capi") == (closed["because"]["reason"], closed["because"]["manager"])
    assert "Nothing is done now: check example is looked after by capi" in output
