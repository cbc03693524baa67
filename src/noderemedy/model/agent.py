"""What a fence agent says of itself: its parameters and its actions. Read from its metadata by `wire/fenceagent.py`.

Configuration is checked against it (`core/fencing/agents.py`) before it is ever needed, and forms are made from it.
The description is a pseudo-object: a program asks the installed agent (`DescribeAgent`), nobody writes it to the API.
"""

from __future__ import annotations

import re
from enum import Enum

from msgspec import Struct

from noderemedy.model.decision import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref

AGENT = Kind(FACTS, "FenceAgent")
# What agents call their passwords. Their metadata does not mark them.
PASSWORD = re.compile(
    r"(.*[_-])?(pass(word|wd|phrase)?|token|secret|(secret|access|api)[_-]?key|community|hexadecimal[_-]kg)",
    re.ASCII | re.IGNORECASE,
)
# What agents take as the name of a file that they only read. Their metadata does not mark these either.
FILE = re.compile(r"identity_file|key_file|tls(ca)?cert|tlskey|cacert|kubeconfig|serviceaccount", re.ASCII)

# By which a BMC tells its own UUID; all others switch what they know nothing of.
IPMI_AGENTS = (
    "fence_ipmilan",
    "fence_ipmilanplus",
    "fence_ilo3",
    "fence_ilo4",
    "fence_ilo5",
    "fence_imm",
    "fence_idrac",
)
REDFISH = "fence_redfish"
TELLING = (*IPMI_AGENTS, REDFISH)


class Sort(Enum):
    """The types of the agents' API."""

    STRING = "string"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    SECOND = "second"  # a length of time
    SELECT = "select"  # one of `options`


class Parameter(Struct, frozen=True):
    """One parameter. A deprecated one is another name of the one that obsoletes it."""

    name: str
    sort: Sort = Sort.STRING
    is_required: bool = False
    default: str | None = None
    options: tuple[str, ...] = ()
    is_deprecated: bool = False
    obsoletes: str = ""
    about: str = ""


class AgentAction(Struct, frozen=True):
    """One thing that an agent can be asked for."""

    name: str
    on_target: bool = False  # it has to run on the node itself
    automatic: bool = False


class AgentDescription(FactValue, frozen=True):
    """One installed agent. With a `problem` it is there and tells nothing that can be understood."""

    name: str
    about: str = ""
    parameters: tuple[Parameter, ...] = ()
    actions: tuple[AgentAction, ...] = ()
    other_names: tuple[str, ...] = ()  # under which the same agent is installed, too
    runs_on_nodes: bool = True  # it can be run on a node of our choice: as a process of the manager it cannot
    problem: str = ""

    def can(self, action: str) -> bool:
        return any(one.name == action for one in self.actions)

    @property
    def is_on_target(self) -> bool:
        """Whether it lets a node in only where that node runs it itself."""
        return any(one.name == "on" and one.on_target for one in self.actions)

    def find(self, name: str) -> Parameter | None:
        """The parameter of this name, under its newest name: `port` finds `plug`."""
        named = {one.name: one for one in self.parameters}
        newer = {one.obsoletes: one for one in self.parameters if one.obsoletes}
        return newer.get(name) or named.get(name)


def is_secret(parameter: str) -> bool:
    """Whether the value of a parameter is nobody's business."""
    return PASSWORD.fullmatch(parameter) is not None


def wants_file(parameter: str) -> bool:
    """Whether an agent takes the name of a file here: what a Secret holds for it is written into one."""
    return FILE.fullmatch(parameter) is not None


def agent_ref(name: str) -> Ref:
    """Under which name the program keeps what an agent told."""
    return Ref("", AGENT, "", name)
