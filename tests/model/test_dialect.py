"""The table of dialects: every cell as it was decided. What each cell does is shown where it is used.

`tests/sabotage/healthcheck.py` changes the cells that reading, judging and counting use, one by one: each is seen.
"""

from __future__ import annotations

from typing import Any

import pytest

from noderemedy.model.dialect import RULES, Default, Rules, StartupClock
from noderemedy.model.healthcheck import Dialect, Percent
from noderemedy.model.time import Span

# rule: seed, capi, openshift
TABLE: dict[str, tuple[Any, Any, Any]] = {
    "node_criteria_fields": (
        ("unhealthyConditions",),
        ("checks.unhealthyNodeConditions", "unhealthyConditions"),
        ("unhealthyConditions",),
    ),
    "machine_criteria_fields": (
        (),
        ("checks.unhealthyMachineConditions", "unhealthyMachineConditions"),
        (),
    ),
    "limit_fields": (
        ("maxUnhealthy",),
        ("remediation.triggerIf.unhealthyLessThanOrEqualTo", "maxUnhealthy"),
        ("maxUnhealthy",),
    ),
    "window_fields": (
        ("unhealthyRange",),
        ("remediation.triggerIf.unhealthyInRange", "unhealthyRange"),
        (),
    ),
    "startup_fields": (
        ("nodeStartupTimeout",),
        ("checks.nodeStartupTimeoutSeconds", "nodeStartupTimeout"),
        ("nodeStartupTimeout",),
    ),
    "template_fields": (
        ("externalRemediationTemplate",),
        ("remediation.templateRef", "remediationTemplate"),
        ("remediationTemplate",),
    ),
    "limit_as_text": (False, False, True),
    "negative_is_zero": (False, False, True),
    "empty_selects_all": (False, False, True),
    "needs_cluster_name": (False, True, False),
    "startup_default": (Span.seconds(600), Span.seconds(600), Span.seconds(600)),
    "startup_minimum": (Span.seconds(30), Span.seconds(30), Span.seconds(30)),
    "startup_clock": (StartupClock.CREATION, StartupClock.PROGRESS, StartupClock.LAST_UPDATED),
    "waits_for_cluster": (False, True, False),
    "fails_by_phase": (False, False, True),
    "blocks_at_limit": (True, False, False),
    "limit_unset": (None, Percent(100), Percent(100)),
    "tells_generation": (True, True, False),
    "tells_targets": (True, True, False),
    "default": (Default.CONDITIONS, Default.CONDITIONS, Default.DELETE),
    "has_annotation_mode": (True, False, True),
    "writes_both_generations": (False, True, False),
    "external_conditions": ((), ("HealthCheckSucceeded", "ExternallyRemediated"), ()),
}


def test_the_table_is_total() -> None:
    """Every dialect has a column, every rule a row here."""
    assert list(Dialect) == list(RULES)
    assert sorted(Rules.__struct_fields__) == sorted(TABLE)


@pytest.mark.parametrize("rule", TABLE)
def test_each_row_is_as_decided(rule: str) -> None:
    """Seed, Cluster API, OpenShift."""
    assert TABLE[rule] == tuple(getattr(RULES[dialect], rule) for dialect in Dialect)


def test_external_mode_never_tells_the_owner_to_act() -> None:
    """A machine that is repaired by a request is not given to its owner as well."""
    assert all("OwnerRemediated" not in rules.external_conditions for rules in RULES.values())
