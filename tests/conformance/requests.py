"""Random but sensible requests on a few objects of one kind: what `test_twins.py` sends to both servers.

A step is drawn without looking at any server, so that both get the very same; where a step needs the present object
(to replace it), each server is asked for its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.conformance.client import APPLY, GROUP, JSON_PATCH, MERGE, STRATEGIC, Client, Json, Reply

NAMES = ("a", "b")
TYPES = {
    "configmaps": ("v1", "ConfigMap"),
    "leases": ("coordination.k8s.io/v1", "Lease"),
    "widgets": (f"{GROUP}/v1", "Widget"),
}
WIDGET_FIELDS: dict[str, list[Any]] = {
    "color": ["red", "blue", "mauve"],
    "code": ["abc", "x", "NO"],
    "note": ["n"],
    "tags": [["a"], ["a", "b"], []],
    "unique": [["a"], ["b", "c"]],
    "limits": [{"a": 1}, {}],
    "share": [1, "5%"],
    "free": [{"x": {"y": 1}}, {}],
    "nested": [{}, {"level": 2}, {"mode": "m"}],
    "parts": [[{"name": "a"}], [{"name": "a", "weight": 1}, {"name": "b"}], [{"name": "b"}, {"name": "a"}], []],
    "surprise": [1],
}


@dataclass(frozen=True)
class Step:
    """One request: what to say about it, and how to send it."""

    said: str
    send: Callable[[Client], Reply]


def a_step(chance: Random, plural: str) -> Step:
    """Draw one request."""
    name = chance.choice(NAMES)
    verbs = {
        "create": _create,
        "read": _read,
        "update": _update,
        "status": _status,
        "patch": _patch,
        "json": _json,
        "apply": _apply,
        "delete": _delete,
        "list": _list,
    }
    verb = chance.choices(list(verbs), weights=(3, 1, 3, 2, 4, 2, 4, 2, 1))[0]
    return verbs[verb](chance, plural, name)


def _contents(chance: Random, plural: str) -> Json:
    match plural:
        case "configmaps":
            return {"data": {key: chance.choice("12") for key in "xyz" if chance.random() < 0.5}}
        case "leases":
            spec: Json = {"holderIdentity": chance.choice(["p", "q", ""])}
            if chance.random() < 0.5:
                spec["leaseDurationSeconds"] = chance.choice([1, 15, 0, -1])
            if chance.random() < 0.3:
                spec["renewTime"] = chance.choice(["2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:01.500000Z"])
            return {"spec": spec}
    fields = {key: chance.choice(values) for key, values in WIDGET_FIELDS.items() if chance.random() < 0.15}
    found: Json = {"spec": {"size": chance.choice([1, 2, 3, 50, 101]), **fields}}
    if chance.random() < 0.2:
        found["status"] = chance.choice([{"phase": "Up"}, {"seen": 3}, {}])
    return found


def _metadata(chance: Random) -> Json:
    found: Json = {}
    if chance.random() < 0.3:
        found["labels"] = chance.choice([{"l": "1"}, {"l": "2", "m": "x"}, {"l": "a b"}])
    if chance.random() < 0.3:
        found["annotations"] = chance.choice([{"a.b/c": "1"}, {"x": ""}])
    if chance.random() < 0.25:
        found["finalizers"] = chance.choice([["a.b/h"], [], [], ["a.b/h", "a.b/i"]])
    return found


def _query(chance: Random) -> dict[str, str]:
    query = {}
    if chance.random() < 0.1:
        query["dryRun"] = "All"
    if chance.random() < 0.2:
        query["fieldValidation"] = chance.choice(["Strict", "Ignore", "Warn"])
    if chance.random() < 0.5:
        query["fieldManager"] = chance.choice(["m1", "m2"])
    return query


def _whole(chance: Random, plural: str, name: str) -> Json:
    api_version, kind = TYPES[plural]
    metadata = {"name": name, **_metadata(chance)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **_contents(chance, plural)}


def _create(chance: Random, plural: str, name: str) -> Step:
    body, query = _whole(chance, plural, name), _query(chance)
    return Step(f"create {query} {body}", lambda api: api.call("POST", api.at(plural), body, query=query))


def _read(_: Random, plural: str, name: str) -> Step:
    return Step(f"read {name}", lambda api: api.get(api.at(plural, name)))


def _update(chance: Random, plural: str, name: str, subresource: str = "") -> Step:
    body, query, is_blind = _whole(chance, plural, name), _query(chance), chance.random() < 0.3
    query.pop("fieldValidation", None)  # which of two faults is told first is nobody's promise

    def send(api: Client) -> Reply:
        said = body
        found = api.get(api.at(plural, name))
        if found.status == 200 and not is_blind:
            said = {**found.json, **body, "metadata": {**found.json["metadata"], **body["metadata"]}}
        return api.call("PUT", api.at(plural, name, subresource), said, query=query)

    return Step(f"update {subresource} {is_blind=} {query} {body}", send)


def _status(chance: Random, plural: str, name: str) -> Step:
    if chance.random() < 0.5:
        return _update(chance, plural, name, "status")
    return _patch(chance, plural, name, "status")


def _patch(chance: Random, plural: str, name: str, subresource: str = "") -> Step:
    body, query = _contents(chance, plural), _query(chance)
    body["metadata"] = _metadata(chance)
    if chance.random() < 0.06:
        body["metadata"]["resourceVersion"] = "1"
    kind = chance.choice([MERGE, MERGE, STRATEGIC])
    return Step(
        f"patch {subresource} {name} {kind} {query} {body}",
        lambda api: api.call("PATCH", api.at(plural, name, subresource), body, query=query, content_type=kind),
    )


def _json(chance: Random, plural: str, name: str) -> Step:
    paths = ("/metadata/labels", "/metadata/labels/l", "/metadata/annotations/a.b~1c", "/data/x", "/spec/size")
    operations = [
        {"op": chance.choice(["add", "replace", "remove", "test"]), "path": chance.choice(paths), "value": "1"}
        for _ in range(chance.choice([1, 2]))
    ]
    query = _query(chance)
    return Step(
        f"json {name} {query} {operations}",
        lambda api: api.call("PATCH", api.at(plural, name), operations, query=query, content_type=JSON_PATCH),
    )


def _apply(chance: Random, plural: str, name: str) -> Step:
    body = _whole(chance, plural, name)
    body["metadata"].pop("finalizers", None)
    query = {**_query(chance), "fieldManager": chance.choice(["m1", "m2", "m3"])}
    if chance.random() < 0.3:
        query["force"] = "true"
    return Step(
        f"apply {query} {body}",
        lambda api: api.call("PATCH", api.at(plural, name), body, query=query, content_type=APPLY),
    )


def _delete(chance: Random, plural: str, name: str) -> Step:
    uid = "11111111-1111-1111-1111-111111111111"
    choices = [None, None, {"gracePeriodSeconds": 0}, {"dryRun": ["All"]}, {"preconditions": {"uid": uid}}]
    options = chance.choice(choices)
    return Step(f"delete {name} {options}", lambda api: api.delete(api.at(plural, name), options))


def _list(chance: Random, plural: str, _: str) -> Step:
    label = chance.choice(["l=1", "l", "l in (1,2),m", "l!=1,l", "l=="])
    return Step(f"list {label}", lambda api: api.get(api.at(plural), labelSelector=label))
