"""A very small API for engine tests: objects as JSON trees, requests as the wire renders them, watches as a list.

It knows merge patches, uid and version preconditions and deletion, and plays baremetal operator and kubelet. Whoever
needs more uses the simulated cluster in `noderemedy.sim`.
"""

from __future__ import annotations

import json
from typing import Any

from tests.builders import (
    NAMESPACE,
    NOW,
    RESOURCES,
    a_host_tree,
    a_machine_tree,
    a_node_tree,
    later,
)
from tests.engine.bench import TOKEN

from noderemedy.engine.loop import Engine
from noderemedy.engine.telling import Notice
from noderemedy.model.ids import HOST, INCIDENT, MACHINE, NODE, Kind, Ref, ref
from noderemedy.model.outcome import Effect, Outcome
from noderemedy.model.time import Now
from noderemedy.wire import names
from noderemedy.wire.answers import outcome
from noderemedy.wire.http import Answer, Request
from noderemedy.wire.objects import convert
from noderemedy.wire.requests import render

Tree = dict[str, Any]
SILENT = [{"type": "Ready", "status": "Unknown"}]


def path_of(at: Ref) -> str:
    return RESOURCES[at.kind].path(at.namespace, at.name)


def merged(target: Any, change: Any) -> Any:
    """RFC 7396."""
    if not isinstance(change, dict):
        return change
    base = dict(target) if isinstance(target, dict) else {}
    for name, value in change.items():
        if value is None:
            base.pop(name, None)
        else:
            base[name] = merged(base.get(name), value)
    return base


class TinyApi:
    """The objects, by path, and one engine that watches them."""

    def __init__(self, engine: Engine, machines: int) -> None:
        self.engine = engine
        self.now: Now = NOW
        self.objects: dict[str, tuple[Ref, Tree]] = {}
        self.writes: list[Request] = []
        self.notices: list[Notice] = []
        self._version = 1_000
        self._effects: list[Effect] = []
        self._boots = 0
        for number in range(machines):
            self._add_machine(number)
        for kind in RESOURCES:
            engine.listing(kind, NOW)
            for at, tree in self.objects.values():
                if at.kind == kind:
                    engine.seen(convert(kind, tree), NOW)
            engine.listed(kind, NOW)
        engine.unserved(INCIDENT, NOW)  # this API keeps no records

    def _add_machine(self, number: int) -> None:
        name, host = f"worker-{number}", f"host-{number}"
        provider = {"providerID": f"metal3://{host}"}
        machine = a_machine_tree(name, uid=f"m{number}", host=f"{NAMESPACE}/{host}", node_name=name)
        self._store(ref(MACHINE, name, NAMESPACE), {**machine, "spec": provider})
        self._store(ref(HOST, host, NAMESPACE), a_host_tree(host, uid=f"h{number}", consumer=name))
        labels = {"rack": str(number % 3)}
        self._store(ref(NODE, name), a_node_tree(name, uid=f"n{number}", labels=labels, spec=provider))

    def _store(self, at: Ref, tree: Tree) -> Tree:
        self._version += 1
        stored = merged(tree, {"metadata": {"resourceVersion": str(self._version)}})
        self.objects[path_of(at)] = (at, stored)
        return dict(stored)

    def tree(self, at: Ref) -> Tree | None:
        found = self.objects.get(path_of(at))
        return found[1] if found else None

    def change(self, at: Ref, patch: Tree) -> None:
        """Somebody else writes, and the watch tells."""
        found = self.tree(at)
        assert found is not None
        self.engine.seen(convert(at.kind, self._store(at, merged(found, patch))), self.now)

    def mark(self, number: int) -> None:
        at = ref(MACHINE, f"worker-{number}", NAMESPACE)
        self.change(at, {"metadata": {"annotations": {names.NEEDS_REMEDIATION: ""}}})

    # --- requests ------------------------------------------------------------------------------------------------

    def answer(self, request: Request) -> Answer:
        if request.method == "POST":
            return self._created(request)
        found = self.objects.get(request.path)
        if found is None:
            return Answer(404, b'{"kind":"Status","message":"not found","reason":"NotFound"}')
        at, tree = found
        if request.method == "GET":
            return Answer(200, json.dumps(tree).encode())
        self.writes.append(request)
        body = json.loads(request.body)
        guard = body.get("preconditions", body.get("metadata", {}))
        if any(
            guard.get(name, tree["metadata"][name]) != tree["metadata"][name] for name in ("uid", "resourceVersion")
        ):
            return Answer(409, b'{"kind":"Status","message":"the object has been modified","reason":"Conflict"}')
        if request.method == "DELETE":
            del self.objects[request.path]
            self.engine.gone(convert(at.kind, tree), self.now)
            return Answer(200, b'{"kind":"Status","status":"Success"}')
        stored = self._store(at, merged(tree, body))
        return Answer(200, json.dumps(stored).encode())

    def _created(self, request: Request) -> Answer:
        tree = json.loads(request.body)
        meta = tree["metadata"]
        group = tree["apiVersion"].rpartition("/")[0]
        at = ref(Kind(group, tree["kind"]), meta["name"], meta["namespace"])
        if self.tree(at) is not None:
            return Answer(409, b'{"kind":"Status","message":"it exists","reason":"AlreadyExists"}')
        self.writes.append(request)
        stored = self._store(at, merged(tree, {"metadata": {"uid": f"uid of {at}"}}))
        return Answer(201, json.dumps(stored).encode())

    def _carry_out(self, effect: Effect) -> Outcome:
        return outcome(effect, self.answer(render(effect.action, effect.token, RESOURCES)), self.now.mono)

    # --- time ----------------------------------------------------------------------------------------------------

    def run(self, seconds: int, *, is_quiet: bool = False) -> None:
        """One look per second; outcomes arrive at the next second. `is_quiet`: operator and kubelets do nothing."""
        for _ in range(seconds):
            self.now = later(1, self.now)
            self.now = Now(self.now.wall, self.now.mono, draw=self.now.mono.ms)
            for effect in self._effects:
                more = self.engine.ended(effect, self._carry_out(effect), self.now)
                while more is not None:
                    more = self.engine.ended(more, self._carry_out(more), self.now)
            output = self.engine.step(self.now, TOKEN)
            self._effects = list(output.effects)
            self.notices.extend(output.notices)
            if not is_quiet:
                self._everybody_else()

    def _everybody_else(self) -> None:
        """Power follows the hold, who is off is not heard, and a kubelet on a powered host registers its node."""
        for at, tree in list(self.objects.values()):
            if at.kind == HOST:
                is_held = names.REBOOT in tree["metadata"].get("annotations", {})
                if tree["status"]["poweredOn"] == is_held:
                    self.change(at, {"status": {"poweredOn": not is_held}})
                node = ref(NODE, at.name.replace("host", "worker"))
                if is_held and (found := self.tree(node)) is not None and found["status"]["conditions"] != SILENT:
                    self.change(node, {"status": {"conditions": SILENT}})
                if not is_held and self.tree(node) is None:
                    self._boots += 1
                    spec = {"providerID": f"metal3://{at.name}"}
                    tree = self._store(node, a_node_tree(node.name, uid=f"boot-{self._boots}", spec=spec))
                    self.engine.seen(convert(NODE, tree), self.now)
