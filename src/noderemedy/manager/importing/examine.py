"""Looks at all health checks and says what will behave differently under node-remedy. Pure. Called by the command."""

from __future__ import annotations

from collections.abc import Iterator

from noderemedy.manager.importing import checks, nodechecks
from noderemedy.manager.importing.checks import Case
from noderemedy.manager.importing.report import Difference, Examined, Report, differs
from noderemedy.manager.importing.world import NODE_HEALTH_CHECK, World
from noderemedy.model.healthcheck import Dialect
from noderemedy.model.ids import Ref
from noderemedy.model.time import Wall

EVERYWHERE: tuple[Difference, ...] = (
    differs(
        "Budget",
        "besides each check's limit one budget holds for the whole cluster. Its default: no repair while two or more"
        " nodes and 40 % of all are sick, max(2, 10 %) repairs at once, max(10, 20 %) an hour, one control-plane node"
        " at a time, a rack held when half of it fails together",
        "set a RemediationBudget named cluster if other numbers suit this cluster",
    ),
    differs(
        "ConfirmedAbsence",
        "a node that is missing is read once more from the API before its machine counts as sick",
        "nothing; a repair may begin a moment later",
    ),
    differs(
        "OwnClock",
        "a condition's time counts from its timestamp, but a new repair begins only after node-remedy itself has been"
        " in contact with the API for longer than the shortest timeout",
        "expect the first repairs that much later after a start",
    ),
    differs(
        "RecoveryAlwaysTold",
        "when a machine recovers its conditions are updated and its request is deleted even while too many are sick",
        "nothing",
    ),
    differs(
        "OtherWords",
        "events, conditions and figures have node-remedy's names",
        "let alerts and dashboards follow docs/reasons.md and deploy/alerts",
    ),
)
CLUSTER_NOT_READY = differs(
    "NotJudged",
    "Cluster API takes a machine for healthy, and deletes its request, while the Cluster's infrastructure or control"
    " plane is not ready; here it is neither healthy nor sick and its request stays",
    "nothing",
)


def examine(world: World, now: Wall) -> Report:
    """What will be different, for every check."""
    examined = [*(machine_check(at, world, now) for at in sorted(world.checks)), *node_checks(world)]
    return Report(tuple(everywhere(world)) if examined else (), tuple(examined), tuple(world.remarks))


def machine_check(at: Ref, world: World, now: Wall) -> Examined:
    case = Case(at, world.checks[at], world.targets(at), world, now)
    targets = len(case.targets) if world.has_machines(at) else None
    return Examined(str(at), case.check.dialect.value, targets, checks.limit_in_words(case), checks.differences(case))


def node_checks(world: World) -> Iterator[Examined]:
    for tree in world.trees[NODE_HEALTH_CHECK]:
        yield nodechecks.examine(tree, world)


def everywhere(world: World) -> Iterator[Difference]:
    yield from EVERYWHERE
    if any(check.dialect is Dialect.CAPI for check in world.checks.values()):
        yield CLUSTER_NOT_READY
