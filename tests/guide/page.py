"""A page of the guide as data: its shell blocks by heading, and the table of states with the blocks to run.

What a page tells people to type is what tests execute: there is no second copy of a command.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

GUIDE = Path(__file__).parent.parent.parent / "docs" / "guide"
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"\*([A-Z][a-z ]+)\*")


class Page(Struct, frozen=True):
    """Shell blocks by the heading above them, and for each state the names of the blocks that finish it."""

    blocks: dict[str, tuple[str, ...]]
    states: dict[str, tuple[str, ...]]

    def program(self, *names: str) -> str:
        """The blocks of these headings, one after the other, as one shell program."""
        return "\n".join(block for name in names for block in self.blocks[name])


def read(name: str) -> Page:
    return parse((GUIDE / name).read_text(encoding="utf-8"))


def parse(text: str) -> Page:
    _, *parts = HEADING.split(text)
    blocks = {title: tuple(BLOCK.findall(body)) for title, body in zip(parts[::2], parts[1::2], strict=True)}
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    states = {row[0]: tuple(NAMED.findall(row[-1])) for row in rows if NAMED.search(row[-1])}
    return Page({title: found for title, found in blocks.items() if found}, states)
