"""The checkers of fencing have been seen red: somebody does by hand what no manager may do, or a rule is broken."""

from __future__ import annotations

from typing import Any

import pytest

from noderemedy.core import leftalone
from noderemedy.core.fencing import automaton, erring, plan, recovery, redaction, results, runs, storage
from noderemedy.core.fencing import gates as fencing_gates
from noderemedy.core.fencing.disks import Peer
from noderemedy.core.remedy import gates as remedy_gates
from noderemedy.model.ids import HOST, JOB, MACHINE, NODE_FENCE
from noderemedy.model.run import Deed, Power
from noderemedy.model.time import Span
from noderemedy.sim.apiserver import WatchEvent
from noderemedy.sim.budgeting import our_holds
from noderemedy.sim.cluster import host_of, machine_of
from noderemedy.sim.fencecrash import FencedCheckers, stage
from noderemedy.sim.fenced import PASSWORD
from noderemedy.sim.fencetroubles import node_fence
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.outlets import Fault, Sent
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.weather import Fate
from noderemedy.wire import names
from noderemedy.wire.http import Request


class Ward:
    """Five nodes, one of each sort, fenced for one reason only; `worker-3` is behind a switch, or on shared disks."""

    def __init__(self, disks: int | None = None, trigger: str = "person") -> None:
        self.cluster, checkers, self.process = stage(trigger, 1, 5, disks=disks, is_by_jobs=disks is not None)
        assert isinstance(checkers, FencedCheckers)
        self.checkers = checkers

    def fence(self, node: str, **spec: Any) -> None:
        self.cluster.api.create(node_fence(node, **{"powerManagementDelay": "0s", "ttlAfterFinal": "60s", **spec}))

    def hang(self, node: str) -> None:
        """Until everybody has noticed."""
        self.cluster.servers[node].hang()
        self.wait(2)

    def wait(self, minutes: int) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + minutes * MINUTE_MS)

    def fault(self, node: str, *faults: Fault) -> None:
        for outlet in self.cluster.outlets.by_node[node]:
            outlet.faults.update(faults)

    def tell(self, **status: Any) -> None:
        """Write a status by hand."""
        body = {"status": status}
        self.cluster.api.patch(NODE_FENCE, "node-fence-worker-1", "", body, "merge", subresource="status")

    @property
    def broken(self) -> set[str]:
        return {line.split(": ")[1] for line in self.checkers.violations}

    def told_of(self, words: str) -> list[str]:
        """What the checkers complained about in these words, each once."""
        told = [line.partition(": ")[2] for line in self.checkers.violations]
        return list(dict.fromkeys(line for line in told if words in line))


def test_nothing_is_wrong_where_all_is_well() -> None:
    """A node that hangs is fenced, and no checker complains."""
    ward = Ward()
    ward.hang("worker-3")
    ward.fence("worker-3")
    ward.wait(20)
    ward.checkers.at_rest(None)

    assert set() == ward.broken
    assert ward.cluster.servers["worker-3"].boots == 2


@pytest.mark.parametrize("is_left_alone", [True, False])
def test_switching_off_what_cluster_api_has_paused_is_seen(
    is_left_alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manager that does not care for the pause marks the Node, tells its device, and writes to its fence: S8."""
    if not is_left_alone:
        monkeypatch.setattr(leftalone, "pause_of", lambda *about: None)
    ward = Ward()
    body = {"metadata": {"annotations": {names.CLUSTER_PAUSED: "true"}}}
    ward.cluster.api.patch(MACHINE, machine_of("worker-2"), NAMESPACE, body, "merge")
    ward.wait(5)
    ward.hang("worker-2")
    ward.fence("worker-2")
    ward.wait(20)

    assert (set() if is_left_alone else {"S8"}) == ward.broken
    assert (1 if is_left_alone else 2) == ward.cluster.servers["worker-2"].boots
    if not is_left_alone:
        assert ward.told_of("PATCH /api/v1/nodes/worker-2")
        assert ward.told_of("PATCH /apis/ha.k8s.io/v1/nodefences/node-fence-worker-2")
        assert ward.told_of("worker-2 is switched off")


@pytest.mark.parametrize("fault", [Fault.LYING, Fault.ELSEWHERE])
def test_a_node_that_reports_while_its_device_says_off_is_not_freed(fault: Fault) -> None:
    """Faults 50 and 55: a person is called, and nothing is freed."""
    ward = Ward()
    ward.fault("worker-1", fault)
    ward.fence("worker-1", evenIfReady=True)
    ward.wait(20)

    assert "PlugContradicted" in {type(notice.reason).__name__ for notice in ward.process.notices}
    assert {} == dict(ward.process.freed_by)
    assert set() == ward.broken


def test_an_instance_whose_node_was_deleted_is_switched_on() -> None:
    """How to switch it on is remembered with the fence, not with the Node that was deleted to free it."""
    ward = Ward()
    ward.hang("worker-4")
    ward.fence("worker-4", freeBy="node")
    ward.wait(15)
    copies = [copy.identity for server in ward.cluster.servers.values() for copy in server.running.values()]

    assert ward.cluster.servers["worker-4"].boots == 2
    assert sorted(copies) == [f"default/database-{number}" for number in range(5)]
    assert "DeleteNode on FencedOff" in ward.process.freed_by
    assert set() == ward.broken


def _on_disks() -> Ward:
    """A node with shared disks hangs: they hold all of one of its pods, and half of the other."""
    ward = Ward(disks=0)
    for name in ("worker-2", "worker-4"):
        ward.cluster.cordon(name)
    ward.cluster.move("database-1")
    ward.wait(2)
    running = ward.cluster.servers["worker-3"].running.values()
    assert {"default/database-1", "default/database-2"} == {copy.identity for copy in running}
    ward.hang("worker-3")
    return ward


def test_behind_shared_disks_only_what_they_hold_is_freed() -> None:
    """Its plugs are out of reach: the pod that writes elsewhere, too, stays where it is."""
    ward = _on_disks()
    for outlet in ward.cluster.outlets.by_node["worker-3"][:2]:
        outlet.faults.add(Fault.UNREACHABLE)
    ward.fence("worker-3", maxRestarts=0)
    ward.wait(10)

    assert {"DeletePod on StorageFenced": 1, "DetachVolume on StorageFenced": 2} == dict(ward.process.freed_by)
    assert set() == ward.broken


def test_a_node_is_let_in_to_its_disks_by_itself() -> None:
    """Cut off from elsewhere, freed as far as the disks reach, off, on, and registered where it runs."""
    ward = _on_disks()
    ward.fence("worker-3")
    ward.wait(20)
    ward.checkers.at_rest(None)

    assert set() == ward.broken
    assert {"disks: off": 1, "disks: on": 1} == {
        what: times for what, times in ward.checkers.of_fences.passed.items() if what.startswith("disks")
    }


def test_freeing_on_a_misread_answer_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S1: somebody takes the exit code of "on" for that of "off"."""
    monkeypatch.setitem(results.STATUS_SAYS, 0, Power.OFF)
    ward = Ward()
    ward.hang("worker-1")
    ward.fault("worker-1", Fault.IDLE_OFF)
    ward.fence("worker-1")
    ward.wait(10)

    assert "S1" in ward.broken


def test_freeing_what_disks_do_not_hold_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S1: somebody thinks that one volume behind the fence is enough."""
    monkeypatch.setattr(storage, "is_covered", lambda at, pod, found, covers: bool(pod.claims))
    ward = _on_disks()
    ward.fence("worker-3")
    ward.wait(5)

    assert "S1" in ward.broken


def test_registering_another_machine_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S7, and S13: the Job that lets the node in runs wherever there is room."""
    carrier = runs.carrier
    monkeypatch.setattr(runs, "carrier", lambda view, job, *_: None if job.deed is Deed.ON else carrier(view, job, *_))
    monkeypatch.setattr(runs, "disks_of", lambda method: "")
    ward = _on_disks()
    ward.fence("worker-3")
    ward.wait(20)
    ward.checkers.at_rest(None)

    assert {"S7", "S13"} <= ward.broken


def test_a_node_that_cuts_itself_off_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S7: somebody has the node do it that is to be cut off."""
    monkeypatch.setattr(runs, "carrier", lambda view, job, method: Peer("worker-3", "a3", ""))
    ward = Ward(disks=0)
    ward.cluster.servers["worker-3"].ail(True)
    ward.wait(2)
    ward.fence("worker-3")
    ward.wait(5)

    assert "S7" in ward.broken


def test_a_plug_that_stays_off_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S6: a fence is released while its node is off, and nobody switches it on."""
    monkeypatch.setattr(erring, "power_comes_back", lambda view, now: None)
    monkeypatch.setattr(erring, "dark", lambda view, is_over=False: ())
    ward = Ward()
    ward.hang("worker-1")
    ward.fence("worker-1")
    ward.cluster.outlets.on_done.append(lambda sent: _delete(ward, sent))
    ward.wait(3)

    assert "S6" in ward.broken


def _left_out(node: str) -> Ward:
    """The document of a node forgets what switches on or lets in, and the node is to be fenced."""
    ward = Ward()
    ward.checkers.of_fences.fenced.leave_out(node)
    ward.hang(node)
    ward.fence(node)
    ward.wait(10)
    return ward


@pytest.mark.parametrize("node", ["worker-2", "worker-3"])
def test_a_document_that_leaves_something_off_switches_nothing(node: str) -> None:
    """Until somebody mends it; then the node is fenced, and all is on."""
    ward = _left_out(node)
    assert not any(one.was_sent for one in ward.cluster.outlets.by_node[node])
    ward.checkers.of_fences.fenced.write_config(node)
    ward.wait(40)

    assert set() == ward.broken
    assert (2, True) == (
        ward.cluster.servers[node].boots,
        all(one.is_on for one in ward.cluster.outlets.by_node[node]),
    )


def test_an_outlet_that_a_document_never_switches_on_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S6: such a document is taken for whole, and nobody is told what stays off."""
    monkeypatch.setattr(plan, "unpaired", lambda found: ())
    monkeypatch.setattr(erring, "dark", lambda view, is_over=False: ())

    assert "S6" in _left_out("worker-2").broken


def test_what_stays_off_all_the_same_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where such a document is taken for whole, a person is called for the outlet and the port."""
    monkeypatch.setattr(plan, "unpaired", lambda found: ())
    ward = _left_out("worker-3")

    assert set() == ward.broken
    told = {type(notice.reason).__name__ for notice in ward.process.notices}
    assert {"PowerLeftOff", "LeftCutOff"} <= told


def _delete(ward: Ward, sent: Sent) -> None:
    if sent.deed is Deed.OFF and ward.cluster.api.find(NODE_FENCE, "node-fence-worker-1") is not None:
        ward.cluster.api.delete(NODE_FENCE, "node-fence-worker-1")


def _moved() -> Ward:
    """A node is plugged in elsewhere, by its document, too, while a fence keeps its old outlets off."""
    ward = Ward()
    fenced = ward.checkers.of_fences.fenced
    old = list(fenced.outlets("worker-2"))

    def move(sent: Sent) -> None:
        if not sent.outlet.server.has_power and fenced.outlets("worker-2") == old:
            fenced.move("worker-2")

    ward.cluster.outlets.on_done.append(move)
    ward.hang("worker-2")
    ward.fence("worker-2")
    ward.wait(20)
    assert [False, False] == [outlet.is_on for outlet in old]
    return ward


def test_outlets_that_a_document_forgot_call_a_person() -> None:
    """The node is back by its new outlets; nobody can light the old ones, and nobody calls that a success."""
    ward = _moved()

    assert set() == ward.broken
    assert "DeviceAstray" in {type(notice.reason).__name__ for notice in ward.process.notices}
    assert ["done"] == [tree["status"]["state"] for tree in ward.cluster.api.list(NODE_FENCE)]


def test_outlets_that_are_forgotten_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S6: the document names other outlets, and nobody is told of the old ones."""
    monkeypatch.setattr(erring, "strayed", lambda view: ())

    assert "S6" in _moved().broken


def test_the_device_of_another_node_is_seen() -> None:
    """S7: an outlet is told for a node that does not hang on it."""
    ward = Ward()
    outlet = ward.cluster.outlets.by_node["worker-1"][0]
    outlet.server = ward.cluster.servers["worker-2"]
    ward.hang("worker-1")
    ward.fence("worker-1")
    ward.wait(3)

    assert "S7" in ward.broken


def _shared_outlets() -> Ward:
    """By its document a node hangs on the outlets of another one. Both are to be fenced."""
    ward = Ward()
    fenced = ward.checkers.of_fences.fenced
    fenced.write_config("worker-2", fenced.numbers["worker-3"])
    ward.hang("worker-3")
    for node in ("worker-3", "worker-2"):
        ward.fence(node, evenIfReady=True)
    ward.wait(5)
    return ward


def test_outlets_that_two_documents_name_switch_nobody() -> None:
    """Neither node is fenced."""
    ward = _shared_outlets()

    assert (set(), {}) == (ward.broken, dict(ward.process.freed_by))


def test_a_device_that_switches_for_two_nodes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S2: nobody notices that two documents name one outlet, and it is told off for both nodes."""
    monkeypatch.setattr(plan, "shared_by", lambda *_: ())
    ward = _shared_outlets()

    assert ward.told_of("S2: pdu-a.example 3 is told off for worker-3, and the fence of worker-2 has it")


def _fenced_beside_its_chain() -> Ward:
    """A node hangs, and in the moment in which its chain has it reset a person has it fenced, too."""
    ward = Ward(trigger="chain")

    def fence(event: WatchEvent) -> None:
        if event.type == "ADDED" and not ward.cluster.api.list(NODE_FENCE):
            ward.cluster.agenda.after(0, lambda: ward.fence("worker-1"))

    ward.cluster.api.subscribe(JOB, fence)
    ward.hang("worker-1")
    ward.wait(5)
    return ward


def test_a_fence_waits_for_the_remedy_that_runs() -> None:
    """Whoever came first holds the claim."""
    ward = _fenced_beside_its_chain()

    assert set() == ward.broken
    assert ward.checkers.ran["S2 one repair per node"] >= 2


def test_a_fence_beside_a_remedy_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S2: fences begin without asking whether somebody else repairs the node."""
    monkeypatch.setattr(fencing_gates, "claimed", lambda claim, now: None)
    ward = _fenced_beside_its_chain()

    assert ward.told_of("a fence begins on worker-1 beside")


def test_a_remedy_beside_a_fence_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S2: a chain orders its Job while a person's fence has the node in hand."""
    monkeypatch.setattr(remedy_gates, "claimed", lambda claim, now: None)
    ward = Ward(trigger="chain")
    ward.fault("worker-1", Fault.UNREACHABLE)
    ward.cluster.servers["worker-1"].hang()
    ward.fence("worker-1", evenIfReady=True)
    ward.wait(5)

    assert ward.told_of("a chain of remedies begins on worker-1 beside a fence")
    assert ward.told_of("a reset begins on worker-1 beside a fence")


def _held() -> Ward:
    """A fence holds the host of its node."""
    ward = Ward()
    ward.hang("worker-5")
    ward.fence("worker-5")
    while not our_holds(ward.cluster.api.get(HOST, host_of("worker-5"), NAMESPACE)):
        ward.cluster.agenda.run_until(ward.cluster.agenda.now_ms + 100)
    return ward


def test_a_second_hold_of_a_host_is_seen() -> None:
    """S2: a power cycle holds a host that a fence holds."""
    ward = _held()
    body = {"metadata": {"annotations": {f"{names.REBOOT_FOR}x": "{}"}}}
    ward.cluster.api.patch(HOST, host_of("worker-5"), NAMESPACE, body, "merge")

    assert {"S2"} == ward.broken


def test_a_machine_that_is_deleted_under_a_fence_is_seen() -> None:
    """S2: a manager deletes the Machine of a node that is being fenced; for a person that is no repair."""
    ward = _held()
    machine = ward.cluster.api.get(MACHINE, machine_of("worker-5"), NAMESPACE)["metadata"]
    path = f"/apis/cluster.x-k8s.io/v1beta1/namespaces/{NAMESPACE}/machines/{machine['name']}"
    ward.process.apply(Request("DELETE", path), Fate.FINE, ward.cluster.api)

    assert ["S2: a deletion begins on worker-5 beside a fence and a hold"] == ward.told_of("a deletion")


def _deleted_to_free_it() -> Ward:
    """A node is freed by the deletion of its Node, which carried labels of people; it boots, and the fence goes."""
    ward = Ward()
    ward.hang("worker-1")
    ward.fence("worker-1", freeBy="node")
    ward.wait(20)
    assert "DeleteNode on FencedOff" in ward.process.freed_by
    assert [] == ward.cluster.api.list(NODE_FENCE)
    return ward


def test_what_a_node_carried_is_given_back() -> None:
    """Before the fence goes."""
    ward = _deleted_to_free_it()

    assert (set(), 1) == (ward.broken, ward.checkers.ran["S13 what a Node carried"])


def test_what_a_node_carried_and_lost_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S13: nobody gives it back, and the fence goes with it."""
    monkeypatch.setattr(recovery, "is_back", lambda view: False)
    ward = _deleted_to_free_it()

    assert ["S13: the fence of worker-1 went with all that its Node carried"] == ward.told_of("all that its Node")


def test_storage_that_is_given_back_too_early_is_seen() -> None:
    """S13: pods were freed behind a storage fence, and it is lifted while they can still write."""
    ward = Ward()
    ward.hang("worker-3")
    for outlet in ward.cluster.outlets.by_node["worker-3"][:2]:
        outlet.faults.add(Fault.UNREACHABLE)
    ward.fence("worker-3")
    ward.wait(2)
    fabric = ward.cluster.outlets.by_node["worker-3"][2]
    assert fabric.server.is_cut_off
    assert fabric.server.running
    ward.cluster.outlets.switch(fabric, is_on=True)
    ward.checkers.of_fences.unfenced(fabric)

    assert {"S13"} == ward.broken


@pytest.mark.parametrize(
    "status",
    [
        {"state": "final"},  # the table has no way from new to final
        {"state": "new", "retries": 9},
        {"state": "new", "restarts": 9},
    ],
)
def test_a_status_beside_the_table_is_seen(status: dict[str, Any]) -> None:
    """S14: states follow the table, and tries are counted."""
    ward = Ward()
    ward.fence("worker-1", newDelay="1h")
    ward.tell(state="new")
    ward.tell(**status)

    assert {"S14"} == ward.broken


def test_a_secret_that_is_told_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S16: an agent prints its password, and nobody takes it out."""
    monkeypatch.setattr(results, "redact", lambda text, secrets: text)
    ward = Ward()
    ward.hang("worker-1")
    ward.fault("worker-1", Fault.LOCKED)
    ward.fence("worker-1")
    ward.wait(3)

    assert "S16" in ward.broken
    assert PASSWORD not in redaction.redact(f"login {PASSWORD}", (PASSWORD,))


def test_a_fence_that_never_ends_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """L2 and L3: the flow waits for ever, and its node stays away."""
    monkeypatch.setattr(automaton, "RETRY_PAUSE", Span(10**9))
    monkeypatch.setattr(automaton, "PAUSE_MAX", Span(10**9))
    ward = Ward()
    ward.hang("worker-1")
    ward.fault("worker-1", Fault.UNREACHABLE)
    ward.fence("worker-1")
    ward.wait(10)
    ward.checkers.at_rest(None)

    assert {"L2", "L3"} <= ward.broken
