"""ConfigMaps of the seed's fence configuration to documents of the model. Called for every event of a ConfigMap.

`fence-config-NAME` holds `config.properties` and `fence-method-METHOD` keys, `fence-method-template-NAME` holds
`template.properties`. Only what was understood is kept, and what is wrong, each with key, line, field and remedy.
Rule: the value of a password never leaves this file; a literal one is refused without being repeated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from noderemedy.model.agent import is_secret
from noderemedy.model.fenceconfig import (
    CONFIG_NAME,
    TEMPLATE_NAME,
    FenceConfig,
    FenceDocument,
    FenceTemplate,
    MethodRecipe,
    Recipe,
)
from noderemedy.model.fenceplan import Step
from noderemedy.model.meta import Malformed
from noderemedy.model.run import Deed, SecretParameter
from noderemedy.model.time import MINUTE, Span
from noderemedy.wire.properties import Document, Property, bounded, read_properties
from noderemedy.wire.scalars import read_duration
from noderemedy.wire.selectortext import read_selector_text

CONFIG_KEY, TEMPLATE_KEY, METHOD_KEY = "config.properties", "template.properties", "fence-method-"
STEPS = {
    "isolation": Step.ISOLATION,
    "power_management": Step.POWER_MANAGEMENT,
    "power-management": Step.POWER_MANAGEMENT,
    "recovery": Step.RECOVERY,
}
OTHER_KEYS = ("node_name", "node_selector", "cluster", "kdump", "kdump_timeout")
# A reboot is off and on, each verified: whether a cycle happened could not be.
DEEDS: dict[str, tuple[Deed, ...]] = {
    "off": (Deed.OFF,),
    "disable": (Deed.OFF,),
    "on": (Deed.ON,),
    "enable": (Deed.ON,),
    "reboot": (Deed.OFF, Deed.ON),
    "cycle": (Deed.OFF, Deed.ON),
}
REFERENCE = "secret:"  # parameter=secret:NAME/KEY
SECRET_AT = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)/([-._A-Za-z0-9]{1,253})", re.ASCII)
NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
METHOD = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.\-]{0,61}[A-Za-z0-9])?", re.ASCII)
AGENT = re.compile(r"fence_[A-Za-z0-9_\-]{1,60}", re.ASCII)
CLUSTER = re.compile(r"[a-z0-9][-a-z0-9.]*/[a-z0-9][-a-z0-9.]*", re.ASCII)
COVERED = re.compile(r"(storageClass|driver|volume)/[A-Za-z0-9][-A-Za-z0-9_.]{0,252}", re.ASCII)
PATIENCE_MIN, PATIENCE_MAX = Span.seconds(5), MINUTE * 60
KDUMP_DEFAULT = MINUTE * 5
YES, NO = ("1", "yes", "on", "true"), ("0", "no", "off", "false")
WORDS = re.compile(r"[\s,]+")


def fence_document(name: str, is_ours: bool, data: Mapping[str, str]) -> FenceDocument | None:
    """What a ConfigMap of this name says about fencing; None: nothing. `is_ours`: it carries our label."""
    if name.startswith(TEMPLATE_NAME) or (is_ours and TEMPLATE_KEY in data):
        return template(data)
    if name.startswith(CONFIG_NAME) or (is_ours and CONFIG_KEY in data):
        return config(name, data)
    return None


# --- templates and methods -------------------------------------------------------------------------------------------


def template(data: Mapping[str, str]) -> FenceTemplate:
    document = read_properties(TEMPLATE_KEY, data.get(TEMPLATE_KEY, ""))
    reading = RecipeReading(document)
    recipe = reading.recipe()
    problems = [f"{key}: this key is not read; write {TEMPLATE_KEY}" for key in sorted(data) if key != TEMPLATE_KEY]
    if recipe.template:
        problems.append(f"{TEMPLATE_KEY}: a template has no template of its own; remove template=")
    if not recipe.agent:
        problems.append(f"{TEMPLATE_KEY}: the agent is missing; write agent=fence_…")
    return FenceTemplate(recipe, bounded([*problems, *reading.problems]))


class RecipeReading:
    """The lines of one template or method, field by field; what is wrong in them is collected."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.problems = list(document.problems)

    def recipe(self) -> Recipe:
        parameters: list[tuple[str, str]] = []
        secrets: list[SecretParameter] = []
        for one in self._document.properties:
            if one.key in OWN_WORDS:
                continue
            found = self._parameter(one)
            if isinstance(found, SecretParameter):
                secrets.append(found)
            elif found is not None:
                parameters.append(found)
        return Recipe(
            template=self._matching("template", NAME, "the name of a ConfigMap"),
            agent=self._agent(),
            deeds=self._deeds(),
            patience=self._patience(),
            covers=self._covers(),
            parameters=tuple(parameters),
            secrets=tuple(secrets),
            all_of=self._matching("secret", NAME, "the name of a Secret"),
            tells=self._identity(),
        )

    def _wrong(self, one: Property, what: str) -> None:
        self.problems.append(f"{self._document.name}, line {one.line}: {one.key}: {what}")

    def _parameter(self, one: Property) -> tuple[str, str] | SecretParameter | None:
        if one.value.startswith(REFERENCE):
            at = SECRET_AT.fullmatch(one.value.removeprefix(REFERENCE))
            if at:
                return SecretParameter(one.key, at[1], at[3])
            self._wrong(one, f"the reference to a Secret cannot be read; write {one.key}=secret:NAME/KEY")
            return None
        if is_secret(one.key) and one.value:
            remedy = f"put it into a Secret of this namespace and write {one.key}=secret:NAME/KEY"
            self._wrong(one, f"a secret is never written into a ConfigMap; {remedy}")
            return None
        return one.key, one.value

    def _matching(self, key: str, pattern: re.Pattern[str], meaning: str) -> str:
        one = self._document.get(key)
        if one is None:
            return ""
        if pattern.fullmatch(one.value):
            return one.value
        self._wrong(one, f"this cannot be read; write {meaning}")
        return ""

    def _agent(self) -> str:
        key = "agent" if self._document.get("agent") else "agent_name"
        return self._matching(key, AGENT, "the name of a fence agent, such as fence_ipmilan")

    def _identity(self) -> str:
        """Held against a pattern when placeholders are filled in."""
        one = self._document.get("identity")
        if one is not None and not one.value:
            self._wrong(one, "it is empty; write the UUID that the device tells, or leave it out")
        return one.value if one else ""

    def _deeds(self) -> tuple[Deed, ...]:
        one = self._document.get("action")
        if one is None:
            return ()
        if one.value.lower() not in DEEDS:
            self._wrong(one, f"{one.value[:40]!r} is none of {', '.join(DEEDS)}; write one of these, or leave it out")
        return DEEDS.get(one.value.lower(), ())

    def _patience(self) -> Span | None:
        """Seconds, as agents write them, or a duration."""
        one = self._document.get("timeout")
        if one is None:
            return None
        text = f"{one.value}s" if one.value.isascii() and one.value.isdigit() else one.value
        found = read_duration(text)
        if isinstance(found, Span) and PATIENCE_MIN <= found <= PATIENCE_MAX:
            return found
        self._wrong(one, f"write a time from {PATIENCE_MIN} to 1h, such as 120 or 2m")
        return None

    def _covers(self) -> tuple[str, ...]:
        one = self._document.get("covers")
        names = words(one.value) if one else ()
        for name in names:
            if one and not COVERED.fullmatch(name):
                self._wrong(one, f"{name[:60]!r} names no volumes; write storageClass/NAME, driver/NAME or volume/NAME")
        return tuple(name for name in names if COVERED.fullmatch(name))


OWN_WORDS = ("template", "agent", "agent_name", "name", "action", "timeout", "covers", "secret", "identity")


# --- the configuration of a node, or of a set of nodes -------------------------------------------------------------


def config(name: str, data: Mapping[str, str]) -> FenceConfig:
    document = read_properties(CONFIG_KEY, data.get(CONFIG_KEY, ""))
    problems = [*unknown_keys(data), *unknown_words(document), *document.problems]
    node, selector = document.get("node_name"), document.get("node_selector")
    found = read_selector_text(selector.value) if selector else None
    if node and selector:
        problems.append(
            f"{CONFIG_KEY}, line {selector.line}: node_selector: there is a node_name, too; keep one of them"
        )
    if isinstance(found, Malformed) and selector:
        problems.append(f"{CONFIG_KEY}, line {selector.line}: node_selector: {found.problem}")
    methods, wrong = read_methods(data)
    return FenceConfig(
        node=node_name(name, document, problems) if node or not selector else "",  # with both, it is told there
        cluster=cluster_name(document, problems),
        selector=found if not isinstance(found, Malformed) and not node else None,
        steps=read_steps(document),
        methods=methods,
        kdump_within=kdump(document, problems),
        problems=bounded([*problems, *wrong]),
    )


def node_name(name: str, document: Document, problems: list[str]) -> str:
    """As it is written; without it the name of the ConfigMap says it."""
    one = document.get("node_name")
    if one is None:
        return name.removeprefix(CONFIG_NAME) if name.startswith(CONFIG_NAME) else ""
    if NAME.fullmatch(one.value):
        return one.value
    problems.append(
        f"{CONFIG_KEY}, line {one.line}: node_name: this is no name of a node; write it as kubectl shows it"
    )
    return ""


def cluster_name(document: Document, problems: list[str]) -> str:
    one = document.get("cluster")
    if one is None or CLUSTER.fullmatch(one.value):
        return one.value if one else ""
    problems.append(f"{CONFIG_KEY}, line {one.line}: cluster: write namespace/name of a Cluster, or leave it out")
    return ""


def read_steps(document: Document) -> tuple[tuple[Step, tuple[str, ...]], ...]:
    return tuple((STEPS[one.key], words(one.value)) for one in document.properties if one.key in STEPS)


def kdump(document: Document, problems: list[str]) -> Span | None:
    """How long a recognised dump may delay power management; None: kdump is not enabled."""
    one, within = document.get("kdump"), document.get("kdump_timeout")
    if one is not None and one.value.lower() not in (*YES, *NO):
        problems.append(f"{CONFIG_KEY}, line {one.line}: kdump: write true or false")
    if one is None or one.value.lower() in NO:
        return None
    text = within.value if within else ""
    found = read_duration(f"{text}s" if text.isascii() and text.isdigit() else text) if text else KDUMP_DEFAULT
    if isinstance(found, Malformed) and within:
        problems.append(f"{CONFIG_KEY}, line {within.line}: kdump_timeout: {found.problem}")
    if one.value.lower() not in YES:
        return None
    return found if isinstance(found, Span) else KDUMP_DEFAULT


def read_methods(data: Mapping[str, str]) -> tuple[tuple[MethodRecipe, ...], list[str]]:
    methods: list[MethodRecipe] = []
    problems: list[str] = []
    for key in sorted(key for key in data if key.startswith(METHOD_KEY)):
        name = key.removeprefix(METHOD_KEY)
        reading = RecipeReading(read_properties(key, data[key]))
        recipe = reading.recipe()
        problems += reading.problems
        if not METHOD.fullmatch(name):
            problems.append(f"{key}: a method needs a name of letters, digits, _, . and -; rename the key")
        elif not recipe.template and not recipe.agent and not reading.problems:
            problems.append(f"{key}: neither template nor agent is named; write template=… or agent=fence_…")
        methods.append(MethodRecipe(name, recipe))  # also one that cannot be used: it says what the node hangs on
    return tuple(methods), problems


def unknown_keys(data: Mapping[str, str]) -> list[str]:
    known = [key for key in data if key == CONFIG_KEY or key.startswith(METHOD_KEY)]
    missing = [] if CONFIG_KEY in data else [f"{CONFIG_KEY}: this key is missing; write isolation=, power_management=…"]
    others = sorted(key for key in data if key not in known)
    return missing + [f"{key}: this key is not read; write {CONFIG_KEY} or {METHOD_KEY}NAME" for key in others]


def unknown_words(document: Document) -> list[str]:
    known = (*STEPS, *OTHER_KEYS)
    return [
        f"{document.name}, line {one.line}: {one.key} is not known{alike(one.key, known)}"
        for one in document.properties
        if one.key not in known
    ] + twice_given(document)


def twice_given(document: Document) -> list[str]:
    found = [one for one in document.properties if STEPS.get(one.key) is Step.POWER_MANAGEMENT]
    return [
        f"{document.name}, line {one.line}: {one.key}: power management is given twice; keep one" for one in found[1:]
    ]


def alike(word: str, known: tuple[str, ...]) -> str:
    """A guess for whoever mistyped it."""
    near = get_close_matches(word, known, 1)
    return f"; did you mean {near[0]}?" if near else f"; write one of {', '.join(known)}"


def words(text: str) -> tuple[str, ...]:
    return tuple(word for word in WORDS.split(text) if word)
