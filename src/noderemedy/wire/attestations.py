"""The JSON of `node-remedy.dev/attested-off`: on a NodeFence or a Metal3Remediation. Garbage counts as nothing."""

from __future__ import annotations

import json

import msgspec

from noderemedy.model.attestation import Attestation
from noderemedy.model.meta import Malformed
from noderemedy.wire import names
from noderemedy.wire.scalars import read_json, read_wall


class AttestationShape(msgspec.Struct, rename="camel"):
    """Who, when, and of which boot of which Node."""

    by: str
    at: str
    node_uid: str
    boot_id: str = msgspec.field(name="bootID")


def read_attestation(note: str) -> Attestation | Malformed:
    shape = read_json(note, AttestationShape)
    if isinstance(shape, Malformed):
        return shape
    if has_twins(note):
        return Malformed("a field is there twice")
    at = read_wall(shape.at)
    if isinstance(at, Malformed):
        return at
    if not (shape.by and shape.node_uid and shape.boot_id):
        return Malformed("by, nodeUid and bootID must not be empty")
    return Attestation(shape.by, at, shape.node_uid, shape.boot_id)


def has_twins(note: str) -> bool:
    """Whether a field is there twice: the API server looks at the first `by`, and decoders take the last."""
    fields = [key for key, _ in json.loads(note, object_pairs_hook=list)]
    return len(fields) != len(set(fields))


def attestation_text(word: Attestation) -> str:
    tree = {"by": word.by, "at": str(word.at), "nodeUid": word.node_uid, "bootID": word.boot_id}
    return msgspec.json.encode(tree).decode()


def attested_in(notes: dict[str, str]) -> Attestation | Malformed | None:
    """The word among these annotations."""
    return read_attestation(notes[names.ATTESTED_OFF]) if names.ATTESTED_OFF in notes else None
