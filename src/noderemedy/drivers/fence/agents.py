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
# What of it is written into Jobs, where everybody who may read pods sees it: these alone, and only in a form that can
# hold no secret. Paths are not among it: they are of our own image, and need not be in that of the Jobs.
PROXY = re.compile(r"((https?|socks[45][ah]?)://)?([A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?/?")
REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-[0-9]{1,2}")
HANDED_ON = {
    "http_proxy": PROXY,
    "https_proxy": PROXY,
    "all_proxy": PROXY,
    "no_proxy": re.compile(r"[A-Za-z0-9., :/*_\[\]-]+"),
    "aws_region": REGION,
    "aws_default_region": REGION,
}


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


def handed_on(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment that Jobs of fence agents get from us."""
    return {name: value for name, value in environ.items() if is_harmless(name, value)}


def withheld(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Names of what Jobs would get, if its value could not hold a secret."""
    named = {name: value for name, value in environ.items() if name.lower() in HANDED_ON and value}
    return tuple(sorted(name for name, value in named.items() if not is_harmless(name, value)))


def is_harmless(name: str, value: str) -> bool:
    form = HANDED_ON.get(name.lower())
    return form is not None and form.fullmatch(value) is not None
