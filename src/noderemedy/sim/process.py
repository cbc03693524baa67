"""A manager process in the simulated world: the real engine and rooms, over an API that lets it down.

What production does in `manager/` and `drivers/` is done here in virtual time: watch, step, send, wait for the
answer, keep the lease. It can be killed at any boundary of its ledger, paused, and started again; a request that is on
its way when it dies still arrives.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

from msgspec.structs import replace

from noderemedy.crds.recording import by_name, judged
from noderemedy.engine.leadership import Leadership, Rules
from noderemedy.engine.loop import Engine
from noderemedy.engine.telling import Notice
from noderemedy.engine.trace import Record, Trace
from noderemedy.model.actions import Action, DescribeAgent, StartRun
from noderemedy.model.drill import SCHEDULE_AT, DrillSchedule
from noderemedy.model.ids import CLUSTER, Kind, Ref
from noderemedy.model.keeping import DEFINITION, Unkept, unkept
from noderemedy.model.outcome import Done, Effect, Failed, Outcome, Seen, Unknown
from noderemedy.model.reasons import FenceSucceeded, NodeRecovered, NodeWhole, RemediationSucceeded, Replaced
from noderemedy.model.time import Mono, Now, Span, Wall
from noderemedy.model.workload import ATTACHMENT, POD
from noderemedy.rooms import ROOMS, watched
from noderemedy.sim.agenda import Appointment
from noderemedy.sim.apiserver import ApiServer, Tree, User, WatchEvent
from noderemedy.sim.candidate import Candidate
from noderemedy.sim.kinds import CUSTOM_RESOURCE
from noderemedy.sim.pages import Pages
from noderemedy.sim.remotes import Remotes
from noderemedy.sim.requests import Requests
from noderemedy.sim.runs import Runs
from noderemedy.sim.watching import Watch
from noderemedy.sim.weather import CALM, Fate, Weather, within
from noderemedy.sim.world import World
from noderemedy.wire.answers import outcome
from noderemedy.wire.http import Answer, Request, Resource
from noderemedy.wire.objects import Undecodable
from noderemedy.wire.requests import render

MANAGER = User("system:serviceaccount:node-remedy-system:node-remedy-manager")
ELECTION = Rules(duration=Span(20_000), deadline=Span(15_000), retry=Span(5_000))  # slower than ours: fewer events
SUCCESSES = (FenceSucceeded, NodeRecovered, NodeWhole, RemediationSucceeded, Replaced)
Boundary = Callable[["Process", str, Effect], None]


class Process:
    """One manager. `start` and `kill` may be called any number of times."""

    def __init__(self, name: str, cluster: World, *, weather: Weather = CALM, seed: int = 0) -> None:
        self.name = name
        self.cluster = cluster
        self.agenda = cluster.agenda
        self.weather = weather
        self.chance = random.Random(seed)
        self.trace = Trace(self._overhear)
        self.notices: list[Notice] = []
        self.writes: list[tuple[int, Request]] = []
        self.acted: list[str] = []
        self.met: Counter[str] = Counter()  # the weather of its requests and watches
        self.outlived: Counter[str] = Counter()  # the same, once a success has followed
        self.succeeded: dict[str, int] = {}  # by name of what was repaired: when that was last seen to have ended well
        self.mixtures: list[Kind] = []  # kinds of which half a list was seen beside the old one
        self.decided: Counter[str] = Counter()  # reasons of all decisions, told or not
        self.freed_by: Counter[str] = Counter()  # what frees a workload, and on which proof
        self.on_boundary: list[Boundary] = []
        self.on_leading: list[Callable[[Process], None]] = []
        self.on_request: list[Callable[[Process, Request], None]] = []  # for whoever checks: what reaches the server
        self.skew_ms = 0
        self.lives = 0
        self.is_alive = False
        self.is_paused = False
        self.always_leads = False  # fault 22: a process that believes it leads, whatever the lease says
        self.rooms = ROOMS
        self.pages: Pages | None = None  # how lists come to it, if not in one piece
        self.drills: Span | None = None  # how often it was told to ask fence devices
        self.resources = served(cluster)
        self._inbox: list[Callable[[], None]] = []  # what came during a pause
        self._changes = 0  # that rooms could see
        self._hurt: dict[Ref, set[str]] = {}  # bad weather of requests about an object, until one of them succeeds
        self._wake: Appointment | None = None
        self._soon: Appointment | None = None

    # --- life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        assert not self.is_alive
        self.lives += 1
        self.is_alive = True
        self.is_paused = False
        self._inbox = []
        self.engine = Engine(self.rooms, trace=self.trace)
        if self.drills is not None:
            self.engine.seen(Seen(SCHEDULE_AT, "", "", DrillSchedule(self.drills)), self.now())
        self.remotes = Remotes(self)
        self.runs = Runs(self)
        identity = f"{self.name}-{self.lives}"
        self.candidate = Candidate(Leadership(identity, ELECTION), self)
        self.resources = served(self.cluster)
        self._watched = frozenset(watched(ROOMS))
        self._follow_definitions()
        self._watches = [self.open_watch(kind) for kind in watched(ROOMS)]
        self._requests = Requests(self)
        self.candidate.poll()

    def open_watch(self, kind: Kind) -> Watch:
        pages = (self.pages, self) if self.pages else None
        return Watch(kind, self.cluster.api, self.agenda, self.weather, self.chance, self, pages)

    def kill(self) -> None:
        """The process is gone at once: nothing is released, answers find nobody."""
        self.is_alive = False
        for watch in (*self._watches, *self._requests.watches.values()):
            watch.close()
        self.remotes.close()
        self._definitions.close()
        for planned in (self._wake, self._soon):
            if planned:
                planned.cancel()
        self._wake = self._soon = None

    def stop(self) -> None:
        """An orderly end: the lease is released first."""
        self.candidate.release()
        self.agenda.after(1_000, lambda: self.kill() if self.is_alive else None)

    def pause(self, span_ms: int) -> None:
        """Faults 23, 24: nothing of this process runs for a while, then all goes on as if nothing had happened."""
        self.is_paused = True
        life = self.lives
        self.agenda.after(span_ms, lambda: self._resume(life))

    def _resume(self, life: int) -> None:
        if self.is_alive and self.lives == life:
            self.is_paused = False
            inbox, self._inbox = self._inbox, []
            for do in inbox:
                self.when_running(do)
            self.soon()
            self.candidate.poll()

    def now(self) -> Now:
        """This process's own clocks."""
        mono = self.agenda.now_ms
        return Now(Wall(self.agenda.epoch_ms + mono + self.skew_ms), Mono(mono), self.chance.getrandbits(64))

    @property
    def watches(self) -> tuple[Watch, ...]:
        """All that are open: of the kinds that rooms watch, of requests, and in other clusters."""
        return (*self._watches, *self._requests.watches.values(), *self.remotes.watches)

    @property
    def is_listing(self) -> bool:
        """Whether some of what rooms watch is there, whole or in part, and some is not."""
        served = [watch for watch in self._watches if watch.kind in self.resources]
        return any(watch.has_come for watch in served) and not all(watch.is_listed for watch in served)

    def calm_watches(self) -> None:
        """The weather turned: watches that are open feel it too."""
        if self.is_alive:
            for watch in self.watches:
                watch.weather = self.weather
            self.when_running(self._look_at_definitions)

    def alive_since(self) -> Callable[[], bool]:
        """A question to ask later: is this still the same life, and is it running?"""
        life = self.lives
        return lambda: self.is_alive and self.lives == life

    def when_running(self, do: Callable[[], None]) -> None:
        """Do it now, or after a pause, in the order in which it came: a list must not overtake its events."""
        if self.is_paused:
            self._inbox.append(do)
        else:
            do()

    def _follow_definitions(self) -> None:
        """What the API would forget of our records: at once, and in no weather but where it may not be seen."""
        self._look_at_definitions()
        changed = lambda event: self.when_running(lambda: self._defined(event.tree))  # noqa: E731
        self._definitions = self.cluster.api.subscribe(CUSTOM_RESOURCE, changed)

    def _look_at_definitions(self) -> None:
        for tree in self.cluster.api.list(CUSTOM_RESOURCE):
            self._defined(tree)

    def _defined(self, tree: Tree) -> None:
        kind = by_name().get(tree["metadata"]["name"])
        if kind is None:
            return
        is_hidden = DEFINITION in self.weather.refused
        found = Unkept(unread="forbidden") if is_hidden else judged(kind, tree["spec"])
        if found != unkept(kind, self.engine.cache):
            self.engine.keeps(kind, found, self.now())
            self.soon()

    # --- watches ------------------------------------------------------------------------------------------------

    def on_list(self, kind: Kind, trees: list[WatchEvent]) -> None:
        self.when_running(lambda: self._listed(kind, trees))

    def on_listing(self, kind: Kind) -> None:
        self.when_running(lambda: self._begin_list(kind, self.now()))

    def on_page(self, kind: Kind, trees: list[WatchEvent]) -> None:
        self.when_running(lambda: self._page(kind, trees, self.now()))

    def on_listed(self, kind: Kind) -> None:
        self.when_running(lambda: self._end_list(kind, self.now()))

    def on_event(self, kind: Kind, event: WatchEvent) -> None:
        if self.is_paused:
            self.when_running(lambda: self._event(kind, event))
        else:
            self._event(kind, event)

    def on_missing(self, kind: Kind) -> None:
        self.when_running(lambda: self._missing(kind))

    def on_refused(self, kind: Kind) -> None:
        self.when_running(lambda: self._refused(kind))

    def _refused(self, kind: Kind) -> None:
        """What the API refuses to show is lost, until it is listed again."""
        if kind in self._watched:
            self.engine.lost(kind, self.now())
        elif self._requests.is_ours(kind):
            self.engine.followed(kind, self.now(), refused="forbidden")
        self.soon()

    def _missing(self, kind: Kind) -> None:
        """A kind that is not served has no objects; one that was wanted cannot be asked for."""
        if kind in self._watched:
            self.engine.unserved(kind, self.now())
            if kind == CLUSTER:
                self.remotes.keep(set())
        elif self._requests.is_ours(kind):
            self.engine.followed(kind, self.now(), missing=str(kind))
        self.soon()

    def _listed(self, kind: Kind, trees: list[WatchEvent]) -> None:
        if self._follows(kind):
            now = self.now()
            self._begin_list(kind, now)
            self._page(kind, trees, now)
            self._end_list(kind, now)

    def _begin_list(self, kind: Kind, now: Now) -> None:
        if kind not in self.resources:
            self.resources |= served(self.cluster)
        if self._follows(kind):
            self.engine.listing(kind, now)

    def _page(self, kind: Kind, trees: list[WatchEvent], now: Now) -> None:
        before, is_again = self._changes, self.engine.cache.is_complete(kind)
        for event in trees if self._follows(kind) else ():
            self._enter(kind, event, now)
        if is_again and self._changes != before:
            self.mixtures.append(kind)
        self.soon()

    def _end_list(self, kind: Kind, now: Now) -> None:
        if self._follows(kind):
            self.engine.listed(kind, now)
        if kind == CLUSTER:
            self.remotes.keep(set(self.engine.cache.refs_of(kind)))
        if self._requests.is_ours(kind):
            self.engine.followed(kind, now)
        self.soon()

    def _follows(self, kind: Kind) -> bool:
        """Whether we still do: a list or an event may come late."""
        return kind in self._watched or self._requests.is_ours(kind)

    def _event(self, kind: Kind, event: WatchEvent) -> None:
        if not self._follows(kind):
            return
        self._enter(kind, event, self.now())
        if self.engine.queue:  # a heartbeat concerns nobody
            self.soon()

    def _enter(self, kind: Kind, event: WatchEvent, now: Now) -> None:
        try:
            seen = self.cluster.decoding.read(kind, event.tree)
        except Undecodable as error:
            if event.type == "DELETED":
                self.engine.gone(Seen(error.ref, error.uid, error.resource_version, None), now)
            else:
                self.engine.unreadable(error.ref, error.uid, error.resource_version, error.problem, now)
            self.soon()
            return
        if event.type == "DELETED":
            self.engine.gone(seen, now)
            if kind == CLUSTER:
                self.remotes.forgotten(seen.ref)
            return
        if kind == CLUSTER:
            self.remotes.noticed(seen.ref)
        self.engine.seen(seen, now)

    # --- steps --------------------------------------------------------------------------------------------------

    def soon(self) -> None:
        """Step once, now, whatever the number of events that asked for it."""
        if self._soon is None:
            self._soon = self.agenda.after(0, self._step)

    def _step(self) -> None:
        self._soon = None
        if not self.is_alive or self.is_paused:
            return
        now = self.now()
        output = self.engine.step(now, self._token(now))
        self.notices.extend(output.notices)
        for notice in output.notices:
            if isinstance(notice.reason, SUCCESSES):
                self.succeeded[notice.ref.name] = self.agenda.now_ms
        for effect in output.effects:
            if self.is_alive:
                self._begin(effect)
        self._requests.adjust()
        self._plan_wake()

    def _plan_wake(self) -> None:
        if self._wake:
            self._wake.cancel()
        wake_at = self.engine.next_wake()
        self._wake = self.agenda.at(wake_at.ms, self.soon) if wake_at is not None else None

    def may_act(self) -> bool:
        """Whether this process leads, by its own lease and clock."""
        mono = Mono(self.agenda.now_ms)
        return self.candidate.leadership.may_act(Now(Wall(0), mono))

    def took_over(self) -> None:
        """It begins to lead."""
        for listener in self.on_leading:
            listener(self)
        self.soon()

    @property
    def is_settled(self) -> bool:
        """Whether it leads, sees everything, and has looked at all that it was told of."""
        is_up = self.is_alive and not self.is_paused and self.may_act()
        return is_up and self.engine.is_synced and not self.engine.queue

    def _token(self, now: Now) -> int | None:
        leadership = self.candidate.leadership
        if self.always_leads or leadership.may_act(now):
            return leadership.token
        return None

    # --- effects ------------------------------------------------------------------------------------------------

    def _begin(self, effect: Effect) -> None:
        same = self.alive_since()
        self._boundary("begin", effect)
        if not same():
            return
        now = self.now()
        if self._token(now) is None:
            self._end(effect, Failed("leadership ended before this was sent"))
            return
        if isinstance(effect.action, StartRun | DescribeAgent):
            self._note(effect.action)
            self._end(effect, self._asked_an_agent(effect.action, effect.token))
            return
        if effect.action.ref.kind not in (*self.resources, POD, ATTACHMENT):
            self._end(effect, Done(now.mono, gone=True))
            return
        self._note(effect.action)
        request = render(effect.action, effect.token, self.resources)
        delay = within(self.weather.latency, self.chance)
        self.agenda.after(delay, lambda: self._arrive(effect, request, now.mono, same))

    def _asked_an_agent(self, action: StartRun | DescribeAgent, token: int) -> Outcome:
        """Not a matter of the API: a run is accepted at once, an agent describes itself."""
        if isinstance(action, StartRun):
            return self.runs.start(replace(action.order, token=token))
        begun, found = self.now().mono, self.cluster.outlets.agents.get(action.ref.name)
        return Done(begun, gone=True) if found is None else Done(begun, Seen(action.ref, "", "", found))

    @property
    def token(self) -> int:
        """Of its present or last leadership."""
        return self.candidate.leadership.token

    def leads(self, token: int) -> bool:
        """Whether this process leads, or believes to, as it did when it took this token."""
        return self._token(self.now()) == token

    def _note(self, action: Action) -> None:
        name = type(action).__name__
        self.acted.append(name)
        if proof := getattr(action, "proof", None):
            self.freed_by[f"{name} on {type(proof).__name__}"] += 1

    def _overhear(self, record: Record) -> None:
        self._changes += record.what == "seen"
        if record.what == "decided":
            self.decided.update(record.detail.split())

    def _arrive(self, effect: Effect, request: Request, begun: Mono, same: Callable[[], bool]) -> None:
        """The request reaches the server, whether its sender still lives or not."""
        api = self.remotes.api(effect.action.ref.cluster)
        fate = self.weather.fate(self.chance)
        self.met[str(fate)] += 1
        if fate is not Fate.FINE:
            self._hurt.setdefault(effect.action.ref, set()).add(str(fate))
        answer = self.apply(request, fate, api) if api else None
        if same():
            self._boundary("applied", effect)
        if answer is None:
            self.agenda.after(self.weather.time_out, lambda: self._unanswered(effect, same))
            return
        found = answer
        delay = within(self.weather.latency, self.chance)
        self.agenda.after(delay, lambda: self._answered(effect, found, begun, same))

    def apply(self, request: Request, fate: Fate, api: ApiServer) -> Answer | None:
        """What the server does with a request, and answers; None if the answer never comes."""
        refusal = REFUSALS.get(fate)
        if fate is Fate.NEVER_ARRIVED or (refusal and fate is not Fate.BROKEN_APPLIED):
            is_read = request.method == "GET"
            if not (is_read and fate in (Fate.CONFLICT, Fate.DENIED, Fate.READ_ONLY)):
                return refusal
        for listener in self.on_request:
            listener(self, request)
        if request.method != "GET":
            self.writes.append((self.agenda.now_ms, request))
        answer = api.handle(request, MANAGER)
        if fate is Fate.TWICE:
            api.handle(request, MANAGER)
        if fate is Fate.ANSWER_LOST:
            return None
        return refusal if fate is Fate.BROKEN_APPLIED else answer

    def _answered(self, effect: Effect, answer: Answer, begun: Mono, same: Callable[[], bool]) -> None:
        if same():
            self.when_running(lambda: self._end(effect, outcome(effect, answer, begun)))

    def _unanswered(self, effect: Effect, same: Callable[[], bool]) -> None:
        if same():
            self.when_running(lambda: self._end(effect, Unknown("no answer in time")))

    def _end(self, effect: Effect, result: Outcome) -> None:
        same = self.alive_since()
        if isinstance(result, Done):
            self.outlived.update(self._hurt.pop(effect.action.ref, ()))
        following = self.engine.ended(effect, result, self.now())
        self._boundary("ended", effect)
        if not same():
            return
        if following is not None:
            self._begin(following)
        self.soon()

    def _boundary(self, where: str, effect: Effect) -> None:
        for listener in self.on_boundary:
            listener(self, where, effect)


def refusal(status: int, message: str, retry_after_ms: int = 0) -> Answer:
    body = f'{{"kind":"Status","status":"Failure","message":"{message}","code":{status}}}'.encode()
    return Answer(status, body, retry_after=Span(retry_after_ms) if retry_after_ms else None)


REFUSALS: dict[Fate, Answer] = {
    Fate.CONFLICT: refusal(409, "the object has been modified"),
    Fate.TOO_MANY: refusal(429, "too many requests", 2_000),
    Fate.BROKEN: refusal(500, "etcdserver: request timed out"),
    Fate.BROKEN_APPLIED: refusal(500, "etcdserver: request timed out"),
    Fate.DENIED: refusal(403, "admission webhook denied the request"),
    Fate.FORBIDDEN: refusal(403, "cannot patch resource"),
    Fate.UNAUTHORIZED: refusal(401, "Unauthorized"),
    Fate.READ_ONLY: refusal(500, "etcdserver: mvcc: database space exceeded"),
}


def served(cluster: World) -> dict[Kind, Resource]:
    """What discovery would find for the kinds that rooms watch."""
    types = [(kind, cluster.api.resources.find(kind)) for kind in watched(ROOMS)]
    return {kind: Resource(kind, item.version().name, item.plural, item.namespaced) for kind, item in types if item}
