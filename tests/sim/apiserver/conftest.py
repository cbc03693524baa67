"""Fixtures of the simulated API server's tests."""

from __future__ import annotations

import pytest
from tests.sim.apiserver.support import Clock, a_definition, a_server

from noderemedy.sim.apiserver import ApiServer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(clock: Clock) -> ApiServer:
    return a_server(clock=clock)


@pytest.fixture
def widgets(server: ApiServer) -> ApiServer:
    """A server that also serves widgets."""
    server.create(a_definition())
    return server
