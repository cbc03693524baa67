"""What the documents say about fencing one node: three steps of drafts and builtins. Called by `plan.py`; pure.

A document for the node wins over one for a set of nodes, and both over the cloud's default. Two that speak of one node
are refused: nobody could tell which one is meant. Problems name the ConfigMap, node, method and remedy.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from msgspec import Struct

from noderemedy.core.fencing.clouds import Instance, instance_of
from noderemedy.core.fencing.merging import PATIENCE, Draft, Layer, filled, merge, no_identity, no_mapping, told
from noderemedy.model.fenceconfig import FenceConfig, FenceTemplate, MethodRecipe, Recipe
from noderemedy.model.fenceplan import Builtin, BuiltinMethod, PlanProblem, Step
from noderemedy.model.node import Node
from noderemedy.model.run import Deed

SLIP = (Step.RECOVERY, Builtin.MARK_UNSCHEDULABLE.value)  # printed so in the seed's document of a cloud
SPOKEN_OF_TWICE = "speak of it; keep one"
RESTART, TERMINATE = "restart-instance", Builtin.TERMINATE_INSTANCE.value
DEFAULTS = {Step.ISOLATION: Builtin.MARK_UNSCHEDULABLE, Step.RECOVERY: Builtin.MARK_SCHEDULABLE}
WORDS = {Step.ISOLATION: "isolation", Step.POWER_MANAGEMENT: "power_management", Step.RECOVERY: "recovery"}
# In which steps a builtin means something.
PLACED: dict[str, tuple[Step, ...]] = {
    Builtin.MARK_UNSCHEDULABLE.value: (Step.ISOLATION,),
    Builtin.MARK_SCHEDULABLE.value: (Step.RECOVERY,),
    Builtin.CLEAN_PODS.value: (Step.ISOLATION, Step.POWER_MANAGEMENT),
    Builtin.DETACH_VOLUMES.value: (Step.ISOLATION, Step.POWER_MANAGEMENT),
    Builtin.HOST_POWER.value: (Step.POWER_MANAGEMENT,),
    RESTART: (Step.POWER_MANAGEMENT,),
    TERMINATE: (Step.POWER_MANAGEMENT,),
}
CLOUD_DEEDS = {RESTART: (Deed.OFF, Deed.ON), TERMINATE: (Deed.OFF,)}
# Freeing comes with the proof, and never before: the seed's documents may name it, and need not.
IDLE = (Builtin.CLEAN_PODS.value, Builtin.DETACH_VOLUMES.value)
IDLE_WORDS = (
    "it changes nothing by itself: pods and volumes are freed when the node is proven safe, whether it is listed or "
    "not; leave it out, to have no doubt"
)
Item = Draft | BuiltinMethod


class Named(Struct, frozen=True):
    """A document and the ConfigMap that holds it."""

    name: str
    config: FenceConfig


class Sources(Struct, frozen=True):
    """All documents that concern one node. `templates` holds None for one that is missing."""

    node_name: str
    node: Node
    configs: tuple[Named, ...]  # one; two are a mistake; none: the cloud's default
    templates: tuple[tuple[str, FenceTemplate | None], ...] = ()

    def template(self, name: str) -> FenceTemplate | None:
        return dict(self.templates).get(name)


class Drafted(Struct, frozen=True):
    """The three steps, in order, and what is wrong with the documents themselves."""

    source: str
    steps: tuple[tuple[Step, tuple[Item, ...]], ...] = ()
    config: FenceConfig | None = None
    problems: tuple[PlanProblem, ...] = ()
    notes: tuple[PlanProblem, ...] = ()
    written: tuple[Draft, ...] = ()  # where something is wrong: all methods, as nobody can tell which ones are meant

    def drafts(self) -> Iterator[Draft]:
        """All that may switch something of the node."""
        yield from (item for _, items in self.steps for item in items if isinstance(item, Draft))
        yield from self.written


def templates_of(configs: tuple[Named, ...], node_name: str, node: Node) -> tuple[str, ...]:
    """The names of all templates that a draft would ask for."""
    named = [one.recipe.template for each in configs for one in each.config.methods if one.recipe.template]
    instance = instance_of(node.provider_id)
    return tuple(sorted({*named, *((instance.template,) if instance and asks_for_cloud(configs) else ())}))


def asks_for_cloud(configs: tuple[Named, ...]) -> bool:
    asked = {name for each in configs for name in each.config.names(Step.POWER_MANAGEMENT)}
    return not configs or bool(asked & CLOUD_DEEDS.keys())


def drafted(sources: Sources) -> Drafted:
    if not sources.configs:
        return by_default(sources)
    names = [one.name for one in sources.configs]
    if len(names) > 1:
        both = " and ".join(names)
        twice = f"node {sources.node_name}: ConfigMaps {both} {SPOKEN_OF_TWICE}, or narrow a selector"
        return Drafted(names[0], problems=(PlanProblem(twice),), written=written(sources))
    (only,) = sources.configs
    drafting = Drafting(sources, only)
    steps = tuple((step, drafting.items(step)) for step in Step)
    problems = tuple(drafting.problems)
    notes = tuple(drafting.notes)
    return Drafted(only.name, steps, only.config, problems, notes, written(sources) if problems else ())


def written(sources: Sources) -> tuple[Draft, ...]:
    """Every method that can be put together, whatever the steps say: the node hangs on its plugs all the same."""
    found = [(Drafting(sources, one), method) for one in sources.configs for method in one.config.methods]
    return tuple(drafting.merged(method, drafting.shared(method) or Recipe()) for drafting, method in found)


def by_default(sources: Sources) -> Drafted:
    """The cloud's default: cordon, restart the instance, uncordon."""
    source = Named(default_source(sources), FenceConfig(steps=((Step.POWER_MANAGEMENT, (RESTART,)),)))
    drafting = Drafting(sources, source)
    return Drafted(source.name, tuple((step, drafting.items(step)) for step in Step), None, tuple(drafting.problems))


def default_source(sources: Sources) -> str:
    instance = instance_of(sources.node.provider_id)
    return instance.template if instance else ""


def foreign(recipe: Recipe, instance: Instance) -> list[str]:
    """Another agent of the same cloud may call instances by other names than providerIDs have."""
    is_told = any(key in ("plug", "port") for key, _ in recipe.parameters)
    if is_told or recipe.agent in ("", instance.agent):
        return []
    remedy = f"write agent={instance.agent}, or plug= ({{node}}, if no two instances there have one name)"
    return [f"parameter plug: {recipe.agent} does not know instances as providerIDs call them; {remedy}"]


class Drafting:
    """One document for one node, step by step; what is wrong is collected."""

    def __init__(self, sources: Sources, source: Named) -> None:
        self._sources = sources
        self._source = source
        self.problems = [PlanProblem(words, source.name) for words in source.config.problems]
        self.notes: list[PlanProblem] = []

    def items(self, step: Step) -> tuple[Item, ...]:
        config = self._source.config
        if not any(step is written for written, _ in config.steps) and step in DEFAULTS:
            return (BuiltinMethod(DEFAULTS[step].value, DEFAULTS[step]),)
        names = config.names(step)
        if not names:
            self._wrong(f"{WORDS[step]} names no method, and nothing done is no success; write {WORDS[step]}=METHOD …")
        return tuple(item for name in names for item in self._item(step, name))

    def _wrong(self, what: str, method: str = "") -> None:
        self.problems.append(PlanProblem(what, self._source.name, self._sources.node_name, method))

    def _note(self, what: str, method: str) -> None:
        self.notes.append(PlanProblem(what, self._source.name, self._sources.node_name, method))

    def _item(self, step: Step, name: str) -> tuple[Item, ...]:
        found = self._source.config.method(name)
        if found is not None and not found.recipe.agent and not found.recipe.template:
            return ()  # told where it was read
        if found is not None:
            shared = self.shared(found)
            return (self.merged(found, shared),) if shared is not None else ()
        if name not in PLACED:
            near = get_close_matches(name, [*(one.name for one in self._source.config.methods), *PLACED], 1)
            guess = f"; did you mean {near[0]}?" if near else ""
            self._wrong(f"{WORDS[step]} names it, and there is no fence-method-{name}{guess}", name)
            return ()
        if (step, name) == SLIP:
            return self._slip(name)
        if step not in PLACED[name]:
            places = " or ".join(WORDS[one] for one in PLACED[name])
            self._wrong(f"it does nothing useful in {WORDS[step]}; move it to {places}", name)
            return ()
        if name in CLOUD_DEEDS:
            return self._instance(name)
        if name in IDLE:
            self._note(IDLE_WORDS, name)
        return (BuiltinMethod(name, Builtin(name)),)

    def _slip(self, name: str) -> tuple[Item, ...]:
        """Who recovers is let in again: that is what the seed means, and says everywhere else."""
        meant = Builtin.MARK_SCHEDULABLE
        words = f"recovery: it is read as {meant.value}, as seed 002 means it; write that, to have no doubt"
        self._note(words, name)
        return (BuiltinMethod(meant.value, meant),)

    def shared(self, method: MethodRecipe) -> Recipe | None:
        """What its template says; None if that cannot be read."""
        name = method.recipe.template
        if not name:
            return Recipe()
        template = self._sources.template(name)
        if template is None:
            self._wrong(f"template {name} does not exist; create that ConfigMap, or correct template=", method.name)
            return None
        self.problems += [PlanProblem(words, name) for words in template.problems]
        return None if template.problems else template.recipe

    def merged(self, method: MethodRecipe, shared: Recipe) -> Draft:
        is_for_one = self._source.config.selector is None
        names = (self._sources.node_name, self._sources.node)
        return merge(method.name, method.recipe, shared, *names, is_for_one=is_for_one)

    def _instance(self, name: str) -> tuple[Item, ...]:
        """The cloud's own agent, with what the providerID says; how it is spoken to is the template's to say."""
        node = self._sources.node
        instance = instance_of(node.provider_id)
        if instance is None or instance.problem:
            why = f": {instance.problem}" if instance else ""
            shown = node.provider_id[:80] or "empty"
            self._wrong(f"its providerID is {shown}{why}; write a method with an agent of its own", name)
            return ()
        template = self._sources.template(instance.template)
        if template is None and instance.needs_template:
            self._wrong(f"{instance.agent} needs credentials; create ConfigMap {instance.template}", name)
            return ()
        if template is not None and template.problems:
            self.problems += [PlanProblem(words, instance.template) for words in template.problems]
            return ()
        draft = self._instance_draft(name, instance, template)
        builtin = Builtin.TERMINATE_INSTANCE
        return (draft, BuiltinMethod(name, builtin)) if name == builtin.value else (draft,)

    def _instance_draft(self, name: str, instance: Instance, template: FenceTemplate | None) -> Draft:
        recipe = template.recipe if template else Recipe()
        own_credentials = ("msi",) if template else ()  # who brings some does not want the instance's own
        manner = tuple(pair for pair in instance.manner if pair[0] not in own_credentials)
        above = filled(recipe, self._sources.node_name, self._sources.node)
        fixed = [key for key, _ in above.layer.parameters if key in ("plug", "port")] if not above.is_per_node else []
        shared = [f"parameter {key}: {no_mapping(is_for_one=False)}, or leave it out" for key in fixed]
        shared += foreign(recipe, instance)
        tells = told(recipe.tells, self._sources.node_name, self._sources.node)
        shared += no_identity(recipe.agent or instance.agent, tells, is_its_own=False)
        return Draft(
            name=name,
            agent=recipe.agent or instance.agent,
            deeds=CLOUD_DEEDS[name],
            layers=(Layer((*instance.parameters, *manner)), above.layer),
            all_of=recipe.all_of,
            covers=recipe.covers,
            patience=recipe.patience or PATIENCE,
            is_mapped=not shared and above.is_placed,
            problems=(*above.problems, *shared),
            tells=tells.value,
        )
