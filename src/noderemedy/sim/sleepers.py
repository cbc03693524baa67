"""Who should have been woken and was not. Asked at rest by `run.py` and `fencerun.py`, and more often by tests.

An event wakes only those whom it concerns, or a heartbeat would cost as much as a cluster is large; what a `wakes`
forgets is not seen by any checker that looks at deeds before much later. So every room is asked about every object
that may be a key of it, as if it had just been woken: whoever would act or state something new is asleep. Live reads
do not count, which age; nor does the room `targets`, which states nothing of a check that nobody is a member of.
"""

from __future__ import annotations

from typing import Any

from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.core.remedy.facts import Trouble
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import READS
from noderemedy.model.ids import (
    BUDGET,
    CONFIG_MAP,
    FENCE_REMEDIATION,
    HEALTH_CHECK,
    HOST,
    LEASE,
    MACHINE,
    NODE,
    NODE_FENCE,
    OPENSHIFT_HEALTH_CHECK,
    REMEDIATION,
    Kind,
)
from noderemedy.model.outcome import Key
from noderemedy.model.time import Now

CHECKS = (HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK)
KEYS: dict[str, tuple[Kind, ...]] = {
    "annotation": (*MACHINE_KINDS, HOST),
    "budget-spec": (BUDGET,),
    "check": CHECKS,
    "claim-shelf": (LEASE,),
    "diary": MACHINE_KINDS,
    "drill": (NODE,),
    "fence-config": (CONFIG_MAP,),
    "fence-plan": (NODE,),
    "fence-remediation": (FENCE_REMEDIATION,),
    "metal3-remediation": (REMEDIATION, HOST),
    "node-diary": (NODE,),
    "node-fence": (NODE_FENCE, HOST),
    "node-health": (NODE,),
    "out-of-service": (NODE,),
    "owner": (MACHINE,),
    "remediation": MACHINE_KINDS,
    "remedy": (NODE,),
    "repeats": (NODE,),
    "spec": CHECKS,
    "status": CHECKS,
    "storm-policy": (CONFIG_MAP,),
    "threshold": (NODE,),
    "verdict": MACHINE_KINDS,
}


def sleepers(engine: Engine, now: Now) -> list[str]:
    """One line for each key that has something to do and no look ahead of it."""
    refs = engine.cache.refs()
    keys = [Key(room, ref) for room, kinds in KEYS.items() if room in engine.rooms for ref in refs if ref.kind in kinds]
    return [line for key in keys if (line := unheard(engine, key, now))]


def unheard(engine: Engine, key: Key, now: Now) -> str:
    """What this key would do or state at a look, if none is ahead of it."""
    if is_awake(engine, key, now):
        return ""
    decision = engine._decide(key, now)
    deeds = [type(action).__name__ for action in decision.actions if not isinstance(action, READS)]
    if deeds:
        return f"{key.room} of {key.ref} would {deeds[0]}, and nobody woke it"
    if decision.actions:
        return ""
    known = {fact.ref: engine._object(fact.ref) for fact in decision.facts}
    changed = [str(ref) for fact in decision.facts if is_news(known[ref := fact.ref], fact.value)]
    changed += [str(ref) for ref in engine._facts.get(key, ()) if ref not in known]
    return f"{key.room} of {key.ref} would state {', '.join(changed)} anew, and nobody woke it" if changed else ""


def is_news(known: Any, value: Any) -> bool:
    """Since when a node is in trouble is told by a clock that people set: nobody is woken for that."""
    if isinstance(known, Trouble) and isinstance(value, Trouble):
        return known.is_over != value.is_over
    return bool(known != value)


def is_awake(engine: Engine, key: Key, now: Now) -> bool:
    """Whether it is looked at anyway: it is queued, acts, waits after a failure, or its time has come."""
    is_held = engine.ledger.holds(key) or engine.ledger.waits_until(key, now) is not None
    wake_at = engine.timers.planned(key)
    return key in engine.queue or is_held or (wake_at is not None and wake_at <= now.mono)
