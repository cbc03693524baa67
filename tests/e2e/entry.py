"""`node-remedy` with one thing changed, for tests that could not be made with the real one: `entry.py HOW manager …`.

- hurried: waits that a person would sit out are short (a kind that is not served, a refusal, a lease of a dead one).
- mortal: hurried, and the process kills itself, by the signal that nobody can catch, after its first write.
- careless, forgetful, talkative: sabotages. The first deletes a Node whose host is on, the second restores nothing, the
  third says at every attempt which kind is missing. Tests start them to see the checks of the scenarios fail.
- disordered: a sabotage of `explain`, which shows gates from the last to the first.

Run as a program, so that what is changed is gone with the process.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import msgspec

from noderemedy.cli import main as commands
from noderemedy.cli import manager as command
from noderemedy.core import safety
from noderemedy.core.healthcheck import remediation, remediationgates
from noderemedy.core.metal3 import annotation, cleanup
from noderemedy.engine import ledger
from noderemedy.engine.leadership import Rules
from noderemedy.manager import program
from noderemedy.manager.follower import Pace
from noderemedy.manager.settings import Ended, Happening, Settings
from noderemedy.manager.sink import EngineSink
from noderemedy.model.actions import Confirm
from noderemedy.model.host import Hold
from noderemedy.model.ids import Kind
from noderemedy.model.node import Node
from noderemedy.model.outcome import Done
from noderemedy.model.proof import PoweredOff, Subject
from noderemedy.model.room import Present
from noderemedy.model.time import Now, Span

SHORT_RULES = Rules(duration=Span(3_000), deadline=Span(2_000), retry=Span(300))
SHORT_PAUSE = Span(1_000)
QUICK = Pace(unsettled=Span(1_000), least=Span(200), grace=Span(2_000))


def change(module: object, name: str, value: object) -> None:
    """Only this process, and only for its life."""
    setattr(module, name, value)


def die_after_a_write(happening: Happening) -> None:
    """The observer of a mortal manager."""
    if not isinstance(happening, Ended) or isinstance(happening.effect.action, Confirm):
        return
    if isinstance(happening.outcome, Done):
        os.kill(os.getpid(), signal.SIGKILL)


def hurry(is_mortal: bool = False) -> None:
    ledger.LASTING = SHORT_PAUSE

    async def run(settings: Settings, stop: asyncio.Event) -> None:
        watch = msgspec.structs.replace(settings.watch, refused_pause=SHORT_PAUSE)
        quick = msgspec.structs.replace(settings, rules=SHORT_RULES, watch=watch, clusters=QUICK)
        await program.run(quick, stop, die_after_a_write if is_mortal else None)

    change(command, "run", run)


def take_anything_for_off() -> None:
    """Delete the Node as soon as the host is held, whatever its power."""

    def proof(node: Node, host_entry: Present, now: Now, **_: object) -> PoweredOff:
        host = host_entry.obj
        since = host.hold.since if isinstance(host.hold, Hold) else None
        return PoweredOff(Subject(node.uid, node.boot_id), host.uid, host_entry.resource_version, now.wall, since)

    change(safety, "powered_off", proof)
    annotation.TABLE[annotation.row(1, 1, 1, 1)] = annotation.Says.DELETE


def restore_nothing() -> None:
    change(cleanup, "restore", lambda *_: None)


def complain_always() -> None:
    """Hurried, and what was said before is said again."""
    hurry()
    once = EngineSink.not_served

    def again(self: EngineSink, kind: Kind) -> None:
        self.unserved.discard(kind)
        once(self, kind)

    change(EngineSink, "not_served", again)


def turn_gates_round() -> None:
    change(remediation, "GATES", remediationgates.GATES[::-1])


HOW = {
    "hurried": hurry,
    "mortal": lambda: hurry(is_mortal=True),
    "careless": take_anything_for_off,
    "forgetful": restore_nothing,
    "talkative": complain_always,
    "disordered": turn_gates_round,
}

if __name__ == "__main__":
    HOW[sys.argv[1]]()
    commands.main(sys.argv[2:])
