"""Long files are tested first."""

from __future__ import annotations

import gc

from tests.order import ALLOCATIONS_BEFORE_A_SEARCH, ROOT, SLOW_FIRST, turn


def test_long_files_have_their_turn_first() -> None:
    """Simulated histories before labs, labs before what is quick; a file keeps its place among its like."""
    names = [
        "core/test_gates.py",
        "lab/test_once.py",
        "sim/test_b.py",
        "sim/test_a.py",
        "test_tidy.py",
        "wire/test_c.py",
    ]
    found = sorted(names, key=lambda name: turn(ROOT / name))

    assert ["sim/test_b.py", "sim/test_a.py", "lab/test_once.py"] == found[:3]
    assert [name for name in names if name not in found[:3]] == found[3:]


def test_every_folder_that_goes_first_has_tests() -> None:
    """Whoever renames a folder looks at the order, too."""
    assert [] == [folder for folder in SLOW_FIRST if not list((ROOT / folder).glob("test_*.py"))]


def test_memory_is_searched_seldom() -> None:
    """The setting is in force where tests run."""
    assert ALLOCATIONS_BEFORE_A_SEARCH == gc.get_threshold()[0]
