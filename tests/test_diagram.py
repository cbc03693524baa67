"""ARCHITECTURE.md is true: its drawing is what the table says and what a simulated repair does, its map is whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from noderemedy.core.metal3.annotation import TABLE, Says, row
from noderemedy.model.reasons import TableRow
from noderemedy.sim.crash import STORY_MS, hung_node
from noderemedy.sim.run import calm

ROOT = Path(__file__).parent.parent
MAP = ROOT / "ARCHITECTURE.md"
LINE = re.compile(r"^  ([01])    ([01])    ([01])   ([01])    ([A-Za-z -]+?)(?: *[─…].*)?$", re.MULTILINE)
Drawn = tuple[int, int, int, int, str]


def drawing(text: str) -> list[Drawn]:
    found = LINE.findall(text)
    return [(int(node), int(needs), int(on), int(held), says) for node, needs, on, held, says in found]


def wrong_rows(text: str) -> list[Drawn]:
    """Drawn rows that the table contradicts."""
    return [drawn for drawn in drawing(text) if TABLE[row(*drawn[:4])] is not Says(drawn[4])]


def test_the_drawing_is_what_the_table_says() -> None:
    """Every row that is drawn says what the truth table says."""
    text = MAP.read_text(encoding="utf-8")

    assert 8 == len(drawing(text))
    assert [] == wrong_rows(text)


def test_a_repair_goes_as_it_is_drawn() -> None:
    """A hung node in the simulator goes through the drawn rows, in that order; the last one is where it rests."""
    cluster, _, process = calm(1, 3)
    hung_node(cluster)
    cluster.agenda.run_until(cluster.agenda.now_ms + STORY_MS)
    reasons = [notice.reason for notice in process.notices if isinstance(notice.reason, TableRow)]
    gone_through = [(one.node, one.needs, one.on, one.held, one.says) for one in reasons]

    assert drawing(MAP.read_text(encoding="utf-8"))[:-1] == gone_through


@pytest.mark.parametrize(("old", "new"), [("1    1    0   1    Delete node", "1    1    0   1    nothing")])
def test_a_wrong_drawing_is_found(old: str, new: str) -> None:
    """A drawing with one word changed contradicts the table."""
    text = MAP.read_text(encoding="utf-8")
    assert old in text

    assert [(1, 1, 0, 1, "nothing")] == wrong_rows(text.replace(old, new))


def unnamed_files(text: str) -> list[str]:
    """Files of the engine and of the rooms that the map does not name."""
    package = ROOT / "src" / "noderemedy"
    files = [path for ring in ("engine", "core") for path in sorted((package / ring).rglob("*.py"))]
    names = [path.relative_to(package).as_posix() for path in files if path.name != "__init__.py"]
    return [name for name in names if f"`{name}`" not in text]


def test_the_map_names_every_file_of_engine_and_rooms() -> None:
    """What a newcomer has to read is on the map, file by file; a file that is taken off it is missed."""
    text = MAP.read_text(encoding="utf-8")

    assert [] == unnamed_files(text)
    assert ["engine/ledger.py"] == unnamed_files(text.replace("`engine/ledger.py`", ""))
