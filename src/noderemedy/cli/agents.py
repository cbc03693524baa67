"""`node-remedy agents`: which fence agents are installed here, what one of them takes, and a form to be filled in."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from noderemedy.cli import options
from noderemedy.core.fencing import forms
from noderemedy.core.fencing.scopes import TRIES, lacking, only_shown, scope_of, unfit, unfit_by_name
from noderemedy.drivers.fence.agents import folders, installed
from noderemedy.manager.describing import describe_all_here, describe_here
from noderemedy.model.agent import AgentDescription, Parameter
from noderemedy.model.errors import Permanent


class NoAgent(Permanent):
    """There is no such agent here, or it says nothing of itself."""


@click.command()
@click.argument("name", required=False)
@click.option("--form", is_flag=True, help="Print ConfigMaps and a Secret for this agent, ready to be filled in.")
@options.output
@options.agents_path
def agents(name: str | None, form: bool, is_json: bool, agents_path: str) -> None:
    """List the fence agents that are installed on this machine, and which are refused; with a NAME, what it takes.

    As JSON the parameters are a JSON schema, from which a form can be drawn. Changes nothing.
    """
    if name is None:
        if form:
            raise click.UsageError("--form needs the name of an agent")
        names = installed(folders(agents_path, os.environ))
        show_all(names, refused(names, agents_path), is_json)
        return
    found = described(name, agents_path)
    if is_json:
        click.echo(json.dumps(forms.schema(found), indent=2, ensure_ascii=False))
    elif form:
        click.echo(forms.form(found), nl=False)
    else:
        show(found)


def described(name: str, agents_path: str) -> AgentDescription:
    found = describe_here(name, agents_path)
    if found is None:
        remedy = "node-remedy agents lists what is; on Debian the package fence-agents brings them"
        raise NoAgent(f"{name} is not installed here; {remedy}")
    if found.problem:
        raise NoAgent(f"{name}: {found.problem}; it cannot be used")
    return found


def refused(names: tuple[str, ...], agents_path: str) -> dict[str, str]:
    """Those that no method may use, and why. Who is not known by name has to be asked, which takes seconds."""
    why = {name: unfit_by_name(name) for name in names}
    unknown = [name for name in names if not why[name]]
    for name, found in zip(unknown, describe_all_here(unknown, agents_path), strict=True):
        why[name] = (found.problem or lacking(found)) if found else ""
    return {name: words for name, words in why.items() if words}


def show_all(names: tuple[str, ...], why: dict[str, str], is_json: bool) -> None:
    if is_json:
        listed = [{"name": name, "refused": why.get(name)} for name in names]
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
        return
    width = max(map(len, names), default=0)
    for name in names:
        click.echo(f"{name:<{width}}  refused: {why[name]}" if name in why else name)
    click.echo(f"{len(names)} fence agents are installed here, {len(why)} of them are refused.", err=True)


def show(agent: AgentDescription) -> None:
    click.echo(f"{agent.name}: {agent.about}")
    shown = only_shown(agent.name) if agent.name in TRIES else f"switches {scope_of(agent, {}).value}"
    click.echo(unfit(agent) or shown)
    rows = [cells(one) for one in forms.usable(agent)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)] if rows else []
    for row in rows:
        words = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        click.echo(f"  {words}  {row[3]}".rstrip())


def cells(one: Parameter) -> tuple[str, str, str, Any]:
    kind = "|".join(one.options) if one.options else one.sort.value
    state = "required" if one.is_required else f"default {one.default}" if one.default else ""
    return one.name, kind, state, one.about
