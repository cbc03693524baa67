"""The suite as data: which groups there are, which cases each has, and how one case is run."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.client import Client, Site

CASES = Path(__file__).with_name("cases")


@dataclass(frozen=True)
class Case:
    """One behaviour that every Kubernetes API server shows."""

    group: str
    name: str
    check: Callable[[Client], None]

    @property
    def id(self) -> str:
        return f"{self.group}:{self.name}"


def groups() -> list[str]:
    """The names of all groups: the modules of `cases/`."""
    return sorted(module.name for module in pkgutil.iter_modules([str(CASES)]))


def cases(group: str) -> list[Case]:
    """The cases of one group, in the order written."""
    module = importlib.import_module(f"tests.conformance.cases.{group}")
    found = [
        Case(group, name.removeprefix("case_"), function)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if name.startswith("case_")
    ]
    return sorted(found, key=lambda case: case.check.__code__.co_firstlineno)


def all_cases() -> list[Case]:
    """Every case of every group."""
    return [case for group in groups() for case in cases(group)]


def run(case: Case, site: Site) -> None:
    """Run one case in a namespace of its own and tidy up behind it, whatever happened."""
    api = site.client()
    try:
        case.check(api)
    finally:
        api.finish()
