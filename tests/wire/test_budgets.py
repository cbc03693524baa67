"""A RemediationBudget read: defaults, every field, and every mistake with its place and its remedy."""

from __future__ import annotations

from typing import Any

import pytest

from noderemedy.model.budgetstatus import BudgetStatus
from noderemedy.model.checkstatus import Foreign, Told
from noderemedy.model.healthcheck import Count, Percent
from noderemedy.model.ids import BUDGET
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.remediationbudget import DEFAULT, Allowance, Opening, RemediationBudget
from noderemedy.model.time import Span
from noderemedy.wire.objects import convert


def read(spec: Any = None, *, name: str = "cluster", status: Any = None, **annotations: str) -> RemediationBudget:
    notes = {f"node-remedy.dev/{key}": value for key, value in annotations.items()}
    tree = {
        "apiVersion": "node-remedy.dev/v1alpha1",
        "kind": "RemediationBudget",
        "metadata": {"name": name, "uid": "b", "resourceVersion": "1", "generation": 4, "annotations": notes},
        "spec": spec,
        "status": status,
    }
    obj = convert(BUDGET, tree).obj
    assert isinstance(obj, RemediationBudget)
    return obj


def test_an_empty_budget_is_the_default() -> None:
    """Every field has the value that holds without an object."""
    assert RemediationBudget(uid="b", generation=4) == read({}) == read()
    assert (Allowance(2, 10), Allowance(10, 20)) == (DEFAULT.max_in_flight, DEFAULT.max_per_hour)


def test_every_field_is_read() -> None:
    """Numbers, shares, domains, windows, cooldown, and the pause on the object."""
    found = read(
        {
            "maxUnhealthy": 3,
            "maxInFlight": "25%",
            "maxPerHour": 7,
            "perDomain": {"topologyKey": "example.com/rack", "maxUnhealthy": "50%"},
            "windows": [
                {"days": ["Sun", "Sat"], "from": "22:00", "to": "04:00"},
                {"from": "12:00", "to": "12:00", "timeZone": "UTC"},
            ],
            "cooldown": "90s",
        },
        paused="true",
    )

    assert () == found.problems
    assert (Count(3), Allowance(1, 25), Allowance(7)) == (found.max_unhealthy, found.max_in_flight, found.max_per_hour)
    assert ("example.com/rack", Percent(50)) == (found.topology_key, found.domain_max_unhealthy)
    assert (Span(90_000), Paused()) == (found.cooldown, found.paused)
    assert (Opening((5, 6), 1320, 360), Opening((0, 1, 2, 3, 4, 5, 6), 720, 1440)) == found.openings


@pytest.mark.parametrize(
    ("value", "nodes", "expected"),
    [("10%", 5, 1), ("10%", 30, 3), ("0%", 30, 0), (0, 30, 0), (4, 2, 4), ("100%", 7, 7)],
)
def test_a_share_is_rounded_down_and_at_least_one(value: Any, nodes: int, expected: int) -> None:
    """Ten percent of five nodes is one; zero is a stop."""
    assert expected == read({"maxInFlight": value}).max_in_flight.of(nodes)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("garbage", ("spec", "write an object")),
        ({"maxUnhealthy": "140%"}, ("spec.maxUnhealthy", "'140%'", "0%")),
        ({"maxUnhealthy": "two"}, ("spec.maxUnhealthy", "'two'")),
        ({"maxInFlight": -1}, ("spec.maxInFlight", "-1")),
        ({"maxPerHour": True}, ("spec.maxPerHour", "true")),
        ({"perDomain": "rack"}, ("spec.perDomain", "write an object")),
        ({"perDomain": {"topologyKey": ""}}, ("spec.perDomain.topologyKey", "write a text")),
        ({"perDomain": {"maxUnhealthy": 1.5}}, ("spec.perDomain.maxUnhealthy", "1.5")),
        ({"podsPerMinute": 0}, ("spec.podsPerMinute", "0", "from 1 on", "maxInFlight")),
        ({"podsPerMinute": "many"}, ("spec.podsPerMinute", "'many'", "from 1 on")),
        ({"windows": {}}, ("spec.windows", "write a list")),
        ({"windows": [7]}, ("spec.windows[0]", "write an object")),
        ({"windows": [{"from": 1320, "to": "04:00"}]}, ("spec.windows[0].from", "1320", "in quotes")),
        ({"windows": [{"from": "22:00"}]}, ("spec.windows[0].to: it is missing",)),
        ({"windows": [{"from": "24:00", "to": "04:00"}]}, ("spec.windows[0].from", "'24:00'")),
        (
            {"windows": [{"days": ["Mon", "Fun"], "from": "01:00", "to": "02:00"}]},
            ("spec.windows[0].days[1]: 'Fun' cannot be read; write one of Mon",),
        ),
        ({"windows": [{"days": [], "from": "01:00", "to": "02:00"}]}, ("spec.windows[0].days: an empty list",)),
        (
            {"windows": [{"from": "01:00", "to": "02:00", "timeZone": "Europe/Berlin"}]},
            ("spec.windows[0].timeZone", "UTC"),
        ),
        ({"cooldown": 300}, ("spec.cooldown", "300", '"5m"')),
        ({"cooldown": "soon"}, ("spec.cooldown", "'soon'")),
    ],
)
def test_each_mistake_is_named_with_its_remedy(spec: Any, words: tuple[str, ...]) -> None:
    """One problem, which names the field, what was found and what to write."""
    (problem,) = read(spec).problems

    for word in words:
        assert word in problem


@pytest.mark.parametrize(("spec", "limit"), [({}, None), ({"podsPerMinute": 60}, 60), ({"podsPerMinute": "x"}, 1)])
def test_freed_pods_per_minute(spec: Any, limit: int | None) -> None:
    """A number; nothing is no limit, and garbage is the strictest one."""
    assert limit == read(spec).pods_per_minute


def test_another_name_is_a_mistake() -> None:
    """There is one budget."""
    assert ("metadata.name: mine; there is one budget, and its name is cluster",) == read(name="mine").problems


def test_a_pause_that_cannot_be_read_is_one() -> None:
    """Garbage is never the same as absent."""
    assert isinstance(read(paused="later").paused, Malformed)


def test_a_status_is_read_back() -> None:
    """Counts and our own conditions; those of others word for word; garbage is not there."""
    ours = {"type": "Blocked", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "t"}
    status = {"inFlight": 1, "unhealthy": 2, "total": "many", "startedLastHour": 3, "conditions": [ours, {"type": "X"}]}

    expected = BudgetStatus(1, 2, 0, 3, 0, (Told("Blocked", "True", "R", "m", "t"), Foreign('{"type":"X"}')))
    assert expected == read(status=status).status
