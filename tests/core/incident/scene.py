"""A scene for records: the real engine and rooms over the simulated API, one machine, and a clock that tests turn.

Objects of others are put into the engine as they are; Incidents are kept by the API, with its schema and its versions.
"""

from __future__ import annotations

import random
from typing import Any

from msgspec.structs import replace
from tests.builders import HOST_AT, MACHINE_AT, NODE_AT, NOW, RESOURCES, a_host, a_machine, a_node, ago, later

from noderemedy import crds
from noderemedy.core.healthcheck import checks, specs, verdicts
from noderemedy.core.incident import diary, podlists, records, shelf
from noderemedy.core.incident.facts import Diary
from noderemedy.core.traces import diary_ref
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import ListPods
from noderemedy.model.healthcheck import Criterion, Dialect, HealthCheck
from noderemedy.model.host import Host
from noderemedy.model.ids import HEALTH_CHECK, INCIDENT, SYSTEM, Ref, ref
from noderemedy.model.incident import Incident
from noderemedy.model.machine import Machine
from noderemedy.model.node import Condition, Node
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Present
from noderemedy.model.selector import Selector
from noderemedy.model.time import Now, Span, Wall
from noderemedy.rooms import watched
from noderemedy.sim.apiserver import ADMIN, ApiServer
from noderemedy.wire.answers import outcome
from noderemedy.wire.http import Answer, Request
from noderemedy.wire.objects import convert
from noderemedy.wire.requests import render

ROOMS = (specs.ROOM, verdicts.ROOM, checks.ROOM, diary.ROOM, podlists.ROOM, records.ROOM)
CHECK_AT = ref(HEALTH_CHECK, "workers", MACHINE_AT.namespace)
CRITERIA = tuple(Criterion("Ready", status, Span.seconds(300)) for status in ("Unknown", "False"))
WORKERS = Selector(match_labels=(("role", "worker"),))


def a_check(**more: Any) -> HealthCheck:
    given = {"uid": "check-uid", "dialect": Dialect.SEED, "selector": WORKERS, "node_criteria": CRITERIA}
    return HealthCheck(**{**given, "created": Wall(1), **more})


def sick(node: Node, since: Wall, status: str = "Unknown") -> Node:
    return replace(node, conditions=(Condition("Ready", status, since),))


class Scene:
    """One machine with host and node, judged by one check, and whatever a test makes of them."""

    def __init__(self, *, is_served: bool = True, check: HealthCheck | None = None, kept: int = shelf.IN_ALL) -> None:
        self.now: Now = NOW
        self.rooms = (*ROOMS, shelf.keeping(kept))
        self.api = ApiServer(wall=lambda: self.now.wall, chance=random.Random(1))
        self.writes: list[Request] = []
        for tree in crds.ours():
            self.api.create(tree)
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}})
        self.is_served, self.lists_pods = is_served, True
        self.machine: Machine = replace(a_machine(), labels=(("role", "worker"),))
        self.host: Host = a_host()
        self.node: Node = a_node()
        self.check = check or a_check()
        self.version = 1_000
        self.start()

    def start(self) -> None:
        """A manager starts: it knows what the API says, and nothing else."""
        self.engine = Engine(self.rooms)
        for kind in watched(self.rooms):
            if kind == INCIDENT and not self.is_served:
                self.engine.unserved(kind, self.now)
                continue
            self.engine.listing(kind, self.now)
            if kind == INCIDENT:
                for tree in self.api.list(INCIDENT):
                    self.engine.seen(convert(INCIDENT, tree), self.now)
            self.engine.listed(kind, self.now)
        self.put(CHECK_AT, self.check)
        self.put(MACHINE_AT, self.machine)
        self.put(HOST_AT, self.host)
        self.put(NODE_AT, self.node)
        self.step()

    # --- what others do ------------------------------------------------------------------------------------------

    def put(self, at: Ref, obj: Any) -> None:
        self.version += 1
        self.engine.seen(Seen(at, obj.uid, str(self.version), obj), self.now)

    def change(self, *, machine: dict[str, Any] | None = None, host: dict[str, Any] | None = None) -> None:
        """Somebody changes fields of machine and host; then everybody looks."""
        if machine is not None:
            self.machine = replace(self.machine, **machine)
            self.put(MACHINE_AT, self.machine)
        if host is not None:
            self.host = replace(self.host, **host)
            self.put(HOST_AT, self.host)
        self.step()

    def falls_sick(self, status: str = "Unknown") -> None:
        self.set_node(sick(self.node, self.now.wall, status))

    def recovers(self) -> None:
        self.set_node(sick(self.node, ago(0, self.now), "True"))

    def set_node(self, node: Node) -> None:
        self.node = node
        self.put(NODE_AT, node)
        self.step()

    def loses(self, at: Ref, uid: str) -> None:
        self.engine.gone(Seen(at, uid, "", None), self.now)
        self.step()

    # --- time ----------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Look, and carry out what is asked for, until nothing is."""
        effects = list(self.engine.step(self.now, 7).effects)
        while effects:
            for effect in effects:
                more: Any = effect
                while more is not None:
                    request = render(more.action, 7, RESOURCES)
                    if request.method != "GET":
                        self.writes.append(request)
                    is_refused = isinstance(more.action, ListPods) and not self.lists_pods
                    answer = Answer(403) if is_refused else self.api.handle(request, ADMIN)
                    more = self.engine.ended(more, outcome(more, answer, self.now.mono), self.now)
            effects = list(self.engine.step(self.now, 7).effects)

    def wait(self, seconds: float) -> None:
        """Let time pass; the engine looks whenever it wanted to."""
        end = later(seconds, self.now)
        while (due := self.engine.next_wake()) is not None and due <= end.mono:
            self.now = later(max(0, due.since(self.now.mono).ms) / 1000, self.now)
            self.step()
        self.now = end
        self.step()

    # --- what is there -------------------------------------------------------------------------------------------

    def incidents(self) -> list[Incident]:
        """As the API keeps them, the oldest first."""
        found = [convert(INCIDENT, tree).obj for tree in self.api.list(INCIDENT)]
        return sorted(found, key=lambda one: (one.found.detected, one.found.episode))

    def incident(self) -> Incident:
        [only] = self.incidents()
        assert isinstance(only, Incident)
        return only

    def told(self, number: int = -1) -> list[str]:
        """The steps of a record in short."""
        return [f"{step.what} {step.value}".strip() for step in self.incidents()[number].record.steps]

    def noted(self) -> list[str]:
        """The steps of the diary: what the record will tell with its next write."""
        diary = self.diary()
        return [f"{step.what} {step.value}".strip() for step in diary.record.steps] if diary else []

    def diary(self) -> Diary | None:
        entry = self.engine.cache.read(diary_ref(MACHINE_AT))
        return entry.obj if isinstance(entry, Present) else None

    def answer(self, **approval: str) -> None:
        """A person answers in the open Incident."""
        [tree] = [one for one in self.api.list(INCIDENT) if "outcome" not in one.get("status", {})]
        meta = tree["metadata"]
        body = {"spec": {"approval": approval}}
        changed = self.api.patch(INCIDENT, meta["name"], meta["namespace"], body, "merge")
        self.engine.seen(convert(INCIDENT, changed), self.now)
        self.step()
