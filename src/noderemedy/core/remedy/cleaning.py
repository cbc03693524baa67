"""clean-resource: what the success of a remedy frees, and how that is taken back when the node has recovered.

The proof is the administrator's word, for the boot that the remedy was ordered for. A node that has booted since then,
or that is well again, keeps what it has: nothing of it waits to be freed. The success of a fence flow is nobody's word:
it frees by its own proof, and it also ends, with nothing fenced, because the node came back by itself.

Rule 1: the record on the Node is no proof, since whoever may edit the Node may edit it: the very Job that it names has
succeeded, and says for which boot.
Rule 2: the word is asked for at each look. It was said when the Job was made, of what ran, and is not taken back.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from noderemedy.core import freeing, safety
from noderemedy.core.freeing import AT_ONCE, Step, Way, Workload
from noderemedy.core.remedy import jobs, recovery
from noderemedy.core.remedy.recording import write
from noderemedy.core.remedy.view import NAME, RemedyView, run_by
from noderemedy.model.actions import Confirm, DeletePod, Guard, UntaintOutOfService
from noderemedy.model.decision import Decision
from noderemedy.model.ids import CONFIG_MAP, SYSTEM, Ref
from noderemedy.model.proof import Attested, Subject
from noderemedy.model.reasons import (
    ConfirmFirst,
    FreedBootIsBack,
    NothingToClean,
    PodsPaced,
    Reason,
    RemedyRuns,
    TaintTakenBack,
    VouchedFor,
    WorkloadCleaned,
)
from noderemedy.model.remedy import Job, JobState, RemedyRecord
from noderemedy.model.room import Absent, Present
from noderemedy.model.time import MINUTE, Now, Span
from noderemedy.model.workload import FreeBy

BATCHES = 6  # a minute's pods go in so many, at most


class Cleaned(Struct, frozen=True):
    """There is nothing more to free."""

    because: tuple[Reason, ...]


def cleaning(view: RemedyView, record: RemedyRecord, now: Now) -> Decision | Cleaned:
    """The next step of freeing; or that it is over."""
    threshold = view.threshold
    if jobs.is_fence(record):
        return Cleaned((NothingToClean(view.at.name, "its remedy is a fence flow, which frees what it proves itself"),))
    if threshold is None or recovery.is_well(view.node, threshold):
        return Cleaned((NothingToClean(view.at.name, "its trouble is over"),))
    if not record.boot_id or view.node.boot_id != record.boot_id:
        return Cleaned((NothingToClean(view.at.name, "it has booted since the remedy was ordered"),))
    if (missing := unvouched(view, record, now)) is not None:
        return missing
    by = f"ConfigMap {record.document}, threshold {record.threshold}"
    word = f"clean-resource of remedy {record.remedy}, whose {record.job} succeeded"
    subject = Subject(view.node.uid, record.boot_id)
    proof = safety.attested(view.entry, subject, by, record.at, word, now, may_be_heard=True)
    if proof is None:
        return Decision((Confirm(view.at),), (ConfirmFirst(str(view.at)),))
    assert view.work is not None
    chosen = way(view, record, view.work, now)
    if isinstance(chosen, Step):
        return Decision(chosen.actions, (*chosen.because, VouchedFor(view.at.name, proof.by)), chosen.wake_at)
    how = chosen.by
    is_settled = record.freed_by and freeing.is_tainted(view.node)
    kept = record.freed_by if is_settled else how.value
    after = replace(record, freed_by=kept, freed_boot=freed_boot(view, record))
    if record != after:  # also behind a taint: who falls silent then is freed by force
        return write(view, after, VouchedFor(view.at.name, proof.by), *chosen.because)
    step = next_step(view, record, view.work, how, proof, now)
    if step.is_done:
        return Cleaned((WorkloadCleaned(view.at.name, how.value),))
    return Decision(step.actions, (*step.because, VouchedFor(view.at.name, proof.by)), step.wake_at, facts=step.facts)


def unvouched(view: RemedyView, record: RemedyRecord, now: Now) -> Decision | Cleaned | None:
    """Why nobody vouches for the success that is on record, or the look that would tell; None: its Job does."""
    remedy, entry = jobs.remedy_of(view, record), view.job
    if remedy is None or not remedy.cleans:
        return Cleaned((NothingToClean(view.at.name, f"its document does not say clean-resource of {record.remedy}"),))
    if isinstance(entry, Absent):
        if not safety.is_confirmed(entry, now):
            return Decision((Confirm(run_by(record)),), (ConfirmFirst(str(run_by(record))),))
        return Cleaned((NothingToClean(view.at.name, f"{record.job} is gone, whose success would vouch for it"),))
    if not isinstance(entry, Present):
        return Decision(because=(RemedyRuns(record.job),))
    if is_vouching(entry.obj, view, record):
        return None
    why = f"{record.job} did not succeed, or clean-resource was not said of it when it was made for this boot"
    return Cleaned((NothingToClean(view.at.name, why),))


def is_vouching(job: Job, view: RemedyView, record: RemedyRecord) -> bool:
    is_its = (job.node, job.episode, job.vouches_for) == (view.at.name, record.episode, record.boot_id)
    return is_its and job.state is JobState.SUCCEEDED


def freed_boot(view: RemedyView, record: RemedyRecord) -> str:
    """The boot that is freed while nothing is heard of it: no kubelet ends what runs there."""
    is_silent = record.freed_boot == record.boot_id or not view.node.is_ready
    return record.boot_id if is_silent else ""


def way(view: RemedyView, record: RemedyRecord, work: Workload, now: Now) -> Way | Step:
    """As the document says, else as the node's version allows. Where its document counts pods they go one by one; so
    do they where the budget does and they are more than that: to the last one, though few are left by then.
    """
    read = view.document.document.configuration if view.document else None
    named = read.free_by if read else None
    is_counted = read is not None and read.policy.pods_per_minute is not None
    if is_counted or (named is None and record.freed_by == FreeBy.PODS.value):
        return Way(FreeBy.PODS)
    return freeing.way(work, named, now)


def next_step(view: RemedyView, record: RemedyRecord, work: Workload, how: FreeBy, proof: Attested, now: Now) -> Step:
    if how is FreeBy.PODS:
        return paced(view, freeing.by_pods(work, proof, now, batch(view)), now)
    if freeing.is_tainted(work.node):
        return freeing.after_taint(work, now)
    owner = Ref("", CONFIG_MAP, SYSTEM, record.document)
    return freeing.taint(work, NAME, owner, record.episode, proof, now)


def batch(view: RemedyView) -> int:
    """How many go at a time: a share of the minute's, where the document counts them."""
    limit = limit_of(view)
    return AT_ONCE if limit is None else max(1, min(AT_ONCE, limit // BATCHES))


def limit_of(view: RemedyView) -> int | None:
    return view.document.document.configuration.policy.pods_per_minute if view.document else None


def paced(view: RemedyView, step: Step, now: Now) -> Step:
    """`podsPerMinute` of the document: not all at once, whatever the number of nodes that are freed at the same time.

    The RemediationBudget's is asked on the way here (`core/pacing.py`), so that the stricter wins; but nothing is asked
    of it, and counted there, before the document lets anything go.
    """
    limit = limit_of(view)
    is_going = bool(step.facts) or any(isinstance(action, DeletePod) for action in step.actions)
    if limit is None or view.freed_last is None or not is_going:
        return step
    again = view.freed_last + Span(batch(view) * MINUTE.ms // limit)
    return Step((), (PodsPaced(limit),), again) if now.mono < again else step


def untaint(view: RemedyView, record: RemedyRecord | None = None) -> Decision | None:
    """A taint of ours goes when the node is back; None: there is none. The mark says whose it is.

    Whether the boot was silent when it was freed the record tells; where somebody took that off, it may have been.
    """
    mark = freeing.mark_of(view.node)
    if mark is None or mark.room != NAME:
        return None
    if not view.node.is_ready:
        return Decision(because=(TaintTakenBack(view.at.name),))
    boot = mark.boot_id if record is None else record.freed_boot
    if boot and boot == view.node.boot_id:
        return Decision(because=(FreedBootIsBack(view.at.name),))
    guard = Guard(view.node.uid, view.entry.resource_version)
    action = UntaintOutOfService(view.at, guard, freeing.without_taint(view.node))
    return Decision((action,), (TaintTakenBack(view.at.name),))
