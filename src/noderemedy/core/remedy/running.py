"""One remedy on its way: its Job is made once, waited for, and its end is read.

A Job that is not there is made only while its order is young and this process has never seen it: one that somebody
deleted, or that was cleared away, has failed. What has run once is not run again because nobody remembers it.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core.gates import first
from noderemedy.core.remedy import gates, jobs
from noderemedy.core.remedy.view import RemedyView, run_by
from noderemedy.core.safety import is_confirmed
from noderemedy.model.actions import Confirm, CreateJob
from noderemedy.model.decision import Decision
from noderemedy.model.reasons import ConfirmFirst, RemedyOverdue, RemedyRuns
from noderemedy.model.remedy import Job, JobState, Outcome, Phase, PodRemedy, RemedyRecord
from noderemedy.model.room import Absent, Present
from noderemedy.model.time import MINUTE, Now, Span

ORDERED_FOR: Span = MINUTE * 10  # an order that nobody carried out by then is not carried out any more
MARGIN: Span = MINUTE  # what the Job controller may take beyond the Job's deadline to call it failed
OUTCOMES = {JobState.SUCCEEDED: Outcome.SUCCEEDED, JobState.FAILED: Outcome.FAILED}


class Running(Struct, frozen=True):
    """It has not ended: what to do meanwhile."""

    decision: Decision


class Ended(Struct, frozen=True):
    """It has ended."""

    outcome: Outcome
    why: str = ""
    took: Span | None = None


def running_job(view: RemedyView, record: RemedyRecord, now: Now) -> Running | Ended:
    """How the Job of the record stands."""
    entry = view.job
    if isinstance(entry, Present):
        job: Job = entry.obj
        if job.state in OUTCOMES:
            took = job.ended.since(record.at) if job.ended is not None and job.ended >= record.at else None
            return Ended(OUTCOMES[job.state], why(view, record, job), took)
        return Running(wait(view, record, job, now))
    if not isinstance(entry, Absent):
        return Running(Decision(because=(RemedyRuns(record.job),)))
    return missing(view, record, entry, now)


def wait(view: RemedyView, record: RemedyRecord, job: Job, now: Now) -> Decision:
    """Until the Job controller says how it ended; if it says nothing for too long, a person has to look."""
    due = (job.created or record.at) + pod_of(view, record).job_deadline + MARGIN
    if now.wall < due:
        return Decision(because=(RemedyRuns(record.job),), wake_at=now.until(due))
    return Decision(because=(RemedyOverdue(record.job, due),))


def pod_of(view: RemedyView, record: RemedyRecord) -> PodRemedy:
    """The remedy as its document has it now; the usual limits where it has it no more."""
    definition = jobs.definition_of(view, record)
    return definition.how if definition and isinstance(definition.how, PodRemedy) else PodRemedy("{}")


def why(view: RemedyView, record: RemedyRecord, job: Job) -> str:
    """The Job's own words, and that its time was over: of a pod that its kubelet ended the Job knows only the end."""
    deadline = pod_of(view, record).deadline
    if job.state is not JobState.FAILED or job.ended is None or job.ended < (job.created or record.at) + deadline:
        return job.why
    return f"its deadline of {deadline} has passed" + (f": {job.why}" if job.why else "")


def missing(view: RemedyView, record: RemedyRecord, entry: Absent, now: Now) -> Running | Ended:
    """There is no Job: it was not made yet, or it is gone."""
    definition = jobs.definition_of(view, record)
    if view.known is not None and view.known.job_seen == record.job:
        return Ended(Outcome.FAILED, "its Job is gone")
    if definition is None or not isinstance(definition.how, PodRemedy):
        return Ended(Outcome.SKIPPED, "it is not defined any more")
    if now.wall >= record.at + ORDERED_FOR:
        return Ended(Outcome.FAILED, "it was ordered, and its Job was never seen")
    if blocked := first(gates.GOING_ON if record.phase is Phase.RUNNING else (gates.nobody_paused_it,), view, now):
        return Running(blocked.decision(now))
    at = run_by(record)
    if not is_confirmed(entry, now):
        return Running(Decision((Confirm(at),), (ConfirmFirst(str(at)),)))
    made = CreateJob(at, jobs.order(view, record, definition.how))
    return Running(Decision((made,), (RemedyRuns(record.job),)))
