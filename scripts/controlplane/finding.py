"""Where the programs of the control plane may be, and whether what lies there is of the right version.

Called by build.py. A program found in one place with a wrong version is named and refused, and the next
place is tried: a test that passes against an unknown server proves nothing.

Which versions are right: the three Kubernetes servers must be of the release we pin (same minor, any patch,
so that an administrator's own patched build can be tested), etcd of a minor that this release supports.
`kubectl` is a client and may differ from the server by one minor either way, which is the skew that
Kubernetes itself promises; the kubectl of a distribution is often older than that and is then refused like
any other.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

KUBERNETES_VERSION = "1.36.3"
ETCD_VERSION = "3.7.3"

Minor = tuple[int, int]


@dataclass(frozen=True)
class Program:
    """One program we need: how it is asked for its version, and which minors are right."""

    name: str
    version_arguments: tuple[str, ...]
    oldest: Minor
    newest: Minor


PROGRAMS = (
    Program("kube-apiserver", ("--version",), (1, 36), (1, 36)),
    Program("kube-controller-manager", ("--version",), (1, 36), (1, 36)),
    Program("kube-scheduler", ("--version",), (1, 36), (1, 36)),
    Program("kubectl", ("version", "--client"), (1, 35), (1, 37)),
    Program("etcd", ("--version",), (3, 6), (3, 7)),
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


def binaries_folder(cache: Path) -> Path:
    """Where build.py puts what it built; the versions are in the name, so that two checkouts do not fight."""
    return cache / f"controlplane-{KUBERNETES_VERSION}-etcd-{ETCD_VERSION}"


def search(environment: Mapping[str, str]) -> Search:
    """Looks for every program in KUBEBUILDER_ASSETS, then PATH, then the cache."""
    result = Search()
    for program in PROGRAMS:
        for where, path in candidates(program.name, environment):
            complaint = wrong_version(program, path)
            if complaint is None:
                result.found[program.name] = str(path)
                break
            result.refused.append(f"{path} (from {where}) is refused: {complaint}")
    return result


def candidates(name: str, environment: Mapping[str, str]) -> list[tuple[str, Path]]:
    """The executables of this name, best place first, each with the name of its place."""
    assets = environment.get("KUBEBUILDER_ASSETS")
    places = [
        ("KUBEBUILDER_ASSETS", shutil.which(name, path=assets) if assets else None),
        ("PATH", shutil.which(name, path=environment.get("PATH", os.defpath))),
        ("the cache", shutil.which(name, path=str(binaries_folder(cache_folder(environment))))),
    ]
    return [(where, Path(path)) for where, path in places if path]


def wrong_version(program: Program, path: Path) -> str | None:
    """Why this file cannot be used, or None when it can."""
    try:
        answer = subprocess.run([path, *program.version_arguments], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it does not tell its version ({error})"
    version = re.search(r"\bv?(\d+)\.(\d+)\.\d+\S*", answer.stdout)
    if answer.returncode != 0 or version is None:
        return f"it does not tell its version (exit {answer.returncode})"
    minor = (int(version[1]), int(version[2]))
    if program.oldest <= minor <= program.newest:
        return None
    return f"it is {version[0]}, needed is {wanted(program)}"


def wanted(program: Program) -> str:
    """The range of versions in words: `1.36`, or `1.35 to 1.37`."""
    oldest, newest = (".".join(map(str, minor)) for minor in (program.oldest, program.newest))
    return oldest if oldest == newest else f"{oldest} to {newest}"
