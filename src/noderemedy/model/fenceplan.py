"""How one node can be fenced: three steps, each a list of methods. Derived from ConfigMaps by `core/fencing/plan.py`.

A plan is a fact about a Node: complete and checked against what each agent says of itself before it is ever needed.
What is wrong with it is in `problems`; a plan with problems fences nothing.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from noderemedy.model.facts import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.run import Deed, SecretParameter
from noderemedy.model.time import Span

FENCE_PLAN, PLAN_ASKED = Kind(FACTS, "FencePlan"), Kind(FACTS, "PlanAsked")


class Step(Enum):
    """The words of `status.step`, and of the seed's configuration."""

    ISOLATION = "isolation"
    POWER_MANAGEMENT = "power-management"
    RECOVERY = "recovery"


class Builtin(Enum):
    """Methods that need no agent."""

    MARK_UNSCHEDULABLE = "mark-unschedulable"
    MARK_SCHEDULABLE = "mark-schedulable"
    CLEAN_PODS = "clean-pods"
    DETACH_VOLUMES = "detach-volumes"
    HOST_POWER = "host-power"  # through the node's BareMetalHost
    TERMINATE_INSTANCE = "terminate"  # after the proof the Node object goes, too; an agent before it does the rest


class Scope(Enum):
    """What an agent's "off" keeps a node from."""

    POWER = "power"  # running
    STORAGE = "storage"  # writing to the volumes that `covers` names
    NETWORK = "network"  # proves nothing alone
    NOTHING = "no machine"  # anything: it shows the flow, in the place of power


class AgentMethod(Struct, frozen=True):
    """An agent with its parameters. `deeds`: what the configuration asks of it, in order (a reboot is off, then on)."""

    name: str
    agent: str
    deeds: tuple[Deed, ...]
    scope: Scope
    parameters: tuple[tuple[str, str], ...]  # sorted, without action; a secret's value is never here
    secrets: tuple[SecretParameter, ...] = ()
    covers: tuple[str, ...] = ()  # volumes: storageClass/NAME, driver/NAME, volume/NAME
    patience: Span = Span.seconds(120)
    on_target: bool = False  # its "on" runs on the node itself (SCSI reservations)
    tells: str = ""  # the UUID that its device tells, where a person says that it is not the node's own


class BuiltinMethod(Struct, frozen=True):
    name: str
    builtin: Builtin


Method = AgentMethod | BuiltinMethod


class PlanProblem(Struct, frozen=True):
    """What is wrong, with its remedy, and where: in which ConfigMap, for which node, with which method."""

    words: str
    document: str = ""  # "": the words say it all
    node: str = ""
    method: str = ""

    def __str__(self) -> str:
        if not self.document:
            return self.words
        node = f", node {self.node}" if self.node else ""
        method = f", method {self.method}" if self.method else ""
        return f"ConfigMap {self.document}{node}{method}: {self.words}"


class Plug(Struct, frozen=True):
    """One thing that a method switches. Two are the same if nothing that both of them say tells them apart."""

    words: str  # the device and the outlet, whatever a method calls them
    parameter: str = ""  # what says so first of all
    apart: tuple[tuple[str, str], ...] = ()  # where it is: what one of two plugs leaves out tells nothing

    def __str__(self) -> str:
        return " ".join((self.words, *(f"{key}={value}" for key, value in self.apart)))


class FencePlan(FactValue, frozen=True):
    """All three steps of one node."""

    node: Ref
    isolation: tuple[Method, ...] = ()
    power_management: tuple[Method, ...] = ()
    recovery: tuple[Method, ...] = ()
    kdump_within: Span | None = None  # how long a recognised dump may delay power management; None: not enabled
    source: str = ""  # the ConfigMap or the cloud's default, for people
    problems: tuple[PlanProblem, ...] = ()
    uses: tuple[str, ...] = ()  # the ConfigMaps that it was made from, also those that are missing
    is_pending: bool = False  # an agent has not said yet what it is: what is wrong is not known yet
    agents: tuple[str, ...] = ()  # whose descriptions it was checked against
    plugs: tuple[Plug, ...] = ()  # what it switches: no other node may have one of them
    notes: tuple[PlanProblem, ...] = ()  # what is not wrong, and means less than it seems to

    def methods(self, step: Step) -> tuple[Method, ...]:
        return {
            Step.ISOLATION: self.isolation,
            Step.POWER_MANAGEMENT: self.power_management,
            Step.RECOVERY: self.recovery,
        }[step]

    @property
    def agent_methods(self) -> tuple[AgentMethod, ...]:
        """What is done by agents, in whichever step."""
        return tuple(one for step in Step for one in self.methods(step) if isinstance(one, AgentMethod))

    def doing(self, step: Step, deed: Deed) -> tuple[AgentMethod, ...]:
        """The agents of a step that are asked for this, in the order of the configuration."""
        return tuple(one for one in self.methods(step) if isinstance(one, AgentMethod) and deed in one.deeds)

    @property
    def ends_instance(self) -> bool:
        """Whether the instance is not to come back."""
        builtins = [one.builtin for one in self.power_management if isinstance(one, BuiltinMethod)]
        return Builtin.TERMINATE_INSTANCE in builtins


class PlanAsked(FactValue, frozen=True):
    """Entered by a program in which a person asks how a node would be fenced, before anything else has it planned."""


def asked_ref(node: Ref) -> Ref:
    """Beside the Node of that name."""
    return Ref(node.cluster, PLAN_ASKED, "", node.name)


def plan_ref(node: Ref) -> Ref:
    """Beside the Node of that name."""
    return Ref(node.cluster, FENCE_PLAN, "", node.name)
