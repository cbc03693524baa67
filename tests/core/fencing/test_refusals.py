"""What can be wrong with a fence configuration is refused by one sentence: what, where, and how to mend it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import NOW, a_node
from tests.core.fencing.configuring import Bench, one_method, printed
from tests.wire.agents import AGENTS

from noderemedy.core.fencing import plan
from noderemedy.model.agent import Parameter, Sort
from noderemedy.model.fenceplan import AgentMethod, Scope, Step
from noderemedy.model.ids import NODE, Ref, ref

PLUGGED = "agent=fence_pdu\nip=10.1.1.1\nplug=1\nusername=u"
M = "ConfigMap fence-config-n1, node n1, method m"
METHODS: list[tuple[str, str]] = [  # fence-method-m, the problem
    ("template=fence-method-template-none\nplug=1", f"{M}: template fence-method-template-none does not exist; create"),
    ("template=fence-method-template-bad\nplug=1", "ConfigMap fence-method-template-bad: template.properties: the ag"),
    ("agent=fence_nobody\nip=a\nplug=1", f"{M}: agent fence_nobody is not installed where node-remedy runs; install"),
    ("template=fence-method-template-pdu", f"{M}: nothing says which plug is this node's; write plug=…"),
    ("agent=fence_pdu\nip=a\nplug=1", f"{M}: parameter username: fence_pdu requires it; write username=… or user"),
    ("agent=fence_pdu\nip=a\nusername=u", f"{M}: parameter plug: fence_pdu requires it; write plug=…"),
    (f"{PLUGGED}\nplgu=1", f"{M}: parameter plgu: fence_pdu does not know it; did you mean plug?"),
    (f"{PLUGGED}\nzzz=1", f"{M}: parameter zzz: fence_pdu does not know it; node-remedy agents fence_pdu lists"),
    (f"{PLUGGED}\nport=2", f"{M}: parameter port: it is another name of plug, which is there, too; keep one"),
    (f"{PLUGGED}\nipport=many", f"{M}: parameter ipport: 'many' is not a whole number"),
    (f"{PLUGGED}\nlanplus=perhaps", f"{M}: parameter lanplus: 'perhaps' is neither true nor false; write 1 or 0"),
    (f"{PLUGGED}\npower_timeout=1m", f"{M}: parameter power_timeout: '1m' is not a number of seconds"),
    (f"{PLUGGED}\nmethod=else", f"{M}: parameter method: 'else' is none of onoff, cycle; write one of these"),
    (f"{PLUGGED}\nmethod=cycle", f"{M}: parameter method: whether a cycle happened cannot be verified; write onoff"),
    (f"{PLUGGED}\nipport=", f"{M}: parameter ipport: '' is not a whole number"),
    ("agent=fence_pdu\nip=\nplug=1\nusername=u", f"{M}: parameter ip: it is empty; write its value"),
    ("agent=fence_pdu\nip=<ip>\nplug=1\nusername=u", f"{M}: parameter ip: '<ip>' is still to be filled in"),
    (f"{PLUGGED}\nmissing_as_off=1", f"{M}: parameter missing_as_off: a mistyped plug would count as switched off"),
    (f"{PLUGGED}\npassword_script=/x", f"{M}: parameter password_script: it names a program"),
    (f"{PLUGGED}\nrack_path=/x", f"{M}: parameter rack_path: it names a program"),
    (f"{PLUGGED}\ndebug_file=/x", f"{M}: parameter debug_file: it names a program"),
    ("agent=fence_pdu\nip=a\nplug=secret:a/b\nusername=u", f"{M}: parameter plug: it says which device is meant"),
    (f"{PLUGGED}\nlanplus=secret:a/b", f"{M}: parameter lanplus: it says which device is meant, or how"),
    ("agent=fence_mute\nip=a\nplug=1\nusername=u", f"{M}: agent fence_mute has no action status, so that nothing"),
    ("agent=fence_switch\nip=a\nplug=1\nusername=u", f"{M}: agent fence_switch switches no power, so that it does not"),
    ("agent=fence_pdu\nip={label:none}\nplug=1", f"{M}: parameter ip: {{label:none}} is empty, for the node has no"),
    ("agent=fence_pdu\nip={providerID}\nplug=1", f"{M}: parameter ip: {{providerID}} is empty, for the node has no p"),
    ("agent=fence_pdu\nip={annotation:evil}\nplug=1", f"{M}: parameter ip: {{annotation:evil}} holds '\\n'; correct"),
    (f"{PLUGGED}\nopenrc=secret:a/b", f"{M}: parameter openrc: the agent runs it as a script, with our own rights; wr"),
]  # fmt: skip


LETTERS: list[tuple[str, str]] = [  # lines of a method, the parameter that is refused
    ("ip=10.0.0.1 -oProxyCommand=/x", "ip"),
    ("ip=-oProxyCommand=/x", "ip"),
    ("ip=10.0.0.1;reboot", "ip"),  # fence_amt hands it to a shell
    ("ip=$(reboot)", "ip"),
    ("ip=a\\ -b", "ip"),
    ("ip='a'b'", "ip"),
    ("ip=10.0.0.1,10.0.0.2", "ip"),
    ("ipaddr=a b", "ip"),
    ("username=-oProxyCommand=/x", "username"),
    ("username=\\-oProxyCommand=/x", "username"),
    ("username=''-oProxyCommand=/x", "username"),
    ("username=a b", "username"),
    ('username=a"b', "username"),
    ("login=a b", "username"),
    ("target=0x20 -f/x", "target"),
    ("cipher=3 -f/x", "cipher"),
    ("identity_file=/k -oProxyCommand=/x", "identity_file"),
    ("proxyhost=a b", "proxyhost"),
    ("plug=-f/x", "plug"),
    ("plug=1,-f/x", "plug"),
    ("plug=a b\nport_as_ip=1", "plug"),
    ("plug=a b\nport_as_ip=0", "plug"),
    ("devices=-f/x", "devices"),
    ('key="-f"', "key"),
]
NAMES = ("target", "cipher", "identity_file", "proxyhost", "devices", "key", "openrc", "plug_separator", "separator")
WORDY = replace(
    AGENTS["fence_pdu"],
    parameters=(*AGENTS["fence_pdu"].parameters, *map(Parameter, NAMES), Parameter("port_as_ip", Sort.BOOLEAN)),
)


def worded(lines: str) -> str:
    """A method of an agent that takes all of them, without what the lines say anew."""
    given = {line.partition("=")[0] for line in lines.splitlines()}
    given |= {"ip" if "ipaddr" in given else "", "username" if "login" in given else ""}
    usual = [line for line in PLUGGED.splitlines() if line.partition("=")[0] not in given]
    return "\n".join((*usual, lines))


@pytest.mark.parametrize(("lines", "parameter"), LETTERS)
def test_a_value_that_would_be_another_option_is_refused(lines: str, parameter: str) -> None:
    """Agents paste it into a command line, where a blank or a dash makes an option of it, and an option a program."""
    bench = Bench(agents={**AGENTS, "fence_pdu": WORDY})
    bench.write("fence-config-n1", one_method(worded(lines)))

    (problem,) = bench.problems()
    assert problem.startswith(f"{M}: parameter {parameter}: "), problem
    assert "; write " in problem


@pytest.mark.parametrize(
    "lines",
    [
        *("ip=bmc-1.example.com", "ip=fe80::1%eth0", "ip=[2001:db8::1]", "ip=udp6:[::1]:161", "username=CORP\\anna"),
        *("username=anna@vsphere.local", "plug=/dc/vm/My machine", "plug=[store] vm/vm.vmx", "separator=-"),
        *("devices=/dev/sda /dev/sdb", "plug=1,2\nplug_separator=;", "plug=vm-1", "target=0x20"),
    ],
)
def test_what_can_be_meant_is_let_through(lines: str) -> None:
    """A machine may have a blank in its name, and a user a backslash."""
    bench = Bench(agents={**AGENTS, "fence_pdu": WORDY})
    bench.write("fence-config-n1", one_method(worded(lines)))

    assert () == bench.problems()


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("10.0.0.1 -oProxyCommand=/x", "holds ' '"),
        ("-oProxyCommand=/x", "begins with '-'"),
        ("1,-f", "holds ',-'"),
        ("a;reboot", "holds ';'"),
        ("$(reboot)", "holds '$'"),
        ("1/../2", "holds '..'"),
        ("1/%2e%2e/2", "holds '%'"),
        ("\u00e4", "holds '\u00e4'"),
        ('"1"', "holds '\"'"),
    ],
)
@pytest.mark.parametrize("parameter", ["ip", "plug", "username", "identity_file", "separator"])
def test_what_a_node_writes_is_held_to_few_letters(word: str, told: str, parameter: str) -> None:
    """Whatever the parameter: others than the administrator write annotations."""
    bench = Bench(agents={**AGENTS, "fence_pdu": WORDY})
    bench.node("n1", a_node("uid-n1", provider_id="", annotations={"evil": word}))
    bench.write("fence-config-n1", one_method(worded(f"{parameter}={{annotation:evil}}")))

    (problem,) = bench.problems()
    assert problem.startswith(f"{M}: parameter {parameter}: {{annotation:evil}} {told}; correct the node's annotation")


@pytest.mark.parametrize(
    "word",
    ["10.0.0.1", "fe80::1", "[::1]", "node-1.example.com", "1:7", "a@b", "/redfish/v1/Systems/1", "a_b+c="],
)
def test_names_and_addresses_are_filled_in(word: str) -> None:
    """As BMCs, outlets and machines are called."""
    bench = Bench()
    bench.node("n1", a_node("uid-n1", provider_id="x://y/z", annotations={"outlet": word}))
    bench.write(
        "fence-config-n1", one_method("agent=fence_pdu\nip=a\nusername=u\nplug={annotation:outlet}-{providerID}")
    )

    assert () == bench.problems()


@pytest.mark.parametrize("plug", ["1,2", "1, 2", "1,", "1:7,1:8", "1;2\nplug_separator=;", "1,2\nplug_separator=,"])
def test_a_list_of_plugs_is_refused(plug: str) -> None:
    """An agent that keeps the number of the first switches that one twice: the other supply of the node stays on."""
    bench = Bench(agents={**AGENTS, "fence_pdu": WORDY})
    bench.write("fence-config-n1", one_method(f"agent=fence_pdu\nip=a\nusername=u\nplug={plug}"))

    (problem,) = bench.problems()
    assert problem.startswith(f"{M}: parameter plug: {plug.splitlines()[0]!r} is more than one plug, ")
    assert problem.endswith("; write a method for each")


@pytest.mark.parametrize("agent", ["fence_apc_snmp", "fence_tripplite_snmp", "fence_ipdu", "fence_eaton_snmp"])
def test_an_outlet_of_a_pdu_is_a_number(agent: str) -> None:
    """Both supplies of a node may have its name: the agent switches the last of them, and calls the node off."""
    bench = Bench(agents={agent: replace(AGENTS["fence_pdu"], name=agent)})
    bench.write("fence-config-n1", one_method(PLUGGED.replace("fence_pdu", agent).replace("plug=1", "plug=worker-1")))
    (problem,) = bench.problems()
    assert problem.startswith(f"{M}: parameter plug: 'worker-1' may be the name of several outlets, ")

    for plug in ("plug=7", "plug=2:7"):
        bench.write("fence-config-n1", one_method(PLUGGED.replace("fence_pdu", agent).replace("plug=1", plug)))
        assert () == bench.problems()


def test_a_range_of_plugs_is_refused() -> None:
    """PowerMan takes one, and nobody else could tell which plugs are in it."""
    bench = Bench(agents={"fence_powerman": replace(AGENTS["fence_pdu"], name="fence_powerman")})
    bench.write("fence-config-n1", one_method("agent=fence_powerman\nip=a\nusername=u\nplug=node[1-3]"))

    (problem,) = bench.problems()
    assert problem.startswith(f"{M}: parameter plug: 'node[1-3]' is more than one plug, ")


def test_all_is_well_without_a_mistake() -> None:
    """What the other cases begin with is right."""
    bench = Bench()
    bench.write("fence-config-n1", one_method(PLUGGED))

    assert () == bench.problems()


@pytest.mark.parametrize(("text", "problem"), METHODS, ids=[problem[-40:] for _, problem in METHODS])
def test_a_wrong_method_is_refused(text: str, problem: str) -> None:
    """And nothing of it is left in the plan: half a fence is none."""
    bench = Bench(agents={**AGENTS, "fence_pdu": WORDY})
    bench.node("n1", a_node("uid-n1", provider_id="", annotations={"evil": "a\naction=on\nplug=9"}))
    bench.write("fence-method-template-bad", {"template.properties": "ip=1"})
    bench.write("fence-config-n1", one_method(text))

    found = bench.plan()
    assert found is not None
    assert [True] == [str(one).startswith(problem) for one in found.problems], found.problems
    assert () == found.power_management


TOLD = "4c4c4544-0042-3510-8053-b4c04f4e3132"
IDENTITIES: list[tuple[str, str, str]] = [  # the agent, identity=, the problem
    ("fence_ipmilan", TOLD, ""),
    ("fence_redfish", TOLD.replace("-", "").upper(), ""),
    ("fence_ipmilan", "{label:bmc}", ""),
    ("fence_ipmilan", "{label:none}", "{label:none} is empty, for the node has no label none"),
    ("fence_ipmilan", "any", "'any' is no UUID of a machine; write the UUID that node-remedy drill shows"),
    ("fence_ipmilan", "00000000-0000-0000-0000-000000000000", "'00000000-0000-0000-0000-000000000000' is no UUID"),
    ("fence_pdu", TOLD, "no device of fence_pdu tells who it is; leave it out"),
]


@pytest.mark.parametrize(("agent", "value", "problem"), IDENTITIES)
def test_the_number_of_a_device_is_one_that_it_can_tell(agent: str, value: str, problem: str) -> None:
    """What is never compared would only look like a safeguard."""
    names = ("fence_ipmilan", "fence_redfish", "fence_pdu")
    bench = Bench(agents={name: replace(AGENTS["fence_pdu"], name=name) for name in names})
    bench.node("n1", a_node("uid-n1", provider_id="", labels={"bmc": TOLD}))
    bench.write("fence-config-n1", one_method(f"{PLUGGED.replace('fence_pdu', agent)}\nidentity={value}"))

    if problem:
        assert [True] == [one.startswith(f"{M}: parameter identity: {problem}") for one in bench.problems()]
        return
    assert TOLD == bench.only_method().tells.lower() or value == bench.only_method().tells


NUMBERED = "agent=fence_redfish\nip={node}.bmc\nplug={node}\nusername=u\nidentity="
SHARED = "parameter identity: all nodes would be taken for one machine; use {label:…} in it, or write it into the"


def numbered(where: str, number: str) -> Bench:
    """A BMC whose number is told in a cloud's template, in one of ours, or in a document of many nodes."""
    bench = Bench(agents={"fence_redfish": replace(AGENTS["fence_pdu"], name="fence_redfish")})
    provider_id = "openstack:///0a1b" if where == "openstack" else ""
    bench.node("n1", a_node("uid-n1", provider_id=provider_id, labels={"bmc": TOLD, "type": "compute"}))
    bench.write(f"fence-method-template-{where}", {"template.properties": f"{NUMBERED}{number}"})
    if where == "bmcs":
        bench.write("fence-config-n1", one_method("template=fence-method-template-bmcs"))
    if where == "none":
        bench.write(
            "fence-config-c", one_method(f"{NUMBERED}{number}", "node_selector=type=compute\npower_management=m")
        )
    return bench


@pytest.mark.parametrize("where", ["openstack", "bmcs", "none"])
def test_a_number_that_many_nodes_share_is_refused(where: str) -> None:
    """Any of them would pass for the machine of any other; what is filled in is compared for each."""
    assert TOLD == numbered(where, "{label:bmc}").only_method().tells

    assert [True] == [SHARED in one for one in numbered(where, TOLD).problems()]


def test_no_cloud_tells_the_number_of_an_instance() -> None:
    """A template for all instances of a cloud has none either."""
    bench = Bench()
    bench.node("n1", a_node("uid-n1", provider_id="aws:///eu-west-1a/i-0123"))
    bench.write("fence-method-template-aws", {"template.properties": f"agent=fence_aws\nsecret=aws\nidentity={TOLD}"})

    assert "parameter identity: no device of fence_aws tells who it is; leave it out" in bench.problems()[0]


N = "ConfigMap fence-config-n1, node n1"
UUID = "4230a0f1-0000-4000-8000-00000000000a"
AZURE = "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/"
WORDS: list[tuple[str, str]] = [  # config.properties, the problem
    ("power_management=", f"{N}: power_management names no method, and nothing done is no success; write"),
    ("isolation=mark-unschedulable", f"{N}: power_management names no method"),
    ("power_management=m\nisolation=", f"{N}: isolation names no method"),
    ("power_management=m\nrecovery=mm", f"{N}, method mm: recovery names it, and there is no fence-method-mm"),
    (
        "power_management=host-powr",
        f"{N}, method host-powr: power_management names it, and there is no fence-method-host",
    ),
    (
        "power_management=mark-unschedulable",
        f"{N}, method mark-unschedulable: it does nothing useful in power_management; move it to isolation",
    ),
    (
        "power_management=restart-instance",
        f"{N}, method restart-instance: its providerID is empty; write a method with an",
    ),
    ("power_management=clean-pods", f"{N}: power_management switches nothing off; add a method with action=off"),
    (
        "power_management=m\nisolation=m",
        f"{N}, method m: agent fence_pdu switches power, which is power_management; move",
    ),
    (
        "power_management=m\nrecovery=m",
        f"{N}, method m: agent fence_pdu switches power, and recovery comes when the node",
    ),
    ("power_management=m\nisolaton=x", "ConfigMap fence-config-n1: config.properties, line 2: isolaton is not known"),
]


@pytest.mark.parametrize(("words", "problem"), WORDS, ids=[problem[-40:] for _, problem in WORDS])
def test_a_wrong_step_is_refused(words: str, problem: str) -> None:
    """An empty list is an error, never success."""
    bench = Bench()
    bench.write("fence-config-n1", {"config.properties": words, "fence-method-m": PLUGGED})

    assert [True] == [one.startswith(problem) for one in bench.problems()], bench.problems()


def test_shared_parameters_alone_never_fence() -> None:
    """A set of nodes whose method names one plug for all of them is refused for all of them."""
    bench = Bench()
    bench.node("n1", a_node("uid-n1", provider_id="", labels={"type": "compute"}))
    bench.write("fence-config-c", one_method(PLUGGED, "node_selector=type=compute\npower_management=m"))

    (problem,) = bench.problems()
    assert "method m: all nodes of the set would share one plug; use {node}" in problem


def test_two_documents_for_one_node_are_refused() -> None:
    """Nobody could tell which one is meant."""
    bench = Bench()
    bench.write("fence-config-n1", one_method(PLUGGED))
    bench.write("fence-config-other", one_method(PLUGGED))

    assert (
        "node n1: ConfigMaps fence-config-n1 and fence-config-other speak of it; keep one, or narrow a selector",
    ) == (bench.problems())


@pytest.mark.parametrize(
    ("provider", "problem"),
    [
        ("aws:///eu-west-1a/fargate", "its providerID is aws:///eu-west-1a/fargate: it names no EC2 instance"),
        ("gce://zone/name", "it is not gce://PROJECT/ZONE/NAME"),
        ("openstack:///", "it names no instance"),
        ("openstack:///0123", "fence_openstack needs credentials; create ConfigMap fence-method-template-openstack"),
        (f"{AZURE}virtualMachineScaleSets/v/virtualMachines/0",
         "it names no virtual machine outside a scale set"),
        (f"vsphere://{UUID}", "fence_vmware_soap needs credentials; create ConfigMap fence-method-template-vsphere"),
        ("vsphere://0123", "its providerID is vsphere://0123: it names no virtual machine by its UUID; write a method"),
        ("gce://p/z/a,b", "it holds ','; write a method with an agent of its own"),
        ("gce://p/z/-a", "it begins with '-'; write a method with an agent of its own"),
        ("aws:///eu-west-1a/i-0 1", "it holds ' '; write a method with an agent of its own"),
    ],
)  # fmt: skip
def test_an_instance_that_cannot_be_switched_says_why(provider: str, problem: str) -> None:
    """By name of the node and of what its providerID lacks."""
    bench = Bench()
    bench.node("n1", a_node("uid-n1", provider_id=provider))
    bench.write("fence-config-n1", {"config.properties": "power_management=restart-instance"})

    (found,) = bench.problems()
    assert found.startswith("ConfigMap fence-config-n1, node n1, method restart-instance: ")
    assert problem in found


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        ("fence_sbd", "leaves a message on a disk"),
        ("fence_crosslink", "does not answer, which proves nothing"),
        ("fence_virsh", "says off also of a guest that shuts down or sleeps, another language, or a sudo that wants a"),
        ("fence_virsh", "; use fence_ipmilan with VirtualBMC, or fence_redfish with sushy-emulator"),
        ("fence_xvm", "says off also of a guest that its host does not know; use fence_ipmilan"),
        ("fence_virt", "says off also of a guest that its host does not know; use fence_ipmilan"),
        ("fence_vmware", "says off also of a guest that it does not find; use fence_vmware_rest or fence_vmware_soap"),
        ("fence_cisco_ucs", "power is not known; use fence_ipmilan or fence_redfish with the address of its BMC"),
        ("fence_lpar", "says off also of a partition in error, or whose state is not available; cut off its storage"),
        ("fence_skalar", "says off also of a guest in error, or whose host is away; cut off its storage"),
        ("fence_ibmz", "says off also of a partition that runs with errors, or is degraded; cut off its storage"),
        ("fence_cyberpower_ssh", "says off also of outlet 1 if one of 10 to 19 is off; cut off its storage"),
        ("fence_raritan_px3", "says off also of a group if one outlet of it is off, or an outlet if its neighbour is"),
        ("fence_amt", "says off also of a machine that sleeps; cut off its storage"),
        (
            "fence_ilo4_ssh",
            "says off also of a machine that shuts down, or whose state is not known; use fence_ipmilan",
        ),
        ("fence_ilo_mp", "says off also of a machine that shuts down, or whose state is not known; use fence_ipmilan"),
    ],
)
def test_what_proves_nothing_is_refused(agent: str, why: str) -> None:
    """Whatever the agent's own metadata promises."""
    bench = Bench(agents={agent: replace(AGENTS["fence_pdu"], name=agent)})
    bench.write("fence-config-n1", one_method(PLUGGED.replace("fence_pdu", agent)))

    assert why in bench.problems()[0]


@pytest.mark.parametrize("agent", ["fence_dummy", "fence_docker"])
def test_what_switches_no_machine_shows_the_flow_and_is_no_power(agent: str) -> None:
    """It stands where power does, and nowhere else; what it says counts for nothing."""
    bench = Bench(agents={agent: replace(AGENTS["fence_pdu"], name=agent)})
    bench.write("fence-config-n1", one_method(PLUGGED.replace("fence_pdu", agent)))
    found = bench.plan()
    assert found is not None
    assert () == found.problems
    assert [Scope.NOTHING] == [one.scope for one in found.power_management if isinstance(one, AgentMethod)]

    words = "node_name=n1\nisolation=m\npower_management=m"
    bench.write("fence-config-n1", one_method(PLUGGED.replace("fence_pdu", agent), words))
    assert "move it there" in bench.problems()[0]


def on_disks(words: str = "") -> dict[str, str]:
    """A node that loses its reservation, and makes it itself when it is back."""
    return {
        "config.properties": f"node_name=n1\n{words}isolation=d\npower_management=m\nrecovery=d2",
        "fence-method-m": PLUGGED,
        "fence-method-d": "agent=fence_disk\nplug={node}\ndevices=/dev/sdb\ncovers=driver/san",
        "fence-method-d2": "agent=fence_disk\nplug={node}\ndevices=/dev/sdb",
    }


def test_a_disk_is_switched_on_by_the_node_itself() -> None:
    """Its reservation is the node's own: the metadata says so, and the plan keeps it."""
    bench = Bench()
    bench.write("fence-config-n1", on_disks())

    found = bench.plan()
    assert found is not None
    assert () == found.problems
    (method,) = found.methods(Step.ISOLATION)
    assert isinstance(method, AgentMethod)
    assert (True, ("driver/san",)) == (method.on_target, method.covers)


def test_a_disk_is_refused_where_agents_are_processes() -> None:
    """Nobody could let the node in again: that is told before it is cut off."""
    bench = Bench(agents={**AGENTS, "fence_disk": replace(AGENTS["fence_disk"], runs_on_nodes=False)})
    bench.write("fence-config-n1", on_disks())
    where, why = (
        "ConfigMap fence-config-n1, node n1, method",
        "only where that node runs it itself; run the manager with",
    )

    assert tuple(f"{where} {one}: agent fence_disk lets a node in again {why} --agents job" for one in ("d", "d2")) == (
        bench.problems()
    )


def test_a_disk_of_another_cluster_is_refused() -> None:
    """A Job on the node of that name would run here, on another machine."""
    bench = Bench()
    bench.engine.listed(NODE, bench.now, "metal/c1")
    bench.see(Ref("metal/c1", NODE, "", "n1"), a_node("uid-there", provider_id=""))
    bench.write("fence-config-there", on_disks("cluster=metal/c1\n"))
    found = bench.plan(cluster="metal/c1")

    assert found is not None
    assert ["d", "d2"] == [problem.method for problem in found.problems]
    assert "no Job of ours runs in cluster metal/c1; use one from outside" in found.problems[0].words


lines = st.sampled_from(
    [
        "node_name=n1",
        "node_selector=type=compute",
        "isolation=m",
        "power_management=m a",
        "recovery=m",
        "template=fence-method-template-pdu",
        "agent=fence_pdu",
        "plug=1",
        "plug={node}",
        "ip=a",
        "username=u",
        "password=hunter2",
        "secret=s",
        "action=off",
        "timeout=9",
        "x",
        "a=b",
    ]
)
texts = st.lists(lines, max_size=6).map("\n".join)
keys = st.sampled_from(["config.properties", "fence-method-m", "fence-method-a", "template.properties"])
maps = st.dictionaries(keys, texts, max_size=4)
names = st.sampled_from(["fence-config-n1", "fence-config-n2", "fence-config-x", "fence-method-template-pdu"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(names, maps), max_size=4))
def test_any_documents_come_to_rest(written: list[tuple[str, dict[str, str]]]) -> None:
    """Whatever is written: no room breaks, a second look changes nothing, and what has no problem can be done."""
    bench = Bench(nodes=2)
    for name, data in written:
        bench.write(name, data)
    bench.look()

    for name in ("n1", "n2"):
        view = plan.sees(ref(NODE, name), bench.engine.cache)
        entry = bench.plan(name)
        assert (view is None) == (entry is None)
        if view is not None:
            decision = plan.decide(view, NOW)
            assert decision == plan.decide(view, NOW)
            assert [entry] == [fact.value for fact in decision.facts]
            assert "hunter2" not in repr(entry)
            assert entry is not None
            assert entry.problems or entry.power_management


def test_the_printed_configuration_has_no_problem() -> None:
    """The builders' own document, for all the others."""
    bench = Bench()
    bench.write("fence-config-n1", printed("n1"))

    assert () == bench.problems()
