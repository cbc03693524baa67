"""What tests that feed garbage to a reader have in common: one example may take seconds, and not for ever.

A reader that hangs is as bad as one that raises: what it reads is printed by devices and written by people.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import settings

SECONDS = 5.0  # of milliseconds that it takes


OWN = "_hypothesis_internal_use_settings"  # hypothesis has no public way


class TooLong(AssertionError):
    """A reader is still at it."""


@contextmanager
def in_time(seconds: float = SECONDS) -> Iterator[None]:
    """Ends what is inside after so much time of this process, in the middle of a search if need be: what other
    programs of the machine take does not count.
    """

    def end(*_: object) -> None:
        raise TooLong(f"not done after {seconds} s")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def ask_more(item: pytest.Item, examples: int) -> None:
    """A property tries so many examples at least: the number that it asks for itself is enough for `make test`."""
    test = getattr(item, "obj", None)
    own = getattr(test, OWN, None)
    if own is not None and own.max_examples < examples:
        setattr(test, OWN, settings(own, max_examples=examples))
