"""Templates and requests of kinds that we know nothing about (seed 004): any `…Template` of any group.

Called by `objects.py` for every kind without a reader of its own. Of a request only the metadata is read; of a template
`spec.template`, which goes into the request as it is, except for what makes an object this very object.
"""

from __future__ import annotations

from typing import Any

import msgspec

from noderemedy.model.ids import Kind
from noderemedy.model.meta import Malformed
from noderemedy.model.request import ExternalRequest, Pairs, Template
from noderemedy.wire import names, shapes
from noderemedy.wire.scalars import wall

SUFFIX = "Template"
# Forced by us, or decided by the API server: what a template says about these does not go into a request.
OUTER = ("apiVersion", "kind", "metadata", "status")


def is_template(kind: Kind) -> bool:
    return kind.kind.endswith(SUFFIX)


def template(shape: shapes.TemplateShape) -> Template:
    uid = shape.metadata.uid
    found = shape.spec.get("template") if isinstance(shape.spec, dict) else None
    if found is None:
        return Template(uid)
    if not isinstance(found, dict):
        return Template(uid, Malformed("spec.template: expected an object"))
    meta = found.get("metadata")
    labels, notes = words(meta, "labels"), words(meta, "annotations")
    if isinstance(labels, Malformed):
        return Template(uid, labels)
    if isinstance(notes, Malformed):
        return Template(uid, notes)
    body = {key: value for key, value in found.items() if key not in OUTER}
    return Template(uid, msgspec.json.encode(body).decode(), labels, notes)


def words(meta: Any, name: str) -> Pairs | Malformed:
    """Labels or annotations out of a tree that nobody has checked."""
    found = meta.get(name) if isinstance(meta, dict) else None
    if found is None:
        return ()
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        return Malformed(f"spec.template.metadata.{name}: expected a map of strings")
    return tuple(sorted(found.items()))


def request(shape: shapes.DatedShape) -> ExternalRequest:
    meta = shape.metadata
    return ExternalRequest(
        uid=meta.uid,
        deleting=meta.deletion_timestamp is not None,
        owner_uid=next((owner.uid for owner in meta.owner_references or () if owner.kind == "Machine"), ""),
        cloned_from=(meta.annotations or {}).get(names.CLONED_FROM, ""),
        created=wall(meta.creation_timestamp) if meta.creation_timestamp else None,
    )
