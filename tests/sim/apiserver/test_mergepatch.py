"""JSON merge patch: the standard's own examples, and laws over random documents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noderemedy.sim.apiserver.mergepatch import merge

EXAMPLES = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ({"a": 1}, {"a": True}, {"a": True}),
]


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)


leaves = st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=2)
documents = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | objects(inner), max_leaves=8)


def by_the_book(target: Any, patch: Any) -> Any:
    """The standard's own algorithm, which shares nothing."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = by_the_book(result.get(key), value)
    return result


@pytest.mark.parametrize(("target", "patch", "expected"), EXAMPLES)
def test_examples_of_the_standard(target: Any, patch: Any, expected: Any) -> None:
    """Merging gives what RFC 7396 says, telling true from one."""
    assert json.dumps(expected) == json.dumps(merge(target, patch))


@settings(max_examples=60)
@given(documents, documents)
def test_equals_the_standard_and_changes_no_input(target: Any, patch: Any) -> None:
    """Merging equals the standard's algorithm and leaves target and patch as they were."""
    before = json.dumps([target, patch])
    assert by_the_book(target, patch) == merge(target, patch)
    assert before == json.dumps([target, patch])


@settings(max_examples=40)
@given(objects(documents), objects(documents))
def test_twice_is_once(target: Any, patch: Any) -> None:
    """Merging the same patch again changes nothing, and gives the very same value."""
    once = merge(target, patch)
    assert merge(once, patch) is once
