"""A page of a list: ordinary ones in one pass, from its bytes to objects of the model. Called by the driver's lists.

A page holds hundreds of objects and megabytes: reading it twice, as a whole and object by object, is a third of what a
list costs. Only where something in it cannot be read it is taken apart, so that one object is put aside and not all.
Nodes are skimmed once more for their stamps (`heartbeats.py`): their first heartbeats need not be read then. The head
of a page is read by itself, so that the next one can be asked for before this one's objects are read.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from msgspec import Struct, structs

from noderemedy.model.ids import NODE, Kind
from noderemedy.model.outcome import Seen
from noderemedy.wire.heartbeats import stamps
from noderemedy.wire.objects import Known, nothing_known, reader, recognised
from noderemedy.wire.scalars import UNREADABLE

ITEMS = b'"items":'
NO_LISTS = ("Status", "Table")
HEAD = 4096  # API servers write the metadata of a list before its items


class ListMeta(Struct, rename="camel"):
    """Which version the list is of, and what to ask for its next page with."""

    resource_version: str = ""
    next_page: str = msgspec.field(name="continue", default="")


class Headed(Struct):
    """A page whose items are passed over; null where there are none, but they are named."""

    metadata: ListMeta
    items: msgspec.Raw
    kind: str = ""


@cache
def pages_of(kind: Kind) -> msgspec.json.Decoder[Any]:
    """Made when needed, as those of objects and of lines."""
    fields: list[Any] = [("items", list[reader(kind)[0]] | None)]  # type: ignore[misc]
    return msgspec.json.Decoder(msgspec.defstruct("Page", fields))


def decode_head(body: bytes) -> ListMeta:
    """What a page says of the list, without its objects. Raises DecodeError if this is no page of a list.

    A proxy's 200 may hold a Status or a Table: taken for a list it would be an empty one, and all objects gone.
    """
    end = body.find(ITEMS, 0, HEAD)
    try:
        page = msgspec.json.decode(body[:end] + ITEMS + b"[]}", type=Headed)
    except UNREADABLE:
        page = msgspec.json.decode(body, type=Headed)
    if not page.metadata.resource_version or page.kind in NO_LISTS:
        raise msgspec.ValidationError("no page of a list")
    return page.metadata


def decode_page(kind: Kind, body: bytes, cluster: str = "", known: Known = nothing_known) -> list[Seen] | None:
    """All objects of a page; None if there is anything in it that has to be looked at closer."""
    try:
        page = pages_of(kind).decode(body)
        items = [recognised(kind, shape, cluster, known) for shape in page.items or ()]
        if kind == NODE:
            items = [structs.replace(one, stamp=of_it) for one, of_it in zip(items, stamps(body), strict=True)]
        return items
    except UNREADABLE:
        return None
