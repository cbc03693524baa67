"""The shared shelf: conditions as lists that several programs write. Whose they are not stays as it is.

`merged` keeps every condition in its place and its time as long as its status. `write` is how rooms tell something on
a Machine, in both generations: it gives None when all is said already, so that saying it again is no write.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec import structs

from noderemedy.core.machines import is_own
from noderemedy.model.actions import Guard, WriteMachineConditions
from noderemedy.model.checkstatus import Foreign, Told
from noderemedy.model.ids import Ref
from noderemedy.model.machine import Machine
from noderemedy.model.machineconditions import (
    HEALTH_CHECK_SUCCEEDED,
    WARNING,
    Conditions,
    Graded,
    MachineConditions,
)
from noderemedy.model.node import Node
from noderemedy.model.room import Present
from noderemedy.model.time import Now

T = TypeVar("T", bound=Told)

# What the older generation calls a reason that has another name in the current one.
OLDER_NAMES = {"NodeDeleted": "NodeNotFound", "HasRemediateAnnotation": "HasRemediateMachineAnnotation"}
SAID_ALONG = "its owner is asked to replace it: "


def merged(
    known: tuple[T | Foreign, ...], wanted: tuple[T, ...], now: str, dropped: tuple[str, ...] | None = None
) -> tuple[T | Foreign, ...]:
    """Ours in their places, new ones at the end, those of others as they are. A time changes with its status only.

    A change was when the wanted one says, else now.
    `dropped` names what goes; None: whatever is ours and not wanted any more.
    """
    left = {one.type: one for one in wanted}
    result: list[T | Foreign] = []
    for old in known:
        if isinstance(old, Foreign):
            result.append(old)
        elif (new := left.pop(old.type, None)) is not None:
            since = old.since if old.status == new.status and old.since else new.since or now
            result.append(structs.replace(new, since=since))
        elif dropped is not None and old.type not in dropped:
            result.append(old)
    return (*result, *(structs.replace(one, since=one.since or now) for one in left.values()))


def states(conditions: tuple[Told | Foreign, ...]) -> list[tuple[str, str, str] | Foreign]:
    """What they say, without the words and the times."""
    return [one if isinstance(one, Foreign) else (one.type, one.status, one.reason) for one in conditions]


def write(
    at: Ref, entry: Present, wanted: tuple[Graded, ...], now: Now, *, dropped: tuple[str, ...] = (), both: bool = True
) -> WriteMachineConditions | None:
    """Tell this on the Machine of an entry, and take back what is dropped; None if that is what it says.

    `wanted` is in the words of the current generation, with severities. Without `both` only `status.conditions`
    itself is written. A generation that the object has no place for is written along, but is no reason to write: an
    API server that does not know it would forget it again and again. OpenShift's Machines have a place for neither.
    """
    machine: Machine = entry.obj
    told, moment = machine.told, str(now.wall)
    current = merged(told.current or (), tuple(map(in_current, wanted)), moment, dropped)
    older = merged(told.older or (), tuple(map(in_older, wanted)), moment, dropped)
    does_current, does_older = both or told.is_current, both or not told.is_current
    if not (does_current and is_news(current, told.current)) and not (does_older and is_news(older, told.older)):
        return None
    guard = Guard(machine.uid, entry.resource_version)
    return WriteMachineConditions(at, guard, current if does_current else None, older if does_older else None)


def is_said(told: MachineConditions, wanted: Graded) -> bool:
    """Whether every generation that is there has this type and status, in whosever words; or whether somebody has
    answered in one, in other words: owners of Cluster API that delete a machine say in the older one that it is done.
    """
    state = (wanted.type, wanted.status)
    generations = [one for one in (told.current, told.older) if one is not None]
    found = [
        [one for one in each if isinstance(one, Graded) and (one.type, one.status) == state] for each in generations
    ]
    is_answered = any(one.reason != wanted.reason for each in found for one in each)
    return is_answered or (bool(found) and all(found))


def ask_owner(at: Ref, entry: Present, word: Graded, now: Now) -> WriteMachineConditions | None:
    """Leave a word to the owner of a Machine. Current owners of Cluster API act only where the machine is called sick,
    too: that is said along where nobody says how it is. What a health check says is never ours to change."""
    machine: Machine = entry.obj
    is_judged = machine.told.find(HEALTH_CHECK_SUCCEEDED) is not None
    return write(at, entry, (word,) if is_judged else (word, along(word)), now)


def along(word: Graded) -> Graded:
    """What is said along with a word to an owner. It names that word, so that it can be told from a health check's."""
    message = f"{SAID_ALONG}{word.message}"
    return Graded(HEALTH_CHECK_SUCCEEDED, "False", "UnhealthyNode", message, severity=WARNING)


def is_said_along(one: Graded) -> bool:
    """Whether it is a request's to take back, of whichever kind."""
    return one.type == HEALTH_CHECK_SUCCEEDED and one.status == "False" and one.message.startswith(SAID_ALONG)


def taken_back(at: Ref, entry: Present, node: Node | None, word: Graded, now: Now) -> WriteMachineConditions | None:
    """Take our own word to an owner, and what was said along, off a Machine that is well again: nobody shall replace
    it, neither now nor at its next sickness. None: it is not well, or neither is ours alone.

    What was said along goes even if the owner has answered in words of its own: it would act on them otherwise."""
    machine: Machine = entry.obj
    is_well = node is not None and node.is_ready and is_own(node, machine) and not machine.deleting
    ours = tuple(one.type for one in (word, along(word)) if is_ours(machine.told, one))
    return write(at, entry, (), now, dropped=ours) if is_well and ours else None


def is_ours(told: MachineConditions, word: Graded) -> bool:
    """Whether all that is said of this type, in either generation, is what we say, word for word."""
    generations = (*(told.current or ()), *(told.older or ()))
    found = [one for one in generations if isinstance(one, Graded) and one.type == word.type]
    ours = (word.status, word.reason, word.message)
    return bool(found) and all((one.status, one.reason, one.message) == ours for one in found)


def is_news(wanted: Conditions, known: Conditions | None) -> bool:
    return known is not None and wanted != known


def in_current(one: Graded) -> Graded:
    return structs.replace(one, severity="")


def in_older(one: Graded) -> Graded:
    """What is well needs no words there."""
    if one.status != "False":
        return structs.replace(one, severity="", reason="", message="")
    return structs.replace(one, reason=OLDER_NAMES.get(one.reason, one.reason))
