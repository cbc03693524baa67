"""The deletion of a drained Machine is a beginning: a storm, a pause or a window that came since its grant holds it."""

from __future__ import annotations

import pytest
from tests.builders import NODE_AT
from tests.core.metal3.test_beginnings import TROUBLES, Failing

from noderemedy.core.budget import health
from noderemedy.core.budget import room as budget
from noderemedy.core.budget import spec as budget_spec
from noderemedy.core.owner import replacing
from noderemedy.model.ids import MACHINE, NODE
from noderemedy.model.workload import POD


class Emptying(Failing):
    """Twenty nodes; the Machine of one of them is replaced, and the last pod of its node takes its time to go."""

    rooms = (replacing.ROOM, health.ROOM, budget.ROOM, budget_spec.ROOM)

    def begins(self) -> None:
        notes = {"node-remedy.dev/owner": "node-remedy"}
        metadata = {"name": NODE_AT.name, "namespace": "metal", "annotations": notes}
        spec = {"clusterName": "prod", "bootstrap": {"dataSecretName": "x"}}
        kind = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine"}
        self.api.create({**kind, "metadata": metadata, "spec": spec})
        asked = {"type": "OwnerRemediated", "status": "False", "lastTransitionTime": str(self.now.wall)}
        status = {"nodeRef": {"name": NODE_AT.name}, "conditions": [asked]}
        self.api.patch(MACHINE, NODE_AT.name, "metal", {"status": status}, "merge", subresource="status")
        self.ready("False")
        self.pods("last")
        self.run(60)
        assert "EvictPod" in self.acts

    def pod_goes(self) -> None:
        self.api.delete(POD, "last", "default", grace=0)

    @property
    def is_deleted(self) -> bool:
        found = self.api.find(MACHINE, NODE_AT.name, "metal")
        return found is None or "deletionTimestamp" in found["metadata"]

    @property
    def is_cordoned(self) -> bool:
        return bool(self.node()["spec"].get("unschedulable"))

    @property
    def because(self) -> list[str]:
        found = self.engine.decisions.items()
        return [type(one).__name__ for key, told in found if key.ref.kind == MACHINE for one in told.because]

    @property
    def closed(self) -> list[str]:
        assert replacing.ROOM.explains is not None
        (key,) = [one.ref for one in self.engine.decisions if one.room == "owner"]
        view = replacing.ROOM.sees(key, self.engine.cache)
        return [type(one.reason).__name__ for one in replacing.ROOM.explains(view, self.now) if one.reason]


@pytest.mark.parametrize("trouble", TROUBLES)
def test_nothing_is_deleted_while_the_budget_lets_nothing_begin(trouble: str) -> None:
    """The cordon stays, two hours go by without a write, and the reason is shown; afterwards it is deleted at once."""
    comes, ends, reason = TROUBLES[trouble]
    story = Emptying()
    story.begins()
    comes(story)
    story.pod_goes()
    story.run(60)
    before = len(story.acts)
    story.run(7_200)
    held_back = (story.is_deleted, story.is_cordoned, story.because, story.closed, story.acts[before:])
    ends(story)
    story.run(400)

    assert (False, True, [reason], [reason], []) == held_back
    assert (True, 1, 0) == (story.is_deleted, story.ledger[0], story.acts.count("WriteMachineConditions"))
    assert 1 == story.acts.count("WriteLedger") - (trouble == "a storm"), "its own old place"


def test_it_is_deleted_at_once_where_nothing_speaks_against_it() -> None:
    """In its place: not a second one is taken."""
    story = Emptying()
    story.begins()
    story.pod_goes()
    story.run(10)

    assert (True, (1, 1)) == (story.is_deleted, story.ledger)


def test_a_successor_deletes_nothing_in_a_storm() -> None:
    """Its budget has not looked yet when it looks for the first time."""
    story = Emptying()
    story.begins()
    story.storm()
    story.pod_goes()
    story.run(60)
    story.unattended(600)
    story.run(1_200)
    in_the_storm = story.is_deleted
    story.calm()
    story.run(290)
    in_the_cooldown = story.is_deleted
    story.run(60)

    assert (False, False, True) == (in_the_storm, in_the_cooldown, story.is_deleted)


def test_a_storm_after_the_deletion_holds_nothing() -> None:
    """It goes on, whatever the budget says: here nobody proves that its instance is gone."""
    story = Emptying()
    story.begins()
    story.pod_goes()
    story.run_until(lambda: story.is_deleted, 60)
    story.storm()
    story.run(60)

    assert (["InstanceUnproven"], 1) == (story.because, story.ledger[0])


def test_a_control_plane_without_a_quorum_keeps_its_members() -> None:
    """Another member was lost while this one was drained: its Machine stays until that one is back."""
    story = Emptying()
    for name in (NODE_AT.name, "other-0", "other-1"):
        labels = {"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}}
        story.api.patch(NODE, name, "", labels, "merge")
    story.begins()
    found = []
    for ready in ("Unknown", "True"):
        is_so = {"type": "Ready", "status": ready, "lastTransitionTime": str(story.now.wall)}
        story.api.patch(NODE, "other-0", "", {"status": {"conditions": [is_so]}}, "merge", subresource="status")
        if ready == "Unknown":
            story.pod_goes()
        story.run(400)
        found.append((story.is_deleted, story.because))

    assert (False, ["QuorumAtRisk"]) == found[0]
    assert found[1][0]
