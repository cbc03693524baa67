"""What a providerID tells of an instance is what its methods say: another project has a machine of that name, too."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import a_node
from tests.core.fencing.configuring import Bench, one_method
from tests.wire.agents import AGENTS

from noderemedy.model.agent import Parameter

OWN = "4230a0f1-0000-4000-8000-00000000000a"
SWAPPED = "f1a03042-0000-0040-8000-00000000000a"
OTHER = "4230a0f1-0000-4000-8000-00000000000b"
ZONES = "gce://prod/europe-west1-c/worker-1"
AZURE = "azure:///subscriptions/s1/resourceGroups/g1/providers/Microsoft.Compute/virtualMachines/vm1"
WORDS = ("project", "zone", "resourceGroup", "subscriptionId", "uuid", "auth_url", "ip", "username")
NAMES = ("fence_aws", "fence_gce", "fence_azure_arm", "fence_openstack", "fence_vmware_soap", "fence_vmware_rest")
CLOUD = replace(AGENTS["fence_aws"], parameters=(*AGENTS["fence_aws"].parameters, *map(Parameter, WORDS)))
SOAP = replace(CLOUD, parameters=(*CLOUD.parameters, Parameter("ssl")))
CLOUDS = {name: replace(SOAP if "vmware" in name else CLOUD, name=name) for name in NAMES}
AGENT = {"gce": "fence_gce", "azure": "fence_azure_arm", "aws": "fence_aws", "openstack": "fence_openstack"}

TEMPLATES: list[tuple[str, str, str, str]] = [  # providerID, a line of its cloud's template, what it says, the own word
    (ZONES, "project=staging", "project", "staging, prod"),
    (ZONES, "zone=europe-west1-b", "zone", "europe-west1-b, europe-west1-c"),
    (ZONES, "zone=europe-west1-c,europe-west1-b", "zone", "europe-west1-c,europe-west1-b, europe-west1-c"),
    (ZONES, "project=secret:gce/project", "project", "a Secret, prod"),
    (ZONES, "plug={node}", "plug", "n1, worker-1"),
    (AZURE, "resourceGroup=g2", "resourceGroup", "g2, g1"),
    (AZURE, "subscriptionId=s2", "subscriptionId", "s2, s1"),
    (AZURE, "subscriptionId=secret:azure/subscription", "subscriptionId", "a Secret, s1"),
    ("aws:///eu-west-1a/i-01", "region=eu-west-2", "region", "eu-west-2, eu-west-1"),
    ("aws:///eu-west-1a/i-01", "region=secret:aws/region", "region", "a Secret, eu-west-1"),
    (f"openstack:///{OWN}", "uuid={label:other}", "uuid", f"{OTHER}, {OWN}"),
    (f"vsphere://{OWN}", "ip=vc\nplug={label:other}", "plug", f"{OTHER}, {OWN}"),
]
LONG = "deadbeef" * 4  # as many letters and digits as a UUID has
METHODS: list[tuple[str, str, str, str]] = [  # providerID, a method of the node's own document
    (ZONES, "agent=fence_gce\nplug=worker-1\nproject=staging\nzone=europe-west1-c", "project", "staging, prod"),
    (ZONES, "agent=fence_gce\nport=worker-2\nproject=prod\nzone=europe-west1-c", "plug", "worker-2, worker-1"),
    (ZONES, "agent=fence_gce\nplug=worker-1\nproject=prod", "zone", "nothing, europe-west1-c"),
    (AZURE, "agent=fence_azure_arm\nplug=vm1\nresourceGroup=g1\nsecret=azure", "subscriptionId", "a Secret, s1"),
    ("aws:///eu-west-1a/i-01", "agent=fence_aws\nplug=i-02", "plug", "i-02, i-01"),
    (f"gce://p-{LONG}/z/w", f"agent=fence_gce\nplug=w\nproject=x-{LONG}\nzone=z", "project", f"x-{LONG}, p-{LONG}"),
    (f"openstack:///{OWN}", f"agent=fence_openstack\nplug={OWN}\nuuid={OTHER}", "uuid", f"{OTHER}, {OWN}"),
    (f"vsphere://{OWN}", f"agent=fence_vmware_soap\nip=vc\nplug={OTHER}", "plug", f"{OTHER}, {OWN}"),
    (f"vsphere://{OWN}", "agent=fence_vmware_soap\nip=vc\nplug=/dc/vm/n1", "plug", f"/dc/vm/n1, {OWN}"),
]
FITTING: list[tuple[str, str]] = [
    (ZONES, "agent=fence_gce\nplug={instance}\nproject=prod\nzone=europe-west1-c"),
    (AZURE, "agent=fence_azure_arm\nplug=VM1\nresourceGroup=G1\nsubscriptionId=S1"),
    ("aws:///eu-west-1a/i-01", "agent=fence_aws\nplug=i-01\nsecret=aws"),  # no two instances have one number
    ("aws:///i-01", "agent=fence_aws\nplug=i-01\nregion=eu-west-2"),  # the providerID names none
    (f"openstack:///{OWN}", f"agent=fence_openstack\nuuid={OWN.upper()}\nplug={OWN}"),
    (f"vsphere://{OWN}", f"agent=fence_vmware_soap\nip=vc\nplug={SWAPPED}"),  # in the other byte order
    (f"vsphere://{OWN}", "agent=fence_vmware_rest\nip=vc\nplug=n1"),  # which knows names only
    ("vsphere://0123", f"agent=fence_vmware_soap\nip=vc\nplug={OTHER}"),
    ("metal3://a/b/c", "agent=fence_gce\nplug=worker-1\nproject=any\nzone=any"),
]


def an_instance(provider_id: str) -> Bench:
    bench = Bench(agents=CLOUDS)
    bench.node("n1", a_node("uid-n1", provider_id=provider_id, labels={"other": OTHER}))
    return bench


def words(parameter: str, both: str, remedy: str) -> str:
    says, own = both.split(", ")
    return f"parameter {parameter}: it says {says}, and the node's providerID {own}; {remedy}"


@pytest.mark.parametrize(("provider_id", "line", "parameter", "both"), TEMPLATES)
def test_a_clouds_template_names_no_other_place(provider_id: str, line: str, parameter: str, both: str) -> None:
    """All nodes of the cloud would be looked for there, and a machine of that name that is found is another one."""
    bench = an_instance(provider_id)
    cloud = provider_id.partition(":")[0]
    text = f"agent={AGENT.get(cloud, 'fence_vmware_soap')}\nsecret={cloud}\n{line}"
    bench.write(f"fence-method-template-{cloud}", {"template.properties": text})
    bench.write("fence-config-n1", {"config.properties": "power_management=restart-instance"})

    (problem,) = bench.problems()
    assert problem.startswith("ConfigMap fence-config-n1, node n1, method restart-instance: ")
    assert words(parameter, both, f"leave it out of fence-method-template-{cloud}") in problem


@pytest.mark.parametrize(("provider_id", "method", "parameter", "both"), METHODS)
def test_a_method_of_a_node_means_its_own_instance(provider_id: str, method: str, parameter: str, both: str) -> None:
    """Also where it is written for one node: what it says, and what it leaves to chance."""
    bench = an_instance(provider_id)
    bench.write("fence-config-n1", one_method(method))

    (problem,) = bench.problems()
    remedy = f"write {'plug' if parameter == 'uuid' else parameter}={both.split(', ')[1]}"
    assert f"ConfigMap fence-config-n1, node n1, method m: {words(parameter, both, remedy)}" == problem


@pytest.mark.parametrize(("provider_id", "method"), FITTING)
def test_what_means_the_same_is_let_through(provider_id: str, method: str) -> None:
    """In whatever letters, and where the providerID cannot tell."""
    bench = an_instance(provider_id)
    bench.write("fence-config-n1", one_method(method))

    assert () == bench.problems()


def test_nodes_of_a_set_take_it_from_their_providerids() -> None:
    """One word for all of them would be wrong for some."""
    bench = an_instance(ZONES)
    selected = "node_selector=other\npower_management=m"
    bench.write("fence-config-set", one_method("agent=fence_gce\nplug={instance}\nproject=prod\nzone=z", selected))

    told = "use restart-instance, which takes it from there"
    assert [True] == [words("zone", "z, europe-west1-c", told) in one for one in bench.problems()]


def test_another_agent_of_a_cloud_may_be_told_a_name() -> None:
    """What it calls its machines no providerID tells."""
    bench = an_instance(f"vsphere://{OWN}")
    text = "agent=fence_vmware_rest\nip=vc\nplug={node}"
    bench.write("fence-method-template-vsphere", {"template.properties": text})

    assert ("plug", "n1") in bench.only_method().parameters
