"""What is said of a machine whose check is invalid: no verdict, the check's name, and whether the machine still counts.

Called by the verdict room. An invalid check goes on speaking for the machines that it selects, so that a mistake in it
hands none of them to a younger check, which may act where this one only observes: a rejected policy changes nothing.
Its counts go on by what can be read of it. They open no gate, since that of an invalid check is closed.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core.healthcheck import criteria
from noderemedy.model.dialect import RULES
from noderemedy.model.healthcheck import HealthCheck, Healthy, Target, Unjudged, Verdict
from noderemedy.model.ids import Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import InvalidCheckGoverns
from noderemedy.model.room import Present
from noderemedy.model.time import Now


def unjudged(at: Ref, target: Target, check: HealthCheck, now: Now) -> Unjudged:
    """Neither healthy nor sick, until the check is mended; and what else keeps the machine from being judged."""
    found = criteria.judge(target, readable(check), now)
    besides = found.because if isinstance(found, Unjudged) else ()
    because = (InvalidCheckGoverns(at.name, check.trouble), *besides)
    return Unjudged(because, counts_as_healthy=is_in_order(target, found))


def readable(check: HealthCheck) -> HealthCheck:
    """What there is of it to judge by. A criterion that could not be read is not in its list."""
    if isinstance(check.startup_timeout, Malformed):
        return structs.replace(check, startup_timeout=RULES[check.dialect].startup_default)
    return check


def is_in_order(target: Target, found: Verdict) -> bool:
    """A node that is not ready is never in order: nobody knows what the criterion says that cannot be read."""
    is_ready = isinstance(target.node, Present) and target.node.obj.is_ready
    return is_ready and isinstance(found, Healthy)
