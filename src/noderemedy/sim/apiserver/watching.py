"""Watches: what was, then what is, then every change, as the selector of the watcher sees it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.errors import ApiError
from noderemedy.sim.apiserver.events import shown
from noderemedy.sim.apiserver.listing import LIST_OPTIONS, Lists, Query, parse_revision
from noderemedy.sim.apiserver.selectors import Predicate
from noderemedy.sim.apiserver.store import Store, stamped
from noderemedy.sim.apiserver.types import (
    Change,
    EventType,
    ResourceType,
    Sink,
    Subscription,
    Tree,
    WatchEvent,
)

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Lens(Struct, frozen=True):
    """How a watcher looks at a kind."""

    resource: ResourceType
    version: str
    namespace: str
    predicate: Predicate | None

    def sees(self, tree: Tree | None) -> Tree | None:
        """The object as the watcher is shown it, or None if it does not match."""
        if tree is None:
            return None
        if self.namespace and tree["metadata"].get("namespace") != self.namespace:
            return None
        found = shown(self.resource, tree, self.version)
        return found if self.predicate is None or self.predicate(found) else None

    def event(self, change: Change) -> WatchEvent | None:
        """What a change means to this watcher: leaving the selector is a deletion."""
        old = self.sees(change.old)
        new = None if change.type == "DELETED" else self.sees(change.new)
        if change.type == "DELETED":
            return None if old is None else WatchEvent("DELETED", shown(self.resource, change.new, self.version))
        if new is None:
            return None if old is None else WatchEvent("DELETED", stamped(old, change.revision))
        type_: EventType = "ADDED" if old is None else "MODIFIED"
        return WatchEvent(type_, new)

    def bookmark(self, revision: int, is_end_of_initial: bool = False) -> WatchEvent:
        meta: Tree = {"resourceVersion": str(revision), "creationTimestamp": None}
        if is_end_of_initial:
            meta["annotations"] = {INITIAL_EVENTS_END: "true"}
        api_version = self.resource.api_version(self.version)
        tree = {"kind": self.resource.kind.kind, "apiVersion": api_version, "metadata": meta}
        return WatchEvent("BOOKMARK", tree)


class Watches:
    """Starts watches and remembers those that want bookmarks."""

    def __init__(self, store: Store, lists: Lists) -> None:
        self.store = store
        self.lists = lists
        self.says_gone_at_once = False
        self._bookmarked: list[tuple[Lens, Sink]] = []
        self._open: dict[Kind, list[Subscription]] = {}

    def watch(self, resource: ResourceType, version: str, namespace: str, query: Query, sink: Sink) -> Subscription:
        """Replay what the query asks for into the sink, then follow. A forgotten version is an ERROR event."""
        check_watch_options(query)
        predicate = self.lists.predicate(resource, query.get("labelSelector", ""), query.get("fieldSelector", ""))
        lens = Lens(resource, version, namespace, predicate)
        asked = parse_revision(query.get("resourceVersion", ""))
        try:
            past = self.initial_events(lens, asked, query)
        except ApiError as error:
            if self.says_gone_at_once or error.code != 410:
                raise
            sink(WatchEvent("ERROR", error.status()))
            return closed()
        return self._follow(lens, past, max(asked, self.store.revision), query, sink)

    def initial_events(self, lens: Lens, asked: int, query: Query) -> list[WatchEvent]:
        """What a watcher is told before the first live change."""
        initial = query.get("sendInitialEvents")
        if initial == "true" and asked > self.store.revision:
            raise errors.too_large(asked, self.store.revision)
        if initial == "true" or (initial is None and asked in (-1, 0)):
            found = self._present(lens)
            if initial == "true" and wants_bookmarks(query):
                found.append(lens.bookmark(self.store.revision, is_end_of_initial=True))
            return found
        if asked in (-1, 0):
            return []
        changes = self.changes_since(lens.resource, asked)
        return [event for change in changes if (event := lens.event(change)) is not None]

    def changes_since(self, resource: ResourceType, revision: int) -> list[Change]:
        """The remembered past after a revision; 410 if it is forgotten."""
        return self.store.since(resource.stored_kind, revision)

    def _present(self, lens: Lens) -> list[WatchEvent]:
        collection = self.store.collection(lens.resource.stored_kind)
        trees = [lens.sees(collection.objects[key]) for key in collection.sorted_keys()]
        return [WatchEvent("ADDED", tree) for tree in trees if tree is not None]

    def _follow(self, lens: Lens, past: list[WatchEvent], start: int, query: Query, sink: Sink) -> Subscription:
        """Changes up to `start` are in the past already, also those that are still being told to others."""
        is_open, kind = True, lens.resource.stored_kind

        def told(change: Change) -> None:
            if is_open and change.revision > start:
                event = lens.event(change)
                if event is not None:
                    sink(event)

        heard = self.store.listen(kind, told)
        entry = (lens, sink)

        def end() -> None:
            nonlocal is_open
            is_open = False
            heard.close()
            self._open[kind].remove(subscription)
            self._bookmarked = [one for one in self._bookmarked if one is not entry]

        if wants_bookmarks(query):
            self._bookmarked.append(entry)
        subscription = Subscription(end)
        self._open.setdefault(kind, []).append(subscription)
        for event in past:
            sink(event)
        return subscription

    def end_all(self, kind: Kind) -> None:
        """A kind is no longer served: end its watches, as a real server closes their streams."""
        for subscription in tuple(self._open.get(kind, ())):
            subscription.close()
            if subscription.on_end is not None:
                subscription.on_end()

    def bookmark(self) -> None:
        """Tell every watcher that asked for it how far the server is."""
        for lens, sink in tuple(self._bookmarked):
            sink(lens.bookmark(self.store.revision))

    def subscribe(self, resource: ResourceType, sink: Sink, on_end: Callable[[], None] | None = None) -> Subscription:
        """Every change of a kind from now on, with no selection at all.

        With `on_end` it ends with its kind, as a stream does; without, it outlives it: who looks on from outside.
        """
        start, kind = self.store.revision, resource.stored_kind

        def told(change: Change) -> None:
            if change.revision > start:
                sink(WatchEvent(change.type, change.new))

        heard = self.store.listen(kind, told)
        if on_end is None:
            return heard

        def end() -> None:
            heard.close()
            self._open[kind].remove(subscription)

        subscription = Subscription(end)
        subscription.on_end = on_end
        self._open.setdefault(kind, []).append(subscription)
        return subscription


def wants_bookmarks(query: Query) -> bool:
    return query.get("allowWatchBookmarks") in ("true", "1")


def closed() -> Subscription:
    """A watch that is over before it began."""
    found = Subscription(lambda: None)
    found.close()
    return found


def check_watch_options(query: Query) -> None:
    """sendInitialEvents and resourceVersionMatch come together or not at all."""
    initial, match = query.get("sendInitialEvents"), query.get("resourceVersionMatch", "")
    why = ""
    if initial is not None and match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
    elif initial is None and match:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
    if why:
        cause = errors.field_forbidden("resourceVersionMatch", why)
        message = f'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: {why}'
        raise ApiError(422, "Invalid", message, {**LIST_OPTIONS, "causes": [cause.tree()]})
