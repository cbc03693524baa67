"""The short circuit: how many sick machines at once are too many. Seed 003, `maxUnhealthy`; `unhealthyRange`.

Called whenever a count of a check changes. All that is not healthy counts (in its grace period, under repair, out of
sight), so a storm closes the gate before its first timeout. Integers only: nothing is rounded but where a dialect says.
"""

from __future__ import annotations

from noderemedy.model.dialect import RULES
from noderemedy.model.healthcheck import Count, Gate, HealthCheck, Percent, Tally, Window
from noderemedy.model.reasons import CheckInvalid, TooFewUnhealthy, TooManyUnhealthy


def gate(check: HealthCheck, count: Tally) -> Gate:
    """Whether this check may start repairs with so many targets not healthy."""
    if not check.is_valid:
        return Gate(is_open=False, allowed=0, reason=CheckInvalid(check.trouble))
    if isinstance(check.window, Window):
        return through_window(check.window, count)
    rules = RULES[check.dialect]
    limit = check.max_unhealthy if isinstance(check.max_unhealthy, Count | Percent) else rules.limit_unset
    if limit is None:
        return Gate(is_open=True, allowed=count.healthy)
    most = most_bearable(limit, count.total, blocks_at_limit=rules.blocks_at_limit)
    return below_limit(most, str(limit), count)


def most_bearable(limit: Count | Percent, total: int, *, blocks_at_limit: bool) -> int:
    """The greatest number of targets that are not healthy with which repairs may start; -1 for none at all.

    Where the limit itself blocks, that is the greatest x with x < n, or with x * 100 < p * total, exactly.
    """
    if isinstance(limit, Count):
        return max(limit.n, 0) - blocks_at_limit
    return (limit.p * total - blocks_at_limit) // 100


def below_limit(most: int, limit: str, count: Tally) -> Gate:
    """A check without targets blocks nobody."""
    if count.not_healthy > most and count.total:
        return Gate(False, 0, limit, TooManyUnhealthy(count.not_healthy, count.total, limit))
    return Gate(True, max(most - count.not_healthy, 0), limit)


def through_window(window: Window, count: Tally) -> Gate:
    if count.not_healthy > window.high:
        return Gate(False, 0, str(window), TooManyUnhealthy(count.not_healthy, count.total, str(window)))
    if count.not_healthy < window.low:
        return Gate(False, 0, str(window), TooFewUnhealthy(count.not_healthy, count.total, str(window)))
    return Gate(True, window.high - count.not_healthy, str(window))
