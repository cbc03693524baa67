"""When is sickness no longer the nodes' own fault? Shares of a cluster, and bursts in a failure domain. Exact integers.

A limit blocks at or above itself. One single sick node is never blocked by a share: in a small cluster it would be a
third of all, and nobody would repair it.
"""

from __future__ import annotations

from collections.abc import Sequence

from noderemedy.model.healthcheck import Count, Percent
from noderemedy.model.time import MINUTE, Span, Wall

BURST_WITHIN: Span = MINUTE * 2
BURST_LEAST = 3


def is_over(limit: Count | Percent, sick: int, total: int) -> bool:
    """Whether so many sick nodes of so many reach the limit."""
    if isinstance(limit, Count):
        return sick >= limit.n
    return sick >= 2 and sick * 100 >= limit.p * total


def is_burst(signs: Sequence[Wall], total: int) -> bool:
    """Whether three or more, and half or more of all, turned sick within two minutes of each other."""
    moments = sorted(signs)
    least = max(BURST_LEAST, -(-total // 2))
    return any(
        moments[last].since(moments[last - least + 1]) <= BURST_WITHIN for last in range(least - 1, len(moments))
    )
