"""host-power: the node's BareMetalHost as a device, held off with a hold of our own."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests import builders
from tests.builders import (
    HOST_NAME,
    MACHINE_AT,
    METAL3_CONSUMER,
    METAL3_MACHINE_AT,
    NODE_AT,
    NOW,
    OPENSHIFT_MACHINE_AT,
    a_cache,
    a_host,
    a_machine,
    a_metal3_machine,
    a_node,
    later,
)
from tests.core.fencing.fences import FENCE_AT, a_fence, a_plan, an_agent
from tests.core.fencing.story import Story, obeys, refuses
from tests.core.fencing.test_rules import seen

from noderemedy.core import claim, consumers
from noderemedy.core.fencing import fence, hosts, relics
from noderemedy.core.fencing.relics import RelicView
from noderemedy.core.fencing.view import INDEXES
from noderemedy.engine.cache import Cache
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import Confirm, ReleaseHost
from noderemedy.model.budget import Need
from noderemedy.model.decision import Decision
from noderemedy.model.fenceplan import Builtin, BuiltinMethod
from noderemedy.model.host import Consumer, Hold
from noderemedy.model.host import Power as HostPower
from noderemedy.model.ids import HOST, MACHINE, NODE_FENCE, Ref
from noderemedy.model.outcome import Done, Seen
from noderemedy.model.room import Absent, Entry, Present, Unreadable, Unseen
from noderemedy.model.run import Deed, Order, Power, RunState
from noderemedy.model.time import MINUTE
from noderemedy.model.workload import POD
from noderemedy.rooms import watched
from noderemedy.wire.names import MACHINE_HOST

HOST_POWER = BuiltinMethod("host-power", Builtin.HOST_POWER)
HOST_AT = Ref("", HOST, "metal", "rack-1")
ITS_MACHINE = Ref("", MACHINE, "metal", "worker-0")


def reasons_of(decision: Decision) -> list[str]:
    return [type(one).__name__ for one in decision.because]


def held(story: Story) -> list[str]:
    notes = story.api.get(HOST, "rack-1", "metal")["metadata"].get("annotations", {})
    return [key for key in notes if "fence" in key]


def sick(*more: Any, plugs: tuple[str, ...] = (), host: dict[str, Any] | None = None, **spec: Any) -> Story:
    story = Story(a_plan(power_management=(HOST_POWER, *more)), plugs=("host", *plugs))
    story.bare_metal(**(host or {}))
    story.pods("db-0")
    story.hang()
    story.run(65)
    story.ask(**spec)
    return story


def test_a_host_is_held_off_freed_and_released() -> None:
    """The proof is that of a hold; the node comes back, and no trace of ours is left on the host."""
    story = sick()
    story.run_until(lambda: story.state == "final", 400)

    assert ([], [], [], 2) == (story.freed_early, story.api.list(POD), held(story), story.boots)
    assert "PoweredOff host" in story.status.evidence.proof
    assert {"HoldHost", "ReleaseHost", "TaintOutOfService"} <= set(story.acts)


def test_host_and_plug_must_both_be_off() -> None:
    """What else powers the node is switched off, too, before anything is freed."""
    story = sick(an_agent(), plugs=("fence_ipmilan",))
    story.run_until(lambda: story.state == "final", 400)

    assert ([], [("ipmi", "off"), ("ipmi", "status"), ("ipmi", "on")]) == (story.freed_early, story.orders)


def test_a_plug_that_refuses_releases_the_host() -> None:
    """An error ends lit: the plug went off and does not answer any more; the node boots, and nothing was freed."""

    def mute(story: Story, order: Order) -> tuple[RunState, Power, str]:
        return obeys(story, order) if order.deed is not Deed.STATUS else refuses(story, order)

    story = sick(an_agent(), plugs=("fence_ipmilan",), stepRetries=0, maxRestarts=0)
    story.devices["fence_ipmilan"] = mute
    story.run(600)

    assert ("final", [], 1) == (story.state, held(story), len(story.api.list(POD)))
    assert ("HoldHost" in story.acts, "FenceStepFailed" in story.told) == (True, True)


def test_releasing_the_node_releases_its_host() -> None:
    """Deleted on the way: the hold goes first."""
    story = sick()
    story.run_until(lambda: bool(held(story)), 60)
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(300)

    assert "HoldOrphaned" not in story.told
    assert ([], None, []) == (held(story), story.api.find(NODE_FENCE, FENCE_AT.name), story.freed_early)


def test_a_host_that_is_being_shut_down_softly_is_not_held_before_that_is_over() -> None:
    """It is called off while it still shuts down: the fence waits, and goes on."""
    story = sick()
    story.patch(HOST_AT, {"metadata": {"annotations": {"reboot.metal3.io": ""}}})
    story.run(40)
    meanwhile = (held(story), "SoftShutdownAsked" in story.told)
    story.patch(HOST_AT, {"metadata": {"annotations": {"reboot.metal3.io": None}}})
    story.run_until(lambda: story.state == "final", 400)

    assert (([], True), []) == (meanwhile, story.freed_early)
    assert "HoldHost" in story.acts


def test_a_host_in_another_state_is_not_held() -> None:
    """Its operator would not follow, and its power may be old: the step fails and says so."""
    story = sick(stepRetries=0, maxRestarts=0, newDelay="10s")
    status = {"status": {"provisioning": {"state": "provisioning"}}}
    story.api.patch(HOST, "rack-1", "metal", status, "merge", subresource="status")
    story.run(120)

    assert ("error", [], 1) == (story.state, held(story), len(story.api.list(POD)))
    assert any("is in state provisioning" in job.said for job in story.status.jobs)


@pytest.mark.parametrize(
    ("host", "notes"),
    [
        ({"consumerRef": {"kind": "Machine", "name": "other", "namespace": "metal"}}, {}),
        ({"online": False}, {}),
        ({"disablePowerOff": True}, {}),
        ({}, {"baremetalhost.metal3.io/paused": ""}),
    ],
)
def test_a_host_that_is_not_ours_to_switch_is_not_held(host: dict[str, Any], notes: dict[str, str]) -> None:
    """Another machine's host, one that is off on purpose or may not go off, one that is paused."""
    story = sick(host=host, stepRetries=0, maxRestarts=0, newDelay="10s")
    story.patch(HOST_AT, {"metadata": {"annotations": notes}})
    story.run(120)

    assert ("error", [], 1) == (story.state, held(story), len(story.api.list(POD)))


def test_the_host_of_another_server_proves_nothing() -> None:
    """A Machine names the node, and by its providerID it is another server's: its host is left alone."""
    story = sick(stepRetries=0, maxRestarts=0, newDelay="10s")
    story.is_wired_right = False
    story.patch(ITS_MACHINE, {"spec": {"providerID": "metal3://metal/rack-1/worker-0"}})
    story.patch(NODE_AT, {"spec": {"providerID": "metal3://metal/rack-9/worker-9"}})
    story.run(300)

    assert ("error", [], []) == (story.state, held(story), story.freed_early)
    assert ("HoldHost" in story.acts, len(story.api.list(POD))) == (False, 1)
    assert any("another server" in job.said for job in story.status.jobs)


def test_a_host_that_turns_out_to_be_another_servers_is_released() -> None:
    """The providerID of the node came when its host was held already: nothing is freed, and the host comes on."""
    story = sick(stepRetries=0, maxRestarts=0)
    story.patch(ITS_MACHINE, {"spec": {"providerID": "metal3://metal/rack-1/worker-0"}})
    story.run_until(lambda: bool(held(story)), 60)
    story.is_wired_right = False
    story.patch(NODE_AT, {"spec": {"providerID": "metal3://metal/rack-9/worker-9"}})
    story.run(300)

    assert ([], [], 1) == (held(story), story.freed_early, len(story.api.list(POD)))


@pytest.mark.parametrize(("of_node", "is_own"), [("metal3://a", True), ("", True), ("metal3://b", False)])
def test_a_machine_is_the_nodes_by_its_provider_id(of_node: str, is_own: bool) -> None:
    """What a Machine of another server says (paused, deleted, its host) is not about the node that it names."""
    node, machine = a_node(provider_id=of_node), a_machine(provider_id="metal3://a")
    view = seen({FENCE_AT: a_fence(), NODE_AT: node, MACHINE_AT: machine, builders.HOST_AT: a_host()})

    assert (is_own, is_own) == (view.host.is_own, view.machine is not None)
    assert (MACHINE_AT if is_own else NODE_AT) == view.target


@pytest.mark.parametrize("owner", ["worker-0", "worker-9", None])
@pytest.mark.parametrize("owner_uid", ["machine-uid-1", "uid-of-a-former-machine", ""])
@pytest.mark.parametrize("at", [MACHINE_AT, OPENSHIFT_MACHINE_AT])
def test_a_host_is_a_machines_for_all_rooms_or_for_none(owner: str | None, owner_uid: str, at: Ref) -> None:
    """Through a Metal3Machine that this very Machine owns, by name and by uid: no room takes less."""
    host, machine = a_host(consumer=METAL3_CONSUMER), a_machine()
    middle = a_metal3_machine(owner=owner, owner_uid=owner_uid)
    cache = a_cache({METAL3_MACHINE_AT: middle, at: machine, builders.HOST_AT: host})
    of_fencing = hosts.see(a_node(), at, machine, cache).is_own
    of_metal3 = consumers.is_consumed_by(host, builders.HOST_AT, machine, at, cache)

    is_owned = (owner, owner_uid, at) == ("worker-0", "machine-uid-1", MACHINE_AT)
    assert (is_owned, is_owned) == (of_fencing, of_metal3)


def test_a_host_that_another_repair_holds_is_not_held_beside_it() -> None:
    """One hold at a time: what a Metal3Remediation left behind is released first, then the fence takes its turn."""
    other = "reboot.metal3.io/metal3-remediation-uid-9"
    story = sick()
    story.patch(HOST_AT, {"metadata": {"annotations": {other: "{}"}}})
    story.run(20)
    beside = (held(story), "ClaimedByOther" in story.told)
    story.patch(HOST_AT, {"metadata": {"annotations": {other: None}}})
    story.run_until(lambda: story.state == "final", 400)

    assert (([], True), []) == (beside, story.freed_early)
    assert "HoldHost" in story.acts


def test_a_manager_may_die_while_the_host_is_held() -> None:
    """The hold is on the host, and the order in the NodeFence: the next one goes on."""
    for second in (4, 8, 20, 30):
        story = sick()
        story.run(second)
        story.dies()
        story.run_until(story.is_final, 1_200)

        assert ([], []) == (story.freed_early, held(story))


def test_a_hold_whose_fence_was_torn_off_goes() -> None:
    """Somebody removed the finalizer by hand: the host comes on again, and nothing is freed."""
    story = sick()
    story.run_until(lambda: bool(held(story)), 60)
    story.patch(FENCE_AT, {"metadata": {"finalizers": []}})
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(60)

    assert ([], []) == (held(story), story.freed_early)
    assert "HoldOrphaned" in story.told


def test_a_new_fence_of_that_name_does_not_keep_the_old_hold() -> None:
    """A hold is known by the uid of its NodeFence."""
    story = sick()
    story.run_until(lambda: bool(held(story)), 60)
    [before] = [key for key in held(story) if "reboot" in key]
    story.patch(FENCE_AT, {"metadata": {"finalizers": []}})
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.ask(powerManagementDelay="30m")
    story.run(60)

    assert before not in held(story)


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("is_released", [False, True])
def test_a_held_host_that_cannot_be_read_is_waited_for(is_new: bool, is_released: bool) -> None:
    """The fence was given up, or went, and its hold stayed: another repair began beside it (seed 8019)."""
    story = sick(stepRetries=0, maxRestarts=0)
    story.run_until(lambda: bool(held(story)), 60)
    story.garble(HOST_AT)
    if is_new:
        story.dies()
    if is_released:
        story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(400)
    told = "HostUnreadable" in story.told
    meanwhile = (told, story.state, [one.is_running for one in needs_of(story)], story.freed_early)
    story.mend(HOST_AT)
    story.run(300)

    assert (True, "running", [True], []) == meanwhile
    assert [] == held(story)
    assert is_released or story.state == "final"


@pytest.mark.parametrize("at", [ITS_MACHINE, None])
def test_what_is_held_is_released_wherever_the_machine_points(at: Ref | None) -> None:
    """Its Machine cannot be read any more, or names another host: the step fails, and the held one comes on."""
    story = sick(stepRetries=0, maxRestarts=0)
    story.run_until(lambda: bool(held(story)), 60)
    if at is not None:
        story.garble(at)
    else:
        story.patch(ITS_MACHINE, {"metadata": {"annotations": {MACHINE_HOST: "metal/rack-9"}}})
    story.run(300)

    assert ([], [], 1) == (held(story), story.freed_early, len(story.api.list(POD)))


def needs_of(story: Story) -> list[Need]:
    found = [
        story.engine.cache.read(at) for at in story.engine.cache.find(claim.BY_LEASE, claim.lease_of(NODE_AT).name)
    ]
    return [one.obj for one in found if isinstance(one, Present)]


UID_OF_HOLD = "uid-of-the-fence"
LEFT = replace(a_host(power=HostPower.OFF), fenced_for=((UID_OF_HOLD, Hold("m", NOW.wall, owner=f"/{FENCE_AT.name}")),))


@pytest.mark.parametrize(
    ("entry", "action", "reason"),
    [
        (Unreadable(UID_OF_HOLD, "7", "garbled"), [], "HolderUnreadable"),
        (Unseen(), [], "HolderUnreadable"),
        (Absent(), [Confirm], "ConfirmFirst"),
        (Absent(NOW.mono), [ReleaseHost], "HoldOrphaned"),
        (builders.present(a_fence()), [ReleaseHost], "HoldOrphaned"),
        (Unreadable("uid-9", "7", "garbled"), [ReleaseHost], "HoldOrphaned"),
    ],
)
def test_the_hold_of_a_fence_that_cannot_be_read_stays(entry: Entry, action: list[type], reason: str) -> None:
    """It may be freeing just now; what has its name and another uid is another one. It is looked at once a minute."""
    decision = relics.decide(RelicView(builders.HOST_AT, builders.present(LEFT), UID_OF_HOLD, FENCE_AT, entry), NOW)

    assert (action, [reason]) == ([type(one) for one in decision.actions], reasons_of(decision))
    assert (NOW.mono + MINUTE if reason == "HolderUnreadable" else None) == decision.wake_at


@pytest.mark.parametrize("is_paused", [False, True])
def test_the_host_of_a_paused_machine_is_left_alone(is_paused: bool) -> None:
    """Not even the hold of a fence that is gone is taken off it, until the pause ends."""
    cache = Cache(INDEXES)
    cache.put(Seen(builders.MACHINE_AT, "m", "1", builders.a_machine(cluster_paused=is_paused)), NOW.mono)
    cache.drop(FENCE_AT, confirmed_at=NOW.mono)
    view = relics.see(builders.HOST_AT, builders.present(LEFT), cache)

    assert view is not None
    decision = relics.decide(view, NOW)
    assert (["ClusterPaused"] if is_paused else ["HoldOrphaned"]) == reasons_of(decision)
    assert (0 if is_paused else 1) == len(decision.actions)


@pytest.mark.parametrize("consumer", [METAL3_CONSUMER, None])
@pytest.mark.parametrize("is_readable", [False, True])
def test_the_host_of_a_paused_machine_is_its_own_whatever_stands_between(
    consumer: Consumer | None, is_readable: bool
) -> None:
    """A Metal3Machine that cannot be read any more says whose the host was, by either end."""
    cache, middle, machine = Cache(INDEXES), a_metal3_machine(host=HOST_NAME), a_machine(cluster_paused=True)
    held_for = replace(LEFT, consumer=consumer, fenced_for=((UID_OF_HOLD, Hold(machine.uid, NOW.wall)),))
    cache.put(Seen(MACHINE_AT, machine.uid, "1", replace(machine, host=None)), NOW.mono)
    cache.put(Seen(METAL3_MACHINE_AT, middle.uid, "1", middle), NOW.mono)
    if not is_readable:
        cache.set_aside(METAL3_MACHINE_AT, Unreadable(middle.uid, "2", "garbled"))
    view = relics.see(builders.HOST_AT, builders.present(held_for), cache)

    assert view is not None
    assert "Machine metal/worker-0 carries cluster.x-k8s.io/paused" in (
        view.left_alone.note() if view.left_alone else ""
    )


def test_a_hold_that_must_stay_keeps_no_other() -> None:
    """Of two that were left on a host the one goes whose fence is gone."""
    both = replace(LEFT, fenced_for=(*LEFT.fenced_for, ("uid-of-another", Hold("m", NOW.wall, owner="/gone"))))
    cache = Cache(INDEXES)
    cache.end_list("", NODE_FENCE)
    cache.set_aside(FENCE_AT, Unreadable(UID_OF_HOLD, "7", "garbled"))
    view = relics.see(builders.HOST_AT, builders.present(both), cache)

    assert view is not None
    assert "uid-of-another" == view.uid


def test_the_host_of_a_fence_that_could_not_be_read_comes_on_when_that_is_gone() -> None:
    """Nobody tells whose it was when somebody tears it off: it was held off for ever, and nobody looked."""
    engine, acts = Engine((fence.ROOM,)), []
    for kind in watched((fence.ROOM,)):
        engine.listing(kind, NOW)
    engine.seen(Seen(builders.HOST_AT, LEFT.uid, "1", LEFT), NOW)
    engine.unreadable(FENCE_AT, UID_OF_HOLD, "5", "garbled", NOW)
    for kind in watched((fence.ROOM,)):
        engine.listed(kind, NOW)
    engine.step(NOW, 7)
    engine.gone(Seen(FENCE_AT, UID_OF_HOLD, "6", None), later(30))
    for seconds in (30, 60, 61):
        now = later(seconds)
        for effect in engine.step(now, 7).effects:
            acts.append(type(effect.action))
            engine.ended(effect, Done(now.mono, gone=isinstance(effect.action, Confirm)), now)

    assert [Confirm, ReleaseHost] == acts[:2]
