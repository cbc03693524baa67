"""The seed's fence configuration: read as printed; what is wrong is named with key, line, field and remedy."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fuzzing import in_time

from noderemedy.model.configmap import ConfigMap
from noderemedy.model.fenceconfig import FenceConfig, FenceTemplate, MethodRecipe, Recipe
from noderemedy.model.fenceplan import Step
from noderemedy.model.ids import CONFIG_MAP, SYSTEM
from noderemedy.model.run import Deed, SecretParameter
from noderemedy.model.selector import Selector
from noderemedy.model.time import MINUTE, Span
from noderemedy.wire.fenceconfig import fence_document
from noderemedy.wire.objects import convert

PRINTED = {
    "config.properties": "node_name=n1\nisolation=fc-off\npower_management=eaton-off eaton-on\nrecovery=fc-on",
    "fence-method-fc-on": "template=fence-method-template-fc-switch-brocade\nplug=2\naction=on",
    "fence-method-fc-off": "template=fence-method-template-fc-switch-brocade\nplug=2\naction=off",
    "fence-method-eaton-on": "template=fence-method-template-eaton-pdu\nplug=1\naction=on",
    "fence-method-eaton-off": "template=fence-method-template-eaton-pdu\nplug=1\naction=off",
}


def config(data: dict[str, str], name: str = "fence-config-n1") -> FenceConfig:
    found = fence_document(name, False, data)
    assert isinstance(found, FenceConfig)
    return found


def one_method(text: str, more: str = "") -> FenceConfig:
    return config({"config.properties": f"power_management=m\n{more}", "fence-method-m": text})


def test_the_configuration_is_read_as_printed() -> None:
    """Node, steps with their methods in order, and methods with template, plug and action."""
    found = config(PRINTED)

    assert () == found.problems
    assert "n1" == found.node
    assert (("fc-off",), ("eaton-off", "eaton-on"), ("fc-on",)) == tuple(map(found.names, Step))
    switch = Recipe("fence-method-template-fc-switch-brocade", deeds=(Deed.ON,), parameters=(("plug", "2"),))
    assert MethodRecipe("fc-on", switch) == found.method("fc-on")
    assert found.method("nothing") is None


def test_a_template_names_its_agent_and_what_methods_share() -> None:
    """Secrets are references; a time-out is seconds or a duration."""
    text = "name=pdu\nagent_name=fence_pdu\nip=10.0.0.9\npassword=secret:pdu/pw\nsecret=pdu\ntimeout=90"
    found = fence_document("fence-method-template-pdu", False, {"template.properties": text})

    secrets = (SecretParameter("password", "pdu", "pw"),)
    shared = (("ip", "10.0.0.9"),)
    recipe = Recipe(agent="fence_pdu", patience=Span(90_000), parameters=shared, secrets=secrets, all_of="pdu")
    assert FenceTemplate(recipe) == found


@pytest.mark.parametrize(
    ("action", "deeds"),
    [("off", (Deed.OFF,)), ("Disable", (Deed.OFF,)), ("enable", (Deed.ON,)), ("reboot", (Deed.OFF, Deed.ON))],
)
def test_a_reboot_is_off_then_on(action: str, deeds: tuple[Deed, ...]) -> None:
    """And fabric agents have names of their own for both."""
    assert deeds == one_method(f"agent=fence_pdu\naction={action}").methods[0].recipe.deeds


def test_a_set_of_nodes_has_a_selector_and_no_name() -> None:
    """Whatever the ConfigMap is called."""
    found = config({"config.properties": "node_selector=type=compute\npower_management=x"}, "fence-config-all")

    assert ("", Selector((("type", "compute"),))) == (found.node, found.selector)


def test_the_name_of_the_map_says_the_node_where_nobody_else_does() -> None:
    """The cluster of the node, kdump and volumes are read beside it."""
    found = one_method("agent=fence_pdu\ncovers=storageClass/san, volume/v1", "cluster=metal/c1\nkdump=yes")

    assert ("n1", "metal/c1", MINUTE * 5) == (found.node, found.cluster, found.kdump_within)
    assert ("storageClass/san", "volume/v1") == found.methods[0].recipe.covers


def test_what_is_no_fence_configuration_is_not_read() -> None:
    """By its name, or by our label and one of our keys; elsewhere than in our namespace by neither."""
    assert fence_document("other", False, PRINTED) is None
    assert fence_document("other", True, {"x": "y"}) is None
    assert isinstance(fence_document("other", True, PRINTED), FenceConfig)
    assert isinstance(fence_document("other", True, {"template.properties": "agent=fence_x"}), FenceTemplate)
    assert config_map(PRINTED, SYSTEM).fence is not None
    assert config_map(PRINTED, "default").fence is None


def config_map(data: Any, namespace: str) -> ConfigMap:
    tree = {"metadata": {"name": "fence-config-n1", "namespace": namespace, "uid": "u"}, "data": data}
    obj = convert(CONFIG_MAP, tree).obj
    assert isinstance(obj, ConfigMap)
    return obj


WRONG: list[tuple[str, str, str]] = [  # config.properties, fence-method-m, the problem
    ("isolation fc-off", "agent=fence_x", "config.properties, line 1: this is not KEY=VALUE"),
    ("isolaton=m", "agent=fence_x", "config.properties, line 1: isolaton is not known; did you mean isolation?"),
    ("node_name=Not a name", "agent=fence_x", "config.properties, line 1: node_name: this is no name of a node"),
    ("node_name=a\nnode_selector=b=c", "agent=fence_x", "line 2: node_selector: there is a node_name, too"),
    ("node_selector=(", "agent=fence_x", "config.properties, line 1: node_selector: '(' cannot be read"),
    ("node_selector=", "agent=fence_x", "node_selector: a selector of 0 letters cannot be read"),
    ("cluster=c1", "agent=fence_x", "config.properties, line 1: cluster: write namespace/name"),
    ("kdump=perhaps", "agent=fence_x", "config.properties, line 1: kdump: write true or false"),
    ("kdump=maybe\nkdump_timeout=soon", "agent=fence_x", "config.properties, line 2: kdump_timeout: 'soon' is not"),
    ("kdump=1\nkdump_timeout=soon", "agent=fence_x", "config.properties, line 2: kdump_timeout: 'soon' is not"),
    ("power_management=a\npower-management=b", "agent=fence_x", "line 2: power-management: power management is given"),
    ("", "plug=1", "fence-method-m: neither template nor agent is named"),
    ("", "agent=rm -rf", "fence-method-m, line 1: agent: this cannot be read; write the name of a fence agent"),
    ("", "agent=../fence_x", "fence-method-m, line 1: agent: this cannot be read"),
    ("", "template=No Name", "fence-method-m, line 1: template: this cannot be read; write the name of a ConfigMap"),
    ("", "agent=fence_x\naction=explode", "fence-method-m, line 2: action: 'explode' is none of off"),
    ("", "agent=fence_x\ntimeout=1s", "fence-method-m, line 2: timeout: write a time from 5s to 1h"),
    ("", "agent=fence_x\nidentity=", "fence-method-m, line 2: identity: it is empty; write the UUID that the device"),
    ("", "agent=fence_x\ncovers=everything", "fence-method-m, line 2: covers: 'everything' names no volumes"),
    ("", "agent=fence_x\nip=secret:no-key", "fence-method-m, line 2: ip: the reference to a Secret cannot be read"),
    ("", "agent=fence_x\nsecret=No Name", "fence-method-m, line 2: secret: this cannot be read; write the name of a"),
]


@pytest.mark.parametrize(("words", "method", "problem"), WRONG, ids=[problem[-30:] for _, _, problem in WRONG])
def test_what_is_wrong_is_named(words: str, method: str, problem: str) -> None:
    """One sentence each: key, line, field and remedy."""
    found = config({"config.properties": words, "fence-method-m": method}).problems

    assert [True] == [problem in one for one in found if problem in one], found


def test_keys_that_nobody_reads_are_named() -> None:
    """So is one that is missing, and a method without a name."""
    found = config({"fence-methods": "", "fence-method-": "agent=fence_x"}).problems

    assert [
        "config.properties: this key is missing",
        "fence-methods: this key is not read",
        "fence-method-: a method needs a name",
    ] == [one.partition(";")[0].partition(" of letters")[0] for one in found]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ip=1", "template.properties: the agent is missing"),
        ("agent=fence_x\ntemplate=y", "template.properties: a template has no template of its own"),
    ],
)
def test_a_template_has_an_agent_and_no_template(text: str, problem: str) -> None:
    """Templates of templates would be a puzzle at night."""
    found = fence_document("fence-method-template-x", False, {"template.properties": text})

    assert isinstance(found, FenceTemplate)
    assert [problem] == [one.partition(";")[0] for one in found.problems]


@pytest.mark.parametrize(
    "parameter",
    ["password", "passwd", "snmp_priv_passwd", "secret_key", "access_key", "apikey", "token", "community", "Password"],
)
def test_a_password_in_the_open_is_refused_and_forgotten(parameter: str) -> None:
    """Nothing of it is kept, and no message repeats it."""
    found = one_method(f"agent=fence_x\n{parameter}=hunter2")

    assert "hunter2" not in repr(found)
    assert f"fence-method-m, line 2: {parameter}: a secret is never written into a ConfigMap" in found.problems[0]


@pytest.mark.parametrize("parameter", ["password_script", "token_file", "plug", "key", "key_value", "passing"])
def test_other_parameters_are_no_passwords(parameter: str) -> None:
    """Whatever their names have in common with them."""
    assert () == one_method(f"agent=fence_x\n{parameter}=1").problems


lines = st.sampled_from(["node_name=n1", "isolation=a b", "agent=fence_x", "template=", "password=hunter2", "x", "="])


@settings(max_examples=100)
@given(
    st.dictionaries(
        st.sampled_from(["config.properties", "template.properties", "fence-method-a", "fence-method-"]) | st.text(),
        st.lists(lines | st.text(max_size=20), max_size=6).map("\n".join),
        max_size=4,
    )
)
def test_no_data_raises(data: dict[str, str]) -> None:
    """Whatever somebody wrote, there is a document of it, and a misplaced password is not in it."""
    for name in ("fence-config-n1", "fence-method-template-x"):
        with in_time():
            found = fence_document(name, True, data)

        assert "hunter2" not in repr(found)
