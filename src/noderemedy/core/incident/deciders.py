"""By which object a step of a record came about, and by which generation of it: checks, budget, requests, documents.

Used by the views and aspects of both diaries. Read from the cache when a step is noted, and never looked up again: a
record tells of the policy as it was. No event of these objects wakes a diary: an edit changes no record.

Rule 1: what is decided at this look (a verdict, a refusal) is decided by what is there now.
Rule 2: a request that keeps a status has told there for which generation it was written.
Rule 3: what merely stands there (a mark, a word on a Machine, a grant) tells no generation. Who sees it come knows that
it was decided a moment ago; who finds it at the first look does not, and names the object only.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import conditions
from noderemedy.core.fencing import requestgates
from noderemedy.core.healthcheck import words
from noderemedy.core.healthcheck.facts import VerdictFact, spec_ref
from noderemedy.core.incident.observed import Decider, version
from noderemedy.core.metal3 import remediationgates
from noderemedy.core.remedy.documents import kept_at
from noderemedy.core.remedy.facts import document_ref
from noderemedy.model.fenceremediation import FencePhase, FenceRemediation
from noderemedy.model.ids import FENCE_REMEDIATION, REMEDIATION, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.machineconditions import EXTERNALLY_REMEDIATED, HEALTH_CHECK_SUCCEEDED
from noderemedy.model.nodefence import NodeFence, fence_ref
from noderemedy.model.remediation import Metal3Remediation, Phase
from noderemedy.model.remediationbudget import BUDGET_AT
from noderemedy.model.room import Entry, Present, Reader
from noderemedy.model.term import term


def check(verdict: VerdictFact | None, reader: Reader) -> Decider | None:
    """The check that governs, as the verdict was judged by it."""
    if verdict is None:
        return None
    spec = reader.read(spec_ref(verdict.check))
    return Decider(verdict.check, spec.obj.check.generation if isinstance(spec, Present) else 0)


def budget(reader: Reader) -> Decider | None:
    """The RemediationBudget; the defaults, which hold without one, are nobody's."""
    entry = reader.read(BUDGET_AT)
    return Decider(BUDGET_AT, entry.obj.generation) if isinstance(entry, Present) else None


def document(at: Ref, reader: Reader) -> Decider:
    """A Configuration. ConfigMaps have no generation: its version is told, or that of the last good one it goes by."""
    fact = reader.read(document_ref(at))
    is_last_good = isinstance(fact, Present) and fact.obj.is_last_good
    holder = kept_at(at) if is_last_good else at
    return Decider(at, version=version(holder, reader.read(holder)))


def remediation(at: Ref, one: Metal3Remediation) -> Decider:
    return Decider(Ref(at.cluster, REMEDIATION, at.namespace, at.name), one.progress.generation)


def fence(one: NodeFence) -> Decider:
    return Decider(fence_ref(one.spec.node_at), one.status.generation)


# --- what was there before we looked -----------------------------------------------------------------------------


def has_watched(diary: Entry, reader: Reader) -> bool:
    """Whether this manager has noted something of the target in this very leadership: what is new it saw come."""
    leads = term(reader)
    return isinstance(diary, Present) and (leads is None or diary.changed_at >= leads.since)


def of_trace(decider: Decider | None, is_witnessed: bool) -> Decider | None:
    """Who left a trace: without a generation where nobody here saw it come."""
    return decider if decider is None or is_witnessed else structs.replace(decider, generation=0, version="")


# --- words on a Machine ------------------------------------------------------------------------------------------


def teller(
    type: str,
    at: Ref,
    machine: Machine,
    governing: Decider | None,
    asked: tuple[Metal3Remediation | None, FenceRemediation | None],
) -> Decider | None:
    """Who said this on a Machine: its check, or a request that gave up and asks the owner. None: somebody else."""
    one = machine.told.find(type)
    if one is None:
        return None
    metal3, fencing = asked
    said = one.message.removeprefix(conditions.SAID_ALONG)
    if said == remediationgates.ASKED.message and metal3 and metal3.progress.phase is Phase.DELETING_MACHINE:
        return remediation(at, metal3)
    if said == requestgates.ASKED.message and fencing and fencing.status.phase is FencePhase.DELETING_MACHINE:
        return Decider(Ref(at.cluster, FENCE_REMEDIATION, at.namespace, at.name), fencing.status.generation)
    return governing if governing is not None and is_its_word(type, said, governing.at.name) else None


def is_its_word(type: str, said: str, check: str) -> bool:
    """Whether a health check of this name says such a thing; to an owner none says anything else."""
    if said.startswith(words.ASKED_BY):
        return said == f"{words.ASKED_BY}{check}"
    return type == EXTERNALLY_REMEDIATED or (type == HEALTH_CHECK_SUCCEEDED and said.startswith(words.FAILED))
