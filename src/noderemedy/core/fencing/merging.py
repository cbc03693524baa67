"""One method of one node, put together from its template and its own words. Called by `drafting.py`; pure.

The method's own parameters override the template's. Rule: a method whose parameters are all shared with other nodes
fences nothing; something in it must be this node's own, or a mistyped name would switch off somebody else.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.core.fencing.identities import is_number
from noderemedy.core.fencing.placeholders import Filled, fill
from noderemedy.model.agent import TELLING
from noderemedy.model.fenceconfig import Recipe
from noderemedy.model.node import Node
from noderemedy.model.run import Deed, SecretParameter
from noderemedy.model.time import Span

PATIENCE = Span.seconds(120)
ONE_FOR_ALL = "all nodes would be taken for one machine; use {label:…} in it, or write it into the node's own document"
# What says which plug, machine or disk is meant; all other parameters say how to talk to the device.
PLACES = (
    *("ip", "ipaddr", "plug", "port", "uuid", "systems_uri", "systems-uri", "target", "status_file", "serial_port"),
    *("session_url", "key", "devices", "switch", "instance", "managed", "pve_node"),
)


class Layer(Struct, frozen=True):
    """The parameters of one document, filled in for the node."""

    parameters: tuple[tuple[str, str], ...] = ()
    secrets: tuple[SecretParameter, ...] = ()


class Draft(Struct, frozen=True):
    """A method as its documents say it, not yet held against its agent."""

    name: str
    agent: str
    deeds: tuple[Deed, ...] = ()
    layers: tuple[Layer, ...] = ()  # the later one wins
    all_of: str = ""
    covers: tuple[str, ...] = ()
    is_mapped: bool = True  # something in it says which plug is this node's
    patience: Span = PATIENCE
    problems: tuple[str, ...] = ()  # each begins with what it is about; who reads it knows node and method
    tells: str = ""  # the UUID of the device, as somebody wrote it


class Filling(Struct, frozen=True):
    """A layer, whether something in it is different for every node, and what could not be filled in."""

    layer: Layer
    is_per_node: bool
    problems: tuple[str, ...]
    is_placed: bool = True  # nothing that could not be filled in says which plug is meant


def merge(name: str, own: Recipe, shared: Recipe, node_name: str, node: Node, *, is_for_one: bool) -> Draft:
    """`is_for_one`: the method's own words are about this node only, because the document is."""
    below, above = filled(shared, node_name, node), filled(own, node_name, node)
    names_a_place = any(key in PLACES for key, _ in above.layer.parameters)
    is_mapped = below.is_per_node or above.is_per_node or (is_for_one and names_a_place)
    agent, tells = own.agent or shared.agent, told(own.tells or shared.tells, node_name, node)
    is_its_own = is_for_one and bool(own.tells)
    problems = [*below.problems, *above.problems, *no_identity(agent, tells, is_its_own=is_its_own)]
    if not is_mapped and not problems:
        problems.append(no_mapping(is_for_one))
    return Draft(
        name=name,
        agent=agent,
        deeds=own.deeds or shared.deeds,
        layers=(below.layer, above.layer),
        all_of=own.all_of or shared.all_of,
        covers=own.covers or shared.covers,
        is_mapped=is_mapped and below.is_placed and above.is_placed,
        patience=own.patience or shared.patience or PATIENCE,
        problems=tuple(problems),
        tells=tells.value,
    )


def told(value: str, node_name: str, node: Node) -> Filled:
    """`identity=` as it is for this node."""
    found = fill(value, node_name, node)
    if found.problem or not value or is_number(found.value):
        return found
    remedy = "write the UUID that node-remedy drill shows of the device, or leave it out"
    return Filled("", problem=f"{found.value[:60]!r} is no UUID of a machine; {remedy}")


def no_identity(agent: str, tells: Filled, *, is_its_own: bool) -> list[str]:
    """What is wrong with `identity=`: what is never compared, or is the same for all, would only look like a safeguard.

    `is_its_own`: it is written for this one node.
    """
    if tells.problem:
        return [f"parameter identity: {tells.problem}"]
    if not tells.value:
        return []
    if agent not in TELLING:
        return [f"parameter identity: no device of {agent} tells who it is; leave it out"]
    return [] if is_its_own or tells.is_per_node else [f"parameter identity: {ONE_FOR_ALL}"]


def filled(recipe: Recipe, node_name: str, node: Node) -> Filling:
    found = [(key, fill(value, node_name, node)) for key, value in recipe.parameters]
    return Filling(
        Layer(tuple((key, one.value) for key, one in found if not one.problem), recipe.secrets),
        any(one.is_per_node for _, one in found),
        tuple(f"parameter {key}: {one.problem}" for key, one in found if one.problem),
        not any(one.problem for key, one in found if key in PLACES),
    )


def no_mapping(is_for_one: bool) -> str:
    if is_for_one:
        return (
            "nothing says which plug is this node's; write plug=…, ip=… or another place beside the method's template"
        )
    return "all nodes of the set would share one plug; use {node}, {providerID}, {label:…} or {annotation:…} in it"
