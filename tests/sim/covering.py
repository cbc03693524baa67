"""What both lists of things that simulated days must have met share: reading gates out of the code, and counting."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from noderemedy.core import safety
from noderemedy.sim.run import Report

CORE = Path(inspect.getfile(safety)).parent


def planned(*classes: type) -> set[str]:
    """Every trouble that these classes know: a method that is listed with its weight."""
    sources = [inspect.getsource(one) for one in classes]
    return {name for source in sources for name in re.findall(r"\(self\.(\w+), \d+\)", source)}


def gates_of(is_meant: Callable[[str], bool]) -> set[str]:
    """Every reason with which a gate of these rooms blocks, as the code has it; a shelf is a room of its own name."""
    paths = [path for path in CORE.rglob("*.py") if is_meant(path.relative_to(CORE).parts[0])]
    sources = [path.read_text(encoding="utf-8") for path in paths]
    return {name for source in sources if "Blocked(" in source for name in blocking(ast.parse(source))}


def blocking(tree: ast.AST) -> Iterator[str]:
    """The reasons in `Blocked(Reason(…))`."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        is_gate = isinstance(call.func, ast.Name) and call.func.id == "Blocked"
        reason = call.args[0] if is_gate and call.args else None
        if isinstance(reason, ast.Call) and isinstance(reason.func, ast.Name):
            yield reason.func.id


def met(reports: list[Report], what: str) -> set[str]:
    """Names as reports have them; a checker is met by the name of its rule, too."""
    names = {name for report in reports for name in getattr(report, what)}
    return names | {name.split()[0] for name in names} if what == "checks" else names


def until_met(wanted: dict[str, set[str]], seeds: Iterable[int], simulate: Callable[[int], Report]) -> list[Report]:
    """Seed after seed until nothing on the list is missing, or none is left."""
    found: list[Report] = []
    for seed in seeds:
        found.append(simulate(seed))
        if all(some <= met(found, what) for what, some in wanted.items()):
            break
    return found
