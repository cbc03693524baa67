"""What the API said last, object by object, and incremental indexes over it. Implements `Reader`.

Called by the loop for every event. Work per event is constant: the entry, and the index values of that one object.
Only typed projections are kept; the resourceVersion lives in the entry, so that a heartbeat equals what is there.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec.structs import replace

from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Absent, Entry, Index, Present, Unreadable, Unseen, known
from noderemedy.model.time import Mono

UNSEEN = Unseen()
ABSENT = Absent()
# Of an index: value -> the only object that has it, or all of them. Most values are had by one object only, and a
# dictionary for each would be a third of the memory of a node.
_Found = dict[str, Ref | dict[Ref, None]]
NOTHING_FOUND: _Found = {}
ABSENT_MAX = 1_000  # live-read absences that are kept: they matter for seconds only


class Cache:
    """Objects by Ref, which kinds are complete, and the indexes that rooms declared."""

    def __init__(self, indexes: tuple[Index, ...]) -> None:
        self._entries: dict[Ref, Present | Unreadable] = {}
        self._absent: dict[Ref, Absent] = {}
        self._complete: set[tuple[str, Kind]] = set()
        self._listing: dict[tuple[str, Kind], set[Ref]] = {}
        self._held: dict[tuple[str, Kind], dict[Ref, Seen | Unreadable]] = {}  # of lists that are made again
        self._indexes: dict[Kind, list[Index]] = {}
        self._found: dict[str, _Found] = {index.name: {} for index in indexes}
        for index in indexes:
            self._indexes.setdefault(index.kind, []).append(index)

    # --- reading -----------------------------------------------------------------------------------------------

    def read(self, ref: Ref) -> Entry:
        if ref.cluster and ref.kind.group != FACTS and (ref.cluster, ref.kind) not in self._complete:
            return UNSEEN  # another cluster that is away stops nobody: only what it has cannot be seen
        entry = self._entries.get(ref)
        if entry is not None:
            return entry
        absent = self._absent.get(ref)
        if absent is not None:
            return absent
        cluster = "" if ref.kind.group == FACTS else ref.cluster  # we derive the facts of all clusters
        return ABSENT if (cluster, ref.kind) in self._complete else UNSEEN

    def find(self, index: str, value: str) -> tuple[Ref, ...]:
        found = self._found.get(index, NOTHING_FOUND).get(value)
        if found is None:
            return ()  # what most questions are answered with
        return (found,) if isinstance(found, Ref) else tuple(sorted(found))

    def tally(self, index: str, value: str) -> int:
        """How many objects `find` would give, without looking at them."""
        found = self._found.get(index, NOTHING_FOUND).get(value)
        return 1 if isinstance(found, Ref) else len(found or ())

    def has(self, index: str) -> bool:
        """Whether any object is found by this index at all. Where none is, most events concern nobody."""
        return bool(self._found.get(index))

    def is_complete(self, kind: Kind, cluster: str = "") -> bool:
        return (cluster, kind) in self._complete

    def are_complete(self, places: frozenset[tuple[str, Kind]]) -> bool:
        """Whether all of these kinds of clusters are."""
        return places <= self._complete

    def is_set_aside(self, ref: Ref) -> bool:
        """Whether this object is there and cannot be read."""
        return isinstance(self._entries.get(ref), Unreadable)

    def __len__(self) -> int:
        """How many objects can be read, facts included."""
        return sum(isinstance(entry, Present) for entry in self._entries.values())

    def count_kinds(self) -> tuple[Counter[Kind], Counter[Kind]]:
        """How many objects of each kind can be read, and how many cannot. For metrics; walks the cache."""
        unreadable = Counter(ref.kind for ref, entry in self._entries.items() if isinstance(entry, Unreadable))
        return Counter(ref.kind for ref in self._entries) - unreadable, unreadable

    def refs(self) -> list[Ref]:
        """All objects that can be read."""
        return sorted(ref for ref, entry in self._entries.items() if isinstance(entry, Present))

    def entries(self) -> list[tuple[Ref, Present | Unreadable]]:
        """All there is, in the order in which it came."""
        return list(self._entries.items())

    def refs_of(self, kind: Kind) -> list[Ref]:
        """All objects of a kind, readable or not. Walks the cache."""
        return sorted(ref for ref in self._entries if ref.kind == kind)

    # --- writing -----------------------------------------------------------------------------------------------

    def put(self, seen: Seen, now: Mono, *, confirmed_at: Mono | None = None) -> tuple[Any, bool]:
        """Remember an object; returns what was there before, and whether anything changed that a room could see.

        A watch may lag behind a live read, and a live read may be answered late. What is older than what we have
        is ignored, or it would pass for confirmed (invariant S9), also if it is about a former object of that name.
        Only a list may go back in time (a restored etcd), and then it is confirmed no more.
        """
        ref = seen.ref
        is_listed = confirmed_at is None and self._note_listed(ref)
        entry = self._entries.get(ref)
        old = entry if isinstance(entry, Present) else None
        is_same = old is not None and old.obj.uid == seen.uid
        if old is not None and is_same and confirmed_at is None and old.resource_version == seen.resource_version != "":
            return old.obj, False  # what a list mostly says: all as it was; facts have no version
        is_older = self._is_older(ref, seen.resource_version)
        if is_older and not is_listed:
            return (old.obj if old else None), False
        self._absent.pop(ref, None)
        if confirmed_at is not None and self._held:
            self._outrun(ref, seen.resource_version)
        if confirmed_at is None and old is not None and is_same and not is_older:
            confirmed_at = old.confirmed_at
        obj = old.obj if old is not None and (old.obj is seen.obj or old.obj == seen.obj) else seen.obj
        first_seen = old.first_seen if old is not None and is_same else now
        changed_at = old.changed_at if old is not None and obj is old.obj else now
        self._entries[ref] = Present(obj, seen.resource_version, first_seen, confirmed_at, changed_at, seen.stamp)
        if old is not None and obj is old.obj:
            return old.obj, False
        self._reindex(ref, known(entry) if entry is not None else None, obj)
        return (old.obj if old else None), True

    def renew(self, seen: Seen) -> bool:
        """Remember the new version of what is known already, the very object; False: it takes a `put`."""
        entry = self._entries.get(seen.ref)
        if not isinstance(entry, Present) or entry.obj is not seen.obj or self._listing:
            return False
        version = seen.resource_version
        if not precedes(version, entry.resource_version):
            times = (entry.first_seen, entry.confirmed_at, entry.changed_at)
            self._entries[seen.ref] = Present(entry.obj, version, *times, seen.stamp)
        return True

    def set_aside(self, ref: Ref, unreadable: Unreadable) -> bool:
        """Remember that an object is there and cannot be read; returns whether that is news.

        As with `put`, what is older than what we have counts only in a list. It is found as it was: a Machine that
        cannot be read is still that of its node, and counts.
        """
        is_listed = self._note_listed(ref)
        if self._is_older(ref, unreadable.resource_version) and not is_listed:
            return False
        old = self._entries.get(ref)
        self._absent.pop(ref, None)
        last = known(old) if old is not None else None
        if last is not None and last.uid != unreadable.uid:  # a former object of that name
            self._reindex(ref, last, None)
            last = None
        self._entries[ref] = replace(unreadable, last=last)
        return not isinstance(old, Unreadable) or (old.uid, old.problem) != (unreadable.uid, unreadable.problem)

    def _note_listed(self, ref: Ref) -> bool:
        """Whether a list of this kind runs; if so, it has named this object."""
        named = self._listing.get((ref.cluster, ref.kind)) if self._listing else None
        if named is None:
            return False
        named.add(ref)
        return True

    def _is_older(self, ref: Ref, version: str) -> bool:
        entry = self._entries.get(ref)
        return entry is not None and precedes(version, entry.resource_version)

    def drop(self, ref: Ref, *, confirmed_at: Mono | None = None) -> Any:
        """Forget an object; returns what was there before. A live read makes its absence a fact."""
        old = self._entries.pop(ref, None)
        if confirmed_at is not None:
            self._absent[ref] = Absent(confirmed_at)
            if len(self._absent) > ABSENT_MAX:
                del self._absent[next(iter(self._absent))]
        if old is not None and (last := known(old)) is not None:
            self._reindex(ref, last, None)
        return old.obj if isinstance(old, Present) else None

    def begin_list(self, cluster: str, kind: Kind) -> None:
        """A complete list of this kind begins: what it does not name is gone when it ends."""
        place = (cluster, kind)
        self._listing[place] = set()
        self._held.pop(place, None)
        if place in self._complete:
            self._held[place] = {}

    def hold_back(self, ref: Ref, found: Seen | Unreadable) -> bool:
        """Whether this waits for the end of its list, which is made again.

        Shares are counted over all objects of a kind: in half a list of silent nodes few are sick, and gates that the
        whole list closes stand open. So what is old and whole is seen until all of it is new. That costs the memory of
        what has changed, and one long turn at the end; to decide nothing meanwhile would stop all repairs for as long
        as a slow API needs, and those of all clusters for one of them.
        """
        held = self._held.get((ref.cluster, ref.kind)) if self._held else None
        if held is None:
            return False
        entry = self._entries.get(ref)
        if isinstance(found, Seen) and isinstance(entry, Present) and entry.obj is found.obj:
            return False  # what most of a list is: nothing that anybody could see
        held[ref] = found
        return True

    def _outrun(self, ref: Ref, version: str) -> None:
        """A live read showed this version: what a list held of the object before counts no more."""
        place = (ref.cluster, ref.kind)
        held = self._held.get(place, {})
        if ref in held and not precedes(version, held[ref].resource_version):
            del held[ref]
            self._listing[place].add(ref)

    def take_held(self, cluster: str, kind: Kind) -> list[tuple[Ref, Seen | Unreadable]]:
        """All that the list brought, for the loop to enter before the list ends."""
        return list(self._held.pop((cluster, kind), {}).items())

    def end_list(self, cluster: str, kind: Kind) -> list[Ref]:
        """The list is complete; returns what was not in it, for the loop to drop.

        That includes what a live read showed while the list ran: the watch goes on from the version of the list,
        and would never tell of a deletion between the two. What is newer than the list comes again as an event.
        """
        self._complete.add((cluster, kind))
        named = self._listing.pop((cluster, kind), None)
        if named is None:
            return []
        return sorted(ref for ref in self._entries if (ref.cluster, ref.kind) == (cluster, kind) and ref not in named)

    def forget_complete(self, cluster: str, kind: Kind) -> bool:
        """We can no longer see this kind: what we have of it is old, and absence means nothing. Whether we could."""
        was_complete = (cluster, kind) in self._complete
        self._complete.discard((cluster, kind))
        return was_complete

    def _reindex(self, ref: Ref, old: Any, new: Any) -> None:
        for index in self._indexes.get(ref.kind, ()):
            before = index.of(ref, old) if old is not None else ()
            after = index.of(ref, new) if new is not None else ()
            if before == after:
                continue
            found = self._found[index.name]
            for value in before:
                _forget(found, value, ref)
            for value in after:
                _note(found, value, ref)


def _note(found: _Found, value: str, ref: Ref) -> None:
    others = found.get(value)
    if others is None or others == ref:
        found[value] = ref
    elif isinstance(others, Ref):
        found[value] = {others: None, ref: None}
    else:
        others[ref] = None


def _forget(found: _Found, value: str, ref: Ref) -> None:
    others = found.get(value)
    if isinstance(others, dict):
        others.pop(ref, None)
    if not others or others == ref:
        found.pop(value, None)


def precedes(one: str, other: str) -> bool:
    """Whether one resourceVersion is older than another; False where they cannot be compared.

    Compared as digits, not as numbers: Python refuses to read very long ones, and reads digits of all alphabets.
    """
    is_less = one < other if len(one) == len(other) else len(one) < len(other)
    return is_less and _is_number(one) and _is_number(other)


def _is_number(version: str) -> bool:
    return version.isascii() and version.isdigit() and not version.startswith("0")
