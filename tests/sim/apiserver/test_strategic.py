"""Strategic merge patch: which lists merge, by which key, and the directives."""

from __future__ import annotations

from typing import Any

import pytest

from noderemedy.model.ids import NODE, Kind
from noderemedy.sim.apiserver.core_shapes import core_shapes
from noderemedy.sim.apiserver.errors import ApiError
from noderemedy.sim.apiserver.strategic import strategic_merge

POD = Kind("", "Pod")
READY, DISK = {"type": "Ready", "status": "True"}, {"type": "Disk", "status": "False"}
CASES: list[tuple[str, Kind, Any, Any, Any]] = [
    (
        "conditions merge by type",
        NODE,
        {"status": {"conditions": [READY, DISK]}},
        {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}, {"type": "New", "status": "True"}]}},
        {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}, DISK, {"type": "New", "status": "True"}]}},
    ),
    (
        "taints are replaced",
        NODE,
        {"spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}},
        {"spec": {"taints": [{"key": "b", "effect": "NoExecute"}]}},
        {"spec": {"taints": [{"key": "b", "effect": "NoExecute"}]}},
    ),
    (
        "an element is deleted by its key",
        NODE,
        {"status": {"conditions": [READY, DISK]}},
        {"status": {"conditions": [{"$patch": "delete", "type": "Disk"}]}},
        {"status": {"conditions": [READY]}},
    ),
    (
        "a list is replaced as a whole",
        NODE,
        {"status": {"conditions": [READY, DISK]}},
        {"status": {"conditions": [{"$patch": "replace"}, DISK]}},
        {"status": {"conditions": [DISK]}},
    ),
    (
        "an object is replaced as a whole",
        NODE,
        {"metadata": {"labels": {"a": "1", "b": "2"}}},
        {"metadata": {"labels": {"$patch": "replace", "c": "3"}}},
        {"metadata": {"labels": {"c": "3"}}},
    ),
    (
        "finalizers merge as a set",
        NODE,
        {"metadata": {"finalizers": ["x/a"]}},
        {"metadata": {"finalizers": ["x/b", "x/a"]}},
        {"metadata": {"finalizers": ["x/a", "x/b"]}},
    ),
    (
        "values are deleted from a set, its order is accepted",
        NODE,
        {"metadata": {"finalizers": ["x/a", "x/b"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x/a"], "$setElementOrder/finalizers": ["x/b"]}},
        {"metadata": {"finalizers": ["x/b"]}},
    ),
    (
        "containers merge by name and their environment too",
        POD,
        {"spec": {"containers": [{"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}]}]}},
        {"spec": {"containers": [{"name": "a", "env": [{"name": "Y", "value": "2"}]}]}},
        {
            "spec": {
                "containers": [
                    {"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}]}
                ]
            }
        },
    ),
    (
        "null removes a field",
        NODE,
        {"spec": {"unschedulable": True, "podCIDR": "x"}},
        {"spec": {"unschedulable": None}},
        {"spec": {"podCIDR": "x"}},
    ),
    (
        "only retained keys stay",
        POD,
        {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}},
        {"spec": {"volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}]}},
        {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}},
    ),
]


@pytest.mark.parametrize(
    ("kind", "target", "patch", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_merge(kind: Kind, target: Any, patch: Any, expected: Any) -> None:
    """The patch merges as this row says, once and again."""
    shape = core_shapes().of(kind)
    once = strategic_merge(target, patch, shape)
    assert expected == once
    assert expected == strategic_merge(once, patch, shape)


def test_element_without_key_is_refused() -> None:
    """An element that does not name its merge key is a bad request."""
    with pytest.raises(ApiError, match="merge key"):
        strategic_merge({"status": {"conditions": [READY]}}, {"status": {"conditions": [{}]}}, core_shapes().of(NODE))
