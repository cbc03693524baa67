"""Style as a test: what the linter cannot say about our files is said here, and each check is seen to point.

A check is a function from one source file to the places that it points at. The table CHECKS gives, for each
check, its sabotages: small files that must be pointed at. Documents have their own tests in `test_docs.py`.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PURE_RINGS = ("model", "core", "engine", "wire")
LINES_IN_PURE_RINGS, LINES_ELSEWHERE = 50, 70
LINE_LENGTH = int(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["line-length"])
MAY_PRINT = ("src/noderemedy/cli/", "src/noderemedy/lab/", "scripts/", "tests/")
LEFTOVERS = {"breakpoint", "pdb", "pprint"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
SUSPICIOUS = re.compile(rf"\b({'|'.join(LEFTOVERS)})\b|{UNFINISHED.pattern}")
# Put together here, so that this file does not contain what it looks for.
ONE_MACHINE = re.compile(r"(?<![\w.\-/}])/(" + "|".join(["wo" + "rk", "ro" + "ot"]) + r")(?![\w-])")
PLAIN_TEXT = {".py", ".sh", ".yaml", ".yml", ".toml", ".md", ".go", ".mod", ".txt", ".cfg", ".json", ""}


class Source(NamedTuple):
    """One Python file: its path below the root, and what is in it."""

    path: str
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]  # all of the tree: walked once for all checks


class Finding(NamedTuple):
    """A place that a check points at."""

    path: str
    line: int
    message: str


def source(path: str, text: str) -> Source:
    tree = ast.parse(text)
    return Source(path, text, tree, tuple(ast.walk(tree)))


@cache
def tracked_files() -> tuple[Path, ...]:
    """All files of the repository, those included that are about to be added."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return tuple(path for path in (ROOT / name for name in sorted(set(names))) if path.is_file())


@cache
def sources() -> tuple[Source, ...]:
    """All Python files of the repository."""
    files = [path for path in tracked_files() if path.suffix == ".py"]
    return tuple(source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in files)


def expect_none(findings: Iterable[Finding]) -> None:
    """Fail with one line per place that was pointed at."""
    lines = [f"{place.path}:{place.line}: {place.message}" for place in findings]
    assert not lines, "\n" + "\n".join(lines)


def functions(file: Source) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in file.nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def tokens(text: str) -> Iterable[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(text).readline)


# --- checks of one file ----------------------------------------------------------------------------------


def without_docstring(file: Source) -> list[Finding]:
    """Modules that do not open with what they are for."""
    is_told = ast.get_docstring(file.tree) is not None
    return [] if is_told or not file.tree.body else [Finding(file.path, 1, "no docstring at the top")]


def long_functions(file: Source) -> list[Finding]:
    """Functions that do not fit on a screen."""
    is_pure = any(file.path.startswith(f"src/noderemedy/{ring}/") for ring in PURE_RINGS)
    limit = LINES_IN_PURE_RINGS if is_pure else LINES_ELSEWHERE
    lengths = [(node, (node.end_lineno or node.lineno) - node.lineno + 1) for node in functions(file)]
    return [
        Finding(file.path, node.lineno, f"{node.name} has {length} lines, {limit} fit on a screen")
        for node, length in lengths
        if length > limit
    ]


def long_lines(file: Source) -> list[Finding]:
    """Lines that would be broken on a screen."""
    lines = enumerate(file.text.splitlines(), start=1)
    return [Finding(file.path, number, "line too long") for number, line in lines if len(line) > LINE_LENGTH]


def leftovers(file: Source) -> list[Finding]:
    """Names and comments that somebody forgot to take away."""
    if not SUSPICIOUS.search(file.text):
        return []  # tokens are needed only to tell names and comments from words in strings
    found = []
    for token in tokens(file.text):
        is_name = token.type == tokenize.NAME and token.string in LEFTOVERS
        is_comment = token.type == tokenize.COMMENT and UNFINISHED.search(token.string)
        if is_name or is_comment:
            found.append(Finding(file.path, token.start[0], f"left over: {token.string}"))
    return found


def stray_prints(file: Source) -> list[Finding]:
    """Prints outside the programs that talk to a person: others give reasons, or log."""
    if file.path.startswith(MAY_PRINT) or file.path.endswith("/__main__.py"):
        return []
    calls = [node for node in file.nodes if isinstance(node, ast.Call)]
    prints = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]
    return [Finding(file.path, call.lineno, "prints") for call in prints]


def mute_tests(file: Source) -> list[Finding]:
    """Tests that do not say which behaviour they show."""
    if not file.path.startswith("tests/"):
        return []
    tests = [node for node in functions(file) if node.name.startswith("test_")]
    return [
        Finding(file.path, node.lineno, f"{node.name} has no docstring")
        for node in tests
        if not ast.get_docstring(node)
    ]


LONG_BODY = "    x = 1\n"

# Each check, and for each a sabotage: where it lies, and what is in it.
CHECKS: dict[Callable[[Source], list[Finding]], list[tuple[str, str]]] = {
    without_docstring: [("src/noderemedy/core/x.py", "x = 1\n")],
    long_functions: [
        ("src/noderemedy/core/x.py", "def f():\n" + LONG_BODY * LINES_IN_PURE_RINGS),
        ("src/noderemedy/drivers/x.py", "async def f():\n" + LONG_BODY * LINES_ELSEWHERE),
    ],
    long_lines: [("tests/x.py", "x = 1" + " " * LINE_LENGTH + "\n")],
    leftovers: [
        ("src/noderemedy/core/x.py", "breakpoint()\n"),
        ("tests/x.py", "import pdb\n"),
        ("src/noderemedy/core/x.py", "x = 1  # TODO later\n"),
        ("src/noderemedy/core/x.py", "# FIXME\n"),
    ],
    stray_prints: [("src/noderemedy/manager/x.py", "print('here')\n")],
    mute_tests: [
        ("tests/core/test_x.py", "def test_x():\n    pass\n"),
        ("tests/core/test_x.py", "class TestX:\n    async def test_x(self):\n        pass\n"),
    ],
}
CLEAN = (
    "src/noderemedy/core/x.py",
    '"""A file."""\n\n\ndef workload(path: str) -> str:\n    return path + "/workload"\n',
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_files_are_tidy(check: Callable[[Source], list[Finding]]) -> None:
    """No file of the repository is pointed at."""
    expect_none(finding for file in sources() for finding in check(file))


@pytest.mark.parametrize(
    ("check", "path", "text"),
    [(check, path, text) for check, sabotages in CHECKS.items() for path, text in sabotages],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_each_check_points_at_its_sabotage(check: Callable[[Source], list[Finding]], path: str, text: str) -> None:
    """A file with the fault is pointed at once, a clean one is not."""
    assert 1 == len(check(source(path, text)))
    assert [] == check(source(*CLEAN))


# --- checks of all files together ------------------------------------------------------------------------


def places_of_one_machine(name: str, text: str) -> list[Finding]:
    """Paths that exist only where somebody once worked."""
    lines = enumerate(text.splitlines(), start=1)
    return [Finding(name, number, line.strip()) for number, line in lines if ONE_MACHINE.search(line)]


def test_no_file_names_places_of_one_machine() -> None:
    """Code, documents, manifests and scripts name no path that exists only where somebody once worked."""
    texts = [path for path in tracked_files() if path.suffix in PLAIN_TEXT]

    expect_none(place for path in texts for place in places_of_one_machine(path.name, path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("line", ["cache = '/" + "root/.cache'", "cd /" + "work && make", "(/" + "root)"])
def test_a_place_of_one_machine_is_found(line: str) -> None:
    """A line that names such a path is pointed at; a path that only looks alike is not."""
    assert 1 == len(places_of_one_machine("x", line))
    assert [] == places_of_one_machine("x", "docs/work/root, https://example.org/work and /workload")


def module_name(path: str) -> str:
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imported_names(file: Source) -> set[str]:
    """Every dotted name that the file imports, and every one that it names in a string."""
    names: set[str] = set()
    for node in file.nodes:
        match node:
            case ast.Import(names=aliases):
                names |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=str(module), names=aliases):
                names |= {module} | {f"{module}.{alias.name}" for alias in aliases}
            case ast.Constant(value=str(value)) if value.startswith("noderemedy."):
                names.add(value)
    return names


def dead_files(files: Iterable[Source], project: str) -> list[Finding]:
    """Modules of the package that neither another module, nor a script, nor an entry point uses."""
    users = [file for file in files if not file.path.startswith("tests/")]
    used = {name for file in users for name in imported_names(file) - {module_name(file.path)}}
    entry_points = set(re.findall(r'"(noderemedy[\w.]*):\w+"', project))
    return [
        Finding(file.path, 1, "nobody imports this module")
        for file in users
        if file.path.startswith("src/")
        and not file.path.endswith(("/__init__.py", "/__main__.py"))
        and module_name(file.path) not in used | entry_points
    ]


def declarations(file: Source) -> list[Finding]:
    """What a module declares at its top, without what it hands to a decorator."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = [node for node in file.tree.body if isinstance(node, kinds) and not node.decorator_list]
    return [Finding(file.path, node.lineno, node.name) for node in nodes]


def dead_declarations(files: Iterable[Source]) -> list[Finding]:
    """Functions and classes of the package whose name occurs nowhere but at its declaration."""
    files = tuple(files)
    mentions = Counter(word for file in files for word in re.findall(r"\w+", file.text))
    package = [file for file in files if file.path.startswith("src/")]
    return [place for file in package for place in declarations(file) if mentions[place.message] < 2]


def test_no_file_is_dead() -> None:
    """Every module is used by another one, by a script or as an entry point; tests keep nothing alive."""
    expect_none(dead_files(sources(), (ROOT / "pyproject.toml").read_text(encoding="utf-8")))


def test_a_dead_file_is_found() -> None:
    """A module that only a test imports is pointed at; one that is imported or an entry point is not."""
    files = [
        source("src/noderemedy/core/alive.py", "import noderemedy.model.used\n"),
        source("src/noderemedy/core/dead.py", "from noderemedy.model import also_used\n"),
        source("src/noderemedy/model/used.py", ""),
        source("src/noderemedy/model/also_used.py", ""),
        source("tests/core/test_dead.py", "from noderemedy.core import dead\n"),
    ]

    dead = dead_files(files, 'x = "noderemedy.core.alive:main"')

    assert ["src/noderemedy/core/dead.py"] == [place.path for place in dead]


def test_no_declaration_is_dead() -> None:
    """Every function and class at the top of a module is mentioned somewhere else."""
    expect_none(dead_declarations(sources()))


def test_a_dead_declaration_is_found() -> None:
    """A function that nobody mentions is pointed at; one that is called or decorated is not."""
    text = "def dead(): ...\ndef called(): ...\n@command\ndef decorated(): ...\ncalled()\n"

    assert [Finding("src/x.py", 1, "dead")] == dead_declarations([source("src/x.py", text)])
