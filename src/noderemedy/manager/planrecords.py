"""Records that somebody waits for, taken as written: a plan shows the act behind them, and that they are written. Pure.

Called by every look of a plan. A trace goes only when an Incident tells of it, and nobody writes one during a look:
all that was to be seen would be that the act waits. What nobody waits for stays unwritten: it has no answer yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from noderemedy.core import approvals, traces
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import OpenIncident, WriteIncident
from noderemedy.model.incident import Incident
from noderemedy.model.outcome import Key, Seen
from noderemedy.model.room import Present, Reader


def awaited(engine: Engine) -> Iterator[tuple[Key, Seen]]:
    """The records that would be written now, and that some room waits for, as they would be."""
    for key, decision in engine.decisions.items():
        if not engine.cache.find(traces.BY_TARGET, approvals.place(key.ref)):
            continue
        for action in decision.actions:
            if isinstance(action, OpenIncident | WriteIncident) and (incident := written(action, engine.cache)):
                yield key, Seen(action.ref, incident.uid, "", incident)


def written(action: OpenIncident | WriteIncident, reader: Reader) -> Incident | None:
    """None: one that is to be brought up to date has gone."""
    if isinstance(action, OpenIncident):
        return Incident(f"assumed {action.ref.name}", action.found, action.begun)
    entry = reader.read(action.ref)
    return replace(entry.obj, record=action.record) if isinstance(entry, Present) else None
