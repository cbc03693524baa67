"""Which machines a check speaks for: labels, expressions, clusters, and those that nobody speaks for."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import a_machine
from tests.core.healthcheck.targets import a_check

from noderemedy.core.healthcheck.selector import is_target, selects
from noderemedy.core.labels import matches
from noderemedy.model.machine import Machine
from noderemedy.model.meta import Malformed
from noderemedy.model.selector import Expression, Operator, Selector

LABELS = {"role": "worker", "zone": "a", "empty": ""}


def labelled(labels: dict[str, str], **more: Any) -> Machine:
    return replace(a_machine(), labels=tuple(sorted(labels.items())), **more)


@pytest.mark.parametrize(
    ("wanted", "is_match"),
    [
        ({}, True),
        ({"role": "worker"}, True),
        ({"role": "worker", "zone": "a"}, True),
        ({"role": "worker", "zone": "b"}, False),
        ({"role": "master"}, False),
        ({"missing": "x"}, False),
        ({"missing": ""}, False),
        ({"empty": ""}, True),
    ],
)
def test_match_labels(wanted: dict[str, str], is_match: bool) -> None:
    """All labels must be there with their values; an empty value is a value."""
    assert is_match == matches(Selector(match_labels=tuple(wanted.items())), LABELS)


@pytest.mark.parametrize(
    ("key", "operator", "values", "is_match"),
    [
        ("zone", Operator.IN, ("a", "b"), True),
        ("zone", Operator.IN, ("b",), False),
        ("missing", Operator.IN, ("a",), False),
        ("empty", Operator.IN, ("",), True),
        ("missing", Operator.IN, ("",), False),
        ("zone", Operator.NOT_IN, ("b",), True),
        ("zone", Operator.NOT_IN, ("a", "b"), False),
        ("missing", Operator.NOT_IN, ("a",), True),
        ("zone", Operator.EXISTS, (), True),
        ("empty", Operator.EXISTS, (), True),
        ("missing", Operator.EXISTS, (), False),
        ("missing", Operator.DOES_NOT_EXIST, (), True),
        ("zone", Operator.DOES_NOT_EXIST, (), False),
        ("empty", Operator.DOES_NOT_EXIST, (), False),
    ],
)
def test_match_expressions(key: str, operator: Operator, values: tuple[str, ...], is_match: bool) -> None:
    """As the Kubernetes API does it: a missing label satisfies NotIn."""
    assert is_match == matches(Selector(match_expressions=(Expression(key, operator, values),)), LABELS)


def test_all_parts_must_hold() -> None:
    """Labels and expressions together."""
    zone = Expression("zone", Operator.IN, ("a",))
    gone = Expression("zone", Operator.DOES_NOT_EXIST)

    assert matches(Selector((("role", "worker"),), (zone,)), LABELS)
    assert not matches(Selector((("role", "master"),), (zone,)), LABELS)
    assert not matches(Selector((("role", "worker"),), (zone, gone)), LABELS)


@pytest.mark.parametrize(
    ("name", "machine", "is_selected"),
    [
        ("", labelled(LABELS), True),
        ("east", labelled(LABELS, cluster_name="east"), True),
        ("east", labelled({**LABELS, "cluster.x-k8s.io/cluster-name": "east"}), True),
        ("east", labelled(LABELS, cluster_name="west"), False),
        ("east", labelled(LABELS), False),
    ],
)
def test_a_check_speaks_for_its_own_cluster(name: str, machine: Machine, is_selected: bool) -> None:
    """Selectors once crossed clusters (CAPI #3202); a check without a name speaks for all of its namespace."""
    assert is_selected == selects(a_check(cluster_name=name), machine)


@pytest.mark.parametrize(
    ("more", "is_counted"),
    [
        ({}, True),
        ({"cluster_paused": True}, False),
        ({"skips_remediation": True}, False),
        ({"deleting": True}, True),
        ({"needs_remediation": True}, True),
    ],
)
def test_who_is_a_target(more: dict[str, Any], is_counted: bool) -> None:
    """Paused and skipped machines are neither judged nor counted; one that is being deleted still counts."""
    assert is_counted == is_target(a_check(), labelled(LABELS, **more))


def test_a_check_that_cannot_say_whom_it_means_has_no_targets() -> None:
    """It must not select everything."""
    machine = labelled(LABELS)

    assert not is_target(a_check(selector=Malformed("x")), machine)
    assert not is_target(a_check(cluster_name=Malformed("x")), machine)
    assert is_target(a_check(selector=Selector()), machine)  # whether empty is allowed was decided when it was read
