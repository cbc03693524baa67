"""What the budget derives: the health of each node, counted per cluster and failure domain, and its own memory.

Kept and counted by the engine, never written. Counting by index makes an event cost the same in a cluster of any size.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.decision import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref, ref
from noderemedy.model.ledger import Calm, Start
from noderemedy.model.reasons import Reason
from noderemedy.model.remediationbudget import RemediationBudget
from noderemedy.model.room import Index
from noderemedy.model.time import Mono, Wall

NODE_HEALTH = Kind(FACTS, "NodeHealth")
SPEC = Kind(FACTS, "BudgetSpec")
TOPOLOGY = Kind(FACTS, "BudgetTopology")
MEMORY = Kind(FACTS, "BudgetMemory")
STATE = Kind(FACTS, "BudgetState")
SPEC_AT: Ref = ref(SPEC, "cluster")
TOPOLOGY_AT: Ref = ref(TOPOLOGY, "cluster")
MEMORY_AT: Ref = ref(MEMORY, "budget")
STATE_AT: Ref = ref(STATE, "budget")
BY_HEALTH = "node health"
ALL = "all"


class NodeHealth(FactValue, frozen=True):
    """One node as the budget counts it; also one that is gone while its machine still names it."""

    is_sick: bool
    since: Wall | None = None  # its first sign
    domain: str = ""  # the value of the topology label; "": in none
    is_control_plane: bool = False


class SpecFact(FactValue, frozen=True):
    """The budget as somebody wrote it, without its status."""

    budget: RemediationBudget


class Topology(FactValue, frozen=True):
    """Which label names a node's failure domain."""

    label: str


class Sight(Struct, frozen=True):
    """Since when we ourselves have known a reservation: clocks of two leaders may differ, one clock does not."""

    target: Ref
    granted: Wall
    since: Mono
    is_asked: bool = True  # somebody stated a need for it at the last look
    is_over: bool = False  # it has ended: the next need for its target is another repair, and asks anew


class Held(Struct, frozen=True):
    """An ask that is refused in its place, since then, while others may begin; or has given that place back, then."""

    target: Ref
    since: Mono
    given_back: Wall | None = None


class Freed(Struct, frozen=True):
    """So many pods of one batch were given leave to go, or went, then."""

    room: str
    asker: Ref
    what: str
    cluster: str
    at: Mono
    pods: int
    is_wished: bool = True  # still: they have not gone, as far as we know
    document: Ref | None = None  # the Configuration that governs their node


class Memory(FactValue, frozen=True):
    """What the budget knew at its last look. Its loss only delays, or costs one cooldown."""

    sights: tuple[Sight, ...] = ()
    storms: tuple[str, ...] = ()  # the scopes that were over their limit
    ended: tuple[Calm, ...] = ()  # what the ledger does not know yet
    has_looked: bool = False  # not the first look of this process
    freed: tuple[Freed, ...] = ()  # pods of the last minute
    starts: tuple[Start, ...] = ()  # as the ledger told them: somebody may delete it
    calms: tuple[Calm, ...] = ()
    held: tuple[Held, ...] = ()


class Standstill(Struct, frozen=True):
    """No new repair of an ordinary node could begin there now."""

    cluster: str | None  # None: in no cluster at all
    reason: Reason
    until: Wall | None = None  # when time alone changes that


class State(FactValue, frozen=True):
    """What the status of the RemediationBudget says, of all clusters together."""

    in_flight: int
    started: int
    unhealthy: int
    total: int
    blocked: tuple[Standstill, ...] = ()  # the home cluster first


def health_ref(node: Ref) -> Ref:
    return Ref(node.cluster, NODE_HEALTH, "", node.name)


def buckets(at: Ref, fact: NodeHealth) -> tuple[str, ...]:
    """Under which names a node is counted."""
    found = [ALL, nodes(at.cluster)]
    if fact.domain:
        found.append(nodes(at.cluster, fact.domain))
    if fact.is_control_plane:
        found.append(control_plane(at.cluster))
    if fact.is_sick:
        found.append(sick(at.cluster))
        if fact.domain:
            found.append(sick(at.cluster, fact.domain))
        if fact.is_control_plane:
            found.append(sick_control_plane(at.cluster))
    return tuple(found)


def nodes(cluster: str, domain: str = "") -> str:
    return f"nodes {cluster} {domain}"


def sick(cluster: str, domain: str = "") -> str:
    return f"sick {cluster} {domain}"


def control_plane(cluster: str) -> str:
    return f"control plane {cluster}"


def sick_control_plane(cluster: str) -> str:
    return f"sick control plane {cluster}"


INDEXES: tuple[Index, ...] = (Index(BY_HEALTH, NODE_HEALTH, buckets),)
