"""An Event of the core API about a node. Both generations are read: a counter with its times, or a series.

Of a series `eventTime` is the first moment. Where nobody says when it happened last, it was when the Event was made;
what nobody dated at all is too old for every threshold.
"""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import Struct

from noderemedy.model.ids import Ref
from noderemedy.model.nodeevents import CORE_EVENT, NodeEvent
from noderemedy.model.outcome import Seen
from noderemedy.model.time import Wall
from noderemedy.wire import shapes
from noderemedy.wire.scalars import UNREADABLE, wall
from noderemedy.wire.undecodable import undecodable


class InvolvedShape(Struct, frozen=True):
    """What an Event is about."""

    kind: str = ""
    name: str = ""


class SeriesShape(Struct, rename="camel"):
    """How often it happened."""

    count: int | None = None
    last_observed_time: datetime | None = None


class EventShape(Struct, rename="camel"):
    """An Event."""

    metadata: shapes.DatedMetadata
    involved_object: InvolvedShape = InvolvedShape()
    reason: str = ""
    count: int | None = None
    first_timestamp: datetime | None = None
    last_timestamp: datetime | None = None
    event_time: datetime | None = None
    series: SeriesShape | None = None


DECODER = msgspec.json.Decoder(EventShape)


def decode_node_event(raw: bytes | msgspec.Raw) -> Seen:
    """Raises Undecodable."""
    try:
        shape = DECODER.decode(raw)
    except UNREADABLE as error:
        raise undecodable(CORE_EVENT, "", None, error) from None
    meta = shape.metadata
    return Seen(Ref("", CORE_EVENT, meta.namespace, meta.name), meta.uid, meta.resource_version, node_event(shape))


def node_event(shape: EventShape) -> NodeEvent:
    series, meta = shape.series or SeriesShape(), shape.metadata
    first = shape.first_timestamp or shape.event_time
    last = series.last_observed_time or shape.last_timestamp or first or meta.creation_timestamp
    return NodeEvent(
        uid=meta.uid,
        name=f"{meta.namespace}/{meta.name}",
        node=shape.involved_object.name if shape.involved_object.kind == "Node" else "",
        reason=shape.reason,
        count=max(1, series.count or shape.count or 1),
        first=wall(first) if first else None,
        last=wall(last) if last else Wall(0),
    )
