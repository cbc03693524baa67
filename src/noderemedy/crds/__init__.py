"""Ring 3: custom resource definitions: our own, and those of foreign groups for clusters that lack them.

The files beside this one are the source; `make generate` copies our own to deploy/crds and the others to
deploy/crds/foreign, which never overwrite anyone's. The simulator and the lab install them in their own API, and so
does whoever sets up a cluster without Cluster API or Metal3.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import yaml

OUR_GROUP = "node-remedy.dev"
FENCE_GROUP = "ha.k8s.io"  # seed 002 names it, and nobody else serves it
OUR_GROUPS = (OUR_GROUP, FENCE_GROUP)
LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where it was built


@cache
def every() -> tuple[dict[str, Any], ...]:
    """All of them as JSON trees, in the order of their names. Everybody gets the same ones and leaves them as they are.

    They are read once: a test run makes thousands of simulated clusters, and reading was most of the cost of each.
    """
    files = sorted(resources.files(__package__).iterdir(), key=lambda file: file.name)
    texts = [file.read_text(encoding="utf-8") for file in files if file.name.endswith(".yaml")]
    return tuple(tree for text in texts for tree in yaml.load_all(text, Loader=LOADER) if tree)


def foreign() -> tuple[dict[str, Any], ...]:
    """Those of other projects."""
    return tuple(tree for tree in every() if not is_ours(tree))


def ours() -> tuple[dict[str, Any], ...]:
    """Those of our own groups."""
    return tuple(tree for tree in every() if is_ours(tree))


def is_ours(tree: dict[str, Any]) -> bool:
    return bool(tree["spec"]["group"] in OUR_GROUPS)
