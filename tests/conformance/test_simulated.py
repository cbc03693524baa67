"""Every API-behaviour case against the simulated API server, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.conformance.client import Site
from tests.conformance.less import LESS
from tests.conformance.simulated import a_server, simulated_site
from tests.conformance.suite import Case, all_cases, groups, run

CASES = all_cases()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with simulated_site(a_server()) as site:
        yield site


@pytest.mark.parametrize("case", [case for case in CASES if case.id not in LESS], ids=lambda case: case.id)
def test_simulated_server_behaves(case: Case, site: Site) -> None:
    """The simulated API server behaves as this case says every API server does."""
    run(case, site)


@pytest.mark.parametrize("case", [case for case in CASES if case.id in LESS], ids=lambda case: case.id)
def test_the_simulation_does_less(case: Case, site: Site) -> None:
    """A case that is listed as not simulated fails on the simulation."""
    print(f"not simulated: {case.id}: {LESS[case.id]}")
    with pytest.raises(Exception):  # noqa: B017
        run(case, site)


def test_the_suite_is_as_large_as_promised() -> None:
    """There are at least 120 cases, each with a sentence that says what it shows, and few are not simulated."""
    assert 120 <= len(CASES)
    assert 15 <= len(groups())
    assert [] == [case.id for case in CASES if not (case.check.__doc__ or "").strip().endswith(".")]
    assert [] == sorted(set(LESS) - {case.id for case in CASES})
    assert len(LESS) <= 10
