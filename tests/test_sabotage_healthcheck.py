"""Every green of the health checks was seen red: by one line of harm, or by one changed cell of the dialects' table."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sabotage.healthcheck import CELLS, SABOTAGES
from tests.sabotage.remediation import REMEDIATION_CELLS
from tests.sabotage.running import Sabotage, fails, placed

from noderemedy.model.dialect import Rules
from noderemedy.model.healthcheck import Dialect

# Machines of OpenShift have no place for conditions: there is nothing to see there.
OUT_OF_SIGHT = {("writes_both_generations", "of", "openshift")}


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name.replace(" ", "-"))
def test_each_sabotage_is_seen(sabotage: Sabotage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under one line of harm, each of the named tests fails."""
    sabotage.harm(monkeypatch)
    green = [one for one in sabotage.tests if not fails(placed(one, tmp_path, monkeypatch), monkeypatch)]

    assert sabotage.tests
    assert [] == [test.__name__ for test in green]


def test_every_cell_of_the_table_has_a_sabotage() -> None:
    """A rule that nobody would miss in some dialect is no rule."""
    told = {tuple(sabotage.name.split()[:3]) for sabotage in (*CELLS, *REMEDIATION_CELLS)}
    rules = Rules.__struct_fields__

    assert {(rule, "of", dialect.value) for rule in rules for dialect in Dialect} - OUT_OF_SIGHT == told


def test_sabotages_have_names_of_their_own() -> None:
    """Each can be run by its name."""
    names = [sabotage.name for sabotage in SABOTAGES]

    assert sorted(set(names)) == sorted(names)
