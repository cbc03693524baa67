"""Runs a test function under a sabotage: with all its parameters, and without shrinking if it is a property."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from itertools import product
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, settings

Test = Callable[..., None]
OF_THE_HARM_ITSELF = (AttributeError, NameError, TypeError)
Harm = Callable[[pytest.MonkeyPatch], None]


class Sabotage(NamedTuple):
    """One line of harm, and the tests of which each must fail under it."""

    name: str
    harm: Harm
    tests: tuple[Test, ...]


def set_to(target: object, name: str, value: object) -> Harm:
    """Replace an attribute of a module or class. It must be there: a renamed one would make the sabotage harmless."""
    return lambda monkeypatch: monkeypatch.setattr(target, name, value, raising=True)


def item_to(target: MutableMapping[Any, Any], key: object, value: object) -> Harm:
    """Replace one item of a table."""
    return lambda monkeypatch: monkeypatch.setitem(target, key, value)


def together(*harms: Harm) -> Harm:
    """Several at once, where another rule makes up for one alone."""

    def harm(monkeypatch: pytest.MonkeyPatch) -> None:
        for one in harms:
            one(monkeypatch)

    return harm


def cases(test: Test) -> Iterator[dict[str, Any]]:
    """Every combination of the parameters that a test is marked with; one empty one without any."""
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    for some in product(*map(_values, marks)):
        yield {name: value for one in some for name, value in one.items()}


def _values(mark: pytest.Mark) -> list[Mapping[str, Any]]:
    names, values = mark.args[0], mark.args[1]
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    if len(names) == 1:
        return [{names[0]: value} for value in values]
    return [dict(zip(names, value, strict=True)) for value in values]


def fails(test: Test, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the test fails for at least one of its parameters."""
    if hasattr(test, "hypothesis"):
        usual = getattr(test, "_hypothesis_internal_use_settings")  # noqa: B009  hypothesis has no public way
        quick = settings(usual, phases=[Phase.generate], database=None)
        monkeypatch.setattr(test, "_hypothesis_internal_use_settings", quick)
    for arguments in cases(test):
        try:
            test(**arguments)
        except OF_THE_HARM_ITSELF:
            raise  # it reaches for something that was renamed: such a failure would show nothing
        except (Exception, pytest.fail.Exception):  # noqa: BLE001  any other failure will do
            return True
    return False


def placed(test: Test, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Test:
    """The test with what pytest would give it: a new folder for every case."""
    wanted = inspect.signature(test).parameters
    if not {"tmp_path", "monkeypatch"} & set(wanted):
        return test

    def run(**arguments: Any) -> None:
        given: dict[str, Any] = {"tmp_path": Path(mkdtemp(dir=folder)), "monkeypatch": monkeypatch}
        test(**arguments, **{name: value for name, value in given.items() if name in wanted})

    run.__name__ = test.__name__
    run.pytestmark = getattr(test, "pytestmark", [])  # type: ignore[attr-defined]
    return run
