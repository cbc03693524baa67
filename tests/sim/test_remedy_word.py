"""Whose word frees after a remedy, in virtual time: the end of the very Job that was meant, and of no other (S1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from noderemedy.core.remedy import cleaning, jobs
from noderemedy.model.ids import CONFIG_MAP, JOB, NODE
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.fencecrash import stage
from noderemedy.sim.fenced import CHAIN, LOOK
from noderemedy.sim.objects import SYSTEM
from noderemedy.wire import names

SICK = "worker-1"
NOTES = (names.REMEDY, names.REMEDIATION_TIMESTAMP, names.REMEDIATION_PODNAME)


class Story:
    """A server hangs whose first remedy may only look at it, and say so by cleaning nothing."""

    def __init__(self, *, only_looks: bool) -> None:
        self.cluster, self.checkers, _ = stage("chain", 1, 5)
        if only_looks:
            self.writes_document(only_looks=True)
        self.cluster.servers[SICK].hang()

    def writes_document(self, *, only_looks: bool) -> None:
        text = CHAIN
        for old, new in LOOK if only_looks else ():
            text = text.replace(old, new)
        self.cluster.api.patch(CONFIG_MAP, "chain", SYSTEM, {"data": {"config.yaml": text}}, "merge")

    def notes(self) -> dict[str, str]:
        return dict(self.cluster.api.get(NODE, SICK, "")["metadata"].get("annotations") or {})

    def note(self, notes: dict[str, str | None]) -> None:
        self.cluster.api.patch(NODE, SICK, "", {"metadata": {"annotations": notes}}, "merge")

    def until_job(self, *, has_ended: bool) -> None:
        """Second by second, until the first Job is made, or has ended."""
        for _ in range(1_200):
            wait(self.cluster, 1)
            found = self.cluster.api.list(JOB, SYSTEM)
            if found and (not has_ended or (found[0].get("status") or {}).get("conditions")):
                return
        raise AssertionError("there was no such Job")

    def ends(self) -> list[str]:
        """What was broken when all has come to rest."""
        wait(self.cluster, 60 * 60)
        self.checkers.at_rest(None)
        return [str(one) for one in self.checkers.violations]


def wait(cluster: Cluster, seconds: int) -> None:
    cluster.agenda.run_until(cluster.agenda.now_ms + seconds * 1_000)


def forged() -> Story:
    """Somebody writes on the Node that its remedy has made it safe, before that has done anything."""
    story = Story(only_looks=False)
    story.until_job(has_ended=False)
    record = json.loads(story.notes()[names.REMEDY])
    story.note({names.REMEDY: json.dumps(record | {"phase": "freeing", "outcome": "succeeded"})})
    return story


def swapped() -> Story:
    """The document is edited while a Job is under way: the new remedy of that name would make the node safe."""
    story = Story(only_looks=True)
    story.until_job(has_ended=False)
    story.writes_document(only_looks=False)
    return story


def begun_anew() -> Story:
    """The same when that Job has succeeded, and the chain begins anew."""
    story = Story(only_looks=True)
    story.until_job(has_ended=True)
    wait(story.cluster, 5)
    story.writes_document(only_looks=False)
    story.note(dict.fromkeys(NOTES))
    return story


@pytest.mark.parametrize("tell", [forged, swapped, begun_anew])
def test_only_the_job_that_was_meant_frees(tell: Any) -> None:
    """What is on record, or what a document says by now, frees nothing of a server that may write."""
    story = tell()

    assert [] == story.ends()
    assert 2 <= story.cluster.servers[SICK].boots


def any_former_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Job's name does not tell when it was ordered, and nobody asks what was said when it was made."""
    monkeypatch.setattr(cleaning, "is_vouching", lambda job, view, record: True)
    monkeypatch.setattr(jobs, "job_name", lambda uid, record: f"remedy-{uid[:8]}-{record.episode}-{record.number}")


def the_record_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the Node carries is believed."""
    monkeypatch.setattr(cleaning, "unvouched", lambda view, record, now: None)


@pytest.mark.parametrize(
    ("tell", "harm"), [(forged, the_record_alone), (swapped, the_record_alone), (begun_anew, any_former_job)]
)
def test_sabotage_is_seen(tell: Any, harm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without these rules a workload is freed whose old copy writes on."""
    harm(monkeypatch)

    assert any("S1" in one for one in tell().ends())
