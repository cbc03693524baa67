"""S15: history is append-only and gap-free, and one record explains every side effect.

Looks at each event of an Incident (only appended to, closed once), and notes what was done to a node: a host held, a
Node deleted or called out of service by us, its pods deleted, a Machine marked by a check, its owner asked, a request
made for it (`wardcheckers.py` tells). When the world is at rest each of them must be a step of an Incident of that very
Machine, whether that Incident is still kept or was dropped meanwhile.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from msgspec import Struct

from noderemedy.model.actions import DeletePod, OpenIncident, WriteIncident
from noderemedy.model.ids import HOST, INCIDENT, NODE
from noderemedy.model.machineconditions import OWNER_REMEDIATED
from noderemedy.model.outcome import Effect as Asked
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.decidercheckers import DeciderCheckers
from noderemedy.sim.garbling import is_garbled
from noderemedy.sim.kinds import POD
from noderemedy.sim.lifecycle import OUT_OF_SERVICE, is_out_of_service
from noderemedy.sim.process import Process
from noderemedy.wire import names

RULE = "S15"
DELETION = "deletion of the Node"
TAINT = "taint out-of-service"
PODS, FREED_BY_PODS = ("pods", "deleted"), "freed by pods"  # a record tells of them in the evidence of a phase
SETTLED_MS = 15_000  # a manager has seen what was done within so much; what it writes then must tell of it
# A Machine that goes while it is acted on takes that with it, also where whoever knew of it dies before the next write
# of its record, which comes two minutes after the last one.
AROUND_MS = 120_000
AGAIN_MS = 120_000  # what was refused is tried again by then


class Effect(Struct, frozen=True):
    """Something that was done, to which Machine, and how a record tells it."""

    machine_uid: str
    what: str
    value: str
    at_ms: int


class Try(Struct, frozen=True):
    """A manager that set out to write in a record."""

    by: int  # a life of it
    steps: frozenset[tuple[str, str]]
    at_ms: int


class RecordCheckers:
    """Watches Incidents, and what they have to explain."""

    def __init__(self, cluster: Cluster, complain: Callable[[str, str], None], ran: Counter[str]) -> None:
        self._cluster = cluster
        self._complain = complain
        self._ran = ran
        self._records: dict[str, Tree] = {}  # by uid, as they were last
        self._effects: dict[tuple[str, str, str], Effect] = {}
        self._gone: dict[str, int] = {}  # uid of a Machine: when it went, or could not be read any more
        self._released: dict[tuple[str, str, str], int] = {}  # a hold: when it was taken off
        self._written: dict[str, list[int]] = {}  # uid of a Machine: when steps of its Incident were written
        self._held: dict[str, set[tuple[str, str, str]]] = {}  # name of a host: the holds on it
        self._spoilt: set[tuple[str, str, str]] = set()  # holds whose record somebody overwrote with garbage
        self._reigns: list[tuple[int, int]] = []  # since when which life of a manager has acted
        self._tries: dict[str, list[Try]] = {}  # name of an Incident: what managers meant to write in it
        self._begun: dict[str, set[str]] = {}  # uid of a Machine: the Incidents that managers meant to open
        self._deciders = DeciderCheckers(cluster, complain, ran)
        for kind, listener in (
            (INCIDENT, self._incident),
            (HOST, self._host),
            (cluster.dialect.machine, self._machine),
        ):
            if cluster.api.resources.find(kind):
                cluster.api.subscribe(kind, listener)
        cluster.api.subscribe(NODE, self._node)

    # --- what happened -------------------------------------------------------------------------------------------

    def note(self, machine_uid: str, what: str, value: str) -> None:
        self._effects.setdefault(
            (machine_uid, what, value), Effect(machine_uid, what, value, self._cluster.agenda.now_ms)
        )

    def _host(self, event: WatchEvent) -> None:
        if event.type == "DELETED":
            return
        standing: set[tuple[str, str, str]] = set()
        notes = event.tree["metadata"].get("annotations") or {}
        for key, text in notes.items():
            what = "hold" if key == names.HOLD else "hold of the remediation" if key.startswith(names.HOLD_FOR) else ""
            is_off = any(one == names.REBOOT or one.startswith(names.REBOOT_FOR) for one in notes)  # else: a relic
            if what and is_off and '"machineUid"' in text:
                hold = json.loads(text)
                standing.add((hold["machineUid"], what, f"held since {hold['since']}"))
        for one in standing:
            self.note(*one)
        host = event.tree["metadata"]["name"]
        for one in self._held.get(host, set()) - standing:
            self._released[one] = self._cluster.agenda.now_ms
            if any(is_hold(key) and '"machineUid"' not in text for key, text in notes.items()):
                self._spoilt.add(one)
        self._held[host] = standing

    def _node(self, event: WatchEvent) -> None:
        """A Node that we called out of service, or that went after we had recorded that on its Machine."""
        if event.type != "DELETED":
            if names.OUT_OF_SERVICE_BY in (event.tree["metadata"].get("annotations") or {}):
                self._out_of_service(event.tree)
            return
        for machine in self._cluster.machines(event.tree["metadata"]["name"]):
            at = (machine["metadata"].get("annotations") or {}).get(names.NODE_DELETED_AT)
            if at:
                self.note(machine["metadata"]["uid"], DELETION, f"decided at {at}")

    def _out_of_service(self, node: Tree) -> None:
        for taint in node["spec"].get("taints", ()) if is_out_of_service(node) else ():
            if taint["key"] == OUT_OF_SERVICE:
                self._about(node["metadata"]["name"], TAINT, f"{taint.get('value', '')}:{taint['effect']}")

    def _about(self, node: str, what: str, value: str) -> None:
        for machine in self._cluster.machines(node):
            self.note(machine["metadata"]["uid"], what, value)

    def _machine(self, event: WatchEvent) -> None:
        meta = event.tree["metadata"]
        if event.type == "DELETED":
            self._gone[meta["uid"]] = self._cluster.agenda.now_ms
            return
        if is_garbled(event.tree):
            self._gone[meta["uid"]] = self._cluster.agenda.now_ms
        mark = (meta.get("annotations") or {}).get(names.NEEDS_REMEDIATION, "")
        if mark.startswith(names.MARKED_BY):
            self.note(meta["uid"], "request", "marked")
        for condition in event.tree.get("status", {}).get("conditions", ()):
            if (condition["type"], condition["status"]) == (OWNER_REMEDIATED, "False"):
                self.note(meta["uid"], OWNER_REMEDIATED, "False")

    def acted(self, acting: Process, where: str, effect: Asked) -> None:
        """Called at the boundaries of every effect."""
        action, now = effect.action, self._cluster.agenda.now_ms
        if where != "begin":
            return
        if not self._reigns or self._reigns[-1][1] != id(acting.engine):
            self._reigns.append((now, id(acting.engine)))
        if isinstance(action, DeletePod):
            pod = self._cluster.api.find(POD, action.ref.name, action.ref.namespace)
            if pod is not None and pod["metadata"]["uid"] == action.guard.uid:  # not a successor of that name
                self._about(pod["spec"].get("nodeName", ""), *PODS)
        if not isinstance(action, OpenIncident | WriteIncident):
            return
        if isinstance(action, OpenIncident):
            self._begun.setdefault(action.found.target_uid, set()).add(action.ref.name)
        record = action.begun if isinstance(action, OpenIncident) else action.record
        steps = frozenset((step.what, step.value) for step in record.steps)
        self._tries.setdefault(action.ref.name, []).append(Try(id(acting.engine), steps, now))

    # --- what is told --------------------------------------------------------------------------------------------

    def _incident(self, event: WatchEvent) -> None:
        tree = event.tree
        before = self._records.get(tree["metadata"]["uid"])
        self._records[tree["metadata"]["uid"]] = tree
        known = len(steps_of(before)) if before is not None else 0
        self._deciders.look(tree["metadata"]["name"], steps_of(tree)[known:])
        if len(steps_of(tree)) > known:
            self._written.setdefault(tree["spec"]["target"].get("uid", ""), []).append(self._cluster.agenda.now_ms)
        if before is None:
            return
        self._ran["S15 append-only"] += 1
        name, was, is_now = tree["metadata"]["name"], before.get("status", {}), tree.get("status", {})
        if event.type == "DELETED":
            if "outcome" not in was:
                self._complain(RULE, f"Incident {name} was dropped before it was over")
            return
        told = steps_of(before)
        if steps_of(tree)[: len(told)] != told:
            self._complain(RULE, f"steps of Incident {name} were changed")
        if "outcome" in was and was != is_now:
            self._complain(RULE, f"Incident {name} went on after it was closed")
        if found(before) != found(tree):
            self._complain(RULE, f"what Incident {name} had found was changed")

    def at_rest(self) -> None:
        """Everything is explained, and nothing is open any more."""
        told = {
            (tree["spec"]["target"].get("uid", ""), step["what"], step.get("value", ""))
            for tree in self._records.values()
            for step in steps_of(tree)
        }
        told |= {
            (tree["spec"]["target"].get("uid", ""), *PODS)
            for tree in self._records.values()
            if any(FREED_BY_PODS in step.get("evidence", "") for step in steps_of(tree))
        }
        for identity, effect in sorted(self._effects.items()):
            self._ran["S15 explained"] += 1
            if identity not in told and not self._is_excused(effect) and not self._is_implied(effect, told):
                self._complain(RULE, f"no record says {effect.what} {effect.value} of Machine {effect.machine_uid}")
        for tree in self._cluster.api.list(INCIDENT) if self._cluster.api.resources.find(INCIDENT) else ():
            self._ran["S15 closed"] += 1
            if "outcome" not in tree.get("status", {}):
                self._complain(RULE, f"Incident {tree['metadata']['name']} is still open")

    def _is_excused(self, effect: Effect) -> bool:
        """Somebody destroyed the trace or the Machine, or made it unreadable; or the API refused to be told, and
        whoever knew of it died then, or led no more when it would have tried again.

        Records never stand in the way of a repair: a room waits for them, but not for ever (`core/traces.py`).
        """
        went = self._gone.get(effect.machine_uid)
        is_spoilt = (effect.machine_uid, effect.what, effect.value) in self._spoilt
        if is_spoilt or (went is not None and abs(went - effect.at_ms) < AROUND_MS):
            return True
        names_of = {tree["metadata"]["name"] for tree in self._records.values() if is_about(tree, effect.machine_uid)}
        names_of |= self._begun.get(effect.machine_uid, set())
        tries = [self._tries.get(name, []) for name in sorted(names_of)]
        last = [one for found in tries for one in found[-1:] if (effect.what, effect.value) in one.steps]
        if any(one.at_ms < at <= one.at_ms + AGAIN_MS and by != one.by for one in last for at, by in self._reigns):
            return True
        pairs = [pair for found in tries for pair in pairwise(found)]
        return any((effect.what, effect.value) in one.steps and one.by != after.by for one, after in pairs)

    def _is_implied(self, effect: Effect, told: set[tuple[str, str, str]]) -> bool:
        """A hold that came and went before the next leader looked.

        Nothing on the objects tells of it any more. The record is whole all the same if it tells what the hold was
        for: a phase whose evidence names the hold, or the deletion of the Node that was decided while it stood. A hold
        that led to nothing has no such witness, and is complained about.
        """
        uid = effect.machine_uid
        until = self._released.get((uid, effect.what, effect.value), effect.at_ms)
        was_written = any(effect.at_ms + SETTLED_MS < at < until for at in self._written.get(uid, ()))
        if effect.what.startswith("hold") and (uid, effect.what, "held") in told:
            return True  # told by an older version, which knows nothing of the hold but that it is there
        if not effect.what.startswith("hold") or was_written:
            return False
        steps = (
            step
            for tree in self._records.values()
            if tree["spec"]["target"].get("uid") == uid
            for step in steps_of(tree)
        )
        if any(effect.value in step.get("evidence", "") for step in steps):
            return True
        return any(
            other.what == DELETION and effect.at_ms <= other.at_ms <= until and identity in told
            for identity, other in self._effects.items()
            if other.machine_uid == uid
        )


def is_hold(annotation: str) -> bool:
    return annotation == names.HOLD or annotation.startswith(names.HOLD_FOR)


def is_about(tree: Tree, machine_uid: str) -> bool:
    return bool(tree["spec"]["target"].get("uid", "") == machine_uid)


def steps_of(tree: Tree) -> list[Tree]:
    """What a record tells: its status once it was written, before that what it was opened with."""
    told: list[Tree] = (tree.get("status") or tree["spec"].get("begun") or {}).get("steps", [])
    return told


def found(tree: Tree) -> Tree:
    """All of the spec but a person's answer."""
    return {key: value for key, value in tree["spec"].items() if key != "approval"}
