"""Every command of the guide exists: targets, options, sub-commands, faults, scenarios, and files that it names.

`node-remedy` commands are parsed by the real command line; `kubectl` commands are held against the verbs and options
that kubectl has, and by `tests/e2e/test_upgrade_page.py` some are run. What people copy must not be a guess.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from noderemedy.cli.main import cli
from noderemedy.drivers.metrics import Metrics
from noderemedy.lab.faults import FAULTS
from noderemedy.lab.scenarios import SCENARIOS
from noderemedy.model import reasons
from noderemedy.model.reasons import Reason
from noderemedy.wire import names

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted((ROOT / "docs" / "guide").glob("*.md"))
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:kubectl|node-remedy|make) [^`]+)`")
KUBECTL: dict[str, set[str]] = {
    "annotate": {"-n", "-A", "--all", "--overwrite"},
    "apply": {"--server-side", "--force-conflicts", "--validate", "--kubeconfig", "-k", "-f"},
    "auth": {"--as", "--as-group", "-n", "-A"},
    "cordon": set(),
    "create": {"-f", "-n", "--clusterrole", "--role", "--group", "--serviceaccount", "--type", "--from-file"},
    "delete": {"-f", "-k", "-n", "--ignore-not-found"},
    "describe": {"-n"},
    "edit": {"-n", "--subresource"},
    "get": {"-n", "-A", "-o", "-w", "--field-selector", "--raw", "--show-managed-fields"},
    "label": {"--overwrite"},
    "logs": {"-n"},
    "patch": {"-n", "--type", "-p"},
    "replace": {"-f"},
    "rollout": {"-n"},
    "scale": {"-n", "--replicas"},
    "taint": set(),
    "uncordon": set(),
    "wait": {"-n", "--for", "--timeout"},
}
SHELL_WORDS = {
    "export",
    "backup",
    "NAMESPACE",
    "MACHINE",
    "HOST",
    "NODE",
    "NAME",
    "FENCE",
    "REQUEST",
    "HELD_FOR",
    "for",
    "done",
}
# Those that end with a dash are followed by the uid of a request.
OURS = {value for name, value in vars(names).items() if name.isupper() and "/" in value}


def commands(text: str) -> Iterator[list[str]]:
    """Each simple command of a page: lines of its blocks, parts of pipes, commands in back quotes."""
    blocks = [
        re.sub(r"python3 -c '.*?\n' \"\$backup\"", "python3", block, flags=re.DOTALL) for block in BLOCK.findall(text)
    ]
    lines = [line for block in blocks for line in block.splitlines() if line and not line.startswith("#")]
    prose = BLOCK.sub("", text)
    for line in [*lines, *INLINE.findall(prose)]:
        bare = re.sub(r"^\w+=\$\((.*)\)$", r"\1", line)
        for part in re.split(r" \|\|? ", bare):
            yield shlex.split(part.split(" > ")[0], comments=True)


def problems(words: list[str]) -> list[str]:
    """What is wrong with a command; empty if it can be typed."""
    program, *rest = words
    if program == "kubectl":
        return kubectl_problems(rest)
    if program == "node-remedy":
        return node_remedy_problems(rest)
    if program == "make":
        targets = re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        return [f"make {rest[0]}: no such target"] if rest[0] not in targets else []
    known = program.split("=")[0] in SHELL_WORDS or program == "python3"
    return [] if known else [f"{program}: unknown"]


def kubectl_problems(words: list[str]) -> list[str]:
    words = words[2:] + words[:2] if words[0] == "-n" else words
    verb, *rest = words
    if verb not in KUBECTL:
        return [f"kubectl {verb}: no such verb here"]
    options = [word.partition("=")[0] for word in rest if word.startswith("-") and word != "-"]
    unknown = [f"kubectl {verb} {option}: no such option" for option in options if option not in KUBECTL[verb]]
    files = [after for word, after in itertools.pairwise(rest) if word in ("-f", "-k")]
    missing = [f"{file}: no such file" for file in files if file[0] not in "-$" and not (ROOT / file).exists()]
    return unknown + missing + [problem for word in rest for problem in annotation_problems(word)]


def annotation_problems(word: str) -> list[str]:
    """A misspelt annotation of ours does nothing, silently."""
    key = word.partition("=")[0].removesuffix("-")
    is_ours = key.startswith(tuple({f"{name.split('/')[0]}/" for name in OURS}))
    is_known = key in OURS or key.startswith(tuple(name for name in OURS if name.endswith("-")))
    return [f"{key}: nobody reads this annotation"] if is_ours and not is_known else []


def node_remedy_problems(words: list[str]) -> list[str]:
    """Parse as the program would, without running it."""
    context: click.Context = click.Context(cli, info_name="node-remedy")
    command: click.Command = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        if found is None:
            return [f"node-remedy {words[0]}: no such command"]
        command, words = found, words[1:]
        context = click.Context(command, info_name=command.name, parent=context)
    try:
        command.make_context(command.name, list(words), parent=context.parent, resilient_parsing=False)
    except click.exceptions.Exit:
        return []
    except click.ClickException as problem:
        return [f"node-remedy: {problem.format_message()}"]
    return name_problems(words)


def name_problems(words: list[str]) -> list[str]:
    pairs = list(itertools.pairwise(words))
    unknown = [f"{after}: no such scenario" for word, after in pairs if word == "--scenario" and after not in SCENARIOS]
    is_fault = len(words) == 2 and words[1].startswith("worker-")
    return unknown + ([f"{words[0]}: no such fault"] if is_fault and words[0] not in FAULTS else [])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_the_guide_exists(page: Path) -> None:
    """Whatever a page tells people to type can be typed."""
    found = list(commands(page.read_text(encoding="utf-8")))

    assert found or page.name == "README.md"
    assert [] == [problem for words in found for problem in problems(words)]


SABOTAGES = [
    "kubectl anotate node worker-1 a-",
    "kubectl get nodes --sorted",
    "kubectl apply -k deploi/",
    "kubectl annotate node worker-1 remediation.metal3.io/node-backups-",
    "node-remedy plam",
    "node-remedy lab --fast",
    "node-remedy lab --once --scenario moon",
    "node-remedy lab fault explode worker-1",
    "make gold",
    "helm install node-remedy",
]


@pytest.mark.parametrize("line", SABOTAGES)
def test_a_command_that_does_not_exist_is_found(line: str) -> None:
    """One wrong word is pointed at, in a block and, for our programs, in a sentence."""
    assert 1 == len([problem for words in commands(f"```sh\n{line}\n```\n") for problem in problems(words)])


def test_reasons_and_figures_of_the_guide_exist() -> None:
    """A page that speaks of an alert's reason or of a figure uses its true name."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    told = set(re.findall(r"\*Alert\* `(\w+)`|the alert `(\w+)`", text))
    known = {name for name, value in vars(reasons).items() if isinstance(value, type) and issubclass(value, Reason)}
    figures = {family.name for family in Metrics().registry.collect()}

    assert {name for pair in told for name in pair if name} <= known
    assert {name.removesuffix("_total") for name in re.findall(r"\bnode_remedy_\w+", text)} <= figures
