"""Selectors in one line, as people write them behind `kubectl -l`."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noderemedy.model.meta import Malformed
from noderemedy.model.selector import Expression, Operator, Selector
from noderemedy.wire.selectortext import read_selector_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("type=compute", Selector((("type", "compute"),))),
        ("b==2 , a = 1", Selector((("a", "1"), ("b", "2")))),
        ("a=", Selector((("a", ""),))),
        ("a!=1", Selector((), (Expression("a", Operator.NOT_IN, ("1",)),))),
        ("a in (2, 1)", Selector((), (Expression("a", Operator.IN, ("1", "2")),))),
        ("a notin (1),example.com/b", Selector((), (
            Expression("a", Operator.NOT_IN, ("1",)), Expression("example.com/b", Operator.EXISTS, ())
        ))),
        ("!a", Selector((), (Expression("a", Operator.DOES_NOT_EXIST, ()),))),
    ],
)  # fmt: skip
def test_all_forms_are_read(text: str, expected: Selector) -> None:
    """Equality, sets, presence and absence."""
    assert expected == read_selector_text(text)


@pytest.mark.parametrize("text", ["", "  ", "a=1,", "a in 1", "a in (", "-a=1", "a=b c", "a=1=2", "a>1", "x" * 3_000])
def test_what_cannot_be_read_is_refused(text: str) -> None:
    """An empty one, too: nobody means all nodes without saying so."""
    assert isinstance(read_selector_text(text), Malformed)


@settings(max_examples=100)
@given(st.text("ab=!,() in", max_size=30) | st.text(max_size=30))
def test_no_text_raises(text: str) -> None:
    """Whatever was written, it selects by something or is refused."""
    found = read_selector_text(text)

    assert isinstance(found, Malformed) or not found.is_empty
