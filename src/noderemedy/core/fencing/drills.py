"""What a drill found: is every device of a node there, does it answer, and is it this node's? Pure.

Called by the drill room and by `node-remedy drill`. A device that answers can still be the wrong one: whoever pulls the
wrong plug frees the workload of a node that runs (races R32). So its power must fit what the node itself says, and
where a device tells who it is, that must be the node.
"""

from __future__ import annotations

import hashlib

from msgspec import Struct
from msgspec.structs import replace

from noderemedy.core.fencing import devices
from noderemedy.core.fencing.disks import UNSHARED
from noderemedy.core.fencing.elsewhere import elsewhere
from noderemedy.core.fencing.identities import is_same_machine, is_somebody
from noderemedy.model.drill import WRONG_DEVICE, is_found_wrong
from noderemedy.model.fenceplan import AgentMethod, FencePlan, Scope
from noderemedy.model.ids import Ref
from noderemedy.model.node import Node
from noderemedy.model.run import Deed, Order, Power, Run, RunState
from noderemedy.model.time import Span, Wall

BEGIN_WITHIN = Span(300_000)  # a drill that has not begun by then waits for the next one
PATIENCE = Span(60_000)  # to be asked for a status takes few devices longer
SILENT = "it runs on the node itself, which does not report"


class Finding(Struct, frozen=True):
    """What is wrong with one method, by a word for the condition and a sentence; nothing is wrong without a word."""

    method: str = ""
    word: str = ""
    problem: str = ""
    device: str = ""  # which one was judged: its digest
    is_fitting: bool = False  # it is on, and the node reports: nothing is left of an earlier word against it


def methods_of(plan: FencePlan, node: Node) -> tuple[AgentMethod, ...]:
    """What can be asked now. What runs on the node itself can be while the node reports: a silent one begins nothing,
    and that says nothing about its disks.
    """
    return tuple(one for one in asked_once(plan) if node.is_heard or not one.on_target)


def unasked_of(plan: FencePlan, node: Node) -> tuple[AgentMethod, ...]:
    """What nobody can be asked about now."""
    return tuple(one for one in asked_once(plan) if one.on_target and not node.is_heard)


def asked_once(plan: FencePlan) -> tuple[AgentMethod, ...]:
    """Every device of a plan: an "off" and an "on" of one plug are one device, whichever of them says its number."""
    found: dict[tuple[object, ...], AgentMethod] = {}
    for one in plan.agent_methods:
        first = found.setdefault((one.agent, one.parameters, one.secrets), one)
        if one.tells and not first.tells:
            found[one.agent, one.parameters, one.secrets] = replace(first, tells=one.tells)
    return tuple(found.values())


def order_for(method: AgentMethod, at: Ref, node: Node, due: Wall, now: Wall) -> Order:
    """The order that asks for the status. Its name is that of this one drill."""
    return Order(
        id=run_name(method, node, due),
        fence=at,
        fence_uid=node.uid,
        node=at.name,
        node_uid=node.uid,
        boot_id=node.boot_id,
        token=0,
        method=method.name,
        agent=method.agent,
        deed=Deed.STATUS,
        parameters=method.parameters,
        secrets=method.secrets,
        patience=max(min(method.patience, PATIENCE), Span(method.patience.ms // 2)),
        not_after=now + BEGIN_WITHIN,
        bound_to=at.name if method.on_target else "",
    )


def names_of(plan: FencePlan, node: Node, due: Wall) -> tuple[str, ...]:
    """The runs of one drill."""
    return tuple(run_name(one, node, due) for one in asked_once(plan))


def run_name(method: AgentMethod, node: Node, due: Wall) -> str:
    words = repr((node.uid, method.name, method.agent, method.parameters, method.secrets, due.ms))
    return f"drill-{hashlib.sha256(words.encode()).hexdigest()[:10]}"


def judge(method: AgentMethod, at: Ref, node: Node, run: Run) -> Finding:
    """What one answer says about one method."""
    name, device = method.name, devices.identity(method)
    if run.state is not RunState.DONE or run.power is Power.UNKNOWN:
        said = run.said or "it does not say whether it is on"
        return Finding(name, "DeviceFailed", f"node {at.name}, method {name}: {said}", device)
    if why := another_device(method, at, node, run.identity):
        return Finding(name, WRONG_DEVICE, f"node {at.name}, method {name}: {why}", device)
    if run.power is Power.OFF and node.is_heard:
        return Finding(name, *contradiction(method, at), device)
    return Finding(name, device=device, is_fitting=node.is_heard)


def alone(at: Ref, method: str) -> Finding:
    """Of a method about disks that no other node has."""
    return Finding(method, "DisksUnshared", f"node {at.name}, method {method}: {UNSHARED}")


def remembering(finding: Finding, at: Ref, node: Node) -> Finding:
    """An earlier drill's word against a device stands until the device is on while the node reports: "off" fits a node
    that has fallen silent, whosever plug it is, and a device that does not answer has not changed hands.
    """
    is_settled = finding.word == WRONG_DEVICE or finding.is_fitting or not finding.device
    if is_settled or not is_found_wrong(node, finding.device):
        return finding
    why = "an earlier drill found that this is another machine's, and nothing has shown otherwise since"
    problem = f"node {at.name}, method {finding.method}: {why}; correct the mapping"
    return replace(finding, word=WRONG_DEVICE, problem=problem)


def contradiction(method: AgentMethod, at: Ref) -> tuple[str, str]:
    where = f"node {at.name}, method {method.name}"
    if method.scope in (Scope.POWER, Scope.NOTHING):
        why = "the device says off, and the node reports: this is not its plug; correct the mapping"
        return WRONG_DEVICE, f"{where}: {why}"
    return "StillIsolated", f"{where}: the node reports, and is still cut off; switch it on, or correct the mapping"


def another_device(method: AgentMethod, at: Ref, node: Node, identity: str) -> str:
    """Why the device cannot be this node's, as far as anybody tells; "" if nothing speaks against it."""
    if why := another_number(method, node, identity):
        return why
    other = next(elsewhere(method, node.provider_id), None)
    if other is None:
        return ""
    place = f"its {other.parameter} is {other.says}, and the node's providerID names {other.own}"
    return f"{place}; correct {other.parameter}="


def another_number(method: AgentMethod, node: Node, identity: str) -> str:
    """Why it is another machine by the number that it tells. A BMC may tell another one than its machine has: then a
    person says which one that is, and any third one is still somebody else's.
    """
    own = [one for one in (method.tells, node.system_uuid) if is_somebody(one)]
    if not is_somebody(identity) or not own or any(is_same_machine(identity, one) for one in own):
        return ""
    shown = identity[:60]
    known = f"identity= says {method.tells}" if method.tells else f"the node runs on {node.system_uuid}"
    remedy = f"correct the mapping, or, if it is surely this node's, write identity={shown}"
    return f"the device is machine {shown}, and {known}; {remedy}"
