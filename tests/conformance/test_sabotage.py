"""Every group of cases was seen red: it fails on a server that is broken in one function."""

from __future__ import annotations

import pytest
from tests.conformance.less import LESS
from tests.conformance.sabotages import SABOTAGES, Sabotage
from tests.conformance.simulated import a_server, simulated_site
from tests.conformance.suite import Case, cases, groups, run


def _fails(case: Case, sabotage: Sabotage | None) -> bool:
    """Whether a case fails on a server of its own; none spoils the next."""
    api = a_server()
    if sabotage is not None:
        sabotage(api)
    with simulated_site(api, patience=0.5) as site:
        try:
            run(case, site)
        except Exception:  # noqa: BLE001  whatever it is: the case noticed
            return True
    return False


@pytest.mark.parametrize("group", groups())
def test_group_notices_its_sabotage(group: str) -> None:
    """At least one case of the group fails on the sabotaged server and passes on the sound one."""
    sabotage = SABOTAGES.get(group)
    assert sabotage is not None, f"the group {group} has no sabotage"
    simulated = [case for case in cases(group) if case.id not in LESS]
    noticing = (case for case in simulated if _fails(case, sabotage) and not _fails(case, None))
    assert next(noticing, None) is not None, f"no case of {group} notices its sabotage"


def test_sabotages_are_of_groups() -> None:
    """There is no sabotage of a group that does not exist."""
    assert sorted(groups()) == sorted(SABOTAGES)
