"""Plans and drills with every device of the bench: what works with the device is a plan, and it tells who it is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_node
from tests.core.fencing.configuring import Bench, one_method
from tests.core.fencing.fences import an_agent
from tests.devices.device import PASSWORD, WRONG, Device
from tests.devices.ipmi import Bmc
from tests.devices.redfish import UUID, Redfish
from tests.devices.test_devices import DEVICES

from noderemedy.core.fencing import drills
from noderemedy.core.fencing.identities import is_same_machine
from noderemedy.drivers.fence.agents import folders
from noderemedy.drivers.fence.identity import identify
from noderemedy.drivers.fence.verify import Hand, carry_out
from noderemedy.manager.describing import describe
from noderemedy.model.fenceplan import AgentMethod, Scope, Step
from noderemedy.model.run import Run
from noderemedy.model.time import Mono

GUID = "a123456789abcdefa123456789abcdef"
OTHER = "11111111-2222-3333-4444-555555555555"
HIDDEN = ("access_key",)  # a plan refuses it as plain text; the bench hands it over as such


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Device]:
    """One device, switched on."""
    made = DEVICES[request.param](tmp_path)
    made.start()
    yield made
    made.stop()


def test_what_works_with_a_device_is_a_plan(device: Device) -> None:
    """The parameters of the bench, held against the metadata of the real agent."""
    found = asyncio.run(describe(device.agent, folders("", os.environ)))
    assert found is not None
    bench = Bench(agents={device.agent: found})
    shown = {key: value for key, value in device.parameters.items() if key not in HIDDEN}
    hidden = [device.secret, *(key for key in device.parameters if key in HIDDEN)]
    lines = [f"agent={device.agent}", *(f"{key}=secret:bmc/{key}" for key in hidden)]
    text = "\n".join([*lines, *(f"{key}={value}" for key, value in shown.items())])
    is_power = "brocade" not in device.agent
    words = "power_management=m" if is_power else "isolation=m\npower_management=host-power\nrecovery=m"
    bench.write("fence-config-n1", one_method(text, f"node_name=n1\n{words}"))

    plan = bench.plan()

    assert plan is not None
    assert () == plan.problems
    (method,) = plan.methods(Step.POWER_MANAGEMENT if is_power else Step.ISOLATION)
    assert isinstance(method, AgentMethod)
    assert (Scope.POWER if is_power else Scope.STORAGE) is method.scope
    newest = {one.name: value for key, value in shown.items() if (one := found.find(key))}
    assert newest == dict(method.parameters)


@pytest.mark.parametrize(("kind", "identity"), [(Bmc, GUID), (Redfish, UUID)])
def test_a_bmc_tells_which_machine_it_is(kind: type[Device], identity: str, tmp_path: Path) -> None:
    """By IPMI and by Redfish; to a wrong password it tells nothing, and away it does not keep anybody."""
    device = kind(tmp_path)
    device.start()
    try:
        told = asyncio.run(identify(device.agent, {**device.parameters, "password": PASSWORD}))
        refused = asyncio.run(identify(device.agent, {**device.parameters, "password": WRONG}))
    finally:
        device.stop()

    assert is_same_machine(identity, told), told
    assert "" == refused
    assert "" == asyncio.run(identify(device.agent, {**device.parameters, "password": PASSWORD}))


@pytest.mark.parametrize(("kind", "identity"), [(Bmc, GUID), (Redfish, UUID)])
def test_a_drill_finds_the_bmc_of_another_machine(kind: type[Device], identity: str, tmp_path: Path) -> None:
    """The whole way with the real agent: on, and answering, and still somebody else's; unless a person knows it."""
    device = kind(tmp_path)
    method = an_agent("bmc", agent=device.agent, parameters=tuple(sorted(device.parameters.items())))
    node = replace(a_node(), system_uuid=OTHER)
    order = drills.order_for(method, NODE_AT, node, NOW.wall, NOW.wall)
    device.start()
    try:
        told = asyncio.run(carry_out(order, {"password": PASSWORD}, Hand(folders("", os.environ), device.environ)))
    finally:
        device.stop()

    run = Run(order.id, told.state).ended(told, Mono(0))
    words = [drills.judge(one, NODE_AT, node, run).word for one in (method, replace(method, tells=identity))]
    assert ["WrongDevice", ""] == words, told
    assert "" == drills.judge(method, NODE_AT, replace(node, system_uuid=identity), run).word
