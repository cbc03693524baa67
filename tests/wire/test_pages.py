"""Pages of lists: one pass gives what object by object gives, or leaves the page to a closer look."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.builders import a_node_tree
from tests.wire.test_objects import TREES

from noderemedy.model.ids import NODE, Kind
from noderemedy.model.room import Present
from noderemedy.model.time import Mono
from noderemedy.wire.objects import convert
from noderemedy.wire.pages import ListMeta, decode_page


def a_page(*items: Any, **metadata: str) -> bytes:
    """With its maps in the order in which API servers send them."""
    return msgspec.json.encode({"metadata": metadata, "items": items}, order="sorted")


@pytest.mark.parametrize("kind", TREES, ids=str)
def test_a_page_is_read_in_one_pass(kind: Kind) -> None:
    """Its objects are what each of them is by itself, and where the list goes on is told."""
    page = decode_page(kind, a_page(TREES[kind], TREES[kind], resourceVersion="7", **{"continue": "more"}), "a/b")

    assert page is not None
    assert ListMeta("7", "more") == page.metadata
    assert [convert(kind, TREES[kind], "a/b")] * 2 == list(page.items)


@pytest.mark.parametrize("body", [b'{"metadata":{"resourceVersion":"7"},"items":null}', a_page(resourceVersion="7")])
def test_an_empty_page_is_one(body: bytes) -> None:
    """API servers say null where there is nothing."""
    page = decode_page(NODE, body)

    assert page is not None
    assert (len(body), ListMeta("7"), []) == (page.size, page.metadata, list(page.items))


def test_what_is_known_is_not_made_again() -> None:
    """In a list that is made anew most objects are what they were."""
    seen = convert(NODE, a_node_tree(version="2"))
    known = Present(seen.obj, "2", Mono(0))
    page = decode_page(NODE, a_page(a_node_tree(version="2")), known=lambda at: known)

    assert page is not None
    assert [("2", True)] == [
        (one.resource_version, one.obj is known.obj) for one in page.items if not isinstance(one, Exception)
    ]


BAD_CONDITIONS = {"metadata": {"name": "a"}, "status": {"conditions": [{"type": 5}]}}


@pytest.mark.parametrize("kind", [kind for kind in TREES if kind.kind in ("Node", "Machine", "Cluster")], ids=str)
def test_an_object_that_cannot_be_read_leaves_the_page_to_a_closer_look(kind: Kind) -> None:
    """Also one whose mistake shows only when the object is made."""
    assert None is decode_page(kind, a_page(TREES[kind], BAD_CONDITIONS))


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b'{"items":[]}', b'{"metadata":{},"items":' + b"[" * 20_000])
def test_what_is_no_page_is_left_to_a_closer_look(body: bytes) -> None:
    """It is told with its kind and remedy there."""
    assert None is decode_page(NODE, body)
