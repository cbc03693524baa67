"""Every API-behaviour case against a real kube-apiserver: the authority for what the simulation must do."""

from __future__ import annotations

import pytest
from tests.conformance.client import Site
from tests.conformance.suite import Case, all_cases, run

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.id)
def test_real_server_behaves(case: Case, real: Site) -> None:
    """The real API server behaves as this case says every API server does."""
    run(case, real)
