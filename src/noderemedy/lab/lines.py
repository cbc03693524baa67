"""The lab in plain lines, one per change: for pipes, logs and people who read rather than watch."""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.lab.diary import Said
from noderemedy.lab.faults import FAULTS
from noderemedy.lab.lab import Lab
from noderemedy.lab.once import Report
from noderemedy.lab.scenarios import SCENARIOS
from noderemedy.lab.story import Repair, Step

Say = Callable[[str], None]


def opening(lab: Lab) -> str:
    size = lab.size
    return (
        f"lab: {size.nodes} nodes in {len({server.rack for server in lab.cluster.servers.values()})} racks at "
        f"{lab.endpoint.url}; things take 1/{size.speed:g} of their usual time, clocks are real"
    )


def step_line(repair: Repair, step: Step) -> str:
    """`   1.84 s  worker-1    power is off: nothing can write`."""
    second = repair.seconds(step) or 0.0
    return f"{second:7.2f} s  {repair.node:<10}  {step_text(repair, step)}"


def step_text(repair: Repair, step: Step) -> str:
    if step is Step.MOVED and not repair.pods:
        return "it ran nothing that would have to move"
    if step is Step.MOVED and repair.moved:
        return "the workload runs again: " + ", ".join(f"{pod} on {node}" for pod, node in repair.moved.items())
    if step is not Step.BEGUN:
        return str(step.value)
    first = repair.cause.split(", ")[0]
    return f"{first}: {FAULTS[first].means}" if first in FAULTS else repair.cause


def alert_line(said: Said) -> str:
    return f"    ALERT  {said.ref.name}: {said.reason.note()}"


def ending(report: Report) -> list[str]:
    """The last lines of `--once`."""
    lines: list[str] = []
    for node in report.nodes:
        safe = f"safe after {node.seconds_to_safe:.2f} s" if node.seconds_to_safe is not None else "never safe"
        back = f"back after {node.seconds_to_recover:.2f} s" if node.seconds_to_recover is not None else "not back"
        lines.append(f"{node.name}: {safe}, {back}")
    lines.append(f"freed before safe: {report.freed_before_safe}")
    verdict = "as it should" if report.ok else "NOT as it should"
    lines.append(f"scenario {report.scenario} ended {verdict} after {report.seconds:.1f} s")
    lines.append(f"what should happen: {SCENARIOS[report.scenario].end.value}")
    return lines


def narrate(lab: Lab, say: Say) -> None:
    """Say every step and every alert of a lab as it happens."""
    lab.story.on_step.append(lambda repair, step: say(step_line(repair, step)))
    lab.diary.on_alert.append(lambda said: say(alert_line(said)))
