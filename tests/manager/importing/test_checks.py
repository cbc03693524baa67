"""What `import` says about MachineHealthChecks: each difference appears where it is one, and only there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.manager.importing.trees import (
    CAPI,
    OPENSHIFT,
    SEED,
    STRATEGY,
    a_check,
    a_machine,
    differences,
    names_of,
    report,
    some_machines,
)

from noderemedy.manager.importing.report import Weight
from noderemedy.wire import names

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "templates.md"
REF = {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "Metal3RemediationTemplate", "name": "t"}
OURS = {**REF, "apiVersion": "remediation.metal3.io/v1alpha1"}
FENCED = {"apiVersion": "node-remedy.dev/v1alpha1", "kind": "FenceRemediationTemplate", "name": "t"}
UNKNOWN = {"apiVersion": "example.com/v1alpha1", "kind": "DoctorTemplate", "name": "t"}
RECENT = [{"manager": "machine-healthcheck", "subresource": "status", "time": "2030-01-31T11:30:00Z"}]
LONG_AGO = [{"manager": "machine-healthcheck", "subresource": "status", "time": "2030-01-31T10:59:59Z"}]
MONTHS_AGO = [{"manager": "capi", "subresource": "status", "time": "2029-11-01T12:00:00Z"}]
BY_US = [{"manager": "node-remedy", "subresource": "status", "time": "2029-11-01T12:00:00Z"}]
FALSE_ONLY = [{"type": "Ready", "status": "False", "timeout": "300s"}]


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (a_check(OPENSHIFT, maxUnhealthy="40%"), []),
        (a_check(CAPI, maxUnhealthy="40%"), []),
        (a_check(SEED, maxUnhealthy="40%"), ["LimitBlocks", "StartupClock"]),
        (a_check(SEED, unhealthyRange="[1-2]"), ["StartupClock"]),
        (a_check(OPENSHIFT), ["OnlyTheBudgetLimits"]),
        (a_check(CAPI, maxUnhealthy="100%"), ["OnlyTheBudgetLimits"]),
        (a_check(CAPI, maxUnhealthy=2, remediationTemplate=REF), ["EveryTarget", "CarriedOutByOthers"]),
        (
            a_check(CAPI, maxUnhealthy=2, remediationTemplate=UNKNOWN),
            ["EveryTarget", "CarriedOutByOthers", "RoleNeeded"],
        ),
        (a_check(OPENSHIFT, maxUnhealthy=2, remediationTemplate=OURS), ["RepairsCount"]),
        (a_check(OPENSHIFT, maxUnhealthy=2, remediationTemplate=FENCED), ["RepairsCount"]),
        (
            a_check(SEED, unhealthyRange="[1-2]", externalRemediationTemplate=OURS),
            ["StartupClock", "NoConditions"],
        ),
        (a_check(OPENSHIFT, maxUnhealthy=2, annotations=STRATEGY), ["AnnotationMode", "TwoAnswers"]),
        (a_check(SEED, unhealthyRange="[1-2]", annotations=STRATEGY), ["AnnotationMode", "StartupClock"]),
        (a_check(CAPI, maxUnhealthy=2, annotations=STRATEGY), ["StrategyNotRead"]),
        (a_check(OPENSHIFT, maxUnhealthy=2, unhealthyConditions=FALSE_ONLY), ["DeadNodesNotSeen"]),
        (a_check(OPENSHIFT, maxUnhealthy=2, annotations={names.CLUSTER_PAUSED: ""}), ["Paused"]),
        (a_check(OPENSHIFT, maxUnhealthy=2, managed=RECENT), ["OtherController"]),
        (a_check(OPENSHIFT, maxUnhealthy=2, managed=LONG_AGO), ["QuietController"]),
        (a_check(CAPI, maxUnhealthy=2, managed=MONTHS_AGO), ["QuietController"]),
        (a_check(CAPI, maxUnhealthy=2, managed=RECENT + MONTHS_AGO), ["OtherController", "QuietController"]),
        (a_check(CAPI, maxUnhealthy=2, managed=RECENT + LONG_AGO), ["OtherController"]),
        (a_check(CAPI, maxUnhealthy=2, managed=BY_US), []),
        (a_check(OPENSHIFT, maxUnhealthy=2, managed=RECENT, annotations={names.GOVERN: "true"}), []),
        (a_check(OPENSHIFT, maxUnhealthy=2, managed=LONG_AGO, annotations={names.GOVERN: "true"}), []),
        (a_check(OPENSHIFT, maxUnhealthy=2, status={"expectedMachines": 3}), ["WriterUnknown"]),
        (a_check(OPENSHIFT, maxUnhealthy="101%"), ["CheckInvalid"]),
        (a_check(SEED, unhealthyRange="[1-2]", remediationTemplate=REF), ["CheckInvalid", "StartupClock"]),
    ],
)
def test_differences_of_a_check(check: dict[str, Any], expected: list[str]) -> None:
    """Each check is told what is different for it, in its dialect."""
    version = check["apiVersion"]

    assert expected == names_of(check, *some_machines(5, version))


def test_an_invalid_check_names_field_and_remedy() -> None:
    """A check that node-remedy refuses is told why, in the words of its condition."""
    found = differences(a_check(OPENSHIFT, maxUnhealthy="101%"))["CheckInvalid"]

    assert "spec.maxUnhealthy: '101%' cannot be read" in found.what
    assert Weight.BLOCKS == found.weight


def test_the_role_that_is_needed_is_printed() -> None:
    """As the guide has it for the same kind: what `import` says is that very role, on one line."""
    needed = differences(a_check(CAPI, remediationTemplate=UNKNOWN))["RoleNeeded"]
    blocks = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    [role] = [yaml.safe_load(block) for block in blocks if "kind: ClusterRole" in block]
    [label] = role["metadata"]["labels"].items()

    assert Weight.BLOCKS == needed.weight
    assert role["rules"] == yaml.safe_load(needed.remedy[needed.remedy.index("[") : needed.remedy.rindex("]") + 1])
    assert f'{label[0]}: "{label[1]}"' in needed.remedy
    assert "doctors.example.com" in needed.what


def test_another_controller_is_named_with_its_hour() -> None:
    """Who wrote the status, when, and how node-remedy comes to act: its silence alone does not do it."""
    found = differences(a_check(OPENSHIFT, managed=RECENT))["OtherController"]

    assert "machine-healthcheck wrote its status at 2030-01-31T11:30:00Z" in found.what
    assert "a manager that was there then, or sees it write again, stands by for as long as it runs" in found.what
    assert "one that starts later stands by until 2030-01-31T12:30:00Z" in found.what
    assert 'annotate the check with node-remedy.dev/govern: "true"' in found.remedy
    assert "or restart node-remedy's managers" in found.remedy


@pytest.mark.parametrize(
    ("managed", "told"),
    [
        (LONG_AGO, "by machine-healthcheck 1 hour ago (2030-01-31T10:59:59Z)."),
        (MONTHS_AGO, "by capi 91 days ago (2029-11-01T12:00:00Z)."),
        (
            LONG_AGO + MONTHS_AGO,
            "by capi 91 days ago (2029-11-01T12:00:00Z), by machine-healthcheck 1 hour ago (2030-01-31T10:59:59Z).",
        ),
    ],
)
def test_a_quiet_controller_is_told_at_every_age(managed: list[dict[str, str]], told: str) -> None:
    """On a healthy cluster nobody has written for days: who was it, how long ago, and what if it is alive."""
    found = differences(a_check(CAPI, managed=managed))["QuietController"]

    assert f"its status was written {told}" in found.what
    assert "alive and quiet" in found.what
    assert "stop" in found.remedy
    assert 'node-remedy.dev/govern: "true"' in found.remedy
    assert Weight.BLOCKS == found.weight


def test_overlap_names_machines_and_the_governing_check() -> None:
    """Both checks are told which machines they share, and that the older one governs."""
    older = a_check(OPENSHIFT, "older", maxUnhealthy=2, created="2028-01-01T00:00:00Z")
    younger = a_check(OPENSHIFT, "younger", maxUnhealthy=2)
    found = report(younger, older, *some_machines(7)).checks

    assert ["MachineHealthCheck/machine-api/older", "MachineHealthCheck/machine-api/younger"] == [
        one.key for one in found
    ]
    for one in found:
        [overlap] = one.differences
        assert "w0, w1, w2, w3, w4 and 2 more" in overlap.what
        assert "the older one, MachineHealthCheck/machine-api/older, governs" in overlap.what


NAMED = {names.OWNER: "node-remedy"}
OTHERS = {names.OWNER: "somebody"}


@pytest.mark.parametrize(
    ("version", "owned", "annotations", "expected"),
    [
        (OPENSHIFT, True, {}, []),
        (OPENSHIFT, False, {}, ["NoOwner"]),
        (OPENSHIFT, False, NAMED, ["NoOwner"]),
        (CAPI, True, {}, []),
        (CAPI, True, NAMED, []),
        (CAPI, False, {}, ["NoOwner"]),
        (CAPI, False, OTHERS, ["NoOwner"]),
        (CAPI, False, NAMED, ["ReferenceOwner"]),
        (SEED, False, {}, ["NoOwner"]),
        (SEED, False, NAMED, ["ReferenceOwner"]),
    ],
)
def test_machines_without_an_owner(version: str, owned: bool, annotations: dict[str, str], expected: list[str]) -> None:
    """Where nobody replaced a machine so far, it is replaced from now on only if it names node-remedy."""
    machines = [a_machine(f"w{number}", version, owned, **annotations) for number in range(4)]
    found = names_of(a_check(version, maxUnhealthy=2), *machines)

    assert expected == [name for name in found if name in ("NoOwner", "ReferenceOwner")]


def test_who_is_left_alone_is_told_apart_from_who_is_replaced() -> None:
    """Each machine is named once, with the annotation that changes its fate."""
    check = a_check(CAPI, maxUnhealthy=2)
    found = differences(check, a_machine("named", CAPI, owned=False, **NAMED), a_machine("plain", CAPI, owned=False))

    assert found["ReferenceOwner"].what.startswith("named have no controller and carry node-remedy.dev/owner")
    assert "remove node-remedy.dev/owner from those that must stay" == found["ReferenceOwner"].remedy
    assert found["NoOwner"].what.startswith("plain have no controller owner and are left alone")
    assert found["NoOwner"].remedy.endswith("with node-remedy.dev/owner: node-remedy")
    assert (Weight.DIFFERS, Weight.NOTE) == (found["ReferenceOwner"].weight, found["NoOwner"].weight)


@pytest.mark.parametrize(
    ("version", "limit", "machines", "limits", "never"),
    [
        (CAPI, "40%", 5, "at most 40% are not healthy: with 5 machines at most 2", False),
        (CAPI, "40%", 2, "at most 40% are not healthy: with 2 machines at most 0", True),
        (SEED, "40%", 5, "less than 40% are not healthy: with 5 machines at most 1", False),
        (OPENSHIFT, 0, 3, "at most 0 are not healthy: with 3 machines at most 0", True),
        (OPENSHIFT, "2", 3, "at most 2 are not healthy: with 3 machines at most 2", False),
    ],
)
def test_the_limit_has_its_number(version: str, limit: Any, machines: int, limits: str, never: bool) -> None:
    """What a limit means for the machines that there are, and that some limits never let anything be repaired."""
    found = report(a_check(version, maxUnhealthy=limit), *some_machines(machines, version)).checks[0]

    assert f"repairs start while {limits}" == found.limit
    assert never == ("NeverRepairs" in [one.name for one in found.differences])


def test_a_selector_without_machines_is_told() -> None:
    """Only where machines were given at all: a file without any says nothing about selectors."""
    stranger = a_machine("m0")
    stranger["metadata"]["labels"] = {"role": "master"}
    check = a_check(OPENSHIFT, maxUnhealthy=2)

    assert ["NoTargets"] == names_of(check, stranger)
    assert [] == names_of(check)
    assert (0, None) == (report(check, stranger).checks[0].targets, report(check).checks[0].targets)


def test_what_holds_everywhere_is_said_once() -> None:
    """The budget and its like stand before the checks; Cluster API's trap only where there is such a check."""
    first = [one.name for one in report(a_check(OPENSHIFT), a_check(OPENSHIFT, "more")).everywhere]
    second = [one.name for one in report(a_check(CAPI)).everywhere]

    assert "Budget" == first[0]
    assert [*first, "NotJudged"] == second
    assert () == report().everywhere


def test_what_cannot_be_read_disturbs_nobody() -> None:
    """A broken object is a remark, the others are examined."""
    broken = a_check(OPENSHIFT, "broken")
    broken["metadata"]["labels"] = 5
    found = report(broken, a_check(OPENSHIFT, maxUnhealthy=2))

    assert ["MachineHealthCheck/machine-api/workers"] == [one.key for one in found.checks]
    assert "MachineHealthCheck/machine-api/broken" in found.remarks[0]
