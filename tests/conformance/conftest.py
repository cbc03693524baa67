"""Fixtures of the conformance suite: the real control plane of the end-to-end tests, as a site."""

from __future__ import annotations

import pytest
from tests.conformance.client import Site
from tests.conformance.less import LESS
from tests.conformance.real import real_site
from tests.e2e.conftest import binaries, certificates, control_plane  # noqa: F401  fixtures
from tests.e2e.controlplane import ControlPlane


@pytest.fixture(scope="module")
def real(control_plane: ControlPlane) -> Site:  # noqa: F811
    """A real control plane as a site. The stranger has no rights at all."""
    tokens = control_plane.tokens
    authority = control_plane.certificates.authority
    return real_site(control_plane.port, tokens["admin"], tokens["stranger"], authority, control_plane.etcd_port)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say by name what the simulation does less than the real server, whenever the suite was run."""
    if not any("conformance" in report.nodeid for report in terminalreporter.getreports("passed")):
        return
    terminalreporter.section("not simulated", sep="-")
    for name, reason in LESS.items():
        terminalreporter.line(f"{name}: {reason}")
