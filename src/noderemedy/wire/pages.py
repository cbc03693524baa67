"""A page of a list: ordinary ones in one pass, from its bytes to objects of the model. Called by the driver's lists.

A page holds hundreds of objects and megabytes: reading it twice, as a whole and object by object, is a third of what a
list costs. Only where something in it cannot be read it is taken apart, so that one object is put aside and not all.
Nodes are skimmed once more for their stamps (`heartbeats.py`): their first heartbeats need not be read then.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct, structs

from noderemedy.model.ids import NODE, Kind
from noderemedy.model.outcome import Seen
from noderemedy.wire.heartbeats import stamps
from noderemedy.wire.objects import Known, Undecodable, nothing_known, reader, recognised
from noderemedy.wire.scalars import UNREADABLE


class ListMeta(Struct, rename="camel"):
    """Which version the list is of, and what to ask for its next page with."""

    resource_version: str = ""
    next_page: str = msgspec.field(name="continue", default="")


class Page(Struct):
    """What one page shows: objects, and what is there and cannot be read."""

    size: int  # in bytes
    metadata: ListMeta
    items: Iterable[Seen | Undecodable]


@cache
def pages_of(kind: Kind) -> msgspec.json.Decoder[Any]:
    """Made when needed, as those of objects and of lines."""
    fields: list[Any] = [("metadata", ListMeta), ("items", list[reader(kind)[0]] | None, None)]  # type: ignore[misc]
    return msgspec.json.Decoder(msgspec.defstruct("Page", fields))


def decode_page(kind: Kind, body: bytes, cluster: str = "", known: Known = nothing_known) -> Page | None:
    """All objects of a page; None if there is anything in it that has to be looked at closer."""
    try:
        page = pages_of(kind).decode(body)
        items = [recognised(kind, shape, cluster, known) for shape in page.items or ()]
        if kind == NODE:
            items = [structs.replace(one, stamp=of_it) for one, of_it in zip(items, stamps(body), strict=True)]
        return Page(len(body), page.metadata, items)
    except UNREADABLE:
        return None
