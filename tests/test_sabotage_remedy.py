"""Every green of documents, thresholds and remedies was seen red: by one line of harm."""

from __future__ import annotations

import pytest
from tests.sabotage.remedy import SABOTAGES
from tests.sabotage.running import Sabotage, fails

from noderemedy.wire.configuration import read_configuration


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name.replace(" ", "-"))
def test_each_sabotage_is_seen(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under one line of harm, each of the named tests fails."""
    read_configuration.cache_clear()
    sabotage.harm(monkeypatch)

    assert sabotage.tests
    assert [] == [test.__name__ for test in sabotage.tests if not fails(test, monkeypatch)]
    read_configuration.cache_clear()
