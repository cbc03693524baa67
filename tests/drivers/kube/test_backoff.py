"""Pauses grow, stay below their limit, differ between managers, and respect a server's wish."""

from __future__ import annotations

import random

from noderemedy.drivers.kube.backoff import Backoff
from noderemedy.model.time import Span


def test_pauses_double_up_to_the_limit_and_start_again() -> None:
    """Each pause lies between half of its step and all of it."""
    backoff = Backoff(random.Random(1), Span(100), Span(1_000))

    for step in (100, 200, 400, 800, 1_000, 1_000):
        assert step // 2 <= backoff.pause().ms <= step
    backoff.reset()
    assert backoff.pause().ms <= 100


def test_a_wish_is_a_lower_bound() -> None:
    """Retry-After is never shortened, and many who heard it do not return together."""
    pauses = {Backoff(random.Random(seed), Span(1), Span(1)).pause(Span(10_000)).ms for seed in range(20)}

    assert all(10_000 <= pause <= 11_000 for pause in pauses)
    assert len(pauses) > 10
