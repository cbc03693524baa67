"""Forms made from what an agent says of itself: ConfigMaps that are ready to be filled, and a JSON schema. Pure.

Called by `node-remedy agents NAME --form`, and by whoever draws a form from the schema. What has to be filled in stands
in `<…>` and is refused until it is; required parameters come first, the others as comments with their defaults, and
passwords are references to a Secret. What says which plug is meant goes to the node's method, the rest to a template.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from noderemedy.core.fencing.agents import refused
from noderemedy.core.fencing.merging import PLACES
from noderemedy.core.fencing.scopes import scope_of, unfit
from noderemedy.model.agent import AgentDescription, Parameter, Sort, is_secret, wants_file
from noderemedy.model.fenceconfig import CONFIG_NAME, TEMPLATE_NAME
from noderemedy.model.fenceplan import Scope
from noderemedy.model.ids import SYSTEM

TYPES: dict[Sort, dict[str, Any]] = {
    Sort.STRING: {"type": "string"},
    Sort.BOOLEAN: {"type": "boolean"},
    Sort.INTEGER: {"type": "integer", "minimum": 0},
    Sort.SECOND: {"type": "number", "minimum": 0},
    Sort.SELECT: {"type": "string"},
}
CREDENTIALS = ("username",)
STEPS = {
    **dict.fromkeys((Scope.POWER, Scope.NOTHING), "power_management=switch"),
    **dict.fromkeys((Scope.STORAGE, Scope.NETWORK), "isolation=switch"),
}


class Shares(Struct, frozen=True):
    """Who says what: the template, the node's own method, a Secret; and what may be said by anybody."""

    shared: tuple[Parameter, ...]
    own: tuple[Parameter, ...]
    secret: tuple[Parameter, ...]
    optional: tuple[Parameter, ...]


def usable(agent: AgentDescription) -> tuple[Parameter, ...]:
    """The parameters that somebody may set, under their newest names."""
    return tuple(one for one in agent.parameters if not one.is_deprecated and not refused(one, ""))


def shares(agent: AgentDescription) -> Shares:
    known = usable(agent)
    names = {one.name for one in known}
    has_plug = any(one.name == "plug" and one.is_required for one in known)
    own = [one for one in known if is_own(one, has_plug, names)]
    secret = [one for one in known if (is_secret(one.name) or one.name in CREDENTIALS) and one not in own]
    shared = [one for one in known if one not in (*own, *secret) and (one.is_required or one.name == "ip")]
    rest = [one for one in known if one not in (*own, *secret, *shared)]
    return Shares(tuple(shared), tuple(own), tuple(secret), tuple(rest))


def is_own(one: Parameter, has_plug: bool, names: set[str]) -> bool:
    """The plug if there are many behind one address, else the address; else whatever names a place."""
    if one.name == "ip":
        return not has_plug
    if one.name not in PLACES or one.is_required:
        return one.name in PLACES
    return "ip" not in names and (one.name == "plug" or "plug" not in names)


# --- ConfigMaps ------------------------------------------------------------------------------------


def form(agent: AgentDescription) -> str:
    """A template, the configuration of one node, and their Secret, as YAML to be filled in."""
    found = shares(agent)
    name = agent.name.removeprefix("fence_").replace("_", "-").lower()
    template = f"{TEMPLATE_NAME}{name}"
    lines = [f"agent={agent.name}", *map(to_fill, found.shared)]
    lines += [f"{one.name}=secret:{name}/{one.name}" for one in found.secret if one.is_required]
    lines += [f"secret={name}"] if found.secret else []
    lines += [line for one in found.optional for line in commented(one)]
    why = unfit(agent)
    head = f"# {agent.name}: {agent.about or 'a fence agent'}\n" + (f"# {why}\n" if why else "")
    parts = [
        head + config_map(template, {"template.properties": lines}),
        config_map(f"{CONFIG_NAME}<node>", config_data(agent, template, found)),
    ]
    return "---\n".join(parts + ([secret_of(name, found)] if found.secret else []))


def config_data(agent: AgentDescription, template: str, found: Shares) -> dict[str, list[str]]:
    step = STEPS[scope_of(agent, {})]
    back = ["recovery=back", "power_management=<power method>"] if step.startswith("isolation") else []
    method = [f"template={template}", *map(to_fill, found.own)]
    methods = {"fence-method-switch": method, **({"fence-method-back": method} if back else {})}
    return {"config.properties": ["node_name=<node>", step, *back], **methods}


def config_map(name: str, data: dict[str, list[str]]) -> str:
    head = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: {SYSTEM}\ndata:\n"
    return head + "".join(f"  {key}: |\n" + "".join(f"    {line}\n" for line in lines) for key, lines in data.items())


def secret_of(name: str, found: Shares) -> str:
    head = f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n  namespace: {SYSTEM}\nstringData:\n"
    return head + "".join(f'{"" if is_usual(one) else "#"}  {one.name}: "<{one.name}>"\n' for one in found.secret)


def is_usual(one: Parameter) -> bool:
    """Whether nearly everybody has to fill it in."""
    return one.is_required or one.name in ("username", "password")


def to_fill(one: Parameter) -> str:
    return f"{one.name}=<{one.name}>"


def commented(one: Parameter) -> list[str]:
    """A parameter that may be left out: what it is, and its default."""
    choice = f" ({', '.join(one.options)})" if one.options else ""
    about = one.about.rstrip(".").replace("\n", " ")
    value = one.default or ("secret:<secret>/<key>" if wants_file(one.name) else "")
    return [f"# {about}{choice}" if about or choice else f"# {one.name}", f"#{one.name}={value}"]


# --- schema ----------------------------------------------------------------------------------------


def schema(agent: AgentDescription) -> dict[str, Any]:
    """The same as a JSON schema: passwords are written and never read, places say which plug is meant."""
    known = usable(agent)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": agent.name,
        "description": agent.about,
        "type": "object",
        "additionalProperties": False,
        "required": [one.name for one in known if one.is_required],
        "properties": {one.name: schema_of(one) for one in known},
    }


def schema_of(one: Parameter) -> dict[str, Any]:
    choice = {"enum": list(one.options)} if one.options else {}
    preset = {"default": one.default} if one.default else {}
    return {
        **TYPES[one.sort],
        **choice,
        **({"description": one.about} if one.about else {}),
        **({} if is_secret(one.name) else preset),
        **({"writeOnly": True} if is_secret(one.name) else {}),
        **({"x-place": True} if one.name in PLACES else {}),
    }
