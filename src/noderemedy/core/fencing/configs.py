"""The fence-config room: one key per ConfigMap of the fence configuration. Says on it what is wrong with it.

One complaint per document, however many nodes it is for: the first problem, and for how many nodes there is no plan. It
writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core.fencing.documents import fence_of
from noderemedy.core.fencing.facts import BROKEN_PLANS, BY_NAME, BY_NODE, INDEXES, PLANS_BY_MAP, node_key
from noderemedy.core.fencing.placeholders import written_by_nodes
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.fenceconfig import FenceConfig, FenceDocument
from noderemedy.model.fenceplan import FENCE_PLAN, FencePlan
from noderemedy.model.ids import CONFIG_MAP, NODE, Ref
from noderemedy.model.kdump import UNHEARD, UNHEARD_AT
from noderemedy.model.reasons import FenceConfigInvalid, FenceConfigTrustsNodes, FenceConfigWithoutNode, KdumpUnheard
from noderemedy.model.room import Absent, Present, Reader, Room, Stage
from noderemedy.model.time import Now


class ConfigView(Struct, frozen=True):
    """A document, how many nodes have no plan because of it, and whether its one node exists."""

    document: FenceDocument
    broken: int = 0
    problem: str = ""  # the first one of such a node
    lacks_node: str | None = None  # the name that it gives; "": it means nobody at all
    is_unheard: bool = False  # crash kernels speak to nobody


def decide(view: ConfigView, now: Now) -> Decision:
    problem = view.problem or next(iter(view.document.problems), "")
    if problem:
        return Decision(because=(FenceConfigInvalid(problem, view.broken),))
    if view.lacks_node is not None:
        return Decision(because=(FenceConfigWithoutNode(view.lacks_node),))
    if trusted := sorted(trusting(view.document)):
        return Decision(because=(FenceConfigTrustsNodes(trusted[0]),))
    if view.is_unheard and waits_for_dumps(view.document):
        return Decision(because=(KdumpUnheard(),))
    return NOTHING


def waits_for_dumps(document: FenceDocument) -> bool:
    return isinstance(document, FenceConfig) and document.kdump_within is not None


def trusting(document: FenceDocument) -> set[str]:
    """What the document takes a node's own word for."""
    recipes = [one.recipe for one in document.methods] if isinstance(document, FenceConfig) else [document.recipe]
    return {word for one in recipes for _, value in one.parameters for word in written_by_nodes(value)}


def sees(key: Ref, reader: Reader) -> ConfigView | None:
    entry = reader.read(key)
    found: ConfigMap | None = entry.obj if isinstance(entry, Present) else None
    if found is None or found.fence is None:
        return None
    broken = reader.find(BROKEN_PLANS, key.name)
    first = reader.read(broken[0]) if broken else Absent()
    problem = str(first.obj.problems[0]) if isinstance(first, Present) else ""
    is_unheard = isinstance(reader.read(UNHEARD_AT), Present)
    return ConfigView(found.fence, len(broken), problem, lacking(key, found.fence, reader), is_unheard)


def lacking(key: Ref, document: FenceDocument, reader: Reader) -> str | None:
    """The node that a document names and that is not there, unless it is being fenced."""
    if not isinstance(document, FenceConfig):
        return None
    if not document.node:
        return "" if document.selector is not None and not reader.tally(PLANS_BY_MAP, key.name) else None
    at = Ref(document.cluster, NODE, "", document.node)
    is_gone = isinstance(reader.read(at), Absent) and fence_of(at, reader) is None
    return document.node if is_gone else None


def wakes(ref: Ref, obj: Any, reader: Reader) -> Iterable[Ref]:
    if ref.kind == CONFIG_MAP:
        return (ref,)
    if isinstance(obj, FencePlan):
        return reader.find(BY_NAME, obj.source)
    return reader.find(BY_NODE, node_key(ref.cluster, ref.name)) if ref.kind == NODE else ()


ROOM = Room(
    name="fence-config",
    watches=(CONFIG_MAP, FENCE_PLAN, NODE, UNHEARD),
    indexes=INDEXES,
    wakes=wakes,
    sees=sees,
    decide=decide,
    may=frozenset(),
    stage=Stage.GATE,
)
