"""What behaves differently for one MachineHealthCheck, as a table of questions. Pure. Called by `examine.py`.

What the other controller does is read from its sources, per API: Cluster API's own for `capi` and for the `v1alpha3`
shape, OpenShift's machine-api-operator for `openshift`. Each question answers with the differences it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from noderemedy.core.external.kinds import request_kind
from noderemedy.core.healthcheck.controllers import OTHERS_COUNT_FOR
from noderemedy.core.healthcheck.gate import most_bearable
from noderemedy.core.owner.view import OURS
from noderemedy.manager.importing.report import Difference, blocks, differs, named, note
from noderemedy.manager.importing.world import World, metadata
from noderemedy.model.checkstatus import Writer
from noderemedy.model.dialect import RULES, Default
from noderemedy.model.healthcheck import Count, Dialect, HealthCheck, Percent, TemplateRef, Window
from noderemedy.model.ids import FENCE_REMEDIATION, REMEDIATION, Kind, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.time import Wall
from noderemedy.wire import names

HOUR_MS = 3_600_000
OURS_CARRIED_OUT = ("remediation.metal3.io", FENCE_REMEDIATION.group)  # whose requests node-remedy itself answers
# Kinds of requests that the shipped roles speak of (deploy/rbac/40-requests.yaml); all others need a role of their own.
GRANTED = (REMEDIATION, Kind("infrastructure.cluster.x-k8s.io", "Metal3Remediation"), FENCE_REMEDIATION)
AGGREGATED = "node-remedy.dev/aggregate-to-manager"  # the label of such roles


class Case(Struct, frozen=True):
    """One check with what matters around it."""

    at: Ref
    check: HealthCheck
    targets: dict[Ref, Machine]
    world: World
    now: Wall


def problems(case: Case) -> Iterator[Difference]:
    for problem in case.check.problems:
        yield blocks("CheckInvalid", problem, "correct it; until then no repair of the machines that it selects begins")


def writers(case: Case) -> Iterator[Difference]:
    """Who looks after it until now: decision "two controllers", and whoever might without having written lately."""
    last = {one.manager: one for one in sorted(case.check.other_writers, key=lambda one: one.at)}
    has_status = bool(case.world.check_trees[case.at].get("status"))
    if not last and has_status and not metadata(case.world.check_trees[case.at]).get("managedFields"):
        yield note(
            "WriterUnknown",
            "it has a status, and the file does not say who writes it",
            "add --show-managed-fields to kubectl get, or leave -f out and ask the cluster",
        )
    if case.check.governs:
        return
    recent = [one for one in last.values() if case.now < one.at + OTHERS_COUNT_FOR]
    if recent:
        yield other_controller(max(recent, key=lambda one: one.at))
    if quiet := [one for one in last.values() if one not in recent]:
        yield quiet_controllers(quiet, case.now)


def other_controller(writer: Writer) -> Difference:
    until = writer.at + OTHERS_COUNT_FOR
    return blocks(
        "OtherController",
        f"{writer.manager} wrote its status at {writer.at}: node-remedy publishes verdicts and repairs nothing;"
        " a manager that was there then, or sees it write again, stands by for as long as it runs;"
        f" one that starts later stands by until {until}",
        f'stop {writer.manager} for this check; then annotate the check with {names.GOVERN}: "true", or restart'
        " node-remedy's managers: they take over an hour after its last write",
    )


def quiet_controllers(quiet: list[Writer], now: Wall) -> Difference:
    """Those before whom node-remedy does not stand back: that they are silent does not say that they are stopped."""
    told = ", by ".join(f"{one.manager} {ago(now, one)} ago ({one.at})" for one in quiet)
    return blocks(
        "QuietController",
        f"its status was written by {told}. A controller that writes nothing may be stopped, or alive and quiet: on a"
        " healthy cluster there is nothing to write for days. node-remedy governs this check as soon as it starts and"
        " notices another controller only when that writes; with both alive, both may have one machine repaired",
        f"stop {' and '.join(one.manager for one in quiet)} for this check, or see that this was done; then annotate"
        f' the check with {names.GOVERN}: "true"',
    )


def ago(now: Wall, writer: Writer) -> str:
    hours = now.since(writer.at).ms // HOUR_MS
    number, unit = (hours // 24, "day") if hours >= 48 else (hours, "hour")
    return f"{number} {unit}{'' if number == 1 else 's'}"


def pauses(case: Case) -> Iterator[Difference]:
    if case.check.cluster_paused:
        yield note("Paused", f"it carries {names.CLUSTER_PAUSED}", "nothing; node-remedy honours it, too")


def limit(case: Case) -> Iterator[Difference]:
    check, rules = case.check, RULES[case.check.dialect]
    given = check.max_unhealthy
    if rules.blocks_at_limit and isinstance(given, Count | Percent) and check.window is None:
        raised = f"maxUnhealthy: {given.n + 1}" if isinstance(given, Count) else "a greater percentage"
        yield differs(
            "LimitBlocks",
            f"at maxUnhealthy ({given}) itself repairs stop here; Cluster API 0.3 repaired up to and including it",
            f"write {raised} for the old meaning",
        )
    if check.window is None and (given is None or given == Percent(100)):
        yield differs(
            "OnlyTheBudgetLimits",
            "its own limit lets all machines be repaired at once, and the other controller did; here the cluster-wide"
            " budget holds back",
            "set a RemediationBudget if its defaults do not suit this cluster",
        )


def bearable(case: Case) -> Iterator[Difference]:
    total, rules, check = len(case.targets), RULES[case.check.dialect], case.check
    given = check.max_unhealthy or rules.limit_unset
    if not total or isinstance(check.window, Window) or not isinstance(given, Count | Percent):
        return
    if most_bearable(given, total, blocks_at_limit=rules.blocks_at_limit) < 1:
        yield note(
            "NeverRepairs",
            f"with {total} machines a limit of {given} does not even bear one sick machine",
            "raise the limit",
        )


def startup(case: Case) -> Iterator[Difference]:
    if case.check.dialect == Dialect.SEED:
        yield differs(
            "StartupClock",
            "a machine without a node is waited for from its creation; Cluster API 0.3 waited from status.lastUpdated,"
            " which every change moved on",
            "raise nodeStartupTimeout if machines of this cluster start slowly",
        )


def overlaps(case: Case) -> Iterator[Difference]:
    for other, check in sorted(case.world.checks.items()):
        shared = sorted(ref.name for ref in case.targets.keys() & case.world.targets(other).keys())
        if other == case.at or not shared:
            continue
        older = min(((case.at, case.check), (other, check)), key=_age)[0]
        yield differs(
            "Overlapping",
            f"{other} selects {named(shared)} as well: both acted until now, here only the older one, {older}, governs",
            "make the selectors disjoint",
        )


def _age(one: tuple[Ref, HealthCheck]) -> tuple[int, str]:
    ref, check = one
    return (check.created.ms if check.created else 0, ref.name)


def targets(case: Case) -> Iterator[Difference]:
    if not case.targets and case.check.is_valid and case.world.has_machines(case.at):
        yield note("NoTargets", "its selector matches no machine", "correct spec.selector, or delete the check")


def criteria(case: Case) -> Iterator[Difference]:
    watched = {(one.type, one.status) for one in case.check.node_criteria}
    if ("Ready", "False") in watched and ("Ready", "Unknown") not in watched:
        yield note(
            "DeadNodesNotSeen",
            "it watches Ready=False but not Ready=Unknown, which is what a dead node shows",
            "add a condition Ready with status Unknown",
        )


def template(case: Case) -> Iterator[Difference]:
    found = case.check.template
    if not isinstance(found, TemplateRef):
        return
    yield from TEMPLATE_DIFFERENCES[case.check.dialect]
    if found.api_version.partition("/")[0] not in OURS_CARRIED_OUT:
        kind = found.kind.removesuffix("Template")
        yield note(
            "CarriedOutByOthers",
            f"node-remedy makes and deletes {kind} requests; who repairs is the controller of that kind, as before",
            f"leave the controller of {kind} running",
        )
    if request_kind(found) not in GRANTED:
        yield role_needed(request_kind(found))


def role_needed(kind: Kind) -> Difference:
    """The role of docs/guide/templates.md for this kind."""
    verbs = {kind.kind: "get, list, watch, create, delete", f"{kind.kind}Template": "get"}
    rules = [f"{{apiGroups: [{kind.group}], resources: [{plural(one)}], verbs: [{verbs[one]}]}}" for one in verbs]
    return blocks(
        "RoleNeeded",
        f"no role that node-remedy ships speaks of {plural(kind.kind)}.{kind.group}: unless somebody has granted them"
        " already, no request is made (RequestsUnseen)",
        f'apply a ClusterRole with the label {AGGREGATED}: "true" and the rules [{", ".join(rules)}], with'
        " the plurals of their definitions (docs/guide/templates.md)",
    )


def plural(kind: str) -> str:
    """As definitions are named by custom; who named theirs otherwise knows it."""
    return f"{kind.lower()}s"


TEMPLATE_DIFFERENCES: dict[Dialect, tuple[Difference, ...]] = {
    Dialect.CAPI: (
        differs(
            "EveryTarget",
            "Cluster API ends its pass at the first sick machine that has a request, so later ones wait; here each"
            " sick machine gets its request at once",
            "expect more requests at one time; the check's limit and the budget bound them",
        ),
    ),
    Dialect.OPENSHIFT: (
        differs(
            "RepairsCount",
            "a machine under repair counts against maxUnhealthy until it is healthy; OpenShift counts it only while it"
            " is sick",
            "raise maxUnhealthy if repairs are held back too often",
        ),
    ),
    Dialect.SEED: (
        differs(
            "NoConditions",
            "with a template no condition is written on machines; Cluster API 0.3 wrote HealthCheckSucceeded",
            "let whoever reads that condition look at the request instead",
        ),
    ),
}


def owners(case: Case) -> Iterator[Difference]:
    """Machines that nobody replaced until now. node-remedy does only where a Machine names it as its owner."""
    alone = {ref.name: machine for ref, machine in sorted(case.targets.items()) if machine.controller is None}
    if case.check.template is not None or case.check.annotation_mode or not alone:
        return
    has_owner_room = RULES[case.check.dialect].default is not Default.DELETE
    ours = [name for name, machine in alone.items() if has_owner_room and machine.owner == OURS]
    if ours:
        yield differs(
            "ReferenceOwner",
            f"{named(ours)} have no controller and carry {names.OWNER}: {OURS}: nobody remediated them until now; here"
            " they are drained, deleted and replaced when they are sick",
            f"remove {names.OWNER} from those that must stay",
        )
    if others := [name for name in alone if name not in ours]:
        yield note(
            "NoOwner",
            f"{named(others)} have no controller owner and are left alone when they are sick, as before",
            f"annotate those that node-remedy shall drain, delete and replace with {names.OWNER}: {OURS}"
            if has_owner_room
            else "name a template in the check if they should be repaired",
        )


def annotation_mode(case: Case) -> Iterator[Difference]:
    notes = metadata(case.world.check_trees[case.at]).get("annotations") or {}
    if names.STRATEGY in notes and not RULES[case.check.dialect].has_annotation_mode:
        yield note(
            "StrategyNotRead",
            f"{names.STRATEGY} means nothing in the dialect {case.check.dialect.value}, there as here",
            "remove the annotation",
        )
    if not case.check.annotation_mode:
        return
    yield differs(
        "AnnotationMode",
        "repairs by annotation are deprecated: the check works, and carries a Deprecated condition",
        "node-remedy import --convert prints the same check with a template",
    )
    if case.check.dialect is Dialect.OPENSHIFT:
        yield TWO_ANSWERS


# That controller is OpenShift's: it looks after Machines of machine.openshift.io only.
TWO_ANSWERS = blocks(
    "TwoAnswers",
    f"the machine controller of cluster-api-provider-baremetal answers {names.NEEDS_REMEDIATION} as node-remedy"
    " does: with both running two controllers power-cycle one host",
    "name a Metal3RemediationTemplate in the check instead (node-remedy import --convert prints both): that"
    " controller provisions the hosts as well, and cannot be stopped for repairs alone",
)


QUESTIONS: tuple[Callable[[Case], Iterator[Difference]], ...] = (
    problems,
    writers,
    annotation_mode,
    limit,
    bearable,
    startup,
    overlaps,
    template,
    owners,
    criteria,
    targets,
    pauses,
)


def differences(case: Case) -> tuple[Difference, ...]:
    return tuple(found for question in QUESTIONS for found in question(case))


def limit_in_words(case: Case) -> str:
    """The limit with its number for the machines that there are now."""
    check, rules = case.check, RULES[case.check.dialect]
    if isinstance(check.window, Window):
        return f"repairs start while {check.window.low} to {check.window.high} machines are not healthy"
    given = check.max_unhealthy or rules.limit_unset
    if not isinstance(given, Count | Percent):
        return ""
    most = most_bearable(given, len(case.targets), blocks_at_limit=rules.blocks_at_limit)
    number = f": with {len(case.targets)} machines at most {max(most, 0)}" if case.targets else ""
    return f"repairs start while {'less than' if rules.blocks_at_limit else 'at most'} {given} are not healthy{number}"
