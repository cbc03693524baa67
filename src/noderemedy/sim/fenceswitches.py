"""What people set and take back where nodes are fenced: pauses, modes, approvals, taints, conditions, documents.

Each closes a gate of fencing or of remedies for a while. One table; a trouble draws a row. Rows about one node prefer
one that is silent, for a gate shows only where somebody wants to pass. All is taken back when the world is healed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct

from noderemedy.model.ids import CONFIG_MAP, INCIDENT, MACHINE, NODE, NODE_FENCE, Kind
from noderemedy.model.time import Span
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.cluster import machine_of
from noderemedy.sim.fenced import Fenced
from noderemedy.sim.objects import NAMESPACE, SYSTEM
from noderemedy.wire import names

MINUTE_MS = 60_000
SNOOZE = Span(5 * MINUTE_MS)
ANSWERS = ("snooze", "deny", "approve")  # in this order
REMOVER = {"key": "ToBeDeletedByClusterAutoscaler", "value": "", "effect": "NoSchedule"}
LOST = "NetworkUnavailable"
NAMESPACES = {MACHINE: NAMESPACE, CONFIG_MAP: SYSTEM}


class Note(Struct, frozen=True):
    """An annotation that comes and goes."""

    kind: Kind
    key: str
    value: str


ASKS = "document that asks first"
TABLE: dict[str, Note] = {
    "node paused": Note(NODE, names.PAUSED, "true"),
    "node paused until nobody knows": Note(NODE, names.PAUSED, "for some time"),
    "fence paused": Note(NODE_FENCE, names.PAUSED, "true"),
    "machine paused by Cluster API": Note(MACHINE, names.CLUSTER_PAUSED, "true"),
    "document paused": Note(CONFIG_MAP, names.PAUSED, "true"),
    "document that only observes": Note(CONFIG_MAP, names.MODE, "observe"),
    ASKS: Note(CONFIG_MAP, names.APPROVAL, "required"),
}


class FenceSwitches:
    """Draws a row, and takes it back later."""

    def __init__(self, fenced: Fenced, chance: random.Random, spared: set[str]) -> None:
        self.fenced = fenced
        self.spared = spared  # whose silence would prove what nobody can know
        self.api = fenced.cluster.api
        self.agenda = fenced.cluster.agenda
        self.chance = chance

    def troubles(self) -> list[tuple[Callable[[], None], int]]:
        return [
            (self.person_switches, 8),
            (self.document_asks, 2),
            (self.autoscaler_removes, 2),
            (self.network_lost, 2),
            (self.document_broken, 2),
            (self.document_deleted, 1),
            (self.document_edited, 3),
            (self.record_dropped, 1),
            (self.record_edited, 1),
        ]

    def person_switches(self) -> None:
        self._throw(TABLE[self.chance.choice(list(TABLE))])

    def document_asks(self) -> None:
        """Approval is required for a while, and somebody answers every open question, each time in another way."""
        self._throw(TABLE[ASKS])
        for minutes, answer in enumerate(ANSWERS, start=2):
            self.agenda.after(minutes * MINUTE_MS, partial(self._answer, answer))

    def _throw(self, note: Note) -> None:
        name = self._object(note.kind)
        self._annotate(note.kind, name, note.key, note.value)
        self._later(lambda: self._annotate(note.kind, name, note.key, None))

    def _object(self, kind: Kind) -> str:
        if kind == CONFIG_MAP:
            return self.chance.choice(self.fenced.documents)
        node = self._node()
        return {NODE_FENCE: f"node-fence-{node}", MACHINE: machine_of(node)}.get(kind, node)

    def _answer(self, answer: str) -> None:
        approval = {"decision": answer, "by": "somebody", "until": str(self.agenda.wall() + SNOOZE)}
        for incident in self.api.list(INCIDENT, SYSTEM):
            if not incident.get("status", {}).get("closed"):
                body = {"spec": {"approval": approval}}
                self.api.patch(INCIDENT, incident["metadata"]["name"], SYSTEM, body, "merge")

    # --- nodes ---------------------------------------------------------------------------------------------------

    def autoscaler_removes(self) -> None:
        """Fault 61: somebody else says that a node goes, and thinks better of it."""
        name = self._node()
        self._taint(name, is_there=True)
        self._later(lambda: self._taint(name, is_there=False))

    def _taint(self, name: str, *, is_there: bool) -> None:
        node = self.api.find(NODE, name)
        if node is not None:
            kept = [one for one in node["spec"].get("taints", ()) if one["key"] != REMOVER["key"]]
            taints = [*kept, REMOVER] if is_there else kept
            self.api.patch(NODE, name, "", {"spec": {"taints": taints or None}}, "merge")

    def network_lost(self) -> None:
        """What ails a node is elsewhere, and something says so: its document leaves it alone meanwhile."""
        name = self.chance.choice([one for one in self.fenced.nodes if self.fenced.trigger(one) == "threshold"])
        if name not in self.spared:
            self._reached(name, is_reached=False)
            self._later(lambda: self._reached(name, is_reached=True))

    def _reached(self, name: str, *, is_reached: bool) -> None:
        self._condition(name, is_there=not is_reached)
        self.fenced.cluster.servers[name].link(is_reached)

    def _condition(self, name: str, *, is_there: bool) -> None:
        node = self.api.find(NODE, name)
        if node is None or "conditions" not in node.get("status", {}):
            return
        kept = [one for one in node["status"]["conditions"] if one["type"] != LOST]
        told = {"type": LOST, "status": "True", "reason": "NoRoute", "lastTransitionTime": str(self.agenda.wall())}
        conditions = [*kept, told] if is_there else kept
        self.api.patch(NODE, name, "", {"status": {"conditions": conditions}}, "merge", subresource="status")

    # --- documents -----------------------------------------------------------------------------------------------

    def document_broken(self) -> None:
        """A mistake in a Configuration: the last good one goes on."""
        name = self.chance.choice(self.fenced.documents)
        if self.api.find(CONFIG_MAP, name, SYSTEM) is not None:
            body = {"data": {"config.yaml": "apiVersion: node-remedy/v1alpha\nkind: Configuration\nthresholds: no\n"}}
            self.api.patch(CONFIG_MAP, name, SYSTEM, body, "merge")
            self._later(self.fenced.write_documents)

    def document_deleted(self) -> None:
        name = self.chance.choice(self.fenced.documents)
        if self.api.find(CONFIG_MAP, name, SYSTEM) is not None:
            self.api.delete(CONFIG_MAP, name, SYSTEM)
            self._later(self.fenced.write_documents)

    def document_edited(self) -> None:
        """Under its name another remedy, that makes nothing safe and does not say so; and back, maybe while it runs."""
        self.fenced.write_documents(only_looks=True)
        self._later(self.fenced.write_documents)

    # --- records of remedies -------------------------------------------------------------------------------------

    def record_dropped(self) -> None:
        """A person has a chain begin anew, as the guide says."""
        if recorded := self._recorded():
            notes = (names.REMEDY, names.REMEDIATION_TIMESTAMP, names.REMEDIATION_PODNAME)
            body = {"metadata": {"annotations": dict.fromkeys(notes)}}
            self.api.patch(NODE, self.chance.choice(sorted(recorded)), "", body, "merge")

    def record_edited(self) -> None:
        """Whoever may edit a Node writes on it that its remedy, which runs, has made it safe."""
        records = {name: json.loads(text) for name, text in self._recorded().items()}
        if running := sorted(name for name, one in records.items() if one["phase"] == "running"):
            name = self.chance.choice(running)
            forged = json.dumps(records[name] | {"phase": "freeing", "outcome": "succeeded"})
            self.api.patch(NODE, name, "", {"metadata": {"annotations": {names.REMEDY: forged}}}, "merge")

    def _recorded(self) -> dict[str, str]:
        """Nodes in the hands of a chain, with its records."""
        noted = {one["metadata"]["name"]: one["metadata"].get("annotations") or {} for one in self.api.list(NODE)}
        return {name: notes[names.REMEDY] for name, notes in noted.items() if names.REMEDY in notes}

    # --- the healed world ----------------------------------------------------------------------------------------

    def heal(self) -> None:
        """Everything is taken back, on whatever object it may have been left."""
        self.fenced.write_documents()
        for note in TABLE.values():
            for tree in self.api.list(note.kind):
                self._annotate(note.kind, tree["metadata"]["name"], note.key, None)
        for name in self.fenced.nodes:
            self._taint(name, is_there=False)
            self._condition(name, is_there=False)
        for incident in self.api.list(INCIDENT, SYSTEM):
            self.api.patch(INCIDENT, incident["metadata"]["name"], SYSTEM, {"spec": {"approval": None}}, "merge")

    # --- small hands ---------------------------------------------------------------------------------------------

    def _node(self) -> str:
        silent = [name for name, server in self.fenced.cluster.servers.items() if not server.is_heard]
        return self.chance.choice(silent or self.fenced.nodes)

    def _later(self, do: Callable[[], None]) -> None:
        self.agenda.after(self.chance.randint(3, 12) * MINUTE_MS, do)

    def _annotate(self, kind: Kind, name: str, key: str, value: str | None) -> None:
        namespace = NAMESPACES.get(kind, "")
        found: Tree | None = self.api.find(kind, name, namespace)
        if found is not None and (found["metadata"].get("annotations") or {}).get(key) != value:
            body: dict[str, Any] = {"metadata": {"annotations": {key: value}}}
            self.api.patch(kind, name, namespace, body, "merge")
