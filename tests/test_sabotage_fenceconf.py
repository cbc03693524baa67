"""Every green of the fence configuration was seen red: by one line of harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sabotage.fenceconf import PLACED, SABOTAGES
from tests.sabotage.running import Sabotage, fails, placed


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name.replace(" ", "-"))
def test_each_sabotage_is_seen(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under one line of harm, each of the named tests fails."""
    sabotage.harm(monkeypatch)

    assert sabotage.tests
    assert [] == [test.__name__ for test in sabotage.tests if not fails(test, monkeypatch)]


@pytest.mark.parametrize("sabotage", PLACED, ids=lambda sabotage: sabotage.name.replace(" ", "-"))
def test_each_sabotage_of_a_driver_is_seen(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The same for tests that need a folder; without the harm each of them passes."""
    tests = [placed(test, tmp_path, monkeypatch) for test in sabotage.tests]
    assert [] == [test.__name__ for test in tests if fails(test, monkeypatch)]

    sabotage.harm(monkeypatch)

    assert tests
    assert [] == [test.__name__ for test in tests if not fails(test, monkeypatch)]
