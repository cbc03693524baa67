"""The rights of fence Jobs: what the runner reads before it sends anything, and nothing more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from noderemedy.manager.settings import LEASE_NAME
from noderemedy.model.ids import SYSTEM
from noderemedy.runner import program
from noderemedy.wire.fencejobs import ACCOUNT

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS: list[dict[str, Any]] = list(yaml.safe_load_all((ROOT / "deploy/rbac/50-runner.yaml").read_text()))


def rules(kind: str) -> list[dict[str, Any]]:
    return [rule for one in DOCUMENTS if one["kind"] == kind for rule in one["rules"]]


def test_it_may_only_get() -> None:
    """Three kinds by name, no list, no watch, no write, no secret."""
    found = [(rule["apiGroups"][0], rule["resources"][0], tuple(rule["verbs"])) for rule in rules("ClusterRole")]

    assert [("ha.k8s.io", "nodefences", ("get",)), ("", "nodes", ("get",))] == found
    assert [("leases", [LEASE_NAME], ["get"])] == [
        (rule["resources"][0], rule["resourceNames"], rule["verbs"]) for rule in rules("Role")
    ]


def test_it_reads_what_it_may() -> None:
    """The paths of the program are those that are granted."""
    assert ("/apis/ha.k8s.io/v1/nodefences", "/api/v1/nodes") == (program.FENCES, program.NODES)
    assert (LEASE_NAME, True) == (program.LEASE_NAME, SYSTEM in program.Surroundings({}).leases)


def test_its_jobs_run_under_its_name() -> None:
    """Account and bindings belong together, and are installed with everything else."""
    subjects = [subject for one in DOCUMENTS for subject in one.get("subjects", [])]
    listed = yaml.safe_load((ROOT / "deploy" / "kustomization.yaml").read_text())["resources"]

    assert {(ACCOUNT, SYSTEM)} == {(one["name"], one["namespace"]) for one in subjects}
    assert ACCOUNT in [one["metadata"]["name"] for one in DOCUMENTS if one["kind"] == "ServiceAccount"]
    assert "rbac/50-runner.yaml" in listed
