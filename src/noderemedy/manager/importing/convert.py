"""Turns checks that repair by annotation into checks that name a template: seed 004's open question. Pure.

Called by `import --convert`. It prints and writes nothing: a person applies the result. It refuses as a whole, naming
every obstacle, because half a migration is the state in which two mechanisms repair one machine.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from noderemedy.manager.importing.report import named
from noderemedy.manager.importing.world import TEMPLATE, World, metadata
from noderemedy.model.dialect import RULES
from noderemedy.model.errors import Permanent
from noderemedy.model.healthcheck import Dialect, HealthCheck
from noderemedy.model.ids import Ref
from noderemedy.model.time import Span
from noderemedy.wire import names
from noderemedy.wire.remediations import SECONDS_MAX

VERSION = f"{TEMPLATE.group}/v1alpha1"
NEEDED = ("metal3remediationtemplates.remediation.metal3.io", "metal3remediations.remediation.metal3.io")
DEFINITIONS = {
    Dialect.SEED: "machinehealthchecks.cluster.x-k8s.io",
    Dialect.OPENSHIFT: "machinehealthchecks.machine.openshift.io",
}
POWER_OFF_S = 120
POWER_ON_S = 600
KEPT = ("name", "namespace", "labels", "annotations", "finalizers", "ownerReferences")  # of the metadata
NOT_KEPT = (names.STRATEGY, "kubectl.kubernetes.io/last-applied-configuration")


class CannotConvert(Permanent):
    """Why nothing was converted: each line names an object and a remedy."""


def convert(world: World, only: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The templates and the changed checks, in the order in which they have to be applied. Raises CannotConvert."""
    chosen = meant(world, only)
    obstacles = [*strangers(world, only), *(obstacle for at in chosen for obstacle in against(at, world))]
    if chosen:
        obstacles = [*missing_kinds(world), *obstacles]
    if obstacles:
        raise CannotConvert("nothing was converted:\n" + "\n".join(f"  - {one}" for one in obstacles))
    pairs = [(template(at, world.checks[at]), changed(at, world)) for at in chosen]
    return [*(made for made, _ in pairs), *(check for _, check in pairs)]


def remarks(world: World, only: tuple[str, ...] = ()) -> list[str]:
    """In what the converted checks are not quite what they were."""
    return [
        f"{at}: powerOnTimeoutSeconds of its template is {SECONDS_MAX}, the most that there is; nodeStartupTimeout of"
        " the check is longer: a host that takes longer than the template says is power-cycled again"
        for at in meant(world, only)
        if startup_of(world.checks[at]) > Span.seconds(SECONDS_MAX)
    ]


def meant(world: World, only: tuple[str, ...]) -> list[Ref]:
    return [at for at in sorted(world.checks) if is_meant(at, only) and world.checks[at].annotation_mode]


def is_meant(at: Ref, only: tuple[str, ...]) -> bool:
    return not only or f"{at.namespace}/{at.name}" in only


def strangers(world: World, only: tuple[str, ...]) -> Iterator[str]:
    """Checks that somebody named and that cannot be meant."""
    by_name = {f"{at.namespace}/{at.name}": check for at, check in world.checks.items()}
    for name in only:
        if name not in by_name:
            yield f"{name}: there is no such MachineHealthCheck; write NAMESPACE/NAME"
        elif not by_name[name].annotation_mode:
            yield f"{name}: it does not repair by annotation; leave it out"


def missing_kinds(world: World) -> Iterator[str]:
    for name in NEEDED:
        if name not in world.definitions:
            yield f"the kind {name} is not there; install it first (with files: add it to them: kubectl get crd {name})"


def against(at: Ref, world: World) -> Iterator[str]:
    """What stands against this check's conversion."""
    check = world.checks[at]
    if not check.is_valid:
        yield f"{at} is invalid: {check.trouble}"
    if not world.has_machines(at):
        yield f"{at}: no Machines were given, so nobody knows whether one is under repair; add them to the files"
    marked = [ref.name for ref, machine in world.selected(at).items() if machine.needs_remediation]
    if marked:
        remedy = "wait until the repair is over, or remove the annotation"
        yield f"{at}: {named(marked, most=20)} still carry {names.NEEDS_REMEDIATION}; {remedy}"
    definition = world.definitions.get(DEFINITIONS[check.dialect])
    if definition is not None and not has_field(definition, field(check)):
        yield f"{at}: {DEFINITIONS[check.dialect]} has no field spec.{field(check)}; update that definition first"
    known = [tree for tree in world.trees[TEMPLATE] if identity(tree) == (at.namespace, at.name)]
    if known and known[0].get("spec") != template(at, check)["spec"]:
        yield f"{at}: there is another Metal3RemediationTemplate of that name; rename or delete it"


def field(check: HealthCheck) -> str:
    """Where a check of this dialect names its template."""
    return RULES[check.dialect].template_fields[0]


def identity(tree: dict[str, Any]) -> tuple[str, str]:
    meta = metadata(tree)
    return str(meta.get("namespace", "")), str(meta.get("name", ""))


def has_field(definition: dict[str, Any], name: str) -> bool:
    """Whether every served version of a definition knows this field of the spec, or keeps what it does not know."""
    spec = definition.get("spec")
    versions = spec.get("versions") if isinstance(spec, dict) else None
    served = [one for one in versions or () if isinstance(one, dict) and one.get("served")]
    return all(knows(one, name) for one in served)


def knows(version: dict[str, Any], name: str) -> bool:
    here: Any = version
    for step in ("schema", "openAPIV3Schema", "properties", "spec"):
        here = here.get(step) if isinstance(here, dict) else None
    if not isinstance(here, dict):
        return True  # no schema to ask: the API server will say
    return name in (here.get("properties") or {}) or bool(here.get("x-kubernetes-preserve-unknown-fields"))


def template(at: Ref, check: HealthCheck) -> dict[str, Any]:
    """Power cycling as the annotation did it: again and again, and no machine is replaced."""
    seconds = min(startup_of(check).ms // 1000, SECONDS_MAX)
    return {
        "apiVersion": VERSION,
        "kind": TEMPLATE.kind,
        "metadata": {"name": at.name, "namespace": at.namespace},
        "spec": {
            "template": {
                "spec": {
                    "strategy": "reboot",
                    "powerOffTimeoutSeconds": POWER_OFF_S,
                    "powerOnTimeoutSeconds": max(POWER_ON_S, seconds),
                }
            }
        },
    }


def startup_of(check: HealthCheck) -> Span:
    return check.startup_timeout if isinstance(check.startup_timeout, Span) else Span(0)


def changed(at: Ref, world: World) -> dict[str, Any]:
    """The check as it was, with a template in place of the annotation, and without what the server fills in."""
    tree = copy.deepcopy(world.check_trees[at])
    meta = {key: value for key, value in metadata(tree).items() if key in KEPT}
    notes = {key: value for key, value in (meta.pop("annotations", None) or {}).items() if key not in NOT_KEPT}
    if notes:
        meta["annotations"] = notes
    reference = {"apiVersion": VERSION, "kind": TEMPLATE.kind, "name": at.name}
    spec = {**tree["spec"], field(world.checks[at]): reference}
    return {"apiVersion": tree["apiVersion"], "kind": tree["kind"], "metadata": meta, "spec": spec}
