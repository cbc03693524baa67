"""From the address that sent a kdump message to the Node that has it: enters `KdumpSeen` beside that Node.

Called by the listener. An address that no Node has, or more than one, tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.drivers.clock import Clock
from noderemedy.drivers.logs import Log
from noderemedy.engine.loop import Engine
from noderemedy.model.ids import NODE, Ref
from noderemedy.model.kdump import KdumpSeen, kdump_ref
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Present
from noderemedy.model.time import Span

SILENT_AFTER = Span.seconds(60)  # what comes after such a silence is another dump
REPEAT = Span.seconds(8)  # messages come every ten seconds: no more of them needs to wake anybody


class Kdumps:
    """What was heard, by node."""

    def __init__(self, engine: Engine, clock: Clock, log: Log, poke: Callable[[], None]) -> None:
        self._engine = engine
        self._clock = clock
        self._log = log
        self._poke = poke
        self._seen: dict[Ref, KdumpSeen] = {}

    def heard(self, address: str) -> None:
        """A message came from this address."""
        nodes = self._nodes_at(address)
        if len(nodes) != 1:
            self._log.warning("kdump message from nobody we know", address=address, nodes=len(nodes))
            return
        now, known = self._clock.now(), self._seen.get(nodes[0])
        if known is not None and now.mono.since(known.last) < REPEAT:
            return
        goes_on = known is not None and now.mono.since(known.last) <= SILENT_AFTER
        seen = KdumpSeen(nodes[0], known.first if known and goes_on else now.mono, now.mono)
        if not goes_on:
            self._log.info("a kernel dump begins", node=nodes[0].name, address=address)
        self._seen[nodes[0]] = seen
        self._engine.seen(Seen(kdump_ref(nodes[0]), "", "", seen), now)
        self._poke()

    def _nodes_at(self, address: str) -> list[Ref]:
        """A walk over all Nodes: the listener lets few messages through."""
        cache = self._engine.cache
        entries = [(ref, cache.read(ref)) for ref in cache.refs_of(NODE)]
        return [ref for ref, entry in entries if isinstance(entry, Present) and address in entry.obj.addresses]
