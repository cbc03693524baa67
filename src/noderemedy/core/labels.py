"""The shared shelf: label selection as the Kubernetes API does it. Called for every machine or node event.

A missing label satisfies `NotIn` and `DoesNotExist`, as in the API.
"""

from __future__ import annotations

from collections.abc import Mapping

from noderemedy.model.selector import Expression, Operator, Selector


def matches(selector: Selector, labels: Mapping[str, str]) -> bool:
    """Whether these labels satisfy all parts of the selector; an empty one is satisfied by all."""
    return all(labels.get(key) == value for key, value in selector.match_labels) and all(
        satisfies(expression, labels) for expression in selector.match_expressions
    )


def satisfies(expression: Expression, labels: Mapping[str, str]) -> bool:
    value = labels.get(expression.key)
    match expression.operator:
        case Operator.IN:
            return value in expression.values
        case Operator.NOT_IN:
            return value not in expression.values
        case Operator.EXISTS:
            return value is not None
        case Operator.DOES_NOT_EXIST:
            return value is None
