"""The last questions before a write leaves, and what a 404 proves."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.builders import NODE_AT, NOW, RESOURCES, later

from noderemedy.drivers.clock import Clock
from noderemedy.engine.leadership import Do, Found, Leadership, Lease, Missing
from noderemedy.manager.effects import LANES_BEHIND, Carrier, Licence, judge
from noderemedy.model.actions import Confirm, DeletePod, Guard, WriteLedger
from noderemedy.model.ids import NODE, Ref, ref
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger
from noderemedy.model.outcome import Done, Effect, Failed, Key, Outcome
from noderemedy.model.proof import Attested, Subject
from noderemedy.model.time import Mono, Now, Span, Wall
from noderemedy.model.workload import POD
from noderemedy.wire.http import Answer, Request

CONFIRM = Effect(1, Key("annotation", NODE_AT), Confirm(NODE_AT), 1)


def answer(name: str | None) -> Answer:
    """404 that speaks of an object of this name, or of none."""
    details = {"details": {"name": name, "kind": "nodes"}} if name is not None else {}
    body = {"kind": "Status", "message": "not found", "reason": "NotFound", "code": 404, **details}
    return Answer(404, msgspec.json.encode(body))


def test_not_found_is_absence_only_if_it_speaks_of_the_object() -> None:
    """A path that is not served answers 404 as well: that proves nothing about the object."""
    assert Done(Mono(5), gone=True) == judge(CONFIRM, answer(NODE_AT.name), Mono(5), lambda: False)
    assert isinstance(judge(CONFIRM, answer(None), Mono(5), lambda: False), Failed)
    assert isinstance(judge(CONFIRM, answer("another"), Mono(5), lambda: False), Failed)
    assert isinstance(judge(CONFIRM, Answer(404, b"404 page not found\n"), Mono(5), lambda: False), Failed)


def test_kind_that_is_known_not_to_be_served_has_no_objects() -> None:
    """Where the API server itself said that there is no such kind, a 404 is an absence."""
    assert Done(Mono(5), gone=True) == judge(CONFIRM, answer(None), Mono(5), lambda: True)


def leader(now: Now = NOW) -> Leadership:
    """A leader since `now`, with token 1."""
    made = Leadership("me")
    read = made.poll(now).operation
    assert read
    made.answered(read, now, Missing())
    create = made.poll(now).operation
    assert create
    assert Do.CREATE is create.do
    assert create.lease
    lease = create.lease
    stored = Lease(lease.holder, lease.transitions, lease.duration, lease.acquired, lease.renewed, "7")
    made.answered(create, now, Found(stored))
    return made


@pytest.mark.parametrize(
    ("token", "seconds", "is_stopping", "refusal"),
    [
        (1, 1, False, ""),
        (1, 9.9, False, ""),
        (1, 10, False, "does not lead"),
        (0, 1, False, "does not lead"),
        (2, 1, False, "does not lead"),
        (1, 1, True, "stopping"),
    ],
)
def test_write_leaves_only_while_we_lead(token: int, seconds: float, is_stopping: bool, refusal: str) -> None:
    """A write needs the current token, our time must not be over, and we must not be leaving."""
    licence = Licence(leader())
    licence.is_stopping = is_stopping

    found = licence.refusal(token, later(seconds))

    assert (refusal in found, bool(refusal)) == (True, bool(found))


def test_write_has_no_more_time_than_our_leadership() -> None:
    """A request that waits in a queue must not leave after our time."""
    assert Span(4_000) == Licence(leader()).time_left(later(6))


def test_nothing_leaves_in_a_dry_run() -> None:
    """Without leadership, as in a dry run, every write is refused."""
    assert "dry run" == Licence(None).refusal(0, Now(Wall(1), Mono(1)))


def test_other_answers_are_judged_by_the_wire() -> None:
    """What is not a 404 is judged as always."""
    ref = Ref("", NODE, "", "n")
    effect = Effect(1, Key("annotation", ref), Confirm(ref), 1)

    assert Failed("HTTP 409", conflict=True) == judge(effect, Answer(409), Mono(5), lambda: True)


class Slow:
    """Answers every request after a turn of the loop, and remembers them."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.urgent: list[bool] = []
        self.answered = self.at_once = 0

    async def send(
        self,
        request: Request,
        *,
        timeout: Span,  # noqa: ASYNC109
        retry: bool = False,
        urgent: bool = False,
        may_leave: Callable[[], str] = lambda: "",
    ) -> Answer:
        self.asked.append(request)
        self.urgent.append(urgent)
        self.at_once = max(self.at_once, len(self.asked) - self.answered)
        await asyncio.sleep(0.001)
        self.answered += 1
        return answer(NODE_AT.name)


def test_what_is_being_read_is_not_read_again() -> None:
    """Many keys that want to see the same object share one answer, as of when it was asked; the next one asks anew."""
    client, clock = Slow(), Clock(random.Random(1))
    sink = SimpleNamespace(resources=RESOURCES, unserved=set())
    carrier = Carrier(client, sink, clock, Licence(None), lambda cluster: None)  # type: ignore[arg-type]

    async def story() -> list[Outcome]:
        effects = [Effect(number, Key("annotation", NODE_AT), Confirm(NODE_AT), 1) for number in range(50)]
        found = await asyncio.gather(*(carrier.carry_out(effect) for effect in effects))
        await carrier.carry_out(CONFIRM)
        return list(found)

    found = asyncio.run(story())
    assert 2 == len(client.asked)
    assert 1 == len({one.begun for one in found if isinstance(one, Done)})
    assert all(isinstance(one, Done) and one.gone for one in found)


@pytest.mark.parametrize(("room", "at_once"), [("incident", LANES_BEHIND), ("remediation", 20)])
def test_records_leave_the_road_to_repairs(room: str, at_once: int) -> None:
    """In a storm what people read afterwards goes by few lanes; what repairs nodes is held up by none of them."""
    client, clock = Slow(), Clock(random.Random(1))
    sink = SimpleNamespace(resources=RESOURCES, unserved=set())
    carrier = Carrier(client, sink, clock, Licence(None), lambda cluster: None)  # type: ignore[arg-type]
    nodes = [ref(NODE, f"worker-{number}") for number in range(20)]

    async def story() -> None:
        effects = [Effect(number, Key(room, at), Confirm(at), 1) for number, at in enumerate(nodes)]
        await asyncio.gather(*(carrier.carry_out(effect) for effect in effects))

    asyncio.run(story())
    assert (20, at_once) == (len(client.asked), client.at_once)


class Deaf(Slow):
    """Accepts every request and never answers."""

    async def send(self, request: Request, **_: Any) -> Answer:
        self.asked.append(request)
        return await asyncio.Event().wait()  # type: ignore[return-value]


def test_a_cluster_that_never_answers_holds_up_no_other() -> None:
    """What is told of other clusters goes on while lists of one wait for an answer that does not come."""
    home, west, deaf = Slow(), Slow(), Deaf()
    there = {"fleet/west": west, "fleet/deaf": deaf}
    sink = SimpleNamespace(resources=RESOURCES, unserved=set())
    carrier = Carrier(home, sink, Clock(random.Random(1)), Licence(None), there.get)  # type: ignore[arg-type]

    def effect(cluster: str, number: int) -> Effect:
        at = Ref(cluster, NODE, "", f"worker-{number}")
        return Effect(number, Key("incident", at), Confirm(at), 1)

    async def story() -> None:
        stuck = [asyncio.create_task(carrier.carry_out(effect("fleet/deaf", number))) for number in range(10)]
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            await asyncio.gather(*(carrier.carry_out(effect(at, 1)) for at in ("", "fleet/west")))
        for task in stuck:
            task.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)

    asyncio.run(story())
    assert (1, 1, LANES_BEHIND) == (len(home.asked), len(west.asked), len(deaf.asked))


def test_nothing_is_left_of_the_lanes_of_a_cluster_that_nobody_asks() -> None:
    """Clusters come and go: what kept order among the requests to one goes with the last of them."""
    client, sink = Slow(), SimpleNamespace(resources=RESOURCES, unserved=set())
    remote = {f"fleet/{number}": client for number in range(5)}.get
    carrier = Carrier(client, sink, Clock(random.Random(1)), Licence(None), remote)  # type: ignore[arg-type]

    async def story() -> int:
        places = [Ref(f"fleet/{number}", NODE, "", "worker") for number in range(5)]
        effects = [Effect(number, Key("incident", at), Confirm(at), 1) for number, at in enumerate(places)]
        asked = [asyncio.create_task(carrier.carry_out(effect)) for effect in effects]
        await asyncio.sleep(0)
        used = len(carrier._behind)
        await asyncio.gather(*asked)
        return used

    assert 5 == asyncio.run(story())
    gc.collect()
    assert 0 == len(carrier._behind)


SUBJECT = Subject("node-uid-1", "boot-1")
FREED = DeletePod(ref(POD, "db-0", "shop"), Guard("u", "7"), SUBJECT, Attested(SUBJECT, "ann", NOW.wall, "off"))


@pytest.mark.parametrize("write", [WriteLedger(LEDGER_AT, None, BudgetLedger()), FREED])
def test_what_others_wait_for_waits_in_no_queue(write: WriteLedger | DeletePod) -> None:
    """All repairs of a storm wait for the ledger, and the time of a proof runs."""
    client, clock = Slow(), Clock(random.Random(1))
    sink = SimpleNamespace(resources=RESOURCES, unserved=set())
    licence = Licence(leader(clock.now()))
    carrier = Carrier(client, sink, clock, licence, lambda cluster: None)  # type: ignore[arg-type]

    asyncio.run(carrier.carry_out(Effect(1, Key("any", write.ref), write, 1)))

    assert [True] == client.urgent


def test_without_a_connection_nothing_is_sent() -> None:
    """What is in a cluster to which there is no connection surely did not happen, and says so."""
    at = Ref("fleet/east", NODE, "", "n")
    clock = Clock(random.Random(1))
    carrier = Carrier(None, None, clock, Licence(None), lambda cluster: None)  # type: ignore[arg-type]

    found = asyncio.run(carrier.carry_out(Effect(1, Key("annotation", at), Confirm(at), 1)))

    assert Failed("cluster fleet/east: there is no connection to it just now") == found
