"""What becomes of a NodeHealthCheck of medik8s: node-remedy does not read the kind; what to write instead, by field.

Pure. Called by `examine.py`. Such a check selects Nodes, a MachineHealthCheck selects Machines; nodes that no Machine
names are told, since nothing here would repair them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from noderemedy.core.labels import matches
from noderemedy.manager.importing.report import Difference, Examined, blocks, differs, named, note
from noderemedy.manager.importing.world import World, metadata
from noderemedy.model.ids import NODE
from noderemedy.model.selector import Selector
from noderemedy.wire import names
from noderemedy.wire.fields import Fields
from noderemedy.wire.selectors import read_selector

EXCLUDED = "remediation.medik8s.io/exclude-from-remediation"


class NodeCase(Struct, frozen=True):
    """One NodeHealthCheck: its spec, the nodes that it selects, and what is wrong with it."""

    name: str
    spec: Fields
    status: Fields
    nodes: dict[str, dict[str, Any]]  # by name
    world: World


def not_read(case: NodeCase) -> Iterator[Difference]:
    yield blocks(
        "KindNotRead",
        "node-remedy judges machines by MachineHealthChecks and does not read this kind: it repairs nothing for it",
        "write a MachineHealthCheck from the lines below; its selector takes labels of the Machines, not of the Nodes",
    )
    yield blocks(
        "TwoOperators",
        "node-healthcheck-operator keeps repairing by this check, and node-remedy's budget and claims do not bind it",
        "put an entry into its spec.pauseRequests before the MachineHealthCheck is created, then delete it",
    )


def running(case: NodeCase) -> Iterator[Difference]:
    patients = case.status.objects("unhealthyNodes", case.status.get("unhealthyNodes"))
    under_repair = [str(item.get("name", "")) for _, item in patients if item.get("remediations")]
    if under_repair:
        yield blocks(
            "RepairRunning",
            f"{named(under_repair)} are under repair by this check now",
            "wait until they are healthy and their requests are gone",
        )


def machines(case: NodeCase) -> Iterator[Difference]:
    if not case.nodes:
        return
    with_machine = {machine.node_name for machine in case.world.machines.values()}
    without = sorted(set(case.nodes) - with_machine)
    if without:
        yield blocks(
            "NodesWithoutMachine",
            f"{named(without)} are selected, and no Machine names them: a MachineHealthCheck cannot mean them",
            "create Machines for them, or leave them to the operator that repairs them now",
        )


def excluded(case: NodeCase) -> Iterator[Difference]:
    found = [name for name, tree in case.nodes.items() if EXCLUDED in (metadata(tree).get("labels") or {})]
    if found:
        yield differs(
            "ExcludedNodes",
            f"{named(found)} carry the label {EXCLUDED}, which node-remedy does not read",
            f'annotate them with {names.PAUSED}: "true"',
        )


def conditions(case: NodeCase) -> Iterator[Difference]:
    if not case.spec.get("unhealthyConditions"):
        yield differs(
            "DefaultConditions",
            "without unhealthyConditions Ready=False and Ready=Unknown for 300 s mean sick; a MachineHealthCheck has"
            " no such default",
            "write both conditions with a timeout of 300 seconds",
        )


def threshold(case: NodeCase) -> Iterator[Difference]:
    total = len(case.nodes)
    least, most = case.spec.get("minHealthy"), case.spec.get("maxUnhealthy")
    if least is None and most is None:
        yield note("NoLimit", "it names neither minHealthy nor maxUnhealthy", "write the limit that is meant")
        return
    number = tolerated(least, most, total) if total else None
    name, given = ("minHealthy", least) if least is not None else ("maxUnhealthy", most)
    yield differs(
        "Limit",
        f"{name}: {given} rounds percentages up; a MachineHealthCheck has a limit on the sick only and rounds it down",
        f"with {total} nodes write a limit of {number}" if number is not None else "write the number that is meant",
    )


def tolerated(least: Any, most: Any, total: int) -> int | None:
    """How many nodes may be sick while repairs start, as that operator counts; None for what cannot be read."""
    given = least if least is not None else most
    text = str(given)
    if text.endswith("%") and text[:-1].isdecimal():
        amount = math.ceil(int(text[:-1]) * total / 100)
    elif text.isdecimal():
        amount = int(text)
    else:
        return None
    return max(total - amount, 0) if least is not None else min(amount, total)


def remediation(case: NodeCase) -> Iterator[Difference]:
    steps = case.spec.objects("escalatingRemediations", case.spec.get("escalatingRemediations"))
    if steps:
        yield blocks(
            "Escalation",
            f"it escalates over {len(steps)} templates; a MachineHealthCheck names one, and nothing follows it",
            "name the template of the lowest order; Metal3Remediation with strategy escalate retries, then replaces",
        )
    yield differs(
        "RequestName",
        "requests were named after the node and made in the template's namespace; here they are named after the Machine"
        " and made in its namespace, with the Machine as owner",
        "see that the controller of that kind finds the node by its owner Machine, and put the template there",
    )


def delays(case: NodeCase) -> Iterator[Difference]:
    if case.spec.get("healthyDelay"):
        yield differs(
            "HealthyDelay",
            "healthyDelay kept the request for a while after recovery; here it is deleted on recovery",
            f"annotate a node that needs a person's word first with {names.PAUSED}",
        )
    if case.spec.get("stormCooldownDuration"):
        yield differs(
            "StormCooldown",
            "stormCooldownDuration held this check back after a storm; here one cooldown holds for the whole cluster",
            "write it into spec.cooldown of the RemediationBudget",
        )
    if case.spec.get("pauseRequests"):
        yield note(
            "Paused",
            "it is paused by pauseRequests",
            f'annotate the new check with {names.PAUSED}: "true" until it may act',
        )


QUESTIONS: tuple[Callable[[NodeCase], Iterator[Difference]], ...] = (
    not_read,
    running,
    machines,
    excluded,
    conditions,
    threshold,
    remediation,
    delays,
)


def examine(tree: dict[str, Any], world: World) -> Examined:
    """All that is to be said about one NodeHealthCheck."""
    name = str(metadata(tree).get("name", ""))
    spec = Fields(tree.get("spec"))
    selector = read_selector(spec, "selector", spec.get("selector"))
    case = NodeCase(name, spec, Fields(tree.get("status")), selected(selector, world), world)
    found = [difference for question in QUESTIONS for difference in question(case)]
    found += [blocks("CheckInvalid", problem, "correct it before it is carried over") for problem in spec.problems]
    targets = len(case.nodes) if world.trees[NODE] else None
    return Examined(f"NodeHealthCheck//{name}", "", targets, "", tuple(found))


def selected(selector: Any, world: World) -> dict[str, dict[str, Any]]:
    if not isinstance(selector, Selector) or selector.is_empty:
        return {}
    chosen = {}
    for tree in world.trees[NODE]:
        labels = metadata(tree).get("labels")
        if matches(selector, labels if isinstance(labels, dict) else {}):
            chosen[str(metadata(tree).get("name", ""))] = tree
    return chosen
