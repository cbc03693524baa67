"""What is worked out once per JSON tree: a test run makes thousands of simulated clusters from the same definitions.

Trees are never changed in place here, only replaced, so that the same tree always has the same answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Answer = TypeVar("Answer")
KEPT_MAX = 256


def once_per_tree(work_out: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
    """A function of one tree that remembers its answers. It holds the trees, too: no other one gets their id."""
    kept: dict[int, tuple[Any, Answer]] = {}

    @wraps(work_out)
    def remembered(tree: Any) -> Answer:
        found = kept.get(id(tree))
        if found is None:
            if len(kept) >= KEPT_MAX:
                kept.clear()
            found = kept[id(tree)] = (tree, work_out(tree))
        return found[1]

    return remembered
