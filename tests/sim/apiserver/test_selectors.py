"""Label and field selectors, as queries write them."""

from __future__ import annotations

import pytest

from noderemedy.model.ids import NODE, Kind
from noderemedy.sim.apiserver.errors import ApiError
from noderemedy.sim.apiserver.selectors import field_predicate, label_predicate, matches_selector

POD = Kind("", "Pod")
LABELS = {"app": "db", "tier": "one", "x.dev/y": "", "rank": "7"}

MATCHES = [
    ("app=db", True),
    ("app==db", True),
    ("app=web", False),
    ("app!=web", True),
    ("none!=web", True),
    ("app in (db, web)", True),
    ("app notin (db)", False),
    ("none notin (db)", True),
    ("app", True),
    ("!app", False),
    ("!none", True),
    ("x.dev/y", True),
    ("x.dev/y=", True),
    ("app=db,tier in (one,two),!none", True),
    ("app=db,tier=two", False),
    ("rank>6", True),
    ("rank<7", False),
    ("app>6", False),
    ("", True),
]


@pytest.mark.parametrize(("text", "expected"), MATCHES)
def test_label_selector(text: str, expected: bool) -> None:
    """The selector matches these labels, or not, as the row says."""
    predicate = label_predicate(text)
    assert expected is (predicate is None or predicate({"metadata": {"labels": LABELS}}))


@pytest.mark.parametrize("text", ["app in db", "=x", "app=-x-", "a b", "app in (a", "app=%"])
def test_nonsense_is_refused(text: str) -> None:
    """What cannot be read is a bad request."""
    with pytest.raises(ApiError) as refusal:
        label_predicate(text)
    assert 400 == refusal.value.code


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (POD, "spec.nodeName=n1", True),
        (POD, "spec.nodeName!=n1", False),
        (POD, "status.phase=Running,spec.nodeName=n1", True),
        (POD, "metadata.name=p,metadata.namespace=d", True),
        (POD, "metadata.name=q", False),
        (NODE, "spec.unschedulable=false", True),
    ],
)
def test_field_selector(kind: Kind, text: str, expected: bool) -> None:
    """Fields compare as text, and an absent boolean is false."""
    predicate = field_predicate(kind, text)
    assert predicate is not None
    tree = {"metadata": {"name": "p", "namespace": "d"}, "spec": {"nodeName": "n1"}, "status": {"phase": "Running"}}
    assert expected is predicate(tree)


@pytest.mark.parametrize("text", ["spec.image=x", "spec.nodeName", "metadata.labels=x"])
def test_unknown_field_is_refused(text: str) -> None:
    """A field that a kind cannot be selected by is a bad request."""
    with pytest.raises(ApiError) as refusal:
        field_predicate(NODE, text)
    assert 400 == refusal.value.code


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "db"}}, True),
        ({"matchLabels": {"app": "web"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["db"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["db"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_selector_object(selector: dict[str, object] | None, expected: bool) -> None:
    """A LabelSelector object matches as a real controller's does; none at all matches nothing."""
    assert expected is matches_selector(selector, LABELS)
