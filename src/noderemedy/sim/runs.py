"""Fence agents as a simulated manager runs them: `manager/runs.py` and `manager/jobruns.py` in virtual time.

Before anything is sent, live reads show that it is still wanted; what was sent goes on when the manager dies, and its
result finds nobody then. In Jobs the same is done by somebody else, who dies less often and comes later.
What a run says that sent nothing is made by the functions of what is shipped; tests/sim/test_unsent_runs.py holds both
against each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from noderemedy.core.fencing import credentials, results, staleness
from noderemedy.core.fencing.results import Ended
from noderemedy.engine.leadership import LAPSED
from noderemedy.model.ids import LEASE, NODE, NODE_FENCE, Kind
from noderemedy.model.outcome import Done, Failed, Outcome, Seen, Unknown
from noderemedy.model.run import Deed, Order, Result, Run, RunState, run_ref
from noderemedy.model.time import Mono, Now, Span
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.objects import SYSTEM
from noderemedy.sim.outlets import JobRunner, Outlets
from noderemedy.sim.weather import Fate, within
from noderemedy.wire import fenceanswer, fencejobs
from noderemedy.wire.answers import exists_already
from noderemedy.wire.objects import Undecodable, convert

if TYPE_CHECKING:
    from noderemedy.sim.process import Process

SECRET = Kind("", "Secret")
READ_TRIES = 3
REFUSED = {Fate.FORBIDDEN: 403, Fate.UNAUTHORIZED: 401}
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
            return self._drill(order, jobs, begun) if order.is_drill else self._begin(order, jobs, begun)
        self._enter(Run(order.id, RunState.RUNNING, begun=begun))
        self._later(lambda: self._send(order))
        return Done(begun)

    # --- as Jobs -------------------------------------------------------------------------------------------------

    def _begin(self, order: Order, jobs: JobRunner, begun: Mono) -> Outcome:
        """A Job of that name is the same order; what came of one that was there before is never fresh."""
        made = self._create(order)
        if isinstance(made, Unknown):
            self._enter(Run(order.id, RunState.RUNNING, is_sure=False))
        if isinstance(made, Unknown | Failed):
            return made
        self._enter(Run(order.id, RunState.RUNNING, begun=begun if made else Mono(0)))
        jobs.follow(order, self._teller(order))
        return Done(begun)

    def _drill(self, order: Order, jobs: JobRunner, begun: Mono) -> Outcome:
        """It is accepted, and told of afterwards: what kept its Job from being made, too."""
        made = self._create(order)
        self._enter(Run(order.id, RunState.RUNNING, begun=begun))
        if isinstance(made, Failed):
            why = made.why
            self._later(lambda: self._ended(order, results.not_begun(order, why)))
            return Done(begun)
        doubt = made.why if isinstance(made, Unknown) else ""
        unseen = results.not_begun(order, staleness.unasked(doubt)) if doubt else results.untold(order)

        def told(result: Result) -> None:
            self._later(lambda: self._ended(order, unseen if result == results.untold(order) else result))

        jobs.follow(order, told)
        return Done(begun)

    def _create(self, order: Order) -> bool | Failed | Unknown:
        """Whether its Job was made just now, or was there before; or why it is not, or may not be."""
        process = self._process
        fate = process.weather.fate(process.chance)
        request = fencejobs.create_job(order, JOBS, process.now().wall)
        answer = process.apply(request, fate, process.cluster.api)
        if answer is None or answer.status >= BROKEN:
            return Unknown("no answer in time, or the API server broke")
        if answer.status == CREATED or exists_already(answer):
            return answer.status == CREATED
        return Failed(f"the API server answered {answer.status}")

    # --- as processes --------------------------------------------------------------------------------------------

    def _send(self, order: Order) -> None:
        process = self._process
        fates = [process.weather.fate(process.chance) for _ in range(READ_TRIES)]
        if order.bound_to:
            self._ended(order, results.out_of_place(order))
            return
        try:
            secrets = {} if unread(fates) else secrets_of(order, process.cluster.api.find)
            why = unread(fates) or self._refusal(order)
        except credentials.SecretMissing as problem:
            why = str(problem)
        if why:
            self._ended(order, results.not_begun(order, why))
            return
        Sending(order, secrets, process.cluster.outlets, self._teller(order))

    def _refusal(self, order: Order) -> str:
        """Why it may not leave. A drill is never too late: its time begins when it is its turn."""
        process, now = self._process, self._process.now()
        late = staleness.too_late(order, now.wall) if staleness.belongs_to_a_fence(order) else ""
        lapsed = "" if process.leads(order.token) else LAPSED
        return stale(order, process.cluster.api.find) or late or staleness.unasked(lapsed)

    def _teller(self, order: Order) -> Callable[[Result], None]:
        """Its result finds us a little later, if we live by then."""
        return lambda result: self._later(lambda: self._ended(order, result))

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


def unread(fates: list[Fate]) -> str:
    """Why what has to be known was not read, by what became of every try; "" if one came through."""
    if not all(one in UNREAD for one in fates):
        return ""
    refusal = REFUSED.get(fates[-1])
    return f"the API server answered {refusal}" if refusal else staleness.unasked("the API server does not answer")


def stale(order: Order, find: Find) -> str:
    """Why an order is not wanted any more, by what is read live."""
    if not staleness.belongs_to_a_fence(order):
        return ""
    try:
        fence = read(NODE_FENCE, order.fence.name, find)
        node = read(NODE, order.node, find) if staleness.needs_node(order, fence) else None
    except Undecodable as problem:
        return str(problem)
    return staleness.unwanted(order, fence) or staleness.another_boot(order, node)


def read(kind: Kind, name: str, find: Find) -> Any:
    """Raises Undecodable."""
    tree = find(kind, name)
    return convert(kind, tree).obj if tree is not None else None


def secrets_of(order: Order, find: Find) -> dict[str, str]:
    """Values by parameter. Raises SecretMissing."""
    found = {one.secret: find(SECRET, one.secret, SYSTEM) for one in order.secrets}
    read = {name: texts_of(tree) if tree is not None else None for name, tree in found.items()}
    return credentials.values_of(order, read)


def texts_of(secret: Tree) -> dict[str, str]:
    return fenceanswer.secret_data(msgspec.json.encode({"data": secret.get("data")}))


def leading_token(find: Find, lease: str) -> int:
    found = find(LEASE, lease, SYSTEM)
    return fenceanswer.leading_token(msgspec.json.encode(found)) if found is not None else -1
