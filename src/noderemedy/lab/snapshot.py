"""The lab at one moment, as plain values: what a view has to show and nothing else.

Made by `take` a few times per second; `lab/view.py` draws it. Node states are words of the API where the API knows, and
of the world where only the world does (booting, still writing).
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from noderemedy.lab.lab import Lab
from noderemedy.lab.story import Repair, Step, is_ready, notes_of
from noderemedy.model.ids import HOST, MACHINE, NODE
from noderemedy.sim.apiserver import Tree
from noderemedy.sim.cluster import host_of, machine_of
from noderemedy.sim.kinds import POD
from noderemedy.sim.objects import NAMESPACE, WORKLOAD
from noderemedy.sim.server import Server
from noderemedy.wire import names

BACK_FOR_MS = 8_000
REASONS_SHOWN = 4


class State(Enum):
    """What to say about a node in one word."""

    READY = "Ready"
    NOT_READY = "NotReady"
    MARKED = "marked"
    HELD = "held"
    OFF = "off"
    FREED = "freed"
    BOOTING = "booting"
    BACK = "back"
    GONE = "gone"


class NodeRow(Struct, frozen=True):
    """A node. `writes`: its kubelet is silent and its pods still write, which is what makes repairs dangerous."""

    name: str
    rack: str
    state: State
    writes: bool = False
    bmc_dead: bool = False
    cordoned: bool = False


class PodRow(Struct, frozen=True):
    """A pod of the database and where it is."""

    name: str
    node: str
    phase: str


class Line(Struct, frozen=True):
    """A sentence and its moment."""

    text: str
    at_s: float
    is_alert: bool = False


class Snapshot(Struct, frozen=True):
    """Everything that is shown."""

    now_ms: int
    nodes: tuple[NodeRow, ...]
    pods: tuple[PodRow, ...]
    repair: Repair | None
    others: tuple[str, ...]
    reasons: tuple[Line, ...]
    repaired: int
    freed_before_safe: int
    wrongs: tuple[str, ...]


def take(lab: Lab) -> Snapshot:
    """What the lab looks like now."""
    shown = _shown(lab)
    others = [repair.node for repair in lab.story.repairs if not repair.is_over and repair is not shown]
    return Snapshot(
        now_ms=lab.agenda.elapsed_ms(),
        nodes=tuple(node_row(lab, server) for server in (*lab.cluster.servers.values(), *living(lab))),
        pods=tuple(pod_row(pod) for pod in lab.cluster.api.list(POD, WORKLOAD)),
        repair=shown,
        others=tuple(others),
        reasons=_reasons(lab, shown),
        repaired=sum(repair.is_recovered for repair in lab.story.repairs),
        freed_before_safe=lab.freed_before_safe,
        wrongs=tuple(lab.wrongs()),
    )


def living(lab: Lab) -> list[Server]:
    """The instances of the cloud that are not ended."""
    return [server for server in lab.cluster.provider.instances.values() if server.has_power]


def _reasons(lab: Lab, repair: Repair | None) -> tuple[Line, ...]:
    """The last reasons of the repair that is shown, in its time, and alerts about whatever else."""
    if repair is None:
        return ()
    about = (machine_of(repair.node), host_of(repair.node), repair.node)
    said = [item for item in lab.diary.notable() if item.at_ms >= repair.begun_ms]
    chosen = [item for item in said if item.ref.name in about or item.reason.alert][-REASONS_SHOWN:]
    return tuple(Line(item.reason.note(), (item.at_ms - repair.begun_ms) / 1000, item.reason.alert) for item in chosen)


def _shown(lab: Lab) -> Repair | None:
    """The newest repair that goes on; else the last one that ended."""
    repairs = lab.story.repairs
    return next((repair for repair in reversed(repairs) if not repair.is_over), repairs[-1] if repairs else None)


def pod_row(pod: Tree) -> PodRow:
    phase = "Terminating" if "deletionTimestamp" in pod["metadata"] else pod.get("status", {}).get("phase", "Pending")
    return PodRow(pod["metadata"]["name"], pod["spec"].get("nodeName", ""), phase)


def node_row(lab: Lab, server: Server) -> NodeRow:
    writes = not server.is_heard and server.can_write and bool(server.running)
    node = lab.cluster.api.find(NODE, server.name) or {}
    is_cordoned = bool(node.get("spec", {}).get("unschedulable"))
    return NodeRow(server.name, server.rack, state_of(lab, server), writes, not server.bmc.answers, is_cordoned)


def state_of(lab: Lab, server: Server) -> State:
    """The furthest that a repair has come with this node, in one word."""
    node = lab.cluster.api.find(NODE, server.name)
    if node is None:
        booting = State.BOOTING if server.has_power else State.FREED
        return booting if lab.story.current(server.name) else State.GONE
    if not server.has_power:
        return State.OFF
    if names.REBOOT in notes_of(lab.cluster.api.find(HOST, host_of(server.name), NAMESPACE) or {}):
        return State.HELD
    if names.NEEDS_REMEDIATION in notes_of(lab.cluster.api.find(MACHINE, machine_of(server.name), NAMESPACE) or {}):
        return State.MARKED
    if not is_ready(node):
        return State.NOT_READY
    return State.BACK if _came_back(lab, server.name) else State.READY


def _came_back(lab: Lab, name: str) -> bool:
    since_ms = lab.agenda.elapsed_ms() - BACK_FOR_MS
    return any(repair.node == name and repair.at.get(Step.BACK, -1) > since_ms for repair in lab.story.repairs)


def is_whole(snapshot: Snapshot) -> bool:
    """Whether all pods run and all nodes are ready."""
    is_calm = all(row.state in (State.READY, State.BACK) for row in snapshot.nodes)
    return is_calm and all(pod.phase == "Running" for pod in snapshot.pods)
