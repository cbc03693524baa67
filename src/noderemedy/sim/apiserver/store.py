"""The store: objects by kind and key, one revision counter, the history of changes, and who is told.

It knows nothing of HTTP, validation or deletion rules. Everything that is written passes `commit`.
Rule 1: a change is told to every listener before the next change is told to any (also when a listener
writes), so that all see the same order.
Rule 2: history answers questions about the past until it is compacted; then it says so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from itertools import islice

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.types import Change, EventType, Key, Subscription, Tree

HISTORY_MAX = 10_000
"""Changes of one kind that are kept without being asked to; a busy real server keeps about as many."""

Listener = Callable[[Change], None]


class Collection:
    """All objects of one kind, with their past."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.objects: dict[Key, Tree] = {}
        self.history: deque[Change] = deque()
        self.listeners: list[Listener] = []
        self._sorted: list[Key] | None = []

    def sorted_keys(self) -> list[Key]:
        """Keys in the order of lists: as etcd sorts them."""
        if self._sorted is None:
            self._sorted = sorted(self.objects, key=lambda key: f"{key[0]}/{key[1]}")
        return self._sorted

    def put(self, key: Key, tree: Tree) -> None:
        if key not in self.objects:
            self._sorted = None
        self.objects[key] = tree

    def drop(self, key: Key) -> None:
        del self.objects[key]
        self._sorted = None


class Store:
    """Collections of all kinds under one revision counter."""

    def __init__(self) -> None:
        self.revision = 1
        self.oldest = 0
        self.history_max = HISTORY_MAX
        self.collections: dict[Kind, Collection] = {}
        self.observers: list[Listener] = []
        self._untold: deque[Change] = deque()
        self._is_telling = False

    def collection(self, kind: Kind) -> Collection:
        found = self.collections.get(kind)
        if found is None:
            found = self.collections[kind] = Collection(kind)
        return found

    def next_revision(self) -> int:
        self.revision += 1
        return self.revision

    def commit(self, change: Change) -> None:
        """Make a change true, remember it, and tell everybody who listens."""
        collection = self.collection(change.kind)
        if change.type == "DELETED":
            collection.drop(change.key)
        else:
            collection.put(change.key, change.new)
        collection.history.append(change)
        if len(collection.history) > self.history_max:
            self._forget_some(collection)
        for observer in self.observers:
            observer(change)
        if collection.listeners:
            self._tell(change)

    def _forget_some(self, collection: Collection) -> None:
        for _ in range(len(collection.history) // 2):
            self.oldest = max(self.oldest, collection.history.popleft().revision)

    def _tell(self, change: Change) -> None:
        self._untold.append(change)
        if self._is_telling:
            return
        self._is_telling = True
        try:
            while self._untold:
                told = self._untold.popleft()
                for listener in tuple(self.collection(told.kind).listeners):
                    listener(told)
        finally:
            self._is_telling = False

    def listen(self, kind: Kind, listener: Listener) -> Subscription:
        """Be told of every change of a kind from now on."""
        listeners = self.collection(kind).listeners
        listeners.append(listener)
        return Subscription(lambda: listeners.remove(listener))

    def since(self, kind: Kind, revision: int) -> list[Change]:
        """The changes of a kind after a revision; 410 if they are forgotten."""
        self.check_remembered(revision)
        history = self.collection(kind).history
        first = bisect_right(history, revision, key=_revision)
        return list(islice(history, first, None))

    def state_at(self, kind: Kind, revision: int) -> dict[Key, Tree]:
        """The objects of a kind as they were at a revision; 410 if that is forgotten."""
        self.check_remembered(revision)
        collection = self.collection(kind)
        found = dict(collection.objects)
        for change in reversed(collection.history):
            if change.revision <= revision:
                break
            if change.old is None:
                found.pop(change.key, None)
            else:
                found[change.key] = change.old
        return found

    def check_remembered(self, revision: int) -> None:
        if revision < self.oldest:
            raise errors.too_old(revision, self.oldest)

    def compact(self, revision: int) -> None:
        """Forget the past before a revision, as etcd does every few minutes."""
        self.oldest = max(self.oldest, min(revision, self.revision))
        for collection in self.collections.values():
            while collection.history and collection.history[0].revision <= self.oldest:
                collection.history.popleft()


def _revision(change: Change) -> int:
    return change.revision


def stamped(tree: Tree, revision: int) -> Tree:
    """The tree with a resourceVersion; the rest is shared."""
    return {**tree, "metadata": {**tree["metadata"], "resourceVersion": str(revision)}}


def change_of(kind: Kind, key: Key, revision: int, old: Tree | None, new: Tree | None) -> Change:
    """Describe a write by its two ends."""
    type_: EventType = "ADDED" if old is None else "MODIFIED" if new is not None else "DELETED"
    tree = new if new is not None else stamped(old or {}, revision)
    return Change(revision, type_, kind, key, old, tree)
