"""Why is nothing done, what comes next, and when: all that the rooms say about one node or machine. Pure.

Called by `node-remedy explain`. It is the same dry look as a plan's, and the gates are the rooms' own: what is shown as
blocked is what `decide` stops at, there is no second implementation.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from msgspec import Struct

from noderemedy.core import approvals
from noderemedy.core.healthcheck.aside import Aside, standing_aside
from noderemedy.core.healthcheck.facts import VerdictFact, verdict_ref
from noderemedy.core.hostnames import host_at
from noderemedy.core.machines import MACHINE_KINDS, node_at
from noderemedy.manager import plain
from noderemedy.manager.naming import names_of
from noderemedy.manager.plan import KEEPING_RECORDS, Entry, Look
from noderemedy.model.budget import NEED, Need
from noderemedy.model.errors import Permanent
from noderemedy.model.fenceplan import BuiltinMethod, FencePlan, Method, Step, plan_ref
from noderemedy.model.healthcheck import NeedsLook, Unhealthy, Unjudged, Waiting
from noderemedy.model.ids import NODE, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.nodefence import fence_ref
from noderemedy.model.outcome import Key
from noderemedy.model.reasons import Claiming, ConfirmFirst, Reason, WaitingForBudget
from noderemedy.model.room import Passage, Present, Unreadable, known
from noderemedy.model.time import Wall

OF_MACHINES = ("remediation", "annotation", "owner")  # rooms that have a Machine for a key
ASKED_LAST = (WaitingForBudget, Claiming, ConfirmFirst)  # of the budget, of other managers, of the API
LIKE, NEAR = 3, 0.5  # how many names are offered, and how like they must be


class NoSuchTarget(Permanent):
    """Nothing of that name is there: says what is."""


class Gates(Struct, frozen=True):
    """All gates of one room before this target, in order."""

    room: str
    passages: tuple[Passage, ...]

    def asked(self) -> Iterator[tuple[Passage, bool]]:
        """Each gate, and whether it has been asked: behind a closed one nobody asks what takes others to answer."""
        is_closed = False
        for one in self.passages:
            yield one, not (is_closed and isinstance(one.reason, ASKED_LAST))
            is_closed = is_closed or one.reason is not None


class Unread(Struct, frozen=True):
    """An object that is there and cannot be read: it is neither absent nor well."""

    at: Ref
    problem: str

    def plain(self) -> dict[str, Any]:
        return {"object": str(self.at), "problem": self.problem}


class Explanation(Struct, frozen=True):
    """Everything about one target. Without a machine no health check speaks of the node."""

    machine: Ref | None
    node: Ref | None
    check: Ref | None = None
    dialect: str = ""  # by whose rules that check is read
    others: tuple[Ref, ...] = ()  # checks that select it, too
    aside: tuple[Aside, ...] = ()  # those and all others that mean it, and why they do not judge it
    verdict: str = ""  # "": nobody judges it
    since: Wall | None = None
    until: Wall | None = None
    signs: tuple[Reason, ...] = ()
    gates: tuple[Gates, ...] = ()
    next: tuple[Entry, ...] = ()
    running: tuple[str, ...] = ()
    incident: str = ""
    last_step: str = ""
    fencing: tuple[str, ...] = ()  # how its node would be fenced, or why it could not be; none: nobody configured that
    unread: tuple[Unread, ...] = ()  # the machine or the node; of a node without a machine, all that may be it

    @property
    def blocked(self) -> Passage | None:
        """The first gate that is closed."""
        return next((passage for one in self.gates for passage in one.passages if passage.reason), None)

    def plain(self) -> dict[str, Any]:
        return {
            "machine": str(self.machine) if self.machine else None,
            "node": str(self.node) if self.node else None,
            "check": str(self.check) if self.check else None,
            "dialect": self.dialect or None,
            "overlappingChecks": [str(one) for one in self.others],
            "standingAside": [{"check": str(one.at), "because": plain.reason(one.reason)} for one in self.aside],
            "verdict": self.verdict or None,
            "since": str(self.since) if self.since else None,
            "until": str(self.until) if self.until else None,
            "signs": [plain.reason(one) for one in self.signs],
            "gates": [{"room": one.room, "gates": [passage(*two) for two in one.asked()]} for one in self.gates],
            "next": [entry.plain() for entry in self.next],
            "running": list(self.running),
            "incident": self.incident or None,
            "fencing": list(self.fencing),
            "unreadable": [one.plain() for one in self.unread],
        }


def passage(one: Passage, is_asked: bool) -> dict[str, Any]:
    """A gate that has not been asked is neither passed nor closed."""
    return {
        "gate": one.gate,
        "passed": one.reason is None if is_asked else None,
        "because": plain.reason(one.reason) if one.reason and is_asked else None,
        "until": str(one.until) if one.until else None,
    }


# --- who is meant ------------------------------------------------------------------------------------------------


def explain(look: Look, name: str) -> tuple[Explanation, ...]:
    """All machines of that name, in whatever namespace, or the machine of a node of that name. Raises NoSuchTarget."""
    found = list(machines_of(look, name))
    if found:
        return tuple(of_machine(look, ref, machine) for ref, machine in found)
    nodes = [ref for ref in look.engine.cache.refs_of(NODE) if name in names_of(ref)]
    if nodes:
        return tuple(of_node(look, ref) for ref in nodes)
    raise NoSuchTarget(unknown(look, name))


def machines_of(look: Look, name: str) -> Iterator[tuple[Ref, Machine | None]]:
    """By the machine's own name first; by its node's name only where no machine is called so."""
    every = list(all_machines(look))
    own = [one for one in every if name in names_of(one[0])]
    yield from own or [one for one in every if one[1] and is_node_of(name, one[1])]


def is_node_of(name: str, machine: Machine) -> bool:
    """Whether somebody may call the Node so that a Machine names, in whichever cluster it is."""
    return bool(machine.node_name) and name in names_of(Ref("", NODE, "", machine.node_name or ""))


def all_machines(look: Look) -> Iterator[tuple[Ref, Machine | None]]:
    """Also those that cannot be read: as they were, or None where that was never known."""
    for kind in MACHINE_KINDS:
        for ref in look.engine.cache.refs_of(kind):
            yield ref, known(look.engine.cache.read(ref))


def unread(look: Look, *refs: Ref | None) -> tuple[Unread, ...]:
    """Which of these are there and cannot be read."""
    found = [(ref, look.engine.cache.read(ref)) for ref in refs if ref is not None]
    return tuple(Unread(ref, entry.problem) for ref, entry in found if isinstance(entry, Unreadable))


def unknown(look: Look, name: str) -> str:
    nodes = [ref.name for ref in look.engine.cache.refs_of(NODE)]
    there = sorted({*nodes, *(ref.name for ref, _ in all_machines(look))})
    near = get_close_matches(name.rpartition("/")[2], there, n=LIKE, cutoff=NEAR)
    hint = f"did you mean {' or '.join(near)}?" if near else f"{len(there)} nodes and machines are known"
    return f"there is no node or machine {name!r}; {hint}"


# --- what is said about it ---------------------------------------------------------------------------------------


def of_machine(look: Look, ref: Ref, machine: Machine | None) -> Explanation:
    cache = look.engine.cache
    if machine is None:
        return Explanation(ref, None, running=running(look, ref), unread=unread(look, ref))
    found = cache.read(verdict_ref(ref))
    fact: VerdictFact | None = found.obj if isinstance(found, Present) else None
    host = host_at(ref, machine, cache)
    node = node_at(ref, machine, cache)
    related = tuple(one for one in (ref, host, node, fence_ref(node) if node else None) if one is not None)
    keys = [key for key in look.engine.decisions if key.ref in related or is_named_after(key.ref, ref)]
    incident = approvals.open_incident(ref, cache)
    steps = incident[1].obj.record.steps if incident else ()
    verdict = fact.verdict if fact else None
    return Explanation(
        machine=ref,
        node=node,
        check=fact.check if fact else None,
        dialect=look.dialect(fact.check) if fact else "",
        others=fact.others if fact else (),
        aside=standing_aside(ref, machine, cache),
        verdict=type(verdict).__name__ if verdict else "",
        since=verdict.since if isinstance(verdict, Unhealthy) else None,
        until=verdict.until if isinstance(verdict, Waiting | Unjudged) else None,
        signs=verdict.because if isinstance(verdict, Unhealthy | Waiting | Unjudged | NeedsLook) else (),
        gates=gates(look, ref, keys),
        next=entries(look, tuple(key.ref for key in keys)),
        running=running(look, ref),
        incident=incident[0].name if incident else "",
        last_step=f"{steps[-1].what} {steps[-1].value}".strip() if steps else "",
        fencing=fencing(look, node) if node else (),
        unread=unread(look, ref, node),
    )


def of_node(look: Look, node: Ref) -> Explanation:
    """A node that no Machine names: fences and remedies speak of it all the same."""
    related = (node, fence_ref(node))
    keys = [key for key in look.engine.decisions if key.ref in related]
    return Explanation(
        machine=None,
        node=node,
        gates=gates(look, node, keys),
        next=entries(look, related),
        running=running(look, node),
        fencing=fencing(look, node),
        unread=unread(look, node, *(ref for ref, _ in all_machines(look))),
    )


def fencing(look: Look, node: Ref) -> tuple[str, ...]:
    """Step by step; or what is wrong with it."""
    entry = look.engine.cache.read(plan_ref(node))
    if not isinstance(entry, Present):
        return ()
    plan: FencePlan = entry.obj
    if plan.problems:
        return tuple(f"it cannot be fenced: {problem}" for problem in plan.problems)
    steps = (f"{step.value}: {', '.join(map(method_words, plan.methods(step)))}" for step in Step)
    return (*steps, *(f"note: {note}" for note in plan.notes))


def method_words(method: Method) -> str:
    if isinstance(method, BuiltinMethod):
        return method.name
    return f"{method.name} ({method.agent} {' and '.join(deed.value for deed in method.deeds)})"


def is_named_after(ref: Ref, machine: Ref) -> bool:
    """Requests have the name of their machine."""
    return (ref.cluster, ref.namespace, ref.name) == (machine.cluster, machine.namespace, machine.name)


def gates(look: Look, machine: Ref, keys: list[Key]) -> tuple[Gates, ...]:
    """Room by room, those that have a say about this target now."""
    shown = []
    for room in look.engine.rooms.values():
        if room.explains is None:
            continue
        own = (
            [machine]
            if room.name in OF_MACHINES and machine.kind in MACHINE_KINDS
            else [key.ref for key in keys if key.room == room.name]
        )
        for ref in own:
            view = room.sees(ref, look.engine.cache)
            passages = room.explains(view, look.now) if view is not None else ()
            if passages:
                shown.append(Gates(room.name, passages))
    return tuple(shown)


def entries(look: Look, refs: tuple[Ref, ...]) -> tuple[Entry, ...]:
    """What a plan would say about these objects."""
    wanted = {str(ref) for ref in refs}
    return tuple(entry for entry in look.plan().entries if entry.key in wanted and entry.room not in KEEPING_RECORDS)


def running(look: Look, machine: Ref) -> tuple[str, ...]:
    """Repairs that were begun, by which room, and since when the target has been sick."""
    cache = look.engine.cache
    stated = [cache.read(ref) for ref in cache.refs() if ref.kind == NEED]
    needs: list[Need] = [entry.obj for entry in stated if isinstance(entry, Present)]
    return tuple(
        f"{one.room}: a repair runs, for what began at {one.since}"
        for one in needs
        if one.target == machine and one.is_running
    )
