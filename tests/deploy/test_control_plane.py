"""deploy/control-plane, the component that keeps managers on control-plane nodes, and what is shipped without it.

tests/e2e/test_deploy.py has kustomize build it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
COMPONENT: dict[str, Any] = yaml.safe_load((DEPLOY / "control-plane" / "kustomization.yaml").read_text())
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
CONTROL_PLANE = {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}


def shipped() -> dict[str, Any]:
    tree: dict[str, Any] = next(yaml.safe_load_all((DEPLOY / "manager" / "deployment.yaml").read_text()))
    return tree


def at(tree: Any, path: str) -> Any:
    for word in path.strip("/").split("/"):
        tree = tree[word]
    return tree


def test_what_is_preferred_becomes_required() -> None:
    """The same nodes, in the place of the wish; whoever has none installs without it."""
    [patch] = COMPONENT["patches"]
    [change] = yaml.safe_load(patch["patch"])
    [term] = change["value"][REQUIRED]["nodeSelectorTerms"]
    [wish] = at(shipped(), change["path"])["preferredDuringSchedulingIgnoredDuringExecution"]

    assert shipped()["metadata"]["name"] == patch["target"]["name"]
    assert [CONTROL_PLANE] == term["matchExpressions"] == wish["preference"]["matchExpressions"]
    assert REQUIRED not in at(shipped(), change["path"])


def test_it_is_left_out_until_somebody_wants_it() -> None:
    """Its line is a comment, as that of the other component is."""
    text = (DEPLOY / "kustomization.yaml").read_text()

    assert "\n# components: [control-plane]\n" in text
    assert yaml.safe_load(text).get("components") is None
