"""The phases of a Metal3Remediation as data: how long each may last, and what may follow it.

Called by `remediation.py`, and drawn in `docs/guide/metal3-remediation.md`. Every wait has a limit; start and length
are recorded, and whoever waits measures by its own clock (`patience.py`).

    new ─► power-off ─► freeing ─► power-on ─► waiting ─► (recovered)
              └── not off in time ───►┘           ├─► power-off: the next attempt
                                                  └─► deleting-machine ─► failed
    deleting-machine ── the budget lets nothing begin, and nobody was asked ──► waiting
    power-on, waiting, deleting-machine, failed ── a person attests that the node is off ──► freeing
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, structs

from noderemedy.core.conditions import merged
from noderemedy.model.checkstatus import SUCCEEDED, Foreign, Told
from noderemedy.model.remediation import Evidence, Metal3Remediation, Phase, Progress, Strategy
from noderemedy.model.time import MINUTE, Now, Span

FREE_WITHIN = MINUTE * 10  # a node that is still heard has as long to fall silent: `safety.SILENT_WITHIN`
OWNER_WITHIN = MINUTE * 30
PAUSE_MIN, PAUSE_MAX = MINUTE, MINUTE * 60


class Rule(Struct, frozen=True):
    """One phase. Without a limit nothing is waited for."""

    limit: Callable[[Metal3Remediation], Span | None]
    follows: tuple[Phase, ...]  # what may come next
    status: str = "Unknown"  # of the condition Succeeded
    reason: str = "InProgress"


def no_limit(remediation: Metal3Remediation) -> None:
    return None


def on_within(remediation: Metal3Remediation) -> Span:
    return remediation.on_within


def off_within(remediation: Metal3Remediation) -> Span:
    return remediation.off_within


def waiting_within(remediation: Metal3Remediation) -> Span:
    """Until the node must be ready, and a pause on top that grows with every attempt (story 5 of seed 003)."""
    return remediation.on_within + pause(remediation)


def pause(remediation: Metal3Remediation) -> Span:
    """Before the next attempt. What escalates anyway loses no time."""
    if remediation.strategy is Strategy.ESCALATE:
        return Span(0)
    return Span(min(PAUSE_MAX.ms, PAUSE_MIN.ms << min(remediation.progress.retry_count, 10)))


TABLE: dict[Phase, Rule] = {
    Phase.NEW: Rule(no_limit, (Phase.POWER_OFF,)),
    Phase.POWER_OFF: Rule(off_within, (Phase.FREEING, Phase.POWER_ON)),
    Phase.FREEING: Rule(lambda _: FREE_WITHIN, (Phase.POWER_ON,)),
    Phase.POWER_ON: Rule(on_within, (Phase.WAITING, Phase.FREEING)),
    Phase.WAITING: Rule(waiting_within, (Phase.POWER_OFF, Phase.DELETING_MACHINE, Phase.FREEING)),
    Phase.DELETING_MACHINE: Rule(
        lambda _: OWNER_WITHIN, (Phase.FAILED, Phase.FREEING, Phase.WAITING), "False", "Escalated"
    ),
    Phase.FAILED: Rule(no_limit, (Phase.FREEING,), "False", "Failed"),
}
# In these a repair runs. When the owner was asked, the claim is the owner's; the place in the budget is still taken.
RUNNING = (Phase.POWER_OFF, Phase.FREEING, Phase.POWER_ON, Phase.WAITING, Phase.DELETING_MACHINE)


def limit(remediation: Metal3Remediation) -> Span | None:
    """How long the present phase may last; None: for ever."""
    return TABLE[remediation.progress.phase].limit(remediation)


def is_last_attempt(remediation: Metal3Remediation) -> bool:
    """Whether the owner is asked next. More retries than allowed (the limit was lowered meanwhile) are enough, too."""
    return remediation.strategy is Strategy.ESCALATE and remediation.progress.retry_count >= remediation.retries


def enter(remediation: Metal3Remediation, phase: Phase, now: Now, evidence: Evidence | None = None) -> Progress:
    """The status at the start of a phase."""
    old = remediation.progress
    assert phase in TABLE[old.phase].follows, f"{phase} does not follow {old.phase}"
    begins = phase is Phase.POWER_OFF
    is_retry = begins and old.phase is Phase.WAITING
    rule = TABLE[phase]
    return structs.replace(
        old,
        phase=phase,
        since=now.wall,
        retry_count=old.retry_count + is_retry,
        last_remediated=now.wall if begins else old.last_remediated,
        evidence=evidence if evidence is not None else old.evidence,
        generation=remediation.generation,
        conditions=told(old, rule.status, rule.reason, f"attempt {old.retry_count + is_retry + 1}: {phase.value}", now),
    )


def noted(remediation: Metal3Remediation, evidence: Evidence) -> Progress:
    """The same status with more evidence."""
    return structs.replace(remediation.progress, evidence=evidence)


def recovered(remediation: Metal3Remediation, now: Now) -> Progress:
    old = remediation.progress
    conditions = told(old, "True", "NodeReady", "the node is ready again", now)
    return structs.replace(old, generation=remediation.generation, conditions=conditions)


def told(old: Progress, status: str, reason: str, message: str, now: Now) -> tuple[Told | Foreign, ...]:
    return merged(old.conditions, (Told(SUCCEEDED, status, reason, message),), str(now.wall))
