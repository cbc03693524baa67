"""What only the files themselves show: fields that nobody reads, templates, twins, documents in the wrong place.

Called by `check` on files; pure. Templates are judged as the requests that they stand for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from noderemedy.manager.check import Finding
from noderemedy.manager.checkspelling import CHECKS, allowed, misspelt
from noderemedy.manager.plan import BARE, CONFIGURATION, kind_of, named
from noderemedy.manager.sources import Source
from noderemedy.model.fenceconfig import CONFIG_NAME, TEMPLATE_NAME
from noderemedy.model.ids import BUDGET, CONFIG_MAP, FENCE_REMEDIATION, NODE_FENCE, REMEDIATION, SYSTEM, Kind, Ref
from noderemedy.model.reasons import DocumentElsewhere
from noderemedy.rooms import watched
from noderemedy.wire import configuration, names
from noderemedy.wire.fenceconfig import CONFIG_KEY, TEMPLATE_KEY
from noderemedy.wire.fields import trouble
from noderemedy.wire.objects import Undecodable, convert

REQUESTS = {Kind(one.group, f"{one.kind}Template"): one for one in (REMEDIATION, FENCE_REMEDIATION)}
SPELT = (*CHECKS, BUDGET, NODE_FENCE, *REQUESTS, *REQUESTS.values())


def of_files(sources: Iterable[Source]) -> list[Finding]:
    """All of it, in the order of the files."""
    files = list(sources)
    return [*twins(files), *(one for source in files for one in of_tree(source.tree))]


def of_tree(tree: dict[str, Any]) -> Iterator[Finding]:
    kind = kind_of(tree)
    if kind is None:
        left_out = "an entry without apiVersion and kind was left out; write both"
        yield Finding(at_of(tree), left_out, is_note=True)
        return
    at = at_of(tree)
    if kind in SPELT:
        yield from (Finding(at, problem) for problem in misspelt(tree, allowed(kind), kind.kind))
    if kind in REQUESTS:
        yield from (Finding(at, problem) for problem in of_template(tree, REQUESTS[kind]))
    if kind == CONFIG_MAP:
        yield from of_namespace(at, tree)
    if kind == CONFIGURATION:
        yield Finding(at, BARE)


def at_of(tree: dict[str, Any]) -> Ref:
    """The name of an object, as far as it has one."""
    word = tree.get("kind")
    return Ref("", kind_of(tree) or Kind("", word if isinstance(word, str) else ""), *named(tree))


def templates(sources: Iterable[Source]) -> set[Ref]:
    """Those that are judged here."""
    return {at_of(one.tree) for one in sources if kind_of(one.tree) in REQUESTS}


def twins(files: list[Source]) -> Iterator[Finding]:
    """Where two have one name the last counts, as for `kubectl apply`: rarely meant."""
    looked_at = {*watched(), *REQUESTS}
    first: dict[Ref, str] = {}
    for one in files:
        at = at_of(one.tree)
        if at.kind in looked_at and at.name and at in first:
            yield Finding(at, f"is given twice, first in {first[at]}; the last one counts", is_note=True)
        first.setdefault(at, one.origin)


# --- templates ---------------------------------------------------------------------------------------------------


def of_template(tree: dict[str, Any], request: Kind) -> list[str]:
    """What would be wrong with every request that is made from it."""
    inside = tree
    for path in ("spec", "spec.template"):
        found = inside.get(path.rpartition(".")[2])
        if not isinstance(found, dict):
            return [f"{path}: {trouble(found)}; write spec: {{template: {{spec: {{…}}}}}}"]
        inside = found
    made = {"metadata": {"name": "any", "namespace": "any", "uid": "any"}, "spec": inside.get("spec")}
    try:
        problems = convert(request, made).obj.problems
    except Undecodable as problem:
        problems = (problem.problem,)
    return [one.replace("spec", "spec.template.spec", 1) for one in problems]


# --- documents in the wrong place --------------------------------------------------------------------------------


def of_namespace(at: Ref, tree: dict[str, Any]) -> Iterator[Finding]:
    """That a Configuration is in another namespace is said by whoever would read it; of fences nobody reads it."""
    is_fence = is_fencing(at, tree)
    if is_fence and at.namespace not in (SYSTEM, ""):
        yield Finding(at, DocumentElsewhere(at.namespace, SYSTEM).note())
    if not at.namespace and (is_fence or is_document(tree)):
        told = f"metadata.namespace: missing, and only documents in {SYSTEM} are read; write namespace: {SYSTEM}"
        yield Finding(at, told, is_note=True)


def is_fencing(at: Ref, tree: dict[str, Any]) -> bool:
    is_labelled = is_ours(tree) and bool({CONFIG_KEY, TEMPLATE_KEY} & data(tree).keys())
    return at.name.startswith((CONFIG_NAME, TEMPLATE_NAME)) or is_labelled


def is_document(tree: dict[str, Any]) -> bool:
    text = data(tree).get(configuration.KEY)
    return is_ours(tree) or (isinstance(text, str) and configuration.is_meant(text))


def is_ours(tree: dict[str, Any]) -> bool:
    meta = tree.get("metadata")
    labels = meta.get("labels") if isinstance(meta, dict) else None
    return isinstance(labels, dict) and names.CONFIGURATION in labels


def data(tree: dict[str, Any]) -> dict[Any, Any]:
    found = tree.get("data")
    return found if isinstance(found, dict) else {}
