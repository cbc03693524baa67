"""The status of a MachineHealthCheck on the wire: read leniently, written per version, foreign conditions kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noderemedy.model.checkstatus import OURS, CheckStatus, Foreign, Told, Writer
from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK
from noderemedy.model.time import Wall
from noderemedy.wire.checkstatus import read_status, status_body
from noderemedy.wire.objects import Undecodable, convert, decode

OTHER = {"type": "Paused", "status": "False", "reason": "NotPaused", "observedGeneration": 3, "nested": {"a": [1]}}
CLOSED = Told("RemediationAllowed", "False", "TooManyUnhealthy", "2 of 3", "2030-03-17T17:46:40Z")
WRITTEN = {"apiVersion": "cluster.x-k8s.io/v1beta1", "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {}}}


def a_tree(status: Any = None, managed: Any = None) -> dict[str, Any]:
    meta = {"name": "workers", "namespace": "metal", "uid": "u", "managedFields": managed}
    return {"apiVersion": "cluster.x-k8s.io/v1beta1", "metadata": meta, "spec": {}, "status": status}


def test_a_status_is_read_with_all_that_is_ours() -> None:
    """Counts, generation, our conditions field by field, others whole; fields that we do not write are left out."""
    conditions = [
        OTHER,
        {"severity": "Warning", **status_body(CheckStatus(conditions=(CLOSED,)), "v1")["conditions"][0]},
    ]
    counts = {"expectedMachines": 5, "currentHealthy": 3, "remediationsAllowed": 1, "observedGeneration": 7}
    found = convert(HEALTH_CHECK, a_tree({**counts, "targets": ["w1"], "conditions": conditions})).obj.status

    assert CheckStatus(5, 3, 1, 7, (Foreign(json.dumps(OTHER, separators=(",", ":"))), CLOSED), ("w1",)) == found


@pytest.mark.parametrize(
    "garbage",
    [
        None,
        [],
        "Ready",
        {"expectedMachines": "many", "currentHealthy": True, "remediationsAllowed": None, "observedGeneration": 1.5},
        {"conditions": {"type": "Ready"}, "targets": "all"},
        {"conditions": None},
    ],
)
def test_garbage_in_a_status_counts_as_nothing(garbage: Any) -> None:
    """A status is some program's work: it never makes the check unreadable."""
    assert CheckStatus() == convert(HEALTH_CHECK, a_tree(garbage)).obj.status


@pytest.mark.parametrize("item", [None, 5, "x", {}, {"type": 5}, {"type": "Ready", "status": []}])
def test_a_condition_that_is_none_goes_back_as_it_came(item: Any) -> None:
    """It is not ours to judge or to lose."""
    assert [item] == status_body(read_status({"conditions": [item]}), "v1beta1")["conditions"]


def test_a_condition_of_ours_with_garbage_is_read_as_empty() -> None:
    """So that it differs from what we have to say, and is written anew."""
    item = {"type": "RemediationAllowed", "status": True, "reason": None, "message": 5, "lastTransitionTime": []}

    assert (Told("RemediationAllowed", ""),) == read_status({"conditions": [item]}).conditions


def test_no_depth_ends_a_watch() -> None:
    """A status nested as deep as anybody likes is read, or refused with the object's name; nothing else is raised."""
    raw = msgspec.json.encode(a_tree({"conditions": ["DEPTH"]}))
    read = 0
    with depth_of_a_new_program():
        for depth in range(1, 1_200):
            with suppress(Undecodable):
                decode(HEALTH_CHECK, raw.replace(b'"DEPTH"', b"[" * depth + b"]" * depth))
                read += 1

    assert 100 < read < 1_199


@contextmanager
def depth_of_a_new_program() -> Iterator[None]:
    """A client raises the limit for the whole process: an earlier test may have done so."""
    raised = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(raised)


@pytest.mark.parametrize(
    ("version", "type", "status", "severity"),
    [
        ("v1alpha3", "RemediationAllowed", "False", "Warning"),
        ("v1alpha4", "Valid", "False", "Error"),
        ("v1beta1", "RemediationAllowed", "False", "Warning"),
        ("v1beta1", "RemediationAllowed", "True", None),
        ("v1beta1", "Valid", "True", None),
        ("v1beta1", "Acting", "False", "Info"),
        ("v1beta1", "Acting", "True", None),
        ("v1beta1", "Overlapping", "True", None),
        ("v1beta1", "Overlapping", "False", None),
        ("v1beta2", "RemediationAllowed", "False", None),
        ("v1beta2", "Valid", "False", None),
    ],
)
def test_severity_is_written_where_the_version_has_it(version: str, type: str, status: str, severity: str) -> None:
    """With status False of a condition that should be True, before v1beta2; everything else is always there."""
    [body] = status_body(CheckStatus(conditions=(Told(type, status, "R", "m", "t"),)), version)["conditions"]

    assert severity == body.pop("severity", None)
    assert {"type": type, "status": status, "reason": "R", "message": "m", "lastTransitionTime": "t"} == body


@pytest.mark.parametrize(
    ("version", "texts"),
    [("v1alpha3", {}), ("v1alpha4", {}), ("v1beta1", {}), ("v1beta2", {"reason": "", "message": ""})],
)
def test_an_empty_text_is_written_only_where_it_must_be_there(version: str, texts: dict[str, str]) -> None:
    """Cluster API refuses a whole status for one empty message, before v1beta2; v1beta2 refuses one without it."""
    [body] = status_body(CheckStatus(conditions=(Told("Valid", "True", since="t"),)), version)["conditions"]

    assert {"type": "Valid", "status": "True", "lastTransitionTime": "t", **texts} == body


texts = st.text(max_size=8)
numbers = st.integers(0, 2**31 - 1)
foreign = st.fixed_dictionaries({"type": texts.filter(lambda name: name not in OURS)}, optional={"more": numbers})
conditions = st.one_of(
    st.builds(Told, st.sampled_from(OURS), texts, texts, texts, texts),
    foreign.map(lambda tree: Foreign(msgspec.json.encode(tree).decode())),
)


@given(
    st.builds(
        CheckStatus,
        *(numbers, numbers, numbers, numbers),
        st.lists(conditions, max_size=4).map(tuple),
        st.none() | st.lists(texts, max_size=3).map(tuple),
    ),
    st.sampled_from(["v1alpha3", "v1beta1", "v1beta2"]),
)
def test_a_status_is_read_back_as_it_was_written(status: CheckStatus, version: str) -> None:
    """In every version, or it would be written again and again."""
    assert status == read_status(json.loads(json.dumps(status_body(status, version))))


def test_other_writers_of_the_status_are_known() -> None:
    """Only of the status, never we ourselves, with the time of the last write."""
    moment = "2030-03-17T17:46:40Z"
    entries = [
        {**WRITTEN, "manager": "kubectl", "operation": "Apply", "time": moment},
        {**WRITTEN, "manager": "node-remedy", "subresource": "status", "time": moment},
        {**WRITTEN, "manager": "capi", "operation": "Update", "subresource": "status", "time": moment},
        {**WRITTEN, "manager": "timeless", "subresource": "status"},
    ]

    for kind in (HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK):
        assert (Writer("capi", Wall(1_900_000_000_000)),) == convert(kind, a_tree(managed=entries)).obj.other_writers
    assert () == convert(HEALTH_CHECK, a_tree()).obj.other_writers
