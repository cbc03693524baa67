"""The page on Metal3Remediations: what it says to type when no manager comes back finishes every state.

A story is played until the API has done something, then its manager is gone for good, and a person types what the table
says for the phase that is there.
"""

from __future__ import annotations

import re

import pytest
from tests.guide import page as pages
from tests.guide.shell import Shell

from noderemedy.model.ids import HOST, NODE, REMEDIATION
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.crash import STORY_MS, Story, play, recalled, remediated_by_pods, remediated_by_taint
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.run import calm
from noderemedy.sim.troubles import MINUTE_MS

TEXT = (pages.GUIDE / "metal3-remediation.md").read_text(encoding="utf-8")
COMMANDS = pages.parse(TEXT).program("When no manager comes back").splitlines()
# the words of the table -> the command that they mean
MEANT = {
    "release the host": ["reboot.metal3.io/metal3-remediation-"],
    "remove the taint": ["kubectl taint", "kubectl annotate nodes"],
    "unmark the host": ["capm3.metal3.io/unhealthy- capi.metal3.io/unhealthy-"],
    "remove the request": ["kubectl patch", "kubectl delete"],
}
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
SICK = "worker-1"
ASIDE = ("Confirm", "ListPods", "ListVolumes", "OpenIncident", "WriteIncident", "WriteLedger")  # change no situation


def advice(phase: str) -> str:
    """What the table says to run in this phase."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in TEXT.splitlines() if line[:2] == "| "]
    (found,) = [row[-1] for row in rows if (phase or "new") in row[0].split(", ") and len(row) == 3]
    return found.split(";")[0]


def stopped(story: Story, at: int) -> tuple[Cluster, Checkers]:
    """The story whose manager is gone for good at its n-th boundary."""
    cluster, checkers, process = calm(1, 3)
    seen: list[str] = []

    def boundary(*_: object) -> None:
        seen.append("")
        if len(seen) == at + 1:
            process.kill()

    process.on_boundary.append(boundary)
    story(cluster)
    end_ms = cluster.agenda.now_ms + STORY_MS
    while process.is_alive and cluster.agenda.now_ms < end_ms:
        cluster.agenda.run_until(cluster.agenda.next_ms() or end_ms)
    return cluster, checkers


def type_what_the_page_says(cluster: Cluster) -> None:
    request = cluster.api.get(REMEDIATION, machine_of(SICK), NAMESPACE)
    node = cluster.api.get(NODE, SICK)
    is_tainted = OUT_OF_SERVICE in [taint["key"] for taint in node["spec"].get("taints", ())]
    for words in advice(request.get("status", {}).get("phase", "")).split(", "):
        if words == "remove the taint" and not is_tainted:
            continue
        for command in (line for part in MEANT[words] for line in COMMANDS if part in line):
            if "kubectl delete" in command and cluster.api.find(REMEDIATION, machine_of(SICK), NAMESPACE) is None:
                continue  # it was on its way already, and went with its finalizer
            Shell(cluster).run(re.sub(r"\bUID\b", request["metadata"]["uid"], command) + "\n")


def situation(cluster: Cluster) -> tuple[object, ...]:
    """What a person can tell apart; () if there is no request."""
    request = cluster.api.find(REMEDIATION, machine_of(SICK), NAMESPACE)
    if request is None:
        return ()
    phase = request.get("status", {}).get("phase", "")
    leaves = "deletionTimestamp" in request["metadata"]
    return phase, leaves, cluster.servers[SICK].has_power, *left_over(cluster)


def left_over(cluster: Cluster) -> list[str]:
    """What is ours on host and node."""
    host, node = cluster.api.get(HOST, host_of(SICK), NAMESPACE), cluster.api.get(NODE, SICK)
    taints = [taint["key"] for taint in node["spec"].get("taints", ())]
    notes = [key.rpartition("/")[0] for key in host["metadata"].get("annotations") or {}]
    return [*(key for key in notes if "metal3.io" in key), *(key for key in taints if key == OUT_OF_SERVICE)]


def finish(story: Story) -> int:
    """Stop the story in all its situations, type, and look what is left; how many there were."""
    points, met = play(story).points, set[tuple[object, ...]]()
    for at in [number for number, one in enumerate(points) if one.where == "applied" and one.action not in ASIDE]:
        cluster, checkers = stopped(story, at)
        found = situation(cluster)
        if not found or found in met:
            continue
        met.add(found)
        type_what_the_page_says(cluster)
        cluster.agenda.run_until(cluster.agenda.now_ms + 20 * MINUTE_MS)

        assert [] == checkers.violations, found
        assert cluster.servers[SICK].has_power, found
        assert [] == left_over(cluster), found
        assert () == situation(cluster), found
    return len(met)


@pytest.mark.parametrize("story", [remediated_by_taint, remediated_by_pods, recalled], ids=lambda one: one.__name__)
def test_the_page_finishes_every_state(story: Story) -> None:
    """Host on, nothing of ours on host and node, no request left; and nothing was freed that was not safe."""
    assert 4 <= finish(story)


@pytest.mark.parametrize("gap", ["release the host", "remove the taint", "remove the request"])
def test_a_page_with_a_gap_is_found(gap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one of its commands something stays behind."""
    monkeypatch.setitem(MEANT, gap, [])

    with pytest.raises(AssertionError):
        finish(remediated_by_taint)
