"""Whoever is told to apply a file or folder of definitions finds the kind there that it is about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from noderemedy.core import foredated
from noderemedy.core.foredated import ForedatedWord
from noderemedy.core.keeping import kept
from noderemedy.manager.kinds import WANTED, WITHOUT, crd_name
from noderemedy.model.attestation import Attestation
from noderemedy.model.ids import INCIDENT, NODE_FENCE, REMEDIATION, Kind
from noderemedy.model.keeping import FILES, Unkept, definition_name
from noderemedy.model.reasons import ApprovalUnavailable
from noderemedy.model.time import Wall

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "noderemedy"
APPLIED = re.compile(r"kubectl apply[^;`\"']*? -f (deploy/crds[\w./-]*)")
# Who else names such a place in its own words, and what that is about.
WORDS: dict[str, Kind] = {
    "core/remedy/fencing.py": NODE_FENCE,
    "manager/history.py": INCIDENT,
    "model/reasons.py": INCIDENT,
}


def defined(place: str) -> set[Kind]:
    """What `kubectl apply -f` of a file, or of a folder without those in it, defines."""
    at = ROOT / place
    files = sorted(at.glob("*.yaml")) if at.is_dir() else [at]
    names = [yaml.safe_load(file.read_text(encoding="utf-8"))["spec"] for file in files]
    return {Kind(spec["group"], spec["names"]["kind"]) for spec in names}


def told() -> list[tuple[Kind, str]]:
    """Every remedy that names definitions, with the kind that it is about."""
    word = ForedatedWord(Attestation("anna", Wall(0), "uid", "boot"), in_vain=foredated.TRIES)
    found = [(kind, foredated.garbled(word, kind).problem) for kind in (REMEDIATION, NODE_FENCE)]
    for kind in FILES:
        blocked = kept(kind, Unkept(missing=("status",)))
        assert blocked is not None
        found.append((kind, blocked.reason.note()))
    found += [(kind, text) for kind, text in WITHOUT.items() if "deploy/crds" in text]
    found += [(kind, (SOURCE / path).read_text(encoding="utf-8")) for path, kind in WORDS.items()]
    return [*found, (INCIDENT, ApprovalUnavailable().note())]


@pytest.mark.parametrize(("kind", "text"), told(), ids=lambda one: str(one) if isinstance(one, Kind) else "")
def test_each_remedy_names_a_place_that_defines_its_kind(kind: Kind, text: str) -> None:
    """A command that renews something else would leave everything as it is."""
    places = APPLIED.findall(text)

    assert places
    assert [] == [place for place in places if kind not in defined(place)]


def test_no_other_remedy_names_definitions() -> None:
    """Or nobody would look whether it is right."""
    checked = {*WORDS, "manager/kinds.py", "model/keeping.py"}
    found = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if APPLIED.search(path.read_text("utf-8"))}

    assert set() == found - checked


@pytest.mark.parametrize("kind", FILES, ids=str)
def test_a_definition_has_the_name_of_its_kind(kind: Kind) -> None:
    """By that name it is watched."""
    assert crd_name(WANTED[kind]) == definition_name(kind)


def test_the_folder_of_ours_lacks_metals_kind() -> None:
    """So the check above is not idle."""
    assert REMEDIATION not in defined("deploy/crds")
