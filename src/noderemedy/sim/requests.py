"""Kinds that are known only from templates, followed by a simulated process: `manager/requests.py` in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from noderemedy.engine.loop import Engine
from noderemedy.model.ids import Kind
from noderemedy.model.request import Wanted
from noderemedy.model.time import Now
from noderemedy.rooms import watched
from noderemedy.sim.agenda import Agenda
from noderemedy.sim.watching import Watch
from noderemedy.sim.world import World
from noderemedy.wire.http import Resource

LOOK_AGAIN_MS = 30_000


class Follower(Protocol):
    """The process whose engine wants these kinds."""

    engine: Engine
    cluster: World
    agenda: Agenda
    resources: dict[Kind, Resource]

    def now(self) -> Now: ...

    def soon(self) -> None: ...

    def open_watch(self, kind: Kind) -> Watch: ...

    def alive_since(self) -> Callable[[], bool]: ...


class Requests:
    """What one life of a process follows because somebody wants it."""

    def __init__(self, process: Follower) -> None:
        self._process = process
        self._wanted: dict[Kind, Wanted] = {}
        self.watches: dict[Kind, Watch] = {}

    def adjust(self) -> None:
        """Begin to follow what is wanted now, and forget what is not any more."""
        found = self._process.engine.wanted
        if not found and not self._wanted:
            return  # as mostly: this is asked after every step
        wanted = {one.kind: one for one in found}
        if wanted.keys() == self._wanted.keys():
            return
        for kind in [known for known in self._wanted if known not in wanted]:
            del self._wanted[kind]
            if watch := self.watches.pop(kind, None):
                watch.close()
            self._process.engine.unfollowed(kind, self._process.now())
        for kind, one in wanted.items():
            if kind not in self._wanted:
                self._wanted[kind] = one
                self._locate(one)

    def is_ours(self, kind: Kind) -> bool:
        return kind in self.watches

    def _locate(self, wanted: Wanted) -> None:
        """What discovery finds: both kinds are there, or one is missing and looked for again."""
        process, api = self._process, self._process.cluster.api
        for kind in (wanted.template, wanted.kind):
            found = api.resources.find(kind)
            if found is None:
                process.engine.followed(wanted.kind, process.now(), missing=str(kind))
                self._look_again(wanted)
                process.soon()
                return
            process.resources[kind] = Resource(kind, found.version().name, found.plural, found.namespaced)
        if wanted.kind in watched():
            process.engine.followed(wanted.kind, process.now())
            process.soon()
        else:
            self.watches[wanted.kind] = process.open_watch(wanted.kind)

    def _look_again(self, wanted: Wanted) -> None:
        same = self._process.alive_since()

        def look() -> None:
            if same() and self._wanted.get(wanted.kind) is wanted:
                self._locate(wanted)

        self._process.agenda.after(LOOK_AGAIN_MS, look)
