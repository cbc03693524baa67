"""Without the control plane the end-to-end tests are skipped by name, and with CI=true that is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("ci", "status", "counted"), [("", 0, "1 skipped"), ("true", 1, "1 error")])
def test_missing_programs(tmp_path: Path, ci: str, status: int, counted: str) -> None:
    """The summary names each missing program; CI=true turns the skip into a red run."""
    nowhere = {"PATH": str(tmp_path), "NODE_REMEDY_CACHE": str(tmp_path), "KUBEBUILDER_ASSETS": str(tmp_path), "CI": ci}
    test = "tests/e2e/test_controlplane.py::test_it_is_the_pinned_release"
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "e2e", test],
        cwd=ROOT,
        env={**os.environ, **nowhere},
        capture_output=True,
        text=True,
        timeout=100,
    )

    assert status == answer.returncode, answer.stdout
    assert counted in answer.stdout
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "etcd"):
        assert name in answer.stdout


def test_no_end_to_end_test_slips_into_make_test() -> None:
    """What `make test` selects from tests/e2e is nothing at all."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "not e2e and not soak", "tests/e2e"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)

    assert 5 == answer.returncode, answer.stdout  # pytest's status for: no tests collected
