"""Kernels that dump their memory (fault 46), and messages that somebody forges (race R39).

A server that panics with kdump enabled says every few seconds that it dumps, and boots when it has done so. Managers
hear it as `manager/kdumps.py` does: a datagram reaches whoever lives at that moment, and dies with that life.
"""

from __future__ import annotations

from functools import partial

from noderemedy.model.ids import NODE, ref
from noderemedy.model.kdump import KdumpSeen, kdump_ref
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Present
from noderemedy.model.time import Span
from noderemedy.sim.agenda import Agenda
from noderemedy.sim.process import Process
from noderemedy.sim.server import Kernel, Server

EVERY_MS = 10_000
SILENT_AFTER = Span.seconds(60)  # what comes after such a silence is another dump


class Dumps:
    """The messages of one cluster."""

    def __init__(self, agenda: Agenda, processes: list[Process]) -> None:
        self.agenda = agenda
        self.processes = processes
        self.is_over = False

    def dump(self, server: Server, lasts_ms: int) -> None:
        """The kernel of a server panics, dumps, and boots."""
        server.panic()
        if server.kernel is Kernel.PANICKED:
            self._go_on(server, server.boots, self.agenda.now_ms + lasts_ms)

    def _go_on(self, server: Server, boots: int, until_ms: int) -> None:
        is_dumping = server.has_power and server.kernel is Kernel.PANICKED and server.boots == boots
        if not is_dumping:
            return
        if self.agenda.now_ms >= until_ms:
            if not server.is_broken:
                server.booted()
            return
        self.tell(server.name)
        self.agenda.after(EVERY_MS, partial(self._go_on, server, boots, until_ms))

    def forge(self, node: str, until_ms: int) -> None:
        """Somebody sends the messages of a node, whatever it does."""
        if self.agenda.now_ms < until_ms and not self.is_over:
            self.tell(node)
            self.agenda.after(EVERY_MS, partial(self.forge, node, until_ms))

    def tell(self, node: str) -> None:
        """One message. Whoever does not run misses it, and of a node that nobody knows nothing is remembered."""
        at = ref(NODE, node)
        for process in self.processes:
            if not process.is_alive or process.is_paused or not isinstance(process.engine.cache.read(at), Present):
                continue
            now, known = process.now(), process.engine.cache.read(kdump_ref(at))
            first = now.mono
            if isinstance(known, Present) and now.mono.since(known.obj.last) <= SILENT_AFTER:
                first = known.obj.first
            process.engine.seen(Seen(kdump_ref(at), "", "", KdumpSeen(at, first, now.mono)), now)
            process.soon()
