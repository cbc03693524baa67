"""The report of `import` for people: per check each difference and its remedy. Colour on a terminal only."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from noderemedy.cli.options import called, counted
from noderemedy.manager.importing.report import Difference, Examined, Report, Weight

INDENT = 10
STYLES = {Weight.BLOCKS: "red", Weight.DIFFERS: "yellow", Weight.NOTE: "dim"}


def show(report: Report) -> None:
    console = Console(file=sys.stdout, highlight=False, soft_wrap=not sys.stdout.isatty())
    if report.everywhere:
        console.print(Text("For every check", style="bold"))
        tell(console, report.everywhere)
    for examined in report.checks:
        console.print(title(examined))
        tell(console, examined.differences)
    console.print(Text(summary(report), style="bold"))


def title(examined: Examined) -> Text:
    facts = [f"dialect {examined.dialect}"] if examined.dialect else []
    if examined.targets is not None:
        facts.append(counted(examined.targets, "target"))
    if examined.limit:
        facts.append(examined.limit)
    return Text.assemble((called(examined.key), "bold"), f"  ({'; '.join(facts)})" if facts else "")


def tell(console: Console, differences: Iterable[Difference]) -> None:
    for one in differences:
        console.print(Text.assemble("  ", (f"{one.weight.value:<8}", STYLES[one.weight]), (one.name, "bold")))
        console.print(indented(console, Text(one.what)))
        console.print(indented(console, Text.assemble(("do: ", "dim"), one.remedy)))
    console.print()


def indented(console: Console, words: Text) -> Padding | Text:
    """Below its name. Padding cuts what is wider than a screen: a console that never wraps gets one line."""
    return Text.assemble(" " * INDENT, words) if console.soft_wrap else Padding(words, (0, 0, 0, INDENT))


def summary(report: Report) -> str:
    counts = Counter(one.weight for examined in report.checks for one in examined.differences)
    blocking, differing = counts[Weight.BLOCKS], counts[Weight.DIFFERS]
    told = f"{blocking} to settle first, {counted(differing, 'difference')}" if report.checks else "nothing to compare"
    return f"{counted(len(report.checks), 'check')}: {told}. Nothing was changed."
