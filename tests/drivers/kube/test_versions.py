"""Resource versions: compared as numbers in one place, and only if they are numbers."""

from __future__ import annotations

import pytest

from noderemedy.drivers.kube.versions import is_older, newer


@pytest.mark.parametrize(
    ("version", "than", "expected"),
    [
        ("9", "10", True),
        ("10", "9", False),
        ("10", "10", False),
        ("", "10", False),
        ("9", "", False),
        ("abc", "10", False),
        ("9", "abc", False),
        ("-1", "10", False),
        ("²", "10", False),
    ],
)
def test_older_only_if_both_are_numbers(version: str, than: str, expected: bool) -> None:
    """Opaque versions are never older; numbers are compared as numbers, not as text."""
    assert expected == is_older(version, than)


@pytest.mark.parametrize(
    ("one", "other", "expected"), [("9", "10", "10"), ("10", "9", "10"), ("a", "b", "b"), ("5", "", "")]
)
def test_the_newer_one(one: str, other: str, expected: str) -> None:
    """The larger number; the second where nobody can tell."""
    assert expected == newer(one, other)
