"""Which checks mean a machine and do not judge it, and why. A few reads; called where no check judges a machine.

Their selectors match, so that "no check selects it" would be untrue: they are invalid or leave, the machine is paused
or skipped, or an older check governs. `explain` names each with its reason, and nothing is decided by it.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core.healthcheck.selector import may_mean
from noderemedy.core.healthcheck.verdicts import checks_beside, governing
from noderemedy.model.healthcheck import HealthCheck
from noderemedy.model.ids import Ref
from noderemedy.model.machine import Machine
from noderemedy.model.reasons import CheckInvalid, CheckLeaving, CheckYounger, ClusterPaused, Reason, TargetSkipped
from noderemedy.model.room import Reader


class Aside(Struct, frozen=True):
    """A check that means a machine, and why it does not judge it."""

    at: Ref
    reason: Reason


def standing_aside(key: Ref, machine: Machine, reader: Reader) -> tuple[Aside, ...]:
    """All of them, oldest first."""
    judging = governing(key, machine, reader)
    governor = judging[0][0] if judging else None
    beside = [(at, check) for at, check in checks_beside(key, reader) if at != governor and may_mean(check, machine)]
    return tuple(Aside(at, why(check, key, machine, governor)) for at, check in beside)


def why(check: HealthCheck, key: Ref, machine: Machine, governor: Ref | None) -> Reason:
    """What the check itself says comes first: as long as that holds, nothing that is done to the machine helps."""
    if check.deleting:
        return CheckLeaving()
    if not check.is_valid:
        return CheckInvalid(check.trouble)
    if machine.cluster_paused:
        return ClusterPaused(key.in_words)
    if machine.skips_remediation:
        return TargetSkipped()
    assert governor is not None, "a check that means a machine, and is kept by nothing, judges it"
    return CheckYounger(governor.name)
