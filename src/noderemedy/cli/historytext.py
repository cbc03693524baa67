"""Incidents for people: a table of many, or one with all its steps. Colour on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from noderemedy.cli.options import counted
from noderemedy.cli.plantext import row
from noderemedy.manager.history import Kept, Problem, Workload
from noderemedy.model.incident import Approval, Ending, Step
from noderemedy.model.time import Wall

WORKLOAD_HEADS = ("WORKLOAD", "INCIDENTS", "NODES", "LAST")
PROBLEM_HEADS = ("NODE", "CONDITION", "INCIDENTS", "LAST")
HEADS = ("INCIDENT", "TARGET", "DETECTED", "TOOK", "STEPS", "OUTCOME")
STYLES = {Ending.RECOVERED: "green", Ending.SELF_RECOVERED: "green", Ending.FAILED: "red", Ending.ESCALATED: "yellow"}


def show(found: list[Kept]) -> None:
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    rows = [HEADS, *(cells(one) for one in found)]
    widths = [max(len(line[column]) for line in rows) for column in range(len(HEADS))]
    for number, line in enumerate(rows):
        ending = found[number - 1].incident.record.ending if number else None
        words = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        console.print(Text(words, style="bold" if not number else STYLES.get(ending, "") if ending else "cyan"))
    is_open = sum(one.incident.is_open for one in found)
    console.print(Text(f"{counted(len(found), 'incident')}, {is_open} open.", style="bold"))


def show_workloads(found: list[Workload]) -> None:
    """Who ran on nodes that fell sick, and how often."""
    lines = [(one.name, str(one.incidents), str(len(one.nodes)), str(one.last)) for one in found]
    show_counts(WORKLOAD_HEADS, lines, f"{counted(len(found), 'workload')} on nodes with incidents.")


def show_problems(found: list[Problem]) -> None:
    """Which condition of which node was a problem, and how often."""
    lines = [(one.node, one.condition or "-", str(one.incidents), str(one.last)) for one in found]
    nodes = len({one.node for one in found})
    show_counts(PROBLEM_HEADS, lines, f"{counted(len(found), 'problem')} on {counted(nodes, 'node')}.")


def show_counts(heads: tuple[str, ...], lines: Sequence[tuple[str, ...]], sum_of_it: str) -> None:
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    rows = [heads, *lines]
    widths = [max(len(line[column]) for line in rows) for column in range(len(heads))]
    for number, line in enumerate(rows):
        words = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        console.print(Text(words, style="" if number else "bold"))
    console.print(Text(sum_of_it, style="bold"))


def cells(one: Kept) -> tuple[str, ...]:
    found, record = one.incident.found, one.incident.record
    target = f"{found.target.namespace}/{found.target.name}" if found.target.namespace else found.target.name
    took = length(found.detected, record.closed) if record.closed else "-"
    ending = record.ending.value if record.ending else "open"
    return (one.at.name, target, str(found.detected), took, str(len(record.steps)), ending)


def length(begun: Wall, ended: Wall) -> str:
    seconds = max(0, ended.since(begun).ms // 1000)
    hours, rest = divmod(seconds, 3600)
    return f"{hours}h{rest // 60:02}m" if hours else f"{rest // 60}m{rest % 60:02}s"


def show_one(one: Kept) -> None:
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    found, record, approval = one.incident.found, one.incident.record, one.incident.approval
    console.print(Text(one.at.name, style="bold"))
    facts = [
        ("target", f"{found.target} uid {found.target_uid}"),
        ("node", f"{found.node} uid {found.node_uid} boot {found.boot_id}" if found.node else "none"),
        ("check", found.check or "none: somebody asked for the repair"),
        ("detected", str(found.detected)),
        *(("", sign) for sign in found.signs),
        ("decided", str(record.decided) if record.decided else "never judged unhealthy"),
    ]
    if isinstance(approval, Approval):
        facts.append(("approval", f"{approval.answer.value} {f'by {approval.by}' if approval.by else ''}".strip()))
    if record.pods_in_all is not None:
        facts.append(("pods", f"{record.pods_in_all} at detection"))
        facts += [("", f"{pod.namespace}/{pod.name}  {pod.owner}".rstrip()) for pod in record.pods]
    for name, words in facts:
        console.print(row(name, words, ""))
    for step in record.steps:
        console.print(line(step))
    ending = f"{record.ending.value} at {record.closed}" if record.ending else "open"
    console.print(row("outcome", ending, "bold"))


def line(step: Step) -> Text:
    """One step: when, by which room, what, and by whose policy; then the evidence."""
    told = f"{step.what}: {step.value or 'over'}{policy(step)}"
    more = "; ".join(part for part in (step.evidence, step.versions) if part)
    words = f"{step.at}  {step.room:<12} {told}"
    return row("step", f"{words}  ({more})" if more else words, "")


def policy(step: Step) -> str:
    """The object that decided it, and which generation of it that was. Older versions wrote neither."""
    if not step.by:
        return ""
    kind, _, rest = step.by.partition("/")
    generation = f" (generation {step.generation})" if step.generation else ""
    return f", by {kind} {rest.removeprefix('/')}{generation}"
