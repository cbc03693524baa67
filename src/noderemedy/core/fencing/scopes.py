"""What an agent's "off" is worth: power, storage, network, or nothing that could be proven. Tables; pure.

Called by `agents.py`. The metadata tells power from fabric (what cannot reboot is no power switch), and which "on" has
to run on the node itself; the rest is known by name. Rule: only the power of a node proves that it is off, so only
agents that switch it may stand in power management.
"""

from __future__ import annotations

from collections.abc import Mapping

from noderemedy.model.agent import AgentDescription
from noderemedy.model.fenceplan import Scope, Step
from noderemedy.model.run import Deed

NEEDED = ("off", "on", "status")
BY_NAME: dict[str, Scope] = {
    "fence_brocade": Scope.STORAGE,
    "fence_cisco_mds": Scope.STORAGE,
    "fence_sanbox2": Scope.STORAGE,
    "fence_scsi": Scope.STORAGE,
    "fence_mpath": Scope.STORAGE,
    "fence_ifmib": Scope.NETWORK,
    "fence_aws_vpc_net": Scope.NETWORK,
}
NO_PROOF: dict[str, str] = {
    "fence_compute": "it moves instances of a compute host and switches nothing",
    "fence_evacuate": "it moves instances of a compute host and switches nothing",
    "fence_crosslink": "it says off when a node does not answer, which proves nothing",
    "fence_sbd": "it leaves a message on a disk and cannot tell whether it was obeyed",
    "fence_heuristics_ping": "it asks the network and switches nothing",
    "fence_kdump": "it waits for a message; write kdump=true into config.properties instead",
    "fence_ack_manual": "it is a person's word; node-remedy attest NODE takes it",
}
# In the place of a power switch they show how a fence goes; what they call off is no node, and nothing is freed by it.
TRIES: dict[str, str] = {
    "fence_dummy": "it writes into a file",
    "fence_docker": "it stops a container",
}
LIBVIRT = "use fence_ipmilan with VirtualBMC, or fence_redfish with sushy-emulator"
ITS_BMC = "use fence_ipmilan or fence_redfish with the address of its BMC"
BY_SSH = f"a machine that shuts down, or whose state is not known; {ITS_BMC}"
BY_HAND = "cut off its storage instead (fence_scsi, fence_mpath), or attest by hand"
# Agents that call "off" whatever they do not understand, and what to use instead. As of fence-agents 4.12.
SAYS_OFF: dict[str, str] = {
    "fence_virsh": f"a guest that shuts down or sleeps, another language, or a sudo that wants a password; {LIBVIRT}",
    "fence_virt": f"a guest that its host does not know; {LIBVIRT}",
    "fence_xvm": f"a guest that its host does not know; {LIBVIRT}",
    "fence_vmware": "a guest that it does not find; use fence_vmware_rest or fence_vmware_soap",
    "fence_cisco_ucs": f"a blade that it takes for another one, or whose power is not known; {ITS_BMC}",
    "fence_lpar": f"a partition in error, or whose state is not available; {BY_HAND}",
    "fence_skalar": f"a guest in error, or whose host is away; {BY_HAND}",
    "fence_ibmz": f"a partition that runs with errors, or is degraded; {BY_HAND}",
    "fence_amt": f"a machine that sleeps; {BY_HAND}",
    "fence_cyberpower_ssh": f"outlet 1 if one of 10 to 19 is off; {BY_HAND}",
    "fence_raritan_px3": f"a group if one outlet of it is off, or an outlet if its neighbour is off; {BY_HAND}",
    **dict.fromkeys(("fence_ilo_ssh", "fence_ilo3_ssh", "fence_ilo4_ssh", "fence_ilo5_ssh", "fence_ilo_mp"), BY_SSH),
}
# The same by SNMP, and what their devices answer for on and off: at any other answer they fail before they call it off
# (`drivers/fence/snmpget.py`).
ANSWERS: dict[str, str] = {
    "fence_apc_snmp": "1,2",
    "fence_tripplite_snmp": "1,2",
    "fence_ipdu": "0,1",
    "fence_emerson": "1,2",
    "fence_ibmblade": "0,1",
    "fence_intelmodular": "0,2",
    "fence_cisco_mds": "1,2",
    "fence_ifmib": "1,2",
}
# The same, but it can list what there is: what it calls off is believed only if it is in that list (`results.py`).
LISTED = frozenset({"fence_zvmip"})
# A machine that is suspended, or whose state is saved, is off to these, and runs on with its old memory when it is
# switched on: what they call off is believed of a machine that was seen on before (`runs.py`).
SLEEPERS = frozenset({"fence_vmware_rest", "fence_vmware_soap", "fence_vmware_vcloud", "fence_vbox"})
# A key that is not registered cuts a node off only if others have reserved the disk: by which parameter an agent names
# the program that asks, and its name (`drivers/fence/persist.py`).
RESERVED: dict[str, tuple[str, str]] = {
    "fence_scsi": ("sg_persist_path", "sg_persist"),
    "fence_mpath": ("mpathpersist_path", "mpathpersist"),
}
ON_ITSELF = "lets a node in again only where that node runs it itself"
TRUE = ("1", "yes", "on", "true")
# What `covers` is told to mean where it says nothing, or is said in vain.
NO_VOLUMES = (
    "it names no volumes, so that nothing is freed behind it; and what other methods name is freed while this one is "
    "off, too; write covers=storageClass/NAME, driver/NAME or volume/NAME"
)
IN_VAIN = {
    Scope.POWER: "it switches power, which keeps a node from all its volumes, so that nobody reads it; leave it out",
    Scope.NETWORK: "it cuts off no storage, so that nobody reads it; leave it out",
    Scope.NOTHING: "it switches no machine, so that nobody reads it; leave it out",
}
STEP_WORDS = {Step.ISOLATION: "isolation", Step.POWER_MANAGEMENT: "power_management", Step.RECOVERY: "recovery"}
# (does it stand for power?, step) -> the deeds that make sense there, and what to do with the others.
PLACED: dict[tuple[bool, Step], tuple[tuple[Deed, ...], str]] = {
    (True, Step.ISOLATION): ((), "switches power, which is power_management; move it there"),
    (True, Step.POWER_MANAGEMENT): ((Deed.OFF, Deed.ON), ""),
    (True, Step.RECOVERY): (
        (),
        "switches power, and recovery comes when the node is Ready; move it to power_management",
    ),
    (False, Step.ISOLATION): ((Deed.OFF,), "cuts a node off with action=off; move action=on to recovery"),
    (False, Step.POWER_MANAGEMENT): (
        (),
        "switches no power, so that it does not prove the node off; move it to isolation",
    ),
    (False, Step.RECOVERY): ((Deed.ON,), "lets a node in again with action=on; move action=off to isolation"),
}


def unfit(agent: AgentDescription) -> str:
    """Why an agent can be used in no step at all; "" if it can."""
    words = unfit_by_name(agent.name) or lacking(agent)
    return f"agent {agent.name} {words}" if words else ""


def unfit_by_name(agent: str) -> str:
    """The same, as far as its name tells, without its name: nobody has to ask it."""
    if agent in NO_PROOF:
        return f"cannot fence: {NO_PROOF[agent]}"
    return f"proves nothing, as it says off also of {SAYS_OFF[agent]}" if agent in SAYS_OFF else ""


def lacking(agent: AgentDescription) -> str:
    """The same by what it says of itself."""
    missing = [word for word in NEEDED if not agent.can(word)]
    return f"has no action {' and no '.join(missing)}, so that nothing it does can be verified" if missing else ""


def scope_of(agent: AgentDescription, values: Mapping[str, str]) -> Scope:
    if values.get("network_fencing", "").lower() in TRUE:
        return Scope.NETWORK
    if agent.name in TRIES:
        return Scope.NOTHING
    if agent.name in BY_NAME:
        return BY_NAME[agent.name]
    return Scope.POWER if agent.can("reboot") else Scope.STORAGE


def unreachable(agent: AgentDescription, cluster: str) -> list[str]:
    """What keeps an agent from letting a node in on that very node: known before it is cut off."""
    if not agent.is_on_target:
        return []
    if cluster:
        return [f"agent {agent.name} {ON_ITSELF}, and no Job of ours runs in cluster {cluster}; use one from outside"]
    return [] if agent.runs_on_nodes else [f"agent {agent.name} {ON_ITSELF}; run the manager with --agents job"]


def of_volumes(scope: Scope, deeds: tuple[Deed, ...], covers: tuple[str, ...]) -> str:
    """What may surprise whoever wrote `covers`, or left it out; "" if nothing does."""
    if scope is Scope.STORAGE:
        words = NO_VOLUMES if Deed.OFF in deeds and not covers else ""
    else:
        words = IN_VAIN[scope] if covers else ""
    return f"parameter covers: {words}" if words else ""


def only_shown(agent: str) -> str:
    """What a method of such an agent is told to be."""
    return f"agent {agent} switches no machine ({TRIES[agent]}): it is for a try, and nothing is freed on its word"


def wrong_step(agent: str, scope: Scope, step: Step, deeds: tuple[Deed, ...]) -> list[str]:
    fitting, remedy = PLACED[scope in (Scope.POWER, Scope.NOTHING), step]
    return [] if set(deeds) <= set(fitting) else [f"agent {agent} {remedy}"]
