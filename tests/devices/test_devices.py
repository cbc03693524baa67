"""The same stories with every device: real agents, real protocols, on loopback.

Off is verified by the device and is the truth; whatever goes wrong is a failure whose message names node, method and
parameters, and never the secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.devices.apc import Apc
from tests.devices.aws import Ec2
from tests.devices.brocade import Brocade
from tests.devices.device import PASSWORD, WRONG, Device
from tests.devices.eaton import Eaton
from tests.devices.ipmi import Bmc
from tests.devices.openstack import Nova
from tests.devices.redfish import Redfish
from tests.devices.vsphere import Vcenter

from noderemedy.model.run import Deed, Power, RunState
from noderemedy.model.time import Span

DEVICES: dict[str, type[Device]] = {
    "ipmi": Bmc,
    "redfish": Redfish,
    "aws": Ec2,
    "openstack": Nova,
    "vsphere": Vcenter,
    "eaton": Eaton,
    "apc": Apc,
    "brocade": Brocade,
}


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Device]:
    """One device, switched on."""
    made = DEVICES[request.param](tmp_path)
    made.start()
    yield made
    made.stop()


def test_off_and_on_are_verified(device: Device) -> None:
    """Off, status, on: what the run says is what the device says, and the truth."""
    off = device.run(Deed.OFF)
    assert (RunState.DONE, Power.OFF, False) == (off.state, off.power, device.is_on()), off.said
    status = device.run(Deed.STATUS)
    assert (RunState.DONE, Power.OFF) == (status.state, status.power), status.said
    on = device.run(Deed.ON)
    assert (RunState.DONE, Power.ON, True) == (on.state, on.power, device.is_on()), on.said


def test_off_of_what_is_off(device: Device) -> None:
    """Already off is a success."""
    device.switch(False)

    off = device.run(Deed.OFF)

    assert (RunState.DONE, Power.OFF) == (off.state, off.power), off.said


@pytest.mark.parametrize("device", [name for name in DEVICES if name != "aws"], indirect=True)
def test_wrong_credentials(device: Device) -> None:
    """Refused, nothing switched; the message leads to the parameter and its Secret, and tells no value."""
    # Not of EC2: its stand-in accepts all credentials.
    result = device.run(Deed.OFF, secret=WRONG, patience_s=40)

    assert (RunState.FAILED, True) == (result.state, device.is_on())
    assert result.said.startswith(f"node worker-0, method power ({device.agent}): ")
    assert f"{device.secret} (secret bmc-worker-0, key {device.secret})" in result.said
    assert not [word for word in (WRONG, PASSWORD) if word in result.said]


def test_a_device_that_is_away(device: Device) -> None:
    """No answer is a failure, and nobody knows how the plug stands."""
    device.stop()

    result = device.run(Deed.STATUS, patience_s=40)

    assert (RunState.FAILED, Power.UNKNOWN) == (result.state, result.power)
    assert "; look at parameter" in result.said
    assert PASSWORD not in result.said


def test_a_plug_that_comes_back_by_itself(device: Device) -> None:
    """Off for a moment is not off: somebody switched it on again, and the run never says that it is off."""
    device.between_looks = Span.seconds(2 + int(device.returns_after_s) + device.takes_to_come_on_s)
    presses = device.turns_on_by_itself()

    result = device.run(Deed.OFF)

    presses.join()
    assert (RunState.FAILED, True) == (result.state, result.power is not Power.OFF), result.said
