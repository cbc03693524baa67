"""Label and field selectors: parsed once into a predicate, 400 where a real server says 400."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.types import Tree

Predicate = Callable[[Tree], bool]
LabelTest = Callable[[dict[str, str]], bool]

KEY = r"(?:[A-Za-z0-9.-]+/)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
VALUE = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")
SET = re.compile(rf"\s*({KEY})\s+(in|notin)\s*\(([^()]*)\)\s*")
COMPARE = re.compile(rf"\s*({KEY})\s*(==|=|!=)\s*([^\s,=!()]*)\s*")
NUMBER = re.compile(rf"\s*({KEY})\s*([<>])\s*(-?\d+)\s*")
EXISTS = re.compile(rf"\s*(!?)\s*({KEY})\s*")

FIELDS: dict[Kind, tuple[str, ...]] = {
    Kind("", "Pod"): (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    Kind("", "Node"): ("spec.unschedulable",),
    Kind("", "Namespace"): ("status.phase",),
    Kind("", "Secret"): ("type",),
    Kind("", "Event"): (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    Kind("events.k8s.io", "Event"): (
        "regarding.kind",
        "regarding.namespace",
        "regarding.name",
        "regarding.uid",
        "reason",
        "reportingController",
        "type",
    ),
    Kind("batch", "Job"): ("status.successful",),
    Kind("apps", "ReplicaSet"): ("status.replicas",),
    Kind("certificates.k8s.io", "CertificateSigningRequest"): ("spec.signerName",),
}
"""Fields by which a kind can be selected, besides metadata.name and metadata.namespace."""


def label_predicate(text: str) -> Predicate | None:
    """What a labelSelector lets through; None if it lets everything through."""
    tests = [_label_test(part, text) for part in _split(text) if part.strip()]
    if not tests:
        return None

    def matches(tree: Tree) -> bool:
        labels = tree["metadata"].get("labels") or {}
        return all(test(labels) for test in tests)

    return matches


def _split(text: str) -> list[str]:
    """At the commas that are not inside parentheses."""
    return re.split(r",(?![^(]*\))", text)


def _label_test(part: str, whole: str) -> LabelTest:
    if found := SET.fullmatch(part):
        values = {_label_value(value.strip(), whole) for value in found[3].split(",")}
        if found[2] == "in":
            return lambda labels, key=found[1]: labels.get(key) in values  # type: ignore[misc]
        return lambda labels, key=found[1]: labels.get(key) not in values  # type: ignore[misc]
    if found := COMPARE.fullmatch(part):
        key, value = found[1], _label_value(found[3], whole)
        if found[2] == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if found := NUMBER.fullmatch(part):
        return _number_test(found[1], found[2], int(found[3]))
    if found := EXISTS.fullmatch(part):
        key, wanted = found[2], not found[1]
        return lambda labels: (key in labels) is wanted
    raise errors.bad_request(f'unable to parse requirement: found "{part.strip()}" in "{whole}"')


def _number_test(key: str, sign: str, bound: int) -> LabelTest:
    def test(labels: dict[str, str]) -> bool:
        value = labels.get(key, "")
        if not re.fullmatch(r"-?\d+", value):
            return False
        return int(value) > bound if sign == ">" else int(value) < bound

    return test


def _label_value(value: str, whole: str) -> str:
    if not VALUE.fullmatch(value):
        raise errors.bad_request(f'unable to parse requirement: invalid label value "{value}" in "{whole}"')
    return value


def field_predicate(kind: Kind, text: str, custom_fields: tuple[str, ...] = ()) -> Predicate | None:
    """What a fieldSelector lets through; 400 for a field that this kind cannot be selected by."""
    terms = [_field_term(kind, part, text, custom_fields) for part in text.split(",") if part.strip()]
    if not terms:
        return None

    def matches(tree: Tree) -> bool:
        return all((field_text(tree, path) == value) is wanted for path, value, wanted in terms)

    return matches


def named_by_fields(text: str) -> str:
    """The one name that a selector lets through; "" for any. Who may list one object by name is authorized by that."""
    found = re.match(r"(?:.*,)?\s*metadata\.name==?([^,!=]+)", text)
    return found.group(1).strip() if found else ""


def _field_term(kind: Kind, part: str, whole: str, custom: tuple[str, ...]) -> tuple[str, str, bool]:
    path, sign, value = re.match(r"([^=!]*)(==|!=|=|)(.*)", part.strip()).groups()  # type: ignore[union-attr]
    if not sign:
        raise errors.bad_request(f'invalid selector: "{whole}"; can\'t understand "{part}"')
    known = ("metadata.name", "metadata.namespace", *FIELDS.get(kind, ()), *custom)
    if path not in known:
        raise errors.bad_request(_unknown_field(kind, path))
    return path, value, sign != "!="


def _unknown_field(kind: Kind, path: str) -> str:
    if kind == Kind("", "Pod"):
        return f"field label not supported: {path}"
    return f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def field_text(tree: Any, path: str) -> str:
    """The value at a dotted path as selectors compare it; booleans that are absent count as false."""
    for step in path.split("."):
        tree = tree.get(step) if isinstance(tree, dict) else None
    if path in ("spec.unschedulable", "spec.hostNetwork"):
        return "true" if tree else "false"
    if isinstance(tree, bool):
        return "true" if tree else "false"
    return "" if tree is None else str(tree)


def both(first: Predicate | None, second: Predicate | None) -> Predicate | None:
    """The predicate that asks both; None asks nothing."""
    if first is None or second is None:
        return first or second
    return lambda tree: first(tree) and second(tree)


def matches_selector(selector: Tree | None, labels: dict[str, str]) -> bool:
    """A LabelSelector object (matchLabels, matchExpressions); an empty one matches everything."""
    if selector is None:
        return False
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    return all(_expression(one, labels) for one in selector.get("matchExpressions") or [])


def _expression(expression: Tree, labels: dict[str, str]) -> bool:
    key, values = expression["key"], expression.get("values") or []
    tests = {
        "In": lambda: labels.get(key) in values,
        "NotIn": lambda: labels.get(key) not in values,
        "Exists": lambda: key in labels,
        "DoesNotExist": lambda: key not in labels,
    }
    return tests[expression["operator"]]()
