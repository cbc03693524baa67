"""Templates and requests of kinds that we know nothing about: what is read of them, and what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.builders import DOCTOR, DOCTOR_AT, DOCTOR_TEMPLATE, TEMPLATE_AT, a_metadata

from noderemedy.model.actions import CreateRequest, DeleteRequest, Guard
from noderemedy.model.ids import HOST, MACHINE, Kind
from noderemedy.model.meta import Malformed
from noderemedy.model.outcome import Done, Effect, Failed, Key, Outcome
from noderemedy.model.request import ExternalRequest, Template
from noderemedy.model.time import Mono, Wall
from noderemedy.wire.answers import outcome
from noderemedy.wire.http import Answer
from noderemedy.wire.objects import Undecodable, convert, decode

NOT_OURS = {
    "uid": "u",
    "resourceVersion": "5",
    "selfLink": "/x",
    "finalizers": ["somebody.example.com"],
    "ownerReferences": [{"kind": "Machine", "name": "x", "uid": "y", "apiVersion": "v1"}],
    "name": "another-name",
    "namespace": "another-namespace",
}


def a_template(spec: Any) -> Template:
    """What is read of a template with this spec."""
    tree = {"metadata": a_metadata(TEMPLATE_AT, "template-uid", "7", None), "spec": spec}
    found = convert(DOCTOR_TEMPLATE, tree)

    assert (TEMPLATE_AT, "template-uid", "7") == (found.ref, found.uid, found.resource_version)
    assert found == decode(DOCTOR_TEMPLATE, json.dumps(tree).encode())
    assert isinstance(found.obj, Template)
    return found.obj


def test_the_words_of_a_template_stay_as_they_are() -> None:
    """Any fields of any depth, not only a spec; labels and annotations apart."""
    body = {"spec": {"dose": 3, "often": [1, 2.5, None, {"deep": "ä"}], "off": False}, "data": {"x": "y"}}
    found = a_template({"template": {**body, "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}}})

    assert body == json.loads(str(found.body))
    assert ((("a", "b"),), (("c", "d"),)) == (found.labels, found.annotations)


def test_what_makes_an_object_this_very_object_is_not_read() -> None:
    """Name, uid, version, finalizers, owners, type and status of a template's body go nowhere."""
    frame = {"apiVersion": "v1", "kind": "Pod", "status": {"phase": "done"}, "metadata": NOT_OURS}

    assert Template("template-uid", '{"spec":{}}') == a_template({"template": {**frame, "spec": {}}})


@pytest.mark.parametrize("spec", [None, {}, {"template": None}, {"template": {}}, "text", []])
def test_a_template_without_a_body_is_an_empty_one(spec: Any) -> None:
    """A request may need no fields at all."""
    assert Template("template-uid", "{}") == a_template(spec)


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("text", "spec.template: expected an object"),
        ([], "spec.template: expected an object"),
        ({"metadata": {"labels": "x"}}, "spec.template.metadata.labels: expected a map of strings"),
        ({"metadata": {"labels": {"x": 1}}}, "spec.template.metadata.labels: expected a map of strings"),
        ({"metadata": {"annotations": ["x"]}}, "spec.template.metadata.annotations: expected a map of strings"),
    ],
)
def test_garbage_in_a_template_is_told(template: Any, problem: str) -> None:
    """The template is read all the same: what is wrong with it is said on the machine that needs it."""
    assert Template("template-uid", Malformed(problem)) == a_template({"template": template})


def test_a_template_nested_too_deeply_is_refused() -> None:
    """As every object that no API server would store."""
    with pytest.raises(Undecodable):
        decode(DOCTOR_TEMPLATE, b'{"metadata":{"name":"x"},"spec":' + b'{"a":' * 100_000)


def a_request_tree(**metadata: Any) -> dict[str, Any]:
    return {"metadata": {**a_metadata(DOCTOR_AT, "doctor-uid-1", "9", None), **metadata}, "spec": {"anything": []}}


OWNERS = [
    {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "other"},
    {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "name": "worker-0", "uid": "machine-uid-1"},
]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, ExternalRequest("doctor-uid-1")),
        ({"ownerReferences": OWNERS}, ExternalRequest("doctor-uid-1", owner_uid="machine-uid-1")),
        ({"ownerReferences": OWNERS[:1]}, ExternalRequest("doctor-uid-1")),
        ({"deletionTimestamp": "2030-01-01T00:00:00Z"}, ExternalRequest("doctor-uid-1", deleting=True)),
        (
            {"annotations": {"cluster.x-k8s.io/cloned-from-name": "house-call"}},
            ExternalRequest("doctor-uid-1", cloned_from="house-call"),
        ),
        (
            {"creationTimestamp": "2030-03-17T17:46:40Z"},
            ExternalRequest("doctor-uid-1", created=Wall(1_900_000_000_000)),
        ),
    ],
)
def test_of_a_request_only_the_metadata_is_read(metadata: dict[str, Any], expected: ExternalRequest) -> None:
    """Whose it is, whether it goes, where it comes from; the owner that counts is a Machine."""
    tree = a_request_tree(**metadata)

    assert expected == convert(DOCTOR, tree).obj == decode(DOCTOR, json.dumps(tree).encode()).obj


def test_kinds_with_readers_keep_them() -> None:
    """A kind that we know is never read as somebody's request."""
    for kind in (MACHINE, HOST):
        assert not isinstance(convert(kind, {"metadata": {"name": "x"}}).obj, ExternalRequest)
    assert isinstance(convert(Kind("cluster.x-k8s.io", "Whatever"), {"metadata": {"name": "x"}}).obj, ExternalRequest)


# --- answers -------------------------------------------------------------------------------------------------------

CREATE = CreateRequest(DOCTOR_AT, DOCTOR_AT, "machine-uid-1", TEMPLATE_AT, "{}")
DELETE = DeleteRequest(DOCTOR_AT, Guard("doctor-uid-1"))


def answered(action: CreateRequest | DeleteRequest, status: int, body: dict[str, Any]) -> Outcome:
    effect = Effect(1, Key("test", DOCTOR_AT), action, 7)
    return outcome(effect, Answer(status, json.dumps(body).encode()), Mono(5))


def test_a_deleted_request_is_gone_or_leaving() -> None:
    """A Status says that it is gone, and so does 404; an object that came back still has a finalizer."""
    leaving = a_request_tree(deletionTimestamp="2030-01-01T00:00:00Z")
    seen = answered(DELETE, 200, leaving)

    assert Done(Mono(5), gone=True) == answered(DELETE, 200, {"kind": "Status", "status": "Success"})
    assert Done(Mono(5), gone=True) == answered(DELETE, 404, {"kind": "Status", "code": 404})
    assert isinstance(seen, Done)
    assert seen.seen is not None
    assert seen.seen.obj.deleting


@pytest.mark.parametrize(
    ("status", "is_conflict", "is_lasting"), [(409, True, False), (403, False, True), (422, False, True)]
)
def test_how_a_request_is_refused(status: int, is_conflict: bool, is_lasting: bool) -> None:
    """That it exists already is a reason to look; what the API will not take lasts until a person changes it."""
    found = answered(CREATE, status, {"kind": "Status", "message": "no"})

    assert isinstance(found, Failed)
    assert (is_conflict, is_lasting) == (found.conflict, found.lasting)
