"""Label selectors as somebody wrote them: what can be read, and what must not select everything."""

from __future__ import annotations

from typing import Any

import pytest

from noderemedy.model.meta import Malformed
from noderemedy.model.selector import Expression, Operator, Selector
from noderemedy.wire.fields import Fields
from noderemedy.wire.selectors import read_selector


def read(tree: Any) -> tuple[Selector | Malformed, tuple[str, ...]]:
    fields = Fields({})
    return read_selector(fields, "selector", tree), fields.problems


@pytest.mark.parametrize(
    ("tree", "selector"),
    [
        (None, Selector()),
        ({}, Selector()),
        ({"matchLabels": {"b": "2", "a": "1"}}, Selector((("a", "1"), ("b", "2")))),
        ({"matchLabels": {"a": ""}}, Selector((("a", ""),))),
        ({"matchLabels": {"example.com/a_B.c-1": "x_Y.z-1"}}, Selector((("example.com/a_B.c-1", "x_Y.z-1"),))),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x", ""]}]},
            Selector((), (Expression("a", Operator.IN, ("x", "")),)),
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["x"]}]},
            Selector((), (Expression("a", Operator.NOT_IN, ("x",)),)),
        ),
        (
            {
                "matchExpressions": [
                    {"key": "a", "operator": "Exists"},
                    {"key": "b", "operator": "DoesNotExist", "values": []},
                ]
            },
            Selector((), (Expression("a", Operator.EXISTS), Expression("b", Operator.DOES_NOT_EXIST))),
        ),
    ],
)
def test_selectors(tree: Any, selector: Selector) -> None:
    """Both halves, all four operators, labels sorted."""
    assert (selector, ()) == read(tree)


def an_expression(**parts: Any) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"], **parts}]}


GARBAGE: list[tuple[Any, str]] = [
    ("role=worker", "selector"),
    ([], "selector"),
    (True, "selector"),
    ({"role": "worker"}, "selector.role"),
    ({"matchLabels": {"a": "1"}, "matchFields": {}}, "selector.matchFields"),
    ({5: "x"}, "selector.5"),
    ({"matchLabels": "a"}, "selector.matchLabels"),
    ({"matchLabels": ["a"]}, "selector.matchLabels"),
    ({"matchLabels": {"a": True}}, "selector.matchLabels.a"),
    ({"matchLabels": {"a": 1}}, "selector.matchLabels.a"),
    ({"matchLabels": {"a": None}}, "selector.matchLabels.a"),
    ({"matchLabels": {"a": "x" * 64}}, "selector.matchLabels.a"),
    ({"matchLabels": {"a": "with space"}}, "selector.matchLabels.a"),
    ({"matchLabels": {"a": "x\n"}}, "selector.matchLabels.a"),
    ({"matchLabels": {"-a": "x"}}, "selector.matchLabels"),
    ({"matchLabels": {"": "x"}}, "selector.matchLabels"),
    ({"matchLabels": {"a/b/c": "x"}}, "selector.matchLabels"),
    ({"matchLabels": {7: "x"}}, "selector.matchLabels"),
    ({"matchExpressions": {}}, "selector.matchExpressions"),
    ({"matchExpressions": "a"}, "selector.matchExpressions"),
    ({"matchExpressions": [None]}, "selector.matchExpressions[0]"),
    ({"matchExpressions": [{"operator": "Exists"}]}, "selector.matchExpressions[0].key"),
    (an_expression(key=None), "selector.matchExpressions[0].key"),
    (an_expression(operator="in"), "selector.matchExpressions[0].operator"),
    (an_expression(operator=None), "selector.matchExpressions[0].operator"),
    (an_expression(operator=[]), "selector.matchExpressions[0].operator"),
    (an_expression(operator="Gt"), "selector.matchExpressions[0].operator"),
    (an_expression(values=[]), "selector.matchExpressions[0].values"),
    (an_expression(values="x"), "selector.matchExpressions[0].values"),
    (an_expression(values=[True]), "selector.matchExpressions[0].values[0]"),
    (an_expression(operator="Exists"), "selector.matchExpressions[0].values"),
]


@pytest.mark.parametrize(("tree", "path"), GARBAGE)
def test_garbage(tree: Any, path: str) -> None:
    """What is wrong is told with its path; nothing is left out silently, nothing selects all."""
    selector, problems = read(tree)

    assert isinstance(selector, Malformed)
    assert [f"spec.{path}"] == [problem.split(": ")[0] for problem in problems]


def test_one_mistake_hides_no_other() -> None:
    """Whoever mends one would meet the next one only then."""
    expressions = [{"key": "x", "operator": "Exists", "values": ["y"]}, {"operator": "Among"}, {"key": "?"}, 5]
    labels = {"e": 1, "f": None}

    selector, problems = read({"matchExpressions": expressions, "matchLabels": labels, "matchLables": {"a": "b"}})

    assert isinstance(selector, Malformed)
    assert {
        "spec.selector.matchLables",
        "spec.selector.matchLabels.e",
        "spec.selector.matchLabels.f",
        "spec.selector.matchExpressions[0].values",
        "spec.selector.matchExpressions[1].key",
        "spec.selector.matchExpressions[1].operator",
        "spec.selector.matchExpressions[2].key",
        "spec.selector.matchExpressions[2].operator",
        "spec.selector.matchExpressions[3]",
    } == {problem.split(": ")[0] for problem in problems}


def test_a_label_without_quotes() -> None:
    """YAML makes a boolean of `true`; the remedy says what to write."""
    _, problems = read({"matchLabels": {"gpu": True}})

    assert ('spec.selector.matchLabels.gpu: true cannot be read; write it in quotes: "true"',) == problems
