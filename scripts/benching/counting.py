"""How many requests the manager sends, counted by the API server: its audit log names who asked for what.

Counted is every request of the manager's identity but watches and the renewals of its own leadership: live reads,
writes, the budget's ledger, claims, Events. The simulated server keeps no such log; there the manager's own figure of
its effects has to do.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.e2e import audit

IDENTITY = "viewer"  # one of the two that the bench's API server records; here it may do everything
LEADERSHIP = "node-remedy-manager"


class Requests:
    """What was asked since the last look, as `verb resource` → how often."""

    def __init__(self, log: Path | None) -> None:
        self._log = log
        self._seen = 0

    @property
    def is_counted(self) -> bool:
        return self._log is not None

    def since(self) -> Counter[str]:
        """And begins anew."""
        if self._log is None:
            return Counter()
        asked = audit.asked(self._log, IDENTITY)
        new, self._seen = asked[self._seen :], len(asked)
        return Counter(one.did for one in new if one.verb != "watch" and one.name != LEADERSHIP)


def per_repair(counts: Counter[str], repairs: int) -> dict[str, float]:
    """Requests per repair by what they did, most first."""
    return {what: round(number / repairs, 2) for what, number in counts.most_common()}
