"""deploy/alerts is about figures and reasons that exist: a rule on a name that nobody publishes would never fire."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from prometheus_client import Counter
from prometheus_client.metrics import MetricWrapperBase
from tests.deploy.promql import Wrong, parse

from noderemedy.drivers.metrics import Metrics
from noderemedy.manager.settings import Settings
from noderemedy.model.reasons import Reason

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "deploy" / "alerts" / "node-remedy.yaml").read_text()
FIGURE = re.compile(r"\bnode_remedy_\w+")
WANTED = ("PowerOffOverdue", "NodeOverdue", "NeedsAPerson", "ObjectQuarantined", "NoLeader", "WatchStale")


def rules(text: str) -> dict[str, dict[str, Any]]:
    """Alert name → rule."""
    groups = yaml.safe_load(text)["spec"]["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def published() -> dict[str, set[str]]:
    """Every figure that a manager publishes, and its labels."""
    figures = [figure for figure in vars(Metrics()).values() if isinstance(figure, MetricWrapperBase)]
    return {
        f"{figure._name}_total" if isinstance(figure, Counter) else figure._name: set(figure._labelnames)
        for figure in figures
    }


def alerting() -> set[str]:
    """The names of all reasons that call a person."""
    found, families = set(), [Reason]
    while families:
        family = families.pop()
        families += family.__subclasses__()
        found |= {family.__name__} if family.alert else set()
    return found


def assert_published(text: str) -> None:
    """Every figure in every rule is one of the manager's, with labels that it has."""
    known = published()
    for name, rule in rules(text).items():
        figures = set(FIGURE.findall(rule["expr"]))
        assert figures, f"{name} asks for no figure"
        assert figures <= set(known), f"{name} asks for {figures - set(known)}"
        for figure, inside in re.findall(r"(node_remedy_\w+)\{([^}]*)\}", rule["expr"]):
            assert set(re.findall(r"(\w+)=", inside)) <= known[figure], f"{name}: {figure} has no such label"


def assert_reasons_covered(text: str) -> None:
    """Every reason that calls a person is in some rule, and no rule waits for one that does not exist."""
    named = {name for found in re.findall(r'reason=~?"([^"]*)"', text) for name in found.split("|")}
    assert alerting() - {"ObjectUnreadable"} == named  # that one is counted by kind, as quarantined


def assert_lasting(text: str) -> None:
    """Every rule that counts beginnings asks as well for what stands now, of the very same reasons."""
    for name, rule in rules(text).items():
        counted = set(re.findall(r"increase\(node_remedy_\w+_total(\{[^}]*\})?\[1h\]\)", rule["expr"]))
        standing = re.findall(
            r"or max_over_time\(node_remedy_(?:reasons_standing|unreadable_objects)(\{[^}]*\})?\[5m\]\) > 0",
            rule["expr"],
        )
        assert counted == set(standing), f"{name} ends while its trouble goes on"


def test_an_alert_lasts_as_long_as_its_trouble() -> None:
    """A reason counts only when it begins; an hour later the trouble may still stand, and so must the alert."""
    assert_lasting(TEXT)


def test_figures_exist() -> None:
    """No rule asks for a figure or a label that the manager does not publish."""
    assert_published(TEXT)


def test_reasons_are_covered() -> None:
    """The rules name exactly the reasons that are marked as alerts."""
    assert_reasons_covered(TEXT)


@pytest.mark.parametrize(
    ("check", "line", "instead"),
    [
        (assert_lasting, 'or max_over_time(node_remedy_reasons_standing{reason="PowerOffOverdue"}[5m]) > 0', ""),
        (assert_lasting, "or max_over_time(node_remedy_unreadable_objects[5m]) > 0", ""),
        (assert_published, "max(node_remedy_leader)", "max(node_remedy_leading)"),
        (assert_published, "node_remedy_watch_age_seconds)", 'node_remedy_watch_age_seconds{reason="x"})'),
        (assert_reasons_covered, "|RoomBroken", ""),
        (assert_reasons_covered, '"PowerOffOverdue"', '"PowerOffLate"'),
    ],
)
def test_sabotage_is_seen(check: Any, line: str, instead: str) -> None:
    """A name that does not exist, or a reason that is forgotten, fails its check."""
    assert line in TEXT

    with pytest.raises(AssertionError):
        check(TEXT.replace(line, instead))


def test_every_wanted_alert_is_there_and_says_what_to_do() -> None:
    """Each rule has a severity, a summary and a description."""
    found = rules(TEXT)

    assert {f"NodeRemedy{name}" for name in WANTED} == set(found)
    assert all(rule["labels"]["severity"] in ("warning", "critical") for rule in found.values())
    assert all({"summary", "description"} == set(rule["annotations"]) for rule in found.values())


def test_a_watch_is_stale_when_the_manager_thinks_so() -> None:
    """The threshold in the rule is the age at which the manager stops deciding."""
    default = {item.name: item.default for item in msgspec.structs.fields(Settings)}["stale_after"]

    assert f"> {default.ms // 1000}" in rules(TEXT)["NodeRemedyWatchStale"]["expr"]


def test_expressions_are_promql() -> None:
    """Each is an instant vector by a grammar of its own, and all its figures are the manager's."""
    for name, rule in rules(TEXT).items():
        kind, figures = parse(rule["expr"])
        assert ("instant", []) == (kind, [one for one in figures if one not in published()]), name


@pytest.mark.parametrize(
    "text",
    [
        "max(node_remedy_leader) == ",
        "max(node_remedy_leader == 1",
        "increase(node_remedy_leader) > 0",
        "node_remedy_leader[5m] > 0",
        "max(node_remedy_leader{reason=x})",
        'max(node_remedy_leader{reason=~"("})',
        "max by reason (node_remedy_leader)",
        "maximum(node_remedy_leader)",
        "node_remedy_leader > 1 for 5m",
        "node_remedy_leader & 1",
    ],
)
def test_what_is_no_promql_is_refused(text: str) -> None:
    """The parser has been seen red: brackets, ranges, matchers, functions, leftovers."""
    with pytest.raises((Wrong, re.error)):
        parse(text)
