"""The arithmetic of the budget: who may begin now, who may not and why, and what the ledger shall say. Pure.

Called by the budget room at each look. The oldest ask is served first, whoever asks once more comes last; every grant
counts before the next one is judged, so that many at once never exceed a limit that one by one would hold.

Rule 1: what is in flight counts, granted or not: every reservation that may still be somebody's, and what runs without
        one. A target of which one room says that it runs while another still waits has not begun: a mark is no repair.
Rule 2: a reservation ends when nobody states a need for it and we have known it for a minute by our own clock. It may
        stay in the ledger until the next write, but it is nobody's grant any more.
Rule 3: a repair that is stuck is not in flight, and its reservation has ended: to begin once more it asks anew. One of
        the control plane that has begun still keeps its fellows from being repaired. One whose power-off is pending may
        switch a host off at any moment, also a node that is well again: of those there are no more than may be in
        flight. So it is with what is held back in its place while others may begin (`places.py`).
Rule 4: granted is only what was seen in the ledger; what is new goes into it first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from noderemedy.core.budget.facts import Held, Memory, Sight, Standstill
from noderemedy.core.budget.openings import closes_at, opens_at
from noderemedy.core.budget.places import ending, given_back_at, held_of, without_place
from noderemedy.core.budget.storms import is_over
from noderemedy.core.budget.view import Ask, BudgetView, Domain, Fleet, cluster_scope
from noderemedy.model.budget import Granted, Refused
from noderemedy.model.ids import NODE, Ref
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger, Calm, Reservation, Start
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import (
    BudgetInvalid,
    BudgetPaused,
    BudgetPauseUnreadable,
    ControlPlaneBusy,
    CooldownAfterStorm,
    DomainBurst,
    DomainUnhealthy,
    LedgerFull,
    LedgerUnreadable,
    OutsideWindow,
    PowerOffsPending,
    QuorumAtRisk,
    Reason,
    TooManyInFlight,
    TooManyNodesUnhealthy,
    TooManyPerHour,
)
from noderemedy.model.room import Present
from noderemedy.model.time import MINUTE, Mono, Now, Span, Wall

KEPT_FOR: Span = MINUTE
HOUR: Span = MINUTE * 60
LETTERS_MAX = 800_000  # of the ledger: one object may hold a megabyte
LETTERS_EACH = 200  # of a reservation, besides its names
LETTERS_OF_START = 50
NOBODY = Ref("", NODE, "", "")


class Books(Struct):
    """What the ledger will say, and what is in flight, as both grow from ask to ask."""

    reserved: dict[Ref, Reservation]
    starts: list[Start]
    calms: tuple[Calm, ...]
    in_flight: dict[Ref, str]  # target -> cluster
    control_plane: dict[str, set[Ref]]  # cluster -> those in flight whose node is of its control plane
    letters: int  # how long the ledger is, about
    running: Counter[str]  # cluster -> how many are in flight
    moments: dict[str, list[Wall]]  # cluster -> starts of the last hour, in order
    pending: Counter[str]  # cluster -> how many are not in flight, and may still go off
    without_place: frozenset[Ref]  # who had to give its place back, being held
    fleets: dict[str, Fleet]  # by cluster


class Reckoning(Struct, frozen=True):
    """What follows from one look."""

    answers: tuple[Granted | Refused, ...]
    ledger: BudgetLedger | None  # to be written; None: nothing new
    memory: Memory
    books: Books
    until: Wall | None = None  # when time alone may change something
    blocked: tuple[Standstill, ...] = ()  # where every new repair is stopped, the home cluster first


def reckon(view: BudgetView, now: Now) -> Reckoning:
    """Judge all asks, the oldest first."""
    ledger = remembered(view)
    sights = sights_of(view, ledger, now)
    storms = storms_of(view)
    ended = ended_storms(view, ledger, storms, now)
    books = open_books(view, ledger, sights, calms_of(view, ledger, storms, ended, now), now)
    before = len(books.reserved)
    found = [judge(ask, view, books, now) for ask in view.asks]
    answers = tuple(one for one in found if one is not None)
    held = held_of(view, books.reserved, answers, lambda ask: others_may_begin(ask, view, books, now), now)
    standing = blocked(view, books, now)
    is_new = len(books.reserved) > before or any(one not in ledger.calms for one in books.calms)
    return Reckoning(
        answers=answers,
        ledger=BudgetLedger(tuple(books.reserved.values()), tuple(books.starts), books.calms) if is_new else None,
        memory=Memory(sights, storms, ended, has_looked=True, starts=ledger.starts, calms=ledger.calms, held=held),
        books=books,
        until=earliest(answers, sights, held, standing, view, now),
        blocked=standing,
    )


def remembered(view: BudgetView) -> BudgetLedger:
    """The ledger. Where somebody has deleted it, the hour and the cooldown still count by what was read in it."""
    ledger, is_there = view.ledger, isinstance(view.entry, Present) and view.entry.obj.ledger is not None
    if isinstance(ledger, BudgetLedger) and is_there:
        return ledger
    return BudgetLedger((), view.memory.starts, view.memory.calms)


def blocked(view: BudgetView, books: Books, now: Now) -> tuple[Standstill, ...]:
    """Where nothing new could begin: what would be said to a worker there that nobody has heard of yet.

    What stops all clusters is asked about once: there may be hundreds of them.
    """
    if found := refusal([gate for gate in GATES if gate in EVERYWHERE], a_worker("", now), view, books, now):
        return (Standstill(None, *found),)
    gates = [gate for gate in GATES if gate not in EVERYWHERE]
    told = ((one.cluster, refusal(gates, a_worker(one.cluster, now), view, books, now)) for one in view.fleets)
    return tuple(Standstill(cluster, *found) for cluster, found in told if found is not None)


def others_may_begin(ask: Ask, view: BudgetView, books: Books, now: Now) -> bool:
    """Whether what holds a place back does not hold all others of its cluster."""
    return refusal(STILL, a_worker(ask.cluster, now), view, books, now) is None


def a_worker(cluster: str, now: Now) -> Ask:
    """One that nobody has heard of yet, in no failure domain."""
    return Ask(LEDGER_AT, now.wall, is_waiting=True, is_running=False, where=cluster)


# --- what is in flight -------------------------------------------------------------------------------------------


def sights_of(view: BudgetView, ledger: BudgetLedger, now: Now) -> tuple[Sight, ...]:
    """Since when we know each reservation: since the last look, or since this version of the ledger came."""
    known = {(one.target, one.granted): one for one in view.memory.sights}
    asks = {one.target: one for one in view.asks}
    given_back = ending(view.memory, now)
    found = []
    for one in ledger.reservations:
        ask, new = asks.get(one.target), Sight(one.target, one.since, view.ledger_since)
        old = known.get((one.target, one.since)) or new
        is_over = old.is_over or has_ended(old, now) or (not view.memory.has_looked and is_of_before(one, ask))
        is_over = is_over or (ask is not None and (ask.is_stuck or ask.target in given_back))
        is_as_before = (old.is_asked, old.is_over) == (ask is not None, is_over)
        found.append(old if is_as_before else structs.replace(old, is_asked=ask is not None, is_over=is_over))
    return tuple(found)


def has_ended(sight: Sight, now: Now) -> bool:
    """Whether nobody asked for it at the last look, and its minute is over."""
    return not sight.is_asked and now.mono.since(sight.since) >= KEPT_FOR


def is_of_before(one: Reservation, ask: Ask | None) -> bool:
    """Whether a reservation that we find when we begin was granted before the first sign of what is asked for now.

    Asked at the first look only: later we know ourselves who needed what, and signs bear the times of other clocks.
    """
    return ask is not None and ask.is_waiting and one.since.ms // 1000 < ask.since.ms // 1000


def open_books(
    view: BudgetView, ledger: BudgetLedger, sights: tuple[Sight, ...], calms: tuple[Calm, ...], now: Now
) -> Books:
    asked = {one.target: one for one in view.asks}
    a_while_ago = Mono(now.mono.ms - KEPT_FOR.ms)
    young = {one.target for one in sights if one.since > a_while_ago}
    over = {(one.target, one.granted) for one in sights if one.is_over}
    there = [one for one in ledger.reservations if (one.target, one.since) not in over]
    live = [one for one in there if one.target in asked or one.target in young]
    running = [one for one in view.asks if one.is_running and not one.is_waiting and not one.is_stuck]
    outside = without_place(view.memory, now)
    halted = [one for one in view.asks if is_halted(one, one.target in outside)]
    begin, end = Wall(now.wall.ms - HOUR.ms), now.wall + HOUR
    starts = [one for one in ledger.starts if begin < one.at < end]
    reserved, fleets = {one.target: one for one in live}, {one.cluster: one for one in view.fleets}
    books = Books(reserved, starts, calms, {}, {}, 0, Counter(), {}, Counter(), outside, fleets)
    control_plane = set(view.reserved_control_plane)
    for held in live:
        count(books, held.target, cluster_of(held, asked.get(held.target)), held.target in control_plane)
    for one in running:
        count(books, one.target, one.cluster, one.health.is_control_plane)
    for one in (one for one in halted if one.health.is_control_plane):
        books.control_plane.setdefault(one.cluster, set()).add(one.target)
    loaded = (one for one in view.asks if one.is_off_pending and one.target not in books.in_flight)
    books.pending.update(one.cluster for one in loaded)
    books.letters = sum(map(letters_of, live)) + LETTERS_OF_START * len(starts)
    for start in sorted(starts):
        books.moments.setdefault(start.cluster, []).append(start.at)
    return books


def cluster_of(held: Reservation, ask: Ask | None) -> str:
    """Against whose limits a place counts: the ledger does not tell where a machine without a node belongs.

    Where whoever asks cannot tell the node (its Machine cannot be read), the ledger still does.
    """
    return held.cluster if ask is None or (ask.node is None and held.node is not None) else ask.cluster


def is_halted(ask: Ask, has_no_place: bool) -> bool:
    """Whether it is in the middle of its repair, and not in flight; or somebody else may be, while its node is sick.

    Who has not begun, or is well by now, may have to wait for a fellow that is sick: that one must not wait for it.
    """
    if has_no_place:
        return ask.is_midway
    return ask.is_stuck and ask.is_running and (ask.is_midway or ask.health.is_sick)


def count(books: Books, target: Ref, cluster: str, is_control_plane: bool) -> None:
    """One more in flight, unless it is known already."""
    if target not in books.in_flight:
        books.in_flight[target] = cluster
        books.running[cluster] += 1
    if is_control_plane:
        books.control_plane.setdefault(cluster, set()).add(target)


# --- storms ------------------------------------------------------------------------------------------------------


def storms_of(view: BudgetView) -> tuple[str, ...]:
    """The scopes that are over their limit now."""
    budget = view.budget
    clusters = [cluster_scope(one.cluster) for one in view.fleets if is_over(budget.max_unhealthy, one.sick, one.total)]
    return (*clusters, *(one.scope for one in view.domains if one.is_burst))


def ended_storms(view: BudgetView, ledger: BudgetLedger, storms: tuple[str, ...], now: Now) -> tuple[Calm, ...]:
    """The storms whose end the ledger does not know yet."""
    new = [Calm(scope, as_written(now)) for scope in view.memory.storms if scope not in storms]
    pending = [one for one in view.memory.ended if one not in ledger.calms and one.scope not in storms]
    return tuple(sorted((*new, *pending))) if view.budget.cooldown.ms else ()


def calms_of(
    view: BudgetView, ledger: BudgetLedger, storms: tuple[str, ...], ended: tuple[Calm, ...], now: Now
) -> tuple[Calm, ...]:
    """The storms that ended within the cooldown, by their last end."""
    known = [of_now(one, view, now) for one in ledger.calms]
    kept = {one.scope: one for one in known if now.wall < cooled(one, view, now) and one.scope not in storms}
    return tuple(sorted({**kept, **{one.scope: one for one in ended}}.values()))


def of_now(calm: Calm, view: BudgetView, now: Now) -> Calm:
    """Whoever wrote an end that lies far ahead had another clock: one cooldown from now, which does not slide along."""
    is_ahead = calm.at > now.wall + view.budget.cooldown
    return Calm(calm.scope, as_written(now)) if is_ahead else calm


def as_written(now: Now) -> Wall:
    """In whole seconds, as the ledger is."""
    return Wall(now.wall.ms // 1000 * 1000)


def cooled(calm: Calm, view: BudgetView, now: Now) -> Wall:
    return min(calm.at, now.wall) + view.budget.cooldown


# --- one ask -----------------------------------------------------------------------------------------------------


def judge(ask: Ask, view: BudgetView, books: Books, now: Now) -> Granted | Refused | None:
    """What to answer; None where the ledger must be written first, or where nobody waits."""
    held = books.reserved.get(ask.target)
    granted = Granted(ask.target, held.since, ask.begins, ask.asked) if held is not None else None
    if not ask.is_waiting:
        return granted
    for gate in GATES if granted is None else STILL:
        if found := gate(ask, view, books, now):
            is_given_back = ask.target in books.without_place and gate in STILL
            return as_told_before(ask, Refused(ask.target, *found, is_given_back))
    if granted is None:
        enter(ask, books, now)
    return granted


def as_told_before(ask: Ask, refused: Refused) -> Refused:
    """The same refusal with other numbers is no news: a storm would wake everybody at every change of a count."""
    old = ask.refused
    if old is None or type(old.reason) is not type(refused.reason):
        return refused
    return old if (old.until, old.is_given_back) == (refused.until, refused.is_given_back) else refused


def enter(ask: Ask, books: Books, now: Now) -> None:
    """The ask becomes a reservation, and counts from now on."""
    books.reserved[ask.target] = Reservation(ask.target, now.wall, ask.node, ask.health.domain)
    books.letters += letters_of(books.reserved[ask.target])
    books.starts.append(Start(now.wall, ask.cluster))
    books.moments.setdefault(ask.cluster, []).append(now.wall)
    books.letters += LETTERS_OF_START
    count(books, ask.target, ask.cluster, ask.health.is_control_plane)


# --- the gates ---------------------------------------------------------------------------------------------------

Found = tuple[Reason, Wall | None] | None
Gate = Callable[[Ask, BudgetView, Books, Now], Found]


def refusal(gates: Sequence[Gate], ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    """What the first gate says that does not let it pass."""
    return next((found for gate in gates if (found := gate(ask, view, books, now))), None)


def ledger_readable(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    return (LedgerUnreadable(view.ledger.problem), None) if isinstance(view.ledger, Malformed) else None


def ledger_has_room(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    return (LedgerFull(len(books.reserved)), None) if books.letters > LETTERS_MAX else None


def budget_valid(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    return (BudgetInvalid(view.budget.trouble), None) if view.budget.problems else None


def not_paused(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    paused = view.budget.paused
    if isinstance(paused, Malformed):
        return BudgetPauseUnreadable(paused.problem), None
    return (BudgetPaused(paused.until), paused.until) if paused and paused.holds(now.wall) else None


def window_open(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    opens = opens_at(view.budget.openings, now.wall)
    return (OutsideWindow(opens), opens) if opens is not None else None


def share_bearable(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    fleet = fleet_of(books, ask.cluster)
    limit = view.budget.max_unhealthy
    if not is_over(limit, fleet.sick, fleet.total):
        return None
    return TooManyNodesUnhealthy(fleet.sick, fleet.total, str(limit)), None


def domain_quiet(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    domain = domain_of(view, ask)
    if domain is None or not domain.is_burst:
        return None
    return DomainBurst(domain.name, domain.sick, domain.total), None


def domain_bearable(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    domain, limit = domain_of(view, ask), view.budget.domain_max_unhealthy
    if domain is None or limit is None or not is_over(limit, domain.sick, domain.total):
        return None
    return DomainUnhealthy(domain.name, domain.sick, domain.total, str(limit)), None


def cooled_down(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    if not books.calms:
        return None
    domain = domain_of(view, ask)
    scopes = {cluster_scope(ask.cluster), *((domain.scope,) if domain else ())}
    until = max((cooled(one, view, now) for one in books.calms if one.scope in scopes), default=None)
    return (CooldownAfterStorm(until), until) if until is not None and now.wall < until else None


def control_plane_free(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    others = books.control_plane.get(ask.cluster, set()) - {ask.target} if ask.health.is_control_plane else set()
    return (ControlPlaneBusy(min(others).name), None) if others else None


def quorum_kept(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    """Without this node the control plane must still have a majority of all its members."""
    if not ask.health.is_control_plane:
        return None
    fleet = fleet_of(books, ask.cluster)
    others = fleet.control_plane - fleet.sick_control_plane - (not ask.health.is_sick)
    needed = fleet.control_plane // 2 + 1
    return (QuorumAtRisk(others, needed, fleet.control_plane), None) if others < needed else None


def in_flight_bearable(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    in_flight = books.running[ask.cluster]
    limit = view.budget.max_in_flight.of(fleet_of(books, ask.cluster).total)
    return (TooManyInFlight(in_flight, limit), None) if in_flight >= limit else None


def pending_bearable(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    """Whatever keeps so many hosts from going off is no fault of theirs; when it is mended they go off together."""
    pending = books.pending[ask.cluster]
    limit = view.budget.max_in_flight.of(fleet_of(books, ask.cluster).total)
    return (PowerOffsPending(pending, limit), None) if pending > limit else None


def per_hour_bearable(ask: Ask, view: BudgetView, books: Books, now: Now) -> Found:
    """Who asks once more has half of the hour: what leads to nothing must not use up the starts of all others."""
    moments = books.moments.get(ask.cluster, [])
    limit = view.budget.max_per_hour.of(fleet_of(books, ask.cluster).total)
    limit = limit if ask.again is None else -(-limit // 2)
    if len(moments) < limit:
        return None
    until = moments[len(moments) - limit] + HOUR if limit else now.wall + HOUR
    return TooManyPerHour(len(moments), limit, until), until


# What they say is the same for whoever asks, wherever it is.
EVERYWHERE = frozenset({ledger_readable, ledger_has_room, budget_valid, not_paused, window_open})
# Also asked of who has a reservation and has not begun, or would begin once more in the middle of its repair: a storm
# or a pause that came meanwhile holds it back, too.
STILL: tuple[Gate, ...] = (
    budget_valid,
    not_paused,
    window_open,
    share_bearable,
    domain_quiet,
    domain_bearable,
    cooled_down,
    quorum_kept,
)
GATES: tuple[Gate, ...] = (
    ledger_readable,
    ledger_has_room,
    *STILL,
    control_plane_free,
    pending_bearable,
    in_flight_bearable,
    per_hour_bearable,
)


# --- small hands -------------------------------------------------------------------------------------------------


def fleet_of(books: Books, cluster: str) -> Fleet:
    return books.fleets.get(cluster) or Fleet(cluster)


def domain_of(view: BudgetView, ask: Ask) -> Domain | None:
    if not ask.health.domain:
        return None
    wanted = (ask.cluster, ask.health.domain)
    return next((one for one in view.domains if (one.cluster, one.name) == wanted), None)


def letters_of(one: Reservation) -> int:
    target, node = one.target, one.node or NOBODY
    names = len(target.namespace) + len(target.name) + len(node.name) + len(one.domain) + len(one.cluster)
    return LETTERS_EACH + names


def earliest(
    answers: tuple[Granted | Refused, ...],
    sights: tuple[Sight, ...],
    held: tuple[Held, ...],
    standing: tuple[Standstill, ...],
    view: BudgetView,
    now: Now,
) -> Wall | None:
    """When time alone changes something: a refusal ends, a place is given back, a window closes or opens, a cluster has
    cooled down, or nobody needs a reservation any more.

    Also where nobody waits: what is told to be in flight, or blocked, would stay wrong until somebody falls sick.
    """
    asked = {one.target for one in view.asks}
    lapses: list[Mono] = [one.since + KEPT_FOR for one in sights if one.target not in asked]
    moments = [one.until for one in answers if isinstance(one, Refused) and one.until is not None]
    moments += [one.until for one in standing if one.until is not None]
    closing = closes_at(view.budget.openings, now.wall)
    moments += [closing] if closing is not None else []
    moments += [Wall(now.wall.ms + one.since(now.mono).ms) for one in lapses if one > now.mono]
    return min((*moments, *given_back_at(held, now)), default=None)
