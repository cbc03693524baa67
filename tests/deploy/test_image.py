"""deploy/Dockerfile, which no test builds: what it copies exists and suffices, and what it starts is ours."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()
IGNORED = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text()


def instructions(text: str, name: str) -> list[str]:
    """The arguments of all instructions of this name, continued lines joined."""
    joined = text.replace("\\\n", " ")
    return [line.removeprefix(name).strip() for line in joined.splitlines() if line.startswith(f"{name} ")]


def copied(text: str) -> set[str]:
    """What is copied out of the repository."""
    own = [line.split() for line in instructions(text, "COPY") if not line.startswith("--from")]
    return {source for parts in own for source in parts[:-1]}


def assert_sufficient(dockerfile: str, dockerignore: str) -> None:
    """Everything that building the package needs is copied, exists, and is not ignored."""
    needed = {"pyproject.toml", PROJECT["project"]["readme"], *PROJECT["project"]["license-files"]}
    needed |= set(PROJECT["tool"]["setuptools"]["packages"]["find"]["where"])
    let_through = {line.removeprefix("!") for line in dockerignore.splitlines() if line.startswith("!")}
    assert needed == copied(dockerfile)
    assert needed == let_through
    assert [] == [name for name in needed if not (ROOT / name).exists()]


def test_what_is_copied_suffices() -> None:
    """The build stage has all that pyproject.toml names, and the build context lets it through."""
    assert_sufficient(DOCKERFILE, IGNORED)


@pytest.mark.parametrize(("line", "instead"), [("COPY src ./src\n", ""), ("README.md LICENSE", "README.md")])
def test_sabotage_a_missing_copy_is_seen(line: str, instead: str) -> None:
    """Without one of the copies the check fails."""
    assert 1 == DOCKERFILE.count(line)

    with pytest.raises(AssertionError):
        assert_sufficient(DOCKERFILE.replace(line, instead), IGNORED)


def test_the_interpreter_is_new_enough() -> None:
    """Both stages use one Python, which satisfies requires-python."""
    versions = re.findall(r"^FROM python:(\d+)\.(\d+)-", DOCKERFILE, re.MULTILINE)
    wanted = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["project"]["requires-python"])

    assert wanted
    assert (2, 1) == (len(versions), len(set(versions)))
    assert tuple(map(int, versions[0])) >= tuple(map(int, wanted.groups()))


def test_what_it_starts_is_a_command_of_ours() -> None:
    """The entry point is one of the package's scripts, in the environment that is on PATH, and runs the manager."""
    [entry], [command] = (json.loads(line) for name in ("ENTRYPOINT", "CMD") for line in instructions(DOCKERFILE, name))

    assert entry in PROJECT["project"]["scripts"]
    assert "manager" == command
    assert "PATH=/opt/node-remedy/bin:$PATH" in instructions(DOCKERFILE, "ENV")[0].split()
    assert "COPY --from=build /opt/node-remedy /opt/node-remedy" in DOCKERFILE


def test_it_runs_as_the_user_of_the_manifest() -> None:
    """Image and Deployment agree on a user that is not root."""
    [image_user] = instructions(DOCKERFILE, "USER")
    [deployment, _] = yaml.safe_load_all((ROOT / "deploy" / "manager" / "deployment.yaml").read_text())
    pod = deployment["spec"]["template"]["spec"]["securityContext"]

    assert f"{pod['runAsUser']}:{pod['runAsGroup']}" == image_user
    assert pod["runAsUser"] > 0
