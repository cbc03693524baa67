"""Every green of records, approvals and explanations was seen red: by one line of harm."""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.sabotage.incident import SABOTAGES
from tests.sabotage.running import Sabotage, Test, fails


def placed(test: Test, folder: Path) -> Test:
    """The same test with a folder of its own, if it wants one."""
    if "tmp_path" not in inspect.signature(test).parameters:
        return test
    with_folder: Any = partial(test, tmp_path=folder)
    with_folder.pytestmark = getattr(test, "pytestmark", ())
    found: Test = with_folder
    return found


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name.replace(" ", "-"))
def test_each_sabotage_is_seen(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Under one line of harm, each of the named tests fails."""
    sabotage.harm(monkeypatch)

    assert sabotage.tests
    assert [] == [test.__name__ for test in sabotage.tests if not fails(placed(test, tmp_path), monkeypatch)]
