"""Instances of clouds, by the providerID of their node."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noderemedy.core.fencing.clouds import CLOUDS, instance_of

AZURE = "azure:///subscriptions/s1/resourceGroups/g1/providers/Microsoft.Compute/virtualMachines/vm1"
CASES = [
    ("aws:///eu-west-1a/i-0123", "fence_aws", {"plug": "i-0123", "region": "eu-west-1"}),
    ("aws:///us-gov-east-1b/i-0123", "fence_aws", {"plug": "i-0123", "region": "us-gov-east-1"}),
    ("aws:///us-west-2-lax-1a/i-0123", "fence_aws", {"plug": "i-0123", "region": "us-west-2"}),
    ("aws:///i-0123", "fence_aws", {"plug": "i-0123"}),
    (
        "gce://project-1/europe-west1-b/vm1",
        "fence_gce",
        {"plug": "vm1", "project": "project-1", "zone": "europe-west1-b"},
    ),
    ("openstack:///0a1b", "fence_openstack", {"plug": "0a1b"}),
    ("openstack://region/0a1b", "fence_openstack", {"plug": "0a1b"}),
    (AZURE, "fence_azure_arm", {"plug": "vm1", "resourceGroup": "g1", "subscriptionId": "s1", "msi": "1"}),
    (AZURE.replace("g1", "g(1)"), "fence_azure_arm",
     {"plug": "vm1", "resourceGroup": "g(1)", "subscriptionId": "s1", "msi": "1"}),
    ("gce://example.com:p1/z/vm1", "fence_gce", {"plug": "vm1", "project": "example.com:p1", "zone": "z"}),
    ("vsphere://4230A0F1-0000-4000-8000-00000000000A", "fence_vmware_soap",
     {"plug": "4230a0f1-0000-4000-8000-00000000000a", "ssl": "1"}),
]  # fmt: skip


@pytest.mark.parametrize(("provider_id", "agent", "parameters"), CASES)
def test_an_instance_is_known_by_its_provider_id(provider_id: str, agent: str, parameters: dict[str, str]) -> None:
    """Plug, and where the instance lives if the name says so."""
    found = instance_of(provider_id)

    assert found is not None
    assert (agent, parameters, "") == (found.agent, dict((*found.parameters, *found.manner)), found.problem)


@pytest.mark.parametrize("provider_id", ["", "metal3://a/b/c", "kind://x", "aws", "AWS:///eu-west-1a/i-1"])
def test_everybody_else_has_no_default(provider_id: str) -> None:
    """Whatever their providerID looks like."""
    assert instance_of(provider_id) is None


@settings(max_examples=100)
@given(st.sampled_from(sorted(CLOUDS)), st.text(max_size=40))
def test_any_path_has_a_plug_or_a_problem(cloud: str, path: str) -> None:
    """Never an instance without a name."""
    found = instance_of(f"{cloud}://{path}")

    assert found is not None
    assert found.problem or dict(found.parameters)["plug"]
