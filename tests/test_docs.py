"""Documents as tests: what they name exists, every seed clause has a room and a test, every reason a page.

Called by `make check`. Paths are recognised in back quotes and in links; a path that begins with a ring
(`core/…`) lies below src/noderemedy. In docs/seeds.md a row that says "not yet" may name what is to come.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "noderemedy"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
OUR_FOLDERS = ("src", "tests", "docs", "deploy", "examples", "scripts", "changes", ".ci")
SEEDS = ("000", "001", "002", "003", "004")
DECIDING = ("cli", "core", "e2e", "engine", "manager", "sim")  # folders of tests in which something is decided
STATES = {"done", "part", "not yet", "not ours"}

QUOTED = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[\w-]*)?\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"[\w.-]+(/[\w.-]+)*/?")
MAKE = re.compile(r"\bmake ([a-z0-9]+)")


# --- paths -----------------------------------------------------------------------------------------------


def tops() -> dict[str, Path]:
    """The first part of a path that we recognise, and the folder it is looked for in."""
    rings = {path.name: PACKAGE for path in PACKAGE.iterdir() if path.is_dir() and not path.name.startswith("_")}
    return rings | dict.fromkeys(OUR_FOLDERS, ROOT)


def is_path(text: str) -> bool:
    """Whether a quotation looks like a file of ours: a known folder first, or a document at the root."""
    if not PATH.fullmatch(text):
        return False
    return ("/" in text and text.split("/")[0] in tops()) or re.fullmatch(r"[A-Z]\w+\.md|Makefile", text) is not None


def exists(text: str) -> bool:
    """Whether the path is there and, for `tests/x.py::test_y`, whether the test is."""
    path, _, test = text.partition("::")
    file = tops().get(path.split("/")[0], ROOT) / path
    return file.exists() and (not test or f"def {test}(" in file.read_text(encoding="utf-8"))


def missing_paths(text: str, document: Path) -> list[str]:
    """What a document names and the repository does not have."""
    prose = FENCE.sub("", text)
    quoted = [quote for quote in QUOTED.findall(prose) if is_path(quote.partition("::")[0])]
    links = [link for link in LINK.findall(prose) if "://" not in link and not link.startswith("mailto:")]
    return [name for name in quoted if not exists(name)] + [
        link for link in links if not (document.parent / link).exists()
    ]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_documents_name_only_what_exists(document: Path) -> None:
    """Every path, test and link that a document names is there; the tables of docs/seeds.md come below."""
    text = document.read_text(encoding="utf-8")
    if document.name == "seeds.md":
        text = "\n".join(line for line in text.splitlines() if not line.startswith("|"))

    assert [] == missing_paths(text, document)


SABOTAGED_DOCUMENTS = [
    "see `src/noderemedy/gone.py`",
    "see `core/gone/`",
    "see `GONE.md`",
    "see `tests/test_docs.py::test_gone`",
    "see [the guide](guide/gone.md)",
]


@pytest.mark.parametrize("text", SABOTAGED_DOCUMENTS)
def test_a_missing_path_is_found(text: str) -> None:
    """A document that names something that is not there is pointed at; one that names this test is not."""
    here = "`tests/test_docs.py::test_a_missing_path_is_found`, `model/time.py`, [changes](CHANGELOG.md)"

    assert 1 == len(missing_paths(text, ROOT / "README.md"))
    assert [] == missing_paths(here, ROOT / "README.md")


def unknown_commands(text: str, makefile: str) -> list[str]:
    """Commands `make x` in code of a document for which there is no target."""
    targets = set(re.findall(r"^([a-z0-9]+):", makefile, re.MULTILINE))
    code = QUOTED.findall(FENCE.sub("", text)) + FENCE.findall(text)
    return [name for piece in code for name in MAKE.findall(piece) if name not in targets]


def test_documents_name_only_commands_that_exist() -> None:
    """Every `make x` in a document is a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = [(path.name, unknown_commands(path.read_text(encoding="utf-8"), makefile)) for path in DOCUMENTS]

    assert [] == [(name, commands) for name, commands in found if commands]
    assert ["gold"] == unknown_commands("type `make gold`, then\n```\nmake test\n```", makefile)


# --- seeds -----------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """One clause of a seed: where it says so, what, in which room, shown by which tests, how far."""

    line: int
    clause: str
    room: str
    test: str
    state: str


def seed_rows(text: str) -> list[Row]:
    """The rows of all tables in docs/seeds.md, without their heads."""
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("|") and set(line) - set("|-: ") and cells[0] != "where":
            rows.append(Row(number, " | ".join(cells[:-3]), *cells[-3:]))
    return rows


def unkept_promises(row: Row) -> list[str]:
    """What is wrong with a row: an unknown state, or a room or test that is said to exist and does not."""
    if row.state not in STATES:
        return [f"line {row.line}: unknown state {row.state!r}"]
    if row.state in ("not yet", "not ours"):
        return []
    tests = [name for name in QUOTED.findall(row.test) if name.startswith("tests/")]
    rooms = [name for name in QUOTED.findall(row.room) if is_path(name)]
    missing = [name for name in tests + rooms if not exists(name)]
    return [f"line {row.line}: {name} does not exist" for name in missing] + (
        [] if tests and rooms else [f"line {row.line}: {row.state} without a room or a test"]
    )


def test_seed_clauses_have_rooms_and_tests() -> None:
    """Every clause that docs/seeds.md calls done names a room and a test that exist."""
    rows = seed_rows((ROOT / "docs" / "seeds.md").read_text(encoding="utf-8"))

    assert len(rows) > 100
    assert [] == [problem for row in rows for problem in unkept_promises(row)]


def test_every_seed_has_a_section() -> None:
    """docs/seeds.md has one section for each of the five seeds."""
    text = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")

    assert list(SEEDS) == re.findall(r"^## (\d{3}) ", text, re.MULTILINE)


SABOTAGED_ROWS = [
    "| Proposal | delete node | `core/metal3/annotation.py` | `tests/test_docs.py::test_gone` | done |",
    "| Proposal | delete node | `core/metal3/gone.py` | `tests/test_docs.py` | done |",
    "| Proposal | delete node | `model/time.py` | | done |",
    "| Proposal | delete node | `model/time.py` | `tests/test_docs.py` | nearly |",
]


@pytest.mark.parametrize("line", SABOTAGED_ROWS)
def test_a_seed_clause_without_its_test_is_found(line: str) -> None:
    """A row that promises what is not there is pointed at; the same row with "not yet" is not."""
    row = seed_rows(line)[0]

    assert [] != unkept_promises(row)
    assert [] == unkept_promises(row._replace(state="not yet"))


# --- decisions ---------------------------------------------------------------------------------------------


def test_decisions_are_listed_in_order() -> None:
    """docs/adr/README.md names every page of its folder, by number."""
    folder = ROOT / "docs" / "adr"
    pages = [path.name for path in sorted(folder.glob("0*.md"))]

    assert pages == LINK.findall((folder / "README.md").read_text(encoding="utf-8"))


# --- reasons ---------------------------------------------------------------------------------------------


def reasons(module: str) -> list[str]:
    """The names of all reasons: the classes of model/reasons.py below their base."""
    classes = [node for node in ast.parse(module).body if isinstance(node, ast.ClassDef)]
    return [node.name for node in classes if node.name != "Reason"]


def unexpected(names: list[str], tests: list[ast.Module]) -> list[str]:
    """Reasons that no test expects: to import or to list one is not enough."""
    words = {word for tree in tests for place in expectations(tree) for word in words_of(place)}
    return [name for name in names if name not in words]


def expectations(tree: ast.Module) -> Iterator[ast.AST]:
    """Where a test says what it expects: what it asserts, the cases that it is given, and the tables that it uses."""
    yield from tables_in_use(tree)
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        claims = [one for node in ast.walk(function) if isinstance(node, ast.Assert) for one in claimed_by(node)]
        yield from (*claims, *function.decorator_list)
        claimed = {word for claim in claims for word in words_of(claim)}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and claimed.intersection(*[words_of(one) for one in node.targets]):
                yield node.value


def claimed_by(tree: ast.AST) -> Iterator[ast.AST]:
    """The parts of a claim that say what is, and none that says what is not."""
    match tree:
        case ast.UnaryOp(op=ast.Not()):
            return
        case ast.Compare(ops=ops) if any(isinstance(one, ast.NotIn | ast.NotEq | ast.IsNot) for one in ops):
            return
        case ast.BoolOp(values=parts):
            for part in parts:
                yield from claimed_by(part)
        case ast.Assert(test=test):
            yield from claimed_by(test)
        case _:
            yield tree


def tables_in_use(tree: ast.Module) -> Iterator[ast.AST]:
    """Tables of a file that one of its tests uses, be it through another table or through a helper."""
    named = {name: node for node in tree.body for name in names_of(node)}
    wanted, used = [name for name in named if name.startswith("test_")], set()
    while wanted:
        if (name := wanted.pop()) not in used:
            used.add(name)
            wanted += [one.id for one in ast.walk(named[name]) if isinstance(one, ast.Name) and one.id in named]
    for name in used:
        match named[name]:
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.AST() as value):
                yield value


def names_of(node: ast.stmt) -> list[str]:
    """What a statement of a module gives a name to."""
    match node:
        case ast.Assign(targets=targets):
            return [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
    return []


def words_of(tree: ast.AST) -> Iterator[str]:
    """Every name and every word of a text."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.Constant(value=str(text)):
                yield from re.findall(r"\w+", text)


def the_reasons() -> list[str]:
    return reasons((PACKAGE / "model" / "reasons.py").read_text(encoding="utf-8"))


def test_every_reason_is_produced_by_a_test() -> None:
    """No reason exists that no test of a room, an engine or a program expects: those of reasons only make them."""
    paths = [path for folder in DECIDING for path in (ROOT / "tests" / folder).rglob("*.py")]
    tests = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]

    assert the_reasons()
    assert set(DECIDING) == {path.relative_to(ROOT / "tests").parts[0] for path in paths}
    assert [] == unexpected(the_reasons(), tests)


def test_every_reason_has_a_page() -> None:
    """Whoever meets a reason in an event finds it as a heading of docs/reasons.md, which has no others."""
    text = (ROOT / "docs" / "reasons.md").read_text(encoding="utf-8")
    headings = re.findall(r"^##+ `?(\w+)`?$", text, re.MULTILINE)

    assert sorted(the_reasons()) == sorted(headings)


def part_titles(text: str) -> tuple[list[str], list[str]]:
    """The parts that the introduction of docs/reasons.md links to, and those that the page has."""
    _, first, *others = re.split(r"^# ", text, flags=re.MULTILINE)
    return re.findall(r"\[([^\]]+)\]\(#", first), [part.partition("\n")[0] for part in others]


def test_the_reasons_are_introduced_part_by_part() -> None:
    """Whoever reads the first lines of docs/reasons.md knows all of its parts, in their order."""
    named, found = part_titles((ROOT / "docs" / "reasons.md").read_text(encoding="utf-8"))

    assert named == found != []
    assert (["A"], ["A", "B"]) == part_titles("# Reasons\n[A](#a)\n# A\n# B\n")


EXPECTING = """
from reasons import Imported, Told
TABLE: dict = {"row": Tabled}
ALIKE = TABLE
STANDING = {"number": Numbered}
@pytest.mark.parametrize("reason", [Given])
def test_some(reason):
    wanted = (Local(1),)
    other = Made()
    assert wanted == told(other, helper())
    assert "Told: in words" == HalfTold()
    assert Denied() not in wanted and Unlike() != wanted
    assert not Refuted() and (Given() or Half() is not None)
def helper():
    return ALIKE
"""


def test_a_reason_that_no_test_expects_is_found() -> None:
    """One that is imported, part of another word, denied, in a table that no test uses or nowhere is pointed at."""
    lacking = ["Imported", "Half", "Numbered", "Denied", "Unlike", "Refuted", "Unheard"]
    names = ["Told", "Tabled", "Given", "Local", *lacking]
    module = "class Reason: ...\n" + "".join(f"class {name}(Reason): ...\n" for name in names)

    assert lacking == unexpected(reasons(module), [ast.parse(EXPECTING)])
