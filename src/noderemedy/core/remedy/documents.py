"""The configuration room: one key per ConfigMap with a Configuration. States what it says, as a fact. Seed 002.

Hot reload: a document that cannot be understood says so, with its line, and the last good one goes on. That one is kept
in a ConfigMap beside it (`last-good-NAME`), written once per change, so that it survives a restart; whoever is not sure
that it belongs to this very ConfigMap does not use it. Annotations (pause, mode) count as they are now.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from noderemedy.core.remedy import facts
from noderemedy.core.remedy.facts import DocumentFact, document_ref
from noderemedy.model.actions import Guard, KeepDocument
from noderemedy.model.configuration import Document
from noderemedy.model.decision import NOTHING, Decision, Fact
from noderemedy.model.ids import CONFIG_MAP, SYSTEM, Ref
from noderemedy.model.nodeevents import INDEXES as EVENT_INDEXES
from noderemedy.model.nodeevents import EventsWanted, events_wanted_ref
from noderemedy.model.reasons import DocumentBroken, DocumentElsewhere, DocumentHint, KeepingDocument, Reason
from noderemedy.model.room import Absent, Entry, Present, Reader, Room, Stage, Unseen
from noderemedy.model.time import Now

PREFIX = "last-good-"
NAME_MAX = 253


class DocumentView(Struct, frozen=True):
    """A ConfigMap with a Configuration, and the last good one of it, as it is stored and as we know it."""

    at: Ref
    uid: str
    document: Document
    kept: Entry = Absent()
    known: DocumentFact | None = None

    @property
    def stored(self) -> Document | None:
        """The last good document of this very ConfigMap."""
        found = self.kept.obj.document if isinstance(self.kept, Present) else None
        is_own = isinstance(found, Document) and found.kept_for == self.uid and found.configuration.is_valid
        return found if is_own else None


def decide(view: DocumentView, now: Now) -> Decision:
    if view.at.namespace not in (SYSTEM, ""):  # a file may name none
        return Decision(because=(DocumentElsewhere(view.at.namespace, SYSTEM),))
    if view.document.deleting:
        return NOTHING
    read = view.document.configuration
    if not read.is_valid:
        return broken(view)
    hints: tuple[Reason, ...] = tuple(DocumentHint(hint) for hint in read.hints)
    keep = keeping(view)
    because = (KeepingDocument(kept_at(view.at).name), *hints) if keep else hints
    return Decision(keep, because, facts=facts_of(view, view.document, is_last_good=False))


def broken(view: DocumentView) -> Decision:
    """Say where the error is; the last good one, if there is one, goes on with the annotations of now."""
    good = view.stored or (view.known.document if view.known and view.known.owner_uid == view.uid else None)
    reason = DocumentBroken(view.document.configuration.trouble, good is not None)
    if good is None:
        return Decision(because=(reason,))
    document = replace(view.document, configuration=good.configuration, text=good.text)
    return Decision(because=(reason,), facts=facts_of(view, document, is_last_good=True))


def facts_of(view: DocumentView, document: Document, *, is_last_good: bool) -> tuple[Fact, ...]:
    """What the document says, and which events have to be watched for it."""
    stated = Fact(document_ref(view.at), DocumentFact(view.at, view.uid, document, is_last_good))
    reasons = document.configuration.event_reasons
    return (stated, Fact(events_wanted_ref(view.at), EventsWanted(reasons))) if reasons else (stated,)


def keeping(view: DocumentView) -> tuple[KeepDocument, ...]:
    """Write the text down where it is not yet; what cannot be seen is left alone."""
    if view.stored is not None and view.stored.text == view.document.text:
        return ()
    if not isinstance(view.kept, Present | Absent):
        return ()
    entry = view.kept
    guard = Guard(entry.obj.uid, entry.resource_version) if isinstance(entry, Present) else None
    return (KeepDocument(kept_at(view.at), guard, view.at.name, view.uid, view.document),)


def kept_at(config_map: Ref) -> Ref:
    return Ref("", CONFIG_MAP, config_map.namespace, f"{PREFIX}{config_map.name}"[:NAME_MAX])


# --- what it sees, and what wakes it -----------------------------------------------------------------------------


def sees(key: Ref, reader: Reader) -> DocumentView | None:
    entry = reader.read(key)
    if key.name.startswith(PREFIX) or not isinstance(entry, Present) or entry.obj.document is None:
        return None
    kept, known = reader.read(kept_at(key)), reader.read(document_ref(key))
    stated = known.obj if isinstance(known, Present) else None
    return DocumentView(key, entry.obj.uid, entry.obj.document, Unseen() if is_others(kept) else kept, stated)


def is_others(kept: Entry) -> bool:
    """A ConfigMap of that name which is not ours is never written to."""
    return isinstance(kept, Present) and not (kept.obj.document and kept.obj.document.kept_for)


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    if ref.name.startswith(PREFIX):
        return (ref, Ref(ref.cluster, ref.kind, ref.namespace, ref.name.removeprefix(PREFIX)))
    return (ref,) if obj is None or obj.document is not None else ()


ROOM = Room(
    name="configuration",
    watches=(CONFIG_MAP,),
    indexes=(*facts.INDEXES, *EVENT_INDEXES),
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset({KeepDocument}),
    stage=Stage.SPEC,
)
