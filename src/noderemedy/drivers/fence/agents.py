"""Where the fence agents of this machine or image are. A name is never a path: nothing else can be started."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

NAME = re.compile(r"fence_[a-zA-Z0-9][a-zA-Z0-9_-]{0,60}")
USUAL = ("/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin")
# What an agent gets of our surroundings: enough to find its libraries, its cloud and its proxy, and no more.
KEPT = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
KEPT_PREFIXES = ("LC_", "AWS_", "GOOGLE_", "AZURE_", "OS_", "SSL_CERT_")
KEPT_SUFFIXES = ("_proxy", "_PROXY")


def folders(agents_path: str, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Where to look, in order: the setting, PATH, and where distributions put them."""
    named = [*agents_path.split(os.pathsep), *environ.get("PATH", "").split(os.pathsep), *USUAL]
    return tuple(dict.fromkeys(Path(name) for name in named if name.startswith("/")))


def find(agent: str, where: tuple[Path, ...]) -> Path | None:
    """The program of an agent; None if there is none of that name, or if that is no name of an agent."""
    if not NAME.fullmatch(agent):
        return None
    for folder in where:
        path = folder / agent
        if path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def installed(where: tuple[Path, ...]) -> tuple[str, ...]:
    """The names of all agents, sorted."""
    found = {path.name for folder in where if folder.is_dir() for path in folder.glob("fence_*")}
    return tuple(sorted(name for name in found if find(name, where)))


def surroundings(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of an agent. What it prints must be readable: the C locale, in UTF-8."""
    kept = {
        name: value
        for name, value in environ.items()
        if name in KEPT or name.startswith(KEPT_PREFIXES) or name.endswith(KEPT_SUFFIXES)
    }
    return {"PATH": ":".join(USUAL), "HOME": "/", "LC_ALL": "C.UTF-8", **kept, "PYTHONUNBUFFERED": "1"}
