"""All crash stories by name: who plays them, and what managers do that none of them meets.

`python -m noderemedy.sim crash` kills the manager at every point of every one.
"""

from __future__ import annotations

from collections.abc import Iterable

from noderemedy.rooms import ROOMS
from noderemedy.sim import checkcrash, crash, fencecrash, jobcrash
from noderemedy.sim.crash import Ending, Scene, play
from noderemedy.sim.run import calm

SMALL, LARGE = 3, fencecrash.NODES  # nodes of a world: where nothing is counted, and where there is one of each sort
SCENES: dict[str, Scene] = {
    **{name: (story, calm) for name, story in crash.STORIES.items()},
    **checkcrash.STORIES,
    **fencecrash.STORIES,
    **jobcrash.STORIES,
}


def told(name: str, **how: object) -> Ending:
    """The story of this name, as `play` plays it."""
    story, stage = SCENES[name]
    nodes = SMALL if name in crash.STORIES else LARGE
    return play(story, nodes=nodes, stage=stage, **how)  # type: ignore[arg-type]


def unmet(endings: Iterable[Ending]) -> set[tuple[str, str]]:
    """What rooms may ask for, by room, and no manager of these stories dies about."""
    met = {(point.room, point.action) for ending in endings for point in ending.points}
    return {(room.name, action.__name__) for room in ROOMS for action in room.may} - met
