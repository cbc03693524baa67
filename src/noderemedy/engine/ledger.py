"""The ledger of effects: one in flight per key, the rest of its decision behind it, and what went wrong last.

Its boundaries (an effect begins, an effect ends) are the crash points that the simulator enumerates. After a
failure a key waits; after an unknown outcome it must be looked at live before anything else. What was heard of an
object while a question about it was under way is remembered until its answer: that may be older.
"""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from noderemedy.model.actions import READS, REPEATABLE, Action, Confirm
from noderemedy.model.ids import Kind, Ref
from noderemedy.model.outcome import Effect, Failed, Key, Outcome, Unknown
from noderemedy.model.time import Mono, Now, Span

BACKOFF_MIN = Span(200)
BACKOFF_MAX = Span.seconds(60)
LASTING = Span.seconds(60)
PATIENCE = 3  # how often in a row one key may do the same thing at full speed
ROUNDS = 10  # how often it may come back to the same thing within moments, whatever it does in between
MOMENT = Span.seconds(1)
ANYBODY = ""  # whatever uid it would have


class Trouble(Struct, frozen=True):
    """What went wrong with a key, how often in a row, and until when it waits."""

    times: int
    until: Mono
    effect: Effect
    outcome: Failed | Unknown


class Repeats(Struct, frozen=True):
    """The same action on the same object, done several times in a row: it does not bring about what it should."""

    kind: type
    ref: Ref
    times: int
    until: Mono


class Ledger:
    """Which keys have an effect in flight, what is left of their decision, and which are in trouble."""

    def __init__(self) -> None:
        self._in_flight: dict[Key, Effect] = {}
        self._rest: dict[Key, tuple[Action, ...]] = {}
        self._doubts: dict[Key, Ref] = {}
        self._troubles: dict[Key, Trouble] = {}
        self._repeats: dict[Key, Repeats] = {}
        self._rounds: dict[Key, dict[tuple[type, Ref], Repeats]] = {}
        self._about: Counter[Ref] = Counter()  # how many effects in flight are about an object
        self._missed: dict[Ref, set[str]] = {}  # the uids that went while such an effect was in flight
        self._number = 0

    def holds(self, key: Key) -> bool:
        return key in self._in_flight

    def in_flight(self) -> list[Effect]:
        return list(self._in_flight.values())

    def begin(self, key: Key, actions: tuple[Action, ...], token: int, decided_at: Mono | None = None) -> Effect:
        """Put the first action in flight; the rest follows as each one is done."""
        assert key not in self._in_flight, "one key, one effect in flight"
        self._number += 1
        effect = Effect(self._number, key, actions[0], token, decided_at)
        self._in_flight[key] = effect
        self._about[effect.action.ref] += 1
        self._rest[key] = actions[1:]
        return effect

    def end(self, effect: Effect) -> tuple[Action, ...]:
        """The effect has an outcome: release its key; returns what its decision still wanted."""
        assert self._in_flight.get(effect.key) == effect, "an effect ends once"
        del self._in_flight[effect.key]
        ref = effect.action.ref
        self._about[ref] -= 1
        if not self._about[ref]:
            del self._about[ref]
            self._missed.pop(ref, None)
        return self._rest.pop(effect.key)

    def misses(self, ref: Ref, uid: str = ANYBODY) -> None:
        """This object went, or is in no list: whoever is asked about it now has maybe seen it before that."""
        if ref in self._about:
            self._missed.setdefault(ref, set()).add(uid)

    def has_missed(self, ref: Ref, uid: str = ANYBODY) -> bool:
        """Whether it went while an effect about it was in flight; to be asked before that one ends."""
        return uid in self._missed.get(ref, ())

    def asked_about(self, kind: Kind, cluster: str) -> list[Ref]:
        """The objects of this kind that effects in flight are about."""
        return [ref for ref in self._about if (ref.kind, ref.cluster) == (kind, cluster)]

    def doubt(self, key: Key) -> Confirm | None:
        """The live read that an unknown outcome, or a view proven old, demands before anything else."""
        ref = self._doubts.get(key)
        return Confirm(ref) if ref else None

    def trouble(self, key: Key) -> Trouble | None:
        return self._troubles.get(key)

    def forget_trouble(self, key: Key) -> None:
        """The key wants nothing any more: the next failure is the first one again."""
        self._troubles.pop(key, None)
        self._repeats.pop(key, None)
        self._rounds.pop(key, None)

    def waits_until(self, key: Key, now: Now) -> Mono | None:
        """When the key may be looked at again, if not now: after a failure, or after acting in vain."""
        waits = [found.until for found in (self._troubles.get(key), self._repeats.get(key)) if found]
        later = [until for until in waits if now.mono < until]
        return max(later) if later else None

    def went_well(self, effect: Effect, now: Now) -> None:
        self._count_repeats(effect, now)
        if self._doubts.get(effect.key) == effect.action.ref:
            del self._doubts[effect.key]
        if not isinstance(effect.action, READS):
            self._troubles.pop(effect.key, None)

    def _count_repeats(self, effect: Effect, now: Now) -> None:
        """An action that is wanted again and again although it was done each time is slowed down, whoever is wrong."""
        before = self._repeats.get(effect.key)
        is_same = before and (before.kind, before.ref) == (type(effect.action), effect.action.ref)
        times = before.times + 1 if before and is_same else 1
        wait = max(growing(times - PATIENCE) if times > PATIENCE else 0, self._count_rounds(effect, now))
        until = Mono(now.mono.ms + wait)
        self._repeats[effect.key] = Repeats(type(effect.action), effect.action.ref, times, until)

    def _count_rounds(self, effect: Effect, now: Now) -> int:
        """How long to wait because a key goes round in circles, in milliseconds.

        A flow looks at the same object before each of its steps, but not many times in a moment: what it does then it
        does in vain. So where answers are older than what we know, and are ignored (a restored etcd).
        """
        rounds = self._rounds.setdefault(effect.key, {})
        act = (type(effect.action), effect.action.ref)
        before = rounds.get(act)
        times = before.times + 1 if before and now.mono < before.until + MOMENT else 1
        wait = growing(times - ROUNDS) if times > ROUNDS else 0
        rounds[act] = Repeats(*act, times, Mono(now.mono.ms + wait))
        return wait

    def went_wrong(self, effect: Effect, outcome: Outcome, now: Now) -> Trouble:
        """Remember the failure and how long to wait: longer each time, with a jitter from the seeded bits.

        What was done before it was not in vain: a read that is slowed down beside the failure would be old again
        whenever it comes to the act.
        """
        assert isinstance(outcome, Failed | Unknown)
        self._repeats.pop(effect.key, None)
        self._rounds.pop(effect.key, None)
        if (isinstance(outcome, Unknown) or outcome.conflict) and not isinstance(effect.action, REPEATABLE):
            self._doubts[effect.key] = effect.action.ref
        before = self._troubles.get(effect.key)
        times = before.times + 1 if before and not is_next(before, effect.action) else 1
        trouble = Trouble(times, now.mono + pause(times, outcome, now.draw), effect, outcome)
        self._troubles[effect.key] = trouble
        return trouble


def is_next(before: Trouble, wanted: Action) -> bool:
    """Whether an action follows a write whose answer was lost, not a failed one.

    The doubt about it was settled by a live read, and something else is wanted now: it had been applied.
    """
    written = before.effect.action
    if not isinstance(before.outcome, Unknown) or isinstance(written, READS) or isinstance(wanted, READS):
        return False
    return (type(written), written.ref) != (type(wanted), wanted.ref)


def pause(times: int, outcome: Failed | Unknown, draw: int) -> Span:
    """How long to leave a key alone after its n-th failure in a row."""
    base = LASTING.ms if isinstance(outcome, Failed) and outcome.lasting else growing(times)
    wished = outcome.retry_after_ms if isinstance(outcome, Failed) else 0
    return Span(max(wished, base * (75 + draw % 51) // 100))


def growing(times: int) -> int:
    """Milliseconds that double with every time, up to a limit."""
    return min(BACKOFF_MAX.ms, BACKOFF_MIN.ms << min(times - 1, 20))
