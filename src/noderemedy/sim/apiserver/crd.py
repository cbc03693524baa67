"""CustomResourceDefinitions: judged, completed, and turned into served kinds at once.

A definition is Established the moment it is created. All its served versions are served from one store without
conversion. While it is being deleted its objects are deleted first (`garbage.py`), then it stops being served.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver.errors import Cause, invalid_value, required
from noderemedy.sim.apiserver.once import once_per_tree
from noderemedy.sim.apiserver.resources import Resources
from noderemedy.sim.apiserver.schema import root_shape
from noderemedy.sim.apiserver.store import Store
from noderemedy.sim.apiserver.types import Change, Column, ResourceType, ScalePaths, Tree, User, Version

DEFINITION = Kind("apiextensions.k8s.io", "CustomResourceDefinition")
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
AGE = Column("Age", "date", ".metadata.creationTimestamp")


class Definitions:
    """Keeps the table of served kinds in step with the stored definitions."""

    def __init__(self, store: Store, resources: Resources) -> None:
        self.resources = resources
        self.uids: dict[Kind, str] = {}
        self.on_end: Callable[[Kind], None] = lambda kind: None
        store.observers.append(self.observe)

    def observe(self, change: Change) -> None:
        if change.kind != DEFINITION:
            return
        kind = kind_defined(change.new)
        if change.type == "DELETED":
            self.resources.remove(kind)
            self.uids.pop(kind, None)
            self.on_end(kind)
            return
        old = change.old
        if old is None or old["spec"] is not change.new["spec"]:
            self.resources.add(resource_of(change.new))
            self.uids[kind] = change.new["metadata"]["uid"]


def kind_defined(definition: Tree) -> Kind:
    spec = definition["spec"]
    return Kind(spec["group"], spec["names"]["kind"])


def prepare_definition(tree: Tree, user: User) -> Tree:
    """A new definition with its names completed, its finalizer, and a status that says it is served."""
    spec = tree.get("spec") or {}
    names = spec.get("names") or {}
    kind = str(names.get("kind", ""))
    names = {"singular": kind.lower(), "listKind": f"{kind}List", **names}
    spec = {"conversion": {"strategy": "None"}, **spec, "names": names}
    now = tree["metadata"]["creationTimestamp"]
    status = {
        "acceptedNames": names,
        "conditions": [
            _condition("NamesAccepted", "NoConflicts", "no conflicts found", now),
            _condition("Established", "InitialNamesAccepted", "the initial names have been accepted", now),
        ],
        "storedVersions": [one.get("name") for one in spec.get("versions") or [] if one.get("storage")],
    }
    finalizers = [*(tree["metadata"].get("finalizers") or [])]
    meta = {**tree["metadata"], "finalizers": [*finalizers, CLEANUP] if CLEANUP not in finalizers else finalizers}
    return {**tree, "metadata": meta, "spec": spec, "status": status}


def _condition(type_: str, reason: str, message: str, now: str) -> Tree:
    found = {"type": type_, "status": "True", "reason": reason, "message": message}
    return {**found, "lastTransitionTime": now}


def definition_causes(new: Tree, old: Tree | None) -> list[Cause]:
    """What is wrong with a definition: names, versions, and schemas that are not structural."""
    spec, causes = new.get("spec") or {}, []
    names, versions = spec.get("names") or {}, spec.get("versions") or []
    wanted = f"{names.get('plural', '')}.{spec.get('group', '')}"
    name = new["metadata"].get("name", "")
    if name != wanted:
        causes.append(invalid_value("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
    for key in ("plural", "kind"):
        if not names.get(key):
            causes.append(required(f"spec.names.{key}"))
    if spec.get("scope") not in ("Namespaced", "Cluster"):
        causes.append(required("spec.scope"))
    if sum(1 for one in versions if one.get("storage")) != 1:
        causes.append(
            invalid_value("spec.versions", versions, "must have exactly one version marked as storage version")
        )
    for index, version in enumerate(versions):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        where = f"spec.versions[{index}].schema.openAPIV3Schema"
        if schema is None:
            causes.append(required(where, "schemas are required"))
        elif not (schema.get("type") == "object" or spec.get("preserveUnknownFields")):
            causes.append(required(f"{where}.type", "must not be empty at the root"))
        elif not is_structural(schema):
            causes += structural_causes(schema, where)
    return causes


@once_per_tree
def is_structural(schema: Any) -> bool:
    return not structural_causes(schema, "")


def structural_causes(schema: Any, where: str) -> list[Cause]:
    """Every part of a structural schema says its type, unless it keeps what it does not know."""
    if not isinstance(schema, dict):
        return []
    is_open = schema.get("x-kubernetes-int-or-string") or schema.get("x-kubernetes-preserve-unknown-fields")
    causes = (
        []
        if schema.get("type") or is_open
        else [required(f"{where}.type", "must not be empty for specified object fields")]
    )
    if schema.get("type") == "array" and not isinstance(schema.get("items"), dict):
        causes.append(required(f"{where}.items", "must be specified"))
    for key, inner in (schema.get("properties") or {}).items():
        causes += structural_causes(inner, f"{where}.properties[{key}]")
    for key in ("items", "additionalProperties"):
        causes += structural_causes(schema.get(key), f"{where}.{key}")
    return causes


def resource_of(definition: Tree) -> ResourceType:
    """The served kind that a definition describes."""
    spec, names = definition["spec"], definition["spec"]["names"]
    served = [one for one in spec["versions"] if one.get("served") or one.get("storage")]
    storage = next(one["name"] for one in spec["versions"] if one.get("storage"))
    versions = tuple(_version(one) for one in sorted(served, key=version_rank))
    extra = versions[0]
    return ResourceType(
        kind=kind_defined(definition),
        plural=names["plural"],
        namespaced=spec["scope"] == "Namespaced",
        versions=versions,
        storage=storage,
        singular=names.get("singular") or names["kind"].lower(),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        subresources=(*(("status",) if extra.has_status else ()), *(("scale",) if extra.scale else ())),
        has_generation=True,
        is_custom=True,
    )


def version_rank(version: Tree) -> tuple[int, int, int, str]:
    """Stable versions first, then beta, then alpha, newer before older."""
    name = version["name"]
    digits = "".join(character if character.isdigit() else " " for character in name).split()
    stage = 2 if "alpha" in name else 1 if "beta" in name else 0
    numbers = [-int(digit) for digit in digits] + [0, 0]
    return stage, numbers[0], numbers[1], name


def _version(version: Tree) -> Version:
    subresources = version.get("subresources") or {}
    scale = subresources.get("scale")
    columns = version.get("additionalPrinterColumns")
    return Version(
        name=version["name"],
        shape=root_shape((version.get("schema") or {}).get("openAPIV3Schema")),
        has_status="status" in subresources,
        columns=(AGE,) if columns is None else tuple(_column(one) for one in columns),
        scale=None if scale is None else _scale(scale),
    )


def _scale(scale: Tree) -> ScalePaths:
    return ScalePaths(scale["specReplicasPath"], scale["statusReplicasPath"], scale.get("labelSelectorPath", ""))


def _column(column: Tree) -> Column:
    return Column(
        name=column["name"],
        type=column.get("type", "string"),
        path=column.get("jsonPath", ""),
        description=column.get("description", ""),
        priority=column.get("priority", 0),
        format=column.get("format", ""),
    )
