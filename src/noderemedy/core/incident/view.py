"""What the diary may judge by: a Machine, its host and node, what rooms state about it, and its open Incident."""

from __future__ import annotations

from msgspec import Struct, structs

from noderemedy.core import approvals, consumers, hostnames, machines, traces
from noderemedy.core.external import lifecycle
from noderemedy.core.external.instantiate import request_at
from noderemedy.core.external.kinds import request_kind
from noderemedy.core.external.lifecycle import Standing
from noderemedy.core.healthcheck.facts import VerdictFact, spec_ref, verdict_ref
from noderemedy.core.incident import deciders, remedies
from noderemedy.core.incident.facts import Diary
from noderemedy.core.incident.observed import Decider
from noderemedy.core.incident.remedies import NONE, Care, care_of
from noderemedy.core.metal3 import links
from noderemedy.core.traces import Erasing, diary_ref
from noderemedy.model import budget
from noderemedy.model.fenceremediation import FenceRemediation
from noderemedy.model.healthcheck import HealthCheck, Healthy, NeedsLook, TemplateRef, Unhealthy, Unjudged, Waiting
from noderemedy.model.host import Host
from noderemedy.model.ids import FENCE_REMEDIATION, REMEDIATION, Ref
from noderemedy.model.incident import Incident
from noderemedy.model.machine import Machine
from noderemedy.model.node import Node
from noderemedy.model.reasons import NodeStarting, TargetLeaving
from noderemedy.model.remediation import Metal3Remediation, Phase
from noderemedy.model.room import Absent, Entry, Present, Reader, Unseen
from noderemedy.model.time import Mono

NOT_SICK = (NodeStarting, TargetLeaving)  # a machine that starts or leaves is in order, as long as it has time


class TargetView(Struct, frozen=True):
    """A Machine and all that is told about it. `incident` is the open one, `diary` what was noted at the last look."""

    at: Ref
    entry: Entry
    node_at: Ref | None = None
    node_entry: Entry = Absent()
    host_at: Ref | None = None
    host_entry: Entry = Absent()
    verdict: VerdictFact | None = None
    answer: budget.Granted | budget.Refused | None = None
    remediation: Metal3Remediation | None = None
    requests: tuple[Standing, ...] = ()  # of templates of other kinds
    is_blind: bool = False  # requests of the governing check's kind cannot be seen (yet)
    incident: tuple[Ref, Present] | None = None
    diary: Diary | None = None
    begun: Mono | None = None  # since when there is this diary
    needs_approval: bool = False  # the governing check waits for a person's answer
    taken: tuple[Ref, ...] = ()  # the names of all Incidents of this target
    intents: tuple[Erasing, ...] = ()  # what rooms are about to do
    care: Care = NONE  # what is done for its node itself
    fencing: FenceRemediation | None = None  # the request to fence its node
    check: Decider | None = None  # that governs, of now
    budget: Decider | None = None  # of now
    has_watched: bool = False  # this is not the first look: what is new came a moment ago

    @property
    def machine(self) -> Machine | None:
        return self.entry.obj if isinstance(self.entry, Present) else None

    @property
    def host(self) -> Host | None:
        return self.host_entry.obj if isinstance(self.host_entry, Present) else None

    @property
    def node(self) -> Node | None:
        return self.node_entry.obj if isinstance(self.node_entry, Present) else None

    @property
    def stored(self) -> Incident | None:
        return self.incident[1].obj if self.incident else None

    @property
    def check_then(self) -> Decider | None:
        """The check that governs, for what it left behind when it decided."""
        return deciders.of_trace(self.check, self.has_watched)

    @property
    def is_held(self) -> bool:
        """Whether we hold the host of this machine off, in whatever way."""
        return self.host is not None and (self.host.held or bool(self.host.held_for))

    @property
    def is_in_hand(self) -> bool:
        """Whether a repair was asked for, runs, or has something left to finish."""
        machine = self.machine
        return machine is not None and (
            machine.needs_remediation
            or machine.backup is not None
            or machine.node_deleted_at is not None
            or machine.replacement is not None
            or self.is_held
            or bool(self.requests)
            or (self.remediation is not None and is_under_way(self.remediation))
            or self.care.is_in_hand
        )

    @property
    def is_sick(self) -> bool:
        """Whether the target has left Healthy: judged so, or with a sign that still has time."""
        if self.care.is_sick:
            return True
        match self.verdict.verdict if self.verdict else None:
            case Unhealthy():
                return True
            case Waiting(_, because):
                return any(not isinstance(reason, NOT_SICK) for reason in because)
            case Healthy() | Unjudged() | NeedsLook() | None:
                return False


def sees(key: Ref, reader: Reader) -> TargetView | None:
    """Everything about this target that the room may judge by; None where there is nothing to note."""
    entry = reader.read(key)
    machine: Machine | None = entry.obj if isinstance(entry, Present) else None
    host_at, host_entry = host_of(key, machine, reader) if machine else (None, Absent())
    node_at = machines.node_at(key, machine, reader) if machine else None
    known, verdict = reader.read(diary_ref(key)), reader.read(verdict_ref(key))
    told: Diary | None = known.obj if isinstance(known, Present) else None
    incident, taken = approvals.open_incident(key, reader), reader.find(approvals.BY_TARGET, approvals.place(key))
    diary = None if told and is_spent(told, incident, taken) else told
    view = TargetView(
        at=key,
        entry=entry,
        node_at=node_at,
        node_entry=reader.read(node_at) if node_at else Absent(),
        host_at=host_at,
        host_entry=host_entry,
        verdict=verdict.obj if isinstance(verdict, Present) else None,
        remediation=remediation_of(key, machine, reader),
        requests=requests_of(key, machine, reader),
        incident=incident,
        diary=diary,
        begun=known.first_seen if diary and isinstance(known, Present) else None,
        taken=taken,
        care=care_of(node_at, reader),
        has_watched=diary is not None and deciders.has_watched(known, reader),
    )
    if not (view.incident or view.diary or view.is_in_hand or view.is_sick):
        return None  # most are well, and nobody looks further
    return structs.replace(
        view,
        answer=budget.answer(key, reader),
        is_blind=is_blind(key, verdict, reader),
        needs_approval=needs_approval(verdict, reader) or remedies.needs_approval(node_at, reader),
        intents=intents_of(key, reader),
        fencing=fencing_of(key, view.machine, reader),
        check=deciders.check(view.verdict, reader),
        budget=deciders.budget(reader),
    )


def intents_of(key: Ref, reader: Reader) -> tuple[Erasing, ...]:
    entries = [reader.read(ref) for ref in reader.find(traces.BY_TARGET, approvals.place(key))]
    return tuple(one.obj for one in entries if isinstance(one, Present) and one.obj.intent)


def is_spent(diary: Diary, incident: tuple[Ref, Present] | None, taken: tuple[Ref, ...]) -> bool:
    """Whether the Incident of this diary is closed: what happens now is another episode."""
    return diary.name in taken and (incident is None or incident[0] != diary.name)


def remediation_of(key: Ref, machine: Machine | None, reader: Reader) -> Metal3Remediation | None:
    """A request of Metal3 has the name of its machine; one that was begun for a former Machine is not its."""
    entry = reader.read(Ref(key.cluster, REMEDIATION, key.namespace, key.name))
    if not isinstance(entry, Present):
        return None
    begun_for = entry.obj.progress.evidence.machine_uid
    return entry.obj if machine is None or begun_for in ("", machine.uid) else None


def fencing_of(key: Ref, machine: Machine | None, reader: Reader) -> FenceRemediation | None:
    entry = reader.read(Ref(key.cluster, FENCE_REMEDIATION, key.namespace, key.name))
    is_its = isinstance(entry, Present) and machine is not None and entry.obj.status.machine_uid == machine.uid
    return entry.obj if isinstance(entry, Present) and is_its else None


def requests_of(key: Ref, machine: Machine | None, reader: Reader) -> tuple[Standing, ...]:
    found = lifecycle.standing(key, machine, reader) if machine else []
    return tuple(one for one in found if one.at.kind != REMEDIATION)


def is_under_way(remediation: Metal3Remediation) -> bool:
    """Begun, and neither over nor given up."""
    return remediation.progress.phase not in (Phase.NEW, Phase.FAILED) and not remediation.progress.is_recovered


def governing(verdict: Entry, reader: Reader) -> HealthCheck | None:
    spec = reader.read(spec_ref(verdict.obj.check)) if isinstance(verdict, Present) else Absent()
    return spec.obj.check if isinstance(spec, Present) else None


def needs_approval(verdict: Entry, reader: Reader) -> bool:
    check = governing(verdict, reader)
    return check is not None and bool(check.needs_approval)


def is_blind(key: Ref, verdict: Entry, reader: Reader) -> bool:
    """Whether a request may be there and is not listed: a manager that has just come has not seen that kind yet."""
    check = governing(verdict, reader)
    template = check.template if check else None
    if not isinstance(template, TemplateRef):
        return False
    return isinstance(reader.read(request_at(request_kind(template), key)), Unseen)


def host_of(key: Ref, machine: Machine, reader: Reader) -> tuple[Ref | None, Entry]:
    """The host that the machine names, if that names the machine back: another's hold is another's story.

    Where they lost each other: the host that is held for this very machine. Its hold is about to go, and was ours.
    """
    named = hostnames.host_at(key, machine, reader)
    entry = reader.read(named) if named else Absent()
    host = entry.obj if isinstance(entry, Present) else None
    is_lost = named and host is not None and not consumers.is_consumed_by(host, named, machine, key, reader)
    if isinstance(entry, Present) and not is_lost:
        return named, entry
    if held := reader.find(links.HELD_FOR, machine.uid):
        return held[0], reader.read(held[0])
    return named, Absent() if is_lost else entry
