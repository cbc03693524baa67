"""What is wrong with a plan: told as one sentence, kept in parts."""

from __future__ import annotations

import pytest

from noderemedy.model.fenceplan import PlanProblem


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (PlanProblem("no plug"), "no plug"),
        (PlanProblem("no plug", "fence-config-n1"), "ConfigMap fence-config-n1: no plug"),
        (PlanProblem("no plug", "fence-config-n1", "n1"), "ConfigMap fence-config-n1, node n1: no plug"),
        (PlanProblem("no plug", "f", "n1", "pdu"), "ConfigMap f, node n1, method pdu: no plug"),
        (PlanProblem("a: b, node c: d", "f", method="pdu"), "ConfigMap f, method pdu: a: b, node c: d"),
    ],
)
def test_a_problem_is_told_with_its_place(problem: PlanProblem, sentence: str) -> None:
    """As far as the place is known."""
    assert sentence == str(problem)
