"""The manager: watches, engine, effects, leadership and reports put together. Decides nothing itself.

`run()` is called by `node-remedy manager`, by the lab and by tests; it ends when `stop` is set. Many events make one
step of the engine; between steps it sleeps until the next event or the engine's next wake. Nothing polls.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
from collections.abc import Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from noderemedy.drivers import kdump
from noderemedy.drivers.clock import Clock
from noderemedy.drivers.fence.agents import folders, handed_on, withheld
from noderemedy.drivers.fence.verify import Hand
from noderemedy.drivers.health import Health
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.errors import Obstacle
from noderemedy.drivers.kube.events import Publisher
from noderemedy.drivers.kube.lease import Election, Place
from noderemedy.drivers.logs import Log
from noderemedy.drivers.metrics import Metrics, measure_lag
from noderemedy.engine.leadership import Leadership
from noderemedy.engine.loop import LOOKS_BESIDE, Engine
from noderemedy.engine.telling import Notice
from noderemedy.engine.trace import Untraced
from noderemedy.manager.clusters import Clusters, ClusterSink
from noderemedy.manager.definitions import DefinitionSink, follow_definition
from noderemedy.manager.describing import Describe, describe
from noderemedy.manager.effects import Carrier, Licence, Starter
from noderemedy.manager.follower import Surroundings
from noderemedy.manager.following import follow
from noderemedy.manager.jobruns import JobRuns
from noderemedy.manager.kdumps import Kdumps
from noderemedy.manager.kinds import wanted
from noderemedy.manager.later import Calm, Later
from noderemedy.manager.nodeevents import EventFollower
from noderemedy.manager.notices import Reporter, Wishes
from noderemedy.manager.requests import Followers
from noderemedy.manager.runbook import RunBook
from noderemedy.manager.runs import Runs
from noderemedy.manager.settings import LEASE_NAME, Agents, Ended, Led, Listening, Observer, Settings, nobody
from noderemedy.manager.sink import EngineSink
from noderemedy.model.actions import WriteLedger
from noderemedy.model.drill import SCHEDULE_AT, DrillSchedule
from noderemedy.model.errors import Permanent
from noderemedy.model.ids import CLUSTER, Kind
from noderemedy.model.kdump import UNHEARD_AT, DumpsUnheard
from noderemedy.model.keeping import FILES
from noderemedy.model.outcome import Effect, Outcome, Seen, Unknown
from noderemedy.model.ownnode import OWN_NODE_AT, OwnNodeFact
from noderemedy.model.reasons import OwnNode
from noderemedy.model.time import MINUTE, Mono, Now
from noderemedy.rooms import ROOMS, watched
from noderemedy.wire.fencejobs import JobSettings

LOG = Log("noderemedy.manager")
SECRETS_AT_ONCE = 4  # reads of kubeconfigs: effects come first
NAMES_AT_ONCE = 256  # at most; there are as many threads as were needed at one moment
RARELY = (1_000_000, 20, 100)  # thresholds of garbage collection while the cache fills: nothing of it is garbage
CALMLY = (10_000, 10, 10)  # and afterwards: the usual 700 would interrupt one repair ten times
ASIDE_EVERY = MINUTE * 10
LOOKS_AT_ONCE = 500  # some 20 ms: a lease has to be renewed, and what was found first can be told


class PortTaken(Permanent):
    """The port for /metrics and /readyz cannot be had."""


async def run(settings: Settings, stop: asyncio.Event, observer: Observer | None = None) -> None:
    """Repair nodes until `stop` is set. Raises what a part of it died of."""
    look_up_names_at_once(NAMES_AT_ONCE)
    async with KubeClient(settings.access) as client:
        await Manager(settings, client, stop, observer or nobody).run()


def look_up_names_at_once(most: int) -> None:
    """Names are looked up in threads, which wait as long as a dead name server lets them: so few as there are by
    default would be taken by a few clusters that are away, and no other could be connected to.
    """
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(most, thread_name_prefix="names"))


class Manager:
    """One manager and its parts."""

    def __init__(self, settings: Settings, client: KubeClient, stop: asyncio.Event, observer: Observer) -> None:
        self._settings = settings
        self._client = client
        self._stop = stop
        self._observe = observer
        self._chance = random.Random()
        self._clock = Clock(self._chance)
        self._wake = asyncio.Event()
        self._metrics = Metrics()
        self._engine = Engine(ROOMS, trace=Untraced(), is_dry=settings.is_dry)
        if settings.drill_every is not None:
            schedule = DrillSchedule(settings.drill_every)
            self._engine.seen(Seen(SCHEDULE_AT, "", "", schedule), self._clock.now())
        if settings.node:
            self._engine.seen(Seen(OWN_NODE_AT, "", "", OwnNodeFact(settings.node)), self._clock.now())
        if not settings.kdump_listen:
            self._engine.seen(Seen(UNHEARD_AT, "", "", DumpsUnheard()), self._clock.now())
        self._sink = EngineSink(self._engine, watched(), self._clock, LOG, self._wake.set)
        self._leadership = None if settings.is_dry else Leadership(settings.identity, settings.rules)
        self._licence = Licence(self._leadership)
        self._clusters = Clusters(
            Surroundings(
                home=client,
                engine=self._engine,
                clock=self._clock,
                chance=self._chance,
                log=LOG,
                pace=settings.clusters,
                watch=settings.watch,
                poke=self._wake.set,
                lanes=asyncio.Semaphore(SECRETS_AT_ONCE),
            )
        )
        self._runs = self._runner()
        self._carrier = Carrier(
            client, self._sink, self._clock, self._licence, self._clusters.client, self._runs, self._describer()
        )
        self._calm = Calm()
        self._later = Later(self._broke)
        self._publisher: Publisher | None = None
        if not settings.is_dry:
            self._publisher = Publisher(client, settings.identity, _event_trouble, give_way=self._calm.come)
        publish = self._publisher.publish if self._publisher else None
        self._reporter = Reporter(LOG, self._metrics, publish)
        self._wishes = Wishes(LOG)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._effects: set[asyncio.Task[None]] = set()
        self._requests = Followers(client, self._engine, self._sink, self._clock, self._chance, settings.watch)
        self._node_events = EventFollower(
            client, self._engine, self._clock, self._chance, settings.watch, LOG, self._wake.set
        )
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._in_step = asyncio.Event()
        self._is_frozen = False
        self._aside_last: Mono | None = None

    # --- from start to stop -------------------------------------------------------------------------------------

    async def run(self) -> None:
        settings = self._settings
        LOG.info(
            "manager starts",
            identity=settings.identity,
            dry_run=settings.is_dry,
            server=settings.access.server,
        )
        if settings.freezes_garbage:
            gc.freeze()  # modules live as long: no list is interrupted to walk them
            gc.set_threshold(*RARELY)
        self._watch_all()
        if self._publisher:
            self._start("events", self._publisher.run())
        health: Health | None = None
        dumps: asyncio.DatagramTransport | None = None
        election: Election | None = None
        try:
            health = await self._serve_health()
            dumps = await self._listen_for_dumps()
            election = self._stand_for_election()
            self._start("loop lag", measure_lag(self._metrics))
            self._start("engine", self._drive())
            await self._until_stopped()
        finally:
            if dumps:
                dumps.close()
            await self._leave(election)
            if health:
                await health.stop()
            LOG.info("manager stopped", identity=settings.identity)

    def _watch_all(self) -> None:
        with_clusters = ClusterSink(self._sink, self._clusters)
        for one in wanted():
            sink = with_clusters if one.kind == CLUSTER else self._sink
            self._start(f"watch of {one.kind}", follow(self._client, one, sink, self._chance, self._settings.watch))
        for kind in FILES:
            judge = DefinitionSink(kind, self._engine, self._clock, LOG, self._wake.set)
            self._start(f"definition of {kind}", self._judge(kind, judge))

    async def _judge(self, kind: Kind, judge: DefinitionSink) -> None:
        """Verdicts come first: only what would begin waits for a definition."""
        await self._in_step.wait()
        await follow_definition(self._client, kind, judge, self._chance, self._settings.watch)

    def _start(self, name: str, part: Coroutine[Any, Any, None]) -> None:
        self._tasks[name] = asyncio.create_task(part, name=name)

    async def _until_stopped(self) -> None:
        """Wait for `stop`; no part ever ends by itself, so one that does takes the program with it."""
        stopped = asyncio.create_task(self._stop.wait())
        try:
            parts: list[asyncio.Future[Any]] = [stopped, self._broken, *self._tasks.values()]
            await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
        for name, task in [("effects", self._broken), *self._tasks.items()]:
            if task.done() and not task.cancelled() and (problem := task.exception()):
                LOG.failure("a part of the manager died", problem, part=name)
                raise problem

    async def _leave(self, election: Election | None) -> None:
        """No new effects; those in flight finish; then the lease is handed over.

        If some do not finish in time, the lease is left to expire: their requests may still be on their way.
        """
        self._licence.is_stopping = True
        tasks = self._tasks
        await _cancel(task for name, task in tasks.items() if name not in ("lease", "events"))
        await self._requests.stop()
        await self._node_events.stop()
        await self._clusters.stop()
        left = await self._finish_effects()
        await self._runs.finish()  # what was sent to a device is not called back
        self._later.flush()
        if election and not left:
            await election.release(tasks["lease"])
        if self._publisher and not tasks["events"].done():
            await self._publisher.drain()
        await _cancel([*tasks.values(), *left])
        await self._clusters.close()

    async def _finish_effects(self) -> set[asyncio.Task[None]]:
        if not self._effects:
            return set()
        _, left = await asyncio.wait(self._effects, timeout=self._settings.finish_within.ms / 1000)
        if left:
            LOG.warning("effects did not finish in time, the lease is left to expire", effects=len(left))
        return left

    # --- the engine's turn --------------------------------------------------------------------------------------

    async def _drive(self) -> None:
        """Step the engine whenever something happened or is due."""
        while True:
            self._wake.clear()
            has_more = self._step()
            await (asyncio.sleep(0) if has_more else self._sleep())

    def _step(self) -> bool:
        """One step; whether another one is due at once. A first look at a large cluster takes many: others live."""
        now = self._clock.now()
        self._sink.mind_staleness(now, self._settings.stale_after)
        looks = LOOKS_BESIDE if self._effects else LOOKS_AT_ONCE
        output = self._engine.step(now, self._token(), looks)
        for notice in output.notices:
            self._later.say(partial(self._reporter.notice, notice, self._sink.resources, now.wall))
            self._observe(notice)
        self._leave_own_node(output.notices, now)
        if self._settings.is_dry:
            self._wishes.look(output.notices, self._engine)
        for effect in sorted(output.effects, key=_goes_later):
            task = asyncio.create_task(self._carry(effect))
            self._effects.add(task)
            task.add_done_callback(self._effect_is_over)
        self._requests.adjust(self._broke)
        self._node_events.adjust(self._broke)
        self._freeze_once(output.has_more)
        return output.has_more

    def _leave_own_node(self, notices: Iterable[Notice], now: Now) -> None:
        """A node that waits for another leader than the manager on it: give another replica, if there is one, its turn.

        Not again and again: where there is none, the other nodes still need us.
        """
        is_wanted = any(isinstance(one.reason, OwnNode) for one in notices)
        is_due = self._aside_last is None or now.mono >= self._aside_last + ASIDE_EVERY
        if self._leadership is None or not is_wanted or not is_due:
            return
        LOG.warning("standing aside: the node that this manager runs on needs a repair", node=self._settings.node)
        self._aside_last = now.mono
        self._leadership.stand_aside(now)

    def _broke(self, bug: BaseException) -> None:
        if not self._broken.done():
            self._broken.set_exception(bug)

    def _token(self) -> int | None:
        """The token to act under; None: stand by."""
        if self._leadership is None:
            return 0
        return self._leadership.token if self._leadership.may_act(self._clock.now()) else None

    async def _sleep(self) -> None:
        """Until something happens, or the engine's next wake if we may act then."""
        due = self._engine.next_wake() if self._token() is not None and self._engine.is_synced else None
        seconds = max(0.0, due.since(self._clock.mono()).ms / 1000) if due else None
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass

    async def _carry(self, effect: Effect) -> None:
        """One effect and what follows it in the same decision."""
        more: Effect | None = effect
        while more is not None:
            self._observe(more)
            self._calm.stirred()
            begun = self._clock.mono()
            outcome = await self._outcome(more)
            self._calm.stirred()
            self._later.say(partial(self._reporter.ended, more, outcome, self._clock.mono().since(begun)))
            self._observe(Ended(more, outcome))
            more = self._engine.ended(more, outcome, self._clock.now())
        self._wake.set()

    def _effect_is_over(self, task: asyncio.Task[None]) -> None:
        self._effects.discard(task)
        if not task.cancelled() and (bug := task.exception()) and not self._broken.done():
            self._broken.set_exception(bug)  # the engine itself broke: nothing can be trusted any more

    async def _outcome(self, effect: Effect) -> Outcome:
        try:
            return await self._carrier.carry_out(effect)
        except Exception as bug:  # noqa: BLE001  our own fault costs one key, never the others
            LOG.failure("an effect broke", bug, key=str(effect.key.ref))
            return Unknown(f"a bug in node-remedy: {type(bug).__name__}")

    def _runner(self) -> Starter:
        """Who carries out the orders of fence agents."""
        settings, client, clock = self._settings, self._client, self._clock
        book = RunBook(self._engine, clock, LOG, self._metrics, self._wake.set)
        if settings.agents is Agents.JOB:
            lapse = lambda token: self._licence.lapse(token, clock.now())  # noqa: E731
            jobs = JobSettings(settings.remedy_image, settings.namespace, handed_on(os.environ))
            if names := withheld(os.environ):
                LOG.warning("not handed on to Jobs: it may hold a secret", names=" ".join(names))
            return JobRuns(client, book, clock, jobs, lapse)
        hand = Hand(folders(settings.agents_path, os.environ), between_looks=settings.between_looks)
        return Runs(client, book, clock, hand, lambda token: self._licence.refusal(token, clock.now()))

    def _describer(self) -> Describe:
        """Who asks fence agents what they are."""
        where, is_by_jobs = folders(self._settings.agents_path, os.environ), self._settings.agents is Agents.JOB
        return lambda agent: describe(agent, where, runs_on_nodes=is_by_jobs)

    # --- parts --------------------------------------------------------------------------------------------------

    def _stand_for_election(self) -> Election | None:
        if self._leadership is None:
            return None
        place = Place(self._settings.namespace, LEASE_NAME)
        election = Election(self._client, self._leadership, self._clock, place, self._led, _lease_trouble)
        self._start("lease", election.run())
        return election

    def _led(self, is_leading: bool, token: int) -> None:
        self._metrics.leader.set(int(is_leading))
        assert self._leadership is not None
        message = "this manager leads" if is_leading else "this manager leads no more"
        LOG.info(message, fencing_token=token, holder=self._leadership.holder)
        self._observe(Led(is_leading, token))
        self._wake.set()

    async def _serve_health(self) -> Health:
        health = Health(self._metrics, dead=self._dead, unready=self._sink.unready, before=self._measure)
        if self._settings.metrics_port is not None:
            await self._listen(health, self._settings.metrics_host, self._settings.metrics_port)
            LOG.info("serving figures and health", host=self._settings.metrics_host, port=health.port)
            self._observe(Listening(health.port))
        return health

    async def _listen_for_dumps(self) -> asyncio.DatagramTransport | None:
        if not self._settings.kdump_listen:
            return None
        host, _, port = self._settings.kdump_listen.rpartition(":")
        heard = Kdumps(self._engine, self._clock, LOG, self._wake.set).heard
        try:
            transport = await kdump.listen(host.strip("[]"), int(port), heard)
        except OSError as problem:
            where = self._settings.kdump_listen
            raise PortTaken(f"{where}: {problem.strerror or 'cannot listen'}; choose another --kdump-listen") from None
        LOG.info("listening for kernel dumps", at=self._settings.kdump_listen)
        return transport

    async def _listen(self, health: Health, host: str, port: int) -> None:
        try:
            await health.start(host, port)
        except OSError as problem:
            why = problem.strerror or "cannot listen"
            raise PortTaken(f"{host}:{port}: {why}; choose another --metrics-port or --metrics-host") from None

    def _dead(self) -> list[str]:
        return [f"{name} has died" for name, task in self._tasks.items() if task.done()]

    def _measure(self) -> None:
        """What is cheaper to count when somebody asks."""
        now = self._clock.mono()
        self._metrics.queue_depth.set(len(self._engine.queue))
        readable, unreadable = self._engine.cache.count_kinds()
        for kind in watched():
            self._metrics.objects.labels(str(kind)).set(readable[kind])
            self._metrics.watch_age.labels(str(kind)).set(self._sink.age(kind, now).ms / 1000)
        self._clusters.measure(self._metrics)
        standing = self._engine.standing if self._token() is not None else {}  # who leads says what stands
        self._reporter.measure(standing, unreadable)

    def _freeze_once(self, has_more: bool) -> None:
        """The cache, and what a first look made of it, live as long as the process: the garbage collector need not
        walk them again and again.
        """
        if self._is_frozen or not self._engine.is_synced:
            return
        if not self._in_step.is_set():
            self._in_step.set()
            LOG.info("caches are in step with the API", objects=len(self._engine.cache))
        if has_more:
            return
        self._is_frozen = True
        if self._settings.freezes_garbage:
            gc.freeze()
            gc.set_threshold(*CALMLY)


def _goes_later(effect: Effect) -> bool:
    """What all wait for leaves first; the others in their order."""
    return not isinstance(effect.action, WriteLedger)


def _lease_trouble(obstacle: Obstacle) -> None:
    """Outages are left to the sink: it tells of each one once."""
    if not obstacle.is_connection:
        LOG.warning("lease trouble", why=obstacle.why)


def _event_trouble(why: str) -> None:
    LOG.warning("event trouble", why=why)


async def _cancel(tasks: Any) -> None:
    chosen = list(tasks)
    for task in chosen:
        task.cancel()
    await asyncio.gather(*chosen, return_exceptions=True)
