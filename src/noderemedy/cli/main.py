"""The entry point of `node-remedy` and of `kubectl-remedy` (so `kubectl remedy …`).

Sub-commands are a table: each module is imported only when its command runs, so that `--help` and `plan` do not
pay for an HTTP stack. What somebody else did wrong ends in one line and exit code 2, never in a traceback.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import click

from noderemedy.model.errors import Theirs

UNUSABLE = 2  # bad usage, bad input, a cluster that cannot be reached
OUR_FAULT = 70
READER_GONE = 141  # as shells tell of SIGPIPE
TRACEBACK = "NODE_REMEDY_TRACEBACK"
AUTHORITIES = ("SSL_CERT_FILE", "SSL_CERT_DIR")  # where OpenSSL finds those of this machine


class Lazy(NamedTuple):
    """Where a command lives, its line in the help, and its name there where Python keeps the word for itself."""

    module: str
    help: str
    attribute: str = ""


# name -> module with a click command of the same name. A module that is not there yet is not shown.
COMMANDS: dict[str, Lazy] = {
    "plan": Lazy("noderemedy.cli.plan", "Show what would be done, and why; change nothing."),
    "check": Lazy("noderemedy.cli.check", "Show all that is wrong with a configuration; change nothing."),
    "explain": Lazy("noderemedy.cli.explain", "Why is nothing done for a node, what comes next, and when."),
    "history": Lazy("noderemedy.cli.history", "What happened to nodes, and what was done about it."),
    "agents": Lazy("noderemedy.cli.agents", "Which fence agents are installed, what they take, and forms to fill."),
    "drill": Lazy("noderemedy.cli.drill", "Ask every fence device for its status; switch nothing."),
    "manager": Lazy("noderemedy.cli.manager", "Run the manager: repair nodes until it is stopped."),
    "stop": Lazy("noderemedy.cli.fencing", "Stop the fence of a node; power comes back."),
    "release": Lazy("noderemedy.cli.fencing", "Release a node: undo its fence."),
    "attest": Lazy("noderemedy.cli.fencing", "Attest that a node is off, so that its workload is freed."),
    "lab": Lazy("noderemedy.cli.lab", "A whole cluster on this machine, to watch a repair."),
    "import": Lazy(
        "noderemedy.cli.importing", "Show what will be different for existing health checks.", "import_checks"
    ),
    "version": Lazy("noderemedy.cli.version", "Print the version."),
}


@contextmanager
def readers_may_go() -> Iterator[None]:
    """Whoever read our output has gone. Click would end with 1, which says of `check` that there are problems."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at its end
        raise click.exceptions.Exit(READER_GONE) from None


@contextmanager
def loading() -> Iterator[None]:
    """Modules load faster: they are no garbage, and need not be walked as such; and aiohttp reads all authorities of
    the machine, twice, for contexts that we do not use: each connection has its own (`drivers/kube/tls.py`).
    """
    named = {name: os.environ.get(name) for name in AUTHORITIES}
    os.environ.update(dict.fromkeys(AUTHORITIES, os.devnull))
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        for name, value in named.items():
            os.environ.pop(name)
            os.environ.update({name: value} if value is not None else {})


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        with readers_may_go():  # --help prints while the words are read
            return super().make_context(*args, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with readers_may_go():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, lazy in COMMANDS.items() if find_spec(lazy.module)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        lazy = COMMANDS[cmd_name]
        with loading():
            command = getattr(import_module(lazy.module), lazy.attribute or cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            known = ", ".join(self.list_commands(ctx))
            ctx.fail(f"there is no command {args[0]!r}; use one of: {known}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].help) for name in self.list_commands(ctx)])


def show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from noderemedy.cli.version import text

        click.echo(text())
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=show_version,
    help="Print the version.",
)
def cli() -> None:
    """Node auto-repair for Kubernetes: frees a dead node's workload only on proof."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and exit with its code."""
    try:
        code = cli.main(arguments, prog_name=_called(), standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)
    except Theirs as problem:
        click.echo(f"Error: {problem}", err=True)
        sys.exit(UNUSABLE)
    except Exception as bug:  # the outermost place: people get a sentence, developers ask for more
        if os.environ.get(TRACEBACK):
            raise
        what = f"a bug in node-remedy ({type(bug).__name__}: {bug})"
        click.echo(f"Error: {what}; run again with {TRACEBACK}=1 to see where, and please report it", err=True)
        sys.exit(OUR_FAULT)
    sys.exit(code if isinstance(code, int) else 0)


def _called() -> str:
    name = Path(sys.argv[0]).name
    return "kubectl remedy" if name.startswith("kubectl-remedy") else "node-remedy"


if __name__ == "__main__":
    main()
