"""What docs/reliability.md names as not mended, for tests whose histories may meet it.

A step of a record is written after the act, by the manager that acted: it is lost with that manager.
"""

from __future__ import annotations

from collections.abc import Iterable

KNOWN_GAPS = ("S15: no record says", "S15: Incident")


def but_known_gaps(violations: Iterable[str]) -> tuple[str, ...]:
    """All that is not known yet."""
    return tuple(found for found in violations if not any(gap in found for gap in KNOWN_GAPS))
