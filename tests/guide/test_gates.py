"""The gates that the documents list are those of the code, all of them and in their order."""

from __future__ import annotations

import re
from pathlib import Path

from noderemedy.core.healthcheck.remediationgates import GATES

DOCS = Path(__file__).parents[2] / "docs"
HEAD = "| gate |"
OURS = [gate.__name__.replace("_", " ") for gate in GATES]


def tables(text: str) -> list[list[str]]:
    """The first cells of every table of gates."""
    found: list[list[str]] = []
    is_table = False
    for line in text.splitlines():
        if line.startswith(HEAD):
            found.append([])
        elif is_table and line.startswith("| "):
            found[-1].append(line.split("|")[1].strip())
        is_table = line.startswith(HEAD) or (is_table and line.startswith("|"))
    return found


def quoted(text: str, before: str) -> list[str]:
    """The quoted words of the sentence that begins so."""
    sentence = " ".join(text[text.index(before) :].split()).partition(". ")[0]
    return re.findall(r"`([^`]+)`", sentence)


def test_the_guide_has_every_gate_of_a_health_check() -> None:
    """The table of the page is the list that `explain` shows; no other page has such a table."""
    pages = {path.name: tables(path.read_text(encoding="utf-8")) for path in sorted((DOCS / "guide").glob("*.md"))}

    assert {"health-checks.md": [OURS]} == {name: found for name, found in pages.items() if found}


def test_the_decision_has_every_gate_of_a_health_check() -> None:
    """The page on what a health check writes lists them by the names that people read."""
    [page] = (DOCS / "adr").glob("0011-*.md")

    assert OURS == quoted(page.read_text(encoding="utf-8"), "Asking takes all gates")


def test_a_gate_that_is_left_out_is_found() -> None:
    """Both readers see what stands there and nothing else."""
    text = "text\n| gate | by |\n|---|---|\n| one | x |\n| two | `y` |\n\n| other | z |\n|---|---|\n| three | z |\n"

    assert [["one", "two"]] == tables(text)
    assert ["one", "two"] == quoted("Before `zero`. All are: `one`,\n  `two`. Then `three`.", "All are")
