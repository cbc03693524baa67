"""The shared shelf: one owner per node's repair. A gate before the first irreversible act of a repair.

The Lease `repair-NODE` says who repairs a node: "ROOM TARGET". Rooms never call each other, so this is how two of them
that want the same node at once notice: the first holds it as long as it states a need, then anybody may take it over by
compare-and-swap. A health check holds it for a deletion only: all other repairs it leaves to those who claim the node.
The claim is between rooms; against a second leader stand the guards of each write.

A claim that is ours from an earlier repair is made once more where somebody else wants the node, too: while we stated
no need another room may have decided to take it over, and its write may be under way. Of two writes of one version one
fails; a look at the Lease tells nothing. Whoever takes it over states a need with that: where there is none but ours,
nobody does, and a manager that is killed after each of its writes still comes to an end. A list of a server that is
behind may show the claim that was ours once more, while another repair runs: it is none of now (fencing seed 1989).

Whoever takes over what another holds reads first, live, what that one writes its progress on: a leader that has just
come may see the Lease and not yet the record of a repair that its predecessor began with it (fencing seed 49).

Who asks somebody that knows no claims (an owner, another project's controller) asks first who is about the node
(`others`): nobody else would.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from msgspec import Struct

from noderemedy.core.gates import Blocked
from noderemedy.model.actions import ClaimRepair, Confirm, Guard
from noderemedy.model.budget import NEED, Granted, Need, Refused, answer, need_ref
from noderemedy.model.ids import FENCE_REMEDIATION, LEASE, NODE, REMEDIATION, SYSTEM, Kind, Ref
from noderemedy.model.nodefence import fence_ref
from noderemedy.model.ownnode import is_own
from noderemedy.model.reasons import ClaimedByOther, Claiming, ClaimUnreadable, OwnNode, WaitingForBudget
from noderemedy.model.room import Absent, Entry, Index, Present, Reader, Unreadable
from noderemedy.model.time import Now, Span

PREFIX = "repair-"
NAME_MAX = 253  # of the Kubernetes API
AGAIN = Span.seconds(30)  # what another holds is looked at again: its end changes nothing that would wake us
HOLDER = re.compile(r"\S+ (?P<kind>\S+) (?P<namespace>[^\s/]*)/(?P<name>[^\s/]+)(?: in (?P<cluster>\S+))?")
BY_HOLDER = "needs by holder"
BY_LEASE = "needs by lease"
# Rooms that record their progress elsewhere than on the Machine that they repair.
ON_THE_NODE: dict[str, Callable[[Ref], Ref]] = {"remedy": lambda node: node, "node-fence": fence_ref}
ON_A_REQUEST = {"metal3-remediation": REMEDIATION, "fence-remediation": FENCE_REMEDIATION}


class Claim(Struct, frozen=True):
    """What a room must know to claim a repair."""

    subject: Ref  # the Node; the target where there is none
    entry: Entry
    holder: str  # whoever asks
    is_other_about_it: bool = False  # the one who holds it states a need
    is_own: bool = False  # we ourselves run there
    is_of_now: bool = True  # nobody can have decided to take it over before we stated our need
    unread: Ref | None = None  # what tells whether another one that holds it is about it after all


def lease_of(subject: Ref) -> Ref:
    """The Lease of a node's repair; nodes of other clusters, and what is no node, cannot share a name with it."""
    rest = f"{subject.cluster} {subject.kind} {subject.namespace}" if subject.cluster or subject.kind != NODE else ""
    name = f"{PREFIX}{subject.name}" + (f".{digest(rest)}" if rest else "")
    if len(name) > NAME_MAX:
        name = f"{PREFIX}{digest(f'{rest} {subject.name}')}"
    return Ref("", LEASE, SYSTEM, name)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def holder_name(room: str, target: Ref) -> str:
    """Who holds a claim, in words that name the room and its target without a doubt."""
    cluster = f" in {target.cluster}" if target.cluster else ""
    return f"{room} {target.kind} {target.namespace}/{target.name}{cluster}"


def target_of(holder: str) -> Ref | None:
    """The target that such a name says; None for what is not a name of ours."""
    found = HOLDER.fullmatch(holder)
    if found is None:
        return None
    kind, _, group = found["kind"].partition(".")
    return Ref(found["cluster"] or "", Kind(group, kind), found["namespace"], found["name"])


def _holder(ref: Ref, need: Need) -> tuple[str, ...]:
    return (holder_name(need.room, need.target),) if need.is_claimant else ()


def _lease(ref: Ref, need: Need) -> tuple[str, ...]:
    return (lease_of(need.node or need.target).name,)


# A room that claims declares these, watches Leases, and lets them wake those who state a need.
INDEXES: tuple[Index, ...] = (Index(BY_HOLDER, NEED, _holder), Index(BY_LEASE, NEED, _lease))


def see(room: str, target: Ref, node: Ref | None, reader: Reader) -> Claim:
    """Who holds the repair of this node (of this target, where there is no node) now."""
    subject = node or target
    at = lease_of(subject)
    entry = reader.read(at)
    held_by = entry.obj.holder if isinstance(entry, Present) else ""
    is_other_about_it = bool(held_by and reader.tally(BY_HOLDER, held_by))
    own = need_ref(target, room)
    is_wanted = any(one != own for one in reader.find(BY_LEASE, at.name))
    is_of_now = not is_wanted or was_made_since(entry, reader.read(own))
    holder = holder_name(room, target)
    record = record_of(held_by, subject) if held_by != holder and not is_other_about_it else None
    is_read = record is None or was_read_since(reader.read(record), entry)
    return Claim(
        subject=subject,
        entry=entry,
        holder=holder,
        is_other_about_it=is_other_about_it,
        is_own=is_own(subject, reader),
        is_of_now=is_of_now,
        unread=None if is_read else record,
    )


def others(room: str, target: Ref, node: Ref | None, reader: Reader) -> tuple[Need, ...]:
    """What all other rooms state that are about this node, or this target."""
    told = answer(target, reader)
    leases = dict.fromkeys(lease_of(one).name for one in (node, target) if one is not None)
    stated = [reader.read(at) for name in leases for at in sorted(reader.find(BY_LEASE, name))]
    needs = [entry.obj for entry in stated if isinstance(entry, Present)]
    return tuple(one for one in needs if one.room != room and is_about_it(one, told))


def is_about_it(need: Need, told: Granted | Refused | None) -> bool:
    """Whether a repair runs, is in the middle, or has its grant and begins at any moment; who rests does not."""
    is_let = isinstance(told, Granted) and told.target == need.target and need.room in told.asked
    return need.is_running or bool(need.begins) or (is_let and not need.is_stuck)


def record_of(holder: str, subject: Ref) -> Ref | None:
    """On which object a holder writes how far its repair is; None for what is not a name of ours."""
    target, room = target_of(holder), holder.partition(" ")[0]
    if target is None:
        return None
    if room in ON_THE_NODE:
        return ON_THE_NODE[room](subject) if subject.kind == NODE else target
    kind = ON_A_REQUEST.get(room)
    return Ref(target.cluster, kind, target.namespace, target.name) if kind is not None else target


def was_read_since(record: Entry, lease: Entry) -> bool:
    """Whether it was read live after we saw the Lease become what it is."""
    read_at = record.confirmed_at if isinstance(record, Present | Absent) else None
    return isinstance(lease, Present) and read_at is not None and read_at >= lease.changed_at


def was_made_since(lease: Entry, need: Entry) -> bool:
    """Whether the Lease became what it is after the need was stated; not where a list went back in time to that."""
    if not isinstance(lease, Present) or not isinstance(need, Present):
        return False
    return lease.confirmed_at is not None and lease.changed_at >= need.first_seen


def is_ours(claim: Claim) -> bool:
    """Whether whoever asks holds it, be it from an earlier repair."""
    return isinstance(claim.entry, Present) and claim.entry.obj.holder == claim.holder


def claimed(claim: Claim, now: Now) -> Blocked | None:
    """The gate: passes once the claim is ours and that was seen; never for the node that we run on."""
    at, entry = lease_of(claim.subject), claim.entry
    if claim.is_own:
        return Blocked(OwnNode(claim.subject.name))
    if isinstance(entry, Unreadable):
        return Blocked(ClaimUnreadable(f"{at.namespace}/{at.name}", entry.problem))
    if isinstance(entry, Absent):
        return Blocked(Claiming(claim.subject.name), actions=(ClaimRepair(at, None, claim.holder, now.wall),))
    if not isinstance(entry, Present):
        return Blocked(WaitingForBudget())
    if is_ours(claim) and claim.is_of_now:
        return None
    if entry.obj.holder and not is_ours(claim) and claim.is_other_about_it:
        return Blocked(ClaimedByOther(claim.subject.name, entry.obj.holder), now.wall + AGAIN)
    if claim.unread is not None:
        return Blocked(Claiming(claim.subject.name), actions=(Confirm(claim.unread),))
    guard = Guard(entry.obj.uid, entry.resource_version)
    return Blocked(Claiming(claim.subject.name), actions=(ClaimRepair(at, guard, claim.holder, now.wall),))
