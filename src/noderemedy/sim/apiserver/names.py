"""Judging metadata: names, labels, annotations, owners and finalizers."""

from __future__ import annotations

import re
from typing import Any

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver.errors import Cause, field_forbidden, invalid_value, required
from noderemedy.sim.apiserver.types import ResourceType, Tree

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
ANNOTATIONS_MAX = 256 * 1024

BAD_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
BAD_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
BAD_QUALIFIED = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
BAD_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
LABEL_NAMED = frozenset({Kind("", "Namespace"), Kind("", "Service")})
STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion", "customresourcecleanup.apiextensions.k8s.io")
PATH_NAMED = "rbac.authorization.k8s.io"


def name_causes(kind: Kind, name: str) -> list[Cause]:
    """What is wrong with an object's name."""
    where = "metadata.name"
    if kind.group == PATH_NAMED:
        bad = name in (".", "..") or "/" in name or "%" in name
        return [invalid_value(where, name, "may not contain '/' or '%'")] if bad else []
    if kind in LABEL_NAMED:
        return _named(where, name, LABEL, BAD_LABEL, 63)
    return _named(where, name, SUBDOMAIN, BAD_SUBDOMAIN, 253)


def _named(where: str, name: str, pattern: re.Pattern[str], why: str, most: int) -> list[Cause]:
    causes = []
    if len(name) > most:
        causes.append(invalid_value(where, name, f"must be no more than {most} bytes"))
    if not pattern.fullmatch(name):
        causes.append(invalid_value(where, name, why))
    return causes


def metadata_causes(resource: ResourceType, meta: Tree, old: Tree | None) -> list[Cause]:
    """What is wrong with an object's metadata; parts that did not change are not judged again."""
    causes: list[Cause] = []
    if old is None:
        name = meta.get("name") or ""
        if not name:
            return [required("metadata.name", "name or generateName is required")]
        causes += name_causes(resource.kind, name)
    was = old or {}
    if meta.get("labels") is not was.get("labels"):
        causes += label_causes(meta.get("labels") or {}, "metadata.labels")
    if meta.get("annotations") is not was.get("annotations"):
        causes += _annotation_causes(meta.get("annotations") or {})
    if meta.get("ownerReferences") is not was.get("ownerReferences"):
        causes += _owner_causes(meta.get("ownerReferences") or [])
    if meta.get("finalizers") is not was.get("finalizers"):
        causes += _finalizer_causes(meta.get("finalizers") or [], was, resource.is_custom)
    return causes


def label_causes(labels: dict[str, Any], where: str) -> list[Cause]:
    causes = []
    for key, value in labels.items():
        causes += key_causes(key, where)
        if not isinstance(value, str) or not LABEL_VALUE.fullmatch(value):
            causes.append(invalid_value(where, value, BAD_VALUE))
        elif len(value) > 63:
            causes.append(invalid_value(where, value, "must be no more than 63 bytes"))
    return causes


def key_causes(key: str, where: str) -> list[Cause]:
    """A qualified name: an optional prefix that is a subdomain, a slash, a name of at most 63."""
    prefix, slash, name = key.rpartition("/")
    if slash and not SUBDOMAIN.fullmatch(prefix):
        return [invalid_value(where, key, f"prefix part {BAD_SUBDOMAIN}")]
    if len(name) > 63:
        return [invalid_value(where, key, "name part must be no more than 63 bytes")]
    return [] if QUALIFIED.fullmatch(name) else [invalid_value(where, key, BAD_QUALIFIED)]


def _annotation_causes(annotations: dict[str, str]) -> list[Cause]:
    causes = []
    for key in annotations:
        causes += key_causes(key.lower(), "metadata.annotations")
    if sum(len(key) + len(value) for key, value in annotations.items()) > ANNOTATIONS_MAX:
        why = f"Too long: may not be more than {ANNOTATIONS_MAX} bytes"
        causes.append(Cause("FieldValueTooLong", why, "metadata.annotations"))
    return causes


def _owner_causes(owners: list[Tree]) -> list[Cause]:
    causes = []
    for owner in owners:
        where = "metadata.ownerReferences"
        for key in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(key):
                word = "version" if key == "apiVersion" else key
                causes.append(invalid_value(f"{where}.{key}", "", f"{word} must not be empty"))
    if sum(1 for owner in owners if owner.get("controller")) > 1:
        why = "Only one reference can have Controller set to true"
        causes.append(invalid_value("metadata.ownerReferences", owners, why))
    return causes


def _finalizer_causes(finalizers: list[str], old: Tree, is_custom: bool) -> list[Cause]:
    causes: list[Cause] = []
    for index, name in enumerate(finalizers):
        causes += key_causes(name, "metadata.finalizers")
        if "/" not in name and name not in STANDARD_FINALIZERS and not is_custom:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            causes.append(invalid_value(f"metadata.finalizers[{index}]", name, why))
    if old.get("deletionTimestamp"):
        new = sorted(set(finalizers) - set(old.get("finalizers") or []))
        if new:
            named = ", ".join(f'"{name}"' for name in new)
            why = "no new finalizers can be added if the object is being deleted, found new finalizers"
            causes.append(field_forbidden("metadata.finalizers", f"{why} []string{{{named}}}"))
    return causes
