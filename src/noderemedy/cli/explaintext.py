"""An explanation for people: one block per target, gates in order with a mark each. Colour on a terminal only."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

from noderemedy.cli.options import called
from noderemedy.cli.plantext import INDENT, distance, row, text
from noderemedy.manager.explain import Explanation, Gates, Unread
from noderemedy.model.room import Passage
from noderemedy.model.time import Wall

NOBODY = "no check selects it: nobody judges it, and it is repaired only if somebody asks for that"
NO_MACHINE = "no Machine names this node: no health check judges it"
NONE_READABLE = "no Machine that can be read names this node"
UNREAD_MAX = 3


def show(found: tuple[Explanation, ...], now: Wall) -> None:
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    for one in found:
        for line in lines(one, now):
            console.print(line)
        console.print()


def lines(one: Explanation, now: Wall) -> list[Text]:
    """The block of one target."""
    shown = [title(one), *machine(one, now)]
    shown += [row("" if number else "unreadable", words, "red") for number, words in enumerate(unread(one))]
    shown += [row("fencing" if not number else "", words, "") for number, words in enumerate(one.fencing)]
    for room in one.gates:
        shown += gates(room, now)
    shown += [row("running", words, "green") for words in one.running]
    shown += doing(one, now)
    if one.incident:
        last = f", last step: {one.last_step}" if one.last_step else ""
        shown.append(row("incident", f"{one.incident}{last}", ""))
    return [*shown, answer(one, now)]


def machine(one: Explanation, now: Wall) -> list[Text]:
    """What is said of the machine, if anything can be."""
    if one.machine is None:
        may_have_one = any(unread.at != one.node for unread in one.unread)
        return [row("machine", NONE_READABLE if may_have_one else NO_MACHINE, "yellow")]
    return [] if any(unread.at == one.machine for unread in one.unread) else judged(one, now)


def unread(one: Explanation) -> list[str]:
    """What cannot be read, the first of many."""
    words = [f"{cannot(found)}: {found.problem}" for found in one.unread[:UNREAD_MAX]]
    more = len(one.unread) - UNREAD_MAX
    return [*words, f"and {more} more: node-remedy plan shows all"] if more > 0 else words


def cannot(found: Unread) -> str:
    return f"{found.at.in_words} cannot be read"


def judged(one: Explanation, now: Wall) -> list[Text]:
    """What health checks say."""
    dialect = f"  (dialect {one.dialect})" if one.dialect else ""
    governs = [Text(f"{one.check}{dialect}")] if one.check else []
    aside = [Text(f"{other.at} does not judge it: {other.reason.note()}", "yellow") for other in one.aside]
    named = [*governs, *aside] or [Text(NOBODY, "yellow")]
    shown = [row("" if number else "check", str(words), str(words.style)) for number, words in enumerate(named)]
    return shown + verdict(one, now)


def title(one: Explanation) -> Text:
    node = f"  (node {one.node.name})" if one.node and one.machine else ""
    return Text.assemble((called(one.machine or one.node), "bold"), node)


def verdict(one: Explanation, now: Wall) -> list[Text]:
    if not one.verdict:
        return []
    since = f" since {one.since}" if one.since else ""
    until = f", next look {one.until} ({distance(now, one.until)})" if one.until else ""
    style = {"Healthy": "green", "Unhealthy": "red"}.get(one.verdict, "yellow")
    shown = [row("verdict", f"{one.verdict}{since}{until}", style)]
    return shown + [row("", reason.note(), "") for reason in one.signs]


def gates(room: Gates, now: Wall) -> list[Text]:
    """In order. Budget and claim are asked last: where something else blocks, they have not been asked."""
    shown = [row("gates", f"of the room {room.room}, in order", "")]
    return shown + [gate(passage, now, is_asked) for passage, is_asked in room.asked()]


def gate(passage: Passage, now: Wall, is_asked: bool) -> Text:
    if not is_asked:
        return row("", f"  unasked  {passage.gate}", "dim")
    if passage.reason is None:
        return row("", f"  passed   {passage.gate}", "green")
    until = f" (until {passage.until}, {distance(now, passage.until)})" if passage.until else ""
    style = "red" if passage.reason.alert else "yellow"
    return row("", f"  BLOCKED  {passage.gate}: {passage.reason.note()}{until}", style)


def doing(one: Explanation, now: Wall) -> list[Text]:
    """What a plan says: the next actions, and when somebody looks again."""
    shown = []
    for entry in one.next:
        shown += [row("next", f"{text(action)}  ({entry.room})", "green") for action in entry.actions]
        shown += [row("", reason.note(), "") for reason in entry.because if entry.actions]
    wakes = [entry.wake_at for entry in one.next if entry.wake_at]
    if wakes:
        shown.append(row("next look", f"{min(wakes)} ({distance(now, min(wakes))})", "cyan"))
    return shown


def answer(one: Explanation, now: Wall) -> Text:
    """One sentence to take away."""
    doing_now = [type(action).__name__ for entry in one.next for action in entry.actions]
    if doing_now:
        return Text.assemble(INDENT, (f"Next: {', '.join(doing_now)}.", "bold"))
    if one.blocked:
        assert one.blocked.reason is not None
        until = f"; that changes {distance(now, one.blocked.until)}" if one.blocked.until else ""
        return Text.assemble(INDENT, (f"Nothing is done now: {one.blocked.reason.note()}{until}.", "bold"))
    if one.unread:
        return Text.assemble(INDENT, (f"Nothing is done now: {cannot(one.unread[0])}. Mend it.", "bold"))
    return Text.assemble(INDENT, ("Nothing is to be done.", "bold"))
