"""The seed's printed fence configuration, taken to its two devices by the real agents: a PDU and a fabric switch."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.core.fencing.configuring import Bench
from tests.devices.brocade import Brocade
from tests.devices.device import Device
from tests.devices.eaton import Eaton

from noderemedy.drivers.fence.agents import folders
from noderemedy.manager.describing import describe
from noderemedy.model.fenceplan import AgentMethod, FencePlan, Step
from noderemedy.model.run import Deed, Power, RunState

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fencing-eaton-brocade" / "fence-config.yaml"
TEMPLATES = {"fence-method-template-eaton-pdu": Eaton, "fence-method-template-fc-switch-brocade": Brocade}


@pytest.fixture
def devices(tmp_path: Path) -> Iterator[dict[str, Device]]:
    """By the name of the template that leads to them; worker-1 has port 2 and outlet 1, as printed."""
    made: dict[str, Device] = {}
    for name, kind in TEMPLATES.items():
        (tmp_path / name).mkdir()
        made[name] = kind(tmp_path / name)
        made[name].start()
    yield made
    for one in made.values():
        one.stop()


def planned(devices: dict[str, Device]) -> FencePlan:
    """Only the templates say where the devices of this bench are; plugs and actions are the printed ones."""
    described = {one.agent: asyncio.run(describe(one.agent, folders("", os.environ))) for one in devices.values()}
    bench = Bench(agents={name: found for name, found in described.items() if found is not None})
    bench.node("worker-1")
    for name, device in devices.items():
        there = {key: value for key, value in device.parameters.items() if key != "plug"}
        covers = ["covers=storageClass/san"] if isinstance(device, Brocade) else []
        lines = [f"agent={device.agent}", f"{device.secret}=secret:it/{device.secret}", *covers]
        bench.write(name, {"template.properties": "\n".join([*lines, *(f"{key}={one}" for key, one in there.items())])})
    (printed,) = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))["items"]
    bench.write(printed["metadata"]["name"], printed["data"])
    plan = bench.plan("worker-1")
    assert plan is not None
    assert () == plan.problems
    return plan


def test_the_printed_configuration_switches_its_devices(devices: dict[str, Device]) -> None:
    """The port is closed, the outlet goes off and on, the port is opened again: each is verified, and the truth."""
    plan, pdu, switch = planned(devices), *devices.values()
    seen = []
    for step in Step:
        for method in plan.methods(step):
            assert isinstance(method, AgentMethod)
            device = pdu if method.agent == pdu.agent else switch
            (deed,) = method.deeds if step is not Step.RECOVERY else (Deed.ON,)
            result = device.run(deed, plug=dict(method.parameters)["plug"])
            assert RunState.DONE is result.state, result.said
            seen.append((method.name, result.power, switch.is_on(), pdu.is_on()))

    assert [
        ("fc-off", Power.OFF, False, True),
        ("eaton-off", Power.OFF, False, False),
        ("eaton-on", Power.ON, False, True),
        ("fc-on", Power.ON, True, True),
    ] == seen
