"""Stories of one node that is fenced, in virtual time: what happens, in which order, and what is freed when."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from tests.builders import NODE_AT
from tests.core.fencing.fences import CORDON, FENCE_AT, UNCORDON, a_plan, an_agent
from tests.core.fencing.story import Behaviour, Story, obeys, refuses

from noderemedy.model.attestation import Attestation
from noderemedy.model.fenceplan import Builtin, BuiltinMethod, FencePlan, Scope
from noderemedy.model.governing import MemberFact, PermitFact, member_ref, permit_ref
from noderemedy.model.ids import CONFIG_MAP, MACHINE, NODE, NODE_FENCE, SYSTEM, Ref, ref
from noderemedy.model.outcome import Seen
from noderemedy.model.run import Deed, Order, Power, RunState
from noderemedy.model.time import Now, Span
from noderemedy.model.workload import POD
from noderemedy.wire.attestations import attestation_text
from noderemedy.wire.http import Answer, Request

OFF, ON, STATUS = ("ipmi", "off"), ("ipmi", "on"), ("ipmi", "status")
INSTANCE, ANOTHER, MACHINE_AT = "aws:///x/i-1", "aws:///x/i-2", Ref("", MACHINE, "metal", "worker-0")
FIRST, SECOND = an_agent("first", agent="fence_one"), an_agent("second", agent="fence_two")
TWO_PLUGS = ("fence_one", "fence_two")
FREED_BY = ("taint", "pods", "node")
WRITES = 19  # of one fence, at most


def sick(plan: FencePlan | None = None, *, plugs: tuple[str, ...] = ("fence_ipmilan",), **spec: Any) -> Story:
    """A node with one pod that has been silent for more than a minute, and a request to fence it."""
    story = Story(plan, plugs=plugs)
    story.pods("db-0")
    story.hang()
    story.run(65)
    story.ask(**spec)
    return story


def given_up() -> Story:
    """The same after two minutes in which its only device has refused."""
    story = sick(stepRetries=0, maxRestarts=0)
    story.devices["fence_ipmilan"] = refuses
    story.run(120)
    return story


def marks(story: Story) -> tuple[bool, list[str]]:
    """Cordon and taint, as far as they are ours."""
    spec = story.node()["spec"]
    taints = [taint["key"].rpartition("/")[2] for taint in spec.get("taints", []) if "not-ready" not in taint["key"]]
    return spec.get("unschedulable", False), taints


def is_gone(story: Story) -> bool:
    return story.api.find(NODE_FENCE, FENCE_AT.name) is None


def attest(story: Story, boot: str = "boot-1", seconds: float = 0, uid: str = "") -> None:
    """A person, whose clock may be ahead, says that the node is off."""
    uid = uid or story.node()["metadata"]["uid"]
    word = Attestation("anna", story.now.wall + Span.seconds(seconds), uid, boot)
    notes = {"node-remedy.dev/attested-off": attestation_text(word)}
    story.patch(FENCE_AT, {"metadata": {"annotations": notes}})


# --- the flow ----------------------------------------------------------------------------------------------------


def test_a_silent_node_is_isolated_powered_off_freed_and_comes_back() -> None:
    """Off, asked once more, freed, on; then it is Ready with another boot, uncordoned and untainted."""
    story = sick()
    story.run_until(lambda: story.state == "final", 300)

    assert [OFF, STATUS, ON] == story.orders
    assert ([], [], 2) == (story.freed_early, story.api.list(POD), story.boots)
    assert (False, []) == marks(story)
    assert {"CordonNode", "TaintOutOfService", "UntaintOutOfService", "UncordonNode"} <= set(story.acts)


def test_a_node_that_comes_back_by_itself_is_not_powered_off() -> None:
    """Ready within the delay of power management: recovered, and nothing was sent."""
    story = sick(powerManagementDelay="5m")
    story.run(60)
    assert ("running", (True, [])) == (story.state, marks(story))
    story.ready("True")
    story.run_until(lambda: story.state == "final", 60)

    assert ([], (False, [])) == (story.orders, marks(story))


def test_a_node_that_is_ready_from_the_start_is_left_alone() -> None:
    """Who asks for a fence of a node that is well gets no power cycle."""
    story = Story()
    story.run(65)
    story.ask()
    story.run_until(lambda: story.state == "final", 60)

    assert ([], 1) == (story.orders, story.boots)


def test_the_object_goes_after_its_time() -> None:
    """A fence that is over stays for ttlAfterFinal, then it is deleted, finalizer and all."""
    story = sick(ttlAfterFinal="60s")
    story.run_until(lambda: story.state == "final", 300)
    story.run(50)
    assert not is_gone(story)
    story.run(20)

    assert is_gone(story)


def test_idle_means_no_writes() -> None:
    """While the node boots, and after the end, nothing is written."""
    story = sick()
    story.run_until(lambda: story.state == "done", 300)
    before = len(story.acts)
    story.run(20)
    assert before == len(story.acts)
    story.run_until(lambda: story.state == "final", 300)
    before = len(story.acts)
    story.run(600)

    assert before == len(story.acts)


def test_a_persons_cordon_survives() -> None:
    """What we did not do we do not undo."""
    story = Story()
    story.patch(NODE_AT, {"spec": {"unschedulable": True}})
    story.hang()
    story.run(65)
    story.ask()
    story.run_until(lambda: story.state == "final", 300)

    assert (True, []) == marks(story)


# --- devices -----------------------------------------------------------------------------------------------------


def test_all_plugs_are_off_before_anything_is_freed() -> None:
    """A node with two supplies runs on until the second one is off; both come on again."""
    story = sick(a_plan(power_management=(FIRST, SECOND)), plugs=TWO_PLUGS)
    story.run_until(lambda: story.state == "final", 300)

    assert [("first", "off"), ("second", "off")] == story.orders[:2]
    assert ([], [("first", "on"), ("second", "on")]) == (story.freed_early, story.orders[-2:])


def test_off_and_on_may_be_two_methods_of_one_plug() -> None:
    """As the seed prints it: eaton-off and eaton-on."""
    plan = a_plan(power_management=(an_agent("eaton-off", Deed.OFF), an_agent("eaton-on", Deed.ON)))
    story = sick(plan)
    story.run_until(lambda: story.state == "final", 300)

    assert [("eaton-off", "off"), ("eaton-off", "status"), ("eaton-on", "on")] == story.orders


def test_a_device_that_refuses_ends_in_an_alert_and_frees_nothing() -> None:
    """Tries and restarts are bounded, and then a person is called."""
    story = sick(stepRetries=1, maxRestarts=1)
    story.devices["fence_ipmilan"] = refuses
    story.run(3_600)

    assert ("error", 4) == (story.state, story.orders.count(OFF))
    assert ([], 1) == (story.freed_early, len(story.api.list(POD)))
    assert {"FenceGivenUp", "FenceStepFailed"} <= set(story.told)


def test_a_plug_that_does_not_go_off_frees_nothing_and_the_other_comes_on_again() -> None:
    """Half off is not off: power is as it was, and the pods stay."""
    story = sick(a_plan(power_management=(FIRST, SECOND)), plugs=TWO_PLUGS, stepRetries=0, maxRestarts=0)
    story.devices["fence_two"] = refuses
    story.run(600)

    assert ("error", {"fence_one": True, "fence_two": True}) == (story.state, story.plugs)
    assert ([], 1) == (story.freed_early, len(story.api.list(POD)))


def test_success_is_not_enough_if_the_device_says_on() -> None:
    """Exit code 0 and the status still on: a failure."""

    def lies(story: Story, order: Order) -> tuple[RunState, Power, str]:
        return RunState.DONE, Power.ON, ""

    story = sick(stepRetries=0, maxRestarts=0)
    story.devices["fence_ipmilan"] = lies
    story.run(300)

    assert ("error", []) == (story.state, story.freed_early)


def test_a_plug_that_comes_on_by_itself_is_switched_off_again() -> None:
    """Off, then on by itself before it was asked: nothing is freed on what is over."""
    asked: list[Deed] = []

    def flickers(story: Story, order: Order) -> tuple[RunState, Power, str]:
        asked.append(order.deed)
        if asked.count(Deed.STATUS) == 1 and order.deed is Deed.STATUS:
            story.plugs[order.agent] = True
        return obeys(story, order)

    story = sick()
    story.devices["fence_ipmilan"] = flickers
    story.run_until(lambda: story.state == "final", 600)

    assert ([OFF, STATUS, OFF, STATUS, ON], []) == (story.orders, story.freed_early)


def test_a_node_that_reports_while_its_plug_is_off_hangs_on_another_plug() -> None:
    """The wrong host is switched on again, nothing is freed, and it is not done once more."""
    story = Story()
    story.is_wired_right = False
    story.run(65)
    story.ask(evenIfReady=True)
    story.run(1_800)

    assert ("error", [OFF, ON], []) == (story.state, story.orders, story.freed_early)
    assert "PlugContradicted" in story.told


def test_a_node_that_reports_that_it_is_sick_is_heard_all_the_same() -> None:
    """Ready=False is written by a kubelet that lives: its network is down, and its pods go on writing."""
    story = Story()
    story.is_wired_right = False
    story.pods("db-0")
    story.ready("False")
    story.run(65)
    story.ask()
    story.run(1_800)

    assert ("error", [OFF, ON], []) == (story.state, story.orders, story.freed_early)
    assert "PlugContradicted" in story.told


def test_a_device_that_never_answers_has_failed() -> None:
    """A run that nobody hears of again is over when all its time is."""
    story = sick(stepRetries=0, maxRestarts=0)
    story.takes = 100_000
    story.run(600)

    assert ("error", [OFF, ON]) == (story.state, story.orders)


# --- managers die ------------------------------------------------------------------------------------------------


def test_a_successor_waits_for_a_run_that_may_be_under_way_and_asks_first() -> None:
    """The manager dies while the node is being switched off: the next one does not switch it off a second time."""
    story = sick()
    story.takes = 20
    story.run_until(lambda: bool(story.orders), 60)
    story.dies()
    story.run(100)
    assert ([OFF], []) == (story.orders, story.freed_early)
    story.run_until(lambda: story.state == "final", 600)

    assert ([OFF, STATUS, ON], []) == (story.orders[:2] + story.orders[-1:], story.freed_early)
    assert 1 == story.orders.count(OFF)


def test_every_write_of_a_fence_is_one_to_die_after() -> None:
    """So many writes take a node through a fence at most: those that come to it later are to be tried as well."""
    assert WRITES == max(map(writes, FREED_BY))


def writes(free_by: str) -> int:
    story = sick(freeBy=free_by)
    story.run_until(lambda: story.state == "final", 1_200)
    return len(story.acts)


@pytest.mark.parametrize("free_by", FREED_BY)
@pytest.mark.parametrize("act", range(1, WRITES + 1))
def test_a_manager_may_die_after_any_write(act: int, free_by: str) -> None:
    """What it did last is done, nobody tells it so, and its successor fences the node once and brings it back."""
    story = sick(freeBy=free_by)
    story.dies_after = len(story.acts) + act
    story.run_until(lambda: story.state == "final", 1_200)

    assert ([], True) == (story.freed_early, story.orders.count(OFF) <= 1 + story.orders.count(STATUS))
    left = story.api.list(POD) if free_by != "node" else []  # nobody collects the garbage of a Node here
    assert ((False, []), []) == (marks(story), left)


@pytest.mark.parametrize("second", range(0, 75, 5))
def test_a_manager_may_die_at_any_moment(second: int) -> None:
    """Whenever it dies, the node is fenced once, freed on proof, and comes back."""
    story = sick()
    story.run(second)
    story.dies()
    story.run_until(lambda: story.state == "final", 1_200)

    assert ([], 1) == (story.freed_early, story.orders.count(OFF))
    assert (False, []) == marks(story)


def test_a_clock_that_runs_ahead_cuts_no_wait_short() -> None:
    """The successor's clock is ten minutes ahead: it waits the whole delay of power management, by its own clock."""
    story = sick(powerManagementDelay="5m")
    story.run(30)
    story.now = Now(story.now.wall + Span.seconds(600), story.now.mono)
    story.dies()
    story.run(290)
    assert [] == story.orders
    story.run_until(lambda: story.state == "final", 300)

    assert [OFF, STATUS, ON] == story.orders


# --- people ------------------------------------------------------------------------------------------------------


def test_stopping_lets_the_run_end_and_brings_power_back() -> None:
    """Nothing is freed, the isolation stays; started again, the flow begins anew."""
    story = sick()
    story.run_until(lambda: bool(story.orders), 60)
    story.patch(FENCE_AT, {"spec": {"stopped": True}})
    story.run(20)
    assert ([OFF, ON], "error", True) == (story.orders, story.state, marks(story)[0])
    assert (1, []) == (len(story.api.list(POD)), story.freed_early)
    story.hang()
    story.patch(FENCE_AT, {"spec": {"stopped": False}})
    story.run_until(lambda: story.state == "final", 600)

    assert (False, []) == marks(story)


def test_releasing_brings_power_back_and_undoes_the_isolation() -> None:
    """Deleted on the way: on, uncordoned, and the object goes."""
    story = sick()
    story.run_until(lambda: bool(story.orders), 60)
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(30)

    assert ([OFF, ON], True) == (story.orders, is_gone(story))
    assert ((False, []), []) == (marks(story), story.freed_early)


def test_releasing_before_anything_was_sent_sends_nothing() -> None:
    """A fence that waits for its delay is simply undone."""
    story = sick(powerManagementDelay="5m")
    story.run(30)
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(5)

    assert ([], True, (False, [])) == (story.orders, is_gone(story), marks(story))


def test_a_persons_word_frees_what_devices_could_not() -> None:
    """Devices refuse, somebody pulls the plug and says so: the workload is freed by that word, and by nothing else."""
    story = given_up()
    assert ("error", 1) == (story.state, len(story.api.list(POD)))
    story.is_attested_truly = True
    attest(story)
    story.run(20)

    assert [] == story.api.list(POD)
    assert "Attested by anna" in story.status.evidence.proof


@pytest.mark.parametrize("is_of_the_former", [True, False])
def test_a_word_is_about_a_boot_whatever_node_that_has_made(is_of_the_former: bool) -> None:
    """The Node was deleted, and its kubelet made it anew before the node was switched off: it is no other boot."""
    story = given_up()
    former = story.node()["metadata"]["uid"]
    story.api.delete(NODE, NODE_AT.name)
    story.ready("False", "boot-1")
    story.run(5)
    story.hang()
    story.run(5)
    story.is_attested_truly = True
    attest(story, uid=former if is_of_the_former else "")
    story.run(20)
    acts = len(story.acts)
    story.run(60)

    assert ([], "Attested by anna" in story.status.evidence.proof) == (story.api.list(POD), True)
    assert (True, acts) == (former != story.node()["metadata"]["uid"], len(story.acts))


def test_a_word_about_a_node_that_is_gone_leads_in_no_circle() -> None:
    """There is nothing to free any more: what devices were left at comes on, and nothing is written again and again."""
    story = given_up()
    former = story.node()["metadata"]["uid"]
    story.api.delete(NODE, NODE_AT.name)
    story.run(5)
    attest(story, uid=former)
    story.run(60)
    acts = len(story.acts)
    story.run(600)

    assert (acts, True) == (len(story.acts), story.status.evidence.freed_at is not None)


def test_a_word_is_refuted_by_a_node_that_its_boot_made_anew() -> None:
    """It was given, and then the kubelet reported, under whatever uid: it runs, and its next silence frees nothing."""
    story = given_up()
    attest(story)
    story.api.delete(NODE, NODE_AT.name)
    story.ready("False", "boot-1")
    story.run(5)
    story.hang()
    story.run(60)

    assert ([], 1) == (story.freed_early, len(story.api.list(POD)))


@pytest.mark.parametrize("boot", ["boot-0", "boot-9"])
def test_a_word_about_another_boot_frees_nothing(boot: str) -> None:
    """What was off yesterday says nothing about today."""
    story = sick(stepRetries=0, maxRestarts=0)
    story.devices["fence_ipmilan"] = refuses
    story.run(60)
    attest(story, boot)
    story.run(60)

    assert 1 == len(story.api.list(POD))
    assert "AttestationOfAnotherBoot" in story.told


def test_a_word_that_the_node_refuted_does_not_wait_for_its_next_silence() -> None:
    """Somebody attests, the same boot reports, and its network goes again: it runs, and nothing is freed."""
    story = given_up()
    story.ready("True")
    story.run(1)
    attest(story)
    story.run(5)
    story.ready("Unknown")
    story.run(60)

    assert ([], 1) == (story.freed_early, len(story.api.list(POD)))
    assert "AttestationOfAnotherBoot" in story.told


@pytest.mark.parametrize("is_taken_over", [False, True])
def test_a_word_of_the_future_does_not_wait_for_the_next_silence(is_taken_over: bool) -> None:
    """Somebody's clock is an hour ahead: the node reports and falls silent within it, and runs; nothing is freed, also
    when the time of the word has come, and whoever leads by then."""
    story = given_up()
    attest(story, seconds=3_600)
    story.run(5)
    kept = len(story.api.list(POD))
    story.ready("True")
    story.run(60)
    story.ready("Unknown")
    story.run(3_400)
    if is_taken_over:
        story.start()
    story.run(3_800)
    story.patch(NODE_AT, {"metadata": {"labels": {"seen": "by-somebody"}}})  # then everybody looks again
    story.run(60)

    assert (1, [], 1) == (kept, story.freed_early, len(story.api.list(POD)))
    assert "AttestationUnreadable" in story.told


def test_a_word_is_heard_after_power_came_back_without_a_proof() -> None:
    """A flow that was given up when it had begun to switch on frees what a person says is off."""
    story = Story(a_plan(power_management=(BuiltinMethod("host-power", Builtin.HOST_POWER),)), plugs=("host",))
    story.bare_metal()
    story.pods("db-0")
    story.is_dead = True
    story.goes_off_by_itself()
    story.hang()
    story.run(65)
    story.ask(stepRetries=0, maxRestarts=0, nodeReadyTimeout="60s")
    story.run(600)
    assert ("error", 1) == (story.state, len(story.api.list(POD)))
    story.is_attested_truly = True
    attest(story)
    story.run(120)

    assert [] == story.api.list(POD)


def test_a_pause_keeps_a_flow_from_beginning() -> None:
    """Nothing new starts on a node that somebody paused."""
    story = Story()
    story.hang()
    story.patch(NODE_AT, {"metadata": {"annotations": {"node-remedy.dev/paused": "true"}}})
    story.run(65)
    story.ask()
    story.run(60)

    assert ("new", [], "PausedByPerson") == (story.state, story.orders, story.told[-1])


# --- ways to free ------------------------------------------------------------------------------------------------


def test_pods_can_be_freed_one_by_one() -> None:
    """freeBy: pods removes them by uid, and taints nothing."""
    story = sick(freeBy="pods")
    story.pods("db-1", "web-0")
    story.run_until(lambda: story.state == "final", 300)

    assert ([], [], 3) == (story.freed_early, story.api.list(POD), story.acts.count("DeletePod"))
    assert "TaintOutOfService" not in story.acts


def test_the_whole_node_can_be_freed_and_gets_back_what_it_carried() -> None:
    """freeBy: node deletes it with a backup in the NodeFence; labels come back, our cordon does not."""
    story = Story()
    story.patch(NODE_AT, {"metadata": {"labels": {"zone": "a"}}})
    story.hang()
    story.run(65)
    story.ask(freeBy="node")
    story.run_until(lambda: story.state == "final", 300)

    assert ([], 1) == (story.freed_early, story.acts.count("DeleteNode"))
    assert ("a", (False, [])) == (story.node()["metadata"]["labels"].get("zone"), marks(story))
    assert None is story.status.evidence.backup


def test_a_flow_that_begins_anew_frees_anew() -> None:
    """It was stopped after it had chosen how to free, and the node never came on: the next start chooses once more."""
    story = Story()
    story.devices["fence_ipmilan"] = lambda story, order: (refuses if order.deed is Deed.ON else obeys)(story, order)
    chosen: list[str] = []

    def stop(event: Any) -> None:
        evidence = event.tree.get("status", {}).get("evidence", {})
        if evidence.get("freeBy") and not chosen:
            chosen.append(evidence["freeBy"])
            story.patch(FENCE_AT, {"spec": {"stopped": True}})

    story.hang()
    story.run(65)
    story.api.subscribe(NODE_FENCE, stop)
    story.ask(freeBy="node")
    story.run_until(lambda: story.state == "error", 600)
    assert [] == story.acts.count("DeleteNode") * ["freed"]
    story.run(120)
    story.patch(FENCE_AT, {"spec": {"stopped": False}})
    story.run_until(lambda: "DeleteNode" in story.acts, 900)

    assert (["node"], []) == (chosen, story.freed_early)


def test_labels_come_back_before_the_plan_that_knows_the_node_by_them() -> None:
    """A Node that returns bare has no plan, and a fence that was released waits for one: so its labels come first."""
    story = Story()
    story.patch(NODE_AT, {"metadata": {"labels": {"zone": "a"}}})
    story.hang()
    story.run(65)
    story.devices["fence_ipmilan"] = lambda story, order: (refuses if order.deed is Deed.ON else obeys)(story, order)
    story.ask(freeBy="node", maxRestarts=0)
    story.run_until(lambda: story.state == "error", 600)
    story.configure(a_plan(problems=("no set of nodes selects it",)))
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.plugs["fence_ipmilan"] = True
    story._power_follows()
    story.run(60)
    assert "a" == story.node()["metadata"]["labels"].get("zone")

    story.configure(a_plan())
    del story.devices["fence_ipmilan"]
    story.run(60)
    assert None is story.api.find(NODE_FENCE, FENCE_AT.name)


ENDED = a_plan(power_management=(an_agent("ipmi", Deed.OFF), BuiltinMethod("terminate", Builtin.TERMINATE_INSTANCE)))


def test_a_terminated_instance_takes_its_node_along() -> None:
    """Off, proven, deleted for good: nobody waits for it to come back."""
    story = sick(ENDED)
    story.run_until(lambda: story.state == "final", 300)

    assert (None, [OFF, STATUS]) == (story.api.find(NODE, NODE_AT.name), story.orders)
    assert ([], True) == (story.freed_early, "NodeTerminated" in story.told)
    assert "DeleteMachine" not in story.acts


def test_an_instance_that_nobody_removes_is_told() -> None:
    """No Machine ever stood behind it: it is stopped, and stays in the account until a person ends it."""
    story = sick(ENDED)
    story.run_until(lambda: story.state == "final", 300)

    assert "InstanceLeft" in story.told


def being_ended() -> Story:
    """An instance with a Machine that is to be ended, and is asked whether it is off."""
    story = Story(ENDED)
    story.machine(provider_id=INSTANCE)
    story.hang()
    story.run(65)
    story.ask()
    story.run_until(lambda: STATUS in story.orders, 300)
    return story


def whose_machine_went() -> Story:
    """The same, and somebody else deletes the Machine on the way."""
    story = being_ended()
    story.api.delete(MACHINE, MACHINE_AT.name, MACHINE_AT.namespace)
    return story


def test_an_instance_whose_machine_went_on_the_way_is_no_persons_business() -> None:
    """Somebody else deleted it, and its provider removes the instance; another manager finds no Machine at the end."""
    story = whose_machine_went()
    story.dies()
    story.run_until(lambda: story.state == "final", 300)

    assert (True, False) == ("NodeTerminated" in story.told, "InstanceLeft" in story.told)


def test_a_terminated_instance_is_removed_by_its_provider() -> None:
    """Last of all its Machine is deleted, once: by then the instance is off, its workload free and its Node gone."""
    story = Story(ENDED)
    story.machine(provider_id=INSTANCE)
    story.pods("db-0")
    story.hang()
    story.run(65)
    story.ask()
    story.run_until(lambda: story.state == "final", 300)

    assert (None, [], []) == (story.api.find(NODE, NODE_AT.name), story.api.list(MACHINE), story.freed_early)
    assert ["DeleteNode", "DeleteMachine"] == [act for act in story.acts if act in ("DeleteNode", "DeleteMachine")]
    assert {"RemovingInstance", "NodeTerminated"} <= set(story.told)
    assert "InstanceLeft" not in story.told


@pytest.mark.parametrize(("successor", "zone"), [(ANOTHER, None), (INSTANCE, "a")], ids=["another", "the same"])
def test_a_successor_of_a_terminated_instance_gets_nothing_that_it_carried(successor: str, zone: str | None) -> None:
    """A Node comes under its name while the fence still stands: of another instance, or of the same, started again."""
    story = ended_with(zone="a")
    story.run_until(lambda: story.state == "final", 300)
    joins(story, successor)
    story.run(60)
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(60)

    assert zone == story.node()["metadata"]["labels"].get("zone")
    assert None is story.api.find(NODE_FENCE, FENCE_AT.name)


@pytest.mark.parametrize(("successor", "zone"), [(ANOTHER, None), (INSTANCE, "a")], ids=["another", "the same"])
def test_another_instance_of_that_name_gets_nothing_that_the_former_one_carried(
    successor: str, zone: str | None
) -> None:
    """Nobody ended the former one; its Node was deleted to free it, and another server was set up under its name."""
    story = Story()
    story.patch(NODE_AT, {"metadata": {"labels": {"zone": "a"}}, "spec": {"providerID": INSTANCE}})
    story.hang()
    story.run(65)
    story.is_dead = True
    story.ask(freeBy="node")
    story.run_until(lambda: story.api.find(NODE, NODE_AT.name) is None, 300)
    joins(story, successor)
    story.run(400)

    assert zone == story.node()["metadata"].get("labels", {}).get("zone")


def test_a_successor_is_no_recovery_of_what_was_ended() -> None:
    """It has the name before the flow is over, since somebody paused the Machine: that was ended all the same."""
    story = ended_with(zone="a")
    story.run_until(lambda: STATUS in story.orders, 300)
    story.patch(MACHINE_AT, {"metadata": {"annotations": {"node-remedy.dev/paused": "true"}}})
    story.run(30)
    assert "done" == story.state
    joins(story, ANOTHER)
    story.run_until(lambda: story.state == "final", 300)

    assert ("NodeTerminated" in story.told, "FenceSucceeded" in story.told) == (True, False)
    assert None is story.node()["metadata"]["labels"].get("zone")


def ended_with(**labels: str) -> Story:
    """An instance whose Node carries labels, and which is to be ended for good."""
    story = Story(ENDED)
    story.machine(provider_id=INSTANCE)
    story.patch(NODE_AT, {"metadata": {"labels": labels}, "spec": {"providerID": INSTANCE}})
    story.hang()
    story.run(65)
    story.ask()
    return story


def joins(story: Story, provider_id: str) -> None:
    """An instance registers under the name of the node."""
    story._register("True", "boot-9")
    story.patch(NODE_AT, {"spec": {"providerID": provider_id}})


@pytest.mark.parametrize("key", ["node-remedy.dev/paused", "cluster.x-k8s.io/paused"])
def test_a_machine_that_somebody_paused_on_the_way_is_not_deleted(key: str) -> None:
    """Until the pause is over, or the time is: then a person is told."""
    story = being_ended()
    story.patch(MACHINE_AT, {"metadata": {"annotations": {key: "true"}}})
    story.run(60)
    assert 1 == len(story.api.list(MACHINE))
    story.patch(MACHINE_AT, {"metadata": {"annotations": {key: None}}})
    story.run_until(lambda: story.state == "final", 300)

    assert [] == story.api.list(MACHINE)


@pytest.mark.parametrize("second", [0, 2, 6, 12, 20, 60, 100])
@pytest.mark.parametrize("asks", ["it", "its end"])
def test_whoever_pauses_the_cluster_stops_a_fence_wherever_it_is(second: int, asks: str) -> None:
    """Nothing but its status is written and no device is asked, for as long as that lasts; then it goes on."""
    story = Story()
    story.machine()
    story.pods("db-0")
    story.hang()
    story.run(65)
    story.ask()
    story.run(second)
    story.patch(MACHINE_AT, {"metadata": {"annotations": {"cluster.x-k8s.io/paused": "true"}}})
    before = len(story.acts), len(story.orders)
    if asks == "its end":
        story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(1_200)
    acts, orders = story.acts[before[0] :], story.orders[before[1] :]
    story.patch(MACHINE_AT, {"metadata": {"annotations": {"cluster.x-k8s.io/paused": None}}})
    story.run_until(lambda: story.api.find(NODE_FENCE, FENCE_AT.name) is None or story.state == "final", 1_800)

    assert ([], set()) == (orders, set(acts) - {"PublishFenceStatus"})
    assert ([], True) == (story.freed_early, story.is_on)


def test_another_machine_that_names_the_node_is_not_deleted() -> None:
    """Its own was replaced on the way: the instance of that one was never switched off."""
    story = whose_machine_went()
    story.machine("worker-0-new")
    story.patch(Ref("", MACHINE, "metal", "worker-0-new"), {"spec": {"providerID": "aws:///x/i-2"}})
    story.run_until(lambda: story.state == "final", 300)

    assert ["worker-0-new"] == [one["metadata"]["name"] for one in story.api.list(MACHINE)]
    assert ("DeleteMachine" in story.acts, "InstanceLeft" in story.told) == (False, False)


def test_a_machine_that_cannot_be_deleted_is_left_to_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fence ends all the same, in time, and an alert names the Machine."""
    story = Story(ENDED)
    story.machine(provider_id=INSTANCE)
    handle = story.api.handle

    def forbid(request: Request, *who: Any) -> Answer:
        is_forbidden = request.method == "DELETE" and "/machines/" in request.path
        return Answer(403, b"{}") if is_forbidden else handle(request, *who)

    monkeypatch.setattr(story.api, "handle", forbid)
    story.hang()
    story.run(65)
    story.ask()
    story.run_until(lambda: story.state == "final", 900)

    assert (1, None) == (len(story.api.list(MACHINE)), story.api.find(NODE, NODE_AT.name))
    assert {"NodeTerminated", "InstanceLeft"} <= set(story.told)


@pytest.mark.parametrize("scope", [Scope.NETWORK, Scope.NOTHING], ids=["a network switch", "a try without hardware"])
def test_a_plan_without_power_frees_nothing(scope: Scope) -> None:
    """A method that proves nothing is run, told, and nothing is freed on it."""
    story = sick(a_plan(power_management=(an_agent("switch", scope=scope),)), maxRestarts=0)
    story.run(600)

    assert (1, []) == (len(story.api.list(POD)), story.freed_early)
    assert [("switch", "off"), ("switch", "on")] == story.orders
    assert "FenceProvesNothing" in story.told


# --- a node that still answers -----------------------------------------------------------------------------------


def test_a_node_that_answers_is_drained_before_it_is_powered_off() -> None:
    """Pods are asked to go within their budgets; when they went, the node is switched off."""
    story = Story()
    story.pods("web-0")
    story.run(65)
    story.ask(evenIfReady=True)
    story.run_until(lambda: story.state == "final", 600)

    assert ([OFF, STATUS, ON], []) == (story.orders, story.freed_early)
    assert 1 == story.acts.count("EvictPod")
    assert 2 == story.boots


def test_a_disruption_budget_is_respected_for_a_while() -> None:
    """A pod that may not go stays as long as the drain lasts; then the node is powered off, and it goes on proof."""
    story = Story()
    story.api.create(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        }
    )
    story.pods("web-0")
    story.api.patch(POD, "web-0", "default", {"metadata": {"labels": {"app": "web"}}}, "merge")
    story.run(65)
    story.ask(evenIfReady=True)
    story.run(100)
    assert ([], 1) == (story.orders, len(story.api.list(POD)))
    story.run_until(lambda: story.state == "final", 600)

    assert ([OFF, STATUS, ON], [], []) == (story.orders, story.freed_early, story.api.list(POD))


# --- neighbours --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted"])
def test_a_node_that_somebody_else_removes_is_left_to_them(key: str) -> None:
    """Said, and nothing is done."""
    story = Story()
    story.hang()
    story.patch(NODE_AT, {"spec": {"taints": [{"key": key, "effect": "NoSchedule"}]}})
    story.run(65)
    story.ask()
    story.run(60)

    assert ("new", [], "LeftToOther") == (story.state, story.orders, story.told[-1])


def test_a_node_that_was_made_anew_is_not_switched_off() -> None:
    """Another Node of that name is none of our business: nothing is sent or freed."""
    story = sick(powerManagementDelay="1m")
    story.run(20)
    story.api.delete(NODE, NODE_AT.name)
    story.after(5, lambda: story._register("Unknown", "boot-7"))
    story.run(600)

    assert ("error", [], []) == (story.state, story.orders, story.freed_early)
    assert "FencedNodeReplaced" in story.told


def test_a_plan_with_problems_fences_nothing() -> None:
    """Neither does an empty list of methods."""
    for plan in (a_plan(problems=("fence-config-worker-0: no plug",)), a_plan(power_management=())):
        story = sick(plan)
        story.run(60)

        assert ("new", [], "FencePlanBroken") == (story.state, story.orders, story.told[-1])


def test_a_plan_that_comes_late_is_used() -> None:
    """Within its time without a word; after it the flow has given up, asks for no budget, and begins as a new one."""
    found = []
    for seconds in (250, 350):
        story = sick(a_plan(problems=("fence-config-worker-0: no plug",)))
        story.run(seconds)
        found.append((story.state, story.fence.is_given_up))
        story.configure(a_plan())
        story.run_until(story.is_final, 600)
        assert ([OFF, STATUS, ON], 0) == (story.orders, story.status.restarts)

    assert [("new", False), ("error", True)] == found


@pytest.mark.parametrize(("device", "state", "is_given_up"), [(obeys, "final", False), (refuses, "error", True)])
def test_a_flow_that_lost_its_plan_gets_one_more_start(device: Behaviour, state: str, is_given_up: bool) -> None:
    """When the plan is mended; one, not for ever: a device that refuses ends it."""
    story = sick(a_plan(), powerManagementDelay="1m", stepRetries=0, maxRestarts=2)
    story.devices["fence_ipmilan"] = device
    story.run(10)
    story.configure(a_plan(problems=("gone",)))
    story.run(900)
    lost = (story.state, story.fence.is_given_up, list(story.orders))
    story.configure(a_plan())
    story.run(600)
    acts = len(story.acts)
    story.run(1_200)

    assert (("error", True, []), acts) == (lost, len(story.acts))
    assert (state, is_given_up, 2) == (story.state, story.fence.is_given_up, story.status.restarts)
    assert 1 == story.orders.count(OFF)


def test_a_node_that_a_mended_plan_lights_is_given_time_to_boot() -> None:
    """It is not switched off again while it comes back."""
    story = sick(a_plan())
    story.run_until(lambda: not story.is_on)
    story.configure(a_plan(problems=("gone",)))
    story.run(900)
    story.configure(a_plan())
    story.run_until(story.is_final, 120)

    assert (1, 1) == (story.orders.count(OFF), story.orders.count(ON))


def test_a_plan_that_breaks_ends_the_step_and_nothing_is_freed() -> None:
    """A gap of a few seconds does no harm; a plan that stays broken is an error, then the end of the flow."""
    story = sick(a_plan(), powerManagementDelay="1h")
    story.run(10)
    for plan in (a_plan(problems=("gone",)), a_plan()):
        story.configure(plan)
        story.run(3)
    mended = story.state
    story.configure(a_plan(problems=("gone",)))
    story.run(330)
    broken = (story.state, story.fence.is_given_up)
    story.run(600)

    assert ("running", ("error", False)) == (mended, broken)
    assert (True, []) == (story.fence.is_given_up, story.orders)


def test_a_plan_that_breaks_halfway_gives_up_and_lights_the_node_when_it_is_mended() -> None:
    """The plug is off when the plan breaks: nothing is switched or freed by it, and its time is bounded."""
    story = sick(a_plan())
    story.run_until(lambda: not story.is_on)
    story.configure(a_plan(problems=("gone",)))
    story.run(900)
    broken = (story.is_on, story.fence.is_given_up)
    story.configure(a_plan())
    story.run(300)

    assert (False, True) == broken
    assert (True, "final", []) == (story.is_on, story.state, story.freed_early)


@pytest.mark.parametrize("cleaner", [Builtin.CLEAN_PODS, Builtin.DETACH_VOLUMES])
def test_builtins_that_clean_wait_for_a_proof(cleaner: Builtin) -> None:
    """In a list they free nothing by themselves; with the proof all is freed, whether they are listed or not."""
    methods = (CORDON, BuiltinMethod(cleaner.value, cleaner))
    story = sick(a_plan(isolation=methods, recovery=(UNCORDON,)), powerManagementDelay="2m")
    story.run(60)

    assert ("running", 1, []) == (story.state, len(story.api.list(POD)), story.orders)
    story.run_until(lambda: story.state == "final", 900)
    assert [] == story.api.list(POD)


def test_freed_pods_are_limited_by_the_budget() -> None:
    """podsPerMinute holds for fencing too: pods go in portions, and the node comes on when they are gone."""
    story = Story()
    story.api.create(
        {
            "apiVersion": "node-remedy.dev/v1alpha1",
            "kind": "RemediationBudget",
            "metadata": {"name": "cluster"},
            "spec": {"podsPerMinute": 2},
        }
    )
    story.pods("a", "b", "c", "d", "e")
    story.hang()
    story.run(65)
    story.ask(freeBy="pods")
    story.run_until(lambda: len(story.api.list(POD)) < 5, 60)
    assert 3 == len(story.api.list(POD))
    story.run_until(lambda: story.state == "final", 600)

    assert ([], 5) == (story.freed_early, story.acts.count("DeletePod"))


def test_freed_pods_are_limited_by_the_nodes_document() -> None:
    """podsPerMinute of the Configuration that governs the node holds for its fence; no RemediationBudget is needed."""
    story = Story()
    at = ref(CONFIG_MAP, "workers", SYSTEM)
    governed = {member_ref(NODE_AT): MemberFact(at), permit_ref(at): PermitFact(at, pods_per_minute=2)}
    for fact, value in governed.items():
        story.engine.seen(Seen(fact, "", "", value), story.now)
    story.pods("a", "b", "c", "d", "e")
    story.hang()
    story.run(65)
    story.ask(freeBy="pods")
    story.run_until(lambda: len(story.api.list(POD)) < 5, 60)
    first = len(story.api.list(POD))
    story.run(50)
    within_the_minute = len(story.api.list(POD))
    story.run_until(lambda: story.state == "final", 600)

    assert (3, 3) == (first, within_the_minute)
    assert ([], 5) == (story.freed_early, story.acts.count("DeletePod"))


def test_a_node_that_dumps_its_memory_is_given_time() -> None:
    """Power management waits while messages come, within the limit; nothing is freed on such a message."""
    for lasts, within in ((100, 400), (1_000, 150)):
        story = sick(a_plan(kdump_within=Span.seconds(within)))
        first = story.now.mono
        for second in range(0, lasts, 10):
            story.after(second, partial(story.dumps, first))
        story.run(min(lasts, within) - 20)
        assert ([], 1, "KdumpUnderWay") == (story.orders, len(story.api.list(POD)), story.told[-1])
        story.run_until(story.is_final, 600)

        assert ([OFF, STATUS, ON], []) == (story.orders, story.freed_early)


def test_a_dump_that_nobody_asked_to_wait_for_delays_nothing() -> None:
    """Without kdump in the node's configuration the message is nothing."""
    story = sick()
    story.dumps(story.now.mono)
    story.run(10)

    assert [OFF] == story.orders[:1]
