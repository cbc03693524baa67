"""Kinds of other projects are created where they are absent and never overwritten, by the very lines of the guide.

The cluster has a Machine kind of its owner, in another shape than ours, with an object that ours would not keep whole.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.api import Json, eventually
from tests.e2e.conftest import ROOT
from tests.e2e.controlplane import ADMIN, ControlPlane
from tests.e2e.deploy import DEPLOY, kubectl
from tests.guide import page as pages
from tests.guide.terminal import Terminal

KINDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THEIRS = "machines.cluster.x-k8s.io"
SHIPPED = sorted(file.stem for file in (DEPLOY / "crds" / "foreign").glob("*.yaml"))
PROGRAM = pages.read("install.md").program("Kinds")
SCHEMA = {
    "type": "object",
    "properties": {"spec": {"type": "object", "properties": {"onlyTheirs": {"type": "string"}}}},
}
DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": THEIRS, "labels": {"example.com/from": "its-owner"}},
    "spec": {
        "group": "cluster.x-k8s.io",
        "scope": "Namespaced",
        "names": {"kind": "Machine", "plural": "machines"},
        "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}],
    },
}
MACHINE: Json = {
    "apiVersion": "cluster.x-k8s.io/v1beta1",
    "kind": "Machine",
    "metadata": {"name": "theirs"},
    "spec": {"onlyTheirs": "kept"},
}


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    """A cluster with one kind of somebody else, which holds an object."""
    api = control_plane.api()
    api.create(KINDS, DEFINITION).ok()
    machines = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machines"
    eventually(lambda: api.get(machines).status == 200, "their kind is served")
    api.create(machines, MACHINE).ok()
    return control_plane


@pytest.fixture
def terminal(plane: ControlPlane, tmp_path: Path) -> Terminal:
    made = Terminal(tmp_path, plane.binaries["kubectl"])
    (tmp_path / "config").symlink_to(plane.kubeconfig(ADMIN))
    return made


def type_in(terminal: Terminal, program: str) -> list[str]:
    """What these lines print, typed at the top of a checkout; they must succeed."""
    done = terminal.type(f"cd '{ROOT}'\n{program}")
    assert 0 == done.returncode, done.stderr
    return done.stdout.splitlines()


def definitions(plane: ControlPlane) -> dict[str, Json]:
    """All definitions by name: what their owners wrote, and its version."""
    found = plane.api().items(KINDS)
    return {one["metadata"]["name"]: {"spec": one["spec"], "metadata": written(one["metadata"])} for one in found}


def written(metadata: Json) -> Json:
    """Without what changes with the status, which the server writes."""
    return {key: value for key, value in metadata.items() if key not in ("resourceVersion", "managedFields")}


def test_what_is_there_stays_and_what_is_absent_comes(plane: ControlPlane, terminal: Terminal) -> None:
    """The lines of the guide succeed, leave their definition and object as they are, and create all others."""
    before = definitions(plane)
    told = type_in(terminal, PROGRAM)
    kubectl(plane, "wait", "--for=condition=Established", "--timeout=30s", *(f"crd/{name}" for name in SHIPPED))
    after = definitions(plane)

    assert before[THEIRS] == after[THEIRS]
    assert SHIPPED == sorted(after)
    kind = "customresourcedefinition.apiextensions.k8s.io"
    assert [f"{kind}/{name}{'' if name in before else ' created'}" for name in SHIPPED] == told
    assert "kept" == kubectl(plane, "get", "machines.cluster.x-k8s.io", "theirs", "-o", "jsonpath={.spec.onlyTheirs}")


def test_they_may_be_run_again(plane: ControlPlane, terminal: Terminal) -> None:
    """A second time nothing is created and nothing changes."""
    type_in(terminal, PROGRAM)
    before = definitions(plane)
    told = type_in(terminal, PROGRAM)

    assert [] == [line for line in told if "created" in line]
    assert before == definitions(plane)


def test_without_a_cluster_they_fail(plane: ControlPlane, terminal: Terminal) -> None:
    """Lines that reached nobody do not look like success."""
    (terminal.folder / "config").unlink()

    assert 0 != terminal.type(f"cd '{ROOT}'\n{PROGRAM}").returncode


def test_the_short_version_has_the_same_lines() -> None:
    """deploy/README.md and the guide tell people to type the same."""
    lines = [line.strip() for line in (DEPLOY / "README.md").read_text().splitlines()]
    wanted = [line.strip() for line in PROGRAM.splitlines()]
    start = lines.index(wanted[0])

    assert wanted == lines[start : start + len(wanted)]


def test_sabotage_apply_overwrites(plane: ControlPlane, terminal: Terminal) -> None:
    """With `apply`, of which the guide warns, their definition becomes ours: the comparison sees it. The last test."""
    before = definitions(plane)
    type_in(terminal, "kubectl apply --server-side --force-conflicts -f deploy/crds/foreign/")

    assert before[THEIRS] != definitions(plane)[THEIRS]
