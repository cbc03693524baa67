"""The shape of the code as tests: who may import whom, who may make proofs, where nothing waits.

The import contracts live in `.importlinter`, the bans on single functions in `.ruff-pure.toml`; this file
runs both and shows that each of them can fail. What neither tool can say is said here over the syntax tree.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "noderemedy"
PURE_RINGS = ("model", "core", "engine", "wire")
MAKER_OF_PROOFS = "core/safety.py"
READERS_OF_BYTES = {"decode", "convert", "Decoder", "replace"}
DEVICES_WITHOUT_IMPORT = {"open", "print", "input", "exec", "eval", "__import__"}


def modules(*rings: str) -> Iterator[tuple[str, ast.Module]]:
    """Each module of the rings (all without a name): its path below the package, and its syntax tree."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not rings or name.split("/")[0] in rings:
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def last_name(expression: ast.expr) -> str:
    """`PoweredOff` for both `PoweredOff` and `proof.PoweredOff`."""
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""


def names_in(expressions: Sequence[ast.expr]) -> set[str]:
    return {last_name(node) for e in expressions for node in ast.walk(e) if isinstance(node, ast.expr)}


# --- import contracts ------------------------------------------------------------------------------------


def lint_imports(source_folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    command = [str(program), "--config", str(ROOT / ".importlinter"), "--no-cache"]
    return subprocess.run(command, cwd=source_folder, capture_output=True, text=True, check=False)


def skeleton(folder: Path, *, also: tuple[str, ...] = ()) -> Path:
    """The package with every module empty, so that one added import is the only thing a contract can see."""
    present = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")]
    for name in [*present, *also]:
        path = folder / "noderemedy" / name
        for parent in [path, *path.parents][1:]:
            if not parent.is_relative_to(folder / "noderemedy"):
                break
            parent.mkdir(parents=True, exist_ok=True)
            (parent / "__init__.py").touch()
        path.touch()
    return folder


def test_import_contracts_hold() -> None:
    """Imports point down, rooms are strangers, the inner rings are pure and the simulator has no devices."""
    answer = lint_imports(ROOT / "src")

    assert 0 == answer.returncode, answer.stdout


BROKEN_CONTRACTS = {
    "Imports point down": ("model/ids.py", "import noderemedy.engine"),
    "Rooms meet through the API, not through imports": (
        "core/metal3/annotation.py",
        "import noderemedy.core.fencing.steps",
    ),
    "A health check uses the request of another room, never the room": (
        "core/healthcheck/decide.py",
        "import noderemedy.core.metal3.annotation",
    ),
    "The inner rings do no I/O and read no clock": ("core/metal3/annotation.py", "import time"),
    "The simulator touches no real device": ("sim/world.py", "import noderemedy.drivers"),
    "The runner needs nothing but msgspec": ("runner/program.py", "import aiohttp"),
}
SABOTAGED_MODULES = tuple(module for module, _ in BROKEN_CONTRACTS.values())
OTHER_MODULES = ("core/fencing/steps.py", "cli/main.py", "manager/main.py", "rooms.py")


@pytest.mark.parametrize(("contract", "sabotage"), BROKEN_CONTRACTS.items())
def test_each_import_contract_can_break(contract: str, sabotage: tuple[str, str], tmp_path: Path) -> None:
    """One forbidden import in an otherwise empty package breaks exactly the contract that forbids it."""
    folder = skeleton(tmp_path, also=SABOTAGED_MODULES + OTHER_MODULES)
    module, forbidden_import = sabotage
    (folder / "noderemedy" / module).write_text(f"{forbidden_import}\n", encoding="utf-8")

    answer = lint_imports(folder)

    broken = [line for line in answer.stdout.splitlines() if line.rstrip().endswith("BROKEN")]
    assert [f"{contract} BROKEN"] == [line.strip() for line in broken], answer.stdout + answer.stderr


def test_every_import_contract_has_a_sabotage() -> None:
    """A contract that is added to the file must be shown to fail here as well."""
    lines = (ROOT / ".importlinter").read_text(encoding="utf-8").splitlines()

    assert sorted(BROKEN_CONTRACTS) == sorted(line[len("name = ") :] for line in lines if line.startswith("name = "))


# --- bans on single functions ----------------------------------------------------------------------------


def banned_calls(folder: str, source: str) -> list[str]:
    """What ruff's banned-api rule finds in `source`, if it were a file of this folder."""
    program = Path(sys.executable).with_name("ruff")
    where = f"src/noderemedy/{folder}/sample.py"
    command = [
        str(program),
        "check",
        "--select=TID251",
        "--output-format=concise",
        f"--stdin-filename={where}",
        "-",
    ]
    answer = subprocess.run(command, cwd=ROOT, input=source, capture_output=True, text=True, check=False)
    return [line for line in answer.stdout.splitlines() if "TID251" in line]


CLOCKS_AND_CHANCE = [
    "from datetime import UTC, datetime\nnow = datetime.now(UTC)\n",
    "import datetime\nnow = datetime.datetime.utcnow()\n",
    "from datetime import date\nday = date.today()\n",
    "import time\nnow = time.monotonic()\n",
    "import uuid\nname = uuid.uuid4()\n",
]


@pytest.mark.parametrize("source", CLOCKS_AND_CHANCE)
@pytest.mark.parametrize("ring", PURE_RINGS)
def test_pure_rings_may_not_read_a_clock(ring: str, source: str) -> None:
    """A clock or a random identity in a pure folder is pointed out; the same line in a driver is not."""
    assert [] != banned_calls(ring, source)
    assert [] == banned_calls("drivers", source)


# --- proofs ----------------------------------------------------------------------------------------------


def proof_names() -> set[str]:
    """The classes of proofs, which are those that name their subject, and the name of their union."""
    tree = ast.parse((PACKAGE / "model" / "proof.py").read_text(encoding="utf-8"))
    names = {"Proof"}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            fields = [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
            names |= {node.name} if "subject" in names_in(fields) else set()
    return names


def makes_a_proof(node: ast.AST, proofs: set[str]) -> bool:
    """Whether this part of a program builds, decodes, subclasses or renames a class of proofs."""
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            given = names_in([*args, *(keyword.value for keyword in keywords)])
            return last_name(func) in proofs or bool(last_name(func) in READERS_OF_BYTES and given & proofs)
        case ast.ClassDef(bases=bases):
            return bool(names_in(bases) & proofs)
        case ast.ImportFrom(names=names):
            return any(alias.name in proofs and alias.asname is not None for alias in names)
        case _:
            return False


def makers_of_proofs(name: str, tree: ast.Module, proofs: set[str]) -> list[str]:
    if name in (MAKER_OF_PROOFS, "model/proof.py"):
        return []
    return [
        f"{name}:{node.lineno}" for node in ast.walk(tree) if makes_a_proof(node, proofs) and hasattr(node, "lineno")
    ]


def test_only_safety_makes_proofs() -> None:
    """No module but core/safety.py builds, decodes or renames a proof, so freeing always goes through it."""
    proofs = proof_names()

    assert {"PoweredOff", "Proof"} <= proofs
    assert [] == [place for name, tree in modules() for place in makers_of_proofs(name, tree, proofs)]


FORGED_PROOFS = [
    "proof = PoweredOff(node_uid='u', boot_id='b', seen_at=seen)",
    "proof = noderemedy.model.proof.PoweredOff()",
    "proof = msgspec.json.decode(body, type=PoweredOff)",
    "proof = msgspec.convert(value, PoweredOff | None)",
    "proof = msgspec.structs.replace(PoweredOff, boot_id='b')",
    "from noderemedy.model.proof import PoweredOff as Anything",
    "class Trusted(PoweredOff): pass",
]


@pytest.mark.parametrize("forgery", FORGED_PROOFS)
def test_a_forged_proof_is_found(forgery: str) -> None:
    """Each way to come by a proof without core/safety.py is pointed out, and is allowed there."""
    tree = ast.parse(forgery)

    assert ["core/metal3/annotation.py:1"] == makers_of_proofs("core/metal3/annotation.py", tree, {"PoweredOff"})
    assert [] == makers_of_proofs(MAKER_OF_PROOFS, tree, {"PoweredOff"})


def test_looking_at_a_proof_is_allowed() -> None:
    """Matching on a proof, or asking for its type, makes none."""
    source = "match proof:\n    case PoweredOff(boot_id=b): print(b)\nif isinstance(proof, PoweredOff): pass\n"

    assert [] == makers_of_proofs("sim/checkers.py", ast.parse(source), {"PoweredOff"})


# --- pure rings ------------------------------------------------------------------------------------------


def waits_or_touches(name: str, tree: ast.Module) -> list[str]:
    """Where a pure module is asynchronous, or uses a built-in that reaches a device or runs text."""
    found: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.AsyncFunctionDef(lineno=line) | ast.Await(lineno=line):
                found.append(f"{name}:{line} waits")
            case ast.Call(func=ast.Name(id=called), lineno=line) if called in DEVICES_WITHOUT_IMPORT:
                found.append(f"{name}:{line} calls {called}")
    return found


def test_pure_rings_never_wait() -> None:
    """The inner rings have no `async def`, open no file and print nothing: they compute and return."""
    assert [] == [place for name, tree in modules(*PURE_RINGS) for place in waits_or_touches(name, tree)]


@pytest.mark.parametrize("sample", ["async def decide(): ...", "open('x')", "print(1)", "eval('1')"])
def test_waiting_in_a_pure_ring_is_found(sample: str) -> None:
    """One line that waits, reads a file or prints is enough to be pointed at."""
    assert 1 == len(waits_or_touches("core/sample.py", ast.parse(sample)))


# --- the map ---------------------------------------------------------------------------------------------


def missing_from_map(text: str, package: Path) -> list[str]:
    """Packages of the tree that the map does not name."""
    packages = sorted(path.parent for path in package.rglob("__init__.py"))
    rings = [path for path in packages if path.parent == package]
    rooms = [path for path in packages if path.parent == package / "core"]
    return [path.name for path in rings + rooms if f"{path.name}/" not in text]


def test_the_map_names_every_room() -> None:
    """ARCHITECTURE.md names every ring and every room, so a newcomer finds each of them."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")

    assert [] == missing_from_map(text, PACKAGE)


def test_a_room_missing_from_the_map_is_found(tmp_path: Path) -> None:
    """A package that ARCHITECTURE.md forgot is pointed out by name."""
    skeleton(tmp_path, also=("core/dungeon/trap.py",))
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")

    assert ["dungeon"] == missing_from_map(text, tmp_path / "noderemedy")
