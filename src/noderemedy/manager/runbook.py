"""What this manager knows of runs, kept in the engine's cache as pseudo-objects: rooms read them like any object.

Filled by `runs.py` (agents as processes) and `jobruns.py` (agents as Jobs). Bounded: the oldest that ended is forgotten
first, and a run that nobody knows counts as lost, never as done.
"""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.logs import Log
from noderemedy.drivers.metrics import Metrics
from noderemedy.engine.loop import Engine
from noderemedy.model.outcome import Seen
from noderemedy.model.run import Order, Result, Run, RunState, run_ref
from noderemedy.model.time import Mono

KNOWN_MAX = 2_000
UNKNOWN = Mono(0)  # when a run began that an earlier manager ordered: long ago, so that nothing it finds is fresh


class RunBook:
    """Runs by id, in the order in which they began."""

    def __init__(
        self, engine: Engine, clock: Clock, log: Log, metrics: Metrics, poke: Callable[[], None], limit: int = KNOWN_MAX
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._log = log
        self._metrics = metrics
        self._poke = poke
        self._limit = limit
        self._known: dict[str, Run] = {}

    def knows(self, id: str) -> bool:
        """Whether it surely runs, or did."""
        return id in self._known and self._known[id].is_sure

    def may_run(self, order: Order) -> None:
        """Nobody answered when it was asked for."""
        self._enter(Run(order.id, RunState.RUNNING, begun=UNKNOWN, is_sure=False))

    def began(self, order: Order, begun: Mono | None) -> Run:
        """It was accepted at this moment; None: earlier, by somebody else, so that nothing it finds is fresh."""
        run = Run(order.id, RunState.RUNNING, begun=begun or UNKNOWN)
        self._log.info("fence run begins", **_of(order))
        self._enter(run)
        self._forget_the_oldest()
        return run

    def ended(self, order: Order, result: Result) -> None:
        """It is over, one way or the other."""
        run = self._known.get(order.id) or Run(order.id, RunState.RUNNING)
        self._log.info(
            "fence run ended", **_of(order), state=result.state.value, power=result.power.value, said=result.said
        )
        took_s = self._clock.mono().since(run.begun).ms / 1000 if run.begun != UNKNOWN else None
        self._metrics.count_run(order.method, order.agent, order.deed.value, result.state.value, took_s)
        self._enter(run.ended(result, self._clock.mono()))

    def _enter(self, run: Run) -> None:
        self._known[run.id] = run
        self._engine.seen(Seen(run_ref(run.id), "", "", run), self._clock.now())
        self._poke()

    def _forget_the_oldest(self) -> None:
        over = len(self._known) - self._limit
        if over <= 0:
            return
        ended = [id for id, run in self._known.items() if run.state is not RunState.RUNNING]
        for id in ended[:over]:
            run = self._known.pop(id)
            self._engine.gone(Seen(run_ref(id), "", "", run), self._clock.now())


def _of(order: Order) -> dict[str, str]:
    return {
        "run": order.id,
        "node": order.node,
        "method": order.method,
        "agent": order.agent,
        "deed": order.deed.value,
    }
