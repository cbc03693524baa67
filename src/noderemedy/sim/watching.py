"""One watch of a simulated manager: a list, then events in order, each later than it happened.

Streams of different kinds lag independently (fault 5), skip states (6), end with 410 (7), fall silent (4), break where
no bookmark says how far they had come (9), or come from a server that is behind (8). A kind whose definition is deleted
is looked for until it is there again (15), and one that may not be seen is asked for until it may (13, 14). Within one
stream order is kept: that much a real API server promises.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from typing import Protocol

from noderemedy.model.ids import Kind
from noderemedy.rooms import NARROWED
from noderemedy.sim.agenda import Agenda, Appointment
from noderemedy.sim.apiserver import ApiServer, Subscription, Tree, WatchEvent
from noderemedy.sim.pages import Pages, Reader
from noderemedy.sim.weather import Stream, Weather, within

AGAIN_MS = 5_000  # a list that is not answered is asked for again
LOOK_AGAIN_MS = 30_000  # a kind that is not served is looked for
REFUSED = "list refused"
BEHIND = 200  # writes that a lagging server may not have seen yet


class Listener(Protocol):
    """The process that reads this watch."""

    met: Counter[str]  # the weather that it was out in
    outlived: Counter[str]  # the same, once something was heard again

    def on_list(self, kind: Kind, trees: list[WatchEvent]) -> None: ...

    def on_event(self, kind: Kind, event: WatchEvent) -> None: ...

    def on_missing(self, kind: Kind) -> None: ...

    def on_refused(self, kind: Kind) -> None: ...


class Watch:
    """A list-and-watch loop for one kind."""

    def __init__(
        self,
        kind: Kind,
        api: ApiServer,
        agenda: Agenda,
        weather: Weather,
        chance: random.Random,
        reader: Listener,
        pages: tuple[Pages, Reader] | None = None,
    ) -> None:
        self.kind = kind
        self.namespace = NARROWED.get(kind, "")
        self.api = api
        self.agenda = agenda
        self.weather = weather
        self.chance = chance
        self.reader = reader
        self.pages = pages
        self.relists = 0
        self._subscription: Subscription | None = None
        self._queue: deque[WatchEvent] = deque()
        self._planned: Appointment | None = None
        self._lag_ms = 0
        self._is_silent = False
        self._is_missed = False
        self._is_refused = False
        self.is_listed = False
        self.has_come = False  # whole or in part
        self._hurt: list[str] = []  # what it has met since it was last heard
        self._version = 0  # how far we have come, as far as events have told
        self.relist()

    def relist(self) -> None:
        """Start over. The list may be answered by a server that is behind."""
        self.close()
        if self.weather.is_cut:
            self._is_silent = True
            self._planned = self.agenda.after(AGAIN_MS, self.relist)
            return
        if self.api.resources.find(self.kind) is None:
            self._look_for_kind()
            return
        if self.kind in self.weather.refused:
            self._ask_again()
            return
        self.relists += 1
        self._is_missed = self._is_refused = self.is_listed = False
        self._version = self.api.store.revision
        behind = self.weather.stream(self.chance) is Stream.LAGGING
        self._lag_ms = within(self.weather.lag, self.chance) if behind else 0
        trees = self._trees_of_the_past() if behind else self.api.list(self.kind, self.namespace)
        listed = [WatchEvent("ADDED", tree) for tree in trees]
        self._subscription = self.api.subscribe(self.kind, self._happened, on_end=self.relist)
        delay = within(self.weather.latency, self.chance)
        self._planned = self.agenda.after(delay, lambda: self._deliver_list(listed))

    def _ask_again(self) -> None:
        """Faults 13, 14: the list is refused, and asked for again until it is granted."""
        self._is_silent = True
        if not self._is_refused:
            self._is_refused = True
            self.reader.met[REFUSED] += 1
            self._hurt.append(REFUSED)
            self.reader.on_refused(self.kind)
        self._planned = self.agenda.after(AGAIN_MS, self.relist)

    def _look_for_kind(self) -> None:
        """Fault 15: discovery finds nothing, and is asked again."""
        if not self._is_missed:
            self._is_missed = True
            self.reader.on_missing(self.kind)
        self._planned = self.agenda.after(LOOK_AGAIN_MS, self.relist)

    def _trees_of_the_past(self) -> list[Tree]:
        """Fault 8: this server is behind. Time goes back for the reader, and catches up event by event."""
        store = self.api.store
        revision = max(store.oldest, store.revision - self.chance.randrange(BEHIND))
        self._version = revision
        for change in store.since(self.kind, revision):
            if self._is_ours(change.new):
                self._queue.append(WatchEvent(change.type, change.new))
        return [tree for tree in store.state_at(self.kind, revision).values() if self._is_ours(tree)]

    def _is_ours(self, tree: Tree) -> bool:
        """Whether we watch the namespace of this object."""
        return not self.namespace or tree["metadata"].get("namespace") == self.namespace

    def close(self) -> None:
        if self._subscription:
            self._subscription.close()
        if self._planned:
            self._planned.cancel()
            self._planned = None
        self._queue.clear()
        self._is_silent = False

    def _deliver_list(self, listed: list[WatchEvent]) -> None:
        pages = self.pages[0].split(listed) if self.pages else []
        if self.pages and len(pages) > 1:
            self.pages[1].on_listing(self.kind)
            self._deliver_page(*self.pages, pages)
            return
        self._planned = None
        self.is_listed = self.has_come = True
        self._heard()
        self.reader.on_list(self.kind, listed)
        self._plan()

    def _deliver_page(self, pages: Pages, reader: Reader, left: list[list[WatchEvent]]) -> None:
        """One page, and the next one later: a list that is broken off on its way is begun anew."""
        self._planned = None
        self.has_come = True
        reader.on_page(self.kind, left[0])
        if left[1:]:
            self._planned = self.agenda.after(pages.pause_ms(), lambda: self._deliver_page(pages, reader, left[1:]))
            return
        self.is_listed = True
        self.reader.met["list in pages"] += 1
        self._heard()
        reader.on_listed(self.kind)
        self._plan()

    def _happened(self, event: WatchEvent) -> None:
        """Something changed at the server: it travels to us, or does not."""
        if self._is_silent or not self._is_ours(event.tree):
            return
        if self.weather.is_cut or self.kind in self.weather.refused:
            self.relist()
            return
        fate = self.weather.stream(self.chance)
        self.reader.met[str(fate)] += 1
        if fate is not Stream.FINE:
            self._hurt.append(str(fate))
        if fate is Stream.GONE:
            self.expire()
            return
        if fate is Stream.SILENT:
            self._is_silent = True
            self.agenda.after(self.weather.silence, self._notice_silence)
            return
        if fate is Stream.UNMARKED:
            self.break_off()
            return
        if fate is Stream.LAGGING:
            self._lag_ms = within(self.weather.lag, self.chance)
        if fate is Stream.COALESCED and event.type == "MODIFIED":
            self._forget_earlier(event)
        self._queue.append(event)
        self._plan()

    def expire(self) -> None:
        """Fault 7: the server has forgotten where we were (410)."""
        self._hurt.append(f"410 of {self.kind}")
        self.reader.met[f"410 of {self.kind}"] += 1
        self.relist()

    def _heard(self) -> None:
        if self._hurt:
            self.reader.outlived.update(self._hurt)
            self._hurt.clear()

    def _forget_earlier(self, event: WatchEvent) -> None:
        """Only states in between are skipped, never an addition or a deletion."""
        uid = event.tree["metadata"]["uid"]
        kept = [item for item in self._queue if item.type != "MODIFIED" or item.tree["metadata"]["uid"] != uid]
        self._queue = deque(kept)

    def _notice_silence(self) -> None:
        if self._is_silent:
            self.relist()

    def break_off(self) -> None:
        """Fault 9: what was on its way is lost, and no bookmark moved our version on."""
        if not self.is_listed:  # nobody goes on from a list that never came
            self.relist()
            return
        self._queue.clear()
        if self._planned:
            self._planned.cancel()
            self._planned = None
        self._is_silent = True
        self.agenda.after(self.weather.silence, self._go_on)

    def _go_on(self) -> None:
        """A new stream from the last event that we know of: all since then comes again, unless it is forgotten."""
        if not self._is_silent:
            return
        store = self.api.store
        if self._version < store.oldest or self.api.resources.find(self.kind) is None:
            self.relist()
            return
        self._is_silent = False
        changes = [change for change in store.since(self.kind, self._version) if self._is_ours(change.new)]
        self._queue.extend(WatchEvent(change.type, change.new) for change in changes)
        self._plan()

    def _plan(self) -> None:
        if self._planned is None and self._queue:
            delay = within(self.weather.watch_delay, self.chance) + self._lag_ms
            self._lag_ms = 0
            self._planned = self.agenda.after(delay, self._deliver)

    def _deliver(self) -> None:
        self._planned = None
        self._heard()
        queue, self._queue = self._queue, deque()
        for event in queue:
            self._version = max(self._version, int(event.tree["metadata"]["resourceVersion"]))
            self.reader.on_event(self.kind, event)
