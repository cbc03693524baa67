"""JSON patch: each operation, and refusals that change nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from noderemedy.sim.apiserver.errors import ApiError
from noderemedy.sim.apiserver.jsonpatch import apply_json_patch

DOCUMENT = {"a": {"b": 1}, "l": [1, 2, 3], "x/y": 4, "m~n": 5}

APPLIED: list[tuple[list[dict[str, Any]], Any]] = [
    ([{"op": "add", "path": "/a/c", "value": 2}], {**DOCUMENT, "a": {"b": 1, "c": 2}}),
    ([{"op": "add", "path": "/l/1", "value": 9}], {**DOCUMENT, "l": [1, 9, 2, 3]}),
    ([{"op": "add", "path": "/l/-", "value": 9}], {**DOCUMENT, "l": [1, 2, 3, 9]}),
    ([{"op": "remove", "path": "/l/0"}], {**DOCUMENT, "l": [2, 3]}),
    ([{"op": "remove", "path": "/a/b"}], {**DOCUMENT, "a": {}}),
    ([{"op": "replace", "path": "/a/b", "value": 7}], {**DOCUMENT, "a": {"b": 7}}),
    ([{"op": "replace", "path": "/a/new", "value": 7}], {**DOCUMENT, "a": {"b": 1, "new": 7}}),
    ([{"op": "copy", "from": "/a/b", "path": "/l/0"}], {**DOCUMENT, "l": [1, 1, 2, 3]}),
    ([{"op": "move", "from": "/a/b", "path": "/b"}], {**DOCUMENT, "a": {}, "b": 1}),
    ([{"op": "replace", "path": "/x~1y", "value": 0}], {**DOCUMENT, "x/y": 0}),
    ([{"op": "replace", "path": "/m~0n", "value": 0}], {**DOCUMENT, "m~n": 0}),
    ([{"op": "test", "path": "/a/b", "value": 1}], DOCUMENT),
    ([{"op": "test", "path": "/none", "value": None}], DOCUMENT),
]
REFUSED: list[tuple[Any, int]] = [
    ({"op": "add"}, 400),
    (["add"], 400),
    ([{"op": "test", "path": "/a/b", "value": 2}], 422),
    ([{"op": "remove", "path": "/none"}], 422),
    ([{"op": "replace", "path": "/none/deeper", "value": 1}], 422),
    ([{"op": "add", "path": "/l/9", "value": 1}], 422),
    ([{"op": "add", "path": "/l/x", "value": 1}], 422),
    ([{"op": "add", "path": "/a/b/c", "value": 1}], 422),
    ([{"op": "add", "path": "no-slash", "value": 1}], 422),
    ([{"op": "add", "path": "/a/c"}], 422),
    ([{"op": "invent", "path": "/a"}], 422),
    ([{"op": "remove", "path": ""}], 422),
    ([{"op": "add", "path": "/a/c", "value": 1}, {"op": "test", "path": "/a/c", "value": 2}], 422),
    ([{"op": "test", "path": "/a", "value": 1}] * 10_001, 413),
]


@pytest.mark.parametrize(("operations", "expected"), APPLIED)
def test_operation(operations: Any, expected: Any) -> None:
    """An operation changes what it names and leaves the document it was given."""
    before = json.dumps(DOCUMENT)
    assert expected == apply_json_patch(DOCUMENT, operations)
    assert before == json.dumps(DOCUMENT)


@pytest.mark.parametrize(("operations", "code"), REFUSED)
def test_refusal(operations: Any, code: int) -> None:
    """What is no patch, or does not fit, is refused with its own code."""
    with pytest.raises(ApiError) as refusal:
        apply_json_patch(DOCUMENT, operations)
    assert code == refusal.value.code
