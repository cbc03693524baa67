"""S9: what cannot be undone follows live reads by the same process within seconds. `conduct.py` owns one.

A Node that is deleted or called out of service, and pods and volumes that go with it: the Node and its host were read.
A host that is held: its Machine was read, and the hold is written onto the very version of the host that was decided
on. A Machine may go by its version instead: its instance, Node and pods stay until the provider has ended it.

Told by requests as they reach the server: the answer to a write is the object as it is then, so that is a read, too.
A read whose answer was lost on the way passes for one.
"""

from __future__ import annotations

import json

from noderemedy.model.ids import Kind
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.kinds import ATTACHMENT, POD
from noderemedy.sim.objects import WORKLOAD
from noderemedy.sim.process import Process
from noderemedy.wire import names
from noderemedy.wire.http import Request

FRESH_MS = 7_000  # the five seconds of a proof, and the way of two requests
BATCH_MS = FRESH_MS + 5_000  # of several pods on one proof the last one may begin so much later
OUT_OF_SERVICE = b'"node.kubernetes.io/out-of-service"'
HOLDS = (names.REBOOT, names.REBOOT_FOR)
GIVEN_UP: dict[str, tuple[Kind, str]] = {"pods": (POD, WORKLOAD), "volumeattachments": (ATTACHMENT, "")}
HOST_PREFIX = host_of("")


class Freshness:
    """Remembers when each life of a manager read what."""

    def __init__(self, checkers: Checkers) -> None:
        self.checkers = checkers
        self.cluster = checkers.cluster
        self._read: dict[tuple[str, int, str], int] = {}

    def requested(self, process: Process, request: Request) -> None:
        """Judge it by what was read before; then it is a read itself."""
        kind, _, name = request.path.removesuffix("/status").rpartition("/")
        what = f"{kind.rpartition('/')[2]}/{name}"
        if request.method == "DELETE":
            self._deletes(process, request, what)
        elif request.method == "PATCH":
            self._writes(process, request, what)
        if request.method in ("GET", "PATCH"):
            self._read[process.name, process.lives, what] = self.cluster.agenda.now_ms

    def _deletes(self, process: Process, request: Request, what: str) -> None:
        kind, _, name = what.partition("/")
        if kind == "nodes":
            self._has_read(process, f"deletes {what}", self._of_node(name))
        elif kind == "machines" and b'"resourceVersion":"' not in request.body:
            self._has_read(process, f"deletes {what}", [what])
        elif kind == "machines":
            self.checkers.ran["S9 read live"] += 1
        elif kind in GIVEN_UP:
            found = self.cluster.api.find(GIVEN_UP[kind][0], name, GIVEN_UP[kind][1]) or {"metadata": {}}
            is_meant = found["metadata"].get("uid", "").encode() in request.body  # and not a successor of that name
            if is_meant and (node := found.get("spec", {}).get("nodeName", "")):
                self._has_read(process, f"deletes {what}", self._of_node(node), BATCH_MS)

    def _writes(self, process: Process, request: Request, what: str) -> None:
        kind, _, name = what.partition("/")
        if kind == "nodes" and OUT_OF_SERVICE in request.body:
            self._has_read(process, f"taints {what}", self._of_node(name))
        elif kind == "baremetalhosts" and request.body and is_hold(request):
            machine = machine_of(name.removeprefix(HOST_PREFIX))
            self._has_read(process, f"holds {what}", [f"machines/{machine}"])
            if b'"resourceVersion":"' not in request.body:
                self.checkers.complain("S9", f"{process.name} holds {what} of whatever version")

    def _of_node(self, node: str) -> list[str]:
        own = [f"nodes/{node}"]
        return [*own, f"baremetalhosts/{host_of(node)}"] if node in self.cluster.servers else own

    def _has_read(self, process: Process, deed: str, whats: list[str], within_ms: int = FRESH_MS) -> None:
        self.checkers.ran["S9 read live"] += 1
        for what in whats:
            read = self._read.get((process.name, process.lives, what))
            if read is None or self.cluster.agenda.now_ms - read > within_ms:
                self.checkers.complain("S9", f"{process.name} {deed}, and read {what} at {read} ms")


def node_given_up(cluster: Cluster, request: Request) -> str:
    """The node of a pod or volume that somebody takes away; "": it is about something else."""
    kind, _, name = request.path.removesuffix("/eviction").rpartition("/")
    given_up = GIVEN_UP.get(kind.rpartition("/")[2])
    found = cluster.api.find(given_up[0], name, given_up[1]) if given_up else None
    if found is None or meant_uid(request) not in ("", found["metadata"]["uid"]):
        return ""  # it means a former one, and the API refuses it
    return str(found.get("spec", {}).get("nodeName", ""))


def meant_uid(request: Request) -> str:
    """The uid that a deletion, or an eviction, names as its precondition."""
    body = json.loads(request.body or b"{}")
    return str((body.get("deleteOptions", body).get("preconditions") or {}).get("uid", ""))


def is_hold(request: Request) -> bool:
    """Whether it puts a hold there; one that is taken off has no value."""
    notes = json.loads(request.body)["metadata"].get("annotations") or {}
    return any(value is not None and key.startswith(HOLDS) for key, value in notes.items())
