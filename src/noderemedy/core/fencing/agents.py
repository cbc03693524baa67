"""A draft held against what its agent says of itself: the method that can be run, or what is wrong with it. Pure.

Called by `plan.py` before the method is ever needed. An agent's metadata is its own word; where it would let harm
happen (a plug that is missing counts as off, a program of somebody's choice is run) the parameter is refused here.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache

from msgspec import Struct

from noderemedy.core.fencing.disks import unsteady
from noderemedy.core.fencing.letters import LETTERS_MAX, unwritable
from noderemedy.core.fencing.merging import PLACES, Draft
from noderemedy.core.fencing.plugs import loose_plugs, plugs_by
from noderemedy.core.fencing.scopes import TRUE, scope_of, unfit, unreachable, wrong_step
from noderemedy.model.agent import AgentDescription, Parameter, Sort
from noderemedy.model.fenceplan import AgentMethod, Plug, Step
from noderemedy.model.run import Deed, SecretParameter

FALSE = ("0", "no", "off", "false")
NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,3})?", re.ASCII)
TO_FILL = re.compile(r"<[^<>]*>")  # as forms have it
DEEDS = {Step.ISOLATION: (Deed.OFF,), Step.POWER_MANAGEMENT: (Deed.OFF, Deed.ON), Step.RECOVERY: (Deed.ON,)}
PROGRAM = "it names a program or a file that would be used with our own rights; leave it out"
OPENRC = "write what it sets, such as auth_url and project_name, as parameters"
REFUSED: dict[str, str] = {
    "missing_as_off": "a mistyped plug would count as switched off; leave it out",
    "action": "the action is ours to choose; write action= as on, off or reboot",
    "openrc": f"the agent runs it as a script, with our own rights; {OPENRC}",
    "nodename": "it would be another name of the node; use plug=",
    "help": "it makes the agent do something else; leave it out",
    "version": "it makes the agent do something else; leave it out",
    "usage": "it makes the agent do something else; leave it out",
    **dict.fromkeys(("debug", "debug_file", "logfile", "ssh_options", "exec", "runonfail", "runonwarn"), PROGRAM),
}
PROGRAMS = re.compile(r".*_(script|path)")
NO_PROGRAMS = ("api_path", "store_path")
ADDRESSES = ("ip", "ipport", "port_as_ip")


class Checked(Struct, frozen=True):
    """A method and what it switches; without one there are problems."""

    method: AgentMethod | None
    plugs: tuple[Plug, ...] = ()
    problems: tuple[str, ...] = ()


def check(draft: Draft, step: Step, agent: AgentDescription, cluster: str = "") -> Checked:
    """`agent` is the draft's own, and readable; `cluster` is the node's."""
    if why := unfit(agent):
        return Checked(None, loose_plugs(draft), (why,))
    values, secrets, problems = Merging(draft, agent).result()
    deeds = draft.deeds or DEEDS[step]
    scope = scope_of(agent, values)
    wrong = [*problems, *unwritable(agent.name, values), *unsteady(agent.name, values)]
    problems = wrong or missing(agent, values, secrets)
    problems += wrong_step(agent.name, scope, step, deeds) + unreachable(agent, cluster)
    if problems:
        return Checked(None, plugs_by(agent, values), tuple(problems))
    method = AgentMethod(
        name=draft.name,
        agent=draft.agent,
        deeds=deeds,
        scope=scope,
        parameters=tuple(sorted(values.items())),
        secrets=kept_once(tuple(sorted(secrets.values(), key=lambda one: one.parameter))),
        covers=draft.covers,
        patience=draft.patience,
        on_target=agent.is_on_target,
        tells=draft.tells,
    )
    return Checked(method, plugs_by(agent, values))


@lru_cache(maxsize=1_000)
def kept_once(secrets: tuple[SecretParameter, ...]) -> tuple[SecretParameter, ...]:
    """The same few Secrets are named by the plans of thousands of nodes."""
    return secrets


class Merging:
    """The layers of a draft, under the newest names of their parameters."""

    def __init__(self, draft: Draft, agent: AgentDescription) -> None:
        self._agent = agent
        self._draft = draft
        self._problems: list[str] = []

    def result(self) -> tuple[dict[str, str], dict[str, SecretParameter], list[str]]:
        values: dict[str, str] = {}
        secrets: dict[str, SecretParameter] = {}
        for layer in self._draft.layers:
            told = self._named(layer.parameters, layer.secrets)
            values = {key: value for key, value in values.items() if key not in told}
            secrets = {key: one for key, one in secrets.items() if key not in told}
            values |= {key: one for key, one in told.items() if isinstance(one, str)}
            secrets |= {key: one for key, one in told.items() if isinstance(one, SecretParameter)}
        if self._draft.all_of:
            secrets |= self._all_of(self._draft.all_of, {*values, *secrets})
        return values, secrets, self._problems

    def _named(
        self, parameters: tuple[tuple[str, str], ...], secrets: tuple[SecretParameter, ...]
    ) -> dict[str, str | SecretParameter]:
        """What one document says, by parameter; what the agent does not take is left out and told."""
        found: dict[str, str | SecretParameter] = {}
        told: list[tuple[str, str | SecretParameter]] = [*parameters, *((one.parameter, one) for one in secrets)]
        for key, one in told:
            parameter = self._agent.find(key)
            if parameter is None:
                self._wrong(key, f"{self._agent.name} does not know it{self._guess(key)}")
            elif why := refused(parameter, one):
                self._wrong(key, why)
            elif parameter.name in found:
                self._wrong(key, f"it is another name of {parameter.name}, which is there, too; keep one")
            elif isinstance(one, SecretParameter):
                found[parameter.name] = SecretParameter(parameter.name, one.secret, one.key)
            elif why := mistyped(parameter, one):
                self._wrong(key, why)
            else:
                found[parameter.name] = one
        return found

    def _wrong(self, key: str, what: str) -> None:
        self._problems.append(f"parameter {key}: {what}")

    def _guess(self, key: str) -> str:
        taken = [one.name for one in self._agent.parameters if not one.is_deprecated and not refused(one, "")]
        near = get_close_matches(key, taken, 1)
        return f"; did you mean {near[0]}?" if near else f"; node-remedy agents {self._agent.name} lists what it knows"

    def _all_of(self, secret: str, given: set[str]) -> dict[str, SecretParameter]:
        """Every key of a Secret that the agent knows, except what has to be seen."""
        taken = [one for one in self._agent.parameters if not one.is_deprecated and one.name not in given]
        return {
            one.name: SecretParameter(one.name, secret, one.name, is_optional=True)
            for one in taken
            if not is_open(one) and not refused(one, "")
        }


def refused(parameter: Parameter, value: str | SecretParameter) -> str:
    """Why nobody may set it; "" if they may."""
    name = parameter.name
    if name in REFUSED:
        return REFUSED[name]
    if PROGRAMS.fullmatch(name) and name not in NO_PROGRAMS:
        return PROGRAM
    if isinstance(value, SecretParameter) and is_open(parameter):
        return "it says which device is meant, or how, and must be seen to be checked; write it down here"
    if name == "method" and value == "cycle":
        return "whether a cycle happened cannot be verified; write onoff, or leave it out"
    return ""


def is_open(parameter: Parameter) -> bool:
    """Whether its value decides what a method does. Behind a Secret a power switch could become a network switch."""
    return parameter.name in (*PLACES, "plug_separator") or parameter.sort is not Sort.STRING


def mistyped(parameter: Parameter, value: str) -> str:
    """What is wrong with a value; "" if nothing is."""
    shown = repr(value[:LETTERS_MAX])
    if TO_FILL.fullmatch(value):
        return f"{shown} is still to be filled in; write its value, or leave it out"
    match parameter.sort:
        case Sort.BOOLEAN if value.lower() not in (*TRUE, *FALSE):
            return f"{shown} is neither true nor false; write 1 or 0"
        case Sort.INTEGER if not NUMBER.fullmatch(value):
            return f"{shown} is not a whole number; write digits only"
        case Sort.SECOND if not SECONDS.fullmatch(value):
            return f"{shown} is not a number of seconds; write one, such as 30"
        case Sort.SELECT if value not in parameter.options:
            return f"{shown} is none of {', '.join(parameter.options)}; write one of these"
    return "" if value else "it is empty; write its value, or leave it out"


def missing(agent: AgentDescription, values: dict[str, str], secrets: dict[str, SecretParameter]) -> list[str]:
    """Required parameters without a value; older names count, and what a Secret may hold."""
    names = [one.name for one in agent.parameters if one.is_required and not one.is_deprecated and one.name != "action"]
    if agent.find("ip") and not values.keys() & {"ip", "plug"} and "ip" not in names:
        names.append("ip")  # "not required" only means that a plug can be the address as well
    lacking = [name for name in names if name not in values and name not in secrets]
    return [f"parameter {name}: {agent.name} requires it; write {name}=…{by_secret(name)}" for name in lacking]


def by_secret(name: str) -> str:
    return "" if name in PLACES else f" or {name}=secret:NAME/KEY"
