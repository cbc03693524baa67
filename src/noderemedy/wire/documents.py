"""ConfigMaps that carry a Configuration: which ones do, what their annotations say, and how a good one is kept.

Called for every ConfigMap of our namespace. One is ours by its label, or because its `config.yaml` says so. The last
good text of each is kept in a ConfigMap beside it, which goes with it: a broken document survives a restart, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from noderemedy.model.actions import KeepDocument
from noderemedy.model.configuration import Configuration, Document
from noderemedy.model.meta import Malformed
from noderemedy.wire import names, shapes, verbs
from noderemedy.wire.configuration import KEY, is_meant, read_configuration
from noderemedy.wire.http import Request, Resource
from noderemedy.wire.scalars import read_pause, wall

WORDS = {names.MODE: "observe", names.APPROVAL: "required"}


def read_document(meta: shapes.DatedMetadata, data: Mapping[str, str]) -> Document | None:
    """The Configuration of a ConfigMap, and what its annotations say about it; None: it has none."""
    text, notes = data.get(KEY), meta.annotations or {}
    if text is None or not (names.CONFIGURATION in (meta.labels or {}) or is_meant(text)):
        return None
    read = read_configuration(text)
    wrong = tuple(
        f"metadata.annotations[{name}]: {notes[name][:60]!r} cannot be read; write {word}, or remove it"
        for name, word in WORDS.items()
        if notes.get(name, word) != word
    )
    paused = read_pause(notes[names.PAUSED]) if names.PAUSED in notes else None
    if isinstance(paused, Malformed):
        wrong = (*wrong, f"metadata.annotations[{names.PAUSED}]: {paused.problem}")
    return Document(
        configuration=with_problems(read, wrong),
        text=text,
        paused=paused,
        observes_only=names.MODE in notes,
        needs_approval=names.APPROVAL in notes,
        created=wall(meta.creation_timestamp) if meta.creation_timestamp else None,
        deleting=meta.deletion_timestamp is not None,
        kept_for=notes.get(names.LAST_GOOD_OF, ""),
    )


def with_problems(read: Configuration, wrong: tuple[str, ...]) -> Configuration:
    return replace(read, problems=(*read.problems, *wrong)) if wrong else read


def keep_document(action: KeepDocument, resource: Resource) -> Request:
    """The text beside its ConfigMap, owned by it: when that goes, this goes, too."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": action.owner, "uid": action.owner_uid}
    metadata = {"annotations": {names.LAST_GOOD_OF: action.owner_uid}, "ownerReferences": [owner]}
    ref, data = action.ref, {KEY: action.document.text}
    if action.guard is None:
        named = {"name": ref.name, "namespace": ref.namespace, **metadata}
        tree = {"apiVersion": resource.api_version, "kind": "ConfigMap", "metadata": named, "data": data}
        return verbs.create(resource, tree, ref.namespace)
    guarded = {"uid": action.guard.uid, "resourceVersion": action.guard.resource_version, **metadata}
    return verbs.merge_patch(resource, ref.name, {"metadata": guarded, "data": data}, ref.namespace)
