"""Which documents speak of a node: looked up by index, so that an event costs the same in a cluster of any size.

Called by the rooms of the fence configuration. A node that was deleted while it is being fenced is remembered from the
backup in its NodeFence: it has to be switched on again. A document that cannot be read any more is broken, and holds
the plugs that it named: nobody knows that they are free.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core.fencing.clouds import instance_of
from noderemedy.core.fencing.drafting import Named
from noderemedy.core.fencing.facts import BY_NAME, BY_NODE, FENCES, FENCING, SETS, node_key
from noderemedy.core.labels import matches
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.fenceconfig import FenceConfig, FenceDocument, FenceTemplate
from noderemedy.model.fenceplan import asked_ref
from noderemedy.model.governing import governor
from noderemedy.model.ids import Ref
from noderemedy.model.node import Node, NodeBackup
from noderemedy.model.nodefence import NodeFence
from noderemedy.model.room import Present, Reader, Unreadable, known

Templates = tuple[tuple[str, FenceTemplate | None], ...]


def node_or_memory(key: Ref, reader: Reader) -> Node | None:
    """The Node; while it is being fenced, what is remembered of it."""
    entry = reader.read(key)
    if isinstance(entry, Present):
        node: Node = entry.obj
        return node
    fence = fence_of(key, reader)
    if fence is None:
        return None
    evidence = fence.status.evidence
    backup = evidence.backup or NodeBackup(fence.status.node_uid)
    return Node(backup.node_uid, labels=backup.labels, annotations=backup.annotations, provider_id=evidence.provider_id)


def fence_of(key: Ref, reader: Reader) -> NodeFence | None:
    """As it is, or as it was when it could be read: a node does not leave because its fence does not decode."""
    found = (known(reader.read(one)) for one in reader.find(FENCES, node_key(key.cluster, key.name)))
    return next((fence for fence in found if fence is not None), None)


def configs_for(key: Ref, node: Node, reader: Reader) -> tuple[Named, ...]:
    """The documents for this very node; if there is none, those of sets that it is in."""
    own = [named(one, reader) for one in reader.find(BY_NODE, node_key(key.cluster, key.name))]
    if own:
        return tuple(one for one in own if one is not None)
    labels = dict(node.labels)
    found = [named(one, reader) for one in reader.find(SETS, key.cluster)]
    return tuple(one for one in found if one and one.config.selector and matches(one.config.selector, labels))


def named(at: Ref, reader: Reader) -> Named | None:
    found = document(at, reader)
    return Named(at.name, found) if isinstance(found, FenceConfig) else None


def document(at: Ref, reader: Reader) -> FenceDocument | None:
    """What a ConfigMap says of fencing, or said when it could be read."""
    entry = reader.read(at)
    found: ConfigMap | None = known(entry)
    if found is None or found.fence is None or not isinstance(entry, Unreadable):
        return found.fence if found is not None else None
    problem = f"it cannot be read any more ({entry.problem}); correct it"
    return structs.replace(found.fence, problems=(problem, *found.fence.problems))


def templates(names: tuple[str, ...], reader: Reader) -> Templates:
    return tuple((name, template(name, reader)) for name in names)


def template(name: str, reader: Reader) -> FenceTemplate | None:
    found = (document(at, reader) for at in reader.find(BY_NAME, name))
    return next((one for one in found if isinstance(one, FenceTemplate)), None)


def has_default(key: Ref, node: Node, found: Templates, reader: Reader) -> bool:
    """Whether the cloud's default applies: somebody set up its template, wants this node fenced, would have it fenced
    (by the Configuration that governs it), or asks how it would be.

    Nobody else is bothered: most clusters in clouds are not fenced by us, and their agents are not there.
    """
    if instance_of(node.provider_id) is None:
        return False
    is_wanted = fence_of(key, reader) is not None or would_be_fenced(key, reader)
    return any(one is not None for _, one in found) or is_wanted or isinstance(reader.read(asked_ref(key)), Present)


def would_be_fenced(key: Ref, reader: Reader) -> bool:
    """Whether a remedy of the document that governs the node is a fence flow."""
    at = governor(key, reader) if reader.has(FENCING) else None
    entry = reader.read(at) if at is not None else None
    document = entry.obj.document if isinstance(entry, Present) else None
    return document is not None and document.configuration.has_fence
