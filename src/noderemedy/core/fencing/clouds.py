"""Clouds whose instances can be fenced without a configuration: what a node's providerID says is enough. Seed 002.

Called by `drafting.py` for the default plan and for `restart-instance` and `terminate`. Credentials, and whatever else
is the same for all instances, come from the template `fence-method-template-CLOUD` if there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from uuid import UUID

from msgspec import Struct, structs

from noderemedy.core.fencing.letters import OF_CLOUDS, stray
from noderemedy.model.fenceconfig import TEMPLATE_NAME

ZONE = re.compile(r"([a-z]{2}(?:-[a-z]+)+-[0-9]+)", re.ASCII)
VIRTUAL_MACHINE = re.compile(
    r"/subscriptions/([^/]+)/resourceGroups/([^/]+)/providers/Microsoft\.Compute/virtualMachines/([^/]+)", re.IGNORECASE
)
SOAP = "fence_vmware_soap"  # fence_vmware_rest knows names only
Pairs = tuple[tuple[str, str], ...]


class Instance(Struct, frozen=True):
    """How an instance is switched; with a `problem` it cannot be."""

    cloud: str
    agent: str
    parameters: Pairs = ()  # which one it is: all that its name tells
    manner: Pairs = ()  # how its agent is spoken to, where nobody says otherwise
    needs_template: bool = False  # its agent has no credentials of its own
    problem: str = ""

    @property
    def template(self) -> str:
        return f"{TEMPLATE_NAME}{self.cloud}"


def aws(path: str) -> Instance:
    """`aws:///eu-west-1a/i-0123`: the region is the zone without its letter."""
    zone, _, name = path.strip("/").rpartition("/")
    region = ZONE.match(zone)
    found = (("plug", name), *((("region", region[1]),) if region else ()))
    return Instance("aws", "fence_aws", found, problem="" if name.startswith("i-") else "it names no EC2 instance")


def gce(path: str) -> Instance:
    """`gce://project/zone/name`."""
    parts = path.strip("/").split("/")
    if len(parts) != 3 or not all(parts):
        return Instance("gce", "fence_gce", problem="it is not gce://PROJECT/ZONE/NAME")
    return Instance("gce", "fence_gce", (("plug", parts[2]), ("project", parts[0]), ("zone", parts[1])))


def openstack(path: str) -> Instance:
    """`openstack:///uuid`, or with a region before it."""
    name = path.rpartition("/")[2]
    wrong = "" if name else "it names no instance"
    return Instance("openstack", "fence_openstack", (("plug", name),), needs_template=True, problem=wrong)


def azure(path: str) -> Instance:
    """Virtual machines of their own; those of a scale set have no name that the agent understands."""
    found = VIRTUAL_MACHINE.fullmatch(path)
    if found is None:
        return Instance("azure", "fence_azure_arm", problem="it names no virtual machine outside a scale set")
    subscription, group, name = found.groups()
    mapping = (("plug", name), ("resourceGroup", group), ("subscriptionId", subscription))
    return Instance("azure", "fence_azure_arm", mapping, manner=(("msi", "1"),))


def vsphere(path: str) -> Instance:
    """By its UUID. Names are not unique in a vCenter, and an agent that is told one takes the first of that name."""
    try:
        plug = str(UUID(path))
    except ValueError:
        return Instance("vsphere", SOAP, problem="it names no virtual machine by its UUID")
    return Instance("vsphere", SOAP, (("plug", plug),), manner=(("ssl", "1"),), needs_template=True)


CLOUDS: dict[str, Callable[[str], Instance]] = {
    "aws": aws,
    "gce": gce,
    "openstack": openstack,
    "azure": azure,
    "vsphere": vsphere,
}
TEMPLATES = tuple(f"{TEMPLATE_NAME}{cloud}" for cloud in CLOUDS)


def instance_of(provider_id: str) -> Instance | None:
    """The instance that a node runs on; None: no cloud that we know."""
    cloud, sign, path = provider_id.partition("://")
    if not sign or cloud not in CLOUDS:
        return None
    found = CLOUDS[cloud](path)
    wrong = [why for _, value in found.parameters if (why := stray(value, OF_CLOUDS))]
    return structs.replace(found, problem=found.problem or f"it {wrong[0]}") if wrong else found
