"""`node-remedy import`: its arguments, what it prints, and its exit codes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from rich.console import Console
from tests.manager.importing.trees import OPENSHIFT, STRATEGY, a_check, a_machine, a_node_check, definitions, report

from noderemedy.cli import importtext
from noderemedy.cli.main import cli, main

ANNOTATED = a_check(OPENSHIFT, annotations=STRATEGY)


def run(*arguments: str, trees: list[dict[str, object]] | None = None) -> Result:
    stdin = yaml.safe_dump_all(trees) if trees is not None else None
    return CliRunner().invoke(cli, ["import", *arguments], input=stdin)


def test_text_names_check_difference_and_remedy() -> None:
    """A person reads per check what is different and what to do."""
    result = run("-f", "-", trees=[ANNOTATED, a_machine("w0"), a_node_check()])

    assert 0 == result.exit_code, result.output
    for words in (
        "For every check",
        "MachineHealthCheck/machine-api/workers  (dialect openshift; 1 target; repairs start while at most 100%",
        "differs AnnotationMode",
        "do: node-remedy import --convert",
        "NodeHealthCheck/nodes",
        "2 checks: ",
        "Nothing was changed.",
    ):
        assert words in result.stdout


def test_every_sentence_is_whole_in_a_pipe() -> None:
    """What differs and what to do about it is not cut where a terminal would end."""
    trees = [ANNOTATED, a_machine("w0"), a_node_check()]
    lines = run("-f", "-", trees=trees).stdout.splitlines()
    found = json.loads(run("-f", "-", "--json", trees=trees).stdout)
    told = [*found["everywhere"], *(one for check in found["checks"] for one in check["differences"])]

    assert any(len(one["what"]) > 100 for one in told)
    assert [] == [one["what"] for one in told if " " * 10 + one["what"] not in lines]
    assert [] == [one["remedy"] for one in told if f"{' ' * 10}do: {one['remedy']}" not in lines]


def test_a_terminal_wraps_sentences_under_their_names() -> None:
    """A narrow terminal shows every word, and no line leaves the column."""
    screen = io.StringIO()
    found = report(ANNOTATED).everywhere
    importtext.tell(Console(file=screen, force_terminal=True, color_system=None, width=40), found)
    lines = screen.getvalue().splitlines()

    assert 40 >= max(len(line) for line in lines)
    for one in found:
        assert one.what.split() == words_below(lines, one.name, "do:")


def words_below(lines: list[str], name: str, end: str) -> list[str]:
    """Everything between the line of this name and the word that ends it."""
    [start] = [number for number, line in enumerate(lines) if line.split()[1:] == [name]]
    below = " ".join(lines[start + 1 :]).split()
    return below[: below.index(end)]


@pytest.mark.parametrize("arguments", [("--json",), ("-o", "json")])
def test_json_has_the_same(arguments: tuple[str, ...]) -> None:
    """A program reads the same."""
    result = run("-f", "-", *arguments, trees=[ANNOTATED])
    found = json.loads(result.stdout)

    assert "Budget" == found["everywhere"][0]["difference"]
    [check] = found["checks"]
    assert ("MachineHealthCheck/machine-api/workers", "openshift", None) == (
        check["key"],
        check["dialect"],
        check["targets"],
    )
    assert {"difference", "weight", "what", "remedy"} == set(check["differences"][0])


def test_converted_checks_are_yaml() -> None:
    """What --convert prints is what kubectl reads."""
    result = run("-f", "-", "--convert", trees=[ANNOTATED, a_machine("w0"), *definitions()])

    assert 0 == result.exit_code, result.output
    assert ["Metal3RemediationTemplate", "MachineHealthCheck"] == [
        tree["kind"] for tree in yaml.safe_load_all(result.stdout)
    ]


def test_what_conversion_cuts_off_is_said_beside_the_yaml() -> None:
    """On standard error: what is printed goes to kubectl."""
    slow = {**ANNOTATED, "spec": {**ANNOTATED["spec"], "nodeStartupTimeout": "25h"}}
    result = run("-f", "-", "--convert", trees=[slow, a_machine("w0"), *definitions()])

    assert 2 == len(list(yaml.safe_load_all(result.stdout)))
    assert "powerOnTimeoutSeconds" in result.stderr


def test_nothing_to_convert_prints_nothing() -> None:
    """A pipe into kubectl stays empty; a person is told why."""
    result = run("-f", "-", "--convert", trees=[a_check(OPENSHIFT), a_machine("w0")])

    assert (0, "") == (result.exit_code, result.stdout)
    assert "no check repairs by annotation" in result.stderr


def test_a_refused_conversion_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, every obstacle on standard error, and nothing that kubectl could apply."""
    (tmp_path / "world.yaml").write_text(yaml.safe_dump_all([ANNOTATED]))
    with pytest.raises(SystemExit) as ended:
        main(["import", "-f", str(tmp_path), "--convert"])
    output = capsys.readouterr()

    assert (2, "") == (ended.value.code, output.out)
    assert "nothing was converted" in output.err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("-f", "-", "--context", "c"), "leave one of them out"),
        (("-f", "-", "--only", "a/b"), "add --convert"),
        (("-f", "-", "--convert", "--json"), "leave the output format out"),
        (("-f", "-", "--now", "soon"), "--now"),
        (("surplus",), "surplus"),
    ],
)
def test_wrong_arguments_are_told(arguments: tuple[str, ...], complaint: str) -> None:
    """Exit code 2 and a sentence that says what to change."""
    result = run(*arguments, trees=[])

    assert 2 == result.exit_code
    assert complaint in result.output


def test_a_file_without_checks_says_so() -> None:
    """An empty answer is not taken for a clean bill."""
    result = run("-f", "-", trees=[a_machine("w0")])

    assert 0 == result.exit_code
    assert "no MachineHealthCheck and no NodeHealthCheck was found" in result.stderr
    assert "nothing to compare" in result.stdout


def test_a_missing_file_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2 and the name of the file."""
    with pytest.raises(SystemExit) as ended:
        main(["import", "-f", "nowhere.yaml"])

    assert 2 == ended.value.code
    assert "nowhere.yaml" in capsys.readouterr().err
