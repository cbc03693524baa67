"""What a method switches, in words that are the same for two methods of one thing, whatever they call it. Pure.

No other node may have it: whoever is fenced by the plug of another node runs on, and the other one goes dark.
Rule: in doubt two plugs are one. A word that only one of them says (a zone, a switch) does not tell them apart.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from uuid import UUID

from noderemedy.core.fencing.disks import KEYS, listed, number
from noderemedy.core.fencing.letters import plugs_in
from noderemedy.core.fencing.merging import PLACES, Draft
from noderemedy.model.agent import AgentDescription
from noderemedy.model.fenceplan import Plug

SWITCHED = re.compile(r"([0-9]{1,3}):([^:]+)", re.ASCII)  # SWITCH:PLUG, as agents for APC take it
# The names that agents had for them once, or still have beside the others.
OLD = {"ipaddr": "ip", "port": "plug", "uuid": "plug", "systems-uri": "systems_uri"}
# Where a machine is: there may be another one of its name elsewhere.
APART = (
    *("namespace", "project", "zone", "region", "resourceGroup", "subscriptionId", "suborg", "vmware_datacenter"),
    *("systems_uri", "switch", "instance", "managed", "devices"),
)
NOWHERE = ("pve_node",)  # the numbers of its machines are those of the whole cluster, and machines move
PARTS = re.compile(r"[,\s]+")


def plugs_by(agent: AgentDescription, values: dict[str, str]) -> tuple[Plug, ...]:
    """By the agent's own names of its parameters."""
    port = agent.find("ipport")
    return plugs_from(agent.name, values, (port.default if port else "") or "")


def loose_plugs(draft: Draft) -> tuple[Plug, ...]:
    """Of a method that cannot be used: the node hangs on it all the same. Nobody can be asked for the names."""
    told = {key: value for layer in draft.layers for key, value in layer.parameters}
    return plugs_from(draft.agent, told, "") if draft.is_mapped else ()


def plugs_from(agent: str, values: dict[str, str], usual_port: str) -> tuple[Plug, ...]:
    """Two agents may know one device under one address, so the agent's name counts only where there is no address."""
    told = {OLD.get(key, key): value for key, value in values.items()}
    places = {key: told[key] for key in PLACES if key in told}
    address = places.pop("ip", "")
    if "plug" in places and "port_as_ip" in told:  # agents look only whether it is there
        address = places.pop("plug")
    if key := places.get(KEYS.get(agent, "")):  # the name of the node beside its key says nothing to the agent
        where = " ".join(sorted(map(number, listed(told))))
        return (Plug(f"disk key={plain(key)}", KEYS[agent], (("devices", where),) if where else ()),)
    device = host(address) or agent
    if not device or not (address or places):
        return ()
    if address and (given := told.get("ipport")) and given != usual_port:
        device = f"{device}:{given}"
    parameter = next((key for key in ("plug", *sorted(places)) if key in places), "ip" if "ip" in told else "plug")
    parts = plugs_in(told) if places.pop("plug", "") else [""]
    fixed = {key: plain(value) for key, value in places.items() if key not in (*APART, *NOWHERE)}
    there = {key: place(key, told[key]) for key in APART if key in told}
    return tuple(dict.fromkeys(one_of(device, fixed, there, part, parameter) for part in parts))


def one_of(device: str, fixed: dict[str, str], there: dict[str, str], part: str, parameter: str) -> Plug:
    """One part of what `plug` lists."""
    if on_switch := SWITCHED.fullmatch(part.strip()):
        there, part = there | {"switch": plain(on_switch[1])}, on_switch[2]
    said = fixed | ({"plug": plain(part)} if part else {})
    words = " ".join([device, *(f"{key}={value}" for key, value in sorted(said.items()))])
    return Plug(words, parameter, tuple((key, value) for key, value in sorted(there.items()) if value))


def place(key: str, value: str) -> str:
    """ "" if it tells nothing: a project has a number beside its name."""
    return "" if key == "project" and value.isdecimal() else " ".join(map(plain, PARTS.split(value.strip())))


def is_same(one: Plug, other: Plug) -> bool:
    """Whether they may be one. Of lists one word in common is enough."""
    there = dict(other.apart)
    return one.words == other.words and all(
        set(value.split()) & set(there[key].split()) for key, value in one.apart if key in there
    )


def host(address: str) -> str:
    """An address has several spellings, a name ends with a dot or without."""
    name = address.strip().strip("[]").lower()
    try:
        return str(ip_address(name))
    except ValueError:
        return name.rstrip(".")


def plain(value: str) -> str:
    """Outlet 07 is outlet 7 to an agent, a path is the same with a slash at its end, and a UUID without its dashes."""
    text = value.strip(" \"'").lower()
    for reading in (UUID, int):
        try:
            return str(reading(text))
        except ValueError:
            continue
    return text.rstrip("/") or text
