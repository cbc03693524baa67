"""How often one looks at a workload that is told to go and is not gone yet."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import NODE_AT, NOW, a_node

from noderemedy.core.freeing import Workload, waits
from noderemedy.model.room import Absent, Entry, Present
from noderemedy.model.time import Mono
from noderemedy.model.workload import PodsOfNode, VolumesOfNode

AGES = st.integers(0, 10_000)


def listed(obj: PodsOfNode | VolumesOfNode, seconds: float) -> Present:
    """A list that has said the same for so long."""
    return Present(obj, "", Mono(0), NOW.mono, ago(seconds))


def ago(seconds: float) -> Mono:
    return Mono(NOW.mono.ms - round(seconds * 1000))


def a_wait(node: float, pods: Entry, volumes: Entry) -> float:
    """Seconds until the next look."""
    work = Workload(NODE_AT, a_node(), "7", pods, volumes, changed_at=ago(node))
    wake_at = waits(work, NOW).wake_at
    assert wake_at is not None
    return wake_at.since(NOW.mono).ms / 1000


@pytest.mark.parametrize(("unchanged", "seconds"), [(0, 5), (4, 5), (5, 5), (10, 10), (20, 20), (40, 40), (300, 40)])
def test_looks_become_rare(unchanged: int, seconds: int) -> None:
    """As long again as nothing has changed: at least five seconds, at most forty."""
    assert seconds + 0.001 == a_wait(unchanged, listed(PodsOfNode(), unchanged), Absent())


@settings(max_examples=60)
@given(AGES, AGES, AGES)
def test_whatever_changed_last_gives_hope(node: int, pods: int, volumes: int) -> None:
    """The taint, a pod that is gone, a volume that is detached: the next look comes soon."""
    lists = listed(PodsOfNode(), pods), listed(VolumesOfNode(), volumes)

    assert min(40, max(5, min(node, pods, volumes))) + 0.001 == a_wait(node, *lists)
