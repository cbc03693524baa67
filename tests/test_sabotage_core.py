"""Every green was seen red: each sabotage of model, core, engine and wire is met by the tests that it names."""

from __future__ import annotations

import pytest
from tests.sabotage.core import SABOTAGES
from tests.sabotage.running import Sabotage, cases, fails, set_to


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name.replace(" ", "-"))
def test_each_sabotage_is_seen(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under one line of harm, each of the named tests fails."""
    sabotage.harm(monkeypatch)

    assert sabotage.tests
    assert [] == [test.__name__ for test in sabotage.tests if not fails(test, monkeypatch)]


def test_without_a_sabotage_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner itself finds nothing where nothing is broken: one test of each sort."""
    sorts = {bool(list(getattr(test, "pytestmark", ()))): test for sabotage in SABOTAGES for test in sabotage.tests}

    assert {True, False} == set(sorts)
    assert [] == [test.__name__ for test in sorts.values() if fails(test, monkeypatch)]


def test_sabotages_have_names_of_their_own() -> None:
    """Each can be run by its name."""
    names = [sabotage.name for sabotage in SABOTAGES]

    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("left", [1, 2])
@pytest.mark.parametrize(("right", "_"), [(3, 0), (4, 0)])
def test_the_runner_knows_all_parameters(left: int, right: int, _: int) -> None:
    """Every combination of a test's parameters is tried."""
    found = [(case["left"], case["right"]) for case in cases(test_the_runner_knows_all_parameters)]

    assert [(1, 3), (1, 4), (2, 3), (2, 4)] == sorted(found)
    assert (left, right) in found


def test_a_sabotage_of_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that was renamed must not make its sabotage silently harmless."""
    with pytest.raises(AttributeError):
        set_to(Sabotage, "no_such_thing", None)(monkeypatch)
