"""Does a device have the outlets that it calls off? By its own list, as `list` of fence agents prints it. Pure.

Asked by `results.py` where an agent calls everything off that it does not understand (`scopes.LISTED`): an outlet that
is not there answers an error which such an agent takes for "off".
"""

from __future__ import annotations

from collections.abc import Mapping

from noderemedy.model.run import Order

BY_ALIAS = ("fence_apc_snmp", "fence_tripplite_snmp", "fence_ipdu")  # a plug that is no number is an outlet's name
LEAST = 2  # of a table that a device does not have, agents show the error as one outlet


def unlisted(order: Order, printed: str) -> str:
    """Why the list does not show the outlets of this order; "" if it shows each."""
    values = dict(order.parameters)
    shown = read(printed, values.get("separator", ","))
    is_list = len(shown) >= LEAST
    wanted = [one.strip() for one in values.get("plug", "").split(values.get("plug_separator", ","))]
    missing = [one for one in wanted if not is_list or not is_shown(one, values, shown, order.agent)]
    remedy = "correct plug=" if is_list else "what it lists are no outlets: correct ip=, or use an agent that fits it"
    return f"its list has no outlet {', '.join(missing)}; {remedy}" if missing else ""


def read(printed: str, separator: str) -> dict[str, str]:
    """Outlets with their names. What is no such line, and what is an error in the place of a name, is left out."""
    lines = [line.partition(separator) for line in printed.splitlines()] if separator else []
    named = [(outlet.strip(), name.strip().strip('"')) for outlet, found, name in lines if found]
    return {outlet: name for outlet, name in named if is_outlet(outlet) and "no such " not in name.lower()}


def is_outlet(word: str) -> bool:
    return bool(word) and word.isprintable() and not any(letter.isspace() for letter in word)


def is_shown(plug: str, values: Mapping[str, str], shown: Mapping[str, str], agent: str) -> bool:
    """By its number, by that of its switch and its own, or by its name where the agent takes names."""
    by_switch = f"{values.get('switch', '1')}:{plug}"
    is_named = agent in BY_ALIAS and not plug.isdigit() and bool(plug) and plug in shown.values()
    return plug in shown or by_switch in shown or is_named
