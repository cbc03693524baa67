"""The chain of remedies of one Node, phase by phase: what the record says, and what follows from it. Seed 002.

Record, act, observe: the record on the Node names the Job before there is one, and says how it ended before anything
follows from that. So whoever comes next, after whatever crash, goes on where the record is.

Rule 1: a Job that runs is never stopped: half a remedy is worse than one too many (race R34).
Rule 2: only the success of a Job with clean-resource frees anything, and only for the boot it was ordered for. Such a
boot is not opened again if nothing was heard of it then.
Rule 3: a chain whose document or threshold is gone ends where it is; what it changed itself is undone first.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from noderemedy.core.gates import Blocked, first
from noderemedy.core.remedy import gates, jobs, recovery
from noderemedy.core.remedy.cleaning import cleaning, untaint
from noderemedy.core.remedy.fencing import running_fence
from noderemedy.core.remedy.recording import forget, write
from noderemedy.core.remedy.running import Ended, Running, running_job
from noderemedy.core.remedy.view import RemedyView
from noderemedy.model.actions import WriteRemedyRecord
from noderemedy.model.configuration import PERIOD, Threshold
from noderemedy.model.decision import Decision
from noderemedy.model.reasons import (
    FreedBootIsBack,
    NodeBooted,
    NodeRecovered,
    RemediesExhausted,
    RemedyCalledOff,
    RemedyEnded,
    RemedyOrdered,
    RemedyWaits,
)
from noderemedy.model.remedy import RECOVERY, Outcome, Phase, RemedyRecord
from noderemedy.model.time import Now, Wall

# --- ordering ----------------------------------------------------------------------------------------------------


def order(view: RemedyView, record: RemedyRecord, number: int, now: Now) -> Decision:
    """Write down the next remedy that is defined; where none is left, that they are exhausted."""
    assert view.document is not None
    assert view.threshold is not None
    choice = jobs.choose(view.document.document.configuration, view.threshold, number)
    begun = replace(record, at=jobs.seconds(now.wall), outcome=None, boot_id=view.node.boot_id, has_booted=False)
    if choice.remedy is None or choice.definition is None:
        spent = RemediesExhausted(view.at.name, record.threshold)
        if not record.number:
            return Decision(because=(*choice.skipped, spent))  # none was ever run: there is nothing to write down
        return write(
            view, replace(begun, phase=Phase.EXHAUSTED, job="", outcome=record.outcome), *choice.skipped, spent
        )
    ordered = replace(begun, number=choice.number, remedy=choice.remedy.name, phase=Phase.RUNNING)
    ordered = replace(ordered, job=jobs.name_for(view, ordered, choice.definition))
    reason = RemedyOrdered(view.at.name, ordered.number, ordered.remedy, ordered.threshold, ordered.job)
    return write(view, ordered, *choice.skipped, reason)


# --- the phases --------------------------------------------------------------------------------------------------


def running(view: RemedyView, record: RemedyRecord, now: Now) -> Decision:
    """A remedy was ordered: have it run, wait for its end, and write down how it ended."""
    found = under_way(view, record, now)
    if isinstance(found, Running):
        return found.decision
    return ended(view, record, found, now)


def under_way(view: RemedyView, record: RemedyRecord, now: Now) -> Running | Ended:
    return running_fence(view, record, now) if jobs.is_fence(record) else running_job(view, record, now)


def ended(view: RemedyView, record: RemedyRecord, found: Ended, now: Now) -> Decision:
    remedy = jobs.remedy_of(view, record)
    cleans = found.outcome is Outcome.SUCCEEDED and remedy is not None and remedy.cleans
    phase = Phase.FREEING if cleans else Phase.WAITING
    told = RemedyEnded(view.at.name, record.remedy, found.outcome.value, found.why, found.took)
    after = replace(record, phase=phase, at=jobs.seconds(now.wall), outcome=found.outcome)
    if not recovery.counts_events(view):
        return write(view, after, told)
    after = replace(after, has_booted=recovery.has_booted(view, record))
    return write(view, after, told, remedied_at=remedied_at(record, after, found))


def remedied_at(ordered: RemedyRecord, after: RemedyRecord, found: Ended) -> Wall | None:
    """From when on the node counts as repaired; None: it was not. A remedy that failed repairs nothing, a boot does.

    By the Job's own word, and not by when we heard it: what happened between, while nobody led, tells of the repair.
    """
    if after.has_booted:
        return after.at
    if found.outcome is not Outcome.SUCCEEDED:
        return None
    return ordered.at + found.took if found.took is not None else after.at


def freeing(view: RemedyView, record: RemedyRecord, now: Now) -> Decision:
    """The remedy made the node safe, by its administrator's word: free what runs there."""
    step = cleaning(view, record, now)
    if isinstance(step, Decision):
        return step
    return write(view, replace(record, phase=Phase.WAITING), *step.because)


def waiting(view: RemedyView, record: RemedyRecord, now: Now) -> Decision:
    """The remedy has had its say; its period runs from its end. Then the next one."""
    threshold = view.threshold
    if threshold is None:
        return call_off(view, record, now)
    if recovery.counts_events(view) and not record.has_booted and recovery.has_booted(view, record):
        return booted(view, record, now)
    remedy = jobs.remedy_of(view, record)
    due = record.at + (remedy.period if remedy else PERIOD)
    if recovery.is_over(view, threshold) and recovery.can_tell(threshold, due, now):
        return recovered(view, record, threshold, now)
    if now.wall < due:
        return Decision(because=(RemedyWaits(record.remedy, due),), wake_at=now.until(due))
    if blocked := first(gates.BEFORE_NEXT, view, now):
        return blocked.decision(now)
    following = order(view, record, record.number + 1, now)
    if blocked := first(before(following), view, now):
        return blocked.decision(now)
    return following


def booted(view: RemedyView, record: RemedyRecord, now: Now) -> Decision:
    """The node went down after the remedy had ended, as where that only asks for a boot: it is repaired from now on.

    Once for each remedy: a node that goes down again by itself was not repaired by that.
    """
    why = NodeBooted(view.at.name, record.remedy)
    return write(view, replace(record, has_booted=True), why, remedied_at=jobs.seconds(now.wall))


def before(ordered: Decision) -> tuple[Callable[[RemedyView, Now], Blocked | None], ...]:
    """The last questions: a fence flow claims the node itself, and could not if we held it."""
    records = [one.record for one in ordered.actions if isinstance(one, WriteRemedyRecord)]
    is_fence = any(one is not None and jobs.is_fence(one) for one in records)
    return (gates.node_is_read_live,) if is_fence else (gates.nobody_else_repairs_it, gates.node_is_read_live)


def exhausted(view: RemedyView, record: RemedyRecord, now: Now) -> Decision:
    """Everything was tried: a person's business, until the trouble is over or somebody drops the record."""
    threshold = view.threshold
    if threshold is None:
        return call_off(view, record, now)
    if recovery.is_over(view, threshold):
        return recovered(view, record, threshold, now)
    return Decision(because=(RemediesExhausted(view.at.name, record.threshold),))


def recovered(view: RemedyView, record: RemedyRecord, threshold: Threshold, now: Now) -> Decision:
    """The trouble is over: take back what we did, run the recovery if there is one, and forget the rest."""
    told = NodeRecovered(view.at.name, record.threshold)
    if recovery.is_left_over(view, record):
        return Decision(because=(FreedBootIsBack(view.at.name),))
    if not recovery.is_settled(view, now):
        return Decision(because=(told,), wake_at=recovery.settles_at(view))
    if undone := untaint(view, record):
        return undone
    assert view.document is not None
    definition = view.document.document.configuration.definition(threshold.recovery)
    if record.outcome is None or definition is None:
        return forget(view, record, now, told)
    ordered = replace(record, number=RECOVERY, remedy=threshold.recovery, phase=Phase.RECOVERING, outcome=None)
    ordered = replace(ordered, at=jobs.seconds(now.wall), boot_id=view.node.boot_id)
    ordered = replace(ordered, job=jobs.name_for(view, ordered, definition))
    reason = RemedyOrdered(view.at.name, RECOVERY, ordered.remedy, ordered.threshold, ordered.job)
    return write(view, ordered, told, reason)


def recovering(view: RemedyView, record: RemedyRecord, now: Now) -> Decision:
    """The recovery runs to its end, whatever the node does meanwhile; then nothing is left."""
    found = under_way(view, record, now)
    if isinstance(found, Running):
        return found.decision
    return forget(
        view, record, now, RemedyEnded(view.at.name, record.remedy, found.outcome.value, found.why, found.took)
    )


def call_off(view: RemedyView, record: RemedyRecord, now: Now) -> Decision:
    """Nobody tracks this any more. A taint of ours stays until the node is back: it says what is true."""
    why = RemedyCalledOff(record.document, record.threshold)
    return untaint(view, record) or forget(view, record, now, why)


PHASES: dict[Phase, Callable[[RemedyView, RemedyRecord, Now], Decision]] = {
    Phase.RUNNING: running,
    Phase.FREEING: freeing,
    Phase.WAITING: waiting,
    Phase.EXHAUSTED: exhausted,
    Phase.RECOVERING: recovering,
}
