"""Which letters a parameter may hold: agents paste them into command lines, and some into a shell. Tables; pure.

Called by `placeholders.py`, `clouds.py` and `agents.py`. A blank or a dash makes an option of a value, and an option of
ssh runs a program with our own rights. Rule 1: what others write (annotations, labels, providerIDs) is held to a few
letters, whatever it is for. Rule 2: what the administrator writes is refused only where it cannot be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LETTERS_MAX = 60
OF_OTHERS = re.compile(r"[A-Za-z0-9._:/@+=,\[\]-]", re.ASCII)
OF_CLOUDS = re.compile(r"[A-Za-z0-9._:()-]", re.ASCII)  # one name, not a list of them
TOGETHER = (",-", "..")  # an option in a list, and a path to somebody else's
HOST = re.compile(r"[A-Za-z0-9_:\[][A-Za-z0-9._:%\[\]/-]*", re.ASCII)
HOSTS = ("ip", "proxyhost")
# Agents put these into a command line as they are, so that a blank or a quote can never have been meant.
WORDS = ("username", "target", "cipher", "identity_file")
NOT_IN_A_WORD = re.compile(r"[\s'\"]")
NO_OPTION = (*WORDS, "plug", "uuid", "key", "devices", "switch", "managed", "instance", "pve_node", "serial_port")
BEFORE_A_DASH = " '\"\\"  # a shell takes these away
SEPARATOR = ","  # of a list of plugs, unless plug_separator says otherwise
RANGES = {"fence_powerman": "["}  # who takes node[1-3] for three plugs
# They look an outlet up by its name, and take the last: both supplies of a node are often called by its name.
NUMBERED = ("fence_apc_snmp", "fence_tripplite_snmp", "fence_ipdu", "fence_eaton_snmp")
NUMBER = re.compile(r"([0-9]+:)?[0-9]+", re.ASCII)
# As of fence-agents 4.12 the same do, and `fence_ifmib`.
FIRST_ONLY = "and agents have been seen to switch the first and to call all of them off"


def stray(value: str, letters: re.Pattern[str] = OF_OTHERS) -> str:
    """What is wrong with a word that others wrote; "" if nothing is."""
    if value.startswith("-"):
        return "begins with '-'"
    wrong = [one for one in value if not letters.fullmatch(one)] or [one for one in TOGETHER if one in value]
    return f"holds {wrong[0]!r}" if wrong else ""


def plugs_in(values: dict[str, str]) -> list[str]:
    """What `plug` lists, as an agent splits it; "" where it is not told."""
    return values.get("plug", "").split(values.get("plug_separator") or SEPARATOR)


def unwritable(agent: str, values: dict[str, str]) -> Iterator[str]:
    """What cannot have been meant, by parameter."""
    address = "plug" if "plug" in values and "port_as_ip" in values else ""  # the agents take it instead of ip
    listed = plugs_in(values)
    for key, value in values.items():
        parts = listed if key == "plug" else [value]
        shown = repr(value[:LETTERS_MAX])
        if key in (*HOSTS, address) and not HOST.fullmatch(value):
            yield f"parameter {key}: {shown} is neither a name nor an address; write one of these, and nothing else"
        elif key in WORDS and NOT_IN_A_WORD.search(value):
            yield f"parameter {key}: {shown} holds a blank or a quote, which ends it for the agent; write one word"
        elif key in NO_OPTION and any(part.lstrip(BEFORE_A_DASH).startswith("-") for part in parts):
            yield f"parameter {key}: {shown} would be an option, for it begins with a dash; write it without"
        elif key == "plug" and (len(listed) > 1 or RANGES.get(agent, "\0") in value):
            yield f"parameter {key}: {shown} is more than one plug, {FIRST_ONLY}; write a method for each"
        elif key == "plug" and agent in NUMBERED and not NUMBER.fullmatch(value.strip()):
            yield f"parameter {key}: {shown} may be the name of several outlets, and one is switched; write a number"
