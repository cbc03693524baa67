"""The verdict on one machine: healthy, waiting, unhealthy, or not to be judged. Seed 003, "Unhealthy criteria".

Called for every target when anything of it changed and when its time is up. Each criterion gives findings, and the
gravest one decides. What differs between the dialects is in `model/dialect.py`; these rules hold in all of them:

Rule 1: what cannot be seen is neither health nor sickness. While the API of a workload cluster is away its manager
        calls every machine's condition Unknown: those say nothing then either.
Rule 2: a node that we deleted ourselves is starting, not missing (`node-deleted-at`), or repairs would never end.
Rule 3: a missing node counts only when that was read live.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from noderemedy.core.healthcheck.signs import age, is_true, signs, was_asked_lately
from noderemedy.core.machines import is_control_plane, is_own
from noderemedy.model.dialect import RULES
from noderemedy.model.healthcheck import (
    HealthCheck,
    Healthy,
    NeedsLook,
    Sighting,
    Target,
    Unhealthy,
    Unjudged,
    Verdict,
    Waiting,
)
from noderemedy.model.ids import Ref
from noderemedy.model.meta import Malformed
from noderemedy.model.reasons import (
    CannotSeeCluster,
    CannotSeeNode,
    ClusterNotReady,
    ConfirmFirst,
    DeletionTimeUnreadable,
    MachineFailed,
    NodeMissing,
    NodeNotOurs,
    Reason,
    RemediateAnnotated,
    RepairNow,
    TargetLeaving,
)
from noderemedy.model.remote import Remote, Sight, cluster_name
from noderemedy.model.room import Absent, Present, Unseen
from noderemedy.model.time import Now, Wall

BLIND = (Sight.UNKNOWN, Sight.LOST)  # not even a machine without a node is judged: it may have got one meanwhile
REMEDIATE, FAILED, MISSING = "remediate annotation", "phase Failed", "node missing"  # names of sightings


class Failed(Struct, frozen=True):
    """A criterion is met."""

    because: tuple[Reason, ...]
    since: Wall


class Pending(Struct, frozen=True):
    """A criterion may be met later."""

    because: tuple[Reason, ...]
    since: Wall
    until: Wall | None


class Blind(Struct, frozen=True):
    """A criterion cannot be evaluated."""

    because: tuple[Reason, ...]


class Look(Struct, frozen=True):
    """A criterion is met if a live read says so."""

    because: tuple[Reason, ...]
    ref: Ref


Finding = Failed | Pending | Blind | Look


def judge(target: Target, check: HealthCheck, now: Now) -> Verdict:
    """What a check has to say about this machine now. Ask `sightings` first, and pass what it returned.

    Of one that is invalid this is no verdict (`invalid.py`).
    """
    if target.machine.deleting:
        return Waiting(None, (TargetLeaving(),))
    if target.machine.remediate:
        return Unhealthy(first_seen(REMEDIATE, target, now), (RemediateAnnotated(),))
    if target.remote is not None and target.remote.sight in BLIND:
        return Unjudged((cannot_see(target, target.remote),))
    if RULES[check.dialect].waits_for_cluster and (missing := cluster_lacks(target)):
        return Unjudged((ClusterNotReady(missing),))
    return conclude(tuple(findings(target, check, now)), is_hurried(target))


def sightings(target: Target, check: HealthCheck, now: Now) -> tuple[Sighting, ...]:
    """What is wrong now, each with the time at which we first saw it. To be kept, and passed in the next target."""
    if not check.is_valid:
        return ()
    known = {one.what: one for one in target.sightings}
    shown = dict.fromkeys([*timeless(target), *(sign.what for sign in signs(target, check, now))])
    return tuple(known.get(what) or Sighting(what, now.mono, now.wall) for what in shown)


def timeless(target: Target) -> Iterator[str]:
    """What is wrong at once, without a timeout and without a timestamp: its first sighting is all that dates it."""
    if target.machine.remediate:
        yield REMEDIATE
    if target.machine.phase == "Failed":
        yield FAILED
    if target.node_at is not None and isinstance(target.node, Absent):
        yield MISSING


def first_seen(what: str, target: Target, now: Now) -> Wall:
    return next((one.wall for one in target.sightings if one.what == what), now.wall)


def cluster_lacks(target: Target) -> str:
    """The condition of its Cluster without which this machine cannot be expected to have a node; "" if none."""
    if target.cluster is None:
        return ""
    of_cluster = target.cluster.conditions
    if not is_control_plane(target.machine) and not is_true(of_cluster, "ControlPlaneInitialized"):
        return "ControlPlaneInitialized"
    return "" if is_true(of_cluster, "InfrastructureReady") else "InfrastructureReady"


def cannot_see(target: Target, remote: Remote) -> Reason:
    return CannotSeeCluster(cluster_name(target.at.namespace, target.machine.cluster_name), remote.why)


def is_hurried(target: Target) -> bool:
    """Whether a person asked, on machine or node, not to wait for the timeouts."""
    if target.machine.repair_now:
        return True
    return isinstance(target.node, Present) and bool(target.node.obj.repair_now)


def findings(target: Target, check: HealthCheck, now: Now) -> Iterator[Finding]:
    """All findings, in the order in which they are told: the machine's own, then those of its node."""
    if RULES[check.dialect].fails_by_phase and target.machine.phase == "Failed":
        yield Failed((MachineFailed(),), first_seen(FAILED, target, now))
    if found := of_node(target, check, now):
        yield found
    seen = {one.what: one for one in target.sightings}
    for sign in signs(target, check, now):
        its_age = age(sign, seen.get(sign.what), now)
        if its_age.is_over:
            yield Failed(its_age.reasons, its_age.began)
        else:
            yield Pending(its_age.reasons, its_age.began, its_age.next_look)


def of_node(target: Target, check: HealthCheck, now: Now) -> Finding | None:
    """What the mere presence or absence of the node says; None if nothing."""
    deleted_at, at, node = target.machine.node_deleted_at, target.node_at, target.node
    is_gone = at is None or isinstance(node, Absent)
    if is_gone and isinstance(deleted_at, Malformed):
        return Blind((DeletionTimeUnreadable(deleted_at.problem),))
    if at is None or (is_gone and (deleted_at is not None or was_asked_lately(target.machine, check, now))):
        return None  # it is starting: a matter of time
    if isinstance(node, Present):
        expected = target.machine.provider_id
        mine = is_own(node.obj, target.machine)
        return None if mine else Blind((NodeNotOurs(at.name, node.obj.provider_id, expected),))
    if isinstance(node, Unseen) and target.remote is not None:
        return Blind((cannot_see(target, target.remote),))
    if not isinstance(node, Absent):
        return Blind((CannotSeeNode(at.name),))
    if node.confirmed_at is None:  # once read live it stays a fact, until the watch shows the node again
        return Look((ConfirmFirst(str(at)),), at)
    return Failed((NodeMissing(at.name),), first_seen(MISSING, target, now))


def conclude(found: tuple[Finding, ...], is_hurried: bool) -> Verdict:
    """The gravest finding decides; what is only pending decides when to look again."""
    failed = [one for one in found if isinstance(one, Failed)]
    pending = [one for one in found if isinstance(one, Pending)]
    looks = [one for one in found if isinstance(one, Look)]
    blind = [one for one in found if isinstance(one, Blind)]
    until = min((one.until for one in pending if one.until is not None), default=None)
    if failed:
        return Unhealthy(min(one.since for one in failed), told(failed))
    if blind:
        return Unjudged(told(blind), until)
    if looks:
        return NeedsLook(looks[0].ref, told(looks))
    if pending and is_hurried:
        return Unhealthy(min(one.since for one in pending), (*told(pending), RepairNow()))
    return Waiting(until, told(pending)) if pending else Healthy()


def told(found: list[Failed] | list[Pending] | list[Blind] | list[Look]) -> tuple[Reason, ...]:
    return tuple(reason for one in found for reason in one.because)
