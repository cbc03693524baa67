"""A fence that is released: nothing stays cut off without a word, and storage comes back before pods may."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_machine, a_node, ago, unreadable
from tests.core.fencing.fences import FENCE_AT, IPMI, a_fence, a_job, a_plan, done
from tests.core.fencing.story import Story
from tests.core.fencing.test_devices import CUT_OFF
from tests.core.fencing.test_erring import old
from tests.core.fencing.test_gates import a_view
from tests.core.fencing.test_request import REQUEST_AT, asked
from tests.core.fencing.test_story import is_gone
from tests.core.fencing.test_told import reasons

from noderemedy.core.fencing import isolation
from noderemedy.core.fencing.fence import decide
from noderemedy.core.fencing.results import NOT_BEGUN
from noderemedy.model.attestation import Attestation
from noderemedy.model.fenceplan import Builtin, BuiltinMethod, Step
from noderemedy.model.ids import MACHINE, NODE, NODE_FENCE, ref
from noderemedy.model.node import Condition, Node, NodeBackup
from noderemedy.model.nodefence import FenceEvidence, FenceJob, State
from noderemedy.model.room import Absent, Unseen
from noderemedy.model.run import Deed, Power, RunState
from noderemedy.model.workload import FreeBy

MACHINE_AT = ref(MACHINE, REQUEST_AT.name, REQUEST_AT.namespace)
IS_OFF = done("port-off", Deed.OFF, step=Step.ISOLATION, id="fence-off")
UNSURE = replace(IS_OFF, state=RunState.FAILED, said="timed out")
NOT_ON = a_job("port-on", Deed.ON, step=Step.RECOVERY, state=RunState.FAILED)
WORD = Attestation("alice", ago(5), "node-uid-1", "boot-1")
MARKED = a_node(boot_id="boot-2", unschedulable=True, annotations={"node-remedy.dev/cordoned": "node-remedy"})


@pytest.mark.parametrize("off", [IS_OFF, UNSURE])
@pytest.mark.parametrize("failed", [0, 3, 5])
def test_what_was_cut_off_is_let_in_again(off: object, failed: int) -> None:
    """Also if nobody knows whether it is, and after recovery has used up its own tries (seed 8)."""
    tries = [replace(NOT_ON, id=f"fence-{number}", attempt=number) for number in range(failed)]
    fence = a_fence(State.ERROR, deleting=True, jobs=(off, *tries))
    view = old(a_view(fence=fence, plan=CUT_OFF, node=MARKED), 3_600)

    assert ["RunOrdered"] == reasons(view)


SAYS_ON = replace(IS_OFF, state=RunState.FAILED, power=Power.ON, said="the device says on afterwards")
NEVER_SENT = replace(SAYS_ON, power=Power.UNKNOWN, said=f"{NOT_BEGUN}: the node has booted meanwhile")
ANSWERS_ON = replace(SAYS_ON, id="fence-asked", deed=Deed.STATUS)
LET_IN = done("port-on", Deed.ON, step=Step.RECOVERY, id="fence-on")


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ((SAYS_ON,), "RunOrdered"),
        ((IS_OFF, ANSWERS_ON), "RunOrdered"),
        ((IS_OFF, LET_IN), "UncordoningNode"),
        ((LET_IN, ANSWERS_ON), "UncordoningNode"),
        ((ANSWERS_ON,), "UncordoningNode"),
        ((NEVER_SENT,), "UncordoningNode"),
    ],
)
def test_what_was_told_off_is_told_on_whatever_it_answers(jobs: tuple[FenceJob, ...], expected: str) -> None:
    """A device whose answers change said that it was on, and the node stayed cut off without a word (seed 2038)."""
    fence = a_fence(State.ERROR, deleting=True, jobs=jobs)

    assert [expected] == reasons(old(a_view(fence=fence, plan=CUT_OFF, node=MARKED), 3_600))


def test_a_flow_that_begins_anew_remembers_that_it_was_told_off() -> None:
    """Not that the device called itself on: that alone would pass for the truth."""
    view = a_view(fence=a_fence(State.ERROR, jobs=(IS_OFF, ANSWERS_ON)), plan=CUT_OFF, node=MARKED)

    assert [IS_OFF.id] == [job.id for job in isolation.begun(view, NOW).jobs]


def test_what_does_not_let_it_in_is_told() -> None:
    """When all tries failed the node is released all the same, and a person is called for the port."""
    tries = [replace(NOT_ON, id=f"fence-{number}", attempt=number) for number in range(6)]
    fence = a_fence(State.ERROR, deleting=True, jobs=(IS_OFF, *tries))
    view = old(a_view(fence=fence, plan=CUT_OFF, node=a_node(boot_id="boot-2")), 3_600)

    assert ["LeftCutOff", "FenceReleased"] == reasons(view)
    assert ["WriteFinalizers"] == [type(action).__name__ for action in decide(view, NOW).actions]


@pytest.mark.parametrize(("jobs", "expected"), [((IS_OFF,), "RunOrdered"), ((), "UncordoningNode")])
def test_storage_comes_back_before_pods_may(jobs: tuple[object, ...], expected: str) -> None:
    """The cordon goes after the fence, in a release as in a recovery."""
    for fence in (a_fence(State.ERROR, deleting=True, jobs=jobs), a_fence(State.DONE, jobs=jobs)):
        plan = CUT_OFF if jobs else replace(CUT_OFF, recovery=CUT_OFF.recovery[1:])

        assert [expected] == reasons(old(a_view(fence=fence, plan=plan, node=MARKED), 3_600))


FREED = FenceEvidence(storage_freed_at=ago(100))
PROVEN = replace(FREED, free_by=FreeBy.TAINT, freeing_since=ago(60), freed_at=ago(50))
SILENT = a_node(ready="Unknown")
GONE = Absent(NOW.mono)
FELL_SILENT_AGAIN = replace(SILENT, conditions=(Condition("Ready", "Unknown", ago(10)),))
MADE_ANEW, OF_THE_OTHER = replace(SILENT, uid="node-uid-2"), replace(WORD, node_uid="node-uid-2")  # by the same boot
LEFT_AGAIN = replace(FELL_SILENT_AGAIN, uid="node-uid-2")
NAMELESS, OTHER_NAMELESS, UNTOLD = replace(SILENT, boot_id=""), replace(MADE_ANEW, boot_id=""), {"boot_id": ""}
STAYS = "StorageStaysFenced"


def behind(evidence: FenceEvidence = FREED, jobs: tuple[FenceJob, ...] = (IS_OFF,), **more: Any) -> Any:
    """A fence that is released, and behind which pods were freed."""
    fence = a_fence(State.RUNNING, deleting=True, evidence=evidence, jobs=jobs, **more.pop("fence", {}))
    return a_view(fence=fence, **{"node": SILENT, "plan": CUT_OFF, **more})


@pytest.mark.parametrize(
    ("evidence", "more", "expected"),
    [
        (FREED, {}, "StorageStaysFenced"),
        (FREED, {"node": a_node()}, "StorageStaysFenced"),
        (FREED, {"node_entry": GONE}, "StorageStaysFenced"),
        (FREED, {"node": replace(SILENT, boot_id="")}, "StorageStaysFenced"),
        (FREED, {"node": replace(SILENT, uid="node-uid-2")}, "StorageStaysFenced"),
        (FREED, {"node": replace(SILENT, uid="node-uid-2", boot_id="")}, "StorageStaysFenced"),
        (FREED, {"node_entry": unreadable()}, "StorageStaysFenced"),
        (FREED, {"node_entry": Unseen()}, "StorageStaysFenced"),
        (replace(FREED, off_at=ago(50)), {}, "StorageStaysFenced"),  # by a plug that may be another machine's
        (replace(FREED, off_at=ago(50)), {"node_entry": GONE}, "StorageStaysFenced"),
        (FREED, {"node": replace(SILENT, boot_id="boot-2")}, "RunOrdered"),
        (FREED, {"node": replace(SILENT, uid="node-uid-2", boot_id="boot-2")}, "RunOrdered"),
        (PROVEN, {}, "RunOrdered"),
        (PROVEN, {"node_entry": GONE}, "RunOrdered"),
        (replace(PROVEN, freed_at=None), {}, "RunOrdered"),
        (replace(PROVEN, freed_at=None, freeing_since=None), {}, "StorageStaysFenced"),
        (PROVEN, {"node": a_node()}, "StorageStaysFenced"),  # what was proven off reports
        (PROVEN, {"node": FELL_SILENT_AGAIN}, "StorageStaysFenced"),  # or has reported since
        (PROVEN, {"node_entry": unreadable()}, "StorageStaysFenced"),
        (FREED, {"jobs": ()}, "FenceReleased"),  # nothing is cut off any more
        (FREED, {"fence": {"attested": WORD}}, "RunOrdered"),
        (FREED, {"fence": {"attested": WORD}, "node_entry": GONE}, "RunOrdered"),
        (FREED, {"fence": {"attested": WORD}, "node": a_node()}, "StorageStaysFenced"),
        (FREED, {"fence": {"attested": replace(WORD, boot_id="boot-0")}}, "StorageStaysFenced"),
        (FREED, {"fence": {"attested": WORD}, "node": MADE_ANEW}, "RunOrdered"),
        (FREED, {"fence": {"attested": OF_THE_OTHER}, "node": MADE_ANEW}, "RunOrdered"),
        (FREED, {"fence": {"attested": WORD}, "node": replace(MADE_ANEW, boot_id="")}, "StorageStaysFenced"),
        (FREED, {"fence": {"attested": WORD}, "node": a_node("node-uid-2")}, "StorageStaysFenced"),
        (FREED, {"fence": {"attested": replace(WORD, at=ago(20))}, "node": LEFT_AGAIN}, "StorageStaysFenced"),
        (FREED, {"fence": {**UNTOLD, "attested": replace(WORD, boot_id="")}, "node": NAMELESS}, "RunOrdered"),
        (FREED, {"fence": {**UNTOLD, "attested": replace(WORD, boot_id="")}, "node": OTHER_NAMELESS}, STAYS),
        (FREED, {"fence": {**UNTOLD, "attested": replace(OF_THE_OTHER, boot_id="")}, "node": NAMELESS}, STAYS),
    ],
)
def test_a_storage_fence_behind_which_pods_were_freed_is_lifted_for_another_boot_only(
    evidence: FenceEvidence, more: dict[str, Any], expected: str
) -> None:
    """Or if that boot is proven off, or a person says so: never because nothing is seen of it."""
    view = behind(evidence, **more)

    assert (expected, expected == "StorageStaysFenced") == (reasons(view)[0], not decide(view, NOW).actions)


def test_another_boot_is_read_live_before_a_storage_fence_is_lifted() -> None:
    """A server that lags may show a boot from before the one that was cut off."""
    booted = replace(SILENT, boot_id="boot-2")
    for view in (behind(node=booted), behind(PROVEN)):
        by_a_list = replace(view, node_entry=replace(view.node_entry, confirmed_at=None))

        assert (["ConfirmFirst"], ["RunOrdered"]) == (reasons(by_a_list), reasons(view))


@pytest.mark.parametrize("state", [State.DONE, State.ERROR])
def test_another_boot_is_read_live_before_a_flow_goes_by_it(state: State) -> None:
    """Recovery opens its storage, and a start anew forgets which boot was cut off."""
    jobs, restarted = (IS_OFF,), a_node(boot_id="boot-2", ready="True" if state is State.DONE else "Unknown")
    fence = a_fence(state, evidence=FREED, jobs=jobs, since=ago(3_600))
    view = old(a_view(fence=fence, plan=CUT_OFF, node=restarted), 3_600)
    by_a_list = replace(view, node_entry=replace(view.node_entry, confirmed_at=None))

    assert ("ConfirmFirst" in reasons(by_a_list), "ConfirmFirst" in reasons(view)) == (True, False)


@pytest.mark.parametrize(
    ("node", "is_kept", "boot"),
    [
        (SILENT, True, "boot-1"),
        (replace(SILENT, uid="node-uid-2"), True, "boot-1"),
        (replace(SILENT, uid="node-uid-2", boot_id=""), True, "boot-1"),
        (replace(SILENT, boot_id="boot-2"), False, "boot-2"),
    ],
)
def test_a_flow_that_begins_anew_remembers_which_boot_was_cut_off(node: Node, is_kept: bool, boot: str) -> None:
    """Whatever uid its Node has by now; of another boot it is no evidence."""
    begun = isolation.begun(a_view(fence=a_fence(State.ERROR, evidence=FREED, jobs=(IS_OFF,)), node=node), NOW)

    assert (is_kept, boot) == (begun.evidence.storage_freed_at is not None, begun.boot_id)


BACKUP = NodeBackup("node-uid-1", labels=(("zone", "a"),))
AWAY = FenceEvidence(backup=BACKUP, free_by=FreeBy.NODE, freed_at=ago(60), off_at=ago(90))
ENDED = a_plan(power_management=(IPMI, BuiltinMethod("terminate", Builtin.TERMINATE_INSTANCE)))
GOING = a_node(ready="Unknown", deleting=True)


@pytest.mark.parametrize(
    ("fence", "more", "seconds", "expected"),
    [
        ({}, {"node": None}, 10, ["WaitingForReady"]),
        ({}, {"node": None}, 310, ["BackupKept"]),
        ({}, {"node": GOING}, 310, ["BackupKept"]),
        ({}, {"node": None, "machine": a_machine()}, 310, ["BackupKept"]),
        ({"requested_by": "Configuration//c 1"}, {"node": None}, 310, ["BackupKept"]),
        ({}, {"node": a_node("node-uid-2")}, 10, ["RestoringNode"]),
        ({}, {"node": a_node("node-uid-2", labels={"zone": "a"})}, 10, ["NodeWhole"]),
        ({}, {"node": a_node("node-uid-1")}, 10, ["FenceReleased"]),  # it was never deleted: just read live
        ({"evidence": FenceEvidence()}, {"node": None}, 10, ["FenceReleased"]),
        ({}, {"node": None, "plan": ENDED}, 10, ["FenceReleased"]),
        ({}, {"node": None, "machine": a_machine(deleting=True)}, 10, ["FenceReleased"]),
        ({"requested_by": "FenceRemediation/metal3/m 1"}, {"node": None}, 10, ["FenceReleased"]),
    ],
)
def test_what_a_deleted_node_carried_waits_for_it(
    fence: dict[str, Any], more: dict[str, Any], seconds: int, expected: list[str]
) -> None:
    """The only copy is in the object that somebody deletes: it stays until the Node is back, or never comes back."""
    released = a_fence(State.DONE, deleting=True, **{"evidence": AWAY, **fence})

    assert expected == reasons(old(a_view(fence=released, **more), seconds))


BY_REQUEST, MAY_BE_OFF = {"requested_by": "FenceRemediation/metal3/m 1"}, done("ipmi", Deed.OFF)
NO_PLAN: dict[str, Any] = {"plan": None, "node": None}


@pytest.mark.parametrize(
    ("fence", "more", "expected"),
    [
        (BY_REQUEST, NO_PLAN, ["PowerLeftOff", "FenceReleased"]),
        (BY_REQUEST, {**NO_PLAN, "machine": a_machine(deleting=True)}, ["PowerLeftOff", "FenceReleased"]),
        (BY_REQUEST, {**NO_PLAN, "machine": a_machine()}, ["FencePlanMissing"]),
        (BY_REQUEST, {**NO_PLAN, "node": SILENT}, ["FencePlanMissing"]),
        (BY_REQUEST, {"plan": None, "node_entry": Unseen()}, ["FencePlanMissing"]),
        (BY_REQUEST, {"node": None}, ["RunOrdered"]),
        ({}, NO_PLAN, ["FencePlanMissing"]),
        ({**BY_REQUEST, "jobs": ()}, NO_PLAN, ["FenceReleased"]),
    ],
)
def test_a_plan_that_went_with_its_machine_is_not_awaited(
    fence: dict[str, Any], more: dict[str, Any], expected: list[str]
) -> None:
    """Its owner has replaced it, and what selected its document went with the Node: nobody else can say how to light
    what may be off, so a person is told, and fence and request go (seed 18).
    """
    released = a_fence(State.ERROR, deleting=True, **{"jobs": (MAY_BE_OFF,), **fence})

    assert expected == reasons(old(a_view(fence=released, **more), 3_600))


def test_who_is_shown_what_it_deleted_asks_before_its_backup_goes() -> None:
    """A server that lagged showed a Node of the past, and the labels of the one to come were lost (seed 39)."""
    released = a_view(fence=a_fence(State.DONE, deleting=True, evidence=AWAY), node=a_node("node-uid-1"))
    by_a_list = replace(released, node_entry=replace(released.node_entry, confirmed_at=None))

    assert (["ConfirmFirst"], ["FenceReleased"]) == (reasons(by_a_list), reasons(released))


@pytest.mark.parametrize(("state", "expected"), [(State.DONE, "ConfirmFirst"), (State.FINAL, "FenceReleased")])
def test_who_is_shown_a_node_without_its_cordon_asks_before_it_goes(state: State, expected: str) -> None:
    """A server that lags shows the Node as it was before: nobody else would ever take our cordon off (seed 1101)."""
    released = a_view(fence=a_fence(state, deleting=True), node=a_node())
    by_a_list = replace(released, node_entry=replace(released.node_entry, confirmed_at=None))

    assert ([expected], ["FenceReleased"]) == (reasons(by_a_list), reasons(released))


def test_who_is_released_while_its_node_cannot_be_read_waits() -> None:
    """Its cordon may be on that Node, and nobody else knows whose it is (dense seed 30, S13)."""
    view = replace(a_view(fence=a_fence(State.RUNNING, deleting=True)), node_entry=unreadable())

    assert (["NodeUnreadable"], ()) == (reasons(view), decide(view, NOW).actions)


def test_a_node_that_is_released_while_it_is_away_comes_back_whole() -> None:
    """Deleted to free it, released before it has booted: its labels are there again, and the fence is gone."""
    story = Story()
    story.patch(NODE_AT, {"metadata": {"labels": {"zone": "a"}}})
    story.hang()
    story.run(65)
    story.ask(freeBy="node")
    story.run_until(lambda: story.api.find(NODE, NODE_AT.name) is None, 300)
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run_until(lambda: is_gone(story), 600)

    assert ("a", True, []) == (story.node()["metadata"]["labels"].get("zone"), story.is_on, story.freed_early)


def hidden_from_a_new_leader() -> Story:
    """The node was deleted to free it, its Machine does not decode, and a manager has come that never read it."""
    story = asked(freeBy="node")
    story.patch(NODE_AT, {"metadata": {"labels": {"zone": "a"}}})
    story.is_dead = True
    story.run_until(lambda: story.api.find(NODE, NODE_AT.name) is None, 600)
    story.garble(MACHINE_AT)
    story.dies()
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(900)
    return story


def test_a_machine_that_was_never_read_may_come_back() -> None:
    """Whose it is nobody can tell, but it is there: what its Node carried stays until that is back (S13)."""
    story = hidden_from_a_new_leader()
    assert not is_gone(story)
    story.is_dead = False
    story.boot()
    story.run_until(lambda: is_gone(story), 600)

    assert "a" == story.node()["metadata"]["labels"].get("zone")


def test_a_machine_that_was_never_read_goes() -> None:
    """Nobody waits for its Node any more."""
    story = hidden_from_a_new_leader()
    story.api.delete(MACHINE, MACHINE_AT.name, MACHINE_AT.namespace)

    story.run_until(lambda: is_gone(story), 60)
