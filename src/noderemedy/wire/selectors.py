"""A label selector as somebody wrote it, to the selector of the model. Wrong parts are told with path and remedy.

The API server does not look into selectors of custom objects, so everything is looked at here: a level that was
forgotten (`selector: {role: worker}`) must not select all machines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from noderemedy.model.meta import Malformed
from noderemedy.model.selector import Expression, Operator, Selector
from noderemedy.wire.fields import Fields, is_object, is_plain

WORD = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
KEY = re.compile(rf"([a-z0-9]([-a-z0-9.]{{0,251}}[a-z0-9])?/)?{WORD}", re.ASCII)
VALUE = re.compile(rf"({WORD})?", re.ASCII)
OPERATORS = {operator.value: operator for operator in Operator}
WITH_VALUES = (Operator.IN, Operator.NOT_IN)


def read_selector(fields: Fields, path: str, tree: Any) -> Selector | Malformed:
    """The selector at a path; an empty one where there is none."""
    if tree is None:
        return Selector()
    if not is_object(tree):
        return fields.wrong(path, tree, "write an object with matchLabels or matchExpressions")
    others = [key for key in tree if key not in ("matchLabels", "matchExpressions")]
    wrong = [fields.wrong(f"{path}.{key}", tree[key], "put labels below matchLabels") for key in others]
    labels = match_labels(fields, f"{path}.matchLabels", tree.get("matchLabels"))
    expressions = match_expressions(fields, f"{path}.matchExpressions", tree.get("matchExpressions"))
    if isinstance(labels, Malformed) or wrong:
        return labels if isinstance(labels, Malformed) else wrong[0]
    return expressions if isinstance(expressions, Malformed) else Selector(labels, expressions)


def match_labels(fields: Fields, path: str, tree: Any) -> tuple[tuple[str, str], ...] | Malformed:
    if tree is None:
        return ()
    if not is_object(tree):
        return fields.wrong(path, tree, "write labels as name: value")
    found = [wrong_key(fields, path, key) or wrong_value(fields, f"{path}.{key}", tree[key]) for key in tree]
    return first(found) or tuple(sorted(tree.items()))


def match_expressions(fields: Fields, path: str, tree: Any) -> tuple[Expression, ...] | Malformed:
    items = fields.objects(path, tree)
    found = [match_expression(fields, where, item) for where, item in items]
    if len(items) < (len(tree) if isinstance(tree, list) else tree is not None):
        return Malformed(f"spec.{path} cannot be read")  # and has been told
    return first(found) or tuple(one for one in found if isinstance(one, Expression))


def match_expression(fields: Fields, path: str, item: dict[Any, Any]) -> Expression | Malformed:
    key, values = item.get("key"), item.get("values") or []
    named = item.get("operator")
    operator = OPERATORS.get(named) if isinstance(named, str) else None
    wrong = wrong_key(fields, f"{path}.key", key)
    if operator is None:
        return fields.wrong(f"{path}.operator", named, f"write one of {', '.join(OPERATORS)}")
    if not isinstance(values, list):
        return fields.wrong(f"{path}.values", values, "write a list")
    if operator in WITH_VALUES and not values:
        return fields.wrong(f"{path}.values", None, f"{operator.value} needs at least one value")
    if operator not in WITH_VALUES and values:
        return fields.wrong(f"{path}.values", values, f"{operator.value} takes no values")
    wrongs = [wrong_value(fields, f"{path}.values[{number}]", value) for number, value in enumerate(values)]
    if told := wrong or first(wrongs):
        return told
    assert isinstance(key, str)
    return Expression(key, operator, tuple(values))


def first(found: Iterable[object]) -> Malformed | None:
    """All of them are told by now; one stands for the whole."""
    return next((one for one in found if isinstance(one, Malformed)), None)


def wrong_key(fields: Fields, path: str, key: Any) -> Malformed | None:
    if isinstance(key, str) and KEY.fullmatch(key):
        return None
    return fields.wrong(path, key, "write the name of a label")


def wrong_value(fields: Fields, path: str, value: Any) -> Malformed | None:
    if isinstance(value, str) and VALUE.fullmatch(value):
        return None
    quoted = f'write it in quotes: "{str(value).lower()}"' if is_plain(value) else "write the value of a label"
    return fields.wrong(path, value, quoted)
