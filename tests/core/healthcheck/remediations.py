"""Builders for the remediation room: say what matters, the rest is a sick machine of which everything is allowed."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.builders import EVERYBODY, MACHINE_AT, NODE_AT, NOW, OPENSHIFT_MACHINE_AT, a_machine, a_node, ago, present
from tests.core.healthcheck.targets import a_check

from noderemedy.core.claim import Claim, holder_name
from noderemedy.core.healthcheck import remediation
from noderemedy.core.healthcheck.facts import PermitFact, VerdictFact
from noderemedy.core.healthcheck.remediationview import Governing, RemediationView
from noderemedy.model.actions import Action
from noderemedy.model.budget import Granted, Need
from noderemedy.model.decision import Decision
from noderemedy.model.healthcheck import Dialect, HealthCheck, Healthy, TemplateRef, Unhealthy, Verdict
from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK, ref
from noderemedy.model.lease import Lease
from noderemedy.model.machine import ControllerOwner, Machine
from noderemedy.model.machineconditions import MachineConditions
from noderemedy.model.reasons import ConditionTimedOut
from noderemedy.model.time import Mono, Now, Span

CHECK_AT = ref(HEALTH_CHECK, "workers", "metal")
OPENSHIFT_CHECK_AT = ref(OPENSHIFT_HEALTH_CHECK, "workers", "metal")
SICK = Unhealthy(ago(400), (ConditionTimedOut("worker-0", "Ready", "Unknown", ago(400), Span.seconds(300)),))
WELL = Healthy()
OWNER = ControllerOwner("machine.openshift.io/v1beta1", "MachineSet", "pool", "set-uid")
TEMPLATE = TemplateRef("remediation.metal3.io/v1alpha1", "Metal3RemediationTemplate", "reboot", "metal")
PLACES = {
    Dialect.SEED: MachineConditions(None, ()),
    Dialect.CAPI: MachineConditions((), ()),
    Dialect.OPENSHIFT: MachineConditions(),
}


def a_patient(dialect: Dialect = Dialect.SEED, **more: Any) -> Machine:
    """A machine of this dialect; everything that matters may be said."""
    return replace(a_machine(), **{"told": PLACES[dialect], "controller": OWNER, "created": ago(86_400), **more})


def a_view(
    check: HealthCheck | None = None,
    verdict: Verdict = SICK,
    *,
    machine: dict[str, Any] | None = None,
    is_open: bool | None = True,  # None: the check has not said yet
    other: str = "",
    **more: Any,
) -> RemediationView:
    """A machine as the room sees it, with every gate open."""
    check = check or a_check()
    is_openshift = check.dialect is Dialect.OPENSHIFT
    at, check_at = (OPENSHIFT_MACHINE_AT, OPENSHIFT_CHECK_AT) if is_openshift else (MACHINE_AT, CHECK_AT)
    patient = a_patient(check.dialect, **(machine or {}))
    permit = PermitFact(check_at, is_open, other) if is_open is not None else None
    holder = holder_name("remediation", at)
    usual: dict[str, Any] = {
        "governing": Governing(check_at, check, VerdictFact(check_at, verdict, False), permit),
        "node_at": NODE_AT,
        "node": present(a_node()),
        "answer": Granted(at, NOW.wall, asked=EVERYBODY),
        "need": Need(at, "remediation", NOW.wall, is_running=False),
        "contact_since": Mono(NOW.mono.ms - 3_600_000),
        "claim": Claim(NODE_AT, present(Lease("lease-uid", holder)), holder),
    }
    return RemediationView(at, present(patient, version="7"), patient, **{**usual, **more})


def decide(view: RemediationView, now: Now = NOW) -> Decision:
    return remediation.decide(view, now)


def names(actions: tuple[Action, ...]) -> list[str]:
    return [type(action).__name__ for action in actions]


def reasons(decision: Decision) -> list[str]:
    return [type(reason).__name__ for reason in decision.because]
