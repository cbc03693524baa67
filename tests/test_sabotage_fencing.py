"""Every green was seen red: each sabotage of fencing is met by the tests that it names."""

from __future__ import annotations

import pytest
from tests.sabotage.fencing import SABOTAGES
from tests.sabotage.running import Sabotage, fails


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name.replace(" ", "-"))
def test_each_sabotage_is_seen(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under one line of harm, each of the named tests fails."""
    sabotage.harm(monkeypatch)

    assert sabotage.tests
    assert [] == [test.__name__ for test in sabotage.tests if not fails(test, monkeypatch)]
