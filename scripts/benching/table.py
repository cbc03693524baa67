"""Figures beside their targets, as a table that a person can read. Pure.

The targets are those of the design: most are ratios to the yardstick of the same run, since only those travel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

Figures = dict[str, Any]


class Line(Struct, frozen=True):
    """One figure: how it is shown, its target, and whether it is met (None: there is none)."""

    what: str
    value: str
    target: str = ""
    is_met: bool | None = None


def at_most(what: str, value: float, limit: float, unit: str, detail: str = "", digits: int = 0) -> Line:
    shown = f"{value:,.{digits}f}{unit}{f' ({detail})' if detail else ''}"
    return Line(what, shown, f"≤ {limit:,g}{unit}", value <= limit)


def of_size(figures: Figures) -> Iterator[Line]:
    """The manager beside the bare watch, for one number of nodes."""
    ratio = figures["usPerEvent"] / figures["bareUsPerEvent"]
    absolute = f"{figures['usPerEvent']:.0f} µs, bare watch {figures['bareUsPerEvent']:.0f} µs"
    yield at_most("CPU per heartbeat", ratio, 1.3, " ×", absolute, 2)
    memory = f"{figures['mb']:.0f} MB, bare watch {figures['bareMb']:.0f} MB"
    yield at_most("memory, steady", figures["mb"] / figures["bareMb"], 1.6, " ×", memory, 2)
    peak = f"{figures['peakMb']:.0f} MB, after all that follows {figures['stormMb']:.0f} MB"
    yield at_most("memory, peak to steady", figures["peakMb"] / figures["mb"], 1.3, " ×", peak, 2)
    started = f"{figures['verdictsS']:.2f} s, bare watch in step after {figures['bareSyncS']:.2f} s"
    yield at_most("start to verdicts", figures["verdictsS"] / figures["bareSyncS"], 2, " ×", started, 2)
    yield at_most("mark to hold written, p50", figures["holdMsP50"], 30, " ms", digits=1)
    yield at_most("mark to hold written, p99", figures["holdMsP99"], 100, " ms", digits=1)
    yield from of_checks(figures)
    for flow, title in FLOWS.items():
        if flow in figures:
            yield requests(f"API requests per {title}", figures[flow])
    yield at_most("writes while idle", figures["idleWrites"], 0, "")
    yield at_most("CPU at rest", 100 * figures["idleCores"], 5, " % of a core", digits=1)


FLOWS = {
    "requestsOfPowerCycle": "power cycle",
    "requestsOfRemediation": "Metal3Remediation",
    "requestsOfExternal": "request made and withdrawn",
}
RECORDS = ("incidents", "pods", "machinehealthchecks", "remediationbudgets")  # what is written, or read, to tell of it


def of_checks(figures: Figures) -> Iterator[Line]:
    """From a sick node to the request for its repair."""
    if "sickMsP50" not in figures:
        return
    for rank, limit in (("P50", 30), ("P99", 100)):
        own = f"the write that told it {figures['writeMs' + rank]:.1f} ms"  # as slow as the server is just then
        yield at_most(f"sick to request written, {rank.lower()}", figures["sickMs" + rank], limit, " ms", own, 1)
    if "storm" not in figures:
        return
    storm = f"{figures['storm']} nodes, until the last request"
    yield at_most("many fail in one second", figures["stormS"], 5, " s", storm, 1)
    sick = f"{figures['limitedSick']:,} of {figures['limited']:,} sick, {figures['limitedRequests']:,} requests"
    yield at_most("requests above a limit of 40 %", figures["aboveLimit"], 0, "", sick)


def requests(what: str, by_kind: dict[str, float]) -> Line:
    """All of the manager's requests but watches and the renewals of its leadership: reads, writes, ledger, Events."""
    events = asked_for(by_kind, ("events",))
    records = asked_for(by_kind, RECORDS)
    total = sum(by_kind.values())
    parts = f"{total - events - records:.1f} repair, {records:.1f} record and status, {events:.1f} Events"
    return at_most(what, total, 10, "", parts, 1)


def asked_for(by_kind: dict[str, float], resources: tuple[str, ...]) -> float:
    """How many of them were about these resources: `patch incidents`."""
    return sum(number for kind, number in by_kind.items() if kind.rpartition(" ")[2] in resources)


def growth(small: Figures, large: Figures) -> Line:
    """Work per event must not depend on the size of the cluster."""
    detail = f"{small['usPerEvent']:.0f} µs at {small['nodes']:,}, {large['usPerEvent']:.0f} µs at {large['nodes']:,}"
    return at_most("CPU per heartbeat", large["usPerEvent"] / small["usPerEvent"], 1.2, " ×", detail, 2)


def of_process(figures: Figures) -> Iterator[Line]:
    """What needs no API server."""
    small, large = figures["inside"]
    growth = large["us"] / small["us"]
    detail = f"{small['us']:.0f} µs at {small['nodes']:,}, {large['us']:.0f} µs at {large['nodes']:,} nodes"
    yield at_most("growth of CPU per heartbeat", growth, 1.5, " ×", detail, 2)
    yield Line("reading the whole Node instead", f"{large['readUs']:.0f} µs")
    yield at_most("memory per node, machine and host", large["kbPerNode"], 8, " KB", digits=1)
    speed = figures["simulator"]
    shown = f"{speed['timesRealTime']:,.0f} × real time ({speed['nodes']:,} nodes, median {speed['seconds']:.1f} s)"
    yield Line("simulator, checkers on", shown, "≥ 1,000 ×", speed["timesRealTime"] >= 1_000)


def text(figures: Figures) -> str:
    """All of it."""
    about = figures["machine"]
    head = (
        f"{figures['when']}: {about['cores']} cores {about['architecture']}, {about['memoryGb']} GB, "
        f"Python {about['python']}, load at the start {about['load']}; took {figures['seconds']:.0f} s"
    )
    parts = ["", head]
    if "inside" in figures:
        parts += ["", "in one process", *rows(list(of_process(figures)))]
    sizes = figures.get("sizes", ())
    for size in sizes:
        title = f"{size['nodes']:,} nodes of {size['bytesPerNode'] / 1000:.1f} KB, {figures['server']}"
        parts += ["", title, *rows(list(of_size(size)))]
    if len(sizes) > 1:
        parts += ["", "growth", *rows([growth(sizes[0], sizes[-1])])]
    return "\n".join(parts)


def rows(lines: list[Line]) -> list[str]:
    widths = [max(len(pick(line)) for line in lines) for pick in COLUMNS]
    return [
        "  " + "  ".join(pick(line).ljust(width) for pick, width in zip(COLUMNS, widths, strict=True)).rstrip()
        for line in lines
    ]


MARKS = {True: "met", False: "NOT MET", None: ""}
COLUMNS: tuple[Callable[[Line], str], ...] = (
    lambda line: line.what,
    lambda line: line.value,
    lambda line: line.target,
    lambda line: MARKS[line.is_met],
)
