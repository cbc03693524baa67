"""Fields that nobody reads. Called by `checktrees.py` for kinds whose fields are all known; pure.

An API server drops a field that it does not know, and readers do not look for it, so that a limit with a misspelt name
is no limit. Of our kinds the definition says what there is; of health checks it is the table of dialects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from noderemedy import crds
from noderemedy.model.dialect import RULES
from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK, Kind
from noderemedy.wire.fields import instead

Names = Mapping[str, Any]  # what may stand in an object, each with what may stand in it; empty: anything
CHECKS = (HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK)
CRITERION: Names = {name: {} for name in ("type", "status", "timeout", "timeoutSeconds")}


def misspelt(tree: Any, known: Names, kind: str, path: str = "") -> Iterator[str]:
    """Each field that no version of this kind has."""
    if isinstance(tree, list):
        for number, item in enumerate(tree):
            yield from misspelt(item, known, kind, f"{path}[{number}]")
    elif isinstance(tree, dict) and known:
        for key, value in tree.items():
            where = f"{path}.{key}" if path else str(key)
            if key in known:
                yield from misspelt(value, known[key], kind, where)
            else:
                yield f"{where}: no field of a {kind}; {instead(str(key), sorted(known))}"


@cache
def allowed(kind: Kind) -> Names:
    """All fields of a kind; of health checks those of every version, though our definition has one."""
    spec = of_check() if kind in CHECKS else defined(kind)
    return {"apiVersion": {}, "kind": {}, "metadata": {}, "spec": spec, "status": {}}


def defined(kind: Kind) -> Names:
    wanted = (kind.group, kind.kind)
    definition = next(one["spec"] for one in crds.every() if (one["spec"]["group"], named_kind(one)) == wanted)
    schema = definition["versions"][-1]["schema"]["openAPIV3Schema"]
    found = of_schema(schema["properties"]["spec"])
    return {"template": {**found["template"], "metadata": {}}} if "template" in found else found


def named_kind(definition: dict[str, Any]) -> str:
    return str(definition["spec"]["names"]["kind"])


def of_schema(schema: dict[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties") or schema.get("items", {}).get("properties", {})
    return {name: of_schema(one) for name, one in properties.items()}


def of_check() -> dict[str, Any]:
    """Of all dialects: what only another one knows is told where a check is read, and so is a wrong selector."""
    found: dict[str, Any] = {"clusterName": {}, "selector": {}}
    for rules in RULES.values():
        criteria = (*rules.node_criteria_fields, *rules.machine_criteria_fields)
        plain = (*rules.limit_fields, *rules.window_fields, *rules.startup_fields, *rules.template_fields)
        for path, inside in (*((one, CRITERION) for one in criteria), *((one, {}) for one in plain)):
            *above, last = path.split(".")
            place = found
            for step in above:
                place = place.setdefault(step, {})
            place[last] = inside
    return found
