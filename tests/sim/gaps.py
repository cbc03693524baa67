"""What docs/reliability.md names as not mended, for tests whose histories may meet it.

A step of a record is written after the act, by the manager that acted: it is lost with that manager. A taint
stays when a person removes the finalizer of its Metal3Remediation by hand. Neither is about freeing a workload.
"""

from __future__ import annotations

from collections.abc import Iterable

KNOWN_GAPS = ("S15: no record says", "S15: Incident", "node.kubernetes.io/out-of-service")


def but_known_gaps(violations: Iterable[str]) -> tuple[str, ...]:
    """All that is not known yet."""
    return tuple(found for found in violations if not any(gap in found for gap in KNOWN_GAPS))
