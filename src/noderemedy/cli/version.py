"""`node-remedy version` and `--version`."""

from __future__ import annotations

import click

from noderemedy import __version__


def text() -> str:
    return f"node-remedy {__version__}"


@click.command()
def version() -> None:
    """Print the version."""
    click.echo(text())
