"""The options that commands share which look at files or at a live cluster, so that all of them mean the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

Result = TypeVar("Result")

filename = click.option(
    "-f",
    "--filename",
    "names",
    multiple=True,
    metavar="FILE|DIR|-",
    help="Kubernetes YAML or JSON; - is standard input. Without it: the live cluster.",
)
kubeconfig = click.option("--kubeconfig", type=click.Path(path_type=Path), help="How to reach the live cluster.")
context = click.option("--context", default="", metavar="NAME", help="The context of the kubeconfig to use.")


def absolute(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Folders as whoever typed them means them: agents are looked for in absolute ones only."""
    return os.pathsep.join(str(Path.cwd() / one) for one in value.split(os.pathsep) if one)


agents_path = click.option(
    "--agents-path",
    default="",
    callback=absolute,
    metavar="FOLDERS",
    help="Folders with fence agents, separated by colons, before those of PATH.",
)


def output(command: Callable[..., Result]) -> Callable[..., Result]:
    """-o and --json: two spellings of one wish, which the command gets as `is_json`."""

    @click.option(
        "-o",
        "--output",
        type=click.Choice(["text", "json"]),
        show_default="text",
        help="Text for people, JSON for programs.",
    )
    @click.option("--json", "as_json", is_flag=True, help="The same as -o json.")
    @wraps(command)
    def told(*args: Any, output: str | None, as_json: bool, **more: Any) -> Result:
        return command(*args, is_json=wants_json(output, as_json), **more)

    return told


def wants_json(output: str | None, as_json: bool) -> bool:
    """None: -o was left out."""
    if as_json and output == "text":
        raise click.UsageError("--json is -o json, and -o text asks for something else; leave one of them out")
    return as_json or output == "json"


def one_source(names: tuple[str, ...], kubeconfig: Path | None, context: str) -> None:
    """Files or a live cluster: both at once is a mistake that nobody should have to guess the outcome of."""
    if names and (kubeconfig or context):
        raise click.UsageError("-f reads files, --kubeconfig and --context a live cluster; leave one of them out")


def remark(remarks: Iterable[str]) -> None:
    """What a person should know besides; the result itself may go into a pipe."""
    for one in remarks:
        click.echo(f"Note: {one}", err=True)


def called(name: object) -> str:
    """An object as people call it: one without a namespace has no empty place for it."""
    return str(name).replace("//", "/", 1)


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
