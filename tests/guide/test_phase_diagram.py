"""The phases that the guide draws are those of the table, and those that the simulator's checker knows."""

from __future__ import annotations

import re

from tests.guide.page import GUIDE

from noderemedy.core.metal3.phases import TABLE
from noderemedy.sim.remediationcheckers import MAY_FOLLOW

LINE = re.compile(r"^([a-z-]+) +-> ?([a-z-]*(?:, [a-z-]+)*)$", re.MULTILINE)


def drawn(text: str) -> dict[str, set[str]]:
    """Phase -> what may follow it, as the page draws it."""
    found = {name: {one for one in following.split(", ") if one} for name, following in LINE.findall(text)}
    return {"" if name == "new" else name: following for name, following in found.items()}


def of_the_table() -> dict[str, set[str]]:
    return {phase.value: {one.value for one in rule.follows} for phase, rule in TABLE.items()}


def test_the_page_draws_the_table() -> None:
    """Every phase and every transition, no more and no fewer; a page with a line missing is found."""
    text = (GUIDE / "metal3-remediation.md").read_text(encoding="utf-8")

    assert of_the_table() == drawn(text)
    assert of_the_table() != drawn(text.replace("waiting           -> power-off, ", "waiting           -> "))


def test_the_checker_has_the_same_table() -> None:
    """S14 is checked against what this page promises."""
    assert MAY_FOLLOW == of_the_table()
