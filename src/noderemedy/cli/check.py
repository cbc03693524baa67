"""`node-remedy check`: all that is wrong with a configuration, before it is applied or where it is. Changes nothing."""

from __future__ import annotations

import json
import os
import sys
import time
from functools import cache, partial
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from noderemedy.cli import options
from noderemedy.drivers.fence.agents import folders, installed
from noderemedy.manager import check as checking
from noderemedy.manager import checksecrets, checktrees, places, sources, standins
from noderemedy.manager.check import Finding
from noderemedy.manager.describing import describe_here
from noderemedy.manager.places import Place
from noderemedy.manager.plan import kind_of, look_at
from noderemedy.manager.trees import BadInput, decoded
from noderemedy.model.ids import NODE, Kind, Ref
from noderemedy.model.time import Wall

WRONG = 1  # the exit code if anything is
NOBODY = Ref("", Kind("", ""), "", "")  # a file that cannot be read holds no object
NO_NODES = (
    "There is no Node among the files: nodes that stand in were made up, one for each document; "
    "add those of kubectl get nodes -o yaml to have names, selectors and labels checked, too"
)
NO_AGENTS = "No fence agent is installed here, so what agents take was not checked; on Debian install fence-agents"


class Row(Struct, frozen=True):
    """A finding and its place."""

    finding: Finding
    place: Place

    def plain(self) -> dict[str, Any]:
        at = self.finding.at
        return {
            "file": self.place.file,
            "line": self.place.line,
            "kind": at.kind.kind,
            "namespace": at.namespace,
            "name": at.name,
            "field": self.place.field,
            "severity": "note" if self.finding.is_note else "problem",
            "problem": self.finding.text,
        }

    def text(self) -> str:
        where = f"{self.place.file}:{self.place.line}: " if self.place.line else f"{self.place.file}: "
        note = "note: " if self.finding.is_note else ""
        found = self.finding.at
        at = "/".join(word for word in (found.kind.kind, found.namespace, found.name) if word)
        return f"{where if self.place.file else ''}{note}{at}{': ' if at else ''}{self.finding.text}"


@click.command()
@options.filename
@click.option("--strict", is_flag=True, help="Count notes as problems.")
@options.output
@options.kubeconfig
@options.context
@options.agents_path
def check(
    names: tuple[str, ...], strict: bool, is_json: bool, kubeconfig: Path | None, context: str, agents_path: str
) -> int:
    """Show all that is wrong with a configuration: fencing, remedies, health checks, the budget. Changes nothing.

    Each problem names the file and line, the object, the field and the remedy. The exit code is 1 if there is any, 0 if
    there is none, and 2 if nothing could be checked.
    """
    options.one_source(names, kubeconfig, context)
    now = Wall(time.time_ns() // 1_000_000)
    has_agents = bool(installed(folders(agents_path, os.environ)))
    if names:
        rows, remarks, objects = in_files(names, now, agents_path, has_agents=has_agents)
    else:
        rows, remarks, objects = in_cluster(kubeconfig, context, now, agents_path, has_agents=has_agents)
    for one in (*remarks, *(() if has_agents else (NO_AGENTS,))):
        click.echo(one, err=True)  # no notes: those are counted, and about the configuration
    show(rows, objects, is_json=is_json)
    return WRONG if any(strict or not row.finding.is_note for row in rows) else 0


def in_files(
    names: tuple[str, ...], now: Wall, agents_path: str, *, has_agents: bool
) -> tuple[list[Row], list[str], int]:
    stdin = cache(sys.stdin.buffer.read)
    found, broken = sources.gathered(names, stdin)
    made_up = standins.stand_ins(found)
    look, remarks = look_at([*found, *made_up], now, describe=partial(describe_here, agents_path=agents_path))
    objects = look.objects - len(made_up) + len(checktrees.templates(found) - set(look.engine.cache.refs()))
    if not objects:
        where = ", ".join(names)
        told = "; ".join(one.removeprefix(f"{where}: ") for one in remarks)
        raise broken[0] if broken else BadInput(where, f"{told}; nothing was checked")
    knows_nodes = any(kind_of(one.tree) == NODE for one in found)
    findings = checking.findings(look, knows_nodes=knows_nodes, has_agents=has_agents)
    findings += checktrees.of_files(found)
    secrets = checksecrets.in_files(found)
    findings += checksecrets.of_secrets(checksecrets.uses(look), secrets, are_all=False)

    def text(name: str) -> str:
        return decoded(stdin() if name == "<stdin>" else Path(name).read_bytes(), name)

    files = places.Files(found, text)
    rows = [Row(one, files.place(one)) for one in sorted(set(findings))]
    rows += [Row(Finding(NOBODY, one.problem), Place(one.origin, one.line)) for one in broken]
    return sorted(rows, key=lambda row: (row.place.file, row.place.line)), [NO_NODES] if made_up else [], objects


def in_cluster(
    kubeconfig: Path | None, context: str, now: Wall, agents_path: str, *, has_agents: bool
) -> tuple[list[Row], list[str], int]:
    import asyncio

    from noderemedy.manager import livecheck

    looking = livecheck.on_cluster(kubeconfig, context, now, agents_path, has_agents=has_agents)
    findings, remarks, objects = asyncio.run(looking)
    return [Row(one, Place(field=places.field_of(one))) for one in findings], remarks, objects


def show(rows: list[Row], objects: int, *, is_json: bool) -> None:
    if is_json:
        click.echo(json.dumps([row.plain() for row in rows], indent=2, ensure_ascii=False))
        return
    for row in rows:
        click.echo(row.text())
    notes = sum(row.finding.is_note for row in rows)
    problems = len(rows) - notes
    told = f"{options.counted(problems, 'problem') if problems else 'No problems'}, {options.counted(notes, 'note')}"
    click.echo(f"{told}; {options.counted(objects, 'object')} looked at. Nothing was changed.")
