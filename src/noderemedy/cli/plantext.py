"""A plan for people: per object what is done, why, and when the next look is due. Colour on a terminal only.

What would be written down about it (Incidents) is one word of the last line: it would drown what is done.
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

from noderemedy.cli import options
from noderemedy.manager.plan import KEEPING_RECORDS, Entry, Plan
from noderemedy.model.actions import Action
from noderemedy.model.time import Wall

INDENT = "  "
NAMED = 5  # checks of one dialect; the others are counted


def show(plan: Plan, now: Wall) -> None:
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    for entry in acting(plan):
        for line in lines(entry, now):
            console.print(line)
        console.print()
    for words in dialects(plan):
        console.print(words)
    console.print(Text(summary(plan), style="bold"))


def lines(entry: Entry, now: Wall) -> list[Text]:
    """The block of one entry."""
    dialect = f", dialect {entry.dialect}" if entry.dialect else ""
    shown = [Text.assemble((options.called(entry.key), "bold"), f"  ({entry.room}{dialect})")]
    shown += [row("do", text(action), "green") for action in entry.actions]
    for reason in entry.because:
        shown.append(row("because", reason.note(), "red" if reason.alert else ""))
    if not entry.actions:
        shown.insert(1, row("do", "nothing now", "dim"))
    if entry.wake_at:
        shown.append(row("next look", f"{entry.wake_at} ({distance(now, entry.wake_at)})", "cyan"))
    return shown


def row(title: str, words: str, style: str) -> Text:
    return Text.assemble(INDENT, (f"{title:<10}", "dim"), (words, style))


def text(action: Action) -> str:
    return f"{type(action).__name__} {options.called(action.ref)}"


def distance(now: Wall, then: Wall) -> str:
    """`in 2m 5s`: for reading, so whole seconds will do."""
    seconds = max(0, round(then.since(now).ms / 1000))
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{value}{unit}" for value, unit in ((hours, "h"), (minutes, "m"), (seconds, "s")) if value]
    return f"in {' '.join(parts)}" if parts else "now"


def dialects(plan: Plan) -> list[str]:
    """By whose rules the checks are read, also those of which nothing is to be said."""
    shown = []
    for dialect in sorted({dialect for _, dialect in plan.checks}):
        keys = [key for key, one in plan.checks if one == dialect]
        more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
        shown.append(f"Read in the dialect {dialect}: {', '.join(keys[:NAMED])}{more}.")
    return shown


def summary(plan: Plan) -> str:
    actions = sum(len(entry.actions) for entry in acting(plan))
    looked = f"{options.counted(plan.objects, 'object')} looked at"
    noted = f"{options.counted(plan.records, 'incident')} written down; " if plan.records else ""
    return (
        f"{options.counted(actions, 'action') if actions else 'Nothing to do'}; {noted}{looked}. Nothing was changed."
    )


def acting(plan: Plan) -> list[Entry]:
    """All but what keeps records."""
    return [entry for entry in plan.entries if entry.room not in KEEPING_RECORDS]
