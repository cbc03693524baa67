"""Where the programs of the control plane may be, and whether what lies there is of the right version.

Called by build.py. A program found in one place with a wrong version is named and refused, and the next
place is tried: a test that passes against an unknown server proves nothing.

Which versions are right: the three Kubernetes servers must be of the release we pin (same minor, any patch,
so that an administrator's own patched build can be tested), etcd of a minor that this release supports.
`kubectl` is a client and may differ from the server by one minor either way, which is the skew that
Kubernetes itself promises; the kubectl of a distribution is often older than that and is then refused like
any other. Cluster API's manager cannot be asked for its version: the Go module that it was built from is read
from the file itself, and its kinds have to lie beside it, since they are part of what the manager is.
"""

from __future__ import annotations

import mmap
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

KUBERNETES_VERSION = "1.36.3"
ETCD_VERSION = "3.7.3"
CLUSTER_API_VERSION = "1.13.6"
CLUSTER_API_KINDS = "cluster-api-crds"  # the folder with the manager's CustomResourceDefinitions, beside it

# Where build.py puts what it built, below the cache; versions are in the names, so that two checkouts do not fight.
CONTROL_PLANE_FOLDER = f"controlplane-{KUBERNETES_VERSION}-etcd-{ETCD_VERSION}"
CLUSTER_API_FOLDER = f"cluster-api-{CLUSTER_API_VERSION}"

Minor = tuple[int, int]


@dataclass(frozen=True)
class Program:
    """One program we need: which minors are right, how its version is learnt, what has to lie beside it."""

    name: str
    oldest: Minor
    newest: Minor
    version_arguments: tuple[str, ...] = ("--version",)
    module: str = ""  # the Go module that it is built from, for a program that cannot be asked
    beside: str = ""
    folder: str = CONTROL_PLANE_FOLDER


PROGRAMS = (
    Program("kube-apiserver", (1, 36), (1, 36)),
    Program("kube-controller-manager", (1, 36), (1, 36)),
    Program("kube-scheduler", (1, 36), (1, 36)),
    Program("kubectl", (1, 35), (1, 37), version_arguments=("version", "--client")),
    Program("etcd", (3, 6), (3, 7)),
    Program(
        "cluster-api-manager",
        (1, 13),
        (1, 13),
        module="sigs.k8s.io/cluster-api",
        beside=CLUSTER_API_KINDS,
        folder=CLUSTER_API_FOLDER,
    ),
)


@dataclass
class Search:
    """What a look into all places gave: program → path, and a sentence for each program that was refused."""

    found: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    @property
    def missing(self) -> list[str]:
        return [program.name for program in PROGRAMS if program.name not in self.found]


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The project's cache: NODE_REMEDY_CACHE, else node-remedy below XDG_CACHE_HOME, else below ~/.cache."""
    if chosen := environment.get("NODE_REMEDY_CACHE"):
        return Path(chosen).expanduser().absolute()
    above = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(above).expanduser().absolute() / "node-remedy"


def search(environment: Mapping[str, str]) -> Search:
    """Looks for every program in KUBEBUILDER_ASSETS, then PATH, then the cache."""
    result = Search()
    for program in PROGRAMS:
        for where, path in candidates(program, environment):
            complaint = wrong_version(program, path)
            if complaint is None:
                result.found[program.name] = str(path)
                break
            result.refused.append(f"{path} (from {where}) is refused: {complaint}")
    return result


def candidates(program: Program, environment: Mapping[str, str]) -> list[tuple[str, Path]]:
    """The executables of this name, best place first, each with the name of its place."""
    assets = environment.get("KUBEBUILDER_ASSETS")
    places = [
        ("KUBEBUILDER_ASSETS", shutil.which(program.name, path=assets) if assets else None),
        ("PATH", shutil.which(program.name, path=environment.get("PATH", os.defpath))),
        ("the cache", shutil.which(program.name, path=str(cache_folder(environment) / program.folder))),
    ]
    return [(where, Path(path)) for where, path in places if path]


def wrong_version(program: Program, path: Path) -> str | None:
    """Why this file cannot be used, or None when it can."""
    said = written_version(program.module, path) if program.module else spoken_version(program, path)
    version = re.search(r"\bv?(\d+)\.(\d+)\.\d+\S*", said)
    if version is None:
        return f"it does not tell its version ({said})"
    if not program.oldest <= (int(version[1]), int(version[2])) <= program.newest:
        return f"it is {version[0]}, needed is {wanted(program)}"
    if program.beside and not (path.parent / program.beside).is_dir():
        return f"the folder {program.beside} is not beside it"
    return None


def spoken_version(program: Program, path: Path) -> str:
    """What the program answers when it is asked for its version, or why it does not."""
    try:
        answer = subprocess.run([path, *program.version_arguments], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return answer.stdout if answer.returncode == 0 else f"exit {answer.returncode}"


def written_version(module: str, path: Path) -> str:
    """The version of the Go module that the compiler wrote into the file, or why there is none."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        found = re.search(rb"\t" + re.escape(module.encode()) + rb"\t(v[0-9][^\t\n]*)", content)
        return found[1].decode() if found else f"it was not built from a release of {module}"


def wanted(program: Program) -> str:
    """The range of versions in words: `1.36`, or `1.35 to 1.37`."""
    oldest, newest = (".".join(map(str, minor)) for minor in (program.oldest, program.newest))
    return oldest if oldest == newest else f"{oldest} to {newest}"
