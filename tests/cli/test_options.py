"""Options that commands share: `-o json` and `--json` are one wish, however it is spelled."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from noderemedy.cli import options


@click.command()
@click.argument("name")
@options.output
@options.context
def shown(name: str, is_json: bool, context: str) -> None:
    """Tells what it was given."""
    click.echo(f"{name} {is_json} {context}")


@pytest.mark.parametrize(
    ("words", "is_json"),
    [
        ([], False),
        (["-o", "text"], False),
        (["--output", "text"], False),
        (["--json"], True),
        (["-o", "json"], True),
        (["--output", "json"], True),
        (["--json", "-o", "json"], True),
        (["-o", "text", "-o", "json", "--json"], True),
    ],
)
def test_both_spellings_are_one_wish(words: list[str], is_json: bool) -> None:
    """A command gets one answer, beside its other options, and text is what nobody has to ask for."""
    result = CliRunner().invoke(shown, [*words, "n1", "--context", "c"])

    assert (0, f"n1 {is_json} c\n") == (result.exit_code, result.stdout)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--json", "-o", "text"], "--json is -o json, and -o text asks for something else; leave one of them out"),
        (["-o", "text", "--json"], "leave one of them out"),
        (["--json", "-o", "yaml"], "'yaml' is not one of 'text', 'json'"),
    ],
)
def test_spellings_that_contradict_each_other_are_refused(words: list[str], complaint: str) -> None:
    """Nobody has to guess which of two formats was meant: exit code 2, a sentence, and nothing is shown."""
    result = CliRunner().invoke(shown, [*words, "n1"])

    assert 2 == result.exit_code
    assert complaint in result.output
    assert "n1 " not in result.output


def test_the_format_that_is_shown_unasked_is_told() -> None:
    """The help names it."""
    assert "[default: (text)]" in " ".join(CliRunner().invoke(shown, ["--help"]).output.split())


@click.command()
@options.agents_path
def looking(agents_path: str) -> None:
    """Tells where it would look."""
    click.echo(agents_path)


@pytest.mark.parametrize(
    ("said", "meant"),
    [("", ""), ("/a:/b", "/a:/b"), ("agents", "HERE/agents"), ("./a::/b:../c", "HERE/a:/b:HERE/../c")],
)
def test_folders_of_agents_are_those_of_whoever_types(said: str, meant: str) -> None:
    """A relative one is below the folder where the command was called, and is not silently left out."""
    result = CliRunner().invoke(looking, ["--agents-path", said] if said else [])

    assert meant.replace("HERE", str(Path.cwd())) + "\n" == result.stdout
