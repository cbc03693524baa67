"""The options that commands share which look at files or at a live cluster: plan, explain, history, import."""

from __future__ import annotations

from pathlib import Path

import click

filename = click.option(
    "-f",
    "--filename",
    "names",
    multiple=True,
    metavar="FILE|DIR|-",
    help="Kubernetes YAML or JSON; - is standard input. Without it: the live cluster.",
)
output = click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
as_json = click.option("--json", "is_json", is_flag=True, help="The same as -o json.")
kubeconfig = click.option("--kubeconfig", type=click.Path(path_type=Path), help="How to reach the live cluster.")
context = click.option("--context", default="", help="The context of the kubeconfig to use.")
