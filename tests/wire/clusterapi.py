"""What the schemas of Cluster API demand of a status, as far as we write it: both generations, in their places.

Written by hand from its definitions; `tests/e2e/test_older_clusterapi.py` holds it against the real ones. A status is
judged by the simulated API server, whose judgement is held against a real one by `tests/conformance/`.
"""

from __future__ import annotations

from typing import Any

from noderemedy.sim.apiserver.schema import shape_of
from noderemedy.sim.apiserver.validation import ABSENT, validate

Schema = dict[str, Any]
DATE = {"type": "string", "format": "date-time"}
COUNT = {"type": "integer", "format": "int32", "minimum": 0}
TYPE = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
OLDER_CONDITION: Schema = {
    "type": "object",
    "required": ["lastTransitionTime", "status", "type"],
    "properties": {
        "type": {"type": "string", "minLength": 1, "maxLength": 256},
        "status": {"type": "string"},
        "severity": {"type": "string", "maxLength": 32},
        "reason": {"type": "string", "minLength": 1, "maxLength": 256},
        "message": {"type": "string", "minLength": 1, "maxLength": 10_240},
        "lastTransitionTime": DATE,
    },
}
CURRENT_CONDITION: Schema = {
    "type": "object",
    "required": ["lastTransitionTime", "message", "reason", "status", "type"],
    "properties": {
        "type": {"type": "string", "maxLength": 316, "pattern": TYPE},
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
        "reason": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1024,
            "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        },
        "message": {"type": "string", "maxLength": 32_768},
        "lastTransitionTime": DATE,
        "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
    },
}
OLDER: Schema = {"type": "array", "items": OLDER_CONDITION}
CURRENT: Schema = {
    "type": "array",
    "items": CURRENT_CONDITION,
    "maxItems": 32,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
}


def an_object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


CONDITIONS: dict[str, Schema] = {  # where a status of each version has which generation
    "v1beta1": {"conditions": OLDER, "v1beta2": an_object(conditions=CURRENT)},
    "v1beta2": {"conditions": CURRENT, "deprecated": an_object(v1beta1=an_object(conditions=OLDER))},
}
COUNTS: Schema = {
    "expectedMachines": COUNT,
    "currentHealthy": COUNT,
    "remediationsAllowed": COUNT,
    "targets": {"type": "array", "maxItems": 10_000, "items": {"type": "string", "minLength": 1, "maxLength": 253}},
}
GENERATIONS: dict[str, Schema] = {
    "v1beta1": {"type": "integer", "format": "int64"},
    "v1beta2": {"type": "integer", "format": "int64", "minimum": 1},
}
MACHINE_STATUS = {version: an_object(**places) for version, places in CONDITIONS.items()}
CHECK_STATUS = {
    version: an_object(**places, **COUNTS, observedGeneration=GENERATIONS[version])
    for version, places in CONDITIONS.items()
}


def wrong_in(status: Any, schema: Schema) -> list[str]:
    """What an API server with this schema has against this status: every field that is refused."""
    return [cause.field for cause in validate(status, ABSENT, shape_of(schema), "status")]
