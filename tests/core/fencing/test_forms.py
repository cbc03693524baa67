"""Forms from metadata: what has to be filled in is asked for, the rest is offered, and a filled form is a plan."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from tests.core.fencing.configuring import Bench
from tests.wire.agents import AGENTS

from noderemedy.core.fencing.forms import form, schema
from noderemedy.model.agent import AgentDescription, Sort
from noderemedy.model.fenceplan import AgentMethod

TO_FILL = re.compile(r"<([^<>]+)>")


def sample(agent: AgentDescription, name: str) -> str:
    """A value that is right for this parameter."""
    found = agent.find(name)
    if found is None:
        return {"node": "n1", "power method": "host-power", "secret": "bmc", "key": "file"}[name]
    if found.name in ("plug", "key"):
        return "7"  # to some agents it must be a number
    if found.name == "devices":
        return "/dev/disk/by-id/wwn-0x5001405000000001"  # the same on every node
    words = {Sort.BOOLEAN: "1", Sort.INTEGER: "7", Sort.SECOND: "9"}
    return found.options[0] if found.options else words.get(found.sort, f"some-{name}")


def fill(agent: AgentDescription) -> list[dict[str, Any]]:
    """The form of an agent, with every gap filled."""
    text = TO_FILL.sub(lambda gap: sample(agent, gap[1]), form(agent))
    return list(yaml.safe_load_all(text))


def problems_of(agent: AgentDescription, documents: list[dict[str, Any]]) -> tuple[str, ...]:
    """What is wrong with a node that is fenced by these documents."""
    bench = Bench(agents={agent.name: agent})
    for one in documents:
        if one["kind"] == "ConfigMap":
            bench.write(one["metadata"]["name"], one["data"])
    return bench.problems()


@pytest.mark.parametrize("name", ["fence_pdu", "fence_switch", "fence_disk", "fence_aws"])
def test_a_filled_form_is_a_plan(name: str) -> None:
    """Nothing else has to be known: template, configuration and Secret fit each other."""
    assert () == problems_of(AGENTS[name], fill(AGENTS[name]))


def test_an_empty_form_is_refused() -> None:
    """Somebody who applies it as it is has no fenced node, and is told why."""
    agent = AGENTS["fence_pdu"]
    text = form(agent).replace("<node>", "n1")

    found = problems_of(agent, list(yaml.safe_load_all(text)))

    assert any("parameter plug: '<plug>' is still to be filled in" in one for one in found)


def test_a_secret_that_few_need_is_a_comment() -> None:
    """An instance may have credentials of its own; a login is asked for."""
    assert '#  secret_key: "<secret_key>"' in form(AGENTS["fence_aws"])
    assert '\n  password: "<password>"' in form(AGENTS["fence_pdu"])


def test_what_is_required_comes_first_and_secrets_are_references() -> None:
    """Defaults are comments; what would be refused is not offered; old names are not, either."""
    lines = [line.strip() for line in form(AGENTS["fence_pdu"]).splitlines()]

    start = lines.index("agent=fence_pdu")
    assert ["ip=<ip>", "username=secret:pdu/username", "secret=pdu"] == lines[start + 1 : start + 4]
    assert "#ipport=623" in lines
    assert 'password: "<password>"' in lines
    assert [] == [word for word in ("missing_as_off", "password_script", "ipaddr", "debug_file") if word in str(lines)]


def test_a_form_of_what_cannot_fence_says_so() -> None:
    """It is a form all the same: somebody may want to see what the agent takes."""
    assert "# agent fence_mute has no action status" in form(AGENTS["fence_mute"])


def test_the_schema_says_what_is_secret_and_what_is_a_place() -> None:
    """For whoever draws a form from it."""
    found = schema(AGENTS["fence_pdu"])

    assert ["ip", "username", "plug"] == found["required"]
    properties = found["properties"]
    assert {"type": "string", "description": "About password", "writeOnly": True} == properties["password"]
    assert {"type": "string", "description": "About plug", "x-place": True} == properties["plug"]
    assert ["onoff", "cycle"] == properties["method"]["enum"]
    assert {"type": "integer", "minimum": 0, "default": "623"}.items() <= properties["ipport"].items()


def test_a_plan_of_a_form_switches_what_was_written() -> None:
    """The values that somebody filled in are the ones that the agent gets."""
    agent = AGENTS["fence_aws"]
    bench = Bench(agents={agent.name: agent})
    for one in fill(agent):
        if one["kind"] == "ConfigMap":
            bench.write(one["metadata"]["name"], one["data"])

    method = bench.only_method()
    assert isinstance(method, AgentMethod)
    assert (("plug", "7"),) == method.parameters
