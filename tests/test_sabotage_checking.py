"""Every green of `node-remedy check` was seen red: by one line of harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli import test_check_command
from tests.manager import test_livecheck
from tests.sabotage.checking import SABOTAGES
from tests.sabotage.running import Sabotage, fails, placed


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name.replace(" ", "-"))
def test_each_sabotage_is_seen(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Under one line of harm, each of the named tests fails."""
    test_check_command.invent_agents(monkeypatch)
    test_livecheck.invent_agents(monkeypatch)
    sabotage.harm(monkeypatch)

    assert sabotage.tests
    tests = [placed(test, tmp_path, monkeypatch) for test in sabotage.tests]
    assert [] == [test.__name__ for test in tests if not fails(test, monkeypatch)]
