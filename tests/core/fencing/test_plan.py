"""The fence-plan room in a real engine: from ConfigMaps and agents' own words to one checked plan per node."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import a_node
from tests.core.fencing.configuring import PRINTED, Bench, one_method, printed
from tests.core.fencing.fences import a_fence
from tests.wire.agents import AGENTS

from noderemedy.core.fencing import configs, describing, plan
from noderemedy.model.agent import AgentDescription, Parameter, Sort, agent_ref
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.configuration import Configuration, Definition, Document, FenceRemedy
from noderemedy.model.fenceplan import (
    AgentMethod,
    Builtin,
    BuiltinMethod,
    PlanAsked,
    Scope,
    Step,
    asked_ref,
    plan_ref,
)
from noderemedy.model.governing import MemberFact, member_ref
from noderemedy.model.ids import CONFIG_MAP, NODE, NODE_FENCE, SYSTEM, Ref, ref
from noderemedy.model.kdump import UNHEARD_AT, DumpsUnheard
from noderemedy.model.node import NodeBackup
from noderemedy.model.nodefence import FenceEvidence, State
from noderemedy.model.outcome import Key, Seen
from noderemedy.model.reasons import (
    AgentDescribed,
    AskingAgent,
    FenceConfigInvalid,
    FenceConfigTrustsNodes,
    FenceConfigWithoutNode,
    FencePlanInvalid,
    KdumpUnheard,
    Reason,
)
from noderemedy.model.room import Present
from noderemedy.model.run import Deed, SecretParameter
from noderemedy.model.time import MINUTE, Span

PLENTY = replace(
    AGENTS["fence_pdu"],
    parameters=(
        *AGENTS["fence_pdu"].parameters,
        *map(Parameter, ("switch", "plug_separator", "systems_uri", "target", "pve_node")),
        Parameter("port_as_ip", Sort.BOOLEAN),
        Parameter("ssl", Sort.BOOLEAN),
    ),
)
COMPUTE = "node_selector=type=compute\npower_management=m"


def test_the_seeds_configuration_becomes_a_plan() -> None:
    """Isolation at the switch, off and on at the PDU, and the switch again at recovery; secrets stay references."""
    bench = Bench()
    bench.write("fence-config-n1", printed("n1"))

    found = bench.plan()
    assert found is not None
    assert () == found.problems
    shape = [
        (step, one.name, one.agent, one.deeds, one.scope)
        for step in Step
        for one in found.methods(step)
        if isinstance(one, AgentMethod)
    ]
    assert [
        (Step.ISOLATION, "fc-off", "fence_switch", (Deed.OFF,), Scope.STORAGE),
        (Step.POWER_MANAGEMENT, "eaton-off", "fence_pdu", (Deed.OFF,), Scope.POWER),
        (Step.POWER_MANAGEMENT, "eaton-on", "fence_pdu", (Deed.ON,), Scope.POWER),
        (Step.RECOVERY, "fc-on", "fence_switch", (Deed.ON,), Scope.STORAGE),
    ] == shape
    off = found.power_management[0]
    assert isinstance(off, AgentMethod)
    assert (("ip", "10.0.0.9"), ("plug", "2")) == off.parameters
    assert SecretParameter("password", "pdu", "password", is_optional=True) in off.secrets
    assert ("fence-config-n1", "fence-method-template-pdu", "fence-method-template-switch") == found.uses
    assert ["fence_pdu", "fence_switch"] == bench.asked


def test_a_whole_secret_gives_texts_and_nothing_that_must_be_seen() -> None:
    """Behind a Secret nobody could tell two plugs apart, or a power switch from a network switch."""
    bench = Bench()
    bench.write("fence-config-n1", printed("n1"))

    found = bench.plan()
    assert found is not None
    off = found.power_management[0]
    assert isinstance(off, AgentMethod)
    assert ["password", "username"] == [one.parameter for one in off.secrets]


def test_a_node_that_nobody_speaks_of_has_no_plan() -> None:
    """Nor is any agent asked: whoever does not fence is not bothered."""
    bench = Bench()
    bench.node("n2", a_node("uid-n2", provider_id="aws:///eu-west-1a/i-0123"))

    assert (None, None) == (bench.plan("n1"), bench.plan("n2"))
    assert [] == bench.asked


def test_own_words_override_the_template() -> None:
    """Also under another name of the same parameter, and a plain word the template's secret."""
    bench = Bench()
    bench.write(
        "fence-method-template-pdu",
        {"template.properties": "agent=fence_pdu\nipaddr=10.0.0.9\nlogin=secret:a/b\npower_timeout=5\ntimeout=30"},
    )
    text = "template=fence-method-template-pdu\nip=10.0.0.7\nport=3\nusername=me\ntimeout=40"
    bench.write("fence-config-n1", one_method(text))

    method = bench.only_method()
    assert (("ip", "10.0.0.7"), ("plug", "3"), ("power_timeout", "5"), ("username", "me")) == method.parameters
    assert ((), Span(40_000)) == (method.secrets, method.patience)


@pytest.mark.parametrize(
    ("words", "step", "deeds"),
    [
        ("isolation=m\npower_management=p\nrecovery=m", Step.ISOLATION, (Deed.OFF,)),
        ("power_management=m", Step.POWER_MANAGEMENT, (Deed.OFF, Deed.ON)),
        ("power_management=p\nrecovery=m", Step.RECOVERY, (Deed.ON,)),
    ],
)
def test_without_an_action_the_step_says_what_is_done(words: str, step: Step, deeds: tuple[Deed, ...]) -> None:
    """Power is switched off and on again, a fabric off at isolation and on at recovery."""
    agent = "fence_pdu" if step is Step.POWER_MANAGEMENT else "fence_switch"
    bench = Bench()
    data = one_method(f"agent={agent}\nip=10.1.1.1\nplug=1\nusername=u", f"node_name=n1\n{words}")
    bench.write("fence-config-n1", {**data, "fence-method-p": "agent=fence_pdu\nip=10.1.1.2\nplug=1\nusername=u"})

    assert deeds == bench.only_method(step).deeds


def test_cordon_and_uncordon_stand_where_nobody_wrote_anything() -> None:
    """Isolation and recovery have a default; power management has none."""
    bench = Bench()
    bench.write("fence-config-n1", one_method("template=fence-method-template-pdu\nplug=1"))

    found = bench.plan()
    assert found is not None
    assert (BuiltinMethod("mark-unschedulable", Builtin.MARK_UNSCHEDULABLE),) == found.isolation
    assert (BuiltinMethod("mark-schedulable", Builtin.MARK_SCHEDULABLE),) == found.recovery


def test_one_document_speaks_of_a_set_of_nodes() -> None:
    """Each gets a plug of its own from what it carries; a node outside the set gets none."""
    bench = Bench()
    labels = {"type": "compute", "outlet": "7"}
    bench.node("n1", a_node("uid-n1", provider_id="x://y/z", labels=labels, annotations={"bmc": "10.9.9.9"}))
    bench.node("n2", a_node("uid-n2", provider_id=""))
    text = "agent=fence_pdu\nip={annotation:bmc}\nplug={label:outlet}-{node}-{instance}\nusername=u"
    bench.write("fence-config-compute", one_method(text, COMPUTE))

    assert (("ip", "10.9.9.9"), ("plug", "7-n1-z"), ("username", "u")) == bench.only_method().parameters
    assert bench.plan("n2") is None


def test_a_node_of_another_cluster_has_a_document_of_its_own() -> None:
    """A node of the same name here is none of its business, and the other way round."""
    bench = Bench()
    bench.engine.listed(NODE, bench.now, "metal/c1")
    bench.see(Ref("metal/c1", NODE, "", "n1"), a_node("uid-there", provider_id=""))
    text = "template=fence-method-template-pdu\nplug=4"
    bench.write("fence-config-there", one_method(text, "node_name=n1\ncluster=metal/c1\npower_management=m"))

    assert bench.plan("n1") is None
    found = bench.plan("n1", "metal/c1")
    assert found is not None
    assert () == found.problems
    assert () == bench.said("fence-config-there")


def test_the_document_of_a_node_wins_over_that_of_a_set() -> None:
    """And one of a set over the cloud's default."""
    bench = Bench()
    bench.node("n1", a_node("uid-n1", labels={"type": "compute"}, provider_id="aws:///eu-west-1a/i-0123"))
    bench.write("fence-config-compute", one_method("agent=fence_pdu\nip=1.1.1.1\nplug={node}\nusername=u", COMPUTE))
    assert "fence_pdu" == bench.only_method().agent

    bench.write("fence-config-n1", one_method("template=fence-method-template-pdu\nplug=9"))
    assert ("plug", "9") in bench.only_method().parameters


def test_only_the_users_of_a_template_are_planned_anew() -> None:
    """What it says reaches them, and nobody else is looked at."""
    bench = Bench(nodes=3)
    bench.write("fence-method-template-other", {"template.properties": "agent=fence_pdu\nip=10.0.0.5\nusername=u"})
    bench.write("fence-config-n1", one_method("template=fence-method-template-pdu\nplug=1"))
    bench.write("fence-config-n2", one_method("template=fence-method-template-other\nplug=2", node="n2"))
    bench.look()

    bench.write("fence-method-template-other", {"template.properties": "agent=fence_pdu\nip=10.0.0.6\nusername=u"})

    template = ref(CONFIG_MAP, "fence-method-template-other", SYSTEM)
    entry = bench.engine.cache.read(template)
    assert isinstance(entry, Present)
    assert [ref(NODE, "n2")] == list(plan.wakes(template, entry.obj, bench.engine.cache))
    assert ("ip", "10.0.0.6") in bench.only_method(node="n2").parameters
    assert ("ip", "10.0.0.9") in bench.only_method(node="n1").parameters


# --- clouds ----------------------------------------------------------------------------------------


def test_a_cloud_needs_a_template_and_nothing_else() -> None:
    """Instance and region come from the providerID, credentials from the template's Secret."""
    bench = Bench()
    bench.node("n1", a_node("uid-n1", provider_id="aws:///eu-west-1a/i-0123"))
    assert bench.plan() is None

    bench.write("fence-method-template-aws", {"template.properties": "agent=fence_aws\nsecret=aws"})

    method = bench.only_method()
    assert ("restart-instance", (Deed.OFF, Deed.ON)) == (method.name, method.deeds)
    assert (("plug", "i-0123"), ("region", "eu-west-1")) == method.parameters
    assert ["access_key", "secret_key"] == [one.key for one in method.secrets]


DEFAULT_AS_PRINTED = """node_name=n1
isolation=mark-unschedulable
power_management=restart-instance
recovery=mark-unschedulable
"""


def test_the_seeds_document_of_a_cloud_is_read_as_it_is_meant() -> None:
    """It says mark-unschedulable twice; a node that recovers is let in again, and a note tells how it was read."""
    bench = Bench()
    bench.node("n1", a_node("uid-n1", provider_id="aws:///eu-west-1a/i-0123"))
    bench.write("fence-config-n1", {"config.properties": DEFAULT_AS_PRINTED})

    found = bench.plan()
    assert found is not None
    assert () == found.problems
    assert (BuiltinMethod("mark-unschedulable", Builtin.MARK_UNSCHEDULABLE),) == found.isolation
    assert (BuiltinMethod("mark-schedulable", Builtin.MARK_SCHEDULABLE),) == found.recovery
    note = "recovery: it is read as mark-schedulable, as seed 002 means it; write that, to have no doubt"
    assert [f"ConfigMap fence-config-n1, node n1, method mark-unschedulable: {note}"] == list(map(str, found.notes))
    assert () == bench.said("fence-config-n1")


def test_a_fence_of_a_cloud_node_needs_not_even_that() -> None:
    """The instance of the manager may have a role of its own."""
    bench = Bench()
    bench.node("n1", a_node("uid-n1", provider_id="aws:///eu-west-1a/i-0123"))
    fence = a_fence(node="n1")
    bench.see(ref(NODE_FENCE, "node-fence-n1"), fence)

    assert "fence_aws" == bench.only_method().agent


def a_document(*definitions: Definition) -> ConfigMap:
    return ConfigMap("uid-workers", document=Document(Configuration(definitions=definitions), ""))


def test_a_node_that_a_document_would_fence_is_planned_before() -> None:
    """The cloud's default is checked before it is needed; where no remedy is a fence, nobody is bothered."""
    bench = Bench(nodes=2)
    for name in ("n1", "n2"):
        bench.node(name, a_node(f"uid-{name}", provider_id=f"aws:///eu-west-1a/i-0{name}"))
    at = ref(CONFIG_MAP, "workers", SYSTEM)
    bench.see(at, a_document())
    bench.engine.seen(Seen(member_ref(ref(NODE, "n1")), "", "", MemberFact(at)), bench.now)
    assert bench.plan() is None

    bench.see(at, a_document(Definition("fence", FenceRemedy())))
    assert "fence_aws" == bench.only_method().agent
    assert bench.plan("n2") is None  # which the document does not govern

    bench.engine.seen(Seen(member_ref(ref(NODE, "n2")), "", "", MemberFact(at)), bench.now)
    assert "fence_aws" == bench.only_method(node="n2").agent

    bench.see(at, a_document())
    assert bench.plan() is None


def test_who_asks_how_a_node_of_a_cloud_is_fenced_gets_its_plan() -> None:
    """A person who drills it by hand, say; of bare metal the default knows nothing."""
    bench = Bench(nodes=2)
    bench.node("n1", a_node("uid-n1", provider_id="aws:///eu-west-1a/i-0123"))
    for name in ("n1", "n2"):
        bench.engine.seen(Seen(asked_ref(ref(NODE, name)), "", "", PlanAsked()), bench.now)

    assert "fence_aws" == bench.only_method().agent
    assert bench.plan("n2") is None


def test_how_to_switch_an_instance_on_outlives_its_node() -> None:
    """The Node was deleted to free its workload: its fence remembers which instance it was."""
    bench = Bench()
    evidence = FenceEvidence(provider_id="aws:///eu-west-1a/i-0123")
    bench.see(ref(NODE_FENCE, "node-fence-n1"), a_fence(State.RUNNING, node="n1", evidence=evidence))
    bench.delete(ref(NODE, "n1"))

    assert (("plug", "i-0123"), ("region", "eu-west-1")) == bench.only_method().parameters


def test_a_clouds_template_names_no_instance() -> None:
    """One plug for all nodes of a cloud would switch off one of them for any other."""
    bench = Bench()
    bench.node("n1", a_node("uid-n1", provider_id="aws:///eu-west-1a/i-0123"))
    bench.write("fence-method-template-aws", {"template.properties": "agent=fence_aws\nplug=i-9\nsecret=aws"})

    assert "parameter plug: all nodes of the set would share one plug" in bench.problems()[0]


UUID = "4230a0f1-0000-4000-8000-00000000000a"
BY_NAME = "fence_vmware_rest does not know instances as providerIDs call them; write agent=fence_vmware_soap, or plug="


def on_vsphere(template: str) -> Bench:
    """A virtual machine of vSphere, with this template."""
    agents = {name: replace(PLENTY, name=name) for name in ("fence_vmware_soap", "fence_vmware_rest")}
    bench = Bench(agents=agents)
    bench.node("n1", a_node("uid-n1", provider_id=f"vsphere://{UUID}"))
    bench.write("fence-method-template-vsphere", {"template.properties": template})
    return bench


def test_a_machine_of_vsphere_is_known_by_its_uuid() -> None:
    """Its name may be that of another cluster's machine in the same vCenter, and an agent takes the first one."""
    bench = on_vsphere("agent=fence_vmware_soap\nip=vc\nusername=u")

    assert (("ip", "vc"), ("plug", UUID), ("ssl", "1"), ("username", "u")) == bench.only_method().parameters


def test_an_agent_that_knows_names_only_is_told_them() -> None:
    """Whoever knows that names are unique writes so; nobody else is fenced by a name."""
    bench = on_vsphere("agent=fence_vmware_rest\nip=vc\nusername=u")
    assert [True] == [f"method restart-instance: parameter plug: {BY_NAME}" in one for one in bench.problems()]

    bench.write(
        "fence-method-template-vsphere",
        {"template.properties": "agent=fence_vmware_rest\nip=vc\nusername=u\nplug={node}"},
    )
    assert (("ip", "vc"), ("plug", "n1"), ("ssl", "1"), ("username", "u")) == bench.only_method().parameters


def test_terminating_an_instance_is_off_and_then_the_node_object() -> None:
    """The agent switches off, the builtin says what goes after the proof."""
    bench = Bench()
    bench.node("n1", a_node("uid-n1", provider_id="aws:///eu-west-1a/i-0123"))
    bench.write("fence-config-n1", {"config.properties": "power_management=terminate"})

    found = bench.plan()
    assert found is not None
    assert () == found.problems
    agent, builtin = found.power_management
    assert isinstance(agent, AgentMethod)
    assert (Deed.OFF,) == agent.deeds
    assert BuiltinMethod("terminate", Builtin.TERMINATE_INSTANCE) == builtin


# --- two nodes on one plug -------------------------------------------------------------------------


def test_two_nodes_on_one_plug_are_both_refused() -> None:
    """Until one of them is corrected."""
    bench = Bench(nodes=2)
    bench.write("fence-config-n1", printed("n1", "2"))
    bench.write("fence-config-n2", printed("n2", "2"))

    one, other = (
        "fence-config-n1, node n1, method fc-off: parameter plug: ",
        "fence-config-n2, node n2, method fc-off: ",
    )
    assert f"{one}10.0.0.8 plug=2 is also the plug of node n2" in bench.problems("n1")[0]
    assert f"{other}parameter plug: 10.0.0.8 plug=2 is also the plug of node n1" in bench.problems("n2")[0]

    bench.write("fence-config-n2", printed("n2", "3"))
    assert ((), ()) == (bench.problems("n1"), bench.problems("n2"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("node_name=n1\npower_management=eaton", "there is no fence-method-eaton; did you mean eaton-on?"),
        ("node_name=n1\nnode_selector=rack=1", "node_selector: there is a node_name, too; keep one of them"),
    ],
)
def test_a_document_that_cannot_be_used_holds_its_plugs_all_the_same(words: str, told: str) -> None:
    """The node hangs on them however its words are misspelt: another would switch off the wrong one."""
    bench = Bench(nodes=2)
    bench.write("fence-config-n1", printed("n1", "2") | {"config.properties": words})
    bench.write("fence-config-n2", printed("n2", "2"))

    assert told in bench.problems("n1")[0]
    assert "10.0.0.9 plug=2 is also the plug of node n1" in " ".join(bench.problems("n2"))

    bench.write("fence-config-n2", printed("n2", "3"))
    assert () == bench.problems("n2")


def test_a_document_that_cannot_be_read_any_more_holds_its_plugs() -> None:
    """Another node's document named them meanwhile, and that node's fence switched off the wrong one (seed 7282)."""
    bench = Bench(nodes=2)
    bench.write("fence-config-n1", printed("n1", "2"))
    bench.garble("fence-config-n1")
    bench.write("fence-config-n2", printed("n2", "2"))

    assert "it cannot be read any more (garbled); correct it" in bench.problems("n1")[0]
    assert "10.0.0.9 plug=2 is also the plug of node n1" in " ".join(bench.problems("n2"))

    bench.write("fence-config-n1", printed("n1", "3"))
    assert ((), ()) == (bench.problems("n1"), bench.problems("n2"))


def test_a_document_that_could_not_be_read_and_is_deleted_holds_nothing() -> None:
    """Nor does its node have a plan then."""
    bench = Bench(nodes=2)
    bench.write("fence-config-n1", printed("n1", "2"))
    bench.write("fence-config-n2", printed("n2", "2"))
    bench.garble("fence-config-n1")
    bench.delete_map("fence-config-n1")

    assert (None, ()) == (bench.plan("n1"), bench.problems("n2"))


def test_a_template_that_cannot_be_read_any_more_can_not_be_used() -> None:
    """What it says now nobody knows; what it said holds the plugs of those who use it."""
    bench = Bench(nodes=2)
    bench.write("fence-config-n1", printed("n1", "2"))
    bench.garble("fence-method-template-pdu")
    bench.write("fence-config-n2", printed("n2", "2"))

    assert "fence-method-template-pdu: it cannot be read any more (garbled)" in " ".join(bench.problems("n1"))
    assert "plug=2 is also the plug of node n1" in " ".join(bench.problems("n2"))


def test_two_documents_of_one_node_hold_the_plugs_of_both() -> None:
    """Nobody can tell which of them is right."""
    bench = Bench(nodes=2)
    bench.write("fence-config-n1", printed("n1", "1"))
    bench.write("fence-config-more", printed("n1", "2"))
    bench.write("fence-config-n2", printed("n2", "2"))

    assert "10.0.0.9 plug=2 is also the plug of node n1" in " ".join(bench.problems("n2"))


@pytest.mark.parametrize(
    "method",
    [
        "template=fence-method-template-pdu\nplug=7\nusername={label:none}",
        "template=fence-method-template-lost\nip=10.0.0.9\nplug=7",
        "agent=fence_lost\nip=10.0.0.9\nplug=7",
        "agent=fence_lost\nipaddr=10.0.0.9\nport=7",
        "ip=10.0.0.9\nplug=7",
        "template=fence-method-template-pdu\nplug=7\nno_such=1",
    ],
)
def test_a_method_that_cannot_be_used_holds_its_plug(method: str) -> None:
    """A template or an agent that is missing, a word without a meaning: the node hangs there all the same."""
    bench = Bench(nodes=2)
    bench.write("fence-config-n2", one_method(method, node="n2"))
    bench.write("fence-config-n1", one_method("template=fence-method-template-pdu\nplug=7"))

    assert () != bench.problems("n2")
    assert "10.0.0.9 plug=7 is also the plug of node n2" in " ".join(bench.problems("n1"))


def test_a_plug_that_cannot_be_filled_in_is_nobodys() -> None:
    """Nothing says which one it is."""
    bench = Bench(nodes=2)
    lost = "template=fence-method-template-pdu\nplug={label:none}"
    bench.write("fence-config-n2", one_method(lost, node="n2"))
    bench.write("fence-config-n1", one_method("template=fence-method-template-pdu\nplug=7"))

    assert () == bench.problems("n1")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ip=10.0.0.9\nplug=7", "ip=10.0.0.9\nplug=07"),
        ("ip=pdu.example.com\nplug=7", "ip=PDU.example.com.\nplug=7"),
        ("ip=bmc\nplug=/redfish/v1/Systems/1", "ip=bmc\nplug=/redfish/v1/Systems/1/"),
        ("ip=[2001:DB8::1]\nplug=7", "ip=2001:db8:0::1\nplug=7"),
        ("ip=a\nplug=Outlet-7", "ip=a\nplug=outlet-7"),
        ("ip=a\nplug=\"'7'\"", "ip=a\nplug=7"),
        ("ip=a\nplug=4230A0F1-0000-4000-8000-00000000000A", "ip=a\nplug={4230a0f1000040008000" + "00000000000a}"),
    ],
)
def test_one_plug_may_be_spelt_in_two_ways(one: str, other: str) -> None:
    """A zero, a dot, a slash, quotes or a capital more make no other outlet."""
    bench = Bench(nodes=2)
    bench.write("fence-config-n1", one_method(f"agent=fence_pdu\nusername=u\n{one}"))
    bench.write("fence-config-n2", one_method(f"agent=fence_pdu\nusername=u\n{other}", node="n2"))

    assert "is also the plug of node n2" in " ".join(bench.problems("n1"))


SHARED = [  # what two nodes say, and what is one plug of both
    ("plug=1,2", "plug=2", "plug=2"),
    ("plug=1, 02", "plug=3,2", "plug=2"),
    ("plug=1;2\nplug_separator=;", "plug=2", "plug=2"),
    ("plug=1,2\nno_such=x", "plug=2", "plug=2"),  # a method that cannot be used
    ("plug=1:7", "plug=7\nswitch=1", "plug=7 switch=1"),
    ("plug=1:7", "plug=7", "plug=7"),
    ("plug=1:7,8", "plug=1:8", "plug=8 switch=1"),
    ("plug=7\nport_as_ip=0", "plug=7\nport_as_ip=1", "7"),  # the agents only look whether it is there
    ("plug=1\nsystems_uri=/redfish/v1/Systems/1", "plug=1", "plug=1"),
    ("plug=100\npve_node=a", "plug=100\npve_node=b", "plug=100"),  # numbers are those of the whole cluster
]


@pytest.mark.parametrize(("one", "other", "told"), SHARED)
def test_one_of_several_plugs_is_enough_for_a_clash(one: str, other: str, told: str) -> None:
    """A list is refused, and all the same the node hangs on each: whoever has one of them goes dark with it."""
    bench = Bench(nodes=2, agents={**AGENTS, "fence_pdu": PLENTY})
    bench.write("fence-config-n1", one_method(f"agent=fence_pdu\nusername=u\nip=a\n{one}"))
    bench.write("fence-config-n2", one_method(f"agent=fence_pdu\nusername=u\nip=a\n{other}", node="n2"))

    assert "is also the plug of node n2" in " ".join(bench.problems("n1"))
    assert f"{told} is also the plug of node n1" in bench.problems("n2")[-1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("plug=1,2\nplug_separator=;", "plug=2"),
        ("plug=1:7", "plug=2:7"),
        ("plug=7\nswitch=1", "plug=7\nswitch=2"),
        ("plug=1\nsystems_uri=/redfish/v1/Systems/1", "plug=1\nsystems_uri=/redfish/v1/Systems/2"),
        ("plug=1", "plug=1\ntarget=0x72"),
    ],
)
def test_other_outlets_of_one_device_are_no_clash(one: str, other: str) -> None:
    """Whatever their names have in common."""
    bench = Bench(nodes=2, agents={**AGENTS, "fence_pdu": PLENTY})
    bench.write("fence-config-n1", one_method(f"agent=fence_pdu\nusername=u\nip=a\n{one}"))
    bench.write("fence-config-n2", one_method(f"agent=fence_pdu\nusername=u\nip=a\n{other}", node="n2"))

    assert ((), ()) == (bench.problems("n1"), bench.problems("n2"))


def a_cloud(*names: str) -> AgentDescription:
    """One whose machines have no address: they are told apart by these words."""
    agent = AGENTS["fence_aws"]
    return replace(agent, name="fence_any", parameters=(*agent.parameters, *map(Parameter, names)))


APART = [  # what two machines of one name say, and whether they may be one
    ("namespace=tenant-1", "namespace=tenant-2", False),
    ("project=p1\nzone=z1", "project=p2\nzone=z1", False),
    ("project=p1\nzone=z1", "project=p1\nzone=z2", False),
    ("region=eu-west-1", "region=eu-west-2", False),
    ("resourceGroup=g1\nsubscriptionId=s1", "resourceGroup=g2\nsubscriptionId=s1", False),
    ("resourceGroup=g1\nsubscriptionId=s1", "resourceGroup=g1\nsubscriptionId=s2", False),
    ("resourceGroup=G1", "resourceGroup=g1", True),
    ("zone=z1", "region=r1", True),
    ("zone=z1", "", True),
    ("", "namespace=tenant-1", True),
    ("zone=z1,z2", "zone=z2", True),
    ("project=p1", "project=123456789", True),  # its number
    ("region=r1", "region=secret:a/b", True),
]


@pytest.mark.parametrize(("one", "other", "is_one"), APART)
def test_machines_of_one_name_are_told_apart(one: str, other: str, is_one: bool) -> None:
    """By what both of them say; what one leaves out tells nothing, and then they may be one."""
    agent = a_cloud("namespace", "project", "zone", "resourceGroup", "subscriptionId")
    bench = Bench(nodes=2, agents={"fence_any": agent})
    bench.write("fence-config-n1", one_method(f"agent=fence_any\nplug=vm\n{one}"))
    bench.write("fence-config-n2", one_method(f"agent=fence_any\nplug=vm\n{other}", node="n2"))

    clashes = ["is also the plug of node" in " ".join(bench.problems(name)) for name in ("n1", "n2")]
    assert [is_one, is_one] == clashes


def test_a_clash_ends_when_both_say_where_their_machine_is() -> None:
    """And begins again when one of them leaves it out: each looks at what the other says now."""
    bench = Bench(nodes=2, agents={"fence_any": a_cloud("zone")})
    bench.write("fence-config-n1", one_method("agent=fence_any\nplug=vm\nzone=z1"))
    bench.write("fence-config-n2", one_method("agent=fence_any\nplug=vm", node="n2"))
    assert "fence_any plug=vm zone=z1 is also the plug of node n2" in bench.problems("n1")[0]

    bench.write("fence-config-n2", one_method("agent=fence_any\nplug=vm\nzone=z2", node="n2"))
    assert ((), ()) == (bench.problems("n1"), bench.problems("n2"))

    bench.write("fence-config-n1", one_method("agent=fence_any\nplug=vm"))
    assert ["is also the plug of node" in bench.problems(name)[0] for name in ("n1", "n2")] == [True, True]


def test_how_a_list_of_plugs_is_split_is_no_secret() -> None:
    """Else nobody could tell which plugs are meant."""
    bench = Bench(agents={**AGENTS, "fence_pdu": PLENTY})
    bench.write("fence-config-n1", one_method("agent=fence_pdu\nusername=u\nip=a\nplug=1\nplug_separator=secret:a/b"))
    assert "parameter plug_separator: it says which device is meant, or how" in bench.problems()[0]

    bench.write("fence-config-n1", one_method("agent=fence_pdu\nip=a\nplug=1\nsecret=pdu"))
    assert "plug_separator" not in {one.parameter for one in bench.only_method().secrets}


def test_a_node_that_its_fence_deleted_keeps_its_plugs() -> None:
    """They are dark, and will be switched on again: whoever names one of them meanwhile is refused.

    Also where that fence does not decode for a while (dense seed 7684).
    """
    bench = Bench(nodes=2)
    bench.write("fence-config-n1", printed("n1", "2"))
    at, evidence = ref(NODE_FENCE, "node-fence-n1"), FenceEvidence(backup=NodeBackup("uid-n1"))
    bench.see(at, a_fence(State.RUNNING, node="n1", node_uid="uid-n1", evidence=evidence))
    bench.delete(ref(NODE, "n1"))
    bench.write("fence-config-n2", printed("n2", "2"))
    assert "is also the plug of node n1" in bench.problems("n2")[0]
    bench.garble("node-fence-n1", NODE_FENCE)
    assert "is also the plug of node n1" in bench.problems("n2")[0]

    bench.see(at, a_fence(State.FINAL, node="n1", node_uid="uid-n1", evidence=evidence))
    assert () == bench.problems("n2")


def test_a_method_that_no_step_names_holds_no_plug() -> None:
    """Where the document is right, it was left out on purpose."""
    bench = Bench(nodes=2)
    old = PRINTED["fence-method-fc-off"].format("", "2")
    bench.write("fence-config-n1", printed("n1", "1") | {"fence-method-old": old})
    bench.write("fence-config-n2", printed("n2", "2"))

    assert ((), ()) == (bench.problems("n1"), bench.problems("n2"))


def test_a_node_that_is_gone_takes_nobodys_plug() -> None:
    """Its successor may have it."""
    bench = Bench(nodes=2)
    bench.write("fence-config-n1", printed("n1", "2"))
    bench.write("fence-config-n2", printed("n2", "2"))
    bench.look()

    bench.delete(ref(NODE, "n1"))

    assert () == bench.problems("n2")
    assert bench.plan("n1") is None


def test_one_device_is_recognised_under_other_names() -> None:
    """Old names, another agent, a port that is the default anyway, and another case of the address."""
    bench = Bench(nodes=2)
    bench.write("fence-config-n1", one_method("agent=fence_pdu\nip=PDU.example.com\nplug=1\nusername=u\nipport=623"))
    others = "agent=fence_mute2\nipaddr=pdu.example.com\nport=1\nlogin=u"
    bench.agents = {**AGENTS, "fence_mute2": replace(AGENTS["fence_pdu"], name="fence_mute2")}
    bench.write("fence-config-n2", one_method(others, node="n2"))

    assert "pdu.example.com plug=1 is also the plug of node n1" in bench.problems("n2")[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("agent=fence_pdu\nip=a\nplug=1\nusername=u", "parameter plug: a plug=1"),
        ("agent=fence_pdu\nip=a\nusername=u", "parameter ip: a"),
    ],
)
def test_whoever_shares_a_plug_reads_which_parameter_says_so(text: str, told: str) -> None:
    """The outlet where there is one; a device with one plug is its address."""
    bench = Bench(nodes=2)
    bench.write("fence-config-n1", one_method(text))
    bench.write("fence-config-n2", one_method(text, node="n2"))

    assert f"node n1, method m: {told} is also the plug of node n2; correct" in bench.problems("n1")[-1]


def test_two_ports_of_one_address_are_two_devices() -> None:
    """A gateway may stand before many."""
    bench = Bench(nodes=2)
    bench.write("fence-config-n1", one_method("agent=fence_pdu\nip=a\nplug=1\nusername=u\nipport=1001"))
    bench.write("fence-config-n2", one_method("agent=fence_pdu\nip=a\nplug=1\nusername=u\nipport=1002", node="n2"))

    assert ((), ()) == (bench.problems("n1"), bench.problems("n2"))


# --- while a node is being fenced ------------------------------------------------------------------


def test_a_node_that_was_deleted_on_the_way_keeps_its_plan() -> None:
    """It has to be switched on again: its labels are those of the backup in its NodeFence."""
    bench = Bench()
    backup = NodeBackup("uid-n1", labels=(("outlet", "7"), ("type", "compute")))
    fence = a_fence(node="n1", node_uid="uid-n1", evidence=FenceEvidence(backup=backup))
    bench.write("fence-config-c", one_method("agent=fence_pdu\nip=a\nplug={label:outlet}\nusername=u", COMPUTE))
    bench.see(ref(NODE_FENCE, "node-fence-n1"), fence)

    bench.delete(ref(NODE, "n1"))

    assert ("plug", "7") in bench.only_method().parameters
    found = bench.plan()
    assert found is not None
    assert ["a plug=7"] == [one.words for one in found.plugs]

    bench.delete(ref(NODE_FENCE, "node-fence-n1"))
    assert bench.plan() is None


# --- who is told what ------------------------------------------------------------------------------


def test_what_is_wrong_is_told_once_on_the_document() -> None:
    """With the number of nodes that it leaves without a plan; on the nodes it is no event."""
    bench = Bench(nodes=3)
    for number in (1, 2, 3):
        bench.node(f"n{number}", a_node(f"uid-n{number}", provider_id="", labels={"type": "compute"}))
    bench.write("fence-config-c", one_method("agent=fence_pdu\nip=a\nplug={label:outlet}\nusername=u", COMPUTE))

    (said,) = bench.said("fence-config-c")
    assert isinstance(said, FenceConfigInvalid)
    assert 3 == said.nodes
    assert "parameter plug: {label:outlet} is empty" in said.problem
    told = bench.engine.decisions[Key(plan.ROOM.name, ref(NODE, "n2"))].because
    assert [FencePlanInvalid] == [type(one) for one in told]
    assert FencePlanInvalid.quiet


def test_a_document_for_nobody_says_so() -> None:
    """A mistyped name would leave a node without fencing, and nobody would know before the night it is needed."""
    bench = Bench()
    bench.write("fence-config-n9", printed("n9"))

    assert (FenceConfigWithoutNode("n9"),) == bench.said("fence-config-n9")
    bench.node("n9")
    assert () == bench.said("fence-config-n9")

    bench.write("fence-config-set", one_method("agent=fence_pdu\nip=a\nplug={node}\nusername=u", COMPUTE))
    assert (FenceConfigWithoutNode(""),) == bench.said("fence-config-set")
    bench.node("n8", a_node("uid-n8", provider_id="", labels={"type": "compute"}))
    assert () == bench.said("fence-config-set")


@pytest.mark.parametrize(
    ("word", "is_trusting"),
    [
        ("{annotation:bmc}", True),
        ("{label:outlet}", True),
        ("{label:node-restriction.kubernetes.io/outlet}", False),
        ("{node}", False),
    ],
)
def test_a_document_that_takes_a_nodes_word_says_so(word: str, is_trusting: bool) -> None:
    """It works all the same; in a template, too."""
    bench = Bench()
    labels = {"type": "compute", "outlet": "7", "node-restriction.kubernetes.io/outlet": "7"}
    bench.node("n1", a_node("uid-n1", provider_id="", labels=labels, annotations={"bmc": "b"}))
    bench.write("fence-method-template-t", {"template.properties": f"agent=fence_pdu\nip={word}\nusername=u"})
    text = f"template=fence-method-template-t\nplug={word}"
    bench.write("fence-config-c", one_method(text, COMPUTE))

    assert () == bench.problems()
    expected = (FenceConfigTrustsNodes(word.strip("{}")),) if is_trusting else ()
    assert (expected, expected) == (bench.said("fence-config-c"), bench.said("fence-method-template-t"))


@pytest.mark.parametrize(
    ("listens", "words", "expected"),
    [
        (False, "kdump=true", (KdumpUnheard(),)),
        (False, "kdump=false", ()),
        (False, "", ()),
        (True, "kdump=true", ()),
    ],
)
def test_a_dump_that_nobody_hears_is_told(listens: bool, words: str, expected: tuple[Reason, ...]) -> None:
    """On the document, which works otherwise, by a manager that does not listen."""
    bench = Bench()
    if not listens:
        bench.engine.seen(Seen(UNHEARD_AT, "", "", DumpsUnheard()), bench.now)
    method, head = "template=fence-method-template-pdu\nplug=1", "node_name=n1\npower_management=m"
    bench.write("fence-config-c", one_method(method, f"{head}\n{words}"))

    assert () == bench.problems()
    assert expected == bench.said("fence-config-c")


def test_a_broken_template_says_so_on_itself() -> None:
    """Also while nobody uses it."""
    bench = Bench()
    bench.write("fence-method-template-x", {"template.properties": "ip=1"})

    (said,) = bench.said("fence-method-template-x")
    assert isinstance(said, FenceConfigInvalid)
    assert "the agent is missing" in said.problem


# --- agents ----------------------------------------------------------------------------------------


def test_an_agent_is_asked_once_for_all_its_plans() -> None:
    """Whatever the number of nodes; and again only when it was not there, after a while."""
    bench = Bench(nodes=3, agents={})
    for number in (1, 2, 3):
        text = f"template=fence-method-template-pdu\nplug={number}"
        bench.write(f"fence-config-n{number}", one_method(text, node=f"n{number}"))
    assert "agent fence_pdu is not installed where node-remedy runs" in bench.problems("n3")[0]
    assert ["fence_pdu"] == bench.asked

    bench.agents = AGENTS
    bench.pass_time(describing.ASK_AGAIN)

    assert ["fence_pdu", "fence_pdu"] == bench.asked
    assert ((), (), ()) == (bench.problems("n1"), bench.problems("n2"), bench.problems("n3"))
    bench.pass_time(MINUTE * 60)
    assert 2 == len(bench.asked)


def test_an_agent_is_asked_and_then_known() -> None:
    """Both are daily business: no event tells of them."""
    bench = Bench()
    bench.write("fence-config-n1", one_method("template=fence-method-template-pdu\nplug=1"))
    key = Key(describing.ROOM.name, agent_ref("fence_pdu"))

    bench.engine.step(bench.now, token=7)
    assert (AskingAgent("fence_pdu"),) == bench.engine.decisions[key].because

    bench = Bench()
    bench.write("fence-config-n1", one_method("template=fence-method-template-pdu\nplug=1"))
    bench.look()
    assert (AgentDescribed("fence_pdu", ""),) == bench.engine.decisions[key].because


def test_an_agent_that_says_nothing_is_refused() -> None:
    """Its own problem is in the message."""
    bench = Bench(agents={"fence_pdu": AgentDescription("fence_pdu", problem="it prints no metadata")})
    bench.write("fence-config-n1", one_method("template=fence-method-template-pdu\nplug=1"))

    assert "method m: agent fence_pdu: it prints no metadata; use another one" in bench.problems()[0]


def test_until_an_agent_has_answered_nothing_is_planned() -> None:
    """The node is not fenced by a guess."""
    bench = Bench()
    bench.write("fence-config-n1", one_method("template=fence-method-template-pdu\nplug=1"))
    bench.engine.step(bench.now, token=7)

    told = bench.engine.decisions[Key(plan.ROOM.name, ref(NODE, "n1"))].because
    assert [True] == ["has not been asked yet" in one.note() for one in told]
    entry = bench.engine.cache.read(plan_ref(ref(NODE, "n1")))
    assert isinstance(entry, Present)
    assert entry.obj.is_pending


def test_nobody_is_told_before_the_agents_have_answered() -> None:
    """A manager that has just begun does not cry over every document."""
    bench = Bench()
    bench.write("fence-config-n1", one_method("template=fence-method-template-pdu\nplug=1"))

    output = bench.engine.step(bench.now, token=7)

    assert [] == [one.reason for one in output.notices if isinstance(one.reason, FenceConfigInvalid)]
    for effect in output.effects:
        bench.answer(effect)
    assert () == bench.said("fence-config-n1")
    found = bench.plan()
    assert found is not None
    assert not found.is_pending


def test_what_nobody_needs_is_forgotten() -> None:
    """Neither plan, nor agent, nor complaint is left behind."""
    bench = Bench()
    bench.write("fence-config-n1", printed("n1"))
    bench.look()

    bench.delete_map("fence-config-n1")
    bench.look()

    rooms = (plan.ROOM.name, describing.ROOM.name, configs.ROOM.name)
    assert [] == [key for key in bench.engine.decisions if key.room in rooms]
    assert [] == [at for at in bench.engine.cache.refs() if at.kind.kind in ("FencePlan", "KnownAgent", "FenceAgent")]
