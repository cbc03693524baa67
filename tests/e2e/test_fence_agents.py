"""All fence agents that are installed here: their metadata is read, and a filled form of each is a plan.

Needs the distribution's fence agents (scripts/e2e-packages). Those that cannot fence, or say nothing, are named here.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from tests.builders import a_node
from tests.cli.test_plan_fencing import CASES, EXAMPLES, NODES, plans
from tests.core.fencing.configuring import Bench
from tests.core.fencing.test_clouds import CASES as CLOUD_CASES
from tests.core.fencing.test_forms import fill, problems_of

from noderemedy.cli.main import cli
from noderemedy.core.fencing import configs, describing, plan
from noderemedy.core.fencing.clouds import instance_of
from noderemedy.core.fencing.forms import form, schema, usable
from noderemedy.core.fencing.scopes import scope_of, unfit
from noderemedy.drivers.fence.agents import folders, installed
from noderemedy.manager.describing import describe
from noderemedy.manager.plan import look_at
from noderemedy.manager.sources import objects
from noderemedy.model.agent import AgentDescription
from noderemedy.model.fenceplan import AgentMethod, Scope, Step
from noderemedy.model.time import Wall

WHERE = folders("", os.environ)
NAMES = installed(WHERE)
FEWEST = 80  # as many as Debian brings
SILENT = {"fence_ack_manual"}  # asks a person by hand, and has no metadata
UNFIT = {
    *("fence_compute", "fence_crosslink", "fence_evacuate", "fence_heuristics_ping", "fence_kdump", "fence_sbd"),
    *("fence_ovh", "fence_rcd_serial"),  # cannot be asked for the status
    *("fence_cisco_ucs", "fence_lpar", "fence_skalar", "fence_virsh", "fence_virt", "fence_vmware", "fence_xvm"),
    *("fence_cyberpower_ssh", "fence_raritan_px3"),
    *("fence_amt", "fence_ibmz", "fence_ilo_mp", "fence_ilo_ssh", "fence_ilo3_ssh", "fence_ilo4_ssh", "fence_ilo5_ssh"),
}
PLACELESS = {"fence_heuristics_ping", "fence_kdump"}  # have no plug to be told: that is said first
pytestmark = pytest.mark.skipif(not NAMES, reason="no fence agents; scripts/e2e-packages brings them")


@pytest.fixture(scope="module")
def agents() -> dict[str, AgentDescription]:
    """All that is installed, asked four at a time."""

    async def all_of_them() -> list[AgentDescription | None]:
        lanes = asyncio.Semaphore(4)

        async def one(name: str) -> AgentDescription | None:
            async with lanes:
                return await describe(name, WHERE)

        return list(await asyncio.gather(*map(one, NAMES)))

    return {found.name: found for found in asyncio.run(all_of_them()) if found is not None}


@pytest.mark.timeout(300)
def test_the_metadata_of_all_agents_is_read(agents: dict[str, AgentDescription]) -> None:
    """The exceptions are known by name."""
    assert len(agents) >= FEWEST
    assert SILENT & set(NAMES) == {name for name, one in agents.items() if one.problem}
    assert UNFIT & set(NAMES) == {name for name, one in agents.items() if not one.problem and unfit(one)}
    assert all(one.parameters and one.actions for one in agents.values() if not one.problem)


@pytest.mark.timeout(300)
def test_a_filled_form_of_each_agent_is_a_plan(agents: dict[str, AgentDescription]) -> None:
    """Whatever the agent is: its form asks for all that it needs, and for nothing that is refused."""
    fit = {name: one for name, one in agents.items() if name not in SILENT | UNFIT}

    assert {} == {name: found for name, one in fit.items() if (found := problems_of(one, fill(one)))}


@pytest.mark.timeout(300)
def test_every_agent_has_a_form(agents: dict[str, AgentDescription]) -> None:
    """Of each with metadata, also of those that are refused: YAML and schema, with all that must be said, once."""
    for name, agent in agents.items():
        if name in SILENT:
            continue
        template, config, *secrets = fill(agent)
        data = "".join([template["data"]["template.properties"], *config["data"].values()])
        asked = re.findall(r"^#?(\w[-\w]*)=", data, re.MULTILINE) + [
            key for one in secrets for key in one["stringData"] or ()
        ]
        needed = {one.name for one in usable(agent) if one.is_required}
        drawn = json.loads(json.dumps(schema(agent)))

        assert f"agent={name}\n" in template["data"]["template.properties"]
        assert set() == needed - set(asked), name
        assert needed == set(drawn["required"]), name
        assert {one.name for one in usable(agent)} == set(drawn["properties"]), name


@pytest.mark.timeout(300)
def test_the_form_of_an_agent_that_is_refused_says_why(agents: dict[str, AgentDescription]) -> None:
    """In its second line, and a node that somebody fences by it all the same is told the same words."""
    for name in sorted(UNFIT & set(NAMES)):
        why, problems = unfit(agents[name]), problems_of(agents[name], fill(agents[name]))

        assert f"# {why}" == form(agents[name]).splitlines()[1], name
        assert any(why in one or (name in PLACELESS and "nothing says which plug" in one) for one in problems), name


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", sorted(SILENT & set(NAMES)))
def test_an_agent_without_metadata_has_no_form(name: str) -> None:
    """There is nothing to make it from: the command fails, and says that the agent says nothing."""
    result = CliRunner().invoke(cli, ["agents", name, "--form"])

    assert 0 != result.exit_code
    assert name in str(result.exception)
    assert "it cannot be used" in str(result.exception)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("example", CASES)
def test_the_examples_fit_the_real_agents(example: str, agents: dict[str, AgentDescription], tmp_path: Path) -> None:
    """As the plain tests show them with invented ones."""
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text(yaml.safe_dump_all(NODES), encoding="utf-8")
    found = objects((str(EXAMPLES / example), str(nodes)), lambda: b"")
    done, _ = look_at(found, Wall(0), (plan.ROOM, describing.ROOM, configs.ROOM), agents.get)

    assert plans(done)
    assert [] == [one.problems for one in plans(done) if one.problems]


@pytest.mark.timeout(300)
def test_the_examples_have_no_problem_with_the_real_agents() -> None:
    """Not even a note, but of what managers need for dumps: what they name is there, Secrets and all."""
    for path in sorted(EXAMPLES.glob("fencing-*")):
        result = CliRunner().invoke(cli, ["check", "-f", str(path)], standalone_mode=False)
        notes = [line for line in result.output.splitlines() if " note: " in line]

        assert 0 == result.return_value, result.output
        assert ("kdump" in path.name) == bool(notes), result.output
        assert all("--kdump-listen" in note for note in notes), result.output


@pytest.mark.parametrize("name", ["fence_scsi", "fence_mpath", "fence_brocade", "fence_cisco_mds"])
def test_who_cuts_storage_off_switches_no_power(name: str, agents: dict[str, AgentDescription]) -> None:
    """Whatever actions its metadata names: only pods on the volumes that it covers are freed by it."""
    assert Scope.STORAGE is scope_of(agents[name], {})


LOGIN = "username=u\npassword=secret:cloud/password"
TEMPLATES = {
    "openstack": f"agent=fence_openstack\nauth_url=https://keystone.example/v3\nproject_name=p\n{LOGIN}",
    "vsphere": f"agent=fence_vmware_soap\nip=vcenter.example\n{LOGIN}",
}
IDS = {provider_id.partition(":")[0]: provider_id for provider_id, *_ in CLOUD_CASES}


@pytest.mark.parametrize("cloud", sorted(IDS))
def test_an_instance_of_a_cloud_needs_credentials_and_its_name(cloud: str, agents: dict[str, AgentDescription]) -> None:
    """What the providerID says fits the real agent; where that has no identity of its own, a template is enough."""
    bench = Bench(agents=agents)
    bench.node("n1", a_node("uid-n1", provider_id=IDS[cloud]))
    bench.write("fence-config-n1", {"config.properties": "node_name=n1\npower_management=restart-instance"})
    if cloud in TEMPLATES:
        bench.write(f"fence-method-template-{cloud}", {"template.properties": TEMPLATES[cloud]})
    plan = bench.plan()

    assert plan is not None
    assert () == plan.problems
    (method,) = plan.methods(Step.POWER_MANAGEMENT)
    assert isinstance(method, AgentMethod)
    instance = instance_of(IDS[cloud])
    assert instance is not None
    assert (instance.agent, Scope.POWER) == (method.agent, method.scope)
