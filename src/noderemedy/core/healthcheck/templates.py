"""What comes of a check's template: each sick machine states it, and the check's own status tells it, in every dialect.

Called by the remediation room (`stated`) and by the status room (`sees`, `told`). Most dialects write nothing on a
Machine that is repaired by a request (seed 004), so the check is where a person finds why there is none. The types and
reasons are those that Cluster API and OpenShift have for it; unlike theirs these are taken back when it is over.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core.external import lifecycle
from noderemedy.core.healthcheck.remediationview import RemediationView
from noderemedy.model.checkstatus import REQUEST_AVAILABLE, TEMPLATE_AVAILABLE, CheckStatus, Told
from noderemedy.model.decision import Fact, FactValue
from noderemedy.model.healthcheck import HealthCheck, TemplateRef
from noderemedy.model.ids import FACTS, MACHINE, OPENSHIFT_MACHINE, Kind, Ref
from noderemedy.model.room import Index, Present, Reader
from noderemedy.model.time import Now

KINDS: dict[Kind, Kind] = {
    MACHINE: Kind(FACTS, "TemplateNews"),
    OPENSHIFT_MACHINE: Kind(FACTS, "OpenShiftTemplateNews"),
}
MISSING = {lifecycle.NOT_FOUND: TEMPLATE_AVAILABLE, lifecycle.NOT_CREATED: REQUEST_AVAILABLE}
REASONS = {
    TEMPLATE_AVAILABLE: "ExternalRemediationTemplateNotFound",
    REQUEST_AVAILABLE: "ExternalRemediationRequestCreationFailed",
}
NOT_ASKED_FOR = "NotAskedFor"
NOBODY_ASKS = "no machine needs it now: it is looked for again when one does"
MESSAGE_MAX = 4_000
BY_OUTCOME = "template news by outcome"


class TemplateFact(FactValue, frozen=True):
    """What came of the template for one sick machine: which of template and request are there, and why one is not."""

    check: Ref
    available: tuple[str, ...] = ()  # types of conditions
    missing: str = ""  # a type of condition
    why: str = ""


class News(Struct, frozen=True):
    """The same for all machines of a check; of several that miss something the first one speaks."""

    available: tuple[str, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()  # type of condition, why


# --- a machine states it -----------------------------------------------------------------------------------------


def stated(view: RemediationView, now: Now) -> tuple[Fact, ...]:
    """For a sick machine whose check has a template; nothing before anybody has looked."""
    requests = view.requests
    if view.governing is None or requests is None or requests.wish is None:
        return ()
    trouble = lifecycle.trouble(requests, now)
    missing = MISSING[trouble.reason] if trouble else ""
    known = {
        TEMPLATE_AVAILABLE: lifecycle.has_template(requests.wish),
        REQUEST_AVAILABLE: any(one.at == requests.wish.request_at for one in requests.standing),
    }
    available = tuple(one for one, is_there in known.items() if is_there and one != missing)
    if not missing and not available:
        return ()
    why = trouble.message[:MESSAGE_MAX] if trouble else ""
    at = Ref(view.at.cluster, KINDS[view.at.kind], view.at.namespace, view.at.name)
    return (Fact(at, TemplateFact(view.governing.at, available, missing, why)),)


def outcomes(ref: Ref, fact: TemplateFact) -> tuple[str, ...]:
    there = (outcome(fact.check, one, is_there=True) for one in fact.available)
    return (*there, *((outcome(fact.check, fact.missing, is_there=False),) if fact.missing else ()))


def outcome(check: Ref, type: str, *, is_there: bool) -> str:
    return f"{'' if is_there else 'no '}{type} for {check.kind} {check}"


INDEXES: tuple[Index, ...] = tuple(Index(BY_OUTCOME, kind, outcomes) for kind in KINDS.values())


# --- the check tells it ------------------------------------------------------------------------------------------


def sees(check: Ref, reader: Reader) -> News:
    missing = []
    for type in REASONS:
        first = reader.find(BY_OUTCOME, outcome(check, type, is_there=False))[:1]
        entry = reader.read(first[0]) if first else None
        if isinstance(entry, Present):
            missing.append((type, entry.obj.why))
    there = (one for one in REASONS if reader.tally(BY_OUTCOME, outcome(check, one, is_there=True)))
    return News(tuple(there), tuple(missing))


def told(check: HealthCheck, news: News, unhealthy: int) -> tuple[Told, ...]:
    """What is missing; that it is there only where the opposite was told.

    What nobody looks for is as it was told as long as a machine is sick: a manager that starts anew has to look first.
    When none is sick any more, nobody knows.
    """
    if not isinstance(check.template, TemplateRef):
        return ()
    before = said(check.status)
    found = (one(type, before.get(type), news, unhealthy) for type in REASONS)
    return tuple(condition for condition in found if condition is not None)


def one(type: str, before: Told | None, news: News, unhealthy: int) -> Told | None:
    why = dict(news.missing).get(type)
    if why is not None:
        return Told(type, "False", REASONS[type], why)
    if before is None or before.status == "True":
        return before
    if type in news.available:
        return Told(type, "True", type)
    return before if unhealthy else Told(type, "Unknown", NOT_ASKED_FOR, NOBODY_ASKS)


def said(status: CheckStatus) -> dict[str, Told]:
    return {one.type: one for one in status.conditions if isinstance(one, Told)}
