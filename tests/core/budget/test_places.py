"""What is held back in its place while others may begin gives that place back, is told, and asks again behind them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, ago, later
from tests.core.budget.asking import a_budget_view, a_ledger, a_reservation, an_ask, granted_now, machine
from tests.core.fencing.test_beginnings import Fencing
from tests.core.metal3.test_beginnings import Failing
from tests.core.owner.test_beginnings import Emptying

from noderemedy.core.budget.facts import STATE_AT, Held, Memory, NodeHealth, Sight
from noderemedy.core.budget.grants import reckon
from noderemedy.core.budget.view import INDEXES, Ask, BudgetView, Domain, Fleet, asks_of
from noderemedy.core.gates import budgeted
from noderemedy.engine.cache import Cache
from noderemedy.model.budget import Refused, need
from noderemedy.model.decision import Fact
from noderemedy.model.healthcheck import Count
from noderemedy.model.ids import NODE
from noderemedy.model.ledger import Calm
from noderemedy.model.meta import Paused
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import ControlPlaneBusy, DomainBurst, RepairStuck
from noderemedy.model.remediationbudget import DEFAULT
from noderemedy.model.room import Present

RACKED = NodeHealth(is_sick=True, since=ago(60), domain="rack-1")
RULER = NodeHealth(is_sick=True, is_control_plane=True)
DARK = Domain("", "rack-1", 6, 3, is_burst=True)
QUIET = Domain("", "rack-1", 6, 1)
PLACES = a_ledger(a_reservation(0), a_reservation(1))
IN_RACK = (an_ask(0, health=RACKED), an_ask(1, health=RACKED))
ZONE = "topology.kubernetes.io/zone"


def held(minutes: float, *, is_given_back: bool = False) -> Memory:
    """Both are held in their places for so long, or have given them back."""
    at = later(-60 * minutes)
    given_back = ago(60) if is_given_back else None
    sights = tuple(Sight(one.target, one.since, at.mono, is_over=is_given_back) for one in PLACES.reservations)
    return Memory(sights, has_looked=True, held=tuple(Held(machine(n), at.mono, given_back) for n in (0, 1)))


def a_view(memory: Memory, domain: Domain = DARK) -> BudgetView:
    return a_budget_view(*IN_RACK, an_ask(2), ledger=PLACES, domains=(domain,), memory=memory)


def asked(*needs: Fact) -> Ask:
    """The ask of the one target that these are about."""
    cache = Cache(INDEXES)
    for one in needs:
        cache.put(Seen(one.ref, "", "", one.value), NOW.mono)
    (found,) = asks_of(cache, Memory())
    return found


@pytest.mark.parametrize(("minutes", "is_kept"), [(9, True), (10, False)])
def test_who_is_held_for_its_domain_has_ten_minutes(minutes: int, is_kept: bool) -> None:
    """Then the places are free for a node elsewhere, and those who had them are told that they have none."""
    view = a_view(held(minutes))
    told = {one.target: one for one in reckon(view, NOW).answers if isinstance(one, Refused)}
    blocked = budgeted(told[machine(0)])

    assert ([] if is_kept else ["worker-2"]) == granted_now(view)
    assert [not is_kept] * 2 == [told[machine(number)].is_given_back for number in (0, 1)]
    assert blocked is not None
    assert (DomainBurst, not is_kept) == (
        type(blocked.reason),
        RepairStuck("worker-0") in blocked.decision(NOW).because,
    )


def test_who_is_at_work_keeps_its_place() -> None:
    """Another room asks for the same machine, and is held for its domain: the place is that of the repair that runs."""
    both = (an_ask(one, health=RACKED, is_running=True, is_waiting=True, is_at_work=True) for one in (0, 1))
    view = a_budget_view(*both, an_ask(2), ledger=PLACES, domains=(DARK,), memory=Memory(has_looked=True))
    found = reckon(view, NOW)

    assert ((), []) == (found.memory.held, granted_now(view))


@pytest.mark.parametrize("is_claimant", [True, False])
def test_a_repair_that_runs_is_at_work_unless_it_is_left_to_others(is_claimant: bool) -> None:
    """A health check that has asked an owner does nothing itself: the owner's deletion may give its place back."""
    cache = Cache(INDEXES)
    runs = need(machine(0), "check", NOW.wall, is_running=True, is_claimant=is_claimant)
    for fact in (runs, need(machine(0), "owner", NOW.wall, is_running=False)):
        cache.put(Seen(fact.ref, "", "", fact.value), NOW.mono)

    assert [is_claimant] == [one.is_at_work for one in asks_of(cache, Memory())]


def test_it_is_looked_at_in_time() -> None:
    """Nothing else has to happen."""
    first = reckon(a_view(replace(held(0), held=())), NOW)

    assert ([NOW.mono] * 2, later(600).wall) == ([one.since for one in first.memory.held], first.until)


KEEPS = {
    "a pause": a_budget_view(*IN_RACK, ledger=PLACES, domains=(DARK,), budget=replace(DEFAULT, paused=Paused(None))),
    "a storm of the cluster": a_budget_view(*IN_RACK, ledger=PLACES, domains=(DARK,), sick=8),
    "its cooldown": a_budget_view(*IN_RACK, ledger=replace(PLACES, calms=(Calm("cluster", ago(5)),))),
}
LOSES = {
    "a burst in its domain": a_budget_view(*IN_RACK, ledger=PLACES, domains=(DARK,)),
    "a sick domain": a_budget_view(
        *IN_RACK, ledger=PLACES, domains=(QUIET,), budget=replace(DEFAULT, domain_max_unhealthy=Count(1))
    ),
    "the cooldown of its domain": a_budget_view(
        *IN_RACK, ledger=replace(PLACES, calms=(Calm(DARK.scope, ago(5)),)), domains=(QUIET,)
    ),
    "a quorum": a_budget_view(
        *(replace(one, health=RULER) for one in IN_RACK), ledger=PLACES, fleet=Fleet("", 20, 2, 3, 2)
    ),
}


@pytest.mark.parametrize("name", [*KEEPS, *LOSES])
def test_what_holds_everybody_takes_no_place(name: str) -> None:
    """Nobody else could begin there; what holds some only counts, from the first look on."""
    view = {**KEEPS, **LOSES}[name]
    found = reckon(replace(view, memory=replace(held(9), held=())), NOW)

    assert [Refused, Refused] == [type(one) for one in found.answers]
    assert (2 if name in LOSES else 0) == len(found.memory.held)


def test_a_pause_lets_its_time_begin_anew() -> None:
    """While nobody may begin, nobody waits for its place."""
    view = replace(KEEPS["a pause"], memory=held(9))

    assert () == reckon(view, NOW).memory.held


def test_it_asks_behind_the_others() -> None:
    """Since it gave its place back, also while the ledger is being written; with its new place that is forgotten."""
    cache = Cache(INDEXES)
    for number in (0, 2):
        asks = need(machine(number), "test", ago(3_600 - number), is_running=False)
        cache.put(Seen(asks.ref, "", "", asks.value), NOW.mono)
    memory = held(30, is_given_back=True)
    quiet = a_budget_view(*(replace(one, again=ago(60)) for one in IN_RACK), domains=(QUIET,), memory=memory)
    granted = replace(quiet, entry=a_view(Memory()).entry, memory=replace(memory, sights=held(0).sights))

    assert [(machine(2), None), (machine(0), ago(60))] == [(one.target, one.again) for one in asks_of(cache, memory)]
    assert memory.held == reckon(quiet, NOW).memory.held
    assert () == reckon(granted, NOW).memory.held


MARKED = need(machine(0), "annotation", ago(60), is_running=False)
LEFT_TO_OTHERS = need(machine(0), "check", ago(60), is_running=True, is_claimant=False)
MIDDLE = {
    "a deletion that waits": ((need(machine(0), "owner", ago(60), is_running=False, begins="a deletion"),), True),
    "a deletion that rests": (
        (MARKED, need(machine(0), "owner", ago(60), is_running=False, is_stuck=True, begins="a deletion")),
        True,
    ),
    "a hold that is halted": ((MARKED, need(machine(0), "held", ago(60), is_running=True, is_stuck=True)), True),
    "a mark": ((MARKED,), False),
    "a mark of a check": ((MARKED, LEFT_TO_OTHERS), False),
}


@pytest.mark.parametrize("name", MIDDLE)
def test_one_of_the_control_plane_keeps_its_fellows_waiting(name: str) -> None:
    """In the middle of its repair; but not before it has begun: that one may be well, and wait for them."""
    needs, is_kept = MIDDLE[name]
    health = replace(RULER, domain="rack-1")
    ruler = replace(asked(*needs), health=health, node=IN_RACK[0].node)
    fellow = an_ask(2, health=RULER)
    fleet = Fleet("", 20, 2, 7, 2)
    view = a_budget_view(ruler, fellow, ledger=PLACES, domains=(DARK,), fleet=fleet, memory=held(10))
    told = {one.target: one for one in reckon(view, NOW).answers}

    assert (ControlPlaneBusy("worker-0") if is_kept else None) == getattr(told.get(machine(2)), "reason", None)


RESTS = {
    "a deletion": (need(machine(0), "test", ago(60), is_running=False, is_stuck=True, begins="a deletion"), True, True),
    "a hold": (need(machine(0), "test", ago(60), is_running=True, is_stuck=True), True, True),
    "a word to somebody else": (
        need(machine(0), "check", ago(60), is_running=True, is_stuck=True, is_claimant=False),
        True,
        False,
    ),
    "nothing begun": (need(machine(0), "test", ago(60), is_running=False, is_stuck=True), False, False),
}


@pytest.mark.parametrize("is_sick", [True, False])
@pytest.mark.parametrize("name", RESTS)
def test_who_rests_before_it_began_keeps_no_fellow_waiting(name: str, is_sick: bool) -> None:
    """Nor one that is well and was left to others; one in the middle of its repair may be drained, sick or well."""
    rests, if_sick, if_well = RESTS[name]
    ruler = replace(asked(rests), health=replace(RULER, is_sick=is_sick))
    view = a_budget_view(ruler, an_ask(2, health=RULER), fleet=Fleet("", 20, 2, 7, 2))

    assert ([] if (if_sick if is_sick else if_well) else ["worker-2"]) == granted_now(view)


# --- the rooms that ask in the middle of a repair ----------------------------------------------------------------


def attempted(attempts: int) -> Callable[[], Failing]:
    def comes() -> Failing:
        story = Failing()
        story.attempted(attempts)
        story.run(300)
        return story

    return comes


def emptied() -> Failing:
    story = Emptying()
    story.begins()
    return story


def failed() -> Failing:
    story = Fencing()
    story.failed()
    return story


def has_begun(story: Failing) -> bool:
    if isinstance(story, Emptying):
        return story.is_deleted
    return story.starts > 0 if isinstance(story, Fencing) else story.has_begun


STORIES: dict[str, Callable[[], Failing]] = {
    "a deletion by the owner": emptied,
    "a further attempt": attempted(1),
    "the owner's turn": attempted(2),
    "a further start of a fence": failed,
}


def rack(story: Failing, ready: str) -> None:
    """Its rack loses its switch, or gets it back."""
    is_so = {"type": "Ready", "status": ready, "lastTransitionTime": str(story.now.wall)}
    for name in (NODE_AT.name, *(f"other-{number}" for number in range(5))):
        story.api.patch(NODE, name, "", {"metadata": {"labels": {ZONE: "A"}}}, "merge")
        if name != NODE_AT.name:
            story.api.patch(NODE, name, "", {"status": {"conditions": [is_so]}}, "merge", subresource="status")


def in_flight(story: Failing) -> int:
    entry = story.engine.cache.read(STATE_AT)
    assert isinstance(entry, Present)
    return int(entry.obj.in_flight)


@pytest.mark.parametrize("name", STORIES)
def test_a_dark_rack_keeps_no_places(name: str) -> None:
    """Two hours later nothing has begun there, no place is taken, and a person knows; when it is back all goes on."""
    story = STORIES[name]()
    rack(story, "Unknown")
    if isinstance(story, Emptying):
        story.pod_goes()
    story.run(7_200)
    told = {type(one).__name__ for decision in story.engine.decisions.values() for one in decision.because}
    held_back = (has_begun(story), in_flight(story), {"DomainBurst", "RepairStuck"} <= told)
    rack(story, "True")
    story.run(400)

    assert (False, 0, True) == held_back
    assert (True, 1) == (has_begun(story), in_flight(story))
