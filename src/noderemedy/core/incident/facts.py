"""What the diary states: the record of a target as it should be. The incident room writes what differs."""

from __future__ import annotations

from noderemedy.core.traces import DIARY
from noderemedy.model.decision import FactValue
from noderemedy.model.ids import INCIDENT, SYSTEM, Ref
from noderemedy.model.incident import Detection, Record
from noderemedy.model.room import Index

ALL_DIARIES, BY_NODE = "diaries", "diaries by node"
NAME_MAX = 200  # of what stands before the episode: a name has 253 letters


class Diary(FactValue, frozen=True):
    """The Incident of a target as it should be. `is_urgent`: somebody waits for it."""

    name: Ref
    found: Detection
    record: Record
    node_at: Ref | None = None
    is_urgent: bool = False


def incident_ref(found: Detection) -> Ref:
    """Incidents are objects of the home cluster, in our own namespace."""
    name = found.node or found.target.name
    return Ref("", INCIDENT, SYSTEM, f"{name[:NAME_MAX].rstrip('-.')}-{found.episode}")


def _all(ref: Ref, diary: Diary) -> tuple[str, ...]:
    return ("all",)


def _node(ref: Ref, diary: Diary) -> tuple[str, ...]:
    return (str(diary.node_at),) if diary.node_at else ()


INDEXES: tuple[Index, ...] = (Index(ALL_DIARIES, DIARY, _all), Index(BY_NODE, DIARY, _node))
