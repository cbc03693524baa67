"""A fence whose manager is gone for good, and the person who finishes it by the page of the guide.

Used by `tests/sim/test_fence_page.py` in virtual time and by `tests/e2e/test_fence_page.py` with bash and kubectl.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from tests.guide import page as pages
from tests.guide.page import Page
from tests.guide.shell import Failed, Shell

from noderemedy.model.ids import FENCE_REMEDIATION, HOST, NODE, NODE_FENCE
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.crash import STORY_MS, play
from noderemedy.sim.fencecrash import NODES, FencedCheckers, stage
from noderemedy.sim.fencetroubles import node_fence
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.outlets import Sort
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.wire import names

PAGE = pages.read("node-fence.md")
ASIDE = ("Confirm", "ListPods", "ListVolumes", "OpenIncident", "WriteIncident", "WriteLedger", "ClaimRepair")
OVER_MS = 4 * MINUTE_MS  # every run that was under way has ended
SETTLED_MS = 12 * MINUTE_MS


class Case(NamedTuple):
    """Whose node hangs, why it is fenced, and how its workload is freed."""

    node: str
    trigger: str = "person"
    free_by: str = "taint"


# One of each sort of device, and of each way to free a workload.
STORIES = {
    "a BMC": Case("worker-1"),
    "two outlets": Case("worker-2", free_by="node"),
    "a fabric switch": Case("worker-3", free_by="pods"),
    "a host": Case("worker-5"),
    "a health check": Case("worker-1", "check"),
}
# Which device a method of the simulated configuration switches; the others have one.
PLACES = {"left": "pdu-a.example", "right": "pdu-b.example", "fc-off": "switch-1.example", "fc-on": "switch-1.example"}


def hangs_and_is_fenced(case: Case, cluster: Cluster) -> None:
    """A node hangs, and a person has it fenced, or its check."""
    cluster.servers[case.node].hang()
    if case.trigger == "person":
        spec = {"powerManagementDelay": "0s", "freeBy": case.free_by}
        cluster.agenda.after(MINUTE_MS, lambda: ask(cluster, node_fence(case.node, **spec)))


def ask(cluster: Cluster, tree: dict[str, Any]) -> None:
    cluster.api.create(tree)


class Left:
    """A story whose manager is gone for good at its n-th boundary."""

    def __init__(self, name: str, at: int) -> None:
        case = STORIES[name]
        self.node = case.node
        self.cluster, checkers, self.process = stage(case.trigger, 1, NODES)
        assert isinstance(checkers, FencedCheckers)
        self.checkers = checkers
        self.labels = self.cluster.api.get(NODE, self.node)["metadata"]["labels"]
        self.boundaries = 0
        self.heeds = True  # what the page says about storage fences
        self.process.on_boundary.append(lambda *_: self._boundary(at))
        hangs_and_is_fenced(case, self.cluster)
        agenda = self.cluster.agenda
        end_ms = agenda.now_ms + STORY_MS
        while self.process.is_alive and agenda.now_ms < end_ms:
            agenda.run_until(agenda.next_ms() or end_ms)
        agenda.run_until(agenda.now_ms + OVER_MS)

    def _boundary(self, at: int) -> None:
        self.boundaries += 1
        if self.boundaries == at + 1:
            self.process.kill()

    # --- what a person sees --------------------------------------------------------------------------------------

    @property
    def fence(self) -> dict[str, Any]:
        return self.cluster.api.find(NODE_FENCE, f"node-fence-{self.node}") or {}

    @property
    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.fence.get("status", {})
        return found

    @property
    def evidence(self) -> dict[str, Any]:
        found: dict[str, Any] = self.status.get("evidence", {})
        return found

    @property
    def notes(self) -> dict[str, str]:
        node = self.cluster.api.find(NODE, self.node) or {"metadata": {}}
        return node["metadata"].get("annotations") or {}

    def situation(self) -> tuple[object, ...]:
        """What a person can tell apart."""
        jobs = tuple((job["method"], job["action"], job["power"]) for job in self.status.get("jobs", ()))
        return self.status.get("state"), jobs, tuple(row for row, fits in ROWS.items() if fits(self))

    # --- what a person does --------------------------------------------------------------------------------------

    def finish(self, page: Page = PAGE) -> list[str]:
        """Go through the rows of the page in virtual time; then hear what the checkers have to say."""
        shell = Shell(self.cluster, **variables(self.node))
        try:
            for row, blocks in page.states.items():
                if ROWS[row](self):
                    printed = shell.run(page.program(*blocks))
                    if "Devices" in blocks:
                        self.switch_on(printed)
        except Failed as problem:
            return [*self.checkers.violations, f"typed in vain: {problem}"]
        return self.judged()

    def judged(self) -> list[str]:
        """What the checkers say a while after the last word was typed."""
        self.nurse()
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + SETTLED_MS)
        self.checkers.at_rest(None)
        found = self.cluster.api.get(NODE, self.node)["metadata"]
        if not self.labels.items() <= found["labels"].items():
            self.checkers.complain("S13", f"Node {self.node} lost labels")
        if names.OUT_OF_SERVICE_BY in self.notes or names.CORDONED in self.notes:
            self.checkers.complain("S13", f"Node {self.node} still has annotations of ours")
        for kind in (NODE_FENCE, FENCE_REMEDIATION):
            if self.cluster.api.list(kind):
                self.checkers.complain("L2", f"a {kind.kind} is left")
        return [line for line in self.checkers.violations if " S15: " not in line]  # nobody is left to write records

    def switch_on(self, printed: str) -> None:
        """By hand, at the devices that the list shows as off: power first, then storage."""
        left: dict[str, str] = {}
        for line in printed.splitlines():
            _, method, _, power = line.split(" ")
            left[PLACES.get(method, "")] = power
        outlets = sorted(self.cluster.outlets.by_node.get(self.node, []), key=lambda one: one.sort is Sort.FABRIC)
        for outlet in outlets:
            place = next((one for one in left if one and outlet.place.startswith(one)), "")
            if left.get(place, "on") == "on":
                continue
            if outlet.sort is Sort.FABRIC and self.heeds and "storageFreedAt" in self.evidence:
                self.nurse()
            self.cluster.outlets.switch(outlet, True)
            if outlet.sort is Sort.FABRIC:
                self.checkers.of_fences.unfenced(outlet)

    def nurse(self) -> None:
        """What was never power cycled is as sick as it was: somebody resets it."""
        server = self.cluster.servers[self.node]
        if server.has_power and not server.is_heard:
            server.power_off()
            self.cluster.outlets.power_on(server)


def is_held(left: Left) -> bool:
    host = left.cluster.api.find(HOST, host_of(left.node), NAMESPACE)
    notes = host["metadata"].get("annotations") or {} if host else {}
    return any(key.startswith(names.FENCE_REBOOT_FOR) for key in notes)


# the first cells of the page's table -> whether that is what there is to see
ROWS: dict[str, Callable[[Left], bool]] = {
    "`status.jobs`": lambda left: bool(left.status.get("jobs")),
    "a host that is held": is_held,
    "`evidence.offAt`": lambda left: "offAt" in left.evidence,
    "`evidence.backup`": lambda left: "backup" in left.evidence,
    "our taint": lambda left: names.OUT_OF_SERVICE_BY in left.notes,
    "our cordon": lambda left: names.CORDONED in left.notes,
    "a FenceRemediation": lambda left: bool(left.cluster.api.list(FENCE_REMEDIATION)),
    "a NodeFence": lambda left: bool(left.fence),
}


def variables(node: str) -> dict[str, str]:
    """What a person would set for this node."""
    return {
        "NAME": node,
        "NODE": f"nodes/{node}",
        "FENCE": f"nodefences.ha.k8s.io/node-fence-{node}",
        "NAMESPACE": NAMESPACE,
        "HOST": f"baremetalhosts.metal3.io/{host_of(node)}",
        "REQUEST": f"fenceremediations.node-remedy.dev/{machine_of(node)}",
    }


@cache
def telling(name: str) -> tuple[int, ...]:
    """The boundaries of the story at which the API has just done something that a person can see."""
    case = STORIES[name]
    story = partial(hangs_and_is_fenced, case)
    points = play(story, nodes=NODES, stage=partial(stage, case.trigger)).points
    return tuple(n for n, one in enumerate(points) if one.where == "applied" and one.action not in ASIDE)
