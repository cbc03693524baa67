"""What a drill concludes from an answer: a device that answers can still be the wrong one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_node
from tests.core.fencing.fences import a_plan, an_agent

from noderemedy.core.fencing.drills import judge, methods_of, order_for, unasked_of
from noderemedy.core.fencing.identities import is_same_machine
from noderemedy.model.fenceplan import AgentMethod, Scope
from noderemedy.model.node import Node
from noderemedy.model.run import Deed, Power, Run, RunState
from noderemedy.model.time import Span

UUID = "4c4c4544-0042-3510-8053-b4c04f4e3132"
SWAPPED = "44454c4c-4200-1035-8053-b4c04f4e3132"
OTHER = "11111111-2222-3333-4444-555555555555"
NIL, ONES = "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"
NODE = replace(a_node(provider_id="aws:///eu-west-1a/i-01"), system_uuid=UUID)
SICK = replace(a_node(ready="Unknown"), system_uuid=UUID)
SILENT = replace(NODE, system_uuid="")
THIRD = "22222222-2222-3333-4444-555555555555"
PORT = an_agent("fc", scope=Scope.STORAGE)
CLOUD = an_agent("aws", agent="fence_aws", parameters=(("plug", "i-01"),))
IN_GCE = a_node(provider_id="gce://prod/europe-west1-c/vm")
VM = an_agent("gce", agent="fence_gce", parameters=(("plug", "vm"), ("project", "prod"), ("zone", "europe-west1-c")))
STAGED = replace(VM, parameters=(("plug", "vm"), ("project", "staging"), ("zone", "europe-west1-b")))
ON_OPENSTACK, ON_VSPHERE = a_node(provider_id=f"openstack:///{UUID}"), a_node(provider_id=f"vsphere://{UUID}")
SERVER = an_agent("nova", agent="fence_openstack", parameters=(("plug", UUID),))
GUEST = an_agent("vc", agent="fence_vmware_soap", parameters=(("plug", UUID),))
ON = Run("drill-1", RunState.DONE, Power.ON)
FAILED = Run("drill-1", RunState.FAILED, said="no route to 192.0.2.7")

CASES: list[tuple[str, AgentMethod, Node, Run, str]] = [
    ("it answers", an_agent(), NODE, ON, ""),
    ("it tells who it is", an_agent(), NODE, replace(ON, identity=UUID.upper()), ""),
    ("in the other byte order", an_agent(), NODE, replace(ON, identity=SWAPPED), ""),
    ("the node does not tell", an_agent(), replace(NODE, system_uuid=""), replace(ON, identity=OTHER), ""),
    ("it is another machine", an_agent(), NODE, replace(ON, identity=OTHER), "WrongDevice"),
    ("a number that nobody has", an_agent(), NODE, replace(ON, identity=NIL), ""),
    ("a number that was never written", an_agent(), NODE, replace(ON, identity=ONES), ""),
    ("the node has no number", an_agent(), replace(NODE, system_uuid=NIL), replace(ON, identity=OTHER), ""),
    ("a person knows its number", an_agent(tells=OTHER), NODE, replace(ON, identity=OTHER.upper()), ""),
    ("a person knows another", an_agent(tells=OTHER), NODE, replace(ON, identity=THIRD), "WrongDevice"),
    ("a person knows the old one", an_agent(tells=OTHER), NODE, replace(ON, identity=SWAPPED), ""),
    ("known, and the node tells none", an_agent(tells=OTHER), SILENT, replace(ON, identity=THIRD), "WrongDevice"),
    ("known, and it does not tell", an_agent(tells=OTHER), NODE, replace(ON, identity=NIL), ""),
    ("it does not answer", an_agent(), NODE, FAILED, "DeviceFailed"),
    ("it does not know", an_agent(), NODE, replace(ON, power=Power.UNKNOWN), "DeviceFailed"),
    ("off, and the node is Ready", an_agent(), NODE, replace(ON, power=Power.OFF), "WrongDevice"),
    ("off, and so is the node", an_agent(), SICK, replace(ON, power=Power.OFF), ""),
    ("a closed port of a node that is Ready", PORT, NODE, replace(ON, power=Power.OFF), "StillIsolated"),
    ("the node's instance", CLOUD, NODE, ON, ""),
    ("another instance", replace(CLOUD, parameters=(("plug", "i-02"),)), NODE, ON, "WrongDevice"),
    ("another region", replace(CLOUD, parameters=(("plug", "i-01"), ("region", "us-1"))), NODE, ON, "WrongDevice"),
    ("the node's machine of GCE", VM, IN_GCE, ON, ""),
    ("another project's machine of its name", STAGED, IN_GCE, ON, "WrongDevice"),
    ("the node's server of OpenStack", SERVER, ON_OPENSTACK, ON, ""),
    ("another server", replace(SERVER, parameters=(("plug", OTHER),)), ON_OPENSTACK, ON, "WrongDevice"),
    (
        "another server beside it",
        replace(SERVER, parameters=(("plug", UUID), ("uuid", OTHER))),
        ON_OPENSTACK,
        ON,
        "WrongDevice",
    ),
    ("the node's machine of vSphere", GUEST, ON_VSPHERE, ON, ""),
    ("another machine", replace(GUEST, parameters=(("plug", OTHER),)), ON_VSPHERE, ON, "WrongDevice"),
]


@pytest.mark.parametrize(
    ("method", "node", "run", "word"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_an_answer_is_judged(method: AgentMethod, node: Node, run: Run, word: str) -> None:
    """By whether it came, by its power, by the identity it tells, and by the providerID."""
    found = judge(method, NODE_AT, node, run)

    assert word == found.word
    assert bool(word) == found.problem.startswith(f"node worker-0, method {method.name}: ")


def test_another_place_is_told_with_both_words() -> None:
    """Which parameter says so, what the providerID says, and what to correct."""
    told = judge(STAGED, NODE_AT, IN_GCE, ON).problem

    place = "its project is staging, and the node's providerID names prod; correct project="
    assert f"node worker-0, method gce: {place}" == told


def test_another_number_is_told_with_its_remedies() -> None:
    """Both numbers, where they stand, and the word for a BMC that really tells another one than its machine."""
    told = judge(an_agent("bmc"), NODE_AT, NODE, replace(ON, identity=OTHER)).problem
    known = judge(an_agent("bmc", tells=THIRD), NODE_AT, NODE, replace(ON, identity=OTHER)).problem

    expected = f"node worker-0, method bmc: the device is machine {OTHER}, and the node runs on {UUID}; "
    assert f"{expected}correct the mapping, or, if it is surely this node's, write identity={OTHER}" == told
    expected = f"node worker-0, method bmc: the device is machine {OTHER}, and identity= says {THIRD}; "
    assert f"{expected}correct the mapping, or, if it is surely this node's, write identity={OTHER}" == known


def test_a_number_counts_for_all_methods_of_a_device() -> None:
    """It is asked once, and whichever of them says it."""
    off, on = an_agent("off", Deed.OFF), an_agent("on", Deed.ON, tells=OTHER)

    assert (replace(off, tells=OTHER),) == methods_of(a_plan(power_management=(off, on)), NODE)


def test_each_device_is_asked_once() -> None:
    """Off and on of one plug are one device."""
    off, on = an_agent("off", Deed.OFF), an_agent("on", Deed.ON)

    assert (off,) == methods_of(a_plan(power_management=(off, on)), NODE)


@pytest.mark.parametrize(("node", "asked", "unasked"), [(NODE, 2, 0), (SICK, 1, 1)])
def test_what_runs_on_the_node_is_asked_while_it_reports(node: Node, asked: int, unasked: int) -> None:
    """A silent node begins nothing, and that says nothing about its disks."""
    disk, off = an_agent("disk", agent="fence_scsi", scope=Scope.STORAGE, on_target=True), an_agent("off")
    plan = a_plan(isolation=(disk,), power_management=(off,))

    assert (disk, off)[-asked:] == methods_of(plan, node)
    assert (disk,)[:unasked] == unasked_of(plan, node)


@pytest.mark.parametrize("on_target", [True, False])
def test_what_has_to_run_on_the_node_is_asked_there(on_target: bool) -> None:
    """Its keys are those of whoever runs it; everything else is asked from anywhere but there."""
    order = order_for(an_agent(on_target=on_target), NODE_AT, NODE, NOW.wall, NOW.wall)

    assert ("worker-0" if on_target else "") == order.bound_to


def test_a_drill_only_asks() -> None:
    """Its order belongs to no NodeFence, is for the status, and has a name of its own for every drill."""
    first = order_for(an_agent(), NODE_AT, NODE, NOW.wall, NOW.wall)
    second = order_for(an_agent(), NODE_AT, NODE, NOW.wall + Span(1), NOW.wall)

    assert (Deed.STATUS, NODE_AT, "drill-") == (first.deed, first.fence, first.id[:6])
    assert first.id != second.id
    assert first == order_for(an_agent(), NODE_AT, NODE, NOW.wall, NOW.wall)


@pytest.mark.parametrize(("timeout", "patience"), [(20, 20), (120, 60), (600, 300)])
def test_a_slow_device_gets_more_time(timeout: int, patience: int) -> None:
    """A method with a longer timeout has told that its device is slow: half of it must do for one question."""
    method = an_agent(patience=Span.seconds(timeout))

    assert Span.seconds(patience) == order_for(method, NODE_AT, NODE, NOW.wall, NOW.wall).patience


@settings(max_examples=100)
@given(st.uuids())
def test_a_uuid_is_the_same_however_it_is_written(value: object) -> None:
    """With or without dashes, in capitals, and not the same as another one."""
    text = str(value)

    assert is_same_machine(text, text.replace("-", "").upper())
    assert is_same_machine(text, f" {text}\n")
    assert is_same_machine("SN-0815", "sn-0815 ")
    assert not is_same_machine(text, "SN-0815")
