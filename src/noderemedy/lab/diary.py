"""What the manager says it does, with the second in which it said so: its actions, reasons and alerts.

The observer that `lab/lab.py` gives to the embedded manager. The manager's word is shown, never believed: whether
it was right is for `sim/checkers.py` and `lab/story.py` to say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from msgspec import Struct

from noderemedy.engine.telling import Notice
from noderemedy.lab.clock import RealAgenda
from noderemedy.manager.settings import Ended, Happening, Led
from noderemedy.model.actions import READS
from noderemedy.model.ids import Ref
from noderemedy.model.outcome import Done, Effect
from noderemedy.model.reasons import ConfirmFirst, Reason, TableRow

REASONS_MAX = 200


class Act(Struct, frozen=True):
    """A write of the manager that was applied."""

    do: str
    ref: Ref
    at_ms: int


class Said(Struct, frozen=True):
    """A reason that the manager gave for an object."""

    reason: Reason
    ref: Ref
    at_ms: int


class Diary:
    """Remembers what the manager did and said."""

    def __init__(self, agenda: RealAgenda) -> None:
        self.acts: list[Act] = []
        self.said: deque[Said] = deque(maxlen=REASONS_MAX)
        self.is_leading = False
        self.in_flight = 0
        self.on_alert: list[Callable[[Said], None]] = []
        self._agenda = agenda

    def observe(self, happening: Happening) -> None:
        at_ms = self._agenda.elapsed_ms()
        match happening:
            case Effect():
                self.in_flight += 1
            case Ended():
                self.in_flight -= 1
                self._ended(happening, at_ms)
            case Led():
                self.is_leading = happening.is_leading
            case Notice():
                self._heard(Said(happening.reason, happening.ref, at_ms))
            case _:
                pass

    def _ended(self, ended: Ended, at_ms: int) -> None:
        action = ended.effect.action
        if isinstance(ended.outcome, Done) and not isinstance(action, READS):
            self.acts.append(Act(type(action).__name__, action.ref, at_ms))

    def _heard(self, said: Said) -> None:
        self.said.append(said)
        for listener in self.on_alert if said.reason.alert else ():
            listener(said)

    def notable(self) -> list[Said]:
        """What is worth showing: live reads and rows of the table pass too quickly to be read."""
        return [said for said in self.said if not isinstance(said.reason, ConfirmFirst | TableRow)]
