"""The fence configuration as somebody wrote it: a document per node or set of nodes, and templates. Seed 002.

Read from ConfigMaps by `wire/fenceconfig.py`, which leaves the text behind; turned into a `FencePlan` per node by
`core/fencing/`. What could not be read is in `problems`, each with key, line, field and remedy. No value of a secret.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.fenceplan import Step
from noderemedy.model.run import Deed, SecretParameter
from noderemedy.model.selector import Selector
from noderemedy.model.time import Span

CONFIG_NAME, TEMPLATE_NAME = "fence-config-", "fence-method-template-"  # the seed's patterns


class Recipe(Struct, frozen=True):
    """What a template and a method can both say. The method's own words win."""

    template: str = ""  # the name of a ConfigMap; a template has none
    agent: str = ""
    deeds: tuple[Deed, ...] = ()  # empty: what the step asks for
    patience: Span | None = None
    covers: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()  # in the order of the document; may hold placeholders
    secrets: tuple[SecretParameter, ...] = ()  # parameter=secret:NAME/KEY
    all_of: str = ""  # secret=NAME: every key of that Secret that the agent knows
    tells: str = ""  # identity=UUID: what the device tells of itself; may hold placeholders


class MethodRecipe(Struct, frozen=True):
    """`fence-method-NAME` of a configuration."""

    name: str
    recipe: Recipe


class FenceTemplate(Struct, frozen=True):
    """`fence-method-template-NAME`: parameters that methods share, and never a mapping of a node."""

    recipe: Recipe
    problems: tuple[str, ...] = ()


class FenceConfig(Struct, frozen=True):
    """`fence-config-NAME`: of one node, or of all nodes that a selector means."""

    node: str = ""  # "": of a set
    cluster: str = ""  # namespace/name of the Cluster whose node it is; "": this one
    selector: Selector | None = None
    steps: tuple[tuple[Step, tuple[str, ...]], ...] = ()  # the steps that were written, with the names of their methods
    methods: tuple[MethodRecipe, ...] = ()
    kdump_within: Span | None = None
    problems: tuple[str, ...] = ()

    def names(self, step: Step) -> tuple[str, ...]:
        return dict(self.steps).get(step, ())

    def method(self, name: str) -> MethodRecipe | None:
        return next((one for one in self.methods if one.name == name), None)


FenceDocument = FenceConfig | FenceTemplate
