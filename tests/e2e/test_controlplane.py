"""The bench itself: a real control plane that starts in seconds, knows its identities, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.api import eventually
from tests.e2e.certificates import Certificates
from tests.e2e.controlplane import RESTRICTED, ControlPlane
from tests.e2e.processes import Program


def test_it_is_the_pinned_release(control_plane: ControlPlane) -> None:
    """The API server is of the release that the project pins."""
    assert "v1.36" in control_plane.api().get("/version").ok()["gitVersion"]


@pytest.mark.parametrize("identity", RESTRICTED)
def test_restricted_identities_have_no_rights(control_plane: ControlPlane, identity: str) -> None:
    """An identity that no test gave anything may not even list nodes."""
    assert 403 == control_plane.api(identity).get("/api/v1/nodes").status


def test_controllers_are_at_work(control_plane: ControlPlane) -> None:
    """The controller-manager makes the default ServiceAccount without which no pod is admitted."""
    api = control_plane.api()

    assert eventually(lambda: api.get("/api/v1/namespaces/default/serviceaccounts/default").status == 200, "account")


def test_a_kubeconfig_is_never_half_written(control_plane: ControlPlane) -> None:
    """It is replaced as a whole when it is written anew: a scheduler that read half of one ended."""
    path = control_plane.kubeconfig()
    before = path.stat()
    control_plane.kubeconfig()

    assert before.st_ino != path.stat().st_ino
    assert 0o600 == path.stat().st_mode & 0o777


def test_stopping_leaves_no_process(binaries: dict[str, str], certificates: Certificates, tmp_path: Path) -> None:
    """After stop() all four programs have ended."""
    plane = ControlPlane(binaries, tmp_path, certificates)
    plane.start()
    programs: list[Program] = list(plane.programs.values())
    running = [program.is_running for program in programs]
    plane.stop()

    assert [True] * 4 == running
    assert [False] * 4 == [program.is_running for program in programs]
