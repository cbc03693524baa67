"""Fence agents as a simulated manager runs them: `manager/runs.py` and `manager/jobruns.py` in virtual time.

Before anything is sent, live reads show that it is still wanted; what was sent goes on when the manager dies, and its
result finds nobody then. In Jobs the same is done by somebody else, who dies less often and comes later.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from noderemedy.core.fencing import results, staleness
from noderemedy.core.fencing.results import Ended
from noderemedy.model.ids import LEASE, NODE, NODE_FENCE, Kind
from noderemedy.model.outcome import Done, Failed, Outcome, Seen, Unknown
from noderemedy.model.run import Deed, Order, Result, Run, RunState, run_ref
from noderemedy.model.time import Mono, Now, Span
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.objects import SYSTEM
from noderemedy.sim.outlets import JobRunner, Outlets
from noderemedy.sim.weather import Fate, within
from noderemedy.wire import fencejobs
from noderemedy.wire.answers import exists_already
from noderemedy.wire.objects import convert

if TYPE_CHECKING:
    from noderemedy.sim.process import Process

SECRET = Kind("", "Secret")
READ_TRIES = 3
UNREAD = frozenset(Fate) - {Fate.FINE, Fate.CONFLICT, Fate.DENIED, Fate.TWICE, Fate.READ_ONLY}
JOBS = fencejobs.JobSettings("registry.example/node-remedy:1")
CREATED, BROKEN = 201, 500
BETWEEN_LOOKS_MS = results.BETWEEN_LOOKS.ms
LEAST_LOOK_MS = 5_000  # an agent that used up all the time still gets asked what came of it


class Sending:
    """One order that was sent: the deed, then two looks. It needs nobody but the node that it runs on, if it does."""

    def __init__(
        self,
        order: Order,
        secrets: dict[str, str],
        outlets: Outlets,
        then: Callable[[Result], None],
        where: str = "",
    ) -> None:
        self._order = order
        self._secrets = secrets
        self._hidden = tuple(secrets.values())
        self._outlets = outlets
        self._then = then
        self._looks: list[Ended] = []
        self._where = where
        self._begun_ms = outlets.agenda.now_ms
        self._was_on = order.deed is Deed.OFF and outlets.has_key(order)
        outlets.ask(order, order.deed, secrets, self._did, where)

    def _did(self, ended: Ended) -> None:
        self._deed = ended
        if self._order.deed is Deed.STATUS:
            self._tell(results.of_status(self._order, ended, self._hidden))
        elif ended.exit_code != 0:
            self._tell(replace(results.of_deed(self._order, ended, (), self._hidden), was_on=self._was_on))
        else:
            self._look()

    def _look(self) -> None:
        gone = self._outlets.agenda.now_ms - self._begun_ms
        left = max(self._order.patience.ms - gone, LEAST_LOOK_MS)
        self._outlets.ask(self._order, Deed.STATUS, self._secrets, self._looked, self._where, left)

    def _looked(self, ended: Ended) -> None:
        self._looks.append(ended)
        if len(self._looks) < results.LOOKS:
            self._outlets.agenda.after(BETWEEN_LOOKS_MS, self._look)
        else:
            found = results.of_deed(self._order, self._deed, tuple(self._looks), self._hidden)
            self._tell(replace(found, was_on=self._was_on))

    def _tell(self, result: Result) -> None:
        self._then(replace(result, took=Span(self._outlets.agenda.now_ms - self._begun_ms)))


class Runs:
    """What one life of a process knows of runs."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._same = process.alive_since()
        self._known: dict[str, Run] = {}

    def start(self, order: Order) -> Outcome:
        """Accept an order, as a process of our own or as a Job."""
        begun = self._process.now().mono
        if order.id in self._known and self._known[order.id].is_sure:
            return Done(begun)
        jobs = self._process.cluster.outlets.jobs
        if jobs is not None:
            return self._create(order, jobs, begun)
        self._enter(Run(order.id, RunState.RUNNING, begun=begun))
        self._later(lambda: self._send(order))
        return Done(begun)

    def _create(self, order: Order, jobs: JobRunner, begun: Mono) -> Outcome:
        """A Job of that name is the same order; what came of one that was there before is never fresh."""
        process = self._process
        fate = process.weather.fate(process.chance)
        request = fencejobs.create_job(order, JOBS, process.now().wall)
        answer = process.apply(request, fate, process.cluster.api)
        if answer is None or answer.status >= BROKEN:
            self._enter(Run(order.id, RunState.RUNNING, is_sure=False))
            return Unknown("no answer in time, or the API server broke")
        if answer.status != CREATED and not exists_already(answer):
            return Failed(f"the API server answered {answer.status}")
        is_new = answer.status == CREATED
        self._enter(Run(order.id, RunState.RUNNING, begun=begun if is_new else Mono(0)))
        jobs.follow(order, lambda result: self._later(lambda: self._ended(order, result)))
        return Done(begun)

    def _send(self, order: Order) -> None:
        process = self._process
        fates = [process.weather.fate(process.chance) for _ in range(READ_TRIES)]
        if all(one in UNREAD for one in fates):
            self._ended(order, results.failed(order, "nothing was sent: the API server does not answer"))
            return
        secrets = secrets_of(order, process.cluster.api.find)
        why = stale(order, process.cluster.api.find) or staleness.too_late(order, process.now().wall)
        if not process.leads(order.token):
            why = "this manager does not lead any more"
        if order.bound_to:
            why = f"it has to run on node {order.bound_to}"
        if why or secrets is None:
            said = why or "there is no such secret; create it"
            self._ended(order, results.failed(order, f"nothing was sent: {said}"))
            return
        then: Callable[[Result], None] = lambda result: self._later(lambda: self._ended(order, result))  # noqa: E731
        Sending(order, secrets, process.cluster.outlets, then)

    def _ended(self, order: Order, result: Result) -> None:
        now = self._process.now()  # once: it draws from the chance of the process
        self._enter(self._known[order.id].ended(result, now.mono), now)

    def _enter(self, run: Run, now: Now | None = None) -> None:
        self._known[run.id] = run
        self._process.engine.seen(Seen(run_ref(run.id), "", "", run), now or self._process.now())
        self._process.soon()

    def _later(self, do: Callable[[], None]) -> None:
        process = self._process
        delay = within(process.weather.latency, process.chance)
        process.agenda.after(delay, lambda: process.when_running(do) if self._same() else None)


Find = Callable[..., Tree | None]


def stale(order: Order, find: Find) -> str:
    """Why an order is not wanted any more, by what is read live."""
    if not staleness.belongs_to_a_fence(order):
        return ""
    tree = find(NODE_FENCE, order.fence.name)
    fence = convert(NODE_FENCE, tree).obj if tree is not None else None
    node = (
        find(NODE, order.node) if fence is None or not fence.spec.cluster else None
    )  # a node of elsewhere is not here
    known = convert(NODE, node).obj if node is not None else None
    return staleness.unwanted(order, fence) or staleness.another_boot(order, known)


def secrets_of(order: Order, find: Find) -> dict[str, str] | None:
    """Values by parameter; None: one is missing."""
    values: dict[str, str] = {}
    for one in order.secrets:
        secret = find(SECRET, one.secret, SYSTEM)
        text = (secret or {}).get("data", {}).get(one.key)
        if text is None and not one.is_optional:
            return None
        if text is not None:
            values[one.parameter] = b64decode(text).decode()
    return values


def leading_token(find: Find, lease: str) -> int:
    found = find(LEASE, lease, SYSTEM)
    return int(found["spec"].get("leaseTransitions", 0)) if found is not None else -1
