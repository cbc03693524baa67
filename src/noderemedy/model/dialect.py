"""The dialects of MachineHealthCheck as a table: one row per rule, one column per owner of the API.

An API means what its owner says it means. This is the only place where the three differ: `wire/healthchecks.py`
reads by it, `core/healthcheck/` judges by it, and neither ever asks which dialect it has before it.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from noderemedy.model.healthcheck import Dialect, Percent
from noderemedy.model.time import Span


class Default(Enum):
    """What a check without a template does about a sick machine."""

    CONDITIONS = "conditions HealthCheckSucceeded and OwnerRemediated: the machine's owner acts"
    DELETE = "delete the Machine if it has a controller owner"


class StartupClock(Enum):
    """From when on a machine without a node is waited for. `node-deleted-at` counts besides, in every dialect."""

    CREATION = "creation of the Machine"
    PROGRESS = "latest of creation, control plane initialised, infrastructure ready"
    LAST_UPDATED = "status.lastUpdated"


class Rules(Struct, frozen=True):
    """One column of the table."""

    # reading: paths below spec, the one that counts first
    node_criteria_fields: tuple[str, ...]
    machine_criteria_fields: tuple[str, ...]
    limit_fields: tuple[str, ...]
    window_fields: tuple[str, ...]
    startup_fields: tuple[str, ...]
    template_fields: tuple[str, ...]
    limit_as_text: bool  # maxUnhealthy: "2" is the number 2; else a mistake
    negative_is_zero: bool  # maxUnhealthy: -1; else a mistake
    empty_selects_all: bool  # an empty selector; else a mistake
    needs_cluster_name: bool
    startup_default: Span
    startup_minimum: Span  # 0 disables
    # judging
    startup_clock: StartupClock
    waits_for_cluster: bool  # nobody is judged before infrastructure and control plane are there
    fails_by_phase: bool  # phase Failed is unhealthy at once
    # the gate
    blocks_at_limit: bool  # the limit itself blocks, exactly; else only more than it, percents rounded down
    limit_unset: Percent | None  # None: no gate of its own
    # status
    tells_generation: bool  # the status has `observedGeneration`
    tells_targets: bool  # the status has `targets`
    # remediation
    default: Default
    has_annotation_mode: bool
    writes_both_generations: bool  # of the conditions of a Machine
    external_conditions: tuple[str, ...]  # what is written on a Machine for which a request was made


RULES: dict[Dialect, Rules] = {
    Dialect.SEED: Rules(
        node_criteria_fields=("unhealthyConditions",),
        machine_criteria_fields=(),
        limit_fields=("maxUnhealthy",),
        window_fields=("unhealthyRange",),
        startup_fields=("nodeStartupTimeout",),
        template_fields=("externalRemediationTemplate",),
        limit_as_text=False,
        negative_is_zero=False,
        empty_selects_all=False,
        needs_cluster_name=False,
        startup_default=Span.seconds(600),
        startup_minimum=Span.seconds(30),
        startup_clock=StartupClock.CREATION,
        waits_for_cluster=False,
        fails_by_phase=False,
        blocks_at_limit=True,
        limit_unset=None,
        tells_generation=True,
        tells_targets=True,
        default=Default.CONDITIONS,
        has_annotation_mode=True,
        writes_both_generations=False,
        external_conditions=(),
    ),
    Dialect.CAPI: Rules(
        node_criteria_fields=("checks.unhealthyNodeConditions", "unhealthyConditions"),
        machine_criteria_fields=("checks.unhealthyMachineConditions", "unhealthyMachineConditions"),
        limit_fields=("remediation.triggerIf.unhealthyLessThanOrEqualTo", "maxUnhealthy"),
        window_fields=("remediation.triggerIf.unhealthyInRange", "unhealthyRange"),
        startup_fields=("checks.nodeStartupTimeoutSeconds", "nodeStartupTimeout"),
        template_fields=("remediation.templateRef", "remediationTemplate"),
        limit_as_text=False,
        negative_is_zero=False,
        empty_selects_all=False,
        needs_cluster_name=True,
        startup_default=Span.seconds(600),
        startup_minimum=Span.seconds(30),
        startup_clock=StartupClock.PROGRESS,
        waits_for_cluster=True,
        fails_by_phase=False,
        blocks_at_limit=False,
        limit_unset=Percent(100),
        tells_generation=True,
        tells_targets=True,
        default=Default.CONDITIONS,
        has_annotation_mode=False,
        writes_both_generations=True,
        external_conditions=("HealthCheckSucceeded", "ExternallyRemediated"),
    ),
    Dialect.OPENSHIFT: Rules(
        node_criteria_fields=("unhealthyConditions",),
        machine_criteria_fields=(),
        limit_fields=("maxUnhealthy",),
        window_fields=(),
        startup_fields=("nodeStartupTimeout",),
        template_fields=("remediationTemplate",),
        limit_as_text=True,
        negative_is_zero=True,
        empty_selects_all=True,
        needs_cluster_name=False,
        startup_default=Span.seconds(600),
        startup_minimum=Span.seconds(30),
        startup_clock=StartupClock.LAST_UPDATED,
        waits_for_cluster=False,
        fails_by_phase=True,
        blocks_at_limit=False,
        limit_unset=Percent(100),
        tells_generation=False,
        tells_targets=False,
        default=Default.DELETE,
        has_annotation_mode=True,
        writes_both_generations=False,
        external_conditions=(),
    ),
}
