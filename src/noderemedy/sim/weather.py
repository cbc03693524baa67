"""Faults between a manager process and the API, drawn from the seed. Numbers are those of the fault list.

`Weather` says how likely each is; `fate` draws what happens to one request, `stream` what happens to one watch event.
A fault is either in the network (nobody knows whether the write was applied) or the server's own answer.
"""

from __future__ import annotations

import random
from enum import Enum
from typing import TypeVar

from msgspec import Struct, structs

from noderemedy.model.ids import Kind

T = TypeVar("T")
USUAL_SIZE = 20


class Fate(Enum):
    """What becomes of one request."""

    FINE = "fine"
    CONFLICT = "conflict"  # 1: 409, not applied
    ANSWER_LOST = "answer lost"  # 2: applied, nobody hears of it
    TWICE = "twice"  # 3: a proxy sends it again
    TOO_MANY = "too many"  # 10: 429 with Retry-After
    BROKEN = "broken"  # 11: 500, not applied
    BROKEN_APPLIED = "broken applied"  # 11: 500, applied all the same
    NEVER_ARRIVED = "never arrived"  # 11: time-out, not applied
    DENIED = "denied"  # 12: an admission webhook says no
    FORBIDDEN = "forbidden"  # 13: rights were taken away
    UNAUTHORIZED = "unauthorized"  # 14: the token expired
    READ_ONLY = "read only"  # 19: etcd is over its quota: writes fail, reads work


class Stream(Enum):
    """What becomes of a watch when an event comes."""

    FINE = "fine"
    SILENT = "silent"  # 4: closed without a word
    GONE = "gone"  # 7: 410, list again
    UNMARKED = "unmarked"  # 9: no bookmark says how far it had come; it breaks, and goes on from its last event
    LAGGING = "lagging"  # 5, 8: this server is behind; other kinds are not
    COALESCED = "coalesced"  # 6: intermediate states are skipped


class Weather(Struct, frozen=True):
    """Probabilities per request and per event, and delays in milliseconds."""

    requests: tuple[tuple[Fate, float], ...] = ()
    streams: tuple[tuple[Stream, float], ...] = ()
    latency: tuple[int, int] = (5, 40)
    watch_delay: tuple[int, int] = (2, 50)
    lag: tuple[int, int] = (1_000, 30_000)
    time_out: int = 10_000
    silence: int = 70_000  # how long a silent watch goes unnoticed
    is_cut: bool = False  # 60: nothing comes through, no list and no watch
    refused: frozenset[Kind] = frozenset()  # 13, 14: kinds that may not be listed nor watched
    is_bad: bool = False  # worse than usual, for a while

    def over(self, nodes: int) -> Weather:
        """The same weather over a cluster of this size: watches break by the hour, not by the number of heartbeats."""
        share = min(1.0, USUAL_SIZE / nodes)
        return structs.replace(self, streams=tuple((what, odds * share) for what, odds in self.streams))

    def fate(self, chance: random.Random) -> Fate:
        return draw(self.requests, Fate.FINE, chance)

    def stream(self, chance: random.Random) -> Stream:
        return draw(self.streams, Stream.FINE, chance)


def within(bounds: tuple[int, int], chance: random.Random) -> int:
    """A number between the two, both included: `chance.randint` without its ceremony, and with the same draws."""
    low, high = bounds
    width = high - low + 1
    bits = width.bit_length()
    number = chance.getrandbits(bits)
    while number >= width:
        number = chance.getrandbits(bits)
    return low + number


def draw(odds: tuple[tuple[T, float], ...], otherwise: T, chance: random.Random) -> T:
    """One of the unlikely things, or else the usual one."""
    if not odds:
        return otherwise
    number = chance.random()
    for what, probability in odds:
        if number < probability:
            return what
        number -= probability
    return otherwise


CALM = Weather()
ROUGH = Weather(
    requests=(
        (Fate.CONFLICT, 0.04),
        (Fate.ANSWER_LOST, 0.04),
        (Fate.TWICE, 0.03),
        (Fate.TOO_MANY, 0.03),
        (Fate.BROKEN, 0.02),
        (Fate.BROKEN_APPLIED, 0.02),
        (Fate.NEVER_ARRIVED, 0.02),
        (Fate.DENIED, 0.01),
        (Fate.FORBIDDEN, 0.01),
        (Fate.UNAUTHORIZED, 0.01),
        (Fate.READ_ONLY, 0.01),
    ),
    streams=(
        (Stream.SILENT, 0.002),
        (Stream.GONE, 0.004),
        (Stream.UNMARKED, 0.002),
        (Stream.LAGGING, 0.01),
        (Stream.COALESCED, 0.05),
    ),
)
