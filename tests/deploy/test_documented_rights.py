"""docs/guide/install.md on rights and the uninstall, held against deploy/: it can neither hide nor invent one."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs" / "guide" / "install.md").read_text(encoding="utf-8")
ROLES = ("rbac/10-manager.yaml", "rbac/40-requests.yaml")  # what is bound to the manager or aggregated for it
READING = {"get", "list", "watch"}
Rights = dict[str, set[str]]


def granted(kind: str) -> Rights:
    """What the manager's roles of this kind give, by resource as kubectl names it; all ways to read are one."""
    roles = [tree for file in ROLES for tree in yaml.safe_load_all((DEPLOY / file).read_text(encoding="utf-8"))]
    found: Rights = {}
    for rule in [rule for role in roles if role["kind"] == kind for rule in role.get("rules", ())]:
        for name in [resource(group, one) for group in rule["apiGroups"] for one in rule["resources"]]:
            found.setdefault(name, set()).update(words(rule["verbs"]))
    return found


def resource(group: str, plural: str) -> str:
    name, slash, part = plural.partition("/")
    return f"{name}.{group}{slash}{part}" if group else plural


def words(verbs: list[str]) -> set[str]:
    return {"read" if verb in READING else verb for verb in verbs}


def documented(title: str, page: str = PAGE) -> Rights:
    """The rows of the table below this heading: resources, then verbs."""
    _, _, after = page.partition(f"### {title}\n")
    rows = [line.strip("|").split(" | ") for line in after.partition("\n#")[0].splitlines() if line.startswith("| `")]
    return {name: set(row[1].split(", ")) for row in rows for name in re.findall(r"`([^`]+)`", row[0])}


TABLES = {"In the whole cluster": "ClusterRole", "In its own namespace": "Role"}


@pytest.mark.parametrize("title", TABLES)
def test_the_page_lists_what_the_manager_may_do(title: str) -> None:
    """Each right of its roles stands in the table, and the table has no others."""
    expected = granted(TABLES[title])

    assert expected
    assert expected == documented(title)


@pytest.mark.parametrize("lost", ["delete, read", "`pods/eviction`"])
def test_a_right_that_is_hidden_is_found(lost: str) -> None:
    """A verb or a resource that is left out of the page makes a difference."""
    assert lost in PAGE
    harmed = {title: documented(title, PAGE.replace(lost, "read")) for title in TABLES}

    assert {title: granted(kind) for title, kind in TABLES.items()} != harmed


# --- uninstall -------------------------------------------------------------------------------------------------------


def deleted(command: str) -> set[str]:
    """The files below deploy/ that this command names, folders unfolded."""
    paths = [ROOT / word for word in shlex.split(command) if word.startswith("deploy/")]
    files = [file for path in paths for file in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]
    return {file.relative_to(DEPLOY).as_posix() for file in files}


def installed() -> set[str]:
    listed: dict[str, Any] = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text(encoding="utf-8"))
    return set(listed["resources"])


def test_the_first_way_to_uninstall_keeps_what_people_wrote() -> None:
    """All that was installed goes, except our kinds and the namespace, with which everything in them would go."""
    [command] = re.findall(r"^kubectl delete -f .+$", PAGE, re.MULTILINE)
    kept = {file for file in installed() if file.startswith("crds/")} | {"rbac/00-namespace.yaml"}

    assert installed() - kept == deleted(command)


def test_the_second_way_says_what_goes() -> None:
    """Every kind of ours is named in what `kubectl delete -k deploy/` takes along, and so is the namespace."""
    before, command, after = PAGE.partition("kubectl delete -k deploy/")
    kinds = [yaml.safe_load((DEPLOY / file).read_text(encoding="utf-8")) for file in installed() if "crds/" in file]

    assert command
    assert {tree["spec"]["names"]["kind"] for tree in kinds} <= set(re.findall(r"\w+", before.rpartition("## ")[2]))
    assert "node-remedy-system" in before.rpartition("## ")[2]
    assert "deploy/crds/foreign/" in after
