"""A Configuration of seed 002 out of the text of a ConfigMap, with everything that is wrong with it.

Called by `wire/bookkeeping.py` for the key `config.yaml`. Nothing here raises: garbage becomes a line of `problems`
that names the file, the line, the field and the remedy. Both forms of the seed are read: lists of maps and plain maps,
and `clean-resourece` as well as `clean-resource`. Pod templates are in `wire/podtemplates.py`, storm policies in
`wire/stormpolicy.py`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from noderemedy.model.configuration import (
    PERIOD,
    WITHIN,
    Configuration,
    Definition,
    EventSign,
    FenceRemedy,
    Remedy,
    Threshold,
)
from noderemedy.model.meta import Malformed
from noderemedy.model.nodeevents import KEPT
from noderemedy.model.remedy import PodRemedy
from noderemedy.model.selector import Selector
from noderemedy.model.time import Span
from noderemedy.model.workload import FreeBy
from noderemedy.wire.fields import instead, is_object
from noderemedy.wire.nodefences import fence_spec
from noderemedy.wire.placedfields import PlacedFields
from noderemedy.wire.podtemplates import read_pod
from noderemedy.wire.selectors import match_labels, read_selector
from noderemedy.wire.selectortext import REMEDY, read_selector_text
from noderemedy.wire.stormpolicy import read_alarms, read_park_after, read_policy, read_statuses
from noderemedy.wire.yamltext import Place, read_placed

KEY = "config.yaml"
API_VERSIONS = ("node-remedy/v1alpha",)
KIND = "Configuration"
LETTERS_MAX = 256 * 1024
VALUES_MAX = 20_000
MEANT = re.compile(r"^\s*\{?\s*[\"']?apiVersion[\"']?\s*:\s*[\"']?node-remedy\b", re.MULTILINE)
CHAIN = re.compile(r"remedy([1-9][0-9]{0,2})", re.ASCII)
NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII)
CLEANS = ("clean-resource", "clean-resourece")  # the second one as the seed prints it
TOP = (
    *("apiVersion", "kind", "metadata", "nodeSelector", "thresholdConfigs", "remedyConfigs"),
    *("policy", "alarms", "parkAfter", "freeBy"),
)
OF_CONDITION = ("nodeConditionType", "nodeConditionStatus", "nodeConditionPeriod")
OF_EVENT = ("nodeEventReason", "count", "within")
OF_FENCE = (
    *("newDelay", "powerManagementDelay", "nodeReadyTimeout"),
    *("stepRetries", "maxRestarts", "ttlAfterFinal"),
)
OF_DEFINITION = ("name", "podTemplate", "nodeFence", "deadline", "retries", "ttl")


def is_meant(text: str) -> bool:
    """Whether a text, YAML or JSON, means to be one of ours, however broken it may be: others use the same key."""
    return MEANT.search(text, 0, LETTERS_MAX) is not None


@lru_cache(maxsize=16)
def read_configuration(text: str) -> Configuration:
    """The document, or what is wrong with it. A list shows the same texts over and over."""
    if len(text) > LETTERS_MAX:
        return broken(f"{KEY}: longer than {LETTERS_MAX} letters; split it into several ConfigMaps")
    try:
        trees, places = read_placed(text, VALUES_MAX)
    except Place as place:
        return broken(f"{KEY}:{place.line}: {place.problem}; correct it, node-remedy check shows the next one")
    except RecursionError:
        return broken(f"{KEY}: nested too deeply; write it without so many levels")
    if len(trees) != 1:
        return broken(f"{KEY}: {len(trees)} documents; write one document per ConfigMap")
    return from_tree(PlacedFields(trees[0], KEY, places))


def broken(problem: str) -> Configuration:
    return Configuration(problems=(problem,))


def from_tree(fields: PlacedFields) -> Configuration:
    """All fields, one after the other; one wrong field hides none of the others."""
    for name, wanted in (("apiVersion", API_VERSIONS), ("kind", (KIND,))):
        if fields.get(name) not in wanted:
            fields.wrong(name, fields.get(name), f"write {name}: {wanted[0]}")
    fields.known("", fields.tree, TOP)
    definitions = read_definitions(fields)
    thresholds = read_thresholds(fields)
    read = Configuration(
        selector=node_selector(fields),
        thresholds=thresholds,
        definitions=definitions,
        policy=read_policy(fields),
        alarms=read_alarms(fields, {one.problem for one in thresholds}),
        park_after=read_park_after(fields),
        free_by=free_by(fields),
    )
    hints = (*undefined(read), *half_blind(read), *cleaned_by_fences(read))
    return replace(read, problems=fields.problems, hints=hints)


# --- which nodes -------------------------------------------------------------------------------------------------


def node_selector(fields: PlacedFields) -> Selector:
    """In one line as `kubectl -l` takes it, a map of labels, or a selector of Kubernetes; without one all nodes."""
    path, value = "nodeSelector", fields.get("nodeSelector")
    if value is None:
        return Selector()
    found: Selector | Malformed
    if isinstance(value, str):
        read = read_selector_text(value)
        found = read if isinstance(read, Selector) else fields.wrong(path, value, REMEDY)
    elif isinstance(value, dict) and not {"matchLabels", "matchExpressions"} & set(value):
        labels = match_labels(fields, path, value)
        found = labels if isinstance(labels, Malformed) else Selector(labels)
    else:
        found = read_selector(fields, path, value)
    return found if isinstance(found, Selector) else Selector()


def free_by(fields: PlacedFields) -> FreeBy | None:
    value = fields.get("freeBy")
    if value is None:
        return None
    ways = {one.value: one for one in (FreeBy.TAINT, FreeBy.PODS)}
    if not isinstance(value, str) or value not in ways:
        fields.wrong("freeBy", value, f"write one of {', '.join(ways)}")
        return None
    return ways[value]


# --- thresholds --------------------------------------------------------------------------------------------------


def read_thresholds(fields: PlacedFields) -> tuple[Threshold, ...]:
    items = fields.objects("thresholdConfigs", fields.get("thresholdConfigs"))
    if not items:
        fields.wrong("thresholdConfigs", fields.get("thresholdConfigs"), "write at least one threshold")
    found = [(path, one) for path, item in items if (one := read_threshold(fields, path, item)) is not None]
    names = [one.name for _, one in found]
    for number, (path, one) in enumerate(found):
        if one.name in names[:number]:
            fields.say(path, f"{one.name} is tracked twice; write its remedies below one threshold")
    return tuple(one for _, one in found)


def read_threshold(fields: PlacedFields, path: str, item: dict[Any, Any]) -> Threshold | None:
    chain = sorted((int(match[1]), key) for key in item if (match := CHAIN.fullmatch(str(key))))
    fields.known(path, item, (*OF_CONDITION, *OF_EVENT, "recovery", *(key for _, key in chain)))
    for wanted, (number, key) in enumerate(chain, start=1):
        if number != wanted:
            fields.say(f"{path}.{key}", f"there is no remedy{wanted} before it; number the remedies 1, 2, 3")
    if not chain:
        fields.say(path, "a threshold without remedy1 does nothing; write one, or remove the threshold")
    remedies = [read_remedy(fields, f"{path}.{key}", item[key]) for _, key in chain]
    recovery = read_remedy(fields, f"{path}.recovery", item["recovery"]) if item.get("recovery") is not None else None
    followed = Threshold(
        remedies=tuple(one for one in remedies if one is not None), recovery=recovery.name if recovery else ""
    )
    if "nodeEventReason" in item:
        event = read_event(fields, path, item)
        return replace(followed, event=event) if event else None
    kind = fields.word(f"{path}.nodeConditionType", item.get("nodeConditionType"))
    statuses = read_statuses(fields, f"{path}.nodeConditionStatus", item.get("nodeConditionStatus"))
    period = fields.duration(f"{path}.nodeConditionPeriod", item.get("nodeConditionPeriod"))
    if kind is None or not statuses or period is None:
        return None
    return replace(followed, condition=kind, statuses=statuses, period=period)


def read_event(fields: PlacedFields, path: str, item: dict[Any, Any]) -> EventSign | None:
    """Events that node-problem-detector, kubelet or anybody else writes about a node."""
    reason = fields.word(f"{path}.nodeEventReason", item.get("nodeEventReason"))
    count = fields.positive(f"{path}.count", item.get("count", 1))
    if count is not None and count > KEPT:
        fields.wrong(f"{path}.count", count, f"write a number from 1 to {KEPT}")
    within = fields.duration(f"{path}.within", item.get("within", str(WITHIN)))
    for name in OF_CONDITION:
        if name in item:
            fields.say(f"{path}.{name}", "a threshold is about a condition or about events; write two thresholds")
    return EventSign(reason, count, within) if reason and count and within else None


def read_remedy(fields: PlacedFields, path: str, value: Any) -> Remedy | None:
    """One step: a map, or the seed's list of maps; a bare name means the same."""
    if isinstance(value, str):
        value = {"name": value}
    if isinstance(value, list):
        value = joined(fields, path, value)
    if not isinstance(value, dict):
        fields.wrong(path, value, "write name, and if wanted period and clean-resource")
        return None
    fields.known(path, value, ("name", "period", *CLEANS))
    name = fields.word(f"{path}.name", value.get("name"))
    period = fields.duration(f"{path}.period", value["period"]) if value.get("period") is not None else PERIOD
    cleans = [fields.flag(f"{path}.{key}", value[key]) for key in CLEANS if key in value]
    return Remedy(name, period or Span(0), any(cleans)) if name else None


def joined(fields: PlacedFields, path: str, items: list[Any]) -> dict[Any, Any]:
    """The seed's form: a list of maps of one entry each."""
    found: dict[Any, Any] = {}
    for where, item in fields.objects(path, items):
        for key in item:
            if key in found:
                fields.say(f"{where}.{key}", "given twice in this remedy; write remedy2 for the next one")
        found |= item
    return found


# --- remedies ----------------------------------------------------------------------------------------------------


def read_definitions(fields: PlacedFields) -> tuple[Definition, ...]:
    found: dict[str, Definition] = {}
    for path, item in fields.objects("remedyConfigs", fields.get("remedyConfigs")):
        fields.known(path, item, OF_DEFINITION)
        name = fields.word(f"{path}.name", item.get("name"))
        if name is None:
            continue
        if not NAME.fullmatch(name):
            fields.wrong(f"{path}.name", name, "write letters, digits and dashes, 63 at most")
        if name in found:
            fields.say(f"{path}.name", f"remedy {name} is defined twice; give one of them another name")
        if (how := read_how(fields, path, item)) is not None:
            found[name] = Definition(name, how)
    return tuple(found.values())


def read_how(fields: PlacedFields, path: str, item: dict[Any, Any]) -> PodRemedy | FenceRemedy | None:
    has_pod, has_fence = item.get("podTemplate") is not None, "nodeFence" in item
    if has_pod == has_fence:
        fields.say(path, "a remedy is a pod or a fence flow; write either podTemplate or nodeFence: {}")
        return None
    if has_pod:
        return read_pod(fields, path, item)
    return read_fence(fields, f"{path}.nodeFence", item["nodeFence"])


def read_fence(fields: PlacedFields, path: str, tree: Any) -> FenceRemedy:
    """As the spec of a NodeFence is read; its node and how that is freed are not said here."""
    for key in tree if is_object(tree) else ():
        if key not in OF_FENCE:
            told = f"is no field of a fence here; {instead(str(key), OF_FENCE)}; methods are in fence-config-NODE"
            fields.say(f"{path}.{key}", told)
    return FenceRemedy(fence_spec(fields.part(path, tree)))


# --- hints -------------------------------------------------------------------------------------------------------


def undefined(read: Configuration) -> tuple[str, ...]:
    """Remedies that are named and not defined are skipped: legal, and rarely meant."""
    named = [one.name for threshold in read.thresholds for one in threshold.remedies]
    named += [one.recovery for one in read.thresholds if one.recovery]
    missing = sorted({name for name in named if read.definition(name) is None})
    return tuple(f"{KEY}: remedy {name} is not defined in remedyConfigs and will be skipped" for name in missing)


def half_blind(read: Configuration) -> tuple[str, ...]:
    """A node that is dead is Unknown, not False: whoever tracks only False waits for a kubelet to say so."""
    tracked = {status for one in read.thresholds if one.condition == "Ready" for status in one.statuses}
    if "False" not in tracked or "Unknown" in tracked:
        return ()
    return (
        f"{KEY}: Ready=False is tracked and Ready=Unknown is not, which is what a dead node shows; "
        "write nodeConditionStatus: [false, Unknown]",
    )


def cleaned_by_fences(read: Configuration) -> tuple[str, ...]:
    """A fence flow frees what it has proven, and its end is nobody's word: `clean-resource` adds nothing to it."""
    cleaning = sorted({one.name for threshold in read.thresholds for one in threshold.remedies if one.cleans})
    definitions = [(name, read.definition(name)) for name in cleaning]
    fences = [name for name, one in definitions if one is not None and isinstance(one.how, FenceRemedy)]
    return tuple(
        f"{KEY}: clean-resource of remedy {name} does nothing, since it is a nodeFence and frees what it has proven; "
        "remove it there"
        for name in fences
    )
