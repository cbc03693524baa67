"""A story whose manager is gone for good, and the state that it left behind, as a person would recognise it.

Used by `tests/sim/test_upgrade.py` in virtual time and by `tests/e2e/test_upgrade_page.py` with bash and kubectl.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from tests.guide.page import Page
from tests.guide.shell import Failed, Shell

from noderemedy.model.ids import HOST, MACHINE, NODE
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.crash import STORY_MS, Story, called_off, cordoned_node, hung_node, machine_vanishes, play
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.recordcheckers import RULE as RECORDS
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.wire import names

NODE_OF: dict[Story, str] = {
    hung_node: "worker-1",
    cordoned_node: "worker-2",
    called_off: "worker-1",
    machine_vanishes: "worker-1",
}
SETTLED_MS = 15 * MINUTE_MS


class Stopped:
    """A story whose manager is gone for good at its n-th boundary, and how it stood then."""

    def __init__(self, story: Story, at: int, *, away_ms: int = 0) -> None:
        self.cluster, self.checkers, self.process = calm(1, 3)
        self.node = NODE_OF[story]
        self.boundaries = 0
        self.process.on_boundary.append(lambda *_: self._boundary(at))
        story(self.cluster)
        end_ms = self.cluster.agenda.now_ms + STORY_MS
        while self.process.is_alive and self.cluster.agenda.now_ms < end_ms:
            self.cluster.agenda.run_until(self.cluster.agenda.next_ms() or end_ms)
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + away_ms)

    def _boundary(self, at: int) -> None:
        self.boundaries += 1
        if self.boundaries == at + 1:
            self.process.kill()

    def state(self) -> str:
        return state_by_page(self.cluster, self.node)

    def finish(self, page: Page, *blocks: str) -> list[str]:
        """Type these blocks, or those of the state that is there; then hear what the checkers have to say."""
        try:
            self._type(page, blocks or page.states.get(self.state(), ()))
            if self.state() == "marked":  # somebody made a new request meanwhile
                self._type(page, page.states["marked"])
        except Failed as problem:
            return [*self.checkers.violations, f"typed in vain: {problem}"]
        self.checkers.at_rest(None)
        # Nobody is left who would write records.
        return [line for line in self.checkers.violations if f" {RECORDS}: " not in line]

    def _type(self, page: Page, blocks: tuple[str, ...]) -> None:
        shell = a_shell(self.cluster, self.node, page)
        shell.run(page.program(*blocks))
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + SETTLED_MS)


def a_shell(cluster: Cluster, node: str, page: Page) -> Shell:
    """A terminal in which the variables of the page are set for this node."""
    shell = Shell(cluster)
    shell.run(page.program("The commands"))
    assert set(variables(node)) == set(shell.variables)
    shell.variables |= variables(node)
    return shell


def variables(node: str) -> dict[str, str]:
    """What a person would set for this node."""
    return {
        "NAMESPACE": NAMESPACE,
        "MACHINE": f"machines.cluster.x-k8s.io/{machine_of(node)}",
        "HOST": f"baremetalhosts.metal3.io/{host_of(node)}",
        "NODE": f"nodes/{node}",
    }


def state_by_page(cluster: Cluster, node_name: str) -> str:
    """The state as the page tells people to recognise it: by what kubectl shows, never by what the manager knows."""
    machine = cluster.api.find(MACHINE, machine_of(node_name), NAMESPACE)
    host = cluster.api.get(HOST, host_of(node_name), NAMESPACE)
    node = cluster.api.find(NODE, node_name)
    is_held = names.REBOOT in notes_of(host)
    if machine is None:
        return "orphaned hold" if is_held else ""
    notes = notes_of(machine)
    is_requested = names.NEEDS_REMEDIATION in notes
    if names.NODE_BACKUP not in notes:
        if is_held:
            return "held, still on" if host["status"]["poweredOn"] else "held, off"
        return "marked" if is_requested else ""
    backup = msgspec.json.decode(notes[names.NODE_BACKUP])
    if node is None and not is_held:
        return "released, booting"
    if node is None:
        return "node deleted" if is_requested else "request removed, still held"
    if node["metadata"]["uid"] == backup["nodeUid"]:
        return "backup stored"
    return "restored, backup not dropped" if has_all(node, backup) else "node back, not restored"


def notes_of(tree: dict[str, Any]) -> dict[str, str]:
    return tree["metadata"].get("annotations") or {}


def has_all(node: dict[str, Any], backup: dict[str, Any]) -> bool:
    keys = {taint["key"] for taint in node["spec"].get("taints") or ()}
    return (
        backup["labels"].items() <= node["metadata"].get("labels", {}).items()
        and backup["annotations"].keys() <= notes_of(node).keys()
        and {taint["key"] for taint in backup["taints"]} <= keys
        and backup["unschedulable"] <= node["spec"].get("unschedulable", False)
    )


@cache
def boundaries(story: Story) -> tuple[str, ...]:
    """What the story's manager was about at each boundary of its ledger."""
    return tuple(f"{point.where} {point.action}" for point in play(story).points)


def applied(story: Story) -> list[int]:
    """The boundaries at which the API has done something that its manager does not know yet."""
    return [at for at, name in enumerate(boundaries(story)) if name.startswith("applied")]


def telling(story: Story) -> list[int]:
    """All that leave something of their own behind: what a manager that never returns was answered makes no odds."""
    return [at for at, name in enumerate(boundaries(story)) if not name.startswith("ended")]


def boundary(story: Story, name: str) -> int:
    return boundaries(story).index(name)
