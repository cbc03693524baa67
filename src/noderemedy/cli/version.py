"""`node-remedy version` and `--version`."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed

import click


def text() -> str:
    try:
        return f"node-remedy {installed('node-remedy')}"
    except PackageNotFoundError:
        return "node-remedy (not installed)"


@click.command()
def version() -> None:
    """Print the version."""
    click.echo(text())
