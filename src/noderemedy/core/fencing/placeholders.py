"""Placeholders in parameters: how one document speaks of many nodes. Called by `merging.py` for every parameter.

`{node}` is the node's name, `{providerID}` its provider's name for it, `{instance}` the last part of that, and
`{label:KEY}` and `{annotation:KEY}` are what it carries. Rule: what is filled in was written by others, and holds
nothing that could be another option or another parameter (`letters.py`).
"""

from __future__ import annotations

import re

from msgspec import Struct

from noderemedy.core.fencing.letters import stray
from noderemedy.model.node import Node

PLACEHOLDER = re.compile(r"\{(node|providerID|instance|label:[^{}\s]+|annotation:[^{}\s]+)\}")


RESTRICTED = "label:node-restriction.kubernetes.io/"  # the API server keeps these from nodes


class Filled(Struct, frozen=True):
    """A value with nothing left to fill in; or why there is none."""

    value: str
    is_per_node: bool = False
    problem: str = ""


def fill(value: str, name: str, node: Node) -> Filled:
    """The value as it is for this node."""
    wanted = PLACEHOLDER.findall(value)
    if not wanted:
        return Filled(value)
    known = {one: meaning(one, name, node) for one in wanted}
    for one, found in known.items():
        if not found:
            return Filled("", True, f"{{{one}}} is empty, for the node has no {wording(one)}; {remedy(one, name)}")
        if why := stray(found):
            return Filled("", True, f"{{{one}}} {why}; correct the node's {wording(one)}, or write the value itself")
    return Filled(PLACEHOLDER.sub(lambda match: known[match[1]] or "", value), True)


def meaning(word: str, name: str, node: Node) -> str | None:
    sort, _, key = word.partition(":")
    match sort:
        case "node":
            return name
        case "providerID":
            return node.provider_id
        case "instance":
            return node.provider_id.rpartition("/")[2]
        case "label":
            return dict(node.labels).get(key)
        case _:
            return dict(node.annotations).get(key)


def wording(word: str) -> str:
    sort, _, key = word.partition(":")
    return f"{sort} {key}" if key else "providerID"


def remedy(word: str, name: str) -> str:
    sort, _, key = word.partition(":")
    verbs = {"label": "label", "annotation": "annotate"}
    return f"kubectl {verbs[sort]} node {name} {key}=…" if key else "write the value itself"


def written_by_nodes(value: str) -> tuple[str, ...]:
    """The placeholders whose meaning a node can change by itself: it could have a password sent to another address."""
    return tuple(word for word in PLACEHOLDER.findall(value) if ":" in word and not word.startswith(RESTRICTED))
