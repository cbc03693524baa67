"""What health checks derive: a verdict per machine, a gate per check. Kept and counted by the engine, never written."""

from __future__ import annotations

from msgspec.structs import replace

from noderemedy.model.decision import FactValue
from noderemedy.model.healthcheck import Gate, HealthCheck, Sighting, Tally, Unhealthy, Unjudged, Verdict
from noderemedy.model.ids import (
    FACTS,
    HEALTH_CHECK,
    MACHINE,
    OPENSHIFT_HEALTH_CHECK,
    OPENSHIFT_MACHINE,
    Kind,
    Ref,
)
from noderemedy.model.reasons import CannotSeeCluster, Reason
from noderemedy.model.room import Index

# Machines of the two groups may share a name, so each has a kind of verdict of its own.
VERDICTS: dict[Kind, Kind] = {MACHINE: Kind(FACTS, "Verdict"), OPENSHIFT_MACHINE: Kind(FACTS, "OpenShiftVerdict")}
CHECKS = (HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK)
SPECS: dict[Kind, Kind] = {kind: Kind(FACTS, f"Spec of {kind.group}") for kind in CHECKS}
GATES: dict[Kind, Kind] = {kind: Kind(FACTS, f"Gate of {kind.group}") for kind in CHECKS}
PERMITS: dict[Kind, Kind] = {kind: Kind(FACTS, f"Permit of {kind.group}") for kind in CHECKS}
MEMBERS: dict[Kind, Kind] = {MACHINE: Kind(FACTS, "Member"), OPENSHIFT_MACHINE: Kind(FACTS, "OpenShiftMember")}
TARGETS: dict[Kind, Kind] = {kind: Kind(FACTS, f"Targets of {kind.group}") for kind in CHECKS}
CHECK_OF: dict[Kind, Kind] = {fact: kind for facts in (SPECS, GATES, PERMITS, TARGETS) for kind, fact in facts.items()}
MACHINE_OF: dict[Kind, Kind] = {fact: kind for kind, fact in VERDICTS.items()}


class SpecFact(FactValue, frozen=True):
    """What a check asks for: the check without its status."""

    at: Ref
    check: HealthCheck


class VerdictFact(FactValue, frozen=True):
    """What the governing check has to say about a machine, and which other checks would like to have a say."""

    check: Ref
    verdict: Verdict
    is_under_repair: bool
    sightings: tuple[Sighting, ...] = ()
    others: tuple[Ref, ...] = ()

    def if_broken(self, why: Reason) -> VerdictFact:
        """Neither healthy nor sick: nothing new is begun over an old verdict, and nothing is taken back."""
        return replace(self, verdict=Unjudged((why,)))


class GateFact(FactValue, frozen=True):
    """Whether a check may start repairs, and the numbers behind that."""

    gate: Gate
    count: Tally
    contested: int = 0  # machines that another check selects too
    unseen: int = 0  # machines whose cluster cannot be seen
    unasked: int = 0  # machines of whose cluster nobody knows anything yet
    since: str = ""  # when it opened or closed, as a condition spells it
    is_told: bool = False  # that it is closed; who was told so is told that it has opened


class PermitFact(FactValue, frozen=True):
    """Whether a check may start repairs, without the numbers: it wakes its sick machines, so it must change rarely."""

    at: Ref
    is_open: bool
    other: str = ""  # the controller that looks after this check instead of us

    def if_broken(self, why: Reason) -> PermitFact:
        return replace(self, is_open=False)


class MemberFact(FactValue, frozen=True):
    """A machine is a target of this check. Says nothing else, so that it changes only when membership does."""

    check: Ref


class TargetsFact(FactValue, frozen=True):
    """The sorted names of the targets of a check."""

    names: tuple[str, ...]


def verdict_ref(machine: Ref) -> Ref:
    return Ref(machine.cluster, VERDICTS[machine.kind], machine.namespace, machine.name)


def gate_ref(check: Ref) -> Ref:
    return Ref(check.cluster, GATES[check.kind], check.namespace, check.name)


def machine_of(verdict: Ref) -> Ref:
    """The machine that a verdict is about."""
    return Ref(verdict.cluster, MACHINE_OF[verdict.kind], verdict.namespace, verdict.name)


def member_ref(machine: Ref) -> Ref:
    return Ref(machine.cluster, MEMBERS[machine.kind], machine.namespace, machine.name)


def targets_ref(check: Ref) -> Ref:
    return Ref(check.cluster, TARGETS[check.kind], check.namespace, check.name)


def permit_ref(check: Ref) -> Ref:
    return Ref(check.cluster, PERMITS[check.kind], check.namespace, check.name)


def spec_ref(check: Ref) -> Ref:
    return Ref(check.cluster, SPECS[check.kind], check.namespace, check.name)


def check_of(ref: Ref) -> Ref:
    """The check that a fact of it is about; a check itself is its own."""
    return Ref(ref.cluster, CHECK_OF.get(ref.kind, ref.kind), ref.namespace, ref.name)


def buckets(ref: Ref, fact: VerdictFact) -> tuple[str, ...]:
    """Under which names a verdict is counted: all of a check, its healthy ones, its sick ones, its contested ones."""
    names = [total(fact.check)]
    if fact.verdict.counts_as_healthy and not fact.is_under_repair:
        names.append(healthy(fact.check))
    if isinstance(fact.verdict, Unhealthy):
        names += (unhealthy(fact.check), SICK)
    if fact.others:
        names.append(contested(fact.check))
    if (hidden := blindness(fact.verdict)) is not None:
        names.append(unseen(fact.check) if hidden.why else unasked(fact.check))
    return (*names, *(contested(other) for other in fact.others))


def blindness(verdict: Verdict) -> CannotSeeCluster | None:
    """Why a machine is not judged, if that is because of its cluster."""
    reasons = verdict.because if isinstance(verdict, Unjudged) else ()
    return next((one for one in reasons if isinstance(one, CannotSeeCluster)), None)


def total(check: Ref) -> str:
    return f"{check.kind} {check}"


def healthy(check: Ref) -> str:
    return f"healthy {check.kind} {check}"


def unhealthy(check: Ref) -> str:
    return f"unhealthy {check.kind} {check}"


def contested(check: Ref) -> str:
    return f"contested {check.kind} {check}"


def unseen(check: Ref) -> str:
    return f"unseen {check.kind} {check}"


def unasked(check: Ref) -> str:
    return f"unasked {check.kind} {check}"


BY_CHECK = "verdicts by check"
SICK = "unhealthy"  # all of them, of whichever check
INDEXES: tuple[Index, ...] = tuple(Index(BY_CHECK, kind, buckets) for kind in VERDICTS.values())
