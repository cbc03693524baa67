"""Events: a series that moves, and all else as it was written."""

from __future__ import annotations

from typing import Any

from tests.conformance.client import MERGE, Client, Json
from tests.conformance.objects import causes_of

FIRST, LAST = "2026-01-02T03:04:05.000000Z", "2026-01-02T03:24:05.000000Z"


def _an_event(api: Client, name: str = "one", **fields: Any) -> Json:
    about = {"apiVersion": "v1", "kind": "ConfigMap", "name": "thing", "namespace": api.namespace}
    usual = {"reportingController": "example.dev/tester", "reportingInstance": "tester-0", "action": "Test"}
    said = {"eventTime": FIRST, "type": "Normal", "reason": "Tested", "note": "it was tested", "regarding": about}
    return {"metadata": {"name": name}, **usual, **said, **fields}


def _series(count: int, **last: str) -> Json:
    return {"series": {"count": count, **(last or {"lastObservedTime": LAST})}}


def case_a_series_moves(api: Client) -> None:
    """What happens again is counted in the Event that is there; its first time and its words stay."""
    made = api.create("events", _an_event(api))
    version = made["metadata"]["resourceVersion"]
    change = {"metadata": {"resourceVersion": version}, **_series(2)}
    moved = api.patch(api.at("events", "one"), change).ok()
    assert (2, LAST) == (moved["series"]["count"], moved["series"]["lastObservedTime"])
    assert (FIRST, "it was tested") == (moved["eventTime"], moved["note"])
    assert 3 == api.patch(api.at("events", "one"), _series(3)).ok()["series"]["count"]


def case_a_stale_count_is_a_conflict(api: Client) -> None:
    """Who counts from what others have changed meanwhile is refused, and has changed nothing."""
    version = api.create("events", _an_event(api))["metadata"]["resourceVersion"]
    api.patch(api.at("events", "one"), _series(2)).ok()
    api.patch(api.at("events", "one"), {"metadata": {"resourceVersion": version}, **_series(9)}).refused(
        409, "Conflict"
    )
    assert 2 == api.read("events", "one")["series"]["count"]


def case_a_series_begins_with_two(api: Client) -> None:
    """A series of one is none, and one without its last time is not complete."""
    api.create("events", _an_event(api))
    refused = api.patch(api.at("events", "one"), _series(1)).refused(422, "Invalid")
    assert ("FieldValueInvalid", "series.count") in causes_of(refused)
    refused = api.patch(api.at("events", "one"), {"series": {"count": 2}}).refused(422, "Invalid")
    assert ("FieldValueRequired", "series.lastObservedTime") in causes_of(refused)
    refused = api.post(api.at("events"), _an_event(api, "two", **_series(1))).refused(422, "Invalid")
    assert ("FieldValueInvalid", "series.count") in causes_of(refused)
    assert "series" not in api.read("events", "one")


def case_what_was_said_stays_said(api: Client) -> None:
    """Neither words, nor reason, type, action, time or writer of an Event can be changed."""
    before = api.create("events", _an_event(api))
    for changed, field in (
        ({"note": "it was not"}, "message"),
        ({"reason": "Other"}, "reason"),
        ({"type": "Warning"}, "type"),
        ({"action": "Other"}, "action"),
        ({"eventTime": LAST}, "eventTime"),
        ({"reportingInstance": "tester-1"}, "reportingInstance"),
        ({"regarding": {"name": "other"}}, "involvedObject"),
    ):
        refused = api.patch(api.at("events", "one"), changed).refused(422, "Invalid")
        assert ("FieldValueInvalid", field) in causes_of(refused)
    assert before == api.read("events", "one")


def case_core_events_are_not_held_to_it(api: Client) -> None:
    """The older face of the same Event takes every change."""
    api.create("events", _an_event(api))
    path = f"/api/v1/namespaces/{api.namespace}/events/one"
    api.patch(path, {"message": "otherwise", **_series(1)}, MERGE).ok()
    after = api.read("events", "one")
    assert ("otherwise", 1) == (after["note"], after["series"]["count"])


def case_an_old_fault_of_a_series_may_stay(api: Client) -> None:
    """Only a series that changes is judged."""
    api.create("events", _an_event(api))
    path = f"/api/v1/namespaces/{api.namespace}/events/one"
    api.patch(path, _series(1), MERGE).ok()
    labelled = api.patch(api.at("events", "one"), {"metadata": {"labels": {"a": "b"}}}).ok()
    assert {"a": "b"} == labelled["metadata"]["labels"]
