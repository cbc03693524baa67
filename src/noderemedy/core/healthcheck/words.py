"""What a health check says on a Machine: verdicts in the words of Cluster API, and whether a request is ours.

Called by the modes and by the view. Owners act on these words: a MachineSet replaces a machine whose
HealthCheckSucceeded and OwnerRemediated are both False. Our own OwnerRemediated names the check in its message, so that
it can be taken back without touching what another controller said.
"""

from __future__ import annotations

from noderemedy.core.external.lifecycle import Trouble
from noderemedy.model.healthcheck import Unhealthy
from noderemedy.model.machineconditions import (
    ERROR,
    EXTERNALLY_REMEDIATED,
    HEALTH_CHECK_SUCCEEDED,
    OWNER_REMEDIATED,
    WARNING,
    Graded,
    MachineConditions,
)
from noderemedy.model.reasons import (
    ConditionPending,
    ConditionTimedOut,
    MachineConditionPending,
    MachineConditionTimedOut,
    MachineFailed,
    NodeMissing,
    NodeStarting,
    NodeStartupTimedOut,
    Reason,
    RemediateAnnotated,
)

WAITING = "WaitingForRemediation"
ASKED_BY = "asked for by MachineHealthCheck "
FAILED = "Health check failed:"
MESSAGE_MAX = 4_000
UNHEALTHY_NODE = "UnhealthyNode"  # also for what has no word of its own
# In the order in which one of several findings names the reason.
REASONS: tuple[tuple[type[Reason], str], ...] = (
    (RemediateAnnotated, "HasRemediateAnnotation"),
    (MachineConditionTimedOut, "UnhealthyMachine"),
    (MachineConditionPending, "UnhealthyMachine"),
    (MachineFailed, "UnhealthyMachine"),
    (NodeMissing, "NodeDeleted"),
    (NodeStartupTimedOut, "NodeStartupTimeout"),
    (NodeStarting, "NodeStartupTimeout"),
    (ConditionTimedOut, UNHEALTHY_NODE),
    (ConditionPending, UNHEALTHY_NODE),
)
WELL = Graded(HEALTH_CHECK_SUCCEEDED, "True", HEALTH_CHECK_SUCCEEDED)


def sick(verdict: Unhealthy) -> Graded:
    """HealthCheckSucceeded for a machine that failed its check."""
    found = [name for kind, name in REASONS if any(isinstance(reason, kind) for reason in verdict.because)]
    lines = "\n".join(f"* {reason.note()}" for reason in verdict.because)
    message = f"{FAILED}\n{lines}"[:MESSAGE_MAX]
    return Graded(HEALTH_CHECK_SUCCEEDED, "False", found[0] if found else UNHEALTHY_NODE, message, severity=WARNING)


def owner_asked(check: str) -> Graded:
    """OwnerRemediated for a machine that its owner shall replace."""
    return Graded(OWNER_REMEDIATED, "False", WAITING, f"{ASKED_BY}{check}", severity=WARNING)


def externally_asked(check: str, trouble: Trouble | None) -> Graded:
    """ExternallyRemediated for a machine for which a request was made, or could not be."""
    if trouble is not None:
        return Graded(EXTERNALLY_REMEDIATED, "False", trouble.reason, trouble.message[:MESSAGE_MAX], severity=ERROR)
    return Graded(EXTERNALLY_REMEDIATED, "False", WAITING, f"{ASKED_BY}{check}", severity=WARNING)


def asked_by(told: MachineConditions) -> str:
    """The check that asked the owner, if it was one of ours and the owner has not answered; else ""."""
    found = told.find(OWNER_REMEDIATED)
    if found is None or (found.status, found.reason) != ("False", WAITING) or not found.message.startswith(ASKED_BY):
        return ""
    return found.message.removeprefix(ASKED_BY)


def may_ask_owner(told: MachineConditions) -> bool:
    """Only where nothing is said, or something that is over, or what we said ourselves: the rest is the owner's."""
    found = told.find(OWNER_REMEDIATED)
    return found is None or found.status == "True" or bool(asked_by(told))


def is_owner_asked(told: MachineConditions) -> bool:
    found = told.find(OWNER_REMEDIATED)
    return found is not None and found.status == "False"
