"""Kinds of other projects are created where they are absent and never overwritten, by the very lines of the guide.

The cluster has a Machine kind of its owner, in another shape than ours, with an object that ours would not keep whole.
In the end Cluster API comes, with its own definitions: what stands in its way, and what the guide says to do.
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
CHECKS = "machinehealthchecks.cluster.x-k8s.io"
OURS = ["metal3remediations.remediation.metal3.io", "metal3remediationtemplates.remediation.metal3.io"]
WITH_ANOTHER = "Beside Cluster API or OpenShift"
WITH_NEITHER = "In a cluster with neither"
EXPECTED = {WITH_ANOTHER: OURS, WITH_NEITHER: [CHECKS, THEIRS]}  # what these lines of the guide create
PAGE = pages.read("install.md")
PROGRAM = PAGE.program(WITH_ANOTHER, WITH_NEITHER)
EXAMPLES = ROOT / "examples"
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


@pytest.mark.parametrize("part", EXPECTED)
def test_what_is_there_stays_and_what_is_absent_comes(plane: ControlPlane, terminal: Terminal, part: str) -> None:
    """Each block of the guide succeeds, leaves their definition and object as they are, and creates these alone."""
    before = definitions(plane)
    told = type_in(terminal, PAGE.program(part))
    kubectl(plane, "wait", "--for=condition=Established", "--timeout=30s", *(f"crd/{name}" for name in EXPECTED[part]))
    after = definitions(plane)

    assert before[THEIRS] == after[THEIRS]
    assert sorted({*before, *EXPECTED[part]}) == sorted(after)
    kind = "customresourcedefinition.apiextensions.k8s.io"
    assert {f"{kind}/{name}{'' if name in before else ' created'}" for name in EXPECTED[part]} == set(told)
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


@pytest.mark.parametrize("part", EXPECTED)
def test_the_short_version_has_the_same_lines(part: str) -> None:
    """deploy/README.md and the guide tell people to type the same."""
    lines = [line.strip() for line in (DEPLOY / "README.md").read_text().splitlines()]
    wanted = [line.strip() for line in PAGE.program(part).splitlines()]
    start = lines.index(wanted[0])

    assert wanted == lines[start : start + len(wanted)]


def test_sabotage_apply_overwrites(plane: ControlPlane, terminal: Terminal) -> None:
    """With `apply`, of which the guide warns, their definition becomes ours: the comparison sees it."""
    before = definitions(plane)
    type_in(terminal, "kubectl apply --server-side --force-conflicts -f deploy/crds/foreign/")

    assert before[THEIRS] != definitions(plane)[THEIRS]


# --- Cluster API comes later. Its own definitions, as it ships them; from here on the cluster has ours ---------------


def theirs(plane: ControlPlane, name: str) -> Path:
    """Cluster API's definition of this plural."""
    return Path(plane.binaries["cluster-api-manager"]).with_name("cluster-api-crds") / f"cluster.x-k8s.io_{name}.yaml"


def come(terminal: Terminal, file: Path) -> str:
    """What the server answers to somebody who installs Cluster API over what is there; empty if it takes it."""
    return terminal.type(f"kubectl apply --server-side --force-conflicts -f '{file}'").stderr


def test_our_definition_of_checks_stands_in_its_way(plane: ControlPlane, terminal: Terminal) -> None:
    """Its definition has no v1alpha3, in which checks are stored: the server refuses it. That of Machines it takes."""
    kubectl(plane, "create", "namespace", "machine-api")
    kubectl(plane, "apply", "-f", EXAMPLES / "health-check")
    answer = come(terminal, theirs(plane, "machinehealthchecks"))

    assert ("status.storedVersions" in answer, "v1alpha3" in answer) == (True, True), answer
    assert "" == come(terminal, theirs(plane, "machines"))
    assert "theirs" in kubectl(plane, "get", "machines.cluster.x-k8s.io", "-o", "name")


def test_the_guide_hands_it_over(plane: ControlPlane, terminal: Terminal) -> None:
    """A copy is made, our definition goes with its checks, Cluster API's is taken, and its examples are, too."""
    kubectl(plane, "create", "namespace", "node-remedy-system")
    kubectl(plane, "apply", "--server-side", "-f", DEPLOY / "manager", "-f", DEPLOY / "rbac" / "00-namespace.yaml")
    kubectl(plane, "apply", "--server-side", "-f", DEPLOY / "crds")
    done = terminal.type(f"cd '{terminal.folder}'\n{pages.read('upgrade.md').program('When Cluster API comes later')}")
    assert 0 == done.returncode, done.stderr
    deployment = "/apis/apps/v1/namespaces/node-remedy-system/deployments/node-remedy-manager"

    assert "name: example" in (terminal.folder / "checks.yaml").read_text()
    assert 0 == plane.api().get(deployment).ok()["spec"]["replicas"]
    assert CHECKS not in definitions(plane)
    assert "" == come(terminal, theirs(plane, "machinehealthchecks"))
    kubectl(plane, "wait", "--for=condition=Established", "--timeout=30s", f"crd/{CHECKS}")
    new = EXAMPLES / "cluster-api-health-check"
    eventually(lambda: kubectl(plane, "apply", "--dry-run=server", "--validate=strict", "-f", new), "they are taken")


def test_the_older_shape_is_not_served_there(plane: ControlPlane, terminal: Terminal) -> None:
    """As the comment at the top of the older example says."""
    file = EXAMPLES / "health-check" / "workers.yaml"

    assert "no matches for kind" in terminal.type(f"kubectl apply -f '{file}'").stderr
    assert '"no matches for kind"' in file.read_text(encoding="utf-8")
