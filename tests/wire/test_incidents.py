"""Incidents on the wire: what is written is read back, answers of people, and the requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NOW, RESOURCES

from noderemedy.model.actions import DropIncident, Guard, OpenIncident, WriteIncident
from noderemedy.model.ids import INCIDENT, SYSTEM, ref
from noderemedy.model.incident import Answer, Approval, Detection, Ending, Incident, PodSeen, Record, Step
from noderemedy.model.meta import Malformed
from noderemedy.model.time import Wall
from noderemedy.wire.incidents import incident_body, status_body
from noderemedy.wire.objects import Undecodable, convert
from noderemedy.wire.requests import render

AT = ref(INCIDENT, "worker-0-0123456789", SYSTEM)
FOUND = Detection(MACHINE_AT, "machine-uid-1", "0123456789", NOW.wall, "worker-0", "node-uid-1", "boot-1", "c", ("s",))
STEP = Step(NOW.wall, "verdict", "verdict", "unhealthy", "because", "Node//worker-0@7")
RECORD = Record((STEP,), (PodSeen("shop", "web-0", "u", "StatefulSet/web"),), 1, Ending.RECOVERED, NOW.wall)
WHOLE_SECONDS = st.integers(0, 4_000_000_000).map(lambda seconds: Wall(seconds * 1_000))
WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
STEPS = st.builds(Step, WHOLE_SECONDS, *[WORDS.filter(bool)] * 2, *[WORDS] * 4, st.integers(0, 9))
PODS = st.builds(PodSeen, WORDS, WORDS.filter(bool), WORDS, WORDS)
RECORDS = st.builds(
    Record,
    st.lists(STEPS, max_size=4).map(tuple),
    st.lists(PODS, max_size=3).map(tuple),
    st.none() | st.integers(0, 100),
    st.none() | st.sampled_from(Ending),
    st.none() | WHOLE_SECONDS,
)
FOUNDS = st.builds(
    Detection,
    st.just(MACHINE_AT),
    WORDS,
    st.just("0123456789"),
    WHOLE_SECONDS,
    *[WORDS] * 4,
    st.lists(WORDS).map(tuple),
)


def a_tree(found: Detection = FOUND, record: Record = RECORD, **spec: Any) -> dict[str, Any]:
    tree = incident_body(AT, "v1alpha1", found)
    meta = {**tree["metadata"], "uid": "incident-uid-1", "resourceVersion": "5"}
    return {**tree, "metadata": meta, "spec": {**tree["spec"], **spec}, "status": status_body(record)}


@settings(max_examples=60)
@given(found=FOUNDS, record=RECORDS)
def test_what_is_written_is_read_back(found: Detection, record: Record) -> None:
    """The same value, or a record would be written again and again."""
    tree = json.loads(json.dumps(a_tree(found, record)))

    assert Incident("incident-uid-1", found, record) == convert(INCIDENT, tree).obj


def test_people_see_the_last_step() -> None:
    """A column of kubectl says where it stands."""
    over = Step(NOW.wall, "annotation", "hold")

    assert ("verdict unhealthy", str(NOW.wall)) == (status_body(RECORD)["last"], status_body(RECORD)["decided"])
    assert "hold over" == status_body(Record((over,)))["last"]
    assert {} == status_body(Record())


ANSWERS: dict[str, tuple[Any, Approval | Malformed | None]] = {
    "none": (None, None),
    "approve": ({"decision": "approve", "by": "ann"}, Approval(Answer.APPROVE, None, "ann")),
    "deny": ({"decision": "deny"}, Approval(Answer.DENY)),
    "snooze": (
        {"decision": "snooze", "until": "2030-01-31T12:00:00Z"},
        Approval(Answer.SNOOZE, Wall(1_896_091_200_000)),
    ),
    "a word that is none": (
        {"decision": "yes"},
        Malformed("spec.approval.decision: 'yes' is none of approve, deny, snooze"),
    ),
    "nothing in it": ({}, Malformed("spec.approval.decision: 'None' is none of approve, deny, snooze")),
    "no mapping": ("approve", Malformed("spec.approval.decision: 'None' is none of approve, deny, snooze")),
    "a time that is none": (
        {"decision": "approve", "until": "soon"},
        Malformed("spec.approval.until: 'soon' is not a time like 2030-01-31T12:00:00Z"),
    ),
    "a snooze without end": (
        {"decision": "snooze"},
        Malformed("spec.approval.until: snooze needs the time at which to ask again"),
    ),
    "a name that is none": ({"decision": "deny", "by": 7}, Approval(Answer.DENY)),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_of_people(name: str) -> None:
    """What cannot be read is never an approval."""
    written, expected = ANSWERS[name]
    tree = a_tree(approval=written)

    assert expected == convert(INCIDENT, tree).obj.approval


def test_an_incident_without_its_target_is_set_aside() -> None:
    """Somebody wrote it by hand: it is named, and disturbs nobody."""
    tree = a_tree()
    del tree["spec"]["target"]

    with pytest.raises(Undecodable, match=r"Incident/node-remedy-system/worker-0-0123456789: .*target"):
        convert(INCIDENT, tree)


def test_an_incident_is_created_in_our_namespace() -> None:
    """With all that was found; a status cannot be created. The node is a label, to select by."""
    request = render(OpenIncident(AT, FOUND), 7, RESOURCES)

    assert ("POST", "/apis/node-remedy.dev/v1alpha1/namespaces/node-remedy-system/incidents") == (
        request.method,
        request.path,
    )
    body = json.loads(request.body)
    assert {"node-remedy.dev/node": "worker-0"} == body["metadata"]["labels"]
    assert "0123456789" == body["spec"]["episode"]
    assert {"status", "begun"}.isdisjoint({**body, **body["spec"]})


@settings(max_examples=60)
@given(record=RECORDS)
def test_an_incident_is_opened_with_what_has_happened(record: Record) -> None:
    """What is in it by then is read back, but for an end: that is written when it is over."""
    request = render(OpenIncident(AT, FOUND, record), 7, RESOURCES)
    tree = json.loads(request.body)
    tree["metadata"] |= {"uid": "incident-uid-1", "resourceVersion": "5"}

    assert Incident("incident-uid-1", FOUND, replace(record, ending=None, closed=None)) == convert(INCIDENT, tree).obj


def test_what_was_written_last_counts() -> None:
    """A status is whole: what the record was opened with is in it, too."""
    tree = a_tree(begun=status_body(Record((STEP, STEP))))
    opened = {**tree, "status": {}}

    assert [RECORD, Record((STEP, STEP))] == [convert(INCIDENT, one).obj.record for one in (tree, opened)]


def test_a_record_is_written_under_its_version() -> None:
    """Two leaders cannot write over each other."""
    request = render(WriteIncident(AT, Guard("u", "5"), RECORD), 7, RESOURCES)

    assert request.path.endswith("/incidents/worker-0-0123456789/status")
    body = json.loads(request.body)
    assert ({"uid": "u", "resourceVersion": "5"}, "recovered") == (body["metadata"], body["status"]["outcome"])


def test_a_record_is_dropped_by_its_uid() -> None:
    """Never another one of that name."""
    request = render(DropIncident(AT, Guard("u")), 7, RESOURCES)

    assert ("DELETE", {"uid": "u"}) == (request.method, json.loads(request.body)["preconditions"])
