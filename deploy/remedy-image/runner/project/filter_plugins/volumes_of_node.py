"""Which volumes of a node have to be detached at the storage, and what speaks against it. For storage-detach.yaml.

Only what Kubernetes attached (a VolumeAttachment) can be detached. A volume that a pod of the node could write to in
any other way (NFS, CephFS, a driver that attaches nothing) is a problem, by name: its pods must not be freed.
"""

from __future__ import annotations

from typing import Any

Tree = dict[str, Any]

# The pod's own, or the node's: nobody writes to them from elsewhere. All other kinds of volumes count as shared.
OF_THE_NODE = ("configMap", "secret", "emptyDir", "downwardAPI", "projected", "hostPath", "image")
OVER = ("Succeeded", "Failed")  # whoever replaces such a pod does so without our success
HOSTNAME = "kubernetes.io/hostname"


def volumes_of_node(found: list[Tree]) -> Tree:
    """From the Node and the lists of its pods, of claims, volumes and attachments: `attached`, and `problems`."""
    node, *lists = found
    pods, claims, volumes, attachments = (one["items"] for one in lists)
    by_name = {one["metadata"]["name"]: one for one in volumes}
    bound = {called(one): (one["spec"].get("volumeName") or "") for one in claims}
    problems: list[str] = []
    attached: dict[str, tuple[str, str]] = {}
    for one in attachments:
        if one["spec"]["nodeName"] != node["metadata"]["name"]:
            continue
        volume = one["spec"]["source"].get("persistentVolumeName") or ""
        csi = by_name.get(volume, {}).get("spec", {}).get("csi") or {}
        if csi.get("driver") and csi.get("volumeHandle"):
            attached[volume] = (csi["driver"], csi["volumeHandle"])
        else:
            problems.append(f"attachment {one['metadata']['name']}: nobody knows the storage's name for it")
    if not attached:
        problems.append("nothing is attached to it, so there is nothing that could be detached")
    for pod in pods:
        if pod.get("status", {}).get("phase") not in OVER:
            problems += [f"pod {called(pod)}, {why}" for why in uncovered(pod, node, bound, by_name, set(attached))]
    named = [{"driver": driver, "handle": handle} for driver, handle in sorted(set(attached.values()))]
    return {"attached": named, "problems": problems}


def called(one: Tree) -> str:
    return f"{one['metadata']['namespace']}/{one['metadata']['name']}"


def uncovered(pod: Tree, node: Tree, bound: dict[str, str], volumes: dict[str, Tree], attached: set[str]) -> list[str]:
    """The volumes of a pod that stay within its reach when all that is attached is detached."""
    wrong: list[str] = []
    for one in pod["spec"].get("volumes") or ():
        kinds = sorted(set(one) - {"name"})
        if len(kinds) == 1 and kinds[0] in OF_THE_NODE:
            continue
        claim = claim_of(pod, one)
        if not claim:
            wrong.append(f"volume {one['name']} ({', '.join(kinds) or 'of no kind'}): it is not attached by Kubernetes")
            continue
        volume = bound.get(claim, "")
        if not volume or volume not in volumes:
            wrong.append(f"volume {one['name']}: claim {claim} has no volume that is there")
        elif volume not in attached and not is_of_the_node(volumes[volume], node):
            wrong.append(f"volume {one['name']} (claim {claim}): {volume} has no VolumeAttachment of this node")
    return wrong


def claim_of(pod: Tree, volume: Tree) -> str:
    """The claim behind a volume; "" if there is none. An ephemeral one is named after pod and volume."""
    name = ""
    if "persistentVolumeClaim" in volume:
        name = volume["persistentVolumeClaim"]["claimName"]
    elif "ephemeral" in volume:
        name = f"{pod['metadata']['name']}-{volume['name']}"
    return f"{pod['metadata']['namespace']}/{name}" if name else ""


def is_of_the_node(volume: Tree, node: Tree) -> bool:
    """Whether a volume is a folder or a disk of this node alone: a `local` one that names others may be shared."""
    spec = volume["spec"]
    if "hostPath" in spec:
        return True
    host = node["metadata"].get("labels", {}).get(HOSTNAME)
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms")
    only = [{"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [host]}]}]
    return "local" in spec and bool(host) and terms == only


class FilterModule:
    """What Ansible asks this file for."""

    def filters(self) -> dict[str, Any]:
        return {"volumes_of_node": volumes_of_node}
