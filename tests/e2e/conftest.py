"""Fixtures of the end-to-end tests: a clean control plane for every test module.

- `control_plane`: etcd, API server, controller-manager and scheduler with nothing installed.
- `installed_plane`: the same with everything in deploy/ installed.

Every test in this folder is marked `e2e`. Where the programs are missing the tests are skipped and the summary
names what was missing; with CI=true that is a failure (tests/conftest.py).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.e2e.certificates import Certificates, make_certificates  # noqa: E402  the root comes first
from tests.e2e.controlplane import ControlPlane  # noqa: E402
from tests.e2e.deploy import install  # noqa: E402

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test of this folder, so that none can slip into `make test`."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def binaries() -> dict[str, str]:
    """Program → path, as scripts/controlplane/build.py finds them; a skip that names what is missing."""
    script = ROOT / "scripts" / "controlplane" / "build.py"
    answer = subprocess.run([sys.executable, script, "--no-build"], capture_output=True, text=True, timeout=120)
    paths: dict[str, str] = json.loads(answer.stdout)
    if missing := paths.get("missing"):
        pytest.skip(f"missing: {', '.join(missing)} (make e2e builds them)")
    return paths


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def control_plane(
    binaries: dict[str, str], certificates: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A running control plane with an empty etcd."""
    plane = ControlPlane(binaries, tmp_path_factory.mktemp("controlplane"), certificates)
    plane.start()
    yield plane
    plane.stop()


@pytest.fixture(scope="module")
def installed_plane(control_plane: ControlPlane) -> ControlPlane:
    """A control plane with node-remedy's kinds, rights and admission policy."""
    install(control_plane)
    return control_plane
