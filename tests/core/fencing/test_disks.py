"""Shared disks: what is refused, who cuts whom off, and under which key. A wrong "off" here frees what still writes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NOW, a_node, ago
from tests.core.fencing.configuring import Bench
from tests.core.fencing.fences import CORDON, UNCORDON, a_fence, a_job, a_plan, an_agent
from tests.core.fencing.test_gates import a_view
from tests.wire.agents import AGENTS

from noderemedy.core.fencing.devices import identity
from noderemedy.core.fencing.disks import ALONE, Peer, at_odds, chosen, disks_of, peers_of, unsteady
from noderemedy.core.fencing.fence import decide
from noderemedy.core.fencing.plugs import is_same, plugs_from
from noderemedy.model.actions import PublishFenceStatus, StartRun
from noderemedy.model.fenceplan import AgentMethod, FencePlan, Scope, Step
from noderemedy.model.ids import NODE, NODE_FENCE, Ref, ref
from noderemedy.model.nodefence import FenceEvidence, FenceJob, FenceStatus, State
from noderemedy.model.reasons import DisksProveNothing
from noderemedy.model.run import Deed, Power, RunState

DISK = "/dev/disk/by-id/wwn-0x6001405aaaaaaaaa"
MAPPED = "/dev/mapper/3600508b400105df70000e00000ac0000"


@pytest.mark.parametrize(
    ("agent", "values", "wrong"),
    [
        ("fence_scsi", {"key": "a0001", "devices": DISK}, []),
        ("fence_scsi", {"key": "123456789abcdef0", "devices": f"{DISK},{MAPPED}"}, []),
        ("fence_scsi", {"key": "a1", "devices": f"{DISK}, {MAPPED}"}, ["devices"]),
        ("fence_mpath", {"plug": "a1", "devices": f"{DISK} {MAPPED}"}, ["devices"]),
        ("fence_mpath", {"plug": "a1", "devices": MAPPED, "store_path": "/x"}, ["store_path"]),
        ("fence_mpath", {"plug": "a1", "devices": MAPPED}, []),
        ("fence_ipmilan", {"plug": "0A", "devices": "/dev/sdb"}, []),
        ("fence_scsi", {"key": "A0001", "devices": DISK}, ["key"]),
        ("fence_scsi", {"key": "0a0001", "devices": DISK}, ["key"]),
        ("fence_scsi", {"key": "0xa0001", "devices": DISK}, ["key"]),
        ("fence_scsi", {"key": "0", "devices": DISK}, ["key"]),
        ("fence_scsi", {"key": "123456789abcdef01", "devices": DISK}, ["key"]),
        ("fence_scsi", {"key": "worker-1", "devices": DISK}, ["key"]),
        ("fence_scsi", {"plug": "worker-1", "devices": DISK}, ["key"]),
        ("fence_mpath", {"plug": "01", "devices": MAPPED}, ["plug"]),
        ("fence_mpath", {"key": "a1", "devices": MAPPED}, ["key", "plug"]),
        ("fence_scsi", {"key": "a1"}, ["devices"]),
        ("fence_scsi", {"key": "a1", "devices": "/dev/sdb"}, ["devices"]),
        ("fence_scsi", {"key": "a1", "devices": f"{DISK},/dev/dm-3"}, ["devices"]),
        ("fence_scsi", {"key": "a1", "devices": "/dev/disk/by-path/pci-0000:00:1f.2-ata-1"}, ["devices"]),
        ("fence_scsi", {"key": "a1", "devices": "/dev/disk/by-id/ata-QEMU_HARDDISK_QM00001"}, ["devices"]),
        ("fence_scsi", {"key": "a1", "devices": f"{DISK}-part1"}, ["devices"]),
        ("fence_scsi", {"key": "a1", "devices": "/dev/disk/by-id/scsi-36001405aaaaaaaaabbbbbbbbbbbbbbbb"}, []),
        ("fence_mpath", {"plug": "a1", "devices": "/dev/disk/by-id/dm-uuid-mpath-36001405aaaaaaaaa0"}, []),
        ("fence_mpath", {"plug": "a1", "devices": "/dev/mapper/mpatha"}, ["devices"]),
    ],
)
def test_names_and_keys_must_mean_the_same_everywhere(agent: str, values: dict[str, str], wrong: list[str]) -> None:
    """Agents compare the letters of keys, and a kernel's name of a disk is another disk's on the next node."""
    assert [f"parameter {name}: " for name in wrong] == [one[: one.index(": ") + 2] for one in unsteady(agent, values)]


def scsi(key: str = "a0001", name: str = "disk", devices: str = DISK, **more: Any) -> AgentMethod:
    parameters = (("devices", devices), ("key", key), ("plug", "worker"))
    return an_agent(name, agent="fence_scsi", scope=Scope.STORAGE, parameters=parameters, on_target=True, **more)


def written(key: str, on_key: str = "", devices: str = DISK) -> dict[str, str]:
    """A document whose node is cut off by a key, and let in by another if one is told."""
    disk = f"agent=fence_scsi\nplug={{node}}\ndevices={devices}\n"
    return {
        "config.properties": "isolation=disk-off\npower_management=m\nrecovery=disk-on\n",
        "fence-method-m": "template=fence-method-template-pdu\nplug={plug}",
        "fence-method-disk-off": f"{disk}key={key}\naction=off\ncovers=driver/san",
        "fence-method-disk-on": f"{disk}key={on_key or key}\naction=on",
    }


class Disks:
    """Nodes `n1`, … with a plug each and disks between them, planned from documents."""

    def __init__(self, *keys: str, devices: str = DISK) -> None:
        self.bench = Bench(len(keys), {**AGENTS, "fence_scsi": with_key()})
        for number, key in enumerate(keys, 1):
            self.write(number, key, devices=devices)

    def write(self, number: int, key: str, on_key: str = "", devices: str = DISK) -> None:
        text = {name: one.replace("{plug}", str(number)) for name, one in written(key, on_key, devices).items()}
        words = f"node_name=n{number}\n{text['config.properties']}"
        self.bench.write(f"fence-config-n{number}", {**text, "config.properties": words})

    def plan(self, number: int = 1) -> FencePlan:
        found = self.bench.plan(f"n{number}")
        assert found is not None
        return found

    def peers(self) -> list[tuple[str, str]]:
        found = peers_of(self.plan(), self.bench.engine.cache)
        return [(one.node, one.key) for one in found]

    def see(self, at: Ref, obj: Any) -> None:
        self.bench.see(at, obj)
        self.bench.look()


def with_key() -> Any:
    disk = AGENTS["fence_disk"]
    return replace(disk, name="fence_scsi", parameters=(*disk.parameters, replace(disk.parameters[-1], name="key")))


def test_two_nodes_have_two_keys() -> None:
    """The agent does not look at the name of a node beside its key: who fences one would fence both."""
    disks = Disks("a1", "a1")

    for number in (1, 2):
        (problem,) = disks.plan(number).problems
        assert "parameter key: disk key=a1 devices=6001405aaaaaaaaa is also the plug of node" in str(problem)
    assert () == Disks("a1", "a2").plan().problems


def test_a_node_has_one_key_at_a_disk() -> None:
    """Taking away a key under which nobody let it in takes nothing away."""
    disks = Disks("a1")
    disks.write(1, "a2", on_key="a1")

    (problem,) = disks.plan().problems
    assert "method disk-on: parameter key: another method has a2 at the same disk; write one key" in str(problem)


def test_who_shares_the_disks_can_cut_a_node_off() -> None:
    """Under its own key; not the node itself, nor one with other disks."""
    disks = Disks("a1", "a2", "a3")
    disks.write(3, "a3", devices=MAPPED)

    assert [("n2", "a2")] == disks.peers()


@pytest.mark.parametrize(
    ("kind", "obj", "found"),
    [
        (NODE, a_node("uid-2", provider_id="", ready="Unknown"), []),
        (NODE, a_node("uid-2", provider_id="", ready="False"), []),
        (NODE_FENCE, a_fence(State.RUNNING, node="n2"), []),
        (NODE_FENCE, a_fence(State.FINAL, node="n2"), ["n2"]),
    ],
)
def test_who_could_not_carry_it_out_is_not_asked(kind: Any, obj: Any, found: list[str]) -> None:
    """A node that is sick, or that is being fenced itself."""
    disks = Disks("a1", "a2")
    disks.see(ref(kind, "n2" if kind == NODE else "node-fence-n2"), obj)

    assert found == [name for name, _ in disks.peers()]


@pytest.mark.parametrize("is_new", [False, True])
def test_whose_fence_cannot_be_read_is_not_asked(is_new: bool) -> None:
    """Its fence was at work when it could be read last, or this manager has never read it."""
    disks = Disks("a1", "a2")
    if not is_new:
        disks.see(ref(NODE_FENCE, "node-fence-n2"), a_fence(State.RUNNING, node="n2"))
    disks.bench.garble("node-fence-n2", NODE_FENCE)

    assert [] == disks.peers()


def test_a_peer_whose_plan_is_broken_is_not_asked() -> None:
    """Nobody knows whether its key is its own."""
    disks = Disks("a1", "a2", "a2")

    assert [] == disks.peers()


def test_another_one_is_asked_at_every_attempt() -> None:
    """One that does not do it must not be in the way for ever; of those who share other disks none is asked."""
    method, at = scsi(), disks_of(scsi())
    peers = (Peer("n3", "a3", at), Peer("n2", "a2", at), Peer("n1", "a1", "other disks"))

    picked = [chosen(peers, method, attempt) for attempt in range(3)]
    assert ["n2", "n3", "n2"] == [one.node for one in picked if one]
    assert chosen(peers, scsi(devices=MAPPED), 0) is None


@pytest.mark.parametrize(
    ("deed", "step", "bound_to", "own_key"),
    [
        (Deed.OFF, Step.ISOLATION, "n2", "a2"),
        (Deed.STATUS, Step.ISOLATION, "n2", "a2"),
        (Deed.ON, Step.RECOVERY, "worker-0", ""),
        (Deed.STATUS, Step.RECOVERY, "worker-0", ""),
    ],
)
def test_a_node_is_cut_off_by_another_one_and_lets_itself_in(
    deed: Deed, step: Step, bound_to: str, own_key: str
) -> None:
    """The other one in the name of its own key; the node itself when it is back."""
    start = asked(deed, step, (Peer("n2", "a2", disks_of(scsi())),))

    assert isinstance(start, StartRun)
    assert (bound_to, own_key) == (start.order.bound_to, start.order.own_key)


@pytest.mark.parametrize("deed", [Deed.OFF, Deed.STATUS])
def test_without_another_node_nothing_is_begun(deed: Deed) -> None:
    """And the record says why: the flow goes on as after every failure, and nothing is freed."""
    write = asked(deed, Step.ISOLATION, ())

    assert isinstance(write, PublishFenceStatus)
    (job,) = write.status.jobs
    assert (RunState.FAILED, f"not begun: {ALONE}") == (job.state, job.said)


def asked(deed: Deed, step: Step, peers: tuple[Peer, ...]) -> Any:
    """What is done about an open run of the node's disk."""
    method = scsi()
    plan = a_plan(isolation=(CORDON, method), recovery=(method, UNCORDON))
    job = a_job("disk", deed, step=step, device=identity(method))
    state, boot = (State.DONE, "boot-2") if step is Step.RECOVERY else (State.NEW, "boot-1")
    fence, node = a_fence(state, jobs=(job,)), a_node(boot_id=boot)
    [action] = decide(a_view(fence=fence, plan=plan, node=node, peers=peers), NOW).actions
    return action


@pytest.mark.parametrize(
    ("peers", "state", "reasons"),
    [((), State.RUNNING, ["DisksProveNothing"]), ((Peer("n2", "a2", disks_of(scsi())),), State.NEW, [])],
)
def test_power_does_not_wait_for_disks_that_nobody_can_ask(
    peers: tuple[Peer, ...], state: State, reasons: list[str]
) -> None:
    """All nodes with these disks may be down: the flow goes on to their power, and says that nothing was cut off."""
    plan = a_plan(isolation=(CORDON, scsi(covers=("driver/san",))))
    view = a_view(fence=a_fence(State.NEW), plan=plan, node=a_node(unschedulable=True, ready="Unknown"), peers=peers)
    decision = decide(view, NOW)
    [write] = decision.actions

    assert isinstance(write, PublishFenceStatus)
    assert state is write.status.state
    assert reasons == [type(one).__name__ for one in decision.because if isinstance(one, DisksProveNothing)]
    assert (not peers) == (not write.status.jobs)


HERE = (Peer("n2", "a2", disks_of(scsi())),)
SAN = ("driver/san",)


def told(plan: FencePlan, *jobs: FenceJob, peers: tuple[Peer, ...] = HERE, **evidence: Any) -> FenceStatus:
    """What is written next about a node that is cut off by these runs."""
    fence = a_fence(State.NEW, jobs=jobs, evidence=FenceEvidence(**evidence), retries=1)
    node = a_node(unschedulable=True, ready="Unknown")
    [write] = decide(a_view(fence=fence, plan=plan, node=node, peers=peers), NOW).actions
    assert isinstance(write, PublishFenceStatus)
    return write.status


def taken(method: AgentMethod, **more: Any) -> FenceJob:
    """Its key was there, and is gone."""
    usual = {"state": RunState.DONE, "power": Power.OFF, "was_on": True, "device": identity(method)}
    return a_job(method.name, Deed.OFF, step=Step.ISOLATION, **{**usual, **more})


@pytest.mark.parametrize(
    ("was_on", "peers", "goes_on"),
    [([True], HERE, True), ([False], HERE, False), ([True], (), False), ([True, False], HERE, True)],
)
def test_a_key_must_have_been_there_to_be_taken_away(
    was_on: list[bool], peers: tuple[Peer, ...], goes_on: bool
) -> None:
    """The agent calls a key off that was never there, and the node may have another one; an earlier try of the flow
    may have seen it. Nor is anything believed while nobody can ask: the node's power is switched then.
    """
    method = scsi(covers=SAN)
    states = [RunState.FAILED] * (len(was_on) - 1) + [RunState.DONE]
    jobs = [
        taken(method, id=f"fence-{number}", attempt=number, was_on=one, state=state)
        for number, (one, state) in enumerate(zip(was_on, states, strict=True))
    ]
    status = told(a_plan(isolation=(CORDON, method)), *jobs, peers=peers)

    wanted = (State.NEW, Deed.STATUS) if goes_on else (State.RUNNING, Deed.OFF)
    assert wanted == (status.state, status.jobs[-1].deed)


def test_what_two_disks_hold_is_not_cut_off_by_one() -> None:
    """Nobody is at the other disk, and a class of volumes is on both."""
    other = scsi("b1", "other", MAPPED, covers=SAN)
    alone = scsi("b1", "other", MAPPED, covers=("driver/else",))
    method = scsi(covers=SAN)

    assert State.RUNNING is told(a_plan(isolation=(CORDON, method, other)), taken(method)).state
    assert State.NEW is told(a_plan(isolation=(CORDON, method, alone)), taken(method)).state


def test_freeing_that_can_go_on_no_more_leaves_nothing_behind() -> None:
    """Whoever could say that the node is cut off is sick: when its power is off, that has all its own time."""
    method, since = scsi(covers=SAN), ago(200)
    plan = a_plan(isolation=(CORDON, method))
    status = told(plan, taken(method), peers=(), storage_freed_at=since, freeing_since=since)

    assert (State.NEW, None, since) == (status.state, status.evidence.freeing_since, status.evidence.storage_freed_at)


@pytest.mark.parametrize(
    ("agent", "parameter", "devices"),
    [
        ("fence_scsi", "key", "/dev/disk/by-id/scsi-36001405aaaaaaaaa"),
        ("fence_mpath", "plug", "/dev/mapper/36001405aaaaaaaaa"),
    ],
)
def test_a_disk_is_the_same_under_each_of_its_names(agent: str, parameter: str, devices: str) -> None:
    """For the two keys of a node, and for the key of two nodes."""
    other = an_agent("other", agent=agent, parameters=(("devices", devices), (parameter, "a2")))

    assert ["other"] == [name for name, _ in at_odds((scsi("a1"), other))]
    (first,) = plugs_from("fence_scsi", {"key": "a2", "devices": DISK}, "")
    (second,) = plugs_from(agent, dict(other.parameters), "")
    assert is_same(first, second)


def test_a_flow_that_begins_anew_asks_others() -> None:
    """And those last of whose devices a drill found something wrong."""
    at = disks_of(scsi())
    peers = tuple(Peer(f"n{number}", f"a{number}", at, is_doubtful=number == 2) for number in range(2, 9))
    method = scsi()
    plan = a_plan(isolation=(CORDON, method))
    found = []
    for restart in (0, 1):
        for attempt in range(3):
            job = a_job("disk", step=Step.ISOLATION, device=identity(method), restart=restart, attempt=attempt)
            fence = a_fence(State.NEW, jobs=(job,), restarts=restart)
            [start] = decide(a_view(fence=fence, plan=plan, peers=peers, node=a_node(unschedulable=True)), NOW).actions
            assert isinstance(start, StartRun)
            found.append(start.order.bound_to)

    assert ["n3", "n4", "n5", "n6", "n7", "n8"] == found
