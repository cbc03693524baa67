"""`podsPerMinute` and the way in which a fence frees: a node whose pods are more than that is freed pod by pod."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from tests.builders import NODE_AT
from tests.core.fencing.story import Story

from noderemedy.model.actions import DeletePod
from noderemedy.model.governing import MemberFact, PermitFact, member_ref, permit_ref
from noderemedy.model.ids import CONFIG_MAP, SYSTEM, ref
from noderemedy.model.outcome import Failed, Outcome, Seen
from noderemedy.model.workload import POD

PODS = ("a", "b", "c", "d", "e")
POD_BY_POD = ["DeletePod"] * 5


class Forbidden(Story):
    """Somebody took the right to delete pods away."""

    def _carry_out(self, effect: Any) -> Outcome:
        is_refused = isinstance(effect.action, DeletePod)
        return Failed("forbidden", lasting=True) if is_refused else super()._carry_out(effect)


def limited(
    limit: int | None, pods: tuple[str, ...] = PODS, *, of_document: int | None = None, kind: type[Story] = Story
) -> Story:
    """A node with so many pods hangs, under the limit of a budget, or of the Configuration that governs it."""
    story = kind()
    if limit is not None:
        frame = {"apiVersion": "node-remedy.dev/v1alpha1", "kind": "RemediationBudget"}
        story.api.create({**frame, "metadata": {"name": "cluster"}, "spec": {"podsPerMinute": limit}})
    if of_document is not None:
        at = ref(CONFIG_MAP, "workers", SYSTEM)
        story.engine.seen(Seen(member_ref(NODE_AT), "", "", MemberFact(at)), story.now)
        permit = PermitFact(at, pods_per_minute=of_document)
        story.engine.seen(Seen(permit_ref(at), "", "", permit), story.now)
    story.pods(*pods)
    story.hang()
    story.run(65)
    return story


def freed_by(story: Story) -> list[str]:
    """The acts that freed something, in order."""
    return [act for act in story.acts if act in ("DeletePod", "TaintOutOfService", "DeleteNode")]


@pytest.mark.parametrize(
    ("limit", "of_document", "way", "freed"),
    [
        (None, None, None, ["TaintOutOfService"]),
        (5, None, None, ["TaintOutOfService"]),
        (2, None, None, POD_BY_POD),
        (None, 2, None, POD_BY_POD),
        (9, 2, None, POD_BY_POD),
        (2, 9, None, POD_BY_POD),
        (2, None, "taint", ["TaintOutOfService"]),
        (2, None, "node", ["DeleteNode"]),
        (2, None, "pods", POD_BY_POD),
    ],
)
def test_more_pods_than_fit_into_a_minute_go_one_by_one(
    limit: int | None, of_document: int | None, way: str | None, freed: list[str]
) -> None:
    """By the stricter limit; where somebody names a way that takes all of them at once it is kept, and that is told."""
    story = limited(limit, of_document=of_document)
    story.ask(**({"freeBy": way} if way else {}))
    story.run_until(lambda: story.state == "final", 1_200)

    assert (freed, []) == (freed_by(story), story.freed_early)
    assert 5 * (way == "node") == len(story.api.list(POD))  # those of a Node that is gone are Kubernetes' to remove
    assert (way in ("taint", "node")) == ("FreedAtOnce" in story.told)


def test_who_frees_one_by_one_has_the_time_for_it() -> None:
    """Twenty pods at two a minute take longer than five minutes: power comes back when all of them are gone."""
    story = limited(2, tuple(f"p{number}" for number in range(20)))
    story.ask()
    story.run_until(lambda: len(story.api.list(POD)) < 8, 1_200)
    halfway = (story.is_on, story.state)
    story.run_until(lambda: story.state == "final", 1_200)

    assert (False, "running") == halfway
    assert (["DeletePod"] * 20, []) == (freed_by(story), story.freed_early)
    assert "FenceFreeingOverdue" not in story.told


def test_pods_that_come_again_for_ever_end_nobodys_patience() -> None:
    """Somebody binds new pods to the node that is off: after an hour it is powered on with what is left."""
    story = limited(1, PODS)
    for second in range(0, 8_000, 20):
        story.after(second, partial(story.pods, f"again-{second}"))
    story.ask()
    story.run_until(lambda: "FenceFreeingOverdue" in story.told, 8_000)
    took = story.now.wall.ms - story.status.evidence.freeing_since.ms
    story.run_until(lambda: story.is_on, 120)

    assert 60 * 60_000 <= took < 62 * 60_000
    assert [] == story.freed_early


def test_pods_that_nobody_may_delete_end_its_time_as_ever() -> None:
    """A limit is no reason to wait for what does not happen."""
    story = limited(1, kind=Forbidden)
    story.ask()
    story.run_until(lambda: "FenceFreeingOverdue" in story.told, 900)

    assert (5, []) == (len(story.api.list(POD)), story.freed_early)
