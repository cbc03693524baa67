"""What a record tells of remedies and fence flows: the trouble of a node, its remedy, and its NodeFence.

Used by both diaries: that of a Machine, and that of a Node without one. Evidence is made of typed fields only.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from noderemedy.core.incident import deciders
from noderemedy.core.incident.observed import Decider, Observed
from noderemedy.core.remedy.facts import Problems, Trouble, document_ref, problems_ref, trouble_ref
from noderemedy.core.remedy.jobs import told
from noderemedy.core.remedy.recording import FENCE, REMEDY, problem_aspect
from noderemedy.model.ids import CONFIG_MAP, SYSTEM, Ref
from noderemedy.model.incident import SIGNS_MAX, Detection
from noderemedy.model.nodefence import NodeFence, fence_ref
from noderemedy.model.reasons import (
    ConditionPending,
    ConditionTimedOut,
    MachineConditionPending,
    MachineConditionTimedOut,
    Reason,
)
from noderemedy.model.remedy import RemedyRecord
from noderemedy.model.room import Present, Reader

EFFECTS = frozenset({REMEDY, FENCE})
OF_CONDITIONS = (ConditionPending, ConditionTimedOut, MachineConditionPending, MachineConditionTimedOut)


class Care(Struct, frozen=True):
    """What rooms do for a node itself."""

    trouble: Trouble | None = None
    problems: Problems | None = None  # the trouble, and all else that its document names
    record: RemedyRecord | None = None
    fence: NodeFence | None = None
    documents: tuple[Decider, ...] = ()  # by which that is so, of now

    def by(self, document: Ref) -> Decider | None:
        return next((one for one in self.documents if one.at == document), None)

    @property
    def is_in_hand(self) -> bool:
        """A remedy is on its way, or a fence flow has begun and is not over."""
        return self.record is not None or (self.fence is not None and self.fence.is_begun and not self.fence.is_final)

    @property
    def is_sick(self) -> bool:
        return self.problems is not None


NONE = Care()


def care_of(node_at: Ref | None, reader: Reader) -> Care:
    """What is known of this node; nothing of nodes of other clusters but their fences."""
    if node_at is None:
        return NONE
    node, fence = reader.read(node_at), reader.read(fence_ref(node_at))
    problems = reader.read(problems_ref(node_at)) if not node_at.cluster else None
    record = node.obj.remedy if isinstance(node, Present) else None
    care = Care(
        trouble=trouble_of(node_at, reader),
        problems=problems.obj if isinstance(problems, Present) else None,
        record=record if isinstance(record, RemedyRecord) else None,
        fence=fence.obj if isinstance(fence, Present) else None,
    )
    return replace(care, documents=documents(care, reader))


def documents(care: Care, reader: Reader) -> tuple[Decider, ...]:
    """Mostly one; a record may name another one than governs by now."""
    named = [one.document for one in (care.trouble, care.problems) if one is not None]
    if care.record is not None:
        named.append(config_map(care.record))
    return tuple(deciders.document(at, reader) for at in dict.fromkeys(named))


def config_map(record: RemedyRecord) -> Ref:
    return Ref("", CONFIG_MAP, SYSTEM, record.document)


def trouble_of(node_at: Ref, reader: Reader) -> Trouble | None:
    entry = reader.read(trouble_ref(node_at)) if not node_at.cluster else None
    return entry.obj if isinstance(entry, Present) else None


def needs_approval(node_at: Ref | None, reader: Reader) -> bool:
    """Whether the document by which the node is in trouble waits for a person's answer."""
    trouble = trouble_of(node_at, reader) if node_at else None
    entry = reader.read(document_ref(trouble.document)) if trouble else None
    return isinstance(entry, Present) and bool(entry.obj.document.needs_approval)


def remedy(care: Care, has_watched: bool) -> Observed:
    """Which remedy, by which document, and how it ended."""
    record = care.record
    if record is None:
        return Observed("remedy", REMEDY)
    parts = {"document": record.document, "threshold": record.threshold, "run by": record.job, "boot": record.boot_id}
    evidence = ", ".join(f"{name} {value}" for name, value in parts.items() if value)
    freed = f", freed by {record.freed_by}" if record.freed_by else ""
    by = deciders.of_trace(care.by(config_map(record)), has_watched)
    return Observed("remedy", REMEDY, told(record), evidence + freed, by=by)


def fence(care: Care) -> Observed:
    """How far the fence flow is, with its evidence."""
    flow = care.fence
    if flow is None or not flow.is_begun:
        return Observed("node-fence", FENCE)
    status, found = flow.status, flow.status.evidence
    parts = {
        "node": status.node_uid,
        "boot": status.boot_id,
        "off at": found.off_at,
        "proof": found.proof,
        "freed by": found.free_by.value if found.free_by else "",
        "freed at": found.freed_at,
    }
    evidence = ", ".join(f"{name} {value}" for name, value in parts.items() if value)
    again = f", restart {status.restarts}" if status.restarts else ""
    return Observed(
        "node-fence",
        FENCE,
        f"{status.step.value} {status.state.value}{again}",
        evidence,
        flow.uid,
        deciders.fence(flow),
    )


def observed(care: Care, has_watched: bool) -> tuple[Observed, ...]:
    return (remedy(care, has_watched), fence(care))


def judged(care: Care, known: Mapping[str, str], found: Detection) -> tuple[Observed, ...]:
    """What the thresholds of the document say: reached, not yet, or over."""
    trouble = care.trouble
    if trouble is None:
        was_judged = "verdict" in known or (is_by_document(found) and not care.is_sick)
        return (Observed("threshold", "verdict", "healthy"),) if was_judged else ()
    if not trouble.is_over:
        return (Observed("threshold", "verdict", "waiting"),) if "verdict" in known else ()
    told = "; ".join(reason.note() for reason in trouble.because)
    by = care.by(trouble.document)
    return (Observed("threshold", "verdict", "unhealthy", f"since {trouble.since}: {told}", by=by),)


def is_by_document(found: Detection) -> bool:
    """Whether the episode was found by a Configuration document, and not by a health check."""
    return found.check.startswith(f"{CONFIG_MAP.kind}/")


def problems(care: Care, known: Mapping[str, str]) -> tuple[Observed, ...]:
    """What alarms count: there, or over."""
    found = [one for one in care.problems.found if one.is_alarmed] if care.problems else []
    there = {problem_aspect(one.name): one for one in found}
    over = (what for what in known if what.startswith(problem_aspect("")) and what not in there)
    by = care.by(care.problems.document) if care.problems else None
    shown = (Observed("threshold", what, one.value, f"since {one.since}", by=by) for what, one in there.items())
    return (*shown, *(Observed("threshold", what) for what in over))


def conditions_of(because: tuple[Reason, ...], care: Care) -> tuple[str, ...]:
    """The types of the conditions among these reasons, and the problems that the document names; once each."""
    found = [one.type for one in because if isinstance(one, OF_CONDITIONS)]
    named = [one.name for one in care.problems.found] if care.problems else []
    return tuple(dict.fromkeys([*found, *named]))[:SIGNS_MAX]
