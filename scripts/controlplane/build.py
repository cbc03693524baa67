#!/usr/bin/env python3
"""Finds the programs of a real Kubernetes control plane, and Cluster API's core manager, or builds them once into
the project's cache.

    python scripts/controlplane/build.py              find, else build; prints {"program": "path", …}
    python scripts/controlplane/build.py --no-build   only find; exit 3 when something is missing

`make e2e` calls the first form, the end-to-end fixture the second. Places are KUBEBUILDER_ASSETS, PATH,
then the cache (see finding.py). What is printed on standard output is JSON and nothing else; progress goes
to standard error. Only the standard library is needed: this runs before anything is installed.

Building takes about 14 minutes on two cores and 5 GB of scratch space in the cache, which is freed at the
end; the result is 440 MB. Two builders never meet: the cache is locked, and who waited looks again before
it builds.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import finding
import toolchain

HERE = Path(__file__).resolve().parent
VERSION_PACKAGE = "k8s.io/component-base/version"
MISSING = 3


@dataclass(frozen=True)
class Module:
    """One of our Go modules that pin what is built: its folder here, its programs, and what to expect."""

    folder: str
    packages: dict[str, str]
    link_flags: str
    target: str
    minutes: float
    steps: int
    copies: tuple[tuple[str, str, str], ...] = ()  # (module, folder in its sources, name beside the programs)


MODULES = (
    Module(
        folder="etcd",
        packages={"etcd": "go.etcd.io/etcd/server/v3"},
        link_flags="-s -w",
        target=finding.CONTROL_PLANE_FOLDER,
        minutes=1.5,
        steps=570,
    ),
    Module(
        folder="kubernetes",
        packages={
            name: f"k8s.io/kubernetes/cmd/{name}"
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
        },
        link_flags=f"-s -w -X {VERSION_PACKAGE}.gitVersion=v{finding.KUBERNETES_VERSION}"
        f" -X {VERSION_PACKAGE}.gitMajor=1 -X {VERSION_PACKAGE}.gitMinor=36",
        target=finding.CONTROL_PLANE_FOLDER,
        minutes=8,
        steps=2600,
    ),
    Module(
        folder="cluster-api",
        packages={"cluster-api-manager": "sigs.k8s.io/cluster-api"},
        link_flags="-s -w",
        target=finding.CLUSTER_API_FOLDER,
        minutes=4,
        steps=1250,
        copies=(("sigs.k8s.io/cluster-api", "config/crd/bases", finding.CLUSTER_API_KINDS),),
    ),
)


class BuildFailed(Exception):
    """A module did not build; the message has the compiler's last words."""


def main() -> int:
    arguments = parser().parse_args()
    result = finding.search(os.environ)
    if result.missing and not arguments.no_build:
        for refusal in result.refused:
            say(refusal)
        try:
            result = build_missing(result.missing)
        except (BuildFailed, toolchain.NoToolchain) as error:
            say(f"FAILED: {error}")
            return 1
    print(json.dumps({**result.found, **({"missing": result.missing} if result.missing else {})}, indent=2))
    if result.missing:
        for refusal in result.refused:
            say(refusal)
        say(f"missing: {', '.join(result.missing)}; `make e2e` builds them")
    return MISSING if result.missing else 0


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(description="Find or build kube-apiserver and its companions.")
    result.add_argument("--no-build", action="store_true", help="only look; exit 3 when something is missing")
    return result


def build_missing(missing: list[str]) -> finding.Search:
    """Builds the modules of what is missing, unless somebody else did while we waited for the lock."""
    cache = finding.cache_folder(os.environ)
    cache.mkdir(parents=True, exist_ok=True)
    with only_builder(cache):
        result = finding.search(os.environ)
        todo = [module for module in MODULES if set(module.packages) & set(result.missing)]
        if not todo:
            return result
        minutes = sum(module.minutes for module in todo)
        say(f"building {', '.join(missing)} into {cache}; about {minutes:.0f} minutes on two cores")
        go = toolchain.go_program(cache, os.environ, say)
        os.nice(5)  # somebody may be working on this machine
        for module in todo:
            build(module, go, cache)
        free_scratch(cache)
    return finding.search(os.environ)


@contextmanager
def only_builder(cache: Path) -> Iterator[None]:
    """Holds the cache's lock; the kernel releases it with the process, so a killed builder blocks nobody."""
    with (cache / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another build is under way in this cache; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(module: Module, go: Path, cache: Path) -> None:
    """Builds one module into a scratch folder and moves each program to its place in one step."""
    scratch = cache / "building" / module.folder
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    command = [str(go), "build", "-v", "-trimpath", "-ldflags", module.link_flags, "-o", f"{scratch}{os.sep}"]
    begun = time.monotonic()
    process = subprocess.Popen(
        [*command, *module.packages.values()],
        cwd=HERE / module.folder,
        env=go_environment(cache),
        stderr=subprocess.PIPE,
        text=True,
    )
    last_words = follow(process, module, begun)
    if process.wait() != 0:
        raise BuildFailed(f"{module.folder}: go build ended with {process.returncode}\n" + "\n".join(last_words))
    target = cache / module.target
    target.mkdir(parents=True, exist_ok=True)
    for source, folder, name in module.copies:
        copy_folder(sources_of(source, module, go, cache) / folder, target / name)
    put_in_place(module, scratch, target)
    say(f"{module.folder}: built in {time.monotonic() - begun:.0f} s")


def follow(process: subprocess.Popen[str], module: Module, begun: float) -> list[str]:
    """Prints a line of progress every 20 s while Go names the packages it builds; returns its last lines."""
    assert process.stderr is not None
    last_words: deque[str] = deque(maxlen=15)
    told, built = begun, 0
    for line in process.stderr:
        last_words.append(line.rstrip())
        built += not line.startswith("go: ")
        if (now := time.monotonic()) - told >= 20:
            told = now
            say(f"{module.folder}: {built} of about {module.steps} packages, {now - begun:.0f} s")
    return list(last_words)


def go_environment(cache: Path) -> dict[str, str]:
    """Go's settings: pinned sources only, no other toolchain, and own caches unless the user names some."""
    return {
        "GOPATH": str(cache / "building" / "gopath"),
        "GOCACHE": str(cache / "building" / "gocache"),
        **os.environ,
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-mod=readonly -buildvcs=false -modcacherw",
        "GOWORK": "off",
    }


def put_in_place(module: Module, scratch: Path, target: Path) -> None:
    """A program appears under its name only when it is complete: a rename within one file system."""
    for name, package in module.packages.items():
        built_as = package.removesuffix("/v3").rpartition("/")[2]  # Go leaves the major version out of the name
        (scratch / built_as).replace(target / name)


def sources_of(source: str, module: Module, go: Path, cache: Path) -> Path:
    """Where Go keeps the sources of this module while it builds."""
    command = [str(go), "list", "-m", "-f", "{{.Dir}}", source]
    answer = subprocess.run(
        command, cwd=HERE / module.folder, env=go_environment(cache), capture_output=True, text=True, timeout=120
    )
    if answer.returncode != 0:
        raise BuildFailed(f"{module.folder}: go list ended with {answer.returncode}\n{answer.stderr}")
    return Path(answer.stdout.strip())


def copy_folder(source: Path, target: Path) -> None:
    """Files that belong to a program appear, like the program itself, only when they are complete."""
    partial = target.with_name(target.name + ".partial")
    for leftover in (partial, target):
        shutil.rmtree(leftover, ignore_errors=True)
    shutil.copytree(source, partial)
    partial.rename(target)


def free_scratch(cache: Path) -> None:
    """Sources and objects are needed no more; 5 GB are not left behind in somebody's home."""
    shutil.rmtree(cache / "building", ignore_errors=True)


def say(words: str) -> None:
    print(f"controlplane: {words}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
