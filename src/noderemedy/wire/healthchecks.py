"""MachineHealthChecks of all three dialects to one type: v1alpha3 (seed 003), v1beta1, v1beta2 and OpenShift's.

Called by the watch through `wire/objects.py`. Where a field is and how it is written comes from the table of dialects
(`model/dialect.py`). Nothing here raises: garbage becomes a line of `problems` that names the field and the remedy.
A field of another dialect is garbage as well: a limit or a template that is silently not read would cost machines.
"""

from __future__ import annotations

import re
from typing import Any

from noderemedy.model.dialect import RULES, Rules
from noderemedy.model.healthcheck import Count, Criterion, Dialect, HealthCheck, Percent, TemplateRef, Window
from noderemedy.model.ids import (
    CLUSTER,
    HEALTH_CHECK,
    HOST,
    MACHINE,
    METAL3_MACHINE,
    OPENSHIFT_HEALTH_CHECK,
    OPENSHIFT_MACHINE,
    Kind,
)
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.selector import Selector
from noderemedy.model.time import Span
from noderemedy.wire import names, shapes
from noderemedy.wire.checkstatus import other_writers, read_status
from noderemedy.wire.fields import Fields
from noderemedy.wire.scalars import read_duration, read_pause, wall
from noderemedy.wire.selectors import read_selector

STATUSES = ("True", "False", "Unknown")
OURS_TO_WRITE = ("Ready", "Available", "HealthCheckSucceeded", "OwnerRemediated", "ExternallyRemediated")
PERCENT = re.compile(r"[0-9]{1,9}%", re.ASCII)
NUMBER = re.compile(r"-?[0-9]{1,9}", re.ASCII)
RANGE = re.compile(r"\[([0-9]{1,9})-([0-9]{1,9})\]", re.ASCII)
API_VERSION = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[a-z0-9]+", re.ASCII)
CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name"
# Kinds of our own trade that are no requests: a Metal3MachineTemplate would make machines.
NO_REQUESTS = frozenset(
    {CLUSTER, HEALTH_CHECK, HOST, MACHINE, METAL3_MACHINE, OPENSHIFT_HEALTH_CHECK, OPENSHIFT_MACHINE}
)
ANNOTATION_MODE = "external-baremetal"
FIELDS = (
    "node_criteria_fields",
    "machine_criteria_fields",
    "limit_fields",
    "window_fields",
    "startup_fields",
    "template_fields",
)
# Which dialects a kind may be read in. Machines of OpenShift have no place for conditions, and only their MachineSets
# make up for a deletion: neither group is read by the rules of the other.
READABLE = {
    Dialect.SEED: (Dialect.SEED, Dialect.CAPI),
    Dialect.CAPI: (Dialect.SEED, Dialect.CAPI),
    Dialect.OPENSHIFT: (Dialect.OPENSHIFT,),
}


def dialect_of(api_version: str) -> Dialect:
    """Whose words these are, where no CRD tells (files): by the apiVersion."""
    group, _, version = api_version.partition("/")
    if group == OPENSHIFT_HEALTH_CHECK.group:
        return Dialect.OPENSHIFT
    return Dialect.SEED if (group, version) == (HEALTH_CHECK.group, "v1alpha3") else Dialect.CAPI


def openshift_health_check(shape: shapes.HealthCheckShape) -> HealthCheck:
    return health_check(shape, Dialect.OPENSHIFT)


def health_check(shape: shapes.HealthCheckShape, dialect: Dialect | None = None) -> HealthCheck:
    """A check with everything that is wrong with it. Without a dialect, an annotation or its apiVersion says which."""
    meta, fields = shape.metadata, Fields(shape.spec)
    notes = meta.annotations or {}
    dialect = chosen(fields, notes, dialect or dialect_of(shape.api_version))
    rules = RULES[dialect]
    foreign(fields, dialect)
    template = read_template(fields, rules, meta.namespace)
    return HealthCheck(
        uid=meta.uid,
        dialect=dialect,
        selector=targets(fields, rules),
        cluster_name=cluster_name(fields, rules),
        node_criteria=criteria(fields, rules.node_criteria_fields),
        machine_criteria=criteria(fields, rules.machine_criteria_fields, OURS_TO_WRITE),
        max_unhealthy=limit(fields, rules),
        window=window(fields, rules),
        startup_timeout=startup(fields, rules),
        template=template,
        annotation_mode=annotation_mode(fields, rules, notes) and template is None,
        cluster_paused=names.CLUSTER_PAUSED in notes,
        paused=pause(fields, notes),
        observes_only=flag(fields, notes, names.MODE, "observe"),
        needs_approval=flag(fields, notes, names.APPROVAL, "required"),
        governs=flag(fields, notes, names.GOVERN, "true", "false"),
        created=wall(meta.creation_timestamp) if meta.creation_timestamp else None,
        generation=meta.generation,
        deleting=meta.deletion_timestamp is not None,
        problems=fields.problems,
        status=read_status(shape.status),
        other_writers=other_writers(meta.managed_fields or ()),
    )


def chosen(fields: Fields, notes: dict[str, str], found: Dialect) -> Dialect:
    """What somebody wrote on the check, if its machines know it; else what was found."""
    word = notes.get(names.DIALECT, "").strip()
    known = {one.value: one for one in READABLE[found]}
    if word and word not in known:
        words = " or ".join(f'"{one}"' for one in known)
        problem = f"{word[:60]!r} is no dialect for this kind; write {words}, or remove it"
        fields.note(f"annotation {names.DIALECT}: {problem}")
    return known.get(word, found)


def foreign(fields: Fields, dialect: Dialect) -> None:
    """Fields that only another dialect knows. An API server prunes them; in a file they are somebody's intention."""
    own = {path for name in FIELDS for path in getattr(RULES[dialect], name)}
    for name in FIELDS:
        instead = " or ".join(f"spec.{path}" for path in getattr(RULES[dialect], name))
        for path in sorted({path for rules in RULES.values() for path in getattr(rules, name)} - own):
            if fields.get(path):
                remedy = f"write {instead}" if instead else "remove it"
                fields.note(f"spec.{path} is not read in the dialect {dialect.value}; {remedy}{told_by(path, dialect)}")


def told_by(path: str, dialect: Dialect) -> str:
    """How a check says that the words of another dialect are meant, where its kind may be read in one that has them."""
    having = [
        one.value
        for one in READABLE[dialect]
        if one is not dialect and any(path in getattr(RULES[one], name) for name in FIELDS)
    ]
    return "".join(f", or annotate the check with {names.DIALECT}: {word} if its rules are meant" for word in having)


def targets(fields: Fields, rules: Rules) -> Selector | Malformed:
    selector = read_selector(fields, "selector", fields.get("selector"))
    if not isinstance(selector, Selector):
        return selector
    if selector.is_empty and not rules.empty_selects_all:
        return fields.note("spec.selector is empty; name at least one label of the machines that are meant")
    name, wanted = fields.get("clusterName"), dict(selector.match_labels).get(CLUSTER_NAME_LABEL)
    if wanted is not None and isinstance(name, str) and name and wanted != name:
        return fields.note(f"spec.selector names the cluster {wanted}, spec.clusterName {name}; name the same one")
    return selector


def cluster_name(fields: Fields, rules: Rules) -> str | Malformed:
    name = fields.get("clusterName")
    if name is None and not rules.needs_cluster_name:
        return ""
    return fields.word("clusterName", name) or Malformed("spec.clusterName cannot be read")


def criteria(fields: Fields, paths: tuple[str, ...], refused: tuple[str, ...] = ()) -> tuple[Criterion, ...]:
    """The list of conditions at the first of the paths that has one."""
    path, value = fields.first(paths)
    found = [criterion(fields, where, item, refused) for where, item in fields.objects(path, value)]
    return tuple(one for one in found if one is not None)


def criterion(fields: Fields, path: str, item: dict[Any, Any], refused: tuple[str, ...]) -> Criterion | None:
    name = fields.word(f"{path}.type", item.get("type"))
    status = fields.word(f"{path}.status", item.get("status"))
    timeout = span(fields, f"{path}.timeout", item)
    if status is not None and status not in STATUSES:
        fields.wrong(f"{path}.status", status, "write True, False or Unknown, in quotes")
        status = None
    if name in refused:
        fields.note(f"spec.{path}.type: {name} is what health checks lead to; name a condition that leads to it")
        name = None
    if name is None or status is None or isinstance(timeout, Malformed):
        return None
    return Criterion(name, status, timeout)


def span(fields: Fields, path: str, item: dict[Any, Any]) -> Span | Malformed:
    """`timeoutSeconds` as v1beta2 has it, or `timeout` as all others do."""
    if item.get("timeoutSeconds") is not None:
        return seconds(fields, f"{path}Seconds", item["timeoutSeconds"])
    return duration(fields, path, item.get("timeout"))


def seconds(fields: Fields, path: str, value: Any) -> Span | Malformed:
    number = fields.whole(path, value, "write a number of seconds, like 300")
    return Span.seconds(number) if isinstance(number, int) else number


def duration(fields: Fields, path: str, value: Any) -> Span | Malformed:
    if not isinstance(value, str):
        return fields.wrong(path, value, 'write a duration in quotes, like "5m"')
    length = read_duration(value)
    return length if isinstance(length, Span) else fields.note(f"spec.{path}: {length.problem}")


def startup(fields: Fields, rules: Rules) -> Span | Malformed:
    """0 disables; less than the minimum would replace machines before they can have started."""
    path, value = fields.first(rules.startup_fields)
    if value is None:
        return rules.startup_default
    length = seconds(fields, path, value) if path.endswith("Seconds") else duration(fields, path, value)
    if isinstance(length, Span) and Span(0) < length < rules.startup_minimum:
        return fields.wrong(path, value, f"write at least {rules.startup_minimum}, or 0 to disable it")
    return length


def limit(fields: Fields, rules: Rules) -> Count | Percent | Malformed | None:
    """A number, or a percentage from 0% to 100%."""
    path, value = fields.first(rules.limit_fields)
    if value is None:
        return None
    if isinstance(value, str) and PERCENT.fullmatch(value) and int(value[:-1]) <= 100:
        return Percent(int(value[:-1]))
    if isinstance(value, str) and NUMBER.fullmatch(value):
        if not rules.limit_as_text:
            return fields.wrong(path, value, f"write {int(value)} without quotes, or a percentage")
        value = int(value)
    if rules.negative_is_zero and isinstance(value, int) and not isinstance(value, bool):
        value = max(value, 0)
    number = fields.whole(path, value, 'write a number from 0 on, or a percentage from "0%" to "100%"')
    return Count(number) if isinstance(number, int) else number


def window(fields: Fields, rules: Rules) -> Window | Malformed | None:
    path, value = fields.first(rules.window_fields)
    if value is None:
        return None
    found = RANGE.fullmatch(value) if isinstance(value, str) else None
    if found is None or int(found[1]) > int(found[2]):
        return fields.wrong(path, value, 'write two numbers, the smaller one first, like "[3-5]"')
    return Window(int(found[1]), int(found[2]))


def read_template(fields: Fields, rules: Rules, namespace: str) -> TemplateRef | Malformed | None:
    """The template, always of the check's own namespace: nobody may reach into another one through a check."""
    path, value = fields.first(rules.template_fields)
    if value is None:
        return None
    if not isinstance(value, dict):
        return fields.wrong(path, value, "write an object with apiVersion, kind and name")
    texts = {key: fields.word(f"{path}.{key}", value.get(key)) or "" for key in ("apiVersion", "kind", "name")}
    if not all(texts.values()):
        return Malformed(f"spec.{path} is not complete")
    if not API_VERSION.fullmatch(texts["apiVersion"]):
        return fields.wrong(f"{path}.apiVersion", texts["apiVersion"], "write group/version")
    if not texts["kind"].removesuffix("Template") or not texts["kind"].endswith("Template"):
        return fields.wrong(f"{path}.kind", texts["kind"], "name a kind that ends in Template")
    group, kind = texts["apiVersion"].rpartition("/")[0], texts["kind"].removesuffix("Template")
    if "." not in group:
        return fields.wrong(f"{path}.apiVersion", texts["apiVersion"], "Kubernetes itself has no such templates")
    if Kind(group, kind) in NO_REQUESTS:
        return fields.wrong(f"{path}.kind", texts["kind"], f"a {kind} asks for no repair; name a remediation template")
    if value.get("namespace") not in (None, "", namespace):
        return fields.wrong(
            f"{path}.namespace", value["namespace"], f"a template must be in {namespace or 'no namespace'}"
        )
    return TemplateRef(texts["apiVersion"], texts["kind"], texts["name"], namespace)


# --- annotations -------------------------------------------------------------------------------------------------


def annotation_mode(fields: Fields, rules: Rules, notes: dict[str, str]) -> bool:
    return rules.has_annotation_mode and flag(fields, notes, names.STRATEGY, ANNOTATION_MODE)


def flag(fields: Fields, notes: dict[str, str], name: str, word: str, opposite: str = "") -> bool:
    """Whether an annotation says this word. Any other word is a mistake, and acting on it would be a guess."""
    found = notes.get(name, "").strip()
    if found not in (word, opposite, ""):
        fields.note(f'annotation {name}: {found[:60]!r} cannot be read; write "{word}" or remove it')
    return found == word


def pause(fields: Fields, notes: dict[str, str]) -> Paused | Malformed | None:
    found = read_pause(notes[names.PAUSED]) if names.PAUSED in notes else None
    if isinstance(found, Malformed):
        fields.note(f'annotation {names.PAUSED}: {found.problem}; or write "true"')
    return found
