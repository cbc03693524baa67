"""`node-remedy attest NODE`: a person signs that the boot which is being repaired is over. One write.

The word goes to whoever repairs the node: its NodeFence, or the Metal3Remediation of its Machine.
"""

from __future__ import annotations

from functools import partial

import msgspec
from msgspec import Struct

from noderemedy.manager.kinds import WANTED
from noderemedy.manager.lists import Shelf, pour
from noderemedy.manager.steering import Desk, Refusal, Repair, good
from noderemedy.model.attestation import Attestation
from noderemedy.model.ids import MACHINE, NODE, REMEDIATION, Kind
from noderemedy.model.node import Node
from noderemedy.model.outcome import Seen
from noderemedy.model.time import MINUTE, Wall
from noderemedy.wire import names, verbs
from noderemedy.wire.attestations import attestation_text
from noderemedy.wire.http import Request, Resource
from noderemedy.wire.objects import decode

NODES = Resource(NODE, "v1", "nodes", namespaced=False)
AHEAD_MAX = MINUTE  # of the API server's clock
REVIEWS = Resource(Kind("authentication.k8s.io", "SelfSubjectReview"), "v1", "selfsubjectreviews", namespaced=False)


class Who(Struct):
    """The user that the API server takes us for."""

    username: str = ""


class WhoStatus(Struct, rename="camel"):
    """The answer to a SelfSubjectReview."""

    user_info: Who


class Review(Struct):
    """A SelfSubjectReview."""

    status: WhoStatus


async def attest(desk: Desk, now: Wall) -> str:
    """Sign that the boot which is being repaired is over."""
    node = await the_node(desk)
    about = await repair_of(desk, node)
    if why := contradicted(node, now):
        raise Refusal(f"node {desk.node.name} {why}; nothing was attested")
    word = Attestation(await user(desk, now), now, about.node_uid, about.boot_id)
    await desk.change(about, {"metadata": {"annotations": {names.ATTESTED_OFF: attestation_text(word)}}})
    unless = ", unless it reports there" if desk.node.cluster else ""
    return f"{word.by} attests that node {desk.node.name} is off: its workload will be freed{unless}."


def contradicted(node: Node | None, now: Wall) -> str:
    """Why such a word would count as nothing; "" if it would."""
    if node is not None and node.is_heard:
        return "reports: it is not off, or that is not known yet; wait until Kubernetes calls it Unknown"
    if node is not None and node.silent_since is not None and node.silent_since > now:
        return f"is silent since {node.silent_since}, and your clock says {now}: correct your clock"
    return ""


async def the_node(desk: Desk) -> Node | None:
    """The Node, read live; None if it is gone, or in another API: the manager looks there before it frees anything."""
    if desk.node.cluster:
        return None
    answer = await desk.ask(Request("GET", NODES.path("", desk.node.name)))
    if answer.status == 404:
        return None
    found = decode(NODE, good(answer, f"read Node {desk.node.name}").body).obj
    assert isinstance(found, Node)
    return found


async def user(desk: Desk, now: Wall) -> str:
    """Who signs, as the API server says; not by a clock that is ahead of its own. Raises Refusal."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = good(await desk.ask(verbs.create(REVIEWS, body)), "ask who you are (SelfSubjectReview)")
    if answer.date is not None and now > answer.date + AHEAD_MAX:
        clocks = f"your clock says {now}, and that of the API server {answer.date}"
        raise Refusal(f"{clocks}: correct your clock; nothing was attested")
    return msgspec.json.decode(answer.body, type=Review).status.user_info.username


async def repair_of(desk: Desk, node: Node | None) -> Repair:
    """Who repairs the node, and which boot of it. Raises Refusal."""
    fence = await desk.fence_if_any()
    if fence is not None and fence.boot_id:
        return fence
    if found := await remediations(desk, node):
        return found[0]
    if fence is not None:
        raise Refusal(f"{desk.at.name} fences no boot of node {desk.node.name} now; there is nothing to attest")
    raise Refusal(
        f"node {desk.node.name} has no NodeFence ({desk.at.name}) and no Metal3Remediation that has begun; "
        "see kubectl get nodefences, kubectl get metal3remediations -A"
    )


async def remediations(desk: Desk, node: Node | None) -> list[Repair]:
    """Those of the node's Machine that are about a boot of it. Of another cluster, its Machines are looked at."""
    namespace, _, cluster = desk.node.cluster.partition("/")
    machines = [
        one.uid
        for one in (await listed(desk, MACHINE, namespace) if cluster else [])
        if (one.obj.node_name, one.obj.cluster_name) == (desk.node.name, cluster)
    ]
    wanted = WANTED[REMEDIATION].guess()
    found: list[Repair] = []
    for one in await listed(desk, REMEDIATION, namespace):
        evidence = one.obj.progress.evidence
        is_its = evidence.machine_uid in machines or (node is not None and evidence.node_uid == node.uid)
        if is_its and evidence.boot_id and not one.obj.progress.is_recovered:
            boot = (evidence.node_uid, evidence.boot_id)
            found.append(Repair(wanted, one.ref, one.uid, one.resource_version, *boot))
    return found


async def listed(desk: Desk, kind: Kind, namespace: str) -> list[Seen]:
    """All of a kind that can be read; nothing where it is not served."""
    shelf = Shelf()
    await pour(desk.client, WANTED[kind], lambda _: partial(decode, kind), shelf, namespace)
    return shelf.items
