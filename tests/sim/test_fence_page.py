"""The page on NodeFences: what it says to type when no manager comes back finishes every state that a fence is left in.

A node of each sort of device hangs and is fenced; at each boundary at which the API has done something the manager is
gone for good, and a person goes through the table of the page.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.guide import page as pages
from tests.guide.fenceleft import PAGE, ROWS, STORIES, Left, telling, variables

TEXT = (pages.GUIDE / "node-fence.md").read_text(encoding="utf-8")
NOTHING = "*Nothing*"


def situations(name: str) -> Iterator[tuple[int, Left]]:
    """The story, stopped in each of its situations."""
    met = set[tuple[object, ...]]()
    for at in telling(name):
        left = Left(name, at)
        if (found := left.situation()) not in met:
            met.add(found)
            yield at, left


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", STORIES)
def test_the_page_finishes_every_state(name: str) -> None:
    """Devices on, nothing of ours on host and node, no NodeFence left, and nothing freed that was not safe."""
    count = 0
    for at, left in situations(name):
        rows = [row for row, fits in ROWS.items() if fits(left)]
        count += 1

        assert [] == left.finish(), f"gone at {at}: {rows}"
    assert 5 <= count


def test_the_page_knows_its_rows() -> None:
    """Every row of the table can be recognised, and every variable is set."""
    assert list(ROWS) == list(PAGE.states)
    assert set(variables("worker-1")) == {line.split("=")[0] for line in PAGE.program("Variables").splitlines()}


# what is taken out of the page -> the story in which that is missed, and the complaint that follows
GAPS: dict[str, tuple[str, str]] = {
    "*Devices*": ("a BMC", "typed in vain"),
    "*Host*": ("a host", "typed in vain"),
    "*Restore*": ("two outlets", "lost labels"),
    "*Untaint*": ("a BMC", "out-of-service"),
    "*Uncordon*": ("a BMC", "cordon"),
    "*Request*": ("a health check", "FenceRemediation"),
    "*Forget*": ("a BMC", "L2"),
    "node-fence-$HELD_FOR-": ("a host", "typed in vain"),
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("lost", GAPS)
def test_a_page_with_a_gap_is_found(lost: str) -> None:
    """A page from which one word is missing leaves something behind, or cannot be typed."""
    name, complaint = GAPS[lost]
    assert lost in TEXT
    page = pages.parse(f"{TEXT.replace(lost, NOTHING if lost[0] == '*' else '')}\n## Nothing\n```sh\nx=\n```\n")

    assert any(complaint in line for _, left in situations(name) for line in left.finish(page))


def test_a_storage_fence_that_is_lifted_under_a_running_node_is_found() -> None:
    """Whoever skips the power cycle that the page asks for lets two copies write."""
    left = next(left for _, left in situations("a fabric switch") if "storageFreedAt" in left.evidence)
    left.heeds = False

    assert any("S13" in line for line in left.finish())
