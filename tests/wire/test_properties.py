"""Lines of KEY=VALUE: what is right is kept with its line, what is wrong is named by it and never repeated."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fuzzing import in_time

from noderemedy.wire.properties import LINES_MAX, PROBLEMS_MAX, VALUE_MAX, Document, Property, read_properties


def read(text: str) -> Document:
    return read_properties("x.properties", text)


def test_lines_are_read_with_their_numbers() -> None:
    """Comments, empty lines and space around a word mean nothing; only the first equals sign divides."""
    text = "# how\n\n  plug = 2 \r\nfilter=Name=tag:x,Values=y\n\tempty="

    assert Document(
        "x.properties",
        (Property("plug", "2", 3), Property("filter", "Name=tag:x,Values=y", 4), Property("empty", "", 5)),
    ) == read(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('"a b"', "a b"),
        ("'a'", "a"),
        ("\"a'", "\"a'"),
        ('"a # b"', "a # b"),
        ("a#b", "a#b"),
        ('"', '"'),
        ('""', ""),
        ('a"b"', 'a"b"'),
    ],
)
def test_a_pair_of_quotes_is_taken_off(value: str, expected: str) -> None:
    """As agents do it: around the whole value only."""
    assert (Property("k", expected, 1),) == read(f"k={value}").properties


WRONG = [
    ("no equals sign: hunter2", "line 1: this is not KEY=VALUE"),
    ("=hunter2", "line 1: the name before the equals sign"),
    ("two words=hunter2", "line 1: the name before the equals sign"),
    ("k=hunter2\x00", "line 1: the value of k holds a control character"),
    (f"k={'hunter2' * VALUE_MAX}", "line 1: the value of k has"),
    ("k=1 # hunter2", "line 1: a comment needs a line of its own"),
    ("k=1\nk=hunter2", "line 2: k is there twice, first in line 1"),
]


@pytest.mark.parametrize(("text", "problem"), WRONG, ids=[problem[8:30] for _, problem in WRONG])
def test_what_is_wrong_is_named_by_its_line(text: str, problem: str) -> None:
    """And is not repeated: it may be a password that stands in the wrong place."""
    (found,) = read(text).problems

    assert found.startswith(f"x.properties, {problem}")
    assert "hunter2" not in found


def test_problems_are_bounded() -> None:
    """A file of garbage is one complaint, however long it is."""
    found = read("garbage\n" * (LINES_MAX + 7)).problems

    assert PROBLEMS_MAX + 1 == len(found)
    assert f"and {LINES_MAX + 1 - PROBLEMS_MAX} more" == found[-1]


@settings(max_examples=100)
@given(st.text(max_size=300))
def test_any_text_is_a_document(text: str) -> None:
    """No text raises; keys are unique, lines rise, and no value can hold another line."""
    with in_time():
        found = read(text)

    assert len({one.key for one in found.properties}) == len(found.properties)
    assert sorted(found.properties, key=lambda one: one.line) == list(found.properties)
    assert all(one.value.isprintable() for one in found.properties)


words = st.text("abcdef_.-0123456789", min_size=1, max_size=8).filter(lambda word: word[0] not in "_.-")


@settings(max_examples=100)
@given(st.dictionaries(words, words, max_size=8))
def test_what_is_written_is_read_back(pairs: dict[str, str]) -> None:
    """Whatever plain words there are."""
    text = "\n".join(f"{key}={value}" for key, value in pairs.items())

    assert pairs == {one.key: one.value for one in read(text).properties}
    assert () == read(text).problems
