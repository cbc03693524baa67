"""A scene for remedies: the real engine and rooms over the simulated API, a few nodes, one document, and a clock.

All objects live in the API, with its semantics; whoever else acts (a kubelet, a Job controller, a person) is the test.
"""

from __future__ import annotations

import json
import random
from typing import Any

from tests.builders import NOW, RESOURCES, later

from noderemedy import crds
from noderemedy.core.budget import health, spec
from noderemedy.core.budget import room as budget
from noderemedy.core.incident import diary, nodediary, podlists, records
from noderemedy.core.remedy import documents, policies, remedy, repeats, thresholds
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import READS
from noderemedy.model.ids import BUDGET, CONFIG_MAP, INCIDENT, JOB, NODE, NODE_FENCE, SYSTEM, Kind, Ref, ref
from noderemedy.model.outcome import Seen
from noderemedy.model.remedy import RemedyRecord
from noderemedy.model.room import Present, Room
from noderemedy.model.time import Now, Wall
from noderemedy.model.workload import POD
from noderemedy.rooms import watched
from noderemedy.sim.apiserver import ADMIN, ApiServer
from noderemedy.wire.answers import outcome
from noderemedy.wire.objects import convert
from noderemedy.wire.requests import render

ROOMS = (documents.ROOM, thresholds.ROOM, policies.ROOM, remedy.ROOM, health.ROOM, spec.ROOM, budget.ROOM)
DIARIES = (diary.ROOM, nodediary.ROOM, podlists.ROOM, records.ROOM)
RECORDING = (*ROOMS, repeats.ROOM, *DIARIES)  # those that keep records, too
ROUNDS_MAX = 200
DOCUMENT_AT = ref(CONFIG_MAP, "workers", SYSTEM)
POD_OF_REMEDY = "{spec: {containers: [{name: c, image: registry.example/remedy:1, command: [fix]}]}}"
TEXT = f"""
apiVersion: node-remedy/v1alpha
kind: Configuration
nodeSelector: role=worker
thresholdConfigs:
- nodeConditionType: Ready
  nodeConditionStatus: [false, Unknown]
  nodeConditionPeriod: 60s
  remedy1: {{name: repair, period: 3m}}
  remedy2: {{name: reset, period: 5m}}
  recovery: {{name: welcome}}
remedyConfigs:
- {{name: repair, podTemplate: {POD_OF_REMEDY}}}
- {{name: reset, podTemplate: {POD_OF_REMEDY}}}
- {{name: welcome, podTemplate: {POD_OF_REMEDY}}}
"""


def text(*changes: tuple[str, str]) -> str:
    """The usual document with some words replaced; each of them must be there."""
    made = TEXT
    for old, new in changes:
        assert old in made, old
        made = made.replace(old, new)
    return made


def and_more(*lines: str) -> str:
    return TEXT + "\n".join(lines) + "\n"


class Scene:
    """Some nodes, one document, and whatever a test makes of them."""

    def __init__(
        self,
        document: str | None = TEXT,
        *,
        nodes: int = 1,
        notes: dict[str, str] | None = None,
        rooms: tuple[Room, ...] = ROOMS,
    ) -> None:
        self.rooms = rooms
        self.now: Now = NOW
        self.api = ApiServer(wall=lambda: self.now.wall, chance=random.Random(1))
        self.done: list[str] = []  # what was written, action by action
        self.told: list[str] = []  # to people
        self.said: list[str] = []  # in which words
        self.dies_after = 0  # the manager dies with this write; 0: it does not
        for tree in crds.ours():
            if tree["spec"]["names"]["kind"] in ("NodeFence", "Incident", "RemediationBudget"):
                self.api.create(tree)
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}})
        for number in range(nodes):
            self.add_node(f"n{number}")
        if document is not None:
            self.write_document(document, **(notes or {}))
        self.start()
        self.wait(3_600)  # nobody is new here

    def start(self) -> None:
        """A manager starts: it knows what the API says, and nothing else."""
        self.engine = Engine(self.rooms)
        for kind in watched(self.rooms):
            self.engine.listing(kind, self.now)
            for tree in self.api.list(kind) if self.is_served(kind) else ():
                self.engine.seen(convert(kind, tree), self.now)
            self.engine.listed(kind, self.now)
        self.step()

    def is_served(self, kind: Kind) -> bool:
        return kind in (INCIDENT, NODE_FENCE, BUDGET) or kind.group in ("", "batch", "coordination.k8s.io")

    # --- what others do ------------------------------------------------------------------------------------------

    def add_node(self, name: str, **labels: str) -> None:
        meta = {"name": name, "labels": {"role": "worker", **labels}}
        self.api.create({"apiVersion": "v1", "kind": "Node", "metadata": meta})
        self.set_status(name, boot="boot-1")
        self.set_condition("Ready", "True", name)

    def set_status(self, name: str = "n0", boot: str = "boot-1") -> None:
        info = {"bootID": boot, "kubeletVersion": "v1.34.0"}
        addresses = [{"type": "InternalIP", "address": "192.0.2.7"}]
        self.patch(NODE, name, {"status": {"nodeInfo": info, "addresses": addresses}}, "status")

    def set_condition(self, kind: str, status: str, name: str = "n0") -> None:
        """Kubelet, the node lifecycle or node-problem-detector says something."""
        told = self.api.get(NODE, name, "").get("status", {}).get("conditions", [])
        new = {"type": kind, "status": status, "lastTransitionTime": str(self.now.wall)}
        conditions = [*(one for one in told if one["type"] != kind), new]
        self.patch(NODE, name, {"status": {"conditions": conditions}}, "status")

    def write_document(self, document: str, name: str = "workers", **notes: str) -> None:
        at = ref(CONFIG_MAP, name, SYSTEM)
        annotations = {f"node-remedy.dev/{key}": value for key, value in notes.items()}
        body = {"metadata": {"annotations": annotations}, "data": {"config.yaml": document}}
        if any(one["metadata"]["name"] == name for one in self.api.list(CONFIG_MAP)):
            self.patch(CONFIG_MAP, name, body)
            return
        meta = {"name": at.name, "namespace": at.namespace, "annotations": annotations}
        self.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": body["data"]})
        self.look()

    def limit_pods(self, per_minute: int) -> None:
        """The RemediationBudget says how many pods may be freed in a minute."""
        body = {"metadata": {"name": "cluster"}, "spec": {"podsPerMinute": per_minute}}
        self.api.create({"apiVersion": "node-remedy.dev/v1alpha1", "kind": "RemediationBudget", **body})
        self.look()

    def delete(self, kind: Kind, name: str) -> None:
        namespace = "" if kind in (NODE, NODE_FENCE) else SYSTEM
        seen = convert(kind, self.api.get(kind, name, namespace))
        self.api.delete(kind, name, namespace)
        if hasattr(self, "engine"):
            self.engine.gone(Seen(seen.ref, seen.uid, "", None), self.now)
        self.step()

    def end_job(self, is_good: bool = True, name: str = "") -> None:
        """The Job controller says how the only Job that runs has ended."""
        name = name or self.running_jobs()[0]
        told = {"type": "Complete" if is_good else "Failed", "status": "True", "lastTransitionTime": str(self.now.wall)}
        self.patch(JOB, name, {"status": {"conditions": [told]}}, "status")

    def patch(self, kind: Kind, name: str, body: dict[str, Any], subresource: str = "") -> None:
        namespace = "" if kind in (NODE, NODE_FENCE) else SYSTEM
        self.api.patch(kind, name, namespace, body, "merge", subresource)
        self.look()

    # --- time ----------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """The watches show what is there; then everybody looks."""
        if not hasattr(self, "engine"):
            return
        for kind in watched(self.rooms):
            for tree in self.api.list(kind) if self.is_served(kind) else ():
                self.engine.seen(convert(kind, tree), self.now)
        self.step()

    def step(self) -> None:
        """Look, and carry out what is asked for, until nothing is."""
        if not hasattr(self, "engine"):
            return
        for _ in range(ROUNDS_MAX):
            output = self.engine.step(self.now, 7)
            self.told += [type(one.reason).__name__ for one in output.notices]
            self.said += [one.reason.note() for one in output.notices]
            assert "RoomBroken" not in self.told, [one.reason for one in output.notices]
            if not output.effects:
                return
            for effect in output.effects:
                more: Any = effect
                while more is not None:
                    if not isinstance(more.action, READS):
                        self.done.append(type(more.action).__name__)
                    told = self.outcome(more)
                    if not isinstance(more.action, READS) and len(self.done) == self.dies_after:
                        self.start()  # the answer is lost with whoever asked
                        return
                    more = self.engine.ended(more, told, self.now)
        raise AssertionError("they never come to rest")

    def outcome(self, effect: Any) -> Any:
        """The API carries it out."""
        return outcome(effect, self.api.handle(render(effect.action, 7, RESOURCES), ADMIN), self.now.mono)

    def wait(self, seconds: float) -> None:
        """Let time pass; the engine looks whenever it wanted to."""
        end = later(seconds, self.now)
        while (due := self.engine.next_wake()) is not None and due <= end.mono:
            self.now = later(max(1, due.since(self.now.mono).ms) / 1000, self.now)
            self.step()
        self.now = end
        self.step()

    # --- what is there -------------------------------------------------------------------------------------------

    def record(self, name: str = "n0") -> RemedyRecord | None:
        found = convert(NODE, self.api.get(NODE, name, "")).obj.remedy
        assert found is None or isinstance(found, RemedyRecord)
        return found

    def notes(self, name: str = "n0") -> dict[str, str]:
        return dict(self.api.get(NODE, name, "")["metadata"].get("annotations") or {})

    def jobs(self) -> list[dict[str, Any]]:
        return sorted(self.api.list(JOB), key=lambda one: int(one["metadata"]["resourceVersion"]))

    def running_jobs(self) -> list[str]:
        return [one["metadata"]["name"] for one in self.jobs() if not (one.get("status") or {}).get("conditions")]

    def ordered(self) -> list[str]:
        """The remedies whose Jobs are there, in the order of their creation."""
        jobs = sorted(self.api.list(JOB), key=lambda one: self.created(one))
        return [one["metadata"]["annotations"]["node-remedy.dev/remedy-name"] for one in jobs]

    def created(self, tree: dict[str, Any]) -> tuple[str, str]:
        return tree["metadata"]["creationTimestamp"], tree["metadata"]["uid"]

    def reasons(self, room: str = "remedy", at: Ref | None = None) -> list[str]:
        at = at or ref(NODE, "n0")
        decided = [one for key, one in self.engine.decisions.items() if (key.room, key.ref) == (room, at)]
        return [type(reason).__name__ for one in decided for reason in one.because]

    def fact(self, at: Ref) -> Any:
        entry = self.engine.cache.read(at)
        return entry.obj if isinstance(entry, Present) else None

    def falls_sick(self, name: str = "n0", status: str = "Unknown") -> None:
        self.set_condition("Ready", status, name)

    def recovers(self, name: str = "n0") -> None:
        self.set_condition("Ready", "True", name)

    def add_pod(self, name: str, node: str = "n0", *, volume: bool = False) -> None:
        meta = {"name": name, "namespace": "default"}
        spec: dict[str, Any] = {"nodeName": node, "containers": [{"name": "c", "image": "x"}]}
        if volume:
            spec["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]
        self.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})

    def pods(self) -> list[str]:
        return sorted(one["metadata"]["name"] for one in self.api.list(POD))


def moment(scene: Scene, seconds: float) -> Wall:
    return later(seconds, scene.now).wall


def environment(job: dict[str, Any]) -> dict[str, str]:
    [container] = job["spec"]["template"]["spec"]["containers"]
    return {one["name"]: one.get("value", "") for one in container["env"]}


def printed(tree: Any) -> str:
    return json.dumps(tree)
