"""L4: a storm that has ended holds nobody up for longer than its cooldown. A bound of its own, looked at every minute.

What the leader has decided is held against the nodes of the world: nobody is refused because too many nodes are sick
when there are not, and no cooldown is longer than the budget says. Both together bound the wait after a storm.
"""

from __future__ import annotations

from noderemedy.model.reasons import CooldownAfterStorm, TooManyNodesUnhealthy
from noderemedy.model.remediationbudget import DEFAULT
from noderemedy.sim.budgeting import Budgeting
from noderemedy.sim.granting import MINUTE_MS, VERDICT_MS
from noderemedy.sim.news import NEWS_MS
from noderemedy.sim.process import Process

BEARABLE_WITHIN_MS = NEWS_MS + VERDICT_MS
SKEW_MS = 10 * MINUTE_MS  # one leader wrote down the end, another one reads it: two clocks, five minutes off each


class Resuming:
    """Looks at whoever leads, once a minute."""

    def __init__(self, budgeting: Budgeting, processes: list[Process]) -> None:
        self.budgeting = budgeting
        self.checkers = budgeting.checkers
        self.processes = processes
        self.agenda = budgeting.cluster.agenda
        self._waiting: dict[str, int] = {}  # who waits for a storm that is over, and since when
        self.agenda.after(MINUTE_MS, self._look)

    def _look(self) -> None:
        seen = set[str]()
        for process in self.processes:
            if process.is_alive and not process.is_paused and process.may_act():
                self._judge(process, seen)
        self._waiting = {who: since for who, since in self._waiting.items() if who in seen}
        self.agenda.after(MINUTE_MS, self._look)

    def _judge(self, process: Process, seen: set[str]) -> None:
        for key, decision in process.engine.decisions.items():
            for reason in decision.because:
                if isinstance(reason, TooManyNodesUnhealthy) and self._waits(str(key.ref)):
                    seen.add(str(key.ref))
                elif isinstance(reason, CooldownAfterStorm):
                    self._cooled(str(key.ref), reason.until.since(process.now().wall).ms)

    def _waits(self, who: str) -> bool:
        """Whether somebody waits for a storm that is over. A while that is nobody's fault, for news has to arrive."""
        self.checkers.ran["L4 a storm that is over is over"] += 1
        if self.budgeting.bearable_since is None:
            return False
        since = self._waiting.setdefault(who, self.agenda.now_ms)
        if self.agenda.now_ms - since > BEARABLE_WITHIN_MS:
            minutes = (self.agenda.now_ms - since) // MINUTE_MS
            self.checkers.complain("L4", f"{who} still waits for a storm that ended {minutes} minutes ago")
        return True

    def _cooled(self, who: str, left_ms: int) -> None:
        self.checkers.ran["L4 cooldown is bounded"] += 1
        if left_ms > DEFAULT.cooldown.ms + SKEW_MS:
            self.checkers.complain("L4", f"{who} has to wait for another {left_ms // MINUTE_MS} minutes")
