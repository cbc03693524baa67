"""What a method switches, in words that are the same for two methods of one thing, whatever they call it. Pure.

No other node may have it: whoever is fenced by the plug of another node runs on, and the other one goes dark.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core.fencing.merging import PLACES, Draft
from noderemedy.model.agent import AgentDescription

TRUE = ("1", "yes", "on", "true")
OLD = {"ipaddr": "ip", "port": "plug"}  # the names that agents had for them once


class Plug(Struct, frozen=True):
    """What a method switches, and the parameter that says so first of all."""

    words: str = ""  # "": nothing says what
    parameter: str = ""


def plug_of(agent: AgentDescription, values: dict[str, str]) -> Plug:
    """By the agent's own names of its parameters."""
    port = agent.find("ipport")
    return plug_from(agent.name, values, (port.default if port else "") or "")


def loose_plug(draft: Draft) -> Plug:
    """Of a method that cannot be used: the node hangs on it all the same. Nobody can be asked for the names."""
    told = {OLD.get(key, key): value for layer in draft.layers for key, value in layer.parameters}
    return plug_from(draft.agent, told, "") if draft.is_mapped else Plug()


def plug_from(agent: str, values: dict[str, str], usual_port: str) -> Plug:
    """Two agents may know one device under one address, so the agent's name counts only where there is no address."""
    places = {key: plain(values[key]) for key in PLACES if key in values}
    address = places.pop("ip", "")
    if not address and values.get("port_as_ip", "").lower() in TRUE:
        address = places.pop("plug", "")
    device = address.lower().rstrip(".") or agent
    if not device or not (address or places):
        return Plug()
    if address and (given := values.get("ipport")) and given != usual_port:
        device = f"{device}:{given}"
    parameter = next((key for key in ("plug", *sorted(places)) if key in places), "ip" if "ip" in values else "plug")
    return Plug(" ".join([device, *(f"{key}={value}" for key, value in sorted(places.items()))]), parameter)


def plain(value: str) -> str:
    """Outlet 07 is outlet 7 to an agent, and a path is the same with a slash at its end."""
    return str(int(value)) if value.isdecimal() else value.rstrip("/") or value
