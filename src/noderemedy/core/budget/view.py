"""What the budget reckons with: who asks, what the ledger holds, and how many nodes are sick where.

Counts come from tallies; only nodes that somebody wants to repair, and the sick ones of their failure domains, are
looked at one by one. Every cluster in sight is counted, whether somebody asks there or not: a storm that comes and goes
before anybody asks has its cooldown, too. So a look costs a few microseconds per cluster, whatever the number of nodes.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core import machines
from noderemedy.core.budget import facts
from noderemedy.core.budget.facts import BY_HEALTH, MEMORY_AT, SPEC_AT, Memory, NodeHealth, health_ref
from noderemedy.core.budget.storms import is_burst
from noderemedy.model.budget import NEED, Granted, Need, Refused, answer
from noderemedy.model.ids import Ref
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger
from noderemedy.model.meta import Malformed
from noderemedy.model.pace import WISH, Wish
from noderemedy.model.remediationbudget import DEFAULT, RemediationBudget
from noderemedy.model.remote import REMOTE, Remote, Sight, cluster_name
from noderemedy.model.room import Absent, Entry, Index, Present, Reader, Unreadable
from noderemedy.model.time import Mono, Wall

NEEDS = "needs"
WISHES = "wishes"
IN_SIGHT = "clusters in sight"
WELL = NodeHealth(is_sick=False)


class Ask(Struct, frozen=True):
    """All that rooms want of one target: they share one reservation."""

    target: Ref
    since: Wall
    is_waiting: bool
    is_running: bool
    node: Ref | None = None
    health: NodeHealth = WELL
    refused: Refused | None = None  # what it was told last
    is_stuck: bool = False  # whoever is about it waits for somebody else
    is_off_pending: bool = False  # somebody ordered a power-off that was not carried out yet
    again: Wall | None = None  # it asks once more, since then; None: it waits for the first time
    begins: tuple[str, ...] = ()  # what those who wait would begin in the middle of a repair
    asked: tuple[str, ...] = ()  # whose question the answer is: who waits now, and who runs by an earlier answer
    where: str = ""  # the cluster in which a machine without a node would have one
    is_at_work: bool = False  # somebody repairs it, whoever else asks: its place is no other's
    is_midway: bool = False  # somebody who repairs it has begun, and is at work, or rests, or would go on

    @property
    def cluster(self) -> str:
        """The cluster by whose health it is judged, and against whose limits it counts."""
        return self.node.cluster if self.node else self.where or self.target.cluster


class Fleet(Struct, frozen=True):
    """The nodes of one cluster, counted."""

    cluster: str
    total: int = 0
    sick: int = 0
    control_plane: int = 0
    sick_control_plane: int = 0


class Domain(Struct, frozen=True):
    """The nodes of one failure domain, counted; a burst is many that turned sick at once."""

    cluster: str
    name: str
    total: int = 0
    sick: int = 0
    is_burst: bool = False

    @property
    def scope(self) -> str:
        return domain_scope(self.cluster, self.name)


class BudgetView(Struct, frozen=True):
    """Everything that the budget judges by."""

    budget: RemediationBudget
    entry: Entry  # of the ledger
    asks: tuple[Ask, ...]  # the oldest first, then those who ask once more
    fleets: tuple[Fleet, ...]  # by name, which is that of the home cluster first
    domains: tuple[Domain, ...] = ()
    reserved_control_plane: tuple[Ref, ...] = ()  # targets of reservations whose node is of the control plane
    memory: Memory = Memory()
    wishes: tuple[Wish, ...] = ()  # what rooms would free next

    @property
    def ledger(self) -> BudgetLedger | Malformed:
        return ledger_of(self.entry)

    @property
    def ledger_since(self) -> Mono:
        """Since when we know the ledger as it is."""
        return self.entry.changed_at if isinstance(self.entry, Present) else Mono(0)


def cluster_scope(cluster: str) -> str:
    return f"cluster {cluster}".strip()


def domain_scope(cluster: str, domain: str) -> str:
    return f"domain {cluster} {domain}"


def ledger_of(entry: Entry) -> BudgetLedger | Malformed:
    """A ledger that does not exist is an empty one: writing it creates it, and fails if somebody was faster."""
    if isinstance(entry, Present):
        ledger: BudgetLedger | Malformed = entry.obj.ledger or BudgetLedger()
        return ledger
    if isinstance(entry, Absent):
        return BudgetLedger()
    return Malformed(entry.problem if isinstance(entry, Unreadable) else "not seen yet")


def _all(ref: Ref, need: Need) -> tuple[str, ...]:
    return (NEEDS,)


def _wished(ref: Ref, wish: Wish) -> tuple[str, ...]:
    return (WISHES,)


def _seen(ref: Ref, remote: Remote) -> tuple[str, ...]:
    return (IN_SIGHT,) if remote.sight is Sight.SEEN else ()


INDEXES: tuple[Index, ...] = (
    *facts.INDEXES,
    Index(NEEDS, NEED, _all),
    Index(WISHES, WISH, _wished),
    Index(IN_SIGHT, REMOTE, _seen),
)


def sees(key: Ref, reader: Reader) -> BudgetView | None:
    if key != LEDGER_AT:
        return None
    entry = reader.read(key)
    ledger = ledger_of(entry)
    reserved = ledger.reservations if isinstance(ledger, BudgetLedger) else ()
    spec, memory = reader.read(SPEC_AT), reader.read(MEMORY_AT)
    remembered = memory.obj if isinstance(memory, Present) else Memory()
    asks = asks_of(reader, remembered)
    stormy = stormy_clusters(remembered.storms)
    concerned = {"", *stormy, *(one.cluster for one in asks), *(one.cluster for one in reserved)}
    clusters = sorted(concerned.union(in_sight(reader)))
    return BudgetView(
        budget=spec.obj.budget if isinstance(spec, Present) else DEFAULT,
        entry=entry,
        asks=asks,
        fleets=tuple(fleet(cluster, reader) for cluster in clusters),
        domains=domains_of(asks, remembered, reader),
        reserved_control_plane=tuple(one.target for one in reserved if health_of(one.node, reader).is_control_plane),
        memory=remembered,
        wishes=wishes_of(reader),
    )


def stormy_clusters(storms: tuple[str, ...]) -> list[str]:
    """Where a storm was at the last look: it goes on, though nobody may ask there any more."""
    return [scope.removeprefix("cluster").strip() for scope in storms if scope.startswith("cluster")]


def in_sight(reader: Reader) -> list[str]:
    """The workload clusters whose Nodes are all known. One that cannot be seen is neither well nor sick."""
    return [cluster_name(at.namespace, at.name) for at in reader.find(IN_SIGHT, IN_SIGHT)]


def wishes_of(reader: Reader) -> tuple[Wish, ...]:
    entries = (reader.read(at) for at in reader.find(WISHES, WISHES))
    return tuple(entry.obj for entry in entries if isinstance(entry, Present))


def asks_of(reader: Reader, memory: Memory) -> tuple[Ask, ...]:
    """The needs of all rooms, one ask per target, the oldest first; who asks once more comes after all others."""
    given_back = {one.target: one.given_back for one in memory.held}
    by_target: dict[Ref, list[Need]] = {}
    for at in reader.find(NEEDS, NEEDS):
        entry = reader.read(at)
        if isinstance(entry, Present):
            by_target.setdefault(entry.obj.target, []).append(entry.obj)
    asks = [ask(target, needs, reader, given_back.get(target)) for target, needs in by_target.items()]
    return tuple(sorted(asks, key=turn))


def turn(one: Ask) -> tuple[bool, Wall, Ref]:
    return one.again is not None, one.again or one.since, one.target


def ask(target: Ref, needs: list[Need], reader: Reader, given_back: Wall | None = None) -> Ask:
    """One pass: in a storm hundreds of them are looked at for every grant."""
    since, node, is_running, is_waiting, is_stuck = needs[0].since, None, False, False, True
    is_off_pending = False
    for one in needs:
        since = min(since, one.since)
        node = node if node is not None else one.node
        is_running = is_running or one.is_running or (one.is_stuck and bool(one.begins))  # rests in the middle of it
        is_waiting = is_waiting or is_asking(one)
        is_stuck = is_stuck and one.is_stuck
        is_off_pending = is_off_pending or one.is_off_pending
    told = answer(target, reader)
    refused = told if isinstance(told, Refused) and is_waiting else None  # who has begun is refused nothing
    health = health_of(node, reader)
    again = again_of(needs) or given_back if is_waiting else None
    begins = tuple(one.begins for one in needs if one.begins and is_asking(one))
    where = "" if node is not None else cluster_of(target, reader)
    return Ask(
        target=target,
        since=since,
        is_waiting=is_waiting,
        is_running=is_running,
        node=node,
        health=health,
        refused=refused,
        is_stuck=is_stuck,
        is_off_pending=is_off_pending,
        again=again,
        begins=begins,
        asked=asked(needs, told),
        where=where,
        is_at_work=any(one.is_running and not one.is_stuck and one.is_claimant for one in needs),
        is_midway=any(one.begins or (one.is_running and one.is_claimant) for one in needs),
    )


def asked(needs: list[Need], told: Granted | Refused | None) -> tuple[str, ...]:
    """Whoever runs keeps its answer, so that nobody is woken; whoever needs nothing any more has to ask anew."""
    before = told.asked if isinstance(told, Granted) else ()
    return tuple(sorted(one.room for one in needs if is_asking(one) or (one.is_running and one.room in before)))


def cluster_of(target: Ref, reader: Reader) -> str:
    """Machines are objects of the management cluster: one that never got a node is no business of its health."""
    entry = reader.read(target) if target.kind in machines.MACHINE_KINDS else Absent()
    return machines.cluster_of(target, entry.obj, reader) if isinstance(entry, Present) else ""


def is_asking(need: Need) -> bool:
    """Whether it waits for an answer: neither begun, nor resting from what led to nothing."""
    return not need.is_running and not need.is_stuck


def again_of(needs: list[Need]) -> Wall | None:
    """Since when all who wait for it ask once more; None: one of them waits for the first time."""
    found = [one.again for one in needs if is_asking(one)]
    agains = [one for one in found if one is not None]
    return min(agains) if len(agains) == len(found) else None


def health_of(node: Ref | None, reader: Reader) -> NodeHealth:
    entry = reader.read(health_ref(node)) if node else Absent()
    return entry.obj if isinstance(entry, Present) else WELL


def fleet(cluster: str, reader: Reader) -> Fleet:
    return Fleet(
        cluster,
        reader.tally(BY_HEALTH, facts.nodes(cluster)),
        reader.tally(BY_HEALTH, facts.sick(cluster)),
        reader.tally(BY_HEALTH, facts.control_plane(cluster)),
        reader.tally(BY_HEALTH, facts.sick_control_plane(cluster)),
    )


def domains_of(asks: tuple[Ask, ...], memory: Memory, reader: Reader) -> tuple[Domain, ...]:
    """The failure domains in which somebody wants to repair, and those that were held at the last look."""
    wanted = {(one.cluster, one.health.domain) for one in asks if one.health.domain}
    held = {(words[1], words[2]) for scope in memory.storms if (words := scope.split(" ", 2))[0] == "domain"}
    return tuple(domain(cluster, name, reader) for cluster, name in sorted(wanted | held))


def domain(cluster: str, name: str, reader: Reader) -> Domain:
    total = reader.tally(BY_HEALTH, facts.nodes(cluster, name))
    sick = reader.find(BY_HEALTH, facts.sick(cluster, name))
    entries = [reader.read(one) for one in sick]
    signs = [one.obj.since for one in entries if isinstance(one, Present) and one.obj.since is not None]
    return Domain(cluster, name, total, len(sick), is_burst(signs, total))
