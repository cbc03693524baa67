"""Nodes that stand in for those that nobody told of, so that configuration in files is checked in full without them.

Called by `check` on files that hold no Node at all, as in a repository of configuration. Each document, of fencing or
of remedies, gets one node that it speaks of, with everything that any document fills in from a node.
"""

from __future__ import annotations

from typing import Any

from noderemedy.core.fencing.letters import OF_CLOUDS, stray
from noderemedy.core.fencing.placeholders import PLACEHOLDER
from noderemedy.manager.plan import kind_of, named, with_uid
from noderemedy.manager.sources import Source
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.fenceconfig import TEMPLATE_NAME, FenceConfig, FenceTemplate
from noderemedy.model.ids import CONFIG_MAP, NODE
from noderemedy.model.selector import Operator, Selector
from noderemedy.wire.objects import Undecodable, convert

ORIGIN = "(a node that stands in)"
OF_A_SET, OF_A_CLOUD = "any-node-of-", "any-instance-of-"
# How clouds name an instance: their templates need no other document.
INSTANCES = {
    f"{TEMPLATE_NAME}aws": "aws:///{region}a/i-0",
    f"{TEMPLATE_NAME}gce": "gce://{project}/{zone}/name",
    f"{TEMPLATE_NAME}openstack": "openstack:///uuid",
    f"{TEMPLATE_NAME}azure": (
        "azure:///subscriptions/{subscriptionId}/resourceGroups/{resourceGroup}/providers/Microsoft.Compute"
        "/virtualMachines/v"
    ),
    f"{TEMPLATE_NAME}vsphere": "vsphere://00000000-0000-0000-0000-000000000000",
}
# Where it is, if its template does not say: nobody knows of an instance elsewhere.
PLACE = {"region": "eu-west-1", "project": "project", "zone": "zone", "resourceGroup": "g", "subscriptionId": "s"}


def stand_ins(sources: list[Source]) -> list[Source]:
    """None where there are Nodes: then those are the ones that count."""
    if any(kind_of(one.tree) == NODE for one in sources):
        return []
    found = {name: selector for one in sources for name, selector in meant(one.tree)}
    words = placeholders(sources)
    documents = [node(name, selector, words, number) for number, (name, selector) in enumerate(found.items(), 1)]
    return [Source(tree, ORIGIN) for tree in (*documents, *instances(sources))]


def instances(sources: list[Source]) -> list[dict[str, Any]]:
    """One of each cloud that has a template among the files."""
    there = {named(one.tree)[1]: placed(one.tree) for one in sources if kind_of(one.tree) == CONFIG_MAP}
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": OF_A_CLOUD + name.removeprefix(TEMPLATE_NAME)},
            "spec": {"providerID": INSTANCES[name].format_map(there[name])},
        }
        for name in sorted(there.keys() & INSTANCES.keys())
    ]


def placed(tree: dict[str, Any]) -> dict[str, str]:
    """Where this template says that its instances are."""
    found = understood(tree)
    told = found.fence.recipe.parameters if found and isinstance(found.fence, FenceTemplate) else ()
    return PLACE | {key: value for key, value in told if key in PLACE and value and not stray(value, OF_CLOUDS)}


def understood(tree: dict[str, Any]) -> ConfigMap | None:
    """What a ConfigMap says, if it can be read."""
    try:
        found: ConfigMap = convert(CONFIG_MAP, with_uid(tree, CONFIG_MAP)).obj
    except Undecodable:
        return None
    return found


def meant(tree: dict[str, Any]) -> list[tuple[str, Selector]]:
    """Of the document in this object: the name of its node, or of one that its selector means, and that selector."""
    found = understood(tree) if kind_of(tree) == CONFIG_MAP else None
    if found is None:
        return []
    fence, any_of_it = found.fence, OF_A_SET + named(tree)[1]
    if isinstance(fence, FenceConfig) and (fence.node or fence.selector) and not fence.cluster:
        return [(fence.node or any_of_it, fence.selector or Selector())]
    return [(any_of_it, found.document.configuration.selector)] if found.document else []


def placeholders(sources: list[Source]) -> set[str]:
    """Everything that some document fills in: label:KEY and annotation:KEY."""
    texts = [str(one.tree.get("data")) for one in sources if kind_of(one.tree) == CONFIG_MAP]
    return {word for text in texts for word in PLACEHOLDER.findall(text) if ":" in word}


def node(name: str, selector: Selector, words: set[str], number: int) -> dict[str, Any]:
    """A number is a name, an address and an outlet, and no two nodes have the same."""
    filled: dict[str, dict[str, str]] = {"label": {}, "annotation": {}}
    for word in sorted(words):
        sort, _, key = word.partition(":")
        filled[sort][key] = str(number)
    labels = {**filled["label"], **selected(selector)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": filled["annotation"]},
        "spec": {"providerID": f"stand-in:///{number}"},
    }


def selected(selector: Selector) -> dict[str, str]:
    """Labels that this selector means, as far as it asks for any."""
    asked = {one.key: one.values for one in selector.match_expressions if one.operator is Operator.IN}
    there = {one.key: "" for one in selector.match_expressions if one.operator is Operator.EXISTS}
    return {**there, **{key: values[0] for key, values in asked.items() if values}, **dict(selector.match_labels)}
