"""`node-remedy plan` before an uninstall (docs/guide/upgrade.md): whatever repair is on its way is listed.

Every story of the crash plans is played, and at each write of its manager and once a minute the API is planned on as a
dump would be. Whether a repair is on its way is read from what stands in the API, not from what rooms say.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.guide.page import GUIDE

from noderemedy.manager import plan as planning
from noderemedy.manager.sources import Source
from noderemedy.model.ids import FENCE_REMEDIATION, HOST, MACHINE, NODE, NODE_FENCE, REMEDIATION, Kind
from noderemedy.rooms import watched
from noderemedy.sim import crash, fencecrash
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.crash import STORY_MS, Stage, Story
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.ward import DOCTOR, TEMPLATE
from noderemedy.wire import names

# What a repair writes on other objects while it lasts, by the beginning of its name.
TRACES = {
    MACHINE: (names.NEEDS_REMEDIATION, names.NODE_BACKUP, names.NODE_DELETED_AT, names.REPLACEMENT),
    HOST: (names.REBOOT, names.REBOOT_FOR, names.FENCE_REBOOT_FOR, names.HOLD, names.FENCE_HOLD_FOR),
    NODE: (names.REMEDY, names.CORDONED, names.OUT_OF_SERVICE_BY),
}
REQUESTS = (REMEDIATION, FENCE_REMEDIATION)
STORIES: dict[str, tuple[Story, int, Callable[[int, int], Stage]]] = {
    **{name: (story, 3, calm) for name, story in crash.STORIES.items()},
    **{name: (story, fencecrash.NODES, stage) for name, (story, stage) in fencecrash.STORIES.items()},
}
NAMED = re.compile(r"If it lists no (.+?), no repair is on its way", re.DOTALL)


def kinds() -> set[str]:
    """Those that the page tells people to look for."""
    [words] = NAMED.findall((GUIDE / "upgrade.md").read_text(encoding="utf-8"))
    return set(re.findall(r"[A-Z]\w+", words))


def under_way(cluster: Cluster) -> list[str]:
    """What would not stand there without a repair."""
    marked = [
        f"{kind.kind} {tree['metadata']['name']}: {note}"
        for kind, traces in TRACES.items()
        for tree in cluster.api.list(kind)
        for note in tree["metadata"].get("annotations") or ()
        if note.startswith(traces)
    ]
    fences = [tree for tree in listed(cluster, NODE_FENCE) if tree.get("status", {}).get("state") != "final"]
    # A request that was withdrawn is left to its own controller.
    others = [tree for tree in listed(cluster, DOCTOR) if "deletionTimestamp" not in tree["metadata"]]
    asked = [*fences, *others, *(tree for kind in REQUESTS for tree in listed(cluster, kind))]
    return [*marked, *(f"{tree['kind']} {tree['metadata']['name']}" for tree in asked)]


def listed(cluster: Cluster, kind: Kind) -> list[dict[str, Any]]:
    return list(cluster.api.list(kind)) if cluster.api.resources.find(kind) else []


def told(cluster: Cluster) -> list[str]:
    """What plan lists of the kinds that the page names."""
    dump = [Source(tree, "dump") for kind in (*watched(), DOCTOR, TEMPLATE) for tree in listed(cluster, kind)]
    made = planning.on_trees(dump, cluster.agenda.wall(), describe=cluster.outlets.agents.get)
    return [entry.key for entry in made.entries if entry.key.partition("/")[0] in kinds()]


def untold(name: str) -> list[list[str]]:
    """What was left of a repair at the moments at which plan listed nothing."""
    story, nodes, stage = STORIES[name]
    cluster, _, process = stage(1, nodes)
    assert ([], []) == (under_way(cluster), told(cluster))
    found: list[tuple[list[str], bool]] = []

    def look() -> None:
        if left := under_way(cluster):
            found.append((left, bool(told(cluster))))

    process.on_boundary.append(lambda _, where, effect: look() if where == "applied" else None)
    story(cluster)
    for _ in range(STORY_MS // MINUTE_MS):
        cluster.agenda.run_until(cluster.agenda.now_ms + MINUTE_MS)
        look()
    assert found
    return [left for left, is_told in found if not is_told]


@pytest.mark.parametrize("name", STORIES)
def test_a_repair_on_its_way_is_listed(name: str) -> None:
    """At no moment is anything of a repair left in the cluster about which plan has nothing to say."""
    assert [] == untold(name)


def test_a_plan_that_lists_only_what_is_done_now_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A repair that waits has nothing to do, and is on its way all the same."""
    monkeypatch.setattr(planning, "is_told", lambda entry: bool(entry.actions))

    assert [] != untold("hung_node")
