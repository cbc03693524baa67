"""The rooms of the budget in a real engine: needs are reserved in one write, answered when seen, and ended quietly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NAMESPACE, NOW, RESOURCES, a_node, ago, later

from noderemedy.core.budget import health, room, spec, status
from noderemedy.core.budget import view as budget_view
from noderemedy.core.budget.facts import MEMORY_AT, NODE_HEALTH, Memory, NodeHealth, Standstill, State, health_ref
from noderemedy.core.budget.grants import reckon
from noderemedy.engine.assumed import assumed
from noderemedy.engine.cache import Cache
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import Confirm, PublishBudgetStatus, WriteLedger
from noderemedy.model.budget import Granted, Need, Refused, answer, need
from noderemedy.model.budgetstatus import BLOCKED, BudgetStatus
from noderemedy.model.checkstatus import Told
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.decision import Decision
from noderemedy.model.ids import CONFIG_MAP, MACHINE, NODE, Kind, Ref, ref
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger, Reservation
from noderemedy.model.machine import Machine
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.outcome import Done, Effect, Failed, Key, Seen
from noderemedy.model.pace import PODS_LIMIT_AT, PodsLimit
from noderemedy.model.reasons import (
    BudgetInvalid,
    BudgetPaused,
    BudgetStatusBehind,
    CooldownAfterStorm,
    LedgerUnreadable,
    Reserving,
    TooManyInFlight,
    TooManyNodesUnhealthy,
)
from noderemedy.model.remediationbudget import BUDGET_AT, Allowance, Opening, RemediationBudget
from noderemedy.model.remote import Remote, Sight, cluster_name, remote_ref
from noderemedy.model.room import Entry, Present, Reader, Room
from noderemedy.model.time import Now

KINDS: tuple[Kind, ...] = tuple(RESOURCES)
RESTS = "rests"
PROD = cluster_name(NAMESPACE, "prod")


def _asks(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    return (ref,)


def _sees(key: Ref, reader: Reader) -> tuple[Ref, Machine] | None:
    entry = reader.read(key)
    return (key, entry.obj) if hasattr(entry, "obj") else None


def _wants(view: tuple[Ref, Machine], now: Now) -> Decision:
    """A room that wants to repair what is marked, and is about what says that it was deleted.

    An owner is its turn, or says that it rests.
    """
    key, machine = view
    if not machine.needs_remediation and machine.node_deleted_at is None:
        return Decision()
    is_running = machine.node_deleted_at is not None
    node = ref(NODE, machine.node_name) if machine.node_name else None
    rests = machine.owner == RESTS
    begins = "" if is_running or rests else machine.owner
    asks = need(key, "test", ago(60), is_running=is_running, node=node, is_stuck=rests, begins=begins)
    return Decision(facts=(asks,))


ASKING = Room("test", (MACHINE,), (), _asks, _sees, _wants, frozenset())
ROOMS = (ASKING, spec.ROOM, health.ROOM, room.ROOM, status.ROOM)


class Bench:
    """An engine with the budget's rooms, ten nodes and their machines; writes are applied as the API would."""

    def __init__(self, machines: int = 10) -> None:
        self.engine = Engine(ROOMS)
        self.now = NOW
        self.version = 100
        for kind in KINDS:
            self.engine.listed(kind, NOW)
        for number in range(machines):
            self.node(number)
            self.machine(number)
        self.writes: list[Any] = []

    def see(self, at: Ref, obj: Any) -> None:
        self.version += 1
        self.engine.seen(Seen(at, obj.uid, str(self.version), obj), self.now)

    def node(self, number: int, **changes: Any) -> None:
        self.see(ref(NODE, f"worker-{number}"), a_node(f"node-{number}", **changes))

    def machine(self, number: int, **changes: Any) -> None:
        given = {"node_name": f"worker-{number}", **changes}
        self.see(machine_at(number), Machine(f"machine-{number}", **given))

    def remote(self, sight: Sight) -> None:
        self.engine.seen(Seen(remote_ref(NAMESPACE, "prod"), "", "", Remote(sight)), self.now)

    def step(self, seconds: float = 1) -> tuple[Effect, ...]:
        self.now = later(seconds, self.now)
        return self.engine.step(self.now, 7).effects

    def run(self, seconds: float = 1) -> None:
        """Step and apply until nothing is asked for."""
        effects = self.step(seconds)
        while effects:
            for effect in effects:
                self.writes.append(effect.action)
                self.engine.ended(effect, self.applied(effect), self.now)
            effects = self.step(0)

    def applied(self, effect: Effect) -> Done:
        self.version += 1
        seen = assumed(effect.action)
        if isinstance(effect.action, PublishBudgetStatus):
            entry = self.engine.cache.read(BUDGET_AT)
            assert hasattr(entry, "obj")
            seen = Seen(BUDGET_AT, "b", "", replace(entry.obj, status=effect.action.status))
        assert seen is not None
        return Done(self.now.mono, replace(seen, resource_version=str(self.version)))

    def looked(self, act: Callable[[], None]) -> list[Key]:
        """The keys that are looked at because of this."""
        seen: list[Key] = []
        look = self.engine._look

        def noted(key: Key, now: Now, token: int) -> Effect | None:
            seen.append(key)
            return look(key, now, token)

        self.engine._look = noted  # type: ignore[method-assign]
        act()
        self.run()
        self.engine._look = look  # type: ignore[method-assign]
        return seen

    def answer(self, number: int) -> Granted | Refused | None:
        return answer(machine_at(number), self.engine.cache)

    def reserved(self) -> list[str]:
        ledgers = [one.ledger for one in self.writes if isinstance(one, WriteLedger)]
        return [one.target.name for one in ledgers[-1].reservations] if ledgers else []


def machine_at(number: int) -> Ref:
    return ref(MACHINE, f"worker-{number}", NAMESPACE)


def test_all_who_ask_are_answered_by_one_write() -> None:
    """Three machines of ten are marked at once: two are reserved in one write, the third is told why not."""
    bench = Bench()
    for number in (3, 1, 2):
        bench.machine(number, needs_remediation=True)
    (effect,) = bench.step()

    assert isinstance(effect.action, WriteLedger)
    assert effect.action.guard is None
    assert (Reserving(2),) == bench.engine.decisions[effect.key].because
    assert [None, None] == [bench.answer(1), bench.answer(2)], "nothing is granted before it was seen"

    bench.engine.ended(effect, bench.applied(effect), bench.now)
    assert () == bench.step()
    assert [Granted, Granted] == [type(bench.answer(number)) for number in (1, 2)]
    assert Refused(machine_at(3), TooManyInFlight(2, 2)) == bench.answer(3)


def test_the_next_begins_when_one_has_ended() -> None:
    """A slot is free a minute after nobody needs it any more; the next write drops it and guards the version."""
    bench = Bench()
    for number in (1, 2, 3):
        bench.machine(number, needs_remediation=True)
    bench.run()
    bench.machine(1)
    bench.run(30)
    assert isinstance(bench.answer(3), Refused)

    bench.run(31)

    assert isinstance(bench.answer(3), Granted)
    assert ["worker-2", "worker-3"] == bench.reserved()
    assert bench.writes[-1].guard is not None
    assert 2 == len(bench.writes)


def test_a_conflict_is_looked_at_and_tried_again() -> None:
    """Another leader wrote the ledger meanwhile: it is read live, and what he reserved counts."""
    bench = Bench()
    bench.machine(1, needs_remediation=True)
    (effect,) = bench.step()
    bench.engine.ended(effect, Failed("exists", conflict=True), bench.now)
    (look,) = bench.step(5)
    assert Confirm(LEDGER_AT) == look.action

    others = BudgetLedger(tuple(Reservation(machine_at(number), ago(3)) for number in (8, 9)))
    seen = Seen(LEDGER_AT, "ledger", "900", ConfigMap("ledger", others))
    bench.engine.ended(look, Done(bench.now.mono, seen), bench.now)

    assert () == bench.step()
    assert Refused(machine_at(1), TooManyInFlight(2, 2)) == bench.answer(1)


def test_an_unreadable_ledger_is_never_overwritten() -> None:
    """Nothing new is granted, everybody is told, and the object stays as somebody left it."""
    bench = Bench()
    bench.see(LEDGER_AT, ConfigMap("ledger", Malformed("garbage")))
    bench.machine(1, needs_remediation=True)

    bench.run()

    assert [] == bench.writes
    assert Refused(machine_at(1), LedgerUnreadable("garbage")) == bench.answer(1)
    told = [decision.because for key, decision in bench.engine.decisions.items() if key.room == "budget"]
    assert [(LedgerUnreadable("garbage"),)] == told


def test_a_storm_holds_and_ends() -> None:
    """Four of ten silent nodes hold every new repair; when one is back, the cooldown runs, then it goes on."""
    bench = Bench()
    for number in range(4):
        bench.node(number, ready="Unknown")
    bench.machine(0, needs_remediation=True)
    bench.run()
    assert Refused(machine_at(0), TooManyNodesUnhealthy(4, 10, "40%")) == bench.answer(0)

    bench.node(3)
    bench.run()
    assert Refused(machine_at(0), CooldownAfterStorm(until := later(300, bench.now).wall), until) == bench.answer(0)

    bench.run(300)
    assert isinstance(bench.answer(0), Granted)


def test_a_storm_goes_on_while_nobody_asks() -> None:
    """In another cluster: the check closes its own gate, and asks no more; that is not the end of the storm."""
    cache = Cache(budget_view.INDEXES)
    for number in range(10):
        at = health_ref(ref(NODE, f"edge-{number}", cluster="metal/edge"))
        cache.put(Seen(at, "", "", NodeHealth(number < 6)), NOW.mono)
    cache.put(Seen(MEMORY_AT, "", "", Memory(storms=("cluster metal/edge",), has_looked=True)), NOW.mono)
    cache.end_list("", CONFIG_MAP)
    view = budget_view.sees(LEDGER_AT, cache)
    assert view is not None

    assert (("cluster metal/edge",), ()) == ((found := reckon(view, NOW).memory).storms, found.ended)


def test_the_object_replaces_the_default() -> None:
    """One in flight, says the budget; its status tells what was counted, and is written only when that changes."""
    bench = Bench()
    bench.see(BUDGET_AT, RemediationBudget("b", max_in_flight=Allowance(1), generation=3))
    for number in (1, 2):
        bench.machine(number, needs_remediation=True)
    bench.run()

    assert Refused(machine_at(2), TooManyInFlight(1, 1)) == bench.answer(2)
    told = [one.status for one in bench.writes if isinstance(one, PublishBudgetStatus)][-1]
    assert (1, 0, 10, 1, 3) == (told.in_flight, told.unhealthy, told.total, told.started, told.generation)
    assert [("Valid", "True", "Valid"), ("Blocked", "True", "TooManyInFlight")] == [
        (one.type, one.status, one.reason) for one in told.conditions if isinstance(one, Told)
    ]
    before = len(bench.writes)
    bench.run(20)
    assert before == len(bench.writes)


def test_a_status_that_is_behind_is_written() -> None:
    """With how many repairs are in flight as its reason; when it is written, nothing stands behind it."""
    bench = Bench()
    bench.see(BUDGET_AT, RemediationBudget("b"))
    (effect,) = [one for one in bench.step() if isinstance(one.action, PublishBudgetStatus)]
    assert (BudgetStatusBehind(0),) == bench.engine.decisions[effect.key].because

    bench.engine.ended(effect, bench.applied(effect), bench.now)
    bench.run()
    assert effect.key not in bench.engine.decisions


def test_figures_wait_and_conditions_do_not() -> None:
    """What many repairs change within ten seconds is one write of the status; that they are blocked is told at once."""
    bench = Bench()
    bench.see(BUDGET_AT, RemediationBudget("b", max_in_flight=Allowance(3)))
    bench.run()
    for number in (1, 2, 3):
        bench.machine(number, needs_remediation=True)
        bench.run(1)
    told = [one.status.in_flight for one in statuses(bench)]
    for number in (1, 2, 3):
        bench.machine(number)
    bench.run(90)
    bench.run(0)

    assert [0, 3] == told, "the first at once; the third blocks"
    assert 3 == len(statuses(bench)), "one for all that ended"


def statuses(bench: Bench) -> list[PublishBudgetStatus]:
    return [one for one in bench.writes if isinstance(one, PublishBudgetStatus)]


def test_an_invalid_budget_starts_nothing() -> None:
    """A limit that cannot be read is not taken for none; the object says so, and mending it is enough."""
    bench = Bench()
    bench.see(BUDGET_AT, RemediationBudget("b", problems=("spec.maxInFlight: 'many' cannot be read",)))
    bench.machine(1, needs_remediation=True)
    bench.run()

    assert isinstance(bench.answer(1), Refused)
    (key,) = [key for key in bench.engine.decisions if key.room == "budget-spec"]
    assert (BudgetInvalid("spec.maxInFlight: 'many' cannot be read"),) == bench.engine.decisions[key].because

    bench.see(BUDGET_AT, RemediationBudget("b"))
    bench.run()
    assert isinstance(bench.answer(1), Granted)


def test_a_budget_that_does_not_decode_starts_nothing() -> None:
    """An object that is there and cannot be read is not an object that is not there."""
    bench = Bench()
    bench.engine.unreadable(BUDGET_AT, "b", "9", "garbage", bench.now)
    bench.machine(1, needs_remediation=True)
    bench.run()

    assert Refused(machine_at(1), BudgetInvalid("garbage")) == bench.answer(1)


@pytest.mark.parametrize(("was_read", "limit"), [(True, 3), (False, 1)])
def test_what_runs_keeps_to_the_pace_of_a_budget_that_does_not_decode(was_read: bool, limit: int) -> None:
    """Its last one; where nobody has read that, pods go one by one."""
    bench = Bench()
    if was_read:
        bench.see(BUDGET_AT, RemediationBudget("b", pods_per_minute=3))
    bench.engine.unreadable(BUDGET_AT, "b", "9999", "garbage", bench.now)
    bench.run()
    entry = bench.engine.cache.read(PODS_LIMIT_AT)

    assert isinstance(entry, Present)
    assert PodsLimit(limit) == entry.obj


def test_idle_writes_nothing() -> None:
    """Without a need nothing is written, whatever the nodes do."""
    bench = Bench()
    for number in range(10):
        bench.node(number, ready="False")
        bench.run(5)
        bench.node(number)
        bench.run(5)

    assert [] == bench.writes


def test_a_granted_repair_that_begins_is_not_reckoned_anew() -> None:
    """It counted before and counts the same: only its end, and whoever asks next, concern the budget again."""
    bench = Bench()
    bench.machine(0, needs_remediation=True)
    bench.run()
    assert isinstance(bench.answer(0), Granted)

    ledger = Key(room.ROOM.name, LEDGER_AT)
    begins = ledger in bench.looked(lambda: bench.machine(0, node_deleted_at=bench.now.wall))
    ends = ledger in bench.looked(lambda: bench.machine(0))

    assert (False, True) == (begins, ends)


def test_a_grant_of_what_begins_in_the_middle_ends_when_it_has_begun() -> None:
    """Should it wait once more later, it is asked again: a window may have closed since."""
    bench = Bench()
    bench.machine(0, needs_remediation=True, owner="its turn")
    bench.run()
    granted = bench.answer(0)
    bench.machine(0, node_deleted_at=bench.now.wall)
    bench.run()
    runs = bench.answer(0)

    assert isinstance(granted, Granted)
    assert (("its turn",), replace(granted, begins=())) == (granted.begins, runs)


def test_who_rests_gives_its_place_to_others() -> None:
    """What could not begin neither waits nor runs: its reservation ends, and when it asks again it waits for one."""
    bench = Bench()
    for number in (1, 2, 3):
        bench.machine(number, needs_remediation=True)
    bench.run()
    bench.machine(1, needs_remediation=True, owner=RESTS)
    bench.run()
    bench.run()
    meanwhile = [type(bench.answer(number)) for number in (1, 2, 3)]
    bench.machine(1, needs_remediation=True)
    bench.run()

    assert [type(None), Granted, Granted] == meanwhile
    assert Refused(machine_at(1), TooManyInFlight(2, 2)) == bench.answer(1)


# --- machines that have no node -----------------------------------------------------------------------------------


def a_workload_cluster(sick: int) -> Bench:
    """Ten nodes in a cluster of their own, so many of them sick; the management cluster is well."""
    bench = Bench()
    bench.engine.listing(NODE, NOW, PROD)
    bench.remote(Sight.SEEN)
    for number in range(10):
        at = Ref(PROD, NODE, "", f"node-{number}")
        bench.see(at, a_node(f"prod-{number}", ready="Unknown" if number < sick else "True"))
    bench.engine.listed(NODE, NOW, PROD)
    bench.run()
    return bench


def test_a_machine_without_a_node_is_judged_by_its_own_cluster() -> None:
    """Its cluster is in a storm: it is not replaced because the management cluster is well."""
    bench = a_workload_cluster(sick=8)
    for number, cluster in ((20, "prod"), (21, "")):
        bench.machine(number, node_name="", cluster_name=cluster, needs_remediation=True)
    bench.run()

    assert Refused(machine_at(20), TooManyNodesUnhealthy(8, 10, "40%")) == bench.answer(20)
    assert isinstance(bench.answer(21), Granted)


def test_a_machine_without_a_node_counts_in_its_own_cluster() -> None:
    """Two of them are in flight there, and take no place from the management cluster; nor does a later look."""
    bench = a_workload_cluster(sick=0)
    for number in (20, 21, 22):
        bench.machine(number, node_name="", cluster_name="prod", needs_remediation=True)
    bench.run()
    bench.machine(1, needs_remediation=True)
    bench.run(5)

    assert [Granted, Granted, Refused] == [type(bench.answer(number)) for number in (20, 21, 22)]
    assert Refused(machine_at(22), TooManyInFlight(2, 2)) == bench.answer(22)
    assert isinstance(bench.answer(1), Granted)


def test_it_is_judged_anew_when_its_cluster_is_known() -> None:
    """Until then nobody knows that its nodes are elsewhere."""
    bench = a_workload_cluster(sick=8)
    bench.remote(Sight.HOME)
    bench.machine(20, node_name="", cluster_name="prod", needs_remediation=True)
    bench.run()
    before = bench.answer(20)
    bench.remote(Sight.SEEN)
    bench.run()

    assert [Granted, Refused] == [type(before), type(bench.answer(20))]


# --- clusters in which nobody asks --------------------------------------------------------------------------------


def told(bench: Bench) -> tuple[int, int, str, str]:
    """What the status says last: unhealthy, total, what blocks, and where."""
    entry = bench.engine.cache.read(BUDGET_AT)
    assert isinstance(entry, Present)
    found: BudgetStatus = entry.obj.status
    (blocked,) = [one for one in found.conditions if isinstance(one, Told) and one.type == BLOCKED]
    return found.unhealthy, found.total, blocked.reason, blocked.message


def sick_in_prod(bench: Bench, numbers: Iterable[int]) -> None:
    for number in numbers:
        bench.see(Ref(PROD, NODE, "", f"node-{number}"), a_node(f"prod-{number}", ready="Unknown"))


def well_in_prod(bench: Bench, numbers: Iterable[int]) -> None:
    for number in numbers:
        bench.see(Ref(PROD, NODE, "", f"node-{number}"), a_node(f"prod-{number}"))


def test_the_status_tells_of_clusters_in_which_nobody_asks() -> None:
    """All nodes in sight are counted, and what blocks one cluster is named with it."""
    bench = a_workload_cluster(sick=8)
    bench.see(BUDGET_AT, RemediationBudget("b"))
    bench.run()

    why = TooManyNodesUnhealthy(8, 10, "40%")
    assert (8, 20, type(why).__name__, f"{PROD}: {why.note()}") == told(bench)


def test_what_is_out_of_sight_is_neither_well_nor_sick() -> None:
    """Of a cluster that cannot be seen nothing is told, as long as that lasts; its nodes have no machines."""
    bench = a_workload_cluster(sick=1)
    bench.see(BUDGET_AT, RemediationBudget("b"))
    bench.run()
    found = [told(bench)[:2]]
    bench.engine.lost(NODE, bench.now, PROD)
    bench.remote(Sight.LOST)
    bench.run(601)
    bench.run(601)
    found.append(told(bench)[:2])
    bench.engine.listing(NODE, bench.now, PROD)
    sick_in_prod(bench, (0,))
    well_in_prod(bench, range(1, 10))
    bench.engine.listed(NODE, bench.now, PROD)
    bench.remote(Sight.SEEN)
    bench.run(601)
    bench.run(601)
    found.append(told(bench)[:2])

    assert [(1, 20), (0, 10), (1, 20)] == found


def test_a_storm_where_nobody_asked_has_its_cooldown() -> None:
    """It came and went before the first machine there asked for a repair: that one waits until it is over."""
    bench = a_workload_cluster(sick=0)
    sick_in_prod(bench, range(4))
    bench.run()
    well_in_prod(bench, (3,))
    bench.run()
    until = later(300, bench.now).wall
    bench.machine(20, node_name="", cluster_name="prod", needs_remediation=True)
    bench.machine(1, needs_remediation=True)
    bench.run()

    (calm,) = [one for each in bench.writes if isinstance(each, WriteLedger) for one in each.ledger.calms][:1]
    assert f"cluster {PROD}" == calm.scope
    assert Refused(machine_at(20), CooldownAfterStorm(until), until) == bench.answer(20)
    assert isinstance(bench.answer(1), Granted)


def test_a_cluster_that_is_blocked_later_is_told_soon() -> None:
    """Its name is news, within seconds; that one more node there is sick goes along with the next write."""
    bench = a_workload_cluster(sick=0)
    bench.see(BUDGET_AT, RemediationBudget("b"))
    for number in range(4):
        bench.node(number, ready="Unknown")
    bench.run(60)
    first = told(bench)[3]
    sick_in_prod(bench, range(4))
    bench.run(1)
    bench.run(11)
    second = told(bench)[3]
    writes = len(statuses(bench))
    sick_in_prod(bench, (5,))
    bench.run(1)
    bench.run(11)

    home = f"this cluster: {TooManyNodesUnhealthy(4, 10, '40%').note()}"
    assert (home, f"{home}\n{PROD}: {TooManyNodesUnhealthy(4, 10, '40%').note()}") == (first, second)
    assert writes == len(statuses(bench))


def test_a_node_elsewhere_wakes_the_budget_once() -> None:
    """A heartbeat does not; four that fall sick in one moment are one look."""
    bench = a_workload_cluster(sick=0)
    ledger = Key(room.ROOM.name, LEDGER_AT)

    assert 0 == bench.looked(lambda: well_in_prod(bench, range(10))).count(ledger)
    assert 1 == bench.looked(lambda: sick_in_prod(bench, range(3))).count(ledger)


def test_no_node_is_looked_at_where_nobody_asks() -> None:
    """Clusters are counted by tallies: a look costs the same however many nodes they have."""
    bench = a_workload_cluster(sick=8)
    read: list[Ref] = []

    class Noting(Cache):
        def read(self, ref: Ref) -> Entry:
            read.append(ref)
            return bench.engine.cache.read(ref)

        def find(self, index: str, value: str) -> tuple[Ref, ...]:
            found = bench.engine.cache.find(index, value)
            read.extend(found)
            return found

        def tally(self, index: str, value: str) -> int:
            return bench.engine.cache.tally(index, value)

    view = budget_view.sees(LEDGER_AT, Noting(()))

    assert view is not None
    assert [("", 10, 0), (PROD, 10, 8)] == [(one.cluster, one.total, one.sick) for one in view.fleets]
    assert [] == [at for at in read if at.kind in (NODE, NODE_HEALTH, MACHINE)]


def test_what_blocks_everywhere_names_no_cluster() -> None:
    """A pause holds all of them: it is told once."""
    bench = a_workload_cluster(sick=8)
    bench.see(BUDGET_AT, RemediationBudget("b", paused=Paused(None)))
    bench.run()

    assert ("BudgetPaused", BudgetPaused(None).note()) == told(bench)[2:]


def test_of_many_blocked_clusters_some_are_named() -> None:
    """The message is bounded, and says how many more there are."""
    why = TooManyNodesUnhealthy(4, 10, "40%")
    blocked = tuple(Standstill(f"fleet/{number:03}", why) for number in range(200))
    message = status.blocked(State(0, 0, 0, 0, blocked)).message.splitlines()

    assert [f"fleet/{number:03}: {why.note()}" for number in range(10)] == message[:-1]
    assert "and 190 more" == message[-1]


def test_that_a_cooldown_is_over_is_told_though_nobody_asks() -> None:
    """Time alone ends it: the status does not call the budget blocked until somebody falls sick again."""
    bench = a_workload_cluster(sick=4)
    bench.see(BUDGET_AT, RemediationBudget("b"))
    bench.run()
    well_in_prod(bench, range(4))
    bench.run(60)
    cools = told(bench)
    waits = next(at for at in [bench.engine.next_wake()] if at is not None)
    bench.run((waits.ms - bench.now.mono.ms) / 1000)

    assert ("CooldownAfterStorm", True) == (cools[2], cools[3].startswith(f"{PROD}: "))
    assert ("NotBlocked", "") == told(bench)[2:]


def test_that_a_window_closes_is_told_though_nobody_asks() -> None:
    """And that it opens."""
    openings = (Opening(tuple(range(7)), 17 * 60, 90),)  # it is a quarter to six
    bench = Bench()
    bench.see(BUDGET_AT, RemediationBudget("b", openings=openings))
    bench.run()
    found = [told(bench)[2]]
    for _ in range(2):
        waits = next(at for at in [bench.engine.next_wake()] if at is not None)
        bench.run((waits.ms - bench.now.mono.ms) / 1000)
        found.append(told(bench)[2])

    assert ["NotBlocked", "OutsideWindow", "NotBlocked"] == found


def need_of(name: str, **state: Any) -> Need:
    return Need(machine_at(0), name, ago(60), **{"is_running": False, **state})


@pytest.mark.parametrize(
    ("needs", "before", "asked"),
    [
        ([need_of("a")], (), ("a",)),
        ([need_of("a"), need_of("b")], (), ("a", "b")),
        ([need_of("a", is_running=True), need_of("b")], ("a",), ("a", "b")),
        ([need_of("a", is_running=True), need_of("b")], (), ("b",)),
        ([need_of("a", is_running=True)], ("a", "b"), ("a",)),
        ([need_of("a", is_running=True)], ("b",), ()),
        ([need_of("a", is_stuck=True)], ("a",), ()),
    ],
)
def test_a_grant_names_those_who_have_asked(needs: list[Need], before: tuple[str, ...], asked: tuple[str, ...]) -> None:
    """Whoever waits, and whoever began by such a grant and still runs; who needs nothing any more is forgotten."""
    told = Granted(machine_at(0), NOW.wall, asked=before)

    assert asked == budget_view.asked(needs, told)
    refused = Refused(machine_at(0), Reserving(1))
    assert tuple(one.room for one in needs if budget_view.is_asking(one)) == budget_view.asked(needs, refused)


def test_a_second_room_is_answered_by_itself() -> None:
    """One room runs by its grant; when another one asks, it gets an answer of its own, or is refused in a storm."""
    bench = Bench()
    bench.node(0, ready="False")
    bench.machine(0, needs_remediation=True)
    bench.run()
    alone = bench.answer(0)
    bench.machine(0, node_deleted_at=ago(1))
    other = need(machine_at(0), "other", ago(60), is_running=False, node=ref(NODE, "worker-0"))
    bench.engine.seen(Seen(other.ref, "", "", other.value), bench.now)
    bench.run()
    both = bench.answer(0)
    for number in range(1, 9):
        bench.node(number, ready="False")
    bench.run()
    in_a_storm = bench.answer(0)

    assert isinstance(alone, Granted)
    assert isinstance(both, Granted)
    assert (("test",), ("other", "test")) == (alone.asked, both.asked)
    assert isinstance(in_a_storm, Refused)
