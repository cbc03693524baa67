"""In which order files are tested, and how often memory is searched for garbage: called by `tests/conftest.py`.

Both cost no check and save a good part of the time of `make test`. Files are spread over processes one by one, so the
long ones go first: one of them taken up last would leave the other processes without work.
"""

from __future__ import annotations

import gc
from pathlib import Path

ROOT = Path(__file__).parent
SLOW_FIRST = ("sim", "lab", "cli", "scripts", "manager")
# A simulated world goes as a whole, and searching for its parts before that was a fifth of the cost of a history.
ALLOCATIONS_BEFORE_A_SEARCH = 50_000


def turn(path: Path) -> int:
    """When the turn of a file is; files of one turn keep their order."""
    folder = path.relative_to(ROOT).parts[0]
    return SLOW_FIRST.index(folder) if folder in SLOW_FIRST else len(SLOW_FIRST)


def search_less() -> None:
    """What is there by now, modules and tests, stays to the end, and is not searched at all."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(ALLOCATIONS_BEFORE_A_SEARCH)
