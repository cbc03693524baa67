"""The remediation room: one key per Machine. Has sick machines repaired, and tells on Machines what was found.

Called by the engine whenever a verdict, a check's permission, the budget's answer or the machine itself changes. It
repairs nothing itself: it asks, in one of the ways of `modes.py` (seeds 003, 004), and somebody else acts.

Rule 1: asking takes all gates (`remediationgates.py`). Telling takes only those that concern it: nobody may be blind.
Rule 2: recovery and withdrawal ask no gate and no budget; what could not be judged is left alone in every respect.
Rule 3: one machine, one repair: while one way is asked for, no other is, whatever the check says by now.
Rule 4: one write to the Machine per decision, for each is guarded by its version.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import structs

from noderemedy.core import claim, hostnames, machines, resting, traces
from noderemedy.core.conditions import is_said_along, write
from noderemedy.core.episodes import episode
from noderemedy.core.external import lifecycle
from noderemedy.core.gates import first, meanwhile, passages
from noderemedy.core.healthcheck import facts, templates, words
from noderemedy.core.healthcheck.erasing import unrecorded
from noderemedy.core.healthcheck.facts import BY_CHECK, VerdictFact, machine_of
from noderemedy.core.healthcheck.modes import MODES, Way, told_by, way_of
from noderemedy.core.healthcheck.remediationgates import (
    AFTER_BUDGET,
    BEFORE_BUDGET,
    GATES,
    SILENT,
    WITHOUT_CHECK,
    budget_allows,
    check_may_act,
    node_is_read_live,
)
from noderemedy.core.healthcheck.remediationview import CHECKS_OF, NAME, RemediationView, authors_of, sees
from noderemedy.core.healthcheck.verdicts import CHECK_INDEXES
from noderemedy.core.resting import Turn
from noderemedy.core.slots import begun_at, settled
from noderemedy.model.actions import (
    Action,
    ClaimRepair,
    Confirm,
    CreateRequest,
    DeleteMachine,
    DeleteRequest,
    MarkMachine,
    RemoveRemediationAnnotation,
    WriteMachineConditions,
)
from noderemedy.model.budget import ANSWER, NEED, need
from noderemedy.model.decision import NOTHING, Decision, Fact
from noderemedy.model.dialect import RULES
from noderemedy.model.healthcheck import Healthy, Unhealthy
from noderemedy.model.ids import CLUSTER, INCIDENT, LEASE, NODE, NODE_FENCE, OPENSHIFT_HEALTH_CHECK, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.machineconditions import EXTERNALLY_REMEDIATED, HEALTH_CHECK_SUCCEEDED, OWNER_REMEDIATED, Graded
from noderemedy.model.observer import OBSERVER
from noderemedy.model.reasons import (
    AnotherRepair,
    HealthTold,
    Reason,
    RemediationGoesOn,
    RemediationWithdrawn,
    RepairOverdue,
    RequestLeft,
    RequestUnneeded,
)
from noderemedy.model.remote import REMOTE
from noderemedy.model.request import FOLLOWED
from noderemedy.model.room import Index, Passage, Present, Reader, Room
from noderemedy.model.serving import UNSERVED
from noderemedy.model.time import MINUTE, Now, Wall

REPAIR_WITHIN = MINUTE * 30  # then a person is told that nobody has repaired it
BY_AUTHOR = "machines by the check that asked"


def decide(view: RemediationView, now: Now) -> Decision:
    """What is told and asked for; but nothing is taken away that the record does not tell of.

    A repair that leads to nothing does not stand in the way of the others for ever.
    """
    decision = found(view, now)
    waits = unrecorded(view, decision, now)
    whole = structs.replace(waits, facts=(*decision.facts, *waits.facts)) if waits else decision
    return settled(whole, view.need, now)


def found(view: RemediationView, now: Now) -> Decision:
    """What to tell and what to ask for, by the verdict."""
    if view.governing is None:
        return withdrawn(view, now)
    verdict = view.governing.found.verdict
    if isinstance(verdict, Healthy):
        return recovered(view, now)
    if isinstance(verdict, Unhealthy):
        decision, named = sick(view, verdict, now), episode(view.machine.uid, "", verdict.since)
        return structs.replace(decision, episode=named, facts=(*decision.facts, *templates.stated(view, now)))
    return unended(view, running_way(view), now)


# --- a sick machine ----------------------------------------------------------------------------------------------


def sick(view: RemediationView, verdict: Unhealthy, now: Now) -> Decision:
    """All gates, then the way that the check means; and in any case what there is to tell."""
    assert view.governing is not None
    running = running_way(view)
    if running is not None:
        return with_telling(spent(view, running, now) or goes_on(view, running, now), view, now, running)
    way = way_of(view.governing.check, view.machine)
    if held := hindered(view, way, now):
        return structs.replace(held, facts=resting.kept(waiting(view, way, verdict, Turn()), view.need))
    wanted, is_granted = due(view, way, now), budget_allows(view, now) is None
    found, stands = resting.begin(wanted, view.need, verdict.since, now, view.at.name, is_granted=is_granted)
    told = with_telling(found, view, now, None) if stands.is_rest else found
    return structs.replace(told, facts=(waiting(view, way, verdict, stands),))


def hindered(view: RemediationView, way: Way, now: Now) -> Decision | None:
    """What there is to tell while nothing can be asked for, so that the budget is not asked either; None if it can."""
    if blocked := first(BEFORE_BUDGET, view, now):
        return with_telling(blocked.decision(now), view, now, None)
    return hindered_request(view, way, now)


def due(view: RemediationView, way: Way, now: Now) -> Decision:
    """What is done for a machine for which the budget is asked, or has been."""
    if blocked := first(AFTER_BUDGET, view, now):
        return with_telling(meanwhile(blocked, live_reads(view, way, now)).decision(now), view, now, None)
    return with_telling(MODES[way].ask(view, now), view, now, way)


def waiting(view: RemediationView, way: Way, verdict: Unhealthy, stands: Turn) -> Fact:
    """The need of a repair that nobody was asked for yet: it waits, is asked for, or rests, since that is refused."""
    is_ours = is_claimant(way)
    return stands.upon(need(view.at, NAME, verdict.since, is_running=False, node=view.node_at, is_claimant=is_ours))


def hindered_request(view: RemediationView, way: Way, now: Now) -> Decision | None:
    """A request that cannot be made is told, and looked at again, and takes no place from others; None if it can."""
    if way is not Way.EXTERNAL or view.requests is None:
        return None
    blocked = lifecycle.hindrance(view.requests, now)
    if blocked is None:
        return None
    asked = way if lifecycle.trouble(view.requests, now) else None
    return with_telling(blocked.decision(now), view, now, asked)


def live_reads(view: RemediationView, way: Way, now: Now) -> tuple[Action, ...]:
    """What is read before a repair is asked for: the node, and the template of a request."""
    node = node_is_read_live(view, now)
    template = first(lifecycle.GATES, view.requests, now) if way is Way.EXTERNAL and view.requests is not None else None
    return (*(node.actions if node else ()), *(template.actions if template else ()))


def goes_on(view: RemediationView, running: Way, now: Now) -> Decision:
    """A repair that runs needs no gate and no grant to go on; another one is not started beside it."""
    assert view.governing is not None
    is_meant = running is way_of(view.governing.check, view.machine)
    return unended(view, running, now, RemediationGoesOn(running.value) if is_meant else AnotherRepair(running.value))


def spent(view: RemediationView, running: Way, now: Now) -> Decision | None:
    """Requests that were carried out make room once the node that they brought back has failed again.

    By the node, and not by the times of either: their clocks differ. One that is ready fails its check for something
    that the same repair would not help. Seen too early, it costs a request that was over: the node is read before
    another one is made.
    """
    is_back = isinstance(view.node, Present) and view.node.obj.is_ready
    if running is not Way.EXTERNAL or view.requests is None or is_back or first(SILENT, view, now):
        return None
    found = lifecycle.spent(view.requests)
    return structs.replace(found, facts=running_need(view, running)) if found else None


def unended(view: RemediationView, running: Way | None, now: Now, *because: Reason) -> Decision:
    """A repair that was asked for and is not over; a person is told in time, also where the machine is well by then.

    Or a hold that leads to nothing would keep its place for ever, since nobody has to look at a machine that is well.
    """
    if running is None:
        return Decision(because=because)
    due, facts = begun_at(view.need, now) + REPAIR_WITHIN, running_need(view, running)
    if now.mono < due:
        return Decision(because=because, wake_at=due, facts=facts)
    if is_only_a_word(view, running):
        return Decision(because=because, facts=running_need(view, running, is_stuck=True))
    return Decision(because=(RepairOverdue(running.value, REPAIR_WITHIN.ms // MINUTE.ms), *because), facts=facts)


def is_only_a_word(view: RemediationView, running: Way) -> bool:
    """Whether the machine is well, and all that is left is what somebody else has said to its owner.

    Nobody has to repair it, so nobody is told; and it keeps no place.
    """
    is_well = view.governing is not None and isinstance(view.governing.found.verdict, Healthy)
    return is_well and running is Way.CONDITIONS and not words.asked_by(view.machine.told)


def running_way(view: RemediationView) -> Way | None:
    """The way in which a repair of this machine is asked for already, by us or by somebody else."""
    return next((way for way, mode in MODES.items() if mode.is_asked(view)), None)


def running_need(view: RemediationView, running: Way, *, is_stuck: bool = False) -> tuple[Fact, ...]:
    """A repair that runs counts, whoever asked for it and whatever the verdict is by now."""
    assert view.governing is not None
    verdict = view.governing.found.verdict
    since = verdict.since if isinstance(verdict, Unhealthy) else view.machine.created or Wall(0)
    followed = lifecycle.wants(view.at, view.requests.standing) if view.requests is not None else ()
    is_ours = is_claimant(running)
    asks = need(view.at, NAME, since, is_running=True, node=view.node_at, is_stuck=is_stuck, is_claimant=is_ours)
    return (asks, *followed)


def is_claimant(way: Way) -> bool:
    """Only a deletion claims the node: whoever is asked in another way claims it, and could not if we kept it."""
    return way is Way.DELETION


# --- telling -----------------------------------------------------------------------------------------------------


def with_telling(decision: Decision, view: RemediationView, now: Now, asked: Way | None) -> Decision:
    """The same decision, and what the Machine's conditions should say, unless something keeps us from writing there.

    A request comes first, since it is what helps; but one that failed before must not hold up the telling of it.
    """
    if first(SILENT, view, now) or any(action.ref == view.at for action in decision.actions):
        return decision
    trouble = lifecycle.trouble(view.requests, now) if asked is Way.EXTERNAL and view.requests is not None else None
    action = telling(view, now, asked, trouble)
    if action is None:
        return decision
    actions = (action, *decision.actions) if trouble else (*decision.actions, action)
    return structs.replace(decision, actions=actions, because=(*decision.because, HealthTold("False")))


def telling(
    view: RemediationView, now: Now, asked: Way | None, trouble: lifecycle.Trouble | None
) -> WriteMachineConditions | None:
    """HealthCheckSucceeded=False for all to see, whatever the gates say; the others only once a repair is asked for."""
    governing = view.governing
    assert governing is not None
    verdict = governing.found.verdict
    assert isinstance(verdict, Unhealthy)
    tells = told_by(governing.check, way_of(governing.check, view.machine))
    wanted = [words.sick(verdict)] if HEALTH_CHECK_SUCCEEDED in tells else []
    if asked is Way.CONDITIONS and OWNER_REMEDIATED in tells and words.may_ask_owner(view.machine.told):
        wanted.append(words.owner_asked(governing.at.name))
    if asked is Way.EXTERNAL and EXTERNALLY_REMEDIATED in tells:
        wanted.append(words.externally_asked(governing.at.name, trouble))
    return tell(view, tuple(wanted), now)


def tell(
    view: RemediationView, wanted: tuple[Graded, ...], now: Now, dropped: tuple[str, ...] = ()
) -> WriteMachineConditions | None:
    both = view.governing is None or RULES[view.governing.check.dialect].writes_both_generations
    return write(view.at, view.entry, wanted, now, dropped=dropped, both=both)


# --- a machine that is well again, or nobody's target any more ---------------------------------------------------


def recovered(view: RemediationView, now: Now) -> Decision:
    """Say so, and take back what was asked for, as far as nobody has begun with it. No gate but the silent ones."""
    governing = view.governing
    assert governing is not None
    waits = unended(view, running_way(view), now)
    if any(gate(view, now) for gate in SILENT if gate is not check_may_act):
        return waits
    if taken := taken_back(view, now, "the machine is healthy"):
        return structs.replace(taken, facts=waits.facts)
    is_told = HEALTH_CHECK_SUCCEEDED in told_by(governing.check, way_of(governing.check, view.machine))
    was_told = view.machine.told.find(HEALTH_CHECK_SUCCEEDED)
    is_ours_to_mend = was_told is not None and was_told.status == "False" and not is_said_along(was_told)
    says_well = is_told or is_ours_to_mend
    wanted = (words.WELL,) if says_well and not governing.check.observes_only else ()
    action = tell(view, wanted, now, stale(view))
    if action is None:
        return waits
    return structs.replace(waits, actions=(action,), because=(*waits.because, HealthTold("True")))


def stale(view: RemediationView) -> tuple[str, ...]:
    """Our own words that mean nothing any more. What an owner answered is the owner's."""
    ours = [OWNER_REMEDIATED] if words.asked_by(view.machine.told) else []
    return (*ours, EXTERNALLY_REMEDIATED) if view.governing is not None else tuple(ours)


def withdrawn(view: RemediationView, now: Now) -> Decision:
    """No check speaks for this machine any more: nobody shall act on what one once asked for. A request stays."""
    taken = taken_off(view, now) if view.is_left else NOTHING
    facts = lifecycle.wants(view.at, view.left)
    return structs.replace(taken, because=(*taken.because, *left(view)), facts=(*taken.facts, *facts))


def left(view: RemediationView) -> tuple[RequestLeft, ...]:
    """What a person has to see to."""
    found = () if view.is_quiet else tuple(one.at for one in view.left if not one.deleting)
    return tuple(RequestLeft(str(at.kind), at.namespace, at.name) for at in found)


def taken_off(view: RemediationView, now: Now) -> Decision:
    """What a check asked for on the Machine itself."""
    why = "no check selects this machine any more"
    if taken := taken_back(view, now, why):
        return taken
    action = tell(view, (), now, stale(view))
    return Decision((action,), (RemediationWithdrawn(", ".join(authors_of(view.machine)), why),)) if action else NOTHING


def taken_back(view: RemediationView, now: Now, why: str) -> Decision | None:
    """Requests of all modes, whichever the check means by now. That one goes from a machine that is well is no news."""
    actions = tuple(action for mode in MODES.values() for action in mode.take_back(view, now))
    if not actions:
        return None
    if view.governing is not None and all(isinstance(action, DeleteRequest) for action in actions):
        return Decision(actions, tuple(RequestUnneeded(str(action.ref)) for action in actions))
    return Decision(actions, (RemediationWithdrawn(by_whom(view), why),))


def by_whom(view: RemediationView) -> str:
    """Who asked: as the machine says, or, where only a request was made, the check that speaks for it."""
    return ", ".join(authors_of(view.machine)) or (view.governing.at.name if view.governing else "")


def explains(view: RemediationView, now: Now) -> tuple[Passage, ...]:
    """All gates of the room, then those of a request where one would be made; before them a request that is left."""
    gates = GATES if view.governing is not None else WITHOUT_CHECK
    ours = (*(Passage("no request is left", one) for one in left(view)), *passages(gates, view, now))
    if view.requests is None or view.requests.wish is None:
        return ours
    return (*ours, *passages(lifecycle.GATES, view.requests, now))


# --- what wakes it -----------------------------------------------------------------------------------------------


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    """A machine, its verdict, its node and its answer concern itself; a permission all sick ones of its check."""
    if ref.kind in facts.VERDICTS:
        return (ref,)
    if isinstance(obj, VerdictFact):
        return (machine_of(ref),)
    if ref.kind == ANSWER:
        return (obj.target,) if obj.target.kind in facts.VERDICTS else ()
    if ref.kind == NODE:
        return machines.at_node(ref, reader)
    if ref.kind in (CLUSTER, REMOTE):
        return machines.of_cluster(ref, reader)
    if ref.kind == INCIDENT:  # an answer of a person, or a record that is waited for
        return (obj.found.target,) if obj is not None and obj.found.target.kind in facts.VERDICTS else ()
    if ref.kind in (OBSERVER, UNSERVED):
        return map(machine_of, reader.find(BY_CHECK, facts.SICK))
    if ref.kind == NEED:  # who else is about the machine; ours is our own news
        return (obj.target,) if obj is not None and obj.room != NAME and obj.target.kind in facts.VERDICTS else ()
    if ref.kind == NODE_FENCE:  # cannot be read any more, or again; its name may be a digest of its node's
        return map(machine_of, reader.find(BY_CHECK, facts.SICK)) if obj is None else ()
    if ref.kind == LEASE:
        needs = (reader.read(one) for one in reader.find(claim.BY_LEASE, ref.name))
        return [one.obj.target for one in needs if isinstance(one, Present) and one.obj.room == NAME]
    if ref.kind == FOLLOWED:
        return map(machine_of, reader.find(BY_CHECK, facts.SICK))
    if ref.kind not in facts.CHECK_OF:  # a request: it has the name of its machine
        return [Ref(ref.cluster, kind, ref.namespace, ref.name) for kind in facts.VERDICTS]
    check = facts.check_of(ref)
    if ref.kind in facts.PERMITS.values():
        return map(machine_of, reader.find(BY_CHECK, facts.unhealthy(check)))
    asked = reader.find(BY_AUTHOR, str(check))
    return (*map(machine_of, reader.find(BY_CHECK, facts.total(check))), *asked)


def _authors(ref: Ref, machine: Machine) -> tuple[str, ...]:
    kind = CHECKS_OF.get(ref.kind, OPENSHIFT_HEALTH_CHECK)
    return tuple(str(Ref(ref.cluster, kind, ref.namespace, name)) for name in authors_of(machine))


ROOM = Room(
    name=NAME,
    watches=(
        *(NODE, REMOTE, *facts.VERDICTS, CLUSTER, LEASE, NODE_FENCE),
        *(*facts.VERDICTS.values(), *facts.SPECS.values(), *facts.PERMITS.values()),
        *(ANSWER, NEED, OBSERVER, FOLLOWED, INCIDENT, UNSERVED),
        *lifecycle.ALWAYS_WATCHED,
    ),
    indexes=(
        *machines.INDEXES,
        *facts.INDEXES,
        *lifecycle.INDEXES,
        *traces.INDEXES,
        *claim.INDEXES,
        *hostnames.INDEXES,
        *CHECK_INDEXES,
        *(Index(BY_AUTHOR, kind, _authors) for kind in facts.VERDICTS),
    ),
    wakes=wakes,
    secondary=(NODE,),
    sees=sees,
    decide=decide,
    may=frozenset(
        {
            Confirm,
            WriteMachineConditions,
            MarkMachine,
            RemoveRemediationAnnotation,
            ClaimRepair,
            DeleteMachine,
            CreateRequest,
            DeleteRequest,
        }
    ),
    explains=explains,
    takes_requests=True,
)
